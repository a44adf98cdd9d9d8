/* SPDX-License-Identifier: BSD-2-Clause */
/* The specification of a port, and the errors of port_open. */
#include "port/port.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void spec_is_cut_into_its_parts(void **state)
{
	struct port_spec s;
	struct err err = { "" };

	assert_int_equal(
		port_spec_parse(&s,
				"pcap:a=b.pcap,name=n1,ifindex=7,mtu=9000,mac=02:00:0a:0B:00:ff,"
				"state=down,x=1,flag",
				&err),
		0);
	assert_string_equal(s.kind, "pcap");
	assert_string_equal(s.arg, "a=b.pcap");
	assert_string_equal(s.name, "n1");
	assert_int_equal(s.ifindex, 7);
	assert_int_equal(s.mtu, 9000);
	assert_true(s.has_mac && s.down);
	assert_memory_equal(s.mac, "\x02\x00\x0a\x0b\x00\xff", 6);
	assert_int_equal(s.n_keys, 2);
	assert_string_equal(port_spec_key(&s, "x"), "1");
	assert_string_equal(port_spec_key(&s, "flag"), "");
	assert_null(port_spec_key(&s, "y"));
	assert_true(s.keys[0].used && s.keys[1].used);
}

static void short_forms_are_understood(void **state)
{
	static const struct {
		const char *text, *kind, *arg, *key;
	} cases[] = {
		{ "sample", "sample", "", NULL },
		{ "sample,loops=2", "sample", "", "loops" },
		{ "sample:loops=2", "sample", "", "loops" },
		{ "null", "null", "", NULL },
		{ "null:", "null", "", NULL },
		{ "mem:", "mem", "", NULL },
		{ "mem:keep", "mem", "", "keep" },
		{ "mem:len=64,keep", "mem", "", "keep" },
		{ "pcap:a\\,b", "pcap", "a,b", NULL },
		{ "pcap:-", "pcap", "-", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct port_spec s;

		assert_int_equal(port_spec_parse(&s, cases[i].text, NULL), 0);
		assert_string_equal(s.kind, cases[i].kind);
		assert_string_equal(s.arg, cases[i].arg);
		if (cases[i].key)
			assert_non_null(port_spec_key(&s, cases[i].key));
	}
}

static void bad_specs_are_refused_with_a_remedy(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "kind:argument" },
		{ ":x", "kind:argument" },
		{ "dpdk:eth0", "the kinds are mem, sample, null, pcap" },
		{ "pcap", "a capture file" },
		{ "pcap:", "a capture file" },
		{ "null,mtu=67", "from 68 to 65535" },
		{ "null,mtu=1500x", "from 68 to 65535" },
		{ "null,ifindex=0", "from 1" },
		{ "null,ifindex=-1", "from 1" },
		{ "null,mac=02:00:00:00:00", "02:00:00:00:00:01" },
		{ "null,mac=02:00:00:00:00:01:02", "02:00:00:00:00:01" },
		{ "null,state=maybe", "up or down" },
		{ "null,name=", "1 to 63 characters" },
		{ "mem:len=1,len=2", "given twice" },
		{ "mem:,=3", "an empty key" },
		{ "mem:k1,k2,k3,k4,k5,k6,k7,k8,k9,k10,k11,k12,k13,k14,k15,k16,k17",
		  "more than 16" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct port_spec s;
		struct err err = { "" };

		assert_int_equal(port_spec_parse(&s, cases[i].text, &err), -EINVAL);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' gave '%s'", cases[i].text, err.text);
		assert_null(strchr(err.text, '\n'));
	}
}

static void unknown_keys_are_refused_before_anything_is_opened(void **state)
{
	struct port_spec s;
	struct err err = { "" };
	struct port *port = NULL;
	struct pool *pool;

	assert_int_equal(pool_create(&pool, 64, NULL), 0);
	assert_int_equal(port_spec_parse(&s, "pcap:/tmp/weir-never-made.pcap,nme=x", NULL), 0);
	assert_int_equal(port_spec_set(&s, "dir", "out", NULL), 0);
	assert_int_equal(port_open(&port, &s, pool, &err), -EINVAL);
	assert_null(port);
	assert_non_null(
		strstr(err.text, "unknown key 'nme'; the keys are name, ifindex, mtu, mac"));
	assert_int_equal(access("/tmp/weir-never-made.pcap", F_OK), -1);
	assert_int_equal(port_spec_parse(&s, "mem:lem=3", NULL), 0);
	assert_int_equal(port_open(&port, &s, pool, &err), -EINVAL);
	assert_non_null(strstr(err.text, "the keys are len, flows"));
	assert_int_equal(pool_destroy(pool), 0);
}

static void numbers_have_bounds(void **state)
{
	struct port_spec s;
	struct err err = { "" };
	uint64_t v = 0;

	assert_int_equal(port_spec_parse(&s, "mem:a=5,b=0x10,c=7q", NULL), 0);
	assert_int_equal(port_spec_number(&s, "a", 1, 9, 0, &v, &err), 0);
	assert_int_equal(v, 5);
	assert_int_equal(port_spec_number(&s, "b", 1, 99, 0, &v, &err), 0);
	assert_int_equal(v, 16);
	assert_int_equal(port_spec_number(&s, "none", 1, 9, 3, &v, &err), 0);
	assert_int_equal(v, 3);
	assert_int_equal(port_spec_number(&s, "a", 6, 9, 0, &v, &err), -EINVAL);
	assert_non_null(strstr(err.text, "a=5: give a number from 6 to 9"));
	assert_int_equal(port_spec_number(&s, "c", 1, 9, 0, &v, &err), -EINVAL);
}

static void every_loss_has_a_name(void **state)
{
	for (int i = 0; i < RX_LOSSES; i++)
		assert_non_null(port_rx_loss_name(i));
	for (int i = 0; i < TX_LOSSES; i++)
		assert_non_null(port_tx_loss_name(i));
	for (uint32_t i = 0; port_driver_at(i); i++)
		assert_non_null(port_driver_at(i)->kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spec_is_cut_into_its_parts),
		cmocka_unit_test(short_forms_are_understood),
		cmocka_unit_test(bad_specs_are_refused_with_a_remedy),
		cmocka_unit_test(unknown_keys_are_refused_before_anything_is_opened),
		cmocka_unit_test(numbers_have_bounds),
		cmocka_unit_test(every_loss_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
