/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoded form of a program, which both back ends share: one struct insn for each instruction slot of
 * the object (an lddw's second slot is OP_NOP), so that indices are those of BTF line info and of the
 * kernel's verifier. ISA: RFC 9669, v1 to v4.
 *
 * Ownership and threads: immutable once decoded; belongs to its struct prog.
 */
#ifndef WEIR_BPF_INSN_H
#define WEIR_BPF_INSN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Operations. `width` says 32 or 64 for ALU and conditional jumps, bytes (1, 2, 4, 8) for memory and
 * atomics, bits for byte swaps and sign-extending moves. `src` is a register, or INSN_IMM for `imm`.
 */
enum insn_op {
	OP_NOP, /* the second slot of an lddw */
	/* ALU: dst = dst op (src | imm) */
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_SDIV,
	OP_MOD,
	OP_SMOD,
	OP_OR,
	OP_AND,
	OP_XOR,
	OP_LSH,
	OP_RSH,
	OP_ARSH,
	OP_MOV,
	OP_NEG,
	OP_MOVSX8,
	OP_MOVSX16,
	OP_MOVSX32, /* sign-extend src's low bits; width 32: upper half zeroed */
	OP_LE,
	OP_BE,
	OP_BSWAP, /* width 16, 32, 64 bits; OP_LE truncates */
	/* Jumps: off is the absolute index of the target. */
	OP_JA,
	OP_JEQ,
	OP_JNE,
	OP_JGT,
	OP_JGE,
	OP_JLT,
	OP_JLE,
	OP_JSGT,
	OP_JSGE,
	OP_JSLT,
	OP_JSLE,
	OP_JSET,
	OP_EXIT,
	/* Calls */
	OP_CALL, /* off: absolute index of the subprogram's first instruction; imm: index in prog->subprogs */
	OP_CALL_HELPER, /* ptr: const struct helper * (helper.h) */
	OP_TAIL_CALL,	/* bpf_tail_call(r1 ctx, r2 prog array, r3 index) */
	/* Memory: off is the displacement */
	OP_LDX,
	OP_LDXS, /* dst = *(src + off), zero- or sign-extended */
	OP_ST,	 /* *(dst + off) = src | imm */
	/* Atomics on *(dst + off) with src; fetch forms return the old value in src */
	OP_ATOMIC_ADD,
	OP_ATOMIC_OR,
	OP_ATOMIC_AND,
	OP_ATOMIC_XOR,
	OP_ATOMIC_FETCH_ADD,
	OP_ATOMIC_FETCH_OR,
	OP_ATOMIC_FETCH_AND,
	OP_ATOMIC_FETCH_XOR,
	OP_ATOMIC_XCHG,
	OP_ATOMIC_CMPXCHG, /* cmpxchg compares with and returns in r0 */
	OP_LOAD_ACQ,	   /* dst = *(src + off), zero-extended */
	OP_STORE_REL,	   /* *(dst + off) = src */
	/* 64-bit immediates */
	OP_LD_IMM,	 /* dst = imm */
	OP_LD_MAP,	 /* dst = ptr: struct map * */
	OP_LD_MAP_VALUE, /* dst = address of byte off of value 0 of map ptr: imm holds the address */
	OP_LD_FUNC, /* dst = imm: INSN_FUNC_VALUE + index in prog->subprogs; off: its first instruction */
	OP_COUNT,
};

enum { INSN_IMM = 0xff };

/* What a register holds that points to a callback: no address, so that memory access through it faults. */
#define INSN_FUNC_VALUE UINT64_C(0xfb00000000000000)

struct insn {
	uint8_t op;    /* enum insn_op */
	uint8_t width; /* see above */
	uint8_t dst;   /* 0..10 */
	uint8_t src;   /* 0..10, or INSN_IMM */
	int32_t off;
	union {
		int64_t imm; /* sign-extended; for 32-bit operations only the low half counts */
		void *ptr;
	};
};

_Static_assert(sizeof(struct insn) == 16, "four instructions a cache line");

/* For people: "r0 = *(u32 *)(r1 + 4)". Writes at most n bytes, returns buf. */
char *insn_format(char *buf, int n, const struct insn *insn);

#endif
