/* SPDX-License-Identifier: BSD-2-Clause */
/* weir bench: the benchmark tables. */
#include <stddef.h>
#include <string.h>
#include <weir/bench.h>

#include "cli/command.h"

struct bench_args {
	bool quick, full, json;
};

static const struct option_def bench_options[] = {
	{ "quick", 'q', OPTION_FLAG, NULL, "few repeats: a look, no figures to quote",
	  offsetof(struct bench_args, quick), 0 },
	{ "full", 0, OPTION_FLAG, NULL, "many repeats", offsetof(struct bench_args, full), 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "JSON on stdout, a table a line",
	  offsetof(struct bench_args, json), 0 },
	{ 0 },
};

static int bench_one(const char *table, const struct weir_bench_opts *opts)
{
	struct weir_error err = { 0 };

	if (!weir_bench(table, opts, &err))
		return EXIT_FINE;
	fprintf(stderr, "weir: %s\n", err.text);
	return EXIT_FAILED;
}

static int bench_main(const struct command *cmd, int argc, char **argv)
{
	struct bench_args args = { 0 };
	struct weir_bench_opts opts = { .size = sizeof(opts), .report = stdout };
	int first = options_parse(cmd, argc, argv, &args), code = EXIT_FINE;

	if (first <= 0)
		return first < 0 ? EXIT_MISUSE : EXIT_FINE;
	if (args.quick && args.full)
		return options_misuse(cmd, "--quick and --full exclude each other");
	opts.effort = args.quick  ? WEIR_BENCH_QUICK
		      : args.full ? WEIR_BENCH_FULL
				  : WEIR_BENCH_NORMAL;
	opts.json = args.json;
	if (first == argc)
		for (uint32_t i = 0; weir_bench_table(i) && !code; i++)
			code = bench_one(weir_bench_table(i), &opts);
	for (int i = first; i < argc && !code; i++)
		code = bench_one(argv[i], &opts);
	return code;
}

const struct command command_bench = {
	.name = "bench",
	.synopsis = "[TABLE ...] [option ...]",
	.summary = "measure against native C and the kernel, in one run",
	.options = bench_options,
	.run = bench_main,
};
