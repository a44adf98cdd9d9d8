/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guards, loads, stores and atomic operations: see emit.h.
 *
 * The kind of a pointer selects one of these guards:
 *   the frame at a constant offset   checked now
 *   the packet, metadata             against its bounds; written so that LLVM finds the program's own checks in it
 *   values, records, frames          against base and bound that came with the pointer
 *   the context                      no memory: a field of struct frame
 *   anything else                    out of line, as the interpreter (slow.c)
 */
#include "bpf/jit/emit.h"

#include <string.h>

#include "bpf/ctx.h"
#include "maps/map.h"

/* An access of `size` bytes at reg + off. */
struct access {
	uint32_t reg;
	int32_t off;
	LLVMValueRef size; /* i64, a constant of at most 2^29 */
	bool write;
	LLVMValueRef addr;
};

static LLVMValueRef compare(struct func *f, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildICmp(f->e->b, p, a, b, "");
}

static LLVMValueRef byte_at(struct func *f, LLVMValueRef base, LLVMValueRef off)
{
	return LLVMBuildGEP2(f->e->b, f->e->i8, base, &off, 1, "");
}

LLVMValueRef emit_frame_ptr(struct func *f, int64_t off)
{
	return byte_at(f, f->stack, emit_const(f, (uint64_t)(off + RUN_STACK_SIZE)));
}

static LLVMValueRef bad_access(struct func *f, const struct access *a, enum fault_reason reason)
{
	emit_guard(f, LLVMConstInt(f->e->i1, 0, false), reason, a->addr, a->size);
	return LLVMGetUndef(f->e->ptr);
}

/*
 * [addr, addr + size) within [lo, hi). The bounds are below 2^47 and so is the distance from lo: the end of the access
 * does not wrap. LLVM sees as much for addresses that the program made from data and sizes of headers.
 */
static LLVMValueRef packet_ptr(struct func *f, const struct access *a, const struct kind *k)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef i64 = f->e->i64;
	LLVMValueRef lo = emit_load(f, i64, k->bits & KIND_META ? f->data_meta : f->data);
	LLVMValueRef hi = emit_load(f, i64, k->bits & KIND_PACKET ? f->data_end : f->data);
	LLVMValueRef end = LLVMBuildAdd(b, a->addr, a->size, ""), off;

	off = LLVMBuildSub(b, a->addr, lo, "");
	emit_guard(f, compare(f, LLVMIntULT, off, emit_const(f, UINT64_C(1) << 46)),
		   FAULT_BAD_ACCESS, a->addr, a->size);
	emit_guard(f, compare(f, LLVMIntULE, end, hi), FAULT_BAD_ACCESS, a->addr, a->size);
	off = LLVMBuildSub(b, a->addr, emit_load(f, i64, f->data), "");
	return byte_at(f, emit_load(f, f->e->ptr, f->data_ptr), off);
}

/* base is NULL, or the start of `bound` bytes. */
static LLVMValueRef fat_ptr(struct func *f, const struct access *a)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef i64 = f->e->i64;
	LLVMValueRef base = emit_load(f, f->e->ptr, f->base[a->reg]);
	LLVMValueRef bound = emit_load(f, i64, f->bound[a->reg]), room, off, size, ok;

	emit_guard(f, compare(f, LLVMIntNE, base, LLVMConstNull(f->e->ptr)), FAULT_BAD_ACCESS,
		   a->addr, a->size);
	if (a->write)
		emit_guard(f, compare(f, LLVMIntSGE, bound, emit_const(f, 0)), FAULT_READ_ONLY,
			   a->addr, a->size);
	size = LLVMBuildAnd(b, bound, emit_const(f, ~EMIT_READ_ONLY), "");
	off = LLVMBuildSub(b, a->addr, LLVMBuildPtrToInt(b, base, i64, ""), "");
	room = LLVMBuildSub(b, size, a->size, "");
	ok = LLVMBuildAnd(b, compare(f, LLVMIntUGE, size, a->size),
			  compare(f, LLVMIntULE, off, room), "");
	emit_guard(f, ok, FAULT_BAD_ACCESS, a->addr, a->size);
	return byte_at(f, base, off);
}

static LLVMValueRef frame_place(struct func *f, const struct access *a, const struct kind *k)
{
	int64_t off = k->val + a->off;
	uint64_t size = LLVMConstIntGetZExtValue(a->size);

	if (off < -RUN_STACK_SIZE || off >= 0 || size > (uint64_t)-off)
		return bad_access(f, a, FAULT_BAD_ACCESS);
	return emit_frame_ptr(f, off);
}

static uint64_t where(const struct func *f, uint32_t width, bool write, bool aligned)
{
	return f->insn | (uint64_t)width << SLOW_WIDTH_SHIFT | (uint64_t)write << SLOW_WRITE |
	       (uint64_t)aligned << SLOW_ALIGNED;
}

static LLVMValueRef slow_ptr(struct func *f, const struct access *a, bool aligned)
{
	LLVMValueRef args[] = { emit_address(f->e, f->e->prog), f->rc,
				emit_const(f, where(f, 0, a->write, aligned)), a->addr, a->size };

	emit_require(f, emit_call_host(f, slow_access, f->e->i32, args, 5));
	return LLVMBuildIntToPtr(f->e->b, a->addr, f->e->ptr, "");
}

static LLVMValueRef place(struct func *f, const struct access *a, bool aligned)
{
	const struct kind *k = &f->st.reg[a->reg];

	if (kind_in_frame(k))
		return frame_place(f, a, k);
	if (kind_in_packet(k))
		return packet_ptr(f, a, k);
	if (kind_is_fat(k))
		return fat_ptr(f, a);
	return slow_ptr(f, a, aligned);
}

static struct access access_of(struct func *f, uint32_t reg, const struct insn *in, bool write)
{
	struct access a = { .reg = reg, .off = in->off, .write = write };

	a.size = emit_const(f, in->width);
	a.addr = LLVMBuildAdd(f->e->b, emit_get(f, reg), emit_const(f, (uint64_t)(int64_t)in->off),
			      "");
	return a;
}

void emit_check(struct func *f, uint32_t reg, LLVMValueRef size, bool write)
{
	struct access a = { .reg = reg, .size = size, .write = write, .addr = emit_get(f, reg) };

	place(f, &a, false);
}

/* The slot of a whole access at a constant place of the frame, or -1. */
static int32_t whole_slot(const struct kind *k, const struct insn *in)
{
	int64_t off = k->val + in->off;

	if (!kind_in_frame(k) || in->width != 8 || off % 8 || off < -RUN_STACK_SIZE || off >= 0)
		return -1;
	return (int32_t)((off + RUN_STACK_SIZE) / 8);
}

/* Loads */

static void load_ctx(struct func *f, const struct insn *in, const struct kind *p)
{
	bool devmap = f->e->prog->po.traits.expected_attach_type == BPF_XDP_DEVMAP;
	int64_t off = in->off + p->val;
	bool is_signed = in->op == OP_LDXS;
	LLVMValueRef v = NULL;

	if (in->width == 4 && off == offsetof(struct xdp_md, data) && !is_signed)
		v = emit_load(f, f->e->i64, f->data);
	else if (in->width == 4 && off == offsetof(struct xdp_md, data_end) && !is_signed)
		v = emit_load(f, f->e->i64, f->data_end);
	else if (in->width == 4 && off == offsetof(struct xdp_md, data_meta) && !is_signed)
		v = emit_load(f, f->e->i64, f->data_meta);
	else if (in->width == 4 && off == offsetof(struct xdp_md, ingress_ifindex))
		v = emit_load(f, f->e->i32,
			      emit_field(f, f->frame, offsetof(struct frame, ingress_ifindex)));
	else if (in->width == 4 && off == offsetof(struct xdp_md, rx_queue_index))
		v = emit_load(f, f->e->i32,
			      emit_field(f, f->frame, offsetof(struct frame, rx_queue_index)));
	else if (in->width == 4 && off == offsetof(struct xdp_md, egress_ifindex) && devmap)
		v = emit_load(f, f->e->i32,
			      emit_field(f, f->frame, offsetof(struct frame, egress_ifindex)));
	if (!v) {
		struct access a = access_of(f, in->src, in, false);

		bad_access(f, &a, FAULT_BAD_ACCESS);
		return;
	}
	if (LLVMTypeOf(v) != f->e->i64)
		v = is_signed ? LLVMBuildSExt(f->e->b, v, f->e->i64, "")
			      : LLVMBuildZExt(f->e->b, v, f->e->i64, "");
	emit_set(f, in->dst, v);
}

static void load_slow(struct func *f, const struct insn *in)
{
	struct access a = access_of(f, in->src, in, false);
	uint64_t w = where(f, in->width, false, false) | (uint64_t)(in->op == OP_LDXS)
								 << SLOW_SIGNED;
	LLVMValueRef args[] = { emit_address(f->e, f->e->prog), f->rc, emit_const(f, w), a.addr,
				f->scratch };

	emit_require(f, emit_call_host(f, slow_load, f->e->i32, args, 5));
	emit_set(f, in->dst, emit_load(f, f->e->i64, f->scratch));
}

/* Global data that can change no more. */
static bool load_frozen(struct func *f, const struct insn *in, const struct kind *p)
{
	uint64_t off = (uint64_t)(p->val + in->off), v = 0, bits = 8u * in->width;

	if (p->bits != KIND_VALUE || !p->direct || !p->known || !p->map)
		return false;
	if (!(p->map->flags & BPF_F_RDONLY_PROG) || !atomic_load(&p->map->frozen) ||
	    off >= p->map->value_size || in->width > p->map->value_size - off)
		return false;
	memcpy(&v, p->map->area.base + off, in->width);
	if (in->op == OP_LDXS)
		v = (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
	emit_set(f, in->dst, emit_const(f, v));
	return true;
}

static bool load_slot(struct func *f, const struct insn *in, const struct kind *p)
{
	int32_t slot = whole_slot(p, in);
	LLVMValueRef v;

	if (slot < 0 || in->op != OP_LDX)
		return false;
	v = emit_load(f, f->e->i64,
		      f->slot[slot] ? f->slot[slot] : emit_frame_ptr(f, p->val + in->off));
	if (!f->slot[slot])
		LLVMSetAlignment(v, 8);
	/* What was overwritten since has the bounds of its old value no more. */
	if (f->st.slot[slot].bits & KIND_FAT)
		emit_set_fat(f, in->dst, v, emit_load(f, f->e->ptr, f->slot_base[slot]),
			     emit_load(f, f->e->i64, f->slot_bound[slot]));
	else
		emit_set(f, in->dst, v);
	return true;
}

void emit_ldx(struct func *f, const struct insn *in)
{
	const struct kind p = f->st.reg[in->src];
	LLVMTypeRef t = LLVMIntTypeInContext(f->e->ctx, 8u * in->width);
	struct access a;
	LLVMValueRef v;

	if (p.bits == KIND_CTX && p.known) {
		load_ctx(f, in, &p);
		return;
	}
	if (load_slot(f, in, &p) || load_frozen(f, in, &p))
		return;
	if (!kind_in_frame(&p) && !kind_in_packet(&p) && !kind_is_fat(&p)) {
		load_slow(f, in);
		return;
	}
	a = access_of(f, in->src, in, false);
	v = emit_load(f, t, place(f, &a, false));
	/* Others may write there: each fetch is one, or what was checked on it would not hold. */
	LLVMSetVolatile(v, (p.bits & KIND_VALUE) != 0);
	LLVMSetAlignment(v, 1);
	if (in->width < 8)
		v = in->op == OP_LDXS ? LLVMBuildSExt(f->e->b, v, f->e->i64, "")
				      : LLVMBuildZExt(f->e->b, v, f->e->i64, "");
	emit_set(f, in->dst, v);
}

/* Stores */

static bool store_slot(struct func *f, const struct insn *in, LLVMValueRef v)
{
	LLVMBuilderRef b = f->e->b;
	const struct kind *p = &f->st.reg[in->dst];
	int32_t slot = whole_slot(p, in);

	if (slot < 0 || in->op != OP_ST)
		return false;
	LLVMBuildStore(b, v, f->slot[slot] ? f->slot[slot] : emit_frame_ptr(f, p->val + in->off));
	if (in->src == INSN_IMM) {
		LLVMBuildStore(b, LLVMConstNull(f->e->ptr), f->slot_base[slot]);
		return true;
	}
	LLVMBuildStore(b, emit_load(f, f->e->ptr, f->base[in->src]), f->slot_base[slot]);
	LLVMBuildStore(b, emit_load(f, f->e->i64, f->bound[in->src]), f->slot_bound[slot]);
	return true;
}

void emit_st(struct func *f, const struct insn *in)
{
	const struct kind *p = &f->st.reg[in->dst];
	LLVMValueRef v = emit_src(f, in), st;
	struct access a;

	if (store_slot(f, in, v))
		return;
	a = access_of(f, in->dst, in, true);
	if (p->bits == KIND_CTX) {
		bool inside = p->known && (uint64_t)(p->val + in->off) < CTX_SIZE;

		bad_access(f, &a, inside ? FAULT_READ_ONLY : FAULT_BAD_ACCESS);
		return;
	}
	if (in->width < 8)
		v = LLVMBuildTrunc(f->e->b, v, LLVMIntTypeInContext(f->e->ctx, 8u * in->width), "");
	st = LLVMBuildStore(f->e->b, v, place(f, &a, false));
	LLVMSetAlignment(st, 1);
}

/* Atomics */

static LLVMAtomicRMWBinOp rmw_op(uint8_t op)
{
	switch (op) {
	case OP_ATOMIC_ADD:
	case OP_ATOMIC_FETCH_ADD:
		return LLVMAtomicRMWBinOpAdd;
	case OP_ATOMIC_OR:
	case OP_ATOMIC_FETCH_OR:
		return LLVMAtomicRMWBinOpOr;
	case OP_ATOMIC_AND:
	case OP_ATOMIC_FETCH_AND:
		return LLVMAtomicRMWBinOpAnd;
	case OP_ATOMIC_XOR:
	case OP_ATOMIC_FETCH_XOR:
		return LLVMAtomicRMWBinOpXor;
	default:
		return LLVMAtomicRMWBinOpXchg;
	}
}

static LLVMValueRef aligned_place(struct func *f, const struct access *a)
{
	LLVMValueRef ptr = place(f, a, true), low;

	low = LLVMBuildAnd(f->e->b, a->addr, LLVMBuildSub(f->e->b, a->size, emit_const(f, 1), ""),
			   "");
	emit_guard(f, compare(f, LLVMIntEQ, low, emit_const(f, 0)), FAULT_MISALIGNED, a->addr,
		   a->size);
	return ptr;
}

static void ordered_access(struct func *f, const struct insn *in)
{
	LLVMTypeRef t = LLVMIntTypeInContext(f->e->ctx, 8u * in->width);
	bool load = in->op == OP_LOAD_ACQ;
	struct access a = access_of(f, load ? in->src : in->dst, in, !load);
	LLVMValueRef ptr = aligned_place(f, &a), v;

	if (load) {
		v = emit_load(f, t, ptr);
		LLVMSetOrdering(v, LLVMAtomicOrderingAcquire);
	} else {
		v = LLVMBuildStore(f->e->b,
				   LLVMBuildTruncOrBitCast(f->e->b, emit_src(f, in), t, ""), ptr);
		LLVMSetOrdering(v, LLVMAtomicOrderingRelease);
	}
	LLVMSetAlignment(v, in->width);
	if (load)
		emit_set(f, in->dst, LLVMBuildZExtOrBitCast(f->e->b, v, f->e->i64, ""));
}

void emit_atomic(struct func *f, const struct insn *in)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef t = LLVMIntTypeInContext(f->e->ctx, 8u * in->width);
	LLVMValueRef ptr, src, old;
	struct access a;

	if (in->op >= OP_LOAD_ACQ) {
		ordered_access(f, in);
		return;
	}
	a = access_of(f, in->dst, in, true);
	ptr = aligned_place(f, &a);
	src = LLVMBuildTruncOrBitCast(b, emit_src(f, in), t, "");
	if (in->op == OP_ATOMIC_CMPXCHG) {
		old = LLVMBuildTruncOrBitCast(b, emit_get(f, 0), t, "");
		old = LLVMBuildAtomicCmpXchg(b, ptr, old, src,
					     LLVMAtomicOrderingSequentiallyConsistent,
					     LLVMAtomicOrderingSequentiallyConsistent, false);
		old = LLVMBuildExtractValue(b, old, 0, "");
	} else {
		old = LLVMBuildAtomicRMW(b, rmw_op(in->op), ptr, src,
					 LLVMAtomicOrderingSequentiallyConsistent, false);
	}
	if (in->op < OP_ATOMIC_FETCH_ADD)
		return;
	emit_set(f, in->op == OP_ATOMIC_CMPXCHG ? 0 : in->src,
		 LLVMBuildZExtOrBitCast(b, old, f->e->i64, ""));
}
