/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tap devices: see tap.h. The host's stack is told that weir completes nothing (TUNSETOFFLOAD 0), so it
 * sends no super-frames and whole checksums; the virtio-net header is read all the same, since a tap that
 * another process set up can keep its offloads.
 */
#include "port/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "port/kernel_if.h"
#include "port/port_impl.h"
#include "port/vnet_hdr.h"

struct tap {
	struct port port;
	struct kernel_if kif;
	int fd;
};

static int setiff_error(const char *kind, const char *name, int code, struct err *err)
{
	switch (code) {
	case EPERM:
		return err_set(
			err, code,
			"port %s:%s: no permission to make a tap; run as root, or make it before "
			"with ip tuntap add %s mode tap user NAME",
			kind, name, name);
	case EBUSY:
		return err_set(err, code,
			       "port %s:%s: another process has this tap; choose another name",
			       kind, name);
	case EINVAL:
		return err_set(
			err, code,
			"port %s:%s: an interface of that name is no tap; choose another name",
			kind, name);
	default:
		return err_set(err, code, "port %s:%s: cannot make the tap (%s)", kind, name,
			       errno_name(code));
	}
}

int tap_fd_open(const char *kind, const char *name, struct err *err)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int hdr_size = sizeof(struct virtio_net_hdr);
	int fd, rc;

	if (strlen(name) >= sizeof(ifr.ifr_name))
		return err_set(err, EINVAL, "port %s:%s: a tap's name has at most %zu characters",
			       kind, name, sizeof(ifr.ifr_name) - 1);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_set(
			err, errno,
			"port %s:%s: cannot open /dev/net/tun (%s); load the module tun, or run as "
			"a user who may",
			kind, name, errno_name(errno));
	strcpy(ifr.ifr_name, name);
	if (ioctl(fd, TUNSETIFF, &ifr)) {
		rc = setiff_error(kind, name, errno, err);
		close(fd);
		return rc;
	}
	ioctl(fd, TUNSETVNETHDRSZ, &hdr_size);
	ioctl(fd, TUNSETOFFLOAD, 0);
	return fd;
}

/* Reads one packet into f: 1 when it is there, 0 when it was counted as lost, -errno (EAGAIN: none now). */
static int packet_read(int fd, struct port *port, struct frame *f)
{
	struct virtio_net_hdr h = { 0 };
	/* Up to the chunk's end, so that a packet that is too long can be told from the longest. */
	struct iovec iov[2] = { { &h, sizeof(h) }, { f->data, FRAME_SIZE - FRAME_HEADROOM } };
	ssize_t n = readv(fd, iov, 2);

	if (n < 0)
		return -errno;
	n -= (ssize_t)sizeof(h);
	if (n > FRAME_DATA_MAX) {
		port_count(&port->stats.rx_dropped[RX_LOSS_TOO_LONG], 1);
		return 0;
	}
	if (n < FRAME_LEN_MIN) {
		port_count(&port->stats.rx_dropped[RX_LOSS_TOO_SHORT], 1);
		return 0;
	}
	f->data_end = f->data + n;
	return vnet_hdr_apply(&h, f, port);
}

int tap_fd_rx(int fd, struct port *port, struct pool_cache *cache, struct frame **frames,
	      uint32_t n)
{
	uint32_t got = pool_alloc(cache, frames, n), filled = 0;
	int rc = 0;

	for (uint32_t tries = 0; tries < got; tries++) {
		rc = packet_read(fd, port, frames[filled]);
		if (rc < 0)
			break;
		if (rc)
			filled++;
		else
			frame_reset(frames[filled]);
	}
	pool_free(cache, frames + filled, got - filled);
	if (filled || rc >= 0 || rc == -EAGAIN || rc == -EINTR)
		return (int)filled;
	return rc == -EBADFD ? -ENODEV : rc;
}

int tap_fd_tx(int fd, const struct frame *f)
{
	struct virtio_net_hdr h = { 0 };
	struct iovec iov[2] = { { &h, sizeof(h) }, { f->data, frame_len(f) } };

	return writev(fd, iov, 2) < 0 ? -errno : 0;
}

static int tap_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	struct tap *t = (struct tap *)port;
	int rc = tap_fd_rx(t->fd, port, cache, frames, n);

	if (rc > 0)
		port_count_rx(port, frames, (uint32_t)rc);
	if (rc < 0)
		return port_lost(port, -rc, "port tap:%s: the tap is gone (%s)", t->kif.name,
				 errno_name(rc));
	return rc || !port->up ? rc : kernel_if_check(&t->kif, port);
}

static enum port_tx_loss tx_loss(int code)
{
	switch (code) {
	case -EAGAIN:
	case -ENOBUFS:
	case -ENOMEM:
		return TX_LOSS_RING_FULL;
	case -EIO: /* as a tap that is down says it */
	case -EBADFD:
	case -ENODEV:
		return TX_LOSS_DOWN;
	case -EMSGSIZE:
		return TX_LOSS_TOO_LONG;
	default:
		return TX_LOSS_IO;
	}
}

static void tap_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		   struct frame **frames, uint32_t n)
{
	struct tap *t = (struct tap *)port;

	for (uint32_t i = 0; i < n; i++) {
		int rc = tap_fd_tx(t->fd, frames[i]);

		if (rc)
			port_count(&port->stats.tx_dropped[tx_loss(rc)], 1);
		else
			port_count_tx(port, frames + i, 1);
	}
	pool_free(cache, frames, n);
}

static int tap_poll_fds(struct port *port, int *fds, int n)
{
	if (n < 1)
		return 0;
	fds[0] = ((struct tap *)port)->fd;
	return 1;
}

static void tap_close(struct port *port)
{
	struct tap *t = (struct tap *)port;

	if (t->fd >= 0)
		close(t->fd);
	kernel_if_close(&t->kif);
	free(t);
}

/* Makes the interface as the specification wants it. */
static int tap_setup(struct tap *t, const struct port_spec *spec, struct err *err)
{
	int rc = kernel_if_open(&t->kif, "tap", spec->arg, err);

	if (rc)
		return rc;
	if (spec->mtu)
		rc = kernel_if_set_mtu(&t->kif, spec->mtu);
	if (!rc && spec->has_mac)
		rc = kernel_if_set_mac(&t->kif, spec->mac);
	if (!rc && !spec->down)
		rc = kernel_if_set_up(&t->kif);
	/* A tap made before for this user may be one whose settings this user may not change. */
	if (rc && rc != -EPERM)
		return err_set(err, -rc, "port tap:%s: cannot set its mtu, mac or state (%s)",
			       spec->arg, errno_name(rc));
	rc = kernel_if_read(&t->kif);
	if (!rc && !t->kif.up && !spec->down)
		return err_set(
			err, ENETDOWN,
			"port tap:%s: the interface is down; bring it up with ip link set %s up",
			spec->arg, spec->arg);
	return rc;
}

static int tap_open(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err)
{
	struct tap *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_set(err, ENOMEM, "port tap:%s: out of memory", spec->arg);
	t->kif.fd = -1;
	port_init(&t->port, &tap_ops, spec);
	t->fd = tap_fd_open("tap", spec->arg, err);
	rc = t->fd < 0 ? t->fd : tap_setup(t, spec, err);
	if (rc) {
		tap_close(&t->port);
		return rc;
	}
	kernel_if_port(&t->kif, spec, &t->port);
	*ret = &t->port;
	return 0;
}

static void tap_describe(struct port *port, char *buf, size_t size)
{
	snprintf(buf, size, "tap, 1 queue, checksums completed by the host");
}

const struct port_ops tap_ops = {
	.kind = "tap",
	.open = tap_open,
	.close = tap_close,
	.rx = tap_rx,
	.tx = tap_tx,
	.poll_fds = tap_poll_fds,
	.describe = tap_describe,
};
