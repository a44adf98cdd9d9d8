/* SPDX-License-Identifier: BSD-2-Clause */
/* The difference between the maps as they are and a dump of what they should be. See state.h. */
#include "ctl/state.h"

#include "ctl/entry.h"
#include "maps/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct difference {
	FILE *out; /* NULL: only counted */
	uint32_t n;
};

/* The value of an entry for people: by type where there is one. */
static char *value_text(json_t *entry)
{
	json_t *formatted = json_object_get(entry, "formatted"), *value;

	if (!formatted)
		formatted = entry;
	value = json_object_get(formatted, "value");
	if (!value)
		value = json_object_get(formatted, "values");
	return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
}

/* The key of an entry for people: by type, else one word as a number, else its bytes. */
static void key_text(json_t *entry, char *buf, size_t n)
{
	json_t *typed = json_object_get(json_object_get(entry, "formatted"), "key");
	json_t *bytes = json_object_get(entry, "key"), *byte;
	char *text = typed ? json_dumps(typed, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	uint32_t word;
	size_t i;

	*buf = '\0';
	if (text && !json_is_array(typed)) {
		snprintf(buf, n, "%s", text);
	} else if (value_is_hex(bytes, &word, sizeof(word))) {
		snprintf(buf, n, "%u", word);
	} else {
		json_array_foreach(bytes, i, byte)
			snprintf(buf + strlen(buf), n - strlen(buf), "%s%s", i ? " " : "",
				 json_string_value(byte));
	}
	free(text);
}

static void report(struct difference *d, const char *map, json_t *want, json_t *got)
{
	char *want_text = want ? value_text(want) : NULL, *got_text = got ? value_text(got) : NULL;
	char key[256];

	d->n++;
	key_text(want ? want : got, key, sizeof(key));
	if (d->out)
		fprintf(d->out, "map %s[%s]: expected %s, is %s\n", map, key,
			want_text ? want_text : "no entry", got_text ? got_text : "absent");
	free(want_text);
	free(got_text);
}

/* Keys as bytes are what entries are matched by. */
static char *key_of(json_t *entry)
{
	return json_dumps(json_object_get(entry, "key"), JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Entries by their key bytes; borrowed entries are given a reference. */
static json_t *index_entries(json_t *list)
{
	json_t *index = json_object(), *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		char *key = key_of(entry);

		if (key)
			json_object_set(index, key, entry);
		free(key);
	}
	return index;
}

/* A member of both, or of neither. */
static bool same_member(json_t *a, json_t *b, const char *name)
{
	json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

	return x == y || json_equal(x, y);
}

static bool same_value(const struct map *map, json_t *a, json_t *b)
{
	if (map_holds_names(map))
		return same_member(json_object_get(a, "formatted"), json_object_get(b, "formatted"),
				   "value");
	return same_member(a, b, "value") && same_member(a, b, "values");
}

/* An entry whose value is a name, with its key as bytes. */
static json_t *named_entry(const struct entry *e, json_t *entry)
{
	json_t *value = json_object_get(json_object_get(entry, "formatted"), "value");

	if (!value)
		value = json_object_get(entry, "value");
	return json_pack("{s:o, s:{s:O}}", "key", value_hex(e->key, e->map->key_size), "formatted",
			 "value", value);
}

/* What a dump says, read into bytes and written out again, so that any of the forms that --maps takes can be
 * compared; all-zero entries of arrays are left out, as in state_dump_all. */
static int normalize(struct weir *weir, struct map *map, json_t *list, json_t **ret,
		     struct err *err)
{
	json_t *out = json_array(), *entry, *again;
	struct entry e;
	bool skip;
	size_t i;
	int rc;

	rc = entry_init(&e, weir, map, err);
	if (rc) {
		json_decref(out);
		return rc;
	}
	json_array_foreach(list, i, entry)
	{
		rc = entry_set_dumped(&e, entry, &skip, err);
		if (rc)
			break;
		if (skip)
			continue;
		again = map_holds_names(map) ? named_entry(&e, entry) : entry_json(&e);
		json_array_append_new(out, again);
	}
	entry_fini(&e);
	if (rc)
		json_decref(out);
	else
		*ret = out;
	return rc;
}

static bool entry_is_zero(const struct map *map, json_t *entry)
{
	json_t *copy = json_object_get(entry, map_is_percpu(map) ? "values" : "value");
	char *text = json_dumps(copy, JSON_ENCODE_ANY | JSON_COMPACT);
	bool zero = text != NULL;

	for (const char *p = text; p && (p = strstr(p, "\"0x")); p += 3)
		zero = zero && p[3] == '0' && p[4] == '0';
	free(text);
	return zero && (map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY);
}

static void compare(struct map *map, json_t *want, json_t *got, struct difference *d)
{
	json_t *want_by_key = index_entries(want), *got_by_key = index_entries(got);
	json_t *entry, *other;
	const char *key;

	json_object_foreach(want_by_key, key, entry)
	{
		other = json_object_get(got_by_key, key);
		if (other ? !same_value(map, entry, other) : !entry_is_zero(map, entry))
			report(d, map->name, entry, other);
	}
	json_object_foreach(got_by_key, key, entry)
	{
		if (!json_object_get(want_by_key, key))
			report(d, map->name, NULL, entry);
	}
	json_decref(want_by_key);
	json_decref(got_by_key);
}

static int expect_map(struct weir *weir, const char *name, json_t *list, json_t *all,
		      struct difference *d, struct err *err)
{
	struct map *map = state_map_named(weir, name, err);
	json_t *want;
	int rc;

	if (!map)
		return -ENOENT;
	if (!json_is_array(list))
		return err_set(err, EINVAL, "map %s: expected a list of entries", name);
	rc = normalize(weir, map, list, &want, err);
	if (rc)
		return rc;
	compare(map, want, json_object_get(all, name), d);
	json_decref(want);
	return 0;
}

int state_expect(struct weir *weir, json_t *root, FILE *out, uint32_t *ret_different,
		 struct err *err)
{
	struct difference d = { .out = out };
	json_t *all, *list;
	const char *name;
	int rc;

	rc = state_dump_all(weir, &all, err);
	if (rc)
		return rc;
	json_object_foreach(root, name, list)
	{
		rc = expect_map(weir, name, list, all, &d, err);
		if (rc)
			break;
	}
	json_decref(all);
	if (!rc)
		*ret_different = d.n;
	return rc;
}

int weir_maps_expect(struct weir *weir, const char *path, FILE *out, uint32_t *ret_different,
		     struct weir_error *error)
{
	struct err *err = instance_err(error);
	json_t *root;
	int rc;

	rc = state_read_file(path, &root, err);
	if (rc)
		return rc;
	rc = state_expect(weir, root, out, ret_different, err);
	json_decref(root);
	return rc ? err_prefix(err, -rc, "%s", path) : 0;
}

static int expect_assignment(struct weir *weir, const struct assignment *a, FILE *out,
			     bool *ret_same, struct err *err)
{
	json_t *key = NULL, *value = NULL, *is;
	struct map *map = state_map_named(weir, a->name, err);
	struct entry e;
	char *text;
	int rc;

	if (!map)
		return -ENOENT;
	rc = value_tree(a->key, &key, err);
	if (!rc)
		rc = value_tree(a->value, &value, err);
	if (!rc)
		rc = entry_init(&e, weir, map, err);
	if (rc)
		goto out;
	rc = entry_set_key(&e, key, err);
	if (!rc)
		rc = entry_expect(&e, value, ret_same, err);
	if (!rc && !*ret_same && out) {
		is = entry_load(&e) ? NULL : entry_json(&e);
		text = is ? value_text(is) : NULL;
		fprintf(out, "map %s[%s]: expected %s, is %s\n", a->name, a->key, a->value,
			text ? text : "absent");
		free(text);
		json_decref(is);
	}
	entry_fini(&e);
out:
	json_decref(value);
	json_decref(key);
	return rc;
}

int state_expect_entry(struct weir *weir, const char *text, FILE *out, bool *ret_same,
		       struct err *err)
{
	struct assignment a;
	char *copy = strdup(text);
	int rc;

	if (!copy)
		return err_set(err, ENOMEM, "out of memory");
	rc = assignment_cut(&a, copy, err);
	if (!rc)
		rc = expect_assignment(weir, &a, out, ret_same, err);
	free(copy);
	return rc;
}
