/* SPDX-License-Identifier: BSD-2-Clause */
/* weir prog: the programs of a running instance, through its control socket. */
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"

struct prog_args {
	const char *control;
	bool json;
};

static const struct option_def prog_options[] = {
	{ "control", 0, OPTION_TEXT, "PATH",
	  "the instance's socket; default: the only one that runs",
	  offsetof(struct prog_args, control), 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "JSON on stdout", offsetof(struct prog_args, json), 0 },
	{ 0 },
};

static void prog_print(const json_t *prog)
{
	const char *name = "?", *tag = "?", *engine = "?";
	int id = 0, insns = 0, maps = 0;
	size_t i;
	json_t *port;

	if (json_unpack((json_t *)prog, "{s:i, s:s, s:s, s:s, s:i, s:i}", "id", &id, "name", &name,
			"tag", &tag, "engine", &engine, "insns", &insns, "maps", &maps))
		return;
	printf("%d: xdp  name %s  tag %s  %s  %d instructions  %d maps", id, name, tag, engine,
	       insns, maps);
	json_array_foreach(json_object_get(prog, "ports"), i, port)
		printf("%s%s", i ? "," : "  on ", json_string_value(port));
	putchar('\n');
}

static int prog_list(const struct prog_args *args)
{
	json_t *result, *prog;
	size_t i;
	int code = client_ask(args->control, json_pack("{s:s}", "command", "prog-list"), &result);

	if (code)
		return code;
	if (args->json) {
		code = client_print_json(result);
	} else {
		json_array_foreach(result, i, prog) prog_print(prog);
	}
	json_decref(result);
	return code;
}

static int prog_main(const struct command *cmd, int argc, char **argv)
{
	struct prog_args args = { 0 };
	int first = options_parse(cmd, argc, argv, &args);

	if (first <= 0)
		return first < 0 ? EXIT_MISUSE : EXIT_FINE;
	if (argc - first != 1 || strcmp(argv[first], "list") != 0)
		return options_misuse(cmd, "the form is: weir prog list");
	return prog_list(&args);
}

const struct command command_prog = {
	.name = "prog",
	.synopsis = "list [option ...]",
	.summary = "list the programs of a running instance",
	.options = prog_options,
	.run = prog_main,
};
