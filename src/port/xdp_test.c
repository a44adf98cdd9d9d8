/* SPDX-License-Identifier: BSD-2-Clause */
/* The driver af_xdp on a veth of its own: see net_test.h. */
#include "port/net_test.h"

#include <signal.h>

#include "port/mem.h"

/* Sends at the peer, echoes at the port, and wants it back at the peer, one packet at a time. */
static void echo(struct env *e, uint32_t times)
{
	struct frame *frames[BURST_MAX];
	uint8_t out[60], in[256];

	memcpy(out, sample_at(8)->bytes, 60);
	for (uint32_t i = 0; i < times; i++) {
		memcpy(out + 50, &i, 4);
		assert_int_equal(send(e->peer, out, 60, 0), 60);
		assert_int_equal(rx_wait(e, frames, BURST_MAX), 1);
		port_tx(e->port, &e->cache, 0, frames, 1);
		port_flush(e->port, &e->cache);
		assert_int_equal(peer_recv(e->peer, in, sizeof(in), WAIT_MS), 60);
		assert_memory_equal(in, out, 60);
	}
}

static void B2_10_one_packet_at_a_time_never_stalls(void **state)
{
	static const char *const specs[] = { "xdp:w0,host=none", "xdp:w0,host=none,mode=skb",
					     "xdp:w0,host=none,mode=native,bind=copy" };

	for (size_t i = 0; i < 3; i++) {
		char text[512];
		struct env e;

		veth_make();
		env_open(&e, specs[i]);
		e.peer = peer_open("p0", 0);
		echo(&e, 1000);
		assert_int_equal(e.port->stats.rx_frames, 1000);
		for (int k = 0; k < 100 && e.port->ops->in_flight(e.port); k++) {
			port_flush(e.port, &e.cache);
			usleep(1000);
		}
		assert_int_equal(e.port->stats.tx_frames, 1000);
		assert_int_equal(e.port->ops->in_flight(e.port), 0);
		e.port->ops->describe(e.port, text, sizeof(text));
		assert_non_null(strstr(text, i == 1 ? "skb mode" : "native mode"));
		assert_non_null(strstr(text, "copy mode, need_wakeup, 1 queue from 0"));
		env_close(&e);
		veth_remove();
	}
}

static void frames_keep_their_bytes_and_room(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t buf[4096];
	struct env e;

	veth_make();
	env_open(&e, "xdp:w0,host=none");
	e.peer = peer_open("p0", 0);
	for (uint32_t i = 0; i < sample_count(); i++) {
		const struct sample_packet *s = sample_at(i);

		assert_int_equal(send(e.peer, s->bytes, s->len, 0), s->len);
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
		assert_int_equal(frame_len(frames[0]), s->len);
		assert_memory_equal(frames[0]->data, s->bytes, s->len);
		assert_ptr_equal(frames[0]->data, frames[0]->hard_start + FRAME_HEADROOM);
		assert_ptr_equal(frames[0]->data_meta, frames[0]->data);
		/* As a program that puts a header in front leaves it: the descriptor says where. */
		frames[0]->data -= 32;
		memset(frames[0]->data, 0xff, 14);
		port_tx(e.port, &e.cache, 0, frames, 1);
		port_flush(e.port, &e.cache);
		assert_int_equal(peer_recv(e.peer, buf, sizeof(buf), WAIT_MS), s->len + 32);
		assert_memory_equal(buf + 32, s->bytes, s->len);
	}
	env_close(&e);
	veth_remove();
}

/* B2.12: a checksum that is wrong arrives as it was sent. */
static void B2_12_checksums_are_not_touched(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t bytes[512];
	struct env e;

	veth_make();
	env_open(&e, "xdp:w0,host=none");
	e.peer = peer_open("p0", 0);
	memcpy(bytes, sample_at(8)->bytes, 60);
	bytes[41] ^= 1;
	assert_int_equal(send(e.peer, bytes, 60, 0), 60);
	assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
	assert_memory_equal(frames[0]->data, bytes, 60);
	pool_free(&e.cache, frames, 1);
	env_close(&e);
	veth_remove();
}

static void B2_11_send_only_needs_no_program(void **state)
{
	struct frame *frames[BURST_MAX];
	uint32_t seen = 0;
	uint8_t buf[256];
	struct env e;

	veth_make();
	env_open(&e, "xdp:w0,dir=out");
	assert_false(e.port->can_rx);
	e.peer = peer_open("p0", 0);
	for (int burst = 0; burst < 10; burst++) {
		assert_int_equal(pool_alloc(&e.cache, frames, 64), 64);
		for (int i = 0; i < 64; i++)
			frame_fill(frames[i], sample_at(8)->bytes, 60);
		port_tx(e.port, &e.cache, 0, frames, 64);
		port_flush(e.port, &e.cache);
		/* Read at once: the peer's receive buffer holds some 250. */
		for (int i = 0; i < 64 && peer_recv(e.peer, buf, sizeof(buf), WAIT_MS) == 60; i++)
			seen++;
	}
	port_flush(e.port, &e.cache);
	assert_int_equal(seen, 640);
	assert_int_equal(e.port->stats.tx_frames, 640);
	sh("! ip link show w0 | grep -q xdp");
	env_close(&e);
	veth_remove();
}

/* All frames are held elsewhere: nothing can be received. When they come back, it goes on. */
static void B2_14_an_empty_fill_ring_recovers(void **state)
{
	static struct frame *held[TEST_FRAMES];
	uint8_t out[60] = { 0 };
	uint32_t n = 0, got;
	struct frame *frames[BURST_MAX];
	struct env e;

	veth_make();
	env_open(&e, "xdp:w0,host=none");
	e.peer = peer_open("p0", 0);
	while ((got = pool_alloc(&e.cache, held + n, BURST_MAX)))
		n += got;
	memcpy(out, sample_at(8)->bytes, 60);
	for (int i = 0; i < 3000; i++) {
		int rc;

		send(e.peer, out, 60, 0);
		rc = port_rx(e.port, &e.cache, held + n, 1);
		assert_true(rc >= 0);
		n += (uint32_t)rc;
	}
	assert_int_equal(n, TEST_FRAMES);
	e.port->ops->update_stats(e.port);
	assert_true(e.port->stats.rx_dropped[RX_LOSS_NO_FRAME] > 0);
	usleep(100000);
	assert_int_equal(port_rx(e.port, &e.cache, frames, 1), 0);
	for (uint32_t i = 0; i < n; i += BURST_MAX)
		pool_free(&e.cache, held + i, BURST_MAX);
	port_rx(e.port, &e.cache, frames, 1);
	echo(&e, 100);
	env_close(&e);
	veth_remove();
}

static void two_ports_share_the_memory(void **state)
{
	struct frame *frames[BURST_MAX];
	struct port *first;
	uint8_t out[60], in[256];
	struct err err;
	struct env e;
	int far;

	veth_make();
	sh("ip link add w1 type veth peer name p1 && "
	   "echo 1 > /proc/sys/net/ipv6/conf/w1/disable_ipv6 && "
	   "echo 1 > /proc/sys/net/ipv6/conf/p1/disable_ipv6 && "
	   "ip link set w1 up && ip link set p1 up");
	env_open(&e, "xdp:w0,host=none");
	first = e.port;
	if (port_try(&e, "xdp:w1,host=none", &err))
		fail_msg("%s", err.text);
	e.peer = peer_open("p0", 0);
	far = peer_open("p1", 0);
	memcpy(out, sample_at(8)->bytes, 60);
	for (uint32_t i = 0; i < 5000; i++) {
		struct port *second = e.port;
		uint8_t *data;

		memcpy(out + 50, &i, 4);
		assert_int_equal(send(e.peer, out, 60, 0), 60);
		e.port = first;
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
		e.port = second;
		data = frames[0]->data;
		port_tx(second, &e.cache, 0, frames, 1);
		assert_ptr_equal(frames[0]->data, data); /* not copied */
		port_flush(second, &e.cache);
		assert_int_equal(peer_recv(far, in, sizeof(in), WAIT_MS), 60);
		assert_memory_equal(in, out, 60);
	}
	close(far);
	port_close(first);
	env_close(&e);
	veth_remove();
	sh("ip link del w1");
}

static void the_same_interface_opens_again_at_once(void **state)
{
	veth_make();
	for (int i = 0; i < 4; i++) {
		struct env e;

		env_open(&e, "xdp:w0,host=none");
		e.peer = peer_open("p0", 0);
		echo(&e, 10);
		env_close(&e);
	}
	veth_remove();
}

static void passed_frames_reach_the_host_and_its_answers_leave(void **state)
{
	struct frame *frames[BURST_MAX];
	uint8_t buf[256];
	struct env e;
	int host, n;

	veth_make();
	sh("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6");
	env_open(&e, "xdp:w0");
	e.peer = peer_open("p0", 0);
	host = peer_open("weir-w0", 0);
	assert_int_equal(send(e.peer, sample_at(8)->bytes, 60, 0), 60);
	assert_int_equal(rx_wait(&e, frames, BURST_MAX), 1);
	e.port->ops->to_host(e.port, &e.cache, frames, 1);
	assert_int_equal(peer_recv(host, buf, sizeof(buf), WAIT_MS), 60);
	assert_memory_equal(buf, sample_at(8)->bytes, 60);
	assert_int_equal(send(host, sample_at(7)->bytes, 60, 0), 60);
	for (int i = 0;
	     !(n = e.port->ops->from_host(e.port, &e.cache, frames, BURST_MAX)) && i < 1000;)
		i++;
	assert_int_equal(n, 1);
	assert_memory_equal(frames[0]->data, sample_at(7)->bytes, 60);
	port_tx(e.port, &e.cache, 0, frames, 1);
	port_flush(e.port, &e.cache);
	assert_int_equal(peer_recv(e.peer, buf, sizeof(buf), WAIT_MS), 60);
	close(host);
	env_close(&e);
	assert_int_equal(if_nametoindex("weir-w0"), 0);
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
		env_open(&e, "xdp:w0,host=none");
		e.peer = peer_open("p0", 0);
		echo(&e, 10);
		sh(cases[i].cmd);
		assert_int_equal(rx_wait(&e, frames, BURST_MAX), cases[i].code);
		assert_non_null(strstr(e.port->lost, cases[i].says));
		/* It takes frames all the same, and none is lost. */
		assert_int_equal(pool_alloc(&e.cache, frames, 1), 1);
		frame_fill(frames[0], sample_at(8)->bytes, 60);
		port_tx(e.port, &e.cache, 0, frames, 1);
		port_flush(e.port, &e.cache);
		env_close(&e);
		veth_remove();
	}
}

static void refusals_name_the_reason_and_the_remedy(void **state)
{
	struct err err;
	struct env e, other;

	veth_make();
	env_init(&e);
	assert_int_equal(port_try(&e, "xdp:nope", &err), -ENODEV);
	assert_non_null(strstr(err.text, "port xdp:nope: there is no such interface"));
	assert_int_equal(port_try(&e, "xdp:w0,queue=7", &err), -EINVAL);
	assert_non_null(strstr(err.text, "queue=7: give a number from 0 to 0"));
	assert_int_equal(port_try(&e, "xdp:w0,mode=fast", &err), -EINVAL);
	assert_non_null(strstr(err.text, "it is auto, native or skb"));
	assert_int_equal(port_try(&e, "xdp:w0,bind=zc,host=none", &err), -EOPNOTSUPP);
	assert_non_null(
		strstr(err.text, "bind=zc does not work on queue 0 (EOPNOTSUPP); try bind=copy"));
	sh("ip link set w0 down");
	assert_int_equal(port_try(&e, "xdp:w0", &err), -ENETDOWN);
	assert_non_null(strstr(err.text, "ip link set w0 up"));
	sh("ip link set w0 up");

	/* A second program: weir's own first, held by a link, which force does not break either. */
	env_open(&other, "xdp:w0,host=none");
	assert_int_equal(port_try(&e, "xdp:w0", &err), -EBUSY);
	assert_non_null(strstr(err.text, "it has another XDP program, id "));
	assert_non_null(strstr(err.text, "name weir_xsk"));
	assert_int_equal(port_try(&e, "xdp:w0,force", &err), -EBUSY);
	assert_non_null(strstr(err.text, "a link holds it"));
	env_close(&other);

	sh("ip addr add 10.9.0.1/24 dev w0 && ip route add default via 10.9.0.2");
	assert_int_equal(port_try(&e, "xdp:w0", &err), -EBUSY);
	assert_non_null(strstr(err.text, "the default route is on this interface"));
	if (port_try(&e, "xdp:w0,force,host=none", &err))
		fail_msg("%s", err.text);
	env_close(&e);
	veth_remove();
}

/* A process without capabilities: one line, the kind that needs them, and what to do. */
static void no_permission_is_said_with_a_remedy(void **state)
{
	static const char *const specs[] = { "xdp:w0", "xdp:w0,dir=out", "packet:w0",
					     "packet:w0,dir=out" };
	int status;
	pid_t pid;

	veth_make();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct err err;
		struct env e;
		int ok;

		env_init(&e);
		ok = !setresuid(65534, 65534, 65534);
		for (size_t i = 0; i < 4; i++)
			ok = ok && port_try(&e, specs[i], &err) == -EPERM &&
			     strstr(err.text, "w0: no permission for") &&
			     strstr(err.text, "run as root or with CAP_NET_RAW");
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	veth_remove();
}

/* Whatever ends the process, the interface is free again. */
static void SIGKILL_detaches(void **state)
{
	int ready[2];
	char c;
	pid_t pid;

	veth_make();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct env e;

		env_open(&e, "xdp:w0,host=none");
		c = system("ip link show w0 | grep -q xdp") ? 'n' : 'y';
		(void)!write(ready[1], &c, 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 'y');
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sh("i=0; while ip link show w0 | grep -q xdp; do i=$((i+1)); [ $i -lt 50 ] || exit 1; "
	   "sleep 0.1; "
	   "done");
	close(ready[0]);
	close(ready[1]);
	veth_remove();
}

static void all_queues_are_served(void **state)
{
	struct frame *frames[BURST_MAX];
	uint32_t seen[4] = { 0 }, total = 0;
	uint8_t out[60];
	struct env e;
	int n;

	sh("ip link add w0 numrxqueues 4 numtxqueues 4 type veth peer name p0 numrxqueues 4 "
	   "numtxqueues "
	   "4");
	sh("echo 1 > /proc/sys/net/ipv6/conf/w0/disable_ipv6; "
	   "echo 1 > /proc/sys/net/ipv6/conf/p0/disable_ipv6");
	sh("ip link set w0 up && ip link set p0 up");
	env_open(&e, "xdp:w0,host=none");
	assert_int_equal(e.port->n_rx_queues, 4);
	e.peer = peer_open("p0", 0);
	memcpy(out, sample_at(8)->bytes, 60);
	for (uint32_t i = 0; i < 400; i++) {
		out[29] = (uint8_t)i; /* the flow decides on the queue */
		out[35] = (uint8_t)(i * 7);
		assert_int_equal(send(e.peer, out, 60, 0), 60);
		n = rx_wait(&e, frames, BURST_MAX);
		assert_int_equal(n, 1);
		assert_true(frames[0]->rx_queue_index < 4);
		seen[frames[0]->rx_queue_index]++;
		total++;
		port_tx(e.port, &e.cache, i % 4, frames, 1);
		port_flush(e.port, &e.cache);
		assert_int_equal(peer_recv(e.peer, out, sizeof(out), WAIT_MS), 60);
	}
	assert_int_equal(total, 400);
	env_close(&e);
	veth_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(B2_10_one_packet_at_a_time_never_stalls),
		cmocka_unit_test(frames_keep_their_bytes_and_room),
		cmocka_unit_test(B2_12_checksums_are_not_touched),
		cmocka_unit_test(B2_11_send_only_needs_no_program),
		cmocka_unit_test(B2_14_an_empty_fill_ring_recovers),
		cmocka_unit_test(two_ports_share_the_memory),
		cmocka_unit_test(the_same_interface_opens_again_at_once),
		cmocka_unit_test(passed_frames_reach_the_host_and_its_answers_leave),
		cmocka_unit_test(an_interface_that_disappears_is_an_error),
		cmocka_unit_test(refusals_name_the_reason_and_the_remedy),
		cmocka_unit_test(no_permission_is_said_with_a_remedy),
		cmocka_unit_test(SIGKILL_detaches),
		cmocka_unit_test(all_queues_are_served),
	};
	int rc = netns_enter();

	return rc ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
