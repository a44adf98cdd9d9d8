/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory a program may touch, checked as an access is made: its frame's bytes [data_meta, data_end),
 * its stack, the values of maps, reserved ring buffer records. This is the guard behind pointers whose origin
 * is not known; the JIT writes the known ones out (design 3).
 *
 * The context is not memory: loads from it are emulated (ctx.h).
 */
#ifndef WEIR_BPF_REGION_H
#define WEIR_BPF_REGION_H

#include "base/area.h"
#include "pkt/frame.h"
#include "pkt/run_ctx.h"

/* Whether [addr, addr + size) lies in a region other than frame and stack; out of line. */
enum fault_reason region_check_slow(const struct run_ctx *rc, uint64_t addr, uint64_t size,
				    bool write);

/* FAULT_NONE when [addr, addr + size) may be read, or written. size 0 is always good. */
static inline enum fault_reason region_check(const struct run_ctx *rc, const struct frame *f,
					     uint64_t addr, uint64_t size, bool write)
{
	uint64_t stack = (uint64_t)(uintptr_t)rc->stack;
	uint64_t stack_size = RUN_STACK_SIZE * RUN_CALL_DEPTH;
	uint64_t lo = (uint64_t)(uintptr_t)f->data_meta, hi = (uint64_t)(uintptr_t)f->data_end;

	if (addr >= stack && addr - stack < stack_size && size <= stack_size - (addr - stack))
		return FAULT_NONE;
	if (addr >= lo && addr <= hi && size <= hi - addr)
		return FAULT_NONE;
	return region_check_slow(rc, addr, size, write);
}

/* Writes the fault record and counts it; returns false, so that a guard can end in it. */
bool region_fault(struct run_ctx *rc, const struct frame *f, enum fault_reason reason,
		  uint32_t prog_id, uint32_t insn, uint64_t addr, uint64_t size);

#endif
