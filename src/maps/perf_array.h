/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perf event arrays: where bpf_perf_event_output sends its records.
 *
 * Threads: output is called by workers; a sink must take records from several at a time.
 */
#ifndef WEIR_MAPS_PERF_ARRAY_H
#define WEIR_MAPS_PERF_ARRAY_H

#include "maps/map.h"

/* A perf event as weir has it: OBJ_PERF. cpu is the CPU it belongs to. */
struct perf_sink {
	struct obj obj;
	uint32_t cpu;
	/* A record: `size` bytes of data, then `packet_size` bytes of the packet. 0, or -ENOSPC when lost. */
	int (*output)(struct perf_sink *sink, struct map *map, const void *data, uint32_t size,
		      const void *packet, uint32_t packet_size);
};

/* The sink in slot `index`, or NULL. Borrowed. Data path. */
struct perf_sink *perf_array_lookup(struct map *map, uint32_t index);
/* Puts a sink into a slot without a descriptor; takes a reference of its own. 0, -E2BIG. */
int perf_array_set(struct map *map, uint32_t index, struct perf_sink *sink);

#endif
