/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's tables into net/, by rtnetlink: see netlink.h. */
#include "ctl/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/instance.h"
#include "maps/devmap.h"

enum {
	BUF_SIZE = 64 * 1024, /* the kernel fills at most 32 KiB of a dump at a time */
	DUMP_TRIES = 3,	      /* a dump that a change interrupted is asked for again */
};

/* A tenth of the time at most goes into refreshes, and there are at most 50 a second. */
static const uint64_t REFRESH_MIN_NS = 20 * 1000 * 1000;
static const uint64_t REFRESH_FACTOR = 10;
static const uint64_t LOOK_NS = 1000 * 1000 * 1000;

/* What the command line said about a port's interface, which the kernel does not overrule. */
struct override {
	uint32_t mtu; /* 0: the kernel's */
	bool down;
};

struct netlink {
	struct weir *weir;
	struct mnl_socket *events, *query;
	bool dirty;
	uint64_t next_ns; /* no refresh before */
	uint64_t look_ns; /* the next look without an event */
	uint32_t seq;
	struct override overrides[ENGINE_PORTS_MAX];
	char buf[BUF_SIZE];
};

struct neigh_attrs {
	struct net_neigh *neigh;
	bool has_addr;
};

/* One refresh: what the callbacks of a dump need. */
struct refresh {
	struct netlink *nl;
	struct net_edit *edit;
	bool first;
	bool interrupted;
	int error;
	uint32_t n_seen;
	uint32_t seen[4096]; /* ifindexes: more are kept, but not deleted when they go */
};

static bool sysctl_is_set(const char *family, const char *name)
{
	char path[128];
	FILE *f;
	bool set;

	snprintf(path, sizeof(path), "/proc/sys/net/%s/conf/%s/forwarding", family, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	set = fgetc(f) == '1';
	fclose(f);
	return set;
}

/* A port of weir keeps what weir knows of it. */
static void link_merge_port(struct refresh *r, const struct port *port, struct net_if *nif)
{
	struct override *o = &r->nl->overrides[port->id];
	const struct net_if *old = net_if_by_index(engine_net(r->nl->weir->engine), nif->ifindex);

	if (r->first) {
		o->mtu = port->mtu != nif->mtu ? port->mtu : 0;
		o->down = nif->up && !port->up;
	}
	nif->port_id = port->id;
	nif->can_xmit = port->can_tx;
	if (o->mtu)
		nif->mtu = o->mtu;
	if (o->down)
		nif->up = false;
	if (old) {
		nif->n_rx_queues = old->n_rx_queues;
		memcpy(nif->name, old->name, sizeof(nif->name));
	}
}

static int link_attr(const struct nlattr *attr, void *arg)
{
	struct net_if *nif = arg;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		snprintf(nif->name, sizeof(nif->name), "%s", mnl_attr_get_str(attr));
		break;
	case IFLA_MTU:
		nif->mtu = mnl_attr_get_u32(attr);
		break;
	case IFLA_NUM_RX_QUEUES:
		nif->n_rx_queues = mnl_attr_get_u32(attr);
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == sizeof(nif->mac))
			memcpy(nif->mac, mnl_attr_get_payload(attr), sizeof(nif->mac));
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int on_link(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct refresh *r = arg;
	struct net_if nif = { .port_id = UINT32_MAX, .n_rx_queues = 1 };
	const struct port *port;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		r->interrupted = true;
	nif.ifindex = (uint32_t)ifi->ifi_index;
	nif.up = ifi->ifi_flags & IFF_UP;
	mnl_attr_parse(nlh, sizeof(*ifi), link_attr, &nif);
	port = engine_port_by_ifindex(r->nl->weir->engine, nif.ifindex);
	if (r->n_seen < sizeof(r->seen) / sizeof(r->seen[0]))
		r->seen[r->n_seen++] = nif.ifindex;
	if (port && !port->is_kernel_if)
		return MNL_CB_OK; /* a port of weir has taken this number */
	nif.forwarding4 = sysctl_is_set("ipv4", nif.name);
	nif.forwarding6 = sysctl_is_set("ipv6", nif.name);
	if (port)
		link_merge_port(r, port, &nif);
	r->error = net_edit_if(r->edit, &nif);
	return r->error ? MNL_CB_ERROR : MNL_CB_OK;
}

static void address_copy(uint8_t *to, const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memcpy(to, mnl_attr_get_payload(attr), len < NET_ADDR ? len : NET_ADDR);
}

static void gateway_set(struct net_route *route, uint8_t family, const void *addr, size_t len)
{
	route->gateway_family = family;
	memcpy(route->gateway, addr, len < NET_ADDR ? len : NET_ADDR);
}

static void via_set(struct net_route *route, const struct nlattr *attr)
{
	const struct rtvia *via = mnl_attr_get_payload(attr);
	size_t len = mnl_attr_get_payload_len(attr);

	if (len > sizeof(*via))
		gateway_set(route, (uint8_t)via->rtvia_family, via->rtvia_addr, len - sizeof(*via));
}

static int nexthop_attr(const struct nlattr *attr, void *arg)
{
	struct net_route *route = arg;

	if (mnl_attr_get_type(attr) == RTA_GATEWAY)
		gateway_set(route, route->family, mnl_attr_get_payload(attr),
			    mnl_attr_get_payload_len(attr));
	else if (mnl_attr_get_type(attr) == RTA_VIA)
		via_set(route, attr);
	return MNL_CB_OK;
}

/* The first next hop stands for all of them. */
static void multipath_set(struct net_route *route, const struct nlattr *attr)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attr);

	if (mnl_attr_get_payload_len(attr) < sizeof(*hop) || hop->rtnh_len < sizeof(*hop) ||
	    hop->rtnh_len > mnl_attr_get_payload_len(attr))
		return;
	route->ifindex = (uint32_t)hop->rtnh_ifindex;
	mnl_attr_parse_payload(hop + 1, hop->rtnh_len - sizeof(*hop), nexthop_attr, route);
}

static int metric_attr(const struct nlattr *attr, void *arg)
{
	struct net_route *route = arg;

	if (mnl_attr_get_type(attr) == RTAX_MTU)
		route->mtu = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int route_attr(const struct nlattr *attr, void *arg)
{
	struct net_route *route = arg;

	switch (mnl_attr_get_type(attr)) {
	case RTA_DST:
		address_copy(route->dst, attr);
		break;
	case RTA_PREFSRC:
		address_copy(route->prefsrc, attr);
		break;
	case RTA_OIF:
		route->ifindex = mnl_attr_get_u32(attr);
		break;
	case RTA_PRIORITY:
		route->metric = mnl_attr_get_u32(attr);
		break;
	case RTA_TABLE:
		route->table = mnl_attr_get_u32(attr);
		break;
	case RTA_METRICS:
		mnl_attr_parse_nested(attr, metric_attr, route);
		break;
	case RTA_MULTIPATH:
		multipath_set(route, attr);
		break;
	default:
		nexthop_attr(attr, route);
		break;
	}
	return MNL_CB_OK;
}

static int on_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct refresh *r = arg;
	struct net_route route = { .family = rtm->rtm_family,
				   .prefix_len = rtm->rtm_dst_len,
				   .type = rtm->rtm_type,
				   .table = rtm->rtm_table };

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		r->interrupted = true;
	if ((rtm->rtm_family != AF_INET && rtm->rtm_family != AF_INET6) ||
	    (rtm->rtm_flags & (RTM_F_CLONED | RTNH_F_DEAD)))
		return MNL_CB_OK;
	mnl_attr_parse(nlh, sizeof(*rtm), route_attr, &route);
	r->error = net_edit_route(r->edit, &route);
	return r->error ? MNL_CB_ERROR : MNL_CB_OK;
}

static int neigh_attr(const struct nlattr *attr, void *arg)
{
	struct neigh_attrs *to = arg;

	if (mnl_attr_get_type(attr) == NDA_DST) {
		address_copy(to->neigh->addr, attr);
		to->has_addr = true;
	} else if (mnl_attr_get_type(attr) == NDA_LLADDR &&
		   mnl_attr_get_payload_len(attr) == sizeof(to->neigh->mac)) {
		memcpy(to->neigh->mac, mnl_attr_get_payload(attr), sizeof(to->neigh->mac));
	}
	return MNL_CB_OK;
}

static int on_neigh(const struct nlmsghdr *nlh, void *arg)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	struct refresh *r = arg;
	struct net_neigh neigh = { .ifindex = (uint32_t)ndm->ndm_ifindex,
				   .family = ndm->ndm_family };
	struct neigh_attrs attrs = { .neigh = &neigh };

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		r->interrupted = true;
	if (ndm->ndm_family != AF_INET && ndm->ndm_family != AF_INET6)
		return MNL_CB_OK;
	neigh.valid = ndm->ndm_state & (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE |
					NUD_STALE | NUD_DELAY);
	mnl_attr_parse(nlh, sizeof(*ndm), neigh_attr, &attrs);
	if (attrs.has_addr)
		r->error = net_edit_neigh(r->edit, &neigh);
	return r->error ? MNL_CB_ERROR : MNL_CB_OK;
}

static int dump_once(struct refresh *r, uint16_t type, size_t header_size, mnl_cb_t on_message)
{
	struct netlink *nl = r->nl;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(nl->buf);
	unsigned int portid = mnl_socket_get_portid(nl->query);
	ssize_t n;
	int ret = MNL_CB_OK;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++nl->seq;
	memset(mnl_nlmsg_put_extra_header(nlh, header_size), 0, header_size);
	if (mnl_socket_sendto(nl->query, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	while (ret > MNL_CB_STOP) {
		n = mnl_socket_recvfrom(nl->query, nl->buf, sizeof(nl->buf));
		if (n < 0)
			return -errno;
		ret = mnl_cb_run(nl->buf, (size_t)n, nl->seq, portid, on_message, r);
	}
	if (ret < 0)
		return r->error ? r->error : -errno;
	return 0;
}

static int dump(struct refresh *r, uint16_t type, size_t header_size, mnl_cb_t on_message)
{
	int ret = -EAGAIN;

	r->interrupted = true;
	for (int i = 0; i < DUMP_TRIES && r->interrupted; i++) {
		r->interrupted = false;
		ret = dump_once(r, type, header_size, on_message);
		if (ret)
			return ret;
	}
	return ret;
}

static bool was_seen(const struct refresh *r, uint32_t ifindex)
{
	for (uint32_t i = 0; i < r->n_seen; i++) {
		if (r->seen[i] == ifindex)
			return true;
	}
	return r->n_seen == sizeof(r->seen) / sizeof(r->seen[0]);
}

/* Interfaces that are gone: out of the tables and out of devmaps; one that was a port is down from now on. */
static int links_forget(struct refresh *r)
{
	struct net *net = engine_net(r->nl->weir->engine);
	const struct net_if *nif;

	for (uint32_t i = 0; (nif = net_if_at(net, i)); i++) {
		const struct port *port = engine_port_by_ifindex(r->nl->weir->engine, nif->ifindex);
		struct net_if down = *nif;

		if (was_seen(r, nif->ifindex) || (port && !port->is_kernel_if))
			continue;
		devmap_forget_ifindex(nif->ifindex);
		down.up = false;
		if (!port)
			net_edit_del_if(r->edit, nif->ifindex);
		else if (net_edit_if(r->edit, &down))
			return -ENOMEM;
	}
	return 0;
}

/* Routes and neighbours of the command line. */
static int own_add(struct refresh *r)
{
	const struct weir *weir = r->nl->weir;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < weir->n_routes; i++)
		ret = net_edit_route(r->edit, &weir->routes[i]);
	for (uint32_t i = 0; !ret && i < weir->n_neighs; i++)
		ret = net_edit_neigh(r->edit, &weir->neighs[i]);
	return ret;
}

static int tables_read(struct refresh *r)
{
	int ret = dump(r, RTM_GETLINK, sizeof(struct ifinfomsg), on_link);

	if (!ret)
		ret = links_forget(r);
	net_edit_clear_routes(r->edit);
	if (!ret)
		ret = dump(r, RTM_GETROUTE, sizeof(struct rtmsg), on_route);
	if (!ret)
		ret = dump(r, RTM_GETNEIGH, sizeof(struct ndmsg), on_neigh);
	return ret ? ret : own_add(r);
}

static int refresh(struct netlink *nl, bool first)
{
	struct refresh *r = calloc(1, sizeof(*r));
	int ret, committed;

	if (!r)
		return -ENOMEM;
	r->nl = nl;
	r->first = first;
	r->edit = net_edit_begin(engine_net(nl->weir->engine));
	if (!r->edit) {
		free(r);
		return -ENOMEM;
	}
	ret = tables_read(r);
	committed = net_edit_commit(r->edit);
	free(r);
	return ret ? ret : committed;
}

static struct mnl_socket *socket_open(int flags, unsigned int groups)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);

	if (s && mnl_socket_bind(s, groups, MNL_SOCKET_AUTOPID) < 0) {
		int saved = errno;

		mnl_socket_close(s);
		errno = saved;
		return NULL;
	}
	return s;
}

int netlink_open(struct netlink **ret_nl, struct weir *weir, struct err *err)
{
	struct netlink *nl = calloc(1, sizeof(*nl));
	int ret;

	if (!nl)
		return err_set(err, ENOMEM, "netlink: no memory");
	nl->weir = weir;
	/* The subscription comes first, so that no change is missed between the two. */
	nl->events = socket_open(SOCK_NONBLOCK, RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE |
							RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR |
							RTMGRP_IPV6_IFADDR);
	nl->query = nl->events ? socket_open(0, 0) : NULL;
	ret = nl->query ? refresh(nl, true) : -errno;
	if (ret) {
		netlink_close(nl);
		return err_set(err, -ret, "netlink: the kernel's interfaces and routes: %s",
			       strerror(-ret));
	}
	*ret_nl = nl;
	return 0;
}

void netlink_close(struct netlink *nl)
{
	if (!nl)
		return;
	if (nl->events)
		mnl_socket_close(nl->events);
	if (nl->query)
		mnl_socket_close(nl->query);
	free(nl);
}

int netlink_fd(const struct netlink *nl)
{
	return mnl_socket_get_fd(nl->events);
}

/* Whether anything was said; what it was does not matter. A full socket (ENOBUFS) says something too. */
static bool events_drain(struct netlink *nl)
{
	bool any = false;

	for (int i = 0; i < 64; i++) {
		ssize_t n = mnl_socket_recvfrom(nl->events, nl->buf, sizeof(nl->buf));

		if (n < 0 && errno != ENOBUFS)
			break;
		any = true;
	}
	return any;
}

void netlink_poll(struct netlink *nl, uint64_t now_ns)
{
	uint64_t begun, cost;

	if (events_drain(nl) || now_ns >= nl->look_ns)
		nl->dirty = true;
	if (!nl->dirty || now_ns < nl->next_ns)
		return;
	/* A failure leaves the tables as they were; the next look tries again. */
	begun = clock_ns(CLOCK_MONOTONIC);
	nl->dirty = refresh(nl, false) != 0;
	cost = clock_ns(CLOCK_MONOTONIC) - begun;
	cost *= REFRESH_FACTOR;
	nl->next_ns = now_ns + (cost > REFRESH_MIN_NS ? cost : REFRESH_MIN_NS);
	nl->look_ns = now_ns + LOOK_NS;
}
