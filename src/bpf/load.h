/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects: an ELF file, byte for byte what the kernel would load, opened by libbpf on weir's bpf(2).
 *
 *   object_open   reads the file, rewrites legacy maps sections in memory, opens it with libbpf
 *   (state)       global variables and map sizes may be changed
 *   object_load   creates the maps and programs
 *
 * Threads: control thread only.
 * Ownership: the object holds its maps and programs; those that must outlive it take references.
 */
#ifndef WEIR_BPF_LOAD_H
#define WEIR_BPF_LOAD_H

#include "base/err.h"
#include "bpf/prog.h"
#include "maps/map.h"

#include <stdint.h>

struct object;
struct btf;
struct bpf_object;

struct object_cfg {
	const char *
		btf_path; /* BTF of the target kernel for CO-RE; NULL: the running kernel's, when needed */
	const char
		*prog; /* the program wanted, by function or section name; NULL: all XDP programs */
	const char *pin_dir; /* weir's own pin directory; NULL: pin paths are cleared */
	enum prog_engine engine;
	/* Called with a word on each section that was skipped because it is of another type; may be NULL. */
	void (*note)(void *arg, const char *text);
	void *note_arg;
};

/* Opens; *ret on success only. The text of a failure names the file, the reason and the remedy: not an ELF,
 * truncated, no XDP program (with the programs it has), BTF that does not parse, ... */
int object_open(struct object **ret, const char *path, const struct object_cfg *cfg,
		struct err *err);
/* Loads everything; an object can be loaded once. */
int object_load(struct object *obj, struct err *err);
void object_close(struct object *obj);

/* Programs, valid after load; borrowed. The main one: the one asked for, else the only XDP program, else the one in
 * section "xdp", else the first; with several and none named, *err gets their names on failure. */
struct prog *object_main_prog(struct object *obj, struct err *err);
/* By function or section name; NULL when absent. */
struct prog *object_prog(struct object *obj, const char *name);
struct prog *object_prog_at(struct object *obj, uint32_t i); /* NULL at the end */
/* Why a program of the object is not loaded (its type), or NULL when there is none of that name. */
const char *object_prog_section(struct object *obj, const char *name);

/* Maps, valid after load; borrowed. */
struct map *object_map(struct object *obj, const char *name);
struct map *object_map_at(struct object *obj, uint32_t i);

/* BTF of the object for typed values, or NULL; borrowed. And the type ids of a map's key and value there
 * (0: unknown). */
const struct btf *object_btf(struct object *obj);
int object_map_types(struct object *obj, const char *map, uint32_t *ret_key_id,
		     uint32_t *ret_value_id);

/* Before load: a global variable of .data, .rodata or .bss by name: its bytes (writable, borrowed), size and
 * BTF type id. -ENOENT when there is none of that name. */
int object_global(struct object *obj, const char *name, void **ret_bytes, uint32_t *ret_size,
		  uint32_t *ret_type_id);
/* Before load: changes a map's max_entries. */
int object_resize_map(struct object *obj, const char *map, uint32_t max_entries, struct err *err);
const char *object_path(const struct object *obj);

/*
 * The libbpf object underneath; borrowed. For the oracle: its maps and programs have descriptors of weir's bpf(2), or,
 * after sys_pass_through, of the kernel's. In a process that passes through, object_load loads into the kernel, with
 * the kernel verifier's last words in *err on failure, and object_prog, object_main_prog and object_map return NULL.
 */
struct bpf_object *object_libbpf(struct object *obj);

#endif
