/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor table of weir's bpf(2): which object lies behind a memfd. An entry is found by the
 * descriptor's st_dev and st_ino, never by its number: a number is reused after close(2). Beside it stands a
 * bit for each number that weir gave out, a hint that spares all other descriptors the fstat(2).
 *
 * The access mode of a descriptor (BPF_F_RDONLY, BPF_F_WRONLY) is that of its open file description, so
 * that mmap(2) obeys it too.
 *
 * Threads: any; one lock.
 * Ownership: an entry holds a reference of its object, and a user reference of a map for each descriptor.
 */
#ifndef WEIR_BPF_FD_H
#define WEIR_BPF_FD_H

#include "base/obj.h"

#include <stdbool.h>

/* A new descriptor (close-on-exec) for obj, with the access mode O_RDWR, O_RDONLY or O_WRONLY; or -errno. */
int fd_install(struct obj *obj, int mode);
/* Returns an owned reference. -EBADF: closed; -EINVAL: of another kind, or not weir's. kind 0: any. */
int fd_resolve(int fd, enum obj_kind kind, struct obj **ret);
/* O_RDWR, O_RDONLY or O_WRONLY of an open descriptor. */
int fd_mode(int fd);

/* For the wrapped system calls (wrap.c) */

/* Whether weir may have given out this number: false is certain, true is to be checked. */
bool fd_is_ours(int fd);
/* fd is about to be closed: forgets it, and its object with the last one. */
void fd_forget(int fd);
/* copy is a new descriptor of the same file as fd. */
void fd_duplicated(int fd, int copy);

#endif
