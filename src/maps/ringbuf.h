/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF ring buffers: kernel/bpf/ringbuf.c, and its layout for a consumer that maps it: page 0 the
 * consumer position, page 1 the producer position, then the data, mapped twice in a row.
 *
 * Threads: reserve and submit from any worker (a lock inside, as in the kernel, held for a few
 * instructions); one consumer.
 */
#ifndef WEIR_MAPS_RINGBUF_H
#define WEIR_MAPS_RINGBUF_H

#include "maps/map.h"

/* A record of `size` bytes, 8-aligned, or NULL: no room, flags not 0, or larger than the ring. */
void *ringbuf_reserve(struct map *map, uint64_t size, uint64_t flags);
/* Publishes a reserved record, or drops it. flags: BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP. */
void ringbuf_commit(struct map *map, void *record, uint64_t flags, bool discard);
/* Reserve, copy, submit: 0, -EINVAL, -EAGAIN. */
int ringbuf_output(struct map *map, const void *data, uint64_t size, uint64_t flags);
/* bpf_ringbuf_query: flags BPF_RB_AVAIL_DATA, _RING_SIZE, _CONS_POS, _PROD_POS; else 0. */
uint64_t ringbuf_query(struct map *map, uint64_t flags);

/*
 * What is called where the kernel would wake who polls the map: when the consumer waits for this very
 * record, or is forced. By the thread that commits; one a map. fn NULL: none.
 */
void ringbuf_set_wakeup(struct map *map, void (*fn)(void *arg), void *arg);

/* Consumer: calls fn for each record that is ready, oldest first; returns how many. */
uint32_t ringbuf_consume(struct map *map, void (*fn)(void *arg, const void *data, uint32_t size),
			 void *arg);

#endif
