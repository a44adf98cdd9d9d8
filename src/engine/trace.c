/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of each frame of a burst, for weir test: written along the path of worker.c, and only in bursts
 * whose caller gave outcomes to fill.
 */
#include "engine/engine_impl.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

/* A frame that is not of this burst (the host's) has none. */
static struct outcome *outcome_of(struct trace *t, const struct frame *f)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->frames[i] == f)
			return &t->outcomes[i];
	return NULL;
}

static void record_bytes(struct outcome *o, const struct frame *f)
{
	o->meta_len = (uint32_t)(f->data - f->data_meta);
	o->len = frame_len(f);
	memcpy(o->bytes, f->data_meta, o->meta_len + o->len);
}

void trace_verdict(struct worker *w, struct frame *f, uint32_t verdict)
{
	struct outcome *o = outcome_of(w->trace, f);

	o->verdict = verdict;
	o->fault = w->rc.fault;
	o->map_id = 0;
	o->map_key = 0;
	o->egress = NULL;
	o->egress_verdict = 0;
	o->error = 0;
	o->dropped = verdict == XDP_DROP;
	o->reason = DROP_XDP_DROP;
	o->to = NULL;
	record_bytes(o, f);
}

void trace_redirect(struct worker *w, struct frame *f, const struct redirect_result *res)
{
	struct outcome *o = outcome_of(w->trace, f);

	o->map_id = res->map_type == BPF_MAP_TYPE_UNSPEC ? 0 : res->map_id;
	o->map_key = res->tgt_index;
	o->error = res->error;
	o->dropped = res->error != 0;
	o->reason = res->reason;
	o->to = res->error ? NULL : res->to->port;
}

void trace_egress(struct worker *w, struct frame *f, const struct prog *prog, uint32_t verdict)
{
	struct outcome *o = outcome_of(w->trace, f);

	o->egress = prog;
	o->egress_verdict = verdict;
	if (w->rc.fault.reason != FAULT_NONE)
		o->fault = w->rc.fault;
	record_bytes(o, f);
}

void trace_drop(struct worker *w, struct frame *f, enum drop_reason reason, int error)
{
	struct outcome *o = outcome_of(w->trace, f);

	o->dropped = true;
	o->reason = reason;
	o->error = error;
}

static int loss_errno(enum port_tx_loss loss)
{
	switch (loss) {
	case TX_LOSS_DOWN:
		return -ENETDOWN;
	case TX_LOSS_TOO_LONG:
		return -EMSGSIZE;
	case TX_LOSS_IO:
		return -EIO;
	default:
		return -ENOSPC;
	}
}

static void trace_tx_one(struct worker *w, struct wired *to, struct frame *f)
{
	struct outcome *o = outcome_of(w->trace, f);
	uint64_t before[TX_LOSSES];

	memcpy(before, to->port->stats.tx_dropped, sizeof(before));
	port_tx(to->port, &w->cache, 0, &f, 1);
	if (!o)
		return;
	o->to = to->port;
	for (uint32_t i = 0; i < TX_LOSSES; i++) {
		if (to->port->stats.tx_dropped[i] == before[i])
			continue;
		o->dropped = true;
		o->reason = count_tx_loss_reason(i);
		o->error = loss_errno(i);
	}
}

void trace_tx(struct worker *w, struct wired *to, struct frame **frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		trace_tx_one(w, to, frames[i]);
}
