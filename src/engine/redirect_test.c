/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Redirects by real programs over real ports of memory: the cases B1.06 to B1.08, B1.13 and B1.15 of users, and
 * egress programs in a devmap.
 *
 * A packet begins with two little-endian words, the key or ifindex and the flags that the program passes on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/prog.h"
#include "engine/engine.h"
#include "maps/map.h"
#include "port/mem.h"

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}
#define LOAD(size, d, s, o) INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define MOV(d, s)	    INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)	    INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)	    INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define JGT(d, s, o)	    INSN(BPF_JMP | BPF_JGT | BPF_X, d, s, o, 0)
#define CALL(id)	    INSN(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define EXIT()		    INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

enum { IN = 1, OUT = 2, OUT2 = 3, BRIDGE = 50, LEN = 60 };

struct bench {
	struct engine *engine;
	struct port *in, *out, *out2;
	struct map *map;
};

/* Where the resolver finds programs: descriptor 100 + i. */
static struct prog *fds[4];

static int resolve(int fd, enum obj_kind kind, struct obj **ret)
{
	if (kind != OBJ_PROG || fd < 100 || fd >= 104 || !fds[fd - 100])
		return -EBADF;
	*ret = obj_get(&fds[fd - 100]->po.obj);
	return 0;
}

static struct prog *make_prog(const struct bpf_insn *insns, uint32_t n, uint32_t attach_type)
{
	struct prog_attr attr = { .type = BPF_PROG_TYPE_XDP,
				  .expected_attach_type = attach_type,
				  .insns = insns,
				  .n_insns = n,
				  .gpl = true,
				  .name = "test" };
	struct err err = { 0 };
	struct prog *prog = NULL;

	if (prog_create(&prog, &attr, &err))
		fail_msg("%s", err.text);
	return prog;
}

/* return bpf_redirect(key, flags), or bpf_redirect_map(map, key, flags). */
static struct prog *redirect_prog(const struct map *map)
{
	struct bpf_insn insns[] = {
		LOAD(BPF_W, 4, 1, 0),
		LOAD(BPF_W, 5, 1, 4),
		MOV(3, 4),
		ADD_IMM(3, 8),
		MOV_IMM(0, XDP_ABORTED),
		JGT(3, 5, map ? 5 : 3),
		LOAD(BPF_W, map ? 2 : 1, 4, 0),
		LOAD(BPF_W, map ? 3 : 2, 4, 4),
		CALL(BPF_FUNC_redirect),
		EXIT(),
		EXIT(),
		EXIT(),
	};

	if (map) {
		insns[8] = (struct bpf_insn)INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0,
						 (int)map->obj.id);
		insns[9] = (struct bpf_insn)INSN(0, 0, 0, 0, 0);
		insns[10] = (struct bpf_insn)CALL(BPF_FUNC_redirect_map);
	}
	return make_prog(insns, map ? 12 : 10, 0);
}

static struct port *add_port(struct engine *engine, const char *text, bool input)
{
	struct port_spec spec;
	struct port *port = NULL;
	struct err err = { 0 };

	if (port_spec_parse(&spec, text, &err) ||
	    engine_add_port(engine, &spec, input, &port, &err))
		fail_msg("%s", err.text);
	return port;
}

/* The device of a bridge: in the world, but nothing can be sent to it. */
static void add_bridge(struct engine *engine)
{
	struct net_if nif = { .ifindex = BRIDGE, .mtu = 1500, .up = true, .port_id = UINT32_MAX };
	struct net_edit *edit = net_edit_begin(engine_net(engine));

	assert_int_equal(net_edit_if(edit, &nif), 0);
	assert_int_equal(net_edit_commit(edit), 0);
}

static void set_entry(struct bench *b, uint32_t key, uint32_t ifindex, int fd, int want)
{
	struct bpf_devmap_val val = { .ifindex = ifindex, .bpf_prog.fd = fd };

	assert_int_equal(map_sys_update(b->map, &key, &val, BPF_ANY), want);
}

static void setup(struct bench *b, bool by_map)
{
	struct engine_cfg cfg = { .n_frames = 4096 };
	struct map_attr attr = { .type = BPF_MAP_TYPE_DEVMAP,
				 .key_size = 4,
				 .value_size = 8,
				 .max_entries = 4,
				 .name = "tx_port" };
	struct prog *prog;
	struct err err = { 0 };

	obj_set_fd_resolver(resolve);
	if (engine_create(&b->engine, &cfg, &err))
		fail_msg("%s", err.text);
	b->in = add_port(b->engine, "mem:keep", true);
	b->out = add_port(b->engine, "mem:keep", false);
	b->out2 = add_port(b->engine, "mem:keep", false);
	add_bridge(b->engine);
	assert_int_equal(map_create(&b->map, &attr), 0);
	prog = redirect_prog(by_map ? b->map : NULL);
	engine_attach(b->engine, b->in, prog);
	prog_put(prog);
}

static void teardown(struct bench *b)
{
	struct engine_totals t;
	uint64_t dropped = 0;

	engine_totals(b->engine, &t);
	for (uint32_t i = 0; i < DROP_REASONS; i++)
		dropped += t.dropped[i];
	assert_int_equal(t.received, t.transmitted + t.passed + t.aborted + dropped + t.in_flight);
	map_put(b->map);
	assert_int_equal(engine_destroy(b->engine), 0);
}

static struct frame *make_frame(struct bench *b, uint32_t key, uint32_t flags, uint32_t seq)
{
	uint8_t bytes[LEN] = { 0 };
	struct frame *f;

	memcpy(bytes, &key, 4);
	memcpy(bytes + 4, &flags, 4);
	memcpy(bytes + 8, &seq, 4);
	assert_int_equal(engine_alloc(b->engine, &f, 1), 1);
	assert_int_equal(frame_fill(f, bytes, LEN), 0);
	return f;
}

static void run_one(struct bench *b, uint32_t key, uint32_t flags, struct outcome *o)
{
	struct frame *f = make_frame(b, key, flags, 0);

	engine_poll_frames(b->engine, b->in, &f, 1, o);
}

static void test_b1_06_a_target_that_cannot_send(void **state)
{
	static struct outcome o;
	struct engine_totals t;
	struct bench b;

	setup(&b, false);
	for (uint32_t i = 0; i < 5; i++) {
		run_one(&b, BRIDGE, 0, &o);
		assert_int_equal(o.verdict, XDP_REDIRECT);
		assert_int_equal(o.error, -EOPNOTSUPP);
	}
	engine_totals(b.engine, &t);
	assert_int_equal(t.dropped[DROP_REDIRECT_EOPNOTSUPP], 5);
	teardown(&b);
}

static void test_b1_07_redirect_is_checked_later(void **state)
{
	static const uint32_t absent[] = { 99999, 0 };
	static struct outcome o;
	struct engine_totals t;
	struct bench b;

	setup(&b, false);
	for (uint32_t i = 0; i < 2; i++) {
		run_one(&b, absent[i], 0, &o);
		assert_int_equal(o.verdict, XDP_REDIRECT);
		assert_int_equal(o.error, -EINVAL);
		assert_int_equal(o.map_id, 0);
		assert_int_equal(o.map_key, absent[i]);
	}
	run_one(&b, OUT, 1, &o); /* flags: the helper itself answers XDP_ABORTED */
	assert_int_equal(o.verdict, XDP_ABORTED);
	run_one(&b, OUT, 0, &o);
	assert_ptr_equal(o.to, b.out);
	engine_totals(b.engine, &t);
	assert_int_equal(t.dropped[DROP_REDIRECT_EINVAL], 2);
	assert_int_equal(t.aborted, 1);
	assert_int_equal(t.transmitted, 1);
	teardown(&b);
}

static void test_b1_08_miss_returns_the_low_flag_bits(void **state)
{
	static struct outcome o;
	struct bench b;

	setup(&b, true);
	set_entry(&b, 0, OUT, 0, 0);
	set_entry(&b, 3, OUT2, 0, 0);
	for (uint32_t key = 0; key < 6; key++)
		for (uint32_t flags = 0; flags < 8; flags++) {
			bool hit = key == 0 || key == 3;
			uint32_t want = hit ? XDP_REDIRECT : flags;

			run_one(&b, key, flags, &o);
			assert_int_equal(o.verdict, flags > 3 ? XDP_ABORTED : want);
			if (flags > 3 || !hit)
				continue;
			assert_ptr_equal(o.to, key ? b.out2 : b.out);
			assert_int_equal(o.map_id, b.map->obj.id);
			assert_int_equal(o.map_key, key);
			assert_int_equal(o.error, 0);
		}
	/* EXCLUDE_INGRESS without BROADCAST is ignored; BROADCAST is not forwarded yet, and says so. */
	run_one(&b, 0, BPF_F_EXCLUDE_INGRESS, &o);
	assert_ptr_equal(o.to, b.out);
	run_one(&b, 0, BPF_F_BROADCAST, &o);
	assert_int_equal(o.verdict, XDP_REDIRECT);
	assert_true(o.dropped && o.reason == DROP_REDIRECT_MAP_TYPE);
	teardown(&b);
}

/* Devmaps know the interfaces of the engine. */
static void test_devmap_refuses_unknown_interfaces(void **state)
{
	struct bench b;

	setup(&b, true);
	set_entry(&b, 0, 77, 0, -EINVAL);
	set_entry(&b, 0, BRIDGE, 0, 0);
	set_entry(&b, 0, OUT, 0, 0);
	teardown(&b);
}

/* Writes its ifindexes and queue into the packet; returns byte 12. */
static struct prog *egress_prog(void)
{
	static const struct bpf_insn insns[] = {
		LOAD(BPF_W, 2, 1, 0),
		LOAD(BPF_W, 3, 1, 4),
		MOV(4, 2),
		ADD_IMM(4, 28),
		MOV_IMM(0, XDP_ABORTED),
		JGT(4, 3, 7),
		LOAD(BPF_W, 5, 1, 12), /* ingress_ifindex */
		INSN(BPF_STX | BPF_MEM | BPF_W, 2, 5, 16, 0),
		LOAD(BPF_W, 5, 1, 16), /* rx_queue_index */
		INSN(BPF_STX | BPF_MEM | BPF_W, 2, 5, 20, 0),
		LOAD(BPF_W, 5, 1, 20), /* egress_ifindex */
		INSN(BPF_STX | BPF_MEM | BPF_W, 2, 5, 24, 0),
		LOAD(BPF_B, 0, 2, 12),
		EXIT(),
	};

	return make_prog(insns, sizeof(insns) / sizeof(insns[0]), BPF_XDP_DEVMAP);
}

static void test_egress_program_of_a_devmap(void **state)
{
	static struct outcome o[8];
	struct frame *frames[8];
	struct engine_totals t;
	struct bench b;

	setup(&b, true);
	fds[0] = egress_prog();
	set_entry(&b, 1, OUT, 100, 0);
	set_entry(&b, 2, OUT, 0, 0);
	for (uint32_t i = 0; i < 8; i++) {
		frames[i] = make_frame(&b, i < 6 ? 1 : 2, 0, i);
		frames[i]->data[12] = (uint8_t)i; /* the egress verdict: 0 to 5 */
		frames[i]->rx_queue_index = 3;
	}
	engine_poll_frames(b.engine, b.in, frames, 8, o);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t seen[3];

		memcpy(seen, o[i].bytes + 16, sizeof(seen));
		assert_ptr_equal(o[i].egress, i < 6 ? fds[0] : NULL);
		assert_int_equal(seen[0], i < 6 ? IN : 0);
		assert_int_equal(seen[1], 0);
		assert_int_equal(seen[2], i < 6 ? OUT : 0);
		assert_int_equal(o[i].dropped, i < 6 && i != XDP_PASS);
	}
	engine_totals(b.engine, &t);
	assert_int_equal(t.dropped[DROP_EGRESS_DROP], 1);
	assert_int_equal(t.dropped[DROP_EGRESS_ABORTED], 4);
	assert_int_equal(t.transmitted, 3);
	teardown(&b);
	prog_put(fds[0]);
	fds[0] = NULL;
}

/* The entry may be replaced, and its program go, as soon as the burst is over. */
static void test_replaced_entry_is_used_at_once(void **state)
{
	static struct outcome o;
	struct bench b;

	setup(&b, true);
	fds[0] = egress_prog();
	set_entry(&b, 1, OUT, 100, 0);
	prog_put(fds[0]);
	fds[0] = NULL;
	run_one(&b, 1, 0, &o);
	assert_non_null(o.egress);
	set_entry(&b, 1, OUT2, 0, 0);
	run_one(&b, 1, 0, &o);
	assert_null(o.egress);
	assert_ptr_equal(o.to, b.out2);
	teardown(&b);
}

static void test_b1_13_order_over_two_redirects(void **state)
{
	struct frame *frames[BURST_MAX], *pulled[BURST_MAX];
	uint32_t sent = 0, seen = 0, n;
	struct prog *prog;
	struct bench b;

	setup(&b, true);
	set_entry(&b, 1, OUT, 0, 0);
	prog = redirect_prog(NULL); /* on OUT: by ifindex, to OUT2 */
	engine_attach(b.engine, b.out, prog);
	prog_put(prog);
	while (sent < 10000) {
		for (n = 0; n < BURST_MAX && sent < 10000; n++)
			frames[n] = make_frame(&b, 1, 0, sent++);
		engine_poll_frames(b.engine, b.in, frames, n, NULL);
		n = mem_port_pull(b.out, pulled, BURST_MAX);
		for (uint32_t i = 0; i < n; i++)
			pulled[i]->data[0] = OUT2;
		engine_poll_frames(b.engine, b.out, pulled, n, NULL);
		n = mem_port_pull(b.out2, pulled, BURST_MAX);
		for (uint32_t i = 0; i < n; i++, seen++)
			assert_memory_equal(pulled[i]->data + 8, &seen, 4);
		engine_free(b.engine, pulled, n);
	}
	assert_int_equal(seen, 10000);
	engine_attach(b.engine, b.out, NULL);
	teardown(&b);
}

/* A program runs on what its port receives, and not on what leaves by it. */
static void test_b1_15_programs_run_on_ingress_only(void **state)
{
	static const struct bpf_insn drop[] = { MOV_IMM(0, XDP_DROP), EXIT() };
	struct engine_port_totals t;
	struct prog *prog;
	struct bench b;

	setup(&b, false);
	prog = make_prog(drop, 2, 0);
	engine_attach(b.engine, b.out, prog);
	prog_put(prog);
	run_one(&b, OUT, 0, NULL);
	engine_port_totals(b.engine, b.out, &t);
	assert_int_equal(t.transmitted, 1);
	assert_int_equal(t.received, 0);
	assert_int_equal(t.dropped, 0);
	teardown(&b);
}

/* Faults: each is counted, the last is kept though good runs follow, in a burst run in one call as well. */
static void test_faults_are_kept(void **state)
{
	/* *(u8 *)(data + byte 0) without a look at data_end */
	static const struct bpf_insn wild[] = {
		LOAD(BPF_W, 2, 1, 0),
		LOAD(BPF_B, 3, 2, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 2, 3, 0, 0),
		LOAD(BPF_B, 0, 2, 0),
		MOV_IMM(0, XDP_PASS),
		EXIT(),
	};
	static struct outcome o[4];
	struct frame *frames[4];
	struct engine_totals t;
	struct fault fault;
	struct prog *prog;
	struct bench b;

	setup(&b, false);
	prog = make_prog(wild, sizeof(wild) / sizeof(wild[0]), 0);
	engine_attach(b.engine, b.in, prog);
	for (uint32_t traced = 0; traced < 2; traced++) {
		for (uint32_t i = 0; i < 4; i++)
			frames[i] = make_frame(&b, i == 1 ? LEN : 5, 0, i);
		engine_poll_frames(b.engine, b.in, frames, 4, traced ? o : NULL);
		assert_int_equal(engine_faults(b.engine, &fault), traced + 1);
		assert_int_equal(fault.reason, FAULT_BAD_ACCESS);
		assert_int_equal(fault.insn, 3);
		assert_int_equal(fault.prog_id, prog->po.obj.id);
		assert_int_equal(fault.packet_off, LEN);
	}
	assert_int_equal(o[0].fault.reason, FAULT_NONE);
	assert_int_equal(o[1].fault.reason, FAULT_BAD_ACCESS);
	assert_int_equal(o[1].verdict, XDP_ABORTED);
	assert_int_equal(o[2].fault.reason, FAULT_NONE);
	engine_totals(b.engine, &t);
	assert_int_equal(t.aborted, 2);
	assert_int_equal(t.passed, 6);
	prog_put(prog);
	teardown(&b);
}

/* return bpf_redirect_map(map, 2, 0); */
static struct prog *fixed_prog(const struct map *map)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, (int)map->obj.id),
		INSN(0, 0, 0, 0, 0),
		MOV_IMM(2, 2),
		MOV_IMM(3, 0),
		CALL(BPF_FUNC_redirect_map),
		EXIT(),
	};

	return make_prog(insns, sizeof(insns) / sizeof(insns[0]), 0);
}

/* return XDP_PASS; for an egress that lives as long as its entry and no longer. */
static void set_entry_with_own_program(struct bench *b, uint32_t ifindex)
{
	static const struct bpf_insn pass[] = { MOV_IMM(0, XDP_PASS), EXIT() };

	fds[0] = make_prog(pass, 2, BPF_XDP_DEVMAP);
	set_entry(b, 2, ifindex, 100, 0);
	prog_put(fds[0]);
	fds[0] = NULL;
}

/* Entries and their programs are replaced while a worker redirects through them. */
static void test_devmap_updates_while_running(void **state)
{
	struct engine_totals t;
	struct err err = { 0 };
	struct port *gen, *sinks[2];
	struct prog *prog;
	struct bench b;

	setup(&b, true);
	gen = add_port(b.engine, "mem:frames=256,count=20000", true);
	sinks[0] = add_port(b.engine, "null", false);
	sinks[1] = add_port(b.engine, "null", false);
	engine_attach(b.engine, b.in, NULL);
	prog = fixed_prog(b.map);
	engine_attach(b.engine, gen, prog);
	prog_put(prog);
	set_entry(&b, 2, sinks[0]->ifindex, 0, 0);
	engine_limit(b.engine, 20000);
	assert_int_equal(engine_start(b.engine, &err), 0);
	for (uint32_t i = 0; i < 100 || !engine_done(b.engine); i++) {
		if (i & 1)
			set_entry_with_own_program(&b, sinks[1]->ifindex);
		else
			set_entry(&b, 2, sinks[0]->ifindex, 0, 0);
	}
	engine_stop(b.engine);
	engine_totals(b.engine, &t);
	assert_int_equal(t.received, 20000);
	assert_int_equal(t.transmitted, 20000);
	teardown(&b);
}

/* A refused port leaves nothing behind. */
static void test_bad_ports(void **state)
{
	static const char *const specs[] = { "warp:x", "mem:,colour=red",
					     "pcap:/nonexistent/x.pcap" };
	struct bench b;

	setup(&b, false);
	for (uint32_t i = 0; i < 3; i++) {
		struct port_spec spec;
		struct port *port = NULL;
		struct err err = { 0 };

		if (!port_spec_parse(&spec, specs[i], &err))
			assert_true(engine_add_port(b.engine, &spec, true, &port, &err) < 0);
		assert_null(port);
		assert_true(err.text[0]);
	}
	assert_null(engine_port_at(b.engine, 3));
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_b1_06_a_target_that_cannot_send),
		cmocka_unit_test(test_b1_07_redirect_is_checked_later),
		cmocka_unit_test(test_b1_08_miss_returns_the_low_flag_bits),
		cmocka_unit_test(test_devmap_refuses_unknown_interfaces),
		cmocka_unit_test(test_egress_program_of_a_devmap),
		cmocka_unit_test(test_replaced_entry_is_used_at_once),
		cmocka_unit_test(test_b1_13_order_over_two_redirects),
		cmocka_unit_test(test_b1_15_programs_run_on_ingress_only),
		cmocka_unit_test(test_faults_are_kept),
		cmocka_unit_test(test_devmap_updates_while_running),
		cmocka_unit_test(test_bad_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
