/* SPDX-License-Identifier: BSD-2-Clause */
/* hot
 * The path of a packet, top to bottom: a burst comes in, the program runs over it, the verdicts are acted on
 * (verdict.c), what is redirected goes into the bulk queues (redirect.c), and at the end of the burst the queues are
 * flushed (bulkq.c), dead frames go back to the pool, and the ports kick and reap.
 */
#include "engine/engine_impl.h"

#include <linux/bpf.h>
#include <string.h>

/* Who received the burst; a frame that egress programs have seen before is as new. */
static void burst_arrive(struct worker *w, struct wired *in, struct frame **frames, uint32_t n)
{
	uint32_t id = in->id, ifindex = in->port->ifindex;

	for (uint32_t i = 0; i < n; i++) {
		frames[i]->ingress_ifindex = ifindex;
		frames[i]->egress_ifindex = 0;
		frames[i]->port_id = id;
	}
	for (uint32_t i = 0; in->rx_queue && i < n; i++)
		frames[i]->rx_queue_index = in->rx_queue;
	count_add(&w->received, n);
	count_add(&w->ports[id].received, n);
}

/*
 * Ways to run a program over a burst. A program that may redirect runs frame by frame, because each redirect
 * consumes the target that its helper left in rc.ri before the next run writes it (xdp_do_redirect); any other runs
 * the burst in one call.
 */

static void run_none(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
		     uint32_t *verdicts)
{
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = XDP_PASS;
}

static void run_burst(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
		      uint32_t *verdicts)
{
	prog_run_burst(in->prog, &w->rc, frames, n, verdicts);
	worker_note_faults(w);
}

static void run_redirecting(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
			    uint32_t *verdicts)
{
	uint32_t n_redirected = 0;

	for (uint32_t i = 0; i < n; i++) {
		verdicts[i] = prog_run(in->prog, &w->rc, frames[i]);
		if (verdicts[i] == XDP_REDIRECT) {
			n_redirected += redirect_frame(w, in, frames[i]);
			frames[i] = NULL;
		}
	}
	count_add(&w->ports[in->id].redirected, n_redirected);
	worker_note_faults(w);
}

/* redirect.flush=packet: what the end of a burst does, after each frame. */
static void run_redirecting_flush(struct worker *w, struct wired *in, struct frame **frames,
				  uint32_t n, uint32_t *verdicts)
{
	for (uint32_t i = 0; i < n; i++) {
		run_redirecting(w, in, &frames[i], 1, &verdicts[i]);
		if (verdicts[i] != XDP_REDIRECT)
			continue;
		bulkq_flush(w);
		worker_flush_ports(w);
	}
}

void worker_run_traced(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
		       uint32_t *verdicts)
{
	uint32_t n_redirected = 0;

	for (uint32_t i = 0; i < n; i++) {
		w->rc.fault.reason = FAULT_NONE;
		verdicts[i] = in->prog ? prog_run(in->prog, &w->rc, frames[i]) : XDP_PASS;
		worker_note_faults(w);
		trace_verdict(w, frames[i], verdicts[i]);
		if (verdicts[i] == XDP_REDIRECT) {
			n_redirected += redirect_frame_traced(w, in, frames[i]);
			frames[i] = NULL;
		}
	}
	count_add(&w->ports[in->id].redirected, n_redirected);
}

/* Whether a redirect helper, or a tail call to a program that has one, is among the instructions. */
static bool prog_may_redirect(const struct prog *prog)
{
	for (uint32_t i = 0; i < prog->n_insns; i++) {
		const struct bpf_insn *insn = &prog->raw[i];

		if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg)
			continue;
		if (insn->imm == BPF_FUNC_redirect || insn->imm == BPF_FUNC_redirect_map ||
		    insn->imm == BPF_FUNC_tail_call)
			return true;
	}
	return false;
}

burst_run worker_choose_run(const struct engine *engine, const struct prog *prog)
{
	if (!prog)
		return run_none;
	if (!prog_may_redirect(prog))
		return run_burst;
	return engine->cfg.flush == FLUSH_PACKET ? run_redirecting_flush : run_redirecting;
}

static void prefetch_data(struct frame **frames, uint32_t n, enum engine_prefetch kind)
{
	if (kind == PREFETCH_WRITE)
		for (uint32_t i = 0; i < n; i++)
			__builtin_prefetch(frames[i]->data, 1);
	else
		for (uint32_t i = 0; i < n; i++)
			__builtin_prefetch(frames[i]->data, 0);
}

/* Runs `distance` frames at a time, with the packets of the next ones on their way into the cache. */
static void run_prefetching(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
			    uint32_t *verdicts)
{
	uint32_t distance = w->engine->cfg.prefetch_distance, len = n < distance ? n : distance,
		 next;
	enum engine_prefetch kind = w->engine->cfg.prefetch;

	prefetch_data(frames, len, kind);
	for (uint32_t i = 0; i < n; i += len, len = next) {
		next = n - i - len < distance ? n - i - len : distance;
		prefetch_data(&frames[i + len], next, kind);
		in->run(w, in, &frames[i], len, &verdicts[i]);
	}
}

void worker_burst(struct worker *w, struct wired *in, struct frame **frames, uint32_t n)
{
	uint32_t verdicts[BURST_MAX];

	/* Once a poll, not once a packet: xdp-semantics 2. */
	memset(&w->rc.ri, 0, sizeof(w->rc.ri));
	burst_arrive(w, in, frames, n);
	if (w->trace)
		worker_run_traced(w, in, frames, n, verdicts);
	else if (w->engine->cfg.prefetch == PREFETCH_NONE)
		in->run(w, in, frames, n, verdicts);
	else
		run_prefetching(w, in, frames, n, verdicts);
	verdict_act(w, in, frames, n, verdicts);
	bulkq_flush(w);
	if (w->n_dead) {
		pool_free(&w->cache, w->dead, w->n_dead);
		w->n_dead = 0;
	}
}

/* How many frames may come in now. */
static uint32_t poll_budget(const struct worker *w)
{
	uint64_t max = atomic_load_explicit(&w->engine->max_frames, memory_order_relaxed);
	uint64_t received = count_read(&w->received);

	if (!max)
		return w->engine->cfg.burst;
	if (received >= max)
		return 0;
	return max - received < w->engine->cfg.burst ? (uint32_t)(max - received)
						     : w->engine->cfg.burst;
}

static uint32_t poll_input(struct worker *w, struct wired *in)
{
	struct frame *frames[BURST_MAX];
	uint32_t budget = poll_budget(w);
	int n;

	if (!budget || atomic_load_explicit(&in->ended, memory_order_relaxed))
		return 0;
	n = port_rx(in->port, &w->cache, frames, budget);
	if (n < 0)
		atomic_store_explicit(&in->lost, n, memory_order_release);
	if (n < 0 || n & PORT_EOF) {
		atomic_store_explicit(&in->ended, true, memory_order_release);
		n = n < 0 ? 0 : n & ~PORT_EOF;
	}
	if (n)
		worker_burst(w, in, frames, (uint32_t)n);
	return (uint32_t)n;
}

/* Frames of the host behind the port: they come from outside weir and leave by the port, unseen by programs. */
static uint32_t poll_host(struct worker *w, struct wired *port)
{
	struct frame *frames[BURST_MAX];
	uint32_t budget = poll_budget(w);
	int n = 0;

	if (budget)
		n = port->port->ops->from_host(port->port, &w->cache, frames, budget);
	if (n <= 0 || n & PORT_EOF)
		return 0;
	burst_arrive(w, port, frames, (uint32_t)n);
	bulkq_tx(w, port, frames, (uint32_t)n);
	return (uint32_t)n;
}

void worker_flush_ports(struct worker *w)
{
	for (uint32_t i = 0; i < w->engine->n_ports; i++)
		port_flush(w->engine->ports[i].port, &w->cache);
}

uint32_t worker_poll(struct worker *w)
{
	struct engine *engine = w->engine;
	uint32_t n = 0;

	for (uint32_t i = 0; i < engine->n_ports; i++) {
		if (engine->ports[i].input)
			n += poll_input(w, &engine->ports[i]);
		if (engine->ports[i].port->ops->from_host)
			n += poll_host(w, &engine->ports[i]);
	}
	worker_flush_ports(w);
	return n;
}
