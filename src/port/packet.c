/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver af_packet, kind `packet`: a TPACKET_V3 ring to receive, sendmmsg past the queueing discipline to
 * send. The host's stack gets a copy of all that this port receives: to forward with it, the addresses must
 * not be on the interface, or the host answers and forwards as well. With host=tap, what programs pass goes up to the
 * host through a tap, and no other way if there are no addresses on the interface: so a filter is one.
 *
 * What the kernel keeps beside the packet is put back before a program sees it: the VLAN tag that it took out,
 * and a checksum that the sender left to the hardware. Super-frames are refused and counted (RX_LOSS_GSO).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "port/host_side.h"
#include "port/kernel_if.h"
#include "port/port_impl.h"
#include "port/vnet_hdr.h"

enum {
	/* A block is given up when it is full or RETIRE_MS old: small blocks keep the latency of a busy link
	 * low, 64 KiB still holds the largest super-frame, which has to be seen to be counted. */
	BLOCK_SIZE = 1 << 17,
	N_BLOCKS = 64,
	RETIRE_MS = 1,
	FRAME_SLOT =
		2048, /* TPACKET_V3 packs packets; the kernel wants a number that divides the block */
	TX_TRIES = 64, /* sends of a burst before the rest counts as ring_full */
	VLAN_LEN = 4,
};

struct packet_port {
	struct port port;
	struct kernel_if kif;
	struct host_side host;
	int rx_fd, tx_fd;
	uint8_t *ring;
	uint32_t block;	     /* the one to read */
	uint32_t n_left;     /* packets in it that are not read yet */
	const uint8_t *next; /* the next of them */
};

static struct tpacket_block_desc *block_at(const struct packet_port *p, uint32_t i)
{
	return (void *)(p->ring + (size_t)i * BLOCK_SIZE);
}

/* Makes the next block current; false when the kernel still fills it. */
static bool block_open(struct packet_port *p)
{
	struct tpacket_block_desc *b = block_at(p, p->block);

	if (!(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
		return false;
	p->n_left = b->hdr.bh1.num_pkts;
	p->next = (const uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
	return true;
}

static void block_release(struct packet_port *p)
{
	struct tpacket_block_desc *b = block_at(p, p->block);

	__atomic_store_n(&b->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	p->block = (p->block + 1) % N_BLOCKS;
}

/* Puts the tag behind the addresses, by moving these to the front: there is headroom. */
static void vlan_put_back(struct frame *f, const struct tpacket3_hdr *h)
{
	uint32_t tpid =
		h->tp_status & TP_STATUS_VLAN_TPID_VALID ? h->hv1.tp_vlan_tpid : ETH_P_8021Q;
	uint32_t tci = h->hv1.tp_vlan_tci;
	const uint8_t tag[VLAN_LEN] = { (uint8_t)(tpid >> 8), (uint8_t)tpid, (uint8_t)(tci >> 8),
					(uint8_t)tci };

	memmove(f->data - VLAN_LEN, f->data, 12);
	memcpy(f->data - VLAN_LEN + 12, tag, VLAN_LEN);
	f->data -= VLAN_LEN;
	f->data_meta = f->data;
}

static enum port_rx_loss length_loss(const struct tpacket3_hdr *h, const struct virtio_net_hdr *v)
{
	uint32_t tag = h->tp_status & TP_STATUS_VLAN_VALID ? VLAN_LEN : 0;

	if (v->gso_type != VIRTIO_NET_HDR_GSO_NONE)
		return RX_LOSS_GSO;
	if (h->tp_len + tag > FRAME_DATA_MAX)
		return RX_LOSS_TOO_LONG;
	if (h->tp_snaplen < h->tp_len)
		return RX_LOSS_TRUNCATED;
	return h->tp_len < FRAME_LEN_MIN ? RX_LOSS_TOO_SHORT : RX_LOSSES;
}

/* Copies a packet of the ring into f; false when it was counted as lost. */
static bool packet_take(struct packet_port *p, const uint8_t *at, struct frame *f)
{
	const struct tpacket3_hdr *h = (const void *)at;
	enum port_rx_loss loss;
	struct virtio_net_hdr v;

	memcpy(&v, at + h->tp_mac - sizeof(v), sizeof(v));
	loss = length_loss(h, &v);
	if (loss != RX_LOSSES) {
		port_count(&p->port.stats.rx_dropped[loss], 1);
		return false;
	}
	frame_fill(f, at + h->tp_mac, h->tp_len);
	/* Its offsets count without the tag: before that is put back. */
	if (!vnet_hdr_apply(&v, f, &p->port))
		return false;
	if (h->tp_status & TP_STATUS_VLAN_VALID)
		vlan_put_back(f, h);
	f->hash = h->hv1.tp_rxhash;
	return true;
}

static uint32_t ring_read(struct packet_port *p, struct frame **frames, uint32_t n)
{
	uint32_t filled = 0;

	while (filled < n) {
		if (!p->n_left && !block_open(p))
			break;
		for (; p->n_left && filled < n; p->n_left--) {
			const struct tpacket3_hdr *h = (const void *)p->next;

			filled += packet_take(p, p->next, frames[filled]);
			p->next += h->tp_next_offset;
		}
		if (!p->n_left)
			block_release(p);
	}
	return filled;
}

static int packet_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	struct packet_port *p = (struct packet_port *)port;
	uint32_t got, filled;

	if (!p->ring)
		return PORT_EOF;
	/* Nothing there: no frame is taken from the pool in vain, and there is time to look around. */
	if (!p->n_left &&
	    !(__atomic_load_n(&block_at(p, p->block)->hdr.bh1.block_status, __ATOMIC_RELAXED) &
	      TP_STATUS_USER))
		return kernel_if_check(&p->kif, port);
	got = pool_alloc(cache, frames, n);
	filled = ring_read(p, frames, got);
	pool_free(cache, frames + filled, got - filled);
	port_count_rx(port, frames, filled);
	return (int)filled;
}

static enum port_tx_loss tx_loss(int code)
{
	switch (code) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return TX_LOSS_RING_FULL;
	case ENETDOWN:
	case ENXIO:
	case ENODEV:
		return TX_LOSS_DOWN;
	case EMSGSIZE:
		return TX_LOSS_TOO_LONG;
	default:
		return TX_LOSS_IO;
	}
}

/* Sends a burst; a frame that fails is counted, and those behind it go on. */
static void burst_send(struct packet_port *p, struct frame **frames, struct mmsghdr *msgs,
		       uint32_t n)
{
	uint32_t done = 0;

	for (uint32_t tries = 0; done < n && tries < TX_TRIES + n; tries++) {
		int sent = sendmmsg(p->tx_fd, msgs + done, n - done, MSG_DONTWAIT);

		if (sent > 0) {
			port_count_tx(&p->port, frames + done, (uint32_t)sent);
			done += (uint32_t)sent;
			continue;
		}
		/* A full queue empties by itself; any other failure is of this frame alone. */
		if (tx_loss(errno) == TX_LOSS_RING_FULL && tries < TX_TRIES)
			continue;
		port_count(&p->port.stats.tx_dropped[tx_loss(errno)], 1);
		done++;
	}
	port_count(&p->port.stats.tx_dropped[TX_LOSS_RING_FULL], n - done);
}

static void packet_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		      struct frame **frames, uint32_t n)
{
	struct packet_port *p = (struct packet_port *)port;
	struct mmsghdr msgs[BURST_MAX];
	struct iovec iov[BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		iov[i] = (struct iovec){ frames[i]->data, frame_len(frames[i]) };
		msgs[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &iov[i], .msg_iovlen = 1 } };
	}
	burst_send(p, frames, msgs, n);
	pool_free(cache, frames, n);
}

static int packet_poll_fds(struct port *port, int *fds, int n)
{
	const struct packet_port *p = (const struct packet_port *)port;
	int used = 0;

	if (p->ring && used < n)
		fds[used++] = p->rx_fd;
	if (p->host.fd >= 0 && used < n)
		fds[used++] = p->host.fd;
	return used;
}

static void packet_update_stats(struct port *port)
{
	struct packet_port *p = (struct packet_port *)port;
	struct tpacket_stats_v3 st;
	socklen_t len = sizeof(st);

	if (p->ring && !getsockopt(p->rx_fd, SOL_PACKET, PACKET_STATISTICS, &st, &len))
		port_count(&port->stats.rx_dropped[RX_LOSS_RING_FULL], st.tp_drops);
}

static void packet_close(struct port *port)
{
	struct packet_port *p = (struct packet_port *)port;

	if (p->ring)
		munmap(p->ring, (size_t)BLOCK_SIZE * N_BLOCKS);
	if (p->rx_fd >= 0)
		close(p->rx_fd);
	if (p->tx_fd >= 0)
		close(p->tx_fd);
	host_side_close(&p->host);
	kernel_if_close(&p->kif);
	free(p);
}

static int socket_bind(const struct packet_port *p, int fd, uint16_t protocol)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = protocol,
		.sll_ifindex = (int)p->kif.ifindex,
	};

	return bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
}

static int option_set(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) ? -errno : 0;
}

static int ring_make(struct packet_port *p)
{
	struct tpacket_req3 req = {
		.tp_block_size = BLOCK_SIZE,
		.tp_block_nr = N_BLOCKS,
		.tp_frame_size = FRAME_SLOT,
		.tp_frame_nr = BLOCK_SIZE / FRAME_SLOT * N_BLOCKS,
		.tp_retire_blk_tov = RETIRE_MS,
	};
	void *ring;

	if (setsockopt(p->rx_fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		return -errno;
	ring = mmap(NULL, (size_t)BLOCK_SIZE * N_BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED,
		    p->rx_fd, 0);
	if (ring == MAP_FAILED)
		return -errno;
	p->ring = ring;
	return 0;
}

/* The socket receives nothing until it is bound with a protocol: after all options are set. */
static int rx_setup(struct packet_port *p)
{
	struct packet_mreq mreq = { .mr_ifindex = (int)p->kif.ifindex,
				    .mr_type = PACKET_MR_PROMISC };
	int rc = option_set(p->rx_fd, PACKET_VERSION, TPACKET_V3);

	if (!rc)
		rc = option_set(p->rx_fd, PACKET_VNET_HDR, 1);
	if (!rc)
		rc = option_set(p->rx_fd, PACKET_IGNORE_OUTGOING, 1);
	if (!rc && setsockopt(p->rx_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq, sizeof(mreq)))
		rc = -errno;
	if (!rc)
		rc = ring_make(p);
	return rc ? rc : socket_bind(p, p->rx_fd, htons(ETH_P_ALL));
}

static int tx_setup(struct packet_port *p)
{
	int rc = option_set(p->tx_fd, PACKET_QDISC_BYPASS, 1);

	return rc ? rc : socket_bind(p, p->tx_fd, 0);
}

static int sockets_make(struct packet_port *p, bool rx, struct err *err)
{
	const char *name = p->kif.name;
	int rc;

	p->rx_fd = rx ? socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) : -1;
	p->tx_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (p->tx_fd < 0 && errno == EPERM)
		return err_set(
			err, EPERM,
			"port packet:%s: no permission for packet sockets; run as root or with "
			"CAP_NET_RAW",
			name);
	if (p->tx_fd < 0 || (rx && p->rx_fd < 0))
		return err_set(err, errno, "port packet:%s: no packet socket (%s)", name,
			       errno_name(errno));
	rc = rx ? rx_setup(p) : 0;
	if (!rc)
		rc = tx_setup(p);
	if (rc)
		return err_set(err, -rc, "port packet:%s: cannot set up the packet socket (%s)",
			       name, errno_name(rc));
	return 0;
}

static void packet_to_host(struct port *port, struct pool_cache *cache, struct frame **frames,
			   uint32_t n)
{
	struct packet_port *p = (struct packet_port *)port;

	if (p->host.fd >= 0)
		host_side_tx(&p->host, cache, frames, n);
	else
		pool_free(cache, frames, n); /* the host has had its copy */
}

static int packet_from_host(struct port *port, struct pool_cache *cache, struct frame **frames,
			    uint32_t n)
{
	struct packet_port *p = (struct packet_port *)port;

	return host_side_rx(&p->host, port, cache, frames, n);
}

static int host_setup(struct packet_port *p, struct port_spec *spec, struct err *err)
{
	const char *host = port_spec_key(spec, "host");

	if (!host || !strcmp(host, "none"))
		return 0;
	if (strcmp(host, "tap"))
		return err_set(err, EINVAL, "port packet:%s: host=%s: it is tap or none", spec->arg,
			       host);
	if (!host_side_open(&p->host, "packet", &p->kif))
		return err_set(
			err, EPERM,
			"port packet:%s: no tap for host=tap; run as root or with CAP_NET_ADMIN",
			spec->arg);
	return 0;
}

static int packet_setup(struct packet_port *p, struct port_spec *spec, struct err *err)
{
	const char *dir = port_spec_dir(spec);
	int rc = kernel_if_open(&p->kif, "packet", spec->arg, err);

	if (rc)
		return rc;
	if (!p->kif.up)
		return err_set(
			err, ENETDOWN,
			"port packet:%s: the interface is down; bring it up with ip link set %s up",
			spec->arg, spec->arg);
	p->port.can_rx = !dir || strcmp(dir, "out");
	rc = host_setup(p, spec, err);
	return rc ? rc : sockets_make(p, p->port.can_rx, err);
}

static int packet_open(struct port **ret, struct port_spec *spec, struct pool *pool,
		       struct err *err)
{
	struct packet_port *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, ENOMEM, "port packet:%s: out of memory", spec->arg);
	p->rx_fd = p->tx_fd = p->kif.fd = p->host.fd = p->host.kif.fd = -1;
	port_init(&p->port, &packet_ops, spec);
	rc = packet_setup(p, spec, err);
	if (rc) {
		packet_close(&p->port);
		return rc;
	}
	kernel_if_port(&p->kif, spec, &p->port);
	*ret = &p->port;
	return 0;
}

static void packet_describe(struct port *port, char *buf, size_t size)
{
	const struct packet_port *p = (const struct packet_port *)port;
	uint64_t gso = port->stats.rx_dropped[RX_LOSS_GSO];

	snprintf(buf, size, "%spast the queueing discipline; the host sees all packets too%s%s",
		 p->ring ? "TPACKET_V3, promiscuous, " : "send only, ",
		 p->host.fd >= 0 ? ", and what is passed through " : "",
		 p->host.fd >= 0 ? p->host.kif.name : "");
	if (gso)
		snprintf(buf + strlen(buf), size - strlen(buf),
			 "; %llu super-frames were refused: turn them off with ethtool -K %s gro "
			 "off gso "
			 "off tso off, at the sender as well",
			 (unsigned long long)gso, p->kif.name);
}

const struct port_ops packet_ops = {
	.kind = "packet",
	.open = packet_open,
	.close = packet_close,
	.rx = packet_rx,
	.tx = packet_tx,
	.to_host = packet_to_host,
	.from_host = packet_from_host,
	.poll_fds = packet_poll_fds,
	.describe = packet_describe,
	.update_stats = packet_update_stats,
};
