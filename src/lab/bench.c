/* SPDX-License-Identifier: BSD-2-Clause */
/* The public side of the benchmark tables: include/weir/bench.h. */
#include <weir/bench.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "ctl/instance.h"
#include "lab/table.h"

static const struct table_kind *const kinds[] = { &table_actions, &table_af_xdp };

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const struct measure_cfg efforts[] = {
	[WEIR_BENCH_QUICK] = { .repeats = 7, .repeat_ns = 2000000, .warmup_ns = 5000000 },
	[WEIR_BENCH_NORMAL] = { .repeats = 31, .repeat_ns = 10000000, .warmup_ns = 50000000 },
	[WEIR_BENCH_FULL] = { .repeats = 101, .repeat_ns = 20000000, .warmup_ns = 200000000 },
};

const char *weir_bench_table(uint32_t i)
{
	return i < N_KINDS ? kinds[i]->name : NULL;
}

static void report(const struct table *table, const struct weir_bench_opts *opts)
{
	json_t *json;

	if (!opts->json) {
		table_print(table, opts->report);
		return;
	}
	json = table_json(table);
	json_dumpf(json, opts->report, JSON_REAL_PRECISION(6) | JSON_COMPACT);
	fputc('\n', opts->report);
	json_decref(json);
}

int weir_bench(const char *name, const struct weir_bench_opts *opts, struct weir_error *err)
{
	struct table table = { .name = name };
	const struct table_kind *kind = NULL;
	int rc;

	for (uint32_t i = 0; i < N_KINDS; i++)
		if (!strcmp(kinds[i]->name, name))
			kind = kinds[i];
	if (!kind)
		return err_set(instance_err(err), ENOENT,
			       "%s: no such table; there are: actions, af_xdp", name);
	/* CPU 0 takes most interrupts: the last one is the quietest. */
	(void)cpu_pin(cpu_count() - 1);
	table.host = host_describe();
	rc = kind->run(&table, &efforts[opts->effort], instance_err(err));
	if (!rc)
		report(&table, opts);
	table_fini(&table);
	return rc;
}
