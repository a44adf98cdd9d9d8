/* SPDX-License-Identifier: BSD-2-Clause */
/* weir test: an object on the packets of a capture, what became of each, and a suite of such cases. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <weir/test.h>

#include "cli/setup.h"

struct test_args {
	struct setup_args setup;
	const char *in, *out, *expect, *against;
	const char *suite, *format;
};

static const struct option_def test_options[] = {
	{ "in", 'i', OPTION_TEXT, "FILE", "a capture, or sample for the built-in one",
	  offsetof(struct test_args, in), 0 },
	{ "out", 'o', OPTION_TEXT, "FILE", "a capture of each frame as the program left it",
	  offsetof(struct test_args, out), 0 },
	{ "expect", 'x', OPTION_TEXT, "FILE", "compare with a capture or an earlier --json output",
	  offsetof(struct test_args, expect), 0 },
	{ "against", 0, OPTION_TEXT, "kernel", "compare with the kernel (needs root)",
	  offsetof(struct test_args, against), 0 },
	{ "config", 'c', OPTION_TEXT, "FILE", "run the cases of a suite file instead",
	  offsetof(struct test_args, suite), 0 },
	{ "format", 0, OPTION_TEXT, "FORMAT", "of a suite's report: tap or junit",
	  offsetof(struct test_args, format), 0 },
	SETUP_OPTIONS(struct test_args),
	{ 0 },
};

static int test_suite(const struct command *cmd, const struct test_args *args)
{
	enum weir_suite_format format = WEIR_SUITE_TAP;
	struct weir_error err = { 0 };
	uint32_t failed;
	int ret;

	if (args->setup.object || args->setup.items.n || args->in)
		return options_misuse(cmd, "with -c, objects, packets and state stand in the file");
	if (args->format && strcmp(args->format, "junit") == 0)
		format = WEIR_SUITE_JUNIT;
	else if (args->format && strcmp(args->format, "tap") != 0)
		return options_misuse(cmd, "--format is tap or junit, not '%s'", args->format);
	ret = weir_suite(args->suite, (enum weir_engine)args->setup.engine, format, stdout, &failed,
			 &err);
	if (ret) {
		setup_failed(&err, ret);
		return ret == -EINVAL ? EXIT_MISUSE : EXIT_FAILED;
	}
	return failed ? EXIT_FAILED : EXIT_FINE;
}

static int test_loaded(struct weir *weir, const struct test_args *args)
{
	struct weir_test_opts opts = {
		.size = sizeof(opts),
		.in = args->in,
		.out = args->out,
		.expect = args->expect,
		.against_kernel = args->against != NULL,
		.json = args->setup.json,
		.quiet = args->setup.quiet,
		.report = stdout,
	};
	struct weir_test_result result;
	struct weir_error err = { 0 };
	int ret = weir_test(weir, &opts, &result, &err), code;

	if (ret) {
		fflush(stdout);
		return setup_failed(&err, ret);
	}
	code = setup_maps_after(weir, &args->setup);
	if (fflush(stdout))
		return EXIT_FAILED;
	return result.different ? EXIT_FAILED : code;
}

static int test_object(const struct test_args *args)
{
	struct weir_error err = { 0 };
	struct weir *weir;
	int code = setup_create(&weir, &args->setup), ret;

	if (code)
		return code;
	ret = weir_test_input(weir, args->in, &err);
	code = ret ? setup_failed(&err, ret) : setup_ports(weir, &args->setup);
	if (!code)
		code = setup_load(weir, &args->setup);
	if (!code)
		code = test_loaded(weir, args);
	weir_destroy(weir);
	return code;
}

static int test_parsed(const struct command *cmd, const struct test_args *args)
{
	if (args->suite)
		return test_suite(cmd, args);
	if (!args->setup.object)
		return options_misuse(cmd, "an object is needed: weir test prog.o --in FILE");
	if (!args->in)
		return options_misuse(cmd, "--in is needed: a capture, or sample");
	if (args->format)
		return options_misuse(cmd, "--format is for suites (-c)");
	if (args->against && strcmp(args->against, "kernel") != 0)
		return options_misuse(cmd, "--against kernel, not '%s'", args->against);
	return test_object(args);
}

static int test_main(const struct command *cmd, int argc, char **argv)
{
	struct test_args *args = calloc(1, sizeof(*args));
	int first, code;

	if (!args) {
		fprintf(stderr, "weir: no memory\n");
		return EXIT_FAILED;
	}
	first = options_parse(cmd, argc, argv, args);
	if (first <= 0) {
		code = first < 0 ? EXIT_MISUSE : EXIT_FINE;
	} else if (argc - first > 1) {
		code = options_misuse(cmd, "one object at a time: what is '%s'", argv[first + 1]);
	} else {
		args->setup.object = first < argc ? argv[first] : NULL;
		code = test_parsed(cmd, args);
	}
	free(args);
	return code;
}

const struct command command_test = {
	.name = "test",
	.synopsis = "OBJECT --in FILE [--expect FILE] [option ...]\n-c FILE [--format tap|junit]",
	.summary = "run a compiled XDP object on a capture and compare",
	.options = test_options,
	.run = test_main,
};
