/* SPDX-License-Identifier: BSD-2-Clause */
/* Results against a capture or an earlier run's JSON: see expect.h. */
#include "oracle/expect.h"

#include "ctl/state.h"
#include "ctl/value.h"
#include "oracle/packets.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char indent[] = "         ";

struct expect {
	struct packets *packets; /* a capture, or */
	json_t *root, *frames;	 /* JSON; frames borrowed from root */
	size_t next;
};

/* Whether the file's first character that is no space is {. */
static bool is_json(const char *path)
{
	FILE *f = fopen(path, "r");
	int c = 0;

	if (!f)
		return false;
	do {
		c = fgetc(f);
	} while (c != EOF && isspace(c));
	fclose(f);
	return c == '{';
}

int expect_open(struct expect **ret, const char *path, struct err *err)
{
	struct expect *e = calloc(1, sizeof(*e));
	int rc;

	if (!e)
		return err_set(err, ENOMEM, "out of memory");
	if (is_json(path)) {
		rc = state_read_file(path, &e->root, err);
		e->frames = json_object_get(e->root, "frames");
		if (!rc && !json_is_array(e->frames))
			rc = err_set(
				err, EINVAL,
				"%s: no list \"frames\": expected the output of weir test --json",
				path);
	} else {
		rc = packets_open(&e->packets, path, err);
	}
	if (rc) {
		expect_close(e);
		return rc;
	}
	*ret = e;
	return 0;
}

static int compare_bytes(const uint8_t *want, uint32_t want_len, const struct result *r, FILE *out)
{
	if (want_len == r->len && !memcmp(want, r->bytes, r->len))
		return 0;
	if (out) {
		fprintf(out, "%sDIFFERENT: packet %u: bytes, expected -> is:\n", indent, r->n);
		bytes_print_diff(want, want_len, r->bytes, r->len, indent, out);
	}
	return 1;
}

static int surplus(const struct result *r, FILE *out)
{
	if (out)
		fprintf(out, "%sDIFFERENT: packet %u: no more packets are expected\n", indent,
			r->n);
	return 1;
}

static int compare_capture(struct expect *e, const struct result *r, FILE *out, struct err *err)
{
	const uint8_t *bytes;
	uint32_t len;
	int rc;

	rc = packets_next(e->packets, &bytes, &len, err);
	if (rc < 0)
		return rc;
	return rc ? compare_bytes(bytes, len, r, out) : surplus(r, out);
}

/* A member of an expected frame against what it is now. */
static int compare_json(json_t *frame, const char *name, json_t *is, const struct result *r,
			FILE *out)
{
	json_t *want = json_object_get(frame, name);
	int differs = want && !json_equal(want, is);
	char *want_text, *is_text;

	if (differs && out) {
		want_text = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
		is_text = json_dumps(is, JSON_ENCODE_ANY | JSON_COMPACT);
		fprintf(out, "%sDIFFERENT: packet %u: %s: expected %s, is %s\n", indent, r->n, name,
			want_text ? want_text : "?", is_text ? is_text : "?");
		free(want_text);
		free(is_text);
	}
	json_decref(is);
	return differs;
}

static int compare_frame(struct expect *e, const struct result *r, FILE *out, struct err *err)
{
	json_t *frame = json_array_get(e->frames, e->next);
	const char *hex = json_string_value(json_object_get(frame, "bytes"));
	uint8_t bytes[FRAME_SIZE];
	int differs, n;

	if (!frame)
		return surplus(r, out);
	e->next++;
	if (!json_is_object(frame))
		return err_set(err, EINVAL, "frame %zu of the expected output is no object",
			       e->next);
	differs = compare_json(frame, "verdict", json_string(r->verdict), r, out);
	differs |= compare_json(frame, "to", result_to(r), r, out);
	if (!hex)
		return differs;
	n = value_hex_digits(hex, bytes, sizeof(bytes));
	if (n < 0)
		return err_set(err, EINVAL, "frame %zu of the expected output: bytes are not hex",
			       e->next);
	return differs | compare_bytes(bytes, (uint32_t)n, r, out);
}

int expect_compare(struct expect *e, const struct result *result, FILE *out, struct err *err)
{
	if (e->packets)
		return compare_capture(e, result, out, err);
	return compare_frame(e, result, out, err);
}

int expect_rest(struct expect *e, uint64_t *ret, struct err *err)
{
	const uint8_t *bytes;
	uint32_t len;
	uint64_t n = 0;
	int rc;

	if (!e->packets) {
		*ret = json_array_size(e->frames) - e->next;
		return 0;
	}
	while ((rc = packets_next(e->packets, &bytes, &len, err)) > 0)
		n++;
	if (rc)
		return rc;
	*ret = n;
	return 0;
}

void expect_close(struct expect *e)
{
	if (!e)
		return;
	packets_close(e->packets);
	json_decref(e->root);
	free(e);
}
