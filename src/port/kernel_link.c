/* SPDX-License-Identifier: BSD-2-Clause */
/* What only netlink tells of an interface: its XDP program, and whether the default route is on it. */
#include "port/kernel_if.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

enum { BUF_SIZE = 32768 };

/* Sends the request and gives each message of the answer to cb; 0 or -errno. */
static int talk(struct nlmsghdr *nlh, mnl_cb_t cb, void *data)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char *buf = malloc(BUF_SIZE);
	int rc = -ENOMEM;
	ssize_t n;

	if (!nl || !buf)
		goto out;
	nlh->nlmsg_seq = 1;
	rc = -EIO;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		goto out;
	do {
		n = mnl_socket_recvfrom(nl, buf, BUF_SIZE);
		rc = n < 0 ? -1
			   : mnl_cb_run(buf, (size_t)n, 1, mnl_socket_get_portid(nl), cb, data);
	} while (rc > MNL_CB_STOP);
	rc = rc < 0 ? -errno : 0;
out:
	if (nl)
		mnl_socket_close(nl);
	free(buf);
	return rc;
}

struct route_query {
	uint32_t ifindex;
	bool found;
};

static void multipath_scan(const struct nlattr *attr, struct route_query *q)
{
	const struct rtnexthop *nh = mnl_attr_get_payload(attr);
	int len = mnl_attr_get_payload_len(attr);

	while (RTNH_OK(nh, len)) {
		q->found = q->found || (uint32_t)nh->rtnh_ifindex == q->ifindex;
		len -= (int)NLMSG_ALIGN(nh->rtnh_len);
		nh = (const void *)((const char *)nh + NLMSG_ALIGN(nh->rtnh_len));
	}
}

static int route_attr_cb(const struct nlattr *attr, void *data)
{
	struct route_query *q = data;

	if (mnl_attr_get_type(attr) == RTA_OIF)
		q->found = q->found || mnl_attr_get_u32(attr) == q->ifindex;
	else if (mnl_attr_get_type(attr) == RTA_MULTIPATH)
		multipath_scan(attr, q);
	return MNL_CB_OK;
}

static int route_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type != RTM_NEWROUTE || rtm->rtm_dst_len || rtm->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	return mnl_attr_parse(nlh, sizeof(*rtm), route_attr_cb, data);
}

static int family_default_route(uint8_t family, struct route_query *q)
{
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));

	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	rtm->rtm_family = family;
	return talk(nlh, route_cb, q);
}

int kernel_if_default_route(uint32_t ifindex, bool *ret)
{
	struct route_query q = { .ifindex = ifindex };
	int rc = family_default_route(AF_INET, &q);

	if (!rc)
		rc = family_default_route(AF_INET6, &q);
	/* A kernel without IPv6 has no IPv6 default route. */
	if (rc == -EOPNOTSUPP || rc == -EAFNOSUPPORT)
		rc = 0;
	if (!rc)
		*ret = q.found;
	return rc;
}

static int xdp_attr_cb(const struct nlattr *attr, void *data)
{
	struct kernel_if_xdp *x = data;

	if (mnl_attr_get_type(attr) == IFLA_XDP_PROG_ID)
		x->prog_id = mnl_attr_get_u32(attr);
	else if (mnl_attr_get_type(attr) == IFLA_XDP_ATTACHED)
		x->mode = mnl_attr_get_u8(attr);
	return MNL_CB_OK;
}

static int link_attr_cb(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) != IFLA_XDP)
		return MNL_CB_OK;
	return mnl_attr_parse_nested(attr, xdp_attr_cb, data);
}

static int link_cb(const struct nlmsghdr *nlh, void *data)
{
	int rc = mnl_attr_parse(nlh, sizeof(struct ifinfomsg), link_attr_cb, data);

	return rc < 0 ? rc : MNL_CB_STOP;
}

int kernel_if_xdp(uint32_t ifindex, struct kernel_if_xdp *ret)
{
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	ifi->ifi_index = (int)ifindex;
	memset(ret, 0, sizeof(*ret));
	return talk(nlh, link_cb, ret);
}

int kernel_if_xdp_detach(uint32_t ifindex, uint8_t mode)
{
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	struct nlattr *nest;

	nlh->nlmsg_type = RTM_SETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	ifi->ifi_index = (int)ifindex;
	nest = mnl_attr_nest_start(nlh, IFLA_XDP);
	mnl_attr_put_u32(nlh, IFLA_XDP_FD, (uint32_t)-1);
	mnl_attr_put_u32(nlh, IFLA_XDP_FLAGS,
			 mode == XDP_ATTACHED_SKB ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	mnl_attr_nest_end(nlh, nest);
	return talk(nlh, NULL, NULL);
}
