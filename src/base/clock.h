/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time: nanoseconds of a clock, and the cycle counter that benchmarks read.
 */
#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Cycles of a counter with a constant rate; not serialising. */
static inline uint64_t clock_cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

/* Cycles a nanosecond, measured once over 20 ms of CLOCK_MONOTONIC. */
double clock_cycles_per_ns(void);

#endif
