/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host behind a port that took its interface: a tap `weir-IF` with the interface's MAC and MTU. What a program passes
 * goes up through it, and what the host sends into it leaves by the interface. For src/port only.
 *
 * Threads and ownership: as the port that it is part of. A zeroed one with fd -1 is closed.
 */
#ifndef WEIR_PORT_HOST_SIDE_H
#define WEIR_PORT_HOST_SIDE_H

#include "port/kernel_if.h"

struct host_side {
	int fd; /* -1: none */
	struct kernel_if kif;
	uint64_t lost; /* passed frames that the tap did not take */
};

/* Makes the tap beside `of`; false when it cannot be made: passed frames then go to nobody. */
bool host_side_open(struct host_side *host, const char *kind, const struct kernel_if *of);
void host_side_close(struct host_side *host);
/* As port_ops.to_host and port_ops.from_host. */
void host_side_tx(struct host_side *host, struct pool_cache *cache, struct frame **frames,
		  uint32_t n);
int host_side_rx(struct host_side *host, struct port *port, struct pool_cache *cache,
		 struct frame **frames, uint32_t n);

#endif
