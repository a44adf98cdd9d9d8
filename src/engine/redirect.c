/* SPDX-License-Identifier: BSD-2-Clause */
/* hot
 * XDP_REDIRECT, second phase: what the helper left in rc.ri is consumed, the target is found and checked in the
 * kernel's order (net/core/filter.c, __xdp_do_redirect_frame; xdp-semantics 2.4), and the frame joins the bulk
 * queue of its target.
 */
#include "engine/engine_impl.h"

#include <errno.h>
#include <linux/bpf.h>

#include "maps/devmap.h"

enum {
	ETHERNET_HEADER = 14, /* hard_header_len */
	VLAN_TAG = 4,	      /* is_skb_forwardable's allowance over the MTU */
};

struct target {
	const struct net_if *nif;
	const struct prog *egress;
};

/* As xdp_update_frame_from_buff: 40 bytes in front of the metadata, and the tailroom untouched. */
static bool frame_convertible(const struct frame *f)
{
	return f->data_meta - f->hard_start >= FRAME_RESERVED && f->data_end <= frame_hard_end(f);
}

static int by_ifindex(struct worker *w, const struct redirect_info *ri, struct target *t)
{
	if (ri->map_id != INT32_MAX)
		return -EBADRQC;
	t->nif = net_if_by_index(w->engine->net, (uint32_t)ri->tgt_index);
	return t->nif ? 0 : -EINVAL;
}

/* The entry is the one that the helper found: it is good until the end of the burst, deleted or not. An
 * interface that is gone by now was taken down first. */
static int by_devmap(struct worker *w, const struct redirect_info *ri, struct target *t)
{
	const struct dev_entry *entry = ri->tgt_value;

	t->nif = net_if_by_index(w->engine->net, entry->val.ifindex);
	/* Programs in maps are always struct prog, whose head is prog_obj. */
	t->egress = (const struct prog *)entry->prog;
	return t->nif ? 0 : -ENETDOWN;
}

/* __xdp_enqueue and xdp_ok_fwd_dev. */
static int target_check(const struct net_if *nif, const struct frame *f)
{
	if (!nif->can_xmit || nif->port_id == UINT32_MAX)
		return -EOPNOTSUPP;
	if (!nif->up)
		return -ENETDOWN;
	if (frame_len(f) > nif->mtu + ETHERNET_HEADER + VLAN_TAG)
		return -EMSGSIZE;
	return 0;
}

static bool forwarding_missing(const struct redirect_info *ri)
{
	switch (ri->map_type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
		return ri->flags & BPF_F_BROADCAST;
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
		return true;
	default:
		return false;
	}
}

static int target_find(struct worker *w, const struct redirect_info *ri, const struct frame *f,
		       struct target *t)
{
	int rc;

	if (!frame_convertible(f))
		return -EOVERFLOW;
	switch (ri->map_type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
		rc = by_devmap(w, ri, t);
		break;
	case BPF_MAP_TYPE_UNSPEC:
		rc = by_ifindex(w, ri, t);
		break;
	default:
		rc = -EBADRQC;
	}
	return rc ? rc : target_check(t->nif, f);
}

static inline __attribute__((always_inline)) void do_redirect(struct worker *w, struct wired *in,
							      struct frame *f, const bool trace)
{
	struct redirect_info ri = w->rc.ri;
	struct redirect_result res = { 0 };
	struct target t = { 0 };

	/* tgt_index and tgt_value stay, as in the kernel. */
	w->rc.ri.map_id = 0;
	w->rc.ri.flags = 0;
	w->rc.ri.map_type = BPF_MAP_TYPE_UNSPEC;

	if (forwarding_missing(&ri)) {
		res.error = -EOPNOTSUPP;
		res.reason = DROP_REDIRECT_MAP_TYPE;
	} else {
		res.error = target_find(w, &ri, f, &t);
		if (res.error)
			res.reason = drop_reason_redirect(res.error);
		else
			res.to = &w->engine->ports[t.nif->port_id];
	}
	if (trace)
		trace_redirect(w, f, &ri, &res);
	if (res.error) {
		worker_drop(w, in, f, res.reason);
		return;
	}
	count_add(&w->ports[wired_id(w->engine, in)].redirected, 1);
	bulkq_enqueue(w, res.to, f, t.egress);
}

void redirect_frame(struct worker *w, struct wired *in, struct frame *f)
{
	do_redirect(w, in, f, false);
}

void redirect_frame_traced(struct worker *w, struct wired *in, struct frame *f)
{
	do_redirect(w, in, f, true);
}
