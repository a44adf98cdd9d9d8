/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control socket of a running instance: what its requests mean. A request is a JSON object in a line,
 * {"command":C, "map":NAME, "key":TEXT, "value":TEXT}; the answer is {"result":...} or {"error":TEXT}.
 *
 *   map-list                    maps with id, type, sizes
 *   map-dump   map              entries in bpftool's dump format
 *   map-get    map key          one entry
 *   map-set    map key value    key and value as in --map
 *   map-delete map key
 *   prog-list                   programs with id, tag, engine, and the ports they run on
 *   stats                       as `weir run --json`
 *
 * Threads: control thread.
 */
#ifndef WEIR_CTL_CONTROL_H
#define WEIR_CTL_CONTROL_H

#include "ctl/instance.h"

#include <stddef.h>

/* The answer to one request, to be freed; NULL: no memory. arg: struct weir *. A server_handler. */
char *control_answer(void *arg, const char *line);
/* Where "auto" sockets are: /run/weir for root, else $XDG_RUNTIME_DIR/weir. -ENOENT with a text when there is no
 * such place. */
int control_dir(char *buf, size_t size, struct err *err);

#endif
