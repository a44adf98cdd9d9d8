/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LLVM IR for one program: a function a subprogram, and the burst function around the main one. emit.c has
 * functions and control flow, emit_alu.c arithmetic, emit_mem.c guards, loads and stores, emit_call.c calls.
 *
 * A BPF register is a stack variable of the LLVM function that mem2reg turns into values. Beside each goes its
 * base and bound, when it holds a pointer into something with bounds known at run time (KIND_FAT): set by
 * look-ups and by r10 alone, copied by moves, kept by additions. A guard trusts those, and the packet's
 * bounds, and never the analysis.
 */
#ifndef WEIR_BPF_JIT_EMIT_H
#define WEIR_BPF_JIT_EMIT_H

#include "bpf/jit/kinds.h"
#include "bpf/jit/module.h"

#include <errno.h>
#include <llvm-c/Core.h>
#include <stdio.h>

enum {
	EMIT_ARGS = 3 + 3 * HELPER_ARGS, /* rc, frame, depth; value, base and bound of r1 to r5 */
	/* Beside the count of frames: the run goes on, as a tail call; nothing is reset. */
	EMIT_CONTINUE = INT32_MIN,
};

/* Set in a bound: programs may not write there. */
#define EMIT_READ_ONLY (UINT64_C(1) << 63)
/* In the result of the main program, beside the 32 bits of a verdict. */
#define EMIT_FAULT (UINT64_C(1) << 32)

struct emit {
	const struct prog *prog;
	const struct jit_host *host;
	struct kinds *kinds;
	bool leaves; /* it may leave reservations or locks behind */
	bool lends;  /* it may look up what goes into rc->lent */
	LLVMContextRef ctx;
	LLVMModuleRef mod;
	LLVMBuilderRef b;
	LLVMTypeRef i1, i8, i16, i32, i64, ptr;
	LLVMTypeRef
		result; /* of a subprogram: { r0, base, bound, fault }; of the main one: an i64 */
	LLVMTypeRef sub_type, main_type;
	LLVMValueRef *subs; /* functions */
	bool *callbacks;    /* which of them have a callback_N */
};

/* The subprogram at hand. */
struct func {
	struct emit *e;
	uint32_t sub;
	const struct kind_sub *ks;
	LLVMValueRef fn, rc, frame, depth;
	LLVMValueRef reg[KIND_REGS], base[KIND_REGS], bound[KIND_REGS];
	LLVMValueRef slot[KIND_SLOTS]; /* of those that need no memory */
	LLVMValueRef slot_base[KIND_SLOTS], slot_bound[KIND_SLOTS];
	LLVMValueRef data_ptr, data, data_end, data_meta; /* the packet's bounds now */
	LLVMValueRef stack;				  /* the frame's lowest byte */
	LLVMValueRef fuel;
	LLVMValueRef scratch; /* u64[HELPER_ARGS + 1] for out-of-line calls */
	LLVMValueRef count;   /* u64: the turns of a bpf_loop */
	LLVMBasicBlockRef entry, faulted;
	LLVMBasicBlockRef *blocks; /* by kind_block */
	struct kind_state st;
	uint32_t insn;
};

/* emit.c */
int emit_program(struct emit *e, struct err *err);
LLVMValueRef emit_const(struct func *f, uint64_t v);
LLVMValueRef emit_address(struct emit *e, const void *p);
LLVMValueRef emit_get(struct func *f, uint32_t reg);
void emit_set(struct func *f, uint32_t reg, LLVMValueRef v); /* drops base and bound */
void emit_set_fat(struct func *f, uint32_t reg, LLVMValueRef v, LLVMValueRef base,
		  LLVMValueRef bound);
void emit_copy_fat(struct func *f, uint32_t dst, uint32_t src);
LLVMValueRef emit_src(struct func *f, const struct insn *in);
LLVMBasicBlockRef emit_block(struct func *f, const char *name);
/* Goes on in a new block when ok holds; else writes a fault record, out of line, and ends the run. */
void emit_guard(struct func *f, LLVMValueRef ok, enum fault_reason reason, LLVMValueRef addr,
		LLVMValueRef size);
/* Ends the run when ok (an i32 or i1) is 0: the record is written already. */
void emit_require(struct func *f, LLVMValueRef ok);
LLVMValueRef emit_call_host(struct func *f, const void *fn, LLVMTypeRef ret, LLVMValueRef *args,
			    uint32_t n);
/* Returns r0 = v. */
void emit_return(struct func *f, LLVMValueRef v, LLVMValueRef base, LLVMValueRef bound);
/* Field of struct run_ctx or struct frame. */
LLVMValueRef emit_field(struct func *f, LLVMValueRef base, size_t off);
LLVMValueRef emit_load(struct func *f, LLVMTypeRef type, LLVMValueRef ptr);
void emit_bounds(struct func *f);
/* Burns fuel for work that may repeat; ends the run when there is none left. */
void emit_burn(struct func *f, uint64_t amount, bool local);

LLVMValueRef emit_intrinsic(struct emit *e, const char *name, LLVMTypeRef type, LLVMValueRef *args,
			    uint32_t n);
/* An attribute of a function, or of a call. */
void emit_attr(struct emit *e, LLVMValueRef fn, LLVMValueRef call, const char *name);

/* burst.c */
void emit_burst(struct emit *e);

/* emit_alu.c */
bool emit_alu(struct func *f, const struct insn *in);
LLVMValueRef emit_condition(struct func *f, const struct insn *in);

/* emit_mem.c */
void emit_ldx(struct func *f, const struct insn *in);
void emit_st(struct func *f, const struct insn *in);
void emit_atomic(struct func *f, const struct insn *in);
/* The guard of a helper's memory argument; size is a constant, never 0. */
void emit_check(struct func *f, uint32_t reg, LLVMValueRef size, bool write);
/* The address of byte off of the frame. */
LLVMValueRef emit_frame_ptr(struct func *f, int64_t off);

/* emit_call.c */
void emit_sub_call(struct func *f, const struct insn *in);
void emit_helper(struct func *f, const struct insn *in);
void emit_tail_call(struct func *f);

/* slow.c: what the code calls out of line. `where` is insn | width << 32 | flags. */
enum { SLOW_WIDTH_SHIFT = 32, SLOW_SIGNED = 40, SLOW_ALIGNED = 41, SLOW_WRITE = 42 };
void slow_set_host(const struct jit_host *host);
void slow_fault(const struct prog *prog, struct run_ctx *rc, uint64_t where, uint64_t addr,
		uint64_t size);
uint32_t slow_load(const struct prog *prog, struct run_ctx *rc, uint64_t where, uint64_t addr,
		   uint64_t *ret);
uint32_t slow_access(const struct prog *prog, struct run_ctx *rc, uint64_t where, uint64_t addr,
		     uint64_t size);
uint32_t slow_check_args(const struct prog *prog, struct run_ctx *rc, const struct helper *h,
			 uint64_t insn, uint64_t *args);
uint32_t slow_callbacks(const struct prog *prog, struct run_ctx *rc, const struct helper *h,
			uint32_t depth, uint64_t *args);
/* -1: falls through, -2: a fault; else the verdict. */
int64_t slow_tail_call(const struct prog *prog, struct run_ctx *rc, struct map *map, uint32_t index,
		       uint32_t depth);

/* A subprogram as a callback: 1 and *ret, or 0: it faulted. */
typedef uint32_t (*jit_callback)(struct run_ctx *rc, struct frame *frame, uint32_t depth,
				 const uint64_t *args, uint64_t *ret);

/* What prog->jit points to. */
struct code {
	void *tracker;
	jit_callback *callbacks; /* by subprogram; NULL where it is none */
};

#endif
