/* SPDX-License-Identifier: BSD-2-Clause */
/* The BPF stack, and the state that programs run with: see run_ctx.h. */
#include "pkt/run_ctx.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, STACK_BYTES = RUN_STACK_SIZE * RUN_CALL_DEPTH };

int run_ctx_init(struct run_ctx *rc, uint32_t cpu, const struct net *net)
{
	uint8_t *mem;

	memset(rc, 0, sizeof(*rc));
	mem = mmap(NULL, STACK_BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(mem + PAGE, STACK_BYTES, PROT_READ | PROT_WRITE)) {
		munmap(mem, STACK_BYTES + 2 * PAGE);
		return -ENOMEM;
	}
	rc->stack = mem + PAGE;
	rc->cpu = cpu;
	rc->net = net;
	rc->prng = 0x9e3779b97f4a7c15u + cpu;
	return 0;
}

void run_ctx_fini(struct run_ctx *rc)
{
	if (rc->stack)
		munmap(rc->stack - PAGE, STACK_BYTES + 2 * PAGE);
	rc->stack = NULL;
}
