/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounting of an instance as JSON and text (design 10), from the engine's counters and those of the ports.
 *
 * Threads: control thread; workers may run, then the totals are those of a moment.
 */
#ifndef WEIR_CTL_STATS_H
#define WEIR_CTL_STATS_H

#include "ctl/instance.h"

#include <jansson.h>

/* A port's frames, for interval reports. */
struct stats_port {
	uint64_t received, transmitted, dropped;
};

/* The JSON of `weir run`: a new reference, or NULL without memory. */
json_t *stats_json(struct weir *weir);
/* Frames lost by the port itself on the way in and out count as dropped here. */
void stats_port_read(struct weir *weir, struct port *port, struct stats_port *ret);

#endif
