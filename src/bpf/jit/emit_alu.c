/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic, byte order and conditions as RFC 9669 has them: see emit.h. */
#include "bpf/jit/emit.h"

static LLVMTypeRef int_type(struct func *f, uint32_t bits)
{
	return bits == 64 ? f->e->i64 : bits == 32 ? f->e->i32 : bits == 16 ? f->e->i16 : f->e->i8;
}

static LLVMValueRef low(struct func *f, LLVMValueRef v, uint32_t bits)
{
	return bits == 64 ? v : LLVMBuildTrunc(f->e->b, v, int_type(f, bits), "");
}

static LLVMValueRef widen(struct func *f, LLVMValueRef v)
{
	return LLVMTypeOf(v) == f->e->i64 ? v : LLVMBuildZExt(f->e->b, v, f->e->i64, "");
}

/* x / 0 is 0, x % 0 is x; signed: x / -1 is -x and x % -1 is 0, for INT_MIN too. */
static LLVMValueRef divide(struct func *f, const struct insn *in, LLVMValueRef x, LLVMValueRef y)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef t = LLVMTypeOf(x);
	LLVMValueRef zero = LLVMConstNull(t), one = LLVMConstInt(t, 1, false), safe, r;
	LLVMValueRef by_zero = LLVMBuildICmp(b, LLVMIntEQ, y, zero, "");
	bool is_signed = in->op == OP_SDIV || in->op == OP_SMOD;
	bool mod = in->op == OP_MOD || in->op == OP_SMOD;

	safe = LLVMBuildSelect(b, by_zero, one, y, "");
	if (is_signed) {
		LLVMValueRef by_minus = LLVMBuildICmp(b, LLVMIntEQ, y, LLVMConstAllOnes(t), "");

		safe = LLVMBuildSelect(b, by_minus, one, safe, "");
		r = mod ? LLVMBuildSRem(b, x, safe, "") : LLVMBuildSDiv(b, x, safe, "");
		r = LLVMBuildSelect(b, by_minus, mod ? zero : LLVMBuildNeg(b, x, ""), r, "");
	} else {
		r = mod ? LLVMBuildURem(b, x, safe, "") : LLVMBuildUDiv(b, x, safe, "");
	}
	return LLVMBuildSelect(b, by_zero, mod ? x : zero, r, "");
}

static LLVMValueRef shift(struct func *f, const struct insn *in, LLVMValueRef x, LLVMValueRef y)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef n = LLVMBuildAnd(b, y, LLVMConstInt(LLVMTypeOf(x), in->width - 1u, false), "");

	return in->op == OP_LSH	  ? LLVMBuildShl(b, x, n, "")
	       : in->op == OP_RSH ? LLVMBuildLShr(b, x, n, "")
				  : LLVMBuildAShr(b, x, n, "");
}

static LLVMValueRef binary(struct func *f, const struct insn *in)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef x = low(f, emit_get(f, in->dst), in->width),
		     y = low(f, emit_src(f, in), in->width);

	switch (in->op) {
	case OP_ADD:
		return LLVMBuildAdd(b, x, y, "");
	case OP_SUB:
		return LLVMBuildSub(b, x, y, "");
	case OP_MUL:
		return LLVMBuildMul(b, x, y, "");
	case OP_OR:
		return LLVMBuildOr(b, x, y, "");
	case OP_AND:
		return LLVMBuildAnd(b, x, y, "");
	case OP_XOR:
		return LLVMBuildXor(b, x, y, "");
	case OP_LSH:
	case OP_RSH:
	case OP_ARSH:
		return shift(f, in, x, y);
	default:
		return divide(f, in, x, y);
	}
}

static LLVMValueRef swap(struct func *f, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	unsigned id = LLVMLookupIntrinsicID("llvm.bswap", 10);
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(f->e->mod, id, &t, 1);

	return LLVMBuildCall2(f->e->b, LLVMIntrinsicGetType(f->e->ctx, id, &t, 1), fn, &v, 1, "");
}

static LLVMValueRef extend(struct func *f, const struct insn *in, uint32_t from)
{
	LLVMValueRef v = low(f, emit_src(f, in), from);
	LLVMTypeRef to = int_type(f, in->width);

	return from == in->width ? v : LLVMBuildSExt(f->e->b, v, to, "");
}

/* An addition keeps base and bound, of whichever side has them; the other results have none. */
static void add_or_sub(struct func *f, const struct insn *in)
{
	LLVMValueRef v = widen(f, binary(f, in));
	const struct kind *dst = &f->st.reg[in->dst];

	if (in->width != 64 || (in->op == OP_SUB && in->src != INSN_IMM &&
				!kind_within(&f->st.reg[in->src], KIND_SCALAR))) {
		emit_set(f, in->dst, v);
		return;
	}
	if (in->op == OP_ADD && in->src != INSN_IMM && kind_within(dst, KIND_SCALAR))
		emit_copy_fat(f, in->dst, in->src);
	LLVMBuildStore(f->e->b, v, f->reg[in->dst]);
}

bool emit_alu(struct func *f, const struct insn *in)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef v;

	switch (in->op) {
	case OP_ADD:
	case OP_SUB:
		add_or_sub(f, in);
		return true;
	case OP_MOV:
		v = widen(f, low(f, emit_src(f, in), in->width));
		if (in->width == 64 && in->src != INSN_IMM)
			emit_copy_fat(f, in->dst, in->src);
		else
			emit_set(f, in->dst, v);
		LLVMBuildStore(b, v, f->reg[in->dst]);
		return true;
	case OP_NEG:
		v = LLVMBuildNeg(b, low(f, emit_get(f, in->dst), in->width), "");
		break;
	case OP_MOVSX8:
		v = extend(f, in, 8);
		break;
	case OP_MOVSX16:
		v = extend(f, in, 16);
		break;
	case OP_MOVSX32:
		v = extend(f, in, 32);
		break;
	case OP_LE: /* the host is little-endian */
		v = low(f, emit_get(f, in->dst), in->width);
		break;
	case OP_BE:
	case OP_BSWAP:
		v = swap(f, low(f, emit_get(f, in->dst), in->width));
		break;
	default:
		if (in->op < OP_ADD || in->op > OP_ARSH)
			return false;
		v = binary(f, in);
	}
	emit_set(f, in->dst, widen(f, v));
	return true;
}

LLVMValueRef emit_condition(struct func *f, const struct insn *in)
{
	static const LLVMIntPredicate predicates[] = {
		[OP_JEQ] = LLVMIntEQ,	[OP_JNE] = LLVMIntNE,	[OP_JGT] = LLVMIntUGT,
		[OP_JGE] = LLVMIntUGE,	[OP_JLT] = LLVMIntULT,	[OP_JLE] = LLVMIntULE,
		[OP_JSGT] = LLVMIntSGT, [OP_JSGE] = LLVMIntSGE, [OP_JSLT] = LLVMIntSLT,
		[OP_JSLE] = LLVMIntSLE,
	};
	LLVMValueRef x = low(f, emit_get(f, in->dst), in->width),
		     y = low(f, emit_src(f, in), in->width);

	if (in->op == OP_JSET)
		return LLVMBuildICmp(f->e->b, LLVMIntNE, LLVMBuildAnd(f->e->b, x, y, ""),
				     LLVMConstNull(LLVMTypeOf(x)), "");
	return LLVMBuildICmp(f->e->b, predicates[in->op], x, y, "");
}
