/* SPDX-License-Identifier: BSD-2-Clause */
/* One request to a running instance: see client.h. */
#include "cli/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/run.h>

#include "cli/setup.h"

static int answer_result(const char *text, json_t **ret)
{
	json_t *answer = json_loads(text, 0, NULL);
	json_t *result = json_object_get(answer, "result");

	if (!result) {
		fprintf(stderr, "weir: the instance gave an answer that is not understood\n");
		json_decref(answer);
		return EXIT_FAILED;
	}
	*ret = json_incref(result);
	json_decref(answer);
	return EXIT_FINE;
}

int client_ask(const char *control, json_t *request, json_t **ret_result)
{
	struct weir_error err = { 0 };
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	char *answer;
	int ret;

	json_decref(request);
	if (!text) {
		fprintf(stderr, "weir: the request is not valid UTF-8\n");
		return EXIT_MISUSE;
	}
	ret = weir_control(control, text, &answer, &err);
	free(text);
	if (ret)
		return setup_failed(&err, ret);
	ret = answer_result(answer, ret_result);
	free(answer);
	return ret;
}

int client_print_json(const json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
	int bad = !text || puts(text) < 0 || fflush(stdout);

	free(text);
	return bad ? EXIT_FAILED : EXIT_FINE;
}

void client_print_bytes(const json_t *bytes)
{
	size_t i;
	json_t *byte;

	json_array_foreach(bytes, i, byte)
	{
		const char *text = json_string_value(byte);

		if (text)
			printf("%s%s", i ? " " : "", strncmp(text, "0x", 2) == 0 ? text + 2 : text);
	}
}
