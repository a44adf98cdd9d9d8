/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded ring of pointers: many producers, one consumer, bulk operations (Vyukov's bounded queue, a
 * sequence number a slot). Frames cross between workers, and records reach the control thread, through
 * these. A full ring takes fewer than offered: the caller counts the rest under a reason.
 *
 * Threads: any number may push; one pops.
 */
#ifndef WEIR_BASE_RING_H
#define WEIR_BASE_RING_H

#include <stdint.h>

struct ring;

/* Makes a ring of `cap` slots, rounded up to a power of two; -EINVAL for 0 or above 2^24, -ENOMEM. */
int ring_create(struct ring **ret, uint32_t cap);
/* Frees the ring; the pointers in it belong to the caller, who drains it first. NULL is allowed. */
void ring_destroy(struct ring *ring);
/* Appends up to n items, in order; returns how many were taken. */
uint32_t ring_push(struct ring *ring, void *const *items, uint32_t n);
/* Takes up to n items, oldest first; returns how many. */
uint32_t ring_pop(struct ring *ring, void **items, uint32_t n);
/* How many are in the ring now: exact for the consumer when no producer is at work. */
uint32_t ring_count(const struct ring *ring);

#endif
