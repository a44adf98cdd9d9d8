/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of engine/ share: a worker, its bulk queues and counters, and a port as it is wired.
 *
 *   worker.c    the path: poll, program, verdicts, redirect, flush
 *   verdict.c   acts on the verdicts of a burst
 *   redirect.c  acts on XDP_REDIRECT: target, checks, queue
 *   bulkq.c     queues of 16 frames a destination, egress programs, sending
 *   trace.c     the outcome of each frame, when the caller asked for it
 *   wiring.c    ports: names, ifindexes, programs
 *   count.c     totals
 *   thread.c    workers in threads
 *
 * Invariants: between bursts no frame is in a bulk queue or on the list of dead frames, so that a frame is in the
 * pool, in a port, or with the caller. Within a burst a frame dies at most once: `dead` never overflows.
 *
 * Threads: a worker belongs to the thread that drives it; members marked _Atomic are read by others.
 */
#ifndef WEIR_ENGINE_ENGINE_IMPL_H
#define WEIR_ENGINE_ENGINE_IMPL_H

#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/qsbr.h"
#include "pkt/run_ctx.h"

struct worker;
struct trace;
struct wired;

/* Counters have one writer, the worker. */
typedef _Atomic uint64_t counter;

static inline void count_add(counter *c, uint64_t n)
{
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline uint64_t count_read(const counter *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

/* A port's share in one worker. A drop counts at one port: before the frame was queued at the one that it came in
 * by, after that at the one that it should have left by. */
struct port_counters {
	_Alignas(64) counter received;
	counter passed, aborted, dropped, tx, redirected;
};

/* Frames on their way to one port, each with the egress program of the entry that sent it there. */
struct bulkq {
	struct bulkq *next; /* of the pending list */
	struct wired *to;
	uint32_t n;
	bool pending, any_egress;
	struct frame *frames[ENGINE_BULK];
	const struct prog *egress[ENGINE_BULK]; /* NULL: none */
};

/* Runs the port's program on a burst; sets a frame that was redirected to NULL. */
typedef void (*burst_run)(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
			  uint32_t *verdicts);

struct wired {
	struct port *port;
	uint32_t id;	   /* index in engine.ports: port->id, without a look at the port */
	struct prog *prog; /* owned; NULL: frames are passed */
	burst_run run;	   /* chosen by worker_choose_run; not NULL */
	bool input;
	uint32_t rx_queue;  /* of its frames, when the port gives none; 0 otherwise */
	_Atomic bool ended; /* no more frames will come */
	_Atomic int lost;   /* the -errno that rx ended with, or 0 */
};

struct worker {
	struct engine *engine;
	struct pool_cache cache;
	struct run_ctx rc;
	struct bulkq *pending; /* last joined first, as the kernel's flush list */
	struct trace *trace;   /* NULL: nobody asked for outcomes */
	uint32_t n_dead;
	struct frame *dead[BURST_MAX]; /* dropped in this burst: freed together at its end */
	counter faults;
	struct fault last_fault; /* under fault_lock, which only a fault takes */
	pthread_mutex_t fault_lock;
	struct qsbr_reader qsbr; /* registered; offline when the worker is not in a burst */
	counter received;	 /* of all ports */
	counter dropped[DROP_REASONS];
	struct port_counters ports[ENGINE_PORTS_MAX];
	struct bulkq queues[ENGINE_PORTS_MAX];
};

struct engine {
	struct engine_cfg cfg;
	struct pool *pool;
	struct net *net;
	struct worker *worker;
	uint32_t n_ports, n_inputs;
	struct wired ports[ENGINE_PORTS_MAX];
	_Atomic uint64_t max_frames; /* 0: no limit */
	pthread_t thread;
	bool running;
	_Atomic bool stop;
	int wake_fd; /* eventfd: ends a worker's sleep; -1: not running */
};

/* What is left of a redirect for the outcome. */
struct redirect_result {
	uint32_t map_type, map_id;
	uint64_t tgt_index;
	int error;		 /* 0: queued; else -errno */
	enum drop_reason reason; /* when error is not 0 */
	struct wired *to;	 /* when error is 0 */
};

/* worker.c */
void worker_burst(struct worker *w, struct wired *in, struct frame **frames, uint32_t n);
/* Polls inputs and hosts once; returns how many frames came in. */
uint32_t worker_poll(struct worker *w);
/* Kicks and reaps every port. */
void worker_flush_ports(struct worker *w);
/* Which way of running is right for the port's program and the engine's switches. */
burst_run worker_choose_run(const struct engine *engine, const struct prog *prog);
void worker_run_traced(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
		       uint32_t *verdicts);

/* verdict.c */
void verdict_act(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
		 const uint32_t *verdicts);

/* redirect.c: consumes rc.ri and takes the frame; 1 when it was queued, 0 when it was dropped. */
uint32_t redirect_frame(struct worker *w, struct wired *in, struct frame *f);
uint32_t redirect_frame_traced(struct worker *w, struct wired *in, struct frame *f);

/* bulkq.c */
void bulkq_send(struct worker *w, struct bulkq *q);
void bulkq_flush(struct worker *w);
/* Hands n frames (at most BURST_MAX) to the port. */
void bulkq_tx(struct worker *w, struct wired *to, struct frame **frames, uint32_t n);

/* trace.c */
struct trace {
	uint32_t n;
	struct frame *frames[BURST_MAX];
	struct outcome *outcomes;
};

void trace_verdict(struct worker *w, struct frame *f, uint32_t verdict);
void trace_redirect(struct worker *w, struct frame *f, const struct redirect_result *res);
void trace_egress(struct worker *w, struct frame *f, const struct prog *prog, uint32_t verdict);
void trace_drop(struct worker *w, struct frame *f, enum drop_reason reason, int error);
/* Sends frame by frame, so that what the port counts as lost has a name. */
void trace_tx(struct worker *w, struct wired *to, struct frame **frames, uint32_t n);

/* wiring.c: what engine_add_port does with an open port. Takes it, on failure too. */
int wiring_take_port(struct engine *engine, struct port *port, const struct port_spec *spec,
		     bool input, struct err *err);

/* count.c */
/* The drop reason of what a port lost in tx. */
enum drop_reason count_tx_loss_reason(enum port_tx_loss loss);
/* Keeps the record of the latest fault for other threads. */
void count_fault(struct worker *w);

/* Drops a frame under a reason, on the account of `port`. */
static inline void worker_drop(struct worker *w, const struct wired *port, struct frame *f,
			       enum drop_reason reason)
{
	count_add(&w->dropped[reason], 1);
	count_add(&w->ports[port->id].dropped, 1);
	w->dead[w->n_dead++] = f;
}

/* Puts a frame on its way to a port, by way of the egress program unless that is NULL. */
static inline void bulkq_enqueue(struct worker *w, uint32_t port_id, struct frame *f,
				 const struct prog *egress)
{
	struct bulkq *q = &w->queues[port_id];

	if (q->n == ENGINE_BULK)
		bulkq_send(w, q);
	if (!q->pending) {
		q->pending = true;
		q->next = w->pending;
		w->pending = q;
	}
	if (egress)
		q->any_egress = true;
	q->frames[q->n] = f;
	q->egress[q->n++] = egress;
}

/* After a run or a burst of runs. */
static inline void worker_note_faults(struct worker *w)
{
	if (__builtin_expect(w->rc.faults != count_read(&w->faults), 0))
		count_fault(w);
}

#endif
