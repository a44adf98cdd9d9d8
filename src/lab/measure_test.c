/* SPDX-License-Identifier: BSD-2-Clause */
/* Medians, their intervals, and interleaving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/measure.h"

static void median_and_interval(void **state)
{
	double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 }, many[100], lo, hi;

	(void)state;
	assert_float_equal(measure_median(odd, 3, &lo, &hi), 3, 0);
	assert_float_equal(lo, 1, 0);
	assert_float_equal(hi, 5, 0);
	assert_float_equal(measure_median(even, 4, &lo, &hi), 2.5, 0);
	for (int i = 0; i < 100; i++)
		many[i] = 100 - i;
	assert_float_equal(measure_median(many, 100, &lo, &hi), 50.5, 0);
	/* Ranks 40 and 60 of 100 hold the median with 95 %. */
	assert_true(lo >= 39 && lo <= 42 && hi >= 59 && hi <= 62);
}

static char order[64];
static uint32_t n_order;

static uint64_t note(void *arg, uint64_t packets)
{
	if (n_order < sizeof(order) - 1)
		order[n_order++] = *(const char *)arg;
	return packets;
}

static uint64_t work_fails(void *arg, uint64_t packets)
{
	(void)arg;
	(void)packets;
	return 0;
}

static void repeats_are_interleaved(void **state)
{
	struct measure a = { .work = note, .arg = (void *)"a", .packets = 1 };
	struct measure b = { .work = note, .arg = (void *)"b", .packets = 1 };
	struct measure broken = { .work = work_fails };
	struct measure *all[] = { &a, &b, &broken };
	struct measure_cfg cfg = { .repeats = 5, .repeat_ns = 1000 };

	(void)state;
	measure_run(all, 3, &cfg);
	assert_int_equal(a.n, 5);
	assert_int_equal(b.n, 5);
	assert_int_equal(broken.n, 0);
	assert_true(n_order >= 10);
	assert_memory_equal(order + n_order - 10, "ababababab", 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_and_interval),
		cmocka_unit_test(repeats_are_interleaved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
