/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the maps that hold objects: prog array, perf event array, array of maps, hash of maps. */
#include "fd_array.h"

#include <pthread.h>

#include "maps/map_test.h"
#include "maps/perf_array.h"
#include "maps/prog_array.h"

static int put(struct map *map, uint32_t key, uint32_t fd)
{
	return map_sys_update(map, &key, &fd, 0);
}

/* B5.08: a missing or too large index finds no program, and the caller falls through. */
static void b5_08_prog_array(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0);
	struct prog_obj *prog = make_prog(0), *other = make_prog(0), *jited = make_prog(0);
	const struct step steps[] = {
		{ LOOKUP, 0, 0, 0, -ENOENT },
		{ UPDATE, 0, FD, 2, -EINVAL },
		{ UPDATE, 4, FD, 0, -E2BIG },
		{ UPDATE, 0, FD + 9, 0, -EBADF },
		{ UPDATE, 0, FD, 0, 0 },
		{ LOOKUP, 0, prog->obj.id, 0, 0 },
		{ UPDATE, 1, FD + 2, 0, -EINVAL },
		{ UPDATE, 0, FD + 1, 0, 0 },
		{ LOOKUP, 0, other->obj.id, 0, 0 },
		{ DELETE, 4, 0, 0, -E2BIG },
		{ DELETE, 1, 0, 0, -ENOENT },
	};

	jited->traits.jited = true;
	fd_objs[0] = &prog->obj;
	fd_objs[1] = &other->obj;
	fd_objs[2] = &jited->obj;
	RUN(map, steps);
	assert_ptr_equal(prog_array_lookup(map, 0), other);
	assert_null(prog_array_lookup(map, 1));
	assert_null(prog_array_lookup(map, 4));
	assert_null(prog_array_lookup(map, UINT32_MAX));
	assert_null(map->ops->lookup);
	/* The last descriptor empties it, though a program may still hold the map. */
	map_uref_get(map);
	map_uref_get(map);
	map_uref_put(map);
	assert_non_null(prog_array_lookup(map, 0));
	map_uref_put(map);
	assert_null(prog_array_lookup(map, 0));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(atomic_load(&fd_objs[i]->refs), 1);
		obj_put(fd_objs[i]);
		fd_objs[i] = NULL;
	}
	map_put(map);
}

static void owner_is_the_first_program(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_DEVMAP, 4, 8, 4, 0);
	struct prog_traits frags = { BPF_PROG_TYPE_XDP, BPF_XDP, true, true };
	struct prog_traits plain = { BPF_PROG_TYPE_XDP, BPF_XDP_DEVMAP, true, false };

	assert_true(map_owner_compatible(map, &frags));
	assert_false(map_owner_compatible(map, &plain));
	plain.xdp_has_frags = true;
	assert_true(map_owner_compatible(map, &plain));
	map_put(map);
}

static int lost(struct perf_sink *sink, struct map *map, const void *data, uint32_t size,
		const void *packet, uint32_t packet_size)
{
	return -ENOSPC;
}

static void perf_event_array(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 2, 0);
	struct map *keeps = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 2, BPF_F_PRESERVE_ELEMS);
	struct perf_sink *sink = calloc(1, sizeof(*sink));
	uint32_t key = 0, v;

	obj_init(&sink->obj, OBJ_PERF, release_prog);
	sink->output = lost;
	fd_objs[0] = &sink->obj;
	assert_int_equal(put(map, 0, FD), 0);
	assert_int_equal(put(map, 2, FD), -E2BIG);
	assert_int_equal(map_sys_lookup(map, &key, &v, 0), -ENOTSUPP);
	assert_ptr_equal(perf_array_lookup(map, 0), sink);
	assert_null(perf_array_lookup(map, 2));
	assert_int_equal(perf_array_set(keeps, 1, sink), 0);
	assert_int_equal(perf_array_set(keeps, 2, sink), -E2BIG);
	map_uref_get(map);
	map_uref_put(map);
	map_uref_get(keeps);
	map_uref_put(keeps);
	assert_null(perf_array_lookup(map, 0));
	assert_ptr_equal(perf_array_lookup(keeps, 1), sink);
	map_put(map);
	map_put(keeps);
	assert_int_equal(atomic_load(&sink->obj.refs), 1);
	obj_put(&sink->obj);
	fd_objs[0] = NULL;
}

static struct map *make_outer(uint32_t type, struct map *inner, uint32_t max)
{
	struct map_attr attr = {
		.type = type, .key_size = 4, .value_size = 4, .max_entries = max, .inner = inner
	};
	struct map *map = NULL;

	assert_int_equal(map_create(&map, &attr), 0);
	return map;
}

/* B5.06: a per-CPU LRU in an array of maps, found by CPU; an empty slot is NULL. */
static void b5_06_lru_in_array_of_maps(void **state)
{
	struct map *lru = make_map(BPF_MAP_TYPE_LRU_PERCPU_HASH, 4, 8, 16, 0), *found;
	struct map *outer = make_outer(BPF_MAP_TYPE_ARRAY_OF_MAPS, lru, 4);
	uint32_t cpu = 0, key = 5, id;
	uint64_t v = 9, *got;

	fd_objs[0] = &lru->obj;
	assert_int_equal(put(outer, 0, FD), 0);
	found = outer->ops->lookup(outer, &cpu, 0);
	assert_ptr_equal(found, lru);
	assert_int_equal(found->ops->update(found, &key, &v, 0, cpu), 0);
	got = found->ops->lookup(found, &key, cpu);
	assert_int_equal(*got, 9);
	assert_int_equal(map_sys_lookup(outer, &cpu, &id, 0), 0);
	assert_int_equal(id, lru->obj.id);
	for (cpu = 1; cpu < 6; cpu++)
		assert_null(outer->ops->lookup(outer, &cpu, 0));
	/* The inner map lives on in the outer one. */
	fd_objs[0] = NULL;
	map_put(lru);
	assert_ptr_equal(outer->ops->lookup(outer, &(uint32_t){ 0 }, 0), lru);
	map_put(outer);
}

static void inner_maps_must_fit(void **state)
{
	struct map *array = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 2, 0);
	struct map *longer = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 3, 0);
	struct map *any = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 2, BPF_F_INNER_MAP);
	struct map *any_longer = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 3, BPF_F_INNER_MAP);
	struct map *ro = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 2, BPF_F_RDONLY);
	struct map *outer = make_outer(BPF_MAP_TYPE_HASH_OF_MAPS, array, 4);
	struct map *outer_any = make_outer(BPF_MAP_TYPE_ARRAY_OF_MAPS, any, 4);
	struct map_attr attr = { .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
				 .key_size = 4,
				 .value_size = 4,
				 .max_entries = 1,
				 .inner = outer };
	struct map *nested, *maps[] = { array, longer, any, any_longer, ro };

	for (size_t i = 0; i < 5; i++)
		fd_objs[i] = &maps[i]->obj;
	assert_int_equal(put(outer, 1, FD), 0);
	assert_int_equal(put(outer, 1, FD + 1), -EINVAL);
	assert_int_equal(put(outer, 1, FD + 2), -EINVAL);
	assert_int_equal(put(outer, 2, FD + 4), 0);
	assert_int_equal(put(outer_any, 1, FD + 3), 0);
	assert_int_equal(map_create(&nested, &attr), -EINVAL);
	attr.inner = NULL;
	assert_int_equal(map_create(&nested, &attr), -EINVAL);
	for (size_t i = 0; i < 5; i++) {
		fd_objs[i] = NULL;
		map_put(maps[i]);
	}
	map_put(outer);
	map_put(outer_any);
}

/* Replacing and deleting inner maps while a worker looks them up and reads them. */
static _Atomic bool stop;

static void *reader(void *arg)
{
	struct map *outer = arg, *inner;
	struct qsbr_reader self;
	uint32_t key = 0, zero = 0, *v;
	void *wrong = NULL;

	qsbr_register(&self);
	while (!atomic_load(&stop)) {
		inner = outer->ops->lookup(outer, &key, 0);
		v = inner ? inner->ops->lookup(inner, &zero, 0) : NULL;
		if (inner && (!v || __atomic_load_n(v, __ATOMIC_RELAXED) != 0))
			wrong = inner;
		qsbr_quiescent(&self);
	}
	qsbr_unregister(&self);
	return wrong;
}

static void inner_maps_come_and_go(void **state)
{
	static const uint32_t types[] = { BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_HASH_OF_MAPS };

	for (size_t i = 0; i < 2; i++) {
		struct map *inner = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0);
		struct map *outer = make_outer(types[i], inner, 2);
		pthread_t thread;
		uint32_t key = 0;
		void *wrong;

		map_put(inner);
		atomic_store(&stop, false);
		assert_int_equal(pthread_create(&thread, NULL, reader, outer), 0);
		for (uint32_t n = 0; n < 1000; n++) {
			inner = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0);
			fd_objs[0] = &inner->obj;
			assert_int_equal(put(outer, 0, FD), 0);
			fd_objs[0] = NULL;
			map_put(inner);
			if (n % 3 == 0)
				assert_int_equal(map_sys_delete(outer, &key), 0);
		}
		atomic_store(&stop, true);
		pthread_join(thread, &wrong);
		assert_null(wrong);
		map_put(outer);
	}
	qsbr_synchronize();
}

static int setup(void **state)
{
	obj_set_fd_resolver(resolve_fd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b5_08_prog_array),    cmocka_unit_test(owner_is_the_first_program),
		cmocka_unit_test(perf_event_array),    cmocka_unit_test(b5_06_lru_in_array_of_maps),
		cmocka_unit_test(inner_maps_must_fit), cmocka_unit_test(inner_maps_come_and_go),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
