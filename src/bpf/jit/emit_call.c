/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of subprograms, helpers and other programs: see emit.h. A helper's arguments are guarded here when each of
 * them is of a known kind, else all of them out of line by helper_check. Small helpers become code.
 */
#include "bpf/jit/emit.h"

#include <errno.h>

#include "maps/map.h"

enum { LOOPS_MAX = 1 << 23 }; /* BPF_MAX_LOOPS */

/* Subprograms */

static LLVMValueRef next_depth(struct func *f)
{
	LLVMBuilderRef b = f->e->b;
	LLVMValueRef depth = LLVMBuildAdd(b, f->depth, LLVMConstInt(f->e->i32, 1, false), "");
	LLVMValueRef ok = LLVMBuildICmp(b, LLVMIntULT, depth,
					LLVMConstInt(f->e->i32, RUN_CALL_DEPTH, false), "");

	emit_guard(f, ok, FAULT_CALL_DEPTH, emit_const(f, 0), emit_const(f, 0));
	return depth;
}

/* Calls with arguments[EMIT_ARGS] whose first three are filled here; the result is the struct. */
static LLVMValueRef call_sub(struct func *f, uint32_t callee, LLVMValueRef *args)
{
	LLVMValueRef r;

	args[0] = f->rc;
	args[1] = f->frame;
	args[2] = next_depth(f);
	r = LLVMBuildCall2(f->e->b, f->e->sub_type, f->e->subs[callee], args, EMIT_ARGS, "");
	emit_require(f, LLVMBuildNot(f->e->b, LLVMBuildExtractValue(f->e->b, r, 3, ""), ""));
	if (f->e->kinds->subs[callee].moves)
		emit_bounds(f);
	return r;
}

static void clobber(struct func *f)
{
	for (uint32_t r = 1; r <= 5; r++)
		emit_set(f, r, emit_const(f, 0));
}

void emit_sub_call(struct func *f, const struct insn *in)
{
	uint32_t callee = kinds_sub_at(f->e->prog, (uint32_t)in->off);
	LLVMValueRef args[EMIT_ARGS], r;

	/* The main program is no subprogram: a call of it ends at the depth limit in the end. */
	if (callee == UINT32_MAX || !callee) {
		emit_guard(f, LLVMConstInt(f->e->i1, 0, false),
			   callee ? FAULT_BAD_CALL : FAULT_CALL_DEPTH, emit_const(f, 0),
			   emit_const(f, 0));
		return;
	}
	if (f->e->kinds->subs[callee].calls)
		emit_burn(f, 1, false);
	for (uint32_t i = 0; i < HELPER_ARGS; i++) {
		args[3 + 3 * i] = emit_get(f, 1 + i);
		args[4 + 3 * i] = emit_load(f, f->e->ptr, f->base[1 + i]);
		args[5 + 3 * i] = emit_load(f, f->e->i64, f->bound[1 + i]);
	}
	r = call_sub(f, callee, args);
	emit_set_fat(f, 0, LLVMBuildExtractValue(f->e->b, r, 0, ""),
		     LLVMBuildExtractValue(f->e->b, r, 1, ""),
		     LLVMBuildExtractValue(f->e->b, r, 2, ""));
	clobber(f);
}

/* Checks of arguments */

struct call {
	const struct helper *h;
	struct kind_call known;
	struct map *map;	       /* the map argument, when it is known */
	LLVMValueRef arg[HELPER_ARGS]; /* as the helper gets them */
};

static void check_here(struct func *f, struct call *c, uint32_t i)
{
	uint64_t size = c->known.size[i];
	uint8_t kind = c->h->args[i];

	c->arg[i] = emit_get(f, 1 + i);
	switch ((enum helper_arg)kind) {
	case ARG_CTX:
		c->arg[i] = LLVMBuildPtrToInt(f->e->b, f->frame, f->e->i64, "");
		break;
	case ARG_MAP:
		c->arg[i] = emit_const(f, (uint64_t)(uintptr_t)c->map);
		break;
	case ARG_CALLBACK:
		c->arg[i] = emit_const(f, (uint64_t)f->st.reg[1 + i].val);
		break;
	case ARG_SIZE:
	case ARG_SIZE_OR_ZERO:
		/* What was checked, whatever the register says. */
		if (f->st.reg[1 + i].known)
			c->arg[i] = emit_const(f, (uint64_t)f->st.reg[1 + i].val);
		break;
	case ARG_NONE:
		c->arg[i] = emit_const(f, 0);
		break;
	default:
		if (!size)
			break;
		emit_check(f, 1 + i, emit_const(f, size),
			   kind == ARG_MAP_VALUE_OUT || kind == ARG_MEM_OUT ||
				   kind == ARG_MEM_FIXED_OUT);
		/* Where the guard looked, whatever the register says. */
		if (kind_in_frame(&f->st.reg[1 + i]))
			c->arg[i] = LLVMBuildPtrToInt(
				f->e->b, emit_frame_ptr(f, f->st.reg[1 + i].val), f->e->i64, "");
	}
}

static LLVMValueRef scratch_at(struct func *f, uint32_t i)
{
	LLVMValueRef off = emit_const(f, i);

	return LLVMBuildGEP2(f->e->b, f->e->i64, f->scratch, &off, 1, "");
}

static void check_out_of_line(struct func *f, struct call *c)
{
	LLVMValueRef args[] = { emit_address(f->e, f->e->prog), f->rc, emit_address(f->e, c->h),
				emit_const(f, f->insn), f->scratch };

	for (uint32_t i = 0; i < HELPER_ARGS; i++)
		LLVMBuildStore(f->e->b, emit_get(f, 1 + i), scratch_at(f, i));
	emit_require(f, emit_call_host(f, slow_check_args, f->e->i32, args, 5));
	for (uint32_t i = 0; i < HELPER_ARGS; i++)
		c->arg[i] = emit_load(f, f->e->i64, scratch_at(f, i));
}

/* True when all arguments were of known kinds. */
static bool check_args(struct func *f, struct call *c)
{
	if (!kinds_call(f->e->kinds, c->h, &f->st, &c->known)) {
		check_out_of_line(f, c);
		return false;
	}
	c->map = c->known.map;
	for (uint32_t i = 0; i < HELPER_ARGS; i++)
		check_here(f, c, i);
	return true;
}

/* Helpers as code */

/* r0 is a value of the map or NULL: base and bound of the pointer that it is. */
static void set_value(struct func *f, const struct map *map, LLVMValueRef value)
{
	uint64_t bound = map->value_size;

	if (map->area.read_only)
		bound |= EMIT_READ_ONLY;
	emit_set_fat(f, 0, LLVMBuildPtrToInt(f->e->b, value, f->e->i64, ""), value,
		     emit_const(f, bound));
}

static LLVMValueRef to_ptr(struct func *f, LLVMValueRef v)
{
	return LLVMBuildIntToPtr(f->e->b, v, f->e->ptr, "");
}

/* The address of a key that was checked. */
static LLVMValueRef key_ptr(struct func *f, const struct call *c)
{
	const struct kind *k = &f->st.reg[2];

	if (kind_in_frame(k))
		return emit_frame_ptr(f, k->val);
	return to_ptr(f, c->arg[1]);
}

static void array_lookup(struct func *f, const struct call *c)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef i64 = f->e->i64;
	const struct map *map = c->map;
	LLVMValueRef key = emit_load(f, f->e->i32, key_ptr(f, c)), index, ok, value;

	LLVMSetAlignment(key, 1);
	ok = LLVMBuildICmp(b, LLVMIntULT, key, LLVMConstInt(f->e->i32, map->max_entries, false),
			   "");
	index = LLVMBuildZExt(b, key, i64, "");
	if (map->type == BPF_MAP_TYPE_PERCPU_ARRAY) {
		LLVMValueRef cpu = emit_load(f, f->e->i32,
					     emit_field(f, f->rc, offsetof(struct run_ctx, cpu)));

		cpu = LLVMBuildMul(b, LLVMBuildZExt(b, cpu, i64, ""), emit_const(f, map->n_values),
				   "");
		index = LLVMBuildAdd(b, index, cpu, "");
	}
	index = LLVMBuildMul(b, index, emit_const(f, map->stride), "");
	/* In bounds when the index is, and not used when it is not. */
	value = LLVMBuildInBoundsGEP2(b, f->e->i8, emit_address(f->e, map->area.base), &index, 1,
				      "");
	set_value(f, map, LLVMBuildSelect(b, ok, value, LLVMConstNull(f->e->ptr), ""));
}

static void map_lookup(struct func *f, const struct call *c)
{
	const struct map *map = c->map;
	bool array = map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY;
	LLVMValueRef args[3];

	if (array && map->key_size == 4 && map->n_values >= map->max_entries) {
		array_lookup(f, c);
		return;
	}
	args[0] = emit_address(f->e, map);
	args[1] = key_ptr(f, c);
	args[2] = emit_load(f, f->e->i32, emit_field(f, f->rc, offsetof(struct run_ctx, cpu)));
	set_value(f, map, emit_call_host(f, map->ops->lookup, f->e->ptr, args, 3));
}

static void redirect(struct func *f, const struct call *c)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef i32 = f->e->i32;
	size_t ri = offsetof(struct run_ctx, ri);
	LLVMValueRef ifindex = LLVMBuildTrunc(b, c->arg[0], i32, ""), fn, r;
	LLVMValueRef args[HELPER_ARGS + 1] = { f->rc,	  c->arg[0], c->arg[1],
					       c->arg[2], c->arg[3], c->arg[4] };

	/* Flags are refused by the helper itself: the rare case. */
	if (!f->st.reg[2].known || (f->st.reg[2].val & UINT32_MAX) || f->st.reg[2].val) {
		emit_set(f, 0, emit_call_host(f, c->h->fn, f->e->i64, args, HELPER_ARGS + 1));
		return;
	}
	fn = LLVMConstInt(i32, 0, false);
	LLVMBuildStore(b, fn, emit_field(f, f->rc, ri + offsetof(struct redirect_info, flags)));
	LLVMBuildStore(b, LLVMBuildZExt(b, ifindex, f->e->i64, ""),
		       emit_field(f, f->rc, ri + offsetof(struct redirect_info, tgt_index)));
	LLVMBuildStore(b, LLVMConstInt(i32, INT32_MAX, false),
		       emit_field(f, f->rc, ri + offsetof(struct redirect_info, map_id)));
	LLVMBuildStore(b, fn, emit_field(f, f->rc, ri + offsetof(struct redirect_info, map_type)));
	r = emit_const(f, XDP_REDIRECT);
	emit_set(f, 0, r);
}

static LLVMValueRef buff_len(struct func *f)
{
	return LLVMBuildSub(f->e->b, emit_load(f, f->e->i64, f->data_end),
			    emit_load(f, f->e->i64, f->data), "");
}

/* xdp_load_bytes of a constant size: -EFAULT, -EINVAL or a copy. */
static bool load_bytes(struct func *f, const struct call *c)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef i64 = f->e->i64;
	LLVMBasicBlockRef copy = emit_block(f, "copy"), done = emit_block(f, "copied"), from;
	LLVMValueRef off, ok, big, r, phi, src, zero = emit_const(f, 0);
	const struct kind *len = &f->st.reg[4];

	if (!len->known || len->val <= 0 || len->val > 0xffff) {
		LLVMDeleteBasicBlock(copy);
		LLVMDeleteBasicBlock(done);
		return false;
	}
	off = LLVMBuildAnd(b, c->arg[1], emit_const(f, UINT32_MAX), "");
	big = LLVMBuildICmp(b, LLVMIntUGT, off, emit_const(f, 0xffff), "");
	ok = LLVMBuildICmp(b, LLVMIntULE,
			   LLVMBuildAdd(b, off, emit_const(f, (uint64_t)len->val), ""), buff_len(f),
			   "");
	ok = LLVMBuildAnd(b, ok, LLVMBuildNot(b, big, ""), "");
	r = LLVMBuildSelect(b, big, emit_const(f, (uint64_t)-EFAULT),
			    emit_const(f, (uint64_t)-EINVAL), "");
	from = LLVMGetInsertBlock(b);
	LLVMBuildCondBr(b, ok, copy, done);
	LLVMPositionBuilderAtEnd(b, copy);
	src = emit_load(f, f->e->ptr, f->data_ptr);
	src = LLVMBuildGEP2(b, f->e->i8, src, &off, 1, "");
	LLVMBuildMemMove(b,
			 kind_in_frame(&f->st.reg[3]) ? emit_frame_ptr(f, f->st.reg[3].val)
						      : to_ptr(f, c->arg[2]),
			 1, src, 1, emit_const(f, (uint64_t)len->val));
	LLVMBuildBr(b, done);
	LLVMPositionBuilderAtEnd(b, done);
	phi = LLVMBuildPhi(b, i64, "");
	LLVMAddIncoming(phi, &r, &from, 1);
	LLVMAddIncoming(phi, &zero, &copy, 1);
	emit_set(f, 0, phi);
	return true;
}

/* bpf_loop: the calls are direct, so that LLVM may inline them. */
static void loop(struct func *f, const struct call *c)
{
	LLVMBuilderRef b = f->e->b;
	LLVMTypeRef i64 = f->e->i64;
	LLVMBasicBlockRef head = emit_block(f, "loop"), body = emit_block(f, "turn");
	LLVMBasicBlockRef check = emit_block(f, "bounds"), done = emit_block(f, "looped");
	LLVMValueRef args[EMIT_ARGS], i, i1, next, n, r, ok, stop, out = f->count;
	LLVMBasicBlockRef from;

	n = LLVMBuildAnd(b, c->arg[0], emit_const(f, UINT32_MAX), "");
	ok = LLVMBuildICmp(b, LLVMIntEQ, c->arg[3], emit_const(f, 0), "");
	LLVMBuildStore(b,
		       LLVMBuildSelect(b, ok, emit_const(f, (uint64_t)-E2BIG),
				       emit_const(f, (uint64_t)-EINVAL), ""),
		       out);
	ok = LLVMBuildAnd(b, ok, LLVMBuildICmp(b, LLVMIntULE, n, emit_const(f, LOOPS_MAX), ""), "");
	LLVMBuildCondBr(b, ok, check, done);
	LLVMPositionBuilderAtEnd(b, check);
	LLVMBuildBr(b, head);
	LLVMPositionBuilderAtEnd(b, head);
	i = LLVMBuildPhi(b, i64, "");
	LLVMBuildStore(b, i, out);
	LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, i, n, ""), body, done);
	LLVMPositionBuilderAtEnd(b, body);
	emit_burn(f, 1, false);
	for (uint32_t a = 0; a < HELPER_ARGS; a++) {
		args[3 + 3 * a] = emit_const(f, 0);
		args[4 + 3 * a] = LLVMConstNull(f->e->ptr);
		args[5 + 3 * a] = emit_const(f, 0);
	}
	args[3] = i;
	args[6] = c->arg[2];
	args[7] = emit_load(f, f->e->ptr, f->base[3]);
	args[8] = emit_load(f, i64, f->bound[3]);
	r = call_sub(f, (uint32_t)f->st.reg[2].val, args);
	next = LLVMBuildAdd(b, i, emit_const(f, 1), "");
	LLVMBuildStore(b, next, out);
	stop = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildExtractValue(b, r, 0, ""), emit_const(f, 0),
			     "");
	from = LLVMGetInsertBlock(b);
	LLVMBuildCondBr(b, stop, done, head);
	i1 = emit_const(f, 0);
	LLVMAddIncoming(i, &i1, &check, 1);
	LLVMAddIncoming(i, &next, &from, 1);
	LLVMPositionBuilderAtEnd(b, done);
	emit_set(f, 0, emit_load(f, i64, out));
}

static void callbacks(struct func *f, const struct call *c)
{
	LLVMValueRef args[] = { emit_address(f->e, f->e->prog), f->rc, emit_address(f->e, c->h),
				f->depth, f->scratch };

	for (uint32_t i = 0; i < HELPER_ARGS; i++)
		LLVMBuildStore(f->e->b, c->arg[i], scratch_at(f, i));
	emit_require(f, emit_call_host(f, slow_callbacks, f->e->i32, args, 5));
	emit_set(f, 0, emit_load(f, f->e->i64, scratch_at(f, HELPER_ARGS)));
	emit_bounds(f);
}

/* Code in place of the call, for arguments that were all known; false: there is none. */
static bool emit_inline(struct func *f, const struct call *c)
{
	LLVMValueRef v;

	switch (c->h->id) {
	case BPF_FUNC_map_lookup_elem:
		if (!kinds_value_is_plain(c->map))
			return false;
		map_lookup(f, c);
		return true;
	case BPF_FUNC_get_smp_processor_id:
		v = emit_load(f, f->e->i32, emit_field(f, f->rc, offsetof(struct run_ctx, cpu)));
		emit_set(f, 0, LLVMBuildZExt(f->e->b, v, f->e->i64, ""));
		return true;
	case BPF_FUNC_xdp_get_buff_len:
		emit_set(f, 0, buff_len(f));
		return true;
	case BPF_FUNC_redirect:
		redirect(f, c);
		return true;
	case BPF_FUNC_xdp_load_bytes:
		return load_bytes(f, c);
	case BPF_FUNC_loop:
		if (!f->st.reg[2].val)
			return false;
		loop(f, c);
		return true;
	default:
		return false;
	}
}

static void call_helper(struct func *f, const struct call *c, bool known)
{
	LLVMValueRef args[HELPER_ARGS + 1] = { f->rc,	  c->arg[0], c->arg[1],
					       c->arg[2], c->arg[3], c->arg[4] };
	const struct helper *h = c->h;
	bool value = h->ret == RET_MAP_VALUE && c->map && known && kinds_value_is_plain(c->map);
	LLVMValueRef r;

	r = emit_call_host(f, h->fn, value ? f->e->ptr : f->e->i64, args, HELPER_ARGS + 1);
	if (value)
		set_value(f, c->map, r);
	else
		emit_set(f, 0, h->ret == RET_VOID ? emit_const(f, 0) : r);
	if (h->moves_packet)
		emit_bounds(f);
}

void emit_helper(struct func *f, const struct insn *in)
{
	struct call c = { .h = in->ptr };
	bool known = check_args(f, &c);

	if (!known || !emit_inline(f, &c)) {
		if (c.h->needs_prog)
			callbacks(f, &c);
		else
			call_helper(f, &c, known);
	}
	clobber(f);
}

void emit_tail_call(struct func *f)
{
	struct call c = { .h = f->e->host->helper_by_id(BPF_FUNC_tail_call) };
	LLVMBuilderRef b = f->e->b;
	LLVMBasicBlockRef taken = emit_block(f, "taken"), missed = emit_block(f, "missed");
	LLVMValueRef args[5], r;

	if (c.h)
		check_args(f, &c);
	args[0] = emit_address(f->e, f->e->prog);
	args[1] = f->rc;
	args[2] = to_ptr(f, c.arg[1]);
	args[3] = LLVMBuildTrunc(b, c.arg[2], f->e->i32, "");
	args[4] = f->depth;
	r = emit_call_host(f, slow_tail_call, f->e->i64, args, 5);
	emit_require(f, LLVMBuildICmp(b, LLVMIntNE, r, emit_const(f, (uint64_t)-2), ""));
	LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGE, r, emit_const(f, 0), ""), taken, missed);
	LLVMPositionBuilderAtEnd(b, taken);
	emit_return(f, r, LLVMConstNull(f->e->ptr), emit_const(f, 0));
	LLVMPositionBuilderAtEnd(b, missed);
}
