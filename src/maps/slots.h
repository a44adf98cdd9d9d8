/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers 0..n-1 that are given out and come back: the elements of hash maps and tries. Cut into shards
 * with a lock each, so that CPUs do not meet; a shard gives its never-used numbers last in order, so that
 * memory behind unused numbers is never touched (the kernel's pcpu_freelist).
 *
 * Threads: any. Ownership: reference-counted, since numbers may come back after their map is gone.
 */
#ifndef WEIR_MAPS_SLOTS_H
#define WEIR_MAPS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define SLOT_NONE UINT32_MAX

struct slots;

/* n numbers in n_shards shards; -ENOMEM. */
int slots_create(struct slots **ret, uint32_t n, uint32_t n_shards);
struct slots *slots_get_ref(struct slots *slots);
void slots_put_ref(struct slots *slots);

/* A number of that shard, then (steal) of any other; SLOT_NONE when there is none. */
uint32_t slots_take(struct slots *slots, uint32_t shard, bool steal);
/* Gives a number back to the shard it came from. */
void slots_give(struct slots *slots, uint32_t i);
/* The numbers of a shard are *first .. *end - 1. */
void slots_range(const struct slots *slots, uint32_t shard, uint32_t *first, uint32_t *end);

#endif
