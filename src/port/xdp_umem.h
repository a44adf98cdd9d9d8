/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The UMEM of a pool: registered with the kernel by the first AF_XDP socket, shared by all others. For
 * src/port only.
 *
 * Threads: the control thread. Ownership: each socket holds one reference, from get to put.
 */
#ifndef WEIR_PORT_XDP_UMEM_H
#define WEIR_PORT_XDP_UMEM_H

#include <xdp/xsk.h>

struct pool;
struct xdp_umem;

/* The rings are those of the socket that is about to be opened; used when the UMEM is new. 0 or -errno. */
int xdp_umem_get(struct xdp_umem **ret, struct pool *pool, struct xsk_ring_prod *fill,
		 struct xsk_ring_cons *comp);
/* After the socket was deleted, or not made. */
void xdp_umem_put(struct xdp_umem *umem);
struct xsk_umem *xdp_umem_xsk(const struct xdp_umem *umem);

#endif
