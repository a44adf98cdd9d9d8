/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests on a running instance: see control.h. */
#include "ctl/control.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/state.h"
#include "ctl/stats.h"

struct request {
	const char *command, *map, *key, *value;
};

/* Fills *ret with a new reference. */
typedef int (*command_fn)(struct weir *weir, const struct request *req, json_t **ret,
			  struct err *err);

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *map_json(const struct map *map)
{
	json_t *json = json_object();

	json_object_set_new(json, "id", number(map->obj.id));
	json_object_set_new(json, "name", json_string(map->name));
	json_object_set_new(json, "type", json_string(map_type_name(map->type)));
	json_object_set_new(json, "key_size", number(map->key_size));
	json_object_set_new(json, "value_size", number(map->value_size));
	json_object_set_new(json, "max_entries", number(map->max_entries));
	json_object_set_new(json, "flags", number(map->flags));
	return json;
}

static int map_list(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	const struct map *map;

	*ret = json_array();
	for (uint32_t i = 0; (map = object_map_at(weir->object, i)); i++)
		json_array_append_new(*ret, map_json(map));
	return 0;
}

static int unknown_map(struct weir *weir, const char *name, struct err *err)
{
	char list[512] = "";
	size_t len = 0;
	const struct map *map;

	for (uint32_t i = 0; (map = object_map_at(weir->object, i)) && len < sizeof(list) - 1; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					map->name);
	return err_set(err, ENOENT, "there is no map '%.100s'; there are: %s", name, list);
}

static int map_dump(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	struct map *map = object_map(weir->object, req->map);

	if (!map)
		return unknown_map(weir, req->map, err);
	return state_map_dump(weir, map, ret, err);
}

static int map_read(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	if (!object_map(weir->object, req->map))
		return unknown_map(weir, req->map, err);
	return state_map_get(weir, req->map, req->key, ret, err);
}

static int map_set(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	int code;

	if (!object_map(weir->object, req->map))
		return unknown_map(weir, req->map, err);
	code = state_map_set(weir, req->map, req->key, req->value, err);
	if (!code)
		*ret = json_true();
	return code;
}

static int map_delete(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	int code;

	if (!object_map(weir->object, req->map))
		return unknown_map(weir, req->map, err);
	code = state_map_delete(weir, req->map, req->key, err);
	if (!code)
		*ret = json_true();
	return code;
}

static json_t *prog_json(struct weir *weir, const struct prog *prog)
{
	json_t *json = json_object(), *ports = json_array();
	char tag[2 * BPF_TAG_SIZE + 1] = "";
	struct port *port;

	for (int i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(tag + 2 * i, 3, "%02x", prog->tag[i]);
	json_object_set_new(json, "id", number(prog->po.obj.id));
	json_object_set_new(json, "name", json_string(prog->po.name));
	json_object_set_new(json, "tag", json_string(tag));
	json_object_set_new(json, "engine",
			    json_string(prog->engine == ENGINE_JIT ? "jit" : "interp"));
	json_object_set_new(json, "insns", number(prog->n_insns));
	json_object_set_new(json, "maps", number(prog->n_maps));
	json_object_set_new(json, "load_time_ns", number(prog->load_time_ns));
	for (uint32_t i = 0; (port = engine_port_at(weir->engine, i)); i++) {
		if (engine_port_prog(weir->engine, port) == prog)
			json_array_append_new(ports, json_string(port->name));
	}
	json_object_set_new(json, "ports", ports);
	return json;
}

static int prog_list(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	const struct prog *prog;

	*ret = json_array();
	for (uint32_t i = 0; (prog = object_prog_at(weir->object, i)); i++)
		json_array_append_new(*ret, prog_json(weir, prog));
	return 0;
}

static int stats(struct weir *weir, const struct request *req, json_t **ret, struct err *err)
{
	*ret = stats_json(weir);
	return 0;
}

static const struct command {
	const char *name;
	bool map, key, value; /* what the request must have */
	command_fn fn;
} commands[] = {
	{ "map-list", false, false, false, map_list },
	{ "map-dump", true, false, false, map_dump },
	{ "map-get", true, true, false, map_read },
	{ "map-set", true, true, true, map_set },
	{ "map-delete", true, true, false, map_delete },
	{ "prog-list", false, false, false, prog_list },
	{ "stats", false, false, false, stats },
};

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int missing(const struct command *cmd, const struct request *req, struct err *err)
{
	const char *what = cmd->map && !req->map       ? "map"
			   : cmd->key && !req->key     ? "key"
			   : cmd->value && !req->value ? "value"
						       : NULL;

	if (!what)
		return 0;
	return err_set(err, EINVAL, "%s: \"%s\" is missing, or no string", cmd->name, what);
}

static int command_run(struct weir *weir, const json_t *json, json_t **ret, struct err *err)
{
	struct request req = {
		.command = json_string_value(json_object_get(json, "command")),
		.map = json_string_value(json_object_get(json, "map")),
		.key = json_string_value(json_object_get(json, "key")),
		.value = json_string_value(json_object_get(json, "value")),
	};
	const struct command *cmd = req.command ? command_find(req.command) : NULL;
	int code;

	if (!req.command)
		return err_set(err, EINVAL, "the request has no \"command\"");
	if (!cmd)
		return err_set(err, EINVAL, "there is no command '%.100s'", req.command);
	code = missing(cmd, &req, err);
	return code ? code : cmd->fn(weir, &req, ret, err);
}

char *control_answer(void *arg, const char *line)
{
	struct err err = { 0 };
	json_error_t where;
	json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, &where);
	json_t *result = NULL, *answer;
	char *text;
	int code;

	if (json)
		code = command_run(arg, json, &result, &err);
	else
		code = err_set(&err, EINVAL, "the request is not JSON: %s", where.text);
	answer = code ? json_pack("{s:s, s:s}", "error", err.text[0] ? err.text : strerror(-code),
				  "errno", errno_name(-code))
		      : json_pack("{s:o}", "result", result);
	text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	json_decref(json);
	return text ? text : strdup("{\"error\": \"no answer in UTF-8\"}");
}

int control_dir(char *buf, size_t size, struct err *err)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0) {
		snprintf(buf, size, "/run/weir");
		return 0;
	}
	if (!dir || dir[0] != '/' || strlen(dir) + sizeof("/weir") > size)
		return err_set(err, ENOENT,
			       "no place for control sockets: XDG_RUNTIME_DIR is not set; name one "
			       "with --control");
	snprintf(buf, size, "%s/weir", dir);
	return 0;
}
