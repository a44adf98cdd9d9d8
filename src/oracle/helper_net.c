/* SPDX-License-Identifier: BSD-2-Clause */
/* veths for the oracle, made over rtnetlink: see helper_net.h. */
#include "helper_net.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

enum {
	MESSAGE_BYTES = 4096,
	FAR_IFINDEX = 1 << 20, /* far ends are numbered from here, out of the way of ports */
};

/* Sends one request and waits for its acknowledgement: 0 or -errno. */
static int talk(struct nlmsghdr *nlh)
{
	char buf[MESSAGE_BYTES];
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	ssize_t n;
	int rc = -EIO;

	if (!nl)
		return -errno;
	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = 1;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		rc = -errno;
	else {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		rc = n < 0 ? -errno
			   : mnl_cb_run(buf, (size_t)n, 1, mnl_socket_get_portid(nl), NULL, NULL);
		if (rc < 0 && n >= 0)
			rc = -errno;
	}
	mnl_socket_close(nl);
	return rc < 0 ? rc : 0;
}

static struct ifinfomsg *link_message(char *buf, uint16_t flags, uint32_t ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi;

	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = flags;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = (int)ifindex;
	return ifi;
}

static int set_up(uint32_t ifindex)
{
	char buf[MESSAGE_BYTES];
	struct ifinfomsg *ifi = link_message(buf, 0, ifindex);

	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	return talk((struct nlmsghdr *)buf);
}

static int add_veth(const struct kernel_if *kif, const char *name, const char *peer)
{
	char buf[MESSAGE_BYTES];
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	struct nlattr *info, *data, *far;
	struct ifinfomsg *far_ifi;

	link_message(buf, NLM_F_CREATE | NLM_F_EXCL, kif->ifindex);
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	mnl_attr_put_u32(nlh, IFLA_MTU, kif->mtu ? kif->mtu : 1500);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	far = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	far_ifi = mnl_nlmsg_get_payload_tail(nlh);
	memset(far_ifi, 0, sizeof(*far_ifi));
	far_ifi->ifi_index = (int)(FAR_IFINDEX + kif->ifindex);
	nlh->nlmsg_len += MNL_ALIGN(sizeof(*far_ifi));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, peer);
	mnl_attr_nest_end(nlh, far);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
	return talk(nlh);
}

/* Attaches a program of two instructions that gives `verdict`; it stays for the life of the namespace. */
static int attach(uint32_t ifindex, int verdict)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "weir_verdict", "GPL", insns, 2, NULL);

	if (fd < 0)
		return fd;
	return bpf_xdp_attach((int)ifindex, fd, XDP_FLAGS_DRV_MODE, NULL);
}

int helper_net_enter(struct err *err)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		return err_set(err, errno, "the kernel oracle needs root (CAP_SYS_ADMIN): %s",
			       strerror(errno));
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (set_up(1))
		return err_set(err, EIO, "the oracle's loopback cannot be set up");
	return 0;
}

int helper_net_add(const struct kernel_if *kif, struct err *err)
{
	char name[IFNAMSIZ], peer[IFNAMSIZ];
	uint32_t far;
	int rc;

	snprintf(name, sizeof(name), "port%u", kif->ifindex);
	snprintf(peer, sizeof(peer), "far%u", kif->ifindex);
	rc = add_veth(kif, name, peer);
	if (rc)
		return err_set(err, -rc, "the oracle's interface %u: %s", kif->ifindex,
			       errno_name(rc));
	far = if_nametoindex(peer);
	if (!kif->down)
		rc = set_up(kif->ifindex);
	if (!rc)
		rc = set_up(far);
	if (!rc)
		rc = attach(kif->ifindex, XDP_PASS);
	if (!rc)
		rc = attach(far, kif->peer_drops ? XDP_DROP : XDP_PASS);
	return rc ? err_set(err, -rc, "the oracle's interface %u: %s", kif->ifindex, errno_name(rc))
		  : 0;
}
