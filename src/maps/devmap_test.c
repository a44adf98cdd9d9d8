/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of devmap, devmap hash, cpumap and xskmap. */
#include "devmap.h"

#include <pthread.h>

#include "maps/cpumap.h"
#include "maps/map_test.h"

#define DEVMAP	    BPF_MAP_TYPE_DEVMAP
#define DEVMAP_HASH BPF_MAP_TYPE_DEVMAP_HASH

static bool below_100(uint32_t ifindex)
{
	return ifindex < 100;
}

static int put(struct map *map, uint32_t key, uint32_t ifindex, int fd, uint64_t flags)
{
	struct bpf_devmap_val val = { .ifindex = ifindex, .bpf_prog.fd = fd };

	return map_sys_update(map, &key, &val, flags);
}

static void devmap_ops_as_kernel(void **state)
{
	static const struct step steps[] = {
		{ LOOKUP, 0, 0, 0, -ENOENT }, { UPDATE, 0, 3, 0, 0 },
		{ LOOKUP, 0, 3, 0, 0 },	      { UPDATE, 0, 200, 0, -EINVAL },
		{ UPDATE, 9, 3, 3, -EINVAL }, { UPDATE, 9, 3, 1, -E2BIG },
		{ UPDATE, 1, 3, 1, -EEXIST }, { UPDATE, 1, 3, BPF_EXIST, 0 },
		{ UPDATE, 1, 0, 0, 0 },	      { LOOKUP, 1, 0, 0, -ENOENT },
		{ DELETE, 9, 0, 0, -EINVAL }, { DELETE, 1, 0, 0, 0 },
		{ NEXT, NONE, 0, 0, 0 },      { NEXT, 3, 0, 0, -ENOENT },
		{ POP, 0, 0, 0, -ENOTSUPP },
	};
	static const struct step hash_steps[] = {
		{ UPDATE, 5, 3, 0, 0 },	      { UPDATE, 5, 3, 1, -EEXIST },
		{ UPDATE, 5, 0, 0, -EINVAL }, { UPDATE, 77, 4, BPF_EXIST, 0 },
		{ UPDATE, 6, 4, 0, 0 },	      { UPDATE, 9, 4, 0, 0 },
		{ UPDATE, 10, 4, 0, -E2BIG }, { UPDATE, 9, 5, 0, 0 },
		{ LOOKUP, 9, 5, 0, 0 },	      { NEXT, NONE, 9, 0, 0 },
		{ NEXT, 9, 77, 0, 0 },	      { NEXT, 77, 5, 0, 0 },
		{ NEXT, 5, 6, 0, 0 },	      { NEXT, 6, 0, 0, -ENOENT },
		{ NEXT, 1000, 9, 0, 0 },      { DELETE, 1000, 0, 0, -ENOENT },
		{ DELETE, 9, 0, 0, 0 },	      { NEXT, NONE, 77, 0, 0 },
	};
	struct map *map = make_map(DEVMAP, 4, 4, 4, 0), *hash = make_map(DEVMAP_HASH, 4, 4, 4, 0);

	assert_int_equal(map->flags, BPF_F_RDONLY_PROG);
	assert_true(map->area.read_only);
	RUN(map, steps);
	RUN(hash, hash_steps);
	map_put(map);
	map_put(hash);
}

/* What a program sees: a value in the area, with the program's id. */
static void program_in_an_entry(void **state)
{
	static const uint32_t types[] = { DEVMAP, DEVMAP_HASH };
	struct prog_obj *plain = make_prog(0), *egress = make_prog(BPF_XDP_DEVMAP);
	struct prog_obj *frags = make_prog(BPF_XDP_DEVMAP);

	frags->traits.xdp_has_frags = true;
	fd_objs[0] = &plain->obj;
	fd_objs[1] = &egress->obj;
	fd_objs[2] = &frags->obj;
	for (size_t i = 0; i < 2; i++) {
		struct map *map = make_map(types[i], 4, 8, 4, 0);
		struct bpf_devmap_val *val;
		struct dev_entry *e;
		uint32_t key = 2;

		assert_int_equal(put(map, 2, 3, FD, 0), -EINVAL);
		assert_int_equal(put(map, 2, 3, FD + 9, 0), -EINVAL);
		assert_int_equal(put(map, 2, 0, FD + 1, 0), -EINVAL);
		assert_int_equal(put(map, 2, 3, FD + 1, 0), 0);
		assert_int_equal(put(map, 3, 3, FD + 2, 0), -EINVAL);
		e = devmap_lookup(map, 2);
		assert_ptr_equal(e->prog, egress);
		assert_int_equal(e->map_id, map->obj.id);
		val = map->ops->lookup(map, &key, 0);
		assert_ptr_equal(area_find((uintptr_t)val), &map->area);
		assert_int_equal(val->ifindex, 3);
		assert_int_equal(val->bpf_prog.id, egress->obj.id);
		/* Negative: no program. */
		assert_int_equal(put(map, 2, 4, -1, 0), 0);
		assert_null(devmap_lookup(map, 2)->prog);
		val = map->ops->lookup(map, &key, 0);
		assert_int_equal(val->ifindex, 4);
		assert_int_equal(val->bpf_prog.id, 0);
		assert_int_equal(put(map, 2, 3, FD + 1, 0), 0);
		map_put(map);
		assert_int_equal(atomic_load(&egress->obj.refs), 1);
	}
	for (size_t i = 0; i < 3; i++) {
		obj_put(fd_objs[i]);
		fd_objs[i] = NULL;
	}
}

static void walk_and_forget(void **state)
{
	static const uint32_t types[] = { DEVMAP, DEVMAP_HASH };

	for (size_t i = 0; i < 2; i++) {
		struct map *map = make_map(types[i], 4, 4, 8, 0);
		struct dev_entry *e;
		uint32_t n = 0, sum = 0;
		uint64_t pos = 0;

		for (uint32_t k = 0; k < 6; k++)
			assert_int_equal(put(map, k, 10 + k % 3, 0, 0), 0);
		while ((e = devmap_walk(map, &pos))) {
			n++;
			sum += e->index;
		}
		assert_int_equal(n, 6);
		assert_int_equal(sum, 15);
		devmap_forget_ifindex(11);
		assert_null(devmap_lookup(map, 1));
		assert_null(devmap_lookup(map, 4));
		assert_non_null(devmap_lookup(map, 2));
		for (pos = 0, n = 0; devmap_walk(map, &pos); n++)
			;
		assert_int_equal(n, 4);
		map_put(map);
	}
}

/* An entry that was taken out lives until its reader has been quiescent. */
static void entries_wait_for_readers(void **state)
{
	struct prog_obj *prog = make_prog(BPF_XDP_DEVMAP);
	struct map *map = make_map(DEVMAP_HASH, 4, 8, 4, 0);
	struct qsbr_reader self;
	struct dev_entry *e;
	uint32_t key = 1;

	qsbr_register(&self);
	fd_objs[0] = &prog->obj;
	assert_int_equal(put(map, 1, 3, FD, 0), 0);
	e = devmap_lookup(map, 1);
	assert_int_equal(map_sys_delete(map, &key), 0);
	assert_null(devmap_lookup(map, 1));
	assert_int_equal(e->val.ifindex, 3);
	assert_int_equal(atomic_load(&prog->obj.refs), 2);
	qsbr_quiescent(&self);
	qsbr_reclaim();
	assert_int_equal(atomic_load(&prog->obj.refs), 1);
	qsbr_unregister(&self);
	fd_objs[0] = NULL;
	obj_put(&prog->obj);
	map_put(map);
}

enum {
	OPS = 20000,
	KEYS = 8,
};

static _Atomic bool stop;

static void *redirect(void *arg)
{
	struct map *map = arg;
	struct qsbr_reader self;

	qsbr_register(&self);
	for (uint32_t k = 0; !atomic_load(&stop); k = (k + 1) % KEYS) {
		struct dev_entry *e = devmap_lookup(map, k);
		uint64_t pos = 0;

		if (e && (e->index != k || e->val.ifindex != k + 1))
			return map;
		while (devmap_walk(map, &pos))
			;
		qsbr_quiescent(&self);
	}
	qsbr_unregister(&self);
	return NULL;
}

static void changing_under_a_reader(void **state)
{
	static const uint32_t types[] = { DEVMAP, DEVMAP_HASH };

	rng_start("changing_under_a_reader");
	for (size_t i = 0; i < 2; i++) {
		struct map *map = make_map(types[i], 4, 4, KEYS, 0);
		pthread_t thread;
		void *wrong;

		atomic_store(&stop, false);
		assert_int_equal(pthread_create(&thread, NULL, redirect, map), 0);
		for (uint32_t op = 0; op < OPS; op++) {
			uint32_t k = rng_below(KEYS);

			if (rng_below(3))
				assert_int_equal(put(map, k, k + 1, 0, 0), 0);
			else
				map_sys_delete(map, &k);
		}
		atomic_store(&stop, true);
		pthread_join(thread, &wrong);
		assert_null(wrong);
		map_put(map);
	}
	qsbr_synchronize();
}

static void cpumap_ops_as_kernel(void **state)
{
	static const struct step steps[] = {
		{ UPDATE, 0, 64, 0, 0 },
		{ LOOKUP, 0, 64, 0, 0 },
		{ UPDATE, 0, 16385, 0, -EOVERFLOW },
		{ UPDATE, 1099, 64, 0, -ENODEV },
		{ UPDATE, 1100, 64, 0, -E2BIG },
		{ UPDATE, 0, 64, 1, -EEXIST },
		{ UPDATE, 0, 64, 3, -EINVAL },
		{ UPDATE, 0, 0, 0, 0 },
		{ LOOKUP, 0, 0, 0, -ENOENT },
		{ DELETE, 1100, 0, 0, -EINVAL },
		{ DELETE, 0, 0, 0, 0 },
	};
	struct map *map = make_map(BPF_MAP_TYPE_CPUMAP, 4, 4, 1100, 0);
	struct map *with = make_map(BPF_MAP_TYPE_CPUMAP, 4, 8, 2, 0);
	struct prog_obj *prog = make_prog(BPF_XDP_CPUMAP), *plain = make_prog(0);
	struct bpf_cpumap_val val = { .qsize = 8, .bpf_prog.fd = FD }, out;
	uint32_t key = 0;

	fd_objs[0] = &prog->obj;
	fd_objs[1] = &plain->obj;
	RUN(map, steps);
	assert_int_equal(map_sys_update(with, &key, &val, 0), 0);
	assert_ptr_equal(cpumap_lookup(with, 0)->prog, prog);
	assert_int_equal(map_sys_lookup(with, &key, &out, 0), 0);
	assert_int_equal(out.bpf_prog.id, prog->obj.id);
	val.bpf_prog.fd = FD + 1;
	assert_int_equal(map_sys_update(with, &key, &val, 0), -ENOMEM);
	assert_null(cpumap_lookup(with, 2));
	map_put(map);
	map_put(with);
	obj_put(&prog->obj);
	obj_put(&plain->obj);
	fd_objs[0] = fd_objs[1] = NULL;
}

/* B2.07: an xskmap is an array: key 64 of 64 entries is refused. */
static void b2_07_xskmap_key_out_of_range(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_XSKMAP, 4, 4, 64, 0);
	struct obj *xsk = calloc(1, sizeof(*xsk)), *other = calloc(1, sizeof(*other));
	const struct step steps[] = {
		{ UPDATE, 64, FD, 0, -E2BIG },
		{ UPDATE, 63, FD + 9, 0, -EBADF },
		{ UPDATE, 63, FD + 2, 0, -ENOTSOCK },
		{ UPDATE, 63, FD, BPF_EXIST, -ENOENT },
		{ UPDATE, 63, FD, BPF_NOEXIST, 0 },
		{ UPDATE, 63, FD, BPF_NOEXIST, 0 },
		{ UPDATE, 63, FD + 1, BPF_NOEXIST, -EEXIST },
		{ LOOKUP, 63, 0, 0, -EOPNOTSUPP },
		{ DELETE, 64, 0, 0, -EINVAL },
	};
	uint32_t key = 63, *queue;

	obj_init(xsk, OBJ_XSK, release_prog);
	obj_init(other, OBJ_XSK, release_prog);
	fd_objs[0] = xsk;
	fd_objs[1] = other;
	fd_objs[2] = &map->obj;
	RUN(map, steps);
	assert_ptr_equal(xskmap_lookup(map, 63), xsk);
	assert_null(xskmap_lookup(map, 64));
	queue = map->ops->lookup(map, &key, 0);
	assert_int_equal(*queue, 63);
	assert_int_equal(map_sys_delete(map, &key), 0);
	assert_null(map->ops->lookup(map, &key, 0));
	fd_objs[0] = fd_objs[1] = fd_objs[2] = NULL;
	obj_put(xsk);
	obj_put(other);
	map_put(map);
}

static int setup(void **state)
{
	obj_set_fd_resolver(resolve_fd);
	devmap_set_ifindex_known(below_100);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devmap_ops_as_kernel),
		cmocka_unit_test(program_in_an_entry),
		cmocka_unit_test(walk_and_forget),
		cmocka_unit_test(entries_wait_for_readers),
		cmocka_unit_test(changing_under_a_reader),
		cmocka_unit_test(cpumap_ops_as_kernel),
		cmocka_unit_test(b2_07_xskmap_key_out_of_range),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
