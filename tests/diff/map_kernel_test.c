/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps of src/maps against the kernel's: one table of operations for each type, done on both through
 * bpf(2)'s face, and each return value and each byte that comes out compared. Needs root; skips otherwise.
 * Linked without the wrappers of src/bpf, so that syscall(__NR_bpf) is the kernel.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "maps/devmap.h"
#include "maps/map.h"
#include "maps/perf_array.h"

enum {
	SKIP = 77, /* meson's exit code of a skipped test */
	BUF_SIZE = 1 << 16,
	WALK_MAX = 64,
	BATCH_MAX = 16,
	WEIR_FD = 1000, /* weir's descriptor of object s is WEIR_FD + s */
	FD_CLOSED = 900,
};

/* Objects that maps can hold, made on both sides. */
enum sym {
	NO_OBJ,
	CLOSED, /* a descriptor of nothing */
	XDP,
	XDP_2,
	XDP_DEVMAP,
	XDP_CPUMAP,
	FILTER, /* a socket filter */
	INNER,
	INNER_2,
	INNER_WIDE, /* of another value size */
	INNER_LONG, /* of another max_entries */
	INNER_HASH,
	INNER_HASH_2, /* of another max_entries, which a hash may have */
	PERF,
	XSK,
	XSK_2,
	N_SYMS,
};

enum op_kind {
	UPDATE,
	LOOKUP,
	DELETE,
	NEXT,
	POP,
	WALK, /* all keys by get_next_key, sorted */
	FREEZE,
	BATCH_UPDATE, /* key, key + 1 ... ; count in val[1] */
	BATCH_LOOKUP, /* from the beginning; count in val[1] */
	BATCH_LOOKUP_DEL,
	BATCH_DELETE,
};

#define NO_KEY UINT32_MAX
struct op {
	enum op_kind kind;
	uint32_t key[2];
	uint32_t val[2];
	uint64_t flags;
	enum sym obj;
};

struct table {
	const char *name;
	struct map_attr attr;
	enum sym inner;
	const struct op *ops;
	size_t n;
};

/* What an operation left behind. */
struct result {
	int rc;
	uint32_t size;
	uint8_t out[BUF_SIZE];
};

static int kernel_fds[N_SYMS];
static uint32_t kernel_ids[N_SYMS];
static struct obj *weir_objs[N_SYMS];

/* The kernel's side */

static int kbpf(int cmd, union bpf_attr *attr)
{
	long rc = syscall(__NR_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

static int kernel_create(const struct map_attr *a, enum sym inner)
{
	union bpf_attr attr = { .map_type = a->type,
				.key_size = a->key_size,
				.value_size = a->value_size,
				.max_entries = a->max_entries,
				.map_flags = a->flags,
				.map_extra = a->extra };

	attr.inner_map_fd = inner ? (uint32_t)kernel_fds[inner] : FD_CLOSED;
	return kbpf(BPF_MAP_CREATE, &attr);
}

static int kernel_elem(int cmd, int fd, const void *key, void *value, uint64_t flags)
{
	union bpf_attr attr = { .map_fd = (uint32_t)fd };

	attr.key = (uint64_t)(uintptr_t)key;
	/* A deletion has neither: they would be refused. */
	if (cmd != BPF_MAP_DELETE_ELEM) {
		attr.value = (uint64_t)(uintptr_t)value;
		attr.flags = flags;
	}
	return kbpf(cmd, &attr);
}

static int kernel_batch(int fd, int cmd, void *out_batch, void *keys, void *values, uint32_t *count,
			uint64_t flags)
{
	union bpf_attr attr = { .batch = { .map_fd = (uint32_t)fd, .count = *count } };
	int rc;

	attr.batch.out_batch = (uint64_t)(uintptr_t)out_batch;
	attr.batch.keys = (uint64_t)(uintptr_t)keys;
	attr.batch.values = (uint64_t)(uintptr_t)values;
	attr.batch.elem_flags = flags;
	rc = kbpf(cmd, &attr);
	*count = attr.batch.count;
	return rc;
}

static int kernel_prog(uint32_t type, uint32_t attach_type)
{
	/* r0 = 2; exit */
	struct bpf_insn insns[] = { { .code = 0xb7, .imm = 2 }, { .code = 0x95 } };
	union bpf_attr attr = { .prog_type = type, .insn_cnt = 2 };

	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	attr.expected_attach_type = attach_type;
	return kbpf(BPF_PROG_LOAD, &attr);
}

static int kernel_perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_BPF_OUTPUT,
					.sample_type = PERF_SAMPLE_RAW };

	return (int)syscall(__NR_perf_event_open, &attr, -1, 0, -1, 0);
}

static uint32_t kernel_id(int fd, bool prog)
{
	union {
		struct bpf_prog_info prog;
		struct bpf_map_info map;
	} info = { 0 };
	union bpf_attr attr = { .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info) } };

	attr.info.info = (uint64_t)(uintptr_t)&info;
	if (kbpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		return 0;
	return prog ? info.prog.id : info.map.id;
}

/* Objects on both sides */

static void release_obj(struct obj *obj)
{
	free(obj);
}

static struct obj *weir_prog(uint32_t type, uint32_t attach_type)
{
	struct prog_obj *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->traits.type = type;
	p->traits.expected_attach_type = attach_type;
	p->traits.jited = true;
	obj_init(&p->obj, OBJ_PROG, release_obj);
	return &p->obj;
}

static void make_progs(void)
{
	static const struct {
		enum sym sym;
		uint32_t type, attach_type;
	} progs[] = {
		{ XDP, BPF_PROG_TYPE_XDP, 0 },
		{ XDP_2, BPF_PROG_TYPE_XDP, 0 },
		{ XDP_DEVMAP, BPF_PROG_TYPE_XDP, BPF_XDP_DEVMAP },
		{ XDP_CPUMAP, BPF_PROG_TYPE_XDP, BPF_XDP_CPUMAP },
		{ FILTER, BPF_PROG_TYPE_SOCKET_FILTER, 0 },
	};

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++) {
		enum sym s = progs[i].sym;

		kernel_fds[s] = kernel_prog(progs[i].type, progs[i].attach_type);
		assert_true(kernel_fds[s] >= 0);
		kernel_ids[s] = kernel_id(kernel_fds[s], true);
		weir_objs[s] = weir_prog(progs[i].type, progs[i].attach_type);
	}
}

static void make_inner_maps(void)
{
	static const struct {
		enum sym sym;
		struct map_attr attr;
	} maps[] = {
		{ INNER, { .type = BPF_MAP_TYPE_ARRAY, 4, 4, 2 } },
		{ INNER_2, { .type = BPF_MAP_TYPE_ARRAY, 4, 4, 2 } },
		{ INNER_WIDE, { .type = BPF_MAP_TYPE_ARRAY, 4, 8, 2 } },
		{ INNER_LONG, { .type = BPF_MAP_TYPE_ARRAY, 4, 4, 3 } },
		{ INNER_HASH, { .type = BPF_MAP_TYPE_HASH, 4, 4, 2 } },
		{ INNER_HASH_2, { .type = BPF_MAP_TYPE_HASH, 4, 4, 3 } },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		enum sym s = maps[i].sym;
		struct map *map;

		kernel_fds[s] = kernel_create(&maps[i].attr, NO_OBJ);
		assert_true(kernel_fds[s] >= 0);
		kernel_ids[s] = kernel_id(kernel_fds[s], false);
		assert_int_equal(map_create(&map, &maps[i].attr), 0);
		weir_objs[s] = &map->obj;
	}
}

static int weir_resolve(int fd, enum obj_kind kind, struct obj **ret)
{
	struct obj *obj;

	if (fd < WEIR_FD || fd >= WEIR_FD + N_SYMS || !weir_objs[fd - WEIR_FD])
		return -EBADF;
	obj = weir_objs[fd - WEIR_FD];
	if (obj->kind != kind)
		return -EINVAL;
	*ret = obj_get(obj);
	return 0;
}

static bool known_ifindex(uint32_t ifindex)
{
	char name[IF_NAMESIZE];

	return if_indextoname(ifindex, name);
}

static int make_objects(void **state)
{
	make_progs();
	make_inner_maps();
	kernel_fds[CLOSED] = FD_CLOSED;
	kernel_fds[PERF] = kernel_perf();
	kernel_fds[XSK] = socket(AF_XDP, SOCK_RAW, 0);
	kernel_fds[XSK_2] = socket(AF_XDP, SOCK_RAW, 0);
	for (enum sym s = PERF; s <= XSK_2; s++) {
		struct perf_sink *o = calloc(1, sizeof(*o));

		assert_true(kernel_fds[s] >= 0);
		assert_non_null(o);
		obj_init(&o->obj, s == PERF ? OBJ_PERF : OBJ_XSK, release_obj);
		weir_objs[s] = &o->obj;
	}
	obj_set_fd_resolver(weir_resolve);
	devmap_set_ifindex_known(known_ifindex);
	return 0;
}

static int drop_objects(void **state)
{
	for (enum sym s = XDP; s < N_SYMS; s++) {
		close(kernel_fds[s]);
		obj_put(weir_objs[s]);
	}
	return 0;
}

/* One side: a kernel's descriptor, or a map of weir's. */
struct side {
	int fd;
	struct map *map;
};

static int elem(const struct side *s, int cmd, const void *key, void *value, uint64_t flags)
{
	if (!s->map)
		return kernel_elem(cmd, s->fd, key, value, flags);
	switch (cmd) {
	case BPF_MAP_LOOKUP_ELEM:
		return map_sys_lookup(s->map, key, value, flags);
	case BPF_MAP_UPDATE_ELEM:
		return map_sys_update(s->map, key, value, flags);
	case BPF_MAP_DELETE_ELEM:
		return map_sys_delete(s->map, key);
	case BPF_MAP_GET_NEXT_KEY:
		return map_sys_next_key(s->map, key, value);
	case BPF_MAP_LOOKUP_AND_DELETE_ELEM:
		return map_sys_lookup_and_delete(s->map, key, value, flags);
	default:
		return map_sys_freeze(s->map);
	}
}

static int batch(const struct side *s, int cmd, void *keys, void *values, uint32_t *count,
		 uint64_t flags)
{
	uint8_t out_batch[64];

	if (!s->map)
		return kernel_batch(s->fd, cmd, out_batch, keys, values, count, flags);
	return map_sys_batch(s->map, cmd, NULL, out_batch, keys, values, count, flags, 0);
}

/* Bytes of a value as bpf(2) sees it. */
static uint32_t value_bytes(const struct map_attr *a)
{
	bool percpu = a->type == BPF_MAP_TYPE_PERCPU_ARRAY || a->type == BPF_MAP_TYPE_PERCPU_HASH ||
		      a->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;

	return percpu ? ((a->value_size + 7) & ~7u) * cpu_count() : a->value_size;
}

/* val in turns, and the descriptor of the object in its place: first, or behind an ifindex or a size. */
static void fill_value(const struct table *t, const struct op *op, const struct side *s,
		       uint8_t *buf)
{
	uint32_t n = value_bytes(&t->attr), at = n == 8 ? 4 : 0;
	int fd = s->map ? WEIR_FD + (int)op->obj : kernel_fds[op->obj];

	for (uint32_t i = 0; i < n; i++)
		buf[i] = ((const uint8_t *)op->val)[i % 8];
	if (op->obj)
		memcpy(buf + at, &fd, sizeof(fd));
}

/* Whether values have an id in them: alone, or behind an ifindex or a size. */
static bool holds_objects(const struct map_attr *a)
{
	switch (a->type) {
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		return true;
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
		return a->value_size == 8;
	default:
		return false;
	}
}

/* Ids differ between the sides: the object's symbol instead. */
static void id_to_sym(const struct table *t, const struct side *s, uint8_t *buf)
{
	uint32_t n = value_bytes(&t->attr), at = n == 8 ? 4 : 0, id;
	bool maps = t->attr.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		    t->attr.type == BPF_MAP_TYPE_HASH_OF_MAPS;

	memcpy(&id, buf + at, 4);
	for (uint32_t sym = maps ? INNER : XDP; id && sym < (uint32_t)(maps ? PERF : INNER); sym++)
		if (id == (s->map ? weir_objs[sym]->id : kernel_ids[sym])) {
			memcpy(buf + at, &sym, 4);
			return;
		}
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, 8);
}

static void walk(const struct table *t, const struct side *s, struct result *r)
{
	uint8_t key[8] = { 0 }, next[8] = { 0 };
	uint32_t n = 0;

	r->rc = elem(s, BPF_MAP_GET_NEXT_KEY, NULL, next, 0);
	while (!r->rc && n < WALK_MAX) {
		memcpy(r->out + n++ * 8, next, 8);
		memcpy(key, next, 8);
		r->rc = elem(s, BPF_MAP_GET_NEXT_KEY, key, next, 0);
	}
	/* The order of an LPM trie is defined, that of a hash is not. */
	if (t->attr.type != BPF_MAP_TYPE_LPM_TRIE)
		qsort(r->out, n, 8, compare_keys);
	r->size = n * 8;
}

/* Keys and values side by side, 8 bytes a key, sorted where the order is nobody's business. */
static void collect_batch(const struct table *t, const uint8_t *keys, const uint8_t *values,
			  uint32_t n, struct result *r)
{
	uint32_t size = value_bytes(&t->attr), row = 8 + size;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(r->out + i * row, keys + i * t->attr.key_size, t->attr.key_size);
		memcpy(r->out + i * row + 8, values + i * size, size);
	}
	if (t->attr.type != BPF_MAP_TYPE_LPM_TRIE)
		qsort(r->out, n, row, compare_keys);
	r->size = n * row;
}

static void run_batch(const struct table *t, const struct op *op, const struct side *s, int cmd,
		      struct result *r)
{
	uint8_t *keys = calloc(BATCH_MAX, 8), *values = calloc(BATCH_MAX, BUF_SIZE / BATCH_MAX);
	uint32_t count = op->val[1], size = value_bytes(&t->attr);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t key[2] = { op->key[0] + i, op->key[1] };

		memcpy(keys + i * t->attr.key_size, key, t->attr.key_size);
		fill_value(t, op, s, values + i * size);
	}
	r->rc = batch(s, cmd, keys, values, &count, op->flags);
	if (cmd == BPF_MAP_LOOKUP_BATCH || cmd == BPF_MAP_LOOKUP_AND_DELETE_BATCH) {
		for (uint32_t i = 0; holds_objects(&t->attr) && i < count; i++)
			id_to_sym(t, s, values + i * size);
		if (r->rc != -EINVAL && r->rc != -ENOTSUPP)
			collect_batch(t, keys, values, count, r);
	}
	memcpy(r->out + r->size, &count, 4);
	r->size += 4;
	free(keys);
	free(values);
}

static void run_elem(const struct table *t, const struct op *op, const struct side *s, int cmd,
		     struct result *r)
{
	const void *key = op->key[0] == NO_KEY ? NULL : op->key;
	bool reads = cmd == BPF_MAP_LOOKUP_ELEM || cmd == BPF_MAP_LOOKUP_AND_DELETE_ELEM;

	if (cmd == BPF_MAP_UPDATE_ELEM || t->attr.type == BPF_MAP_TYPE_BLOOM_FILTER)
		fill_value(t, op, s, r->out);
	r->rc = elem(s, cmd, key, r->out, op->flags);
	if (r->rc)
		return;
	if (reads && holds_objects(&t->attr))
		id_to_sym(t, s, r->out);
	if (reads)
		r->size = value_bytes(&t->attr);
	else if (cmd == BPF_MAP_GET_NEXT_KEY)
		r->size = t->attr.key_size;
}

static void run_op(const struct table *t, const struct op *op, const struct side *s,
		   struct result *r)
{
	static const int cmds[] = {
		[UPDATE] = BPF_MAP_UPDATE_ELEM,
		[LOOKUP] = BPF_MAP_LOOKUP_ELEM,
		[DELETE] = BPF_MAP_DELETE_ELEM,
		[NEXT] = BPF_MAP_GET_NEXT_KEY,
		[POP] = BPF_MAP_LOOKUP_AND_DELETE_ELEM,
		[FREEZE] = BPF_MAP_FREEZE,
		[BATCH_UPDATE] = BPF_MAP_UPDATE_BATCH,
		[BATCH_LOOKUP] = BPF_MAP_LOOKUP_BATCH,
		[BATCH_LOOKUP_DEL] = BPF_MAP_LOOKUP_AND_DELETE_BATCH,
		[BATCH_DELETE] = BPF_MAP_DELETE_BATCH,
	};

	memset(r, 0, sizeof(*r));
	if (op->kind == WALK)
		walk(t, s, r);
	else if (op->kind >= BATCH_UPDATE)
		run_batch(t, op, s, cmds[op->kind], r);
	else if (op->kind == FREEZE && !s->map)
		r->rc = kbpf(BPF_MAP_FREEZE, &(union bpf_attr){ .map_fd = (uint32_t)s->fd });
	else
		run_elem(t, op, s, cmds[op->kind], r);
}

static void compare(const struct table *t, size_t i, const struct result *k, const struct result *w,
		    uint32_t *wrong)
{
	if (k->rc != w->rc)
		print_error("%s op %zu: kernel %d, weir %d\n", t->name, i, k->rc, w->rc);
	else if (k->size != w->size || memcmp(k->out, w->out, k->size))
		print_error("%s op %zu: other bytes (kernel %u, weir %u; first %x, %x)\n", t->name,
			    i, k->size, w->size, *(const uint32_t *)(const void *)k->out,
			    *(const uint32_t *)(const void *)w->out);
	else
		return;
	++*wrong;
}

static struct result kernel_result, weir_result;

static void run_table(const struct table *t, uint32_t *wrong)
{
	struct side kernel = { .fd = kernel_create(&t->attr, t->inner) }, weir = { .fd = -1 };
	struct map_attr attr = t->attr;
	int rc;

	if (t->inner)
		attr.inner = (struct map *)(void *)weir_objs[t->inner];
	rc = map_create(&weir.map, &attr);
	if ((kernel.fd < 0 ? kernel.fd : 0) != rc) {
		print_error("%s create: kernel %d, weir %d\n", t->name, kernel.fd, rc);
		++*wrong;
	}
	if (kernel.fd < 0 || rc)
		goto out;
	for (size_t i = 0; i < t->n; i++) {
		run_op(t, &t->ops[i], &kernel, &kernel_result);
		run_op(t, &t->ops[i], &weir, &weir_result);
		compare(t, i, &kernel_result, &weir_result, wrong);
	}
out:
	if (kernel.fd >= 0)
		close(kernel.fd);
	map_put(weir.map);
}

#include "map_kernel_tables.h"

static void every_type_as_the_kernel(void **state)
{
	uint32_t wrong = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		run_table(&tables[i], &wrong);
	assert_int_equal(wrong, 0);
}

static void every_creation_as_the_kernel(void **state)
{
	uint32_t wrong = 0;

	for (size_t i = 0; i < sizeof(creations) / sizeof(creations[0]); i++) {
		char name[64];
		struct table t = { .name = name,
				   .attr = creations[i].attr,
				   .inner = creations[i].inner };

		snprintf(name, sizeof(name), "creation %zu (%s)", i, map_type_name(t.attr.type));
		run_table(&t, &wrong);
	}
	assert_int_equal(wrong, 0);
}

/* The same random operations on both sides; hash order is hidden by sorting. */
static void random_ops_as_the_kernel(void **state)
{
	const char *s = getenv("WEIR_SEED");
	uint64_t x = s ? strtoull(s, NULL, 0) : (uint64_t)getpid() * 2654435761u;
	uint32_t wrong = 0;

	print_message("WEIR_SEED=%llu\n", (unsigned long long)x);
	for (size_t r = 0; r < sizeof(random_maps) / sizeof(random_maps[0]); r++) {
		struct op ops[RANDOM_OPS];
		struct table t = { .name = map_type_name(random_maps[r].type),
				   .attr = random_maps[r],
				   .ops = ops,
				   .n = RANDOM_OPS };

		for (size_t i = 0; i < RANDOM_OPS; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			ops[i] = random_op(&random_maps[r], (uint32_t)(x >> 32));
		}
		run_table(&t, &wrong);
	}
	assert_int_equal(wrong, 0);
}

/* How many CPUs the kernel counts in per-CPU values. */
static uint32_t possible_cpus(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	unsigned int first = 0, last = 0;

	if (!f)
		return cpu_count();
	if (fscanf(f, "%u-%u", &first, &last) < 2)
		last = first;
	fclose(f);
	return last + 1;
}

int main(void)
{
	struct map_attr probe = { .type = BPF_MAP_TYPE_ARRAY, 4, 4, 1 };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_as_the_kernel),
		cmocka_unit_test(every_creation_as_the_kernel),
		cmocka_unit_test(random_ops_as_the_kernel),
	};
	int fd = geteuid() ? -EPERM : kernel_create(&probe, NO_OBJ);

	if (fd < 0) {
		printf("skipped: no bpf(2) here (%s): run as root on a kernel with BPF\n",
		       strerror(-fd));
		return SKIP;
	}
	close(fd);
	cpu_count_set(possible_cpus());
	return cmocka_run_group_tests(tests, make_objects, drop_objects);
}
