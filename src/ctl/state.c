/* SPDX-License-Identifier: BSD-2-Clause */
/* State before traffic: the queue of --map, --maps and --global, and its application. See state.h. */
#include "ctl/state.h"

#include "ctl/entry.h"
#include "maps/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum item_kind { ITEM_MAP, ITEM_FILE, ITEM_GLOBAL };

struct instance_state {
	uint32_t n;
	struct {
		enum item_kind kind;
		char *text;
	} items[INSTANCE_STATE_MAX];
};

static int queue(struct weir *weir, enum item_kind kind, const char *text, struct err *err)
{
	struct instance_state *state = weir->state;

	if (!state) {
		state = weir->state = calloc(1, sizeof(*state));
		if (!state)
			return err_set(err, ENOMEM, "out of memory");
	}
	if (state->n == INSTANCE_STATE_MAX)
		return err_set(err, E2BIG, "more than %d items of state: use a file (--maps)",
			       INSTANCE_STATE_MAX);
	state->items[state->n].text = strdup(text);
	if (!state->items[state->n].text)
		return err_set(err, ENOMEM, "out of memory");
	state->items[state->n++].kind = kind;
	return 0;
}

void state_free(struct instance_state *state)
{
	if (!state)
		return;
	for (uint32_t i = 0; i < state->n; i++)
		free(state->items[i].text);
	free(state);
}

const char *state_global_at(const struct instance_state *state, uint32_t i)
{
	for (uint32_t at = 0; state && at < state->n; at++) {
		if (state->items[at].kind == ITEM_GLOBAL && i-- == 0)
			return state->items[at].text;
	}
	return NULL;
}

/* The ] that closes the key, which may hold lists of its own. */
static char *key_end(char *key)
{
	int depth = 0;

	for (char *p = key; *p; p++) {
		if (*p == '[')
			depth++;
		else if (*p == ']' && depth-- == 0)
			return p;
	}
	return NULL;
}

int assignment_cut(struct assignment *a, char *text, struct err *err)
{
	char *open = strchr(text, '['), *end = open ? key_end(open + 1) : NULL;

	if (!open || open == text || !end || end[1] != '=' || !end[2])
		return err_set(err, EINVAL, "expected NAME[KEY]=VALUE, not \"%.200s\"", text);
	*open = *end = '\0';
	a->name = text;
	a->key = open + 1;
	a->value = end + 2;
	return 0;
}

int weir_state_map(struct weir *weir, const char *text, struct weir_error *error)
{
	struct err *err = instance_err(error);
	struct assignment a;
	char *copy = strdup(text);
	int rc;

	if (!copy)
		return err_set(err, ENOMEM, "out of memory");
	rc = assignment_cut(&a, copy, err);
	free(copy);
	return rc ? rc : queue(weir, ITEM_MAP, text, err);
}

int weir_state_global(struct weir *weir, const char *text, struct weir_error *error)
{
	const char *eq = strchr(text, '=');

	if (!eq || eq == text || !eq[1])
		return err_set(instance_err(error), EINVAL, "expected NAME=VALUE, not \"%.200s\"",
			       text);
	return queue(weir, ITEM_GLOBAL, text, instance_err(error));
}

int weir_state_maps_file(struct weir *weir, const char *path, struct weir_error *error)
{
	return queue(weir, ITEM_FILE, path, instance_err(error));
}

static int apply_global(struct weir *weir, const char *text, struct err *err)
{
	size_t n = strcspn(text, "=");
	struct value_type type;
	char name[128], what[160];
	uint32_t size, id;
	void *bytes;
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	rc = object_global(weir->object, name, &bytes, &size, &id);
	if (rc)
		return err_set(err, -rc,
			       "%s has no global variable %s in .data, .rodata or .bss: is it "
			       "used, and not optimised away?",
			       object_path(weir->object), name);
	type = value_type_of(object_btf(weir->object), id, size);
	snprintf(what, sizeof(what), "global %s", name);
	return value_parse(&type, what, text + n + 1, bytes, err);
}

int state_apply_globals(struct weir *weir, struct err *err)
{
	struct instance_state *state = weir->state;
	int rc = 0;

	for (uint32_t i = 0; state && i < state->n && !rc; i++) {
		if (state->items[i].kind == ITEM_GLOBAL)
			rc = apply_global(weir, state->items[i].text, err);
	}
	return rc;
}

struct map *state_map_named(struct weir *weir, const char *name, struct err *err)
{
	struct map *map = object_map(weir->object, name);
	char names[400] = "";

	if (map)
		return map;
	for (uint32_t i = 0; (map = object_map_at(weir->object, i)); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", map->name);
	err_set(err, ENOENT, "no map named %s: %s has %s", name, object_path(weir->object),
		*names ? names : "no maps");
	return NULL;
}

int state_map_set(struct weir *weir, const char *map_name, const char *key, const char *value,
		  struct err *err)
{
	struct map *map = state_map_named(weir, map_name, err);
	json_t *key_tree = NULL, *value_tree_ = NULL;
	struct entry e;
	int rc;

	if (!map)
		return -ENOENT;
	rc = *key ? value_tree(key, &key_tree, err) : 0;
	if (!rc)
		rc = value_tree(value, &value_tree_, err);
	if (rc) {
		json_decref(key_tree);
		return err_prefix(err, -rc, "map %s", map_name);
	}
	rc = entry_init(&e, weir, map, err);
	if (rc)
		goto err_trees;
	rc = entry_set_key(&e, key_tree, err);
	if (!rc)
		rc = entry_set_value(&e, value_tree_, err);
	if (!rc)
		rc = entry_put(&e, err);
	entry_fini(&e);
err_trees:
	json_decref(value_tree_);
	json_decref(key_tree);
	return rc;
}

static int apply_map(struct weir *weir, const char *text, struct err *err)
{
	struct assignment a;
	char *copy = strdup(text);
	int rc;

	if (!copy)
		return err_set(err, ENOMEM, "out of memory");
	rc = assignment_cut(&a, copy, err);
	if (!rc)
		rc = state_map_set(weir, a.name, a.key, a.value, err);
	free(copy);
	return rc;
}

static int apply_entries(struct weir *weir, const char *name, json_t *list, struct err *err)
{
	struct map *map = state_map_named(weir, name, err);
	struct entry e;
	json_t *item;
	bool skip;
	size_t i;
	int rc;

	if (!map)
		return -ENOENT;
	if (!json_is_array(list))
		return err_set(err, EINVAL, "map %s: expected a list of entries", name);
	rc = entry_init(&e, weir, map, err);
	if (rc)
		return rc;
	json_array_foreach(list, i, item)
	{
		rc = entry_set_dumped(&e, item, &skip, err);
		if (!rc && !skip)
			rc = entry_put(&e, err);
		if (rc)
			break;
	}
	entry_fini(&e);
	return rc;
}

int state_read_file(const char *path, json_t **ret, struct err *err)
{
	json_error_t error;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		return err_set(err, EINVAL, "%s:%d: %s", path, error.line > 0 ? error.line : 1,
			       error.text);
	if (!json_is_object(root)) {
		json_decref(root);
		return err_set(err, EINVAL,
			       "%s: expected {\"map name\": [entries as bpftool dumps them], ...}",
			       path);
	}
	*ret = root;
	return 0;
}

static int apply_file(struct weir *weir, const char *path, struct err *err)
{
	json_t *root, *list;
	const char *name;
	int rc;

	rc = state_read_file(path, &root, err);
	if (rc)
		return rc;
	json_object_foreach(root, name, list)
	{
		rc = apply_entries(weir, name, list, err);
		if (rc) {
			err_prefix(err, -rc, "%s", path);
			break;
		}
	}
	json_decref(root);
	return rc;
}

int state_apply_maps(struct weir *weir, struct err *err)
{
	struct instance_state *state = weir->state;
	int rc = 0;

	for (uint32_t i = 0; state && i < state->n && !rc; i++) {
		if (state->items[i].kind == ITEM_MAP)
			rc = apply_map(weir, state->items[i].text, err);
		else if (state->items[i].kind == ITEM_FILE)
			rc = apply_file(weir, state->items[i].text, err);
	}
	return rc;
}
