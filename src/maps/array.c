/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays and per-CPU arrays (kernel/bpf/arraymap.c). The JIT inlines the look-up: the value of index i is
 * at area.base + i * stride, of a per-CPU array at area.base + (cpu * max_entries + i) * stride; n_values
 * is max_entries.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "maps/map_impl.h"

#define ARRAY_FLAGS                                                                                \
	(BPF_F_NUMA_NODE | BPF_F_MMAPABLE | MAP_ACCESS_FLAGS | BPF_F_PRESERVE_ELEMS |              \
	 BPF_F_INNER_MAP)

int map_array_check(struct map_attr *attr)
{
	bool percpu = attr->type == BPF_MAP_TYPE_PERCPU_ARRAY;

	if (!attr->max_entries || attr->key_size != 4 || !attr->value_size ||
	    (attr->flags & ~(uint32_t)ARRAY_FLAGS) || !map_access_ok(attr->flags))
		return -EINVAL;
	if (percpu && (attr->flags & BPF_F_NUMA_NODE))
		return -EINVAL;
	if (attr->type != BPF_MAP_TYPE_ARRAY && (attr->flags & (BPF_F_MMAPABLE | BPF_F_INNER_MAP)))
		return -EINVAL;
	if (attr->type != BPF_MAP_TYPE_PERF_EVENT_ARRAY && (attr->flags & BPF_F_PRESERVE_ELEMS))
		return -EINVAL;
	if (attr->value_size > INT_MAX)
		return -E2BIG;
	if (percpu && round_up8(attr->value_size) > MAP_PERCPU_VALUE_MAX)
		return -E2BIG;
	return 0;
}

static int array_create(struct map **ret, const struct map_attr *attr)
{
	bool percpu = attr->type == BPF_MAP_TYPE_PERCPU_ARRAY;
	struct map *map = calloc(1, sizeof(*map));
	int rc;

	if (!map)
		return -ENOMEM;
	rc = map_values_create(map, attr, attr->max_entries, percpu ? cpu_count() : 1);
	if (rc) {
		free(map);
		return rc;
	}
	*ret = map;
	return 0;
}

static void array_destroy(struct map *map)
{
	free(map);
}

static void *array_lookup(struct map *map, const void *key, uint32_t cpu)
{
	uint32_t i = key_u32(key);

	return i < map->max_entries ? map->area.base + (uint64_t)i * map->stride : NULL;
}

static void *percpu_array_lookup(struct map *map, const void *key, uint32_t cpu)
{
	uint32_t i = key_u32(key);

	return i < map->max_entries ? map_value(map, cpu, i) : NULL;
}

/* The checks of an update, in the kernel's order. */
static int check_update(const struct map *map, uint32_t i, uint64_t flags)
{
	if ((flags & ~(uint64_t)BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	if (flags & BPF_NOEXIST)
		return -EEXIST;
	return map_lock_refused(map, flags) ? -EINVAL : 0;
}

static int array_update(struct map *map, const void *key, const void *value, uint64_t flags,
			uint32_t cpu)
{
	uint32_t i = key_u32(key);
	int rc = check_update(map, i, flags);

	if (rc)
		return rc;
	map_value_store(map, map_value(map, 0, i), value, flags);
	return 0;
}

static int percpu_array_update(struct map *map, const void *key, const void *value, uint64_t flags,
			       uint32_t cpu)
{
	uint32_t i = key_u32(key);
	int rc = check_update(map, i, flags);

	if (rc)
		return rc;
	shared_store(map_value(map, cpu, i), value, map->value_size);
	return 0;
}

static int percpu_array_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	uint32_t i = key_u32(key);

	if (i >= map->max_entries)
		return -ENOENT;
	map_percpu_load(map, value, i);
	return 0;
}

static int percpu_array_sys_update(struct map *map, const void *key, const void *value,
				   uint64_t flags)
{
	uint32_t i = key_u32(key);

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	map_percpu_store(map, i, value);
	return 0;
}

const struct map_ops array_ops = {
	.type = BPF_MAP_TYPE_ARRAY,
	.name = "array",
	.check = map_array_check,
	.create = array_create,
	.destroy = array_destroy,
	.lookup = array_lookup,
	.update = array_update,
	.del = map_no_key_op,
	.next_key = map_array_next_key,
	.batches = MAP_BATCH_LOOKUP | MAP_BATCH_UPDATE,
};

const struct map_ops percpu_array_ops = {
	.type = BPF_MAP_TYPE_PERCPU_ARRAY,
	.name = "percpu_array",
	.check = map_array_check,
	.create = array_create,
	.destroy = array_destroy,
	.lookup = percpu_array_lookup,
	.update = percpu_array_update,
	.del = map_no_key_op,
	.sys_lookup = percpu_array_sys_lookup,
	.sys_update = percpu_array_sys_update,
	.next_key = map_array_next_key,
	.batches = MAP_BATCH_LOOKUP | MAP_BATCH_UPDATE,
};
