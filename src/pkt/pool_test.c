/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools of frames: addresses, ownership, guards, and a stress run that ThreadSanitizer watches. */
#include "pkt/pool.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

static void frames_lie_at_the_stride(void **state)
{
	struct err err = { "" };
	struct pool *pool;
	size_t size;
	uint8_t *mem;

	assert_int_equal(pool_create(&pool, 1000, &err), 0);
	mem = pool_memory(pool, &size);
	assert_true(size >= (size_t)1000 * POOL_STRIDE);
	assert_int_equal((uintptr_t)mem % 4096, 0);
	for (uint32_t i = 0; i < pool_size(pool); i++) {
		struct frame *f = pool_frame(pool, i);

		assert_ptr_equal(f->hard_start, mem + (size_t)i * POOL_STRIDE);
		assert_int_equal(f->index, i);
		assert_int_equal((uintptr_t)f % 64, 0);
	}
	assert_int_equal(pool_destroy(pool), 0);
}

static void impossible_sizes_are_refused(void **state)
{
	struct err err = { "" };
	struct pool *pool = NULL;

	assert_int_equal(pool_create(&pool, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "0 frames"));
	assert_int_equal(pool_create(&pool, UINT32_MAX, &err), -EINVAL);
	assert_null(pool);
	assert_int_equal(pool_destroy(NULL), 0);
}

static void an_empty_pool_gives_what_it_has(void **state)
{
	struct frame *frames[BURST_MAX], *more[BURST_MAX];
	struct pool_cache cache;
	struct pool *pool;

	assert_int_equal(pool_create(&pool, 70, NULL), 0);
	pool_cache_init(&cache, pool);
	assert_int_equal(pool_in_use(pool), 0);
	assert_int_equal(pool_alloc(&cache, frames, 64), 64);
	assert_int_equal(pool_in_use(pool), 64);
	assert_int_equal(pool_alloc(&cache, more, 64), 6);
	assert_int_equal(pool_alloc(&cache, more + 6, 1), 0);
	assert_int_equal(pool_in_use(pool), 70);
	pool_free(&cache, frames, 64);
	pool_free(&cache, more, 6);
	assert_int_equal(pool_in_use(pool), 0);
	pool_cache_fini(&cache);
	assert_int_equal(pool_destroy(pool), 0);
}

static void frames_come_back_reset(void **state)
{
	struct pool_cache cache;
	struct frame *f;
	struct pool *pool;

	assert_int_equal(pool_create(&pool, 1, NULL), 0);
	pool_cache_init(&cache, pool);
	assert_int_equal(pool_alloc(&cache, &f, 1), 1);
	assert_int_equal(frame_fill(f, "0123456789abcdef", 16), 0);
	f->flags = FRAME_CLONE;
	f->hash = 7;
	f->data_meta -= 8;
	pool_free(&cache, &f, 1);
	assert_int_equal(pool_alloc(&cache, &f, 1), 1);
	assert_int_equal(frame_len(f), 0);
	assert_ptr_equal(f->data_meta, f->data);
	assert_ptr_equal(f->data, f->hard_start + FRAME_HEADROOM);
	assert_int_equal(f->flags, 0);
	assert_int_equal(f->hash, 0);
	pool_free(&cache, &f, 1);
	pool_cache_fini(&cache);
	assert_int_equal(pool_destroy(pool), 0);
}

static void missing_frames_are_counted(void **state)
{
	struct frame *frames[3];
	struct pool_cache cache;
	struct pool *pool;

	assert_int_equal(pool_create(&pool, 1000, NULL), 0);
	pool_cache_init(&cache, pool);
	assert_int_equal(pool_alloc(&cache, frames, 3), 3);
	pool_free(&cache, frames, 1);
	pool_cache_fini(&cache);
	assert_int_equal(pool_destroy(pool), 2);
}

/* All frames out and back, twice, through the bulks between cache and stack: each exactly once. */
static void every_frame_is_given_once(void **state)
{
	enum { N = 5000 };
	static struct frame *frames[N + BURST_MAX];
	static uint8_t seen[N];
	struct pool_cache cache;
	struct pool *pool;

	assert_int_equal(pool_create(&pool, N, NULL), 0);
	pool_cache_init(&cache, pool);
	for (int round = 0; round < 2; round++) {
		uint32_t n = 0, got;

		memset(seen, 0, sizeof(seen));
		while ((got = pool_alloc(&cache, frames + n, BURST_MAX)))
			n += got;
		assert_int_equal(n, N);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(seen[frames[i]->index]++, 0);
		for (uint32_t i = 0; i < N; i += got) {
			got = N - i < BURST_MAX ? N - i : BURST_MAX;
			pool_free(&cache, frames + i, got);
		}
		assert_true(cache.n <= POOL_CACHE_CAP);
	}
	pool_cache_fini(&cache);
	assert_int_equal(pool_destroy(pool), 0);
}

static void crash_handler(int sig)
{
	_exit(77);
}

/* Writes at mem + off in a child; tells whether it died of it. */
static int write_faults(uint8_t *mem, ptrdiff_t off)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, crash_handler);
		*(volatile uint8_t *)(mem + off) = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 77;
}

static void memory_stands_between_guards(void **state)
{
	struct pool *pool;
	uint8_t *mem;
	size_t size;

	assert_int_equal(pool_create(&pool, 16, NULL), 0);
	mem = pool_memory(pool, &size);
	assert_false(write_faults(mem, 0));
	assert_false(write_faults(mem, (ptrdiff_t)size - 1));
	assert_true(write_faults(mem, -1));
	assert_true(write_faults(mem, (ptrdiff_t)size));
	assert_int_equal(pool_destroy(pool), 0);
}

enum { WORKERS = 4, ROUNDS = 3000 };

struct stress {
	struct pool *pool;
	uint32_t seed;
	uint32_t clashes;
};

/* Holds several bursts at a time and writes its seed into each frame: nobody else may have it. */
static void *stress_run(void *arg)
{
	struct stress *s = arg;
	struct frame *held[8][BURST_MAX];
	uint32_t n_held[8] = { 0 };
	struct pool_cache cache;

	pool_cache_init(&cache, s->pool);
	for (uint32_t r = 0; r < ROUNDS; r++) {
		uint32_t k = (r * 2654435761u + s->seed) % 8;

		for (uint32_t i = 0; i < n_held[k]; i++)
			s->clashes += held[k][i]->seq != s->seed;
		pool_free(&cache, held[k], n_held[k]);
		n_held[k] = pool_alloc(&cache, held[k], 1 + (r * s->seed) % BURST_MAX);
		for (uint32_t i = 0; i < n_held[k]; i++)
			held[k][i]->seq = s->seed;
	}
	for (uint32_t k = 0; k < 8; k++)
		pool_free(&cache, held[k], n_held[k]);
	pool_cache_fini(&cache);
	return NULL;
}

static void workers_share_a_pool(void **state)
{
	pthread_t threads[WORKERS];
	struct stress stress[WORKERS];
	struct pool *pool;

	/* Too few for all that they want to hold, so that the empty pool is met as well. */
	assert_int_equal(pool_create(&pool, 1500, NULL), 0);
	for (uint32_t i = 0; i < WORKERS; i++) {
		stress[i] = (struct stress){ .pool = pool, .seed = i + 1 };
		assert_int_equal(pthread_create(&threads[i], NULL, stress_run, &stress[i]), 0);
	}
	for (int i = 0; i < 200; i++)
		assert_true(pool_in_use(pool) <= pool_size(pool));
	for (uint32_t i = 0; i < WORKERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(stress[i].clashes, 0);
	}
	assert_int_equal(pool_in_use(pool), 0);
	assert_int_equal(pool_destroy(pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_lie_at_the_stride),
		cmocka_unit_test(impossible_sizes_are_refused),
		cmocka_unit_test(an_empty_pool_gives_what_it_has),
		cmocka_unit_test(frames_come_back_reset),
		cmocka_unit_test(missing_frames_are_counted),
		cmocka_unit_test(every_frame_is_given_once),
		cmocka_unit_test(memory_stands_between_guards),
		cmocka_unit_test(workers_share_a_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
