/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers on interfaces and routes: what the kernel answers from its tables, weir answers from net/
 * (net/core/filter.c, bpf_ipv4_fib_lookup and bpf_ipv6_fib_lookup; xdp-semantics 7.7 and 7.8).
 */
#include "bpf/helper_impl.h"

#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "net/net.h"

/* After the 6.1 header. */
enum {
	FIB_SKIP_NEIGH = 4,
	FIB_TBID = 8,
	FIB_SRC = 16,
	FIB_MARK = 32,
	FIB_FLAGS = BPF_FIB_LOOKUP_DIRECT | BPF_FIB_LOOKUP_OUTPUT | FIB_SKIP_NEIGH | FIB_TBID |
		    FIB_SRC | FIB_MARK,
	FIB_RET_NO_SRC_ADDR = 9,
	ETH_HEADER = 14,
};

_Static_assert(sizeof(struct bpf_fib_lookup) == 64, "as in include/uapi/linux/bpf.h");

/* The table id lies over the VLAN fields. */
static uint32_t take_table(struct bpf_fib_lookup *p, uint32_t flags)
{
	uint32_t table = 0;

	if (!(flags & BPF_FIB_LOOKUP_DIRECT))
		return 0;
	if (!(flags & FIB_TBID))
		return RT_TABLE_MAIN;
	memcpy(&table, &p->h_vlan_proto, sizeof(table));
	memset(&p->h_vlan_proto, 0, sizeof(table));
	return table;
}

static int type_result(uint8_t type)
{
	switch (type) {
	case RTN_UNICAST:
		return BPF_FIB_LKUP_RET_SUCCESS;
	case RTN_BLACKHOLE:
		return BPF_FIB_LKUP_RET_BLACKHOLE;
	case RTN_UNREACHABLE:
		return BPF_FIB_LKUP_RET_UNREACHABLE;
	case RTN_PROHIBIT:
		return BPF_FIB_LKUP_RET_PROHIBIT;
	default:
		return BPF_FIB_LKUP_RET_NOT_FWDED;
	}
}

static bool is_any(const uint8_t *addr, size_t n)
{
	static const uint8_t zero[NET_ADDR];

	return !memcmp(addr, zero, n);
}

static void set_gateway(struct bpf_fib_lookup *p, const struct net_route *route)
{
	if (route->gateway_family == AF_INET) {
		memcpy(&p->ipv4_dst, route->gateway, 4);
	} else if (route->gateway_family == AF_INET6) {
		p->family = AF_INET6;
		memcpy(p->ipv6_dst, route->gateway, NET_ADDR);
	}
}

static int set_source(struct bpf_fib_lookup *p, const struct net_route *route)
{
	if (p->family == AF_INET) {
		memcpy(&p->ipv4_src, route->prefsrc, 4);
		return 0;
	}
	if (is_any(route->prefsrc, NET_ADDR))
		return FIB_RET_NO_SRC_ADDR;
	memcpy(p->ipv6_src, route->prefsrc, NET_ADDR);
	return 0;
}

/* The kernel heeds a route's MTU for IPv6, and for IPv4 only when it is locked. */
static uint32_t path_mtu(const struct bpf_fib_lookup *p, const struct net_route *route,
			 const struct net_if *out)
{
	return p->family == AF_INET6 && route->mtu ? route->mtu : out->mtu;
}

static int set_macs(struct bpf_fib_lookup *p, const struct net *net, const struct net_if *out)
{
	const void *next = p->family == AF_INET ? (const void *)&p->ipv4_dst : p->ipv6_dst;
	const struct net_neigh *neigh = net_neigh_lookup(net, out->ifindex, p->family, next);

	if (!neigh || !neigh->valid)
		return BPF_FIB_LKUP_RET_NO_NEIGH;
	memcpy(p->dmac, neigh->mac, sizeof(p->dmac));
	memcpy(p->smac, out->mac, sizeof(p->smac));
	return BPF_FIB_LKUP_RET_SUCCESS;
}

static int forward(struct bpf_fib_lookup *p, const struct net *net, const struct net_route *route,
		   uint32_t flags)
{
	const struct net_if *out = net_if_by_index(net, route->ifindex);
	uint32_t mtu;
	int rc;

	if (!out)
		return BPF_FIB_LKUP_RET_NOT_FWDED;
	mtu = path_mtu(p, route, out);
	if (p->tot_len > mtu) {
		p->mtu_result = (uint16_t)mtu;
		return BPF_FIB_LKUP_RET_FRAG_NEEDED;
	}
	p->rt_metric = route->metric;
	p->ifindex = out->ifindex;
	rc = flags & FIB_SRC ? set_source(p, route) : 0;
	if (rc)
		return rc;
	set_gateway(p, route);
	rc = flags & FIB_SKIP_NEIGH ? 0 : set_macs(p, net, out);
	if (rc)
		return rc;
	p->h_vlan_proto = 0;
	p->h_vlan_TCI = 0;
	p->mtu_result = (uint16_t)mtu;
	return BPF_FIB_LKUP_RET_SUCCESS;
}

/* Multicast, link-local and loopback addresses are never forwarded. */
static bool is_local_scope(const uint32_t addr[4])
{
	const struct in6_addr *a = (const struct in6_addr *)addr;

	return IN6_IS_ADDR_MULTICAST(a) || IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_LOOPBACK(a);
}

static int fib_lookup(struct bpf_fib_lookup *p, const struct net *net, uint32_t flags)
{
	const struct net_if *in = net ? net_if_by_index(net, p->ifindex) : NULL;
	const void *dst = p->family == AF_INET ? (const void *)&p->ipv4_dst : p->ipv6_dst;
	const struct net_route *route;
	int rc;

	if (p->family == AF_INET6 && (is_local_scope(p->ipv6_src) || is_local_scope(p->ipv6_dst)))
		return BPF_FIB_LKUP_RET_NOT_FWDED;
	if (!in)
		return -ENODEV;
	if (!(p->family == AF_INET ? in->forwarding4 : in->forwarding6))
		return BPF_FIB_LKUP_RET_FWD_DISABLED;
	route = net_route_lookup(net, p->family, dst, take_table(p, flags));
	if (!route)
		return BPF_FIB_LKUP_RET_NOT_FWDED;
	rc = type_result(route->type);
	return rc ? rc : forward(p, net, route, flags);
}

HELPER(fib_lookup)
{
	struct bpf_fib_lookup p;
	int result;

	if ((int32_t)a3 < (int32_t)sizeof(p) || (uint32_t)a4 & ~(uint32_t)FIB_FLAGS)
		return helper_error(EINVAL);
	memcpy(&p, helper_ptr(a2), sizeof(p));
	if (p.family != AF_INET && p.family != AF_INET6)
		return helper_error(EAFNOSUPPORT);
	result = fib_lookup(&p, rc->net, (uint32_t)a4);
	memcpy(helper_ptr(a2), &p, sizeof(p));
	return (uint64_t)(int64_t)result;
}

HELPER(check_mtu)
{
	const struct frame *f = helper_frame(a1);
	uint32_t ifindex = (uint32_t)a2 ? (uint32_t)a2 : f->ingress_ifindex, mtu_len;
	const struct net_if *nif = rc->net ? net_if_by_index(rc->net, ifindex) : NULL;
	int32_t len = (int32_t)frame_len(f);

	if (a5)
		return helper_error(EINVAL);
	if (!nif)
		return helper_error(ENODEV);
	memcpy(&mtu_len, helper_ptr(a3), sizeof(mtu_len));
	if (mtu_len)
		len = (int32_t)(mtu_len + ETH_HEADER);
	len = (int32_t)((uint32_t)len + (uint32_t)a4);
	memcpy(helper_ptr(a3), &nif->mtu, sizeof(nif->mtu));
	return len > (int32_t)(nif->mtu + ETH_HEADER) ? BPF_MTU_CHK_RET_FRAG_NEEDED
						      : BPF_MTU_CHK_RET_SUCCESS;
}
