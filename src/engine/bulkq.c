/* SPDX-License-Identifier: BSD-2-Clause */
/* hot
 * Bulk queues: 16 frames a destination port, shared by bpf_redirect and every devmap (kernel/bpf/devmap.c,
 * bq_enqueue and bq_xmit_all; xdp-semantics 3.4 to 3.6). The 17th frame sends the 16 before it; the end of the
 * burst sends the rest. Egress programs run when a queue is sent, each frame with the program of its own entry.
 */
#include "engine/engine_impl.h"

#include <linux/bpf.h>

void bulkq_tx(struct worker *w, struct wired *to, struct frame **frames, uint32_t n)
{
	/* A worker's queue is its number, and there is one worker. */
	if (w->trace)
		trace_tx(w, to, frames, n);
	else
		port_tx(to->port, &w->cache, 0, frames, n);
}

/* Frames [from, to) have the same egress program: all neighbours, or each alone when outcomes are wanted. */
static uint32_t same_egress(const struct worker *w, const struct bulkq *q, uint32_t from)
{
	uint32_t to = from + 1;

	while (!w->trace && to < q->n && q->egress[to] == q->egress[from])
		to++;
	return to;
}

/* The context of an egress run: where the frame goes; where it came from stays. */
static void egress_run(struct worker *w, struct bulkq *q, uint32_t from, uint32_t to,
		       uint32_t *verdicts)
{
	for (uint32_t i = from; i < to; i++) {
		q->frames[i]->egress_ifindex = q->to->port->ifindex;
		q->frames[i]->rx_queue_index = 0;
	}
	w->rc.fault.reason = FAULT_NONE;
	prog_run_burst(q->egress[from], &w->rc, &q->frames[from], to - from, verdicts);
	worker_note_faults(w);
	for (uint32_t i = from; i < to; i++)
		q->frames[i]->egress_ifindex = 0;
	if (w->trace)
		trace_egress(w, q->frames[from], q->egress[from], verdicts[0]);
}

/* True when the frame is to be sent. */
static bool egress_act(struct worker *w, struct bulkq *q, struct frame *f, uint32_t verdict)
{
	enum drop_reason reason = verdict == XDP_DROP ? DROP_EGRESS_DROP : DROP_EGRESS_ABORTED;

	if (verdict == XDP_PASS)
		return true;
	if (w->trace)
		trace_drop(w, f, reason, 0);
	worker_drop(w, q->to, f, reason);
	return false;
}

/* Runs the egress programs; moves the survivors to the front and returns how many there are. */
static uint32_t run_egress(struct worker *w, struct bulkq *q)
{
	uint32_t verdicts[ENGINE_BULK], kept = 0, to;

	for (uint32_t from = 0; from < q->n; from = to) {
		to = same_egress(w, q, from);
		if (q->egress[from])
			egress_run(w, q, from, to, &verdicts[from]);
		else
			for (uint32_t i = from; i < to; i++)
				verdicts[i] = XDP_PASS;
	}
	for (uint32_t i = 0; i < q->n; i++)
		if (egress_act(w, q, q->frames[i], verdicts[i]))
			q->frames[kept++] = q->frames[i];
	return kept;
}

void bulkq_send(struct worker *w, struct bulkq *q)
{
	uint32_t n = q->any_egress ? run_egress(w, q) : q->n;

	q->n = 0;
	q->any_egress = false;
	if (n)
		bulkq_tx(w, q->to, q->frames, n);
}

void bulkq_flush(struct worker *w)
{
	struct bulkq *q;

	while ((q = w->pending)) {
		w->pending = q->next;
		q->pending = false;
		if (q->n)
			bulkq_send(w, q);
	}
}
