/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparing two snapshots entry by entry: see snapshot.h. */
#include "snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diff {
	void (*fn)(void *arg, const char *text);
	void *arg;
	uint32_t n;
};

static void say(struct diff *diff, const char *map, json_t *ours, json_t *theirs)
{
	const char *key = json_string_value(json_object_get(ours ? ours : theirs, "key"));
	char *a = ours ? json_dumps(ours, JSON_COMPACT) : NULL;
	char *b = theirs ? json_dumps(theirs, JSON_COMPACT) : NULL;
	char text[1024];

	diff->n++;
	if (diff->fn) {
		snprintf(text, sizeof(text), "map %s[%s]: %s here, %s there", map, key ? key : "?",
			 a ? a : "absent", b ? b : "absent");
		diff->fn(diff->arg, text);
	}
	free(a);
	free(b);
}

/* Both lists are in order of their keys: a merge. */
static void diff_entries(struct diff *diff, const char *map, json_t *ours, json_t *theirs)
{
	size_t i = 0, j = 0;

	while (i < json_array_size(ours) || j < json_array_size(theirs)) {
		json_t *a = json_array_get(ours, i), *b = json_array_get(theirs, j);
		int order = !a	 ? 1
			    : !b ? -1
				 : strcmp(json_string_value(json_object_get(a, "key")),
					  json_string_value(json_object_get(b, "key")));

		if (order < 0)
			say(diff, map, a, NULL);
		else if (order > 0)
			say(diff, map, NULL, b);
		else if (!json_equal(a, b))
			say(diff, map, a, b);
		i += order <= 0;
		j += order >= 0;
	}
}

uint32_t snapshot_diff(json_t *ours, json_t *theirs, void (*fn)(void *arg, const char *text),
		       void *arg)
{
	struct diff diff = { fn, arg, 0 };
	const char *name;
	json_t *content;

	json_object_foreach(ours, name, content)
		diff_entries(&diff, name, json_object_get(content, "entries"),
			     json_object_get(json_object_get(theirs, name), "entries"));
	json_object_foreach(theirs, name, content) if (!json_object_get(ours, name))
		diff_entries(&diff, name, NULL, json_object_get(content, "entries"));
	return diff.n;
}
