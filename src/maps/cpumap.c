/* SPDX-License-Identifier: BSD-2-Clause */
/* Cpumap and xskmap: see cpumap.h. */
#include "cpumap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "maps/fd_array.h"
#include "maps/prog_array.h"

enum {
	CPUMAP_QUEUE_MAX = 16384, /* frames of an entry's queue: the kernel's limit */
	CPUMAP_CPUS_MAX = 8192,	  /* entries: the kernel's largest NR_CPUS */
};

struct cpumap {
	struct map map;
	struct spin lock;
	uint32_t n;
	_Atomic(struct cpu_entry *) *slots;
};

static struct cpumap *cpumap_of(const struct map *map)
{
	return (struct cpumap *)map;
}

static int cpumap_check(struct map_attr *attr)
{
	if (!attr->max_entries || attr->key_size != 4 ||
	    (attr->value_size != 4 && attr->value_size != 8) ||
	    (attr->flags & ~(uint32_t)BPF_F_NUMA_NODE))
		return -EINVAL;
	return attr->max_entries > CPUMAP_CPUS_MAX ? -E2BIG : 0;
}

static int cpumap_create(struct map **ret, const struct map_attr *attr)
{
	struct cpumap *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->n = attr->max_entries;
	c->slots = calloc(c->n, sizeof(*c->slots));
	if (!c->slots)
		goto err_free;
	rc = map_values_create(&c->map, attr, attr->max_entries, 1);
	if (rc)
		goto err_slots;
	c->map.area.read_only = true;
	*ret = &c->map;
	return 0;
err_slots:
	free((void *)c->slots);
err_free:
	free(c);
	return rc;
}

static void entry_destroy(struct cpu_entry *e)
{
	if (e->prog)
		obj_put(&e->prog->obj);
	free(e);
}

static void entry_expired(struct qsbr_entry *defer)
{
	entry_destroy(container_of(defer, struct cpu_entry, defer));
}

static void cpumap_destroy(struct map *map)
{
	struct cpumap *c = cpumap_of(map);
	struct cpu_entry *e;

	for (uint32_t i = 0; i < c->n; i++) {
		e = atomic_load(&c->slots[i]);
		if (e)
			entry_destroy(e);
	}
	free((void *)c->slots);
	free(c);
}

struct cpu_entry *cpumap_lookup(struct map *map, uint32_t key)
{
	const struct cpumap *c = cpumap_of(map);

	return key < c->n ? atomic_load_explicit(&c->slots[key], memory_order_acquire) : NULL;
}

static int load_prog(struct map *map, int fd, struct cpu_entry *e)
{
	struct prog_obj *prog;
	struct obj *obj;
	int rc = obj_from_fd(fd, OBJ_PROG, &obj);

	if (rc)
		return rc;
	prog = container_of(obj, struct prog_obj, obj);
	if (prog->traits.type != BPF_PROG_TYPE_XDP ||
	    prog->traits.expected_attach_type != BPF_XDP_CPUMAP ||
	    !map_owner_compatible(map, &prog->traits)) {
		obj_put(obj);
		return -EINVAL;
	}
	e->prog = prog;
	e->val.bpf_prog.id = obj->id;
	return 0;
}

/* The kernel answers -ENOMEM whatever the reason. */
static int entry_create(struct map *map, uint32_t key, const struct bpf_cpumap_val *val,
			struct cpu_entry **ret)
{
	struct cpu_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->val.qsize = val->qsize;
	e->cpu = key;
	e->map_id = map->obj.id;
	if (val->bpf_prog.fd > 0 && load_prog(map, val->bpf_prog.fd, e)) {
		free(e);
		return -ENOMEM;
	}
	*ret = e;
	return 0;
}

static void swap_slot(struct cpumap *c, uint32_t i, struct cpu_entry *e)
{
	struct bpf_cpumap_val none = { 0 };
	struct cpu_entry *old;

	spin_lock(&c->lock);
	old = atomic_load(&c->slots[i]);
	shared_store(map_value(&c->map, 0, i), e ? &e->val : &none, c->map.value_size);
	atomic_store_explicit(&c->slots[i], e, memory_order_release);
	spin_unlock(&c->lock);
	if (old)
		qsbr_defer(&old->defer, entry_expired);
}

static int cpumap_sys_update(struct map *map, const void *key, const void *value, uint64_t flags)
{
	struct bpf_cpumap_val val = { 0 };
	struct cpu_entry *e = NULL;
	uint32_t i = key_u32(key);
	int rc;

	memcpy(&val, value, map->value_size);
	if (flags > BPF_EXIST)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	if (val.qsize > CPUMAP_QUEUE_MAX)
		return -EOVERFLOW;
	if (i >= cpu_count())
		return -ENODEV;
	if (val.qsize) {
		rc = entry_create(map, i, &val, &e);
		if (rc)
			return rc;
	}
	swap_slot(cpumap_of(map), i, e);
	return 0;
}

static int cpumap_sys_del(struct map *map, const void *key)
{
	uint32_t i = key_u32(key);

	if (i >= map->max_entries)
		return -EINVAL;
	swap_slot(cpumap_of(map), i, NULL);
	return 0;
}

static void *cpumap_value(struct map *map, const void *key, uint32_t cpu)
{
	uint32_t i = key_u32(key);

	return cpumap_lookup(map, i) ? map_value(map, 0, i) : NULL;
}

static int cpumap_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	struct cpumap *c = cpumap_of(map);
	struct cpu_entry *e;

	spin_lock(&c->lock);
	e = cpumap_lookup(map, key_u32(key));
	if (e)
		memcpy(value, &e->val, map->value_size);
	spin_unlock(&c->lock);
	return e ? 0 : -ENOENT;
}

const struct map_ops cpumap_ops = {
	.type = BPF_MAP_TYPE_CPUMAP,
	.name = "cpumap",
	.check = cpumap_check,
	.create = cpumap_create,
	.destroy = cpumap_destroy,
	.lookup = cpumap_value,
	.sys_lookup = cpumap_sys_lookup,
	.sys_update = cpumap_sys_update,
	.sys_del = cpumap_sys_del,
	.next_key = map_array_next_key,
};
