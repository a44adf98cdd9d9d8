/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF maps: one file a type behind the ops table below. A map has two faces: the programs' (lookup returns
 * a pointer to the value, the CPU is the worker's) and bpf(2)'s (values are copied, per-CPU maps have the
 * values of all CPUs). Rules and errno values are the kernel's: ../shared/xdp-semantics 9.7 and 3.1-3.3,
 * kernel/bpf/{arraymap,hashtab,bpf_lru_list,lpm_trie,queue_stack_maps,bloom_filter,ringbuf,devmap,cpumap}.c
 * and net/xdp/xskmap.c.
 *
 * Values lie in one area (src/base/area.h) a map: value i of CPU c at
 * base + (c * n_values + i) * stride, stride = value_size rounded up to 8. So the guards know them and
 * other processes can share them. Keys and links lie apart.
 *
 * Threads: the programs' face may be called from any worker, under QSBR; bpf(2)'s from any thread. What
 * bpf(2) takes out is freed after a grace period; preallocated hash elements are recycled at once, as in the
 * kernel.
 * Ownership: a map is a refcounted object (OBJ_MAP). Values that hold objects own a reference each.
 */
#ifndef WEIR_MAPS_MAP_H
#define WEIR_MAPS_MAP_H

#include "base/area.h"
#include "base/obj.h"

#include <linux/bpf.h>
#include <stdint.h>

struct map;
struct err;

enum {
	MAP_NAME_LEN = 128, /* full names: the kernel's 15 characters are not distinct enough */
	MAP_VALUE_SIZE_MAX =
		4 << 20, /* bytes: the kernel's limit for hash maps (KMALLOC_MAX_SIZE) */
	MAP_PERCPU_VALUE_MAX = 32 << 10, /* bytes: PCPU_MIN_UNIT_SIZE */
	ENOTSUPP = 524, /* kernel-internal, but it reaches programs and user space */
};

/* What map_ops.batches says. */
enum {
	MAP_BATCH_LOOKUP = 1 << 0,
	MAP_BATCH_LOOKUP_DELETE = 1 << 1,
	MAP_BATCH_UPDATE = 1 << 2,
	MAP_BATCH_DELETE = 1 << 3,
};

struct map_attr {
	uint32_t type; /* enum bpf_map_type */
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t flags;
	uint64_t extra;
	struct map *inner; /* the template of a map of maps: borrowed during create */
	char name[MAP_NAME_LEN];
};

/*
 * What a type does. An operation may be NULL when the kernel has none; the front (map_*) then answers as the
 * kernel's does for that command: -ENOTSUPP, or what missing_op says.
 */
struct map_ops {
	uint32_t type;
	const char *name; /* as in bpftool: "percpu_hash" */

	/* The kernel's map_alloc_check; may round attr->max_entries. 0 or -errno. */
	int (*check)(struct map_attr *attr);
	/* Allocates the map with its private part; struct map is its first member. The front has checked,
	 * and fills the common members after. */
	int (*create)(struct map **ret, const struct map_attr *attr);
	void (*destroy)(struct map *map); /* no reader is left */

	/* Programs. cpu < cpu_count(). lookup returns NULL when absent; a map of maps returns the inner
	 * struct map, devmap and cpumap their (read-only) value. */
	void *(*lookup)(struct map *map, const void *key, uint32_t cpu);
	int (*update)(struct map *map, const void *key, const void *value, uint64_t flags,
		      uint32_t cpu);
	int (*del)(struct map *map, const void *key);
	int (*push)(struct map *map, const void *value, uint64_t flags);
	int (*pop)(struct map *map, void *value);
	int (*peek)(struct map *map, void *value);

	/* bpf(2). Buffers are map_sys_value_size() bytes; flags were checked for what is common to all. */
	int (*sys_lookup)(struct map *map, const void *key, void *value, uint64_t flags);
	int (*sys_update)(struct map *map, const void *key, const void *value, uint64_t flags);
	int (*sys_del)(struct map *map, const void *key);
	int (*next_key)(struct map *map, const void *key, void *next);
	int (*sys_pop)(struct map *map, const void *key, void *value, uint64_t flags);
	/* Batches: count is in and out. NULL: the generic one. `batches` has a bit for each that the type
	 * has, MAP_BATCH_*; the others answer -ENOTSUPP. */
	int (*lookup_batch)(struct map *map, const void *in, void *out, void *keys, void *values,
			    uint32_t *count, uint64_t elem_flags, bool del);
	uint32_t batches;

	/* The last user reference (descriptor or pin) is gone: a prog array empties itself. */
	void (*release_uref)(struct map *map);
};

/* What the inner maps of a map of maps are like. */
struct map_template {
	uint32_t type; /* 0: none */
	uint32_t key_size, value_size, max_entries, flags;
};

struct map {
	struct obj obj;
	const struct map_ops *ops;
	uint32_t type, key_size, value_size, max_entries, flags;
	uint64_t extra;
	uint32_t stride;     /* bytes from value to value */
	uint32_t n_values;   /* values a CPU in the area */
	struct area area;    /* values; base is NULL for types without */
	_Atomic bool frozen; /* bpf(2) may not write */
	_Atomic uint32_t urefs;
	_Atomic uint32_t writers; /* writable mmaps and running sys writes: freeze answers EBUSY */
	uint32_t spin_lock_off;	  /* of a bpf_spin_lock in the value; UINT32_MAX: none */
	struct obj *btf;	  /* owned; NULL: none */
	uint32_t btf_key_type, btf_value_type;
	struct prog_traits
		owner; /* of maps that carry programs: set by the first (map_owner_compatible) */
	bool has_owner;
	struct map_template inner; /* of a map of maps */
	char name[MAP_NAME_LEN];
};

/* Life cycle */

/* Checks attr as the kernel does and makes the map; *ret is set on success only. 0 or -errno. */
int map_create(struct map **ret, const struct map_attr *attr);
struct map *map_get(struct map *map);
void map_put(struct map *map);
/* The map of that id, as an owned reference, or NULL. */
struct map *map_by_id(uint32_t id);

/* Inspection */
const struct map_ops *map_ops_of(uint32_t type); /* NULL: an unknown type */
const char *map_type_name(uint32_t type);	 /* "type 77" becomes "unknown" */
bool map_is_percpu(const struct map *map);
/* Bytes of a value as bpf(2) sees it: per-CPU maps have round_up(value_size, 8) * cpu_count(). */
uint32_t map_sys_value_size(const struct map *map);

/* bpf(2)'s face, with the checks that are common to all types: frozen, access flags, unknown flags, keys of
 * keyless maps (key must be NULL). Return 0 or -errno. */
int map_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags);
int map_sys_update(struct map *map, const void *key, const void *value, uint64_t flags);
int map_sys_delete(struct map *map, const void *key);
int map_sys_next_key(struct map *map, const void *key, void *next);
int map_sys_lookup_and_delete(struct map *map, const void *key, void *value, uint64_t flags);
int map_sys_freeze(struct map *map);
/* BPF_MAP_{LOOKUP,LOOKUP_AND_DELETE,UPDATE,DELETE}_BATCH; cmd is the bpf(2) command. *count is rewritten with
 * the number processed, on error too. */
int map_sys_batch(struct map *map, int cmd, const void *in_batch, void *out_batch, void *keys,
		  void *values, uint32_t *count, uint64_t elem_flags, uint64_t flags);

/* A descriptor or pin was made or has gone. */
void map_uref_get(struct map *map);
void map_uref_put(struct map *map);

#endif
