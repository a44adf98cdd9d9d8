/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a command line to a loaded instance: the options that `run` and `test` share, and the calls in the order of
 * weir.h. Each function prints one line to stderr when it fails, and returns the exit code: EXIT_FINE,
 * EXIT_FAILED, or EXIT_MISUSE where the text of an option is wrong.
 */
#ifndef WEIR_CLI_SETUP_H
#define WEIR_CLI_SETUP_H

#include <weir/weir.h>

#include "cli/command.h"

enum setup_item {
	ITEM_IN = 1,
	ITEM_OUT,
	ITEM_PORT,
	ITEM_SET,
	ITEM_ROUTE,
	ITEM_NEIGH,
	ITEM_MAP,
	ITEM_MAPS,
	ITEM_GLOBAL,
};

struct setup_args {
	const char *object;
	const char *prog;
	int engine;
	const char *btf;
	const char *pin_dir;
	uint32_t cpus, cpu, rx_queue;
	struct option_time time;
	bool events;
	bool json;
	bool quiet; /* no notes */
	const char *dump_maps, *expect_maps;
	struct option_items items;
};

#define SETUP_OFF(type, member) (offsetof(type, setup) + offsetof(struct setup_args, member))
#define SETUP_ITEM(type, name, arg, help, item)                                                    \
	{                                                                                          \
		name, 0, OPTION_ITEM, arg, help, SETUP_OFF(type, items), item                      \
	}

/* The rows for a struct `type` that has a struct setup_args named `setup`. */
#define SETUP_OPTIONS(type)                                                                             \
	{ "prog",                                                                                       \
	  'p',                                                                                          \
	  OPTION_TEXT,                                                                                  \
	  "NAME",                                                                                       \
	  "the program, by function or section name",                                                   \
	  SETUP_OFF(type, prog),                                                                        \
	  0 },                                                                                          \
		{ "engine",                                                                             \
		  'e',                                                                                  \
		  OPTION_ENGINE,                                                                        \
		  "ENGINE",                                                                             \
		  "auto, interp or jit",                                                                \
		  SETUP_OFF(type, engine),                                                              \
		  0 },                                                                                  \
		SETUP_ITEM(type, "map", "NAME[KEY]=VALUE", "a map entry before traffic",                \
			   ITEM_MAP),                                                                   \
		SETUP_ITEM(type, "maps", "FILE", "map entries, in bpftool's dump format",               \
			   ITEM_MAPS),                                                                  \
		SETUP_ITEM(type, "global", "NAME=VALUE", "a global variable, .rodata too",              \
			   ITEM_GLOBAL),                                                                \
		SETUP_ITEM(type, "port", "NAME=PORT", "a further port that may be a target",            \
			   ITEM_PORT),                                                                  \
		SETUP_ITEM(type, "route", "ROUTE", "10.0.0.0/8,dev=P,via=A for bpf_fib_lookup",         \
			   ITEM_ROUTE),                                                                 \
		SETUP_ITEM(type, "neigh", "NEIGH", "10.0.0.1,dev=P,mac=M for bpf_fib_lookup",           \
			   ITEM_NEIGH),                                                                 \
		SETUP_ITEM(type, "set", "KEY=VALUE", "a switch, as redirect.flush=packet",              \
			   ITEM_SET),                                                                   \
		{ "cpu", 0, OPTION_U32, "N", "the CPU that programs see", SETUP_OFF(type, cpu), 0 },    \
		{ "cpus", 0, OPTION_U32, "N", "how many CPUs programs see", SETUP_OFF(type, cpus), 0 }, \
		{ "rx-queue",                                                                           \
		  0,                                                                                    \
		  OPTION_U32,                                                                           \
		  "N",                                                                                  \
		  "the receive queue where a port gives none",                                          \
		  SETUP_OFF(type, rx_queue),                                                            \
		  0 },                                                                                  \
		{ "time", 0, OPTION_TIME, "NS", "clocks stand at this time", SETUP_OFF(type, time),     \
		  0 },                                                                                  \
		{ "btf",                                                                                \
		  0,                                                                                    \
		  OPTION_TEXT,                                                                          \
		  "FILE",                                                                               \
		  "BTF of the target kernel, for CO-RE",                                                \
		  SETUP_OFF(type, btf),                                                                 \
		  0 },                                                                                  \
		{ "pin-dir",                                                                            \
		  0,                                                                                    \
		  OPTION_TEXT,                                                                          \
		  "DIR",                                                                                \
		  "pinned maps live here",                                                              \
		  SETUP_OFF(type, pin_dir),                                                             \
		  0 },                                                                                  \
		{ "events",                                                                             \
		  0,                                                                                    \
		  OPTION_FLAG,                                                                          \
		  NULL,                                                                                 \
		  "show trace_printk, perf and ring-buffer records",                                    \
		  SETUP_OFF(type, events),                                                              \
		  0 },                                                                                  \
		{ "dump-maps",                                                                          \
		  0,                                                                                    \
		  OPTION_TEXT,                                                                          \
		  "FILE",                                                                               \
		  "write all maps as JSON when done; - is stdout",                                      \
		  SETUP_OFF(type, dump_maps),                                                           \
		  0 },                                                                                  \
		{ "expect-maps",                                                                        \
		  0,                                                                                    \
		  OPTION_TEXT,                                                                          \
		  "FILE",                                                                               \
		  "compare the maps with an earlier dump",                                              \
		  SETUP_OFF(type, expect_maps),                                                         \
		  0 },                                                                                  \
		{ "json", 'j', OPTION_FLAG, NULL, "JSON on stdout", SETUP_OFF(type, json), 0 },         \
	{                                                                                               \
		"quiet", 'q', OPTION_FLAG, NULL, "no notes", SETUP_OFF(type, quiet), 0                  \
	}

/* The struct weir_opts that these arguments ask for. */
void setup_opts(const struct setup_args *args, struct weir_opts *opts);
/* Creates the instance and applies --set; *ret on EXIT_FINE. */
int setup_create(struct weir **ret, const struct setup_args *args);
/* Adds --in, --out and --port in their order. */
int setup_ports(struct weir *weir, const struct setup_args *args);
/* Routes and neighbours, the object, its state; loads. */
int setup_load(struct weir *weir, const struct setup_args *args);
/* After the run: --dump-maps and --expect-maps; EXIT_FAILED also when they differ. */
int setup_maps_after(struct weir *weir, const struct setup_args *args);
/* "weir: text" on stderr; returns the exit code of ret, an -errno. */
int setup_failed(const struct weir_error *err, int ret);

#endif
