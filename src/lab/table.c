/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a benchmark table as text and JSON: see table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct table_row *table_add(struct table *table, const char *name, const char *engine,
			    const char *work)
{
	struct table_row *row;

	if (table->n_rows == TABLE_ROWS_MAX)
		return NULL;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->engine = engine;
	row->work = work;
	row->params = json_object();
	table->rows[table->n_rows++] = row;
	return row;
}

void table_fini(struct table *table)
{
	for (uint32_t i = 0; i < table->n_rows; i++) {
		json_decref(table->rows[i]->params);
		free(table->rows[i]->missing);
		free(table->rows[i]);
	}
	table->n_rows = 0;
	json_decref(table->host);
	table->host = NULL;
}

static int has_figure(const struct table_row *row)
{
	return !row->missing && row->m.n > 0;
}

const struct table_row *table_row(const struct table *table, const char *name, const char *engine)
{
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = table->rows[i];

		if (has_figure(row) && !strcmp(row->name, name) && !strcmp(row->engine, engine))
			return row;
	}
	return NULL;
}

json_t *table_json(const struct table *table)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = table->rows[i];

		if (!has_figure(row))
			continue;
		json_array_append_new(rows, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:s, s:O}",
						      "name", row->name, "engine", row->engine,
						      "ns", row->m.median, "lo", row->m.lo, "hi",
						      row->m.hi, "mpps", 1e3 / row->m.median,
						      "work", row->work, "params", row->params));
	}
	return json_pack("{s:s, s:O, s:f, s:o}", "table", table->name, "host", table->host, "noise",
			 table->noise, "rows", rows);
}

static void print_row(const struct table *table, const struct table_row *row, FILE *out)
{
	const struct table_row *native = table_row(table, row->name, "native");

	if (!has_figure(row)) {
		fprintf(out, "%-22s %-12s %s\n", row->name, row->engine,
			row->missing ? row->missing : "no figure");
		return;
	}
	fprintf(out, "%-22s %-12s %8.2f %8.2f %8.2f %9.2f ", row->name, row->engine, row->m.median,
		row->m.lo, row->m.hi, 1e3 / row->m.median);
	if (native && native != row)
		fprintf(out, "%7.2f  ", row->m.median / native->m.median);
	else
		fprintf(out, "%7s  ", "");
	fprintf(out, "%s\n", row->work);
	if (row->note[0])
		fprintf(out, "%-22s %-12s %s\n", "", "", row->note);
}

void table_print(const struct table *table, FILE *out)
{
	const char *key;
	json_t *value;

	fprintf(out, "table %s\n", table->name);
	json_object_foreach(table->host, key, value) fprintf(
		out, "  %-14s %s\n", key, json_is_string(value) ? json_string_value(value) : "");
	if (table->noise > 0)
		fprintf(out, "  %-14s the same row measured twice differs by %.1f %%\n",
			"noise floor", table->noise * 100);
	fprintf(out, "\n%-22s %-12s %8s %8s %8s %9s %7s  %s\n", "name", "engine", "ns/pkt", "lo",
		"hi", "Mpps", "/native", "work a packet");
	for (uint32_t i = 0; i < table->n_rows; i++)
		print_row(table, table->rows[i], out);
}
