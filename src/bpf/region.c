/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory outside frame and stack, and fault records: see region.h. */
#include "bpf/region.h"

#include "bpf/ctx.h"
#include "maps/map.h"

/* How far from the packet an address still counts as one of it, in a fault record. */
enum { NEAR_PACKET = 1 << 16 };

/* Ring buffers show records only, between reserve and submit: their positions are not for programs. */
static bool is_hidden(const struct area *area)
{
	const struct map *map = area->owner;

	return map && (map->type == BPF_MAP_TYPE_RINGBUF || map->type == BPF_MAP_TYPE_USER_RINGBUF);
}

static bool in_reservation(const struct run_ctx *rc, uint64_t addr, uint64_t size)
{
	for (uint32_t i = 0; i < rc->n_reservations; i++) {
		const struct reservation *r = &rc->reservations[i];
		uint64_t off = addr - (uint64_t)(uintptr_t)r->addr;

		if (off <= r->size && size <= r->size - off)
			return true;
	}
	return false;
}

static bool in_lent(const struct run_ctx *rc, uint64_t addr, uint64_t size)
{
	uint32_t n = rc->n_lent < RUN_LENT ? rc->n_lent : RUN_LENT;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t off = addr - (uint64_t)(uintptr_t)rc->lent[i].addr;

		if (off < rc->lent[i].size && size <= rc->lent[i].size - off)
			return true;
	}
	return false;
}

static enum fault_reason check_area(const struct area *area, uint64_t addr, uint64_t size,
				    bool write)
{
	uint64_t off = addr - (uint64_t)(uintptr_t)area->base;

	if (off >= area->size || size > area->size - off)
		return FAULT_BAD_ACCESS;
	if (area->stride) {
		off %= area->stride;
		if (off >= area->elem_size || size > area->elem_size - off)
			return FAULT_BAD_ACCESS;
	}
	return write && area->read_only ? FAULT_READ_ONLY : FAULT_NONE;
}

enum fault_reason region_check_slow(const struct run_ctx *rc, uint64_t addr, uint64_t size,
				    bool write)
{
	const struct area *area;

	if (!size)
		return FAULT_NONE;
	area = area_find(addr);
	if (area && !is_hidden(area))
		return check_area(area, addr, size, write);
	if (area)
		return in_reservation(rc, addr, size) ? FAULT_NONE : FAULT_BAD_ACCESS;
	if (in_lent(rc, addr, size))
		return write ? FAULT_READ_ONLY : FAULT_NONE;
	if (write && rc->frame && addr - (uint64_t)(uintptr_t)rc->frame < CTX_SIZE)
		return FAULT_READ_ONLY;
	return FAULT_BAD_ACCESS;
}

bool region_fault(struct run_ctx *rc, const struct frame *f, enum fault_reason reason,
		  uint32_t prog_id, uint32_t insn, uint64_t addr, uint64_t size)
{
	int64_t off = (int64_t)(addr - (uint64_t)(uintptr_t)f->data);
	bool near = addr && off > -NEAR_PACKET && off < NEAR_PACKET;

	rc->fault = (struct fault){
		.reason = reason,
		.prog_id = prog_id,
		.insn = insn,
		.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
		.addr = addr,
		.packet_off = near ? off : INT64_MIN,
	};
	rc->last_fault = rc->fault;
	rc->faults++;
	return false;
}
