/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the door (bpf/jit.c, in the executable) and the module (this folder, opened by dlopen). The module
 * needs no symbol of the executable: it is given what it calls as a table.
 *
 * Threads: compile and release from any thread; a lock inside.
 */
#ifndef WEIR_BPF_JIT_MODULE_H
#define WEIR_BPF_JIT_MODULE_H

#include "bpf/helper.h"
#include "bpf/prog.h"

#include <stdbool.h>
#include <stdint.h>

/* The executable's functions, for the module and the code that it makes. */
struct jit_host {
	enum fault_reason (*region_check)(const struct run_ctx *rc, const struct frame *f,
					  uint64_t addr, uint64_t size, bool write);
	bool (*region_fault)(struct run_ctx *rc, const struct frame *f, enum fault_reason reason,
			     uint32_t prog_id, uint32_t insn, uint64_t addr, uint64_t size);
	enum fault_reason (*helper_check)(const struct helper *h, const struct prog *prog,
					  struct run_ctx *rc, uint64_t args[HELPER_ARGS],
					  struct helper_fault *ret_fault);
	uint64_t (*helper_run_callbacks)(const struct helper *h, const struct prog *prog,
					 struct run_ctx *rc, const uint64_t args[HELPER_ARGS],
					 helper_callback call);
	const struct helper *(*helper_by_id)(uint32_t id);
	struct prog_obj *(*prog_array_lookup)(struct map *map, uint32_t index);
	void (*run_clean)(struct run_ctx *rc);
};

struct jit_module {
	int (*compile)(struct prog *prog, const struct jit_host *host, struct err *err);
	void (*release)(struct prog *prog);
};

/* The module's one symbol. */
extern const struct jit_module weir_jit_module;

#endif
