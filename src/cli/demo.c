/* SPDX-License-Identifier: BSD-2-Clause */
/* weir demo: a real object on the built-in capture. */
#include <stddef.h>
#include <weir/bench.h>

#include "cli/command.h"

static const struct option_def demo_options[] = { { 0 } };

static int demo_main(const struct command *cmd, int argc, char **argv)
{
	struct weir_error err = { 0 };
	char nothing;
	int first = options_parse(cmd, argc, argv, &nothing);

	if (first <= 0)
		return first < 0 ? EXIT_MISUSE : EXIT_FINE;
	if (argc - first > 1)
		return options_misuse(cmd, "one object at most");
	if (weir_demo(first < argc ? argv[first] : NULL, stdout, &err)) {
		fprintf(stderr, "weir: %s\n", err.text);
		return EXIT_FAILED;
	}
	return EXIT_FINE;
}

const struct command command_demo = {
	.name = "demo",
	.synopsis = "[OBJ]",
	.summary = "run an object on the built-in capture and show what it does to each kind of "
		   "packet",
	.options = demo_options,
	.run = demo_main,
};
