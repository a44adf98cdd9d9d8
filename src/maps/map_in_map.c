/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Array of maps and hash of maps (kernel/bpf/map_in_map.c): values are maps like the template that the
 * outer map was created with. A program's look-up gives the inner struct map, bpf(2)'s its id.
 */
#include <errno.h>

#include "maps/fd_array.h"
#include "maps/htab.h"

static struct map_template template_of(const struct map *map)
{
	return (struct map_template){
		.type = map->type,
		.key_size = map->key_size,
		.value_size = map->value_size,
		.max_entries = map->max_entries,
		/* Access through a descriptor is no property of the map. */
		.flags = map->flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY),
	};
}

/* 0, or why a map cannot be an inner map. */
static int check_inner(const struct map *inner)
{
	if (!inner || inner->inner.type)
		return -EINVAL;
	if (inner->type == BPF_MAP_TYPE_PROG_ARRAY || inner->type == BPF_MAP_TYPE_CPUMAP)
		return -ENOTSUPP;
	return 0;
}

static bool fits(const struct map_template *t, const struct map *inner)
{
	struct map_template is = template_of(inner);
	/* Code inlined for these has the size in it. */
	bool sized = (is.type == BPF_MAP_TYPE_ARRAY && !(t->flags & BPF_F_INNER_MAP)) ||
		     is.type == BPF_MAP_TYPE_XSKMAP;

	return t->type == is.type && t->key_size == is.key_size && t->value_size == is.value_size &&
	       t->flags == is.flags && (!sized || t->max_entries == is.max_entries);
}

/* The map behind a descriptor, if it fits; owned. */
static int inner_from_fd(const struct map *outer, const void *value, struct obj **ret)
{
	struct obj *obj;
	int rc = obj_from_fd((int)key_u32(value), OBJ_MAP, &obj);

	if (rc)
		return rc;
	if (!fits(&outer->inner, container_of(obj, struct map, obj))) {
		obj_put(obj);
		return -EINVAL;
	}
	*ret = obj;
	return 0;
}

static void *map_of_obj(struct obj *obj)
{
	return obj ? container_of(obj, struct map, obj) : NULL;
}

static int array_of_maps_create(struct map **ret, const struct map_attr *attr)
{
	int rc = check_inner(attr->inner);

	if (!rc)
		rc = fd_array_create(ret, attr);
	if (!rc)
		(*ret)->inner = template_of(attr->inner);
	return rc;
}

static void *array_of_maps_lookup(struct map *map, const void *key, uint32_t cpu)
{
	return map_of_obj(fd_array_get(map, key_u32(key)));
}

static int array_of_maps_sys_update(struct map *map, const void *key, const void *value,
				    uint64_t flags)
{
	uint32_t i = key_u32(key);
	struct obj *obj;
	int rc;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	rc = inner_from_fd(map, value, &obj);
	return rc ? rc : fd_array_set(map, i, obj);
}

static int hash_of_maps_check(struct map_attr *attr)
{
	return attr->value_size == sizeof(uint32_t) ? htab_check(attr) : -EINVAL;
}

static int hash_of_maps_create(struct map **ret, const struct map_attr *attr)
{
	int rc = check_inner(attr->inner);

	if (!rc)
		rc = htab_create(ret, attr);
	if (!rc)
		(*ret)->inner = template_of(attr->inner);
	return rc;
}

static void *hash_of_maps_lookup(struct map *map, const void *key, uint32_t cpu)
{
	const struct htab *h = htab_of(map);
	uint32_t i = htab_find(h, htab_hash(h, key), key);

	/* Empty: deleted since it was found. */
	return i == SLOT_NONE ? NULL : map_of_obj(obj_slot_get(&h->objs[i]));
}

static int hash_of_maps_sys_update(struct map *map, const void *key, const void *value,
				   uint64_t flags)
{
	struct htab_write w = { .flags = flags };
	struct obj *obj;
	int rc = inner_from_fd(map, value, &obj);

	if (rc)
		return rc;
	w.ref = obj_ref_create(obj);
	if (!w.ref)
		return -ENOMEM;
	rc = flags > BPF_EXIST ? -EINVAL : htab_update(htab_of(map), key, &w, 0);
	if (rc)
		obj_ref_destroy(w.ref);
	else
		obj_ref_retire(w.ref);
	return rc;
}

const struct map_ops array_of_maps_ops = {
	.type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
	.name = "array_of_maps",
	.check = fd_array_check,
	.create = array_of_maps_create,
	.destroy = fd_array_destroy,
	.lookup = array_of_maps_lookup,
	.sys_lookup = fd_array_sys_lookup,
	.sys_update = array_of_maps_sys_update,
	.sys_del = fd_array_del,
	.next_key = map_array_next_key,
	.batches = MAP_BATCH_LOOKUP | MAP_BATCH_UPDATE,
};

const struct map_ops hash_of_maps_ops = {
	.type = BPF_MAP_TYPE_HASH_OF_MAPS,
	.name = "hash_of_maps",
	.check = hash_of_maps_check,
	.create = hash_of_maps_create,
	.destroy = htab_destroy,
	.lookup = hash_of_maps_lookup,
	.sys_lookup = htab_sys_lookup,
	.sys_update = hash_of_maps_sys_update,
	.sys_del = htab_del,
	.next_key = htab_next_key,
	.lookup_batch = htab_lookup_batch,
	.batches = MAP_BATCH_LOOKUP | MAP_BATCH_LOOKUP_DELETE | MAP_BATCH_UPDATE | MAP_BATCH_DELETE,
};
