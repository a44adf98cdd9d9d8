/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of cpumap and xskmap. Forwarding through them belongs to the engine's redirect machinery
 * (kernel/bpf/cpumap.c, net/xdp/xskmap.c; xdp-semantics 4).
 *
 * Threads: entries are immutable once published, and live until a grace period after their removal.
 */
#ifndef WEIR_MAPS_CPUMAP_H
#define WEIR_MAPS_CPUMAP_H

#include "base/qsbr.h"
#include "maps/map.h"

struct cpu_entry {
	struct bpf_cpumap_val val; /* qsize, program id */
	struct prog_obj *prog;	   /* owned; NULL: none */
	uint32_t cpu;		   /* the key */
	uint32_t map_id;
	struct qsbr_entry defer;
};

/* NULL when empty or out of range; borrowed until the caller's next quiescent state. */
struct cpu_entry *cpumap_lookup(struct map *map, uint32_t key);
/* The OBJ_XSK in a slot, or NULL; borrowed likewise. */
struct obj *xskmap_lookup(struct map *map, uint32_t key);

#endif
