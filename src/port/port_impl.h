/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the drivers share: their ops, counting, and giving frames back at close, when no worker's cache is at
 * hand. For src/port only.
 */
#ifndef WEIR_PORT_PORT_IMPL_H
#define WEIR_PORT_PORT_IMPL_H

#include "port/port.h"

extern const struct port_ops mem_ops, sample_ops, null_ops, pcap_ops, tap_ops, packet_ops, xdp_ops;

/* Adds to a counter that this thread alone writes and others read. */
static inline void port_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void port_count_tx(struct port *port, struct frame *const *frames, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += frame_len(frames[i]);
	port_count(&port->stats.tx_frames, n);
	port_count(&port->stats.tx_bytes, bytes);
}

static inline void port_count_rx(struct port *port, struct frame *const *frames, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += frame_len(frames[i]);
	port_count(&port->stats.rx_frames, n);
	port_count(&port->stats.rx_bytes, bytes);
}

/* Gives any number of frames back to the pool, past the caches. Control path. */
void port_return_frames(struct pool *pool, struct frame *const *frames, uint32_t n);
/* Says in port->lost why the port is lost; returns -code, for rx. */
int port_lost(struct port *port, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "in", "out", or NULL when nobody said: the engine sets the key dir. */
const char *port_spec_dir(struct port_spec *spec);

#endif
