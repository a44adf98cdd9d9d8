/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of egress_ifindex, which the kernel grants to devmap programs only and refuses when it loads
 * others (net/core/filter.c, xdp_is_valid_access): see decode.h. Refused here are the reads through a register
 * that surely holds the context, in the main program; others fault as they run.
 */
#include "bpf/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_REGS = 0xffff, CALLER_SAVED = 0x3f }; /* a bit a register; r0 to r5 */

/* Which registers hold the context after insn, given those before it. */
static uint16_t step(const struct insn *insn, uint16_t ctx)
{
	uint16_t dst = (uint16_t)(1u << insn->dst);

	if (insn->op == OP_CALL || insn->op == OP_CALL_HELPER || insn->op == OP_TAIL_CALL)
		return ctx & (uint16_t)~CALLER_SAVED;
	if (insn->op == OP_MOV && insn->width == 64 && insn->src != INSN_IMM &&
	    ctx & 1u << insn->src)
		return ctx | dst;
	if (insn->op >= OP_JA && insn->op <= OP_EXIT)
		return ctx;
	if (insn->op == OP_ST)
		return ctx;
	if (insn->op >= OP_ATOMIC_ADD && insn->op <= OP_ATOMIC_CMPXCHG)
		return ctx & (uint16_t) ~(1u << insn->src | 1u);
	return ctx & (uint16_t)~dst;
}

static bool reads_egress(const struct insn *insn, uint16_t ctx)
{
	return insn->op == OP_LDX && ctx & 1u << insn->src &&
	       insn->off == offsetof(struct xdp_md, egress_ifindex);
}

/* One pass: a join keeps what all ways agree on; what a jump backwards may reach knows nothing. */
static int scan(const struct prog *prog, uint16_t *in, struct err *err)
{
	const struct subprog *main = &prog->subprogs[0];
	uint16_t next = 1u << 1; /* r1 */

	for (uint32_t i = main->start; i < main->end; i++) {
		const struct insn *insn = &prog->insns[i];
		uint16_t ctx = in[i] & next;

		if (ctx ==
		    ALL_REGS) /* unreachable: the kernel's verifier does not come here either */
			continue;
		if (reads_egress(insn, ctx))
			return err_set(err, EACCES,
				       "instruction %u reads xdp_md.egress_ifindex, which only "
				       "programs in "
				       "section \"xdp/devmap\" may",
				       i);
		next = step(insn, ctx);
		if (insn->op >= OP_JA && insn->op <= OP_JSET && (uint32_t)insn->off > i)
			in[insn->off] &= next;
		if (insn->op == OP_JA || insn->op == OP_EXIT)
			next = ALL_REGS; /* not reached from here */
	}
	return 0;
}

int decode_ctx(const struct prog *prog, struct err *err)
{
	uint16_t *in;
	int rc;

	if (prog->po.traits.expected_attach_type == BPF_XDP_DEVMAP)
		return 0;
	in = malloc(prog->n_insns * sizeof(*in));
	if (!in)
		return err_set(err, ENOMEM, "out of memory");
	memset(in, 0xff, prog->n_insns * sizeof(*in));
	for (uint32_t i = 0; i < prog->n_insns; i++) {
		const struct insn *insn = &prog->insns[i];

		if (insn->op >= OP_JA && insn->op <= OP_JSET && (uint32_t)insn->off <= i)
			in[insn->off] = 0;
	}
	rc = scan(prog, in, err);
	free(in);
	return rc;
}
