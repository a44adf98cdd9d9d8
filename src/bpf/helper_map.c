/* SPDX-License-Identifier: BSD-2-Clause */
/* Map helpers, and the spin lock in map values (kernel/bpf/helpers.c). */
#include "bpf/helper_impl.h"

#include "base/cpu.h"
#include "maps/map.h"

static bool has_device_values(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_DEVMAP || map->type == BPF_MAP_TYPE_DEVMAP_HASH ||
	       map->type == BPF_MAP_TYPE_CPUMAP;
}

static bool is_map_of_maps(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS || map->type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* Notes what lies outside the areas, so that the guards know it (region.h, helper_check). */
static void lend(struct run_ctx *rc, const struct map *map, const void *value)
{
	uint32_t size;

	if (is_map_of_maps(map))
		size = 0;
	else if (has_device_values(map))
		size = map->value_size;
	else
		return;
	rc->lent[rc->n_lent++ % RUN_LENT] = (struct lent){ .addr = value, .size = size };
}

static uint64_t lookup(struct run_ctx *rc, struct map *map, uint64_t key, uint32_t cpu)
{
	void *value = map->ops->lookup ? map->ops->lookup(map, helper_ptr(key), cpu) : NULL;

	if (value)
		lend(rc, map, value);
	return (uint64_t)(uintptr_t)value;
}

HELPER(map_lookup_elem)
{
	return lookup(rc, helper_map(a1), a2, rc->cpu);
}

HELPER(map_update_elem)
{
	struct map *map = helper_map(a1);

	if (!map->ops->update)
		return helper_error(ENOTSUPP);
	return (uint64_t)(int64_t)map->ops->update(map, helper_ptr(a2), helper_ptr(a3), a4,
						   rc->cpu);
}

HELPER(map_delete_elem)
{
	struct map *map = helper_map(a1);

	if (!map->ops->del)
		return helper_error(ENOTSUPP);
	return (uint64_t)(int64_t)map->ops->del(map, helper_ptr(a2));
}

HELPER(map_lookup_percpu_elem)
{
	uint32_t cpu = (uint32_t)a3;

	return cpu < cpu_count() ? lookup(rc, helper_map(a1), a2, cpu) : 0;
}

HELPER(map_push_elem)
{
	struct map *map = helper_map(a1);

	return (uint64_t)(int64_t)map->ops->push(map, helper_ptr(a2), a3);
}

HELPER(map_pop_elem)
{
	struct map *map = helper_map(a1);

	return (uint64_t)(int64_t)map->ops->pop(map, helper_ptr(a2));
}

HELPER(map_peek_elem)
{
	struct map *map = helper_map(a1);

	return (uint64_t)(int64_t)map->ops->peek(map, helper_ptr(a2));
}

HELPER(spin_lock)
{
	uint32_t *lock = helper_ptr(a1);

	/* A holder's run is bounded by its fuel, and a fault lets go of the lock (prog_run_clean). */
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(lock, __ATOMIC_RELAXED))
			;
	rc->spin_lock = lock;
	return 0;
}

HELPER(spin_unlock)
{
	uint32_t *lock = helper_ptr(a1);

	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	rc->spin_lock = NULL;
	return 0;
}
