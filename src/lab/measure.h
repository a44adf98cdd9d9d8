/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measuring: several pieces of work, run in turn (A B C A B C ...) so that a drift of the machine meets all of them,
 * each repeat timed with the cycle counter; the median of the repeats is the figure, with an interval that holds the
 * true median with 95 % confidence (order statistics).
 *
 * Threads: one, bound to a CPU.
 */
#ifndef WEIR_LAB_MEASURE_H
#define WEIR_LAB_MEASURE_H

#include <stdint.h>

enum { MEASURE_REPEATS_MAX = 201 };

struct measure {
	/* Does the work for about `packets` packets and returns how many it did (0: it failed). */
	uint64_t (*work)(void *arg, uint64_t packets);
	/* When set, replaces the clock around work: returns nanoseconds a packet by itself (the kernel's own time). */
	double (*self_timed)(void *arg, uint64_t packets);
	void *arg;
	uint64_t packets; /* a repeat; 0: chosen so that a repeat takes repeat_ns */

	/* Results: nanoseconds a packet */
	double median, lo, hi;
	uint32_t n; /* repeats */
	double samples[MEASURE_REPEATS_MAX];
};

struct measure_cfg {
	uint32_t repeats;   /* at most MEASURE_REPEATS_MAX */
	uint64_t repeat_ns; /* how long a repeat should take */
	uint64_t warmup_ns; /* of each, before the first repeat */
};

/* Runs all of them in turn; a failed one has n = 0. */
void measure_run(struct measure *const *measures, uint32_t n, const struct measure_cfg *cfg);

/* The median of n values (sorted in place), and the 95 % interval of it. */
double measure_median(double *values, uint32_t n, double *ret_lo, double *ret_hi);

#endif
