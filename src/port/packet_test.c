/* SPDX-License-Identifier: BSD-2-Clause */
/* The driver af_packet on a veth of its own: see net_test.h. */
#include "port/net_test.h"

#include "pkt/csum.h"
#include "port/mem.h"

static void frames_cross_both_ways_unchanged(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t buf[4096];
	struct env e;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 0);
	assert_true(e.port->is_kernel_if && e.port->up);
	assert_int_equal(e.port->ifindex, if_nametoindex("w0"));
	assert_int_equal(e.port->mtu, 1500);
	for (uint32_t i = 0; i < sample_count(); i++) {
		const struct sample_packet *s = sample_at(i);

		assert_int_equal(send(e.peer, s->bytes, s->len, 0), s->len);
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
		assert_int_equal(frame_len(frames[0]), s->len);
		assert_memory_equal(frames[0]->data, s->bytes, s->len);
		port_tx(e.port, &e.cache, 0, frames, 1);
		/* The kernel takes the outer tag away from the peer's socket as well. */
		assert_int_equal(peer_recv(e.peer, buf, sizeof(buf), WAIT_MS),
				 s->len - (strncmp(s->kind, "vlan", 4) ? 0 : 4));
	}
	/* What it sent itself does not come back to it. */
	assert_int_equal(port_rx(e.port, &e.cache, frames, BURST_MAX), 0);
	assert_int_equal(e.port->stats.rx_frames, sample_count());
	assert_int_equal(e.port->stats.tx_frames, sample_count());
	env_close(&e);
	veth_remove();
}

/* B7: the kernel takes a tag out of every packet that it receives; it must be back where it was. */
static void B7_vlan_tags_are_put_back(void **state)
{
	struct frame *frames[BURST_MAX];
	struct env e;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 0);
	for (uint32_t i = 0; i < sample_count(); i++) {
		const struct sample_packet *s = sample_at(i);

		if (strncmp(s->kind, "vlan", 4))
			continue;
		assert_int_equal(send(e.peer, s->bytes, s->len, 0), s->len);
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
		assert_string_equal(sample_classify(frames[0]->data, frame_len(frames[0])),
				    s->kind);
		assert_memory_equal(frames[0]->data, s->bytes, s->len);
		pool_free(&e.cache, frames, 1);
	}
	env_close(&e);
	veth_remove();
}

/* A UDP packet of the sample whose checksum field holds what a stack leaves to the hardware. */
static uint32_t partial_make(uint8_t *buf, struct virtio_net_hdr *h,
			     const struct sample_packet **ret)
{
	const struct sample_packet *s = NULL;
	uint32_t len, sum;

	for (uint32_t i = 0; !s; i++)
		if (!strcmp(sample_at(i)->kind, "ipv4/udp"))
			s = sample_at(i);
	memset(h, 0, sizeof(*h));
	h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	h->csum_start = 34;
	h->csum_offset = 6;
	memcpy(buf + sizeof(*h), s->bytes, s->len);
	len = s->len - 34;
	sum = csum_fold(csum_pseudo_ipv4(s->bytes + 26, 17, len));
	buf[sizeof(*h) + 40] = (uint8_t)(sum >> 8);
	buf[sizeof(*h) + 41] = (uint8_t)sum;
	memcpy(buf, h, sizeof(*h));
	*ret = s;
	return (uint32_t)sizeof(*h) + s->len;
}

static void B3_14_partial_checksums_are_completed(void **state)
{
	const struct sample_packet *s;
	struct frame *frames[BURST_MAX];
	struct virtio_net_hdr h;
	uint8_t buf[512];
	struct env e;
	uint32_t len;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 1);
	len = partial_make(buf, &h, &s);
	assert_memory_not_equal(buf + sizeof(h), s->bytes, s->len);
	assert_int_equal(send(e.peer, buf, len, 0), len);
	assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
	assert_memory_equal(frames[0]->data, s->bytes, s->len);
	pool_free(&e.cache, frames, 1);
	env_close(&e);
	veth_remove();
}

static void B3_14_super_frames_are_refused_and_counted(void **state)
{
	struct virtio_net_hdr h = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = 54,
		.gso_size = 1000,
		.csum_start = 34,
		.csum_offset = 16,
	};
	struct frame *frames[BURST_MAX];
	const struct sample_packet *s;
	uint8_t buf[sizeof(h) + 54 + 3000] = { 0 };
	char text[512];
	struct env e;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 1);
	for (uint32_t i = 0; strcmp((s = sample_at(i))->kind, "ipv4/tcp");)
		i++;
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), s->bytes, 54);
	buf[sizeof(h) + 16] = (54 + 3000 - 14) >> 8;
	buf[sizeof(h) + 17] = (uint8_t)(54 + 3000 - 14);
	assert_int_equal(send(e.peer, buf, sizeof(buf), 0), sizeof(buf));
	for (int i = 0; i < 3000 && !e.port->stats.rx_dropped[RX_LOSS_GSO]; i++) {
		assert_int_equal(port_rx(e.port, &e.cache, frames, BURST_MAX), 0);
		usleep(1000);
	}
	assert_int_equal(e.port->stats.rx_dropped[RX_LOSS_GSO], 1);
	e.port->ops->describe(e.port, text, sizeof(text));
	assert_non_null(strstr(text, "ethtool -K w0 gro off gso off tso off"));
	env_close(&e);
	veth_remove();
}

static void checksums_that_are_wrong_stay_wrong(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t bytes[512];
	struct env e;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 0);
	memcpy(bytes, sample_at(8)->bytes, sample_at(8)->len);
	bytes[41] ^= 1;
	assert_int_equal(send(e.peer, bytes, sample_at(8)->len, 0), sample_at(8)->len);
	assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
	assert_memory_equal(frames[0]->data, bytes, sample_at(8)->len);
	pool_free(&e.cache, frames, 1);
	env_close(&e);
	veth_remove();
}

static void thousands_cross_without_loss(void **state)
{
	enum { N = 20000 };
	struct frame *frames[BURST_MAX];
	uint32_t seen = 0, lost = 0;
	uint8_t buf[256];
	struct env e;
	int n;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 0);
	memcpy(buf, sample_at(8)->bytes, 60);
	for (uint32_t i = 0; i < N; i += 50) {
		for (uint32_t k = i; k < i + 50; k++) {
			memcpy(buf + 50, &k, 4);
			assert_int_equal(send(e.peer, buf, 60, 0), 60);
		}
		for (uint32_t want = 50; want; want -= (uint32_t)n) {
			n = rx_wait(&e, frames, BURST_MAX);
			assert_true(n > 0);
			for (int k = 0; k < n; k++)
				lost += memcmp(frames[k]->data + 50, &(uint32_t){ seen++ }, 4) != 0;
			pool_free(&e.cache, frames, (uint32_t)n);
		}
	}
	assert_int_equal(seen, N);
	assert_int_equal(lost, 0);
	env_close(&e);
	veth_remove();
}

static void an_interface_that_disappears_is_an_error(void **state)
{
	static const struct {
		const char *cmd;
		int code;
		const char *says;
	} cases[] = {
		{ "ip link set w0 down", -ENETDOWN, "went down" },
		{ "ip link del w0", -ENODEV, "is gone" },
	};

	for (size_t i = 0; i < 2; i++) {
		struct frame *frames[BURST_MAX];
		struct env e;

		veth_make();
		env_open(&e, "packet:w0");
		sh(cases[i].cmd);
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), cases[i].code);
		assert_non_null(strstr(e.port->lost, cases[i].says));
		assert_int_equal(pool_alloc(&e.cache, frames, 2), 2);
		frames[0]->data_end += 60;
		frames[1]->data_end += 60;
		port_tx(e.port, &e.cache, 0, frames, 2);
		assert_int_equal(e.port->stats.tx_dropped[TX_LOSS_DOWN], 2);
		env_close(&e);
		veth_remove();
	}
}

static void too_long_for_the_interface_is_counted(void **state)
{
	struct frame *frames[3];
	uint8_t buf[2048];
	struct env e;

	veth_make();
	env_open(&e, "packet:w0");
	e.peer = peer_open("p0", 0);
	assert_int_equal(pool_alloc(&e.cache, frames, 3), 3);
	for (int i = 0; i < 3; i++) {
		memset(frames[i]->data, 2, 3000);
		frames[i]->data_end += i == 1 ? 3000 : 60;
	}
	port_tx(e.port, &e.cache, 0, frames, 3);
	assert_int_equal(e.port->stats.tx_frames, 2);
	assert_int_equal(e.port->stats.tx_dropped[TX_LOSS_TOO_LONG], 1);
	assert_int_equal(peer_recv(e.peer, buf, sizeof(buf), WAIT_MS), 60);
	assert_int_equal(peer_recv(e.peer, buf, sizeof(buf), WAIT_MS), 60);
	env_close(&e);
	veth_remove();
}

static void bad_interfaces_are_named_with_a_remedy(void **state)
{
	struct err err;
	struct env e;

	veth_make();
	sh("ip link set w0 down");
	env_init(&e);
	assert_int_equal(port_try(&e, "packet:nope", &err), -ENODEV);
	assert_non_null(strstr(err.text, "port packet:nope: there is no such interface"));
	assert_int_equal(port_try(&e, "packet:w0", &err), -ENETDOWN);
	assert_non_null(strstr(err.text, "ip link set w0 up"));
	env_close(&e);
	veth_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_cross_both_ways_unchanged),
		cmocka_unit_test(B7_vlan_tags_are_put_back),
		cmocka_unit_test(B3_14_partial_checksums_are_completed),
		cmocka_unit_test(B3_14_super_frames_are_refused_and_counted),
		cmocka_unit_test(checksums_that_are_wrong_stay_wrong),
		cmocka_unit_test(thousands_cross_without_loss),
		cmocka_unit_test(an_interface_that_disappears_is_an_error),
		cmocka_unit_test(too_long_for_the_interface_is_counted),
		cmocka_unit_test(bad_interfaces_are_named_with_a_remedy),
	};
	int rc = netns_enter();

	return rc ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
