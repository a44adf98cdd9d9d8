/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration files that are wrong: each gets one line that names the file, the line and the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/run.h>

static char path[64];

static int load(const char *text, struct weir_error *err)
{
	struct weir_run_opts opts = { .size = sizeof(opts) };
	struct weir *weir = NULL;
	FILE *f = fopen(path, "w");
	int ret;

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	memset(err, 0, sizeof(*err));
	ret = weir_config_load(&weir, path, NULL, &opts, err);
	if (ret)
		assert_null(weir);
	weir_destroy(weir);
	return ret;
}

#define OBJECT "object: /nonexistent.o\n"
#define PORTS  "ports:\n  - in: sample\n  - out: null\n"

static const struct {
	const char *text;
	int line;
	const char *reason;
} wrong[] = {
	/* no YAML, or not this shape */
	{ "", 1, "empty" },
	{ "# nothing\n", 1, "empty" },
	{ "- a\n", 1, "expecting MAPPING" },
	{ OBJECT "ports: [\n", 3, "no YAML" },
	{ OBJECT "\tprogram: x\n", 2, "no YAML" },
	{ "object: [a]\n", 1, "expecting STRING" },
	/* keys */
	{ OBJECT PORTS "colour: red\n", 5, "unknown key 'colour'" },
	{ OBJECT "ports:\n  - in: sample\n    speed: 10\n", 4, "unknown key 'speed'" },
	{ OBJECT PORTS "redirect:\n  flush: burst\n  drain: 1\n", 7, "unknown key 'drain'" },
	{ "object: a\nobject: b\n", 1, "given twice" },
	/* values */
	{ OBJECT PORTS "redirect:\n  flush: sometimes\n", 6, "none of burst, packet" },
	{ OBJECT PORTS "engine:\n  type: jit\n  burst: 65\n", 7, "number from 1 to 64" },
	{ OBJECT PORTS "engine:\n  type: turbo\n", 6, "auto, interp or jit" },
	{ OBJECT PORTS "run:\n  for: soon\n", 6, "not a duration" },
	{ OBJECT PORTS "run:\n  for: 1s\n  count: -3\n", 7, "run.count: '-3'" },
	{ OBJECT PORTS "routes:\n  - 10.0.0.0/8,dev=out1\n  - 10.0.0.0/33,dev=out1\n", 7,
	  "no prefix" },
	{ OBJECT PORTS "neighbours: [\"10.0.0.1,dev=nope,mac=02:00:00:00:00:01\"]\n", 5,
	  "no port or interface 'nope'" },
	/* ports */
	{ "ports:\n  - in: sample\n", 1, "object: is missing" },
	{ OBJECT, 1, "no port has in:" },
	{ OBJECT "ports:\n  - out: null\n", 2, "no port has in:" },
	{ OBJECT "ports:\n  - in: sample\n    out: null\n", 3, "one of in:, out:, port:" },
	{ OBJECT "ports:\n  - in: sample\n  - {}\n", 4, "one of in:, out:, port:" },
	{ OBJECT "ports:\n  - in: sample\n  - port: null\n", 4, "needs name:" },
	{ OBJECT "ports:\n  - in: warp:9\n", 3, "no port kind 'warp'" },
	{ OBJECT "ports:\n  - in: sample\n    name: a\n  - out: null\n    name: a\n", 5,
	  "named a already" },
	{ OBJECT "ports:\n  - in: sample,ifindex=4\n  - out: null,ifindex=4\n", 4, "ifindex 4" },
	/* a loop: an alias inside its own anchor; a capture that is read and written */
	{ OBJECT "ports: &a\n  - *a\n", 2, "alias" },
};

static void test_wrong_files(void **state)
{
	char where[96];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weir_error err;

		snprintf(where, sizeof(where), "%s:%d: ", path, wrong[i].line);
		assert_int_equal(load(wrong[i].text, &err), -EINVAL);
		if (strncmp(err.text, where, strlen(where)) != 0 ||
		    !strstr(err.text, wrong[i].reason))
			fail_msg("case %zu: expected %s...%s, is %s", i, where, wrong[i].reason,
				 err.text);
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_capture_loop(void **state)
{
	static const unsigned char pcap[24] = { 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0,
						0,    0,    0,	  0,	0, 0, 4, 0, 1, 0, 0, 0 };
	char file[80], text[256];
	struct weir_error err;
	FILE *f;

	snprintf(file, sizeof(file), "%s.pcap", path);
	f = fopen(file, "w");
	assert_non_null(f);
	fwrite(pcap, sizeof(pcap), 1, f);
	fclose(f);
	snprintf(text, sizeof(text), OBJECT "ports:\n  - in: pcap:%s\n  - out: pcap:%s,name=o\n",
		 file, file);
	assert_int_equal(load(text, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":4: "));
	assert_non_null(strstr(err.text, "loop"));
	unlink(file);
}

/* What is not the file's fault has another code than -EINVAL. */
static void test_other_failures(void **state)
{
	struct weir_run_opts opts = { .size = sizeof(opts) };
	struct weir *weir = NULL;
	struct weir_error err;

	assert_int_equal(load(OBJECT PORTS, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent.o"));
	assert_int_equal(weir_config_load(&weir, "/nonexistent.yaml", NULL, &opts, &err), -ENOENT);
	assert_int_equal(weir_config_load(&weir, "/tmp", NULL, &opts, &err), -EISDIR);
}

/* An alias of a scalar is no loop. */
static void test_aliases(void **state)
{
	struct weir_error err;

	assert_int_equal(
		load("object: &o /nonexistent.o\nports:\n  - in: sample\nprogram: *o\n", &err),
		-ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_capture_loop),
		cmocka_unit_test(test_other_failures),
		cmocka_unit_test(test_aliases),
	};
	int ret;

	snprintf(path, sizeof(path), "/tmp/weir_config_test.%d.yaml", (int)getpid());
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
