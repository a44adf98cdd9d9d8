/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver af_xdp, kind `xdp`: all queues of an interface by AF_XDP sockets, and the program in the kernel
 * that sends them every packet. What a weir program passes goes up to the host through a tap `weir-IF` with the
 * interface's MAC, and what the host sends into that tap leaves by the interface: the host's addresses have to
 * be moved to the tap for the host to answer.
 *
 * Keys: queues=N the first N queues, queue=K that one alone; mode=auto|native|skb, how the program is attached;
 * bind=auto|copy|zc, how packets reach the sockets; host=none, no tap; force, take an interface that has another
 * program or the default route.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port/kernel_bpf.h"
#include "port/kernel_if.h"
#include "port/port_impl.h"
#include "port/tap.h"
#include "port/xdp_queue.h"

enum {
	DRAIN_TRIES = 100, /* milliseconds that a close waits for what is on its way out */
	FILL_MIN = 64,
	HOST_SKIP = 16, /* bursts of a busy port to one look at the tap, which is a system call */
};

struct xdp_port {
	struct port port;
	struct kernel_if kif, host_kif;
	struct pool *pool;
	uint8_t *held;
	struct xdp_queue queues[PORT_QUEUES_MAX];
	uint32_t n_queues, first_queue, next_rx;
	int map_fd, prog_fd, link_fd, host_fd;
	uint32_t prog_id;
	bool rx_busy; /* the last rx gave frames */
	uint32_t host_skipped;
	uint64_t host_lost; /* passed frames that the tap did not take */
	bool native, force;
};

/* What the keys ask for. */
struct xdp_want {
	uint16_t bind_flags;
	const char *bind, *mode;
	bool rx, host;
};

/* Data path */

static int xdp_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	struct xdp_port *x = (struct xdp_port *)port;
	uint32_t got = 0;
	int rc;

	if (!port->can_rx)
		return PORT_EOF;
	for (uint32_t i = 0; i < x->n_queues && got < n; i++) {
		struct xdp_queue *q = &x->queues[x->next_rx];

		got += xdp_queue_rx(q, cache, frames + got, n - got);
		if (++x->next_rx == x->n_queues)
			x->next_rx = 0;
	}
	x->rx_busy = got;
	if (got) {
		port_count_rx(port, frames, got);
		return (int)got;
	}
	rc = kernel_if_check(&x->kif, port);
	if (rc)
		port->up = false;
	return rc;
}

static void xdp_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		   struct frame **frames, uint32_t n)
{
	struct xdp_port *x = (struct xdp_port *)port;

	xdp_queue_tx(&x->queues[queue < x->n_queues ? queue : queue % x->n_queues], cache, frames,
		     n);
}

static void xdp_flush(struct port *port, struct pool_cache *cache)
{
	struct xdp_port *x = (struct xdp_port *)port;

	for (uint32_t i = 0; i < x->n_queues; i++)
		xdp_queue_flush(&x->queues[i], cache);
}

static uint32_t xdp_in_flight(struct port *port)
{
	const struct xdp_port *x = (const struct xdp_port *)port;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_queues; i++)
		n += x->queues[i].n_tx;
	return n;
}

static void xdp_to_host(struct port *port, struct pool_cache *cache, struct frame **frames,
			uint32_t n)
{
	struct xdp_port *x = (struct xdp_port *)port;

	for (uint32_t i = 0; i < n; i++)
		if (x->host_fd < 0 || tap_fd_tx(x->host_fd, frames[i]))
			x->host_lost++;
	pool_free(cache, frames, n);
}

static int xdp_from_host(struct port *port, struct pool_cache *cache, struct frame **frames,
			 uint32_t n)
{
	struct xdp_port *x = (struct xdp_port *)port;

	if (x->host_fd < 0 || (x->rx_busy && ++x->host_skipped < HOST_SKIP))
		return 0;
	x->host_skipped = 0;
	return tap_fd_rx(x->host_fd, port, cache, frames, n);
}

static int xdp_poll_fds(struct port *port, int *fds, int n)
{
	const struct xdp_port *x = (const struct xdp_port *)port;
	int used = 0;

	for (uint32_t i = 0; port->can_rx && i < x->n_queues && used < n; i++)
		fds[used++] = x->queues[i].fd;
	if (x->host_fd >= 0 && used < n)
		fds[used++] = x->host_fd;
	return used;
}

static void xdp_update_stats(struct port *port)
{
	const struct xdp_port *x = (const struct xdp_port *)port;
	uint64_t full = 0, no_frame = 0;

	for (uint32_t i = 0; i < x->n_queues; i++) {
		struct xdp_statistics st = { 0 };
		socklen_t len = sizeof(st);

		if (getsockopt(x->queues[i].fd, SOL_XDP, XDP_STATISTICS, &st, &len))
			continue;
		full += st.rx_ring_full;
		no_frame += st.rx_dropped;
	}
	__atomic_store_n(&port->stats.rx_dropped[RX_LOSS_RING_FULL], full, __ATOMIC_RELAXED);
	__atomic_store_n(&port->stats.rx_dropped[RX_LOSS_NO_FRAME], no_frame, __ATOMIC_RELAXED);
}

static void xdp_describe(struct port *port, char *buf, size_t size)
{
	const struct xdp_port *x = (const struct xdp_port *)port;
	int n = snprintf(buf, size, "%s, need_wakeup, %u %s from %u",
			 x->queues[0].zero_copy ? "zero-copy" : "copy mode", x->n_queues,
			 x->n_queues == 1 ? "queue" : "queues", x->first_queue);

	if (n < 0 || (size_t)n >= size)
		return;
	if (!port->can_rx) {
		snprintf(buf + n, size - (size_t)n, ", send only, no program");
		return;
	}
	snprintf(buf + n, size - (size_t)n,
		 ", program %u by link in %s mode, host side %s (%llu lost)", x->prog_id,
		 x->native ? "native" : "skb", x->host_fd < 0 ? "none" : x->host_kif.name,
		 (unsigned long long)x->host_lost);
}

/* Closing */

/* Gives what is on its way out some time to leave: a frame sent before the end counts as sent. */
static void drain(struct xdp_port *x)
{
	struct pool_cache cache;

	pool_cache_init(&cache, x->pool);
	for (int i = 0; i < DRAIN_TRIES && xdp_in_flight(&x->port); i++) {
		xdp_flush(&x->port, &cache);
		if (xdp_in_flight(&x->port))
			usleep(1000);
	}
	pool_cache_fini(&cache);
}

static void held_return(struct xdp_port *x)
{
	for (uint32_t i = 0; i < pool_size(x->pool); i++) {
		struct frame *f = pool_frame(x->pool, i);

		if (x->held[i] != HELD_NOT)
			port_return_frames(x->pool, &f, 1);
	}
}

static void fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void xdp_close(struct port *port)
{
	struct xdp_port *x = (struct xdp_port *)port;

	fd_close(x->link_fd); /* detaches: nothing comes any more */
	if (port->up)
		drain(x);
	for (uint32_t i = 0; i < x->n_queues; i++)
		xdp_queue_close(&x->queues[i]);
	fd_close(x->prog_fd);
	fd_close(x->map_fd);
	fd_close(x->host_fd);
	if (x->held)
		held_return(x);
	kernel_if_close(&x->kif);
	kernel_if_close(&x->host_kif);
	free(x->held);
	free(x);
}

/* Opening */

static int one_of(struct port_spec *spec, const char *key, const char *const words[3],
		  const char **ret, struct err *err)
{
	const char *value = port_spec_key(spec, key);

	*ret = value ? value : words[0];
	for (int i = 0; i < 3; i++)
		if (!strcmp(*ret, words[i]))
			return 0;
	return err_set(err, EINVAL, "port xdp:%s: %s=%s: it is %s, %s or %s", spec->arg, key, value,
		       words[0], words[1], words[2]);
}

static int queues_choose(struct xdp_port *x, struct port_spec *spec, struct err *err)
{
	uint32_t there = x->kif.n_queues < PORT_QUEUES_MAX ? x->kif.n_queues : PORT_QUEUES_MAX;
	uint64_t queue, queues;
	int rc = port_spec_number(spec, "queue", 0, x->kif.n_queues - 1, UINT64_MAX, &queue, err);

	if (!rc)
		rc = port_spec_number(spec, "queues", 1, there, there, &queues, err);
	if (rc)
		return rc;
	x->first_queue = queue == UINT64_MAX ? 0 : (uint32_t)queue;
	x->n_queues = queue == UINT64_MAX ? (uint32_t)queues : 1;
	return 0;
}

static int keys_read(struct xdp_port *x, struct port_spec *spec, struct xdp_want *w,
		     struct err *err)
{
	static const char *const binds[3] = { "auto", "copy", "zc" };
	static const char *const modes[3] = { "auto", "native", "skb" };
	const char *dir = port_spec_dir(spec), *host = port_spec_key(spec, "host");
	int rc = one_of(spec, "bind", binds, &w->bind, err);

	if (!rc)
		rc = one_of(spec, "mode", modes, &w->mode, err);
	if (rc)
		return rc;
	if (host && strcmp(host, "none") && strcmp(host, "tap"))
		return err_set(err, EINVAL, "port xdp:%s: host=%s: it is tap or none", spec->arg,
			       host);
	w->bind_flags = !strcmp(w->bind, "copy") ? XDP_COPY
			: !strcmp(w->bind, "zc") ? XDP_ZEROCOPY
						 : 0;
	w->rx = !dir || strcmp(dir, "out");
	w->host = w->rx && (!host || strcmp(host, "none"));
	x->force = port_spec_key(spec, "force") != NULL;
	return queues_choose(x, spec, err);
}

static int refuse_default_route(struct xdp_port *x, struct err *err)
{
	bool found = false;
	int rc = kernel_if_default_route(x->kif.ifindex, &found);

	if (rc)
		return err_set(err, -rc, "port xdp:%s: cannot read the routes (%s)", x->kif.name,
			       errno_name(rc));
	if (!found)
		return 0;
	return err_set(
		err, EBUSY,
		"port xdp:%s: the default route is on this interface, and all its traffic would "
		"be cut off, yours too; use another one, or add ,force",
		x->kif.name);
}

/* Another program stays, unless it is to be taken off and can be: not when a link holds it. */
static int refuse_other_program(struct xdp_port *x, struct err *err)
{
	struct kernel_if_xdp other = { 0 };
	char name[16];
	int rc = kernel_if_xdp(x->kif.ifindex, &other);

	if (!rc && other.prog_id && x->force) {
		kernel_if_xdp_detach(x->kif.ifindex, other.mode);
		rc = kernel_if_xdp(x->kif.ifindex, &other);
	}
	if (rc)
		return err_set(err, -rc, "port xdp:%s: cannot ask for its XDP program (%s)",
			       x->kif.name, errno_name(rc));
	if (!other.prog_id)
		return 0;
	kernel_bpf_prog_name(other.prog_id, name);
	return err_set(err, EBUSY, "port xdp:%s: it has another XDP program, id %u%s%s; %s",
		       x->kif.name, other.prog_id, *name ? " name " : "", name,
		       x->force ? "a link holds it: end the process that has the link"
				: "take it off with ip link set dev IF xdp off, or add ,force");
}

static int bind_error(const struct xdp_port *x, const struct xdp_want *w, uint32_t queue, int code,
		      struct err *err)
{
	const char *name = x->kif.name;

	switch (code) {
	case EPERM:
	case EACCES:
		return err_set(
			err, code,
			"port xdp:%s: no permission for AF_XDP; run as root or with CAP_NET_RAW, "
			"CAP_NET_ADMIN and CAP_BPF, or use packet:%s",
			name, name);
	case EBUSY:
		return err_set(
			err, code,
			"port xdp:%s: queue %u is used by another AF_XDP socket; end that process, "
			"or choose with queue=",
			name, queue);
	case EOPNOTSUPP:
	case EINVAL:
		return err_set(err, code,
			       "port xdp:%s: bind=%s does not work on queue %u (%s); try bind=copy",
			       name, w->bind, queue, errno_name(code));
	case ENOBUFS:
		return err_set(
			err, code,
			"port xdp:%s: no locked memory left for the UMEM; raise it with ulimit -l",
			name);
	default:
		return err_set(err, code,
			       "port xdp:%s: cannot open an AF_XDP socket on queue %u (%s)", name,
			       queue, errno_name(code));
	}
}

static int queues_open(struct xdp_port *x, const struct xdp_want *w, struct err *err)
{
	uint32_t want = x->n_queues, share = pool_size(x->pool) / 8 / want;
	struct xdp_queue_cfg cfg = {
		.ifname = x->kif.name,
		.bind_flags = w->bind_flags,
		.rx = w->rx,
		.fill_target = share > XDP_RING	  ? XDP_RING
			       : share < FILL_MIN ? FILL_MIN
						  : share,
		.held = x->held,
	};

	x->n_queues = 0;
	for (uint32_t i = 0; i < want; i++) {
		int rc;

		cfg.id = x->first_queue + i;
		rc = xdp_queue_open(&x->queues[i], &x->port, x->pool, &cfg);
		if (rc)
			return bind_error(x, w, cfg.id, -rc, err);
		x->n_queues = i + 1;
	}
	x->port.n_rx_queues = x->port.n_tx_queues = want;
	return 0;
}

static int map_fill(struct xdp_port *x)
{
	int rc = 0;

	x->map_fd = kernel_bpf_xskmap_create(x->first_queue + x->n_queues);
	if (x->map_fd < 0)
		return x->map_fd;
	for (uint32_t i = 0; i < x->n_queues && !rc; i++)
		rc = kernel_bpf_xskmap_set(x->map_fd, x->queues[i].id, x->queues[i].fd);
	return rc;
}

static int prog_attach(struct xdp_port *x, const struct xdp_want *w)
{
	x->prog_fd = kernel_bpf_redirect_prog(x->map_fd);
	if (x->prog_fd < 0)
		return x->prog_fd;
	x->prog_id = kernel_bpf_prog_id(x->prog_fd);
	if (strcmp(w->mode, "skb")) {
		x->link_fd = kernel_bpf_xdp_link(x->prog_fd, x->kif.ifindex, XDP_FLAGS_DRV_MODE);
		x->native = x->link_fd >= 0;
	}
	if (x->link_fd < 0 && strcmp(w->mode, "native") && x->link_fd != -EBUSY)
		x->link_fd = kernel_bpf_xdp_link(x->prog_fd, x->kif.ifindex, XDP_FLAGS_SKB_MODE);
	return x->link_fd < 0 ? x->link_fd : 0;
}

static int prog_start(struct xdp_port *x, const struct xdp_want *w, struct err *err)
{
	int rc = map_fill(x);

	if (!rc)
		rc = prog_attach(x, w);
	if (rc == -EPERM)
		return bind_error(x, w, 0, EPERM, err);
	if (rc)
		return err_set(err, -rc,
			       "port xdp:%s: cannot attach its program in mode=%s (%s); try "
			       "mode=skb, or packet:%s",
			       x->kif.name, w->mode, errno_name(rc), x->kif.name);
	return 0;
}

/* A host side that cannot be made is no error: passed frames then go to nobody, and describe says so. */
static void host_open(struct xdp_port *x)
{
	char name[16];

	snprintf(name, sizeof(name), "weir-%.10s", x->kif.name);
	x->host_fd = tap_fd_open("xdp", name, NULL);
	if (x->host_fd < 0)
		return;
	if (kernel_if_open(&x->host_kif, "xdp", name, NULL) ||
	    kernel_if_set_mac(&x->host_kif, x->kif.mac) ||
	    kernel_if_set_mtu(&x->host_kif, x->kif.mtu) || kernel_if_set_up(&x->host_kif)) {
		close(x->host_fd);
		x->host_fd = -1;
	}
}

static int xdp_setup(struct xdp_port *x, struct port_spec *spec, struct err *err)
{
	struct xdp_want w = { 0 };
	int rc = kernel_if_open(&x->kif, "xdp", spec->arg, err);

	if (!rc)
		rc = keys_read(x, spec, &w, err);
	if (rc)
		goto err_no_queues;
	rc = -ENETDOWN;
	if (!x->kif.up) {
		err_set(err, ENETDOWN,
			"port xdp:%s: the interface is down; bring it up with ip link set %s up",
			spec->arg, spec->arg);
		goto err_no_queues;
	}
	rc = w.rx && !x->force ? refuse_default_route(x, err) : 0;
	if (!rc && w.rx)
		rc = refuse_other_program(x, err);
	if (rc)
		goto err_no_queues;
	kernel_if_port(&x->kif, spec, &x->port);
	x->port.can_rx = w.rx;
	rc = queues_open(x, &w, err);
	if (rc || !w.rx)
		return rc;
	rc = prog_start(x, &w, err);
	if (!rc && w.host)
		host_open(x);
	return rc;

err_no_queues:
	x->n_queues = 0;
	return rc;
}

static int xdp_open(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err)
{
	struct xdp_port *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return err_set(err, ENOMEM, "port xdp:%s: out of memory", spec->arg);
	x->kif.fd = x->host_kif.fd = x->map_fd = x->prog_fd = x->link_fd = x->host_fd = -1;
	x->pool = pool;
	port_init(&x->port, &xdp_ops, spec);
	x->held = calloc(pool_size(pool), 1);
	rc = x->held ? xdp_setup(x, spec, err)
		     : err_set(err, ENOMEM, "port xdp:%s: out of memory", spec->arg);
	if (rc) {
		xdp_close(&x->port);
		return rc;
	}
	*ret = &x->port;
	return 0;
}

const struct port_ops xdp_ops = {
	.kind = "xdp",
	.open = xdp_open,
	.close = xdp_close,
	.rx = xdp_rx,
	.tx = xdp_tx,
	.flush = xdp_flush,
	.in_flight = xdp_in_flight,
	.to_host = xdp_to_host,
	.from_host = xdp_from_host,
	.poll_fds = xdp_poll_fds,
	.describe = xdp_describe,
	.update_stats = xdp_update_stats,
};
