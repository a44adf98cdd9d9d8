/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration file as libcyaml reads it: config_schema.c has the list of keys, config.c does what they say.
 *
 * Threads: control thread.
 */
#ifndef WEIR_CTL_CONFIG_SCHEMA_H
#define WEIR_CTL_CONFIG_SCHEMA_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct yaml_lines;

/* Exactly one of in, out, port. */
struct config_port {
	char *in, *out, *port, *name;
};

struct config_engine {
	char *type, *prefetch, *prefetch_distance, *burst, *frames, *pin;
};

struct config_redirect {
	char *flush;
};

struct config_state {
	char **globals, **maps, **files;
	uint32_t globals_count, maps_count, files_count;
};

struct config_run {
	char *duration, *count, *interval, *control, *cpu, *cpus, *rx_queue, *time;
};

/* Scalars are kept as text: their own parsers give better errors than a schema. NULL: not given. */
struct config {
	char *object, *program, *btf, *pin_dir;
	struct config_engine engine;
	struct config_redirect redirect;
	struct config_port *ports;
	char **routes, **neighbours;
	uint32_t ports_count, routes_count, neighbours_count;
	struct config_state state;
	struct config_run run;
};

/* Reads the text by the schema. -EINVAL with "NAME:LINE: ..." for unknown keys, keys given twice, values of the wrong
 * shape. */
int config_parse(struct config **ret, const char *name, const char *text, size_t len,
		 const struct yaml_lines *lines, struct err *err);
void config_free(struct config *config); /* NULL is allowed */

#endif
