/* SPDX-License-Identifier: BSD-2-Clause */
/* Options: each kind of value, each way to be wrong, and durations. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>
#include <weir/run.h>

#include "cli/command.h"

struct args {
	bool flag;
	const char *text;
	uint32_t number;
	uint64_t large, duration;
	struct option_time time;
	int engine;
	struct option_items items;
};

static const struct option_def rows[] = {
	{ "flag", 'f', OPTION_FLAG, NULL, "a flag", offsetof(struct args, flag), 0 },
	{ "text", 't', OPTION_TEXT, "TEXT", "a text", offsetof(struct args, text), 0 },
	{ "number", 0, OPTION_U32, "N", "a number", offsetof(struct args, number), 0 },
	{ "large", 0, OPTION_U64, "N", "a large number", offsetof(struct args, large), 0 },
	{ "for", 0, OPTION_DURATION, "TIME", "a duration", offsetof(struct args, duration), 0 },
	{ "time", 0, OPTION_TIME, "NS", "a time", offsetof(struct args, time), 0 },
	{ "engine", 0, OPTION_ENGINE, "E", "an engine", offsetof(struct args, engine), 0 },
	{ "in", 'i', OPTION_ITEM, "P", "an input", offsetof(struct args, items), 1 },
	{ "out", 'o', OPTION_ITEM, "P", "an output", offsetof(struct args, items), 2 },
	{ 0 },
};

static const struct command cmd = {
	.name = "t", .synopsis = "A\nB", .summary = "a command", .options = rows
};

static struct args args;

/* Splits the line at blanks and parses it; what goes to stderr is left in `said`. */
static char said[1024];

static int parse(const char *line)
{
	static char copy[512];
	char *argv[32], *save = NULL;
	FILE *old = stderr;
	int argc = 0, ret;

	memset(&args, 0, sizeof(args));
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word && argc < 31;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	memset(said, 0, sizeof(said));
	stderr = fmemopen(said, sizeof(said) - 1, "w");
	ret = options_parse(&cmd, argc, argv, &args);
	fclose(stderr);
	stderr = old;
	return ret;
}

static void test_values(void **state)
{
	assert_int_equal(parse("t --flag -t hello --number 0x10 x --large 18446744073709551615 "
			       "--for 500ms --time 7 --engine=jit"),
			 13);
	assert_true(args.flag);
	assert_string_equal(args.text, "hello");
	assert_int_equal(args.number, 16);
	assert_int_equal(args.large, UINT64_MAX);
	assert_int_equal(args.duration, 500000000);
	assert_true(args.time.set);
	assert_int_equal(args.time.ns, 7);
	assert_int_equal(args.engine, WEIR_ENGINE_JIT);
	assert_int_equal(parse("t"), 1);
	assert_false(args.time.set);
}

/* The order of --in and --out among each other is kept, positional arguments in between or not. */
static void test_items_keep_order(void **state)
{
	static const struct {
		int item;
		const char *value;
	} want[] = { { 2, "a" }, { 1, "b" }, { 2, "c" }, { 1, "--d" } };

	assert_int_equal(parse("t --out a obj -i b --out=c --in --d"), 8);
	assert_int_equal(args.items.n, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(args.items.at[i].item, want[i].item);
		assert_string_equal(args.items.at[i].value, want[i].value);
	}
}

static void test_misuse_is_one_line(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "t --nope", "unknown or ambiguous option --nope" },
		{ "t -x", "unknown option -x" },
		{ "t --number", "--number needs a value" },
		{ "t --flag=1", "--flag=1 takes no value" },
		{ "t --number 4294967296", "--number: '4294967296' is not a number below 2^32" },
		{ "t --number -1", "--number: '-1' is not" },
		{ "t --number 1x", "--number: '1x' is not" },
		{ "t --large 18446744073709551616", "is not a number" },
		{ "t --for 10x", "--for: '10x' is not a duration" },
		{ "t --time yesterday", "--time: 'yesterday' is not a time" },
		{ "t --engine turbo", "--engine: 'turbo' is not an engine" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].line), -EINVAL);
		assert_non_null(strstr(said, cases[i].text));
		assert_true(strncmp(said, "weir: ", 6) == 0);
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
}

static void test_help_lists_every_row(void **state)
{
	static char help[4096];
	FILE *out = fmemopen(help, sizeof(help) - 1, "w");

	options_usage(&cmd, out);
	fclose(out);
	for (const struct option_def *row = rows; row->name; row++) {
		assert_non_null(strstr(help, row->name));
		assert_non_null(strstr(help, row->help));
	}
	assert_non_null(strstr(help, "usage: weir t A\n       weir t B\n"));
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "10s", 10000000000 }, { "500ms", 500000000 },
		{ "2m", 120000000000 }, { "1h", 3600000000000 },
		{ "3", 3000000000 },	{ "20us", 20000 },
		{ "7ns", 7 },		{ "1.5s", 1500000000 },
		{ "0.25", 250000000 },	{ "0", 0 },
		{ "0.0000000019s", 1 },
	};
	static const char *const bad[] = { "",
					   "s",
					   "-1s",
					   "1 s",
					   "1d",
					   "1.s",
					   "1.2.3",
					   "0x1s",
					   "+1",
					   "1e3",
					   "99999999999999999999",
					   "9223372037s",
					   "9999999h" };
	struct weir_error err;
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(weir_duration_parse(good[i].text, 1000000000, &ns, &err), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ns = 42;
		assert_int_equal(weir_duration_parse(bad[i], 1000000000, &ns, &err), -EINVAL);
		assert_int_equal(ns, 42);
		assert_non_null(strstr(err.text, "duration"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_items_keep_order),
		cmocka_unit_test(test_misuse_is_one_line),
		cmocka_unit_test(test_help_lists_every_row),
		cmocka_unit_test(test_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
