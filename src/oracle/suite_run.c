/* SPDX-License-Identifier: BSD-2-Clause */
/* One case of a suite: an instance of its own, its packets, and what was expected of it. See suite.h. */
#include "oracle/suite.h"

#include "ctl/state.h"
#include "ctl/value.h"
#include "oracle/expect.h"
#include "oracle/packets.h"
#include "oracle/test_run.h"
#include "port/mem.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PATH_LEN = 4096 };

struct case_run {
	const struct suite_case *c, *defaults; /* defaults may be all zero */
	const char *dir;
	FILE *why;
	struct weir *weir;
	struct test_run *run;
	struct expect *expect_file; /* NULL: none */
	bool passed;
	struct err *err;
};

static const struct suite_case no_defaults;
static const struct suite_expect no_expect;

static struct weir_error *api_err(struct case_run *r)
{
	return (struct weir_error *)r->err;
}

/* Relative to the suite file. Returns buf. */
static const char *resolve(const struct case_run *r, const char *path, char *buf)
{
	snprintf(buf, PATH_LEN, "%s%s%s", *path == '/' ? "" : r->dir, *path == '/' ? "" : "/",
		 path);
	return buf;
}

static int add_port(struct case_run *r, const char *text)
{
	size_t n = strcspn(text, "=");
	char name[PORT_NAME_LEN];

	if (!text[n] || n >= sizeof(name))
		return err_set(r->err, EINVAL, "ports: expected NAME=PORT, not \"%.100s\"", text);
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	return weir_port_add(r->weir, WEIR_PORT_EXTRA, name, text + n + 1, api_err(r));
}

static int add_set(struct case_run *r, const char *text)
{
	size_t n = strcspn(text, "=");
	char key[100];

	if (!text[n] || n >= sizeof(key))
		return err_set(r->err, EINVAL, "set: expected KEY=VALUE, not \"%.100s\"", text);
	snprintf(key, sizeof(key), "%.*s", (int)n, text);
	return weir_set(r->weir, key, text + n + 1, api_err(r));
}

static int add_map(struct case_run *r, const char *text)
{
	return weir_state_map(r->weir, text, api_err(r));
}

static int add_global(struct case_run *r, const char *text)
{
	return weir_state_global(r->weir, text, api_err(r));
}

static int each(struct case_run *r, char **texts, unsigned n,
		int (*fn)(struct case_run *r, const char *))
{
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++)
		rc = fn(r, texts[i]);
	return rc;
}

#define EACH(r, list, fn)                                                                          \
	(each(r, (r)->defaults->list, (r)->defaults->list##_count, fn)                             \
		 ?: each(r, (r)->c->list, (r)->c->list##_count, fn))

static int add_state(struct case_run *r)
{
	char path[PATH_LEN];
	int rc = 0;

	if (r->defaults->maps_file)
		rc = weir_state_maps_file(r->weir, resolve(r, r->defaults->maps_file, path),
					  api_err(r));
	if (!rc && r->c->maps_file)
		rc = weir_state_maps_file(r->weir, resolve(r, r->c->maps_file, path), api_err(r));
	if (!rc)
		rc = EACH(r, maps, add_map);
	return rc ? rc : EACH(r, globals, add_global);
}

static int case_create(struct case_run *r, enum weir_engine engine)
{
	const struct suite_case *c = r->c, *d = r->defaults;
	const uint64_t *time = c->time ? c->time : d->time;
	char path[PATH_LEN], btf[PATH_LEN];
	struct weir_opts opts = {
		.size = sizeof(opts),
		.engine = engine,
		.cpu = c->cpu ? c->cpu : d->cpu,
		.rx_queue = c->rx_queue ? c->rx_queue : d->rx_queue,
		.fixed_time = time != NULL,
		.time_ns = time ? *time : 0,
	};
	int rc;

	if (c->btf || d->btf)
		opts.btf = resolve(r, c->btf ? c->btf : d->btf, btf);
	rc = weir_create(&r->weir, &opts, api_err(r));
	if (!rc)
		rc = EACH(r, set, add_set);
	if (!rc)
		rc = weir_port_add(r->weir, WEIR_PORT_IN, "in", "sample", api_err(r));
	if (!rc)
		rc = EACH(r, ports, add_port);
	if (!rc)
		rc = weir_object_open(r->weir, resolve(r, c->object ? c->object : d->object, path),
				      c->prog ? c->prog : d->prog, api_err(r));
	if (!rc)
		rc = add_state(r);
	if (!rc)
		rc = weir_object_load(r->weir, api_err(r));
	return rc ? rc : test_run_open(&r->run, r->weir, NULL, r->err);
}

static void differ(struct case_run *r, uint32_t n, const char *what, const char *want,
		   const char *is)
{
	r->passed = false;
	fprintf(r->why, "packet %u: %s: expected %s, is %s\n", n, what, want, is);
}

static int check_verdict(struct case_run *r, const char *want, const struct result *result)
{
	int code = verdict_parse(want);

	if (code < 0)
		return err_set(r->err, EINVAL,
			       "expected verdict %s: XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX or "
			       "XDP_REDIRECT",
			       want);
	if ((uint32_t)code != result->code)
		differ(r, result->n, "verdict", want, result->verdict);
	if ((uint32_t)code != result->code && *result->reason)
		fprintf(r->why, "packet %u: %s\n", result->n, result->reason);
	return 0;
}

static int check_bytes(struct case_run *r, const char *want, const struct result *result)
{
	uint8_t bytes[FRAME_SIZE];
	int n;

	if (!strcmp(want, "same")) {
		n = (int)result->in_len;
		memcpy(bytes, result->in, result->in_len);
	} else {
		n = value_hex_digits(want, bytes, sizeof(bytes));
	}
	if (n < 0)
		return err_set(r->err, EINVAL,
			       "expected bytes: hex digits in pairs, or same, not \"%.60s\"", want);
	if ((uint32_t)n == result->len && !memcmp(bytes, result->bytes, result->len))
		return 0;
	r->passed = false;
	fprintf(r->why, "packet %u: bytes, expected -> is:\n", result->n);
	bytes_print_diff(bytes, (uint32_t)n, result->bytes, result->len, "  ", r->why);
	return 0;
}

/* The expectation of the packet, else of the case, else of the defaults. */
#define PICK(r, own, member)                                                                       \
	((own)->member				    ? (own)->member                                \
	 : (r)->c->expect && (r)->c->expect->member ? (r)->c->expect->member                       \
	 : (r)->defaults->expect		    ? (r)->defaults->expect->member                \
						    : NULL)

static int check_packet(struct case_run *r, const struct suite_packet *p,
			const struct result *result)
{
	const struct suite_expect *own = p->expect ? p->expect : &no_expect;
	const char *verdict = PICK(r, own, verdict), *port = PICK(r, own, port);
	const char *error = PICK(r, own, error), *bytes = PICK(r, own, bytes);
	const char *is_port = *result->port ? result->port : "none";
	const char *is_error = result->error ? result->error : "none";
	int rc = 0;

	if (verdict)
		rc = check_verdict(r, verdict, result);
	if (port && strcmp(port, is_port) != 0)
		differ(r, result->n, "port", port, is_port);
	if (error && strcmp(error, is_error) != 0)
		differ(r, result->n, "error", error, is_error);
	if (!rc && bytes)
		rc = check_bytes(r, bytes, result);
	if (rc || !r->expect_file)
		return rc;
	rc = expect_compare(r->expect_file, result, r->why, r->err);
	if (rc > 0)
		r->passed = false;
	return rc < 0 ? rc : 0;
}

static int run_packet(struct case_run *r, const struct suite_packet *p, const uint8_t *bytes,
		      uint32_t len)
{
	struct result result;
	int rc;

	rc = test_run_packet(r->run, bytes, len, &result, r->err);
	return rc ? rc : check_packet(r, p, &result);
}

static int run_hex(struct case_run *r, const struct suite_packet *p)
{
	uint8_t bytes[FRAME_SIZE];
	int n = value_hex_digits(p->hex, bytes, sizeof(bytes));

	if (n < FRAME_LEN_MIN)
		return err_set(r->err, EINVAL,
			       "hex: expected at least %d bytes as digits in pairs, not \"%.60s\"",
			       FRAME_LEN_MIN, p->hex);
	return run_packet(r, p, bytes, (uint32_t)n);
}

static int run_sample(struct case_run *r, const struct suite_packet *p)
{
	bool all = !strcmp(p->sample, "all");
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < sample_count() && !rc; i++) {
		const struct sample_packet *s = sample_at(i);

		if (!all && strcmp(s->kind, p->sample) != 0)
			continue;
		rc = run_packet(r, p, s->bytes, s->len);
		n++;
	}
	return n || rc ? rc
		       : err_set(r->err, EINVAL,
				 "sample: the built-in capture has no packet of kind %s",
				 p->sample);
}

static int run_capture(struct case_run *r, const struct suite_packet *p)
{
	struct packets *packets;
	char path[PATH_LEN];
	const uint8_t *bytes;
	uint32_t len;
	int rc;

	rc = packets_open(&packets, resolve(r, p->capture, path), r->err);
	if (rc)
		return rc;
	while ((rc = packets_next(packets, &bytes, &len, r->err)) > 0) {
		rc = run_packet(r, p, bytes, len);
		if (rc)
			break;
	}
	packets_close(packets);
	return rc;
}

static int run_packets(struct case_run *r)
{
	int rc = 0;

	for (unsigned i = 0; i < r->c->packets_count && !rc; i++) {
		const struct suite_packet *p = &r->c->packets[i];

		rc = p->hex ? run_hex(r, p) : p->sample ? run_sample(r, p) : run_capture(r, p);
	}
	return rc;
}

static int check_maps(struct case_run *r, const struct suite_expect *e)
{
	uint32_t different = 0;
	char path[PATH_LEN];
	bool same;
	int rc = 0;

	for (unsigned i = 0; i < e->maps_count && !rc; i++) {
		rc = state_expect_entry(r->weir, e->maps[i], r->why, &same, r->err);
		r->passed = r->passed && (rc || same);
	}
	if (!rc && e->maps_file)
		rc = weir_maps_expect(r->weir, resolve(r, e->maps_file, path), r->why, &different,
				      api_err(r));
	r->passed = r->passed && !different;
	return rc;
}

static int check_case(struct case_run *r)
{
	uint64_t rest = 0;
	int rc = 0;

	if (r->expect_file)
		rc = expect_rest(r->expect_file, &rest, r->err);
	if (rest) {
		r->passed = false;
		fprintf(r->why, "%llu more packets are expected\n", (unsigned long long)rest);
	}
	if (!rc && r->defaults->expect)
		rc = check_maps(r, r->defaults->expect);
	if (!rc && r->c->expect)
		rc = check_maps(r, r->c->expect);
	return rc;
}

int suite_case_run(const struct suite *suite, const struct suite_case *c, const char *dir,
		   enum weir_engine engine, FILE *why, bool *ret_passed, struct err *err)
{
	struct case_run r = {
		.c = c,
		.defaults = suite->defaults ? suite->defaults : &no_defaults,
		.dir = dir,
		.why = why,
		.passed = true,
		.err = err,
	};
	char path[PATH_LEN];
	int rc;

	rc = case_create(&r, engine);
	if (!rc && c->expect && c->expect->file)
		rc = expect_open(&r.expect_file, resolve(&r, c->expect->file, path), err);
	if (!rc)
		rc = run_packets(&r);
	if (!rc)
		rc = check_case(&r);
	expect_close(r.expect_file);
	test_run_close(r.run);
	weir_destroy(r.weir);
	if (!rc)
		*ret_passed = r.passed;
	return rc;
}
