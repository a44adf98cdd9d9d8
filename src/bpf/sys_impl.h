/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of weir's bpf(2) share: sys.c (the table of commands), sys_map.c, sys_prog.c, sys_btf.c,
 * sys_info.c, sys_mmap.c, pin.c, and wrap.c in front of them.
 *
 * A handler gets a zero-extended copy of the caller's attr; fields that the kernel would write back are
 * written there.
 */
#ifndef WEIR_BPF_SYS_IMPL_H
#define WEIR_BPF_SYS_IMPL_H

#include "base/err.h"
#include "base/obj.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map;

/* The text of this thread's last failure, for sys_take_error. */
struct err *sys_err(void);
enum prog_engine sys_engine(void);

/* Handlers: 0, a descriptor, or -errno. */
int sys_map_create(union bpf_attr *attr);
int sys_map_elem(int cmd, union bpf_attr *attr);
int sys_map_batch(int cmd, union bpf_attr *attr);
int sys_map_freeze(union bpf_attr *attr);
int sys_prog_load(union bpf_attr *attr);
int sys_prog_bind_map(union bpf_attr *attr);
int sys_prog_test_run(union bpf_attr *attr);
int sys_btf_load(union bpf_attr *attr);
int sys_obj_info(union bpf_attr *attr);
int sys_obj_pin(union bpf_attr *attr);
int sys_obj_get(union bpf_attr *attr);

/* Copies a name of an attr: -EINVAL unless it is NUL-terminated and of [A-Za-z0-9_.]. */
int sys_copy_name(char *ret, const char *name, size_t size);

/* A pointer of an attr; NULL stays NULL. */
static inline void *sys_ptr(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

/* The value area of a map as mmap(2) shows it: kernel/bpf/syscall.c, bpf_map_mmap. MAP_FAILED and errno, or
 * the address. */
void *sys_mmap(void *addr, size_t len, int prot, int flags, int fd, uint64_t off);
void sys_munmapped(void *addr, size_t len);
/* mmap(2) and munmap(2) of the kernel. */
void *sys_kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, uint64_t off);

/* Pins live in this process, under one directory that need not exist; NULL: no pins (the default). */
int pin_set_dir(const char *dir);
/* Whether path is that directory or lies in it. */
bool pin_path_is_ours(const char *path);

#endif
