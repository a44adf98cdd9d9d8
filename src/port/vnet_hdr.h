/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The virtio-net header in front of a packet from a tap or a packet socket: what the sender's stack left to a
 * network card that is not there. A checksum is completed; a super-frame that is to be cut is refused, since
 * no link would carry it (cases B3.14). For src/port only.
 */
#ifndef WEIR_PORT_VNET_HDR_H
#define WEIR_PORT_VNET_HDR_H

#include <linux/virtio_net.h>

#include "port/port.h"

/* Completes the packet of f, which begins where the header's offsets count from. False when it was refused,
 * and counted under port's RX_LOSS_GSO or RX_LOSS_BAD_CSUM_REQ: the frame stays the caller's. */
bool vnet_hdr_apply(const struct virtio_net_hdr *h, struct frame *f, struct port *port);

#endif
