/* SPDX-License-Identifier: BSD-2-Clause */
/* weir map: the maps of a running instance, through its control socket. */
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"

struct map_args {
	const char *control;
	bool json;
};

static const struct option_def map_options[] = {
	{ "control", 0, OPTION_TEXT, "PATH",
	  "the instance's socket; default: the only one that runs",
	  offsetof(struct map_args, control), 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "JSON on stdout", offsetof(struct map_args, json), 0 },
	{ 0 },
};

/* One part of an entry: typed when the object has BTF, else its bytes. */
static void part_print(const json_t *entry, const char *part)
{
	json_t *typed = json_object_get(json_object_get(entry, "formatted"), part);
	json_t *plain = json_object_get(entry, part);
	char *text;

	if (!typed && json_is_array(plain)) {
		client_print_bytes(plain);
		return;
	}
	text = json_dumps(typed ? typed : plain, JSON_COMPACT | JSON_ENCODE_ANY);
	fputs(text ? text : "?", stdout);
	free(text);
}

static void percpu_print(const json_t *entry)
{
	const json_t *typed = json_object_get(json_object_get(entry, "formatted"), "values");
	const json_t *values = typed ? typed : json_object_get(entry, "values");
	json_t *value;
	size_t i;

	json_array_foreach(values, i, value)
	{
		printf("  cpu %lld = ", json_integer_value(json_object_get(value, "cpu")));
		part_print(value, "value");
		putchar('\n');
	}
}

static void entry_print(const json_t *entry)
{
	part_print(entry, "key");
	if (json_object_get(entry, "values")) {
		putchar('\n');
		percpu_print(entry);
		return;
	}
	fputs(" = ", stdout);
	part_print(entry, "value");
	putchar('\n');
}

static void entries_print(const json_t *result)
{
	json_t *entry;
	size_t i;

	json_array_foreach(result, i, entry) entry_print(entry);
}

static void list_print(const json_t *result)
{
	json_t *map;
	size_t i;

	json_array_foreach(result, i, map)
	{
		const char *name = "?", *type = "?";
		int id = 0, key = 0, value = 0, max = 0;

		if (json_unpack(map, "{s:i, s:s, s:s, s:i, s:i, s:i}", "id", &id, "name", &name,
				"type", &type, "key_size", &key, "value_size", &value,
				"max_entries", &max) == 0)
			printf("%d: %s  %s  key %d  value %d  max_entries %d\n", id, name, type,
			       key, value, max);
	}
}

static void nothing_print(const json_t *result)
{
}

/* The verbs, with how many arguments each takes. */
static const struct verb {
	const char *name, *command;
	int args;
	const char *form;
	void (*print)(const json_t *result);
} verbs[] = {
	{ "list", "map-list", 0, "weir map list", list_print },
	{ "dump", "map-dump", 1, "weir map dump NAME", entries_print },
	{ "get", "map-get", 2, "weir map get NAME KEY", entry_print },
	{ "set", "map-set", 3, "weir map set NAME KEY VALUE", nothing_print },
	{ "delete", "map-delete", 2, "weir map delete NAME KEY", nothing_print },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(name, verbs[i].name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static int map_ask(const struct verb *verb, char **words, const struct map_args *args)
{
	json_t *request =
		json_pack("{s:s, s:s*, s:s*, s:s*}", "command", verb->command, "map",
			  verb->args > 0 ? words[0] : NULL, "key", verb->args > 1 ? words[1] : NULL,
			  "value", verb->args > 2 ? words[2] : NULL);
	json_t *result;
	int code = client_ask(args->control, request, &result);

	if (code)
		return code;
	if (args->json)
		code = client_print_json(result);
	else
		verb->print(result);
	json_decref(result);
	return code;
}

static int map_main(const struct command *cmd, int argc, char **argv)
{
	struct map_args args = { 0 };
	const struct verb *verb;
	int first = options_parse(cmd, argc, argv, &args);

	if (first <= 0)
		return first < 0 ? EXIT_MISUSE : EXIT_FINE;
	if (first == argc)
		return options_misuse(cmd, "what to do is needed: list, dump, get, set or delete");
	verb = verb_find(argv[first]);
	if (!verb)
		return options_misuse(cmd, "'%s' is none of list, dump, get, set, delete",
				      argv[first]);
	if (argc - first - 1 != verb->args)
		return options_misuse(cmd, "the form is: %s", verb->form);
	return map_ask(verb, argv + first + 1, &args);
}

const struct command command_map = {
	.name = "map",
	.synopsis = "list [option ...]\ndump NAME [option ...]\nget NAME KEY [option ...]\n"
		    "set NAME KEY VALUE [option ...]\ndelete NAME KEY [option ...]",
	.summary = "show and change the maps of a running instance",
	.options = map_options,
	.run = map_main,
};
