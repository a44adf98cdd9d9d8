/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From struct bpf_insn to struct insn: every rule of RFC 9669 about the form of an instruction, v1 to v4, and
 * the structure of the program (subprograms, jump targets). What an instruction does to memory is checked as
 * it runs. prog_create calls it; both back ends rely on what it has checked.
 *
 * Threads: control thread.
 */
#ifndef WEIR_BPF_DECODE_H
#define WEIR_BPF_DECODE_H

#include "base/err.h"
#include "bpf/prog.h"

/*
 * Fills prog's insns, subprogs and maps from prog->raw, n_insns, gpl and po.traits. On failure what was filled
 * stays with prog, for its release. -EINVAL with a text that names the instruction; -EACCES for a plain XDP program
 * that reads egress_ifindex; -ENOMEM.
 */
int decode_prog(struct prog *prog, struct err *err);

/* Parts, in this order. The form of each instruction; decode_flow.c: subprograms, where jumps go, stack sizes;
 * decode_ctx.c: reads of egress_ifindex. */
int decode_insns(struct prog *prog, struct err *err);
int decode_flow(struct prog *prog, struct err *err);
int decode_ctx(const struct prog *prog, struct err *err);

#endif
