/* SPDX-License-Identifier: BSD-2-Clause */
/* weir's bpf(2), called as libbpf calls it: through syscall(2), close(2), mmap(2) that the linker redirects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cpu.h"
#include "bpf/btf.h"
#include "bpf/sys.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"

#define ATTR_END(field) (offsetof(union bpf_attr, field) + sizeof(((union bpf_attr *)0)->field))

static int create(uint32_t type, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create((enum bpf_map_type)type, "a_map", 4, 8, 4, &opts);

	assert_true(fd > 2);
	return fd;
}

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	return info.id;
}

static bool id_exists(uint32_t id)
{
	struct obj *obj = obj_by_id(OBJ_MAP, id);

	obj_put(obj);
	return obj;
}

struct attr_case {
	const char *name;
	int cmd;
	uint32_t size;
	uint32_t set; /* the byte of the attr that is set, or UINT32_MAX */
	int rc;
};

static const struct attr_case attr_cases[] = {
	{ "unknown command", 999, 16, UINT32_MAX, -EINVAL },
	{ "negative command", -1, 16, UINT32_MAX, -EINVAL },
	{ "larger than a page", BPF_MAP_CREATE, 4097, UINT32_MAX, -E2BIG },
	{ "byte beyond the union", BPF_MAP_CREATE, 4096, sizeof(union bpf_attr), -E2BIG },
	{ "byte after the last field", BPF_MAP_LOOKUP_ELEM, sizeof(union bpf_attr), ATTR_END(flags),
	  -EINVAL },
	{ "flags of a delete", BPF_MAP_DELETE_ELEM, sizeof(union bpf_attr),
	  offsetof(union bpf_attr, flags), -EINVAL },
	{ "no attr at all", BPF_MAP_CREATE, 0, UINT32_MAX, -EINVAL },
	{ "closed descriptor", BPF_MAP_FREEZE, 4, 2, -EBADF },
	{ "end of the ids", BPF_LINK_GET_NEXT_ID, 16, UINT32_MAX, -ENOENT },
	{ "id 0", BPF_MAP_GET_FD_BY_ID, 16, UINT32_MAX, -ENOENT },
};

static void test_attr_rules(void **state)
{
	for (size_t i = 0; i < sizeof(attr_cases) / sizeof(attr_cases[0]); i++) {
		const struct attr_case *c = &attr_cases[i];
		union {
			union bpf_attr attr;
			uint8_t bytes[8192];
		} u = { .bytes = { 0 } };
		long rc;

		if (c->set != UINT32_MAX)
			u.bytes[c->set] = 1;
		rc = sys_bpf(c->cmd, &u.attr, c->size);
		if (rc != c->rc)
			fail_msg("%s: %ld, not %d", c->name, rc, c->rc);
	}
}

static void test_descriptor_kinds(void **state)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info), key = 0;
	int pipes[2], map = create(BPF_MAP_TYPE_ARRAY, 0);

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(bpf_map_lookup_elem(pipes[0], &key, &key), -EINVAL);
	assert_int_equal(bpf_obj_get_info_by_fd(pipes[0], &info, &len), -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(bpf_map_lookup_elem(pipes[0], &key, &key), -EBADF);
	/* the one exception: EBADFD */
	assert_int_equal(bpf_obj_get_info_by_fd(pipes[0], &info, &len), -EBADFD);
	assert_int_equal(bpf_prog_bind_map(map, map, NULL), -EINVAL);
	assert_true(fcntl(map, F_GETFD) & FD_CLOEXEC);
	close(map);
}

/* The object lives as long as one descriptor of it, whatever its number. */
static void test_lifetime(void **state)
{
	int fd = create(BPF_MAP_TYPE_HASH, 0), copy, third;
	uint32_t id = map_id(fd);

	copy = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	assert_true(copy >= 10);
	close(fd);
	assert_true(id_exists(id));
	assert_int_equal(map_id(copy), id);
	third = dup3(copy, open("/dev/null", O_RDONLY), O_CLOEXEC);
	close(copy);
	assert_int_equal(map_id(third), id);
	/* a number that is reused for something else */
	close(third);
	assert_false(id_exists(id));
	fd = open("/dev/null", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_freeze(fd), -EINVAL);
	close(fd);
}

/* dup3 onto a descriptor of weir's closes that one. */
static void test_dup3_over(void **state)
{
	int a = create(BPF_MAP_TYPE_HASH, 0), b = create(BPF_MAP_TYPE_HASH, 0);
	uint32_t id_a = map_id(a), id_b = map_id(b);

	assert_int_equal(dup3(a, b, O_CLOEXEC), b);
	assert_false(id_exists(id_b));
	assert_int_equal(map_id(b), id_a);
	close(a);
	assert_true(id_exists(id_a));
	close(b);
	assert_false(id_exists(id_a));
}

static void test_access_modes(void **state)
{
	uint32_t key = 1;
	uint64_t value = 7, got = 0;
	int ro = create(BPF_MAP_TYPE_ARRAY, BPF_F_RDONLY), rw, wo;

	assert_int_equal(bpf_map_update_elem(ro, &key, &value, BPF_ANY), -EPERM);
	assert_int_equal(bpf_map_freeze(ro), -EPERM);
	rw = bpf_map_get_fd_by_id(map_id(ro));
	assert_int_equal(bpf_map_update_elem(rw, &key, &value, BPF_ANY), 0);
	assert_int_equal(bpf_map_lookup_elem(ro, &key, &got), 0);
	assert_int_equal(got, 7);
	wo = create(BPF_MAP_TYPE_ARRAY, BPF_F_WRONLY);
	assert_int_equal(bpf_map_lookup_elem(wo, &key, &got), -EPERM);
	assert_int_equal(bpf_map_get_next_key(wo, NULL, &key), -EPERM);
	assert_int_equal(bpf_map_update_elem(wo, &key, &value, BPF_ANY), 0);
	close(ro);
	close(rw);
	close(wo);
}

struct create_case {
	const char *name;
	uint32_t type, flags, key_size, value_size, max_entries;
	int rc;
	const char *word; /* of the text */
};

static const struct create_case create_cases[] = {
	{ "both modes", BPF_MAP_TYPE_ARRAY, BPF_F_RDONLY | BPF_F_WRONLY, 4, 4, 1, -EINVAL, "both" },
	{ "unknown type", 77, 0, 4, 4, 1, -EINVAL, "\"a_map\" is of type 77 (unknown)" },
	{ "known to libbpf", BPF_MAP_TYPE_SOCKHASH, 0, 4, 4, 1, -EINVAL, "sockhash" },
	{ "no entries", BPF_MAP_TYPE_ARRAY, 0, 4, 4, 0, -EINVAL, "no max_entries" },
	{ "key of an array", BPF_MAP_TYPE_ARRAY, 0, 8, 4, 1, -EINVAL, "keys of 8 bytes" },
	{ "no template", BPF_MAP_TYPE_HASH_OF_MAPS, 0, 4, 4, 1, -EBADF, "template" },
};

static void test_create_errors(void **state)
{
	for (size_t i = 0; i < sizeof(create_cases) / sizeof(create_cases[0]); i++) {
		const struct create_case *c = &create_cases[i];
		LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = c->flags, .inner_map_fd = 9999);
		struct err err;
		int rc;

		rc = bpf_map_create((enum bpf_map_type)c->type, "a_map", c->key_size, c->value_size,
				    c->max_entries, &opts);
		sys_take_error(&err);
		if (rc != c->rc || !strstr(err.text, c->word))
			fail_msg("%s: %d, \"%s\"", c->name, rc, err.text);
		sys_take_error(&err);
		assert_string_equal(err.text, "");
	}
}

static void test_names(void **state)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};

	memcpy(attr.map_name, "a b", 3);
	assert_int_equal(sys_bpf(BPF_MAP_CREATE, &attr, sizeof(attr)), -EINVAL);
	memset(attr.map_name, 'x', sizeof(attr.map_name));
	assert_int_equal(sys_bpf(BPF_MAP_CREATE, &attr, sizeof(attr)), -EINVAL);
}

/* Values of a BPF_F_MMAPABLE array are the memory behind the descriptor; a writable mapping bars a freeze. */
static void test_mmap(void **state)
{
	int fd = create(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE), plain = create(BPF_MAP_TYPE_ARRAY, 0);
	int hash = create(BPF_MAP_TYPE_HASH, 0), rw = PROT_READ | PROT_WRITE;
	uint32_t key = 2, id = map_id(fd);
	uint64_t *values, value;

	assert_ptr_equal(mmap(NULL, 4096, rw, MAP_PRIVATE, fd, 0), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, 8192, rw, MAP_SHARED, fd, 0), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, 4096, rw, MAP_SHARED, plain, 0), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, 4096, rw, MAP_SHARED, hash, 0), MAP_FAILED);
	assert_int_equal(errno, ENOTSUPP);
	values = mmap(NULL, 4096, rw, MAP_SHARED, fd, 0);
	assert_true(values != MAP_FAILED);
	values[2] = 77;
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &value), 0);
	assert_int_equal(value, 77);
	assert_int_equal(bpf_map_freeze(fd), -EBUSY);
	assert_int_equal(munmap(values, 4096), 0);
	assert_int_equal(bpf_map_freeze(fd), 0);
	assert_int_equal(bpf_map_freeze(fd), -EPERM);
	assert_int_equal(bpf_map_update_elem(fd, &key, &value, 0), -EPERM);
	assert_ptr_equal(mmap(NULL, 4096, rw, MAP_SHARED, fd, 0), MAP_FAILED);
	assert_int_equal(errno, EPERM);
	values = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_int_equal(values[2], 77);
	munmap(values, 4096);
	close(fd);
	assert_false(id_exists(id));
	close(plain);
	close(hash);
}

static int load_insns(uint32_t type, const struct bpf_insn *insns, size_t n)
{
	return bpf_prog_load((enum bpf_prog_type)type, "a_prog", "GPL", insns, n, NULL);
}

#define MOV0                                                                                       \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS                               \
	}
#define EXIT                                                                                       \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}
#define LDDW2                                                                                      \
	{                                                                                          \
		.code = 0                                                                          \
	}

static void test_prog_types(void **state)
{
	static const uint32_t probes[] = { BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_TRACEPOINT,
					   BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_CGROUP_SOCK };
	const struct bpf_insn insns[] = { MOV0, EXIT };
	struct err err;
	int fd;

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		fd = load_insns(probes[i], insns, 2);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(load_insns(BPF_PROG_TYPE_SCHED_CLS, insns, 2), -EINVAL);
	sys_take_error(&err);
	assert_non_null(strstr(err.text, "sched_cls"));
	assert_int_equal(load_insns(BPF_PROG_TYPE_XDP, insns, 0), -E2BIG);
}

/* The maps of a program are found by descriptor, and listed by id. */
static void test_prog_maps(void **state)
{
	int map = create(BPF_MAP_TYPE_ARRAY, 0), fd;
	struct bpf_insn insns[] = { { .code = BPF_LD | BPF_IMM | BPF_DW,
				      .dst_reg = 1,
				      .src_reg = BPF_PSEUDO_MAP_FD,
				      .imm = map },
				    LDDW2,
				    MOV0,
				    EXIT };
	uint32_t ids[2] = { 0 }, len, id = map_id(map);
	struct bpf_prog_info info = { .map_ids = (uintptr_t)ids, .nr_map_ids = 2 };

	fd = load_insns(BPF_PROG_TYPE_XDP, insns, 4);
	assert_true(fd >= 0);
	close(map);
	assert_true(id_exists(id));
	len = sizeof(info);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	assert_int_equal(info.nr_map_ids, 1);
	assert_int_equal(ids[0], id);
	assert_int_equal(info.type, BPF_PROG_TYPE_XDP);
	assert_string_equal(info.name, "a_prog");
	close(fd);
	assert_false(id_exists(id));
	assert_int_equal(load_insns(BPF_PROG_TYPE_XDP, insns, 4), -EBADF);
}

static void test_value_address(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, none);
	int hash = create(BPF_MAP_TYPE_HASH, 0), four = create(BPF_MAP_TYPE_ARRAY, 0);
	int one = bpf_map_create(BPF_MAP_TYPE_ARRAY, "one", 4, 32, 1, &none);
	const struct {
		int fd, off, rc;
	} cases[] = {
		{ hash, 0, -EINVAL }, { four, 0, -ENOTSUPP }, { one, 32, -EINVAL }, { one, 31, 0 }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bpf_insn insns[] = { { .code = BPF_LD | BPF_IMM | BPF_DW,
					      .dst_reg = 1,
					      .src_reg = BPF_PSEUDO_MAP_VALUE,
					      .imm = cases[i].fd },
					    { .imm = cases[i].off },
					    MOV0,
					    EXIT };
		int fd = load_insns(BPF_PROG_TYPE_XDP, insns, 4);

		assert_int_equal(fd < 0 ? fd : 0, cases[i].rc);
		if (fd >= 0)
			close(fd);
	}
	close(hash);
	close(four);
	close(one);
}

struct run_case {
	const char *name;
	uint32_t data_size, flags, ctx_data, ctx_data_end, queue, out_size;
	int rc;
};

static const struct run_case run_cases[] = {
	{ "plain", 60, 0, 0, 60, 0, 256, 0 },
	{ "with metadata", 64, 0, 4, 64, 0, 256, 0 },
	{ "odd metadata", 64, 0, 2, 64, 0, 256, -EINVAL },
	{ "too much metadata", 400, 0, 220, 400, 0, 256, -EINVAL },
	{ "shorter than Ethernet", 13, 0, 0, 13, 0, 256, -EINVAL },
	{ "context of another length", 60, 0, 0, 59, 0, 256, -EINVAL },
	{ "queue without interface", 60, 0, 0, 60, 1, 256, -EINVAL },
	{ "larger than a page", 3521, 0, 0, 3521, 0, 0, -EINVAL },
	{ "unknown flag", 60, 1, 0, 60, 0, 256, -EINVAL },
	{ "no room", 60, 0, 0, 60, 0, 59, -ENOSPC },
};

static void test_prog_run(void **state)
{
	const struct bpf_insn insns[] = { MOV0, EXIT };
	static uint8_t in[4096] = { 7 }, out[4096];
	int prog = load_insns(BPF_PROG_TYPE_XDP, insns, 2);

	for (size_t i = 0; i < sizeof(run_cases) / sizeof(run_cases[0]); i++) {
		const struct run_case *c = &run_cases[i];
		struct xdp_md ctx = { .data = c->ctx_data,
				      .data_end = c->ctx_data_end,
				      .rx_queue_index = c->queue };
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in, .data_size_in = c->data_size,
			    .data_out = out, .data_size_out = c->out_size, .ctx_in = &ctx,
			    .ctx_size_in = sizeof(ctx), .repeat = 3, .flags = c->flags);
		int rc = bpf_prog_test_run_opts(prog, &opts);

		if (rc != c->rc)
			fail_msg("%s: %d, not %d", c->name, rc, c->rc);
		if (rc && rc != -ENOSPC)
			continue;
		assert_int_equal(opts.retval, XDP_PASS);
		assert_int_equal(opts.data_size_out, c->data_size);
		assert_int_equal(out[0], 7);
	}
	close(prog);
}

/* Info: as many bytes as the caller has room for, and no garbage beyond what is known. */
static void test_info_sizes(void **state)
{
	struct {
		struct bpf_map_info info;
		uint8_t more[8];
	} big = { .more = { 0 } };
	uint32_t len = sizeof(big), two[2] = { 0, 0 };
	int fd = create(BPF_MAP_TYPE_DEVMAP_HASH, 0);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &big, &len), 0);
	assert_int_equal(len, sizeof(big.info));
	assert_int_equal(big.info.map_flags, 0x80);
	big.more[3] = 1;
	len = sizeof(big);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &big, &len), -E2BIG);
	len = 4;
	assert_int_equal(bpf_obj_get_info_by_fd(fd, two, &len), 0);
	assert_int_equal(two[0], BPF_MAP_TYPE_DEVMAP_HASH);
	assert_int_equal(two[1], 0);
	assert_int_equal(len, 4);
	close(fd);
}

static void test_next_id(void **state)
{
	int a = create(BPF_MAP_TYPE_ARRAY, 0), b = create(BPF_MAP_TYPE_ARRAY, 0), fd;
	uint32_t id_a = map_id(a), id_b = map_id(b), next;

	assert_int_equal(id_b, id_a + 1);
	assert_int_equal(bpf_map_get_next_id(id_a, &next), 0);
	assert_int_equal(next, id_b);
	assert_int_equal(bpf_map_get_next_id(id_b, &next), -ENOENT);
	fd = bpf_map_get_fd_by_id(id_b);
	assert_int_equal(map_id(fd), id_b);
	close(fd);
	close(a);
	close(b);
}

/* Pins are kept in the process, under weir's directory and nowhere else. */
static void test_pins(void **state)
{
	int fd = create(BPF_MAP_TYPE_ARRAY, 0), again;
	uint32_t id = map_id(fd);
	struct statfs st;

	assert_int_equal(bpf_obj_pin(fd, "/sys/fs/bpf/x"), -EPERM);
	assert_int_equal(pin_set_dir("/weir/pins"), 0);
	assert_int_equal(bpf_obj_pin(fd, "/weir/pinsx/x"), -EPERM);
	assert_int_equal(bpf_obj_pin(fd, "/weir/pins/a.b"), -EPERM);
	assert_int_equal(bpf_obj_pin(fd, "/weir/pins/x"), 0);
	assert_int_equal(bpf_obj_pin(fd, "/weir/pins/x"), -EEXIST);
	assert_int_equal(bpf_obj_get("/weir/pins/y"), -ENOENT);
	close(fd);
	again = bpf_obj_get("/weir/pins/x");
	assert_int_equal(map_id(again), id);
	close(again);
	assert_true(id_exists(id));
	assert_int_equal(statfs("/weir/pins", &st), 0);
	assert_int_equal(st.f_type, 0xcafe4a11);
	assert_int_equal(pin_set_dir(NULL), 0);
	assert_false(id_exists(id));
	assert_int_equal(statfs("/weir/pins", &st), -1);
}

static void test_btf(void **state)
{
	struct btf *btf = btf__new_empty();
	uint32_t size, len;
	const void *raw;
	int fd, map;
	struct bpf_btf_info info = { 0 };
	struct bpf_map_info map_info = { 0 };
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	assert_int_equal(btf__add_int(btf, "u32", 4, 0), 1);
	assert_int_equal(btf__add_int(btf, "u64", 8, 0), 2);
	raw = btf__raw_data(btf, &size);
	fd = bpf_btf_load(raw, size, NULL);
	assert_true(fd >= 0);
	len = sizeof(info);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	assert_int_equal(info.btf_size, size);
	opts.btf_fd = (uint32_t)fd;
	opts.btf_key_type_id = 1;
	opts.btf_value_type_id = 2;
	map = bpf_map_create(BPF_MAP_TYPE_HASH, "typed", 4, 8, 4, &opts);
	assert_true(map >= 0);
	len = sizeof(map_info);
	assert_int_equal(bpf_obj_get_info_by_fd(map, &map_info, &len), 0);
	assert_int_equal(map_info.btf_id, info.id);
	assert_int_equal(map_info.btf_value_type_id, 2);
	/* types of other sizes, a type without BTF, a key without a value */
	assert_int_equal(bpf_map_create(BPF_MAP_TYPE_HASH, "typed", 8, 8, 4, &opts), -EINVAL);
	assert_int_equal(bpf_map_create(BPF_MAP_TYPE_DEVMAP, "typed", 4, 8, 4, &opts), -ENOTSUPP);
	opts.btf_value_type_id = 0;
	assert_int_equal(bpf_map_create(BPF_MAP_TYPE_HASH, "typed", 4, 8, 4, &opts), -EINVAL);
	assert_int_equal(bpf_btf_load(raw, size - 1, NULL), -EINVAL);
	close(map);
	close(fd);
	btf__free(btf);
}

/* Per-CPU values have weir's number of CPUs, which libbpf reads from the file of the possible ones. */
static void test_cpus(void **state)
{
	assert_int_equal(libbpf_num_possible_cpus(), cpu_count());
}

/* Descriptors that are not weir's are none of its business. */
static void test_transparent(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY), copy;
	uint8_t *bytes;

	assert_true(fd >= 0);
	bytes = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(bytes[1], 'E');
	assert_int_equal(munmap(bytes, 4096), 0);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(close(copy), 0);
	assert_int_equal(close(copy), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(syscall(SYS_getpid), getpid());
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attr_rules),    cmocka_unit_test(test_descriptor_kinds),
		cmocka_unit_test(test_lifetime),      cmocka_unit_test(test_dup3_over),
		cmocka_unit_test(test_access_modes),  cmocka_unit_test(test_create_errors),
		cmocka_unit_test(test_names),	      cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_prog_types),    cmocka_unit_test(test_prog_maps),
		cmocka_unit_test(test_value_address), cmocka_unit_test(test_info_sizes),
		cmocka_unit_test(test_prog_run),      cmocka_unit_test(test_next_id),
		cmocka_unit_test(test_pins),	      cmocka_unit_test(test_btf),
		cmocka_unit_test(test_cpus),	      cmocka_unit_test(test_transparent),
	};

	return cmocka_run_group_tests_name("sys", tests, NULL, NULL);
}
