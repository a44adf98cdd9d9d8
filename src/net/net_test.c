/* SPDX-License-Identifier: BSD-2-Clause */
/* net.c against a linear scan, and its edits under readers. */
#include "net/net.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/qsbr.h"

enum { TWIN_MAX = 2048 };

/* The naive twin: every route ever added, later ones replacing equal ones. */
struct twin {
	struct net_route routes[TWIN_MAX];
	uint32_t n;
};

static uint32_t rng = 12345;

static uint32_t rnd(uint32_t below)
{
	rng = rng * 1664525u + 1013904223u;
	return (rng >> 8) % below;
}

static bool bits_equal(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

static void twin_add(struct twin *t, const struct net_route *r)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		const struct net_route *o = &t->routes[i];

		if (o->table == r->table && o->family == r->family && o->metric == r->metric &&
		    o->prefix_len == r->prefix_len && bits_equal(o->dst, r->dst, r->prefix_len))
			break;
	}
	assert_true(i < TWIN_MAX);
	if (i == t->n)
		t->n++;
	t->routes[i] = *r;
}

static const struct net_route *twin_in_table(const struct twin *t, uint8_t family,
					     const uint8_t *addr, uint32_t table)
{
	const struct net_route *best = NULL;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct net_route *r = &t->routes[i];

		if (r->table != table || r->family != family ||
		    !bits_equal(r->dst, addr, r->prefix_len))
			continue;
		if (!best || r->prefix_len > best->prefix_len ||
		    (r->prefix_len == best->prefix_len && r->metric < best->metric))
			best = r;
	}
	return best && best->type == RTN_THROW ? NULL : best;
}

static const struct net_route *twin_lookup(const struct twin *t, uint8_t family,
					   const uint8_t *addr, uint32_t table)
{
	static const uint32_t order[] = { RT_TABLE_LOCAL, RT_TABLE_MAIN, RT_TABLE_DEFAULT };
	const struct net_route *r = NULL;

	if (table)
		return twin_in_table(t, family, addr, table);
	for (uint32_t i = 0; !r && i < 3; i++)
		r = twin_in_table(t, family, addr, order[i]);
	return r;
}

static void random_addr(uint8_t *addr)
{
	/* Few values a byte, so that prefixes nest and addresses hit. */
	for (uint32_t i = 0; i < NET_ADDR; i++)
		addr[i] = (uint8_t)(rnd(3) * 0x55);
}

static struct net_route random_route(void)
{
	static const uint32_t tables[] = { RT_TABLE_LOCAL, RT_TABLE_MAIN, RT_TABLE_DEFAULT, 100 };
	struct net_route r = { .family = rnd(2) ? AF_INET : AF_INET6 };

	r.prefix_len = (uint8_t)rnd(r.family == AF_INET ? 33 : 129);
	if (!rnd(3))
		r.prefix_len = (uint8_t)(rnd(4) * 8);
	r.table = tables[rnd(4)];
	r.metric = rnd(3);
	r.type = rnd(10) ? RTN_UNICAST : RTN_THROW;
	r.ifindex = 1 + rnd(1000000);
	random_addr(r.dst);
	return r;
}

static void test_routes_as_linear_scan(void **state)
{
	static struct twin twin;
	struct net_edit *edit;
	struct net *net;
	uint32_t hits = 0;

	assert_int_equal(net_create(&net), 0);
	for (uint32_t round = 0; round < 8; round++) {
		edit = net_edit_begin(net);
		for (uint32_t i = 0; i < 100; i++) {
			struct net_route r = random_route();

			assert_int_equal(net_edit_route(edit, &r), 0);
			twin_add(&twin, &r);
		}
		assert_int_equal(net_edit_commit(edit), 0);
		for (uint32_t i = 0; i < 2000; i++) {
			uint8_t family = rnd(2) ? AF_INET : AF_INET6, addr[NET_ADDR];
			uint32_t table = rnd(4) ? 0 : 100;
			const struct net_route *got, *want;

			random_addr(addr);
			got = net_route_lookup(net, family, addr, table);
			want = twin_lookup(&twin, family, addr, table);
			assert_int_equal(!got, !want);
			if (!got)
				continue;
			hits++;
			assert_int_equal(got->ifindex, want->ifindex);
			assert_int_equal(got->prefix_len, want->prefix_len);
			assert_int_equal(got->table, want->table);
		}
	}
	assert_true(hits > 1000);
	net_destroy(net);
}

static void test_route_refusals(void **state)
{
	struct net_route r = { .family = AF_INET, .prefix_len = 33 };
	struct net_edit *edit;
	struct net *net;

	assert_int_equal(net_create(&net), 0);
	edit = net_edit_begin(net);
	assert_int_equal(net_edit_route(edit, &r), -EINVAL);
	r = (struct net_route){ .family = AF_UNIX };
	assert_int_equal(net_edit_route(edit, &r), -EINVAL);
	assert_int_equal(net_edit_neigh(edit, &(struct net_neigh){ .family = AF_UNIX }), -EINVAL);
	assert_int_equal(net_edit_commit(edit), 0);
	assert_null(net_route_lookup(net, AF_INET, "\x0a\0\0\1", 0));
	net_destroy(net);
}

static void test_interfaces(void **state)
{
	const struct net_if *nif;
	struct net_edit *edit;
	struct net *net;

	assert_int_equal(net_create(&net), 0);
	assert_null(net_if_by_index(net, 1));
	assert_null(net_if_at(net, 0));
	edit = net_edit_begin(net);
	for (uint32_t i = 200; i > 0; i--) {
		struct net_if new = { .ifindex = i * 7, .mtu = i, .port_id = UINT32_MAX };

		snprintf(new.name, sizeof(new.name), "if%u", i);
		assert_int_equal(net_edit_if(edit, &new), 0);
	}
	net_edit_del_if(edit, 14);
	net_edit_del_if(edit, 15);
	assert_int_equal(net_edit_if(edit, &(struct net_if){ .ifindex = 7, .mtu = 9000 }), 0);
	assert_int_equal(net_edit_commit(edit), 0);
	for (uint32_t ifindex = 0; ifindex < 1500; ifindex++) {
		bool there = ifindex && ifindex % 7 == 0 && ifindex <= 1400 && ifindex != 14;

		nif = net_if_by_index(net, ifindex);
		assert_int_equal(!!nif, there);
		if (there && ifindex != 7)
			assert_int_equal(nif->mtu, ifindex / 7);
	}
	assert_int_equal(net_if_by_index(net, 7)->mtu, 9000);
	assert_int_equal(net_if_by_name(net, "if200")->ifindex, 1400);
	assert_null(net_if_by_name(net, "if2"));
	for (uint32_t i = 0, last = 0; (nif = net_if_at(net, i)); i++) {
		assert_true(nif->ifindex > last);
		last = nif->ifindex;
	}
	net_destroy(net);
}

static void test_neighbours(void **state)
{
	struct net_neigh n = { .ifindex = 3, .family = AF_INET, .valid = true };
	struct net_edit *edit;
	struct net *net;

	assert_int_equal(net_create(&net), 0);
	edit = net_edit_begin(net);
	for (uint32_t i = 0; i < 256; i++) {
		memcpy(n.addr, (uint8_t[]){ 10, 0, 0, (uint8_t)i, 9, 9 }, 6);
		n.mac[5] = (uint8_t)i;
		assert_int_equal(net_edit_neigh(edit, &n), 0);
	}
	n.mac[5] = 77; /* again for 10.0.0.255 */
	assert_int_equal(net_edit_neigh(edit, &n), 0);
	assert_int_equal(net_edit_commit(edit), 0);
	assert_int_equal(net_neigh_lookup(net, 3, AF_INET, "\x0a\0\0\x05")->mac[5], 5);
	assert_int_equal(net_neigh_lookup(net, 3, AF_INET, "\x0a\0\0\xff")->mac[5], 77);
	assert_null(net_neigh_lookup(net, 4, AF_INET, "\x0a\0\0\x05"));
	assert_null(net_neigh_lookup(net, 3, AF_INET6, "\x0a\0\0\x05\x09\x09\0\0\0\0\0\0\0\0\0"));
	edit = net_edit_begin(net);
	net_edit_clear_routes(edit);
	assert_int_equal(net_edit_commit(edit), 0);
	assert_null(net_neigh_lookup(net, 3, AF_INET, "\x0a\0\0\x05"));
	net_destroy(net);
}

struct reading {
	struct net *net;
	_Atomic bool stop;
	uint64_t bad;
};

/* Both interfaces change their MTU in one commit: a reader that sees one table sees them equal. */
static void *read_while_edited(void *arg)
{
	struct reading *r = arg;
	struct qsbr_reader reader;

	qsbr_register(&reader);
	while (!r->stop) {
		for (uint32_t i = 0; i < 64; i++) {
			const struct net_if *a = net_if_by_index(r->net, 5);

			r->bad += a->ifindex != 5 || a->mtu != a->n_rx_queues;
		}
		qsbr_quiescent(&reader);
	}
	qsbr_unregister(&reader);
	return NULL;
}

static void set_if5(struct net *net, uint32_t value)
{
	struct net_edit *edit = net_edit_begin(net);
	struct net_if nif = { .ifindex = 5, .mtu = value, .n_rx_queues = value };

	assert_non_null(edit);
	assert_int_equal(net_edit_if(edit, &nif), 0);
	assert_int_equal(net_edit_commit(edit), 0);
}

static void test_commit_under_readers(void **state)
{
	struct reading r = { 0 };
	pthread_t thread;

	assert_int_equal(net_create(&r.net), 0);
	set_if5(r.net, 0);
	assert_int_equal(pthread_create(&thread, NULL, read_while_edited, &r), 0);
	for (uint32_t i = 1; i < 2000; i++)
		set_if5(r.net, i);
	r.stop = true;
	pthread_join(thread, NULL);
	qsbr_reclaim();
	assert_int_equal(r.bad, 0);
	net_destroy(r.net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes_as_linear_scan),
		cmocka_unit_test(test_route_refusals),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_commit_under_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
