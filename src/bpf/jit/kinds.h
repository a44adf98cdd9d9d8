/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the registers and stack slots of a program may hold at each instruction: which region a pointer belongs
 * to, and constants. A light dataflow analysis, once before code is made (emit.h).
 *
 * Nothing of it is trusted for safety: it selects which guard stands before an access, and each guard compares
 * the address with bounds that the runtime keeps. A wrong kind makes a guard fail, never an access go astray.
 *
 * Ownership: kinds_analyse makes it, kinds_free frees it.
 */
#ifndef WEIR_BPF_JIT_KINDS_H
#define WEIR_BPF_JIT_KINDS_H

#include "bpf/helper.h"
#include "bpf/prog.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	KIND_SCALAR = 1 << 0,
	KIND_CTX = 1 << 1,
	KIND_PACKET = 1 << 2, /* from data */
	KIND_META = 1 << 3,   /* from data_meta */
	KIND_END = 1 << 4,    /* data_end */
	KIND_STACK = 1 << 5,  /* this function's frame */
	KIND_CALLER = 1 << 6, /* a frame of a caller */
	KIND_VALUE = 1 << 7,  /* a value of `map`, or NULL */
	KIND_RECORD = 1 << 8, /* memory that a helper gave, or NULL */
	KIND_MAP = 1 << 9,    /* struct map: `map` itself when known, an inner map when not */
	KIND_FUNC = 1 << 10,  /* a callback: val is the subprogram */
	KIND_ANY = (1 << 11) - 1,
	/* Pointers that carry their bounds with them at run time (emit.h). */
	KIND_FAT = KIND_STACK | KIND_CALLER | KIND_VALUE | KIND_RECORD,
	KIND_SLOTS = RUN_STACK_SIZE / 8,
	KIND_REGS = 11,
};

struct kind {
	uint16_t bits; /* a set: all that it may be; 0: nothing reached this place yet */
	bool known; /* val is known: a scalar's value, a stack pointer's distance from r10, a value's offset */
	bool direct; /* KIND_VALUE at a constant address: global data */
	int64_t val;
	struct map *map; /* NULL: more than one, or none */
};

struct kind_state {
	struct kind reg[KIND_REGS];
	struct kind slot[KIND_SLOTS]; /* slot i: bytes [8i, 8i + 8) of the frame, r10 is its end */
};

/* A basic block: instructions [start, end) of subprogram sub, and what holds at its start. */
struct kind_block {
	uint32_t start, end;
	uint32_t sub;
	bool reached;
	struct kind_state in;
};

struct kind_sub {
	uint32_t first_block, end_block;
	bool exposed; /* its frame's address is seen by others: the frame lies in rc->stack */
	bool moves;   /* it, or what it calls, may move the packet */
	bool loops;   /* has a backward jump */
	bool calls;   /* calls subprograms or callbacks */
	bool tail_calls;
	int32_t low; /* lowest constant distance from r10 that it uses; -512 when offsets vary */
	struct kind ret; /* r0 at its exits */
	/* Slots that only whole loads and stores touch: they need no memory. */
	bool shared[KIND_SLOTS];
};

struct kinds {
	const struct prog *prog;
	struct kind_block *blocks;
	uint32_t n_blocks;
	uint32_t *block_of; /* an instruction's block */
	struct kind_sub *subs;
	bool locks; /* it takes spin locks: the arguments of every call are checked out of line */
};

/* What is known of a helper's call: its map, the bytes of each memory argument (0: not known). */
struct kind_call {
	struct map *map;
	uint64_t size[HELPER_ARGS];
};

/* -ENOMEM. */
int kinds_analyse(struct kinds **ret, const struct prog *prog);
void kinds_free(struct kinds *k);

/* Moves the state over instruction i. */
void kinds_step(struct kinds *k, uint32_t sub, uint32_t i, struct kind_state *st);

/* The subprogram that starts at an instruction; UINT32_MAX: none. */
uint32_t kinds_sub_at(const struct prog *prog, uint32_t insn);

/* Whether look-ups in the map return values in its own area, value_size bytes each. */
bool kinds_value_is_plain(const struct map *map);

/* Whether all arguments of a call can be guarded by their kinds; else it is for helper_check. */
bool kinds_call(const struct kinds *k, const struct helper *h, const struct kind_state *st,
		struct kind_call *ret);

/* The guard that a pointer gets: see emit_mem.c. */
bool kind_in_frame(const struct kind *k);
bool kind_in_packet(const struct kind *k);
bool kind_is_fat(const struct kind *k);

static inline bool kind_within(const struct kind *k, uint32_t bits)
{
	return k->bits && !(k->bits & ~bits);
}

static inline bool insn_is_cond_jump(const struct insn *in)
{
	return in->op >= OP_JEQ && in->op <= OP_JSET;
}

#endif
