/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of map types: see map.h. */
#include <stddef.h>

#include "maps/map_impl.h"

static const struct map_ops *const types[] = {
	&array_ops,	    &percpu_array_ops,	  &hash_ops,	   &percpu_hash_ops,
	&lru_hash_ops,	    &lru_percpu_hash_ops, &lpm_ops,	   &prog_array_ops,
	&array_of_maps_ops, &hash_of_maps_ops,	  &queue_ops,	   &stack_ops,
	&bloom_ops,	    &ringbuf_ops,	  &perf_array_ops, &devmap_ops,
	&devmap_hash_ops,   &cpumap_ops,	  &xskmap_ops,
};

const struct map_ops *map_ops_of(uint32_t type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i]->type == type)
			return types[i];
	return NULL;
}

const char *map_type_name(uint32_t type)
{
	const struct map_ops *ops = map_ops_of(type);

	return ops ? ops->name : "unknown";
}
