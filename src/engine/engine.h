/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine: ports, programs and workers wired together. It alone knows the order of the stages
 * (worker.c reads top to bottom as the path of a packet).
 *
 * Two ways to drive it: engine_start runs its workers in threads (weir run); or the caller's own thread runs
 * worker 0, poll by poll, with engine_poll_frames (weir test, benchmarks, unit tests).
 *
 * Threads: the control thread calls everything here but what is said to be a worker's. A worker owns its
 * ports' queues, its pool cache, bulk queues, run context and counters.
 * Ownership: the engine takes ports and closes them; it takes references to programs.
 */
#ifndef WEIR_ENGINE_ENGINE_H
#define WEIR_ENGINE_ENGINE_H

#include "base/err.h"
#include "bpf/prog.h"
#include "net/net.h"
#include "pkt/drop_reason.h"
#include "pkt/pool.h"
#include "port/port.h"

struct engine;

enum {
	ENGINE_PORTS_MAX = 256,
	ENGINE_BULK = 16, /* DEV_MAP_BULK_SIZE: frames of a bulk queue */
};

enum redirect_flush { FLUSH_BURST, FLUSH_PACKET };
enum engine_prefetch { PREFETCH_NONE, PREFETCH_READ, PREFETCH_WRITE };

struct engine_cfg {
	uint32_t n_frames; /* of the pool; 0: 16,384 */
	uint32_t burst;	   /* frames a poll, 1..BURST_MAX; 0: BURST_MAX */
	uint32_t cpu;	   /* what worker 0 says it is (--cpu) */
	uint32_t
		rx_queue; /* rx_queue_index of frames whose port is no kernel interface (--rx-queue) */
	bool fixed_time; /* --time */
	uint64_t time_ns;
	bool pin;		       /* bind workers to host CPUs */
	enum redirect_flush flush;     /* redirect.flush */
	enum engine_prefetch prefetch; /* engine.prefetch */
	uint32_t prefetch_distance;    /* frames ahead; 0: 4 */
};

/*
 * Totals of design 10. received + generated + cloned == transmitted + passed + aborted + sum of dropped +
 * in_flight, always when no worker is running. Frames that the host sends through the tap of a port count as
 * received, and as transmitted when they have left. in_flight is what ports took and have not sent yet.
 */
struct engine_totals {
	uint64_t received, generated, cloned;
	uint64_t transmitted, passed, aborted, in_flight;
	uint64_t dropped[DROP_REASONS];
};

/*
 * A port's share, in frames. A drop counts at one port: where the frame came in, until it was queued for
 * another; after that (egress program, transmission) at the port that it should have left by. `tx` and
 * `redirected` count verdicts that were acted on, by the port that the frame came in by.
 */
struct engine_port_totals {
	uint64_t received, transmitted, passed, aborted, dropped, tx, redirected;
};

/* Life cycle. An engine with no ports and one worker; -ENOMEM. */
int engine_create(struct engine **ret, const struct engine_cfg *cfg, struct err *err);
/* Stops, closes its ports, and returns the number of frames that nobody gave back: 0 is right. */
uint32_t engine_destroy(struct engine *engine);

/* Wiring, before start */

/* Opens `spec` and takes it in: names it, gives it an ifindex (ifindex=, else the kernel's, else the lowest
 * free number from 1 in order of the calls), enters it in net. *ret is borrowed. A second port with the same
 * name, ifindex or interface is an error. `input`: it is polled; the first one is named "in" when its
 * argument gives no name, others "out1", "out2", ... */
int engine_add_port(struct engine *engine, struct port_spec *spec, bool input, struct port **ret,
		    struct err *err);
/* The program that runs on what the port receives; NULL: none, frames are passed. Takes a reference. Not
 * while the engine runs. */
void engine_attach(struct engine *engine, struct port *port, struct prog *prog);
struct net *engine_net(struct engine *engine);
struct pool *engine_pool(struct engine *engine);
struct run_ctx *engine_run_ctx(struct engine *engine); /* worker 0's */
struct port *engine_port_by_name(struct engine *engine, const char *name);
struct port *engine_port_by_ifindex(struct engine *engine, uint32_t ifindex);
struct port *engine_port_at(struct engine *engine, uint32_t i);		       /* NULL at the end */
struct prog *engine_port_prog(struct engine *engine, const struct port *port); /* borrowed */

/* Running in threads */
int engine_start(struct engine *engine, struct err *err);
/* True when every input has ended (PORT_EOF) or was lost, or `max_frames` (0: no limit) were received. */
bool engine_done(struct engine *engine);
/* Never more than max_frames are received in the engine's life, frames of the host included. */
void engine_limit(struct engine *engine, uint64_t max_frames);
/* Stops the workers after their burst, flushes the queues. Idempotent. */
void engine_stop(struct engine *engine);
/* Why an input was lost, when one was: fills *err and returns its -errno; else 0. */
int engine_input_error(struct engine *engine, struct err *err);

/* Driven by the caller, as worker 0 */

/* What became of one frame: filled by engine_poll_frames when asked for. */
struct outcome {
	uint32_t verdict;	   /* as the program returned it */
	struct fault fault;	   /* reason FAULT_NONE: no fault */
	const struct port *to;	   /* where it was sent (TX, REDIRECT); NULL: nowhere */
	uint32_t map_id;	   /* of a redirect through a map; 0: by ifindex, or none */
	uint64_t map_key;	   /* the key, or the ifindex */
	const struct prog *egress; /* the egress program that ran; NULL: none */
	uint32_t egress_verdict;
	int error; /* -errno of a failed redirect or transmission; 0: none */
	bool dropped;
	enum drop_reason reason; /* when dropped */
	uint32_t len;	   /* of the packet as it was left: after the egress program when one ran */
	uint32_t meta_len; /* bytes of metadata in front */
	uint8_t bytes[FRAME_SIZE]; /* metadata, then packet */
};

/* Runs one poll on n frames (at most BURST_MAX) as if `port` had received them: program, verdicts, redirect,
 * flush. Takes the frames. outcomes: n of them, or NULL. */
void engine_poll_frames(struct engine *engine, struct port *port, struct frame **frames, uint32_t n,
			struct outcome *outcomes);
/* Polls every input once, as a worker does; returns how many frames were received. */
uint32_t engine_poll(struct engine *engine);
/* Frames of worker 0's cache, for engine_poll_frames; fewer when the pool is empty. */
uint32_t engine_alloc(struct engine *engine, struct frame **frames, uint32_t n);
void engine_free(struct engine *engine, struct frame **frames, uint32_t n);

/* Inspection, at any time */
void engine_totals(struct engine *engine, struct engine_totals *totals);
void engine_port_totals(struct engine *engine, const struct port *port,
			struct engine_port_totals *totals);
/* The last fault of worker 0 with its program, and how many there were. */
uint64_t engine_faults(struct engine *engine, struct fault *last);

#endif
