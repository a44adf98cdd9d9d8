/* SPDX-License-Identifier: BSD-2-Clause */
/* Calibration of the cycle counter: see clock.h. */
#include "clock.h"

double clock_cycles_per_ns(void)
{
	static double rate;
	uint64_t t0, c0, t1;

	if (rate > 0)
		return rate;
	t0 = clock_ns(CLOCK_MONOTONIC);
	c0 = clock_cycles();
	do
		t1 = clock_ns(CLOCK_MONOTONIC);
	while (t1 - t0 < 20000000u);
	rate = (double)(clock_cycles() - c0) / (double)(t1 - t0);
	return rate;
}
