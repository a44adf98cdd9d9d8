/* SPDX-License-Identifier: BSD-2-Clause */
/* Subprograms, where jumps go, and how much stack is addressed: see decode.h. */
#include "bpf/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_REG = 10, SUBPROGS_MAX = 256 }; /* BPF_MAX_SUBPROGS, the kernel's bound */

static int refuse(struct err *err, uint32_t at, const char *why)
{
	return err_set(err, EINVAL, "instruction %u: %s", at, why);
}

static bool is_jump(uint8_t op)
{
	return op >= OP_JA && op <= OP_JSET;
}

static int add_subprog(struct prog *prog, struct subprog *subs, uint32_t start)
{
	for (uint32_t i = 0; i < prog->n_subprogs; i++)
		if (subs[i].start == start)
			return 0;
	if (prog->n_subprogs == SUBPROGS_MAX)
		return -E2BIG;
	subs[prog->n_subprogs++].start = start;
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct subprog *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Subprograms begin at 0 and at every target of a call or of a function's address. */
static int find_subprogs(struct prog *prog, struct err *err)
{
	struct subprog *subs = calloc(SUBPROGS_MAX, sizeof(*subs));
	int rc;

	if (!subs)
		return err_set(err, ENOMEM, "out of memory");
	prog->subprogs = subs;
	rc = add_subprog(prog, subs, 0);
	for (uint32_t i = 0; i < prog->n_insns && !rc; i++)
		if (prog->insns[i].op == OP_CALL || prog->insns[i].op == OP_LD_FUNC)
			rc = add_subprog(prog, subs, (uint32_t)prog->insns[i].off);
	if (rc)
		return err_set(err, -rc, "more than %d subprograms", SUBPROGS_MAX);
	qsort(subs, prog->n_subprogs, sizeof(*subs), compare_starts);
	for (uint32_t i = 0; i < prog->n_subprogs; i++) {
		subs[i].end = i + 1 < prog->n_subprogs ? subs[i + 1].start : prog->n_insns;
		snprintf(subs[i].name, sizeof(subs[i].name), i ? "sub_%u" : "main", i);
	}
	return 0;
}

static uint32_t subprog_index(const struct prog *prog, uint32_t start)
{
	uint32_t i = 0;

	while (prog->subprogs[i].start != start)
		i++;
	return i;
}

/* The slot after an lddw is no instruction. */
static bool is_second_slot(const struct prog *prog, uint32_t at)
{
	return prog->insns[at].op == OP_NOP;
}

/* Constant offsets below r10 tell how much stack a subprogram uses. */
static void note_stack(struct subprog *sub, const struct insn *insn)
{
	uint8_t base = insn->op == OP_LDX || insn->op == OP_LDXS || insn->op == OP_LOAD_ACQ
			       ? insn->src
			       : insn->dst;
	int64_t depth = 0;

	if (insn->op == OP_ADD && insn->width == 64 && insn->src == INSN_IMM)
		depth = -insn->imm; /* rN = r10; rN += -K: every such sum counts, r10's or not */
	else if (insn->op >= OP_LDX && insn->op <= OP_STORE_REL && base == STACK_REG)
		depth = -(int64_t)insn->off;
	if (depth > RUN_STACK_SIZE)
		depth = RUN_STACK_SIZE;
	if (depth > sub->stack_size)
		sub->stack_size = (uint32_t)depth;
}

static int check_targets(struct prog *prog, const struct subprog *sub, uint32_t at, struct err *err)
{
	struct insn *insn = &prog->insns[at];
	uint32_t target = (uint32_t)insn->off;

	if (is_jump(insn->op)) {
		if (target < sub->start || target >= sub->end)
			return refuse(err, at, "jump out of the subprogram");
		return is_second_slot(prog, target)
			       ? refuse(err, at,
					"jump into the second slot of a 64-bit immediate load")
			       : 0;
	}
	if (insn->op != OP_CALL && insn->op != OP_LD_FUNC)
		return 0;
	if (is_second_slot(prog, target))
		return refuse(err, at, "call into the second slot of a 64-bit immediate load");
	insn->imm = subprog_index(prog, target);
	if (insn->op == OP_LD_FUNC)
		insn->imm = (int64_t)(INSN_FUNC_VALUE + (uint64_t)insn->imm);
	return 0;
}

static int check_subprog(struct prog *prog, struct subprog *sub, struct err *err)
{
	uint8_t last = prog->insns[sub->end - 1].op;

	if (last != OP_EXIT && last != OP_JA)
		return refuse(
			err, sub->end - 1,
			"control falls off the end of the program or subprogram: it must end in an "
			"exit or a jump");
	for (uint32_t i = sub->start; i < sub->end; i++) {
		int rc = check_targets(prog, sub, i, err);

		if (rc)
			return rc;
		note_stack(sub, &prog->insns[i]);
	}
	return 0;
}

int decode_flow(struct prog *prog, struct err *err)
{
	int rc = find_subprogs(prog, err);

	for (uint32_t i = 0; i < prog->n_subprogs && !rc; i++)
		rc = check_subprog(prog, &prog->subprogs[i], err);
	return rc;
}
