/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash and per-CPU hash (kernel/bpf/hashtab.c): the table of htab.c, full when it is full. */
#include <errno.h>

#include "maps/htab.h"

#define HASH_BATCHES                                                                               \
	(MAP_BATCH_LOOKUP | MAP_BATCH_LOOKUP_DELETE | MAP_BATCH_UPDATE | MAP_BATCH_DELETE)

static void *hash_lookup(struct map *map, const void *key, uint32_t cpu)
{
	const struct htab *h = htab_of(map);
	uint32_t i = htab_find(h, htab_hash(h, key), key);

	return i == SLOT_NONE ? NULL : map_value(map, 0, i);
}

static void *percpu_hash_lookup(struct map *map, const void *key, uint32_t cpu)
{
	const struct htab *h = htab_of(map);
	uint32_t i = htab_find(h, htab_hash(h, key), key);

	return i == SLOT_NONE ? NULL : map_value(map, cpu, i);
}

static int hash_update(struct map *map, const void *key, const void *value, uint64_t flags,
		       uint32_t cpu)
{
	struct htab_write w = { .value = value, .flags = flags };

	if ((flags & ~(uint64_t)BPF_F_LOCK) > BPF_EXIST || map_lock_refused(map, flags))
		return -EINVAL;
	return htab_update(htab_of(map), key, &w, cpu);
}

static int percpu_hash_update(struct map *map, const void *key, const void *value, uint64_t flags,
			      uint32_t cpu)
{
	struct htab_write w = { .value = value, .flags = flags, .cpu = (int)cpu };

	if (flags > BPF_EXIST)
		return -EINVAL;
	return htab_update(htab_of(map), key, &w, cpu);
}

static int percpu_hash_sys_update(struct map *map, const void *key, const void *value,
				  uint64_t flags)
{
	struct htab_write w = { .value = value, .flags = flags, .cpu = HTAB_ALL_CPUS };

	if (flags > BPF_EXIST)
		return -EINVAL;
	return htab_update(htab_of(map), key, &w, 0);
}

const struct map_ops hash_ops = {
	.type = BPF_MAP_TYPE_HASH,
	.name = "hash",
	.check = htab_check,
	.create = htab_create,
	.destroy = htab_destroy,
	.lookup = hash_lookup,
	.update = hash_update,
	.del = htab_del,
	.sys_lookup = htab_sys_lookup,
	.next_key = htab_next_key,
	.sys_pop = htab_sys_pop,
	.lookup_batch = htab_lookup_batch,
	.batches = HASH_BATCHES,
};

const struct map_ops percpu_hash_ops = {
	.type = BPF_MAP_TYPE_PERCPU_HASH,
	.name = "percpu_hash",
	.check = htab_check,
	.create = htab_create,
	.destroy = htab_destroy,
	.lookup = percpu_hash_lookup,
	.update = percpu_hash_update,
	.del = htab_del,
	.sys_lookup = htab_sys_lookup,
	.sys_update = percpu_hash_sys_update,
	.next_key = htab_next_key,
	.sys_pop = htab_sys_pop,
	.lookup_batch = htab_lookup_batch,
	.batches = HASH_BATCHES,
};
