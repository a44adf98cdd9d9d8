/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening weir-native.so and giving its programs the maps of an object: see native.h. */
#include "native.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "maps/devmap.h"
#include "maps/map.h"

/* As in native/native.h, which is compiled on its own. */
struct native_map {
	const char *name;
	void *variable;
	uint8_t *base;
	uint32_t stride, max_entries;
	uint32_t id, type;
	void *map;
	void *(*devmap_lookup)(void *map, uint32_t key);
};

static void *open_module(void)
{
	static void *module;

	if (!module)
		module = dlopen(WEIR_NATIVE_BUILD, RTLD_NOW | RTLD_LOCAL);
	if (!module)
		module = dlopen(WEIR_NATIVE_INSTALLED, RTLD_NOW | RTLD_LOCAL);
	return module;
}

static void *lookup_dev(void *map, uint32_t key)
{
	return devmap_lookup(map, key);
}

static int bind_maps(struct native_map *m, struct object *object, struct err *err)
{
	for (; m->name; m++) {
		struct map *map = object_map(object, m->name);

		if (!map)
			return err_set(err, ENOENT, "the native program has a map %s, %s has none",
				       m->name, object_path(object));
		m->base = map->area.base;
		m->stride = map->stride;
		m->max_entries = map->max_entries;
		m->id = map->obj.id;
		m->type = map->type;
		m->map = map;
		m->devmap_lookup = lookup_dev;
		*(struct native_map **)m->variable = m;
	}
	return 0;
}

/* One frame through the burst function. */
static uint32_t run_one(const struct prog *prog, struct run_ctx *rc, struct frame *frame)
{
	uint32_t verdict;

	prog->run_many(prog, rc, &frame, 1, &verdict);
	return verdict;
}

int native_bind(struct prog *prog, struct object *object, const char *name, struct err *err)
{
	void *module = open_module();
	char symbol[128];
	void *run, *maps;

	if (!module)
		return err_set(err, ENOTSUP, "no native programs: %s", dlerror());
	snprintf(symbol, sizeof(symbol), "native_run_%s", name);
	run = dlsym(module, symbol);
	snprintf(symbol, sizeof(symbol), "native_maps_%s", name);
	maps = dlsym(module, symbol);
	if (!run || !maps)
		return err_set(err, ENOTSUP, "weir-native.so has no program %s", name);
	prog->run_many = (prog_run_many)run;
	prog->run_one = run_one;
	return bind_maps(maps, object, err);
}
