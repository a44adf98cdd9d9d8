/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and numbers of ports, what is refused, and what enters net (design 10). */
#include "engine/fake_test.h"

#include <errno.h>

struct row {
	const char *kind, *arg, *name;
	uint32_t ifindex, kernel_ifindex;
	bool input;
	int rc;
	const char *want_name; /* or what the text of a refusal has in it */
	uint32_t want_ifindex;
};

/* In order, in one engine. */
static const struct row rows[] = {
	{ "sample", "", "", 0, 0, true, 0, "in", 1 },
	{ "null", "", "", 0, 0, false, 0, "out1", 2 },
	{ "mem", "keep", "", 0, 0, false, 0, "out2", 3 },
	{ "xdp", "eth0", "", 0, 7, false, 0, "eth0", 7 },
	{ "packet", "eth0", "", 0, 7, false, -EEXIST, "named eth0 already", 0 },
	{ "packet", "eth0", "again", 0, 7, false, -EEXIST, "ifindex 7 belongs to port eth0", 0 },
	{ "xdp", "eth1", "", 40, 8, false, 0, "eth1", 40 },
	{ "pcap", "/tmp/x.pcap", "", 0, 0, false, 0, "/tmp/x.pcap", 4 },
	{ "pcap",
	  "/tmp/0123456789012345678901234567890123456789012345678901234567890123456789/y.pcap", "",
	  0, 0, false, 0, "y.pcap", 5 },
	{ "pcap", "0123456789012345678901234567890123456789012345678901234567890123456789", "", 0,
	  0, false, -ENAMETOOLONG, "name=", 0 },
	{ "null", "", "in", 0, 0, false, -EEXIST, "name=", 0 },
	{ "null", "", "sink", 3, 0, false, -EEXIST, "out2", 0 },
	{ "null", "", "sink", 9, 0, false, 0, "sink", 9 },
	{ "sample", "", "", 0, 0, true, 0, "in2", 6 },
	{ "mem", "", "", 0, 0, false, 0, "out3", 8 },
};

static int take(struct engine *engine, const struct row *r, struct port **ret, struct err *err)
{
	struct fake_port *f = calloc(1, sizeof(*f));
	struct port_spec spec = { .ifindex = r->ifindex };

	snprintf(spec.kind, sizeof(spec.kind), "%s", r->kind);
	snprintf(spec.arg, sizeof(spec.arg), "%s", r->arg);
	snprintf(spec.name, sizeof(spec.name), "%s", r->name);
	f->pool = engine_pool(engine);
	f->port.ops = &fake_ops;
	f->port.mtu = 1400;
	f->port.up = f->port.can_rx = f->port.can_tx = true;
	f->port.is_kernel_if = r->kernel_ifindex != 0;
	f->port.ifindex = r->kernel_ifindex;
	*ret = &f->port;
	return wiring_take_port(engine, &f->port, &spec, r->input, err);
}

static void test_names_and_numbers(void **state)
{
	struct engine_cfg cfg = { .n_frames = 512 };
	struct engine *engine = fake_engine(&cfg);
	uint32_t n = 0;

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		const struct net_if *nif;
		struct port *port;
		int rc = take(engine, &rows[i], &port, &err);

		if (rc != rows[i].rc)
			fail_msg("row %u: %d, %s", i, rc, err.text);
		if (rc) {
			assert_non_null(strstr(err.text, rows[i].want_name));
			continue;
		}
		assert_string_equal(port->name, rows[i].want_name);
		assert_int_equal(port->ifindex, rows[i].want_ifindex);
		assert_int_equal(port->id, n);
		assert_ptr_equal(engine_port_at(engine, n++), port);
		assert_ptr_equal(engine_port_by_name(engine, port->name), port);
		assert_ptr_equal(engine_port_by_ifindex(engine, port->ifindex), port);
		nif = net_if_by_index(engine_net(engine), port->ifindex);
		assert_int_equal(nif->port_id, port->id);
		assert_int_equal(nif->mtu, 1400);
		assert_true(nif->up && nif->can_xmit);
	}
	assert_null(engine_port_at(engine, n));
	assert_int_equal(engine_destroy(engine), 0);
}

/* A number that an interface without a port has is not free. */
static void test_numbers_avoid_known_interfaces(void **state)
{
	static const struct row row = { "mem", "", "", 0, 0, true, 0, NULL, 0 };
	struct net_if lo = { .ifindex = 1, .name = "lo", .port_id = UINT32_MAX };
	struct engine_cfg cfg = { .n_frames = 512 };
	struct engine *engine = fake_engine(&cfg);
	struct net_edit *edit = net_edit_begin(engine_net(engine));
	struct err err = { 0 };
	struct port *port;

	assert_int_equal(net_edit_if(edit, &lo), 0);
	assert_int_equal(net_edit_commit(edit), 0);
	assert_int_equal(take(engine, &row, &port, &err), 0);
	assert_int_equal(port->ifindex, 2);
	assert_int_equal(engine_destroy(engine), 0);
}

static void test_an_output_is_no_input(void **state)
{
	struct engine_cfg cfg = { .n_frames = 512 };
	struct engine *engine = fake_engine(&cfg);
	struct fake_port *f = calloc(1, sizeof(*f));
	struct port_spec spec = { .kind = "fake" };
	struct err err = { 0 };

	f->pool = engine_pool(engine);
	f->port.ops = &fake_ops;
	assert_int_equal(wiring_take_port(engine, &f->port, &spec, true, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cannot receive"));
	assert_int_equal(engine_destroy(engine), 0);
}

static void test_attach_holds_the_program(void **state)
{
	struct engine_cfg cfg = { .n_frames = 512 };
	struct engine *engine = fake_engine(&cfg);
	struct fake_port *in = fake_add(engine, "in", 1, true);
	struct prog a, b;

	fake_prog(&a, fake_run_one, false);
	fake_prog(&b, fake_run_one, true);
	assert_null(engine_port_prog(engine, &in->port));
	engine_attach(engine, &in->port, &a);
	assert_int_equal(a.po.obj.refs, 2);
	engine_attach(engine, &in->port, &b);
	assert_int_equal(a.po.obj.refs, 1);
	assert_ptr_equal(engine_port_prog(engine, &in->port), &b);
	assert_int_equal(engine_destroy(engine), 0);
	assert_int_equal(b.po.obj.refs, 1);
	obj_put(&a.po.obj);
	obj_put(&b.po.obj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_numbers),
		cmocka_unit_test(test_numbers_avoid_known_interfaces),
		cmocka_unit_test(test_an_output_is_no_input),
		cmocka_unit_test(test_attach_holds_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
