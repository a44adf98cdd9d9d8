/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial checksums and super-frames: see vnet_hdr.h. */
#include "port/vnet_hdr.h"

#include "pkt/csum.h"
#include "port/port_impl.h"

enum { UDP_CSUM_OFFSET = 6 };

/* The field holds the sum of the pseudo-header: it is summed with the rest (virtio 1.2, 5.1.6.2). */
static bool csum_complete(const struct virtio_net_hdr *h, struct frame *f)
{
	uint32_t len = frame_len(f), start = h->csum_start, at = start + h->csum_offset;

	if (start < FRAME_LEN_MIN || at + 2 > len)
		return false;
	csum_put(f->data + at, csum_add(0, f->data + start, len - start));
	if (h->csum_offset == UDP_CSUM_OFFSET && !f->data[at] && !f->data[at + 1])
		f->data[at] = f->data[at + 1] = 0xff; /* 0 would say that there is none, RFC 768 */
	return true;
}

bool vnet_hdr_apply(const struct virtio_net_hdr *h, struct frame *f, struct port *port)
{
	if ((h->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) != VIRTIO_NET_HDR_GSO_NONE) {
		port_count(&port->stats.rx_dropped[RX_LOSS_GSO], 1);
		return false;
	}
	if (h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && !csum_complete(h, f)) {
		port_count(&port->stats.rx_dropped[RX_LOSS_BAD_CSUM_REQ], 1);
		return false;
	}
	return true;
}
