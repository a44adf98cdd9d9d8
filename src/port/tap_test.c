/* SPDX-License-Identifier: BSD-2-Clause */
/* Taps in a network namespace of their own: see net_test.h. The peer is a raw socket on the tap itself. */
#include "port/net_test.h"

#include "port/mem.h"

static void quiet_make(const char *name)
{
	char cmd[200];

	/* Made before, so that IPv6 can be turned off before it says a word. */
	snprintf(cmd, sizeof(cmd),
		 "ip tuntap add %s mode tap && echo 1 > /proc/sys/net/ipv6/conf/%s/disable_ipv6",
		 name, name);
	sh(cmd);
}

static void frames_cross_both_ways_unchanged(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t buf[4096];
	struct env e;

	quiet_make("t0");
	env_open(&e, "tap:t0,mtu=2000,mac=02:00:00:00:00:77");
	e.peer = peer_open("t0", 0);
	assert_int_equal(e.port->ifindex, if_nametoindex("t0"));
	assert_int_equal(e.port->mtu, 2000);
	for (uint32_t i = 0; i < sample_count(); i++) {
		const struct sample_packet *s = sample_at(i);

		assert_int_equal(send(e.peer, s->bytes, s->len, 0), s->len);
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
		assert_int_equal(frame_len(frames[0]), s->len);
		assert_memory_equal(frames[0]->data, s->bytes, s->len);
		port_tx(e.port, &e.cache, 0, frames, 1);
		assert_true(peer_recv(e.peer, buf, sizeof(buf), WAIT_MS) > 0);
	}
	assert_int_equal(e.port->stats.tx_frames, sample_count());
	sh("ip link show t0 | grep -q 'mtu 2000' && ip link show t0 | grep -q 02:00:00:00:00:77");
	env_close(&e);
	sh("ip link del t0");
}

static void a_tap_is_made_and_goes_with_its_port(void **state)
{
	struct env e;

	env_open(&e, "tap:t1");
	sh("ip link show t1 up | grep -q t1");
	env_close(&e);
	assert_int_equal(if_nametoindex("t1"), 0);
}

static void packets_longer_than_a_frame_are_counted(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t buf[4000] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 };
	struct env e;

	quiet_make("t2");
	env_open(&e, "tap:t2,mtu=9000");
	e.peer = peer_open("t2", 0);
	assert_int_equal(send(e.peer, buf, 3520, 0), 3520);
	assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
	assert_int_equal(frame_len(frames[0]), 3520);
	pool_free(&e.cache, frames, 1);
	assert_int_equal(send(e.peer, buf, 3521, 0), 3521);
	assert_int_equal(send(e.peer, buf, 4000, 0), 4000);
	for (int i = 0; i < 1000 && e.port->stats.rx_dropped[RX_LOSS_TOO_LONG] < 2; i++)
		assert_int_equal(port_rx(e.port, &e.cache, frames, BURST_MAX), 0);
	assert_int_equal(e.port->stats.rx_dropped[RX_LOSS_TOO_LONG], 2);
	env_close(&e);
	sh("ip link del t2");
}

static void a_tap_that_disappears_is_an_error(void **state)
{
	struct frame *frames[BURST_MAX];
	struct env e;
	int rc;

	quiet_make("t3");
	env_open(&e, "tap:t3");
	sh("ip link del t3");
	rc = rx_wait(&e, frames, BURST_MAX);
	assert_int_equal(rc, -ENODEV);
	assert_non_null(strstr(e.port->lost, "gone"));
	assert_int_equal(pool_alloc(&e.cache, frames, 1), 1);
	frames[0]->data_end += 60;
	port_tx(e.port, &e.cache, 0, frames, 1);
	assert_int_equal(e.port->stats.tx_dropped[TX_LOSS_DOWN], 1);
	env_close(&e);
}

static void bad_names_are_refused_with_a_remedy(void **state)
{
	struct err err;
	struct env e, other;

	env_init(&e);
	assert_int_equal(port_try(&e, "tap:lo", &err), -EINVAL);
	assert_non_null(strstr(err.text, "no tap"));
	assert_int_equal(port_try(&e, "tap:a-name-that-is-too-long", &err), -EINVAL);
	assert_non_null(strstr(err.text, "at most 15"));
	env_open(&other, "tap:t4");
	assert_int_equal(port_try(&e, "tap:t4", &err), -EBUSY);
	assert_non_null(strstr(err.text, "another process has this tap"));
	env_close(&other);
	env_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_cross_both_ways_unchanged),
		cmocka_unit_test(a_tap_is_made_and_goes_with_its_port),
		cmocka_unit_test(packets_longer_than_a_frame_are_counted),
		cmocka_unit_test(a_tap_that_disappears_is_an_error),
		cmocka_unit_test(bad_names_are_refused_with_a_remedy),
	};
	int rc = netns_enter();

	return rc ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
