/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the LRU hashes: lru.c. Which element goes is approximate; the invariants are not. */
#include "htab.h"

#include "maps/map_test.h"

#define LRU  BPF_MAP_TYPE_LRU_HASH
#define PLRU BPF_MAP_TYPE_LRU_PERCPU_HASH

enum {
	MAX = 64,
	OPS = 20000,
};

static void flags_as_kernel(void **state)
{
	static const struct step steps[] = {
		{ UPDATE, 1, 1, 0, 0 },
		{ UPDATE, 1, 1, BPF_NOEXIST, -EEXIST },
		{ UPDATE, 2, 1, BPF_EXIST, -ENOENT },
		{ UPDATE, 2, 1, 3, -EINVAL },
		{ UPDATE, 2, 1, BPF_F_LOCK, -EINVAL },
		{ UPDATE, 1, 3, BPF_EXIST, 0 },
		{ LOOKUP, 1, 3, 0, 0 },
		{ POP, 1, 3, 0, 0 },
		{ DELETE, 1, 0, 0, -ENOENT },
	};
	struct map *map = make_map(LRU, 4, 4, MAX, 0), *percpu = make_map(PLRU, 4, 4, MAX, 0);

	RUN(map, steps);
	RUN(percpu, steps);
	map_put(map);
	map_put(percpu);
}

static uint32_t count(struct map *map)
{
	uint32_t key, next, n = 0;
	int rc = map_sys_next_key(map, NULL, &next);

	while (!rc && n <= 2 * MAX) {
		n++;
		key = next;
		rc = map_sys_next_key(map, &key, &next);
	}
	return n;
}

/* Never more than max_entries, never full, and the newest is always there. */
static void check_invariants(struct map *map)
{
	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t key = rng_below(4 * MAX), cpu = rng_below(cpu_count()), *v;

		switch (rng_below(4)) {
		case 0:
			map->ops->del(map, &key);
			break;
		case 1:
			v = map->ops->lookup(map, &key, cpu);
			if (v && !map_is_percpu(map))
				assert_int_equal(*v, key);
			break;
		default:
			assert_int_equal(map->ops->update(map, &key, &key, 0, cpu), 0);
			v = map->ops->lookup(map, &key, cpu);
			assert_non_null(v);
			assert_int_equal(*v, key);
		}
		if (i % 512 == 0)
			assert_true(count(map) <= map->max_entries);
	}
	assert_true(count(map) <= map->max_entries);
}

static void invariants_under_random_ops(void **state)
{
	static const struct {
		uint32_t type, flags, max;
	} maps[] = {
		{ LRU, 0, MAX },  { LRU, BPF_F_NO_COMMON_LRU, MAX },
		{ PLRU, 0, MAX }, { PLRU, BPF_F_NO_COMMON_LRU, MAX },
		{ LRU, 0, 1 },
	};

	rng_start("invariants_under_random_ops");
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct map *map = make_map(maps[i].type, 4, 4, maps[i].max, maps[i].flags);

		check_invariants(map);
		map_put(map);
	}
}

/* What programs look up stays, while others come and go; bpf(2)'s look-ups do not count. */
static void looked_up_elements_stay(void **state)
{
	struct map *map = make_map(LRU, 4, 4, MAX, 0);
	uint32_t hot = 7, seen = 8, v;

	for (uint32_t k = 0; k < MAX; k++)
		assert_int_equal(map_sys_update(map, &k, &k, 0), 0);
	for (uint32_t k = MAX; k < 20 * MAX; k++) {
		assert_non_null(map->ops->lookup(map, &hot, 0));
		map_sys_lookup(map, &seen, &v, 0);
		assert_int_equal(map_sys_update(map, &k, &k, 0), 0);
	}
	assert_int_equal(map_sys_lookup(map, &hot, &v, 0), 0);
	assert_int_equal(map_sys_lookup(map, &seen, &v, 0), -ENOENT);
	assert_int_equal(count(map), MAX);
	map_put(map);
}

/* As in the kernel, room is made before the flags are looked at. */
static void a_refused_update_still_evicts(void **state)
{
	struct map *map = make_map(LRU, 4, 4, MAX, 0);
	uint32_t k;

	for (k = 0; k < MAX; k++)
		assert_int_equal(map_sys_update(map, &k, &k, 0), 0);
	k = 1000;
	assert_int_equal(map_sys_update(map, &k, &k, BPF_EXIST), -ENOENT);
	assert_int_equal(count(map), MAX - 1);
	map_put(map);
}

static void own_lists_round_max_entries(void **state)
{
	struct map *map = make_map(LRU, 4, 4, 3 * cpu_count() + 1, BPF_F_NO_COMMON_LRU);

	assert_int_equal(map->max_entries, cpu_count() == 1 ? 4 : 4 * cpu_count());
	map_put(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_as_kernel),
		cmocka_unit_test(invariants_under_random_ops),
		cmocka_unit_test(looked_up_elements_stay),
		cmocka_unit_test(a_refused_update_still_evicts),
		cmocka_unit_test(own_lists_round_max_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
