/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory ports: see mem.h.
 *
 * The generator does as a NIC's receive ring does: it holds `frames` frames in a ring, gives the oldest, and
 * takes the same number from the pool in their place. So a program that drops every frame walks through all
 * of them, whatever the order in which the caches of the pool hand frames out. The work of one frame on rx:
 * one pool_alloc with its reset, one exchange in the ring, and for the frame that enters: the HEAD bytes of its
 * flow's template copied (not with refill=none, where they are written once and left as programs leave them),
 * data_end, seq. A frame that enters was freed a moment ago and is in the L1 cache; the one that is given is
 * not touched, so it is as cold as the ring is long, and engine.prefetch has its say.
 *
 * The sink does one pool_free a burst and adds up the lengths.
 */
#include "port/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pkt/csum.h"
#include "port/port_impl.h"

enum {
	HEAD = 64, /* bytes of a template: a cache line, and Ethernet + IPv4 + UDP are 42 */
	HDR_LEN = 42,
	FIFO_CAP = 65536,  /* frames pushed or kept: as mem.h says */
	FLOWS_MAX = 65536, /* 4 MiB of templates */
	FRAMES_DEFAULT = 2048,
};

struct fifo {
	struct frame **slots; /* FIFO_CAP of them, made on first use */
	uint32_t head, n;
};

struct mem {
	struct port port;
	struct pool *pool;
	/* the generator */
	uint8_t (*templates)[HEAD];
	uint32_t n_flows, flow;
	uint32_t len;
	uint32_t n_set, set_cap, pos;
	struct frame **set;
	uint8_t *written; /* by frame index: the whole packet was written once */
	uint64_t count, given;
	uint32_t entered; /* seq of the last frame that entered the ring */
	bool refill;
	bool simple; /* the headers are the whole packet, and are written each time */
	/* driven by a caller */
	bool keep, pushed_to;
	struct fifo in, out;
};

static int fifo_push(struct fifo *fifo, struct frame *const *frames, uint32_t n)
{
	if (!fifo->slots) {
		fifo->slots = calloc(FIFO_CAP, sizeof(struct frame *));
		if (!fifo->slots)
			return -ENOMEM;
	}
	if (fifo->n + n > FIFO_CAP)
		return -ENOSPC;
	for (uint32_t i = 0; i < n; i++)
		fifo->slots[(fifo->head + fifo->n++) % FIFO_CAP] = frames[i];
	return 0;
}

static uint32_t fifo_pop(struct fifo *fifo, struct frame **frames, uint32_t n)
{
	if (n > fifo->n)
		n = fifo->n;
	for (uint32_t i = 0; i < n; i++)
		frames[i] = fifo->slots[(fifo->head + i) % FIFO_CAP];
	fifo->head = (fifo->head + n) % FIFO_CAP;
	fifo->n -= n;
	return n;
}

static void fifo_fini(struct fifo *fifo, struct pool *pool)
{
	struct frame *frames[BURST_MAX];
	uint32_t n;

	while ((n = fifo_pop(fifo, frames, BURST_MAX)))
		port_return_frames(pool, frames, n);
	free(fifo->slots);
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Ethernet, IPv4, UDP to port 9, zeros; a flow is a source address and port. Checksums are right. */
static void template_make(uint8_t *t, uint32_t flow, uint32_t len)
{
	static const uint8_t start[HDR_LEN] = {
		2,    0, 0, 0, 0, 2, 2,	   0, 0,  0,  0, 1, 8,	0,		      /* Ethernet */
		0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 1, 0, 0, 10, 2, 0, 1, /* IPv4 */
		0,    0, 0, 9, 0, 0, 0,	   0,					      /* UDP */
	};
	uint32_t udp_len = len - 34;

	memset(t, 0, HEAD);
	memcpy(t, start, HDR_LEN);
	put16(t + 16, len - 14);
	put16(t + 28, flow >> 8 & 0xffff);
	put16(t + 34, 1024 + flow % 60000);
	put16(t + 38, udp_len);
	csum_put(t + 24, csum_add(0, t + 14, 20));
	csum_put(t + 40, csum_add(csum_pseudo_ipv4(t + 26, 17, udp_len), t + 34, 8));
}

static int mem_keys(struct mem *m, struct port_spec *spec, struct err *err)
{
	uint32_t half = pool_size(m->pool) / 2;
	const char *refill = port_spec_key(spec, "refill");
	uint64_t len, flows, frames;
	int rc;

	m->keep = port_spec_key(spec, "keep") != NULL;
	rc = port_spec_number(spec, "len", HDR_LEN, FRAME_DATA_MAX, 64, &len, err);
	if (!rc)
		rc = port_spec_number(spec, "flows", 1, FLOWS_MAX, 1, &flows, err);
	if (!rc)
		rc = port_spec_number(spec, "frames", 1, half ? half : 1,
				      FRAMES_DEFAULT < half ? FRAMES_DEFAULT : half, &frames, err);
	if (!rc)
		rc = port_spec_number(spec, "count", 0, UINT64_MAX, 0, &m->count, err);
	if (rc)
		return rc;
	if (refill && strcmp(refill, "headers") && strcmp(refill, "none"))
		return err_set(err, EINVAL, "port mem: refill=%s: it is headers or none", refill);
	m->refill = !refill || strcmp(refill, "none");
	m->len = (uint32_t)len;
	m->simple = m->refill && len <= HEAD;
	m->n_flows = (uint32_t)flows;
	m->set_cap = (uint32_t)frames;
	return 0;
}

static void mem_close(struct port *port)
{
	struct mem *m = (struct mem *)port;

	for (uint32_t i = 0; i < m->n_set; i++)
		port_return_frames(m->pool, &m->set[i], 1);
	fifo_fini(&m->in, m->pool);
	fifo_fini(&m->out, m->pool);
	free(m->templates);
	free(m->set);
	free(m->written);
	free(m);
}

static int mem_open(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err)
{
	struct mem *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(err, ENOMEM, "port mem: out of memory");
	m->pool = pool;
	port_init(&m->port, &mem_ops, spec);
	rc = mem_keys(m, spec, err);
	if (rc)
		goto err_close;
	m->templates = calloc(m->n_flows, sizeof(*m->templates));
	m->set = calloc(m->set_cap ? m->set_cap : 1, sizeof(*m->set));
	m->written = calloc(pool_size(pool), 1);
	if (!m->templates || !m->set || !m->written) {
		rc = err_set(err, ENOMEM, "port mem: out of memory; ask for fewer flows or frames");
		goto err_close;
	}
	for (uint32_t i = 0; i < m->n_flows; i++)
		template_make(m->templates[i], i, m->len);
	*ret = &m->port;
	return 0;

err_close:
	mem_close(&m->port);
	return rc;
}

/* The whole packet, when a frame enters the ring for the first time. */
static __attribute__((noinline)) void packet_write(struct mem *m, struct frame *f, uint32_t flow)
{
	memset(f->data, 0, m->len);
	memcpy(f->data, m->templates[flow], HEAD);
	m->written[f->index] = 1;
}

/* Makes packets of fresh frames. A template is copied whole: a chunk has room behind a shorter packet. What the
 * loop needs of m is in locals, since the stores into packets could alias it. */
static void packets_make(struct mem *m, struct frame *const *frames, uint32_t n)
{
	uint32_t flow = m->flow, n_flows = m->n_flows, len = m->len, seq = m->entered;
	const uint8_t(*templates)[HEAD] = (const uint8_t(*)[HEAD])m->templates;
	bool simple = m->simple, refill = m->refill;

	for (uint32_t i = 0; i < n; i++) {
		struct frame *f = frames[i];

		if (!simple && !m->written[f->index])
			packet_write(m, f, flow);
		else if (refill)
			memcpy(f->data, templates[flow], HEAD);
		f->data_end = f->data + len;
		f->seq = ++seq;
		flow = flow + 1 == n_flows ? 0 : flow + 1;
	}
	m->flow = flow;
	m->entered = seq;
}

/* Takes frames from the pool until the ring has as many as were asked for, or the pool has no more. */
static __attribute__((noinline)) void set_fill(struct mem *m, struct pool_cache *cache)
{
	uint32_t want, n;

	while (m->n_set < m->set_cap) {
		want = m->set_cap - m->n_set < BURST_MAX ? m->set_cap - m->n_set : BURST_MAX;
		n = pool_alloc(cache, m->set + m->n_set, want);
		packets_make(m, m->set + m->n_set, n);
		m->n_set += n;
		if (n < want)
			return;
	}
}

/* The exchange: frames holds n fresh ones and is given the n oldest of the ring. */
static void set_exchange(struct mem *m, struct frame **frames, uint32_t n)
{
	struct frame **set = m->set;
	uint32_t pos = m->pos, n_set = m->n_set;

	for (uint32_t i = 0; i < n; i++) {
		struct frame *oldest = set[pos];

		set[pos] = frames[i];
		frames[i] = oldest;
		pos = pos + 1 == n_set ? 0 : pos + 1;
	}
	m->pos = pos;
	m->given += n;
}

static int mem_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	struct mem *m = (struct mem *)port;
	uint32_t got;

	if (m->keep || m->pushed_to) {
		n = fifo_pop(&m->in, frames, n);
		port_count_rx(port, frames, n);
		return (int)n;
	}
	if (m->count) {
		if (m->given == m->count)
			return PORT_EOF;
		if (n > m->count - m->given)
			n = (uint32_t)(m->count - m->given);
	}
	if (m->n_set < m->set_cap)
		set_fill(m, cache);
	got = pool_alloc(cache, frames, n);
	if (got < n)
		port_count(&port->stats.rx_dropped[RX_LOSS_NO_FRAME], n - got);
	if (!m->n_set) {
		pool_free(cache, frames, got);
		return 0;
	}
	packets_make(m, frames, got);
	set_exchange(m, frames, got);
	port_count(&port->stats.rx_frames, got);
	port_count(&port->stats.rx_bytes, (uint64_t)got * m->len);
	return (int)got;
}

static void mem_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		   struct frame **frames, uint32_t n)
{
	struct mem *m = (struct mem *)port;

	if (m->keep && fifo_push(&m->out, frames, n)) {
		port_count(&port->stats.tx_dropped[TX_LOSS_RING_FULL], n);
		pool_free(cache, frames, n);
		return;
	}
	port_count_tx(port, frames, n);
	if (!m->keep)
		pool_free(cache, frames, n);
}

static void mem_describe(struct port *port, char *buf, size_t size)
{
	const struct mem *m = (const struct mem *)port;

	if (m->keep)
		snprintf(buf, size, "frames put in and taken out by the caller");
	else
		snprintf(buf, size, "generator and sink: %u bytes, %u flows, ring of %u frames, %s",
			 m->len, m->n_flows, m->set_cap,
			 m->refill ? "64 bytes of headers written a frame"
				   : "headers as they were left");
}

int mem_port_push(struct port *port, struct frame **frames, uint32_t n)
{
	struct mem *m = (struct mem *)port;

	m->pushed_to = true;
	return fifo_push(&m->in, frames, n);
}

uint32_t mem_port_pull(struct port *port, struct frame **frames, uint32_t n)
{
	return fifo_pop(&((struct mem *)port)->out, frames, n);
}

const struct port_ops mem_ops = {
	.kind = "mem",
	.open = mem_open,
	.close = mem_close,
	.rx = mem_rx,
	.tx = mem_tx,
	.describe = mem_describe,
};

/* null: a sink that knows nothing of its frames */

static int null_open(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err)
{
	struct port *port = calloc(1, sizeof(*port));

	if (!port)
		return err_set(err, ENOMEM, "port null: out of memory");
	port_init(port, &null_ops, spec);
	port->can_rx = false;
	*ret = port;
	return 0;
}

static void null_close(struct port *port)
{
	free(port);
}

static int null_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	return PORT_EOF;
}

static void null_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		    struct frame **frames, uint32_t n)
{
	port_count_tx(port, frames, n);
	pool_free(cache, frames, n);
}

const struct port_ops null_ops = {
	.kind = "null",
	.open = null_open,
	.close = null_close,
	.rx = null_rx,
	.tx = null_tx,
};
