/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter: the reference that the JIT is compared with. Every access is looked up in the regions
 * (region.h) as it is made; nothing of the program is trusted.
 */
#ifndef WEIR_BPF_INTERP_H
#define WEIR_BPF_INTERP_H

#include "bpf/prog.h"

uint32_t interp_run(const struct prog *prog, struct run_ctx *rc, struct frame *frame);
void interp_run_burst(const struct prog *prog, struct run_ctx *rc, struct frame *const *frames,
		      uint32_t n, uint32_t *verdicts);

/*
 * Calls subprogram `subprog` (index in prog->subprogs) as a callback of bpf_loop and its like (R1 to R4 are
 * args), within the run of rc->frame, one call deeper than rc->call_depth. False: it faulted, and rc->fault says
 * how. A helper_callback (helper.h).
 */
bool interp_callback(const struct prog *prog, struct run_ctx *rc, uint32_t subprog,
		     const uint64_t args[4], uint64_t *ret);

#endif
