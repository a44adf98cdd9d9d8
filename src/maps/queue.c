/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue and stack (kernel/bpf/queue_stack_maps.c): values in a circle, one lock. */
#include <errno.h>
#include <stdlib.h>

#include "maps/map_impl.h"

struct queue {
	struct map map;
	struct spin lock;
	uint32_t first, n; /* the oldest, how many */
};

static struct queue *queue_of(struct map *map)
{
	return (struct queue *)map;
}

static int queue_check(struct map_attr *attr)
{
	if (!attr->max_entries || attr->key_size || !attr->value_size ||
	    (attr->flags & ~(uint32_t)(BPF_F_NUMA_NODE | MAP_ACCESS_FLAGS)) ||
	    !map_access_ok(attr->flags))
		return -EINVAL;
	return attr->value_size > MAP_VALUE_SIZE_MAX ? -E2BIG : 0;
}

static int queue_create(struct map **ret, const struct map_attr *attr)
{
	struct queue *q = calloc(1, sizeof(*q));
	int rc;

	if (!q)
		return -ENOMEM;
	rc = map_values_create(&q->map, attr, attr->max_entries, 1);
	if (rc) {
		free(q);
		return rc;
	}
	*ret = &q->map;
	return 0;
}

static void queue_destroy(struct map *map)
{
	free(queue_of(map));
}

/* The value k places behind the oldest. */
static uint8_t *place(struct queue *q, uint32_t k)
{
	return map_value(&q->map, 0, (uint32_t)(((uint64_t)q->first + k) % q->map.max_entries));
}

static int queue_push(struct map *map, const void *value, uint64_t flags)
{
	struct queue *q = queue_of(map);
	int rc = 0;

	/* BPF_EXIST makes room by dropping the oldest. */
	if ((flags & BPF_NOEXIST) || flags > BPF_EXIST)
		return -EINVAL;
	spin_lock(&q->lock);
	if (q->n == map->max_entries && flags == BPF_EXIST) {
		q->first = q->first + 1 < map->max_entries ? q->first + 1 : 0;
		q->n--;
	}
	if (q->n < map->max_entries)
		shared_store(place(q, q->n++), value, map->value_size);
	else
		rc = -E2BIG;
	spin_unlock(&q->lock);
	return rc;
}

static int take(struct map *map, void *value, bool oldest, bool remove)
{
	struct queue *q = queue_of(map);
	int rc = 0;

	spin_lock(&q->lock);
	if (!q->n) {
		memset(value, 0, map->value_size);
		rc = -ENOENT;
		goto out;
	}
	shared_load(value, place(q, oldest ? 0 : q->n - 1), map->value_size);
	if (remove) {
		if (oldest)
			q->first = q->first + 1 < map->max_entries ? q->first + 1 : 0;
		q->n--;
	}
out:
	spin_unlock(&q->lock);
	return rc;
}

static int queue_pop(struct map *map, void *value)
{
	return take(map, value, true, true);
}

static int queue_peek(struct map *map, void *value)
{
	return take(map, value, true, false);
}

static int stack_pop(struct map *map, void *value)
{
	return take(map, value, false, true);
}

static int stack_peek(struct map *map, void *value)
{
	return take(map, value, false, false);
}

static int queue_next_key(struct map *map, const void *key, void *next)
{
	return -EINVAL;
}

const struct map_ops queue_ops = {
	.type = BPF_MAP_TYPE_QUEUE,
	.name = "queue",
	.check = queue_check,
	.create = queue_create,
	.destroy = queue_destroy,
	.push = queue_push,
	.pop = queue_pop,
	.peek = queue_peek,
	.sys_del = map_no_key_op,
	.next_key = queue_next_key,
};

const struct map_ops stack_ops = {
	.type = BPF_MAP_TYPE_STACK,
	.name = "stack",
	.check = queue_check,
	.create = queue_create,
	.destroy = queue_destroy,
	.push = queue_push,
	.pop = stack_pop,
	.peek = stack_peek,
	.sys_del = map_no_key_op,
	.next_key = queue_next_key,
};
