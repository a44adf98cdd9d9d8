/* SPDX-License-Identifier: BSD-2-Clause */
/* The table behind all hash types: see htab.h. bpf(2)'s face of it is htab_sys.c. */
#include "htab.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cpu.h"

#define END_MARK 0x80000000u /* | bucket: the end of that bucket's chain */

#define HASH_FLAGS                                                                                 \
	(BPF_F_NO_PREALLOC | BPF_F_NO_COMMON_LRU | BPF_F_NUMA_NODE | MAP_ACCESS_FLAGS |            \
	 BPF_F_ZERO_SEED)

enum {
	FIND_STEPS = 4096,     /* a reader that was led astray this long takes the lock */
	SPARE_TRIES = 1 << 22, /* seconds: only a stopped thread can keep all spares that long */
};

static bool type_lru(uint32_t type)
{
	return type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool type_percpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* Each CPU has a list of its own, all of one length: rounded up, or down where that overflows. */
static uint32_t round_to_cpus(uint32_t n)
{
	uint32_t cpus = cpu_count(), up = (n + cpus - 1) / cpus * cpus;

	return up < n ? n / cpus * cpus : up;
}

int htab_check(struct map_attr *attr)
{
	bool lru = type_lru(attr->type), percpu = type_percpu(attr->type);
	bool own_lists = attr->flags & BPF_F_NO_COMMON_LRU;

	if ((attr->flags & ~(uint32_t)HASH_FLAGS) || !map_access_ok(attr->flags))
		return -EINVAL;
	if (!lru && own_lists)
		return -EINVAL;
	if (lru && (attr->flags & BPF_F_NO_PREALLOC))
		return -ENOTSUPP;
	if ((attr->flags & BPF_F_NUMA_NODE) && (percpu || own_lists))
		return -EINVAL;
	if (!attr->max_entries || !attr->key_size || !attr->value_size)
		return -EINVAL;
	/* 48 bytes: the kernel's element header counts against its limit. */
	if ((uint64_t)attr->key_size + attr->value_size >= MAP_VALUE_SIZE_MAX - 48)
		return -E2BIG;
	if (percpu && round_up8(attr->value_size) > MAP_PERCPU_VALUE_MAX)
		return -E2BIG;
	if (attr->max_entries > 1u << 31)
		return -E2BIG;
	if (own_lists)
		attr->max_entries = round_to_cpus(attr->max_entries);
	return 0;
}

static uint32_t round_up_pow2(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

/* Takes the stock for replacements out of the numbers: what is left is max_entries. */
static int create_spares(struct htab *h)
{
	h->spares = aligned_alloc(64, h->n_shards * sizeof(*h->spares));
	if (!h->spares)
		return -ENOMEM;
	memset(h->spares, 0, h->n_shards * sizeof(*h->spares));
	for (uint32_t s = 0; s < h->n_shards; s++)
		while (h->spares[s].n < HTAB_SPARES)
			h->spares[s].elems[h->spares[s].n++] = slots_take(h->slots, s, true);
	return 0;
}

static int create_hands(struct htab *h, uint32_t max_entries)
{
	uint32_t end;

	h->used = sparse_alloc(max_entries);
	h->hands = aligned_alloc(64, h->n_shards * sizeof(*h->hands));
	if (!h->used || !h->hands)
		return -ENOMEM;
	memset(h->hands, 0, h->n_shards * sizeof(*h->hands));
	for (uint32_t s = 0; s < h->n_shards; s++)
		slots_range(h->slots, s, &h->hands[s].at, &end);
	return 0;
}

/* The parts beside the area. What was made is undone by htab_destroy. */
static int create_parts(struct htab *h, const struct map_attr *attr)
{
	bool lru = type_lru(attr->type);
	int rc;

	/* One list of all elements keeps the order of eviction right; the others spread. */
	h->n_shards = lru && !(attr->flags & BPF_F_NO_COMMON_LRU) ? 1 : cpu_count();
	h->n_elems = attr->max_entries + (lru ? 0 : h->n_shards * HTAB_SPARES);
	if (h->n_elems >= END_MARK - 1)
		return -ENOMEM;
	h->n_buckets = round_up_pow2(attr->max_entries);
	h->elem_size = (uint32_t)sizeof(struct elem) + round_up8(attr->key_size);
	if (!(attr->flags & BPF_F_ZERO_SEED) &&
	    getrandom(&h->seed, sizeof(h->seed), 0) != sizeof(h->seed))
		return -ENOMEM;
	h->buckets = sparse_alloc((size_t)h->n_buckets * sizeof(*h->buckets));
	h->elems = sparse_alloc((size_t)h->n_elems * h->elem_size);
	if (!h->buckets || !h->elems)
		return -ENOMEM;
	rc = slots_create(&h->slots, h->n_elems, h->n_shards);
	if (rc)
		return rc;
	if (lru)
		return create_hands(h, attr->max_entries);
	rc = create_spares(h);
	if (rc || attr->type != BPF_MAP_TYPE_HASH_OF_MAPS)
		return rc;
	h->objs = sparse_alloc((size_t)h->n_elems * sizeof(*h->objs));
	return h->objs ? 0 : -ENOMEM;
}

int htab_create(struct map **ret, const struct map_attr *attr)
{
	struct htab *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return -ENOMEM;
	h->map.max_entries = attr->max_entries;
	rc = create_parts(h, attr);
	if (!rc && !h->objs)
		rc = map_values_create(&h->map, attr, h->n_elems,
				       type_percpu(attr->type) ? cpu_count() : 1);
	if (rc) {
		htab_destroy(&h->map);
		return rc;
	}
	*ret = &h->map;
	return 0;
}

void htab_destroy(struct map *map)
{
	struct htab *h = htab_of(map);

	if (h->objs)
		for (uint32_t i = 0; i < h->n_elems; i++)
			obj_ref_destroy(h->objs[i].ref);
	sparse_free(h->objs, (size_t)h->n_elems * sizeof(*h->objs));
	sparse_free((void *)h->used, map->max_entries);
	free(h->hands);
	free(h->spares);
	slots_put_ref(h->slots);
	sparse_free(h->elems, (size_t)h->n_elems * h->elem_size);
	sparse_free(h->buckets, (size_t)h->n_buckets * sizeof(*h->buckets));
	free(h);
}

/* Hashing: a 64 x 64 bit multiplication mixes each word, its halves are folded (as in wyhash). */

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

#define HASH_MUL 0x9fb21c651e98df25u
#define HASH_ADD 0xd6e8feb86659fd93u

/* The words of a key; the last is padded with zeroes. Copies of a fixed size: no call. */
static inline uint64_t key_word(const void *key, uint32_t size, uint32_t off)
{
	const uint8_t *from = (const uint8_t *)key + off;
	uint32_t n = size - off, i = 0;
	uint64_t w = 0;

	if (n >= 8) {
		memcpy(&w, from, 8);
		return w;
	}
	if (n & 4) {
		memcpy(&w, from, 4);
		i = 4;
	}
	for (; i < n; i++)
		memcpy((uint8_t *)&w + i, from + i, 1);
	return w;
}

static inline uint64_t hash_long(uint64_t seed, const void *key, uint32_t size)
{
	uint64_t h = seed ^ size;

	for (uint32_t off = 0; off < size; off += 8)
		h = mix(h ^ key_word(key, size, off) ^ HASH_ADD, HASH_MUL);
	return h;
}

uint32_t htab_hash(const struct htab *h, const void *key)
{
	uint32_t size = h->map.key_size;
	uint64_t x;

	if (size == 4)
		x = mix(key_u32(key) ^ h->seed ^ HASH_ADD, HASH_MUL);
	else if (size == 8)
		x = mix(key_word(key, 8, 0) ^ h->seed ^ HASH_ADD, HASH_MUL);
	else
		x = hash_long(h->seed, key, size);
	return (uint32_t)(x ^ (x >> 32));
}

static inline bool key_equal(const struct elem *e, const void *key, uint32_t size)
{
	if (size == 4)
		return __atomic_load_n((const uint32_t *)e->key, __ATOMIC_RELAXED) == key_u32(key);
	for (uint32_t off = 0; off < size; off += 8)
		if (__atomic_load_n(&e->key[off / 8], __ATOMIC_RELAXED) != key_word(key, size, off))
			return false;
	return true;
}

static inline struct bucket *bucket_of(const struct htab *h, uint32_t hash)
{
	return &h->buckets[hash & (h->n_buckets - 1)];
}

static inline bool is_elem(uint32_t link)
{
	return link && !(link & END_MARK);
}

uint32_t htab_find_locked(const struct htab *h, uint32_t hash, const void *key)
{
	uint32_t link = atomic_load_explicit(&bucket_of(h, hash)->head, memory_order_relaxed);

	while (is_elem(link)) {
		struct elem *e = htab_elem(h, link - 1);

		if (atomic_load_explicit(&e->hash, memory_order_relaxed) == hash &&
		    key_equal(e, key, h->map.key_size))
			return link - 1;
		link = atomic_load_explicit(&e->next, memory_order_relaxed);
	}
	return SLOT_NONE;
}

uint32_t htab_find(const struct htab *h, uint32_t hash, const void *key)
{
	uint32_t end = END_MARK | (hash & (h->n_buckets - 1)), size = h->map.key_size, i;
	struct bucket *b = bucket_of(h, hash);
	uint32_t link = atomic_load_explicit(&b->head, memory_order_acquire);

	for (uint32_t steps = 0; steps < FIND_STEPS; steps++) {
		struct elem *e;

		if (!is_elem(link)) {
			if (!link || link == end)
				return SLOT_NONE;
			link = atomic_load_explicit(&b->head, memory_order_acquire);
			continue;
		}
		e = htab_elem(h, link - 1);
		if (atomic_load_explicit(&e->hash, memory_order_acquire) == hash &&
		    key_equal(e, key, size))
			return link - 1;
		link = atomic_load_explicit(&e->next, memory_order_acquire);
	}
	spin_lock(&b->lock);
	i = htab_find_locked(h, hash, key);
	spin_unlock(&b->lock);
	return i;
}

struct bucket *htab_lock(struct htab *h, uint32_t hash)
{
	struct bucket *b = bucket_of(h, hash);

	spin_lock(&b->lock);
	return b;
}

bool htab_unlink(struct htab *h, struct bucket *bucket, uint32_t i)
{
	_Atomic uint32_t *from = &bucket->head;
	uint32_t link = atomic_load_explicit(from, memory_order_relaxed);

	while (is_elem(link) && link - 1 != i) {
		from = &htab_elem(h, link - 1)->next;
		link = atomic_load_explicit(from, memory_order_relaxed);
	}
	if (!is_elem(link))
		return false;
	/* The element's own link stays: readers that stand on it go on through it. */
	link = atomic_load_explicit(&htab_elem(h, i)->next, memory_order_relaxed);
	atomic_store_explicit(from, link, memory_order_release);
	return true;
}

int htab_check_exist(bool there, uint64_t flags)
{
	flags &= ~(uint64_t)BPF_F_LOCK;
	if (there && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!there && flags == BPF_EXIST)
		return -ENOENT;
	return 0;
}

/* A program's first write of a per-CPU element leaves the other CPUs' values zero. */
static void write_percpu(struct htab *h, uint32_t i, struct htab_write *w, bool fresh)
{
	if (w->cpu == HTAB_ALL_CPUS) {
		map_percpu_store(&h->map, i, w->value);
		return;
	}
	for (uint32_t cpu = 0; fresh && cpu < cpu_count(); cpu++)
		shared_zero(map_value(&h->map, cpu, i), h->map.stride);
	shared_store(map_value(&h->map, (uint32_t)w->cpu, i), w->value, h->map.value_size);
}

void htab_write_value(struct htab *h, uint32_t i, struct htab_write *w, bool fresh)
{
	uint8_t *slot;

	if (h->objs) {
		w->ref = obj_slot_swap(&h->objs[i], w->ref);
		return;
	}
	if (map_is_percpu(&h->map)) {
		write_percpu(h, i, w, fresh);
		return;
	}
	slot = map_value(&h->map, 0, i);
	if (fresh && h->map.spin_lock_off != UINT32_MAX)
		shared_zero(slot + h->map.spin_lock_off, sizeof(struct bpf_spin_lock));
	map_value_store(&h->map, slot, w->value, fresh ? 0 : w->flags);
}

void htab_insert(struct htab *h, uint32_t i, uint32_t hash, const void *key, struct htab_write *w)
{
	struct bucket *b = bucket_of(h, hash);
	struct elem *e = htab_elem(h, i);
	uint32_t link = atomic_load_explicit(&b->head, memory_order_relaxed);

	shared_store(e->key, key, h->map.key_size);
	htab_write_value(h, i, w, true);
	/* Release: who follows this link, or sees this hash, from the element's former chain sees the
	 * key that goes with it. */
	atomic_store_explicit(&e->hash, hash, memory_order_release);
	atomic_store_explicit(&e->next, link ? link : END_MARK | (hash & (h->n_buckets - 1)),
			      memory_order_release);
	atomic_store_explicit(&b->head, i + 1, memory_order_release);
}

static uint32_t take_spare(struct htab *h, uint32_t shard, uint32_t *from)
{
	uint32_t i = SLOT_NONE;

	/* A spare is out for the few instructions of another thread's replacement. */
	for (uint32_t k = 0; i == SLOT_NONE && k < SPARE_TRIES; k++) {
		struct spare *s = &h->spares[(shard + k) % h->n_shards];

		spin_lock(&s->lock);
		if (s->n)
			i = s->elems[--s->n];
		spin_unlock(&s->lock);
		*from = (shard + k) % h->n_shards;
		if (i == SLOT_NONE && k >= h->n_shards)
			sched_yield();
	}
	return i;
}

static void give_spare(struct htab *h, uint32_t shard, uint32_t i)
{
	struct spare *s = &h->spares[shard];

	spin_lock(&s->lock);
	s->elems[s->n++] = i;
	spin_unlock(&s->lock);
}

/* The kernel replaces an element by a new one, except where that would be seen. */
static int replace(struct htab *h, struct bucket *b, uint32_t old, const void *key,
		   struct htab_write *w, uint32_t shard)
{
	uint32_t hash = atomic_load_explicit(&htab_elem(h, old)->hash, memory_order_relaxed);
	uint32_t from, i;

	if (h->objs || (w->flags & BPF_F_LOCK) || map_is_percpu(&h->map)) {
		htab_write_value(h, old, w, false);
		return 0;
	}
	i = take_spare(h, shard, &from);
	if (i == SLOT_NONE)
		return -EBUSY;
	htab_insert(h, i, hash, key, w);
	htab_unlink(h, b, old);
	give_spare(h, from, old);
	return 0;
}

int htab_update(struct htab *h, const void *key, struct htab_write *w, uint32_t shard)
{
	uint32_t hash = htab_hash(h, key), old, i;
	struct bucket *b = htab_lock(h, hash);
	int rc;

	old = htab_find_locked(h, hash, key);
	rc = htab_check_exist(old != SLOT_NONE, w->flags);
	if (rc)
		goto out;
	if (old != SLOT_NONE) {
		rc = replace(h, b, old, key, w, shard);
		goto out;
	}
	i = slots_take(h->slots, shard, true);
	if (i == SLOT_NONE)
		rc = -E2BIG;
	else
		htab_insert(h, i, hash, key, w);
out:
	spin_unlock(&b->lock);
	return rc;
}
