/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quiescent-state-based reclamation. A worker says once a burst that it holds no pointer into shared
 * tables (qsbr_quiescent), and goes offline while it sleeps. What was taken out of a table is freed when
 * every worker that was online then has said so (design 8).
 *
 * Threads: a reader belongs to one thread. qsbr_defer, qsbr_synchronize and qsbr_reclaim from any thread,
 * but never from a release function that they run.
 */
#ifndef WEIR_BASE_QSBR_H
#define WEIR_BASE_QSBR_H

#include <stdatomic.h>
#include <stdint.h>

struct qsbr_reader {
	_Atomic uint64_t seen; /* the epoch that this reader has seen; 0 while offline */
	struct qsbr_reader *next;
};

/* What waits to be freed. Embedded in the thing itself, so that deferring allocates nothing. */
struct qsbr_entry {
	void (*fn)(struct qsbr_entry *entry);
	uint64_t epoch;
	struct qsbr_entry *next;
};

extern _Atomic uint64_t qsbr_epoch;

/* Life cycle of a reader: it starts online. The memory belongs to the caller. */
void qsbr_register(struct qsbr_reader *reader);
void qsbr_unregister(struct qsbr_reader *reader);

/* Data path: one load and one store. The fence orders this burst's reads before the store. */
static inline void qsbr_quiescent(struct qsbr_reader *reader)
{
	uint64_t now = atomic_load_explicit(&qsbr_epoch, memory_order_acquire);

	if (atomic_load_explicit(&reader->seen, memory_order_relaxed) != now)
		atomic_store_explicit(&reader->seen, now, memory_order_seq_cst);
}

static inline void qsbr_offline(struct qsbr_reader *reader)
{
	atomic_store_explicit(&reader->seen, 0, memory_order_release);
}

void qsbr_online(struct qsbr_reader *reader);

/* Control path */

/* Calls fn(entry) once all readers that are online now have been quiescent: at the earliest in this call. */
void qsbr_defer(struct qsbr_entry *entry, void (*fn)(struct qsbr_entry *entry));
/* Waits until all readers that are online now have been quiescent, then runs what is due. The caller must
 * not be an online reader. */
void qsbr_synchronize(void);
/* Runs what is due, without waiting. */
void qsbr_reclaim(void);

#endif
