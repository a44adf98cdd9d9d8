/* SPDX-License-Identifier: BSD-2-Clause */
/* A network interface of the kernel: see kernel_if.h. The netlink part is in kernel_link.c. */
#include "port/kernel_if.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "port/port_impl.h"

static int if_ioctl(const struct kernel_if *kif, unsigned long request, struct ifreq *ifr)
{
	memcpy(ifr->ifr_name, kif->name, sizeof(ifr->ifr_name));
	return ioctl(kif->fd, request, ifr) ? -errno : 0;
}

/* Queues in use; drivers without channels have one. */
static uint32_t queues_read(const struct kernel_if *kif)
{
	struct ethtool_channels ch = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq ifr = { 0 };
	uint32_t n;

	ifr.ifr_data = (char *)&ch;
	if (if_ioctl(kif, SIOCETHTOOL, &ifr))
		return 1;
	n = ch.combined_count + ch.rx_count;
	return n ? n : 1;
}

int kernel_if_read(struct kernel_if *kif)
{
	struct ifreq ifr = { 0 };
	int rc = if_ioctl(kif, SIOCGIFINDEX, &ifr);

	if (rc)
		return rc;
	kif->ifindex = (uint32_t)ifr.ifr_ifindex;
	rc = if_ioctl(kif, SIOCGIFMTU, &ifr);
	if (rc)
		return rc;
	kif->mtu = (uint32_t)ifr.ifr_mtu;
	rc = if_ioctl(kif, SIOCGIFHWADDR, &ifr);
	if (rc)
		return rc;
	memcpy(kif->mac, ifr.ifr_hwaddr.sa_data, sizeof(kif->mac));
	rc = if_ioctl(kif, SIOCGIFFLAGS, &ifr);
	if (rc)
		return rc;
	kif->up = ifr.ifr_flags & IFF_UP;
	kif->n_queues = queues_read(kif);
	return 0;
}

int kernel_if_open(struct kernel_if *kif, const char *kind, const char *name, struct err *err)
{
	int rc;

	memset(kif, 0, sizeof(*kif));
	kif->fd = -1;
	if (strlen(name) >= sizeof(kif->name))
		return err_set(err, ENODEV,
			       "port %s:%s: no interface has a name that long; see ip link", kind,
			       name);
	strcpy(kif->name, name);
	kif->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (kif->fd < 0)
		return err_set(err, errno, "port %s:%s: no socket (%s)", kind, name,
			       errno_name(errno));
	rc = kernel_if_read(kif);
	if (!rc)
		return 0;
	kernel_if_close(kif);
	return err_set(err, -rc, "port %s:%s: there is no such interface (%s); see ip link", kind,
		       name, errno_name(rc));
}

void kernel_if_close(struct kernel_if *kif)
{
	if (kif->fd >= 0)
		close(kif->fd);
	kif->fd = -1;
}

int kernel_if_set_up(struct kernel_if *kif)
{
	struct ifreq ifr = { 0 };
	int rc = if_ioctl(kif, SIOCGIFFLAGS, &ifr);

	if (rc)
		return rc;
	ifr.ifr_flags |= IFF_UP;
	return if_ioctl(kif, SIOCSIFFLAGS, &ifr);
}

int kernel_if_set_mtu(struct kernel_if *kif, uint32_t mtu)
{
	struct ifreq ifr = { 0 };

	ifr.ifr_mtu = (int)mtu;
	return if_ioctl(kif, SIOCSIFMTU, &ifr);
}

int kernel_if_set_mac(struct kernel_if *kif, const uint8_t mac[6])
{
	struct ifreq ifr = { 0 };

	ifr.ifr_hwaddr.sa_family = 1; /* ARPHRD_ETHER */
	memcpy(ifr.ifr_hwaddr.sa_data, mac, 6);
	return if_ioctl(kif, SIOCSIFHWADDR, &ifr);
}

void kernel_if_port(const struct kernel_if *kif, const struct port_spec *spec, struct port *port)
{
	if (!spec->ifindex) {
		port->ifindex = kif->ifindex;
		port->is_kernel_if = true;
	}
	if (!spec->mtu)
		port->mtu = kif->mtu;
	if (!spec->has_mac)
		memcpy(port->mac, kif->mac, sizeof(port->mac));
	port->up = kif->up && !spec->down;
}

int kernel_if_check(struct kernel_if *kif, struct port *port)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
	struct ifreq ifr = { 0 };
	int rc;

	if (now < kif->next_check_ns)
		return 0;
	kif->next_check_ns = now + KERNEL_IF_CHECK_NS;
	rc = if_ioctl(kif, SIOCGIFINDEX, &ifr);
	if (rc || (uint32_t)ifr.ifr_ifindex != kif->ifindex)
		return port_lost(port, ENODEV, "port %s:%s: the interface is gone", port->kind,
				 kif->name);
	rc = if_ioctl(kif, SIOCGIFFLAGS, &ifr);
	if (rc || !(ifr.ifr_flags & IFF_UP))
		return port_lost(
			port, ENETDOWN,
			"port %s:%s: the interface went down; bring it up with ip link set %s up",
			port->kind, kif->name, kif->name);
	return 0;
}
