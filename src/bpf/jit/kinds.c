/* SPDX-License-Identifier: BSD-2-Clause */
/* Which region each pointer of a program belongs to: see kinds.h. */
#include "bpf/jit/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/helper.h"
#include "maps/map.h"

enum { SIZE_MAX_ARG = 1 << 29 }; /* BPF_MAX_VAR_SIZ */

static const struct kind scalar = { .bits = KIND_SCALAR };
static const struct kind any = { .bits = KIND_ANY };

static struct kind constant(int64_t val)
{
	return (struct kind){ .bits = KIND_SCALAR, .known = true, .val = val };
}

/* dst becomes what covers both; true when it changed. */
static bool kind_merge(struct kind *dst, const struct kind *src)
{
	struct kind old = *dst;

	if (!src->bits)
		return false;
	if (!dst->bits) {
		*dst = *src;
		return true;
	}
	dst->bits |= src->bits;
	if (!src->known || src->val != dst->val || old.bits != src->bits)
		dst->known = false;
	if (!dst->known)
		dst->val = 0;
	/* A NULL beside a value is of no map. */
	if (kind_within(&old, KIND_SCALAR))
		dst->map = src->map;
	else if (!kind_within(src, KIND_SCALAR) && src->map != dst->map)
		dst->map = NULL;
	dst->direct = old.direct && src->direct;
	return dst->bits != old.bits || dst->known != old.known || dst->map != old.map ||
	       dst->direct != old.direct;
}

static bool state_merge(struct kind_state *dst, const struct kind_state *src)
{
	bool changed = false;

	for (uint32_t i = 0; i < KIND_REGS; i++)
		changed |= kind_merge(&dst->reg[i], &src->reg[i]);
	for (uint32_t i = 0; i < KIND_SLOTS; i++)
		changed |= kind_merge(&dst->slot[i], &src->slot[i]);
	return changed;
}

uint32_t kinds_sub_at(const struct prog *prog, uint32_t insn)
{
	uint32_t lo = 0, hi = prog->n_subprogs;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (prog->subprogs[mid].start == insn)
			return mid;
		if (prog->subprogs[mid].start < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return UINT32_MAX;
}

static struct kind operand(const struct kind_state *st, const struct insn *in)
{
	return in->src == INSN_IMM ? constant(in->imm) : st->reg[in->src];
}

static void step_add(struct kind_state *st, const struct insn *in)
{
	struct kind *dst = &st->reg[in->dst], src = operand(st, in), out = scalar;
	bool dst_scalar = kind_within(dst, KIND_SCALAR),
	     src_scalar = kind_within(&src, KIND_SCALAR);
	bool add = in->op == OP_ADD;

	if (in->width == 64 && (src_scalar || (add && dst_scalar))) {
		out = src_scalar ? *dst : src;
		out.known = dst->known && src.known;
		out.val = out.known ? (int64_t)(add ? (uint64_t)dst->val + (uint64_t)src.val
						    : (uint64_t)dst->val - (uint64_t)src.val)
				    : 0;
	} else if (in->width == 64 && add) {
		kind_merge(&out, dst);
		kind_merge(&out, &src);
		out.known = out.direct = false;
	}
	*dst = out;
}

static void step_mov(struct kind_state *st, const struct insn *in)
{
	struct kind src = operand(st, in);

	if (in->width == 64)
		st->reg[in->dst] = src;
	else
		st->reg[in->dst] = src.known && kind_within(&src, KIND_SCALAR)
					   ? constant((int64_t)(uint32_t)src.val)
					   : scalar;
}

/* Notes that bytes [off, off + size) from r10 are used as memory; false when they are not all in the frame. */
static bool frame_use(struct kind_sub *sub, int64_t off, uint64_t size, bool whole)
{
	if (off < -RUN_STACK_SIZE || off >= 0 || size > (uint64_t)-off)
		return false;
	if (off < sub->low)
		sub->low = (int32_t)off;
	if (whole)
		return true;
	for (int64_t at = off; at < off + (int64_t)size; at++)
		sub->shared[(at + RUN_STACK_SIZE) / 8] = true;
	return true;
}

static void frame_varies(struct kind_sub *sub)
{
	sub->low = -RUN_STACK_SIZE;
	memset(sub->shared, true, sizeof(sub->shared));
}

/* Bytes are written as data: what was spilled there is gone. */
static void slots_clobber(struct kind_state *st, int64_t off, uint64_t size,
			  const struct kind *with)
{
	for (int64_t at = off; at < off + (int64_t)size; at++)
		if (at >= -RUN_STACK_SIZE && at < 0)
			st->slot[(at + RUN_STACK_SIZE) / 8] = *with;
}

static void slots_weaken(struct kind_state *st, int64_t from)
{
	int64_t first = from < -RUN_STACK_SIZE ? 0 : (from + RUN_STACK_SIZE) / 8;

	for (int64_t i = first; i < KIND_SLOTS; i++)
		st->slot[i] = any;
}

static struct kind ctx_field(int64_t off)
{
	switch (off) {
	case offsetof(struct xdp_md, data):
		return (struct kind){ .bits = KIND_PACKET };
	case offsetof(struct xdp_md, data_meta):
		return (struct kind){ .bits = KIND_META };
	case offsetof(struct xdp_md, data_end):
		return (struct kind){ .bits = KIND_END };
	default:
		return scalar;
	}
}

/* A frame's address in an access whose guard does not carry bounds: the general guard must find it. */
static void note_pointer(struct kind_sub *sub, const struct kind *k)
{
	if (!(k->bits & KIND_STACK))
		return;
	if (!kind_within(k, KIND_FAT | KIND_SCALAR))
		sub->exposed = true;
	if (k->bits != KIND_STACK || !k->known)
		frame_varies(sub);
}

static void step_load(struct kind_sub *sub, struct kind_state *st, const struct insn *in)
{
	struct kind p = st->reg[in->src], out = any;
	int64_t off = p.val + in->off;

	note_pointer(sub, &p);
	if (p.bits == KIND_STACK && p.known) {
		bool whole = in->op == OP_LDX && in->width == 8 && off % 8 == 0;

		out = scalar;
		if (frame_use(sub, off, in->width, whole) && whole)
			out = st->slot[(off + RUN_STACK_SIZE) / 8];
	} else if (p.bits == KIND_CTX) {
		out = ctx_field(in->off + (p.known ? p.val : 0));
	} else if (in->width < 8 || kind_within(&p, KIND_PACKET | KIND_META | KIND_VALUE |
							    KIND_RECORD | KIND_SCALAR)) {
		out = scalar;
	}
	if (in->op == OP_LDXS)
		out = scalar;
	st->reg[in->dst] = out;
}

static void step_store(struct kind_sub *sub, struct kind_state *st, const struct insn *in)
{
	struct kind p = st->reg[in->dst], v = operand(st, in);
	int64_t off = p.val + in->off;

	note_pointer(sub, &p);
	if (p.bits == KIND_STACK && p.known) {
		bool whole = in->op == OP_ST && in->width == 8 && off % 8 == 0;

		if (!frame_use(sub, off, in->width, whole))
			return;
		slots_clobber(st, off, in->width, whole ? &v : &scalar);
		if (!whole && v.bits & KIND_STACK && in->width == 8)
			sub->exposed = true;
		return;
	}
	if (p.bits & KIND_STACK)
		slots_weaken(st, -RUN_STACK_SIZE);
	if (v.bits & KIND_STACK && in->width == 8)
		sub->exposed = true;
}

static void step_atomic(struct kind_sub *sub, struct kind_state *st, const struct insn *in)
{
	struct kind p = st->reg[in->dst];

	note_pointer(sub, &p);
	if (p.bits == KIND_STACK && p.known) {
		if (frame_use(sub, p.val + in->off, in->width, false))
			slots_clobber(st, p.val + in->off, in->width, &scalar);
	} else if (p.bits & KIND_STACK) {
		slots_weaken(st, -RUN_STACK_SIZE);
	}
	if (in->op == OP_ATOMIC_CMPXCHG)
		st->reg[0] = scalar;
	else if (in->op >= OP_ATOMIC_FETCH_ADD && in->op <= OP_ATOMIC_XCHG)
		st->reg[in->src] = scalar;
}

/* The arguments as another function sees them: a pointer into this frame is one into a caller's. */
static void enter_callee(struct kinds *k, uint32_t sub, uint32_t callee, const struct kind *args,
			 uint32_t n)
{
	struct kind_block *entry = &k->blocks[k->subs[callee].first_block];

	for (uint32_t i = 0; i < n; i++) {
		struct kind a = args[i];

		if (a.bits & KIND_STACK) {
			k->subs[sub].exposed = true;
			frame_varies(&k->subs[sub]);
			a.bits = (uint16_t)((a.bits & ~KIND_STACK) | KIND_CALLER);
		}
		if (!kind_within(&a, KIND_SCALAR) && a.bits & (KIND_STACK | KIND_CALLER))
			a.known = false;
		kind_merge(&entry->in.reg[1 + i], &a);
	}
	entry->reached = true;
}

static void clobber_args(struct kind_state *st)
{
	for (uint32_t r = 1; r <= 5; r++)
		st->reg[r] = constant(0);
}

static void step_call(struct kinds *k, uint32_t sub, struct kind_state *st, const struct insn *in)
{
	uint32_t callee = kinds_sub_at(k->prog, (uint32_t)in->off);
	struct kind_sub *s = &k->subs[sub];

	s->calls = true;
	if (callee == UINT32_MAX)
		return;
	enter_callee(k, sub, callee, &st->reg[1], HELPER_ARGS);
	for (uint32_t r = 1; r <= 5; r++)
		if (st->reg[r].bits & KIND_STACK)
			slots_weaken(st, st->reg[r].known ? st->reg[r].val : -RUN_STACK_SIZE);
	s->moves |= k->subs[callee].moves;
	st->reg[0] = k->subs[callee].ret;
	clobber_args(st);
}

/* Bytes of memory argument a, when that is a constant above 0: sizes that vary may be 0, which has rules of its
 * own. */
static bool arg_bytes(const struct helper *h, const struct kind_state *st, uint32_t a,
		      const struct map *map, uint64_t *size)
{
	const struct kind *n = &st->reg[a + 2];

	switch (h->args[a]) {
	case ARG_MAP_KEY:
		*size = map ? map->key_size : 0;
		return *size;
	case ARG_MAP_VALUE:
	case ARG_MAP_VALUE_OUT:
		*size = map ? map->value_size : 0;
		return *size;
	case ARG_MEM_FIXED:
	case ARG_MEM_FIXED_OUT:
		*size = h->fixed;
		return *size;
	default:
		*size = (uint64_t)n->val;
		return a + 1 < HELPER_ARGS && n->bits == KIND_SCALAR && n->known && n->val > 0 &&
		       n->val <= SIZE_MAX_ARG;
	}
}

bool kind_in_frame(const struct kind *k)
{
	return k->bits == KIND_STACK && k->known;
}

bool kind_in_packet(const struct kind *k)
{
	return k->bits & (KIND_PACKET | KIND_META) &&
	       kind_within(k, KIND_PACKET | KIND_META | KIND_SCALAR);
}

bool kind_is_fat(const struct kind *k)
{
	return k->bits & KIND_FAT && kind_within(k, KIND_FAT | KIND_SCALAR);
}

static bool arg_known(const struct kinds *k, const struct helper *h, const struct kind_state *st,
		      uint32_t a, struct kind_call *call)
{
	const struct kind *p = &st->reg[1 + a];

	switch ((enum helper_arg)h->args[a]) {
	case ARG_NONE:
	case ARG_SCALAR:
	case ARG_SIZE:
	case ARG_SIZE_OR_ZERO:
	case ARG_ANY_OR_NULL:
		return true;
	case ARG_CTX:
		return p->bits == KIND_CTX && p->known && !p->val;
	case ARG_MAP:
		if (p->bits != KIND_MAP || !p->map)
			return false;
		call->map = p->map;
		return !h->map_types || h->map_types >> p->map->type & 1;
	case ARG_MAP_KEY:
	case ARG_MAP_VALUE:
	case ARG_MAP_VALUE_OUT:
	case ARG_MEM:
	case ARG_MEM_OR_NULL:
	case ARG_MEM_OUT:
	case ARG_MEM_FIXED:
	case ARG_MEM_FIXED_OUT:
		return arg_bytes(h, st, a, call->map, &call->size[a]) &&
		       (kind_in_frame(p) || kind_in_packet(p) || kind_is_fat(p));
	case ARG_CALLBACK:
		return p->bits == KIND_FUNC && p->known && p->val < k->prog->n_subprogs;
	case ARG_RINGBUF_RECORD:
	case ARG_CONST_STR:
	case ARG_SPIN_LOCK:
		return false;
	}
	return false;
}

bool kinds_call(const struct kinds *k, const struct helper *h, const struct kind_state *st,
		struct kind_call *ret)
{
	bool all = !k->locks;

	*ret = (struct kind_call){ 0 };
	for (uint32_t a = 0; a < HELPER_ARGS; a++)
		all = arg_known(k, h, st, a, ret) && all;
	return all;
}

static bool arg_writes(const struct helper *h, uint32_t a)
{
	return h->args[a] == ARG_MAP_VALUE_OUT || h->args[a] == ARG_MEM_OUT ||
	       h->args[a] == ARG_MEM_FIXED_OUT;
}

static void step_frame_arg(struct kind_sub *s, struct kind_state *st, const struct helper *h,
			   uint32_t a, const struct kind_call *call)
{
	const struct kind p = st->reg[1 + a];
	uint64_t size = call->size[a];

	if (!(p.bits & KIND_STACK) || h->args[a] == ARG_SCALAR || h->args[a] == ARG_NONE ||
	    h->args[a] == ARG_SIZE || h->args[a] == ARG_SIZE_OR_ZERO)
		return;
	note_pointer(s, &p);
	if (kind_in_frame(&p) && size) {
		frame_use(s, p.val, size, false);
		if (arg_writes(h, a) && size <= RUN_STACK_SIZE)
			slots_clobber(st, p.val, size, &scalar);
		return;
	}
	frame_varies(s);
	/* Only the loops' own code passes a frame on with its bounds. */
	s->exposed = true;
	if (arg_writes(h, a))
		slots_weaken(st, -RUN_STACK_SIZE);
}

static void step_callback(struct kinds *k, uint32_t sub, struct kind_state *st,
			  const struct helper *h)
{
	struct kind args[4] = { any, any, any, any };

	k->subs[sub].calls = true;
	for (uint32_t a = 0; a < HELPER_ARGS; a++) {
		const struct kind *f = &st->reg[1 + a];

		if (h->args[a] != ARG_CALLBACK || f->bits != KIND_FUNC || !f->known)
			continue;
		if (h->id == BPF_FUNC_loop) {
			args[0] = args[2] = args[3] = scalar;
			args[1] = st->reg[3];
		}
		enter_callee(k, sub, (uint32_t)f->val, args, 4);
		k->subs[sub].moves |= k->subs[f->val].moves;
		slots_weaken(st, -RUN_STACK_SIZE);
	}
}

bool kinds_value_is_plain(const struct map *map)
{
	switch (map->type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
		return map->area.base;
	default:
		return false;
	}
}

static struct kind helper_result(const struct helper *h, struct map *map)
{
	switch (h->ret) {
	case RET_MAP_VALUE:
		if (map && (map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			    map->type == BPF_MAP_TYPE_HASH_OF_MAPS))
			return (struct kind){ .bits = KIND_MAP };
		if (!map || !kinds_value_is_plain(map))
			return any;
		return (struct kind){ .bits = KIND_VALUE, .known = true, .map = map };
	case RET_MEM:
	case RET_PACKET:
		return any;
	default:
		return scalar;
	}
}

static void step_helper(struct kinds *k, uint32_t sub, struct kind_state *st, const struct insn *in)
{
	const struct helper *h = in->ptr;
	struct kind_call call;
	bool known = kinds_call(k, h, st, &call);

	for (uint32_t a = 0; a < HELPER_ARGS; a++) {
		/* helper_check finds frames in rc->stack alone. */
		if (!known && st->reg[1 + a].bits & KIND_STACK && h->args[a] != ARG_NONE)
			k->subs[sub].exposed = true;
		step_frame_arg(&k->subs[sub], st, h, a, &call);
	}
	if (h->needs_prog)
		step_callback(k, sub, st, h);
	k->subs[sub].moves |= h->moves_packet;
	st->reg[0] = helper_result(h, known ? call.map : NULL);
	clobber_args(st);
}

static struct kind address_const(const struct prog *prog, const struct insn *in)
{
	struct kind out = { .bits = KIND_VALUE, .known = true, .direct = true };
	uint64_t addr = (uint64_t)in->imm;

	for (uint32_t i = 0; i < prog->n_maps; i++) {
		struct map *map = prog->maps[i];
		uint64_t base = (uint64_t)(uintptr_t)map->area.base;

		if (!base || addr < base || addr - base >= map->value_size)
			continue;
		out.map = map;
		out.val = (int64_t)(addr - base);
		return out;
	}
	return any;
}

static void step_exit(struct kinds *k, uint32_t sub, struct kind_state *st)
{
	struct kind r0 = st->reg[0];

	if (r0.bits & KIND_STACK) {
		k->subs[sub].exposed = true;
		r0 = any;
	}
	kind_merge(&k->subs[sub].ret, &r0);
}

void kinds_step(struct kinds *k, uint32_t sub, uint32_t i, struct kind_state *st)
{
	const struct insn *in = &k->prog->insns[i];

	switch (in->op) {
	case OP_ADD:
	case OP_SUB:
		step_add(st, in);
		break;
	case OP_MOV:
		step_mov(st, in);
		break;
	case OP_LD_IMM:
		st->reg[in->dst] = constant(in->imm);
		break;
	case OP_LD_MAP:
		st->reg[in->dst] = (struct kind){ .bits = KIND_MAP, .map = in->ptr };
		break;
	case OP_LD_MAP_VALUE:
		st->reg[in->dst] = address_const(k->prog, in);
		break;
	case OP_LD_FUNC:
		st->reg[in->dst] = (struct kind){ .bits = KIND_FUNC,
						  .known = true,
						  .val = kinds_sub_at(k->prog, (uint32_t)in->off) };
		break;
	case OP_LDX:
	case OP_LDXS:
	case OP_LOAD_ACQ:
		step_load(&k->subs[sub], st, in);
		break;
	case OP_ST:
	case OP_STORE_REL:
		step_store(&k->subs[sub], st, in);
		break;
	case OP_CALL:
		step_call(k, sub, st, in);
		break;
	case OP_CALL_HELPER:
		step_helper(k, sub, st, in);
		break;
	case OP_TAIL_CALL:
		k->subs[sub].tail_calls = k->subs[sub].moves = true;
		st->reg[0] = scalar;
		clobber_args(st);
		break;
	case OP_EXIT:
		step_exit(k, sub, st);
		break;
	default:
		if (in->op >= OP_ATOMIC_ADD && in->op <= OP_ATOMIC_CMPXCHG)
			step_atomic(&k->subs[sub], st, in);
		else if (in->op != OP_NOP && in->op < OP_JA)
			st->reg[in->dst] = scalar;
	}
}

/* Blocks */

static bool ends_block(const struct insn *in)
{
	return in->op >= OP_JA && in->op <= OP_EXIT;
}

static void mark_leaders(const struct prog *prog, bool *leader)
{
	for (uint32_t s = 0; s < prog->n_subprogs; s++)
		leader[prog->subprogs[s].start] = true;
	for (uint32_t i = 0; i < prog->n_insns; i++) {
		const struct insn *in = &prog->insns[i];

		if (!ends_block(in))
			continue;
		if (in->op != OP_EXIT)
			leader[in->off] = true;
		leader[i + 1] = true;
	}
}

static void cut_blocks(struct kinds *k, const bool *leader)
{
	const struct prog *prog = k->prog;
	uint32_t n = 0;

	for (uint32_t s = 0; s < prog->n_subprogs; s++) {
		k->subs[s].first_block = n;
		for (uint32_t i = prog->subprogs[s].start; i < prog->subprogs[s].end; i++) {
			if (leader[i])
				k->blocks[n++] = (struct kind_block){ .start = i, .sub = s };
			k->blocks[n - 1].end = i + 1;
			k->block_of[i] = n - 1;
		}
		k->subs[s].end_block = n;
	}
	k->n_blocks = n;
}

static int make_blocks(struct kinds *k)
{
	const struct prog *prog = k->prog;
	bool *leader = calloc(prog->n_insns + 1, sizeof(*leader));
	uint32_t n = 0;

	if (!leader)
		return -ENOMEM;
	mark_leaders(prog, leader);
	for (uint32_t i = 0; i < prog->n_insns; i++)
		n += leader[i];
	k->blocks = calloc(n + 1, sizeof(*k->blocks));
	k->block_of = calloc(prog->n_insns + 1, sizeof(*k->block_of));
	k->subs = calloc(prog->n_subprogs + 1, sizeof(*k->subs));
	if (k->blocks && k->block_of && k->subs)
		cut_blocks(k, leader);
	free(leader);
	return k->blocks && k->block_of && k->subs ? 0 : -ENOMEM;
}

/* The fixed point */

static bool flow_to(struct kinds *k, uint32_t insn, const struct kind_state *st)
{
	struct kind_block *b = &k->blocks[k->block_of[insn]];
	bool fresh = !b->reached;

	b->reached = true;
	return state_merge(&b->in, st) || fresh;
}

static bool flow_block(struct kinds *k, struct kind_block *b)
{
	const struct insn *last = &k->prog->insns[b->end - 1];
	struct kind_state st = b->in;
	bool changed = false;

	for (uint32_t i = b->start; i < b->end; i++)
		kinds_step(k, b->sub, i, &st);
	if (ends_block(last) && last->op != OP_EXIT) {
		k->subs[b->sub].loops |= last->off <= (int64_t)b->end - 1;
		changed |= flow_to(k, (uint32_t)last->off, &st);
	}
	if (last->op != OP_EXIT && last->op != OP_JA && b->end < k->prog->subprogs[b->sub].end)
		changed |= flow_to(k, b->end, &st);
	return changed;
}

/* What kinds_step notes about subprograms and callees, folded to see whether a round changed anything. */
static uint64_t summary(const struct kinds *k)
{
	uint64_t sum = 0;

	for (uint32_t s = 0; s < k->prog->n_subprogs; s++) {
		const struct kind_sub *f = &k->subs[s];
		const struct kind_block *entry = &k->blocks[f->first_block];

		sum += f->ret.bits + f->ret.known + (uint64_t)(f->ret.map != NULL) + f->moves +
		       entry->reached;
		for (uint32_t r = 0; r < KIND_REGS; r++)
			sum = sum * 31 + entry->in.reg[r].bits * 4u + entry->in.reg[r].known * 2u +
			      (entry->in.reg[r].map != NULL);
	}
	return sum;
}

static void enter(struct kinds *k)
{
	for (uint32_t s = 0; s < k->prog->n_subprogs; s++) {
		struct kind_block *b = &k->blocks[k->subs[s].first_block];

		for (uint32_t i = 0; i < KIND_REGS; i++)
			if (!s || i == 0 || i > 5)
				b->in.reg[i] = constant(0);
		for (uint32_t i = 0; i < KIND_SLOTS; i++)
			b->in.slot[i] = constant(0);
		b->in.reg[10] = (struct kind){ .bits = KIND_STACK, .known = true };
	}
	k->blocks[0].in.reg[1] = (struct kind){ .bits = KIND_CTX, .known = true };
	k->blocks[0].reached = true;
}

int kinds_analyse(struct kinds **ret, const struct prog *prog)
{
	struct kinds *k = calloc(1, sizeof(*k));
	uint64_t before, after;
	bool changed;

	if (!k)
		return -ENOMEM;
	k->prog = prog;
	for (uint32_t i = 0; i < prog->n_insns; i++)
		if (prog->insns[i].op == OP_CALL_HELPER)
			k->locks |= ((const struct helper *)prog->insns[i].ptr)->id ==
				    BPF_FUNC_spin_lock;
	if (make_blocks(k)) {
		kinds_free(k);
		return -ENOMEM;
	}
	enter(k);
	do {
		changed = false;
		before = summary(k);
		for (uint32_t b = 0; b < k->n_blocks; b++)
			if (k->blocks[b].reached)
				changed |= flow_block(k, &k->blocks[b]);
		after = summary(k);
	} while (changed || before != after);
	*ret = k;
	return 0;
}

void kinds_free(struct kinds *k)
{
	if (!k)
		return;
	free(k->blocks);
	free(k->block_of);
	free(k->subs);
	free(k);
}
