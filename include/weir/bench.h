/* SPDX-License-Identifier: BSD-2-Clause */
/* Benchmark tables: what `weir bench` does. */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <weir/weir.h>

enum weir_bench_size { WEIR_BENCH_QUICK, WEIR_BENCH_NORMAL, WEIR_BENCH_FULL };

struct weir_bench_opts {
	size_t size; /* sizeof(struct weir_bench_opts) */
	enum weir_bench_size effort;
	bool json;
	FILE *report;
};

/* Runs the table of that name ("actions"); -ENOENT lists what there is. */
WEIR_API int weir_bench(const char *table, const struct weir_bench_opts *opts,
			struct weir_error *err);
/* The name of table i, or NULL at the end. */
WEIR_API_VOID const char *weir_bench_table(uint32_t i);

/* The job of the README's first command: a real object on the built-in capture for a while, a line for each kind
 * of packet with what the program did to it, and the rate. object NULL: the one that is installed. */
WEIR_API int weir_demo(const char *object, FILE *out, struct weir_error *err);

#endif
