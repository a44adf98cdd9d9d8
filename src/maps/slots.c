/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that are given out and come back: see slots.h. */
#include "slots.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "maps/map_impl.h"

struct shard {
	_Alignas(64) struct spin lock;
	uint32_t head;	/* of the numbers that came back */
	uint32_t fresh; /* the first that was never given out */
	uint32_t end;
};

struct slots {
	atomic_uint refs;
	uint32_t n, n_shards, per_shard;
	uint32_t *next; /* of a number that came back; under the lock of its shard */
	struct shard shards[];
};

int slots_create(struct slots **ret, uint32_t n, uint32_t n_shards)
{
	size_t size = (sizeof(struct slots) + n_shards * sizeof(struct shard) + 63) & ~(size_t)63;
	struct slots *s = aligned_alloc(64, size);

	if (!s)
		return -ENOMEM;
	memset(s, 0, size);
	atomic_init(&s->refs, 1);
	s->n = n;
	s->n_shards = n_shards;
	s->per_shard = (uint32_t)(((uint64_t)n + n_shards - 1) / n_shards);
	s->next = sparse_alloc((size_t)n * sizeof(*s->next));
	if (!s->next) {
		free(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_shards; i++) {
		s->shards[i].head = SLOT_NONE;
		slots_range(s, i, &s->shards[i].fresh, &s->shards[i].end);
	}
	*ret = s;
	return 0;
}

struct slots *slots_get_ref(struct slots *slots)
{
	atomic_fetch_add_explicit(&slots->refs, 1, memory_order_relaxed);
	return slots;
}

void slots_put_ref(struct slots *slots)
{
	if (!slots || atomic_fetch_sub_explicit(&slots->refs, 1, memory_order_acq_rel) != 1)
		return;
	sparse_free(slots->next, (size_t)slots->n * sizeof(*slots->next));
	free(slots);
}

void slots_range(const struct slots *slots, uint32_t shard, uint32_t *first, uint32_t *end)
{
	uint64_t f = (uint64_t)shard * slots->per_shard, e = f + slots->per_shard;

	*first = f < slots->n ? (uint32_t)f : slots->n;
	*end = e < slots->n ? (uint32_t)e : slots->n;
}

static uint32_t take_from(struct slots *slots, struct shard *shard)
{
	uint32_t i;

	spin_lock(&shard->lock);
	i = shard->head;
	if (i != SLOT_NONE)
		shard->head = slots->next[i];
	else if (shard->fresh < shard->end)
		i = shard->fresh++;
	spin_unlock(&shard->lock);
	return i;
}

uint32_t slots_take(struct slots *slots, uint32_t shard, bool steal)
{
	uint32_t i = take_from(slots, &slots->shards[shard]);

	for (uint32_t k = 1; steal && i == SLOT_NONE && k < slots->n_shards; k++)
		i = take_from(slots, &slots->shards[(shard + k) % slots->n_shards]);
	return i;
}

void slots_give(struct slots *slots, uint32_t i)
{
	struct shard *shard = &slots->shards[i / slots->per_shard];

	spin_lock(&shard->lock);
	slots->next[i] = shard->head;
	shard->head = i;
	spin_unlock(&shard->lock);
}
