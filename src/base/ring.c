/* SPDX-License-Identifier: BSD-2-Clause */
/* A bounded many-producer, one-consumer ring: see ring.h. */
#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct slot {
	_Atomic uint32_t seq; /* = index: free for the producer of that turn; = index + 1: filled */
	void *item;
};

struct ring {
	uint32_t mask;
	_Alignas(64) _Atomic uint32_t tail; /* producers */
	_Alignas(64) _Atomic uint32_t head; /* the consumer; producers never read it */
	_Alignas(64) struct slot slots[];
};

int ring_create(struct ring **ret, uint32_t cap)
{
	struct ring *ring;
	uint32_t n = 2; /* one slot: a full and a free one have the same sequence number */

	if (!cap || cap > 1u << 24)
		return -EINVAL;
	while (n < cap)
		n <<= 1;
	ring = aligned_alloc(64, (sizeof(*ring) + n * sizeof(ring->slots[0]) + 63) & ~(size_t)63);
	if (!ring)
		return -ENOMEM;
	ring->mask = n - 1;
	atomic_init(&ring->tail, 0);
	atomic_init(&ring->head, 0);
	for (uint32_t i = 0; i < n; i++)
		atomic_init(&ring->slots[i].seq, i);
	*ret = ring;
	return 0;
}

void ring_destroy(struct ring *ring)
{
	free(ring);
}

static int push_one(struct ring *ring, void *item)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct slot *slot;

	for (;;) {
		int32_t lag;

		slot = &ring->slots[tail & ring->mask];
		lag = (int32_t)(atomic_load_explicit(&slot->seq, memory_order_acquire) - tail);
		if (lag < 0)
			return 0;
		if (lag > 0)
			tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(&ring->tail, &tail, tail + 1,
							       memory_order_relaxed,
							       memory_order_relaxed))
			break;
	}
	slot->item = item;
	atomic_store_explicit(&slot->seq, tail + 1, memory_order_release);
	return 1;
}

uint32_t ring_push(struct ring *ring, void *const *items, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && push_one(ring, items[i]))
		i++;
	return i;
}

uint32_t ring_pop(struct ring *ring, void **items, uint32_t n)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), i;

	for (i = 0; i < n; i++, head++) {
		struct slot *slot = &ring->slots[head & ring->mask];

		if (atomic_load_explicit(&slot->seq, memory_order_acquire) != head + 1)
			break;
		items[i] = slot->item;
		atomic_store_explicit(&slot->seq, head + ring->mask + 1, memory_order_release);
	}
	atomic_store_explicit(&ring->head, head, memory_order_relaxed);
	return i;
}

uint32_t ring_count(const struct ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_relaxed) -
	       atomic_load_explicit(&ring->head, memory_order_relaxed);
}
