/* SPDX-License-Identifier: BSD-2-Clause */
/* Quiescent-state-based reclamation: see qsbr.h. */
#include "qsbr.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

_Atomic uint64_t qsbr_epoch = 1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* readers and pending */
static struct qsbr_reader *readers;
static struct qsbr_entry *pending, **pending_tail = &pending; /* oldest first */

void qsbr_register(struct qsbr_reader *reader)
{
	pthread_mutex_lock(&lock);
	atomic_init(&reader->seen, 0);
	reader->next = readers;
	readers = reader;
	pthread_mutex_unlock(&lock);
	qsbr_online(reader);
}

void qsbr_unregister(struct qsbr_reader *reader)
{
	struct qsbr_reader **r;

	pthread_mutex_lock(&lock);
	for (r = &readers; *r && *r != reader; r = &(*r)->next)
		;
	if (*r)
		*r = reader->next;
	pthread_mutex_unlock(&lock);
}

void qsbr_online(struct qsbr_reader *reader)
{
	/* seq_cst: the store is visible before this thread's next read of a shared table. */
	atomic_store(&reader->seen, atomic_load(&qsbr_epoch));
	atomic_thread_fence(memory_order_seq_cst);
}

/* The oldest epoch that an online reader may still be in. Called with the lock held. */
static uint64_t oldest_seen(void)
{
	uint64_t oldest = UINT64_MAX, seen;

	for (struct qsbr_reader *r = readers; r; r = r->next) {
		seen = atomic_load(&r->seen);
		if (seen && seen < oldest)
			oldest = seen;
	}
	return oldest;
}

/* Takes the entries that are due off the list. Called with the lock held. */
static struct qsbr_entry *take_due(void)
{
	struct qsbr_entry *due = pending, **e = &pending;
	uint64_t oldest = oldest_seen();

	while (*e && (*e)->epoch <= oldest)
		e = &(*e)->next;
	if (e == &pending)
		return NULL;
	pending = *e;
	*e = NULL;
	if (!pending)
		pending_tail = &pending;
	return due;
}

void qsbr_reclaim(void)
{
	struct qsbr_entry *due, *next;

	pthread_mutex_lock(&lock);
	due = take_due();
	pthread_mutex_unlock(&lock);
	for (; due; due = next) {
		next = due->next;
		due->fn(due);
	}
}

void qsbr_defer(struct qsbr_entry *entry, void (*fn)(struct qsbr_entry *entry))
{
	entry->fn = fn;
	entry->next = NULL;
	pthread_mutex_lock(&lock);
	/* A reader that has seen this new epoch began its burst after the entry left its table. */
	entry->epoch = atomic_fetch_add(&qsbr_epoch, 1) + 1;
	*pending_tail = entry;
	pending_tail = &entry->next;
	pthread_mutex_unlock(&lock);
	qsbr_reclaim();
}

void qsbr_synchronize(void)
{
	struct timespec pause = { .tv_nsec = 50000 };
	uint64_t target = atomic_fetch_add(&qsbr_epoch, 1) + 1, oldest;

	for (;;) {
		pthread_mutex_lock(&lock);
		oldest = oldest_seen();
		pthread_mutex_unlock(&lock);
		if (oldest >= target)
			break;
		nanosleep(&pause, NULL);
	}
	qsbr_reclaim();
}
