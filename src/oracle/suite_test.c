/* SPDX-License-Identifier: BSD-2-Clause */
/* Suite files: what is read, and what is refused with which line. */
#include "oracle/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Loads text as a file; its name becomes FILE in the error. */
static int load(const char *text, struct suite **ret, struct err *err)
{
	char path[] = "/tmp/weir-suite-XXXXXX", *at;
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	rc = suite_load(ret, path, err);
	unlink(path);
	at = strstr(err->text, path);
	if (at) {
		memcpy(at, "FILE", 4);
		memmove(at + 4, at + strlen(path), strlen(at + strlen(path)) + 1);
	}
	return rc;
}

static void everything_is_read(void **state)
{
	static const char text[] =
		"defaults:\n"
		"  object: d.o\n"
		"  ports: [a=null]\n"
		"cases:\n"
		"  - name: one\n"
		"    prog: p\n"
		"    btf: b\n"
		"    maps: ['m[1]=2', 'm[2]=3']\n"
		"    maps_file: f.json\n"
		"    globals: [g=1]\n"
		"    set: [redirect.flush=packet]\n"
		"    cpu: 1\n"
		"    rx_queue: 2\n"
		"    time: 3\n"
		"    packets:\n"
		"      - { hex: '00 11', expect: { verdict: XDP_DROP, port: none } }\n"
		"      - capture: c.pcap\n"
		"      - sample: all\n"
		"    expect: { bytes: same, error: none, file: x, maps_file: y, maps: ['m[1]=2'] "
		"}\n";
	struct err err = { "" };
	const struct suite_case *c;
	struct suite *suite;

	if (load(text, &suite, &err))
		fail_msg("%s", err.text);
	assert_string_equal(suite->defaults->object, "d.o");
	assert_string_equal(suite->defaults->ports[0], "a=null");
	assert_int_equal(suite->cases_count, 1);
	c = suite->cases;
	assert_null(c->object);
	assert_string_equal(c->prog, "p");
	assert_string_equal(c->btf, "b");
	assert_int_equal(c->maps_count, 2);
	assert_string_equal(c->maps[1], "m[2]=3");
	assert_string_equal(c->globals[0], "g=1");
	assert_string_equal(c->set[0], "redirect.flush=packet");
	assert_int_equal(c->cpu, 1);
	assert_int_equal(c->rx_queue, 2);
	assert_int_equal(*c->time, 3);
	assert_int_equal(c->packets_count, 3);
	assert_string_equal(c->packets[0].expect->verdict, "XDP_DROP");
	assert_null(c->packets[0].expect->bytes);
	assert_string_equal(c->packets[1].capture, "c.pcap");
	assert_string_equal(c->packets[2].sample, "all");
	assert_string_equal(c->expect->file, "x");
	assert_string_equal(c->expect->maps_file, "y");
	suite_free(suite);
}

#define CASE "cases:\n  - name: a\n    object: o\n"

static const struct {
	const char *text, *error;
} bads[] = {
	{ "", "FILE:1: " },
	{ "cases: []\n", "FILE:1: " },
	{ "cases: 7\n", "FILE:1: " },
	{ "cases: [\n", "FILE:" },
	{ "case: []\n", "FILE:1: unknown key case" },
	{ CASE "    packets: [{ sample: all }]\n    pakets: []\n", "FILE:5: unknown key pakets" },
	{ CASE "    packets:\n      - sample: all\n        expect: { verdikt: DROP }\n",
	  "FILE:6: unknown key verdikt" },
	{ CASE "    packets: [{ sample: all }]\n    cpu: many\n", "FILE:5: " },
	{ CASE "    packets: [{ sample: all }]\n    maps: 'm[1]=2'\n", "FILE:5: " },
	{ "cases:\n  - object: o\n    packets: [{ sample: all }]\n", "FILE: case 1 has no name" },
	{ "cases:\n  - name: a\n    packets: [{ sample: all }]\n", "FILE: case a has no object" },
	{ CASE, "FILE: case a has no packets" },
	{ CASE "    packets: [{}]\n", "packet 1: expected one of hex, capture, sample" },
	{ CASE "    packets: [{ sample: all, hex: '00' }]\n",
	  "packet 1: expected one of hex, capture, sample" },
	{ CASE "    packets: [{ sample: all, expect: { maps_file: x } }]\n",
	  "packet 1: maps, maps_file and file belong to the case's expect" },
};

static void errors_name_the_line(void **state)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct suite *suite = NULL;
		struct err err = { "" };

		if (load(bads[i].text, &suite, &err) != -22)
			fail_msg("taken, or another error: %s%s", bads[i].text, err.text);
		assert_null(suite);
		if (!strstr(err.text, bads[i].error))
			fail_msg("\"%s\" lacks \"%s\"", err.text, bads[i].error);
	}
}

static void absent_file(void **state)
{
	struct suite *suite = NULL;
	struct err err = { "" };

	assert_int_equal(suite_load(&suite, "/nonexistent/s.yaml", &err), -2);
	assert_string_equal(err.text, "/nonexistent/s.yaml: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_read),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(absent_file),
	};

	return cmocka_run_group_tests_name("suite", tests, NULL, NULL);
}
