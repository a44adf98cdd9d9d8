/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_redirect and bpf_redirect_map: they note the target, the verdict loop acts on it
 * (include/linux/filter.h, __bpf_xdp_redirect_map; xdp-semantics 2).
 */
#include "bpf/helper_impl.h"

#include "maps/cpumap.h"
#include "maps/devmap.h"
#include "maps/map.h"

enum { FALLBACK = 3, BROADCAST_FLAGS = BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS };

HELPER(redirect)
{
	if (a2)
		return XDP_ABORTED;
	rc->ri.tgt_index = (uint32_t)a1;
	rc->ri.map_id = INT32_MAX;
	rc->ri.map_type = BPF_MAP_TYPE_UNSPEC;
	return XDP_REDIRECT;
}

static bool is_devmap(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_DEVMAP || map->type == BPF_MAP_TYPE_DEVMAP_HASH;
}

static void *lookup_target(struct map *map, uint32_t key)
{
	switch (map->type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
		return devmap_lookup(map, key);
	case BPF_MAP_TYPE_CPUMAP:
		return cpumap_lookup(map, key);
	default:
		return xskmap_lookup(map, key);
	}
}

HELPER(redirect_map)
{
	struct map *map = helper_map(a1);
	struct redirect_info *ri = &rc->ri;
	bool broadcast = a3 & BPF_F_BROADCAST;
	void *target;

	if (a3 & ~(uint64_t)(FALLBACK | (is_devmap(map) ? BROADCAST_FLAGS : 0)))
		return XDP_ABORTED;
	target = lookup_target(map, (uint32_t)a2);
	if (!target && !broadcast) {
		/* The last target's index stays: a program that ignores this goes there. */
		ri->map_id = INT32_MAX;
		ri->map_type = BPF_MAP_TYPE_UNSPEC;
		return a3 & FALLBACK;
	}
	ri->tgt_value = target;
	ri->tgt_index = a2;
	ri->map_id = map->obj.id;
	ri->map_type = map->type;
	ri->map = broadcast ? map : NULL;
	ri->flags = broadcast ? (uint32_t)a3 : 0;
	return XDP_REDIRECT;
}
