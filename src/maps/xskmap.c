/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Xskmap (net/xdp/xskmap.c): an array of sockets. A program's look-up gives something to read where the
 * kernel's gives struct bpf_xdp_sock: the map's area holds a queue_id for each slot, the key, which is the
 * queue in every program that indexes sockets by rx_queue_index.
 */
#include <errno.h>

#include "maps/cpumap.h"
#include "maps/fd_array.h"

static int xskmap_check(struct map_attr *attr)
{
	uint32_t flags = BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY;

	if (!attr->max_entries || attr->key_size != 4 || attr->value_size != 4 ||
	    (attr->flags & ~flags))
		return -EINVAL;
	return 0;
}

static int xskmap_create(struct map **ret, const struct map_attr *attr)
{
	struct map *map;
	int rc = fd_array_create(&map, attr);

	if (rc)
		return rc;
	rc = map_values_create(map, attr, attr->max_entries, 1);
	if (rc) {
		fd_array_destroy(map);
		return rc;
	}
	map->area.read_only = true;
	*ret = map;
	return 0;
}

struct obj *xskmap_lookup(struct map *map, uint32_t key)
{
	return fd_array_get(map, key);
}

static void *xskmap_value(struct map *map, const void *key, uint32_t cpu)
{
	return xskmap_lookup(map, key_u32(key)) ? map_value(map, 0, key_u32(key)) : NULL;
}

static int check_slot(const struct obj *there, uint64_t flags)
{
	if (there && flags == BPF_NOEXIST)
		return -EEXIST;
	return !there && flags == BPF_EXIST ? -ENOENT : 0;
}

static int xskmap_sys_update(struct map *map, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_u32(key);
	struct obj *obj, *there;
	int rc;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	rc = obj_from_fd((int)key_u32(value), OBJ_XSK, &obj);
	if (rc)
		return rc == -EINVAL ? -ENOTSOCK : rc;
	there = fd_array_get(map, i);
	rc = there == obj ? 0 : check_slot(there, flags);
	if (rc || there == obj) {
		obj_put(obj);
		return rc;
	}
	shared_store(map_value(map, 0, i), &i, sizeof(i));
	return fd_array_set(map, i, obj);
}

static int xskmap_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	return -EOPNOTSUPP;
}

static int xskmap_sys_del(struct map *map, const void *key)
{
	int rc = fd_array_del(map, key);

	if (rc == -E2BIG)
		return -EINVAL;
	return rc == -ENOENT ? 0 : rc;
}

const struct map_ops xskmap_ops = {
	.type = BPF_MAP_TYPE_XSKMAP,
	.name = "xskmap",
	.check = xskmap_check,
	.create = xskmap_create,
	.destroy = fd_array_destroy,
	.lookup = xskmap_value,
	.sys_lookup = xskmap_sys_lookup,
	.sys_update = xskmap_sys_update,
	.sys_del = xskmap_sys_del,
	.next_key = map_array_next_key,
};
