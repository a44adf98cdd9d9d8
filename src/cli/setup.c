/* SPDX-License-Identifier: BSD-2-Clause */
/* From a command line to a loaded instance: see setup.h. */
#include "cli/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int setup_failed(const struct weir_error *err, int ret)
{
	fprintf(stderr, "weir: %s\n", err->text[0] ? err->text : strerror(-ret));
	return EXIT_FAILED;
}

/* The text of an option was wrong: misuse, unless what it names is at fault. */
static int option_failed(const struct weir_error *err, int ret)
{
	int code = setup_failed(err, ret);

	return ret == -EINVAL || ret == -EEXIST ? EXIT_MISUSE : code;
}

static void note_print(void *arg, const char *text)
{
	fprintf(stderr, "weir: note: %s\n", text);
}

static void event_print(void *arg, const char *text)
{
	FILE *out = arg;

	fprintf(out, "%s\n", text);
}

void setup_opts(const struct setup_args *args, struct weir_opts *opts)
{
	*opts = (struct weir_opts){
		.size = sizeof(*opts),
		.engine = (enum weir_engine)args->engine,
		.btf = args->btf,
		.pin_dir = args->pin_dir,
		.cpus = args->cpus,
		.cpu = args->cpu,
		.rx_queue = args->rx_queue,
		.fixed_time = args->time.set,
		.time_ns = args->time.ns,
		.note = args->quiet ? NULL : note_print,
	};
	if (args->events) {
		opts->event = event_print;
		/* stdout holds one JSON text: records go beside it. */
		opts->event_arg = args->json ? stderr : stdout;
		opts->event_json = args->json;
	}
}

/* Splits "a=b" at its first '='; `buf` gets a. NULL: no '=', or a is empty or too long. */
static const char *split_name(const char *text, char *buf, size_t size)
{
	const char *eq = strchr(text, '=');
	size_t len = eq ? (size_t)(eq - text) : 0;

	if (len == 0 || len >= size)
		return NULL;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return eq + 1;
}

static int set_apply(struct weir *weir, const char *text)
{
	struct weir_error err = { 0 };
	char key[64];
	const char *value = split_name(text, key, sizeof(key));
	int ret;

	if (!value) {
		fprintf(stderr, "weir: --set: '%s' is not KEY=VALUE\n", text);
		return EXIT_MISUSE;
	}
	ret = weir_set(weir, key, value, &err);
	return ret ? option_failed(&err, ret) : EXIT_FINE;
}

int setup_create(struct weir **ret_weir, const struct setup_args *args)
{
	struct weir_error err = { 0 };
	struct weir_opts opts;
	struct weir *weir;
	int ret;

	setup_opts(args, &opts);
	ret = weir_create(&weir, &opts, &err);
	if (ret)
		return option_failed(&err, ret);
	for (uint32_t i = 0; i < args->items.n; i++) {
		if (args->items.at[i].item != ITEM_SET)
			continue;
		ret = set_apply(weir, args->items.at[i].value);
		if (ret) {
			weir_destroy(weir);
			return ret;
		}
	}
	*ret_weir = weir;
	return EXIT_FINE;
}

static int port_apply(struct weir *weir, int item, const char *text)
{
	struct weir_error err = { 0 };
	enum weir_port_role role = item == ITEM_IN ? WEIR_PORT_IN : WEIR_PORT_OUT;
	const char *spec = text;
	char name[64];
	int ret;

	if (item == ITEM_PORT) {
		role = WEIR_PORT_EXTRA;
		spec = split_name(text, name, sizeof(name));
		if (!spec) {
			fprintf(stderr, "weir: --port: '%s' is not NAME=PORT\n", text);
			return EXIT_MISUSE;
		}
	}
	ret = weir_port_add(weir, role, item == ITEM_PORT ? name : NULL, spec, &err);
	return ret ? option_failed(&err, ret) : EXIT_FINE;
}

int setup_ports(struct weir *weir, const struct setup_args *args)
{
	for (uint32_t i = 0; i < args->items.n; i++) {
		int item = args->items.at[i].item;
		int code;

		if (item != ITEM_IN && item != ITEM_OUT && item != ITEM_PORT)
			continue;
		code = port_apply(weir, item, args->items.at[i].value);
		if (code)
			return code;
	}
	return EXIT_FINE;
}

static int item_apply(struct weir *weir, int item, const char *text, struct weir_error *err)
{
	switch (item) {
	case ITEM_ROUTE:
		return weir_route_add(weir, text, err);
	case ITEM_NEIGH:
		return weir_neigh_add(weir, text, err);
	case ITEM_MAP:
		return weir_state_map(weir, text, err);
	case ITEM_MAPS:
		return weir_state_maps_file(weir, text, err);
	case ITEM_GLOBAL:
		return weir_state_global(weir, text, err);
	default:
		return 0;
	}
}

int setup_load(struct weir *weir, const struct setup_args *args)
{
	struct weir_error err = { 0 };
	int ret = weir_object_open(weir, args->object, args->prog, &err);

	if (ret)
		return setup_failed(&err, ret);
	for (uint32_t i = 0; i < args->items.n; i++) {
		ret = item_apply(weir, args->items.at[i].item, args->items.at[i].value, &err);
		if (ret)
			return option_failed(&err, ret);
	}
	ret = weir_object_load(weir, &err);
	return ret ? setup_failed(&err, ret) : EXIT_FINE;
}

static int dump_write(const char *path, const char *json)
{
	bool to_stdout = strcmp(path, "-") == 0;
	FILE *out = to_stdout ? stdout : fopen(path, "we");
	int failed;

	if (!out) {
		fprintf(stderr, "weir: %s: %s\n", path, strerror(errno));
		return EXIT_FAILED;
	}
	failed = fprintf(out, "%s\n", json) < 0;
	failed |= (to_stdout ? fflush(out) : fclose(out)) != 0;
	if (failed)
		fprintf(stderr, "weir: %s: %s\n", path, strerror(errno));
	return failed ? EXIT_FAILED : EXIT_FINE;
}

static int maps_dump(struct weir *weir, const char *path)
{
	struct weir_error err = { 0 };
	char *json;
	int ret = weir_maps_dump(weir, &json, &err);

	if (ret)
		return setup_failed(&err, ret);
	ret = dump_write(path, json);
	free(json);
	return ret;
}

int setup_maps_after(struct weir *weir, const struct setup_args *args)
{
	struct weir_error err = { 0 };
	uint32_t different = 0;
	int code = EXIT_FINE, ret;

	if (args->dump_maps)
		code = maps_dump(weir, args->dump_maps);
	if (!args->expect_maps)
		return code;
	ret = weir_maps_expect(weir, args->expect_maps, args->json ? stderr : stdout, &different,
			       &err);
	if (ret)
		return setup_failed(&err, ret);
	if (different)
		fprintf(stderr, "weir: %u map entries differ from %s\n", different,
			args->expect_maps);
	return different ? EXIT_FAILED : code;
}
