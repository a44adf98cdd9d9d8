/* SPDX-License-Identifier: BSD-2-Clause */
/* Reference-counted objects and their tables of ids: see obj.h. */
#include "obj.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct obj *tables[OBJ_KINDS]; /* in order of id */
static struct obj *tails[OBJ_KINDS];
static uint32_t last_ids[OBJ_KINDS];
static obj_fd_resolver fd_resolver;

void obj_init(struct obj *obj, enum obj_kind kind, void (*release)(struct obj *obj))
{
	obj->kind = kind;
	obj->release = release;
	obj->next = NULL;
	atomic_init(&obj->refs, 1);
	pthread_mutex_lock(&table_lock);
	obj->id = ++last_ids[kind];
	if (tails[kind])
		tails[kind]->next = obj;
	else
		tables[kind] = obj;
	tails[kind] = obj;
	pthread_mutex_unlock(&table_lock);
}

struct obj *obj_get(struct obj *obj)
{
	atomic_fetch_add_explicit(&obj->refs, 1, memory_order_relaxed);
	return obj;
}

/* Takes obj out of its table, unless a look-up by id has revived it first. */
static bool unlink_dead(struct obj *obj)
{
	struct obj *prev = NULL, *o;

	pthread_mutex_lock(&table_lock);
	if (atomic_fetch_sub_explicit(&obj->refs, 1, memory_order_acq_rel) != 1) {
		pthread_mutex_unlock(&table_lock);
		return false;
	}
	for (o = tables[obj->kind]; o && o != obj; o = o->next)
		prev = o;
	if (o) {
		if (prev)
			prev->next = obj->next;
		else
			tables[obj->kind] = obj->next;
		if (tails[obj->kind] == obj)
			tails[obj->kind] = prev;
	}
	pthread_mutex_unlock(&table_lock);
	return true;
}

void obj_put(struct obj *obj)
{
	unsigned int refs;

	if (!obj)
		return;
	/* The last reference is dropped under the lock, so that obj_by_id never sees a dead object. */
	refs = atomic_load_explicit(&obj->refs, memory_order_relaxed);
	while (refs > 1)
		if (atomic_compare_exchange_weak_explicit(&obj->refs, &refs, refs - 1,
							  memory_order_acq_rel,
							  memory_order_relaxed))
			return;
	if (unlink_dead(obj))
		obj->release(obj);
}

struct obj *obj_by_id(enum obj_kind kind, uint32_t id)
{
	struct obj *o;

	pthread_mutex_lock(&table_lock);
	for (o = tables[kind]; o && o->id != id; o = o->next)
		;
	if (o)
		obj_get(o);
	pthread_mutex_unlock(&table_lock);
	return o;
}

uint32_t obj_next_id(enum obj_kind kind, uint32_t id)
{
	uint32_t next = 0;
	struct obj *o;

	pthread_mutex_lock(&table_lock);
	for (o = tables[kind]; o; o = o->next)
		if (o->id > id) {
			next = o->id;
			break;
		}
	pthread_mutex_unlock(&table_lock);
	return next;
}

int obj_from_fd(int fd, enum obj_kind kind, struct obj **ret)
{
	return fd_resolver ? fd_resolver(fd, kind, ret) : -EBADF;
}

void obj_set_fd_resolver(obj_fd_resolver resolver)
{
	fd_resolver = resolver;
}
