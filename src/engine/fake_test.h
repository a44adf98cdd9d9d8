/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the engine's unit tests: a port whose both ends are in the test's hands, and programs that are C functions
 * which do what the packet's first bytes say:
 *
 *   byte 0     the verdict
 *   byte 1     STEP_*: what is done before it
 *   byte 2     the ifindex, or the number of the entry in fake_entries
 *   byte 4..7  a sequence number, big endian
 */
#ifndef WEIR_ENGINE_FAKE_TEST_H
#define WEIR_ENGINE_FAKE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine_impl.h"
#include "maps/devmap.h"

enum {
	FAKE_FRAMES = 8192, /* what a fake port holds */
	FAKE_CALLS = 1024,  /* of tx, whose sizes are kept */
	FAKE_ENTRIES = 8,
};

enum {
	STEP_NONE,
	STEP_REDIRECT,	  /* bpf_redirect(byte 2, 0) */
	STEP_MAP,	  /* bpf_redirect_map that hits fake_entries[byte 2] */
	STEP_MAP_MISS,	  /* bpf_redirect_map that misses */
	STEP_BROADCAST,	  /* bpf_redirect_map(..., BPF_F_BROADCAST) */
	STEP_CPUMAP,	  /* bpf_redirect_map that hits a cpumap */
	STEP_FAULT,	  /* a fault: the verdict is XDP_ABORTED */
	STEP_NO_HEADROOM, /* data_meta where the frame header must be */
};

struct fake_port {
	struct port port;
	struct frame *rx[FAKE_FRAMES], *tx[FAKE_FRAMES], *host_tx[FAKE_FRAMES];
	uint32_t n_rx, rx_next, n_tx, n_host_tx, n_passed, n_flushes;
	uint32_t n_calls, calls[FAKE_CALLS]; /* how many frames each tx had */
	uint32_t ring; /* frames that wait for a flush; the rest is lost. 0: none wait */
	uint32_t n_ring, last_call; /* when tx was called last, by fake_clock */
	int end;		    /* what rx says when there are no more: 0, PORT_EOF, -errno */
	struct pool *pool;
};

static uint32_t fake_clock; /* counts the calls of tx on all ports */
static struct dev_entry fake_entries[FAKE_ENTRIES];

static inline struct fake_port *fake_of(struct port *port)
{
	return (struct fake_port *)port;
}

static void fake_close(struct port *port)
{
	struct fake_port *f = fake_of(port);
	static struct pool_cache cache;

	pool_cache_init(&cache, f->pool);
	for (; f->rx_next < f->n_rx; f->rx_next++)
		pool_free(&cache, &f->rx[f->rx_next], 1);
	for (uint32_t i = 0; i < f->n_tx; i++)
		pool_free(&cache, &f->tx[i], 1);
	pool_cache_fini(&cache);
	free(f);
}

static int fake_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	struct fake_port *f = fake_of(port);
	uint32_t i;

	for (i = 0; i < n && f->rx_next < f->n_rx; i++)
		frames[i] = f->rx[f->rx_next++];
	if (!i)
		return f->end;
	__atomic_fetch_add(&port->stats.rx_frames, i, __ATOMIC_RELAXED);
	return (int)i;
}

static void fake_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		    struct frame **frames, uint32_t n)
{
	struct fake_port *f = fake_of(port);

	assert_int_equal(queue, 0);
	assert_true(n >= 1 && n <= BURST_MAX && f->n_calls < FAKE_CALLS);
	f->calls[f->n_calls++] = n;
	f->last_call = ++fake_clock;
	for (uint32_t i = 0; i < n; i++) {
		if (f->ring && f->n_ring == f->ring) {
			__atomic_fetch_add(&port->stats.tx_dropped[TX_LOSS_RING_FULL], 1,
					   __ATOMIC_RELAXED);
			pool_free(cache, &frames[i], 1);
			continue;
		}
		assert_true(f->n_tx < FAKE_FRAMES);
		f->tx[f->n_tx++] = frames[i];
		if (f->ring)
			f->n_ring++;
		else
			__atomic_fetch_add(&port->stats.tx_frames, 1, __ATOMIC_RELAXED);
	}
}

static void fake_flush(struct port *port, struct pool_cache *cache)
{
	fake_of(port)->n_flushes++;
}

static uint32_t fake_in_flight(struct port *port)
{
	return fake_of(port)->n_ring;
}

static void fake_to_host(struct port *port, struct pool_cache *cache, struct frame **frames,
			 uint32_t n)
{
	fake_of(port)->n_passed += n;
	pool_free(cache, frames, n);
}

static int fake_from_host(struct port *port, struct pool_cache *cache, struct frame **frames,
			  uint32_t n)
{
	struct fake_port *f = fake_of(port);
	uint32_t i;

	for (i = 0; i < n && f->n_host_tx; i++)
		frames[i] = f->host_tx[--f->n_host_tx];
	return (int)i;
}

static const struct port_ops fake_ops = {
	.kind = "fake",
	.close = fake_close,
	.rx = fake_rx,
	.tx = fake_tx,
	.flush = fake_flush,
	.in_flight = fake_in_flight,
};

/* A fake port with a host behind it. */
static const struct port_ops fake_host_ops = {
	.kind = "fake",
	.close = fake_close,
	.rx = fake_rx,
	.tx = fake_tx,
	.flush = fake_flush,
	.in_flight = fake_in_flight,
	.to_host = fake_to_host,
	.from_host = fake_from_host,
};

static inline struct fake_port *fake_add(struct engine *engine, const char *name, uint32_t ifindex,
					 bool input)
{
	struct fake_port *f = calloc(1, sizeof(*f));
	struct port_spec spec = { .kind = "fake", .ifindex = ifindex };
	struct err err = { 0 };

	assert_non_null(f);
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	f->pool = engine_pool(engine);
	f->port.ops = &fake_ops;
	f->port.mtu = 1500;
	f->port.n_tx_queues = f->port.n_rx_queues = 1;
	f->port.up = f->port.can_rx = f->port.can_tx = true;
	if (wiring_take_port(engine, &f->port, &spec, input, &err))
		fail_msg("%s", err.text);
	return f;
}

static inline struct engine *fake_engine(const struct engine_cfg *cfg)
{
	struct engine *engine = NULL;
	struct err err = { 0 };

	if (engine_create(&engine, cfg, &err))
		fail_msg("%s", err.text);
	return engine;
}

/* Changes the interface that a port is in net. */
static inline void fake_set_if(struct engine *engine, uint32_t ifindex, bool up, bool can_xmit,
			       uint32_t mtu)
{
	struct net_if nif = *net_if_by_index(engine_net(engine), ifindex);
	struct net_edit *edit = net_edit_begin(engine_net(engine));

	nif.up = up;
	nif.can_xmit = can_xmit;
	nif.mtu = mtu;
	assert_int_equal(net_edit_if(edit, &nif), 0);
	assert_int_equal(net_edit_commit(edit), 0);
}

static inline struct frame *fake_frame(struct engine *engine, uint8_t verdict, uint8_t step,
				       uint8_t target, uint32_t seq, uint32_t len)
{
	uint8_t bytes[FRAME_DATA_MAX] = { verdict, step, target };
	struct frame *f;

	bytes[4] = (uint8_t)(seq >> 24);
	bytes[5] = (uint8_t)(seq >> 16);
	bytes[6] = (uint8_t)(seq >> 8);
	bytes[7] = (uint8_t)seq;
	assert_int_equal(engine_alloc(engine, &f, 1), 1);
	assert_int_equal(frame_fill(f, bytes, len), 0);
	return f;
}

static inline uint32_t fake_seq(const struct frame *f)
{
	return (uint32_t)f->data[4] << 24 | (uint32_t)f->data[5] << 16 | (uint32_t)f->data[6] << 8 |
	       f->data[7];
}

/* What the helpers leave behind: __bpf_xdp_redirect_map, bpf_xdp_redirect. */
static inline void fake_step(struct run_ctx *rc, struct frame *f)
{
	struct redirect_info *ri = &rc->ri;

	switch (f->data[1]) {
	case STEP_REDIRECT:
		ri->tgt_index = f->data[2];
		ri->map_id = INT32_MAX;
		ri->map_type = BPF_MAP_TYPE_UNSPEC;
		break;
	case STEP_MAP:
		ri->tgt_index = f->data[2];
		ri->tgt_value = &fake_entries[f->data[2]];
		ri->map_id = fake_entries[f->data[2]].map_id;
		ri->map_type = BPF_MAP_TYPE_DEVMAP;
		ri->flags = 0;
		break;
	case STEP_MAP_MISS:
		ri->map_id = INT32_MAX;
		ri->map_type = BPF_MAP_TYPE_UNSPEC;
		break;
	case STEP_BROADCAST:
		ri->map_id = 7;
		ri->map_type = BPF_MAP_TYPE_DEVMAP_HASH;
		ri->flags = BPF_F_BROADCAST;
		break;
	case STEP_CPUMAP:
		ri->map_id = 8;
		ri->map_type = BPF_MAP_TYPE_CPUMAP;
		break;
	case STEP_NO_HEADROOM:
		ri->tgt_index = f->data[2];
		ri->map_id = INT32_MAX;
		f->data_meta = f->hard_start + FRAME_RESERVED - 4;
		break;
	}
}

static uint32_t fake_run_one(const struct prog *prog, struct run_ctx *rc, struct frame *f)
{
	rc->fault.reason = FAULT_NONE;
	if (f->data[1] == STEP_FAULT) {
		rc->fault = (struct fault){ .reason = FAULT_BAD_ACCESS, .insn = 5 };
		rc->last_fault = rc->fault;
		rc->faults++;
		return XDP_ABORTED;
	}
	fake_step(rc, f);
	return f->data[0];
}

static void fake_run_many(const struct prog *prog, struct run_ctx *rc, struct frame *const *frames,
			  uint32_t n, uint32_t *verdicts)
{
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = prog->run_one(prog, rc, frames[i]);
}

static void fake_release(struct obj *obj)
{
}

/* A program with, or without, a redirect helper among its instructions. */
static inline void fake_prog(struct prog *prog, prog_run_one run, bool redirects)
{
	static struct bpf_insn call = { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map };

	memset(prog, 0, sizeof(*prog));
	obj_init(&prog->po.obj, OBJ_PROG, fake_release);
	prog->run_one = run;
	prog->run_many = fake_run_many;
	prog->raw = &call;
	prog->n_insns = redirects ? 1 : 0;
}

static inline uint64_t fake_sum_dropped(const struct engine_totals *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < DROP_REASONS; i++)
		n += t->dropped[i];
	return n;
}

/* The accounting identity of design 10. */
static inline void fake_check_identity(struct engine *engine, struct engine_totals *t)
{
	engine_totals(engine, t);
	assert_int_equal(t->received + t->generated + t->cloned,
			 t->transmitted + t->passed + t->aborted + fake_sum_dropped(t) +
				 t->in_flight);
}

#endif
