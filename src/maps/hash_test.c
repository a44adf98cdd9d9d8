/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the hash types: hash.c, htab.c, htab_sys.c, and hash of maps and array of maps. */
#include "htab.h"

#include <pthread.h>

#include "maps/map_test.h"

#define HASH  BPF_MAP_TYPE_HASH
#define PHASH BPF_MAP_TYPE_PERCPU_HASH

/* B5.03: a full hash refuses, with the kernel's numbers. */
static void b5_03_full_hash(void **state)
{
	static const struct step steps[] = {
		{ UPDATE, 1, 1, 0, 0 },
		{ UPDATE, 2, 2, BPF_NOEXIST, 0 },
		{ UPDATE, 3, 3, 0, 0 },
		{ UPDATE, 4, 4, 0, -7 },
		{ UPDATE, 1, 5, BPF_NOEXIST, -17 },
		{ UPDATE, 4, 4, BPF_EXIST, -2 },
		{ UPDATE, 1, 6, 0, 0 },
		{ LOOKUP, 1, 6, 0, 0 },
		{ UPDATE, 2, 7, BPF_EXIST, 0 },
		{ UPDATE, 4, 4, 0, -7 },
		{ UPDATE, 1, 6, 3, -EINVAL },
		{ UPDATE, 1, 6, BPF_F_LOCK, -EINVAL },
		{ DELETE, 9, 0, 0, -ENOENT },
		{ DELETE, 2, 0, 0, 0 },
		{ LOOKUP, 2, 0, 0, -ENOENT },
		{ UPDATE, 4, 4, 0, 0 },
		{ POP, 4, 4, 0, 0 },
		{ POP, 4, 4, 0, -ENOENT },
		{ POP, 3, 3, 2, -EINVAL },
		{ LOOKUP, 3, 3, 0, 0 },
		{ LOOKUP, 3, 3, BPF_F_LOCK, -EINVAL },
	};
	static const uint32_t flags[] = { 0, BPF_F_NO_PREALLOC };

	for (size_t i = 0; i < 2; i++) {
		struct map *map = make_map(HASH, 4, 4, 3, flags[i]);
		struct map *percpu = make_map(PHASH, 4, 4, 3, flags[i]);

		RUN(map, steps);
		RUN(percpu, steps);
		map_put(map);
		map_put(percpu);
	}
}

static void percpu_hash_first_write_zeroes_others(void **state)
{
	struct map *map = make_map(PHASH, 4, 4, 1, 0);
	uint32_t key = 1, v = 5, size = map_sys_value_size(map), *all = malloc(size);

	memset(all, 0xff, size);
	assert_int_equal(map_sys_update(map, &key, all, 0), 0);
	assert_int_equal(map_sys_delete(map, &key), 0);
	assert_int_equal(map->ops->update(map, &key, &v, 0, 0), 0);
	assert_int_equal(map_sys_lookup(map, &key, all, 0), 0);
	assert_int_equal(all[0], 5);
	for (uint32_t c = 1; c < cpu_count(); c++)
		assert_int_equal(all[c * 2], 0);
	free(all);
	map_put(map);
}

/* A replaced value is another element: who holds the old pointer sees the old value. */
static void replacement_is_a_new_element(void **state)
{
	struct map *map = make_map(HASH, 4, 4, 2, 0);
	uint32_t key = 1, v = 5, *old, *new;

	assert_int_equal(map_sys_update(map, &key, &v, 0), 0);
	old = map->ops->lookup(map, &key, 0);
	v = 6;
	assert_int_equal(map_sys_update(map, &key, &v, 0), 0);
	new = map->ops->lookup(map, &key, 0);
	assert_ptr_not_equal(old, new);
	assert_int_equal(*old, 5);
	assert_int_equal(*new, 6);
	map_put(map);
}

enum {
	TWIN_KEYS = 64,
	TWIN_MAX = 40,
	TWIN_OPS = 20000,
};

struct twin {
	bool there[TWIN_KEYS];
	uint32_t value[TWIN_KEYS], n;
};

/* Keys of any size from a number: all bytes depend on it. */
static void make_key(uint8_t *key, uint32_t size, uint32_t k)
{
	for (uint32_t i = 0; i < size; i++)
		key[i] = (uint8_t)(k * 37 + i * 11);
}

static int twin_update(struct twin *t, uint32_t k, uint32_t v, uint64_t flags)
{
	if (t->there[k] && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!t->there[k] && flags == BPF_EXIST)
		return -ENOENT;
	if (!t->there[k] && t->n == TWIN_MAX)
		return -E2BIG;
	t->n += !t->there[k];
	t->there[k] = true;
	t->value[k] = v;
	return 0;
}

static int twin_delete(struct twin *t, uint32_t k)
{
	if (!t->there[k])
		return -ENOENT;
	t->there[k] = false;
	t->n--;
	return 0;
}

/* All keys of the map, by get_next_key: each once. */
static void check_walk(struct map *map, const struct twin *t)
{
	uint8_t key[32], next[32];
	uint32_t n = 0;
	int rc = map_sys_next_key(map, NULL, next);

	while (!rc && n <= TWIN_KEYS) {
		n++;
		memcpy(key, next, sizeof(key));
		assert_non_null(map->ops->lookup(map, key, 0));
		rc = map_sys_next_key(map, key, next);
	}
	assert_int_equal(n, t->n);
	assert_int_equal(rc, -ENOENT);
}

static void twin_step(struct map *map, struct twin *t)
{
	uint32_t k = rng_below(TWIN_KEYS), v = rng_below(1000), *got;
	uint64_t flags = rng_below(3);
	uint8_t key[32];

	make_key(key, map->key_size, k);
	switch (rng_below(3)) {
	case 0:
		assert_int_equal(map->ops->update(map, key, &v, flags, rng_below(cpu_count())),
				 twin_update(t, k, v, flags));
		break;
	case 1:
		assert_int_equal(map->ops->del(map, key), twin_delete(t, k));
		break;
	default:
		got = map->ops->lookup(map, key, 0);
		assert_int_equal(got != NULL, t->there[k]);
		if (got)
			assert_int_equal(*got, t->value[k]);
	}
}

static void hash_against_twin(void **state)
{
	static const uint32_t sizes[] = { 1, 3, 4, 8, 12, 17, 32 };

	rng_start("hash_against_twin");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct map *map =
			make_map(HASH, sizes[s], 4, TWIN_MAX, s % 2 ? BPF_F_ZERO_SEED : 0);
		struct twin t = { 0 };

		for (uint32_t i = 0; i < TWIN_OPS; i++)
			twin_step(map, &t);
		check_walk(map, &t);
		map_put(map);
	}
}

static void next_key_restarts_at_unknown(void **state)
{
	struct map *map = make_map(HASH, 4, 4, 8, 0);
	uint32_t first, k, unknown = 99;

	for (k = 0; k < 5; k++)
		assert_int_equal(map_sys_update(map, &k, &k, 0), 0);
	assert_int_equal(map_sys_next_key(map, NULL, &first), 0);
	assert_int_equal(map_sys_next_key(map, &unknown, &k), 0);
	assert_int_equal(first, k);
	map_put(map);
}

static void batches_by_bucket(void **state)
{
	struct map *map = make_map(HASH, 4, 4, 64, 0);
	uint32_t keys[64], vals[64], n = 64, at = 0, seen = 0, sum = 0;
	int rc = 0;

	for (uint32_t k = 0; k < 64; k++)
		keys[k] = vals[k] = k;
	assert_int_equal(map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, vals, &n, 0, 0),
			 0);
	n = 64;
	assert_int_equal(map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &at, keys, vals, &n, 0, 1),
			 -EINVAL);
	for (uint32_t i = 0; !rc && i < 64; i++) {
		n = 20;
		rc = map_sys_batch(map, BPF_MAP_LOOKUP_AND_DELETE_BATCH, i ? &at : NULL, &at, keys,
				   vals, &n, 0, 0);
		for (uint32_t k = 0; k < n; k++)
			sum += vals[k];
		seen += n;
	}
	assert_int_equal(rc, -ENOENT);
	assert_int_equal(seen, 64);
	assert_int_equal(sum, 64 * 63 / 2);
	assert_int_equal(map_sys_next_key(map, NULL, keys), -ENOENT);
	at = 1000;
	assert_int_equal(map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, &at, &at, keys, vals, &n, 0, 0),
			 -ENOENT);
	map_put(map);
}

static void batch_bucket_too_large(void **state)
{
	/* One bucket: max_entries 1 has one, with one element. */
	struct map *map = make_map(HASH, 4, 4, 2, 0);
	uint32_t keys[2] = { 0 }, vals[2] = { 0 }, n = 0, at;

	assert_int_equal(map_sys_update(map, keys, vals, 0), 0);
	assert_int_equal(map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &at, keys, vals, &n, 0, 0),
			 0);
	/* A chain of two in a bucket does not fit into one. */
	for (uint32_t k = 1; k < 1000; k++)
		if (!((htab_hash(htab_of(map), &k) ^ htab_hash(htab_of(map), keys)) & 1)) {
			assert_int_equal(map_sys_update(map, &k, vals, 0), 0);
			break;
		}
	n = 1;
	assert_int_equal(map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &at, keys, vals, &n, 0, 0),
			 -ENOSPC);
	assert_int_equal(n, 0);
	map_put(map);
}

/* B5.02 and concurrent use: four threads. */
enum {
	THREADS = 4,
	STRESS_KEYS = 32,
	STRESS_OPS = 20000,
};

struct stress {
	struct map *map;
	uint32_t self;
	uint32_t wrong;
};

/* Values are k in both halves, whoever writes them. A reader may meet an element on its way to another
 * key, as in the kernel, but never a key that nobody wrote. */
static void *stress(void *arg)
{
	struct stress *s = arg;
	uint64_t x = s->self * 2 + 1;

	for (uint32_t i = 0; i < STRESS_OPS; i++) {
		uint64_t key[2], *got;
		uint32_t k;
		int rc = 0;

		x = x * 6364136223846793005u + 1442695040888963407u;
		k = (uint32_t)(x >> 33) % STRESS_KEYS;
		key[0] = key[1] = k;
		if (i % 3 == 0)
			rc = s->map->ops->update(s->map, key, key, 0, s->self % cpu_count());
		else if (i % 3 == 1)
			rc = s->map->ops->del(s->map, key);
		got = s->map->ops->lookup(s->map, key, 0);
		if (got && __atomic_load_n(got, __ATOMIC_RELAXED) >= STRESS_KEYS)
			s->wrong++;
		if (rc && rc != -E2BIG && rc != -ENOENT)
			s->wrong++;
	}
	return NULL;
}

static void four_threads_insert_and_delete(void **state)
{
	static const uint32_t types[] = { HASH, BPF_MAP_TYPE_LRU_HASH, PHASH };

	for (size_t t = 0; t < 3; t++) {
		struct map *map = make_map(types[t], 16, 16, STRESS_KEYS / 2, 0);
		struct stress s[THREADS];
		pthread_t threads[THREADS];
		uint64_t key[2], i, there = 0;

		for (i = 0; i < THREADS; i++) {
			s[i] = (struct stress){ map, (uint32_t)i, 0 };
			assert_int_equal(pthread_create(&threads[i], NULL, stress, &s[i]), 0);
		}
		for (i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			assert_int_equal(s[i].wrong, 0);
		}
		for (i = 0; i < STRESS_KEYS; i++) {
			key[0] = key[1] = i;
			there += map->ops->del(map, key) == 0;
		}
		assert_true(there <= STRESS_KEYS / 2);
		/* Nothing was lost: all of max_entries can be inserted again. */
		for (i = 0; i < STRESS_KEYS / 2; i++) {
			key[0] = key[1] = i;
			assert_int_equal(map->ops->update(map, key, key, BPF_NOEXIST, 0), 0);
		}
		map_put(map);
	}
}

enum {
	ADDS = 1000000,
};

static void *add(void *arg)
{
	struct stress *s = arg;
	uint32_t key = 0;

	for (uint32_t i = 0; i < ADDS; i++) {
		uint64_t *v = s->map->ops->lookup(s->map, &key, s->self % cpu_count());

		__atomic_fetch_add(v, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void b5_02_atomic_adds_are_exact(void **state)
{
	struct map *maps[] = { make_map(HASH, 4, 8, 1, 0),
			       make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, 0) };

	for (size_t m = 0; m < 2; m++) {
		struct stress s[THREADS];
		pthread_t threads[THREADS];
		uint32_t key = 0, size = map_sys_value_size(maps[m]);
		uint64_t *all = calloc(1, size), sum = 0;

		if (!m)
			assert_int_equal(map_sys_update(maps[m], &key, all, 0), 0);
		for (uint32_t i = 0; i < THREADS; i++) {
			s[i] = (struct stress){ maps[m], i, 0 };
			assert_int_equal(pthread_create(&threads[i], NULL, add, &s[i]), 0);
		}
		for (uint32_t i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(map_sys_lookup(maps[m], &key, all, 0), 0);
		for (uint32_t i = 0; i < size / 8; i++)
			sum += all[i];
		assert_int_equal(sum, THREADS * ADDS);
		free(all);
		map_put(maps[m]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b5_03_full_hash),
		cmocka_unit_test(percpu_hash_first_write_zeroes_others),
		cmocka_unit_test(replacement_is_a_new_element),
		cmocka_unit_test(hash_against_twin),
		cmocka_unit_test(next_key_restarts_at_unknown),
		cmocka_unit_test(batches_by_bucket),
		cmocka_unit_test(batch_bucket_too_large),
		cmocka_unit_test(four_threads_insert_and_delete),
		cmocka_unit_test(b5_02_atomic_adds_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
