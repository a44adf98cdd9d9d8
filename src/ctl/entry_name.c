/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports, programs and maps as map values: see entry_name.h. */
#include "ctl/entry_name.h"

#include "bpf/sys.h"
#include "maps/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_LEN = 300 };

/* Both struct bpf_devmap_val and struct bpf_cpumap_val: a number, then a program. */
struct number_prog {
	uint32_t number;
	int32_t prog;
};

static bool map_is_dev(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_DEVMAP || map->type == BPF_MAP_TYPE_DEVMAP_HASH;
}

static bool map_is_outer(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS || map->type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

bool map_holds_names(const struct map *map)
{
	return map_is_dev(map) || map_is_outer(map) || map->type == BPF_MAP_TYPE_CPUMAP ||
	       map->type == BPF_MAP_TYPE_PROG_ARRAY;
}

static void list_ports(struct weir *weir, char *names, size_t n)
{
	struct port *port;

	*names = '\0';
	for (uint32_t i = 0; (port = engine_port_at(weir->engine, i)); i++)
		snprintf(names + strlen(names), n - strlen(names), "%s%s", i ? ", " : "",
			 port->name);
}

static void list_progs(struct weir *weir, char *names, size_t n)
{
	struct prog *prog;

	*names = '\0';
	for (uint32_t i = 0; (prog = object_prog_at(weir->object, i)); i++)
		snprintf(names + strlen(names), n - strlen(names), "%s%s", i ? ", " : "",
			 prog->po.name);
}

static void list_maps(struct weir *weir, char *names, size_t n)
{
	struct map *map;

	*names = '\0';
	for (uint32_t i = 0; (map = object_map_at(weir->object, i)); i++)
		snprintf(names + strlen(names), n - strlen(names), "%s%s", i ? ", " : "",
			 map->name);
}

/* A number from a tree; -EINVAL when it is none. */
static int tree_number(json_t *tree, uint32_t *ret)
{
	int negative = 0;
	uint64_t v = 0;

	if (json_is_integer(tree))
		v = (uint64_t)json_integer_value(tree);
	else if (!json_is_string(tree) || value_integer(json_string_value(tree), &v, &negative))
		return -EINVAL;
	if (negative || v > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

static int set_ifindex(struct entry *e, json_t *tree, uint32_t *ret, struct err *err)
{
	const char *name = json_string_value(tree);
	char names[NAMES_LEN];
	struct port *port;

	port = name && e->weir->engine ? engine_port_by_name(e->weir->engine, name) : NULL;
	if (port) {
		*ret = port->ifindex;
		return 0;
	}
	if (!tree_number(tree, ret))
		return 0;
	if (e->weir->engine)
		list_ports(e->weir, names, sizeof(names));
	else
		names[0] = '\0';
	return err_set(
		err, EINVAL,
		"map %s: value.ifindex: expected a port or an ifindex, not \"%.64s\": ports are %s",
		e->map->name, name ? name : "an object", *names ? names : "none (add --port)");
}

/* A program or map by name becomes a descriptor that lives until the entry's next value. */
static int set_object(struct entry *e, json_t *tree, bool map, int32_t *ret_fd, struct err *err)
{
	const char *name = json_string_value(tree);
	struct obj *obj = NULL;
	char names[NAMES_LEN];

	if (name && map) {
		struct map *inner = object_map(e->weir->object, name);

		obj = inner ? &inner->obj : NULL;
	} else if (name) {
		struct prog *prog = object_prog(e->weir->object, name);

		obj = prog ? &prog->po.obj : NULL;
	}
	if (!obj) {
		if (map)
			list_maps(e->weir, names, sizeof(names));
		else
			list_progs(e->weir, names, sizeof(names));
		return err_set(err, EINVAL,
			       "map %s: value: expected the name of a %s, not \"%.64s\": the "
			       "object has %s",
			       e->map->name, map ? "map" : "program", name ? name : "a number",
			       names);
	}
	e->fd = sys_fd_install(obj);
	if (e->fd < 0)
		return err_set(err, -e->fd, "map %s: no descriptor for %s: %s", e->map->name, name,
			       errno_name(e->fd));
	*ret_fd = e->fd;
	return 0;
}

/* {ifindex: .., bpf_prog: ..} of a devmap, {qsize: .., bpf_prog: ..} of a cpumap. */
static int set_number_prog(struct entry *e, json_t *tree, struct number_prog *v, struct err *err)
{
	const char *first = map_is_dev(e->map) ? "ifindex" : "qsize", *name;
	json_t *item;
	int rc;

	json_object_foreach(tree, name, item)
	{
		if (!strcmp(name, "bpf_prog") && e->map->value_size == sizeof(*v)) {
			rc = json_is_null(item) ? 0 : set_object(e, item, false, &v->prog, err);
		} else if (!strcmp(name, "ifindex") && map_is_dev(e->map)) {
			rc = set_ifindex(e, item, &v->number, err);
		} else if (!strcmp(name, "qsize") && !map_is_dev(e->map)) {
			rc = tree_number(item, &v->number);
			if (rc)
				err_set(err, EINVAL, "map %s: value.qsize: expected a number",
					e->map->name);
		} else {
			rc = err_set(err, EINVAL, "map %s: value: no field %s: it has %s%s",
				     e->map->name, name, first,
				     e->map->value_size == sizeof(*v) ? ", bpf_prog" : "");
		}
		if (rc)
			return rc;
	}
	return 0;
}

int entry_set_name(struct entry *e, json_t *tree, struct err *err)
{
	struct number_prog v = { 0, 0 };
	uint32_t size = e->map->value_size;
	int rc;

	if (map_is_outer(e->map) || e->map->type == BPF_MAP_TYPE_PROG_ARRAY) {
		rc = set_object(e, tree, map_is_outer(e->map), &v.prog, err);
		if (!rc)
			memcpy(e->value, &v.prog, sizeof(v.prog));
		return rc;
	}
	if (json_is_object(tree)) {
		rc = set_number_prog(e, tree, &v, err);
	} else if (value_is_hex(tree, &v, size < sizeof(v) ? size : sizeof(v))) {
		/* bytes of another instance: a program's id there means nothing here */
		rc = v.prog > 0 ? err_set(err, EINVAL,
					  "map %s: value: a program in bytes is not known: write "
					  "its name in \"formatted\"",
					  e->map->name)
				: 0;
		v.prog = 0;
	} else if (map_is_dev(e->map)) {
		rc = set_ifindex(e, tree, &v.number, err);
	} else {
		rc = tree_number(tree, &v.number);
		if (rc)
			err_set(err, EINVAL,
				"map %s: value: expected a queue size, or {qsize: N, bpf_prog: "
				"NAME}",
				e->map->name);
	}
	if (!rc)
		memcpy(e->value, &v, size < sizeof(v) ? size : sizeof(v));
	return rc;
}

static json_t *object_name(enum obj_kind kind, uint32_t id)
{
	struct obj *obj = id ? obj_by_id(kind, id) : NULL;
	json_t *name;

	if (!obj)
		return json_null();
	if (kind == OBJ_MAP)
		name = json_string(((struct map *)obj)->name);
	else
		name = json_string(((struct prog_obj *)obj)->name);
	obj_put(obj);
	return name;
}

json_t *entry_name_json(const struct entry *e)
{
	struct number_prog v = { 0, 0 };
	bool has_prog = e->map->value_size >= sizeof(v);
	json_t *number;
	struct port *port;

	memcpy(&v, e->value, has_prog ? sizeof(v) : sizeof(v.number));
	if (map_is_outer(e->map))
		return object_name(OBJ_MAP, v.number);
	if (e->map->type == BPF_MAP_TYPE_PROG_ARRAY)
		return object_name(OBJ_PROG, v.number);
	port = map_is_dev(e->map) && e->weir->engine
		       ? engine_port_by_ifindex(e->weir->engine, v.number)
		       : NULL;
	number = port ? json_string(port->name) : json_integer(v.number);
	if (!has_prog)
		return number;
	return json_pack("{s:o, s:o}", map_is_dev(e->map) ? "ifindex" : "qsize", number, "bpf_prog",
			 object_name(OBJ_PROG, (uint32_t)v.prog));
}
