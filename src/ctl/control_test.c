/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that are wrong, and the client's own failures. What right ones do: tests/cli/run_test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <weir/run.h>

#include "ctl/control.h"

static void test_wrong_requests(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "", "not JSON" },
		{ "\x01\xff\xfe", "not JSON" },
		{ "{", "not JSON" },
		{ "[]", "no \"command\"" },
		{ "{}", "no \"command\"" },
		{ "{\"command\": 7}", "no \"command\"" },
		{ "{\"command\": \"reboot\"}", "no command 'reboot'" },
		{ "{\"command\": \"map-dump\"}", "map-dump: \"map\" is missing" },
		{ "{\"command\": \"map-get\", \"map\": \"m\"}", "\"key\" is missing" },
		{ "{\"command\": \"map-set\", \"map\": \"m\", \"key\": \"1\"}",
		  "\"value\" is missing" },
		{ "{\"command\": \"map-delete\", \"map\": [1], \"key\": \"1\"}",
		  "\"map\" is missing" },
		{ "{\"command\": \"stats\", \"command\": \"stats\"}", "not JSON" },
	};
	struct weir weir = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *answer = control_answer(&weir, cases[i].line);
		json_t *json = json_loads(answer, 0, NULL);

		assert_non_null(json);
		assert_null(strchr(answer, '\n'));
		assert_non_null(
			strstr(json_string_value(json_object_get(json, "error")), cases[i].text));
		assert_string_equal(json_string_value(json_object_get(json, "errno")), "EINVAL");
		json_decref(json);
		free(answer);
	}
}

/* Depth is jansson's to bound; a line of brackets must not end the process. */
static void test_deep_request(void **state)
{
	struct weir weir = { 0 };
	char *line = malloc(65536), *answer;

	memset(line, '[', 65535);
	line[65535] = '\0';
	answer = control_answer(&weir, line);
	assert_non_null(strstr(answer, "\"error\""));
	free(answer);
	free(line);
}

static void test_client_errors(void **state)
{
	struct weir_error err = { 0 };
	char *answer = NULL;

	assert_int_equal(weir_control("/nonexistent/weir.sock", "{}", &answer, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/weir.sock"));
	assert_int_equal(weir_control("", "{}", &answer, &err), -EINVAL);
	assert_int_equal(weir_control("/x", "{\n}", &answer, &err), -EINVAL);
	assert_null(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_requests),
		cmocka_unit_test(test_deep_request),
		cmocka_unit_test(test_client_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
