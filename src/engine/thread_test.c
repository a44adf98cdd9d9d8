/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine in a thread: its ends, its limit, its sleep, and edits of net while it runs. */
#include "engine/fake_test.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { IN = 1, OUT = 2, DEADLINE_MS = 10000 };

struct bench {
	struct engine *engine;
	struct fake_port *in, *out;
	struct prog prog;
};

static void setup(struct bench *b, uint32_t n_frames, int end)
{
	struct engine_cfg cfg = { .n_frames = 8192 };

	b->engine = fake_engine(&cfg);
	b->in = fake_add(b->engine, "in", IN, true);
	b->out = fake_add(b->engine, "out", OUT, false);
	fake_prog(&b->prog, fake_run_one, true);
	engine_attach(b->engine, &b->in->port, &b->prog);
	for (uint32_t i = 0; i < n_frames; i++)
		b->in->rx[b->in->n_rx++] =
			fake_frame(b->engine, XDP_REDIRECT, STEP_REDIRECT, OUT, i, 60);
	b->in->end = end;
}

static void teardown(struct bench *b)
{
	struct engine_totals t;

	fake_check_identity(b->engine, &t);
	assert_int_equal(engine_destroy(b->engine), 0);
	obj_put(&b->prog.po.obj);
}

static void start(struct bench *b)
{
	struct err err = { 0 };

	if (engine_start(b->engine, &err))
		fail_msg("%s", err.text);
}

static void pause_ms(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

static void wait_done(struct bench *b)
{
	for (int i = 0; i < DEADLINE_MS && !engine_done(b->engine); i++)
		pause_ms();
	assert_true(engine_done(b->engine));
}

static void wait_received(struct bench *b, uint64_t n)
{
	struct engine_totals t = { 0 };

	for (int i = 0; i < DEADLINE_MS && t.received < n; i++) {
		pause_ms();
		engine_totals(b->engine, &t);
	}
	assert_int_equal(t.received, n);
}

static void test_runs_to_the_end_of_its_inputs(void **state)
{
	struct engine_totals t;
	struct bench b;

	setup(&b, 5000, PORT_EOF);
	start(&b);
	wait_done(&b);
	engine_stop(b.engine);
	fake_check_identity(b.engine, &t);
	assert_int_equal(t.received, 5000);
	assert_int_equal(t.transmitted, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(fake_seq(b.out->tx[i]), i);
	assert_int_equal(engine_input_error(b.engine, NULL), 0);
	teardown(&b);
}

static void test_limit_is_exact(void **state)
{
	static const uint64_t limits[] = { 1, 63, 64, 65, 777 };
	struct engine_totals t;
	struct bench b;

	for (uint32_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		setup(&b, 2000, 0);
		engine_limit(b.engine, limits[i]);
		start(&b);
		wait_done(&b);
		engine_stop(b.engine);
		fake_check_identity(b.engine, &t);
		assert_int_equal(t.received, limits[i]);
		assert_int_equal(b.in->rx_next, limits[i]);
		teardown(&b);
	}
}

static void test_lost_input(void **state)
{
	struct err err = { 0 };
	struct bench b;

	setup(&b, 10, -ENODEV);
	start(&b);
	wait_done(&b);
	engine_stop(b.engine);
	assert_int_equal(engine_input_error(b.engine, &err), -ENODEV);
	assert_non_null(strstr(err.text, "port in:"));
	assert_non_null(strstr(err.text, "ENODEV"));
	teardown(&b);
}

static void test_stop_is_idempotent_and_restart_works(void **state)
{
	struct engine_totals t;
	struct err err = { 0 };
	struct bench b;

	setup(&b, 100, 0);
	engine_stop(b.engine);
	start(&b);
	assert_int_equal(engine_start(b.engine, &err), -EBUSY);
	wait_received(&b, 100);
	engine_stop(b.engine);
	engine_stop(b.engine);
	b.in->rx[b.in->n_rx++] = fake_frame(b.engine, XDP_DROP, 0, 0, 0, 60);
	start(&b);
	wait_received(&b, 101);
	engine_stop(b.engine);
	fake_check_identity(b.engine, &t);
	assert_int_equal(t.dropped[DROP_XDP_DROP], 1);
	teardown(&b);
}

static void test_start_without_inputs(void **state)
{
	struct engine_cfg cfg = { .n_frames = 512 };
	struct engine *engine = fake_engine(&cfg);
	struct err err = { 0 };

	fake_add(engine, "out", OUT, false);
	assert_int_equal(engine_start(engine, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--in"));
	assert_int_equal(engine_destroy(engine), 0);
}

/* A port that gives one frame a byte in its pipe, and can be slept on. */
static int pipe_fds[2];

static int pipe_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	static const uint8_t drop[60] = { XDP_DROP };
	uint8_t byte;

	if (read(pipe_fds[0], &byte, 1) != 1)
		return 0;
	assert_int_equal(pool_alloc(cache, frames, 1), 1);
	assert_int_equal(frame_fill(frames[0], drop, sizeof(drop)), 0);
	return 1;
}

static int pipe_poll_fds(struct port *port, int *fds, int n)
{
	fds[0] = pipe_fds[0];
	return 1;
}

static void test_sleeps_and_wakes(void **state)
{
	static const struct port_ops ops = {
		.kind = "pipe", .close = fake_close, .rx = pipe_rx, .poll_fds = pipe_poll_fds
	};
	struct timespec from, to;
	struct bench b;

	assert_int_equal(pipe2(pipe_fds, O_NONBLOCK), 0);
	setup(&b, 0, 0);
	b.in->port.ops = &ops;
	start(&b);
	for (uint32_t i = 1; i <= 10; i++) {
		assert_int_equal(write(pipe_fds[1], "x", 1), 1);
		wait_received(&b, i);
	}
	/* Asleep, the thread uses next to no time. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (uint32_t i = 0; i < 100; i++)
		pause_ms();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_true((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec < 50000000);
	engine_stop(b.engine);
	teardown(&b);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Interfaces go down and come up, totals are read, while frames are redirected. */
static void test_net_edits_while_running(void **state)
{
	struct engine_totals t;
	struct bench b;

	setup(&b, 7000, PORT_EOF);
	start(&b);
	for (uint32_t i = 0; i < 400 || !engine_done(b.engine); i++) {
		fake_set_if(b.engine, OUT, i & 1, true, 1500);
		engine_totals(b.engine, &t);
		assert_true(t.received <= 7000);
	}
	engine_stop(b.engine);
	fake_check_identity(b.engine, &t);
	assert_int_equal(t.received, 7000);
	assert_int_equal(t.transmitted + t.dropped[DROP_REDIRECT_ENETDOWN], 7000);
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_to_the_end_of_its_inputs),
		cmocka_unit_test(test_limit_is_exact),
		cmocka_unit_test(test_lost_input),
		cmocka_unit_test(test_stop_is_idempotent_and_restart_works),
		cmocka_unit_test(test_start_without_inputs),
		cmocka_unit_test(test_sleeps_and_wakes),
		cmocka_unit_test(test_net_edits_while_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
