/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of a helper call, checked as it is made: see helper_check in helper.h. */
#include "bpf/helper.h"

#include "bpf/insn.h"
#include "bpf/prog.h"
#include "bpf/region.h"
#include "maps/map.h"

enum {
	SIZE_MAX_ARG = 1 << 29, /* BPF_MAX_VAR_SIZ */
	STRING_MAX = 1 << 12,	/* bytes of a string argument, NUL included */
};

struct check {
	const struct helper *h;
	const struct prog *prog;
	struct run_ctx *rc;
	uint64_t *args;
	const struct map *map; /* the last ARG_MAP */
	struct helper_fault *fault;
};

static enum fault_reason bad_arg(struct check *c, uint32_t i)
{
	c->fault->addr = c->args[i];
	c->fault->size = 0;
	return FAULT_BAD_HELPER_ARG;
}

static enum fault_reason check_mem(struct check *c, uint32_t i, uint64_t size, bool write)
{
	enum fault_reason reason = region_check(c->rc, c->rc->frame, c->args[i], size, write);

	if (reason) {
		c->fault->addr = c->args[i];
		c->fault->size = size;
	}
	return reason;
}

/* A map of this program, or one that this run has looked up in a map of maps. */
static bool is_map(const struct check *c, const struct map *map)
{
	uint32_t n_lent = c->rc->n_lent < RUN_LENT ? c->rc->n_lent : RUN_LENT;

	for (uint32_t i = 0; i < c->prog->n_maps; i++)
		if (c->prog->maps[i] == map)
			return true;
	for (uint32_t i = 0; i < n_lent; i++)
		if (c->rc->lent[i].addr == map && !c->rc->lent[i].size)
			return true;
	return false;
}

static enum fault_reason check_map(struct check *c, uint32_t i)
{
	const struct map *map = (const struct map *)(uintptr_t)c->args[i];

	if (!map || !is_map(c, map))
		return bad_arg(c, i);
	if (c->h->map_types && !(c->h->map_types >> map->type & 1))
		return bad_arg(c, i);
	c->map = map;
	return FAULT_NONE;
}

/* Memory whose size is the next argument. */
static enum fault_reason check_sized(struct check *c, uint32_t i, bool null_ok, bool write)
{
	uint64_t size = i + 1 < HELPER_ARGS ? c->args[i + 1] : 0;

	if (size > SIZE_MAX_ARG)
		return bad_arg(c, i + 1);
	if (!size && c->h->args[i + 1] == ARG_SIZE)
		return bad_arg(c, i + 1);
	if (!c->args[i])
		return null_ok && !size ? FAULT_NONE : bad_arg(c, i);
	return check_mem(c, i, size, write);
}

static enum fault_reason check_string(struct check *c, uint32_t i)
{
	for (uint64_t n = 0; n < STRING_MAX; n++) {
		uint64_t at = c->args[i] + n;

		if (region_check(c->rc, c->rc->frame, at, 1, false))
			break;
		if (!*(const char *)(uintptr_t)at)
			return FAULT_NONE;
	}
	return bad_arg(c, i);
}

static enum fault_reason check_callback(struct check *c, uint32_t i)
{
	uint64_t index = c->args[i] - INSN_FUNC_VALUE;

	if (index >= c->prog->n_subprogs) {
		bad_arg(c, i);
		return FAULT_BAD_CALL;
	}
	c->args[i] = index;
	return FAULT_NONE;
}

static enum fault_reason check_record(struct check *c, uint32_t i)
{
	for (uint32_t k = 0; k < c->rc->n_reservations; k++)
		if ((uint64_t)(uintptr_t)c->rc->reservations[k].addr == c->args[i])
			return FAULT_NONE;
	return bad_arg(c, i);
}

static enum fault_reason check_lock(struct check *c, uint32_t i)
{
	const struct area *area = area_find(c->args[i]);
	const struct map *map = area ? area->owner : NULL;
	uint64_t held = (uint64_t)(uintptr_t)c->rc->spin_lock, off;

	if (!map || map->spin_lock_off == UINT32_MAX || !area->stride)
		return bad_arg(c, i);
	off = c->args[i] - (uint64_t)(uintptr_t)area->base;
	if (off >= area->size || off % area->stride != map->spin_lock_off)
		return bad_arg(c, i);
	if (held != (c->h->id == BPF_FUNC_spin_lock ? 0 : c->args[i]))
		return bad_arg(c, i);
	return FAULT_NONE;
}

static enum fault_reason check_arg(struct check *c, uint32_t i)
{
	switch ((enum helper_arg)c->h->args[i]) {
	case ARG_NONE:
	case ARG_SCALAR:
	case ARG_SIZE:
	case ARG_SIZE_OR_ZERO:
	case ARG_ANY_OR_NULL:
		return FAULT_NONE;
	case ARG_CTX:
		return c->args[i] == (uint64_t)(uintptr_t)c->rc->frame ? FAULT_NONE : bad_arg(c, i);
	case ARG_MAP:
		return check_map(c, i);
	case ARG_MAP_KEY:
		return check_mem(c, i, c->map->key_size, false);
	case ARG_MAP_VALUE:
		return check_mem(c, i, c->map->value_size, false);
	case ARG_MAP_VALUE_OUT:
		return check_mem(c, i, c->map->value_size, true);
	case ARG_MEM:
	case ARG_MEM_OUT:
		return check_sized(c, i, false, c->h->args[i] == ARG_MEM_OUT);
	case ARG_MEM_OR_NULL:
		return check_sized(c, i, true, false);
	case ARG_MEM_FIXED:
	case ARG_MEM_FIXED_OUT:
		return check_mem(c, i, c->h->fixed, c->h->args[i] == ARG_MEM_FIXED_OUT);
	case ARG_CALLBACK:
		return check_callback(c, i);
	case ARG_RINGBUF_RECORD:
		return check_record(c, i);
	case ARG_CONST_STR:
		return check_string(c, i);
	case ARG_SPIN_LOCK:
		return check_lock(c, i);
	}
	return bad_arg(c, i);
}

enum fault_reason helper_check(const struct helper *h, const struct prog *prog, struct run_ctx *rc,
			       uint64_t args[HELPER_ARGS], struct helper_fault *ret_fault)
{
	struct check c = { .h = h, .prog = prog, .rc = rc, .args = args, .fault = ret_fault };

	/* Under a lock the kernel allows no other call: a map operation could wait for the same lock. */
	if (rc->spin_lock && h->id != BPF_FUNC_spin_unlock)
		return bad_arg(&c, 0);
	for (uint32_t i = 0; i < HELPER_ARGS; i++) {
		enum fault_reason reason = check_arg(&c, i);

		if (reason)
			return reason;
	}
	return FAULT_NONE;
}
