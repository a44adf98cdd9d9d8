/* SPDX-License-Identifier: BSD-2-Clause */
/* hot
 * What each verdict of a burst means for its frame (xdp-semantics 1): behind the program, before the flush.
 * XDP_REDIRECT has usually been acted on by then (worker.c), and its frame is NULL.
 */
#include "engine/engine_impl.h"

#include <linux/bpf.h>

/* The frames of one burst by what is to be done with them. */
struct sorted {
	uint32_t n_pass, n_tx, n_drop, n_aborted, n_redirected;
	struct frame *pass[BURST_MAX];
	struct frame *tx[BURST_MAX];
};

static void sort_frames(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
			const uint32_t *verdicts, struct sorted *s)
{
	for (uint32_t i = 0; i < n; i++) {
		switch (verdicts[i]) {
		case XDP_PASS:
			s->pass[s->n_pass++] = frames[i];
			break;
		case XDP_TX:
			s->tx[s->n_tx++] = frames[i];
			break;
		case XDP_REDIRECT:
			if (frames[i])
				s->n_redirected += redirect_frame(w, in, frames[i]);
			break;
		case XDP_DROP:
			s->n_drop++;
			w->dead[w->n_dead++] = frames[i];
			break;
		default: /* an illegal verdict is XDP_ABORTED: xdp-semantics 1.1 */
			s->n_aborted++;
			w->dead[w->n_dead++] = frames[i];
			break;
		}
	}
}

/* To the host behind the port, or to nobody. */
static void act_pass(struct worker *w, struct wired *in, struct sorted *s)
{
	if (in->port->ops->to_host)
		in->port->ops->to_host(in->port, &w->cache, s->pass, s->n_pass);
	else
		pool_free(&w->cache, s->pass, s->n_pass);
}

static void act_tx(struct worker *w, struct wired *in, struct sorted *s)
{
	if (in->port->can_tx) {
		bulkq_tx(w, in, s->tx, s->n_tx);
		return;
	}
	for (uint32_t i = 0; i < s->n_tx; i++) {
		if (w->trace)
			trace_drop(w, s->tx[i], DROP_TX_NO_PORT, 0);
		worker_drop(w, in, s->tx[i], DROP_TX_NO_PORT);
	}
}

void verdict_act(struct worker *w, struct wired *in, struct frame **frames, uint32_t n,
		 const uint32_t *verdicts)
{
	struct port_counters *c = &w->ports[in->id];
	struct sorted s;

	s.n_pass = s.n_tx = s.n_drop = s.n_aborted = s.n_redirected = 0;
	sort_frames(w, in, frames, n, verdicts, &s);
	if (s.n_redirected)
		count_add(&c->redirected, s.n_redirected);
	if (s.n_drop) {
		count_add(&w->dropped[DROP_XDP_DROP], s.n_drop);
		count_add(&c->dropped, s.n_drop);
	}
	if (s.n_aborted)
		count_add(&c->aborted, s.n_aborted);
	if (s.n_pass) {
		count_add(&c->passed, s.n_pass);
		act_pass(w, in, &s);
	}
	if (s.n_tx) {
		count_add(&c->tx, s.n_tx);
		act_tx(w, in, &s);
	}
}
