/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the keyless maps: queue.c, bloom.c. */
#include <pthread.h>

#include "maps/map_test.h"

#define QUEUE BPF_MAP_TYPE_QUEUE
#define STACK BPF_MAP_TYPE_STACK
#define BLOOM BPF_MAP_TYPE_BLOOM_FILTER

static void queue_and_stack(void **state)
{
	static const struct step queue_steps[] = {
		{ POP, NONE, 0, 0, -ENOENT },
		{ UPDATE, NONE, 1, 0, 0 },
		{ UPDATE, NONE, 2, 0, 0 },
		{ UPDATE, NONE, 3, 1, -EINVAL },
		{ UPDATE, NONE, 3, BPF_F_LOCK, -EINVAL },
		{ UPDATE, NONE, 3, 0, 0 },
		{ UPDATE, NONE, 4, 0, -E2BIG },
		{ LOOKUP, NONE, 1, 0, 0 },
		{ UPDATE, NONE, 4, BPF_EXIST, 0 },
		{ LOOKUP, NONE, 2, 0, 0 },
		{ LOOKUP, 0, 2, 0, -EINVAL },
		{ POP, NONE, 2, 4, -EINVAL },
		{ POP, NONE, 2, 0, 0 },
		{ POP, NONE, 3, 0, 0 },
		{ POP, NONE, 4, 0, 0 },
		{ POP, NONE, 0, 0, -ENOENT },
		{ DELETE, NONE, 0, 0, -EINVAL },
		{ NEXT, NONE, 0, 0, -EINVAL },
	};
	static const struct step stack_steps[] = {
		{ UPDATE, NONE, 1, 0, 0 },	{ UPDATE, NONE, 2, 0, 0 },
		{ UPDATE, NONE, 3, 0, 0 },	{ LOOKUP, NONE, 3, 0, 0 },
		{ UPDATE, NONE, 4, 0, -E2BIG }, { UPDATE, NONE, 4, BPF_EXIST, 0 },
		{ POP, NONE, 4, 0, 0 },		{ POP, NONE, 3, 0, 0 },
		{ POP, NONE, 2, 0, 0 },		{ POP, NONE, 0, 0, -ENOENT },
	};
	struct map *queue = make_map(QUEUE, 0, 4, 3, 0), *stack = make_map(STACK, 0, 4, 3, 0);

	for (uint32_t round = 0; round < 3; round++) {
		RUN(queue, queue_steps);
		RUN(stack, stack_steps);
	}
	map_put(queue);
	map_put(stack);
}

static void a_failed_pop_zeroes(void **state)
{
	struct map *queue = make_map(QUEUE, 0, 4, 3, 0);
	uint32_t v = 7;

	assert_int_equal(queue->ops->pop(queue, &v), -ENOENT);
	assert_int_equal(v, 0);
	map_put(queue);
}

static void bloom_has_no_false_negatives(void **state)
{
	static const uint64_t hashes[] = { 0, 1, 3, 15 };

	for (size_t h = 0; h < 4; h++) {
		struct map_attr attr = {
			.type = BLOOM, .value_size = 12, .max_entries = 1000, .extra = hashes[h]
		};
		uint32_t false_positives = 0;
		struct map *map;

		assert_int_equal(map_create(&map, &attr), 0);
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(map_sys_update(map, NULL, &(uint32_t[3]){ i, 0, ~i }, 0),
					 0);
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(map_sys_lookup(map, NULL, &(uint32_t[3]){ i, 0, ~i }, 0),
					 0);
		for (uint32_t i = 1000; i < 11000; i++)
			false_positives +=
				!map_sys_lookup(map, NULL, &(uint32_t[3]){ i, 0, ~i }, 0);
		/* One hash function gives half a bit a value and so one in two; five and more 3 %. */
		assert_true(false_positives < (hashes[h] == 1 ? 6500 : 1500));
		map_put(map);
	}
}

static void bloom_operations(void **state)
{
	struct map *map = make_map(BLOOM, 0, 4, 10, 0);
	uint32_t v = 1;

	assert_int_equal(map_sys_lookup(map, NULL, &v, 0), -ENOENT);
	assert_int_equal(map_sys_update(map, NULL, &v, BPF_EXIST), -EINVAL);
	assert_int_equal(map_sys_update(map, &v, &v, 0), -EINVAL);
	assert_int_equal(map_sys_delete(map, NULL), -EOPNOTSUPP);
	assert_int_equal(map_sys_next_key(map, NULL, &v), -EOPNOTSUPP);
	assert_int_equal(map->ops->pop(map, &v), -EOPNOTSUPP);
	assert_int_equal(map_sys_lookup_and_delete(map, NULL, &v, 0), -ENOTSUPP);
	map_put(map);
}

enum {
	THREADS = 4,
	PUSHES = 5000,
};

static void *push_and_pop(void *arg)
{
	struct map *map = arg;
	uint64_t sum = 0, v;

	for (uint64_t i = 1; i <= PUSHES; i++) {
		if (!map->ops->push(map, &i, 0))
			sum += i;
		if (!map->ops->pop(map, &v))
			sum -= v;
	}
	return (void *)(uintptr_t)sum;
}

/* What goes in comes out once. */
static void four_threads(void **state)
{
	static const uint32_t types[] = { QUEUE, STACK };

	for (size_t t = 0; t < 2; t++) {
		struct map *map = make_map(types[t], 0, 8, 16, 0);
		pthread_t threads[THREADS];
		uint64_t sum = 0, v;
		void *part;

		for (uint32_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, push_and_pop, map), 0);
		for (uint32_t i = 0; i < THREADS; i++) {
			pthread_join(threads[i], &part);
			sum += (uintptr_t)part;
		}
		while (!map->ops->pop(map, &v))
			sum -= v;
		assert_int_equal(sum, 0);
		map_put(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_and_stack),
		cmocka_unit_test(a_failed_pop_zeroes),
		cmocka_unit_test(bloom_has_no_false_negatives),
		cmocka_unit_test(bloom_operations),
		cmocka_unit_test(four_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
