/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of frames: see pool.h. The chunks lie in one mapping between PROT_NONE pages, the descriptors in
 * another; the shared stack holds what is in no cache.
 */
#include "pkt/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"

enum {
	HUGE_SIZE = 2 * 1024 * 1024,
	/* Frames of a pool: an index is 32 bits, and 4 Mi chunks are 16 GiB, more than any host gives. */
	POOL_FRAMES_MAX = 4 * 1024 * 1024,
};

struct pool {
	uint8_t *map; /* the whole reservation, guards included */
	size_t map_size;
	uint8_t *mem;
	size_t mem_size;
	struct frame *frames;
	size_t frames_size;
	uint32_t n_frames;
	uint16_t id;
	bool huge;
	pthread_mutex_t lock; /* guards all below */
	struct frame **stack;
	uint32_t n_stack;
	struct pool_cache **caches; /* those between init and fini, for pool_in_use */
	uint32_t n_caches, cap_caches;
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Reserves size bytes with at least HUGE_SIZE of PROT_NONE on both sides, and opens the middle. */
static int memory_map(struct pool *pool)
{
	size_t size = round_up((size_t)pool->n_frames * POOL_STRIDE, HUGE_SIZE);
	void *mem;

	pool->map_size = size + 3 * (size_t)HUGE_SIZE;
	pool->map = mmap(NULL, pool->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool->map == MAP_FAILED) {
		pool->map = NULL;
		return -ENOMEM;
	}
	pool->mem = (uint8_t *)round_up((uintptr_t)pool->map + HUGE_SIZE, HUGE_SIZE);
	pool->mem_size = size;
	mem = mmap(pool->mem, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB, -1, 0);
	pool->huge = mem != MAP_FAILED;
	if (pool->huge)
		return 0;
	mem = mmap(pool->mem, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	madvise(mem, size, MADV_HUGEPAGE); /* a wish; the kernel may not have them */
	return 0;
}

static int frames_map(struct pool *pool)
{
	void *mem;

	pool->frames_size = (size_t)pool->n_frames * sizeof(struct frame);
	mem = mmap(NULL, pool->frames_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	pool->frames = mem;
	for (uint32_t i = 0; i < pool->n_frames; i++) {
		struct frame *f = &pool->frames[i];

		f->hard_start = pool->mem + (size_t)i * POOL_STRIDE;
		f->index = i;
		f->pool_id = pool->id;
		frame_reset(f);
	}
	return 0;
}

static void pool_release(struct pool *pool)
{
	if (pool->frames)
		munmap(pool->frames, pool->frames_size);
	if (pool->map)
		munmap(pool->map, pool->map_size);
	pthread_mutex_destroy(&pool->lock);
	free(pool->caches);
	free(pool->stack);
	free(pool);
}

int pool_create(struct pool **ret, uint32_t n_frames, struct err *err)
{
	static _Atomic uint16_t last_id;
	struct pool *pool;

	if (!n_frames || n_frames > POOL_FRAMES_MAX)
		return err_set(err, EINVAL, "pool of %u frames: ask for 1 to %u", n_frames,
			       POOL_FRAMES_MAX);
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return err_set(err, ENOMEM, "pool: out of memory");
	pthread_mutex_init(&pool->lock, NULL);
	pool->n_frames = n_frames;
	pool->id = (uint16_t)(atomic_fetch_add(&last_id, 1) + 1);
	pool->stack = calloc(n_frames, sizeof(*pool->stack));
	if (!pool->stack || memory_map(pool) || frames_map(pool)) {
		pool_release(pool);
		return err_set(err, ENOMEM,
			       "pool of %u frames: no memory for %zu MiB; ask for fewer", n_frames,
			       (size_t)n_frames * POOL_STRIDE >> 20);
	}
	/* Bulks are taken from the top, and keep their order: the first one has the lowest addresses. */
	for (uint32_t i = 0; i < n_frames; i++)
		pool->stack[i] = &pool->frames[i];
	pool->n_stack = n_frames;
	*ret = pool;
	return 0;
}

uint32_t pool_destroy(struct pool *pool)
{
	uint32_t missing;

	if (!pool)
		return 0;
	missing = pool->n_frames - pool->n_stack;
	pool_release(pool);
	return missing;
}

uint8_t *pool_memory(const struct pool *pool, size_t *ret_size_bytes)
{
	*ret_size_bytes = pool->mem_size;
	return pool->mem;
}

struct frame *pool_frame(const struct pool *pool, uint32_t index)
{
	return &pool->frames[index];
}

uint32_t pool_size(const struct pool *pool)
{
	return pool->n_frames;
}

int pool_is_huge(const struct pool *pool)
{
	return pool->huge;
}

uint32_t pool_in_use(const struct pool *pool)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&pool->lock;
	uint32_t idle;

	pthread_mutex_lock(lock);
	idle = pool->n_stack;
	for (uint32_t i = 0; i < pool->n_caches; i++)
		idle += __atomic_load_n(&pool->caches[i]->n, __ATOMIC_RELAXED);
	pthread_mutex_unlock(lock);
	/* A cache moves frames while it is read: never answer with a number below zero. */
	return idle < pool->n_frames ? pool->n_frames - idle : 0;
}

/* The cache has one writer; pool_in_use reads it from another thread. */
static inline void cache_set_n(struct pool_cache *cache, uint32_t n)
{
	__atomic_store_n(&cache->n, n, __ATOMIC_RELAXED);
}

void pool_cache_init(struct pool_cache *cache, struct pool *pool)
{
	cache->pool = pool;
	cache->n = 0;
	pthread_mutex_lock(&pool->lock);
	if (pool->n_caches == pool->cap_caches) {
		uint32_t cap = pool->cap_caches ? 2 * pool->cap_caches : 8;
		struct pool_cache **caches = realloc(pool->caches, cap * sizeof(*caches));

		if (!caches) { /* not listed: its frames show as in use, which is all that is lost */
			pthread_mutex_unlock(&pool->lock);
			return;
		}
		pool->caches = caches;
		pool->cap_caches = cap;
	}
	pool->caches[pool->n_caches++] = cache;
	pthread_mutex_unlock(&pool->lock);
}

/* Moves n frames from the top of the cache to the shared stack. */
static void stack_push_locked(struct pool *pool, struct pool_cache *cache, uint32_t n)
{
	assert(pool->n_stack + n <= pool->n_frames);
	memcpy(pool->stack + pool->n_stack, cache->frames + cache->n - n,
	       n * sizeof(struct frame *));
	pool->n_stack += n;
	cache_set_n(cache, cache->n - n);
}

void pool_cache_fini(struct pool_cache *cache)
{
	struct pool *pool = cache->pool;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	stack_push_locked(pool, cache, cache->n);
	for (uint32_t i = 0; i < pool->n_caches; i++) {
		if (pool->caches[i] != cache)
			continue;
		pool->caches[i] = pool->caches[--pool->n_caches];
		break;
	}
	pthread_mutex_unlock(&pool->lock);
	cache->pool = NULL;
}

static __attribute__((noinline)) void cache_refill(struct pool_cache *cache)
{
	struct pool *pool = cache->pool;
	uint32_t n;

	pthread_mutex_lock(&pool->lock);
	n = pool->n_stack < POOL_CACHE_BULK ? pool->n_stack : POOL_CACHE_BULK;
	pool->n_stack -= n;
	memcpy(cache->frames + cache->n, pool->stack + pool->n_stack, n * sizeof(struct frame *));
	pthread_mutex_unlock(&pool->lock);
	cache_set_n(cache, cache->n + n);
}

static __attribute__((noinline)) void cache_spill(struct pool_cache *cache)
{
	pthread_mutex_lock(&cache->pool->lock);
	stack_push_locked(cache->pool, cache, POOL_CACHE_BULK);
	pthread_mutex_unlock(&cache->pool->lock);
}

uint32_t pool_alloc(struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	assert(n <= BURST_MAX);
	if (cache->n < n)
		cache_refill(cache);
	if (n > cache->n)
		n = cache->n;
	cache_set_n(cache, cache->n - n);
	memcpy(frames, cache->frames + cache->n, n * sizeof(*frames));
	for (uint32_t i = 0; i < n; i++)
		frame_reset(frames[i]);
	return n;
}

void pool_free(struct pool_cache *cache, struct frame *const *frames, uint32_t n)
{
	assert(n <= BURST_MAX);
	if (cache->n + n > POOL_CACHE_CAP)
		cache_spill(cache);
	memcpy(cache->frames + cache->n, frames, n * sizeof(*frames));
	cache_set_n(cache, cache->n + n);
}
