/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of devmap and devmap hash, as the redirect helper finds them and the engine uses them
 * (kernel/bpf/devmap.c, struct bpf_dtab_netdev; xdp-semantics 3).
 *
 * Threads: entries are immutable once published, and live until a grace period after their removal.
 */
#ifndef WEIR_MAPS_DEVMAP_H
#define WEIR_MAPS_DEVMAP_H

#include "base/qsbr.h"
#include "maps/map.h"

struct dev_entry {
	struct bpf_devmap_val val; /* what a program's lookup shows: ifindex, program id */
	struct prog_obj *prog;	   /* owned; NULL: no egress program */
	uint32_t index;		   /* the key */
	uint32_t map_id;
	struct qsbr_entry defer;
	struct dev_entry *next; /* devmap hash */
};

/* The entry of key (for both types), or NULL; borrowed until the caller's next quiescent state. */
struct dev_entry *devmap_lookup(struct map *map, uint32_t key);

/* Walks all entries in the kernel's order (slots; or buckets): start with *pos = 0; NULL at the end. */
struct dev_entry *devmap_walk(struct map *map, uint64_t *pos);

/*
 * Whether an ifindex exists, asked at update: devmaps refuse unknown ones with -EINVAL. Registered by
 * whoever owns the world (engine); without it every ifindex above 0 is good.
 */
typedef bool (*devmap_ifindex_known)(uint32_t ifindex);
void devmap_set_ifindex_known(devmap_ifindex_known known);

/* The interface is gone: takes its entries out of every devmap (xdp-semantics 3.8). */
void devmap_forget_ifindex(uint32_t ifindex);

#endif
