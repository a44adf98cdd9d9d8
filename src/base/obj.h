/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reference-counted objects that BPF maps and descriptors can hold: maps, programs, BTF, links, sockets.
 * Low in the tree, so that a devmap can hold a program without knowing what a program is: maps store
 * `struct obj *`, and bpf(2) (src/bpf/sys.h) alone turns descriptors into objects, through the resolver
 * that it registers here.
 *
 * Ids start at 1 in each kind, are given in order and not reused soon, as in the kernel
 * (xdp-semantics 9.1).
 *
 * Threads: get, put and look-ups by id may be called from any thread. The release function runs in the
 * thread of the last put.
 * Ownership: obj_init makes one reference, owned by the caller.
 */
#ifndef WEIR_BASE_OBJ_H
#define WEIR_BASE_OBJ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum obj_kind {
	OBJ_MAP = 1,
	OBJ_PROG,
	OBJ_BTF,
	OBJ_LINK,
	OBJ_XSK,  /* an AF_XDP-style consumer, held by an xskmap */
	OBJ_PERF, /* a perf event: struct perf_sink in maps/perf_array.h */
	OBJ_KINDS,
};

struct obj {
	enum obj_kind kind;
	uint32_t id;
	atomic_uint refs;
	void (*release)(struct obj *obj); /* frees the whole object; called once */
	struct obj *next;		  /* the table of ids; private to obj.c */
};

/*
 * What a map that carries programs must know of them: its owner traits are those of its first program
 * (kernel/bpf/core.c, __bpf_prog_map_compatible).
 */
struct prog_traits {
	uint32_t type;		       /* enum bpf_prog_type */
	uint32_t expected_attach_type; /* enum bpf_attach_type */
	bool jited;
	bool xdp_has_frags;
};

/* The head of every program object; src/bpf/prog.h extends it. */
struct prog_obj {
	struct obj obj;
	struct prog_traits traits;
	char name[128]; /* not truncated to the kernel's 15 characters */
};

/* Life cycle */

/* Gives obj its id and its first reference, and enters it in the table of its kind. */
void obj_init(struct obj *obj, enum obj_kind kind, void (*release)(struct obj *obj));
/* Adds a reference; returns obj. */
struct obj *obj_get(struct obj *obj);
/* Drops a reference; the last one takes obj out of the table and releases it. NULL is allowed. */
void obj_put(struct obj *obj);

/* Look-up. obj_by_id returns an owned reference, or NULL when there is none with that id. */
struct obj *obj_by_id(enum obj_kind kind, uint32_t id);
/* The smallest id above `id` in use, or 0 when there is none. */
uint32_t obj_next_id(enum obj_kind kind, uint32_t id);

/*
 * Descriptors. Returns an owned reference to the object of that kind behind fd in *ret; -EBADF for a
 * closed descriptor and -EINVAL for one of another kind. Before a resolver is registered: -EBADF.
 */
int obj_from_fd(int fd, enum obj_kind kind, struct obj **ret);
typedef int (*obj_fd_resolver)(int fd, enum obj_kind kind, struct obj **ret);
void obj_set_fd_resolver(obj_fd_resolver resolver);

#endif
