/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weir's own bpf(2). libbpf and libxdp are linked statically with `-Wl,--wrap=syscall` and friends, and every
 * bpf(2) and perf_event_open call that they make ends here (design 2). Objects sit behind real descriptors: memfds,
 * the value area of a map at offset 0.
 *
 * Threads: any; a lock guards the descriptor table.
 * Ownership: the table holds its own reference to each object, dropped by the wrapped close(2) of the last
 * descriptor of its inode.
 */
#ifndef WEIR_BPF_SYS_H
#define WEIR_BPF_SYS_H

#include "base/obj.h"
#include "bpf/prog.h"

#include <linux/bpf.h>
#include <stdbool.h>

/* Everything passes to the kernel from now on: for the oracle's helper process, at its start, before libbpf
 * has been used. */
void sys_pass_through(void);
bool sys_is_pass_through(void);

/* The engine that PROG_LOAD makes programs for; ENGINE_INTERP at start. */
void sys_set_engine(enum prog_engine engine);

/* bpf(2) as weir answers it: the command's result (a descriptor, or 0), or -errno. */
long sys_bpf(int cmd, union bpf_attr *attr, unsigned int size);

/* A new descriptor for an object (the table takes a reference of its own), or -errno. */
int sys_fd_install(struct obj *obj);
/* As obj_from_fd. */
int sys_fd_resolve(int fd, enum obj_kind kind, struct obj **ret);

/* The text that went with the last failed PROG_LOAD or MAP_CREATE of this thread: weir's words, better than
 * libbpf's errno. Empty when there was none; reading it clears it. */
void sys_take_error(struct err *err);

/* The kernel's own bpf(2), for ports. */
long sys_kernel_bpf(int cmd, union bpf_attr *attr, unsigned int size);

#endif
