/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tap device: its descriptor, and bursts through it. The port `tap:` is one, and an AF_XDP port has one
 * beside it, by which the host sees what programs pass. For src/port only.
 */
#ifndef WEIR_PORT_TAP_H
#define WEIR_PORT_TAP_H

#include "port/port.h"

/* Opens or makes the tap; the descriptor does not block, and every packet has a virtio-net header in front.
 * The text of a failure begins "port kind:name". */
int tap_fd_open(const char *kind, const char *name, struct err *err);
/* As port_ops.rx; counts only what was lost, in port. -errno when the tap is gone. */
int tap_fd_rx(int fd, struct port *port, struct pool_cache *cache, struct frame **frames,
	      uint32_t n);
/* Writes a frame: 0 or -errno. The frame stays the caller's. */
int tap_fd_tx(int fd, const struct frame *f);

#endif
