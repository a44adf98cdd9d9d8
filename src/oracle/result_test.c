/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte differences, verdict names, and results in words and JSON. */
#include "oracle/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>

static const struct {
	const char *a, *b, *text;
} diffs[] = {
	{ "abcdef", "abcdef", "" },
	{ "abcdef", "abXdef", "at 2: 63 -> 58\n" },
	{ "abcdef", "XbcdeY", "at 0: 61 62 63 64 65 66 -> 58 62 63 64 65 59\n" },
	{ "abcdefgh", "XbcdefgY", "at 0: 61 -> 58\nat 7: 68 -> 59\n" },
	{ "abcdef", "12abcdef", "at 0: nothing -> 31 32\nlength 6 -> 8\n" },
	{ "abcdef", "ab12cdef", "at 2: nothing -> 31 32\nlength 6 -> 8\n" },
	{ "abcdef", "abef", "at 2: 63 64 -> nothing\nlength 6 -> 4\n" },
	{ "abcdef", "abcd", "at 4: 65 66 -> nothing\nlength 6 -> 4\n" },
	{ "abcdef", "aXYZf", "at 1: 62 63 64 65 -> 58 59 5a\nlength 6 -> 5\n" },
	{ "aaaa", "aa", "at 2: 61 61 -> nothing\nlength 4 -> 2\n" },
	{ "", "ab", "at 0: nothing -> 61 62\nlength 0 -> 2\n" },
};

static void bytes_differ(void **state)
{
	for (size_t i = 0; i < sizeof(diffs) / sizeof(diffs[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		bytes_print_diff((const uint8_t *)diffs[i].a, (uint32_t)strlen(diffs[i].a),
				 (const uint8_t *)diffs[i].b, (uint32_t)strlen(diffs[i].b), "",
				 out);
		fclose(out);
		assert_string_equal(text, diffs[i].text);
		free(text);
	}
}

static void verdicts_have_names(void **state)
{
	char buf[24];

	assert_string_equal(verdict_name(XDP_TX, buf, sizeof(buf)), "XDP_TX");
	assert_string_equal(verdict_name(7, buf, sizeof(buf)), "unknown 7");
	assert_int_equal(verdict_parse("XDP_REDIRECT"), XDP_REDIRECT);
	assert_int_equal(verdict_parse("xdp_drop"), XDP_DROP);
	assert_int_equal(verdict_parse("Aborted"), XDP_ABORTED);
	assert_int_equal(verdict_parse("XDP_"), -22);
	assert_int_equal(verdict_parse("unknown 7"), -22);
}

/* The JSON of design 10, in its order. */
static void json_is(const struct outcome *o, const struct port *in, const char *want)
{
	struct result r = { .n = 3, .in = (const uint8_t *)"ab", .in_len = 2 };
	json_t *json;
	char *text;

	result_fill(&r, o, in);
	json = result_json(&r);
	text = json_dumps(json, JSON_COMPACT);
	assert_string_equal(text, want);
	free(text);
	json_decref(json);
}

static void results_as_json(void **state)
{
	static struct outcome o;
	static const struct port in = { .name = "in", .ifindex = 1 },
				 out = { .name = "out1", .ifindex = 2 };

	memcpy(o.bytes, "METAab", 6);
	o.len = 2;
	o.meta_len = 4;
	o.verdict = XDP_DROP;
	o.dropped = true;
	o.reason = DROP_XDP_DROP;
	json_is(&o, &in,
		"{\"n\":3,\"verdict\":\"XDP_DROP\",\"to\":null,\"error\":null,\"reason\":null,"
		"\"bytes\":\"6162\"}");
	o.verdict = XDP_REDIRECT;
	o.dropped = false;
	o.to = &out;
	json_is(&o, &in,
		"{\"n\":3,\"verdict\":\"XDP_REDIRECT\",\"to\":{\"port\":\"out1\",\"map\":null,"
		"\"key\":null,\"program\":null},"
		"\"error\":null,\"reason\":null,\"bytes\":\"6162\"}");
	o.to = NULL;
	o.dropped = true;
	o.error = -100;
	o.reason = DROP_REDIRECT_ENETDOWN;
	json_is(&o, &in,
		"{\"n\":3,\"verdict\":\"XDP_REDIRECT\",\"to\":null,\"error\":\"ENETDOWN\","
		"\"reason\":\"redirect to an interface that is down\",\"bytes\":\"6162\"}");
	/* A capture takes no XDP_TX, which is no failure of the program. */
	o.verdict = XDP_TX;
	o.error = -95;
	o.reason = DROP_TX_NO_PORT;
	json_is(&o, &in,
		"{\"n\":3,\"verdict\":\"XDP_TX\",\"to\":{\"port\":\"in\",\"map\":null,\"key\":null,"
		"\"program\":null},"
		"\"error\":null,\"reason\":null,\"bytes\":\"6162\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_differ),
		cmocka_unit_test(verdicts_have_names),
		cmocka_unit_test(results_as_json),
	};

	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
