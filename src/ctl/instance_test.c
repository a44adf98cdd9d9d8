/* SPDX-License-Identifier: BSD-2-Clause */
/* Instances without an object: options, switches, ports, routes and neighbours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>

#include "ctl/instance.h"

static struct weir *weir;
static struct weir_error err;

static int start(void **state)
{
	return weir_create(&weir, NULL, &err);
}

static int stop(void **state)
{
	weir_destroy(weir);
	return 0;
}

static void test_options(void **state)
{
	struct weir_opts opts = { .size = 1 };
	struct weir *other = NULL;

	assert_int_equal(weir_create(&other, &opts, &err), -EINVAL);
	opts = (struct weir_opts){ .size = sizeof(opts), .cpu = 1u << 20 };
	assert_int_equal(weir_create(&other, &opts, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--cpus"));
	opts = (struct weir_opts){ .size = sizeof(opts), .cpus = 1u << 20 };
	assert_true(weir_create(&other, &opts, &err) < 0);
	assert_null(other);
	weir_destroy(NULL);
}

static void test_switches(void **state)
{
	static const struct {
		const char *key, *value;
		int ret;
	} cases[] = {
		{ "redirect.flush", "packet", 0 },
		{ "redirect.flush", "burst", 0 },
		{ "redirect.flush", "", -EINVAL },
		{ "engine.prefetch", "write", 0 },
		{ "engine.prefetch_distance", "8", 0 },
		{ "engine.prefetch_distance", "0", -EINVAL },
		{ "engine.prefetch_distance", "64", -EINVAL },
		{ "engine.burst", "64", 0 },
		{ "engine.burst", "6x", -EINVAL },
		{ "engine.frames", "4096", 0 },
		{ "engine.pin", "true", 0 },
		{ "engine.pin", "maybe", -EINVAL },
		{ "engine", "jit", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(weir_set(weir, cases[i].key, cases[i].value, &err), cases[i].ret);
	assert_non_null(strstr(err.text, "redirect.flush"));
	assert_int_equal(weir->engine_cfg.prefetch, PREFETCH_WRITE);
	assert_int_equal(weir->engine_cfg.prefetch_distance, 8);
	assert_int_equal(weir->engine_cfg.n_frames, 4096);
	assert_true(weir->engine_cfg.pin);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_IN, NULL, "sample", &err), 0);
	assert_int_equal(weir_set(weir, "engine.burst", "1", &err), -EBUSY);
}

static void test_ports(void **state)
{
	assert_int_equal(weir_port_add(weir, WEIR_PORT_IN, NULL, "sample", &err), 0);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_OUT, NULL, "null", &err), 0);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_EXTRA, "up", "null,ifindex=7", &err), 0);
	assert_int_equal(engine_port_by_name(weir->engine, "in")->ifindex, 1);
	assert_int_equal(engine_port_by_name(weir->engine, "out1")->ifindex, 2);
	assert_int_equal(engine_port_by_name(weir->engine, "up")->ifindex, 7);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_EXTRA, "up", "null", &err), -EEXIST);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_EXTRA, NULL, "null", &err), -EINVAL);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_EXTRA, "a", "null,name=b", &err), -EINVAL);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_EXTRA, "", "null", &err), -EINVAL);
	assert_int_equal(weir->n_inputs, 1);
	assert_int_equal(weir->n_outputs, 2);
}

static const struct net_route *route_to(const char *text)
{
	uint8_t addr[16];
	bool v4 = inet_pton(AF_INET, text, addr) == 1;

	if (!v4)
		assert_int_equal(inet_pton(AF_INET6, text, addr), 1);
	return net_route_lookup(engine_net(weir->engine), v4 ? AF_INET : AF_INET6, addr, 0);
}

static void test_routes(void **state)
{
	static const char *const good[] = {
		"10.0.0.0/8,dev=out1,via=10.9.9.1",
		"10.1.2.3/16,dev=in,metric=5,mtu=1400,src=10.1.0.1",
		"default,dev=in",
		"2001:db8::/32,dev=out1,via=fe80::1",
		"192.168.0.0/16,type=blackhole",
	};
	static const char *const bad[] = {
		"",
		",",
		"10.0.0.0/8",
		"10.0.0.0/33,dev=in",
		"10.0.0/8,dev=in",
		"10.0.0.0/8,dev=nowhere",
		"10.0.0.0/8,dev=in,via=x",
		"10.0.0.0/8,dev=in,src=fe80::1",
		"10.0.0.0/8,dev=in,metric=-1",
		"10.0.0.0/8,dev=in,colour=red",
		"10.0.0.0/8,dev=in,type=loop",
		"10.0.0.0/8,dev",
	};

	assert_int_equal(weir_port_add(weir, WEIR_PORT_IN, NULL, "sample", &err), 0);
	assert_int_equal(weir_port_add(weir, WEIR_PORT_OUT, NULL, "null", &err), 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(weir_route_add(weir, good[i], &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(weir_route_add(weir, bad[i], &err), -EINVAL);
		assert_true(strncmp(err.text, "route '", 7) == 0);
	}
	assert_int_equal(route_to("10.200.0.1")->ifindex, 2);
	assert_int_equal(route_to("10.200.0.1")->gateway_family, AF_INET);
	assert_int_equal(route_to("10.1.77.1")->ifindex, 1);
	assert_int_equal(route_to("10.1.77.1")->mtu, 1400);
	assert_int_equal(route_to("8.8.8.8")->prefix_len, 0);
	assert_int_equal(route_to("192.168.3.4")->type, RTN_BLACKHOLE);
	assert_int_equal(route_to("2001:db8::7")->gateway_family, AF_INET6);
	assert_null(route_to("2001:db9::7"));
}

static void test_neighbours(void **state)
{
	static const char *const bad[] = { "10.0.0.1",
					   "10.0.0.1,dev=in",
					   "10.0.0.1,mac=02:00:00:00:00:01",
					   "10.0.0.1,dev=in,mac=02:00:00:00:00",
					   "10.0.0.1,dev=in,mac=02:00:00:00:00:0g",
					   "x,dev=in",
					   "10.0.0.1,dev=in,mac=02:00:00:00:00:01,age=1" };
	const uint8_t addr[4] = { 10, 9, 9, 1 };
	const struct net_neigh *neigh;

	assert_int_equal(weir_port_add(weir, WEIR_PORT_IN, NULL, "sample", &err), 0);
	assert_int_equal(weir_neigh_add(weir, "10.9.9.1,dev=in,mac=02:00:00:00:00:01", &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(weir_neigh_add(weir, bad[i], &err), -EINVAL);
		assert_true(strncmp(err.text, "neighbour '", 11) == 0);
	}
	neigh = net_neigh_lookup(engine_net(weir->engine), 1, AF_INET, addr);
	assert_non_null(neigh);
	assert_true(neigh->valid);
	assert_int_equal(neigh->mac[5], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test_setup_teardown(test_switches, start, stop),
		cmocka_unit_test_setup_teardown(test_ports, start, stop),
		cmocka_unit_test_setup_teardown(test_routes, start, stop),
		cmocka_unit_test_setup_teardown(test_neighbours, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
