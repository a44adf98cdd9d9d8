/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What load.c, object_log.c, object_prog.c and object_data.c share: the object, and libbpf's words.
 */
#ifndef WEIR_BPF_OBJECT_IMPL_H
#define WEIR_BPF_OBJECT_IMPL_H

#include "bpf/load.h"

struct bpf_object;

struct object {
	struct bpf_object *bpf;
	char *path;
	struct object_cfg cfg; /* its texts are owned; no note */
	void *bytes;	       /* the file, rewritten; until it is loaded */
	size_t size;
	bool loaded;
	struct prog **progs;   /* after load: owned references, in the order of the file */
	const char **sections; /* of each; borrowed from libbpf */
	uint32_t n_progs;
	struct map **maps; /* after load: owned references */
	uint32_t n_maps;
};

/* object_log.c: between begin and end, libbpf's warnings of this thread are kept. */
void object_log_begin(void);
/* Ends it; returns the most telling line, without libbpf's prefix: borrowed until the next begin. Empty: none. */
const char *object_log_end(void);

/* object_prog.c */
/* Sorts the programs of an opened object: XDP ones get their type and attach type, others are not loaded. */
int object_sort_progs(struct object *obj, const struct object_cfg *cfg, struct err *err);
/* Takes references of what was loaded. */
int object_take_progs(struct object *obj, struct err *err);
/* From now on nothing but the wanted program is to be loaded. */
void object_keep_wanted(struct object *obj);

/* object_data.c */
/* Refuses maps that weir cannot have, and clears pin paths when there is no directory for them. */
int object_check_maps(struct object *obj, const struct object_cfg *cfg, struct err *err);
int object_take_maps(struct object *obj, struct err *err);
/* Sizes and global variables as they were set in another opening of the same file. */
void object_copy_state(struct object *obj, struct bpf_object *from);

#endif
