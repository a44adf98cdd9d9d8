/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers with maps and the world behind them, run by programs on the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/helper.h"
#include "bpf/prog.h"
#include "maps/devmap.h"
#include "maps/map.h"
#include "maps/perf_array.h"
#include "maps/ringbuf.h"
#include "net/net.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Instructions of the programs below. */
#define MOV(d, i)    ((struct bpf_insn){ .code = 0xb7, .dst_reg = d, .imm = i })
#define MOVR(d, s)   ((struct bpf_insn){ .code = 0xbf, .dst_reg = d, .src_reg = s })
#define ADD(d, i)    ((struct bpf_insn){ .code = 0x07, .dst_reg = d, .imm = i })
#define LDW(d, s, o) ((struct bpf_insn){ .code = 0x61, .dst_reg = d, .src_reg = s, .off = o })
#define LDB(d, s, o) ((struct bpf_insn){ .code = 0x71, .dst_reg = d, .src_reg = s, .off = o })
#define STW(d, o, i) ((struct bpf_insn){ .code = 0x62, .dst_reg = d, .off = o, .imm = i })
#define JNZ(d, o)    ((struct bpf_insn){ .code = 0x55, .dst_reg = d, .off = o })
#define CALL(id)     ((struct bpf_insn){ .code = 0x85, .imm = BPF_FUNC_##id })
#define EXIT	     ((struct bpf_insn){ .code = 0x95 })
#define MAP(d, id)                                                                                 \
	((struct bpf_insn){ .code = 0x18, .dst_reg = d, .src_reg = 1, .imm = id }),                \
	{                                                                                          \
	}
#define MAPVAL(d, id, o)                                                                           \
	((struct bpf_insn){ .code = 0x18, .dst_reg = d, .src_reg = 2, .imm = id }),                \
		((struct bpf_insn){ .imm = o })

static struct run_ctx rc;
static uint8_t chunk[FRAME_SIZE];
static struct frame frame;

static int set_up(void **state)
{
	memset(chunk, 0, sizeof(chunk));
	frame = (struct frame){ .hard_start = chunk };
	frame_reset(&frame);
	frame.data_end += 64;
	frame.ingress_ifindex = 1;
	return run_ctx_init(&rc, 0, NULL);
}

static int tear_down(void **state)
{
	run_ctx_fini(&rc);
	return 0;
}

static struct map *make_map(uint32_t type, uint32_t key_size, uint32_t value_size, uint32_t n,
			    uint32_t flags)
{
	struct map_attr attr = { .type = type,
				 .key_size = key_size,
				 .value_size = value_size,
				 .max_entries = n,
				 .flags = flags,
				 .name = "m" };
	struct map *map;

	assert_int_equal(map_create(&map, &attr), 0);
	return map;
}

static struct prog *load(const struct bpf_insn *insns, uint32_t n, uint32_t attach)
{
	struct prog_attr attr = { .type = BPF_PROG_TYPE_XDP,
				  .expected_attach_type = attach,
				  .insns = insns,
				  .n_insns = n,
				  .gpl = true,
				  .name = "p" };
	struct err err = { "" };
	struct prog *prog;

	if (prog_create(&prog, &attr, &err))
		fail_msg("%s", err.text);
	return prog;
}

/* Loads, runs once, drops. */
static uint32_t run(const struct bpf_insn *insns, uint32_t n)
{
	struct prog *prog = load(insns, n, BPF_XDP);
	uint32_t verdict = prog_run(prog, &rc, &frame);

	prog_put(prog);
	return verdict;
}

#define RUN(...)                                                                                   \
	({                                                                                         \
		const struct bpf_insn insns_[] = { __VA_ARGS__ };                                  \
		run(insns_, COUNT_OF(insns_));                                                     \
	})

static uint64_t call(uint32_t id, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)
{
	rc.frame = &frame;
	return helper_by_id(id)->fn(&rc, a1, a2, a3, a4, a5);
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Packet */

struct adjust {
	uint32_t id;
	int32_t delta;
	int rc;
	int head, tail, meta; /* from the fresh frame */
};

static void check_adjust(const struct adjust *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct adjust *r = &rows[i];

		frame_reset(&frame);
		frame.data_end += 64;
		assert_int_equal(
			(int64_t)call(r->id, at(&frame), (uint64_t)(int64_t)r->delta, 0, 0, 0),
			r->rc);
		assert_int_equal(frame.data - chunk, FRAME_HEADROOM + r->head);
		assert_int_equal(frame.data_end - chunk, FRAME_HEADROOM + 64 + r->tail);
		assert_int_equal(frame.data_meta - chunk, FRAME_HEADROOM + r->meta);
	}
}

static void adjust_head_b3_02(void **state)
{
	static const struct adjust rows[] = {
		{ BPF_FUNC_xdp_adjust_head, -4, 0, -4, 0, -4 },
		{ BPF_FUNC_xdp_adjust_head, -216, 0, -216, 0, -216 },
		{ BPF_FUNC_xdp_adjust_head, -217, -EINVAL, 0, 0, 0 },
		{ BPF_FUNC_xdp_adjust_head, 50, 0, 50, 0, 50 },
		{ BPF_FUNC_xdp_adjust_head, 51, -EINVAL, 0, 0, 0 },
		{ BPF_FUNC_xdp_adjust_head, INT32_MIN, -EINVAL, 0, 0, 0 },
	};

	check_adjust(rows, COUNT_OF(rows));
}

static void adjust_meta_b3_04(void **state)
{
	static const struct adjust rows[] = {
		{ BPF_FUNC_xdp_adjust_meta, -8, 0, 0, 0, -8 },
		{ BPF_FUNC_xdp_adjust_meta, -6, -EACCES, 0, 0, 0 },
		{ BPF_FUNC_xdp_adjust_meta, -36, 0, 0, 0, -36 },
		{ BPF_FUNC_xdp_adjust_meta, -216, 0, 0, 0, -216 },
		{ BPF_FUNC_xdp_adjust_meta, -220, -EINVAL, 0, 0, 0 },
		{ BPF_FUNC_xdp_adjust_meta, 4, -EINVAL, 0, 0, 0 },
	};

	check_adjust(rows, COUNT_OF(rows));
	frame_reset(&frame);
	frame.data_end += 64;
	assert_int_equal(call(BPF_FUNC_xdp_adjust_meta, at(&frame), (uint64_t)-8, 0, 0, 0), 0);
	memcpy(frame.data_meta, "metadata", 8);
	assert_int_equal(call(BPF_FUNC_xdp_adjust_head, at(&frame), (uint64_t)-14, 0, 0, 0), 0);
	assert_int_equal(frame.data_meta - chunk, FRAME_HEADROOM - 22);
	assert_memory_equal(frame.data_meta, "metadata", 8);
}

static void adjust_tail_b3_05(void **state)
{
	static const struct adjust rows[] = {
		{ BPF_FUNC_xdp_adjust_tail, -50, 0, 0, -50, 0 },
		{ BPF_FUNC_xdp_adjust_tail, -51, -EINVAL, 0, 0, 0 },
		{ BPF_FUNC_xdp_adjust_tail, 10, 0, 0, 10, 0 },
		{ BPF_FUNC_xdp_adjust_tail, FRAME_DATA_MAX - 64, 0, 0, FRAME_DATA_MAX - 64, 0 },
		{ BPF_FUNC_xdp_adjust_tail, FRAME_DATA_MAX - 63, -EINVAL, 0, 0, 0 },
	};

	memset(chunk, 0xee, sizeof(chunk));
	check_adjust(rows, COUNT_OF(rows));
	assert_int_equal(chunk[FRAME_HEADROOM + 64], 0);
	assert_int_equal(chunk[FRAME_HEADROOM + 63], 0xee);
}

/* Redirects */

static void redirect_b1_07(void **state)
{
	assert_int_equal(RUN(MOV(1, 99999), MOV(2, 0), CALL(redirect), EXIT), XDP_REDIRECT);
	assert_int_equal(rc.ri.tgt_index, 99999);
	assert_int_equal(rc.ri.map_type, BPF_MAP_TYPE_UNSPEC);
	assert_int_equal(rc.ri.map_id, INT32_MAX);
}

static void redirect_map_b1_08(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_DEVMAP, 4, 4, 4, 0);

	for (uint32_t key = 0; key < 4; key += 2) {
		uint32_t ifindex = key + 10;

		assert_int_equal(map_sys_update(map, &key, &ifindex, 0), 0);
	}
	for (int key = 0; key < 6; key++)
		for (int flags = 0; flags < 8; flags++) {
			bool hit = key == 0 || key == 2;
			uint32_t want = flags & ~3 ? XDP_ABORTED
					: hit	   ? XDP_REDIRECT
						   : (uint32_t)flags;

			memset(&rc.ri, 0, sizeof(rc.ri));
			assert_int_equal(RUN(MAP(1, map->obj.id), MOV(2, key), MOV(3, flags),
					     CALL(redirect_map), EXIT),
					 want);
			assert_int_equal(rc.ri.map_type,
					 want == XDP_REDIRECT ? BPF_MAP_TYPE_DEVMAP : 0);
		}
	map_put(map);
}

/* A miss after a hit leaves a plain redirect to the index of the hit (xdp-semantics 2.2). */
static void redirect_map_miss_after_hit(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_DEVMAP, 4, 4, 4, 0);
	uint32_t key = 1, ifindex = 7;

	assert_int_equal(map_sys_update(map, &key, &ifindex, 0), 0);
	RUN(MAP(1, map->obj.id), MOV(2, 1), MOV(3, 0), CALL(redirect_map), EXIT);
	assert_int_equal(((struct dev_entry *)rc.ri.tgt_value)->val.ifindex, 7);
	RUN(MAP(1, map->obj.id), MOV(2, 3), MOV(3, 2), CALL(redirect_map), EXIT);
	assert_int_equal(rc.ri.map_type, BPF_MAP_TYPE_UNSPEC);
	assert_int_equal(rc.ri.map_id, INT32_MAX);
	assert_int_equal(rc.ri.tgt_index, 1);
	assert_int_equal(RUN(MAP(1, map->obj.id), MOV(2, 3), MOV(3, BPF_F_BROADCAST),
			     CALL(redirect_map), EXIT),
			 XDP_REDIRECT);
	assert_ptr_equal(rc.ri.map, map);
	assert_null(rc.ri.tgt_value);
	map_put(map);
}

/* Maps, and what programs may touch of them */

static void map_value_bounds(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_ARRAY, 4, 12, 4, 0);
	int32_t id = (int32_t)map->obj.id;
	static const struct {
		int16_t off;
		enum fault_reason reason;
	} rows[] = { { 0, FAULT_NONE },	       { 8, FAULT_NONE },	 { 9, FAULT_BAD_ACCESS },
		     { 12, FAULT_BAD_ACCESS }, { -1, FAULT_BAD_ACCESS }, { 16, FAULT_NONE } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t verdict = RUN(STW(10, -4, 1), MAP(1, id), MOVR(2, 10), ADD(2, -4),
				       CALL(map_lookup_elem), JNZ(0, 1), EXIT,
				       STW(0, rows[i].off, 5), MOV(0, 2), EXIT);

		assert_int_equal(rc.fault.reason, rows[i].reason);
		assert_int_equal(verdict, rows[i].reason ? XDP_ABORTED : XDP_PASS);
	}
	/* Missing: NULL, and an access through it faults. */
	assert_int_equal(RUN(STW(10, -4, 9), MAP(1, id), MOVR(2, 10), ADD(2, -4),
			     CALL(map_lookup_elem), LDW(0, 0, 0), EXIT),
			 XDP_ABORTED);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	assert_int_equal(rc.fault.insn, 6);
	map_put(map);
}

static void read_only_maps(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_RDONLY_PROG);
	struct map *dev = make_map(BPF_MAP_TYPE_DEVMAP, 4, 8, 2, 0);
	uint32_t key = 1;
	struct bpf_devmap_val val = { .ifindex = 42 };

	assert_int_equal(RUN(MAPVAL(1, map->obj.id, 4), LDW(0, 1, 0), EXIT), 0);
	assert_int_equal(rc.fault.reason, FAULT_NONE);
	RUN(MAPVAL(1, map->obj.id, 4), STW(1, 0, 1), MOV(0, 2), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_READ_ONLY);
	assert_int_equal(map_sys_update(dev, &key, &val, 0), 0);
	assert_int_equal(RUN(STW(10, -4, 1), MAP(1, dev->obj.id), MOVR(2, 10), ADD(2, -4),
			     CALL(map_lookup_elem), JNZ(0, 1), EXIT, LDW(0, 0, 0), EXIT),
			 42);
	RUN(STW(10, -4, 1), MAP(1, dev->obj.id), MOVR(2, 10), ADD(2, -4), CALL(map_lookup_elem),
	    JNZ(0, 1), EXIT, STW(0, 0, 1), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_READ_ONLY);
	map_put(map);
	map_put(dev);
}

/* Calls with what is no key, value or map of the right kind. */
static void bad_arguments(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);
	struct map *ring = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	int32_t id = (int32_t)map->obj.id, ring_id = (int32_t)ring->obj.id;

	RUN(MAP(1, id), MOV(2, 0), CALL(map_lookup_elem), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	RUN(MAP(1, id), MOVR(2, 10), ADD(2, -514), CALL(map_lookup_elem), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	RUN(MAP(1, ring_id), MOVR(2, 10), ADD(2, -8), CALL(map_lookup_elem), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MAP(1, id), ADD(1, 8), MOVR(2, 10), ADD(2, -8), CALL(map_lookup_elem), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MAP(1, id), MOV(2, 8), MOV(3, 0), CALL(ringbuf_reserve), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MOVR(1, 10), ADD(1, -8), MOV(2, 0), CALL(ringbuf_submit), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MOVR(6, 1), MOV(2, 0), MOVR(3, 10), ADD(3, -8), MOV(4, 0), CALL(xdp_load_bytes), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MOV(2, 0), MOVR(3, 10), ADD(3, -516), MOV(4, 9), CALL(xdp_load_bytes), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	map_put(map);
	map_put(ring);
}

static void count_record(void *arg, const void *data, uint32_t size)
{
	uint32_t *sum = arg;

	assert_int_equal(size, 8);
	*sum += *(const uint8_t *)data;
}

static void ring_records(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	int32_t id = (int32_t)map->obj.id;
	uint32_t sum = 0;

	RUN(MAP(1, id), MOV(2, 8), MOV(3, 0), CALL(ringbuf_reserve), JNZ(0, 1), EXIT, STW(0, 0, 5),
	    MOVR(1, 0), MOV(2, 0), CALL(ringbuf_submit), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_NONE);
	/* Behind a record's end, after it was submitted, and one that is left open: none may be written. */
	RUN(MAP(1, id), MOV(2, 8), MOV(3, 0), CALL(ringbuf_reserve), JNZ(0, 1), EXIT, STW(0, 5, 5),
	    EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	assert_int_equal(rc.n_reservations, 0);
	RUN(MAP(1, id), MOV(2, 8), MOV(3, 0), CALL(ringbuf_reserve), JNZ(0, 1), EXIT, MOVR(6, 0),
	    STW(6, 0, 7), MOVR(1, 0), MOV(2, 0), CALL(ringbuf_submit), STW(6, 0, 9), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	RUN(MAP(1, id), MOV(2, 8), MOV(3, 0), CALL(ringbuf_reserve), MOV(0, 2), EXIT);
	assert_int_equal(ringbuf_consume(map, count_record, &sum), 2);
	assert_int_equal(sum, 12);
	map_put(map);
}

struct counter {
	struct perf_sink sink;
	uint32_t size, packet_size;
};

static int count_perf(struct perf_sink *sink, struct map *map, const void *data, uint32_t size,
		      const void *packet, uint32_t packet_size)
{
	struct counter *c = (struct counter *)sink;

	c->size += size;
	c->packet_size += packet_size;
	return 0;
}

static void release_nothing(struct obj *obj)
{
}

static void perf_records(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 4, 0);
	static struct counter c = { .sink.output = count_perf };
	static const struct {
		uint64_t flags;
		int rc;
	} rows[] = { { BPF_F_CURRENT_CPU, 0 }, { 0, 0 },	  { 20ull << 32, 0 },
		     { 65ull << 32, -EFAULT }, { 1, -ENOENT },	  { 4, -E2BIG },
		     { 1ull << 52, -EINVAL },  { 2, -EOPNOTSUPP } };
	static struct counter other = { .sink = { .output = count_perf, .cpu = 1 } };

	obj_init(&c.sink.obj, OBJ_PERF, release_nothing);
	obj_init(&other.sink.obj, OBJ_PERF, release_nothing);
	assert_int_equal(perf_array_set(map, 0, &c.sink), 0);
	assert_int_equal(perf_array_set(map, 2, &other.sink), 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal((int64_t)call(BPF_FUNC_perf_event_output, at(&frame), at(map),
					       rows[i].flags, at("12345678"), 8),
				 rows[i].rc);
	assert_int_equal(c.size, 24);
	assert_int_equal(c.packet_size, 20);
	map_put(map);
	obj_put(&c.sink.obj);
	obj_put(&other.sink.obj);
}

static struct obj *by_fd;

static int resolve(int fd, enum obj_kind kind, struct obj **ret)
{
	*ret = obj_get(by_fd);
	return 0;
}

/* Tail calls: B5.08. Slot 0 is the program itself, which counts its runs. */
static void tail_calls_b5_08(void **state)
{
	struct map *progs = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 2, 0);
	struct map *count = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0);
	const struct bpf_insn insns[] = {
		MOVR(6, 1),
		MAPVAL(7, count->obj.id, 0),
		LDW(8, 7, 0),
		ADD(8, 1),
		((struct bpf_insn){ .code = 0x63, .dst_reg = 7, .src_reg = 8 }),
		MOVR(1, 6),
		MAP(2, progs->obj.id),
		MOV(3, 0),
		CALL(tail_call),
		MOV(0, 3),
		EXIT,
	};
	struct prog *prog = load(insns, COUNT_OF(insns), BPF_XDP);
	uint32_t key = 0, fd = 3, runs;

	assert_int_equal(prog_run(prog, &rc, &frame), XDP_TX);
	assert_int_equal(*(uint32_t *)count->area.base, 1);
	obj_set_fd_resolver(resolve);
	by_fd = &prog->po.obj;
	assert_int_equal(map_sys_update(progs, &key, &fd, 0), 0);
	*(uint32_t *)count->area.base = 0;
	assert_int_equal(prog_run(prog, &rc, &frame), XDP_TX);
	assert_int_equal(map_sys_lookup(count, &key, &runs, 0), 0);
	assert_int_equal(runs, 34);
	map_sys_delete(progs, &key);
	prog_put(prog);
	map_put(progs);
	map_put(count);
}

/* The world */

static void add_world(struct net *net)
{
	struct net_edit *edit = net_edit_begin(net);
	struct net_if in = { .ifindex = 1, .mtu = 1500, .up = true, .forwarding4 = true };
	struct net_if out = { .ifindex = 2, .mtu = 1400, .up = true, .mac = { 2, 0, 0, 0, 0, 2 } };
	struct net_route route = { .family = AF_INET,
				   .prefix_len = 8,
				   .type = RTN_UNICAST,
				   .table = RT_TABLE_MAIN,
				   .metric = 5,
				   .ifindex = 2,
				   .gateway_family = AF_INET,
				   .dst = { 10 },
				   .gateway = { 192, 0, 2, 1 },
				   .prefsrc = { 192, 0, 2, 9 } };
	struct net_route hole = { .family = AF_INET,
				  .prefix_len = 16,
				  .type = RTN_BLACKHOLE,
				  .table = RT_TABLE_MAIN,
				  .dst = { 10, 9 } };
	struct net_neigh neigh = { .ifindex = 2,
				   .family = AF_INET,
				   .valid = true,
				   .mac = { 2, 0, 0, 0, 0, 7 },
				   .addr = { 192, 0, 2, 1 } };

	assert_int_equal(net_edit_if(edit, &in), 0);
	assert_int_equal(net_edit_if(edit, &out), 0);
	assert_int_equal(net_edit_route(edit, &route), 0);
	assert_int_equal(net_edit_route(edit, &hole), 0);
	assert_int_equal(net_edit_neigh(edit, &neigh), 0);
	assert_int_equal(net_edit_commit(edit), 0);
}

static void fib_lookups(void **state)
{
	static const struct {
		const char *dst;
		uint32_t ifindex, flags, size;
		uint16_t tot_len;
		int rc;
	} rows[] = {
		{ "10.1.1.1", 1, 0, 64, 0, BPF_FIB_LKUP_RET_SUCCESS },
		{ "10.1.1.1", 1, 0, 64, 1400, BPF_FIB_LKUP_RET_SUCCESS },
		{ "10.1.1.1", 1, 0, 64, 1401, BPF_FIB_LKUP_RET_FRAG_NEEDED },
		{ "10.1.1.1", 1, BPF_FIB_LOOKUP_DIRECT, 64, 0, BPF_FIB_LKUP_RET_SUCCESS },
		{ "10.9.1.1", 1, 0, 64, 0, BPF_FIB_LKUP_RET_BLACKHOLE },
		{ "11.1.1.1", 1, 0, 64, 0, BPF_FIB_LKUP_RET_NOT_FWDED },
		{ "10.1.1.1", 2, 0, 64, 0, BPF_FIB_LKUP_RET_FWD_DISABLED },
		{ "10.1.1.1", 9, 0, 64, 0, -ENODEV },
		{ "10.1.1.1", 1, 64, 64, 0, -EINVAL },
		{ "10.1.1.1", 1, 0, 63, 0, -EINVAL },
	};
	struct net *net;

	assert_int_equal(net_create(&net), 0);
	add_world(net);
	rc.net = net;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bpf_fib_lookup p = { .family = AF_INET,
					    .ifindex = rows[i].ifindex,
					    .tot_len = rows[i].tot_len,
					    .ipv4_dst = inet_addr(rows[i].dst) };
		int64_t got = (int64_t)call(BPF_FUNC_fib_lookup, at(&frame), at(&p), rows[i].size,
					    rows[i].flags, 0);

		assert_int_equal(got, rows[i].rc);
		if (got == BPF_FIB_LKUP_RET_FRAG_NEEDED)
			assert_int_equal(p.mtu_result, 1400);
		if (got)
			continue;
		assert_int_equal(p.ifindex, 2);
		assert_int_equal(p.rt_metric, 5);
		assert_int_equal(p.ipv4_dst, inet_addr("192.0.2.1"));
		assert_int_equal(p.dmac[5], 7);
		assert_int_equal(p.smac[5], 2);
	}
	net_destroy(net);
}

static void fib_lookup_v6_b1_12(void **state)
{
	struct bpf_fib_lookup p = { .family = AF_INET6, .ifindex = 1 };
	struct net *net;

	assert_int_equal(net_create(&net), 0);
	add_world(net);
	rc.net = net;
	((uint8_t *)p.ipv6_src)[0] = 0xfe;
	((uint8_t *)p.ipv6_src)[1] = 0x80;
	assert_int_equal(call(BPF_FUNC_fib_lookup, at(&frame), at(&p), 64, 0, 0),
			 BPF_FIB_LKUP_RET_NOT_FWDED);
	/* Forwarding is on for IPv4 alone. */
	((uint8_t *)p.ipv6_src)[0] = 0x20;
	((uint8_t *)p.ipv6_dst)[0] = 0x20;
	assert_int_equal(call(BPF_FUNC_fib_lookup, at(&frame), at(&p), 64, 0, 0),
			 BPF_FIB_LKUP_RET_FWD_DISABLED);
	p.family = 99;
	assert_int_equal((int64_t)call(BPF_FUNC_fib_lookup, at(&frame), at(&p), 64, 0, 0),
			 -EAFNOSUPPORT);
	net_destroy(net);
}

static void check_mtus(void **state)
{
	static const struct {
		uint32_t ifindex, len;
		int32_t diff;
		uint64_t flags;
		int rc;
	} rows[] = { { 2, 0, 0, 0, 0 },	      { 2, 1400, 0, 0, 0 },    { 2, 1401, 0, 0, 1 },
		     { 2, 1400, 1, 0, 1 },    { 2, 1401, -1, 0, 0 },   { 0, 1500, 0, 0, 0 },
		     { 9, 0, 0, 0, -ENODEV }, { 2, 0, 0, 1, -EINVAL }, { 2, 0, 1350, 0, 0 },
		     { 2, 0, 1351, 0, 1 } };
	struct net *net;

	assert_int_equal(net_create(&net), 0);
	add_world(net);
	rc.net = net;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t len = rows[i].len;

		assert_int_equal((int64_t)call(BPF_FUNC_check_mtu, at(&frame), rows[i].ifindex,
					       at(&len), (uint64_t)(int64_t)rows[i].diff,
					       rows[i].flags),
				 rows[i].rc);
		if (rows[i].rc >= 0)
			assert_int_equal(len, rows[i].ifindex == 2 ? 1400 : 1500);
	}
	net_destroy(net);
}

/* Text */

struct text_sink {
	struct trace_sink sink;
	char text[128];
};

static void keep_text(struct trace_sink *sink, const char *text)
{
	snprintf(((struct text_sink *)sink)->text, sizeof(((struct text_sink *)sink)->text), "%s",
		 text);
}

static void trace_text(void **state)
{
	static const char s[] = "str";
	static const uint8_t v4[4] = { 192, 0, 2, 1 };
	static const struct {
		const char *fmt;
		uint64_t arg;
		const char *text;
	} rows[] = {
		{ "a %d b", (uint64_t)-5, "a -5 b" },
		{ "%u", (uint64_t)-1, "4294967295" },
		{ "%lld", (uint64_t)-5, "-5" },
		{ "%05x|", 0xab, "000ab|" },
		{ "%llx", 0x1122334455, "1122334455" },
		{ "%c", 'x', "x" },
		{ "%pI4", 0, "192.0.2.1" },
		{ "%pi4", 0, "192.000.002.001" },
		{ "100%%", 0, "100%" },
		{ "%s", 0, "str" },
	};
	struct text_sink sink = { .sink.print = keep_text };

	rc.trace = &sink.sink;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t arg = rows[i].arg;

		/* Only memory of the program is read: put what is pointed to in the packet. */
		memcpy(frame.data, s, sizeof(s));
		memcpy(frame.data + 8, v4, sizeof(v4));
		if (strstr(rows[i].fmt, "%s"))
			arg = at(frame.data);
		if (strstr(rows[i].fmt, "4"))
			arg = at(frame.data + 8);
		if (!strcmp(rows[i].fmt, "%pI4") || !strcmp(rows[i].fmt, "%pi4"))
			arg = at(frame.data + 8);
		assert_int_equal(call(BPF_FUNC_trace_printk, at(rows[i].fmt),
				      strlen(rows[i].fmt) + 1, arg, 0, 0),
				 strlen(rows[i].text));
		assert_string_equal(sink.text, rows[i].text);
	}
	call(BPF_FUNC_trace_printk, at("[%s]"), 5, 1, 0, 0);
	assert_string_equal(sink.text, "[]");
	call(BPF_FUNC_trace_printk, at("%pI4"), 5, 1, 0, 0);
	assert_string_equal(sink.text, "0.0.0.0");
}

static void fault_record_b6_06(void **state)
{
	const struct bpf_insn insns[] = { LDW(3, 1, 4), LDB(0, 3, 1), EXIT };
	struct prog *prog = load(insns, COUNT_OF(insns), BPF_XDP);
	char text[256];

	assert_int_equal(prog_run(prog, &rc, &frame), XDP_ABORTED);
	assert_int_equal(rc.fault.reason, FAULT_BAD_ACCESS);
	assert_int_equal(rc.fault.insn, 1);
	assert_int_equal(rc.fault.size, 1);
	assert_int_equal(rc.fault.packet_off, 65);
	assert_int_equal(rc.faults, 1);
	prog_fault_text(prog, &rc.fault, text, sizeof(text));
	assert_string_equal(
		text,
		"program p, instruction 1: access outside the memory of the program (1 bytes at "
		"packet offset 65)");
	prog_put(prog);
}

/* A value with a lock: taken twice, kept over another call or over the end of the run. */
static void spin_locks(void **state)
{
	struct map *map = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0);
	int32_t id = (int32_t)map->obj.id;

	map->spin_lock_off = 4;
	assert_int_equal(RUN(MAPVAL(1, id, 4), MOVR(6, 1), CALL(spin_lock), MOVR(1, 6),
			     CALL(spin_unlock), MOV(0, 2), EXIT),
			 XDP_PASS);
	RUN(MAPVAL(1, id, 4), MOVR(6, 1), CALL(spin_lock), MOVR(1, 6), CALL(spin_lock), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MAPVAL(1, id, 4), CALL(spin_lock), CALL(ktime_get_ns), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MAPVAL(1, id, 0), CALL(spin_lock), EXIT);
	assert_int_equal(rc.fault.reason, FAULT_BAD_HELPER_ARG);
	RUN(MAPVAL(1, id, 4), CALL(spin_lock), MOV(0, 2), EXIT);
	assert_int_equal(*(uint32_t *)(map->area.base + 4), 0);
	assert_null(rc.spin_lock);
	map_put(map);
}

static void table_is_whole(void **state)
{
	const struct helper *h;

	for (uint32_t i = 0; (h = helper_at(i)); i++) {
		assert_true(h->fn || h->needs_prog || h->id == BPF_FUNC_tail_call);
		if (h->id) {
			assert_ptr_equal(helper_by_id(h->id), h);
			assert_string_equal(helper_id_name(h->id), h->name);
		}
	}
	assert_string_equal(helper_id_name(84), "sk_lookup_tcp");
	assert_string_equal(helper_id_name(9999), "helper 9999");
	assert_null(helper_by_id(9999));
	assert_null(helper_by_id(0));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(adjust_head_b3_02),  TEST(adjust_meta_b3_04),
		TEST(adjust_tail_b3_05),  TEST(redirect_b1_07),
		TEST(redirect_map_b1_08), TEST(redirect_map_miss_after_hit),
		TEST(map_value_bounds),	  TEST(read_only_maps),
		TEST(bad_arguments),	  TEST(ring_records),
		TEST(perf_records),	  TEST(tail_calls_b5_08),
		TEST(fib_lookups),	  TEST(fib_lookup_v6_b1_12),
		TEST(check_mtus),	  TEST(trace_text),
		TEST(fault_record_b6_06), TEST(spin_locks),
		TEST(table_is_whole),
	};

	return cmocka_run_group_tests_name("helpers", tests, NULL, NULL);
}
