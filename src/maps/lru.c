/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LRU hash and LRU per-CPU hash (kernel/bpf/hashtab.c, bpf_lru_list.c): the table of htab.c, where a new
 * element in a full map takes the place of one that was not looked up for long. The choice is CLOCK's:
 * a hand goes round the elements, spares those that a program looked up since it last came by, and takes
 * the first other. With BPF_F_NO_COMMON_LRU each CPU has a hand and elements of its own.
 *
 * As in the kernel, room is made before the flags of an update are looked at.
 */
#include <errno.h>

#include "maps/htab.h"

enum {
	EVICT_TRIES = 1 << 12, /* all elements in the hands of other threads, so often: give up */
};

static void mark_used(struct htab *h, uint32_t i)
{
	/* Written only when it changes, so that readers share the line. */
	if (!atomic_load_explicit(&h->used[i], memory_order_relaxed))
		atomic_store_explicit(&h->used[i], 1, memory_order_relaxed);
}

static void *lru_lookup(struct map *map, const void *key, uint32_t cpu)
{
	struct htab *h = htab_of(map);
	uint32_t i = htab_find(h, htab_hash(h, key), key);

	if (i == SLOT_NONE)
		return NULL;
	mark_used(h, i);
	return map_value(map, map_is_percpu(map) ? cpu : 0, i);
}

/* Takes element i out of its chain, if it is in one: not while another thread is inserting or deleting. */
static bool evict_elem(struct htab *h, uint32_t i)
{
	uint32_t hash = atomic_load_explicit(&htab_elem(h, i)->hash, memory_order_acquire);
	struct bucket *b = htab_lock(h, hash);
	bool out = htab_unlink(h, b, i);

	spin_unlock(&b->lock);
	return out;
}

/* Twice round at most: the first may only clear marks. */
static uint32_t evict(struct htab *h, uint32_t shard)
{
	struct clock_hand *hand = &h->hands[shard];
	uint32_t first, end, i, victim = SLOT_NONE;

	slots_range(h->slots, shard, &first, &end);
	spin_lock(&hand->lock);
	for (uint64_t steps = 2 * (uint64_t)(end - first); steps && victim == SLOT_NONE; steps--) {
		i = hand->at;
		hand->at = i + 1 < end ? i + 1 : first;
		if (atomic_exchange_explicit(&h->used[i], 0, memory_order_relaxed))
			continue;
		if (evict_elem(h, i))
			victim = i;
	}
	spin_unlock(&hand->lock);
	return victim;
}

static uint32_t take_elem(struct htab *h, uint32_t shard)
{
	uint32_t i = slots_take(h->slots, shard, false);

	for (uint32_t k = 0; i == SLOT_NONE && k < EVICT_TRIES; k++) {
		i = evict(h, shard);
		if (i == SLOT_NONE)
			i = slots_take(h->slots, shard, false);
		if (i == SLOT_NONE)
			sched_yield();
	}
	if (i != SLOT_NONE)
		atomic_store_explicit(&h->used[i], 0, memory_order_relaxed);
	return i;
}

/* Links element i in place of the old one, which goes back into the stock; or writes the old in place. */
static uint32_t put_elem(struct htab *h, struct bucket *b, uint32_t i, uint32_t old,
			 const void *key, struct htab_write *w)
{
	uint32_t hash = htab_hash(h, key);

	if (old != SLOT_NONE && map_is_percpu(&h->map)) {
		htab_write_value(h, old, w, false);
		mark_used(h, old);
		return i;
	}
	htab_insert(h, i, hash, key, w);
	if (old != SLOT_NONE) {
		mark_used(h, i);
		htab_unlink(h, b, old);
	}
	return old;
}

static int lru_write(struct htab *h, const void *key, struct htab_write *w, uint32_t cpu)
{
	uint32_t hash = htab_hash(h, key), i = SLOT_NONE, old, give;
	/* bpf(2) has no CPU here: it spreads its elements over all lists. */
	uint32_t shard = h->n_shards == 1 ? 0 : (cpu == UINT32_MAX ? hash >> 8 : cpu) % h->n_shards;
	/* A per-CPU element that must be there is written in place, and needs none. */
	bool wants = !map_is_percpu(&h->map) || w->flags != BPF_EXIST;
	struct bucket *b;
	int rc;

	if (w->flags > BPF_EXIST)
		return -EINVAL;
	if (wants) {
		i = take_elem(h, shard);
		if (i == SLOT_NONE)
			return -ENOMEM;
	}
	b = htab_lock(h, hash);
	old = htab_find_locked(h, hash, key);
	rc = htab_check_exist(old != SLOT_NONE, w->flags);
	give = rc ? i : put_elem(h, b, i, old, key, w);
	spin_unlock(&b->lock);
	if (give != SLOT_NONE)
		slots_give(h->slots, give);
	return rc;
}

static int lru_update(struct map *map, const void *key, const void *value, uint64_t flags,
		      uint32_t cpu)
{
	struct htab_write w = { .value = value, .flags = flags, .cpu = (int)cpu };

	return lru_write(htab_of(map), key, &w, cpu);
}

static int lru_sys_update(struct map *map, const void *key, const void *value, uint64_t flags)
{
	struct htab_write w = { .value = value, .flags = flags, .cpu = HTAB_ALL_CPUS };

	return lru_write(htab_of(map), key, &w, UINT32_MAX);
}

#define LRU_OPS                                                                                    \
	.check = htab_check, .create = htab_create, .destroy = htab_destroy, .lookup = lru_lookup, \
	.update = lru_update, .del = htab_del, .sys_lookup = htab_sys_lookup,                      \
	.sys_update = lru_sys_update, .next_key = htab_next_key, .sys_pop = htab_sys_pop,          \
	.lookup_batch = htab_lookup_batch,                                                         \
	.batches =                                                                                 \
		MAP_BATCH_LOOKUP | MAP_BATCH_LOOKUP_DELETE | MAP_BATCH_UPDATE | MAP_BATCH_DELETE

const struct map_ops lru_hash_ops = {
	.type = BPF_MAP_TYPE_LRU_HASH,
	.name = "lru_hash",
	LRU_OPS,
};

const struct map_ops lru_percpu_hash_ops = {
	.type = BPF_MAP_TYPE_LRU_PERCPU_HASH,
	.name = "lru_percpu_hash",
	LRU_OPS,
};
