/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The front of all map types: life cycle, and the checks of bpf(2)'s element commands that are common to
 * all (kernel/bpf/syscall.c). Batches are in batch.c, the types in types.c and their own files.
 */
#include "map.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/cpu.h"
#include "maps/map_impl.h"
#include "maps/prog_array.h"

static pthread_mutex_t owner_lock = PTHREAD_MUTEX_INITIALIZER;

static struct map *map_of(struct obj *obj)
{
	return container_of(obj, struct map, obj);
}

static void map_release(struct obj *obj)
{
	struct map *map = map_of(obj);

	obj_put(map->btf);
	area_destroy(&map->area);
	map->ops->destroy(map);
}

int map_create(struct map **ret, const struct map_attr *attr)
{
	const struct map_ops *ops = map_ops_of(attr->type);
	struct map_attr a = *attr;
	struct map *map;
	int rc;

	if (a.extra && a.type != BPF_MAP_TYPE_BLOOM_FILTER)
		return -EINVAL;
	if ((a.flags & BPF_F_RDONLY) && (a.flags & BPF_F_WRONLY))
		return -EINVAL;
	if (!ops)
		return -EINVAL;
	rc = ops->check(&a);
	if (rc)
		return rc;
	rc = ops->create(&map, &a);
	if (rc)
		return rc;
	map->ops = ops;
	map->type = a.type;
	map->key_size = a.key_size;
	map->value_size = a.value_size;
	map->max_entries = a.max_entries;
	map->flags |= a.flags;
	map->extra = a.extra;
	map->spin_lock_off = UINT32_MAX;
	memcpy(map->name, a.name, sizeof(map->name));
	map->name[sizeof(map->name) - 1] = 0;
	obj_init(&map->obj, OBJ_MAP, map_release);
	*ret = map;
	return 0;
}

struct map *map_get(struct map *map)
{
	obj_get(&map->obj);
	return map;
}

void map_put(struct map *map)
{
	if (map)
		obj_put(&map->obj);
}

struct map *map_by_id(uint32_t id)
{
	struct obj *obj = obj_by_id(OBJ_MAP, id);

	return obj ? map_of(obj) : NULL;
}

bool map_is_percpu(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_PERCPU_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_HASH ||
	       map->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

uint32_t map_sys_value_size(const struct map *map)
{
	return map_is_percpu(map) ? round_up8(map->value_size) * cpu_count() : map->value_size;
}

static bool readable(const struct map *map)
{
	return !(map->flags & BPF_F_WRONLY);
}

static bool writable(struct map *map)
{
	return !(map->flags & BPF_F_RDONLY) && !atomic_load(&map->frozen);
}

/* A key is wanted by maps that have one, and by no other. */
static int check_key(const struct map *map, const void *key)
{
	if (map->key_size)
		return key ? 0 : -EFAULT;
	return key ? -EINVAL : 0;
}

static int lookup_value(struct map *map, const void *key, void *value, uint64_t flags)
{
	void *slot;

	if (map->ops->sys_lookup)
		return map->ops->sys_lookup(map, key, value, flags);
	if (map->ops->peek)
		return map->ops->peek(map, value);
	if (!map->ops->lookup)
		return -ENOTSUPP;
	slot = map->ops->lookup(map, key, 0);
	if (!slot)
		return -ENOENT;
	map_value_load(map, value, slot, flags);
	return 0;
}

int map_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	int rc;

	if (flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	if (!readable(map))
		return -EPERM;
	if (map_lock_refused(map, flags))
		return -EINVAL;
	rc = check_key(map, key);
	return rc ? rc : lookup_value(map, key, value, flags);
}

static int update_value(struct map *map, const void *key, const void *value, uint64_t flags)
{
	if (map->ops->sys_update)
		return map->ops->sys_update(map, key, value, flags);
	if (map->ops->push)
		return map->ops->push(map, value, flags);
	return map->ops->update ? map->ops->update(map, key, value, flags, 0) : -ENOTSUPP;
}

int map_sys_update(struct map *map, const void *key, const void *value, uint64_t flags)
{
	int rc;

	atomic_fetch_add(&map->writers, 1);
	if (!writable(map))
		rc = -EPERM;
	else if (map_lock_refused(map, flags))
		rc = -EINVAL;
	else
		rc = check_key(map, key);
	if (!rc)
		rc = update_value(map, key, value, flags);
	atomic_fetch_sub(&map->writers, 1);
	return rc;
}

static int delete_value(struct map *map, const void *key)
{
	int (*del)(struct map *, const void *) =
		map->ops->sys_del ? map->ops->sys_del : map->ops->del;

	return del ? del(map, key) : -ENOTSUPP;
}

int map_sys_delete(struct map *map, const void *key)
{
	int rc;

	atomic_fetch_add(&map->writers, 1);
	rc = writable(map) ? check_key(map, key) : -EPERM;
	if (!rc)
		rc = delete_value(map, key);
	atomic_fetch_sub(&map->writers, 1);
	return rc;
}

int map_sys_next_key(struct map *map, const void *key, void *next)
{
	if (!readable(map))
		return -EPERM;
	if (!map->key_size && key)
		return -EINVAL;
	return map->ops->next_key ? map->ops->next_key(map, key, next) : -ENOTSUPP;
}

static int pop_value(struct map *map, const void *key, void *value, uint64_t flags)
{
	bool keyless = map->type == BPF_MAP_TYPE_QUEUE || map->type == BPF_MAP_TYPE_STACK;
	int rc;

	if (!readable(map) || !writable(map))
		return -EPERM;
	if (flags && keyless)
		return -EINVAL;
	if (map_lock_refused(map, flags))
		return -EINVAL;
	rc = check_key(map, key);
	if (rc)
		return rc;
	if (keyless)
		return map->ops->pop(map, value);
	return map->ops->sys_pop ? map->ops->sys_pop(map, key, value, flags) : -ENOTSUPP;
}

int map_sys_lookup_and_delete(struct map *map, const void *key, void *value, uint64_t flags)
{
	int rc;

	if (flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	atomic_fetch_add(&map->writers, 1);
	rc = pop_value(map, key, value, flags);
	atomic_fetch_sub(&map->writers, 1);
	return rc;
}

int map_sys_freeze(struct map *map)
{
	if (map->spin_lock_off != UINT32_MAX)
		return -ENOTSUPP;
	if (!writable(map))
		return -EPERM;
	if (atomic_load(&map->writers))
		return -EBUSY;
	atomic_store(&map->frozen, true);
	return 0;
}

void map_uref_get(struct map *map)
{
	atomic_fetch_add(&map->urefs, 1);
}

void map_uref_put(struct map *map)
{
	if (atomic_fetch_sub(&map->urefs, 1) == 1 && map->ops->release_uref)
		map->ops->release_uref(map);
}

/* One batch command, checked as far as all types agree. */

static int update_batch(struct map *map, const uint8_t *keys, const uint8_t *values,
			uint32_t *count, uint64_t elem_flags)
{
	uint32_t size = map_sys_value_size(map), n = *count, i;
	int rc = 0;

	for (i = 0; i < n; i++) {
		rc = update_value(map, keys + (size_t)i * map->key_size, values + (size_t)i * size,
				  elem_flags);
		if (rc)
			break;
	}
	*count = i;
	return rc;
}

static int delete_batch(struct map *map, const uint8_t *keys, uint32_t *count)
{
	uint32_t n = *count, i;
	int rc = 0;

	for (i = 0; i < n; i++) {
		rc = delete_value(map, keys + (size_t)i * map->key_size);
		if (rc)
			break;
	}
	*count = i;
	return rc;
}

/* From key to key, as the kernel's generic_map_lookup_batch: in and out are keys. */
static int lookup_batch(struct map *map, const void *in, void *out, uint8_t *keys, uint8_t *values,
			uint32_t *count, uint64_t elem_flags)
{
	uint32_t size = map_sys_value_size(map), max = *count, n = 0;
	uint8_t prev[512 + 8], key[512 + 8];
	bool have_prev = in;
	int rc = 0;

	*count = 0;
	if (map->key_size > sizeof(key))
		return -ENOMEM;
	if (in)
		memcpy(prev, in, map->key_size);
	while (n < max) {
		rc = map->ops->next_key(map, have_prev ? prev : NULL, key);
		if (rc)
			break;
		rc = lookup_value(map, key, values + (size_t)n * size, elem_flags);
		if (rc && rc != -ENOENT)
			return rc;
		if (!rc)
			memcpy(keys + (size_t)n++ * map->key_size, key, map->key_size);
		rc = 0;
		memcpy(prev, key, map->key_size);
		have_prev = true;
	}
	*count = n;
	if (n)
		memcpy(out, prev, map->key_size);
	return rc;
}

static uint32_t batch_bit(int cmd)
{
	switch (cmd) {
	case BPF_MAP_LOOKUP_BATCH:
		return MAP_BATCH_LOOKUP;
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		return MAP_BATCH_LOOKUP_DELETE;
	case BPF_MAP_UPDATE_BATCH:
		return MAP_BATCH_UPDATE;
	default:
		return MAP_BATCH_DELETE;
	}
}

static int run_batch(struct map *map, uint32_t bit, const void *in, void *out, void *keys,
		     void *values, uint32_t *count, uint64_t elem_flags)
{
	if (bit == MAP_BATCH_UPDATE)
		return update_batch(map, keys, values, count, elem_flags);
	if (bit == MAP_BATCH_DELETE)
		return delete_batch(map, keys, count);
	if (map->ops->lookup_batch)
		return map->ops->lookup_batch(map, in, out, keys, values, count, elem_flags,
					      bit == MAP_BATCH_LOOKUP_DELETE);
	return lookup_batch(map, in, out, keys, values, count, elem_flags);
}

/* elem_flags is the flags of each element, flags those of the command (of the hash family: none). */
static int check_batch(struct map *map, uint32_t bit, uint64_t elem_flags, uint64_t flags)
{
	if (bit != MAP_BATCH_UPDATE && bit != MAP_BATCH_DELETE && !readable(map))
		return -EPERM;
	if (bit != MAP_BATCH_LOOKUP && !writable(map))
		return -EPERM;
	if (!(map->ops->batches & bit))
		return -ENOTSUPP;
	if ((elem_flags & ~(uint64_t)BPF_F_LOCK) || map_lock_refused(map, elem_flags))
		return -EINVAL;
	if (flags && map->ops->lookup_batch && (bit & (MAP_BATCH_LOOKUP | MAP_BATCH_LOOKUP_DELETE)))
		return -EINVAL;
	return 0;
}

int map_sys_batch(struct map *map, int cmd, const void *in_batch, void *out_batch, void *keys,
		  void *values, uint32_t *count, uint64_t elem_flags, uint64_t flags)
{
	uint32_t bit = batch_bit(cmd);
	bool writes = bit != MAP_BATCH_LOOKUP;
	int rc;

	if (writes)
		atomic_fetch_add(&map->writers, 1);
	rc = check_batch(map, bit, elem_flags, flags);
	if (!rc && *count)
		rc = run_batch(map, bit, in_batch, out_batch, keys, values, count, elem_flags);
	if (writes)
		atomic_fetch_sub(&map->writers, 1);
	return rc;
}

bool map_owner_compatible(struct map *map, const struct prog_traits *traits)
{
	bool same;

	pthread_mutex_lock(&owner_lock);
	if (!map->has_owner) {
		map->owner = *traits;
		map->has_owner = true;
	}
	same = map->owner.type == traits->type && map->owner.jited == traits->jited &&
	       map->owner.xdp_has_frags == traits->xdp_has_frags;
	/* A tail call must not lead from one attach type to another; devmaps check it themselves. */
	if (map->type == BPF_MAP_TYPE_PROG_ARRAY &&
	    map->owner.expected_attach_type != traits->expected_attach_type)
		same = false;
	pthread_mutex_unlock(&owner_lock);
	return same;
}
