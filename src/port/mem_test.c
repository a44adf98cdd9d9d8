/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory ports: the generator, the sink, push and pull, and the sample with its checksums. */
#include "port/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pkt/csum.h"

struct env {
	struct pool *pool;
	struct pool_cache cache;
	struct port *port;
};

static void env_open(struct env *e, const char *text)
{
	struct port_spec spec;
	struct err err = { "" };

	assert_int_equal(pool_create(&e->pool, 4096, NULL), 0);
	pool_cache_init(&e->cache, e->pool);
	assert_int_equal(port_spec_parse(&spec, text, &err), 0);
	if (port_open(&e->port, &spec, e->pool, &err))
		fail_msg("%s: %s", text, err.text);
}

/* No frame may be missing at the end, whatever the port held. */
static void env_close(struct env *e)
{
	port_close(e->port);
	pool_cache_fini(&e->cache);
	assert_int_equal(pool_destroy(e->pool), 0);
}

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* Checks IPv4 with UDP, TCP or ICMP, and IPv6 with the same, at p. Fragments: the IP header alone. */
static void check_ip(const uint8_t *p, uint32_t type)
{
	uint32_t hlen = type == 0x0800 ? (p[0] & 15) * 4 : 40;
	uint32_t len = type == 0x0800 ? get16(p + 2) - hlen : get16(p + 4);
	uint8_t proto = type == 0x0800 ? p[9] : p[6];
	uint32_t sum = 0;

	if (type == 0x0800) {
		assert_int_equal(csum_fold(csum_add(0, p, hlen)), 0xffff);
		if (get16(p + 6) & 0x3fff)
			return;
		if (proto != 1)
			sum = csum_pseudo_ipv4(p + 12, proto, len);
	} else {
		sum = csum_pseudo_ipv6(p + 8, proto, len);
	}
	if (proto == 17)
		assert_int_not_equal(get16(p + hlen + 6), 0);
	assert_int_equal(csum_fold(csum_add(sum, p + hlen, len)), 0xffff);
}

static void check_frame(const uint8_t *p)
{
	uint32_t type = get16(p + 12);

	p += 14;
	while (type == 0x8100 || type == 0x88a8) {
		type = get16(p + 2);
		p += 4;
	}
	if (type != 0x0800 && type != 0x86dd)
		return;
	check_ip(p, type);
	if (type == 0x0800 && p[9] == 17 && get16(p + 22) == 4789)
		check_frame(p + 36);
}

static void generator_gives_valid_packets_of_each_flow(void **state)
{
	struct frame *frames[BURST_MAX];
	uint32_t flows_seen[5] = { 0 };
	struct env e;

	env_open(&e, "mem:len=100,flows=5,frames=128,count=1000");
	for (uint32_t total = 0; total < 1000;) {
		int n = port_rx(e.port, &e.cache, frames, BURST_MAX);

		assert_true(n > 0 && n <= BURST_MAX);
		for (int i = 0; i < n; i++) {
			assert_int_equal(frame_len(frames[i]), 100);
			assert_int_equal(frames[i]->seq, total + (uint32_t)i + 1);
			assert_string_equal(sample_classify(frames[i]->data, 100), "ipv4/udp");
			check_frame(frames[i]->data);
			flows_seen[get16(frames[i]->data + 34) - 1024]++;
		}
		pool_free(&e.cache, frames, (uint32_t)n);
		total += (uint32_t)n;
	}
	for (int i = 0; i < 5; i++)
		assert_int_equal(flows_seen[i], 200);
	assert_int_equal(port_rx(e.port, &e.cache, frames, BURST_MAX), PORT_EOF);
	assert_int_equal(e.port->stats.rx_frames, 1000);
	assert_int_equal(e.port->stats.rx_bytes, 100000);
	env_close(&e);
}

/* What a program did to a frame must not come back: not its length, not its headers. */
static void generator_restores_what_programs_changed(void **state)
{
	struct frame *frames[BURST_MAX];
	struct env e;

	env_open(&e, "mem:frames=64");
	for (int round = 0; round < 10; round++) {
		assert_int_equal(port_rx(e.port, &e.cache, frames, 64), 64);
		for (int i = 0; i < 64; i++) {
			assert_int_equal(frame_len(frames[i]), 64);
			assert_ptr_equal(frames[i]->data, frames[i]->hard_start + FRAME_HEADROOM);
			assert_ptr_equal(frames[i]->data_meta, frames[i]->data);
			check_frame(frames[i]->data);
			memset(frames[i]->data - 100, 0xee, 164);
			frames[i]->data -= 100;
			frames[i]->data_meta = frames[i]->data - 4;
		}
		pool_free(&e.cache, frames, 64);
	}
	env_close(&e);
}

static void generator_walks_through_its_working_set(void **state)
{
	static uint8_t seen[4096];
	struct frame *frames[BURST_MAX];
	uint32_t distinct = 0;
	struct env e;

	memset(seen, 0, sizeof(seen));
	env_open(&e, "mem:frames=1024,refill=none");
	for (int round = 0; round < 17; round++) {
		assert_int_equal(port_rx(e.port, &e.cache, frames, 64), 64);
		for (int i = 0; i < 64; i++)
			distinct += !seen[frames[i]->index]++;
		pool_free(&e.cache, frames, 64);
	}
	assert_int_equal(distinct, 1024 + 64);
	env_close(&e);
}

/* All frames held elsewhere: the generator says so and goes on when some come back. */
static void generator_lives_with_an_empty_pool(void **state)
{
	static struct frame *held[4096];
	struct frame *frames[BURST_MAX];
	uint32_t n_held = 0;
	struct env e;
	int n;

	env_open(&e, "mem:frames=256");
	while ((n = port_rx(e.port, &e.cache, held + n_held, BURST_MAX)) > 0)
		n_held += (uint32_t)n;
	assert_int_equal(n, 0);
	assert_int_equal(n_held, 4096 - 256);
	assert_true(e.port->stats.rx_dropped[RX_LOSS_NO_FRAME] > 0);
	pool_free(&e.cache, held, 64);
	assert_int_equal(port_rx(e.port, &e.cache, frames, 64), 64);
	pool_free(&e.cache, frames, 64);
	for (uint32_t i = 64; i < n_held; i += 64)
		pool_free(&e.cache, held + i, n_held - i < 64 ? n_held - i : 64);
	env_close(&e);
}

static void pushed_and_kept_frames_keep_their_order(void **state)
{
	struct frame *frames[BURST_MAX], *out[BURST_MAX];
	struct env e;

	env_open(&e, "mem:keep");
	assert_int_equal(port_rx(e.port, &e.cache, out, BURST_MAX), 0);
	assert_int_equal(pool_alloc(&e.cache, frames, 10), 10);
	for (int i = 0; i < 10; i++)
		frames[i]->seq = 100 + (uint32_t)i;
	assert_int_equal(mem_port_push(e.port, frames, 10), 0);
	assert_int_equal(port_rx(e.port, &e.cache, out, 4), 4);
	assert_int_equal(port_rx(e.port, &e.cache, out + 4, 64), 6);
	for (int i = 0; i < 10; i++)
		assert_int_equal(out[i]->seq, 100 + i);
	port_tx(e.port, &e.cache, 0, out, 10);
	assert_int_equal(mem_port_pull(e.port, frames, 3), 3);
	assert_int_equal(frames[0]->seq, 100);
	assert_int_equal(frames[2]->seq, 102);
	pool_free(&e.cache, frames, 3);
	assert_int_equal(e.port->stats.tx_frames, 10);
	env_close(&e); /* 7 are still in the port */
}

static void impossible_working_sets_are_refused(void **state)
{
	static const char *const specs[] = { "mem:frames=4096", "mem:len=41", "mem:len=3521",
					     "mem:refill=maybe", "sample:count=0" };
	struct pool *pool;

	assert_int_equal(pool_create(&pool, 4096, NULL), 0);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct port_spec spec;
		struct err err = { "" };
		struct port *port;

		assert_int_equal(port_spec_parse(&spec, specs[i], NULL), 0);
		assert_int_equal(port_open(&port, &spec, pool, &err), -EINVAL);
		assert_true(*err.text);
	}
	assert_int_equal(pool_destroy(pool), 0);
}

static void null_takes_everything(void **state)
{
	struct frame *frames[BURST_MAX];
	struct env e;

	env_open(&e, "null");
	assert_false(e.port->can_rx);
	assert_int_equal(port_rx(e.port, &e.cache, frames, 1), PORT_EOF);
	assert_int_equal(pool_alloc(&e.cache, frames, 64), 64);
	port_tx(e.port, &e.cache, 0, frames, 64);
	assert_int_equal(e.port->stats.tx_frames, 64);
	env_close(&e);
}

static void sample_has_every_kind_with_right_checksums(void **state)
{
	static const char *const kinds[] = {
		"arp",
		"ipv4/tcp",
		"ipv4/udp",
		"ipv4/icmp",
		"ipv4/fragment",
		"ipv4/options/udp",
		"ipv6/tcp",
		"ipv6/udp",
		"ipv6/icmpv6",
		"vlan/ipv4/tcp",
		"vlan/ipv6/udp",
		"vlan/vlan/ipv4/udp",
		"ipv4/udp/vxlan/ipv4/tcp",
		"ipv4/udp/vxlan/ipv6/udp",
		"ipv4/udp/vxlan/arp",
		"ipv4/short",
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < sample_count(); i++)
			n += !strcmp(sample_at(i)->kind, kinds[k]);
		if (!n)
			fail_msg("the sample has no %s", kinds[k]);
	}
	for (uint32_t i = 0; i < sample_count(); i++)
		if (!strstr(sample_at(i)->kind, "short"))
			check_frame(sample_at(i)->bytes);
	assert_null(sample_at(sample_count()));
}

/* The two fragments together are a datagram with a right checksum. */
static void sample_fragments_fit_together(void **state)
{
	uint8_t datagram[64];
	uint32_t len = 0;
	const uint8_t *ip = NULL;

	for (uint32_t i = 0; i < sample_count(); i++) {
		const struct sample_packet *s = sample_at(i);

		if (strcmp(s->kind, "ipv4/fragment"))
			continue;
		ip = s->bytes + 14;
		assert_int_equal((get16(ip + 6) & 0x1fff) * 8, len);
		memcpy(datagram + len, ip + 20, get16(ip + 2) - 20);
		len += get16(ip + 2) - 20;
	}
	assert_int_equal(len, get16(datagram + 4));
	assert_int_equal(csum_fold(csum_add(csum_pseudo_ipv4(ip + 12, 17, len), datagram, len)),
			 0xffff);
}

static void sample_port_plays_it_as_often_as_asked(void **state)
{
	static const struct {
		const char *text;
		uint32_t loops, more;
	} cases[] = { { "sample", 1, 0 }, { "sample:loops=3", 3, 0 }, { "sample,count=5", 0, 5 } };

	for (size_t c = 0; c < 3; c++) {
		uint32_t want = cases[c].loops * sample_count() + cases[c].more, total = 0;
		struct frame *frames[BURST_MAX];
		struct env e;
		int n;

		env_open(&e, cases[c].text);
		while ((n = port_rx(e.port, &e.cache, frames, 7)) != PORT_EOF) {
			assert_true(n > 0);
			for (int i = 0; i < n; i++) {
				const struct sample_packet *s =
					sample_at((total + (uint32_t)i) % sample_count());

				assert_int_equal(frames[i]->seq, total + (uint32_t)i + 1);
				assert_int_equal(frame_len(frames[i]), s->len);
				assert_memory_equal(frames[i]->data, s->bytes, s->len);
			}
			total += (uint32_t)n;
			pool_free(&e.cache, frames, (uint32_t)n);
		}
		assert_int_equal(total, want);
		env_close(&e);
	}
}

/* Every prefix of every packet: no read outside it (AddressSanitizer watches), always an answer. */
static void classify_takes_any_length(void **state)
{
	for (uint32_t i = 0; i < sample_count(); i++) {
		for (uint32_t len = 0; len <= sample_at(i)->len; len++) {
			uint8_t *exact = malloc(len ? len : 1);

			memcpy(exact, sample_at(i)->bytes, len);
			assert_true(*sample_classify(exact, len));
			free(exact);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generator_gives_valid_packets_of_each_flow),
		cmocka_unit_test(generator_restores_what_programs_changed),
		cmocka_unit_test(generator_walks_through_its_working_set),
		cmocka_unit_test(generator_lives_with_an_empty_pool),
		cmocka_unit_test(pushed_and_kept_frames_keep_their_order),
		cmocka_unit_test(impossible_working_sets_are_refused),
		cmocka_unit_test(null_takes_everything),
		cmocka_unit_test(sample_has_every_kind_with_right_checksums),
		cmocka_unit_test(sample_fragments_fit_together),
		cmocka_unit_test(sample_port_plays_it_as_often_as_asked),
		cmocka_unit_test(classify_takes_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
