/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine driven by the caller: verdicts, redirect errors, egress programs, bulk order, accounting. */
#include "engine/fake_test.h"

#include <errno.h>

enum { IN = 1, OUT = 2, OUT2 = 3 }; /* ifindexes */

struct bench {
	struct engine *engine;
	struct fake_port *in, *out, *out2;
	struct prog prog;
};

static void setup(struct bench *b, const struct engine_cfg *cfg, bool redirects)
{
	struct engine_cfg small = cfg ? *cfg : (struct engine_cfg){ 0 };

	small.n_frames = 8192;
	b->engine = fake_engine(&small);
	b->in = fake_add(b->engine, "in", IN, true);
	b->out = fake_add(b->engine, "out", OUT, false);
	b->out2 = fake_add(b->engine, "out2", OUT2, false);
	fake_prog(&b->prog, fake_run_one, redirects);
	engine_attach(b->engine, &b->in->port, &b->prog);
	memset(fake_entries, 0, sizeof(fake_entries));
	for (uint32_t i = 0; i < FAKE_ENTRIES; i++) {
		fake_entries[i].val.ifindex = i;
		fake_entries[i].index = i;
		fake_entries[i].map_id = 42;
	}
}

static void teardown(struct bench *b)
{
	struct engine_totals t;

	fake_check_identity(b->engine, &t);
	assert_int_equal(engine_destroy(b->engine), 0);
	assert_int_equal(b->prog.po.obj.refs, 1);
	obj_put(&b->prog.po.obj);
}

static void poll_one(struct bench *b, struct frame *f, struct outcome *o)
{
	engine_poll_frames(b->engine, &b->in->port, &f, 1, o);
}

/* One packet a row; the fields of totals that it moves. */
static void check_verdicts(bool redirects, bool traced)
{
	static const struct {
		uint8_t verdict;
		uint8_t step;
		uint64_t passed, aborted, transmitted;
		int reason; /* -1: not dropped */
	} rows[] = {
		{ XDP_ABORTED, 0, 0, 1, 0, -1 },
		{ XDP_DROP, 0, 0, 0, 0, DROP_XDP_DROP },
		{ XDP_PASS, 0, 1, 0, 0, -1 },
		{ XDP_TX, 0, 0, 0, 1, -1 },
		{ XDP_REDIRECT, 0, 0, 0, 0, DROP_REDIRECT_EBADRQC },
		{ 5, 0, 0, 1, 0, -1 },
		{ 255, 0, 0, 1, 0, -1 },
		{ XDP_PASS, STEP_FAULT, 0, 1, 0, -1 },
	};
	static struct outcome o;

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine_totals t;
		struct fault fault;
		struct bench b;

		setup(&b, NULL, redirects);
		poll_one(&b, fake_frame(b.engine, rows[i].verdict, rows[i].step, 0, 0, 60),
			 traced ? &o : NULL);
		fake_check_identity(b.engine, &t);
		assert_int_equal(t.received, 1);
		assert_int_equal(t.passed, rows[i].passed);
		assert_int_equal(t.aborted, rows[i].aborted);
		assert_int_equal(t.transmitted, rows[i].transmitted);
		assert_int_equal(b.in->n_tx, rows[i].transmitted);
		assert_int_equal(fake_sum_dropped(&t), rows[i].reason >= 0);
		if (rows[i].reason >= 0)
			assert_int_equal(t.dropped[rows[i].reason], 1);
		assert_int_equal(engine_faults(b.engine, &fault), rows[i].step == STEP_FAULT);
		if (rows[i].step == STEP_FAULT)
			assert_int_equal(fault.insn, 5);
		if (traced) {
			assert_int_equal(o.verdict, rows[i].step ? XDP_ABORTED : rows[i].verdict);
			assert_int_equal(o.dropped, rows[i].reason >= 0);
			assert_int_equal(o.fault.reason,
					 rows[i].step ? FAULT_BAD_ACCESS : FAULT_NONE);
			assert_ptr_equal(o.to, rows[i].transmitted ? &b.in->port : NULL);
		}
		teardown(&b);
	}
}

static void test_verdicts(void **state)
{
	for (int i = 0; i < 4; i++)
		check_verdicts(i & 1, i & 2);
}

static void test_pass_without_program_and_with_host(void **state)
{
	struct engine_totals t;
	struct bench b;

	setup(&b, NULL, false);
	engine_attach(b.engine, &b.in->port, NULL);
	poll_one(&b, fake_frame(b.engine, XDP_DROP, 0, 0, 0, 60), NULL);
	b.in->port.ops = &fake_host_ops;
	poll_one(&b, fake_frame(b.engine, XDP_DROP, 0, 0, 0, 60), NULL);
	assert_int_equal(b.in->n_passed, 1);
	fake_check_identity(b.engine, &t);
	assert_int_equal(t.passed, 2);
	teardown(&b);
}

static void test_from_host_is_received_and_transmitted(void **state)
{
	struct engine_totals t;
	struct bench b;

	setup(&b, NULL, false);
	b.out->port.ops = &fake_host_ops;
	for (uint32_t i = 0; i < 3; i++)
		b.out->host_tx[b.out->n_host_tx++] = fake_frame(b.engine, XDP_DROP, 0, 0, i, 60);
	assert_int_equal(engine_poll(b.engine), 3);
	assert_int_equal(b.out->n_tx, 3);
	fake_check_identity(b.engine, &t);
	assert_int_equal(t.received, 3);
	assert_int_equal(t.transmitted, 3);
	teardown(&b);
}

static void test_tx_on_a_port_that_only_receives(void **state)
{
	static struct outcome o;
	struct engine_totals t;
	struct bench b;

	for (int traced = 0; traced < 2; traced++) {
		setup(&b, NULL, false);
		b.in->port.can_tx = false;
		poll_one(&b, fake_frame(b.engine, XDP_TX, 0, 0, 0, 60), traced ? &o : NULL);
		fake_check_identity(b.engine, &t);
		assert_int_equal(t.dropped[DROP_TX_NO_PORT], 1);
		teardown(&b);
	}
	assert_true(o.dropped && o.reason == DROP_TX_NO_PORT && !o.to);
}

/* The errno table of xdp-semantics 2.4, in its order: what is broken, and who wins. */
static void test_redirect_errnos(void **state)
{
	static const struct {
		uint8_t step, target;
		bool up, can_xmit;
		uint32_t len;
		int error;
		enum drop_reason reason;
	} rows[] = {
		{ STEP_REDIRECT, OUT, true, true, 60, 0, 0 },
		{ STEP_MAP, OUT, true, true, 60, 0, 0 },
		{ STEP_REDIRECT, OUT, true, true, 118, 0, 0 }, /* mtu 100 + 14 + 4 */
		{ STEP_REDIRECT, OUT, true, true, 119, -EMSGSIZE, DROP_REDIRECT_EMSGSIZE },
		{ STEP_MAP, OUT, true, true, 119, -EMSGSIZE, DROP_REDIRECT_EMSGSIZE },
		{ STEP_MAP, OUT, false, true, 119, -ENETDOWN, DROP_REDIRECT_ENETDOWN },
		{ STEP_MAP, OUT, false, false, 119, -EOPNOTSUPP, DROP_REDIRECT_EOPNOTSUPP },
		{ STEP_REDIRECT, 99, false, false, 119, -EINVAL, DROP_REDIRECT_EINVAL },
		{ STEP_REDIRECT, 0, true, true, 60, -EINVAL, DROP_REDIRECT_EINVAL },
		{ STEP_NO_HEADROOM, 99, true, true, 60, -EOVERFLOW, DROP_REDIRECT_EOVERFLOW },
		{ STEP_NONE, 0, true, true, 60, -EBADRQC, DROP_REDIRECT_EBADRQC },
		{ STEP_MAP_MISS, 0, true, true, 60, -EINVAL, DROP_REDIRECT_EINVAL },
		{ STEP_BROADCAST, 0, true, true, 60, -EOPNOTSUPP, DROP_REDIRECT_MAP_TYPE },
		{ STEP_CPUMAP, 0, true, true, 60, -EOPNOTSUPP, DROP_REDIRECT_MAP_TYPE },
	};
	static struct outcome o;

	for (uint32_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		bool traced = i & 1;
		uint32_t r = i / 2;
		struct engine_totals t;
		struct bench b;

		setup(&b, NULL, true);
		fake_set_if(b.engine, OUT, rows[r].up, rows[r].can_xmit, 100);
		poll_one(&b,
			 fake_frame(b.engine, XDP_REDIRECT, rows[r].step, rows[r].target, 0,
				    rows[r].len),
			 traced ? &o : NULL);
		fake_check_identity(b.engine, &t);
		assert_int_equal(t.transmitted, !rows[r].error);
		assert_int_equal(b.out->n_tx, !rows[r].error);
		if (rows[r].error)
			assert_int_equal(t.dropped[rows[r].reason], 1);
		if (traced) {
			assert_int_equal(o.error, rows[r].error);
			assert_int_equal(o.dropped, rows[r].error != 0);
			assert_ptr_equal(o.to, rows[r].error ? NULL : &b.out->port);
			assert_int_equal(o.map_id, rows[r].step == STEP_MAP	    ? 42
						   : rows[r].step == STEP_BROADCAST ? 7
						   : rows[r].step == STEP_CPUMAP    ? 8
										    : 0);
			if (rows[r].error)
				assert_int_equal(o.reason, rows[r].reason);
			if (rows[r].step == STEP_MAP)
				assert_int_equal(o.map_key, rows[r].target);
		}
		teardown(&b);
	}
}

/* xdp-semantics 2.2.6: a target outlives a run that did not use it, is used up by a redirect (but for
 * tgt_index), and does not outlive the poll. */
static void test_stale_targets(void **state)
{
	static struct outcome o[5];
	struct frame *frames[5];
	struct bench b;

	setup(&b, NULL, true);
	frames[0] = fake_frame(b.engine, XDP_PASS, STEP_MAP, OUT, 0, 60);
	frames[1] = fake_frame(b.engine, XDP_REDIRECT, STEP_NONE, 0, 1, 60);
	frames[2] = fake_frame(b.engine, XDP_REDIRECT, STEP_NONE, 0, 2, 60);
	frames[3] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP_MISS, 0, 3, 60);
	frames[4] = fake_frame(b.engine, XDP_PASS, STEP_MAP, OUT, 4, 60);
	engine_poll_frames(b.engine, &b.in->port, frames, 5, o);
	assert_ptr_equal(o[1].to, &b.out->port);
	assert_int_equal(o[2].error, -EBADRQC);
	assert_ptr_equal(o[3].to, &b.out->port); /* the miss left key OUT in tgt_index */
	poll_one(&b, fake_frame(b.engine, XDP_REDIRECT, STEP_NONE, 0, 5, 60), o);
	assert_int_equal(o[0].error, -EBADRQC);
	frames[0] = fake_frame(b.engine, XDP_REDIRECT, STEP_REDIRECT, OUT, 6, 60);
	frames[1] = fake_frame(b.engine, XDP_REDIRECT, STEP_NONE, 0, 7, 60);
	engine_poll_frames(b.engine, &b.in->port, frames, 2, o);
	assert_ptr_equal(o[0].to, &b.out->port);
	assert_int_equal(o[1].error, -EBADRQC);
	teardown(&b);
}

/* xdp-semantics 3.4: the 17th frame sends 16; the rest goes at the end, the port first used last. */
static void test_bulks_of_16(void **state)
{
	struct frame *frames[40];
	struct bench b;

	setup(&b, NULL, true);
	for (uint32_t i = 0; i < 40; i++)
		frames[i] = fake_frame(b.engine, XDP_REDIRECT, i & 1 ? STEP_REDIRECT : STEP_MAP,
				       i < 35 ? OUT : OUT2, i, 60);
	engine_poll_frames(b.engine, &b.in->port, frames, 40, NULL);
	assert_int_equal(b.out->n_calls, 3);
	assert_int_equal(b.out->calls[0], 16);
	assert_int_equal(b.out->calls[1], 16);
	assert_int_equal(b.out->calls[2], 3);
	assert_int_equal(b.out2->n_calls, 1);
	assert_int_equal(b.out2->calls[0], 5);
	assert_true(b.out2->last_call < b.out->last_call);
	for (uint32_t i = 0; i < 35; i++)
		assert_int_equal(fake_seq(b.out->tx[i]), i);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(fake_seq(b.out2->tx[i]), 35 + i);
	teardown(&b);
}

static void test_exactly_16_wait_for_the_flush(void **state)
{
	struct frame *frames[17];
	struct bench b;

	setup(&b, NULL, true);
	for (uint32_t i = 0; i < 16; i++)
		frames[i] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP, OUT, i, 60);
	frames[16] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP, OUT2, 16, 60);
	engine_poll_frames(b.engine, &b.in->port, frames, 17, NULL);
	assert_int_equal(b.out->n_calls, 1);
	assert_int_equal(b.out->calls[0], 16);
	assert_true(b.out->last_call > b.out2->last_call);
	teardown(&b);
}

static void test_flush_packet(void **state)
{
	struct engine_cfg cfg = { .flush = FLUSH_PACKET };
	struct frame *frames[20];
	struct bench b;

	setup(&b, &cfg, true);
	for (uint32_t i = 0; i < 20; i++)
		frames[i] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP, OUT, i, 60);
	engine_poll_frames(b.engine, &b.in->port, frames, 20, NULL);
	assert_int_equal(b.out->n_calls, 20);
	assert_true(b.out->n_flushes >= 20);
	teardown(&b);
}

/* Ends a packet as byte 3 says, after it has looked at its context and written byte 8. */
static uint32_t egress_run_one(const struct prog *prog, struct run_ctx *rc, struct frame *f)
{
	assert_int_equal(f->ingress_ifindex, IN);
	assert_int_equal(f->egress_ifindex, OUT);
	assert_int_equal(f->rx_queue_index, 0);
	f->data[8] = 0xee;
	f->data[9] = (uint8_t)prog->gpl;
	return f->data[3];
}

static void check_egress(bool traced)
{
	static struct outcome outcomes[40];
	struct engine_port_totals pt;
	struct frame *frames[40];
	struct prog egress[2];
	struct engine_totals t;
	struct bench b;

	setup(&b, NULL, true);
	for (uint32_t i = 0; i < 2; i++) {
		fake_prog(&egress[i], egress_run_one, false);
		egress[i].gpl = i; /* which one it was, in byte 9 */
		fake_entries[4 + i].val.ifindex = OUT;
		fake_entries[4 + i].prog = &egress[i].po;
	}
	for (uint32_t i = 0; i < 40; i++) {
		/* Entries 4 and 5 have programs, entry OUT has none, all lead to one port. */
		uint8_t entry = i % 8 == 7 ? OUT : i % 8 < 4 ? 4 : 5;

		frames[i] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP, entry, i, 60);
		frames[i]->data[3] = (uint8_t)(i % 6); /* 0, 3, 4, 5: EGRESS_ABORTED */
		frames[i]->rx_queue_index = 9;
	}
	engine_poll_frames(b.engine, &b.in->port, frames, 40, traced ? outcomes : NULL);
	fake_check_identity(b.engine, &t);
	/* 5 without a program; of the other 35 those with i % 6 == 2 pass and 1 drops. */
	for (uint32_t i = 0, n = 0; i < 40; i++) {
		bool bare = i % 8 == 7;

		if (traced) {
			assert_ptr_equal(outcomes[i].egress, bare ? NULL : &egress[i % 8 >= 4]);
			assert_int_equal(outcomes[i].bytes[8], bare ? 0 : 0xee);
			assert_int_equal(outcomes[i].dropped, !bare && i % 6 != XDP_PASS);
			assert_ptr_equal(outcomes[i].to, &b.out->port);
			if (outcomes[i].dropped)
				assert_int_equal(outcomes[i].reason, i % 6 == XDP_DROP
									     ? DROP_EGRESS_DROP
									     : DROP_EGRESS_ABORTED);
		}
		if (!bare && i % 6 != XDP_PASS)
			continue;
		assert_int_equal(fake_seq(b.out->tx[n]), i);
		assert_int_equal(b.out->tx[n]->data[8], bare ? 0 : 0xee);
		assert_int_equal(b.out->tx[n]->data[9], bare ? 0 : i % 8 >= 4);
		assert_int_equal(b.out->tx[n++]->egress_ifindex, 0);
	}
	assert_int_equal(
		t.dropped[DROP_EGRESS_DROP] + t.dropped[DROP_EGRESS_ABORTED] + t.transmitted, 40);
	assert_true(t.dropped[DROP_EGRESS_DROP] > 0 && t.transmitted > 5);
	engine_port_totals(b.engine, &b.out->port, &pt);
	assert_int_equal(pt.dropped, 40 - t.transmitted);
	teardown(&b);
	obj_put(&egress[0].po.obj);
	obj_put(&egress[1].po.obj);
}

static void test_egress_programs(void **state)
{
	check_egress(false);
	check_egress(true);
}

/* What a port loses in tx has a reason, and an errno in the outcome. */
static void test_tx_losses(void **state)
{
	static struct outcome o[4];
	struct frame *frames[4];
	struct engine_totals t;
	struct bench b;

	setup(&b, NULL, true);
	b.out->ring = 3;
	for (uint32_t i = 0; i < 4; i++)
		frames[i] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP, OUT, i, 60);
	engine_poll_frames(b.engine, &b.in->port, frames, 4, o);
	fake_check_identity(b.engine, &t);
	assert_int_equal(t.in_flight, 3);
	assert_int_equal(t.dropped[DROP_TX_RING_FULL], 1);
	assert_false(o[2].dropped);
	assert_true(o[3].dropped && o[3].reason == DROP_TX_RING_FULL && o[3].error == -ENOSPC);
	teardown(&b);
}

static void test_outcome_bytes(void **state)
{
	static struct outcome o;
	struct frame *f;
	struct bench b;

	setup(&b, NULL, true);
	f = fake_frame(b.engine, XDP_DROP, 0, 0, 77, 200);
	f->data_meta -= 8;
	memset(f->data_meta, 0xaa, 8);
	poll_one(&b, f, &o);
	assert_int_equal(o.len, 200);
	assert_int_equal(o.meta_len, 8);
	assert_int_equal(o.bytes[7], 0xaa);
	assert_int_equal(o.bytes[8], XDP_DROP);
	assert_int_equal(o.bytes[8 + 7], 77);
	teardown(&b);
}

static uint32_t rng;

static uint32_t rnd(uint32_t below)
{
	rng = rng * 1664525u + 1013904223u;
	return (rng >> 8) % below;
}

/* Any verdict, any step, any target, rings that overflow: the identity holds after every burst. */
static void check_accounting(const struct engine_cfg *cfg, uint32_t seed)
{
	struct engine_totals t;
	struct bench b;
	struct prog egress;

	rng = seed;
	setup(&b, cfg, true);
	fake_prog(&egress, fake_run_one, false);
	b.out2->ring = 500;
	b.in->port.ops = &fake_host_ops;
	for (uint32_t i = 0; i < FAKE_ENTRIES; i++) {
		fake_entries[i].val.ifindex = i % 5;
		fake_entries[i].prog = i % 2 ? &egress.po : NULL;
	}
	for (uint32_t round = 0; round < 60; round++) {
		struct frame *frames[BURST_MAX];
		uint32_t n = rnd(BURST_MAX + 1);

		for (uint32_t i = 0; i < n; i++)
			frames[i] = fake_frame(b.engine, (uint8_t)rnd(7),
					       (uint8_t)rnd(STEP_NO_HEADROOM + 1),
					       (uint8_t)rnd(FAKE_ENTRIES), i, rnd(10) ? 60 : 1600);
		engine_poll_frames(b.engine, &b.in->port, frames, n, NULL);
		fake_check_identity(b.engine, &t);
	}
	assert_true(t.transmitted && t.passed && t.aborted && t.in_flight);
	assert_true(t.dropped[DROP_EGRESS_ABORTED] && t.dropped[DROP_REDIRECT_EMSGSIZE]);
	teardown(&b);
	obj_put(&egress.po.obj);
}

static void test_accounting_identity(void **state)
{
	for (uint32_t i = 0; i < 12; i++) {
		struct engine_cfg cfg = { .flush = i & 1,
					  .prefetch = i / 2 % 3,
					  .prefetch_distance = i ? i * 5 : 0 };

		check_accounting(&cfg, 1000 + i);
	}
}

/* Prefetching cuts the burst into pieces; each frame is run once, in order. */
static void test_prefetch_keeps_order(void **state)
{
	for (uint32_t distance = 1; distance <= BURST_MAX; distance++) {
		struct engine_cfg cfg = { .prefetch = PREFETCH_READ,
					  .prefetch_distance = distance };
		struct frame *frames[BURST_MAX];
		struct bench b;

		setup(&b, &cfg, true);
		for (uint32_t i = 0; i < 50; i++)
			frames[i] = fake_frame(b.engine, XDP_REDIRECT, STEP_MAP, OUT, i, 60);
		engine_poll_frames(b.engine, &b.in->port, frames, 50, NULL);
		assert_int_equal(b.out->n_tx, 50);
		for (uint32_t i = 0; i < 50; i++)
			assert_int_equal(fake_seq(b.out->tx[i]), i);
		teardown(&b);
	}
}

static void test_bad_options(void **state)
{
	static const struct engine_cfg rows[] = {
		{ .burst = BURST_MAX + 1 },
		{ .prefetch_distance = BURST_MAX + 1 },
		{ .cpu = 1u << 20 },
	};

	for (uint32_t i = 0; i < 3; i++) {
		struct engine *engine = (void *)1;
		struct err err = { 0 };

		assert_int_equal(engine_create(&engine, &rows[i], &err), -EINVAL);
		assert_ptr_equal(engine, (void *)1);
		assert_true(err.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_pass_without_program_and_with_host),
		cmocka_unit_test(test_from_host_is_received_and_transmitted),
		cmocka_unit_test(test_tx_on_a_port_that_only_receives),
		cmocka_unit_test(test_redirect_errnos),
		cmocka_unit_test(test_stale_targets),
		cmocka_unit_test(test_bulks_of_16),
		cmocka_unit_test(test_exactly_16_wait_for_the_flush),
		cmocka_unit_test(test_flush_packet),
		cmocka_unit_test(test_egress_programs),
		cmocka_unit_test(test_tx_losses),
		cmocka_unit_test(test_outcome_bytes),
		cmocka_unit_test(test_accounting_identity),
		cmocka_unit_test(test_prefetch_keeps_order),
		cmocka_unit_test(test_bad_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
