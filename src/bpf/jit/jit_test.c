/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled programs against the interpreter: the same program, packet and maps give the same verdict, fault and
 * bytes. Packets stand against pages without access on both sides, since ASan cannot see compiled code. The
 * instructions one by one are in tests/isa.
 *
 * In the programs here `lddw rN, MAP(i)` is the address of map i of the case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/jit.h"
#include "bpf/load.h"
#include "bpf/prog.h"
#include "bpf/sys.h"
#include "maps/map.h"

#include "asm.h"

enum { PAGE = 4096, PACKET = 64, MAPS = 6, MAP_MARK = 0x6d617000 };

#define MAP(i) "0x6d61700" #i

enum { ARRAY, PERCPU, HASH, RDONLY, PROGS, VALUES16 };

struct place {
	uint8_t *page; /* between two without access */
	struct run_ctx rc;
	struct map *maps[MAPS];
};

static struct place places[2]; /* ENGINE_INTERP, ENGINE_JIT */

/*
 * Beside a fault: the interpreter looks addresses up, and finds what lies beside: another value, another frame.
 * Compiled code holds a pointer to what it was made from, as the verifier does.
 */
enum { STRICTER = 1 << 8 };

struct test_case {
	const char *name;
	const char *text;
	uint32_t fault; /* enum fault_reason; FAULT_NONE: result */
	uint32_t result;
};

static struct map *make_map(uint32_t type, uint32_t key_size, uint32_t value_size, uint32_t flags)
{
	struct map_attr attr = { .type = type,
				 .key_size = key_size,
				 .value_size = value_size,
				 .max_entries = 4,
				 .flags = flags,
				 .name = "case" };
	struct map *map;

	assert_int_equal(map_create(&map, &attr), 0);
	return map;
}

static void make_maps(struct place *p)
{
	const uint32_t key = 1;
	const uint64_t value = 77;

	p->maps[ARRAY] = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 0);
	p->maps[PERCPU] = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 0);
	p->maps[HASH] = make_map(BPF_MAP_TYPE_HASH, 4, 8, 0);
	p->maps[RDONLY] = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, BPF_F_RDONLY_PROG);
	p->maps[PROGS] = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 0);
	p->maps[VALUES16] = make_map(BPF_MAP_TYPE_ARRAY, 4, 16, 0);
	assert_int_equal(map_sys_update(p->maps[ARRAY], &key, &value, 0), 0);
	assert_int_equal(map_sys_update(p->maps[HASH], &key, &value, 0), 0);
}

static void drop_maps(struct place *p)
{
	for (int i = 0; i < MAPS; i++)
		map_put(p->maps[i]);
}

static struct prog *load(const struct place *p, const char *text, enum prog_engine engine)
{
	struct bpf_insn insns[ASM_INSNS_MAX];
	struct prog_attr attr = { .type = BPF_PROG_TYPE_XDP,
				  .expected_attach_type = BPF_XDP,
				  .insns = insns,
				  .gpl = true,
				  .name = "case",
				  .engine = engine };
	char error[ASM_ERROR];
	struct err err = { "" };
	struct prog *prog;
	int n = asm_program(insns, text, false, error);

	if (n < 0)
		fail_msg("%s", error);
	for (int i = 0; i < n; i++) {
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW) || insns[i].src_reg ||
		    (insns[i].imm & ~15) != MAP_MARK)
			continue;
		insns[i].src_reg = BPF_PSEUDO_MAP_FD;
		insns[i].imm = (int32_t)p->maps[insns[i].imm & 15]->obj.id;
	}
	attr.n_insns = (uint32_t)n;
	if (prog_create(&prog, &attr, &err))
		fail_msg("%s", err.text);
	return prog;
}

/* 16 bytes of metadata before the packet, which ends, or begins with its metadata, at an edge of the page. */
static void place_packet(const struct place *p, struct frame *f, bool at_end)
{
	*f = (struct frame){ .ingress_ifindex = 3, .rx_queue_index = 1 };
	memset(p->page, 0, PAGE);
	/* The room to grow ends with the page. */
	f->hard_start = at_end ? p->page + FRAME_TAILROOM : p->page;
	f->data_meta = at_end ? p->page + PAGE - PACKET - 16 : p->page;
	f->data = f->data_meta + 16;
	f->data_end = f->data + PACKET;
	for (uint32_t i = 0; i < PACKET; i++)
		f->data[i] = (uint8_t)(i + 1);
}

static void compare_maps(void)
{
	for (int i = 0; i < MAPS; i++) {
		const struct area *a = &places[0].maps[i]->area, *b = &places[1].maps[i]->area;

		if (a->base && memcmp(a->base, b->base, a->size))
			fail_msg("map %d differs", i);
	}
}

static void check_run(const struct test_case *c, struct prog *const progs[2], bool at_end)
{
	struct frame f[2];
	uint32_t verdict[2], fault = c->fault & ~(uint32_t)STRICTER;

	for (int e = 0; e < 2; e++) {
		place_packet(&places[e], &f[e], at_end);
		verdict[e] = prog_run(progs[e], &places[e].rc, &f[e]);
	}
	if (places[1].rc.fault.reason != fault)
		fail_msg("fault %d at instruction %u", (int)places[1].rc.fault.reason,
			 places[1].rc.fault.insn);
	assert_int_equal(verdict[1], fault ? XDP_ABORTED : c->result);
	if (c->fault & STRICTER)
		return;
	assert_int_equal(verdict[0], verdict[1]);
	assert_int_equal(places[0].rc.fault.reason, places[1].rc.fault.reason);
	if (fault) {
		assert_int_equal(places[0].rc.fault.insn, places[1].rc.fault.insn);
		assert_int_equal(places[0].rc.fault.size, places[1].rc.fault.size);
		if (llabs(places[1].rc.fault.packet_off) < PAGE)
			assert_int_equal(places[0].rc.fault.packet_off,
					 places[1].rc.fault.packet_off);
	}
	assert_int_equal(f[0].data - places[0].page, f[1].data - places[1].page);
	assert_int_equal(f[0].data_end - places[0].page, f[1].data_end - places[1].page);
	assert_memory_equal(places[0].page, places[1].page, PAGE);
	compare_maps();
}

static void run_case(void **state)
{
	const struct test_case *c = *state;
	struct prog *progs[2];

	for (int e = 0; e < 2; e++) {
		make_maps(&places[e]);
		progs[e] = load(&places[e], c->text, e ? ENGINE_JIT : ENGINE_INTERP);
	}
	for (int at_end = 0; at_end < 2; at_end++)
		check_run(c, progs, at_end);
	for (int e = 0; e < 2; e++) {
		prog_put(progs[e]);
		drop_maps(&places[e]);
	}
}

/* r2: data, r3: data_end, r4: data_meta */
#define PACKET_REGS                                                                                \
	"ldxw r2, [r1+0]\n"                                                                        \
	"ldxw r3, [r1+4]\n"                                                                        \
	"ldxw r4, [r1+8]\n"

/* r0: the value of `key` in the map, r6: the context */
#define LOOK_UP(map, key)                                                                          \
	"mov64 r6, r1\n"                                                                           \
	"stw [r10-4], " key "\n"                                                                   \
	"lddw r1, " map "\n"                                                                       \
	"mov64 r2, r10\n"                                                                          \
	"add64 r2, -4\n"                                                                           \
	"call 1\n"

#define OR_LEAVE "jne r0, 0, found\nmov64 r0, 99\nexit\nfound:\n"

static const struct test_case cases[] = {
	{ "packet: within", PACKET_REGS "ldxb r0, [r2+63]\nexit\n", 0, 64 },
	{ "packet: across the end", PACKET_REGS "ldxw r0, [r2+61]\nexit\n", FAULT_BAD_ACCESS, 0 },
	{ "packet: behind the end", PACKET_REGS "ldxb r0, [r3+0]\nexit\n", FAULT_BAD_ACCESS, 0 },
	{ "packet: before the metadata", PACKET_REGS "ldxb r0, [r4-1]\nexit\n", FAULT_BAD_ACCESS,
	  0 },
	{ "packet: a store behind the end", PACKET_REGS "stxdw [r2+60], r2\nmov64 r0, 1\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "packet: an address that wraps",
	  PACKET_REGS "mov64 r5, 0\nsub64 r5, r2\nadd64 r2, r5\nldxdw r0, [r2-8]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "packet: a huge offset",
	  PACKET_REGS "lddw r5, 0x7fffffffffffffff\nadd64 r2, r5\n"
		      "ldxdw r0, [r2+0]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "packet: an offset from the packet",
	  PACKET_REGS "ldxb r5, [r2+9]\nadd64 r2, r5\nldxb r0, [r2+1]\nexit\n", 0, 12 },
	{ "packet: checked by the program",
	  PACKET_REGS "mov64 r5, r2\nadd64 r5, 64\nmov64 r0, 1\njgt r5, r3, out\n"
		      "ldxdw r0, [r2+56]\nrsh64 r0, 56\nout:\nexit\n",
	  0, 64 },
	{ "metadata: within", PACKET_REGS "stw [r4+12], 7\nldxw r0, [r4+12]\nexit\n", 0, 7 },
	{ "packet: either of two pointers",
	  PACKET_REGS
	  "ldxb r5, [r2+0]\njeq r5, 1, other\nmov64 r2, r4\nother:\nldxb r0, [r2+2]\nexit\n",
	  0, 3 },
	{ "spill: a packet pointer",
	  PACKET_REGS "stxdw [r10-8], r2\nmov64 r2, 0\nldxdw r5, [r10-8]\nldxb r0, [r5+3]\nexit\n",
	  0, 4 },
	{ "spill: overwritten in part",
	  PACKET_REGS
	  "stxdw [r10-8], r2\nstb [r10-3], 1\nldxdw r5, [r10-8]\nldxb r0, [r5+3]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "spill: beside a key",
	  PACKET_REGS "stxdw [r10-16], r2\n" LOOK_UP(MAP(0), "1") OR_LEAVE
	  "ldxdw r2, [r10-16]\nldxb r0, [r2+5]\nexit\n",
	  0, 6 },
	{ "spill: a value",
	  LOOK_UP(MAP(0), "1") "stxdw [r10-16], r0\nmov64 r0, 0\nldxdw r0, [r10-16]\n" OR_LEAVE
			       "ldxdw r0, [r0+0]\nexit\n",
	  0, 77 },
	{ "array: a value", LOOK_UP(MAP(0), "1") OR_LEAVE "ldxdw r0, [r0+0]\nexit\n", 0, 77 },
	{ "array: beyond its entries", LOOK_UP(MAP(0), "4") OR_LEAVE "exit\n", 0, 99 },
	{ "array: a negative index", LOOK_UP(MAP(0), "-1") OR_LEAVE "exit\n", 0, 99 },
	{ "array: not checked for NULL", LOOK_UP(MAP(0), "9") "ldxdw r0, [r0+0]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "array: across the value", LOOK_UP(MAP(0), "1") OR_LEAVE "ldxdw r0, [r0+4]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "array: before the value", LOOK_UP(MAP(0), "1") OR_LEAVE "ldxb r0, [r0-1]\nexit\n",
	  FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "array: values of two maps",
	  "ldxw r7, [r1+12]\n" LOOK_UP(MAP(0), "1") OR_LEAVE
	  "mov64 r8, r0\n"
	  "jne r7, 3, one\n"
	  "stw [r10-4], 1\nlddw r1, " MAP(
		  5) "\nmov64 r2, r10\nadd64 r2, -4\ncall 1\nmov64 r8, r0\n"
		     "one:\njeq r8, 0, found\nldxdw r0, [r8+8]\nadd64 r0, 5\nexit\n",
	  0, 5 },
	{ "per-CPU array: counts",
	  LOOK_UP(MAP(1), "2") OR_LEAVE
	  "ldxdw r1, [r0+0]\nadd64 r1, 1\nstxdw [r0+0], r1\nmov64 r0, 2\nexit\n",
	  0, 2 },
	{ "hash: a value", LOOK_UP(MAP(2), "1") OR_LEAVE "ldxdw r0, [r0+0]\nexit\n", 0, 77 },
	{ "hash: absent", LOOK_UP(MAP(2), "2") OR_LEAVE "exit\n", 0, 99 },
	{ "hash: beyond the value", LOOK_UP(MAP(2), "1") OR_LEAVE "ldxw r0, [r0+8]\nexit\n",
	  FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "read-only: read", LOOK_UP(MAP(3), "1") OR_LEAVE "ldxdw r0, [r0+0]\nexit\n", 0, 0 },
	{ "read-only: written", LOOK_UP(MAP(3), "1") OR_LEAVE "stdw [r0+0], 1\nexit\n",
	  FAULT_READ_ONLY, 0 },
	{ "atomic: a value",
	  LOOK_UP(MAP(0), "1") OR_LEAVE
	  "mov64 r1, 5\nfetch_add64 [r0+0], r1\nmov64 r2, -5\n"
	  "atomic_add64 [r0+0], r2\nmov64 r0, r1\nrsh64 r0, 3\nexit\n",
	  0, 9 },
	{ "atomic: misaligned",
	  LOOK_UP(MAP(5), "1") OR_LEAVE "mov64 r1, 5\natomic_add32 [r0+2], r1\nexit\n",
	  FAULT_MISALIGNED, 0 },
	{ "key: outside the frame",
	  "lddw r1, " MAP(0) "\nmov64 r2, r10\nadd64 r2, -2\ncall 1\nmov64 r0, 1\nexit\n",
	  FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "key: in the packet",
	  PACKET_REGS "stw [r2+0], 1\nlddw r1, " MAP(0) "\ncall 1\n" OR_LEAVE
							"ldxdw r0, [r0+0]\nexit\n",
	  0, 77 },
	{ "key: behind the packet", PACKET_REGS "lddw r1, " MAP(0) "\nadd64 r2, 61\ncall 1\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "key: a number", "mov64 r2, 64\nlddw r1, " MAP(0) "\ncall 1\nexit\n", FAULT_BAD_ACCESS,
	  0 },
	{ "map: a number", "mov64 r1, 64\nmov64 r2, r10\nadd64 r2, -8\ncall 1\nexit\n",
	  FAULT_BAD_HELPER_ARG, 0 },
	{ "stack: an offset that varies",
	  PACKET_REGS "stdw [r10-8], 0\nstdw [r10-16], 0\nstb [r10-14], 9\nldxb r5, [r2+0]\n"
		      "mov64 r4, r10\nadd64 r4, -16\nadd64 r4, r5\nldxb r0, [r4+1]\nexit\n",
	  0, 9 },
	{ "stack: an offset that leaves it",
	  PACKET_REGS
	  "ldxb r5, [r2+15]\nmov64 r4, r10\nadd64 r4, -16\nadd64 r4, r5\nldxb r0, [r4+0]\nexit\n",
	  FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "stack: above", "ldxb r0, [r10+0]\nexit\n", FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "context: a pointer to it in the stack",
	  "stxdw [r10-8], r1\nldxdw r2, [r10-8]\nldxw r0, [r2+12]\nexit\n", 0, 3 },
	{ "context: written", "stw [r1+12], 1\nmov64 r0, 1\nexit\n", FAULT_READ_ONLY, 0 },
	{ "load_bytes: a whole packet",
	  "mov64 r2, 0\nmov64 r3, r10\nadd64 r3, -64\nmov64 r4, 60\ncall 189\nldxb r1, "
	  "[r10-5]\nadd64 r0, r1\nexit\n",
	  0, 60 },
	{ "load_bytes: beyond it",
	  "mov64 r2, 5\nmov64 r3, r10\nadd64 r3, -64\nmov64 r4, 60\ncall 189\nexit\n", 0,
	  (uint32_t)-22 },
	{ "load_bytes: a wild offset",
	  "lddw r2, 0x10000\nmov64 r3, r10\nadd64 r3, -64\nmov64 r4, 60\ncall 189\nexit\n", 0,
	  (uint32_t)-14 },
	{ "load_bytes: into too small a frame",
	  "mov64 r2, 0\nmov64 r3, r10\nadd64 r3, -56\nmov64 r4, 60\ncall 189\nexit\n",
	  FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "adjust_tail: old pointers are guarded by the new bounds",
	  "mov64 r6, r1\nldxw r7, [r1+0]\nmov64 r2, -8\ncall 65\nldxb r0, [r7+60]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "adjust_tail: new pointers",
	  "mov64 r6, r1\nmov64 r2, -8\ncall 65\nldxw r7, [r6+0]\nldxb r0, [r7+55]\nexit\n", 0, 56 },
	{ "call: the packet in a subprogram",
	  PACKET_REGS "mov64 r1, r2\nmov64 r2, r3\ncallsub sub\nexit\nsub:\nmov64 r3, r1\nadd64 "
		      "r3, 8\nmov64 r0, 1\n"
		      "jgt r3, r2, out\nldxb r0, [r1+7]\nout:\nret\n",
	  0, 8 },
	{ "call: a caller's frame",
	  "stdw [r10-8], 5\nmov64 r1, r10\nadd64 r1, -8\ncallsub sub\nldxdw r1, [r10-8]\nadd64 r0, "
	  "r1\nexit\n"
	  "sub:\nldxdw r0, [r1+0]\nstdw [r1+0], 6\nstdw [r10-8], 100\nret\n",
	  0, 11 },
	{ "call: beyond a caller's frame",
	  "mov64 r1, r10\ncallsub sub\nexit\nsub:\nldxdw r0, [r1+4096]\nret\n", FAULT_BAD_ACCESS,
	  0 },
	{ "call: a structure of pointers",
	  "stxdw [r10-8], r1\nmov64 r1, r10\nadd64 r1, -8\ncallsub sub\nexit\n"
	  "sub:\nldxdw r1, [r1+0]\nldxw r0, [r1+12]\nret\n",
	  0, 3 },
	{ "call: returns a value",
	  "callsub sub\n" OR_LEAVE "ldxdw r0, [r0+0]\nexit\nsub:\n"
	  "stw [r10-4], 1\nlddw r1, " MAP(0) "\nmov64 r2, r10\nadd64 r2, -4\ncall 1\nret\n",
	  0, 77 },
	{ "call: a frame that ended",
	  "ldxw r1, [r1+12]\ncallsub sub\n" OR_LEAVE
	  "ldxdw r0, [r0-8]\nexit\nsub:\njeq r1, 3, frame\n"
	  "stw [r10-4], 1\nlddw r1, " MAP(
		  0) "\nmov64 r2, r10\nadd64 r2, -4\ncall 1\nret\n"
		     "frame:\nstxdw [r10-8], r10\nstb [r10-1], 0\nldxdw r0, [r10-8]\nret\n",
	  FAULT_BAD_ACCESS | STRICTER, 0 },
	{ "call: the callee moves the packet",
	  "mov64 r6, r1\nldxw r7, [r1+0]\ncallsub sub\nldxb r0, [r7+60]\nexit\nsub:\nmov64 r2, "
	  "-8\ncall 65\nret\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "call: a fault in the callee",
	  "callsub sub\nmov64 r0, 2\nexit\nsub:\nmov64 r1, 0\nldxb r0, [r1+0]\nret\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "call: r6 to r9 are the caller's",
	  "mov64 r6, 1\nmov64 r9, 2\ncallsub sub\nmov64 r0, r6\nadd64 r0, r9\nexit\nsub:\nmov64 "
	  "r6, 8\nmov64 r9, 9\nret\n",
	  0, 3 },
	{ "call: without end", "callsub sub\nexit\nsub:\ncallsub sub\nret\n", FAULT_CALL_DEPTH, 0 },
	{ "loop: a few turns",
	  "mov64 r0, 0\nmov64 r1, 0\nagain:\nadd64 r0, 3\nadd64 r1, 1\njlt r1, 10, again\nexit\n",
	  0, 30 },
	{ "loop: over the packet",
	  PACKET_REGS
	  "mov64 r0, 0\nagain:\njge r2, r3, out\nldxb r5, [r2+0]\nadd64 r0, r5\nadd64 r2, 1\n"
	  "ja again\nout:\nexit\n",
	  0, 64 * 65 / 2 },
	{ "loop: without end", "mov64 r0, 0\nagain:\nadd64 r0, 1\nja again\nexit\n", FAULT_FUEL,
	  0 },
	{ "loop: without end in a subprogram", "callsub sub\nexit\nsub:\nagain:\nja again\nret\n",
	  FAULT_FUEL, 0 },
	{ "bpf_loop: all turns",
	  "stdw [r10-8], 0\nmov64 r1, 10\nfunc r2, turn\nmov64 r3, r10\nadd64 r3, -8\nmov64 r4, "
	  "0\ncall 181\n"
	  "ldxdw r1, [r10-8]\nlsh64 r1, 8\nadd64 r0, r1\nexit\n"
	  "turn:\nldxdw r3, [r2+0]\nadd64 r3, r1\nstxdw [r2+0], r3\nmov64 r0, 0\nret\n",
	  0, (45 << 8) + 10 },
	{ "bpf_loop: stops early",
	  "mov64 r1, 10\nfunc r2, turn\nmov64 r3, 0\nmov64 r4, 0\ncall 181\nexit\n"
	  "turn:\nmov64 r0, 0\njlt r1, 4, out\nmov64 r0, 1\nout:\nret\n",
	  0, 5 },
	{ "bpf_loop: too many turns",
	  "lddw r1, 0x800001\nfunc r2, turn\nmov64 r3, 0\nmov64 r4, 0\ncall "
	  "181\nexit\nturn:\nmov64 r0, 0\nret\n",
	  0, (uint32_t)-7 },
	{ "bpf_loop: flags",
	  "mov64 r1, 1\nfunc r2, turn\nmov64 r3, 0\nmov64 r4, 1\ncall 181\nexit\nturn:\nmov64 r0, "
	  "0\nret\n",
	  0, (uint32_t)-22 },
	{ "bpf_loop: a fault in a turn",
	  "mov64 r1, 9\nfunc r2, turn\nmov64 r3, 0\nmov64 r4, 0\ncall 181\nexit\n"
	  "turn:\nldxb r0, [r2+0]\nret\n",
	  FAULT_BAD_ACCESS, 0 },
	{ "bpf_loop: the context in a structure",
	  "stxdw [r10-8], r1\nmov64 r1, 3\nfunc r2, turn\nmov64 r3, r10\nadd64 r3, -8\nmov64 r4, "
	  "0\ncall 181\nexit\n"
	  "turn:\nldxdw r2, [r2+0]\nldxw r3, [r2+0]\nldxb r0, [r3+1]\nsub64 r0, 1\nret\n",
	  0, 1 },
	{ "redirect", "mov64 r1, 7\nmov64 r2, 0\ncall 23\nexit\n", 0, XDP_REDIRECT },
	{ "redirect: flags", "mov64 r1, 7\nmov64 r2, 4\ncall 23\nexit\n", 0, XDP_ABORTED },
	{ "tail call: an empty slot",
	  "mov64 r6, r1\nlddw r2, " MAP(4) "\nmov64 r3, 1\ncall 12\nmov64 r0, 5\nexit\n", 0, 5 },
	{ "tail call: out of range",
	  "mov64 r6, r1\nlddw r2, " MAP(4) "\nmov64 r3, 100\ncall 12\nmov64 r0, 6\nexit\n", 0, 6 },
	{ "pointers: arithmetic on both sides",
	  PACKET_REGS "mov64 r0, r3\nsub64 r0, r2\nmov64 r5, 4\nadd64 r5, r2\nldxb r1, "
		      "[r5+0]\nadd64 r0, r1\nexit\n",
	  0, 64 + 5 },
	{ "pointers: through 32 bits", PACKET_REGS "mov32 r2, r2\nldxb r0, [r2+0]\nexit\n",
	  FAULT_BAD_ACCESS, 0 },
};

/* A program that calls itself 33 times, and then one that is called from a subprogram. */
static void put_prog(struct map *map, uint32_t index, struct prog *prog)
{
	int fd = sys_fd_install(&prog->po.obj);

	assert_true(fd >= 0);
	assert_int_equal(map_sys_update(map, &index, &fd, 0), 0);
	close(fd);
}

static uint32_t run_with_target(const char *text, const char *target, int e)
{
	enum prog_engine engine = e ? ENGINE_JIT : ENGINE_INTERP;
	struct prog *prog, *next;
	struct frame f;
	uint32_t verdict;

	make_maps(&places[e]);
	prog = load(&places[e], text, engine);
	next = target ? load(&places[e], target, engine) : prog_get(prog);
	put_prog(places[e].maps[PROGS], 0, next);
	place_packet(&places[e], &f, true);
	verdict = prog_run(prog, &places[e].rc, &f);
	prog_put(prog);
	prog_put(next);
	map_uref_get(places[e].maps[PROGS]);
	map_uref_put(places[e].maps[PROGS]);
	drop_maps(&places[e]);
	return verdict;
}

#define TAIL_CALL "lddw r2, " MAP(4) "\nmov64 r3, 0\ncall 12\n"

static void tail_call_limit(void **state)
{
	static const char text[] = "mov64 r6, r1\n" LOOK_UP(MAP(0), "0") OR_LEAVE
		"ldxdw r7, [r0+0]\nadd64 r7, 1\nstxdw [r0+0], r7\nmov64 r1, r6\n" TAIL_CALL
		"mov64 r0, r7\nexit\n";

	for (int e = 0; e < 2; e++)
		assert_int_equal(run_with_target(text, NULL, e), 34);
}

static void tail_call_in_subprogram(void **state)
{
	static const char text[] =
		"stdw [r10-8], 40\nmov64 r2, r10\ncallsub sub\nldxdw r1, [r10-8]\n"
		"add64 r0, r1\nexit\nsub:\nldxdw r4, [r2-8]\n" TAIL_CALL "mov64 r0, 1\nret\n";
	static const char target[] = "stdw [r10-8], 1\nmov64 r0, 2\nmov64 r2, r10\nmov64 r1, r2\n"
				     "callsub sub\nexit\nsub:\nstdw [r1-16], 9\nmov64 r0, 2\nret\n";

	for (int e = 0; e < 2; e++)
		assert_int_equal(run_with_target(text, target, e), 42);
}

static void tail_call_faults(void **state)
{
	static const char text[] = TAIL_CALL "mov64 r0, 3\nexit\n";
	static const char target[] = "mov64 r1, 1\nldxb r0, [r1+0]\nexit\n";

	for (int e = 0; e < 2; e++) {
		assert_int_equal(run_with_target(text, target, e), XDP_ABORTED);
		assert_int_equal(places[e].rc.fault.reason, FAULT_BAD_ACCESS);
		assert_int_equal(places[e].rc.fault.insn, 1);
	}
}

/* One frame of a burst faults: the others do not see it. */
static void burst_with_a_fault(void **state)
{
	static const char text[] =
		PACKET_REGS "ldxb r5, [r2+0]\nadd64 r2, r5\nldxb r0, [r2+0]\nexit\n";
	struct frame f[3], *frames[3] = { &f[0], &f[1], &f[2] };
	uint32_t verdicts[3];
	struct place *p = &places[ENGINE_JIT];
	uint64_t faults = p->rc.faults;
	struct prog *prog;

	make_maps(p);
	prog = load(p, text, ENGINE_JIT);
	for (int i = 0; i < 3; i++) {
		place_packet(p, &f[i], true);
		f[i].data += i;
	}
	f[1].data = f[1].data_end - 1;
	prog_run_burst(prog, &p->rc, frames, 3, verdicts);
	assert_int_equal(verdicts[0], 2);
	assert_int_equal(verdicts[1], XDP_ABORTED);
	assert_int_equal(verdicts[2], 6);
	assert_int_equal(p->rc.faults, faults + 1);
	assert_int_equal(p->rc.fault.reason, FAULT_NONE);
	assert_int_equal(p->rc.last_fault.insn, 5);
	prog_put(prog);
	drop_maps(p);
}

/* Objects of Debian's packages, where they are installed, on random packets. */

static uint64_t seed = 88172645463325252u;

static uint32_t random_u32(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

static uint32_t random_packet(uint8_t *p)
{
	static const uint8_t protocols[] = { 1, 4, 6, 17 };
	uint32_t len = 14 + random_u32() % 100, type = 12, kind = random_u32() % 4;

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)random_u32();
	if (random_u32() % 4 == 0) {
		p[12] = 0x81;
		p[13] = 0;
		type = 16;
	}
	p[type] = kind ? 0x08 : 0x86;
	p[type + 1] = kind ? 0 : 0xdd;
	p[type + 2] = kind ? 0x45 : 0x60;
	p[type + (kind ? 11 : 8)] = protocols[random_u32() % 4];
	if (kind)
		p[type + 8] = p[type + 9] = 0;
	return len < type + 12 ? type + 12 : len;
}

static struct object *open_object(const char *path, enum prog_engine engine)
{
	struct object_cfg cfg = { .engine = engine };
	struct err err = { "" };
	struct object *obj;

	if (object_open(&obj, path, &cfg, &err) || object_load(obj, &err))
		fail_msg("%s", err.text);
	return obj;
}

static void compare_object(struct prog *const progs[2], uint32_t n)
{
	uint8_t packet[256] = { 0 };
	uint32_t verdict[2];

	while (n--) {
		uint32_t len = random_packet(packet);
		struct frame f[2];

		for (int e = 0; e < 2; e++) {
			uint8_t *page = places[e].page;

			f[e] = (struct frame){ .ingress_ifindex = 1, .hard_start = page };
			f[e].data = page + PAGE - len;
			f[e].data_end = page + PAGE;
			f[e].data_meta = f[e].data;
			memcpy(f[e].data, packet, len);
			verdict[e] = prog_run(progs[e], &places[e].rc, &f[e]);
			assert_int_equal(places[e].rc.fault.reason, FAULT_NONE);
		}
		assert_int_equal(verdict[0], verdict[1]);
		assert_memory_equal(f[0].data, f[1].data, len);
	}
}

static void objects_agree(void **state)
{
	static const char *const names[] = { "xdpfilt_dny_all", "xdpfilt_alw_ip", "xdpdump_xdp",
					     "xsk_def_xdp_prog", "xdp-dispatcher" };
	char path[200];

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct object *obj[2];
		struct prog *progs[2];

		snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/bpf/%s.o", names[i]);
		if (access(path, R_OK)) {
			print_message("no %s: xdp-tools and libxdp1 are not installed\n", path);
			continue;
		}
		for (int e = 0; e < 2; e++) {
			obj[e] = open_object(path, e ? ENGINE_JIT : ENGINE_INTERP);
			progs[e] = object_prog_at(obj[e], 0);
		}
		compare_object(progs, 5000);
		object_close(obj[0]);
		object_close(obj[1]);
	}
}

static int set_up(void)
{
	for (int e = 0; e < 2; e++) {
		uint8_t *mem = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (mem == MAP_FAILED || mprotect(mem + PAGE, PAGE, PROT_READ | PROT_WRITE))
			return -1;
		places[e].page = mem + PAGE;
		if (run_ctx_init(&places[e].rc, 0, NULL))
			return -1;
	}
	return 0;
}

int main(void)
{
	enum { N = sizeof(cases) / sizeof(cases[0]) };
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(tail_call_limit),  cmocka_unit_test(tail_call_in_subprogram),
		cmocka_unit_test(tail_call_faults), cmocka_unit_test(burst_with_a_fault),
		cmocka_unit_test(objects_agree),
	};
	struct CMUnitTest tests[N];
	int failed;

	if (set_up())
		return 1;
	for (int i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)(uintptr_t)&cases[i] };
	failed = _cmocka_run_group_tests("cases", tests, N, NULL, NULL);
	failed += cmocka_run_group_tests(others, NULL, NULL);
	for (int e = 0; e < 2; e++) {
		run_ctx_fini(&places[e].rc);
		munmap(places[e].page - PAGE, 3 * PAGE);
	}
	return failed ? 1 : 0;
}
