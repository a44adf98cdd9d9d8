/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State before traffic: --map, --maps and --global, queued until the object is there, typed by BTF; and maps as
 * JSON in bpftool's dump format. This is the loader's part that nearly every real program needs.
 *
 * Threads: control thread.
 */
#ifndef WEIR_CTL_STATE_H
#define WEIR_CTL_STATE_H

#include "ctl/instance.h"

#include <jansson.h>

/* Globals: between open and load. Applies every queued --global. */
int state_apply_globals(struct weir *weir, struct err *err);
/* Map entries: after load. Applies every queued --map and --maps in their order. */
int state_apply_maps(struct weir *weir, struct err *err);
void state_free(struct instance_state *state);
/* The i-th queued "NAME=VALUE" of a global; NULL at the end. Borrowed. state may be NULL. */
const char *state_global_at(const struct instance_state *state, uint32_t i);

/* One entry, now, on a loaded instance: key and value as text ("10.0.0.1", "0x0a 0x00", "{mask: 3}"). */
int state_map_set(struct weir *weir, const char *map, const char *key, const char *value,
		  struct err *err);
/* The value of a key as JSON {"key":..,"value":..,"formatted":{..}}; -ENOENT with a text when absent. New reference. */
int state_map_get(struct weir *weir, const char *map, const char *key, json_t **ret,
		  struct err *err);
int state_map_delete(struct weir *weir, const char *map, const char *key, struct err *err);
/* All entries of a map as bpftool -j dumps them: an array of entries. New reference. */
int state_map_dump(struct weir *weir, struct map *map, json_t **ret, struct err *err);
/* {"map name": [entries], ...} of all maps that hold state: frozen ones (.rodata), ring buffers, queues and the like
 * are not there, nor are entries of arrays that are zero on every CPU. New reference. */
int state_dump_all(struct weir *weir, json_t **ret, struct err *err);
/* Compares the maps that `root` (as of state_dump_all) names; entries of arrays that it lacks must be zero. A line
 * for each difference goes to out when that is not NULL. */
int state_expect(struct weir *weir, json_t *root, FILE *out, uint32_t *ret_different,
		 struct err *err);

/* "NAME[KEY]=VALUE" against the map: see entry_expect. A line for a difference goes to out when that is not NULL. */
int state_expect_entry(struct weir *weir, const char *text, FILE *out, bool *ret_same,
		       struct err *err);
/* "NAME[KEY]=VALUE" cut in place. */
struct assignment {
	char *name, *key, *value;
};
int assignment_cut(struct assignment *a, char *text, struct err *err);

/* The map of that name, borrowed; NULL with a text that lists the names. */
struct map *state_map_named(struct weir *weir, const char *name, struct err *err);
/* A JSON file whose root is an object. New reference. */
int state_read_file(const char *path, json_t **ret, struct err *err);

#endif
