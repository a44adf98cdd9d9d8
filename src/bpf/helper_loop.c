/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that call back: bpf_loop, bpf_for_each_map_elem (kernel/bpf/bpf_iter.c, arraymap.c, hashtab.c). */
#include "bpf/helper_impl.h"

#include "bpf/insn.h"
#include "bpf/prog.h"
#include "maps/map.h"

enum { LOOPS_MAX = 1 << 23 }; /* BPF_MAX_LOOPS */

uint64_t helper_run_callbacks(const struct helper *h, const struct prog *prog, struct run_ctx *rc,
			      const uint64_t args[HELPER_ARGS], helper_callback call)
{
	uint64_t n = args[0], cb_args[4] = { 0, args[2], 0, 0 }, ret;
	uint32_t i;

	if (args[3])
		return helper_error(EINVAL);
	if ((uint32_t)n > LOOPS_MAX)
		return helper_error(E2BIG);
	for (i = 0; i < (uint32_t)n; i++) {
		cb_args[0] = i;
		if (!call(prog, rc, (uint32_t)args[1], cb_args, &ret))
			return 0;
		if (ret)
			return i + 1;
	}
	return i;
}
