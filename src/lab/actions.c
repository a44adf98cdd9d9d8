/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first table: what each action of XDP costs, on each engine. Bursts of 64 from a memory port, 64-byte frames, 2,048
 * of them in turn; the kernel's rows are BPF_PROG_TEST_RUN with live frames.
 */
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/live.h"
#include "lab/rig.h"

#define INPUT "mem:,len=64,frames=2048"

enum { ROWS_A_PROGRAM = 4 };

static const struct program {
	const char *name;
	const char *output;
	const char *work;
	const char *kernel_work; /* NULL: there is no kernel row */
} programs[] = {
	{ "drop", NULL, "rx, run, free", "live frames: page pool, run, recycle" },
	{ "touch", NULL, "rx, run: read the Ethernet header, free",
	  "live frames: page pool, run: read the Ethernet header, recycle" },
	{ "xdp1", NULL, "rx, run: copy 60 bytes, parse, count, free",
	  "live frames: page pool, run: copy 60 bytes, parse, count, recycle" },
	{ "xdp2", NULL,
	  "rx, run: copy 60 bytes, parse, count, swap, copy back; tx to the same port", NULL },
	{ "redirect_map",
	  "mem:", "rx, run: count, swap MACs, devmap; bulk of 16, tx to a second port",
	  "live frames: page pool, run: count, swap MACs, devmap; bulk of 16 to a veth whose peer "
	  "drops" },
};

enum { N_PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* What the rows are measured with; freed at the end. */
struct bench {
	struct table *table;
	struct rig *rigs[N_PROGRAMS * ROWS_A_PROGRAM + 1];
	uint32_t n_rigs;
	struct live *lives[N_PROGRAMS];
	uint32_t n_lives;
};

static void add_rig(struct bench *bench, const struct program *p, enum rig_engine engine,
		    const char *name)
{
	static const char *const engines[] = { "native", "jit", "interp" };
	struct rig_cfg cfg = {
		.object = p->name, .engine = engine, .input = INPUT, .output = p->output
	};
	struct table_row *row = table_add(bench->table, name, engines[engine], p->work);
	struct err err = { 0 };
	struct rig *rig;

	if (!row)
		return;
	if (rig_create(&rig, &cfg, &err)) {
		row->missing = strdup(err.text);
		return;
	}
	bench->rigs[bench->n_rigs++] = rig;
	row->m.work = rig_work;
	row->m.arg = rig;
}

static void add_live(struct bench *bench, const struct program *p)
{
	struct table_row *row;
	struct err err = { 0 };
	struct live *live;

	if (!p->kernel_work)
		return;
	row = table_add(bench->table, p->name, "kernel-live", p->kernel_work);
	if (!row)
		return;
	if (live_open(&live, p->name, p->output != NULL, &err)) {
		row->missing = strdup(err.text);
		return;
	}
	bench->lives[bench->n_lives++] = live;
	row->m.self_timed = live_time;
	row->m.arg = live;
}

/* The same work in two rigs: how far two medians lie apart when nothing differs. */
static void take_noise(struct table *table, const struct table_row *again)
{
	const struct table_row *first = table_row(table, "touch", "jit");

	if (!first)
		first = table_row(table, "touch", "interp");
	if (first && again && again->m.n)
		table->noise = fabs(again->m.median / first->m.median - 1);
}

static struct table_row *add_twin(struct bench *bench)
{
	uint32_t at = bench->table->n_rows;

	add_rig(bench, &programs[1], RIG_JIT, "touch again");
	if (bench->table->rows[at]->missing)
		return NULL;
	return bench->table->rows[at];
}

static void bench_fini(struct bench *bench)
{
	while (bench->n_rigs)
		rig_destroy(bench->rigs[--bench->n_rigs]);
	while (bench->n_lives)
		live_close(bench->lives[--bench->n_lives]);
}

static int run(struct table *table, const struct measure_cfg *cfg, struct err *err)
{
	struct measure *measures[TABLE_ROWS_MAX];
	struct bench bench = { .table = table };
	struct table_row *twin;
	uint32_t n = 0;

	(void)err;
	for (uint32_t i = 0; i < N_PROGRAMS; i++) {
		add_rig(&bench, &programs[i], RIG_NATIVE, programs[i].name);
		add_rig(&bench, &programs[i], RIG_JIT, programs[i].name);
		add_rig(&bench, &programs[i], RIG_INTERP, programs[i].name);
		add_live(&bench, &programs[i]);
	}
	twin = add_twin(&bench);
	for (uint32_t i = 0; i < table->n_rows; i++)
		if (!table->rows[i]->missing)
			measures[n++] = &table->rows[i]->m;
	measure_run(measures, n, cfg);
	take_noise(table, twin);
	/* The twin is a check and no row: (name, engine) occurs once for each piece of work. */
	json_decref(table->rows[table->n_rows - 1]->params);
	free(table->rows[table->n_rows - 1]->missing);
	free(table->rows[--table->n_rows]);
	bench_fini(&bench);
	return 0;
}

const struct table_kind table_actions = { "actions", run };
