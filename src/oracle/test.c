/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `weir test`: a program on the packets of a capture, what became of each, and how that compares with what was
 * expected and with the kernel. See include/weir/test.h.
 */
#include "oracle/compare.h"
#include "oracle/expect.h"
#include "oracle/packets.h"
#include "oracle/test_run.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <weir/test.h>

enum { VERDICTS = XDP_REDIRECT + 2 }; /* the last counts what is no verdict */

static const char indent[] = "         ";

struct test {
	struct weir *weir;
	struct weir_test_opts opts;
	struct weir_test_result *result;
	struct test_run *run;
	struct packets *in;
	struct capture *out;
	struct expect *expect;
	struct compare *kernel;
	uint64_t verdicts[VERDICTS];
	uint64_t faults, not_sent;
};

/* The report as text, or NULL when it is JSON. */
static FILE *text_out(const struct test *t)
{
	return t->opts.json ? NULL : t->opts.report;
}

static void count(struct test *t, const struct result *r)
{
	t->result->frames++;
	t->verdicts[r->code < VERDICTS ? r->code : VERDICTS - 1]++;
	t->not_sent += r->error != NULL;
	t->faults += !r->code && *r->reason;
}

static void report(struct test *t, const struct result *r)
{
	json_t *object;

	if (!t->opts.report)
		return;
	if (!t->opts.json) {
		if (!t->opts.quiet)
			result_print(r, t->opts.report);
		return;
	}
	object = result_json(r);
	fputs(t->result->frames > 1 ? ",\n" : "", t->opts.report);
	if (object)
		json_dumpf(object, t->opts.report, JSON_COMPACT);
	json_decref(object);
}

static int compare(struct test *t, const struct result *r, struct err *err)
{
	int a = 0, b = 0;

	if (t->expect)
		a = expect_compare(t->expect, r, text_out(t), err);
	if (a < 0)
		return a;
	if (t->kernel)
		b = compare_packet(t->kernel, r, text_out(t), err);
	if (b < 0)
		return b;
	t->result->compared += t->expect || t->kernel;
	t->result->different += a || b;
	return 0;
}

static int test_packet(struct test *t, const uint8_t *bytes, uint32_t len, struct err *err)
{
	struct result r;
	int rc;

	rc = test_run_packet(t->run, bytes, len, &r, err);
	if (rc)
		return rc;
	count(t, &r);
	report(t, &r);
	if (t->out)
		capture_add(t->out, r.bytes, r.len);
	return compare(t, &r, err);
}

static int test_packets(struct test *t, struct err *err)
{
	const uint8_t *bytes;
	uint32_t len;
	int rc;

	while ((rc = packets_next(t->in, &bytes, &len, err)) > 0) {
		rc = test_packet(t, bytes, len, err);
		if (rc)
			return rc;
	}
	return rc;
}

/* Packets that were expected and did not come, and the kernel's maps. */
static int test_finish(struct test *t, struct err *err)
{
	uint64_t rest = 0;
	uint32_t maps = 0;
	int rc = 0;

	if (t->expect)
		rc = expect_rest(t->expect, &rest, err);
	if (rest && text_out(t))
		fprintf(text_out(t), "%sDIFFERENT: %llu more packets are expected\n", indent,
			(unsigned long long)rest);
	t->result->different += rest;
	if (!rc && t->kernel)
		rc = compare_maps(t->kernel, text_out(t), &maps, err);
	t->result->different += maps;
	return rc;
}

static void summary(struct test *t)
{
	const struct weir_test_result *res = t->result;
	FILE *out = t->opts.report;
	char name[24];

	if (!out)
		return;
	if (t->opts.json) {
		fprintf(out, "],\"compared\":%llu,\"different\":%llu}\n",
			(unsigned long long)res->compared, (unsigned long long)res->different);
		return;
	}
	fprintf(out, "%llu packets:", (unsigned long long)res->frames);
	for (uint32_t i = 0, n = 0; i < VERDICTS; i++) {
		if (!t->verdicts[i])
			continue;
		fprintf(out, "%s %s %llu", n++ ? "," : "",
			i < VERDICTS - 1 ? verdict_name(i, name, sizeof(name)) : "unknown verdicts",
			(unsigned long long)t->verdicts[i]);
	}
	if (t->not_sent)
		fprintf(out, "; %llu not sent", (unsigned long long)t->not_sent);
	if (packets_lost(t->in))
		fprintf(out, "; %llu of the capture left out (cut, too long or too short)",
			(unsigned long long)packets_lost(t->in));
	if (t->expect || t->kernel)
		fprintf(out, "; %llu compared, %llu different", (unsigned long long)res->compared,
			(unsigned long long)res->different);
	fputc('\n', out);
}

static int test_open(struct test *t, struct err *err)
{
	struct port *port = NULL;
	int rc;

	if (!t->opts.in)
		return err_set(err, EINVAL, "no packets: give a capture, or sample");
	if (t->opts.ingress_ifindex) {
		port = t->weir->engine
			       ? engine_port_by_ifindex(t->weir->engine, t->opts.ingress_ifindex)
			       : NULL;
		if (!port)
			return err_set(err, EINVAL, "no port has the ifindex %u",
				       t->opts.ingress_ifindex);
	}
	rc = test_run_open(&t->run, t->weir, port, err);
	if (!rc)
		rc = packets_open(&t->in, t->opts.in, err);
	if (!rc && t->opts.expect)
		rc = expect_open(&t->expect, t->opts.expect, err);
	if (!rc && t->opts.out)
		rc = capture_create(&t->out, t->opts.out, err);
	if (!rc && t->opts.against_kernel)
		rc = compare_open(&t->kernel, t->weir, test_run_port(t->run), err);
	return rc;
}

static int test_close(struct test *t, struct err *err)
{
	int rc = capture_close(t->out, err);

	compare_close(t->kernel);
	expect_close(t->expect);
	packets_close(t->in);
	test_run_close(t->run);
	return rc;
}

int weir_test_input(struct weir *weir, const char *in, struct weir_error *err)
{
	char spec[512];

	return weir_port_add(weir, WEIR_PORT_IN, NULL, packets_port(in, spec, sizeof(spec)), err);
}

/* Several programs and none asked for: say which one it is. */
static void note_program(struct weir *weir)
{
	if (!weir->prog_name && object_prog_at(weir->object, 1))
		instance_note(weir, "testing program %s, the object has others: --prog chooses",
			      weir->prog->po.name);
}

int weir_test(struct weir *weir, const struct weir_test_opts *opts, struct weir_test_result *result,
	      struct weir_error *error)
{
	struct test t = { .weir = weir, .result = result };
	struct err *err = instance_err(error);
	int rc, close_rc;

	memcpy(&t.opts, opts, opts->size < sizeof(t.opts) ? opts->size : sizeof(t.opts));
	*result = (struct weir_test_result){ 0 };
	rc = test_open(&t, err);
	if (!rc) {
		note_program(weir);
		if (t.opts.json && t.opts.report)
			fputs("{\"frames\":[", t.opts.report);
		rc = test_packets(&t, err);
		if (!rc)
			rc = test_finish(&t, err);
		summary(&t);
	}
	close_rc = test_close(&t, rc ? NULL : err);
	return rc ? rc : close_rc;
}
