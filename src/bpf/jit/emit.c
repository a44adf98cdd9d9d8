/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and control flow: see emit.h. The burst loop around the main one is in burst.c. */
#include "bpf/jit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "maps/map.h"

/* Values */

LLVMValueRef emit_const(struct func *f, uint64_t v)
{
	return LLVMConstInt(f->e->i64, v, false);
}

LLVMValueRef emit_address(struct emit *e, const void *p)
{
	return LLVMConstIntToPtr(LLVMConstInt(e->i64, (uint64_t)(uintptr_t)p, false), e->ptr);
}

LLVMValueRef emit_load(struct func *f, LLVMTypeRef type, LLVMValueRef ptr)
{
	return LLVMBuildLoad2(f->e->b, type, ptr, "");
}

LLVMValueRef emit_field(struct func *f, LLVMValueRef base, size_t off)
{
	LLVMValueRef o = emit_const(f, off);

	return LLVMBuildGEP2(f->e->b, f->e->i8, base, &o, 1, "");
}

LLVMValueRef emit_get(struct func *f, uint32_t reg)
{
	return emit_load(f, f->e->i64, f->reg[reg]);
}

void emit_set(struct func *f, uint32_t reg, LLVMValueRef v)
{
	LLVMBuildStore(f->e->b, v, f->reg[reg]);
	LLVMBuildStore(f->e->b, LLVMConstNull(f->e->ptr), f->base[reg]);
}

void emit_set_fat(struct func *f, uint32_t reg, LLVMValueRef v, LLVMValueRef base,
		  LLVMValueRef bound)
{
	LLVMBuildStore(f->e->b, v, f->reg[reg]);
	LLVMBuildStore(f->e->b, base, f->base[reg]);
	LLVMBuildStore(f->e->b, bound, f->bound[reg]);
}

void emit_copy_fat(struct func *f, uint32_t dst, uint32_t src)
{
	LLVMBuildStore(f->e->b, emit_load(f, f->e->ptr, f->base[src]), f->base[dst]);
	LLVMBuildStore(f->e->b, emit_load(f, f->e->i64, f->bound[src]), f->bound[dst]);
}

LLVMValueRef emit_src(struct func *f, const struct insn *in)
{
	return in->src == INSN_IMM ? emit_const(f, (uint64_t)in->imm) : emit_get(f, in->src);
}

LLVMBasicBlockRef emit_block(struct func *f, const char *name)
{
	return LLVMAppendBasicBlockInContext(f->e->ctx, f->fn, name);
}

LLVMValueRef emit_call_host(struct func *f, const void *fn, LLVMTypeRef ret, LLVMValueRef *args,
			    uint32_t n)
{
	LLVMTypeRef types[EMIT_ARGS];

	for (uint32_t i = 0; i < n; i++)
		types[i] = LLVMTypeOf(args[i]);
	return LLVMBuildCall2(f->e->b, LLVMFunctionType(ret, types, n, false),
			      emit_address(f->e, fn), args, n, "");
}

LLVMValueRef emit_intrinsic(struct emit *e, const char *name, LLVMTypeRef type, LLVMValueRef *args,
			    uint32_t n)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name)), types = type != NULL;
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->mod, id, &type, types);

	return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->ctx, id, &type, types), fn, args, n,
			      "");
}

void emit_attr(struct emit *e, LLVMValueRef fn, LLVMValueRef call, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAttributeRef attr = LLVMCreateEnumAttribute(e->ctx, kind, 0);

	if (fn)
		LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, attr);
	else
		LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, attr);
}

/* Guards */

void emit_guard(struct func *f, LLVMValueRef ok, enum fault_reason reason, LLVMValueRef addr,
		LLVMValueRef size)
{
	LLVMBuilderRef b = f->e->b;
	LLVMBasicBlockRef bad = emit_block(f, "bad"), good = emit_block(f, "good");
	LLVMValueRef args[] = { emit_address(f->e, f->e->prog), f->rc,
				emit_const(f, f->insn | (uint64_t)reason << 32), addr, size };
	LLVMValueRef call;

	LLVMBuildCondBr(b, ok, good, bad);
	LLVMPositionBuilderAtEnd(b, bad);
	call = emit_call_host(f, slow_fault, LLVMVoidTypeInContext(f->e->ctx), args, 5);
	emit_attr(f->e, NULL, call, "cold");
	emit_attr(f->e, NULL, call, "nomerge");
	LLVMBuildBr(b, f->faulted);
	LLVMPositionBuilderAtEnd(b, good);
}

void emit_require(struct func *f, LLVMValueRef ok)
{
	LLVMBuilderRef b = f->e->b;
	LLVMBasicBlockRef good = emit_block(f, "went");

	ok = LLVMBuildICmp(b, LLVMIntNE, ok, LLVMConstNull(LLVMTypeOf(ok)), "");
	LLVMBuildCondBr(b, ok, good, f->faulted);
	LLVMPositionBuilderAtEnd(b, good);
}

void emit_burn(struct func *f, uint64_t amount, bool local)
{
	LLVMValueRef at = local ? f->fuel : emit_field(f, f->rc, offsetof(struct run_ctx, fuel)),
		     left;

	left = LLVMBuildSub(f->e->b, emit_load(f, f->e->i64, at), emit_const(f, amount), "");
	LLVMBuildStore(f->e->b, left, at);
	emit_guard(f, LLVMBuildICmp(f->e->b, LLVMIntSGE, left, emit_const(f, 0), ""), FAULT_FUEL,
		   emit_const(f, 0), emit_const(f, 0));
}

/* The packet's bounds */

/* User addresses: the runtime maps nothing below 4096 or from 2^47 on. */
static void set_range(struct emit *e, LLVMValueRef load)
{
	LLVMMetadataRef range[2] = {
		LLVMValueAsMetadata(LLVMConstInt(e->i64, 4096, false)),
		LLVMValueAsMetadata(LLVMConstInt(e->i64, UINT64_C(1) << 47, false)),
	};
	LLVMMetadataRef none = LLVMMDNodeInContext2(e->ctx, NULL, 0);
	LLVMMetadataRef node = LLVMMDNodeInContext2(e->ctx, range, 2);

	LLVMSetMetadata(load, LLVMGetMDKindIDInContext(e->ctx, "range", 5),
			LLVMMetadataAsValue(e->ctx, node));
	LLVMSetMetadata(load, LLVMGetMDKindIDInContext(e->ctx, "noundef", 7),
			LLVMMetadataAsValue(e->ctx, none));
}

static LLVMValueRef load_bound(struct func *f, size_t off)
{
	LLVMValueRef v = emit_load(f, f->e->i64, emit_field(f, f->frame, off));

	set_range(f->e, v);
	return v;
}

static void assume(struct func *f, LLVMIntPredicate p, LLVMValueRef v, uint64_t limit)
{
	LLVMValueRef holds = LLVMBuildICmp(f->e->b, p, v, emit_const(f, limit), "");

	emit_intrinsic(f->e, "llvm.assume", NULL, &holds, 1);
}

void emit_bounds(struct func *f)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef ptr =
		emit_load(f, f->e->ptr, emit_field(f, f->frame, offsetof(struct frame, data)));
	LLVMValueRef data = LLVMBuildPtrToInt(b, ptr, f->e->i64, "");

	assume(f, LLVMIntUGE, data, 4096);
	assume(f, LLVMIntULT, data, UINT64_C(1) << 47);
	LLVMBuildStore(b, ptr, f->data_ptr);
	LLVMBuildStore(b, data, f->data);
	LLVMBuildStore(b, load_bound(f, offsetof(struct frame, data_end)), f->data_end);
	LLVMBuildStore(b, load_bound(f, offsetof(struct frame, data_meta)), f->data_meta);
}

/* Instructions */

/* A jump: backward ones burn as much fuel as instructions lie between. */
static void jump_to(struct func *f, uint32_t target)
{
	LLVMBasicBlockRef to = f->blocks[f->e->kinds->block_of[target]];

	if (target <= f->insn)
		emit_burn(f, f->insn - target + 1, f->fuel != NULL);
	LLVMBuildBr(f->e->b, to);
}

static void cond_jump(struct func *f, const struct insn *in)
{
	LLVMBasicBlockRef taken = emit_block(f, "jump");
	LLVMBasicBlockRef next = f->blocks[f->e->kinds->block_of[f->insn + 1]];

	LLVMBuildCondBr(f->e->b, emit_condition(f, in), taken, next);
	LLVMPositionBuilderAtEnd(f->e->b, taken);
	jump_to(f, (uint32_t)in->off);
}

void emit_return(struct func *f, LLVMValueRef v, LLVMValueRef base, LLVMValueRef bound)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef out = LLVMConstNull(f->e->result);

	if (!f->sub) {
		LLVMBuildRet(b, LLVMBuildAnd(b, v, emit_const(f, UINT32_MAX), ""));
		return;
	}
	out = LLVMBuildInsertValue(b, out, v, 0, "");
	/* A frame that ends here must not go on as the base of a number. */
	if (f->st.reg[0].bits & KIND_FAT) {
		out = LLVMBuildInsertValue(b, out, base, 1, "");
		out = LLVMBuildInsertValue(b, out, bound, 2, "");
	}
	LLVMBuildRet(b, out);
}

/* After the fault record was written. */
static void return_fault(struct func *f)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef out = LLVMConstNull(f->e->result), yes = LLVMConstInt(f->e->i1, 1, false);

	if (f->sub)
		LLVMBuildRet(b, LLVMBuildInsertValue(b, out, yes, 3, ""));
	else
		LLVMBuildRet(b, emit_const(f, EMIT_FAULT));
}

static void instruction(struct func *f, const struct insn *in)
{
	if (emit_alu(f, in))
		return;
	switch (in->op) {
	case OP_NOP:
		break;
	case OP_JA:
		jump_to(f, (uint32_t)in->off);
		break;
	case OP_EXIT:
		emit_return(f, emit_get(f, 0), emit_load(f, f->e->ptr, f->base[0]),
			    emit_load(f, f->e->i64, f->bound[0]));
		break;
	case OP_CALL:
		emit_sub_call(f, in);
		break;
	case OP_CALL_HELPER:
		emit_helper(f, in);
		break;
	case OP_TAIL_CALL:
		emit_tail_call(f);
		break;
	case OP_LDX:
	case OP_LDXS:
		emit_ldx(f, in);
		break;
	case OP_ST:
		emit_st(f, in);
		break;
	case OP_LD_IMM:
	case OP_LD_FUNC:
		emit_set(f, in->dst, emit_const(f, (uint64_t)in->imm));
		break;
	case OP_LD_MAP:
		emit_set(f, in->dst, emit_const(f, (uint64_t)(uintptr_t)in->ptr));
		break;
	case OP_LD_MAP_VALUE:
		emit_set(f, in->dst, emit_const(f, (uint64_t)in->imm));
		break;
	default:
		if (insn_is_cond_jump(in))
			cond_jump(f, in);
		else
			emit_atomic(f, in);
	}
}

/* Global data: base and bound of a constant address. */
static void set_global(struct func *f, const struct insn *in)
{
	const struct kind *k = &f->st.reg[in->dst];
	uint64_t bound;

	if (in->op != OP_LD_MAP_VALUE || k->bits != KIND_VALUE || !k->map)
		return;
	bound = k->map->value_size | (k->map->area.read_only ? EMIT_READ_ONLY : 0);
	LLVMBuildStore(f->e->b, emit_address(f->e, k->map->area.base), f->base[in->dst]);
	LLVMBuildStore(f->e->b, emit_const(f, bound), f->bound[in->dst]);
}

static void basic_block(struct func *f, uint32_t index)
{
	struct kinds *k = f->e->kinds;
	const struct kind_block *block = &k->blocks[index];
	const struct prog *prog = f->e->prog;

	LLVMPositionBuilderAtEnd(f->e->b, f->blocks[index]);
	f->st = block->in;
	for (uint32_t i = block->start; i < block->end; i++) {
		f->insn = i;
		instruction(f, &prog->insns[i]);
		kinds_step(k, f->sub, i, &f->st);
		set_global(f, &prog->insns[i]);
	}
	if (LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(f->e->b)))
		return;
	if (block->end < prog->subprogs[f->sub].end)
		LLVMBuildBr(f->e->b, f->blocks[k->block_of[block->end]]);
	else
		emit_guard(f, LLVMConstInt(f->e->i1, 0, false), FAULT_BAD_CALL, emit_const(f, 0),
			   emit_const(f, 0)),
			LLVMBuildUnreachable(f->e->b);
}

/* Functions */

static LLVMValueRef variable(struct func *f, LLVMTypeRef type)
{
	return LLVMBuildAlloca(f->e->b, type, "");
}

static void make_slots(struct func *f)
{
	for (uint32_t i = 0; i < KIND_SLOTS; i++) {
		if (f->ks->low > (int32_t)(8 * i + 8) - RUN_STACK_SIZE - 1)
			continue;
		f->slot_base[i] = variable(f, f->e->ptr);
		f->slot_bound[i] = variable(f, f->e->i64);
		LLVMBuildStore(f->e->b, LLVMConstNull(f->e->ptr), f->slot_base[i]);
		if (f->ks->exposed || f->ks->shared[i])
			continue;
		f->slot[i] = variable(f, f->e->i64);
		LLVMBuildStore(f->e->b, emit_const(f, 0), f->slot[i]);
	}
}

/* The frame: zeroed, as the interpreter's is not promised to be, so that no run sees another's data. */
static void make_stack(struct func *f)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef off;

	if (f->ks->exposed) {
		f->stack = emit_load(f, f->e->ptr,
				     emit_field(f, f->rc, offsetof(struct run_ctx, stack)));
		off = LLVMBuildMul(b, LLVMBuildZExt(b, f->depth, f->e->i64, ""),
				   emit_const(f, RUN_STACK_SIZE), "");
		f->stack = LLVMBuildGEP2(b, f->e->i8, f->stack, &off, 1, "");
	} else {
		f->stack = variable(f, LLVMArrayType2(f->e->i8, RUN_STACK_SIZE));
		LLVMSetAlignment(f->stack, 16);
	}
	if (f->ks->low)
		LLVMBuildMemSet(b, emit_frame_ptr(f, f->ks->low), LLVMConstInt(f->e->i8, 0, false),
				emit_const(f, (uint64_t)-f->ks->low), 1);
}

static void make_registers(struct func *f)
{
	LLVMBuilderRef b = f->e->b;

	for (uint32_t r = 0; r < KIND_REGS; r++) {
		f->reg[r] = variable(f, f->e->i64);
		f->base[r] = variable(f, f->e->ptr);
		f->bound[r] = variable(f, f->e->i64);
		emit_set(f, r, emit_const(f, 0));
	}
	for (uint32_t i = 0; i < HELPER_ARGS; i++)
		emit_set_fat(f, 1 + i, LLVMGetParam(f->fn, 3 + 3 * i),
			     LLVMGetParam(f->fn, 4 + 3 * i), LLVMGetParam(f->fn, 5 + 3 * i));
	f->data_ptr = variable(f, f->e->ptr);
	f->data = variable(f, f->e->i64);
	f->data_end = variable(f, f->e->i64);
	f->data_meta = variable(f, f->e->i64);
	f->count = variable(f, f->e->i64);
	f->scratch = variable(f, LLVMArrayType2(f->e->i64, HELPER_ARGS + 1));
	if (!f->sub && f->ks->loops) {
		/* The main program's loops have a tank of their own, of a constant size. */
		f->fuel = variable(f, f->e->i64);
		LLVMBuildStore(b, emit_const(f, RUN_FUEL), f->fuel);
	}
}

static void prologue(struct func *f)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef top;

	f->rc = LLVMGetParam(f->fn, 0);
	f->frame = LLVMGetParam(f->fn, 1);
	f->depth = LLVMGetParam(f->fn, 2);
	f->entry = emit_block(f, "entry");
	f->faulted = emit_block(f, "faulted");
	LLVMPositionBuilderAtEnd(b, f->faulted);
	return_fault(f);
	LLVMPositionBuilderAtEnd(b, f->entry);
	make_registers(f);
	make_slots(f);
	make_stack(f);
	top = LLVMBuildPtrToInt(b, f->stack, f->e->i64, "");
	emit_set_fat(f, 10, LLVMBuildAdd(b, top, emit_const(f, RUN_STACK_SIZE), ""), f->stack,
		     emit_const(f, RUN_STACK_SIZE));
	emit_bounds(f);
}

static int subprogram(struct emit *e, uint32_t sub)
{
	const struct kind_sub *ks = &e->kinds->subs[sub];
	struct func f = { .e = e, .sub = sub, .ks = ks, .fn = e->subs[sub] };

	f.blocks = calloc(e->kinds->n_blocks, sizeof(LLVMBasicBlockRef));
	if (!f.blocks)
		return -ENOMEM;
	prologue(&f);
	for (uint32_t i = ks->first_block; i < ks->end_block; i++)
		f.blocks[i] = emit_block(&f, "");
	LLVMBuildBr(e->b, f.blocks[ks->first_block]);
	for (uint32_t i = ks->first_block; i < ks->end_block; i++) {
		if (e->kinds->blocks[i].reached) {
			basic_block(&f, i);
			continue;
		}
		LLVMPositionBuilderAtEnd(e->b, f.blocks[i]);
		LLVMBuildUnreachable(e->b);
	}
	free(f.blocks);
	return 0;
}

/* A subprogram as a jit_callback. */
static void callback(struct emit *e, uint32_t sub)
{
	LLVMTypeRef types[] = { e->ptr, e->ptr, e->i32, e->ptr, e->ptr };
	struct func f = { .e = e };
	LLVMValueRef args[EMIT_ARGS], r, ok;
	char name[32];

	snprintf(name, sizeof(name), "callback_%u", sub);
	f.fn = LLVMAddFunction(e->mod, name, LLVMFunctionType(e->i32, types, 5, false));
	emit_attr(e, f.fn, NULL, "nounwind");
	LLVMPositionBuilderAtEnd(e->b, emit_block(&f, ""));
	for (uint32_t i = 0; i < 3; i++)
		args[i] = LLVMGetParam(f.fn, i);
	for (uint32_t i = 0; i < HELPER_ARGS; i++) {
		args[3 + 3 * i] =
			i < 4 ? emit_load(&f, e->i64, emit_field(&f, LLVMGetParam(f.fn, 3), 8 * i))
			      : emit_const(&f, 0);
		args[4 + 3 * i] = LLVMConstNull(e->ptr);
		args[5 + 3 * i] = emit_const(&f, 0);
	}
	r = LLVMBuildCall2(e->b, e->sub_type, e->subs[sub], args, EMIT_ARGS, "");
	LLVMBuildStore(e->b, LLVMBuildExtractValue(e->b, r, 0, ""), LLVMGetParam(f.fn, 4));
	ok = LLVMBuildNot(e->b, LLVMBuildExtractValue(e->b, r, 3, ""), "");
	LLVMBuildRet(e->b, LLVMBuildZExt(e->b, ok, e->i32, ""));
}

static void declare(struct emit *e)
{
	LLVMTypeRef args[EMIT_ARGS] = { e->ptr, e->ptr, e->i32 };
	LLVMTypeRef result[] = { e->i64, e->ptr, e->i64, e->i1 };
	char name[32];

	for (uint32_t i = 0; i < HELPER_ARGS; i++) {
		args[3 + 3 * i] = args[5 + 3 * i] = e->i64;
		args[4 + 3 * i] = e->ptr;
	}
	e->result = LLVMStructTypeInContext(e->ctx, result, 4, false);
	e->sub_type = LLVMFunctionType(e->result, args, EMIT_ARGS, false);
	e->main_type = LLVMFunctionType(e->i64, args, EMIT_ARGS, false);
	for (uint32_t i = 0; i < e->prog->n_subprogs; i++) {
		snprintf(name, sizeof(name), "sub_%u", i);
		e->subs[i] = LLVMAddFunction(e->mod, name, i ? e->sub_type : e->main_type);
		LLVMSetLinkage(e->subs[i], LLVMInternalLinkage);
		emit_attr(e, e->subs[i], NULL, "nounwind");
	}
}

/* Whether look-ups in one of the maps go into rc->lent. */
static bool may_lend(const struct prog *prog)
{
	for (uint32_t i = 0; i < prog->n_maps; i++)
		if (!kinds_value_is_plain(prog->maps[i]))
			return true;
	return false;
}

static void note_helpers(struct emit *e)
{
	bool lookups = false;

	for (uint32_t i = 0; i < e->prog->n_insns; i++) {
		const struct insn *in = &e->prog->insns[i];
		const struct helper *h = in->ptr;

		if (in->op == OP_TAIL_CALL)
			e->leaves = lookups = true;
		if (in->op != OP_CALL_HELPER)
			continue;
		lookups |= h->ret == RET_MAP_VALUE;
		e->leaves |= h->id == BPF_FUNC_spin_lock || h->ret == RET_MEM || !h->id;
	}
	e->lends = lookups && may_lend(e->prog);
}

int emit_program(struct emit *e, struct err *err)
{
	int rc = 0;

	note_helpers(e);
	declare(e);
	for (uint32_t i = 0; i < e->prog->n_subprogs && !rc; i++)
		rc = subprogram(e, i);
	if (rc)
		return err_set(err, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < e->prog->n_insns; i++) {
		uint32_t sub = UINT32_MAX;

		if (e->prog->insns[i].op == OP_LD_FUNC)
			sub = kinds_sub_at(e->prog, (uint32_t)e->prog->insns[i].off);
		if (sub != UINT32_MAX && sub && !e->callbacks[sub]) {
			callback(e, sub);
			e->callbacks[sub] = true;
		}
	}
	emit_burst(e);
	return 0;
}
