/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands: a row each in main.c's table, a file each. A command includes nothing of weir but
 * include/weir. Exit codes (design 10): 0 fine, 1 a failure or the answer is no, 2 misuse.
 */
#ifndef WEIR_CLI_COMMAND_H
#define WEIR_CLI_COMMAND_H

#include "cli/options.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

struct command {
	const char *name;
	const char *synopsis; /* what follows "weir NAME", a line for each form */
	const char *summary;  /* one line */
	const struct option_def *options;
	/* argv[0] is the command's name; returns the exit code. */
	int (*run)(const struct command *cmd, int argc, char **argv);
	bool hidden; /* not in --help */
};

#endif
