/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All maps of an object as JSON, the same for maps of weir and of the kernel: both are read through libbpf's calls, which
 * end in weir's bpf(2) here and in the kernel's in the helper process.
 *
 *   {"map": {"type": "hash", "entries": [{"key": "hex", "value": "hex"} ...]}, ...}
 *
 * Values that hold objects are names: {"ifindex": N, "prog": "name"} in devmaps, {"prog": "name"} in prog arrays,
 * {"map": "name"} in maps of maps. Empty slots are left out. Entries are in order of their keys.
 */
#ifndef WEIR_ORACLE_SNAPSHOT_H
#define WEIR_ORACLE_SNAPSHOT_H

#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

struct bpf_object;

/* New reference; types whose contents cannot be read without taking them out are left out. */
json_t *snapshot_take(struct bpf_object *object);
/* Puts the entries of a snapshot into the object's maps; read-only maps are left alone. */
int snapshot_apply(struct bpf_object *object, json_t *snapshot, struct err *err);
/* Compares; calls fn for each entry that differs or is on one side only, as text; returns how many there are. */
uint32_t snapshot_diff(json_t *ours, json_t *theirs, void (*fn)(void *arg, const char *text),
		       void *arg);

/* Bytes as hexadecimal text (2n + 1 bytes are written) and back: the number of bytes, or -1. */
char *hex_encode(char *text, const void *bytes, size_t n);
long hex_decode(void *bytes, size_t cap, const char *text);

#endif
