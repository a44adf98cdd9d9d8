/* SPDX-License-Identifier: BSD-2-Clause */
/* What compiled programs call when they do not know: see emit.h. As the interpreter, access by access. */
#include "bpf/jit/emit.h"

#include <string.h>

#include "bpf/ctx.h"
#include "maps/map.h"

static const struct jit_host *host;

void slow_set_host(const struct jit_host *h)
{
	host = h;
}

static bool fault(const struct prog *prog, struct run_ctx *rc, enum fault_reason reason,
		  uint64_t where, uint64_t addr, uint64_t size)
{
	return host->region_fault(rc, rc->frame, reason, prog->po.obj.id, (uint32_t)where, addr,
				  size);
}

void slow_fault(const struct prog *prog, struct run_ctx *rc, uint64_t where, uint64_t addr,
		uint64_t size)
{
	fault(prog, rc, (enum fault_reason)(where >> 32), where, addr, size);
}

static uint64_t read_mem(uint64_t addr, uint32_t width)
{
	uint64_t v = 0;

	/* Little-endian: the low bytes come first. */
	memcpy(&v, (const void *)(uintptr_t)addr, width);
	return v;
}

static uint64_t sign_extend(uint64_t v, uint32_t width)
{
	uint32_t shift = 64 - 8 * width;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static bool load_ctx(const struct prog *prog, const struct frame *f, uint64_t off, uint32_t width,
		     bool is_signed, uint64_t *v)
{
	bool devmap = prog->po.traits.expected_attach_type == BPF_XDP_DEVMAP;

	if (off == offsetof(struct xdp_md, egress_ifindex) && !devmap)
		return false;
	if (is_signed && off < offsetof(struct xdp_md, ingress_ifindex))
		return false;
	return ctx_load(f, (int64_t)off, width, v);
}

uint32_t slow_load(const struct prog *prog, struct run_ctx *rc, uint64_t where, uint64_t addr,
		   uint64_t *ret)
{
	uint64_t ctx_off = addr - (uint64_t)(uintptr_t)rc->frame, v;
	uint32_t width = where >> SLOW_WIDTH_SHIFT & 15;
	bool is_signed = where >> SLOW_SIGNED & 1;

	if (ctx_off < CTX_SIZE) {
		if (!load_ctx(prog, rc->frame, ctx_off, width, is_signed, &v))
			return fault(prog, rc, FAULT_BAD_ACCESS, where, addr, width);
	} else {
		if (!slow_access(prog, rc, where, addr, width))
			return false;
		v = read_mem(addr, width);
	}
	*ret = is_signed ? sign_extend(v, width) : v;
	return true;
}

uint32_t slow_access(const struct prog *prog, struct run_ctx *rc, uint64_t where, uint64_t addr,
		     uint64_t size)
{
	bool write = where >> SLOW_WRITE & 1;
	enum fault_reason reason = host->region_check(rc, rc->frame, addr, size, write);

	if (!reason && where >> SLOW_ALIGNED & 1 && addr % size)
		reason = FAULT_MISALIGNED;
	return reason ? fault(prog, rc, reason, where, addr, size) : true;
}

uint32_t slow_check_args(const struct prog *prog, struct run_ctx *rc, const struct helper *h,
			 uint64_t insn, uint64_t *args)
{
	struct helper_fault hf = { 0 };
	enum fault_reason reason = host->helper_check(h, prog, rc, args, &hf);

	return reason ? fault(prog, rc, reason, insn, hf.addr, hf.size) : true;
}

static bool call_back(const struct prog *prog, struct run_ctx *rc, uint32_t subprog,
		      const uint64_t args[4], uint64_t *ret)
{
	const struct code *code = prog->jit;
	uint32_t start = prog->subprogs[subprog].start, depth = rc->call_depth + 1;
	bool good;

	if (!code->callbacks[subprog])
		return fault(prog, rc, FAULT_BAD_CALL, start, 0, 0);
	if (depth >= RUN_CALL_DEPTH)
		return fault(prog, rc, FAULT_CALL_DEPTH, start, 0, 0);
	if (--rc->fuel < 0)
		return fault(prog, rc, FAULT_FUEL, start, 0, 0);
	good = code->callbacks[subprog](rc, rc->frame, depth, args, ret);
	rc->call_depth = depth - 1;
	return good;
}

uint32_t slow_callbacks(const struct prog *prog, struct run_ctx *rc, const struct helper *h,
			uint32_t depth, uint64_t *args)
{
	rc->call_depth = depth;
	args[HELPER_ARGS] = host->helper_run_callbacks(h, prog, rc, args, call_back);
	return !rc->fault.reason;
}

int64_t slow_tail_call(const struct prog *prog, struct run_ctx *rc, struct map *map, uint32_t index,
		       uint32_t depth)
{
	struct frame *frame = rc->frame;
	struct prog *next;
	uint32_t verdict;

	if (index >= map->max_entries || rc->tail_calls >= RUN_TAIL_CALLS)
		return -1;
	rc->tail_calls++;
	next = (struct prog *)host->prog_array_lookup(map, index);
	if (!next)
		return -1;
	rc->call_depth = depth;
	next->run_many(next, rc, &frame, 1u | (uint32_t)EMIT_CONTINUE, &verdict);
	rc->prog = prog;
	return rc->fault.reason ? -2 : (int64_t)verdict;
}
