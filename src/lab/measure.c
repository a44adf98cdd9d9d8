/* SPDX-License-Identifier: BSD-2-Clause */
/* Interleaved repeats and their medians: see measure.h. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

enum { PROBE_PACKETS = 4096 };

static double once(struct measure *m, uint64_t packets)
{
	uint64_t start, done;

	if (m->self_timed)
		return m->self_timed(m->arg, packets);
	start = clock_cycles();
	done = m->work(m->arg, packets);
	if (!done)
		return -1;
	return (double)(clock_cycles() - start) / clock_cycles_per_ns() / (double)done;
}

/* Warms up, and finds how many packets take about repeat_ns. */
static void prepare(struct measure *m, const struct measure_cfg *cfg)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + cfg->warmup_ns, packets = PROBE_PACKETS;
	double ns;

	do {
		ns = once(m, packets);
		if (ns <= 0)
			return;
		packets = (uint64_t)((double)cfg->repeat_ns / ns);
		if (packets < PROBE_PACKETS)
			packets = PROBE_PACKETS;
	} while (clock_ns(CLOCK_MONOTONIC) < end);
	if (!m->packets)
		m->packets = packets;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double measure_median(double *values, uint32_t n, double *ret_lo, double *ret_hi)
{
	double half;
	int lo, hi;

	if (!n)
		return NAN;
	qsort(values, n, sizeof(*values), by_value);
	/* Ranks n/2 -+ 1.96 * sqrt(n)/2 hold the median with 95 % confidence. */
	half = 0.98 * sqrt((double)n);
	lo = (int)floor((double)n / 2 - half);
	hi = (int)ceil((double)n / 2 + half);
	*ret_lo = values[lo < 0 ? 0 : lo];
	*ret_hi = values[hi >= (int)n ? (int)n - 1 : hi];
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void measure_run(struct measure *const *measures, uint32_t n, const struct measure_cfg *cfg)
{
	for (uint32_t i = 0; i < n; i++) {
		measures[i]->n = 0;
		prepare(measures[i], cfg);
	}
	for (uint32_t r = 0; r < cfg->repeats && r < MEASURE_REPEATS_MAX; r++)
		for (uint32_t i = 0; i < n; i++) {
			struct measure *m = measures[i];
			double ns = m->packets ? once(m, m->packets) : -1;

			if (ns > 0)
				m->samples[m->n++] = ns;
		}
	for (uint32_t i = 0; i < n; i++)
		measures[i]->median = measure_median(measures[i]->samples, measures[i]->n,
						     &measures[i]->lo, &measures[i]->hi);
}
