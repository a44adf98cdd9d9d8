/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that stand for something else and are written by name: ports in devmaps, programs in prog arrays,
 * devmaps and cpumaps, maps in maps of maps. Part of entry.c.
 *
 * Threads: control thread.
 */
#ifndef WEIR_CTL_ENTRY_NAME_H
#define WEIR_CTL_ENTRY_NAME_H

#include "ctl/entry.h"

/* "out1", 3, {ifindex: out1, bpf_prog: name}, {qsize: 192, bpf_prog: name}, a program, a map. */
int entry_set_name(struct entry *e, json_t *tree, struct err *err);
/* The same from the value that bpf(2) shows, whose ids become names. New reference. */
json_t *entry_name_json(const struct entry *e);

#endif
