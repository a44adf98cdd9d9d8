/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One entry of a map between trees (value.h) and bpf(2)'s bytes: what state.c, state_dump.c and state_expect.c
 * share. Knows what value.c cannot: per-CPU values, LPM keys, and maps whose values stand for ports, programs
 * and maps and are written by name.
 *
 * Threads: control thread.
 * Ownership: entry_init allocates the buffers; entry_fini frees them and closes what a value opened. An entry is
 * used for any number of keys of its map.
 */
#ifndef WEIR_CTL_ENTRY_H
#define WEIR_CTL_ENTRY_H

#include "ctl/instance.h"
#include "ctl/value.h"

#include <stdbool.h>

struct entry {
	struct weir *weir;
	struct map *map; /* borrowed */
	struct value_type key_type, value_type;
	uint8_t *key;	/* map->key_size bytes */
	uint8_t *value; /* map_sys_value_size() bytes */
	int fd;		/* of the program or map in the value; -1: none */
};

int entry_init(struct entry *e, struct weir *weir, struct map *map, struct err *err);
void entry_fini(struct entry *e);

/* Trees to bytes. Errors name the map, the field and what was expected. A NULL key is for keyless maps (queue,
 * stack, bloom filter). */
int entry_set_key(struct entry *e, json_t *tree, struct err *err);
int entry_set_value(struct entry *e, json_t *tree, struct err *err);
/* The entry of a dump: {"key":..,"value":..}, {"key":..,"values":[{"cpu":..,"value":..}]}, and "formatted" where
 * only that is there or where values are names. *ret_skip: the dump says that this entry had no value. */
int entry_set_dumped(struct entry *e, json_t *dumped, bool *ret_skip, struct err *err);

/* Writes the entry to the map. */
int entry_put(struct entry *e, struct err *err);
/* Reads the value of e->key; -ENOENT when absent. */
int entry_load(struct entry *e);
/* Whether the map's value is the one that tree says; e holds the map's value after. "absent" expects that there is
 * none. A single value of a per-CPU map is that of the CPU that programs see (--cpu). Of values that are names,
 * the number or name is compared. */
int entry_expect(struct entry *e, json_t *tree, bool *ret_same, struct err *err);
/* As bpftool dumps it. New reference, NULL: out of memory. */
json_t *entry_json(const struct entry *e);
/* The key as people write it ("7", "{\"a\":1}", "0a 00"); returns buf. */
char *entry_key_text(const struct entry *e, char *buf, size_t n);

bool map_has_no_keys(const struct map *map);
/* Whether values stand for ports, programs or maps. */
bool map_holds_names(const struct map *map);

#endif
