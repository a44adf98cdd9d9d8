/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF: objects of BTF_LOAD (sys_btf.c), the check of raw BTF before anything else reads it (btf.c), and the
 * BTF that stands for the kernel's own (vmlinux.c), in which libbpf looks up the kfuncs of a program.
 *
 * The system's header of the same name is included here too: weir's folder stands before it.
 *
 * Threads: objects are immutable. The kernel BTF in use is a thread's own, set around a load.
 */
#ifndef WEIR_BPF_BTF_H
#define WEIR_BPF_BTF_H

#include "base/err.h"
#include "base/obj.h"

#include <stddef.h>
#include <stdint.h>

#include_next <bpf/btf.h>

struct btf_obj {
	struct obj obj;	 /* OBJ_BTF */
	struct btf *btf; /* owned */
	char name[64];
};

/* Makes an object of raw BTF, with the checks of btf_check; the caller owns the reference in *ret. */
int btf_obj_create(struct btf_obj **ret, const void *data, uint32_t size, struct err *err);
/* The parsed BTF of an OBJ_BTF; borrowed, valid while obj is. */
const struct btf *btf_of(const struct obj *obj);

/*
 * Checks raw BTF, 4-aligned, in native byte order: offsets, type ids, members, no endless chains of modifiers and no type
 * that contains itself, which libbpf would follow for ever. -EINVAL with a text.
 */
int btf_check(const void *data, size_t size, struct err *err);

/*
 * Kernel BTF for the programs of `obj` (may be NULL: none): its own declarations of the kfuncs that weir has, under
 * the ids that they have there. Until the next call, in this thread, ids stand for names of that object.
 */
void vmlinux_set_object(const struct btf *obj);
/* The BTF that libbpf gets for /sys/kernel/btf/vmlinux: owned by the caller. NULL and errno on failure. */
struct btf *vmlinux_btf_new(void);
/* The name of a kfunc by its id in that BTF, or NULL. Borrowed until the next vmlinux_set_object. */
const char *vmlinux_func_name(uint32_t btf_id);

#endif
