/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps as JSON, through libbpf, whoever answers: see snapshot.h. */
#include "snapshot.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"

enum {
	ENTRIES_MAX = 1 << 20, /* of a map: a bound for a walk that never ends */
};

/* How the values of a map are shown. */
enum shape { SHAPE_BYTES, SHAPE_PROG, SHAPE_MAP, SHAPE_DEV, SHAPE_SKIPPED };

static enum shape shape_of(enum bpf_map_type type)
{
	switch (type) {
	case BPF_MAP_TYPE_PROG_ARRAY:
		return SHAPE_PROG;
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		return SHAPE_MAP;
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
		return SHAPE_DEV;
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
		return SHAPE_BYTES;
	default:
		return SHAPE_SKIPPED;
	}
}

char *hex_encode(char *text, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = bytes;

	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[b[i] >> 4];
		text[2 * i + 1] = digits[b[i] & 15];
	}
	text[2 * n] = '\0';
	return text;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

long hex_decode(void *bytes, size_t cap, const char *text)
{
	uint8_t *b = bytes;
	size_t n = strlen(text) / 2;

	if (strlen(text) % 2 || n > cap)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int hi = nibble(text[2 * i]), lo = nibble(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -1;
		b[i] = (uint8_t)(hi << 4 | lo);
	}
	return (long)n;
}

static json_t *hex_json(const void *bytes, size_t n)
{
	char *text = malloc(2 * n + 1);
	json_t *json = text ? json_string(hex_encode(text, bytes, n)) : NULL;

	free(text);
	return json;
}

static bool is_percpu(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static size_t value_bytes(const struct bpf_map *map)
{
	size_t size = bpf_map__value_size(map);

	return is_percpu(bpf_map__type(map))
		       ? (size + 7) / 8 * 8 * (size_t)libbpf_num_possible_cpus()
		       : size;
}

static json_t *prog_name_of(struct bpf_object *object, uint32_t id)
{
	struct bpf_prog_info info;
	struct bpf_program *prog;
	uint32_t len;

	bpf_object__for_each_program(prog, object)
	{
		len = sizeof(info);
		memset(&info, 0, sizeof(info));
		if (bpf_program__fd(prog) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len) && info.id == id)
			return json_string(bpf_program__name(prog));
	}
	return json_sprintf("program %u", id);
}

static json_t *map_name_of(struct bpf_object *object, uint32_t id)
{
	struct bpf_map_info info;
	struct bpf_map *map;
	uint32_t len;

	bpf_object__for_each_map(map, object)
	{
		len = sizeof(info);
		memset(&info, 0, sizeof(info));
		if (bpf_map__fd(map) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_map__fd(map), &info, &len) && info.id == id)
			return json_string(bpf_map__name(map));
	}
	return json_string("inner map");
}

static json_t *entry_json(struct bpf_object *object, const struct bpf_map *map, const void *key,
			  const uint8_t *value)
{
	json_t *entry = json_object();
	uint32_t word[2] = { 0 };

	json_object_set_new(entry, "key", hex_json(key, bpf_map__key_size(map)));
	switch (shape_of(bpf_map__type(map))) {
	case SHAPE_PROG:
		memcpy(word, value, 4);
		json_object_set_new(entry, "prog", prog_name_of(object, word[0]));
		break;
	case SHAPE_MAP:
		memcpy(word, value, 4);
		json_object_set_new(entry, "map", map_name_of(object, word[0]));
		break;
	case SHAPE_DEV:
		memcpy(word, value, bpf_map__value_size(map) < 8 ? 4 : 8);
		json_object_set_new(entry, "ifindex", json_integer(word[0]));
		if (word[1])
			json_object_set_new(entry, "prog", prog_name_of(object, word[1]));
		break;
	default:
		json_object_set_new(entry, "value", hex_json(value, value_bytes(map)));
	}
	return entry;
}

static int by_key(const void *a, const void *b)
{
	json_t *const *x = a, *const *y = b;

	return strcmp(json_string_value(json_object_get(*x, "key")),
		      json_string_value(json_object_get(*y, "key")));
}

static json_t *sorted(json_t *entries)
{
	size_t n = json_array_size(entries);
	json_t **list = calloc(n + 1, sizeof(json_t *)), *out = json_array();

	if (list) {
		for (size_t i = 0; i < n; i++)
			list[i] = json_array_get(entries, i);
		qsort(list, n, sizeof(json_t *), by_key);
		for (size_t i = 0; i < n; i++)
			json_array_append(out, list[i]);
	}
	free(list);
	json_decref(entries);
	return out;
}

static json_t *entries_of(struct bpf_object *object, const struct bpf_map *map)
{
	size_t key_size = bpf_map__key_size(map);
	uint8_t *key = calloc(2, key_size), *next = key + key_size;
	uint8_t *value = calloc(1, value_bytes(map) + 8);
	json_t *entries = json_array();
	int fd = bpf_map__fd(map), rc;

	if (!key || !value)
		goto out;
	rc = bpf_map_get_next_key(fd, NULL, next);
	for (uint32_t i = 0; !rc && i < ENTRIES_MAX; i++) {
		memcpy(key, next, key_size);
		if (!bpf_map_lookup_elem(fd, key, value))
			json_array_append_new(entries, entry_json(object, map, key, value));
		rc = bpf_map_get_next_key(fd, key, next);
	}
out:
	free(key);
	free(value);
	return sorted(entries);
}

/* .rodata, .kconfig: no program writes them. */
static bool is_read_only_global(const struct bpf_map *map)
{
	return strchr(bpf_map__name(map), '.') && (bpf_map__map_flags(map) & BPF_F_RDONLY_PROG);
}

json_t *snapshot_take(struct bpf_object *object)
{
	json_t *all = json_object();
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		enum bpf_map_type type = bpf_map__type(map);

		if (bpf_map__fd(map) < 0 || shape_of(type) == SHAPE_SKIPPED ||
		    is_read_only_global(map))
			continue;
		json_object_set_new(all, bpf_map__name(map),
				    json_pack("{s:s, s:o}", "type", libbpf_bpf_map_type_str(type),
					      "entries", entries_of(object, map)));
	}
	return all;
}

static int prog_fd(struct bpf_object *object, const char *name)
{
	struct bpf_program *prog = name ? bpf_object__find_program_by_name(object, name) : NULL;

	return prog ? bpf_program__fd(prog) : 0;
}

/* The value of an entry as bpf(2) wants it: descriptors in place of names. False: it cannot be made. */
static bool entry_value(struct bpf_object *object, const struct bpf_map *map, json_t *entry,
			uint8_t *value)
{
	int word[2] = { 0 };
	const char *text;
	struct bpf_map *inner;

	switch (shape_of(bpf_map__type(map))) {
	case SHAPE_PROG:
		word[0] = prog_fd(object, json_string_value(json_object_get(entry, "prog")));
		memcpy(value, word, 4);
		return word[0] > 0;
	case SHAPE_MAP:
		inner = bpf_object__find_map_by_name(
			object, json_string_value(json_object_get(entry, "map")));
		word[0] = inner ? bpf_map__fd(inner) : 0;
		memcpy(value, word, 4);
		return word[0] > 0;
	case SHAPE_DEV:
		word[0] = (int)json_integer_value(json_object_get(entry, "ifindex"));
		word[1] = prog_fd(object, json_string_value(json_object_get(entry, "prog")));
		memcpy(value, word, bpf_map__value_size(map) < 8 ? 4 : 8);
		return true;
	default:
		text = json_string_value(json_object_get(entry, "value"));
		return text && hex_decode(value, value_bytes(map), text) == (long)value_bytes(map);
	}
}

static int apply_map(struct bpf_object *object, struct bpf_map *map, json_t *entries,
		     struct err *err)
{
	uint8_t *key = calloc(1, bpf_map__key_size(map)), *value = calloc(1, value_bytes(map) + 8);
	const char *text;
	json_t *entry;
	size_t i;
	int rc = key && value ? 0 : -ENOMEM;

	json_array_foreach(entries, i, entry)
	{
		text = json_string_value(json_object_get(entry, "key"));
		if (rc || !text || hex_decode(key, bpf_map__key_size(map), text) < 0)
			break;
		if (!entry_value(object, map, entry, value))
			continue; /* an inner map or program that the object does not name: libbpf has put it there */
		if (bpf_map_update_elem(bpf_map__fd(map), key, value, 0)) {
			rc = err_set(err, errno, "map %s, key %s: %s", bpf_map__name(map), text,
				     errno_name(errno));
			break;
		}
	}
	free(key);
	free(value);
	return rc;
}

int snapshot_apply(struct bpf_object *object, json_t *snapshot, struct err *err)
{
	const char *name;
	json_t *content;
	int rc;

	json_object_foreach(snapshot, name, content)
	{
		struct bpf_map *map = bpf_object__find_map_by_name(object, name);

		if (!map || bpf_map__fd(map) < 0 || (bpf_map__map_flags(map) & BPF_F_RDONLY_PROG))
			continue;
		rc = apply_map(object, map, json_object_get(content, "entries"), err);
		if (rc)
			return rc;
	}
	return 0;
}
