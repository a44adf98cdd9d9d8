/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the front and of the array types: map.c, array.c, types.c. */
#include "map.h"

#include "maps/map_test.h"

#define ARRAY  BPF_MAP_TYPE_ARRAY
#define PARRAY BPF_MAP_TYPE_PERCPU_ARRAY
#define HASH   BPF_MAP_TYPE_HASH
#define LRU    BPF_MAP_TYPE_LRU_HASH
#define PHASH  BPF_MAP_TYPE_PERCPU_HASH
#define LPM    BPF_MAP_TYPE_LPM_TRIE
#define QUEUE  BPF_MAP_TYPE_QUEUE
#define BLOOM  BPF_MAP_TYPE_BLOOM_FILTER
#define RING   BPF_MAP_TYPE_RINGBUF
#define PROGS  BPF_MAP_TYPE_PROG_ARRAY
#define DEVMAP BPF_MAP_TYPE_DEVMAP
#define CPUMAP BPF_MAP_TYPE_CPUMAP
#define XSKMAP BPF_MAP_TYPE_XSKMAP

static const struct {
	uint32_t type, key, value, max, flags;
	uint64_t extra;
	int rc;
} creates[] = {
	{ 9999, 4, 4, 1, 0, 0, -EINVAL },
	{ ARRAY, 4, 4, 1, 0, 0, 0 },
	{ ARRAY, 4, 4, 0, 0, 0, -EINVAL },
	{ ARRAY, 8, 4, 1, 0, 0, -EINVAL },
	{ ARRAY, 4, 0, 1, 0, 0, -EINVAL },
	{ ARRAY, 4, 4, 1, 0, 1, -EINVAL },
	{ ARRAY, 4, 4, 1, BPF_F_RDONLY | BPF_F_WRONLY, 0, -EINVAL },
	{ ARRAY, 4, 4, 1, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG, 0, -EINVAL },
	{ ARRAY, 4, 4, 1, BPF_F_MMAPABLE | BPF_F_INNER_MAP, 0, 0 },
	{ ARRAY, 4, 4, 1, BPF_F_NO_PREALLOC, 0, -EINVAL },
	{ PARRAY, 4, 4, 1, BPF_F_MMAPABLE, 0, -EINVAL },
	{ PARRAY, 4, 32768, 1, 0, 0, 0 },
	{ PARRAY, 4, 32769, 1, 0, 0, -E2BIG },
	{ HASH, 0, 4, 1, 0, 0, -EINVAL },
	{ HASH, 4, 4, 1, BPF_F_NO_COMMON_LRU, 0, -EINVAL },
	{ HASH, 4, 4, 1, BPF_F_NO_PREALLOC | BPF_F_ZERO_SEED, 0, 0 },
	{ HASH, 4, 4 << 20, 1, 0, 0, -E2BIG },
	{ PHASH, 4, 32769, 1, 0, 0, -E2BIG },
	{ LRU, 4, 4, 1, BPF_F_NO_PREALLOC, 0, -ENOTSUPP },
	{ LRU, 4, 4, 1, BPF_F_NO_COMMON_LRU | BPF_F_NUMA_NODE, 0, -EINVAL },
	{ LPM, 8, 4, 1, 0, 0, -EINVAL },
	{ LPM, 4, 4, 1, BPF_F_NO_PREALLOC, 0, -EINVAL },
	{ LPM, 8, 4, 1, BPF_F_NO_PREALLOC, 0, 0 },
	{ LPM, 261, 4, 1, BPF_F_NO_PREALLOC, 0, -EINVAL },
	{ QUEUE, 4, 4, 1, 0, 0, -EINVAL },
	{ QUEUE, 0, 4, 1, 0, 0, 0 },
	{ BLOOM, 0, 4, 1, 0, 15, 0 },
	{ BLOOM, 0, 4, 1, 0, 16, -EINVAL },
	{ RING, 0, 0, 4096, 0, 0, 0 },
	{ RING, 0, 0, 4097, 0, 0, -EINVAL },
	{ RING, 0, 0, 12288, 0, 0, -EINVAL },
	{ RING, 4, 4, 4096, 0, 0, -EINVAL },
	{ PROGS, 4, 8, 1, 0, 0, -EINVAL },
	{ PROGS, 4, 4, 1, BPF_F_RDONLY_PROG, 0, -EINVAL },
	{ DEVMAP, 4, 4, 1, 0, 0, 0 },
	{ DEVMAP, 4, 8, 1, BPF_F_RDONLY_PROG, 0, -EINVAL },
	{ DEVMAP, 4, 6, 1, 0, 0, -EINVAL },
	{ CPUMAP, 4, 8, 1, BPF_F_RDONLY, 0, -EINVAL },
	{ CPUMAP, 4, 8, 8193, 0, 0, -E2BIG },
	{ XSKMAP, 8, 4, 1, 0, 0, -EINVAL },
};

static void create_checks(void **state)
{
	for (size_t i = 0; i < sizeof(creates) / sizeof(creates[0]); i++) {
		struct map_attr attr = { .type = creates[i].type,
					 .key_size = creates[i].key,
					 .value_size = creates[i].value,
					 .max_entries = creates[i].max,
					 .flags = creates[i].flags,
					 .extra = creates[i].extra };
		struct map *map = NULL;
		int rc = map_create(&map, &attr);

		if (rc != creates[i].rc)
			fail_msg("create %zu (%s): %d, not %d", i, map_type_name(attr.type), rc,
				 creates[i].rc);
		if (rc)
			assert_null(map);
		map_put(map);
	}
}

static void array_ops_as_kernel(void **state)
{
	static const struct step steps[] = {
		{ LOOKUP, 0, 0, 0, 0 },
		{ UPDATE, 0, 7, 0, 0 },
		{ LOOKUP, 0, 7, 0, 0 },
		{ UPDATE, 0, 8, BPF_EXIST, 0 },
		{ UPDATE, 0, 9, BPF_NOEXIST, -EEXIST },
		{ UPDATE, 4, 9, BPF_NOEXIST, -E2BIG },
		{ UPDATE, 0, 9, 3, -EINVAL },
		{ UPDATE, 0, 9, BPF_F_LOCK, -EINVAL },
		{ LOOKUP, 4, 0, 0, -ENOENT },
		{ LOOKUP, 0, 0, 1, -EINVAL },
		{ DELETE, 0, 0, 0, -EINVAL },
		{ NEXT, NONE, 0, 0, 0 },
		{ NEXT, 2, 3, 0, 0 },
		{ NEXT, 3, 0, 0, -ENOENT },
		{ NEXT, 17, 0, 0, 0 },
		{ POP, 0, 0, 0, -ENOTSUPP },
		{ UPDATE, NONE, 0, 0, -EFAULT },
		{ LOOKUP, 0, 8, 0, 0 },
	};
	struct map *a = make_map(ARRAY, 4, 4, 4, 0), *p = make_map(PARRAY, 4, 4, 4, 0);

	RUN(a, steps);
	RUN(p, steps);
	map_put(a);
	map_put(p);
}

static void percpu_array_layout(void **state)
{
	struct map *map = make_map(PARRAY, 4, 12, 3, 0);
	uint32_t key = 1, size = map_sys_value_size(map);
	uint8_t *buf = calloc(1, size);

	assert_int_equal(size, 16 * cpu_count());
	for (uint32_t c = 0; c < cpu_count(); c++) {
		uint32_t *v = map->ops->lookup(map, &key, c);

		assert_ptr_equal(v, map->area.base + (c * 3 + 1) * 16);
		*v = c + 1;
	}
	assert_int_equal(map_sys_lookup(map, &key, buf, 0), 0);
	for (uint32_t c = 0; c < cpu_count(); c++)
		assert_int_equal(buf[c * 16], c + 1);
	assert_int_equal(map->ops->update(map, &key, "twelve bytes", 0, 0), 0);
	assert_memory_equal(map->ops->lookup(map, &key, 0), "twelve bytes", 12);
	free(buf);
	map_put(map);
}

static void frozen_and_access(void **state)
{
	struct map *map = make_map(ARRAY, 4, 4, 1, 0);
	struct map *ro = make_map(ARRAY, 4, 4, 1, BPF_F_RDONLY);
	struct map *wo = make_map(ARRAY, 4, 4, 1, BPF_F_WRONLY);
	uint32_t key = 0, v = 1, n = 1;

	atomic_store(&map->writers, 1);
	assert_int_equal(map_sys_freeze(map), -EBUSY);
	atomic_store(&map->writers, 0);
	assert_int_equal(map_sys_freeze(map), 0);
	assert_int_equal(map_sys_freeze(map), -EPERM);
	assert_int_equal(map_sys_update(map, &key, &v, 0), -EPERM);
	assert_int_equal(map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, &key, &v, &n, 0, 0),
			 -EPERM);
	assert_int_equal(map->ops->update(map, &key, &v, 0, 0), 0);
	assert_int_equal(map_sys_lookup(map, &key, &v, 0), 0);
	assert_int_equal(map_sys_update(ro, &key, &v, 0), -EPERM);
	assert_int_equal(map_sys_delete(ro, &key), -EPERM);
	assert_int_equal(map_sys_lookup(wo, &key, &v, 0), -EPERM);
	assert_int_equal(map_sys_next_key(wo, NULL, &key), -EPERM);
	map_put(map);
	map_put(ro);
	map_put(wo);
}

static void value_with_spin_lock(void **state)
{
	struct map *map = make_map(ARRAY, 4, 12, 1, 0);
	uint32_t key = 0, in[3] = { 1, 99, 3 }, out[3];

	map->spin_lock_off = 4;
	assert_int_equal(map_sys_update(map, &key, in, BPF_F_LOCK), 0);
	assert_int_equal(((uint32_t *)(void *)map->area.base)[1], 0);
	assert_int_equal(map_sys_lookup(map, &key, out, BPF_F_LOCK), 0);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 0);
	assert_int_equal(out[2], 3);
	assert_int_equal(map_sys_freeze(map), -ENOTSUPP);
	map_put(map);
}

static void array_batches(void **state)
{
	struct map *map = make_map(ARRAY, 4, 4, 5, 0);
	uint32_t keys[5] = { 0, 1, 2, 3, 9 }, vals[5] = { 5, 6, 7, 8, 9 }, n = 5, at = 0;

	assert_int_equal(map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, vals, &n, 0, 0),
			 -E2BIG);
	assert_int_equal(n, 4);
	n = 3;
	assert_int_equal(map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &at, keys, vals, &n, 0, 0),
			 0);
	assert_int_equal(n, 3);
	assert_int_equal(at, 2);
	n = 3;
	assert_int_equal(map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, &at, &at, keys, vals, &n, 0, 0),
			 -ENOENT);
	assert_int_equal(n, 2);
	assert_int_equal(vals[0], 8);
	assert_int_equal(map_sys_batch(map, BPF_MAP_DELETE_BATCH, NULL, NULL, keys, vals, &n, 0, 0),
			 -ENOTSUPP);
	n = 1;
	assert_int_equal(map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, vals, &n, 1, 0),
			 -EINVAL);
	map_put(map);
}

static void ids_and_names(void **state)
{
	struct map *map = make_map(ARRAY, 4, 4, 1, 0), *again = map_by_id(map->obj.id);
	uint32_t id = map->obj.id;

	assert_ptr_equal(map, again);
	map_put(again);
	map_put(map);
	assert_null(map_by_id(id));
	assert_string_equal(map_type_name(PHASH), "percpu_hash");
	assert_string_equal(map_type_name(77), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create_checks),	cmocka_unit_test(array_ops_as_kernel),
		cmocka_unit_test(percpu_array_layout),	cmocka_unit_test(frozen_and_access),
		cmocka_unit_test(value_with_spin_lock), cmocka_unit_test(array_batches),
		cmocka_unit_test(ids_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
