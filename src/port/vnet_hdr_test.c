/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial checksums: every TCP, UDP and ICMPv6 packet of the sample loses its checksum and gets it back. */
#include "port/vnet_hdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pkt/csum.h"
#include "port/mem.h"

struct env {
	struct pool *pool;
	struct pool_cache cache;
	struct port port;
	struct frame *f;
};

static void env_init(struct env *e)
{
	memset(e, 0, sizeof(*e));
	assert_int_equal(pool_create(&e->pool, 1, NULL), 0);
	pool_cache_init(&e->cache, e->pool);
	assert_int_equal(pool_alloc(&e->cache, &e->f, 1), 1);
}

static void env_fini(struct env *e)
{
	pool_free(&e->cache, &e->f, 1);
	pool_cache_fini(&e->cache);
	assert_int_equal(pool_destroy(e->pool), 0);
}

/* Fills the frame with a plain IP packet of the sample as a stack leaves it to the hardware; false when this
 * packet has no such checksum. */
static bool partial_make(struct frame *f, const struct sample_packet *s, struct virtio_net_hdr *h)
{
	bool v6 = !strncmp(s->kind, "ipv6/", 5);
	uint32_t start = v6 ? 54 : 34, sum;
	const char *l4 = s->kind + 5;
	uint8_t proto;

	if (strncmp(s->kind, "ipv4/", 5) && !v6)
		return false;
	proto = !strncmp(l4, "tcp", 3)	 ? 6
		: !strncmp(l4, "udp", 3) ? 17
		: !strcmp(l4, "icmpv6")	 ? 58
					 : 0;
	if (!proto)
		return false;
	frame_fill(f, s->bytes, s->len);
	*h = (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
				      .csum_start = (uint16_t)start,
				      .csum_offset = proto == 6	   ? 16
						     : proto == 17 ? 6
								   : 2 };
	sum = v6 ? csum_pseudo_ipv6(f->data + 22, proto, s->len - start)
		 : csum_pseudo_ipv4(f->data + 26, proto, s->len - start);
	csum_put(f->data + start + h->csum_offset, (uint32_t)~csum_fold(sum) & 0xffff);
	return true;
}

static void B3_14_checksums_of_every_kind_are_completed(void **state)
{
	struct virtio_net_hdr h;
	uint32_t n = 0;
	struct env e;

	env_init(&e);
	for (uint32_t i = 0; i < sample_count(); i++) {
		const struct sample_packet *s = sample_at(i);

		if (!partial_make(e.f, s, &h))
			continue;
		assert_true(vnet_hdr_apply(&h, e.f, &e.port));
		assert_memory_equal(e.f->data, s->bytes, s->len);
		n++;
	}
	assert_true(n > 15);
	env_fini(&e);
}

/* Odd lengths, and a sum of 0, which UDP writes as 0xffff and TCP does not. */
static void zero_sums_are_written_as_the_protocol_wants(void **state)
{
	static const struct {
		uint16_t offset;
		uint8_t want;
	} cases[] = { { 6, 0xff }, { 16, 0 } };

	for (size_t i = 0; i < 2; i++) {
		struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					    .csum_start = 14,
					    .csum_offset = cases[i].offset };
		uint8_t bytes[41] = { 0 };
		struct env e;

		env_init(&e);
		bytes[14] = bytes[15] = 0xff;
		frame_fill(e.f, bytes, sizeof(bytes));
		assert_true(vnet_hdr_apply(&h, e.f, &e.port));
		assert_int_equal(e.f->data[14 + cases[i].offset], cases[i].want);
		assert_int_equal(e.f->data[15 + cases[i].offset], cases[i].want);
		env_fini(&e);
	}
}

static void bad_requests_are_counted_and_change_nothing(void **state)
{
	static const struct {
		uint8_t gso_type;
		uint16_t start, offset;
		enum port_rx_loss loss;
	} cases[] = {
		{ 0, 34, 100, RX_LOSS_BAD_CSUM_REQ },
		{ 0, 59, 0, RX_LOSS_BAD_CSUM_REQ },
		{ 0, 65535, 65535, RX_LOSS_BAD_CSUM_REQ },
		{ 0, 13, 6, RX_LOSS_BAD_CSUM_REQ },
		{ VIRTIO_NET_HDR_GSO_TCPV4, 34, 16, RX_LOSS_GSO },
		{ VIRTIO_NET_HDR_GSO_TCPV6 | VIRTIO_NET_HDR_GSO_ECN, 34, 16, RX_LOSS_GSO },
		{ VIRTIO_NET_HDR_GSO_UDP, 34, 6, RX_LOSS_GSO },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct virtio_net_hdr h = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					    .gso_type = cases[i].gso_type,
					    .csum_start = cases[i].start,
					    .csum_offset = cases[i].offset };
		uint8_t bytes[60];
		struct env e;

		env_init(&e);
		memset(bytes, 0x33, sizeof(bytes));
		frame_fill(e.f, bytes, sizeof(bytes));
		assert_false(vnet_hdr_apply(&h, e.f, &e.port));
		assert_int_equal(e.port.stats.rx_dropped[cases[i].loss], 1);
		assert_memory_equal(e.f->data, bytes, sizeof(bytes));
		env_fini(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(B3_14_checksums_of_every_kind_are_completed),
		cmocka_unit_test(zero_sums_are_written_as_the_protocol_wants),
		cmocka_unit_test(bad_requests_are_counted_and_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
