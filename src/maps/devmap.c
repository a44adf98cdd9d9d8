/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devmap and devmap hash: see devmap.h. Each entry has a value in the map's area, which programs may look
 * up, and a struct dev_entry apart, which the engine uses. Array: value i is slot i's. Hash: an entry holds
 * a number of its own; buckets are key & (n - 1), and new entries come first, as in the kernel.
 */
#include "devmap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "maps/map_impl.h"
#include "maps/prog_array.h"
#include "maps/slots.h"

enum {
	SPARE_VALUES =
		1, /* hash: a replacement needs a second value for a moment, under the lock */
};

/* An entry, and what only this file needs of it. */
struct entry {
	struct dev_entry e;
	uint32_t value; /* the number of its value in the area */
};

struct devmap {
	struct map map;
	struct spin lock;
	uint32_t n_links;   /* slots, or buckets: a power of two */
	uint32_t n_entries; /* hash */
	_Atomic(struct dev_entry *) *links;
	struct slots *values; /* hash */
	struct devmap *next_map;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct devmap *all_maps; /* for devmap_forget_ifindex */
static _Atomic(devmap_ifindex_known) ifindex_known;

static struct devmap *devmap_of(const struct map *map)
{
	return (struct devmap *)map;
}

static bool is_hash(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_DEVMAP_HASH;
}

static struct dev_entry *load(_Atomic(struct dev_entry *) *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

/* The links of a chain are plain pointers in the contract's struct. */
static struct dev_entry *load_next(const struct dev_entry *e)
{
	return __atomic_load_n(&e->next, __ATOMIC_ACQUIRE);
}

static int devmap_check(struct map_attr *attr)
{
	uint32_t flags = BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY;

	if (!attr->max_entries || attr->key_size != 4 ||
	    (attr->value_size != 4 && attr->value_size != 8) || (attr->flags & ~flags))
		return -EINVAL;
	if (attr->type == BPF_MAP_TYPE_DEVMAP_HASH && attr->max_entries > 1u << 31)
		return -EINVAL;
	/* The kernel's own addition, which bpf(2) shows: programs only read. */
	attr->flags |= BPF_F_RDONLY_PROG;
	return 0;
}

static int create_values(struct devmap *d, const struct map_attr *attr)
{
	bool hash = attr->type == BPF_MAP_TYPE_DEVMAP_HASH;
	uint32_t n = attr->max_entries + (hash ? SPARE_VALUES : 0);
	int rc;

	if (n < attr->max_entries)
		return -ENOMEM;
	rc = map_values_create(&d->map, attr, n, 1);
	if (!rc && hash)
		rc = slots_create(&d->values, n, 1);
	return rc;
}

static int devmap_create(struct map **ret, const struct map_attr *attr)
{
	struct devmap *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	d->n_links = attr->max_entries;
	if (attr->type == BPF_MAP_TYPE_DEVMAP_HASH && d->n_links > 1)
		d->n_links = 1u << (32 - __builtin_clz(d->n_links - 1));
	d->links = sparse_alloc((size_t)d->n_links * sizeof(*d->links));
	rc = d->links ? create_values(d, attr) : -ENOMEM;
	if (rc) {
		area_destroy(&d->map.area);
		sparse_free((void *)d->links, (size_t)d->n_links * sizeof(*d->links));
		free(d);
		return rc;
	}
	pthread_mutex_lock(&list_lock);
	d->next_map = all_maps;
	all_maps = d;
	pthread_mutex_unlock(&list_lock);
	*ret = &d->map;
	return 0;
}

static void entry_destroy(struct dev_entry *e)
{
	if (e->prog)
		obj_put(&e->prog->obj);
	free(container_of(e, struct entry, e));
}

static void entry_expired(struct qsbr_entry *defer)
{
	entry_destroy(container_of(defer, struct dev_entry, defer));
}

static void entry_retire(struct dev_entry *e)
{
	if (e)
		qsbr_defer(&e->defer, entry_expired);
}

static void devmap_destroy(struct map *map)
{
	struct devmap *d = devmap_of(map), **m;
	struct dev_entry *e, *next;

	pthread_mutex_lock(&list_lock);
	for (m = &all_maps; *m && *m != d; m = &(*m)->next_map)
		;
	if (*m)
		*m = d->next_map;
	pthread_mutex_unlock(&list_lock);
	for (uint32_t i = 0; i < d->n_links; i++)
		for (e = load(&d->links[i]); e; e = next) {
			next = load_next(e);
			entry_destroy(e);
		}
	slots_put_ref(d->values);
	sparse_free((void *)d->links, (size_t)d->n_links * sizeof(*d->links));
	free(d);
}

/* The link of an array's slot, or of a hash's bucket. */
static _Atomic(struct dev_entry *) *link_of(const struct devmap *d, uint32_t key)
{
	return &d->links[is_hash(&d->map) ? key & (d->n_links - 1) : key];
}

struct dev_entry *devmap_lookup(struct map *map, uint32_t key)
{
	const struct devmap *d = devmap_of(map);
	struct dev_entry *e;

	if (!is_hash(map))
		return key < map->max_entries ? load(&d->links[key]) : NULL;
	for (e = load(link_of(d, key)); e && e->index != key; e = load_next(e))
		;
	return e;
}

/* *pos: the link in the upper half, how many entries of its chain are done in the lower. */
struct dev_entry *devmap_walk(struct map *map, uint64_t *pos)
{
	const struct devmap *d = devmap_of(map);
	struct dev_entry *e;

	for (uint32_t i = (uint32_t)(*pos >> 32), done = (uint32_t)*pos; i < d->n_links; i++) {
		e = load(&d->links[i]);
		for (uint32_t k = 0; e && k < done; k++)
			e = load_next(e);
		if (e) {
			*pos = ((uint64_t)i << 32) + done + 1;
			return e;
		}
		done = 0;
	}
	*pos = (uint64_t)d->n_links << 32;
	return NULL;
}

void devmap_set_ifindex_known(devmap_ifindex_known known)
{
	atomic_store(&ifindex_known, known);
}

/* The egress program behind a descriptor; owned. */
static int prog_from_fd(struct map *map, int fd, struct prog_obj **ret)
{
	struct prog_obj *prog;
	struct obj *obj;

	if (obj_from_fd(fd, OBJ_PROG, &obj))
		return -EINVAL;
	prog = container_of(obj, struct prog_obj, obj);
	if (prog->traits.type != BPF_PROG_TYPE_XDP ||
	    prog->traits.expected_attach_type != BPF_XDP_DEVMAP ||
	    !map_owner_compatible(map, &prog->traits)) {
		obj_put(obj);
		return -EINVAL;
	}
	*ret = prog;
	return 0;
}

/* Descriptors of 0 and below are no program. */
static int entry_create(struct map *map, uint32_t key, const struct bpf_devmap_val *val,
			struct dev_entry **ret)
{
	devmap_ifindex_known known = atomic_load(&ifindex_known);
	struct entry *en = calloc(1, sizeof(*en));
	int rc;

	if (!en)
		return -ENOMEM;
	en->e.index = key;
	en->e.map_id = map->obj.id;
	en->e.val.ifindex = val->ifindex;
	if ((known && !known(val->ifindex)) || val->ifindex > INT32_MAX) {
		free(en);
		return -EINVAL;
	}
	if (val->bpf_prog.fd > 0) {
		rc = prog_from_fd(map, val->bpf_prog.fd, &en->e.prog);
		if (rc) {
			free(en);
			return rc;
		}
		en->e.val.bpf_prog.id = en->e.prog->obj.id;
	}
	*ret = &en->e;
	return 0;
}

static void store_value(struct map *map, uint32_t i, const struct dev_entry *e)
{
	struct bpf_devmap_val none = { 0 };

	shared_store(map_value(map, 0, i), e ? &e->val : &none, map->value_size);
}

static void swap_slot(struct devmap *d, uint32_t i, struct dev_entry *e)
{
	struct dev_entry *old;

	spin_lock(&d->lock);
	old = load(&d->links[i]);
	store_value(&d->map, i, e);
	atomic_store_explicit(&d->links[i], e, memory_order_release);
	spin_unlock(&d->lock);
	entry_retire(old);
}

static struct bpf_devmap_val read_val(const struct map *map, const void *value)
{
	struct bpf_devmap_val val = { 0 };

	memcpy(&val, value, map->value_size);
	return val;
}

static int devmap_sys_update(struct map *map, const void *key, const void *value, uint64_t flags)
{
	struct bpf_devmap_val val = read_val(map, value);
	struct dev_entry *e = NULL;
	uint32_t i = key_u32(key);
	int rc;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (i >= map->max_entries)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	if (!val.ifindex && val.bpf_prog.fd > 0)
		return -EINVAL;
	if (val.ifindex) {
		rc = entry_create(map, i, &val, &e);
		if (rc)
			return rc;
	}
	swap_slot(devmap_of(map), i, e);
	return 0;
}

static int devmap_sys_del(struct map *map, const void *key)
{
	uint32_t i = key_u32(key);

	if (i >= map->max_entries)
		return -EINVAL;
	swap_slot(devmap_of(map), i, NULL);
	return 0;
}

/* Hash */

/* Takes the entry of that key out of its bucket, with its value; NULL when there is none. */
static struct dev_entry *unlink_locked(struct devmap *d, uint32_t key)
{
	_Atomic(struct dev_entry *) *link = link_of(d, key);
	struct dev_entry *e = load(link), *prev = NULL;

	for (; e && e->index != key; e = load_next(e))
		prev = e;
	if (!e)
		return NULL;
	if (prev)
		__atomic_store_n(&prev->next, load_next(e), __ATOMIC_RELEASE);
	else
		atomic_store_explicit(link, load_next(e), memory_order_release);
	slots_give(d->values, container_of(e, struct entry, e)->value);
	d->n_entries--;
	return e;
}

/* Puts e first in its bucket, then takes the old entry of its key out. */
static int link_locked(struct devmap *d, struct dev_entry *e, uint64_t flags,
		       struct dev_entry **old)
{
	struct entry *en = container_of(e, struct entry, e);
	_Atomic(struct dev_entry *) *link = link_of(d, e->index);
	struct dev_entry *was = devmap_lookup(&d->map, e->index), *prev;

	if (was && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!was && d->n_entries >= d->map.max_entries)
		return -E2BIG;
	en->value = slots_take(d->values, 0, false);
	if (en->value == SLOT_NONE)
		return -ENOMEM;
	store_value(&d->map, en->value, e);
	e->next = load(link);
	atomic_store_explicit(link, e, memory_order_release);
	d->n_entries++;
	if (!was)
		return 0;
	for (prev = e; load_next(prev) != was; prev = load_next(prev))
		;
	__atomic_store_n(&prev->next, load_next(was), __ATOMIC_RELEASE);
	slots_give(d->values, container_of(was, struct entry, e)->value);
	d->n_entries--;
	*old = was;
	return 0;
}

static int devmap_hash_sys_update(struct map *map, const void *key, const void *value,
				  uint64_t flags)
{
	struct bpf_devmap_val val = read_val(map, value);
	struct devmap *d = devmap_of(map);
	struct dev_entry *e, *old = NULL;
	bool there;
	int rc;

	if (flags > BPF_EXIST || !val.ifindex)
		return -EINVAL;
	/* Before the entry is made, as in the kernel, and again under the lock. */
	spin_lock(&d->lock);
	there = devmap_lookup(map, key_u32(key));
	spin_unlock(&d->lock);
	if (there && flags == BPF_NOEXIST)
		return -EEXIST;
	rc = entry_create(map, key_u32(key), &val, &e);
	if (rc)
		return rc;
	spin_lock(&d->lock);
	rc = link_locked(d, e, flags, &old);
	spin_unlock(&d->lock);
	if (rc)
		entry_destroy(e);
	entry_retire(old);
	return rc;
}

static int devmap_hash_sys_del(struct map *map, const void *key)
{
	struct devmap *d = devmap_of(map);
	struct dev_entry *e;

	spin_lock(&d->lock);
	e = unlink_locked(d, key_u32(key));
	spin_unlock(&d->lock);
	entry_retire(e);
	return e ? 0 : -ENOENT;
}

static int devmap_hash_next_key(struct map *map, const void *key, void *next)
{
	struct devmap *d = devmap_of(map);
	struct dev_entry *e = NULL;
	uint32_t i = 0;

	spin_lock(&d->lock);
	if (key)
		e = devmap_lookup(map, key_u32(key));
	if (e) {
		i = (e->index & (d->n_links - 1)) + 1;
		e = load_next(e);
	}
	for (; !e && i < d->n_links; i++)
		e = load(&d->links[i]);
	if (e)
		memcpy(next, &e->index, sizeof(e->index));
	spin_unlock(&d->lock);
	return e ? 0 : -ENOENT;
}

/* Both */

static void *devmap_value(struct map *map, const void *key, uint32_t cpu)
{
	struct dev_entry *e = devmap_lookup(map, key_u32(key));

	if (!e)
		return NULL;
	return map_value(map, 0, is_hash(map) ? container_of(e, struct entry, e)->value : e->index);
}

static int devmap_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	struct devmap *d = devmap_of(map);
	struct dev_entry *e;

	spin_lock(&d->lock);
	e = devmap_lookup(map, key_u32(key));
	if (e)
		memcpy(value, &e->val, map->value_size);
	spin_unlock(&d->lock);
	return e ? 0 : -ENOENT;
}

/* Takes out one entry of that interface; NULL when there is none. */
static struct dev_entry *forget_one(struct devmap *d, uint32_t ifindex)
{
	struct dev_entry *e;
	uint64_t pos = 0;

	spin_lock(&d->lock);
	while ((e = devmap_walk(&d->map, &pos)) && e->val.ifindex != ifindex)
		;
	if (e && is_hash(&d->map)) {
		unlink_locked(d, e->index);
	} else if (e) {
		store_value(&d->map, e->index, NULL);
		atomic_store_explicit(&d->links[e->index], NULL, memory_order_release);
	}
	spin_unlock(&d->lock);
	return e;
}

void devmap_forget_ifindex(uint32_t ifindex)
{
	struct qsbr_entry *gone = NULL, *next;
	struct dev_entry *e;

	pthread_mutex_lock(&list_lock);
	for (struct devmap *d = all_maps; d; d = d->next_map)
		while ((e = forget_one(d, ifindex))) {
			e->defer.next = gone;
			gone = &e->defer;
		}
	pthread_mutex_unlock(&list_lock);
	/* Without the lock: a program that goes may take the last reference of a devmap with it. */
	for (; gone; gone = next) {
		next = gone->next;
		entry_retire(container_of(gone, struct dev_entry, defer));
	}
}

const struct map_ops devmap_ops = {
	.type = BPF_MAP_TYPE_DEVMAP,
	.name = "devmap",
	.check = devmap_check,
	.create = devmap_create,
	.destroy = devmap_destroy,
	.lookup = devmap_value,
	.sys_lookup = devmap_sys_lookup,
	.sys_update = devmap_sys_update,
	.sys_del = devmap_sys_del,
	.next_key = map_array_next_key,
};

const struct map_ops devmap_hash_ops = {
	.type = BPF_MAP_TYPE_DEVMAP_HASH,
	.name = "devmap_hash",
	.check = devmap_check,
	.create = devmap_create,
	.destroy = devmap_destroy,
	.lookup = devmap_value,
	.sys_lookup = devmap_sys_lookup,
	.sys_update = devmap_hash_sys_update,
	.sys_del = devmap_hash_sys_del,
	.next_key = devmap_hash_next_key,
};
