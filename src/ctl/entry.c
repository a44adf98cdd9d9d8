/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries of maps: see entry.h. Values that are names are in entry_name.c. */
#include "ctl/entry.h"

#include "base/cpu.h"
#include "ctl/entry_name.h"
#include "maps/map.h"

#include <arpa/inet.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool map_has_no_keys(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_QUEUE || map->type == BPF_MAP_TYPE_STACK ||
	       map->type == BPF_MAP_TYPE_BLOOM_FILTER;
}

int entry_init(struct entry *e, struct weir *weir, struct map *map, struct err *err)
{
	const struct btf *btf = object_btf(weir->object);
	uint32_t key_id = 0, value_id = 0;

	if (object_map_types(weir->object, map->name, &key_id, &value_id))
		key_id = value_id = 0;
	*e = (struct entry){ .weir = weir, .map = map, .fd = -1 };
	e->key_type = value_type_of(btf, key_id, map->key_size);
	e->value_type = value_type_of(btf, value_id, map->value_size);
	e->key = calloc(1, map->key_size + 1);
	e->value = calloc(1, map_sys_value_size(map) + 1);
	if (e->key && e->value)
		return 0;
	entry_fini(e);
	return err_set(err, ENOMEM, "map %s: out of memory", map->name);
}

static void drop_fd(struct entry *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

void entry_fini(struct entry *e)
{
	drop_fd(e);
	free(e->key);
	free(e->value);
	e->key = e->value = NULL;
}

/* "10.0.0.0/8" as struct { u32 prefixlen; u8 data[]; }: 1 set, 0 not of that form, else -errno. */
static int set_lpm_key(struct entry *e, json_t *tree, struct err *err)
{
	const char *text = json_string_value(tree), *slash = text ? strchr(text, '/') : NULL;
	uint32_t size = e->map->key_size - 4, prefix;
	char address[64];
	int negative, rc;
	uint64_t len;

	if (!slash || (size_t)(slash - text) >= sizeof(address))
		return 0;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	rc = value_literal(address, e->key + 4, size);
	if (rc <= 0)
		return err_set(
			err, EINVAL,
			"map %s: key: expected an address of %u bytes before the /, not \"%s\"",
			e->map->name, size, text);
	if (value_integer(slash + 1, &len, &negative) || negative || len > size * 8)
		return err_set(err, EINVAL,
			       "map %s: key: expected a prefix length from 0 to %u, not \"%s\"",
			       e->map->name, size * 8, slash + 1);
	prefix = (uint32_t)len;
	memcpy(e->key, &prefix, sizeof(prefix));
	return 1;
}

int entry_set_key(struct entry *e, json_t *tree, struct err *err)
{
	int rc;

	if (map_has_no_keys(e->map)) {
		if (tree)
			return err_set(err, EINVAL, "map %s: a %s has no keys: write %s[]=VALUE",
				       e->map->name, e->map->ops->name, e->map->name);
		return 0;
	}
	if (!tree)
		return err_set(err, EINVAL, "map %s: a key is missing: write %s[KEY]=VALUE",
			       e->map->name, e->map->name);
	memset(e->key, 0, e->map->key_size);
	if (e->map->type == BPF_MAP_TYPE_LPM_TRIE) {
		rc = set_lpm_key(e, tree, err);
		if (rc)
			return rc > 0 ? 0 : rc;
	}
	rc = value_set(&e->key_type, "key", tree, e->key, err);
	return rc ? err_prefix(err, -rc, "map %s", e->map->name) : 0;
}

/* Whether a list is one value for each CPU, and not one value that is an array. */
static bool is_cpu_list(const struct entry *e, json_t *tree)
{
	const struct btf_type *t;
	uint32_t id = e->value_type.id;

	if (!json_is_array(tree) || value_is_hex(tree, e->value, e->map->value_size))
		return false;
	if (!id)
		return true;
	t = btf__type_by_id(e->value_type.btf, (uint32_t)btf__resolve_type(e->value_type.btf, id));
	return !t || !btf_is_array(t) || json_is_array(json_array_get(tree, 0));
}

static int set_cpu_value(struct entry *e, uint32_t cpu, json_t *tree, struct err *err)
{
	uint32_t stride = (e->map->value_size + 7) & ~7u;
	char what[32] = "value";
	int rc;

	if (cpu >= cpu_count())
		return err_set(err, EINVAL, "map %s: CPU %u of %u: there are fewer (--cpus)",
			       e->map->name, cpu, cpu_count());
	if (map_is_percpu(e->map))
		snprintf(what, sizeof(what), "value of CPU %u", cpu);
	rc = value_set(&e->value_type, what, tree, e->value + cpu * (size_t)stride, err);
	return rc ? err_prefix(err, -rc, "map %s", e->map->name) : 0;
}

int entry_set_value(struct entry *e, json_t *tree, struct err *err)
{
	uint32_t n = map_is_percpu(e->map) ? cpu_count() : 1;
	bool list;
	int rc = 0;

	drop_fd(e);
	memset(e->value, 0, map_sys_value_size(e->map));
	if (map_holds_names(e->map))
		return entry_set_name(e, tree, err);
	list = n > 1 && is_cpu_list(e, tree);
	if (list && json_array_size(tree) != n)
		return err_set(err, EINVAL,
			       "map %s: expected one value, or [value, ...] for %u CPUs, not %zu",
			       e->map->name, n, json_array_size(tree));
	for (uint32_t cpu = 0; cpu < n && !rc; cpu++)
		rc = set_cpu_value(e, cpu, list ? json_array_get(tree, cpu) : tree, err);
	return rc;
}

/* [{"cpu":0,"value":..},...] */
static int set_values(struct entry *e, json_t *list, struct err *err)
{
	json_t *item;
	size_t i;
	int rc = 0;

	drop_fd(e);
	memset(e->value, 0, map_sys_value_size(e->map));
	json_array_foreach(list, i, item)
	{
		json_t *cpu = json_object_get(item, "cpu"), *value = json_object_get(item, "value");

		if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 || !value)
			return err_set(err, EINVAL,
				       "map %s: expected {\"cpu\":N,\"value\":V} in \"values\"",
				       e->map->name);
		rc = set_cpu_value(e, (uint32_t)json_integer_value(cpu), value, err);
		if (rc)
			return rc;
	}
	return 0;
}

int entry_set_dumped(struct entry *e, json_t *dumped, bool *ret_skip, struct err *err)
{
	json_t *formatted = json_object_get(dumped, "formatted");
	json_t *key = json_object_get(dumped, "key"), *value = json_object_get(dumped, "value");
	json_t *values = json_object_get(dumped, "values");
	int rc;

	if (!key)
		key = json_object_get(formatted, "key");
	/* The bytes of a value that stands for something are ids of another instance: its name counts. */
	if ((!value && !values) || map_holds_names(e->map)) {
		json_t *named = json_object_get(formatted, "value");

		value = named ? named : value;
		values = values ? values : json_object_get(formatted, "values");
	}
	if ((!key && !map_has_no_keys(e->map)) || (!value && !values))
		return err_set(err, EINVAL,
			       "map %s: expected entries {\"key\":..,\"value\":..} as in a dump of "
			       "bpftool",
			       e->map->name);
	*ret_skip = json_object_get(value, "error") != NULL;
	if (*ret_skip)
		return 0;
	rc = entry_set_key(e, key, err);
	if (rc)
		return rc;
	return values ? set_values(e, values, err) : entry_set_value(e, value, err);
}

static const char *update_reason(const struct entry *e, int code)
{
	switch (code) {
	case E2BIG:
		return "the key is beyond max_entries, or the map is full";
	case EPERM:
		return "the map is read-only";
	case EEXIST:
		return "the key is there already";
	case ENOTSUPP:
	case EOPNOTSUPP:
		return "maps of this type take no entries from outside";
	case EINVAL:
		return map_holds_names(e->map) ? "the port, program or map does not fit this map"
					       : "the map refuses this key or value";
	default:
		return "the update failed";
	}
}

int entry_put(struct entry *e, struct err *err)
{
	const void *key = map_has_no_keys(e->map) ? NULL : e->key;
	char text[128];
	int rc;

	rc = map_sys_update(e->map, key, e->value, BPF_ANY);
	if (!rc)
		return 0;
	return err_set(err, -rc, "map %s (%s, %u entries), key %s: %s: %s", e->map->name,
		       e->map->ops->name, e->map->max_entries,
		       entry_key_text(e, text, sizeof(text)), update_reason(e, -rc),
		       errno_name(rc));
}

int entry_load(struct entry *e)
{
	drop_fd(e);
	return map_sys_lookup(e->map, e->key, e->value, 0);
}

static bool value_same(const struct entry *e, const uint8_t *want, bool all_cpus)
{
	uint32_t stride = (e->map->value_size + 7) & ~7u;
	size_t at = e->weir->opts.cpu * (size_t)stride;

	if (map_is_percpu(e->map) && !all_cpus)
		return !memcmp(want + at, e->value + at, e->map->value_size);
	return !memcmp(want, e->value, map_sys_value_size(e->map));
}

/* Named values: {"ifindex":..,"bpf_prog":..} is compared as far as the expected one goes. */
static bool name_same(const struct entry *e, json_t *tree)
{
	json_t *is = entry_name_json(e), *part, *want;
	const char *field;
	bool same = true;

	if (json_is_object(tree)) {
		json_object_foreach(tree, field, want) same =
			same && json_equal(want, json_object_get(is, field));
	} else {
		part = json_is_object(is) ? json_object_get(is, "ifindex") : is;
		same = json_equal(tree, part);
	}
	json_decref(is);
	return same;
}

int entry_expect(struct entry *e, json_t *tree, bool *ret_same, struct err *err)
{
	uint32_t size = map_sys_value_size(e->map);
	const char *text = json_string_value(tree);
	bool names = map_holds_names(e->map);
	uint8_t *want;
	int rc;

	if (text && !strcmp(text, "absent")) {
		*ret_same = entry_load(e) == -ENOENT;
		return 0;
	}
	rc = entry_set_value(e, tree, err);
	if (rc)
		return rc;
	want = malloc(size + 1);
	if (!want)
		return err_set(err, ENOMEM, "out of memory");
	memcpy(want, e->value, size);
	if (entry_load(e)) {
		memset(e->value, 0, size);
		*ret_same = false;
	} else {
		*ret_same = names ? name_same(e, tree) : value_same(e, want, is_cpu_list(e, tree));
	}
	free(want);
	return 0;
}

static json_t *typed_value(const struct entry *e, const uint8_t *from)
{
	json_t *value = value_format(&e->value_type, from);

	return value ? value : value_hex(from, e->map->value_size);
}

/* {"cpu":0,"value":..} of every CPU, as bytes or by type. */
static json_t *values_json(const struct entry *e, bool formatted)
{
	uint32_t stride = (e->map->value_size + 7) & ~7u;
	json_t *list = json_array();

	for (uint32_t cpu = 0; list && cpu < cpu_count(); cpu++) {
		const uint8_t *from = e->value + cpu * (size_t)stride;
		json_t *value = formatted ? value_format(&e->value_type, from)
					  : value_hex(from, e->map->value_size);

		json_array_append_new(list,
				      json_pack("{s:i, s:o}", "cpu", (int)cpu, "value", value));
	}
	return list;
}

/* libbpf keeps no types for devmaps, prog arrays and the like: their keys are indexes. */
static json_t *typed_key(const struct entry *e)
{
	json_t *key = value_format(&e->key_type, e->key);
	uint32_t index;

	if (key)
		return key;
	if (e->map->key_size != sizeof(index))
		return value_hex(e->key, e->map->key_size);
	memcpy(&index, e->key, sizeof(index));
	return json_integer(index);
}

static json_t *formatted_json(const struct entry *e)
{
	bool percpu = map_is_percpu(e->map), names = map_holds_names(e->map);
	json_t *key, *value;

	if (!e->value_type.id && !e->key_type.id && !names)
		return NULL;
	key = typed_key(e);
	if (names)
		value = entry_name_json(e);
	else if (percpu)
		value = values_json(e, true);
	else
		value = typed_value(e, e->value);
	return json_pack("{s:o, s:o}", "key", key, percpu ? "values" : "value", value);
}

json_t *entry_json(const struct entry *e)
{
	bool percpu = map_is_percpu(e->map);
	json_t *value, *object, *formatted;

	value = percpu ? values_json(e, false) : value_hex(e->value, e->map->value_size);
	object = json_pack("{s:o, s:o}", "key", value_hex(e->key, e->map->key_size),
			   percpu ? "values" : "value", value);
	formatted = object ? formatted_json(e) : NULL;
	if (formatted)
		json_object_set_new(object, "formatted", formatted);
	return object;
}

char *entry_key_text(const struct entry *e, char *buf, size_t n)
{
	json_t *tree = value_format(&e->key_type, e->key);
	char *text = tree ? json_dumps(tree, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	uint32_t word;

	if (text) {
		snprintf(buf, n, "%s", text);
	} else if (e->map->key_size == sizeof(word)) {
		memcpy(&word, e->key, sizeof(word));
		snprintf(buf, n, "%u", word);
	} else {
		*buf = '\0';
		for (uint32_t i = 0; i < e->map->key_size && 4u * i + 4 < n; i++)
			snprintf(buf + strlen(buf), n - strlen(buf), "%s%02x", i ? " " : "",
				 e->key[i]);
	}
	free(text);
	json_decref(tree);
	return buf;
}
