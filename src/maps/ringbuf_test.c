/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the ring buffer: ringbuf.c. */
#include "ringbuf.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "maps/map_test.h"

enum {
	SIZE = 4096,
	PRODUCERS = 4,
	RECORDS = 5000,
};

static struct map *make_ring(uint32_t size)
{
	return make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, size, 0);
}

struct seen {
	uint32_t n, last_size;
	uint64_t last;
	uint64_t next[PRODUCERS]; /* of each producer */
	uint32_t wrong;
};

static void see(void *arg, const void *data, uint32_t size)
{
	struct seen *s = arg;

	s->n++;
	s->last_size = size;
	memcpy(&s->last, data, sizeof(s->last));
}

static void element_operations_are_refused(void **state)
{
	struct map *map = make_ring(SIZE);
	uint32_t v = 0;

	assert_int_equal(map_sys_lookup(map, NULL, &v, 0), -ENOTSUPP);
	assert_int_equal(map_sys_update(map, NULL, &v, 0), -ENOTSUPP);
	assert_int_equal(map_sys_delete(map, NULL), -ENOTSUPP);
	assert_int_equal(map_sys_next_key(map, NULL, &v), -ENOTSUPP);
	map_put(map);
}

static void reserve_limits(void **state)
{
	static const struct {
		uint64_t size, flags;
		bool good;
	} rows[] = {
		{ 8, 0, true },		  { 8, 1, false },
		{ SIZE - 16, 0, true },	  { SIZE - 8, 0, false },
		{ SIZE, 0, false },	  { UINT32_MAX / 4 + 1, 0, false },
		{ 1ull << 32, 0, false }, { UINT64_MAX, 0, false },
		{ 0, 0, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct map *map = make_ring(SIZE);

		if ((ringbuf_reserve(map, rows[i].size, rows[i].flags) != NULL) != rows[i].good)
			fail_msg("row %zu", i);
		map_put(map);
	}
}

/* The kernel's layout, seen as libbpf sees it: through a mapping of the descriptor. */
static void layout_as_kernel(void **state)
{
	struct map *map = make_ring(SIZE);
	uint8_t *pages = mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, map->area.memfd, 0);
	uint64_t v = 0x1122334455667788, pos;
	uint32_t len;
	void *r;

	assert_ptr_not_equal(pages, MAP_FAILED);
	r = ringbuf_reserve(map, 8, 0);
	assert_non_null(r);
	memcpy(r, &v, 8);
	memcpy(&len, pages + 2 * 4096, 4);
	assert_int_equal(len, 8 | BPF_RINGBUF_BUSY_BIT);
	memcpy(&pos, pages + 4096, 8);
	assert_int_equal(pos, 16);
	ringbuf_commit(map, r, 0, false);
	memcpy(&len, pages + 2 * 4096, 4);
	assert_int_equal(len, 8);
	assert_memory_equal(pages + 2 * 4096 + 8, &v, 8);
	r = ringbuf_reserve(map, 3, 0);
	ringbuf_commit(map, r, 0, true);
	memcpy(&len, pages + 2 * 4096 + 16, 4);
	assert_int_equal(len, 3 | BPF_RINGBUF_DISCARD_BIT);
	assert_int_equal(ringbuf_query(map, BPF_RB_AVAIL_DATA), 32);
	assert_int_equal(ringbuf_query(map, BPF_RB_RING_SIZE), SIZE);
	assert_int_equal(ringbuf_query(map, BPF_RB_PROD_POS), 32);
	assert_int_equal(ringbuf_query(map, BPF_RB_CONS_POS), 0);
	assert_int_equal(ringbuf_query(map, 9), 0);
	munmap(pages, 3 * 4096);
	map_put(map);
}

static void discarded_records_are_skipped(void **state)
{
	struct map *map = make_ring(SIZE);
	struct seen s = { 0 };
	uint64_t v = 1;
	void *a, *b;

	assert_int_equal(ringbuf_output(map, &v, 8, 0), 0);
	a = ringbuf_reserve(map, 16, 0);
	v = 3;
	assert_int_equal(ringbuf_output(map, &v, 8, 0), 0);
	/* A busy record stops the consumer, and those behind it wait. */
	assert_int_equal(ringbuf_consume(map, see, &s), 1);
	assert_int_equal(s.last, 1);
	b = ringbuf_reserve(map, 8, 0);
	ringbuf_commit(map, a, 0, true);
	assert_int_equal(ringbuf_consume(map, see, &s), 1);
	assert_int_equal(s.last, 3);
	ringbuf_commit(map, b, 0, false);
	assert_int_equal(ringbuf_consume(map, see, &s), 1);
	assert_int_equal(ringbuf_consume(map, see, &s), 0);
	map_put(map);
}

/* Records that wrap lie in one piece, since the data is mapped twice. */
static void records_wrap(void **state)
{
	struct map *map = make_ring(SIZE);
	uint8_t in[1000];
	struct seen s = { 0 };

	for (uint32_t i = 0; i < 100; i++) {
		memset(in, (int)i, sizeof(in));
		assert_int_equal(ringbuf_output(map, in, sizeof(in), 0), 0);
		assert_int_equal(ringbuf_consume(map, see, &s), 1);
		assert_int_equal(s.last_size, sizeof(in));
		assert_int_equal(s.last, i * 0x0101010101010101u);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(ringbuf_output(map, in, sizeof(in), 0), 0);
	assert_int_equal(ringbuf_output(map, in, sizeof(in), 0), -EAGAIN);
	assert_int_equal(ringbuf_output(map, in, 8, 4), -EINVAL);
	map_put(map);
}

static void count_wakeup(void *arg)
{
	++*(uint32_t *)arg;
}

static void wakes_only_who_waits(void **state)
{
	struct map *map = make_ring(SIZE);
	struct seen s = { 0 };
	uint32_t n = 0;
	uint64_t v = 1;

	ringbuf_set_wakeup(map, count_wakeup, &n);
	ringbuf_output(map, &v, 8, 0);
	assert_int_equal(n, 1);
	ringbuf_output(map, &v, 8, 0);
	assert_int_equal(n, 1);
	ringbuf_output(map, &v, 8, BPF_RB_FORCE_WAKEUP);
	assert_int_equal(n, 2);
	ringbuf_consume(map, see, &s);
	ringbuf_output(map, &v, 8, BPF_RB_NO_WAKEUP);
	assert_int_equal(n, 2);
	map_put(map);
}

struct producer {
	struct map *map;
	uint64_t self;
};

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (uint64_t i = 0; i < RECORDS; i++) {
		uint64_t v[2] = { p->self << 32 | i, 0 };

		while (ringbuf_output(p->map, v, 8 + p->self * 5 % 8, 0))
			sched_yield();
	}
	return NULL;
}

static void check_order(void *arg, const void *data, uint32_t size)
{
	struct seen *s = arg;
	uint64_t v;

	memcpy(&v, data, 8);
	s->n++;
	if (v >> 32 >= PRODUCERS || (uint32_t)v != s->next[v >> 32]++ ||
	    size != 8 + (v >> 32) * 5 % 8)
		s->wrong++;
}

static void four_producers(void **state)
{
	struct map *map = make_ring(SIZE);
	struct producer p[PRODUCERS];
	pthread_t threads[PRODUCERS];
	struct seen s = { 0 };

	for (uint32_t i = 0; i < PRODUCERS; i++) {
		p[i] = (struct producer){ map, i };
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &p[i]), 0);
	}
	while (s.n < PRODUCERS * RECORDS)
		if (!ringbuf_consume(map, check_order, &s))
			sched_yield();
	for (uint32_t i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(s.wrong, 0);
	assert_int_equal(ringbuf_query(map, BPF_RB_AVAIL_DATA), 0);
	map_put(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(element_operations_are_refused),
		cmocka_unit_test(reserve_limits),
		cmocka_unit_test(layout_as_kernel),
		cmocka_unit_test(discarded_records_are_skipped),
		cmocka_unit_test(records_wrap),
		cmocka_unit_test(wakes_only_who_waits),
		cmocka_unit_test(four_producers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
