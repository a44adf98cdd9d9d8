/* SPDX-License-Identifier: BSD-2-Clause */
/* What prog.c, prog_text.c and prog_tag.c share. */
#ifndef WEIR_BPF_PROG_IMPL_H
#define WEIR_BPF_PROG_IMPL_H

#include "bpf/prog.h"

/* Names the subprograms by BTF function info, where there is any. */
void prog_name_subprogs(struct prog *prog);
/* Fills prog->tag. */
void prog_tag(struct prog *prog);

#endif
