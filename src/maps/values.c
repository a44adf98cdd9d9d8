/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values in the area of a map, and references to objects in slots: what the map types are built from (see
 * map_impl.h).
 */
#include "map_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cpu.h"

int map_values_create(struct map *map, const struct map_attr *attr, uint32_t n_values,
		      uint32_t n_cpus)
{
	char name[MAP_NAME_LEN + 8];
	uint64_t n = (uint64_t)n_values * n_cpus;
	int rc;

	map->stride = round_up8(attr->value_size);
	map->n_values = n_values;
	if (n > SIZE_MAX / map->stride)
		return -ENOMEM;
	snprintf(name, sizeof(name), "map:%s", attr->name);
	rc = area_create(&map->area, n * map->stride, name);
	if (rc)
		return rc;
	map->area.stride = map->stride;
	map->area.elem_size = attr->value_size;
	map->area.read_only = attr->flags & BPF_F_RDONLY_PROG;
	map->area.owner = map;
	return 0;
}

bool map_lock_refused(const struct map *map, uint64_t flags)
{
	return (flags & BPF_F_LOCK) && map->spin_lock_off == UINT32_MAX;
}

static struct spin *value_lock(const struct map *map, void *slot, uint64_t flags)
{
	return flags & BPF_F_LOCK ? (struct spin *)(void *)((uint8_t *)slot + map->spin_lock_off)
				  : NULL;
}

void map_value_store(const struct map *map, void *slot, const void *value, uint64_t flags)
{
	struct spin *lock = value_lock(map, slot, flags);
	uint32_t off = map->spin_lock_off;

	if (off == UINT32_MAX) {
		shared_store(slot, value, map->value_size);
		return;
	}
	if (lock)
		spin_lock(lock);
	/* Byte-wise around the lock, as its offset is aligned to 4 only. */
	for (uint32_t i = 0; i < map->value_size; i++)
		if (i - off >= sizeof(struct bpf_spin_lock))
			shared_store((uint8_t *)slot + i, (const uint8_t *)value + i, 1);
	if (lock)
		spin_unlock(lock);
}

void map_value_load(const struct map *map, void *value, void *slot, uint64_t flags)
{
	struct spin *lock = value_lock(map, slot, flags);

	if (lock)
		spin_lock(lock);
	shared_load(value, slot, map->value_size);
	if (lock)
		spin_unlock(lock);
	if (map->spin_lock_off != UINT32_MAX)
		memset((uint8_t *)value + map->spin_lock_off, 0, sizeof(struct bpf_spin_lock));
}

void map_percpu_store(const struct map *map, uint32_t i, const void *value)
{
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		shared_store(map_value(map, cpu, i), (const uint8_t *)value + cpu * map->stride,
			     map->stride);
}

void map_percpu_load(const struct map *map, void *value, uint32_t i)
{
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		shared_load((uint8_t *)value + cpu * map->stride, map_value(map, cpu, i),
			    map->stride);
}

int map_array_next_key(struct map *map, const void *key, void *next)
{
	uint32_t i = key ? key_u32(key) : UINT32_MAX, n = 0;

	if (i < map->max_entries) {
		if (i == map->max_entries - 1)
			return -ENOENT;
		n = i + 1;
	}
	memcpy(next, &n, sizeof(n));
	return 0;
}

void *sparse_alloc(size_t size)
{
	void *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sparse_free(void *p, size_t size)
{
	if (p)
		munmap(p, size ? size : 1);
}

int map_no_key_op(struct map *map, const void *key)
{
	return -EINVAL;
}

int map_no_del(struct map *map, const void *key)
{
	return -ENOTSUPP;
}

struct obj_ref {
	struct obj *obj;
	struct qsbr_entry defer;
};

struct obj_ref *obj_ref_create(struct obj *obj)
{
	struct obj_ref *ref = malloc(sizeof(*ref));

	if (!ref) {
		obj_put(obj);
		return NULL;
	}
	ref->obj = obj;
	return ref;
}

struct obj *obj_ref_obj(const struct obj_ref *ref)
{
	return ref->obj;
}

void obj_ref_destroy(struct obj_ref *ref)
{
	if (!ref)
		return;
	obj_put(ref->obj);
	free(ref);
}

static void ref_expired(struct qsbr_entry *entry)
{
	obj_ref_destroy(container_of(entry, struct obj_ref, defer));
}

void obj_ref_retire(struct obj_ref *ref)
{
	if (ref)
		qsbr_defer(&ref->defer, ref_expired);
}

struct obj_ref *obj_slot_swap(struct obj_slot *slot, struct obj_ref *ref)
{
	struct obj_ref *old = slot->ref;

	slot->ref = ref;
	atomic_store_explicit(&slot->obj, ref ? ref->obj : NULL, memory_order_release);
	return old;
}
