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

static int by_ifindex(struct worker *w, uint32_t map_id, struct target *t)
{
	if (map_id != INT32_MAX)
		return -EBADRQC;
	t->nif = net_if_by_index(w->engine->net, (uint32_t)w->rc.ri.tgt_index);
	return t->nif ? 0 : -EINVAL;
}

/* The entry is the one that the helper found: it is good until the end of the burst, deleted or not. An
 * interface that is gone by now was taken down first. */
static int by_devmap(struct worker *w, struct target *t)
{
	const struct dev_entry *entry = w->rc.ri.tgt_value;

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

/* Whether the map's way of forwarding is one that weir has not. */
static bool map_is_beyond(uint32_t map_type, uint32_t flags)
{
	switch (map_type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
		return flags & BPF_F_BROADCAST;
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
		return true;
	default:
		return false;
	}
}

/* always_inline: `t` stays in registers. Bench: redirect_map. */
static inline __attribute__((always_inline)) int target_find(struct worker *w, uint32_t map_type,
							     uint32_t map_id, const struct frame *f,
							     struct target *t)
{
	int rc;

	if (!frame_convertible(f))
		return -EOVERFLOW;
	switch (map_type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
		rc = by_devmap(w, t);
		break;
	case BPF_MAP_TYPE_UNSPEC:
		rc = by_ifindex(w, map_id, t);
		break;
	default:
		rc = -EBADRQC;
	}
	return rc ? rc : target_check(t->nif, f);
}

/* Member by member: a copy of the struct would load in one piece what the helper has just stored in several. */
static inline __attribute__((always_inline)) uint32_t
do_redirect(struct worker *w, struct wired *in, struct frame *f, const bool trace)
{
	struct redirect_info *ri = &w->rc.ri;
	uint32_t map_type = ri->map_type, map_id = ri->map_id, flags = ri->flags;
	enum drop_reason reason = DROP_REDIRECT_MAP_TYPE;
	struct target t = { 0 };
	int error = -EOPNOTSUPP;

	/* tgt_index and tgt_value stay, as in the kernel. */
	ri->map_id = 0;
	ri->flags = 0;
	ri->map_type = BPF_MAP_TYPE_UNSPEC;

	if (!map_is_beyond(map_type, flags)) {
		error = target_find(w, map_type, map_id, f, &t);
		reason = error ? drop_reason_redirect(error) : 0;
	}
	if (trace) {
		struct redirect_result res = {
			map_type, map_id, ri->tgt_index,
			error,	  reason, error ? NULL : &w->engine->ports[t.nif->port_id]
		};

		trace_redirect(w, f, &res);
	}
	if (error) {
		worker_drop(w, in, f, reason);
		return 0;
	}
	bulkq_enqueue(w, t.nif->port_id, f, t.egress);
	return 1;
}

uint32_t redirect_frame(struct worker *w, struct wired *in, struct frame *f)
{
	return do_redirect(w, in, f, false);
}

uint32_t redirect_frame_traced(struct worker *w, struct wired *in, struct frame *f)
{
	return do_redirect(w, in, f, true);
}
