/* SPDX-License-Identifier: BSD-2-Clause */
/* UMEMs by pool: see xdp_umem.h. */
#include "port/xdp_umem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "pkt/pool.h"
#include "port/xdp_queue.h"

struct xdp_umem {
	struct pool *pool;
	struct xsk_umem *xsk;
	uint32_t refs;
	struct xdp_umem *next;
};

static struct xdp_umem *umems;
static pthread_mutex_t umems_lock = PTHREAD_MUTEX_INITIALIZER;

static int umem_create(struct xdp_umem **ret, struct pool *pool, struct xsk_ring_prod *fill,
		       struct xsk_ring_cons *comp)
{
	const struct xsk_umem_config cfg = {
		.fill_size = XDP_RING,
		.comp_size = XDP_RING,
		.frame_size = FRAME_SIZE,
		.frame_headroom = 0, /* the kernel adds XDP_PACKET_HEADROOM by itself */
		.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG,
	};
	struct xdp_umem *u = calloc(1, sizeof(*u));
	uint8_t *mem;
	size_t size;
	int rc;

	if (!u)
		return -ENOMEM;
	mem = pool_memory(pool, &size);
	rc = xsk_umem__create(&u->xsk, mem, size, fill, comp, &cfg);
	if (rc) {
		free(u);
		return rc;
	}
	u->pool = pool;
	u->next = umems;
	umems = u;
	*ret = u;
	return 0;
}

int xdp_umem_get(struct xdp_umem **ret, struct pool *pool, struct xsk_ring_prod *fill,
		 struct xsk_ring_cons *comp)
{
	struct xdp_umem *u;
	int rc = 0;

	pthread_mutex_lock(&umems_lock);
	for (u = umems; u && u->pool != pool;)
		u = u->next;
	if (!u)
		rc = umem_create(&u, pool, fill, comp);
	if (!rc) {
		u->refs++;
		*ret = u;
	}
	pthread_mutex_unlock(&umems_lock);
	return rc;
}

void xdp_umem_put(struct xdp_umem *umem)
{
	pthread_mutex_lock(&umems_lock);
	if (!--umem->refs) {
		struct xdp_umem **u = &umems;

		while (*u != umem)
			u = &(*u)->next;
		*u = umem->next;
		xsk_umem__delete(umem->xsk);
		free(umem);
	}
	pthread_mutex_unlock(&umems_lock);
}

struct xsk_umem *xdp_umem_xsk(const struct xdp_umem *umem)
{
	return umem->xsk;
}
