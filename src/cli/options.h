/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of a command: one table of rows, which getopt_long is fed from and --help is printed from, so that
 * the two agree. A row says where in the command's struct of arguments its value goes.
 *
 * Threads: the main thread, before anything runs.
 */
#ifndef WEIR_CLI_OPTIONS_H
#define WEIR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	OPTIONS_MAX = 64,	 /* rows of a table: twice what the largest command has */
	OPTION_ITEMS_MAX = 4096, /* repeated options of one command line, as instance.h */
	OPTIONS_HELP = 0,	 /* options_parse: --help was asked for and printed */
};

enum option_kind {
	OPTION_FLAG,	 /* bool */
	OPTION_TEXT,	 /* const char * */
	OPTION_ITEM,	 /* struct option_items: appended with the row's `item`; may be repeated */
	OPTION_U32,	 /* uint32_t */
	OPTION_U64,	 /* uint64_t */
	OPTION_DURATION, /* uint64_t, nanoseconds: "10s"; a plain number is seconds */
	OPTION_TIME,	 /* struct option_time: as a duration, but a plain number is nanoseconds */
	OPTION_ENGINE,	 /* int: enum weir_engine, "auto", "interp" or "jit" */
};

struct option_time {
	bool set;
	uint64_t ns;
};

/* Options whose order among each other counts: ports, state. Values are borrowed from argv. */
struct option_items {
	uint32_t n;
	struct {
		int item;
		const char *value;
	} at[OPTION_ITEMS_MAX];
};

/* A row; name NULL ends the table. */
struct option_def {
	const char *name;
	char letter; /* 0: none */
	enum option_kind kind;
	const char *arg; /* "FILE" in the help; NULL: takes none */
	const char *help;
	size_t offset; /* in the struct of arguments */
	int item;      /* OPTION_ITEM */
};

struct command;

/*
 * Reads argv by the command's table into args. Returns the index of the first argument that is no option (argc
 * when there is none), OPTIONS_HELP, or -EINVAL after it has printed one line to stderr.
 */
int options_parse(const struct command *cmd, int argc, char **argv, void *args);
/* The help of a command. */
void options_usage(const struct command *cmd, FILE *out);
/* Prints "weir: text; see `weir NAME --help`" to stderr; returns 2, the exit code of misuse. */
int options_misuse(const struct command *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
