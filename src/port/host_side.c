/* SPDX-License-Identifier: BSD-2-Clause */
/* A tap by which the host sees what programs pass: see host_side.h. */
#include "port/host_side.h"

#include <stdio.h>
#include <unistd.h>

#include "port/tap.h"

bool host_side_open(struct host_side *host, const char *kind, const struct kernel_if *of)
{
	char name[16];

	snprintf(name, sizeof(name), "weir-%.10s", of->name);
	host->fd = tap_fd_open(kind, name, NULL);
	if (host->fd < 0)
		return false;
	if (!kernel_if_open(&host->kif, kind, name, NULL) &&
	    !kernel_if_set_mac(&host->kif, of->mac) && !kernel_if_set_mtu(&host->kif, of->mtu) &&
	    !kernel_if_set_up(&host->kif))
		return true;
	host_side_close(host);
	return false;
}

void host_side_close(struct host_side *host)
{
	if (host->fd >= 0)
		close(host->fd);
	host->fd = -1;
	kernel_if_close(&host->kif);
}

void host_side_tx(struct host_side *host, struct pool_cache *cache, struct frame **frames,
		  uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (host->fd < 0 || tap_fd_tx(host->fd, frames[i]))
			host->lost++;
	pool_free(cache, frames, n);
}

int host_side_rx(struct host_side *host, struct port *port, struct pool_cache *cache,
		 struct frame **frames, uint32_t n)
{
	return host->fd < 0 ? 0 : tap_fd_rx(host->fd, port, cache, frames, n);
}
