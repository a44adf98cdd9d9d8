/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the driver tests that need the kernel: a network namespace of their own, with a pair of veths, and a raw
 * socket at the far end.
 *
 *     port under test -- w0 |=====| p0 -- peer socket
 */
#ifndef WEIR_PORT_NET_TEST_H
#define WEIR_PORT_NET_TEST_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "port/port.h"

enum { TEST_SKIP = 77, WAIT_MS = 3000, TEST_FRAMES = 8192 };

struct env {
	struct pool *pool;
	struct pool_cache cache;
	struct port *port;
	int peer;
};

static inline void sh(const char *cmd)
{
	if (system(cmd))
		fail_msg("failed: %s", cmd);
}

/* Enters a new network namespace; returns TEST_SKIP, with the reason said, when that is not allowed. */
static inline int netns_enter(void)
{
	if (geteuid() || unshare(CLONE_NEWNET)) {
		printf("SKIP: needs root, for a network namespace of its own\n");
		return TEST_SKIP;
	}
	return system("ip link set lo up") ? 1 : 0;
}

static inline void veth_make(void)
{
	sh("ip link add w0 type veth peer name p0");
	/* No host traffic: router solicitations and the like would be counted. */
	sh("echo 1 > /proc/sys/net/ipv6/conf/w0/disable_ipv6; "
	   "echo 1 > /proc/sys/net/ipv6/conf/p0/disable_ipv6");
	sh("ip link set w0 up && ip link set p0 up");
}

static inline void veth_remove(void)
{
	(void)!system("ip link del w0 2>/dev/null");
}

/* A raw socket on dev, with virtio-net headers both ways when asked for. */
static inline int peer_open(const char *dev, int vnet)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), one = 1;
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(dev),
	};

	assert_true(fd >= 0);
	if (vnet)
		assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &vnet, sizeof(vnet)),
				 0);
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static inline void env_init(struct env *e)
{
	memset(e, 0, sizeof(*e));
	e->peer = -1;
	assert_int_equal(pool_create(&e->pool, TEST_FRAMES, NULL), 0);
	pool_cache_init(&e->cache, e->pool);
}

static inline int port_try(struct env *e, const char *text, struct err *err)
{
	struct port_spec spec;

	err->text[0] = 0;
	assert_int_equal(port_spec_parse(&spec, text, err), 0);
	return port_open(&e->port, &spec, e->pool, err);
}

static inline void env_open(struct env *e, const char *text)
{
	struct err err;

	env_init(e);
	if (port_try(e, text, &err))
		fail_msg("%s: %s", text, err.text);
}

static inline void env_close(struct env *e)
{
	if (e->peer >= 0)
		close(e->peer);
	port_close(e->port);
	pool_cache_fini(&e->cache);
	assert_int_equal(pool_destroy(e->pool), 0);
}

/* Polls until something comes, the port is lost, or WAIT_MS are over: then 0. */
static inline int rx_wait(struct env *e, struct frame **frames, uint32_t n)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)WAIT_MS * 1000000;
	int rc;

	do {
		rc = port_rx(e->port, &e->cache, frames, n);
		port_flush(e->port, &e->cache);
	} while (!rc && clock_ns(CLOCK_MONOTONIC) < end);
	return rc;
}

/* What arrives at a peer socket: its length, or -1 after ms. */
static inline ssize_t peer_recv(int fd, void *buf, size_t size, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 ? recv(fd, buf, size, 0) : -1;
}

#endif
