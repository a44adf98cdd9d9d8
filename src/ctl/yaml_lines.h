/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in a YAML text a key or an entry stands. libcyaml checks a text against a schema, but forgets the lines
 * of what was good; errors about values need them.
 *
 * Threads: control thread.
 */
#ifndef WEIR_CTL_YAML_LINES_H
#define WEIR_CTL_YAML_LINES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct yaml_lines;

/* Parses the text. -EINVAL with "NAME:LINE: what is wrong" for what is no YAML. */
int yaml_lines_create(struct yaml_lines **ret, const char *name, const char *text, size_t len,
		      struct err *err);
void yaml_lines_destroy(struct yaml_lines *lines); /* NULL is allowed */
/* The line, from 1, of key `a`, of its key `b` when that is not NULL, of that one's entry `index` when it is not
 * negative. When a part is missing: of what was found before; 1 for nothing. */
uint32_t yaml_lines_find(const struct yaml_lines *lines, const char *a, const char *b, int index);
/* The first line from `from` on that has a mapping key of that name; `from` when there is none. */
uint32_t yaml_lines_key(const struct yaml_lines *lines, const char *key, uint32_t from);

#endif
