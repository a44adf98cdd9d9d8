/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program arrays: what bpf_tail_call jumps to (kernel/bpf/arraymap.c).
 *
 * Threads: as maps/map.h; an entry lives until a grace period after its removal.
 */
#ifndef WEIR_MAPS_PROG_ARRAY_H
#define WEIR_MAPS_PROG_ARRAY_H

#include "maps/map.h"

/* The program in slot `index`, or NULL when the slot is empty or out of range; borrowed. Data path. */
struct prog_obj *prog_array_lookup(struct map *map, uint32_t index);

/*
 * The owner rule of all maps that carry programs: the first program fixes the traits, later ones must
 * match, whether they are put into the map or refer to it (xdp-semantics 9.6). True when compatible.
 */
bool map_owner_compatible(struct map *map, const struct prog_traits *traits);

#endif
