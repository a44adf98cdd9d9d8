/* SPDX-License-Identifier: BSD-2-Clause */
/* hot */
/* One switch over the decoded instructions, with a look-up of the region behind every access: see interp.h. */
#include "bpf/interp.h"

#include <string.h>

#include "bpf/ctx.h"
#include "bpf/helper.h"
#include "bpf/interp_alu.h"
#include "bpf/region.h"
#include "maps/map.h"
#include "maps/prog_array.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum { R0, R1, R2, R3, R4, R5, R6, R10 = 10, REGS };

/* What a return brings back. A tail call in a subprogram replaces the subprogram only, so the program too. */
struct call {
	const struct prog *prog;
	uint32_t pc;
	uint64_t saved[4]; /* r6 to r9 */
};

struct machine {
	uint64_t r[REGS];
	const struct prog *prog;
	struct run_ctx *rc;
	struct frame *frame;
	uint32_t base;	/* call depth at which this activation began */
	uint32_t depth; /* now */
	struct call calls[RUN_CALL_DEPTH];
};

static bool fault(struct machine *m, enum fault_reason reason, uint32_t pc, uint64_t addr,
		  uint64_t size)
{
	return region_fault(m->rc, m->frame, reason, m->prog->po.obj.id, pc, addr, size);
}

static uint64_t stack_top(const struct machine *m)
{
	return (uint64_t)(uintptr_t)(m->rc->stack + (m->depth + 1) * RUN_STACK_SIZE);
}

/* Memory */

static inline uint64_t read_mem(uint64_t addr, uint8_t width)
{
	const void *p = (const void *)(uintptr_t)addr;
	uint16_t half;
	uint32_t word;
	uint64_t v;

	switch (width) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		memcpy(&half, p, sizeof(half));
		return half;
	case 4:
		memcpy(&word, p, sizeof(word));
		return word;
	default:
		memcpy(&v, p, sizeof(v));
		return v;
	}
}

static inline void write_mem(uint64_t addr, uint8_t width, uint64_t v)
{
	void *p = (void *)(uintptr_t)addr;
	uint16_t half = (uint16_t)v;
	uint32_t word = (uint32_t)v;

	switch (width) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		memcpy(p, &half, sizeof(half));
		break;
	case 4:
		memcpy(p, &word, sizeof(word));
		break;
	default:
		memcpy(p, &v, sizeof(v));
		break;
	}
}

static int64_t sign_extend(uint64_t v, uint8_t width)
{
	return width == 1 ? (int8_t)v : width == 2 ? (int16_t)v : (int32_t)v;
}

/* The context's loads are emulated; egress_ifindex is for devmap programs, and pointers have no sign. */
static bool load_ctx(struct machine *m, const struct insn *insn, uint32_t pc, uint64_t off)
{
	bool devmap = m->prog->po.traits.expected_attach_type == BPF_XDP_DEVMAP;
	bool refused = off == offsetof(struct xdp_md, egress_ifindex) && !devmap;
	uint64_t v;

	if (insn->op == OP_LDXS && off < offsetof(struct xdp_md, ingress_ifindex))
		refused = true;
	if (refused || !ctx_load(m->frame, (int64_t)off, insn->width, &v))
		return fault(m, FAULT_BAD_ACCESS, pc, (uint64_t)(uintptr_t)m->frame + off,
			     insn->width);
	m->r[insn->dst] = insn->op == OP_LDXS ? (uint64_t)sign_extend(v, insn->width) : v;
	return true;
}

static inline bool load(struct machine *m, const struct insn *insn, uint32_t pc)
{
	uint64_t addr = m->r[insn->src] + (uint64_t)(int64_t)insn->off, v;
	uint64_t ctx_off = addr - (uint64_t)(uintptr_t)m->frame;
	enum fault_reason reason;

	if (ctx_off < CTX_SIZE)
		return load_ctx(m, insn, pc, ctx_off);
	reason = region_check(m->rc, m->frame, addr, insn->width, false);
	if (unlikely(reason))
		return fault(m, reason, pc, addr, insn->width);
	v = read_mem(addr, insn->width);
	m->r[insn->dst] = insn->op == OP_LDXS ? (uint64_t)sign_extend(v, insn->width) : v;
	return true;
}

static inline bool store(struct machine *m, const struct insn *insn, uint32_t pc, uint64_t v)
{
	uint64_t addr = m->r[insn->dst] + (uint64_t)(int64_t)insn->off;
	enum fault_reason reason = region_check(m->rc, m->frame, addr, insn->width, true);

	if (unlikely(reason))
		return fault(m, reason, pc, addr, insn->width);
	write_mem(addr, insn->width, v);
	return true;
}

/* Atomics */

#define ATOMIC_OPS(bits)                                                                           \
	static uint64_t atomic_op##bits(uint8_t op, uint##bits##_t *p, uint64_t src, uint64_t r0)  \
	{                                                                                          \
		uint##bits##_t v = (uint##bits##_t)src, old = (uint##bits##_t)r0;                  \
                                                                                                   \
		switch (op) {                                                                      \
		case OP_ATOMIC_ADD:                                                                \
		case OP_ATOMIC_FETCH_ADD:                                                          \
			return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                         \
		case OP_ATOMIC_OR:                                                                 \
		case OP_ATOMIC_FETCH_OR:                                                           \
			return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                          \
		case OP_ATOMIC_AND:                                                                \
		case OP_ATOMIC_FETCH_AND:                                                          \
			return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                         \
		case OP_ATOMIC_XOR:                                                                \
		case OP_ATOMIC_FETCH_XOR:                                                          \
			return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                         \
		case OP_ATOMIC_XCHG:                                                               \
			return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                        \
		default: /* cmpxchg: old is what it compares with, and then what was there */      \
			__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST,           \
						    __ATOMIC_SEQ_CST);                             \
			return old;                                                                \
		}                                                                                  \
	}
ATOMIC_OPS(32)
ATOMIC_OPS(64)

static bool check_aligned(struct machine *m, uint64_t addr, uint8_t width, bool write, uint32_t pc)
{
	enum fault_reason reason = region_check(m->rc, m->frame, addr, width, write);

	if (!reason && addr % width)
		reason = FAULT_MISALIGNED;
	return reason ? fault(m, reason, pc, addr, width) : true;
}

static bool atomic(struct machine *m, const struct insn *insn, uint32_t pc)
{
	uint64_t addr = m->r[insn->dst] + (uint64_t)(int64_t)insn->off, old;
	void *p = (void *)(uintptr_t)addr;

	if (!check_aligned(m, addr, insn->width, true, pc))
		return false;
	old = insn->width == 8 ? atomic_op64(insn->op, p, m->r[insn->src], m->r[R0])
			       : atomic_op32(insn->op, p, m->r[insn->src], m->r[R0]);
	if (insn->op == OP_ATOMIC_CMPXCHG)
		m->r[R0] = old;
	else if (insn->op >= OP_ATOMIC_FETCH_ADD)
		m->r[insn->src] = old;
	return true;
}

/* Of a checked, aligned address. */
static uint64_t load_acquire_mem(uint64_t addr, uint32_t width)
{
	switch (width) {
	case 1:
		return __atomic_load_n((uint8_t *)addr, __ATOMIC_ACQUIRE);
	case 2:
		return __atomic_load_n((uint16_t *)addr, __ATOMIC_ACQUIRE);
	case 4:
		return __atomic_load_n((uint32_t *)addr, __ATOMIC_ACQUIRE);
	default:
		return __atomic_load_n((uint64_t *)addr, __ATOMIC_ACQUIRE);
	}
}

static void store_release_mem(uint64_t addr, uint32_t width, uint64_t value)
{
	switch (width) {
	case 1:
		__atomic_store_n((uint8_t *)addr, (uint8_t)value, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)addr, (uint16_t)value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)addr, (uint32_t)value, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint64_t *)addr, value, __ATOMIC_RELEASE);
	}
}

static bool load_acquire(struct machine *m, const struct insn *insn, uint32_t pc)
{
	uint64_t addr = m->r[insn->src] + (uint64_t)(int64_t)insn->off;

	if (!check_aligned(m, addr, insn->width, false, pc))
		return false;
	m->r[insn->dst] = load_acquire_mem(addr, insn->width);
	return true;
}

static bool store_release(struct machine *m, const struct insn *insn, uint32_t pc)
{
	uint64_t addr = m->r[insn->dst] + (uint64_t)(int64_t)insn->off;

	if (!check_aligned(m, addr, insn->width, true, pc))
		return false;
	store_release_mem(addr, insn->width, m->r[insn->src]);
	return true;
}

/* Calls. Each leaves the pc of the next instruction in *pc. */

static bool call_subprog(struct machine *m, const struct insn *insn, uint32_t *pc)
{
	struct call *c;

	if (m->depth + 1 >= RUN_CALL_DEPTH)
		return fault(m, FAULT_CALL_DEPTH, *pc, 0, 0);
	if (--m->rc->fuel < 0)
		return fault(m, FAULT_FUEL, *pc, 0, 0);
	c = &m->calls[m->depth++];
	c->prog = m->prog;
	c->pc = *pc + 1;
	memcpy(c->saved, &m->r[R6], sizeof(c->saved));
	m->r[R10] = stack_top(m);
	*pc = (uint32_t)insn->off;
	return true;
}

static void return_to_caller(struct machine *m, uint32_t *pc)
{
	const struct call *c = &m->calls[--m->depth];

	m->prog = c->prog;
	memcpy(&m->r[R6], c->saved, sizeof(c->saved));
	m->r[R10] = stack_top(m);
	*pc = c->pc;
}

static bool check_helper_args(struct machine *m, const struct helper *h, uint64_t args[HELPER_ARGS],
			      uint32_t pc)
{
	struct helper_fault hf = { 0 };
	enum fault_reason reason;

	memcpy(args, &m->r[R1], HELPER_ARGS * sizeof(args[0]));
	reason = helper_check(h, m->prog, m->rc, args, &hf);
	return reason ? fault(m, reason, pc, hf.addr, hf.size) : true;
}

static bool call_helper(struct machine *m, const struct helper *h, uint32_t pc)
{
	uint64_t a[HELPER_ARGS];

	if (!check_helper_args(m, h, a, pc))
		return false;
	if (likely(!h->needs_prog)) {
		m->r[R0] = h->fn(m->rc, a[0], a[1], a[2], a[3], a[4]);
		return true;
	}
	m->rc->call_depth = m->depth;
	m->r[R0] = helper_run_callbacks(h, m->prog, m->rc, a, interp_callback);
	return !m->rc->fault.reason;
}

/* bpf_tail_call: falls through when there is no such program, or after 33 of them (kernel/bpf/core.c). */
static bool tail_call(struct machine *m, uint32_t *pc)
{
	const struct helper *h = helper_by_id(BPF_FUNC_tail_call);
	uint64_t a[HELPER_ARGS];
	struct prog_obj *next;
	struct map *map;

	if (!check_helper_args(m, h, a, *pc))
		return false;
	(*pc)++;
	map = (struct map *)(uintptr_t)a[1];
	if ((uint32_t)a[2] >= map->max_entries || m->rc->tail_calls >= RUN_TAIL_CALLS)
		return true;
	m->rc->tail_calls++;
	next = prog_array_lookup(map, (uint32_t)a[2]);
	if (!next)
		return true;
	m->prog = (const struct prog *)next;
	*pc = 0;
	return true;
}

/* Backward jumps burn as much fuel as instructions lie between. */
static inline bool burn(struct machine *m, uint32_t pc, uint32_t target)
{
	if (target > pc)
		return true;
	m->rc->fuel -= (int64_t)pc - target + 1;
	return m->rc->fuel >= 0 ? true : fault(m, FAULT_FUEL, pc, 0, 0);
}

#define DST r[insn->dst]
#define SRC (insn->src == INSN_IMM ? (uint64_t)insn->imm : r[insn->src])
#define W   insn->width
#define ALU(v)                                                                                     \
	do {                                                                                       \
		DST = (v);                                                                         \
		pc++;                                                                              \
	} while (0)
#define JUMP_IF(cond)                                                                              \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			pc++;                                                                      \
		} else {                                                                           \
			if (unlikely(!burn(m, pc, (uint32_t)insn->off)))                           \
				return false;                                                      \
			pc = (uint32_t)insn->off;                                                  \
		}                                                                                  \
	} while (0)
#define U_CMP(op) JUMP_IF(narrow(W, DST) op narrow(W, SRC))
#define S_CMP(op) JUMP_IF(narrow_signed(W, DST) op narrow_signed(W, SRC))
#define STEP(good)                                                                                 \
	do {                                                                                       \
		if (unlikely(!(good)))                                                             \
			return false;                                                              \
		pc++;                                                                              \
	} while (0)
#define GO(good)                                                                                   \
	do {                                                                                       \
		if (unlikely(!(good)))                                                             \
			return false;                                                              \
	} while (0)

/* Runs from instruction pc of m->prog to the exit of the first call frame; false: a fault. The one long function:
 * flat, a case an operation. */
static bool exec(struct machine *m, uint32_t pc)
{
	uint64_t *r = m->r;

	for (;;) {
		const struct insn *insn = &m->prog->insns[pc];

		/* clang-format off */
		switch ((enum insn_op)insn->op) {
		/* ALU */
		case OP_ADD: ALU(narrow(W, DST + SRC)); break;
		case OP_SUB: ALU(narrow(W, DST - SRC)); break;
		case OP_MUL: ALU(narrow(W, DST * SRC)); break;
		case OP_DIV: ALU(alu_div(W, DST, SRC)); break;
		case OP_SDIV: ALU(alu_sdiv(W, DST, SRC)); break;
		case OP_MOD: ALU(alu_mod(W, DST, SRC)); break;
		case OP_SMOD: ALU(alu_smod(W, DST, SRC)); break;
		case OP_OR: ALU(narrow(W, DST | SRC)); break;
		case OP_AND: ALU(narrow(W, DST & SRC)); break;
		case OP_XOR: ALU(narrow(W, DST ^ SRC)); break;
		case OP_LSH: ALU(alu_lsh(W, DST, SRC)); break;
		case OP_RSH: ALU(alu_rsh(W, DST, SRC)); break;
		case OP_ARSH: ALU(alu_arsh(W, DST, SRC)); break;
		case OP_MOV: ALU(narrow(W, SRC)); break;
		case OP_NEG: ALU(narrow(W, 0 - DST)); break;
		case OP_MOVSX8: ALU(narrow(W, (uint64_t)(int8_t)SRC)); break;
		case OP_MOVSX16: ALU(narrow(W, (uint64_t)(int16_t)SRC)); break;
		case OP_MOVSX32: ALU(narrow(W, (uint64_t)(int32_t)SRC)); break;
		case OP_LE: ALU(alu_to_order(W, DST, false)); break;
		case OP_BE: ALU(alu_to_order(W, DST, true)); break;
		case OP_BSWAP: ALU(alu_bswap(W, DST)); break;

		/* Jumps */
		case OP_JA: JUMP_IF(true); break;
		case OP_JEQ: U_CMP(==); break;
		case OP_JNE: U_CMP(!=); break;
		case OP_JGT: U_CMP(>); break;
		case OP_JGE: U_CMP(>=); break;
		case OP_JLT: U_CMP(<); break;
		case OP_JLE: U_CMP(<=); break;
		case OP_JSGT: S_CMP(>); break;
		case OP_JSGE: S_CMP(>=); break;
		case OP_JSLT: S_CMP(<); break;
		case OP_JSLE: S_CMP(<=); break;
		case OP_JSET: JUMP_IF(narrow(W, DST & SRC)); break;
		case OP_EXIT:
			if (m->depth == m->base)
				return true;
			return_to_caller(m, &pc);
			break;

		/* Calls */
		case OP_CALL: GO(call_subprog(m, insn, &pc)); break;
		case OP_CALL_HELPER: STEP(call_helper(m, insn->ptr, pc)); break;
		case OP_TAIL_CALL: GO(tail_call(m, &pc)); break;

		/* Memory */
		case OP_LDX:
		case OP_LDXS: STEP(load(m, insn, pc)); break;
		case OP_ST: STEP(store(m, insn, pc, SRC)); break;
		case OP_ATOMIC_ADD: case OP_ATOMIC_OR: case OP_ATOMIC_AND: case OP_ATOMIC_XOR:
		case OP_ATOMIC_FETCH_ADD: case OP_ATOMIC_FETCH_OR: case OP_ATOMIC_FETCH_AND:
		case OP_ATOMIC_FETCH_XOR: case OP_ATOMIC_XCHG: case OP_ATOMIC_CMPXCHG:
			STEP(atomic(m, insn, pc)); break;
		case OP_LOAD_ACQ: STEP(load_acquire(m, insn, pc)); break;
		case OP_STORE_REL: STEP(store_release(m, insn, pc)); break;

		/* 64-bit immediates; the second slot is skipped */
		case OP_LD_IMM: case OP_LD_MAP: case OP_LD_MAP_VALUE: case OP_LD_FUNC:
			DST = (uint64_t)insn->imm; pc += 2; break;

		case OP_NOP:
		case OP_COUNT: return fault(m, FAULT_BAD_CALL, pc, 0, 0);
		}
		/* clang-format on */
	}
}

uint32_t interp_run(const struct prog *prog, struct run_ctx *rc, struct frame *frame)
{
	struct machine m;
	uint32_t verdict;

	prog_run_begin(prog, rc, frame);
	m.prog = prog;
	m.rc = rc;
	m.frame = frame;
	m.base = m.depth = 0;
	memset(m.r, 0, sizeof(m.r));
	m.r[R1] = (uint64_t)(uintptr_t)frame;
	m.r[R10] = stack_top(&m);
	verdict = exec(&m, 0) ? (uint32_t)m.r[R0] : XDP_ABORTED;
	prog_run_end(rc);
	return verdict;
}

void interp_run_burst(const struct prog *prog, struct run_ctx *rc, struct frame *const *frames,
		      uint32_t n, uint32_t *verdicts)
{
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = interp_run(prog, rc, frames[i]);
}

bool interp_callback(const struct prog *prog, struct run_ctx *rc, uint32_t subprog,
		     const uint64_t args[4], uint64_t *ret)
{
	struct machine m;
	bool good;

	m.prog = prog;
	m.rc = rc;
	m.frame = rc->frame;
	m.base = m.depth = rc->call_depth + 1;
	if (m.base >= RUN_CALL_DEPTH)
		return fault(&m, FAULT_CALL_DEPTH, prog->subprogs[subprog].start, 0, 0);
	if (--rc->fuel < 0)
		return fault(&m, FAULT_FUEL, prog->subprogs[subprog].start, 0, 0);
	memset(m.r, 0, sizeof(m.r));
	memcpy(&m.r[R1], args, 4 * sizeof(args[0]));
	m.r[R10] = stack_top(&m);
	good = exec(&m, prog->subprogs[subprog].start);
	rc->call_depth = m.base - 1;
	*ret = m.r[R0];
	return good;
}
