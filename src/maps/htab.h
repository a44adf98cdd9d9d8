/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table behind all hash types (hash.c, lru.c, map_in_map.c): buckets of chained elements, look-ups
 * without a lock. Elements are preallocated and recycled at once, as in the kernel (kernel/bpf/hashtab.c),
 * so a reader may find itself moved into another bucket's chain: the end of a chain names its bucket, and a
 * reader that reaches another bucket's end starts again (the kernel's hlist_nulls).
 *
 * An element's value is value `i` of the map's area, i the element's number. Numbers, keys and links lie
 * apart from values, where no program can write.
 *
 * Threads: htab_find from any; writers lock a bucket. The order of locks is LRU partition, bucket, shard.
 */
#ifndef WEIR_MAPS_HTAB_H
#define WEIR_MAPS_HTAB_H

#include "maps/map_impl.h"
#include "maps/slots.h"

enum {
	HTAB_SPARES =
		2, /* elements a shard has in stock for replacements: no replacement fails when full */
	HTAB_ALL_CPUS = -1,
};

struct elem {
	_Atomic uint32_t next; /* number + 1 of an element, or the end mark of a bucket */
	_Atomic uint32_t hash;
	uint64_t key[]; /* padded with zeroes to 8 bytes */
};

struct bucket {
	_Atomic uint32_t head; /* as elem.next; 0: empty, never used */
	struct spin lock;
};

/* Elements in stock: a replacement takes one and leaves the old element. */
struct spare {
	_Alignas(64) struct spin lock;
	uint32_t n;
	uint32_t elems[HTAB_SPARES];
};

/* One CLOCK hand: its elements are those of the shard of the same number. */
struct clock_hand {
	_Alignas(64) struct spin lock;
	uint32_t at;
};

struct htab {
	struct map map;
	uint32_t n_buckets, elem_size, n_elems, n_shards;
	uint64_t seed;
	struct bucket *buckets;
	uint8_t *elems;
	struct slots *slots;
	struct spare *spares;	  /* NULL for LRU */
	_Atomic uint8_t *used;	  /* LRU: looked up since the hand passed */
	struct clock_hand *hands; /* LRU: one a shard */
	struct obj_slot *objs;	  /* hash of maps: what the elements hold, in place of values */
};

/* What to write into an element. */
struct htab_write {
	const void *value;
	int cpu; /* of a per-CPU map; HTAB_ALL_CPUS: value has them all */
	uint64_t flags;
	struct obj_ref *ref; /* hash of maps: the reference; the replaced one afterwards */
};

/* Life cycle: checks and creates as the kernel for every hash type. n_shards: 0 chooses. */
int htab_check(struct map_attr *attr);
int htab_create(struct map **ret, const struct map_attr *attr);
void htab_destroy(struct map *map);

static inline struct htab *htab_of(const struct map *map)
{
	return (struct htab *)map;
}

static inline struct elem *htab_elem(const struct htab *h, uint32_t i)
{
	return (struct elem *)(void *)(h->elems + (uint64_t)i * h->elem_size);
}

uint32_t htab_hash(const struct htab *h, const void *key);
/* The number of the element with that key, or SLOT_NONE; without a lock. */
uint32_t htab_find(const struct htab *h, uint32_t hash, const void *key);

/* Under the bucket's lock */
struct bucket *htab_lock(struct htab *h, uint32_t hash);
uint32_t htab_find_locked(const struct htab *h, uint32_t hash, const void *key);
/* Sets key and value of an element that is in no chain, and links it. */
void htab_insert(struct htab *h, uint32_t i, uint32_t hash, const void *key, struct htab_write *w);
/* Takes element i out of the chain of its hash; false when it is not there. */
bool htab_unlink(struct htab *h, struct bucket *bucket, uint32_t i);
/* Writes a value in place; fresh: nothing of the old value may stay. */
void htab_write_value(struct htab *h, uint32_t i, struct htab_write *w, bool fresh);
/* 0, or what NOEXIST and EXIST say of an element that is there or not. */
int htab_check_exist(bool there, uint64_t flags);

/* bpf(2)'s face, for all types */
int htab_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags);
int htab_sys_pop(struct map *map, const void *key, void *value, uint64_t flags);
int htab_del(struct map *map, const void *key);
int htab_next_key(struct map *map, const void *key, void *next);
int htab_lookup_batch(struct map *map, const void *in, void *out, void *keys, void *values,
		      uint32_t *count, uint64_t elem_flags, bool del);

/* Insert or replace; hash of maps replaces in place. */
int htab_update(struct htab *h, const void *key, struct htab_write *w, uint32_t shard);

#endif
