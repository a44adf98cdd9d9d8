/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the map types share among themselves: locks of a few instructions, copies of values that other
 * threads may be writing, values in the area, and references to objects in slots. Nothing outside
 * src/maps includes this.
 *
 * Threads: each function says which lock its caller holds, if any.
 */
#ifndef WEIR_MAPS_MAP_IMPL_H
#define WEIR_MAPS_MAP_IMPL_H

#include "base/qsbr.h"
#include "maps/map.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Flags that most types take. The kernel's BPF_F_ACCESS_MASK. */
#define MAP_ACCESS_FLAGS (BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

enum {
	SPIN_TRIES =
		256, /* before the CPU is given away: a holder can be preempted in user space */
};

/* A lock that is held for a few instructions. */
struct spin {
	_Atomic uint32_t held;
};

static inline void spin_lock(struct spin *s)
{
	uint32_t tries = 0;

	while (atomic_exchange_explicit(&s->held, 1, memory_order_acquire))
		while (atomic_load_explicit(&s->held, memory_order_relaxed))
			if (++tries % SPIN_TRIES == 0)
				sched_yield();
}

static inline void spin_unlock(struct spin *s)
{
	atomic_store_explicit(&s->held, 0, memory_order_release);
}

/*
 * Copies between a value (or key) that other threads may access meanwhile and a private buffer: word by
 * word, as the kernel's bpf_long_memcpy, so that an aligned word is never torn. The shared side is
 * 8-aligned.
 */
static inline void shared_store(void *dst, const void *src, size_t size)
{
	uint64_t *d = dst, w;
	const uint8_t *s = src;
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		memcpy(&w, s + i, 8);
		__atomic_store_n(&d[i / 8], w, __ATOMIC_RELAXED);
	}
	if (size - i >= 4) {
		uint32_t h;

		memcpy(&h, s + i, 4);
		__atomic_store_n((uint32_t *)dst + i / 4, h, __ATOMIC_RELAXED);
		i += 4;
	}
	for (; i < size; i++)
		__atomic_store_n((uint8_t *)dst + i, s[i], __ATOMIC_RELAXED);
}

static inline void shared_load(void *dst, const void *src, size_t size)
{
	const uint64_t *s = src;
	uint8_t *d = dst;
	uint64_t w;
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		w = __atomic_load_n(&s[i / 8], __ATOMIC_RELAXED);
		memcpy(d + i, &w, 8);
	}
	if (size - i >= 4) {
		uint32_t h = __atomic_load_n((const uint32_t *)src + i / 4, __ATOMIC_RELAXED);

		memcpy(d + i, &h, 4);
		i += 4;
	}
	for (; i < size; i++)
		d[i] = __atomic_load_n((const uint8_t *)src + i, __ATOMIC_RELAXED);
}

static inline void shared_zero(void *dst, size_t size)
{
	size_t i;

	for (i = 0; i + 8 <= size; i += 8)
		__atomic_store_n((uint64_t *)dst + i / 8, 0, __ATOMIC_RELAXED);
	for (; i < size; i++)
		__atomic_store_n((uint8_t *)dst + i, 0, __ATOMIC_RELAXED);
}

static inline uint32_t round_up8(uint32_t n)
{
	return (n + 7) & ~7u;
}

/* The value of an index for a CPU. */
static inline uint8_t *map_value(const struct map *map, uint32_t cpu, uint32_t i)
{
	return map->area.base + ((uint64_t)cpu * map->n_values + i) * map->stride;
}

static inline uint32_t key_u32(const void *key)
{
	uint32_t k;

	memcpy(&k, key, sizeof(k));
	return k;
}

/* Whether the access flags go together (the kernel's bpf_map_flags_access_ok). */
static inline bool map_access_ok(uint32_t flags)
{
	return (flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)) !=
	       (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG);
}

/* Makes the area: n_values values for each of n_cpus CPUs, cut as maps/map.h says. 0 or -errno. */
int map_values_create(struct map *map, const struct map_attr *attr, uint32_t n_values,
		      uint32_t n_cpus);

/* Copies a value in or out. With BPF_F_LOCK in flags under the value's bpf_spin_lock, which is itself
 * never copied: it reads as 0. */
void map_value_store(const struct map *map, void *slot, const void *value, uint64_t flags);
void map_value_load(const struct map *map, void *value, void *slot, uint64_t flags);
/* The values of all CPUs: map_sys_value_size() bytes. */
void map_percpu_store(const struct map *map, uint32_t i, const void *value);
void map_percpu_load(const struct map *map, void *value, uint32_t i);
/* Whether BPF_F_LOCK is set without a lock in the value. */
bool map_lock_refused(const struct map *map, uint64_t flags);

/* Creation checks of array, per-CPU array, and (fd_array: value of 4 bytes) the arrays of objects. */
int map_array_check(struct map_attr *attr);
/* get_next_key of array-like types. */
int map_array_next_key(struct map *map, const void *key, void *next);

/* Memory that costs nothing until it is touched: zeroed, page-aligned; NULL when there is none. */
void *sparse_alloc(size_t size);
void sparse_free(void *p, size_t size);

/* Answers of types that lack an operation. */
int map_no_key_op(struct map *map, const void *key); /* -EINVAL */
int map_no_del(struct map *map, const void *key);    /* -ENOTSUPP */

/*
 * A slot that holds a reference to an object, replaced and emptied by writers under the lock of their map,
 * read by workers under QSBR. What leaves a slot is put after a grace period.
 */
struct obj_ref;
struct obj_slot {
	_Atomic(struct obj *) obj;
	struct obj_ref *ref;
};

/* A reference ready to be put into a slot: takes obj, also on failure (-ENOMEM, NULL). */
struct obj_ref *obj_ref_create(struct obj *obj);
struct obj *obj_ref_obj(const struct obj_ref *ref);
/* Puts what ref holds, at once: for references that no reader has seen. NULL is allowed. */
void obj_ref_destroy(struct obj_ref *ref);
/* The same after a grace period. No lock is held that a release function may want. */
void obj_ref_retire(struct obj_ref *ref);
/* Exchanges what the slot holds; returns the old reference for obj_ref_retire. */
struct obj_ref *obj_slot_swap(struct obj_slot *slot, struct obj_ref *ref);

static inline struct obj *obj_slot_get(const struct obj_slot *slot)
{
	return atomic_load_explicit((_Atomic(struct obj *) *)&slot->obj, memory_order_acquire);
}

extern const struct map_ops array_ops, percpu_array_ops, hash_ops, percpu_hash_ops, lru_hash_ops,
	lru_percpu_hash_ops, lpm_ops, prog_array_ops, array_of_maps_ops, hash_of_maps_ops,
	queue_ops, stack_ops, bloom_ops, ringbuf_ops, perf_array_ops, devmap_ops, devmap_hash_ops,
	cpumap_ops, xskmap_ops;

#endif
