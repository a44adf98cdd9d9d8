/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps as JSON in bpftool's dump format, and their comparison with an earlier dump. See state.h. */
#include "ctl/state.h"

#include "ctl/entry.h"
#include "maps/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls fn for every entry of the map, whose value is loaded into e; stops at an error of fn. */
static int entry_each(struct entry *e, int (*fn)(struct entry *e, void *arg), void *arg)
{
	/* A hash that changes underneath may show a key again: no walk is longer than twice the map. */
	uint64_t left = 2 * (uint64_t)e->map->max_entries + 2;
	uint8_t *next = calloc(1, e->map->key_size + 1);
	const uint8_t *key = NULL;
	int rc = 0;

	if (!next)
		return -ENOMEM;
	if (map_has_no_keys(e->map) || !e->map->ops->next_key)
		goto out;
	while (left-- && !map_sys_next_key(e->map, key, next)) {
		memcpy(e->key, next, e->map->key_size);
		key = e->key;
		if (entry_load(e))
			continue;
		rc = fn(e, arg);
		if (rc)
			break;
	}
out:
	free(next);
	return rc;
}

static bool map_is_array(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool value_is_zero(const struct entry *e)
{
	uint32_t n = map_sys_value_size(e->map);

	return !n || (!e->value[0] && !memcmp(e->value, e->value + 1, n - 1));
}

struct dump {
	json_t *list;
	bool skip_zero; /* entries of arrays that are all zero */
};

static int dump_entry(struct entry *e, void *arg)
{
	struct dump *dump = arg;

	if (dump->skip_zero && map_is_array(e->map) && value_is_zero(e))
		return 0;
	return json_array_append_new(dump->list, entry_json(e)) ? -ENOMEM : 0;
}

static int dump_map(struct weir *weir, struct map *map, bool skip_zero, json_t **ret,
		    struct err *err)
{
	struct dump dump = { .list = json_array(), .skip_zero = skip_zero };
	struct entry e;
	int rc;

	rc = entry_init(&e, weir, map, err);
	if (rc)
		goto err_list;
	rc = dump.list ? entry_each(&e, dump_entry, &dump) : -ENOMEM;
	entry_fini(&e);
	if (rc) {
		err_set(err, -rc, "map %s: dump: %s", map->name, errno_name(rc));
		goto err_list;
	}
	*ret = dump.list;
	return 0;
err_list:
	json_decref(dump.list);
	return rc;
}

int state_map_dump(struct weir *weir, struct map *map, json_t **ret, struct err *err)
{
	return dump_map(weir, map, false, ret, err);
}

/* Frozen maps are constants of the object; ring buffers and the like hold no entries. */
static bool map_is_state(const struct map *map)
{
	return map->key_size && map->ops->next_key && (map->ops->sys_lookup || map->ops->lookup) &&
	       !map->frozen && map->type != BPF_MAP_TYPE_PERF_EVENT_ARRAY &&
	       map->type != BPF_MAP_TYPE_XSKMAP;
}

int state_dump_all(struct weir *weir, json_t **ret, struct err *err)
{
	json_t *root = json_object(), *list;
	struct map *map;
	int rc = 0;

	for (uint32_t i = 0; root && (map = object_map_at(weir->object, i)); i++) {
		if (!map_is_state(map))
			continue;
		rc = dump_map(weir, map, true, &list, err);
		if (!rc && json_object_set_new(root, map->name, list))
			rc = -ENOMEM;
		if (rc)
			break;
	}
	if (rc || !root) {
		json_decref(root);
		return rc ? rc : err_set(err, ENOMEM, "out of memory");
	}
	*ret = root;
	return 0;
}

int weir_maps_dump(struct weir *weir, char **ret_json, struct weir_error *err)
{
	json_t *root;
	char *text;
	int rc;

	rc = state_dump_all(weir, &root, instance_err(err));
	if (rc)
		return rc;
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	if (!text)
		return err_set(instance_err(err), ENOMEM, "out of memory");
	*ret_json = text;
	return 0;
}

/* A map name and a key text for entry_init and entry_set_key, done by both get and delete. */
static int entry_open(struct entry *e, struct weir *weir, const char *name, const char *key,
		      struct err *err)
{
	struct map *map = state_map_named(weir, name, err);
	json_t *tree;
	int rc;

	if (!map)
		return -ENOENT;
	rc = value_tree(key, &tree, err);
	if (rc)
		return err_prefix(err, -rc, "map %s: key", name);
	rc = entry_init(e, weir, map, err);
	if (!rc) {
		rc = entry_set_key(e, tree, err);
		if (rc)
			entry_fini(e);
	}
	json_decref(tree);
	return rc;
}

int state_map_get(struct weir *weir, const char *map, const char *key, json_t **ret,
		  struct err *err)
{
	struct entry e;
	int rc;

	rc = entry_open(&e, weir, map, key, err);
	if (rc)
		return rc;
	rc = entry_load(&e);
	if (!rc)
		*ret = entry_json(&e);
	else
		err_set(err, -rc, "map %s has no entry %s: %s", map, key, errno_name(rc));
	entry_fini(&e);
	return rc;
}

int state_map_delete(struct weir *weir, const char *map, const char *key, struct err *err)
{
	struct entry e;
	int rc;

	rc = entry_open(&e, weir, map, key, err);
	if (rc)
		return rc;
	rc = map_sys_delete(e.map, e.key);
	if (rc)
		err_set(err, -rc, "map %s, key %s: delete: %s", map, key, errno_name(rc));
	entry_fini(&e);
	return rc;
}
