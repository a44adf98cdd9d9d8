/* SPDX-License-Identifier: BSD-2-Clause */
/* One packet's result as text and JSON: see result.h. */
#include "oracle/result.h"

#include "maps/map.h"
#include "port/mem.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	DIFF_GAP = 4,	 /* equal bytes that one place of a difference may hold */
	DIFF_BYTES = 32, /* bytes shown of a place */
};

static const char *const verdicts[] = { "XDP_ABORTED", "XDP_DROP", "XDP_PASS", "XDP_TX",
					"XDP_REDIRECT" };

char *verdict_name(uint32_t verdict, char *buf, size_t n)
{
	if (verdict < sizeof(verdicts) / sizeof(verdicts[0]))
		snprintf(buf, n, "%s", verdicts[verdict]);
	else
		snprintf(buf, n, "unknown %u", verdict);
	return buf;
}

int verdict_parse(const char *text)
{
	if (!strncasecmp(text, "XDP_", 4))
		text += 4;
	for (uint32_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (!strcasecmp(text, verdicts[i] + 4))
			return (int)i;
	return -EINVAL;
}

static void fill_reason(struct result *r, const struct outcome *o)
{
	struct obj *prog;

	if (o->fault.reason != FAULT_NONE) {
		prog = obj_by_id(OBJ_PROG, o->fault.prog_id);
		if (prog)
			prog_fault_text((struct prog *)prog, &o->fault, r->reason,
					sizeof(r->reason));
		obj_put(prog);
	} else if (o->dropped && o->reason != DROP_XDP_DROP) {
		snprintf(r->reason, sizeof(r->reason), "%s", drop_reason_text(o->reason));
		/* of bpf_redirect, the key is the ifindex */
		if (o->verdict == XDP_REDIRECT && !o->map_id && o->map_key)
			snprintf(r->reason + strlen(r->reason),
				 sizeof(r->reason) - strlen(r->reason), " (ifindex %llu)",
				 (unsigned long long)o->map_key);
	} else if (o->error) {
		snprintf(r->reason, sizeof(r->reason), "%s",
			 drop_reason_text(drop_reason_redirect(o->error)));
	} else if (r->code > XDP_REDIRECT) {
		snprintf(r->reason, sizeof(r->reason),
			 "no XDP verdict has this number: as XDP_ABORTED");
	}
}

void result_fill(struct result *r, const struct outcome *o, const struct port *in)
{
	bool tx = o->verdict == XDP_TX && (!o->dropped || o->reason == DROP_TX_NO_PORT);
	const struct port *to = tx ? in : o->to;
	struct map *map = o->map_id ? map_by_id(o->map_id) : NULL;

	r->code = o->verdict;
	verdict_name(o->verdict, r->verdict, sizeof(r->verdict));
	r->port[0] = r->map[0] = r->program[0] = r->reason[0] = '\0';
	r->error = NULL;
	if (to) {
		snprintf(r->port, sizeof(r->port), "%s", to->name);
		r->ifindex = to->ifindex;
	}
	if (map) {
		snprintf(r->map, sizeof(r->map), "%s", map->name);
		r->key = o->map_key;
		map_put(map);
	}
	if (o->egress) {
		snprintf(r->program, sizeof(r->program), "%s", o->egress->po.name);
		verdict_name(o->egress_verdict, r->egress_verdict, sizeof(r->egress_verdict));
	}
	if (o->error && !tx)
		r->error = errno_name(o->error);
	if (!tx)
		fill_reason(r, o);
	r->meta_len = o->meta_len;
	r->bytes = o->bytes + o->meta_len;
	r->len = o->len;
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

json_t *result_to(const struct result *r)
{
	if (!*r->port && !*r->map)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "port", text_or_null(r->port), "map",
			 text_or_null(r->map), "key",
			 *r->map ? json_integer((json_int_t)r->key) : json_null(), "program",
			 text_or_null(r->program));
}

json_t *result_json(const struct result *r)
{
	char *hex = malloc(2 * (size_t)r->len + 1);
	json_t *object;

	if (!hex)
		return NULL;
	hex[0] = '\0';
	for (uint32_t i = 0; i < r->len; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", r->bytes[i]);
	object = json_pack("{s:i, s:s, s:o, s:o, s:o, s:s}", "n", (int)r->n, "verdict", r->verdict,
			   "to", result_to(r), "error", text_or_null(r->error), "reason",
			   text_or_null(r->reason), "bytes", hex);
	free(hex);
	return object;
}

static void print_bytes(const uint8_t *bytes, uint32_t n, FILE *out)
{
	for (uint32_t i = 0; i < n && i < DIFF_BYTES; i++)
		fprintf(out, " %02x", bytes[i]);
	if (n > DIFF_BYTES)
		fprintf(out, " ... (%u bytes)", n);
}

static void print_place(uint32_t at, const uint8_t *a, uint32_t a_len, const uint8_t *b,
			uint32_t b_len, const char *indent, FILE *out)
{
	fprintf(out, "%sat %u:", indent, at);
	if (a_len)
		print_bytes(a, a_len, out);
	else
		fputs(" nothing", out);
	fputs(" ->", out);
	if (b_len)
		print_bytes(b, b_len, out);
	else
		fputs(" nothing", out);
	fputc('\n', out);
}

/* Places of two packets of one length. */
static void print_places(const uint8_t *a, const uint8_t *b, uint32_t len, const char *indent,
			 FILE *out)
{
	uint32_t i = 0, end, last;

	while (i < len) {
		if (a[i] == b[i]) {
			i++;
			continue;
		}
		for (end = last = i; end < len && end - last <= DIFF_GAP + 1; end++)
			if (a[end] != b[end])
				last = end;
		print_place(i, a + i, last + 1 - i, b + i, last + 1 - i, indent, out);
		i = last + 1;
	}
}

void bytes_print_diff(const uint8_t *a, uint32_t a_len, const uint8_t *b, uint32_t b_len,
		      const char *indent, FILE *out)
{
	uint32_t min = a_len < b_len ? a_len : b_len, head = 0, tail = 0;

	if (a_len == b_len) {
		print_places(a, b, a_len, indent, out);
		return;
	}
	/* Bytes were put in or taken out: what both ends have in common is not a difference. */
	while (head < min && a[head] == b[head])
		head++;
	while (tail < min - head && a[a_len - 1 - tail] == b[b_len - 1 - tail])
		tail++;
	print_place(head, a + head, a_len - head - tail, b + head, b_len - head - tail, indent,
		    out);
	fprintf(out, "%slength %u -> %u\n", indent, a_len, b_len);
}

void result_print(const struct result *r, FILE *out)
{
	fprintf(out, "%5u  %-16s %4u bytes  %s", r->n, sample_classify(r->in, r->in_len), r->in_len,
		r->verdict);
	if (*r->port)
		fprintf(out, " -> %s (ifindex %u)", r->port, r->ifindex);
	if (*r->map)
		fprintf(out, " by %s[%llu]", r->map, (unsigned long long)r->key);
	if (*r->program)
		fprintf(out, ", egress program %s: %s", r->program, r->egress_verdict);
	if (r->error)
		fprintf(out, ", not sent: %s", r->error);
	if (*r->reason)
		fprintf(out, "%s %s", r->error ? "," : ":", r->reason);
	if (r->meta_len)
		fprintf(out, ", %u bytes of metadata", r->meta_len);
	fputc('\n', out);
	bytes_print_diff(r->in, r->in_len, r->bytes, r->len, "         ", out);
}
