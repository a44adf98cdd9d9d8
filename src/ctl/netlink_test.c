/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's tables in net/, in a network namespace of the test's own; skipped where there can be none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#include "ctl/instance.h"
#include "ctl/netlink.h"

static bool have_namespace;
static struct weir *weir;
static struct netlink *nl;
static uint64_t clock_now = 1;

static int start(void **state)
{
	struct weir_error err = { 0 };

	if (!have_namespace)
		return 0;
	if (system("ip link set lo up && ip link add v0 mtu 1400 type veth peer name v1 &&"
		   "ip link set v0 up address 02:00:00:00:00:10 && ip link set v1 up &&"
		   "ip addr add 10.5.0.1/24 dev v0 &&"
		   "ip route add 10.6.0.0/16 via 10.5.0.9 mtu 1300 metric 7 &&"
		   "ip route add blackhole 10.7.0.0/16 &&"
		   "ip route add 10.8.0.0/16 nexthop via 10.5.0.8 nexthop via 10.5.0.9 &&"
		   "ip -6 route add 2001:db8::/32 dev v0 &&"
		   "ip neigh add 10.5.0.9 lladdr 02:00:00:00:00:09 dev v0") != 0)
		return -1;
	if (weir_create(&weir, NULL, &err) ||
	    weir_port_add(weir, WEIR_PORT_IN, NULL, "sample,ifindex=500", &err) ||
	    weir_route_add(weir, "172.16.0.0/12,dev=in", &err) ||
	    weir_neigh_add(weir, "172.16.0.1,dev=in,mac=02:00:00:00:00:77", &err))
		return -1;
	return netlink_open(&nl, weir, instance_err(&err));
}

static int stop(void **state)
{
	netlink_close(nl);
	weir_destroy(weir);
	nl = NULL;
	weir = NULL;
	return !have_namespace ||
			       system("ip link del v0 2>/dev/null; ip route flush table main") >= 0
		       ? 0
		       : -1;
}

static const struct net_if *interface(const char *name)
{
	return net_if_by_name(engine_net(weir->engine), name);
}

static const struct net_route *route_to(const char *text)
{
	uint8_t addr[16];
	bool v4 = inet_pton(AF_INET, text, addr) == 1;

	if (!v4)
		assert_int_equal(inet_pton(AF_INET6, text, addr), 1);
	return net_route_lookup(engine_net(weir->engine), v4 ? AF_INET : AF_INET6, addr, 0);
}

static const struct net_neigh *neighbour(uint32_t ifindex, const char *text)
{
	uint8_t addr[4];

	assert_int_equal(inet_pton(AF_INET, text, addr), 1);
	return net_neigh_lookup(engine_net(weir->engine), ifindex, AF_INET, addr);
}

/* Waits for the kernel's word of a change, at most 2 s, then takes it in. */
static void follow(const char *command)
{
	assert_int_equal(system(command), 0);
	usleep(20000);
	clock_now += 1000000000ull * 3600;
	netlink_poll(nl, clock_now);
}

static void test_tables(void **state)
{
	const struct net_if *v0, *v1;
	const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0x10 };

	if (!have_namespace)
		skip();
	v0 = interface("v0");
	v1 = interface("v1");
	assert_non_null(v0);
	assert_non_null(v1);
	assert_int_equal(v0->mtu, 1400);
	assert_memory_equal(v0->mac, mac, 6);
	assert_true(v0->up);
	assert_false(v0->can_xmit); /* weir has no port there */
	assert_int_equal(v0->port_id, UINT32_MAX);
	assert_non_null(interface("in")); /* weir's own stays */

	assert_int_equal(route_to("10.5.0.77")->ifindex, v0->ifindex);
	assert_int_equal(route_to("10.5.0.77")->gateway_family, 0);
	assert_int_equal(route_to("10.5.0.1")->type, RTN_LOCAL);
	assert_int_equal(route_to("10.6.1.1")->gateway_family, AF_INET);
	assert_int_equal(route_to("10.6.1.1")->gateway[3], 9);
	assert_int_equal(route_to("10.6.1.1")->mtu, 1300);
	assert_int_equal(route_to("10.6.1.1")->metric, 7);
	assert_int_equal(route_to("10.7.1.1")->type, RTN_BLACKHOLE);
	assert_int_equal(route_to("10.8.1.1")->ifindex, v0->ifindex);
	assert_int_equal(route_to("10.8.1.1")->gateway[3], 8);
	assert_int_equal(route_to("2001:db8::5")->ifindex, v0->ifindex);
	assert_true(neighbour(v0->ifindex, "10.5.0.9")->valid);
	assert_int_equal(neighbour(v0->ifindex, "10.5.0.9")->mac[5], 9);
	assert_int_equal(route_to("172.16.9.9")->ifindex, 500);
}

static void test_changes(void **state)
{
	uint32_t v0;

	if (!have_namespace)
		skip();
	v0 = interface("v0")->ifindex;
	follow("ip link set v0 mtu 1280");
	assert_int_equal(interface("v0")->mtu, 1280);
	follow("ip route add 10.9.0.0/16 dev v0");
	assert_int_equal(route_to("10.9.0.1")->ifindex, v0);
	follow("ip route del 10.9.0.0/16 dev v0");
	assert_null(route_to("10.9.0.1"));
	follow("ip neigh replace 10.5.0.9 lladdr 02:00:00:00:00:0a dev v0");
	assert_int_equal(neighbour(v0, "10.5.0.9")->mac[5], 10);
	follow("echo 1 >/proc/sys/net/ipv4/conf/v0/forwarding");
	assert_true(interface("v0")->forwarding4);
	assert_false(interface("v0")->forwarding6);
	follow("echo 0 >/proc/sys/net/ipv4/conf/v0/forwarding; "
	       "echo 1 >/proc/sys/net/ipv6/conf/v0/forwarding");
	assert_false(interface("v0")->forwarding4);
	assert_true(interface("v0")->forwarding6);
	follow("ip link set v0 down");
	assert_false(interface("v0")->up);
	follow("ip link del v0");
	assert_null(interface("v0"));
	assert_null(interface("v1"));
	/* What the command line gave is still there. */
	assert_int_equal(route_to("172.16.9.9")->ifindex, 500);
	assert_true(neighbour(500, "172.16.0.1")->valid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tables, start, stop),
		cmocka_unit_test_setup_teardown(test_changes, start, stop),
	};

	have_namespace = unshare(CLONE_NEWNET) == 0 && system("ip link >/dev/null 2>&1") == 0;
	if (!have_namespace)
		printf("SKIP: a network namespace needs root and ip\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
