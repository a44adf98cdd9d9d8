/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job of the README's first command: a real object on the built-in capture. Each packet once, with what became
 * of it, a line a kind of packet; then as many as fit into a moment, for the rate.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/bench.h>

#include "base/clock.h"
#include "ctl/instance.h"
#include "lab/rig.h"
#include "port/mem.h"

enum { KINDS_MAX = 64, RATE_NS = 300000000 };

/* xdp-filter as Debian packages it, told to drop UDP to port 53: its keys are ports in network order, and the value is the
 * flags "destination" and "UDP". */
#define FILTER	     "/usr/lib/x86_64-linux-gnu/bpf/xdpfilt_alw_udp.o"
#define FILTER_STATE "filter_ports[0x3500]=0x0a"

struct kind {
	const char *name;
	uint32_t verdicts[6]; /* by XDP action; 5: any other */
	uint32_t aborted;
};

static const char *const actions[] = { "ABORTED", "DROP", "PASS", "TX", "REDIRECT", "illegal" };

static struct kind *kind_of(struct kind *kinds, const char *name)
{
	uint32_t i = 0;

	while (kinds[i].name && strcmp(kinds[i].name, name) != 0)
		i++;
	if (i == KINDS_MAX - 1)
		return &kinds[i];
	kinds[i].name = name;
	return &kinds[i];
}

static uint32_t fill_burst(struct engine *engine, struct frame **frames, uint32_t first)
{
	uint32_t n = engine_alloc(engine, frames, BURST_MAX);

	for (uint32_t i = 0; i < n; i++) {
		const struct sample_packet *p = sample_at((first + i) % sample_count());

		(void)frame_fill(frames[i], p->bytes, p->len); /* none is longer than a frame */
	}
	return n;
}

/* Every packet of the capture, in a poll of its own. */
static int run_each(struct engine *engine, struct port *in, struct kind *kinds, struct err *err)
{
	struct outcome *outcome = malloc(sizeof(*outcome));
	struct frame *frame;

	if (!outcome)
		return err_set(err, ENOMEM, "no memory for the demonstration");
	for (uint32_t i = 0; i < sample_count() && engine_alloc(engine, &frame, 1) == 1; i++) {
		const struct sample_packet *p = sample_at(i);

		(void)frame_fill(frame, p->bytes, p->len);
		engine_poll_frames(engine, in, &frame, 1, outcome);
		kind_of(kinds, p->kind)->verdicts[outcome->verdict > 4 ? 5 : outcome->verdict]++;
	}
	free(outcome);
	return 0;
}

static void print_kinds(const struct kind *kinds, FILE *out)
{
	fprintf(out, "%-26s", "packet");
	for (uint32_t a = 0; a < 5; a++)
		fprintf(out, " %9s", actions[a]);
	fprintf(out, "\n");
	for (uint32_t i = 0; kinds[i].name; i++) {
		fprintf(out, "%-26s", kinds[i].name);
		for (uint32_t a = 0; a < 5; a++)
			if (kinds[i].verdicts[a])
				fprintf(out, " %9u", kinds[i].verdicts[a]);
			else
				fprintf(out, " %9s", ".");
		fprintf(out, "\n");
	}
}

/* Packets a second through the same engine, the copy of each packet's bytes into its frame included. */
static double rate(struct engine *engine, struct port *in)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), now, done = 0;
	struct frame *frames[BURST_MAX];

	do {
		uint32_t n = fill_burst(engine, frames, (uint32_t)done);

		if (!n)
			break;
		engine_poll_frames(engine, in, frames, n, NULL);
		done += n;
		now = clock_ns(CLOCK_MONOTONIC);
	} while (now - start < RATE_NS);
	return (double)done * 1e9 / (double)(clock_ns(CLOCK_MONOTONIC) - start);
}

static int open_demo(struct weir **ret, const char *object, struct weir_error *err)
{
	struct weir_opts opts = { .size = sizeof(opts) };
	bool filter = !object && !access(FILTER, R_OK);
	char path[4096];
	struct weir *weir;
	int rc;

	if (filter)
		object = FILTER;
	else if (!object)
		object = rig_object_path("xdp1", path, sizeof(path));
	rc = weir_create(&weir, &opts, err);
	if (rc)
		return rc;
	rc = weir_port_add(weir, WEIR_PORT_IN, NULL, "sample", err);
	if (!rc)
		rc = weir_object_open(weir, object, NULL, err);
	if (!rc && filter)
		rc = weir_state_map(weir, FILTER_STATE, err);
	if (!rc)
		rc = weir_object_load(weir, err);
	if (rc) {
		weir_destroy(weir);
		return rc;
	}
	*ret = weir;
	return 0;
}

static void print_setup(const struct weir *weir, FILE *out)
{
	const struct prog *prog = weir->prog;

	fprintf(out, "object   %s\n", object_path(weir->object));
	fprintf(out, "program  %s, %u instructions, %s\n", prog->po.name, prog->n_insns,
		prog->engine == ENGINE_JIT ? "compiled (jit)" : "interpreted");
	if (!strcmp(object_path(weir->object), FILTER))
		fprintf(out, "state    %s   (drop UDP to port 53)\n", FILTER_STATE);
	fprintf(out, "packets  the built-in capture: %u packets\n\n", sample_count());
}

int weir_demo(const char *object, FILE *out, struct weir_error *err)
{
	struct kind kinds[KINDS_MAX + 1] = { 0 };
	struct engine_totals totals;
	struct weir *weir;
	struct port *in;
	double pps;
	int rc = open_demo(&weir, object, err);

	if (rc)
		return rc;
	in = engine_port_at(weir->engine, 0);
	print_setup(weir, out);
	rc = run_each(weir->engine, in, kinds, instance_err(err));
	if (!rc) {
		print_kinds(kinds, out);
		pps = rate(weir->engine, in);
		engine_totals(weir->engine, &totals);
		fprintf(out,
			"\n%.1f million packets a second on one core (%.0f ns each): %llu "
			"received\n",
			pps / 1e6, 1e9 / pps, (unsigned long long)totals.received);
	}
	weir_destroy(weir);
	return rc;
}
