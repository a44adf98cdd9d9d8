/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Benchmark tables and their rows, as people and programs read them (design 10): a row is (name, engine), once a
 * table; a ratio is a division of two rows.
 */
#ifndef WEIR_LAB_TABLE_H
#define WEIR_LAB_TABLE_H

#include "base/err.h"
#include "lab/measure.h"

#include <jansson.h>
#include <stdio.h>
#include <weir/bench.h>

enum { TABLE_ROWS_MAX = 96 };

struct table_row {
	char name[64];
	const char *engine; /* native, jit, interp, kernel-live, ... */
	const char *work;   /* what is done for each packet */
	json_t *params;	    /* owned; what differs from the defaults */
	struct measure m;
	char *missing;	/* owned; why there is no figure; NULL: there is one */
	char note[128]; /* for people, a line below the row; the params say the same; "": none */
};

struct table {
	const char *name;
	uint32_t n_rows;
	struct table_row *rows[TABLE_ROWS_MAX];
	json_t *host; /* owned */
	double noise; /* the relative difference of the same row measured twice; 0: not measured */
};

/* A new row at the end; NULL when the table is full or there is no memory. */
struct table_row *table_add(struct table *table, const char *name, const char *engine,
			    const char *work);
void table_fini(struct table *table);
/* The row of that name and engine that has a figure, or NULL. */
const struct table_row *table_row(const struct table *table, const char *name, const char *engine);
/* The JSON of design 10. New reference. */
json_t *table_json(const struct table *table);
/* For people: a line a row, with the ratio to the native row of the same name. */
void table_print(const struct table *table, FILE *out);

/* What the figures were taken on: CPU, kernel, mitigations, JIT, affinity. New reference. */
json_t *host_describe(void);

/* A table's code: fills in rows and measures them. */
struct table_kind {
	const char *name;
	int (*run)(struct table *table, const struct measure_cfg *cfg, struct err *err);
};

extern const struct table_kind table_actions; /* actions.c */
extern const struct table_kind table_af_xdp;  /* af_xdp.c */

#endif
