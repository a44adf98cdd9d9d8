/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame: the descriptor of one packet in one chunk. It is what an XDP program gets as its context
 * (struct xdp_md is emulated on it: src/bpf/ctx.h), one cache line, in a dense array outside the chunks
 * (design 4, which has the measurements).
 *
 * A chunk is 4,096 bytes as a program sees it:
 *
 *   hard_start       data_meta   data                  data_end             hard_end      +4096
 *   | 40: reserved   | 216 ...   | packet, 3,520 at most | room to grow     | 320: reserved |
 *   |<------------ headroom 256 ----------->|
 *
 * The 40 bytes are the kernel's struct xdp_frame and the 320 its skb_shared_info: neither is used here, but
 * adjust_head, adjust_tail and adjust_meta give the kernel's answers because they are kept free
 * (xdp-semantics 7.2).
 *
 * Ownership: a frame has one owner at a time; it belongs to the pool it was taken from (src/pkt/pool.h).
 */
#ifndef WEIR_PKT_FRAME_H
#define WEIR_PKT_FRAME_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

enum {
	FRAME_SIZE = 4096,    /* a chunk, as a program sees it: the kernel's page */
	FRAME_HEADROOM = 256, /* XDP_PACKET_HEADROOM */
	FRAME_RESERVED =
		40, /* sizeof(struct xdp_frame): the lowest data_meta is hard_start + this */
	FRAME_TAILROOM = 320, /* the aligned size of skb_shared_info */
	FRAME_DATA_MAX = FRAME_SIZE - FRAME_HEADROOM - FRAME_TAILROOM, /* 3,520 */
	FRAME_LEN_MIN = 14, /* ETH_HLEN: adjust_head and adjust_tail keep this much */
	BURST_MAX = 64,	    /* NAPI's weight; larger bursts leave the L1 cache */
};

enum frame_flags {
	FRAME_GENERATED = 1 << 0, /* made inside weir (ARP, ICMP, ...), not received */
	FRAME_CLONE = 1 << 1,	  /* made by broadcast */
};

struct frame {
	uint8_t *data;
	uint8_t *data_end;
	uint8_t *data_meta;  /* == data when there is no metadata */
	uint8_t *hard_start; /* fixed for the frame's life */
	uint32_t ingress_ifindex;
	uint32_t rx_queue_index;
	uint32_t egress_ifindex; /* set while an egress (devmap) program runs; else 0 */
	uint32_t port_id;	 /* index of the port it came in by, in the engine */
	uint32_t index;		 /* in its pool; fixed */
	uint32_t hash;		 /* flow hash given by the port; 0: none */
	uint16_t flags;		 /* enum frame_flags */
	uint16_t pool_id;	 /* fixed */
	uint32_t seq;		 /* given by the source port: packet number in a capture, from 1 */
};

static_assert(sizeof(struct frame) == 64, "a frame descriptor is one cache line");
static_assert(offsetof(struct frame, data) == 0 && offsetof(struct frame, data_end) == 8 &&
		      offsetof(struct frame, data_meta) == 16,
	      "compiled programs load these");

static inline uint32_t frame_len(const struct frame *f)
{
	return (uint32_t)(f->data_end - f->data);
}

static inline uint8_t *frame_hard_end(const struct frame *f)
{
	return f->hard_start + FRAME_SIZE - FRAME_TAILROOM;
}

/* Makes the frame an empty one at the standard headroom; keeps hard_start, index and pool. */
static inline void frame_reset(struct frame *f)
{
	f->data = f->data_end = f->data_meta = f->hard_start + FRAME_HEADROOM;
	f->ingress_ifindex = 0;
	f->rx_queue_index = 0;
	f->egress_ifindex = 0;
	f->hash = 0;
	f->flags = 0;
}

/* Copies len bytes (at most FRAME_DATA_MAX, else -EMSGSIZE and no change) as the packet of a reset frame. */
int frame_fill(struct frame *f, const void *bytes, uint32_t len);

#endif
