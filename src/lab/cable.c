/* SPDX-License-Identifier: BSD-2-Clause */
/* A veth pair over rtnetlink, in a namespace of its own: see cable.h. */
#include "cable.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 4096 };

/* Sends one request and waits for its acknowledgement: 0 or -errno. */
static int ask(struct nlmsghdr *nlh)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char buf[MESSAGE_BYTES];
	ssize_t n = -1;
	int rc = -1;

	if (!nl)
		return -errno;
	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) >= 0 &&
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) >= 0)
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n >= 0)
		rc = mnl_cb_run(buf, (size_t)n, 0, mnl_socket_get_portid(nl), NULL, NULL);
	rc = rc < 0 ? -errno : 0;
	mnl_socket_close(nl);
	return rc;
}

static struct nlmsghdr *link_request(char *buf, uint16_t flags, uint32_t ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;

	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = flags;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = (int)ifindex;
	if (ifindex)
		ifi->ifi_flags = ifi->ifi_change = IFF_UP;
	return nlh;
}

static int veth_add(void)
{
	char buf[MESSAGE_BYTES];
	struct nlmsghdr *nlh = link_request(buf, NLM_F_CREATE | NLM_F_EXCL, 0);
	struct nlattr *info, *data, *peer;
	struct ifinfomsg *ifi;

	mnl_attr_put_strz(nlh, IFLA_IFNAME, CABLE_NEAR);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	ifi = mnl_nlmsg_get_payload_tail(nlh);
	memset(ifi, 0, sizeof(*ifi));
	nlh->nlmsg_len += MNL_ALIGN(sizeof(*ifi));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, CABLE_FAR);
	mnl_attr_nest_end(nlh, peer);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	return ask(nlh);
}

static int set_up(uint32_t ifindex)
{
	char buf[MESSAGE_BYTES];

	return ask(link_request(buf, 0, ifindex));
}

static int ends_make(struct cable *cable)
{
	int rc = veth_add();

	if (rc)
		return rc;
	cable->near = if_nametoindex(CABLE_NEAR);
	cable->far = if_nametoindex(CABLE_FAR);
	rc = set_up(1); /* the loopback, which the generator's frames say they come from */
	if (!rc)
		rc = set_up(cable->near);
	return rc ? rc : set_up(cable->far);
}

int cable_open(struct cable *cable, struct err *err)
{
	int rc;

	cable->home_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (cable->home_fd < 0)
		return err_set(err, errno, "cannot open the network namespace: %s",
			       errno_name(errno));
	if (unshare(CLONE_NEWNET)) {
		rc = err_set(err, errno, "a network namespace needs root (CAP_SYS_ADMIN): %s",
			     errno_name(errno));
		close(cable->home_fd);
		return rc;
	}
	rc = ends_make(cable);
	if (!rc)
		return 0;
	cable_close(cable);
	return err_set(err, -rc, "cannot make a veth pair: %s", errno_name(rc));
}

void cable_close(struct cable *cable)
{
	(void)!setns(cable->home_fd, CLONE_NEWNET);
	close(cable->home_fd);
}
