/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs, most of which no verifier would take: decoding refuses them or the run ends, with a verdict or
 * a fault, and nothing outside the program's memory is touched (ASan, and the pages without access around
 * stack, packet and maps, tell). Jumps go forward only, so that every run is short. The seed is printed.
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

#include "bpf/helper.h"
#include "bpf/jit.h"
#include "bpf/prog.h"
#include "maps/map.h"

enum { PAGE = 4096, INSNS = 80, PROGRAMS = 20000, PROGRAMS_JIT = 300, MAPS = 6, PACKET = 64 };

static uint64_t seed = 1;
static struct run_ctx rc;
static uint8_t *chunk; /* a page between two without access */
static struct map *maps[MAPS];

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

#define PICK(a) ((a)[random_below(sizeof(a) / sizeof((a)[0]))])

static int32_t random_imm(void)
{
	static const int32_t edges[] = { 0,  1,	   -1, 2,  4,	      8,	-8,
					 -4, -512, 14, 64, INT32_MAX, INT32_MIN };

	return random_below(4) ? PICK(edges) : (int32_t)(random_below(UINT32_MAX));
}

static int16_t random_off(void)
{
	static const int16_t edges[] = { 0,  4,	  8,	12,   16, 20, -1,	-4,
					 -8, -16, -512, -513, 63, 60, INT16_MAX };

	return PICK(edges);
}

static struct bpf_insn random_memory(void)
{
	static const uint8_t codes[] = { 0x61, 0x69, 0x71, 0x79, 0x81, 0x89, 0x91, 0x62, 0x6a,
					 0x72, 0x7a, 0x63, 0x6b, 0x73, 0x7b, 0xc3, 0xdb };
	static const int32_t atomics[] = { 0x00, 0x01, 0x40, 0x41, 0x50,  0x51,
					   0xa0, 0xa1, 0xe1, 0xf1, 0x100, 0x110 };
	struct bpf_insn insn = { .code = PICK(codes), .off = random_off() };

	insn.dst_reg = random_below(11) & 0xf;
	if (BPF_CLASS(insn.code) == BPF_LDX)
		insn.dst_reg = random_below(10) & 0xf;
	if (BPF_CLASS(insn.code) == BPF_ST)
		insn.imm = random_imm();
	else
		insn.src_reg = random_below(BPF_MODE(insn.code) == BPF_ATOMIC ? 10 : 11) & 0xf;
	if (BPF_MODE(insn.code) == BPF_ATOMIC)
		insn.imm = PICK(atomics);
	return insn;
}

static struct bpf_insn random_alu(void)
{
	static const uint8_t ops[] = { BPF_ADD, BPF_SUB,  BPF_MUL, BPF_DIV, BPF_OR,
				       BPF_AND, BPF_LSH,  BPF_RSH, BPF_MOD, BPF_XOR,
				       BPF_MOV, BPF_ARSH, BPF_MOV, BPF_ADD };
	struct bpf_insn insn = { .code = (uint8_t)(PICK(ops) |
						   (random_below(3) ? BPF_ALU64 : BPF_ALU)) };

	insn.dst_reg = random_below(random_below(50) ? 6 : 10) & 0xf;
	if (random_below(2)) {
		insn.code |= BPF_X;
		insn.src_reg = random_below(11) & 0xf;
	} else {
		insn.imm = random_imm();
	}
	return insn;
}

static struct bpf_insn random_jump(uint32_t left)
{
	static const uint8_t ops[] = { BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JSGT, BPF_JSET, BPF_JA };
	struct bpf_insn insn = { .code = (uint8_t)(PICK(ops) | BPF_JMP),
				 .off = (int16_t)random_below(left < 6 ? left : 6) };

	if (BPF_OP(insn.code) != BPF_JA) {
		insn.dst_reg = random_below(11) & 0xf;
		insn.imm = random_imm();
	}
	return insn;
}

static const struct helper *random_helper(void)
{
	const struct helper *h;
	uint32_t n = 0;

	while (helper_at(n))
		n++;
	do
		h = helper_at(random_below(n));
	while (!h->id || (h->args[0] >= ARG_RINGBUF_RECORD && random_below(20)));
	return h;
}

/* Two slots: a number, a map, the address of a map's value, a callback. */
static void random_wide(struct bpf_insn *insn, uint32_t left)
{
	uint32_t kind = random_below(4);

	insn[0] = (struct bpf_insn){ .code = BPF_LD | BPF_IMM | BPF_DW };
	insn[0].dst_reg = random_below(10) & 0xf;
	insn[1] = (struct bpf_insn){ 0 };
	if (kind == 0) {
		insn[0].imm = random_imm();
		insn[1].imm = random_imm();
	} else if (kind == 1) {
		insn[0].src_reg = BPF_PSEUDO_MAP_FD;
		insn[0].imm = (int32_t)maps[random_below(MAPS)]->obj.id;
	} else if (kind == 2) {
		insn[0].src_reg = BPF_PSEUDO_MAP_VALUE;
		insn[0].imm = (int32_t)maps[0]->obj.id;
	} else {
		insn[0].src_reg = BPF_PSEUDO_FUNC;
		insn[0].imm = (int32_t)left;
	}
}

static struct bpf_insn mov(uint32_t dst, uint32_t src)
{
	return (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,
				  .dst_reg = dst & 0xf,
				  .src_reg = src & 0xf };
}

static struct bpf_insn mov_imm(uint32_t dst, int32_t imm)
{
	return (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K,
				  .dst_reg = dst & 0xf,
				  .imm = imm };
}

/* r6: context, r7: packet, r8: a map's value, r9: 64 bytes of stack below which as many are free. */
static uint32_t prologue(struct bpf_insn *insns)
{
	uint32_t n = 0;

	insns[n++] = mov(6, 1);
	insns[n++] = (struct bpf_insn){ .code = 0x61, .dst_reg = 7, .src_reg = 1 };
	insns[n] = (struct bpf_insn){ .code = 0x18,
				      .dst_reg = 8,
				      .src_reg = BPF_PSEUDO_MAP_VALUE,
				      .imm = (int32_t)maps[0]->obj.id };
	insns[n + 1] = (struct bpf_insn){ 0 };
	n += 2;
	insns[n++] = mov(9, 10);
	insns[n++] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_ADD, .dst_reg = 9, .imm = -64 };
	for (uint32_t reg = 0; reg < 6; reg++)
		insns[n++] = mov_imm(reg, (int32_t)reg);
	return n;
}

/* An access that is mostly good. */
static struct bpf_insn good_memory(void)
{
	struct bpf_insn insn = random_memory();
	uint32_t base = 7 + random_below(3);

	if (BPF_CLASS(insn.code) == BPF_LDX || insn.imm == 0x100)
		insn.src_reg = base & 0xf;
	else
		insn.dst_reg = base & 0xf;
	if (BPF_CLASS(insn.code) == BPF_LDX || insn.imm == 0x100)
		insn.dst_reg = random_below(6) & 0xf;
	else if (BPF_CLASS(insn.code) == BPF_STX)
		insn.src_reg = random_below(6) & 0xf;
	insn.off = (int16_t)(8 * random_below(random_below(50) ? 2 : 9));
	return insn;
}

/* A map that the helper takes, mostly. */
static int32_t map_for(const struct helper *h)
{
	struct map *map;

	do
		map = maps[random_below(MAPS)];
	while (h->map_types && !(h->map_types >> map->type & 1) && random_below(50));
	return (int32_t)map->obj.id;
}

/* A call with arguments of the right kinds, mostly: up to 11 instructions. */
static uint32_t good_call(struct bpf_insn *insns, uint32_t left)
{
	const struct helper *h = random_helper();
	uint32_t n = 0;

	for (uint8_t i = 0; i < HELPER_ARGS; i++) {
		uint32_t reg = i + 1u, kind = random_below(50) ? h->args[i] : ARG_SCALAR;

		if (kind == ARG_CTX) {
			insns[n++] = mov(reg, 6);
		} else if (kind == ARG_MAP) {
			insns[n] = (struct bpf_insn){ .code = 0x18,
						      .dst_reg = reg & 0xf,
						      .src_reg = BPF_PSEUDO_MAP_FD };
			insns[n].imm = map_for(h);
			insns[n + 1] = (struct bpf_insn){ 0 };
			n += 2;
		} else if (kind == ARG_CALLBACK) {
			insns[n] = (struct bpf_insn){ .code = 0x18,
						      .dst_reg = reg & 0xf,
						      .src_reg = BPF_PSEUDO_FUNC,
						      .imm = (int32_t)(left - n - 1) };
			insns[n + 1] = (struct bpf_insn){ 0 };
			n += 2;
		} else if (kind == ARG_RINGBUF_RECORD) {
			insns[n++] = mov(reg, 0);
		} else if (kind == ARG_SIZE || kind == ARG_SIZE_OR_ZERO) {
			insns[n++] = mov_imm(reg, (int32_t)random_below(40));
		} else if (kind == ARG_SCALAR || kind == ARG_NONE) {
			insns[n++] = mov_imm(reg, random_below(2) ? (int32_t)random_below(4)
								  : random_imm());
		} else {
			insns[n++] = mov(reg, 7 + random_below(3));
		}
	}
	insns[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = (int32_t)h->id };
	return n;
}

/* A main program, and a subprogram of a few instructions for callbacks and calls. */
static uint32_t random_program(struct bpf_insn *insns)
{
	uint32_t n = prologue(insns), end = INSNS - 6;

	while (n < end - 12) {
		uint32_t left = end - n, kind = random_below(100);

		if (kind < 35)
			insns[n++] = good_memory();
		else if (kind < 37)
			insns[n++] = random_memory();
		else if (kind < 55)
			insns[n++] = random_alu();
		else if (kind < 65)
			insns[n++] = random_jump(left - 1);
		else if (kind < 90)
			n += good_call(&insns[n], left);
		else if (kind < 92)
			insns[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
							.src_reg = BPF_PSEUDO_CALL,
							.imm = (int32_t)left };
		else if (kind < 93)
			random_wide(&insns[n], left), n += 2;
	}
	while (n < end)
		insns[n++] = random_alu();
	insns[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	insns[n++] = mov_imm(0, (int32_t)random_below(2));
	insns[n++] = random_memory();
	insns[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	return n;
}

static struct map *make_map(uint32_t type, uint32_t key_size, uint32_t value_size, uint32_t n)
{
	struct map_attr attr = { .type = type,
				 .key_size = key_size,
				 .value_size = value_size,
				 .max_entries = n,
				 .name = "fuzz" };
	struct map *map;

	assert_int_equal(map_create(&map, &attr), 0);
	return map;
}

static int set_up(void **state)
{
	uint8_t *mem = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(mem, MAP_FAILED);
	chunk = mem + PAGE;
	assert_int_equal(mprotect(chunk, PAGE, PROT_READ | PROT_WRITE), 0);
	maps[0] = make_map(BPF_MAP_TYPE_ARRAY, 4, 16, 1);
	maps[1] = make_map(BPF_MAP_TYPE_HASH, 8, 16, 8);
	maps[2] = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096);
	maps[3] = make_map(BPF_MAP_TYPE_DEVMAP, 4, 8, 4);
	maps[4] = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4);
	maps[5] = make_map(BPF_MAP_TYPE_QUEUE, 0, 8, 4);
	return run_ctx_init(&rc, 0, NULL);
}

static int tear_down(void **state)
{
	for (int i = 0; i < MAPS; i++)
		map_put(maps[i]);
	run_ctx_fini(&rc);
	munmap(chunk - PAGE, 3 * PAGE);
	return 0;
}

static void run_one(const struct bpf_insn *insns, uint32_t n, enum prog_engine engine,
		    uint32_t *ran, uint32_t *faulted)
{
	struct prog_attr attr = { .type = BPF_PROG_TYPE_XDP,
				  .insns = insns,
				  .n_insns = n,
				  .gpl = true,
				  .name = "fuzz",
				  .engine = engine };
	struct frame f = { .hard_start = chunk, .ingress_ifindex = 1 };
	struct prog *prog;

	if (prog_create(&prog, &attr, NULL))
		return;
	frame_reset(&f);
	f.data_end += PACKET;
	prog_run(prog, &rc, &f);
	*ran += 1;
	*faulted += rc.fault.reason != FAULT_NONE;
	assert_int_equal(rc.n_reservations, 0);
	assert_null(rc.spin_lock);
	assert_true(f.data_meta >= chunk + FRAME_RESERVED && f.data_meta <= f.data);
	assert_true(f.data + FRAME_LEN_MIN <= f.data_end && f.data_end <= frame_hard_end(&f));
	prog_put(prog);
}

static void random_programs(enum prog_engine engine, uint32_t n_programs)
{
	struct bpf_insn insns[INSNS];
	uint32_t ran = 0, faulted = 0;

	for (uint32_t i = 0; i < n_programs; i++)
		run_one(insns, random_program(insns), engine, &ran, &faulted);
	printf("# %u programs ran, %u ended in a fault\n", ran, faulted);
	assert_true(ran > n_programs / 10);
}

static void interpreter(void **state)
{
	random_programs(ENGINE_INTERP, PROGRAMS);
}

static void jit(void **state)
{
	if (!jit_available(NULL))
		skip();
	random_programs(ENGINE_JIT, PROGRAMS_JIT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(interpreter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(jit, set_up, tear_down),
	};
	const char *given = getenv("WEIR_SEED");

	if (given)
		seed = strtoull(given, NULL, 0);
	printf("# WEIR_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests_name("random programs", tests, NULL, NULL);
}
