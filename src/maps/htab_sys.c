/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2)'s face of the hash types: whole values under the bucket's lock, walks from key to key and from
 * bucket to bucket (kernel/bpf/hashtab.c). The table itself is htab.c.
 */
#include <errno.h>

#include "maps/htab.h"

/* Elements come first in a bucket newest first, and buckets in order. */
static uint32_t first_of(const struct htab *h, uint32_t bucket)
{
	uint32_t link = atomic_load_explicit(&h->buckets[bucket].head, memory_order_relaxed);

	return link && !(link >> 31) ? link - 1 : SLOT_NONE;
}

static uint32_t next_of(const struct htab *h, uint32_t i)
{
	uint32_t link = atomic_load_explicit(&htab_elem(h, i)->next, memory_order_relaxed);

	return link && !(link >> 31) ? link - 1 : SLOT_NONE;
}

static void load_value(const struct htab *h, void *value, uint32_t i, uint64_t flags)
{
	if (h->objs)
		memcpy(value, &obj_ref_obj(h->objs[i].ref)->id, sizeof(uint32_t));
	else if (map_is_percpu(&h->map))
		map_percpu_load(&h->map, value, i);
	else
		map_value_load(&h->map, value, map_value(&h->map, 0, i), flags);
}

int htab_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	struct htab *h = htab_of(map);
	uint32_t hash = htab_hash(h, key), i;
	struct bucket *b = htab_lock(h, hash);

	i = htab_find_locked(h, hash, key);
	if (i != SLOT_NONE)
		load_value(h, value, i, flags);
	spin_unlock(&b->lock);
	return i == SLOT_NONE ? -ENOENT : 0;
}

/* Takes an element out; the bucket's lock is held. */
static void remove_elem(struct htab *h, struct bucket *b, uint32_t i, struct obj_ref **ref)
{
	htab_unlink(h, b, i);
	*ref = h->objs ? obj_slot_swap(&h->objs[i], NULL) : NULL;
}

/* Deletes, copying the value to value first unless that is NULL. */
static int delete_key(struct htab *h, const void *key, void *value, uint64_t flags)
{
	uint32_t hash = htab_hash(h, key), i;
	struct obj_ref *ref = NULL;
	struct bucket *b = htab_lock(h, hash);

	i = htab_find_locked(h, hash, key);
	if (i != SLOT_NONE) {
		if (value)
			load_value(h, value, i, flags);
		remove_elem(h, b, i, &ref);
	}
	spin_unlock(&b->lock);
	if (i == SLOT_NONE)
		return -ENOENT;
	slots_give(h->slots, i);
	obj_ref_retire(ref);
	return 0;
}

int htab_sys_pop(struct map *map, const void *key, void *value, uint64_t flags)
{
	return delete_key(htab_of(map), key, value, flags);
}

int htab_del(struct map *map, const void *key)
{
	return delete_key(htab_of(map), key, NULL, 0);
}

static bool copy_first(struct htab *h, uint32_t bucket, void *next)
{
	struct bucket *b = &h->buckets[bucket];
	uint32_t i;

	if (first_of(h, bucket) == SLOT_NONE)
		return false;
	spin_lock(&b->lock);
	i = first_of(h, bucket);
	if (i != SLOT_NONE)
		shared_load(next, htab_elem(h, i)->key, h->map.key_size);
	spin_unlock(&b->lock);
	return i != SLOT_NONE;
}

/* The element behind key in its bucket: 1 copied, 0 key is the bucket's last, -ENOENT it is not there. */
static int copy_behind(struct htab *h, uint32_t hash, const void *key, void *next)
{
	struct bucket *b = htab_lock(h, hash);
	uint32_t i = htab_find_locked(h, hash, key);
	int rc = -ENOENT;

	if (i != SLOT_NONE) {
		i = next_of(h, i);
		rc = i != SLOT_NONE;
		if (rc)
			shared_load(next, htab_elem(h, i)->key, h->map.key_size);
	}
	spin_unlock(&b->lock);
	return rc;
}

int htab_next_key(struct map *map, const void *key, void *next)
{
	struct htab *h = htab_of(map);
	uint32_t bucket = 0, hash;
	int rc;

	if (key) {
		hash = htab_hash(h, key);
		rc = copy_behind(h, hash, key, next);
		if (rc > 0)
			return 0;
		if (!rc)
			bucket = (hash & (h->n_buckets - 1)) + 1;
	}
	for (; bucket < h->n_buckets; bucket++)
		if (copy_first(h, bucket, next))
			return 0;
	return -ENOENT;
}

struct batch {
	uint8_t *keys, *values;
	uint32_t max, n;
	uint64_t flags;
	bool del;
};

static uint32_t count_bucket(const struct htab *h, uint32_t bucket)
{
	uint32_t n = 0;

	for (uint32_t i = first_of(h, bucket); i != SLOT_NONE; i = next_of(h, i))
		n++;
	return n;
}

static void copy_elem(struct htab *h, struct batch *batch, struct bucket *b, uint32_t i)
{
	uint32_t key_size = h->map.key_size, size = map_sys_value_size(&h->map);
	struct obj_ref *ref;

	shared_load(batch->keys + (size_t)batch->n * key_size, htab_elem(h, i)->key, key_size);
	load_value(h, batch->values + (size_t)batch->n * size, i, batch->flags);
	batch->n++;
	if (!batch->del)
		return;
	remove_elem(h, b, i, &ref);
	slots_give(h->slots, i);
	/* Under the bucket's lock: no release function wants it, as a map being released is not this. */
	obj_ref_retire(ref);
}

/* All of a bucket or nothing: false when it does not fit. */
static bool copy_bucket(struct htab *h, struct batch *batch, uint32_t bucket)
{
	struct bucket *b = &h->buckets[bucket];
	uint32_t next;
	bool fits;

	if (first_of(h, bucket) == SLOT_NONE)
		return true;
	spin_lock(&b->lock);
	fits = count_bucket(h, bucket) <= batch->max - batch->n;
	for (uint32_t i = fits ? first_of(h, bucket) : SLOT_NONE; i != SLOT_NONE; i = next) {
		next = next_of(h, i);
		copy_elem(h, batch, b, i);
	}
	spin_unlock(&b->lock);
	return fits;
}

int htab_lookup_batch(struct map *map, const void *in, void *out, void *keys, void *values,
		      uint32_t *count, uint64_t elem_flags, bool del)
{
	struct htab *h = htab_of(map);
	struct batch batch = { keys, values, *count, 0, elem_flags, del };
	uint32_t bucket = in ? key_u32(in) : 0;
	int rc = 0;

	*count = 0;
	if (bucket >= h->n_buckets)
		return -ENOENT;
	for (; bucket < h->n_buckets; bucket++)
		if (!copy_bucket(h, &batch, bucket))
			break;
	if (bucket == h->n_buckets)
		rc = -ENOENT;
	else if (!batch.n)
		rc = -ENOSPC;
	memcpy(out, &bucket, sizeof(bucket));
	*count = batch.n;
	return rc;
}
