/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays of objects: see fd_array.h. */
#include "fd_array.h"

#include <errno.h>
#include <stdlib.h>

static struct fd_array *array_of(const struct map *map)
{
	return (struct fd_array *)map;
}

int fd_array_check(struct map_attr *attr)
{
	if (attr->value_size != sizeof(uint32_t) ||
	    (attr->flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)))
		return -EINVAL;
	return map_array_check(attr);
}

int fd_array_create(struct map **ret, const struct map_attr *attr)
{
	struct fd_array *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->n = attr->max_entries;
	a->slots = sparse_alloc((size_t)a->n * sizeof(*a->slots));
	if (!a->slots) {
		free(a);
		return -ENOMEM;
	}
	*ret = &a->map;
	return 0;
}

void fd_array_destroy(struct map *map)
{
	struct fd_array *a = array_of(map);

	for (uint32_t i = 0; i < a->n; i++)
		obj_ref_destroy(a->slots[i].ref);
	sparse_free(a->slots, (size_t)a->n * sizeof(*a->slots));
	free(a);
}

struct obj *fd_array_get(const struct map *map, uint32_t index)
{
	const struct fd_array *a = array_of(map);

	return index < a->n ? obj_slot_get(&a->slots[index]) : NULL;
}

static struct obj_ref *swap(struct fd_array *a, uint32_t index, struct obj_ref *ref)
{
	struct obj_ref *old;

	spin_lock(&a->lock);
	old = obj_slot_swap(&a->slots[index], ref);
	spin_unlock(&a->lock);
	return old;
}

int fd_array_set(struct map *map, uint32_t index, struct obj *obj)
{
	struct obj_ref *ref = obj_ref_create(obj);

	if (!ref)
		return -ENOMEM;
	obj_ref_retire(swap(array_of(map), index, ref));
	return 0;
}

int fd_array_del(struct map *map, const void *key)
{
	uint32_t i = key_u32(key);
	struct obj_ref *old;

	if (i >= map->max_entries)
		return -E2BIG;
	old = swap(array_of(map), i, NULL);
	if (!old)
		return -ENOENT;
	obj_ref_retire(old);
	return 0;
}

int fd_array_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	struct fd_array *a = array_of(map);
	uint32_t i = key_u32(key);
	int rc = -ENOENT;

	if (i >= a->n)
		return -ENOENT;
	/* The lock keeps the object: bpf(2)'s threads are no QSBR readers. */
	spin_lock(&a->lock);
	if (a->slots[i].ref) {
		memcpy(value, &obj_ref_obj(a->slots[i].ref)->id, sizeof(uint32_t));
		rc = 0;
	}
	spin_unlock(&a->lock);
	return rc;
}

void fd_array_clear(struct map *map)
{
	struct fd_array *a = array_of(map);

	for (uint32_t i = 0; i < a->n; i++)
		if (obj_slot_get(&a->slots[i]))
			obj_ref_retire(swap(a, i, NULL));
}
