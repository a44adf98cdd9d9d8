/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One queue of an AF_XDP port: a socket with its four rings, on the pool's memory as UMEM. All AF_XDP sockets
 * of a pool share one UMEM, in unaligned-chunk mode: chunk i at i * POOL_STRIDE, data at + FRAME_HEADROOM, so
 * a frame received is a frame of the pool and moves on without a copy (design 4).
 *
 *     pool -> fill ring -> kernel -> rx ring -> worker      worker -> tx ring -> kernel -> completion ring -> pool
 *
 * Threads: open and close by the control thread, the rest by the worker that owns the port.
 * Ownership: frames in the rings are the queue's; `held` says which, by index in the pool.
 */
#ifndef WEIR_PORT_XDP_QUEUE_H
#define WEIR_PORT_XDP_QUEUE_H

#include <xdp/xsk.h>

#include "port/port.h"

enum {
	XDP_RING = 2048,
	XDP_FILL_BATCH = 32, /* the fill ring is topped up when this many are missing */
};

enum xdp_held { HELD_NOT, HELD_RX, HELD_TX };

struct xdp_umem;

struct xdp_queue {
	struct xsk_ring_cons rx, comp;
	struct xsk_ring_prod tx, fill;
	struct xsk_socket *xsk;
	struct xdp_umem *umem;
	struct port *port;
	struct pool *pool;
	uint8_t *mem;  /* pool_memory */
	uint8_t *held; /* enum xdp_held by frame index; the port's, shared by its queues */
	uint32_t id;
	int fd;
	uint32_t fill_target,
		n_posted; /* frames that the kernel may receive into; how many it has */
	uint32_t n_tx;	  /* taken and not completed */
	bool zero_copy, need_wakeup;
};

struct xdp_queue_cfg {
	const char *ifname;
	uint32_t id;
	uint16_t bind_flags; /* XDP_COPY, XDP_ZEROCOPY or 0 */
	bool rx;	     /* false: a socket that only sends */
	uint32_t fill_target;
	uint8_t *held;
};

/* Opens the socket and posts the first frames. Binding is tried again for a second while the kernel still
 * lets go of a socket that was closed. -errno, no text. */
int xdp_queue_open(struct xdp_queue *q, struct port *port, struct pool *pool,
		   const struct xdp_queue_cfg *cfg);
/* Gives the socket up. Frames that are held stay marked: the port returns them. */
void xdp_queue_close(struct xdp_queue *q);

/* As port_ops. */
uint32_t xdp_queue_rx(struct xdp_queue *q, struct pool_cache *cache, struct frame **frames,
		      uint32_t n);
void xdp_queue_tx(struct xdp_queue *q, struct pool_cache *cache, struct frame **frames, uint32_t n);
/* Kicks the kernel while it has frames to send, and takes back what it has sent. */
void xdp_queue_flush(struct xdp_queue *q, struct pool_cache *cache);

#endif
