/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loaded program: what bpf(2) PROG_LOAD made of the instructions that libbpf gave it, and how it is run.
 *
 * Runs never crash: every access is guarded, and a fault ends the run with XDP_ABORTED and a record in the
 * run context (src/pkt/run_ctx.h).
 *
 * Threads: immutable after prog_create, but for the counters; runs from any worker with its own run_ctx.
 * Ownership: refcounted (OBJ_PROG); holds its maps and BTF.
 */
#ifndef WEIR_BPF_PROG_H
#define WEIR_BPF_PROG_H

#include "base/err.h"
#include "base/obj.h"
#include "bpf/insn.h"
#include "pkt/frame.h"
#include "pkt/run_ctx.h"

#include <linux/bpf.h>
#include <stddef.h>

struct prog;
struct map;

enum prog_engine { ENGINE_INTERP, ENGINE_JIT };

/* Runs once; returns the low 32 bits of R0, or XDP_ABORTED with rc->fault set. Begins with prog_run_begin and
 * ends with prog_run_end. */
typedef uint32_t (*prog_run_one)(const struct prog *prog, struct run_ctx *rc, struct frame *frame);
/* Runs n times (at most BURST_MAX), frame after frame; fills verdicts[n]. */
typedef void (*prog_run_many)(const struct prog *prog, struct run_ctx *rc,
			      struct frame *const *frames, uint32_t n, uint32_t *verdicts);

/* A subprogram: instructions [start, end). Subprogram 0 is the main one. */
struct subprog {
	uint32_t start, end;
	uint32_t
		stack_size; /* bytes that it addresses below r10 with constant offsets: at most 512 */
	char name[64];	    /* from BTF func info, or "sub_N" */
};

struct prog {
	struct prog_obj po; /* id, traits, name */
	enum prog_engine engine;
	prog_run_one run_one;
	prog_run_many run_many;
	void *jit; /* the JIT's; released by jit_release */

	struct bpf_insn *raw; /* as given to PROG_LOAD, with descriptors replaced by map ids */
	struct insn *insns;   /* decoded, n_insns of them */
	uint32_t n_insns;
	struct subprog *subprogs;
	uint32_t n_subprogs;
	struct map **maps; /* each once, owned references */
	uint32_t n_maps;
	bool gpl;
	uint8_t tag[BPF_TAG_SIZE];
	uint64_t load_time_ns;

	struct obj *btf; /* owned; NULL: none */
	void *line_info; /* struct bpf_line_info[n_line_info] */
	uint32_t n_line_info;
	void *func_info;
	uint32_t n_func_info;
};

struct prog_attr {
	uint32_t type;
	uint32_t expected_attach_type;
	uint32_t flags;		      /* BPF_F_XDP_HAS_FRAGS, ... */
	const struct bpf_insn *insns; /* borrowed during create */
	uint32_t n_insns;
	bool gpl;
	char name[128];
	struct obj *btf; /* borrowed: create takes its own reference */
	const void *line_info, *func_info;
	uint32_t n_line_info, n_func_info;
	enum prog_engine engine;
};

/*
 * Decodes, checks and, for ENGINE_JIT, compiles. Refused, with a text that names the instruction: unknown
 * opcodes, registers, reserved fields (-EINVAL), jumps out of the program, unknown helpers and kfuncs by name
 * (-EINVAL), maps that do not fit the helper, more than 1,000,000 instructions (-E2BIG), BPF_XDP programs that
 * read egress_ifindex (-EACCES), GPL helpers without the licence. *ret is set on success only.
 */
int prog_create(struct prog **ret, const struct prog_attr *attr, struct err *err);
struct prog *prog_get(struct prog *prog);
void prog_put(struct prog *prog);

/* The source line of an instruction: "file.c:12: text", or "" when there is no line info. Returns buf. */
char *prog_source_line(const struct prog *prog, uint32_t insn, char *buf, size_t n);
/* One line about a fault: program, instruction, source line, reason. Returns buf. */
char *prog_fault_text(const struct prog *prog, const struct fault *fault, char *buf, size_t n);

/* Gives back what a run left open: ring buffer records, a spin lock. */
void prog_run_clean(struct run_ctx *rc);

/* What every run of either back end begins with, a burst for each frame. */
static inline void prog_run_begin(const struct prog *prog, struct run_ctx *rc, struct frame *frame)
{
	rc->prog = prog;
	rc->frame = frame;
	rc->tail_calls = 0;
	rc->fuel = RUN_FUEL;
	rc->fault.reason = FAULT_NONE;
	rc->call_depth = 0;
	rc->n_lent = 0;
}

/* And what it ends with, after a fault too. */
static inline void prog_run_end(struct run_ctx *rc)
{
	if (__builtin_expect(rc->n_reservations || rc->spin_lock, 0))
		prog_run_clean(rc);
}

/* Data path */
static inline uint32_t prog_run(const struct prog *prog, struct run_ctx *rc, struct frame *frame)
{
	return prog->run_one(prog, rc, frame);
}

static inline void prog_run_burst(const struct prog *prog, struct run_ctx *rc,
				  struct frame *const *frames, uint32_t n, uint32_t *verdicts)
{
	prog->run_many(prog, rc, frames, n, verdicts);
}

#endif
