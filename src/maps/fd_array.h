/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of objects: prog array, perf event array, array of maps, xskmap. bpf(2) writes descriptors and
 * reads ids; the data path reads the object of a slot.
 *
 * Threads: as maps/map.h; writers take the lock of the array.
 */
#ifndef WEIR_MAPS_FD_ARRAY_H
#define WEIR_MAPS_FD_ARRAY_H

#include "maps/map_impl.h"

struct fd_array {
	struct map map;
	struct spin lock;
	uint32_t n;
	struct obj_slot *slots;
};

/* The array checks, and: 4-byte values, no BPF_F_*_PROG. */
int fd_array_check(struct map_attr *attr);
int fd_array_create(struct map **ret, const struct map_attr *attr);
void fd_array_destroy(struct map *map);
/* The object of a slot, borrowed; NULL when empty or out of range. Data path. */
struct obj *fd_array_get(const struct map *map, uint32_t index);
/* Puts obj into a slot that exists, in place of what is there: takes obj, also on failure (-ENOMEM). */
int fd_array_set(struct map *map, uint32_t index, struct obj *obj);
/* The kernel's delete: -E2BIG, -ENOENT. */
int fd_array_del(struct map *map, const void *key);
/* The kernel's look-up: the id. -ENOENT. */
int fd_array_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags);
/* Empties all slots. */
void fd_array_clear(struct map *map);

#endif
