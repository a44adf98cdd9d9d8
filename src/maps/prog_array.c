/* SPDX-License-Identifier: BSD-2-Clause */
/* Program arrays: see prog_array.h. */
#include "prog_array.h"

#include <errno.h>

#include "maps/fd_array.h"

struct prog_obj *prog_array_lookup(struct map *map, uint32_t index)
{
	struct obj *obj = fd_array_get(map, index);

	return obj ? container_of(obj, struct prog_obj, obj) : NULL;
}

static int prog_array_sys_update(struct map *map, const void *key, const void *value,
				 uint64_t flags)
{
	uint32_t i = key_u32(key);
	struct obj *obj;
	int rc;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	rc = obj_from_fd((int)key_u32(value), OBJ_PROG, &obj);
	if (rc)
		return rc;
	if (!map_owner_compatible(map, &container_of(obj, struct prog_obj, obj)->traits)) {
		obj_put(obj);
		return -EINVAL;
	}
	return fd_array_set(map, i, obj);
}

const struct map_ops prog_array_ops = {
	.type = BPF_MAP_TYPE_PROG_ARRAY,
	.name = "prog_array",
	.check = fd_array_check,
	.create = fd_array_create,
	.destroy = fd_array_destroy,
	.sys_lookup = fd_array_sys_lookup,
	.sys_update = prog_array_sys_update,
	.sys_del = fd_array_del,
	.next_key = map_array_next_key,
	.release_uref = fd_array_clear,
};
