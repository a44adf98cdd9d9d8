/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf event arrays: see perf_array.h. */
#include "perf_array.h"

#include <errno.h>

#include "maps/fd_array.h"

struct perf_sink *perf_array_lookup(struct map *map, uint32_t index)
{
	struct obj *obj = fd_array_get(map, index);

	return obj ? container_of(obj, struct perf_sink, obj) : NULL;
}

int perf_array_set(struct map *map, uint32_t index, struct perf_sink *sink)
{
	if (index >= map->max_entries)
		return -E2BIG;
	return fd_array_set(map, index, obj_get(&sink->obj));
}

static int perf_array_sys_update(struct map *map, const void *key, const void *value,
				 uint64_t flags)
{
	uint32_t i = key_u32(key);
	struct obj *obj;
	int rc;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	rc = obj_from_fd((int)key_u32(value), OBJ_PERF, &obj);
	if (rc)
		return rc == -EINVAL ? -EBADF : rc; /* the kernel's perf_event_get */
	return fd_array_set(map, i, obj);
}

static int perf_array_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	return -ENOTSUPP;
}

/* Events leave with the last descriptor that could have put them there. */
static void perf_array_release(struct map *map)
{
	if (!(map->flags & BPF_F_PRESERVE_ELEMS))
		fd_array_clear(map);
}

const struct map_ops perf_array_ops = {
	.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
	.name = "perf_event_array",
	.check = fd_array_check,
	.create = fd_array_create,
	.destroy = fd_array_destroy,
	.sys_lookup = perf_array_sys_lookup,
	.sys_update = perf_array_sys_update,
	.sys_del = fd_array_del,
	.next_key = map_array_next_key,
	.release_uref = perf_array_release,
};
