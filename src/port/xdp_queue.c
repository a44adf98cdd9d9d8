/* SPDX-License-Identifier: BSD-2-Clause */
/* The rings of one AF_XDP socket: see xdp_queue.h. */
#include "port/xdp_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port/port_impl.h"
#include "port/xdp_umem.h"

enum {
	BIND_TRIES = 20, /* the kernel lets go of a closed socket after up to half a second */
	BIND_WAIT_US = 50 * 1000,
	KICK_BUDGET = 32, /* frames that the kernel sends a call in copy mode */
	KICK_SPARE =
		16, /* calls beyond those, for a device queue or send buffer that is full now */
	SNDBUF = 16 << 20,
	VLAN_LEN = 4,
};

/* Opening */

static int socket_create(struct xdp_queue *q, const struct xdp_queue_cfg *cfg)
{
	const struct xsk_socket_config xc = {
		.rx_size = XDP_RING,
		.tx_size = XDP_RING,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (uint16_t)(cfg->bind_flags | XDP_USE_NEED_WAKEUP),
	};
	int rc = xdp_umem_get(&q->umem, q->pool, &q->fill, &q->comp);

	if (rc)
		return rc;
	rc = xsk_socket__create_shared(&q->xsk, cfg->ifname, cfg->id, xdp_umem_xsk(q->umem),
				       cfg->rx ? &q->rx : NULL, &q->tx, &q->fill, &q->comp, &xc);
	if (rc) {
		xdp_umem_put(q->umem);
		q->umem = NULL;
		q->xsk = NULL;
	}
	return rc;
}

/* Posts up to BURST_MAX frames; how many the pool gave. */
static uint32_t fill_post(struct xdp_queue *q, struct pool_cache *cache, uint32_t want)
{
	struct frame *frames[BURST_MAX];
	uint32_t n = want < BURST_MAX ? want : BURST_MAX, idx;

	if (!xsk_ring_prod__reserve(&q->fill, n, &idx))
		return 0;
	n = pool_alloc(cache, frames, n);
	for (uint32_t i = 0; i < n; i++) {
		*xsk_ring_prod__fill_addr(&q->fill, idx + i) =
			(uint64_t)frames[i]->index * POOL_STRIDE;
		q->held[frames[i]->index] = HELD_RX;
	}
	/* What the pool did not have is taken back from the reservation. */
	q->fill.cached_prod = idx + n;
	xsk_ring_prod__submit(&q->fill, n);
	q->n_posted += n;
	return n;
}

static void fill_start(struct xdp_queue *q)
{
	struct pool_cache cache;

	pool_cache_init(&cache, q->pool);
	while (q->n_posted < q->fill_target)
		if (!fill_post(q, &cache, q->fill_target - q->n_posted))
			break;
	pool_cache_fini(&cache);
}

static void options_read(struct xdp_queue *q, const struct xdp_queue_cfg *cfg)
{
	struct xdp_options opts = { 0 };
	socklen_t len = sizeof(opts);
	int sndbuf = SNDBUF;

	if (!getsockopt(q->fd, SOL_XDP, XDP_OPTIONS, &opts, &len))
		q->zero_copy = opts.flags & XDP_OPTIONS_ZEROCOPY;
	q->need_wakeup = true;
	/* In copy mode the send buffer bounds what is on its way; the ring is the bound that counts. */
	setsockopt(q->fd, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf));
}

int xdp_queue_open(struct xdp_queue *q, struct port *port, struct pool *pool,
		   const struct xdp_queue_cfg *cfg)
{
	size_t size;
	int rc;

	q->port = port;
	q->pool = pool;
	q->mem = pool_memory(pool, &size);
	q->held = cfg->held;
	q->id = cfg->id;
	for (int i = 0; i < BIND_TRIES; i++) {
		rc = socket_create(q, cfg);
		if (rc != -EBUSY)
			break;
		usleep(BIND_WAIT_US);
	}
	if (rc)
		return rc;
	q->fd = xsk_socket__fd(q->xsk);
	options_read(q, cfg);
	if (cfg->rx) {
		q->fill_target = cfg->fill_target;
		fill_start(q);
	}
	return 0;
}

void xdp_queue_close(struct xdp_queue *q)
{
	if (!q->xsk)
		return;
	xsk_socket__delete(q->xsk);
	xdp_umem_put(q->umem);
	q->xsk = NULL;
}

/* Receiving */

static struct frame *addr_frame(const struct xdp_queue *q, uint64_t addr)
{
	return pool_frame(q->pool, (uint32_t)(xsk_umem__extract_addr(addr) / POOL_STRIDE));
}

/* Tops the fill ring up; wakes the kernel when it waits for that. */
static void fill_refill(struct xdp_queue *q, struct pool_cache *cache)
{
	uint32_t want = q->fill_target - q->n_posted;

	if (want >= XDP_FILL_BATCH || !q->n_posted)
		fill_post(q, cache, want);
	if (xsk_ring_prod__needs_wakeup(&q->fill))
		recvfrom(q->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* Makes the frame of a descriptor; false when it is no packet that weir takes. */
static bool frame_take(struct xdp_queue *q, const struct xdp_desc *desc, struct frame *f)
{
	uint64_t *dropped = q->port->stats.rx_dropped;

	q->held[f->index] = HELD_NOT;
	if (desc->len > FRAME_DATA_MAX) {
		port_count(&dropped[RX_LOSS_TOO_LONG], 1);
		return false;
	}
	if (desc->len < FRAME_LEN_MIN) {
		port_count(&dropped[RX_LOSS_TOO_SHORT], 1);
		return false;
	}
	f->data = q->mem + xsk_umem__add_offset_to_addr(desc->addr);
	f->data_end = f->data + desc->len;
	f->data_meta = f->data;
	f->rx_queue_index = q->id;
	return true;
}

uint32_t xdp_queue_rx(struct xdp_queue *q, struct pool_cache *cache, struct frame **frames,
		      uint32_t n)
{
	struct frame *refused[BURST_MAX];
	uint32_t idx, got = xsk_ring_cons__peek(&q->rx, n, &idx), filled = 0, n_refused = 0;

	for (uint32_t i = 0; i < got; i++) {
		const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&q->rx, idx + i);
		struct frame *f = addr_frame(q, desc->addr);

		if (frame_take(q, desc, f))
			frames[filled++] = f;
		else
			refused[n_refused++] = f;
	}
	if (got) {
		xsk_ring_cons__release(&q->rx, got);
		q->n_posted -= got;
		pool_free(cache, refused, n_refused);
	}
	fill_refill(q, cache);
	return filled;
}

/* Sending */

/* Takes back what the kernel has sent: only now has it left weir. */
static void completions_reap(struct xdp_queue *q, struct pool_cache *cache)
{
	struct frame *frames[BURST_MAX];
	uint32_t idx, n;

	while ((n = xsk_ring_cons__peek(&q->comp, BURST_MAX, &idx))) {
		for (uint32_t i = 0; i < n; i++) {
			frames[i] = addr_frame(q, *xsk_ring_cons__comp_addr(&q->comp, idx + i));
			q->held[frames[i]->index] = HELD_NOT;
		}
		xsk_ring_cons__release(&q->comp, n);
		q->n_tx -= n;
		port_count_tx(q->port, frames, n);
		pool_free(cache, frames, n);
	}
}

static bool tx_ring_empty(const struct xdp_queue *q)
{
	return __atomic_load_n(q->tx.consumer, __ATOMIC_ACQUIRE) == *q->tx.producer;
}

/* In copy mode nothing leaves without this call, and one call takes KICK_BUDGET frames at most (B2.10). */
static void kick(struct xdp_queue *q)
{
	uint32_t calls = q->n_tx / KICK_BUDGET + KICK_SPARE;

	while (calls-- && !tx_ring_empty(q) && xsk_ring_prod__needs_wakeup(&q->tx)) {
		if (sendto(q->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 || errno == EAGAIN ||
		    errno == EBUSY || errno == ENOBUFS || errno == EINTR)
			continue;
		return; /* down or gone: rx finds out */
	}
}

void xdp_queue_flush(struct xdp_queue *q, struct pool_cache *cache)
{
	if (!q->n_tx)
		return;
	kick(q);
	completions_reap(q, cache);
}

static void desc_put(struct xdp_queue *q, uint32_t idx, const struct frame *f)
{
	struct xdp_desc *desc = xsk_ring_prod__tx_desc(&q->tx, idx);

	desc->addr = (uint64_t)f->index * POOL_STRIDE | (uint64_t)(f->data - f->hard_start)
								<< XSK_UNALIGNED_BUF_OFFSET_SHIFT;
	desc->len = frame_len(f);
	desc->options = 0;
	q->held[f->index] = HELD_TX;
}

/* Keeps in frames those that can be sent, and frees the others under a reason; how many are kept. */
static uint32_t burst_check(struct xdp_queue *q, struct pool_cache *cache, struct frame **frames,
			    uint32_t n)
{
	uint32_t limit = q->port->mtu + FRAME_LEN_MIN + VLAN_LEN, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (frame_len(frames[i]) <= limit) {
			frames[kept++] = frames[i];
			continue;
		}
		port_count(&q->port->stats.tx_dropped[TX_LOSS_TOO_LONG], 1);
		pool_free(cache, frames + i, 1);
	}
	return kept;
}

void xdp_queue_tx(struct xdp_queue *q, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	uint32_t idx, room;

	completions_reap(q, cache);
	n = burst_check(q, cache, frames, n);
	room = xsk_prod_nb_free(&q->tx, n);
	if (room < n) {
		kick(q);
		completions_reap(q, cache);
		room = xsk_prod_nb_free(&q->tx, n);
	}
	if (room > n)
		room = n;
	if (room && xsk_ring_prod__reserve(&q->tx, room, &idx)) {
		for (uint32_t i = 0; i < room; i++)
			desc_put(q, idx + i, frames[i]);
		xsk_ring_prod__submit(&q->tx, room);
		q->n_tx += room;
	}
	if (room < n) {
		port_count(
			&q->port->stats.tx_dropped[q->port->up ? TX_LOSS_RING_FULL : TX_LOSS_DOWN],
			n - room);
		pool_free(cache, frames + room, n - room);
	}
}
