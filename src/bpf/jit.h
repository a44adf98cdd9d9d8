/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door to the JIT (jit/), a module of its own that is opened when the first program wants it: libLLVM
 * is 129 MB. Built without LLVM, jit_compile fails with -ENOTSUP and a text that says so.
 */
#ifndef WEIR_BPF_JIT_H
#define WEIR_BPF_JIT_H

#include "bpf/prog.h"

/* Compiles prog: sets run_one, run_many and jit. -ENOTSUP: no JIT in this build or no module found. */
int jit_compile(struct prog *prog, struct err *err);
void jit_release(struct prog *prog);
/* Whether the module can be opened, without compiling anything; fills *err with the reason when not. */
bool jit_available(struct err *err);

#endif
