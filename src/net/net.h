/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the world looks like to programs and to the engine: interfaces, routes, neighbours. The kernel's
 * own tables are one way to fill it (src/ctl/netlink.c), the command line another (--port, --route, --neigh).
 *
 * Threads: read by workers under QSBR; written by the control thread, which copies the table, changes the
 * copy, and publishes it (net_edit_begin, net_edit_commit).
 * Ownership: struct net belongs to the instance. Pointers returned by look-ups are borrowed until the
 * reader's next quiescent state.
 */
#ifndef WEIR_NET_NET_H
#define WEIR_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

struct net;
struct net_edit;

enum { NET_IF_NAME = 16, NET_ADDR = 16 };

struct net_if {
	uint32_t ifindex;
	uint32_t mtu; /* bytes of the layer 3 packet; a frame may have mtu + 14 + 4 */
	uint32_t n_rx_queues;
	bool up;
	bool can_xmit; /* has ndo_xdp_xmit, or is a port of weir: else EOPNOTSUPP at the redirect */
	bool forwarding4; /* of IPv4, and the next of IPv6: else bpf_fib_lookup's FWD_DISABLED */
	bool forwarding6;
	uint8_t mac[6];
	char name[NET_IF_NAME];
	uint32_t port_id; /* the engine's port, or UINT32_MAX when weir has none there */
};

struct net_route {
	uint8_t family; /* AF_INET, AF_INET6 */
	uint8_t prefix_len;
	uint8_t type; /* RTN_UNICAST, RTN_LOCAL, RTN_BLACKHOLE, RTN_UNREACHABLE, RTN_PROHIBIT, ... */
	uint8_t gateway_family; /* 0: on link */
	uint32_t table;		/* RT_TABLE_MAIN, ... */
	uint32_t metric;
	uint32_t ifindex;
	uint32_t mtu; /* 0: the interface's */
	uint8_t dst[NET_ADDR];
	uint8_t gateway[NET_ADDR];
	uint8_t prefsrc[NET_ADDR];
};

struct net_neigh {
	uint32_t ifindex;
	uint8_t family;
	bool valid; /* NUD_VALID */
	uint8_t mac[6];
	uint8_t addr[NET_ADDR];
};

/* Life cycle. An empty world; -ENOMEM. */
int net_create(struct net **ret);
void net_destroy(struct net *net);

/* Changes: begin copies what is there, the calls change the copy, commit publishes it (0 or -ENOMEM) and
 * frees the old one after a grace period. Adding what is there replaces it. */
struct net_edit *net_edit_begin(struct net *net);
int net_edit_if(struct net_edit *edit, const struct net_if *nif);
void net_edit_del_if(struct net_edit *edit, uint32_t ifindex);
int net_edit_route(struct net_edit *edit, const struct net_route *route);
int net_edit_neigh(struct net_edit *edit, const struct net_neigh *neigh);
void net_edit_clear_routes(struct net_edit *edit); /* routes and neighbours */
int net_edit_commit(struct net_edit *edit);

/* Look-ups; NULL when absent. */
const struct net_if *net_if_by_index(const struct net *net, uint32_t ifindex);
const struct net_if *net_if_by_name(const struct net *net, const char *name);
/* Walks the interfaces: i from 0; NULL at the end. */
const struct net_if *net_if_at(const struct net *net, uint32_t i);
/* Longest prefix, then smallest metric, in the tables local, then main and default; or in one table when
 * `table` is not 0. addr is 4 or 16 bytes in network order. */
const struct net_route *net_route_lookup(const struct net *net, uint8_t family, const void *addr,
					 uint32_t table);
const struct net_neigh *net_neigh_lookup(const struct net *net, uint32_t ifindex, uint8_t family,
					 const void *addr);

#endif
