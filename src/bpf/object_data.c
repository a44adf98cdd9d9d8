/* SPDX-License-Identifier: BSD-2-Clause */
/* The maps, global variables and types of an object: see load.h. */
#include "object_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/cpu.h"
#include "bpf/btf.h"
#include "bpf/sys.h"
#include "bpf/sys_impl.h"

static bool is_global_data(struct bpf_map *map)
{
	return bpf_map__is_internal(map);
}

/* ".rodata" of "obj.rodata": libbpf puts the object's name in front. */
static const char *map_name(struct bpf_map *map)
{
	const char *name = bpf_map__name(map), *dot = strchr(name, '.');

	return is_global_data(map) && dot ? dot : name;
}

/*
 * Samples leave the size of arrays by CPU to their loader. Such a map gets an entry for each CPU, as libbpf
 * gives a perf event array, and may be resized before the load.
 */
static void give_entries(struct bpf_map *map, const struct object_cfg *cfg)
{
	uint32_t type = bpf_map__type(map);
	char text[256];

	if (bpf_map__max_entries(map) ||
	    (type != BPF_MAP_TYPE_ARRAY && type != BPF_MAP_TYPE_CPUMAP))
		return;
	bpf_map__set_max_entries(map, cpu_count());
	if (!cfg->note)
		return;
	snprintf(text, sizeof(text), "map %s has no max_entries: it gets %u, one a CPU",
		 bpf_map__name(map), cpu_count());
	cfg->note(cfg->note_arg, text);
}

int object_check_maps(struct object *obj, const struct object_cfg *cfg, struct err *err)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj->bpf)
	{
		uint32_t type = bpf_map__type(map);
		const char *text = libbpf_bpf_map_type_str((enum bpf_map_type)type);

		if (!map_ops_of(type) && !sys_is_pass_through())
			return err_set(
				err, EOPNOTSUPP,
				"%s: map \"%s\" is of type %u (%s), which weir does not have",
				obj->path, bpf_map__name(map), type, text ? text : "unknown");
		give_entries(map, cfg);
		if (!cfg->pin_dir)
			bpf_map__set_pin_path(map, NULL);
	}
	return 0;
}

int object_take_maps(struct object *obj, struct err *err)
{
	struct bpf_map *bm;
	uint32_t n = 0;

	bpf_object__for_each_map(bm, obj->bpf) n++;
	obj->maps = calloc(n ? n : 1, sizeof(struct map *));
	if (!obj->maps)
		return err_set(err, ENOMEM, "no memory for %u maps", n);
	bpf_object__for_each_map(bm, obj->bpf)
	{
		struct obj *o;
		struct map *map;
		int rc;

		if (!bpf_map__autocreate(bm))
			continue;
		rc = sys_fd_resolve(bpf_map__fd(bm), OBJ_MAP, &o);
		if (rc)
			return err_set(err, -rc, "map %s was not created", bpf_map__name(bm));
		map = (struct map *)o;
		/* bpf(2) saw 15 characters of it */
		snprintf(map->name, sizeof(map->name), "%s", map_name(bm));
		obj->maps[obj->n_maps++] = map;
	}
	return 0;
}

void object_copy_state(struct object *obj, struct bpf_object *from)
{
	struct bpf_map *old, *new;

	bpf_object__for_each_map(old, from)
	{
		size_t old_size = 0, new_size = 0;
		const void *bytes = bpf_map__initial_value(old, &old_size);

		new = bpf_object__find_map_by_name(obj->bpf, bpf_map__name(old));
		if (!new)
			continue;
		bpf_map__set_max_entries(new, bpf_map__max_entries(old));
		if (bytes && bpf_map__initial_value(new, &new_size) && old_size == new_size)
			bpf_map__set_initial_value(new, bytes, old_size);
	}
}

struct map *object_map(struct object *obj, const char *name)
{
	for (uint32_t i = 0; i < obj->n_maps; i++)
		if (!strcmp(obj->maps[i]->name, name))
			return obj->maps[i];
	return NULL;
}

struct map *object_map_at(struct object *obj, uint32_t i)
{
	return i < obj->n_maps ? obj->maps[i] : NULL;
}

const struct btf *object_btf(struct object *obj)
{
	return bpf_object__btf(obj->bpf);
}

static struct bpf_map *find_map(struct object *obj, const char *name)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj->bpf) if (!strcmp(map_name(map), name)) return map;
	return NULL;
}

int object_map_types(struct object *obj, const char *map, uint32_t *ret_key_id,
		     uint32_t *ret_value_id)
{
	struct bpf_map *bm = find_map(obj, map);

	if (!bm)
		return -ENOENT;
	*ret_key_id = bpf_map__btf_key_type_id(bm);
	*ret_value_id = bpf_map__btf_value_type_id(bm);
	return 0;
}

int object_resize_map(struct object *obj, const char *map, uint32_t max_entries, struct err *err)
{
	struct bpf_map *bm = find_map(obj, map);

	if (!bm)
		return err_set(err, ENOENT, "%s has no map \"%s\"", obj->path, map);
	if (obj->loaded)
		return err_set(err, EBUSY, "map \"%s\" is in use: its size is set before loading",
			       map);
	return bpf_map__set_max_entries(bm, max_entries);
}

/* A variable of a data section: *ret_off, *ret_size and *ret_type; false when it is not there. */
static bool find_var(const struct btf *btf, const struct btf_type *sec, const char *name,
		     const struct btf_var_secinfo **ret)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(sec);

	for (uint32_t i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(btf, v[i].type);

		if (var && btf_is_var(var) &&
		    !strcmp(btf__str_by_offset(btf, var->name_off), name)) {
			*ret = &v[i];
			return true;
		}
	}
	return false;
}

int object_global(struct object *obj, const char *name, void **ret_bytes, uint32_t *ret_size,
		  uint32_t *ret_type_id)
{
	const struct btf *btf = object_btf(obj);
	const struct btf_var_secinfo *v;
	struct bpf_map *map;

	if (!btf)
		return -ENOENT;
	bpf_object__for_each_map(map, obj->bpf)
	{
		const struct btf_type *sec;
		uint8_t *bytes;
		size_t size;
		int id;

		if (!is_global_data(map) || !strcmp(map_name(map), ".kconfig"))
			continue;
		id = btf__find_by_name_kind(btf, map_name(map), BTF_KIND_DATASEC);
		sec = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
		/* libbpf's own mapping, writable until the load */
		bytes = (uint8_t *)(uintptr_t)bpf_map__initial_value(map, &size);
		if (!sec || !bytes || !find_var(btf, sec, name, &v) ||
		    (uint64_t)v->offset + v->size > size)
			continue;
		*ret_bytes = bytes + v->offset;
		*ret_size = v->size;
		*ret_type_id = btf__type_by_id(btf, v->type)->type;
		return 0;
	}
	return -ENOENT;
}
