/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiled entry: a loop over the frames of a burst with the main program inside, which prefetches ahead and
 * does for each frame what prog_run_begin and prog_run_end do: see emit.h.
 */
#include "bpf/jit/emit.h"

#include "maps/map.h"

enum { PREFETCH_AHEAD = 6 };

struct burst {
	struct func f; /* rc, fn */
	LLVMValueRef frames, n, verdicts, fresh, depth;
};

static void store_field(struct burst *u, size_t off, LLVMValueRef v)
{
	LLVMBuildStore(u->f.e->b, v, emit_field(&u->f, u->f.rc, off));
}

/* prog_run_begin, of which only what this program can change is done for each frame. */
static void begin_burst(struct burst *u)
{
	struct emit *e = u->f.e;
	LLVMValueRef zero = LLVMConstInt(e->i32, 0, false);

	u->depth = emit_load(&u->f, e->i32,
			     emit_field(&u->f, u->f.rc, offsetof(struct run_ctx, call_depth)));
	u->depth = LLVMBuildSelect(e->b, u->fresh, zero, u->depth, "");
	store_field(u, offsetof(struct run_ctx, prog), emit_address(e, e->prog));
	store_field(u, offsetof(struct run_ctx, call_depth), u->depth);
	store_field(u, offsetof(struct run_ctx, fault) + offsetof(struct fault, reason), zero);
}

/* Field := v, but not when the run goes on in this program. */
static void reset_field(struct burst *u, size_t off, LLVMTypeRef type, uint64_t v)
{
	LLVMValueRef old = emit_load(&u->f, type, emit_field(&u->f, u->f.rc, off));

	store_field(u, off,
		    LLVMBuildSelect(u->f.e->b, u->fresh, LLVMConstInt(type, v, false), old, ""));
}

static bool any_sub(const struct emit *e, bool (*has)(const struct kind_sub *s))
{
	for (uint32_t i = 0; i < e->prog->n_subprogs; i++)
		if (has(&e->kinds->subs[i]))
			return true;
	return false;
}

static bool sub_tail_calls(const struct kind_sub *s)
{
	return s->tail_calls;
}

static bool sub_burns(const struct kind_sub *s)
{
	return s->loops || s->calls || s->tail_calls;
}

static void begin_run(struct burst *u)
{
	struct emit *e = u->f.e;

	store_field(u, offsetof(struct run_ctx, frame), u->f.frame);
	if (any_sub(e, sub_tail_calls))
		reset_field(u, offsetof(struct run_ctx, tail_calls), e->i32, 0);
	if (any_sub(e, sub_burns))
		reset_field(u, offsetof(struct run_ctx, fuel), e->i64, RUN_FUEL);
	if (e->lends)
		reset_field(u, offsetof(struct run_ctx, n_lent), e->i32, 0);
}

static void prefetch(struct burst *u, LLVMValueRef i)
{
	struct emit *e = u->f.e;
	LLVMValueRef ahead = LLVMBuildAdd(e->b, i, emit_const(&u->f, PREFETCH_AHEAD), ""), in,
		     frame;
	LLVMValueRef args[4];

	in = LLVMBuildICmp(e->b, LLVMIntULT, ahead, u->n, "");
	ahead = LLVMBuildSelect(e->b, in, ahead, i, "");
	frame = emit_load(&u->f, e->ptr, LLVMBuildGEP2(e->b, e->ptr, u->frames, &ahead, 1, ""));
	args[0] = emit_load(&u->f, e->ptr, emit_field(&u->f, frame, offsetof(struct frame, data)));
	args[1] = LLVMConstInt(e->i32, 0, false);
	args[2] = LLVMConstInt(e->i32, 3, false);
	args[3] = LLVMConstInt(e->i32, 1, false);
	emit_intrinsic(e, "llvm.prefetch", e->ptr, args, 4);
}

static LLVMValueRef run_main(struct burst *u)
{
	struct emit *e = u->f.e;
	LLVMValueRef args[EMIT_ARGS] = { u->f.rc, u->f.frame, u->depth }, call;

	for (uint32_t a = 0; a < HELPER_ARGS; a++) {
		args[3 + 3 * a] =
			a ? emit_const(&u->f, 0) : LLVMBuildPtrToInt(e->b, u->f.frame, e->i64, "");
		args[4 + 3 * a] = LLVMConstNull(e->ptr);
		args[5 + 3 * a] = emit_const(&u->f, 0);
	}
	call = LLVMBuildCall2(e->b, e->main_type, e->subs[0], args, EMIT_ARGS, "");
	emit_attr(e, NULL, call, "alwaysinline");
	return call;
}

/* prog_run_end, for programs that may leave something behind. */
static void end_run(struct burst *u)
{
	struct emit *e = u->f.e;
	LLVMBasicBlockRef clean, done;
	LLVMValueRef held, lock, any;

	if (!e->leaves)
		return;
	clean = emit_block(&u->f, "clean");
	done = emit_block(&u->f, "cleaned");
	held = emit_load(&u->f, e->i32,
			 emit_field(&u->f, u->f.rc, offsetof(struct run_ctx, n_reservations)));
	lock = emit_load(&u->f, e->ptr,
			 emit_field(&u->f, u->f.rc, offsetof(struct run_ctx, spin_lock)));
	any = LLVMBuildOr(e->b, LLVMBuildIsNotNull(e->b, held, ""),
			  LLVMBuildIsNotNull(e->b, lock, ""), "");
	any = LLVMBuildAnd(e->b, any, u->fresh, "");
	LLVMBuildCondBr(e->b, any, clean, done);
	LLVMPositionBuilderAtEnd(e->b, clean);
	emit_call_host(&u->f, e->host->run_clean, LLVMVoidTypeInContext(e->ctx), &u->f.rc, 1);
	LLVMBuildBr(e->b, done);
	LLVMPositionBuilderAtEnd(e->b, done);
}

/* A run that faulted is XDP_ABORTED; the next one of the burst starts with no fault. */
static LLVMValueRef verdict_of(struct burst *u, LLVMValueRef result, LLVMValueRef last)
{
	struct emit *e = u->f.e;
	LLVMBasicBlockRef from, faulted = emit_block(&u->f, "aborted"),
				done = emit_block(&u->f, "verdict");
	LLVMValueRef zero = LLVMConstInt(e->i32, 0, false), v, phi, old, at;

	v = LLVMBuildTrunc(e->b, result, e->i32, "");
	from = LLVMGetInsertBlock(e->b);
	old = LLVMBuildICmp(e->b, LLVMIntEQ, result, emit_const(&u->f, EMIT_FAULT), "");
	LLVMBuildCondBr(e->b, old, faulted, done);
	LLVMPositionBuilderAtEnd(e->b, faulted);
	at = emit_field(&u->f, u->f.rc,
			offsetof(struct run_ctx, fault) + offsetof(struct fault, reason));
	old = emit_load(&u->f, e->i32, at);
	LLVMBuildStore(e->b, LLVMBuildSelect(e->b, last, old, zero, ""), at);
	LLVMBuildBr(e->b, done);
	LLVMPositionBuilderAtEnd(e->b, done);
	phi = LLVMBuildPhi(e->b, e->i32, "");
	LLVMAddIncoming(phi, &v, &from, 1);
	LLVMAddIncoming(phi, &zero, &faulted, 1);
	return phi;
}

static void burst_loop(struct burst *u)
{
	struct emit *e = u->f.e;
	LLVMBasicBlockRef entry = LLVMGetInsertBlock(e->b), body = emit_block(&u->f, "run"), from;
	LLVMBasicBlockRef done = emit_block(&u->f, "done");
	LLVMValueRef zero = emit_const(&u->f, 0), i, next, last, verdict;

	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, u->n, zero, ""), done, body);
	LLVMPositionBuilderAtEnd(e->b, body);
	i = LLVMBuildPhi(e->b, e->i64, "");
	u->f.frame = emit_load(&u->f, e->ptr, LLVMBuildGEP2(e->b, e->ptr, u->frames, &i, 1, ""));
	prefetch(u, i);
	begin_run(u);
	next = LLVMBuildAdd(e->b, i, emit_const(&u->f, 1), "");
	last = LLVMBuildICmp(e->b, LLVMIntEQ, next, u->n, "");
	verdict = verdict_of(u, run_main(u), last);
	LLVMBuildStore(e->b, verdict, LLVMBuildGEP2(e->b, e->i32, u->verdicts, &i, 1, ""));
	end_run(u);
	from = LLVMGetInsertBlock(e->b);
	LLVMBuildCondBr(e->b, last, done, body);
	LLVMAddIncoming(i, &zero, &entry, 1);
	LLVMAddIncoming(i, &next, &from, 1);
	LLVMPositionBuilderAtEnd(e->b, done);
	LLVMBuildRetVoid(e->b);
}

/* void burst(prog, rc, frames, n, verdicts): a prog_run_many, and with EMIT_CONTINUE in n a tail call's target. */
void emit_burst(struct emit *e)
{
	LLVMTypeRef types[] = { e->ptr, e->ptr, e->ptr, e->i32, e->ptr };
	struct burst u = { .f = { .e = e } };
	LLVMValueRef n;

	u.f.fn = LLVMAddFunction(e->mod, "burst",
				 LLVMFunctionType(LLVMVoidTypeInContext(e->ctx), types, 5, false));
	emit_attr(e, u.f.fn, NULL, "nounwind");
	LLVMPositionBuilderAtEnd(e->b, emit_block(&u.f, ""));
	u.f.rc = LLVMGetParam(u.f.fn, 1);
	u.frames = LLVMGetParam(u.f.fn, 2);
	n = LLVMGetParam(u.f.fn, 3);
	u.verdicts = LLVMGetParam(u.f.fn, 4);
	u.fresh = LLVMBuildICmp(e->b, LLVMIntSGE, n, LLVMConstInt(e->i32, 0, false), "");
	n = LLVMBuildAnd(e->b, n, LLVMConstInt(e->i32, INT32_MAX, false), "");
	u.n = LLVMBuildZExt(e->b, n, e->i64, "");
	begin_burst(&u);
	burst_loop(&u);
}
