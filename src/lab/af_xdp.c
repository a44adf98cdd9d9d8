/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table af_xdp: an AF_XDP port that receives from a kernel veth and drops, against DPDK's driver for the same
 * sockets. One generator sends the same number of frames into the same veth for each repeat; one receiver after the
 * other opens it, takes what comes, and gives it up again, so that a repeat of each meets the same machine.
 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "lab/cable.h"
#include "lab/rig.h"
#include "lab/testpmd.h"
#include "lab/traffic.h"
#include "port/kernel_if.h"

enum {
	GENERATOR_CPU = 0,
	CALIBRATE_FRAMES = 1 << 18,
	REPEAT_FACTOR =
		100, /* a repeat to one of a table in memory: opening takes some time itself */
	REPEATS_DIVISOR = 6,   /* of those repeats one in six, and two more */
	POLLS_A_LOOK = 256,    /* polls to one look at whether the generator has finished */
	DRAIN_NS = 5000000,    /* for what is in the kernel's rings when it has */
	RUN_NS_MAX = 60000000, /* thousands: no repeat takes a minute */
};

#define HEADROOM_MIN 1.3 /* below it the generator is what a row measures */

struct bench;

/* A row: one way of receiving. */
struct receiver {
	const char *name, *engine, *work;
	const char *options; /* keys of weir's port, or arguments of DPDK's device */
	/* Receives what the generator sends meanwhile: frames, and cycles a frame where they are known. */
	int (*receive)(struct bench *bench, const struct receiver *receiver,
		       struct testpmd_result *result);
};

struct row {
	struct bench *bench;
	const struct receiver *receiver;
	struct table_row *row;
	double cycles[MEASURE_REPEATS_MAX], loss[MEASURE_REPEATS_MAX];
	uint32_t n;
	char missing[sizeof(struct err)];
};

struct bench {
	struct cable cable;
	struct traffic *traffic;
	uint32_t cpu;
	uint64_t frames; /* a repeat */
	struct err err;
};

/* Receivers */

static int receive_sink(struct bench *bench, const struct receiver *receiver,
			struct testpmd_result *result)
{
	int link = traffic_sink(bench->cable.near), rc;

	(void)receiver;
	if (link < 0)
		return err_set(&bench->err, -link, "no XDP program on a veth: %s",
			       errno_name(link));
	rc = traffic_start(bench->traffic, bench->frames);
	if (!rc)
		rc = traffic_wait(bench->traffic);
	close(link);
	*result = (struct testpmd_result){ .received = bench->frames };
	return rc;
}

/* Polls until the generator has finished and nothing more comes; counts the cycles of the polls that gave frames. */
static void poll_all(struct bench *bench, struct engine *engine, struct testpmd_result *result)
{
	uint64_t busy = 0, received = 0, end = 0;
	uint64_t limit = clock_ns(CLOCK_MONOTONIC) + RUN_NS_MAX * UINT64_C(1000), now = 0;

	for (uint64_t i = 1; !end || now < end; i++) {
		uint64_t start = clock_cycles();
		uint32_t n = engine_poll(engine);

		if (n) {
			busy += clock_cycles() - start;
			received += n;
		}
		if (i % POLLS_A_LOOK)
			continue;
		now = clock_ns(CLOCK_MONOTONIC);
		if (!end && (traffic_done(bench->traffic) || now > limit))
			end = now + DRAIN_NS;
	}
	result->received = received;
	result->cycles = received ? (double)busy / (double)received : 0;
}

static int receive_weir(struct bench *bench, const struct receiver *receiver,
			struct testpmd_result *result)
{
	struct rig_cfg cfg = { .object = "drop", .engine = RIG_JIT };
	struct rig *rig;
	char port[128];
	int rc;

	snprintf(port, sizeof(port), "xdp:" CABLE_NEAR ",host=none%s", receiver->options);
	cfg.input = port;
	rc = rig_create(&rig, &cfg, &bench->err);
	if (rc)
		return rc;
	rc = traffic_start(bench->traffic, bench->frames);
	if (!rc)
		poll_all(bench, rig_engine(rig), result);
	rig_destroy(rig);
	return rc;
}

/* DPDK attaches its program without a link: it stays when the process is killed. */
static void program_remove(uint32_t ifindex)
{
	struct kernel_if_xdp xdp;

	if (!kernel_if_xdp(ifindex, &xdp) && xdp.prog_id)
		(void)kernel_if_xdp_detach(ifindex, xdp.mode);
}

static int receive_dpdk(struct bench *bench, const struct receiver *receiver,
			struct testpmd_result *result)
{
	struct testpmd *pmd;
	int rc = testpmd_open(&pmd, CABLE_NEAR, bench->cpu, GENERATOR_CPU, receiver->options,
			      &bench->err);

	if (rc) {
		program_remove(bench->cable.near);
		return rc;
	}
	rc = traffic_start(bench->traffic, bench->frames);
	if (!rc)
		rc = traffic_wait(bench->traffic);
	if (!rc)
		rc = testpmd_finish(pmd, result, &bench->err);
	testpmd_close(pmd);
	program_remove(bench->cable.near);
	return rc;
}

static const struct receiver receivers[] = {
	{ "generator", "kernel-live",
	  "live frames, redirected to a veth whose far end drops: what the generator can do", "",
	  receive_sink },
	{ "rx_drop", "weir", "AF_XDP copy mode: rx, run drop.o (jit), free", "", receive_weir },
	{ "rx_drop", "dpdk", "AF_XDP copy mode: testpmd rxonly with net_af_xdp", "", receive_dpdk },
	{ "rx_drop/busy_budget=0", "dpdk", "the same, the driver's busy polling off",
	  ",busy_budget=0", receive_dpdk },
};

enum { N_RECEIVERS = sizeof(receivers) / sizeof(receivers[0]) };

/* Measuring */

static double row_once(void *arg, uint64_t packets)
{
	struct row *row = arg;
	struct bench *bench = row->bench;
	struct testpmd_result result = { 0 };
	int64_t ns;
	int rc;

	(void)packets;
	if (row->missing[0])
		return -1;
	bench->err.text[0] = '\0';
	rc = row->receiver->receive(bench, row->receiver, &result);
	ns = rc ? rc : traffic_finish(bench->traffic);
	if (ns < 0 && !bench->err.text[0])
		err_set(&bench->err, (int)-ns, "the traffic generator did not finish: %s",
			errno_name((int)-ns));
	if (ns < 0)
		snprintf(row->missing, sizeof(row->missing), "%s", bench->err.text);
	if (ns <= 0 || !result.received)
		return -1;
	if (row->n < MEASURE_REPEATS_MAX) {
		row->cycles[row->n] = result.cycles;
		row->loss[row->n++] = 1 - (double)result.received / (double)bench->frames;
	}
	return (double)ns / (double)result.received;
}

/* As many frames a repeat as the generator sends in that time when nobody holds it up. */
static int calibrate(struct bench *bench, uint64_t repeat_ns, struct err *err)
{
	struct testpmd_result result;
	int64_t ns;
	int rc;

	bench->frames = CALIBRATE_FRAMES;
	rc = receive_sink(bench, NULL, &result);
	if (rc)
		return err_set(err, -rc, "%s", bench->err.text);
	ns = traffic_finish(bench->traffic);
	if (ns <= 0)
		return err_set(err, EIO, "BPF_PROG_TEST_RUN with live frames failed: %s",
			       errno_name((int)ns));
	bench->frames = (uint64_t)((double)CALIBRATE_FRAMES * (double)repeat_ns / (double)ns / 2);
	return 0;
}

/* What stands beside the figure: the generator's headroom, and what the figure is a measure of. */
static void describe(const struct table *table, struct row *row)
{
	const struct table_row *generator = table_row(table, "generator", "kernel-live");
	double lo, hi, headroom, cycles, loss;
	struct table_row *r = row->row;

	if (!r->m.n) {
		r->missing = strdup(row->missing[0] ? row->missing : "no figure");
		return;
	}
	if (r == generator || !generator)
		return;
	headroom = r->m.median / generator->m.median;
	cycles = measure_median(row->cycles, row->n, &lo, &hi);
	loss = measure_median(row->loss, row->n, &lo, &hi);
	json_object_set_new(r->params, "headroom", json_real(headroom));
	json_object_set_new(r->params, "bound",
			    json_string(headroom < HEADROOM_MIN ? "generator" : "receiving"));
	if (row->receiver->options[0])
		json_object_set_new(r->params, "options", json_string(row->receiver->options + 1));
	json_object_set_new(r->params, "cycles", json_real(cycles));
	json_object_set_new(r->params, "lost", json_real(loss));
	snprintf(r->note, sizeof(r->note),
		 "headroom of the generator %.2f%s, %.0f cycles a packet in the receiver, %.2f %% "
		 "lost",
		 headroom, headroom < HEADROOM_MIN ? " (generator-bound: compare cycles)" : "",
		 cycles, loss * 100);
}

static void measure(struct table *table, struct bench *bench, const struct measure_cfg *cfg)
{
	struct row *rows = calloc(N_RECEIVERS, sizeof(*rows));
	struct measure *measures[N_RECEIVERS];
	uint32_t n = 0;

	for (uint32_t i = 0; rows && i < N_RECEIVERS; i++) {
		const struct receiver *receiver = &receivers[i];
		struct table_row *row =
			table_add(table, receiver->name, receiver->engine, receiver->work);

		if (!row)
			break;
		rows[n] = (struct row){ .bench = bench, .receiver = receiver, .row = row };
		row->m.self_timed = row_once;
		row->m.arg = &rows[n];
		json_object_set_new(row->params, "frames", json_integer((int64_t)bench->frames));
		measures[n++] = &row->m;
	}
	measure_run(measures, n, cfg);
	for (uint32_t i = 0; i < n; i++)
		describe(table, &rows[i]);
	free(rows);
}

static void all_missing(struct table *table, const char *why)
{
	for (uint32_t i = 0; i < N_RECEIVERS; i++) {
		struct table_row *row =
			table_add(table, receivers[i].name, receivers[i].engine, receivers[i].work);

		if (row)
			row->missing = strdup(why);
	}
}

static int run(struct table *table, const struct measure_cfg *cfg, struct err *err)
{
	struct measure_cfg longer = { .repeats = cfg->repeats / REPEATS_DIVISOR + 2,
				      .repeat_ns = cfg->repeat_ns * REPEAT_FACTOR };
	struct bench bench = { .cpu = cpu_count() - 1 };
	int rc;

	if (cpu_count() < 2)
		rc = err_set(err, ENOTSUP, "a generator and a receiver need two CPUs");
	else
		rc = cable_open(&bench.cable, err);
	if (rc)
		goto out;
	rc = traffic_open(&bench.traffic, bench.cable.far, GENERATOR_CPU, err);
	if (rc)
		goto out_cable;
	rc = calibrate(&bench, longer.repeat_ns, err);
	if (!rc)
		measure(table, &bench, &longer);
	traffic_close(bench.traffic);
out_cable:
	cable_close(&bench.cable);
out:
	if (rc)
		all_missing(table, err->text);
	return 0;
}

const struct table_kind table_af_xdp = { "af_xdp", run };
