/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory ports: `sample` (the built-in capture), `mem:` (a generator and sink for benchmarks), `null` (a sink).
 * Beside the ops, a caller inside the process can put frames in and take frames out: that is how `weir test`
 * and the unit tests drive the engine.
 *
 * Threads: as port.h; mem_port_push and mem_port_pull are called by the thread that runs the worker.
 */
#ifndef WEIR_PORT_MEM_H
#define WEIR_PORT_MEM_H

#include "port/port.h"

/* Appends frames to what rx will give next (takes them). -ENOSPC beyond 65,536: none taken. A `mem` port that
 * was pushed to, or that has `keep`, generates nothing by itself. */
int mem_port_push(struct port *port, struct frame **frames, uint32_t n);
/* Takes up to n frames that were sent to a `mem:keep` port, oldest first; the caller owns them. */
uint32_t mem_port_pull(struct port *port, struct frame **frames, uint32_t n);

/* The built-in capture: ARP, IPv4 and IPv6 TCP and UDP, VLAN, two tags, VXLAN, ICMP, fragments, a short one. */
struct sample_packet {
	const char *kind; /* "ipv4/udp", "vlan/ipv4/tcp", ... */
	const uint8_t *bytes;
	uint32_t len;
};

uint32_t sample_count(void);
const struct sample_packet *sample_at(uint32_t i);
/* What kind of packet these bytes are, in the same words: "ipv4/tcp", "arp", "other". Borrowed, valid until
 * the thread's next call. */
const char *sample_classify(const uint8_t *bytes, uint32_t len);

#endif
