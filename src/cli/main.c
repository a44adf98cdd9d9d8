/* SPDX-License-Identifier: BSD-2-Clause */
/* main: the table of commands. A new command is a row here and a file beside it. */
#include <stdio.h>
#include <string.h>
#include <weir/test.h>
#include <weir/weir.h>

#include "cli/command.h"

extern const struct command command_test, command_run, command_map, command_prog, command_demo,
	command_bench;

static const struct command *const commands[] = {
	&command_run, &command_test, &command_map, &command_prog, &command_demo, &command_bench,
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *out)
{
	fprintf(out, "usage: weir COMMAND [argument ...]\n\n");
	for (int i = 0; i < N_COMMANDS; i++) {
		if (!commands[i]->hidden)
			fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	}
	fprintf(out, "\n`weir COMMAND --help` lists the options; man weir-COMMAND says more\n");
}

static const struct command *command_find(const char *name)
{
	for (int i = 0; i < N_COMMANDS; i++) {
		if (strcmp(name, commands[i]->name) == 0)
			return commands[i];
	}
	return NULL;
}

static int help(const char *name)
{
	const struct command *cmd = name ? command_find(name) : NULL;

	if (name && !cmd) {
		fprintf(stderr, "weir: no command '%s'; see `weir --help`\n", name);
		return EXIT_MISUSE;
	}
	if (cmd)
		options_usage(cmd, stdout);
	else
		usage(stdout);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct command *cmd;

	if (!name) {
		usage(stderr);
		return EXIT_MISUSE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		printf("weir %s\n", weir_version());
		return EXIT_FINE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help(name[0] == 'h' && argc > 2 ? argv[2] : NULL);
	if (strcmp(name, "__oracle") == 0)
		return weir_oracle_main(argc, argv);
	cmd = command_find(name);
	if (!cmd) {
		fprintf(stderr, "weir: no command '%s'; see `weir --help`\n", name);
		return EXIT_MISUSE;
	}
	return cmd->run(cmd, argc - 1, argv + 1);
}
