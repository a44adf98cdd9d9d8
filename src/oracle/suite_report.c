/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the cases of a suite and writes TAP (version 13) or JUnit XML. See suite.h. */
#include "oracle/suite.h"

#include "base/clock.h"
#include "ctl/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct verdict {
	bool passed;
	char *why; /* lines; NULL: nothing */
	double seconds;
};

/* Text as XML: the five characters, and control characters as spaces. */
static void print_xml(const char *text, FILE *out)
{
	for (; text && *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&apos;", out);
			break;
		default:
			fputc((unsigned char)*text < ' ' && *text != '\n' ? ' ' : *text, out);
		}
	}
}

static void print_tap(const struct suite *suite, const struct verdict *verdicts, FILE *out)
{
	fprintf(out, "TAP version 13\n1..%u\n", suite->cases_count);
	for (unsigned i = 0; i < suite->cases_count; i++) {
		const struct verdict *v = &verdicts[i];
		const char *line = v->why;

		/* # would begin a directive */
		fprintf(out, "%s %u - ", v->passed ? "ok" : "not ok", i + 1);
		for (const char *p = suite->cases[i].name; *p; p++)
			fputc(*p == '#' || *p == '\n' ? '_' : *p, out);
		fputc('\n', out);
		if (v->passed)
			continue;
		fputs("  ---\n  message: |\n", out);
		while (line && *line) {
			size_t n = strcspn(line, "\n");

			fprintf(out, "    %.*s\n", (int)n, line);
			line += n + (line[n] == '\n');
		}
		fputs("  ...\n", out);
	}
}

static void print_junit(const struct suite *suite, const struct verdict *verdicts, const char *name,
			uint32_t failed, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"", out);
	print_xml(name, out);
	fprintf(out, "\" tests=\"%u\" failures=\"%u\">\n", suite->cases_count, failed);
	for (unsigned i = 0; i < suite->cases_count; i++) {
		const struct verdict *v = &verdicts[i];

		fputs("<testcase classname=\"", out);
		print_xml(name, out);
		fputs("\" name=\"", out);
		print_xml(suite->cases[i].name, out);
		fprintf(out, "\" time=\"%.6f\"", v->seconds);
		if (v->passed) {
			fputs("/>\n", out);
			continue;
		}
		fputs(">\n<failure message=\"not as expected\">", out);
		print_xml(v->why, out);
		fputs("</failure>\n</testcase>\n", out);
	}
	fputs("</testsuite>\n</testsuites>\n", out);
}

static void run_case(const struct suite *suite, unsigned i, const char *dir,
		     enum weir_engine engine, struct verdict *v)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct err err = { "" };
	size_t size;
	FILE *why = open_memstream(&v->why, &size);
	int rc;

	if (!why)
		return;
	rc = suite_case_run(suite, &suite->cases[i], dir, engine, why, &v->passed, &err);
	if (rc)
		fprintf(why, "%s\n", *err.text ? err.text : errno_name(rc));
	fclose(why);
	v->seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
}

/* The folder of a path. Returns buf. */
static char *dir_of(const char *path, char *buf, size_t n)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(buf, n, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	else
		snprintf(buf, n, ".");
	return buf;
}

int weir_suite(const char *path, enum weir_engine engine, enum weir_suite_format format, FILE *out,
	       uint32_t *ret_failed, struct weir_error *err)
{
	struct verdict *verdicts;
	struct suite *suite;
	uint32_t failed = 0;
	char dir[4096];
	int rc;

	rc = suite_load(&suite, path, instance_err(err));
	if (rc)
		return rc;
	verdicts = calloc(suite->cases_count, sizeof(*verdicts));
	if (!verdicts) {
		suite_free(suite);
		return err_set(instance_err(err), ENOMEM, "out of memory");
	}
	dir_of(path, dir, sizeof(dir));
	for (unsigned i = 0; i < suite->cases_count; i++) {
		run_case(suite, i, dir, engine, &verdicts[i]);
		failed += !verdicts[i].passed;
	}
	if (format == WEIR_SUITE_TAP)
		print_tap(suite, verdicts, out);
	else
		print_junit(suite, verdicts, path, failed, out);
	for (unsigned i = 0; i < suite->cases_count; i++)
		free(verdicts[i].why);
	free(verdicts);
	suite_free(suite);
	*ret_failed = failed;
	return 0;
}
