/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of frames: an array of chunks and a dense array of descriptors, with a per-worker cache in front
 * of a shared stack. Chunk i starts at i * 4160 (65 cache lines), so that frames walk through all sets of
 * the L1 cache. The same memory is the UMEM of all AF_XDP ports (unaligned-chunk mode, design 4), so that a
 * frame moves between them without a copy.
 *
 * Threads: a pool_cache belongs to one worker; the shared part has a lock, taken once for POOL_CACHE_BULK
 * frames and never for one. Create and destroy on the control path.
 * Ownership: the pool owns its memory; frames are lent. pool_destroy wants all of them back, and returns
 * how many are missing.
 */
#ifndef WEIR_PKT_POOL_H
#define WEIR_PKT_POOL_H

#include "pkt/frame.h"

struct err;
struct pool;

enum {
	POOL_STRIDE = 4160,    /* 65 cache lines */
	POOL_CACHE_BULK = 256, /* frames moved between a cache and the shared stack at a time */
	POOL_CACHE_CAP = 3 * POOL_CACHE_BULK,
};

struct pool_cache {
	struct pool *pool;
	uint32_t n;
	struct frame *frames[POOL_CACHE_CAP]; /* a stack: the last freed is the warmest */
};

/* Makes a pool of n_frames chunks. Huge pages are used when the host has them; when not, that is no error
 * (pool_is_huge tells). -ENOMEM, -EINVAL for 0 frames. */
int pool_create(struct pool **ret, uint32_t n_frames, struct err *err);
/* Returns the number of frames that were never given back (0 is right); frees everything. NULL: 0. */
uint32_t pool_destroy(struct pool *pool);

/* The chunks' memory, for an AF_XDP UMEM: its start, its size in bytes, and a frame by the chunk's index. */
uint8_t *pool_memory(const struct pool *pool, size_t *ret_size_bytes);
struct frame *pool_frame(const struct pool *pool, uint32_t index);
uint32_t pool_size(const struct pool *pool);
int pool_is_huge(const struct pool *pool);
/* Frames that are neither in the shared stack nor in a cache: in ports, rings, queues. */
uint32_t pool_in_use(const struct pool *pool);

/* Life of a cache: in place. fini gives its frames back. */
void pool_cache_init(struct pool_cache *cache, struct pool *pool);
void pool_cache_fini(struct pool_cache *cache);

/* Data path. alloc fills up to n (at most BURST_MAX) reset frames and returns how many there were. */
uint32_t pool_alloc(struct pool_cache *cache, struct frame **frames, uint32_t n);
/* Gives n frames back (at most BURST_MAX). */
void pool_free(struct pool_cache *cache, struct frame *const *frames, uint32_t n);

#endif
