/* SPDX-License-Identifier: BSD-2-Clause */
/* Values as text: the notation of value.h to trees, and the scalars that need no type. */
#include "ctl/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(misc-no-recursion): values nest, and VALUE_DEPTH_MAX bounds it */

enum { SCALAR_MAX = 8192 };

struct reader {
	const char *text, *pos;
	struct err *err;
	uint32_t depth;
};

static int read_any(struct reader *r, json_t **ret);

static void skip_space(struct reader *r)
{
	while (isspace((unsigned char)*r->pos))
		r->pos++;
}

static int fail(struct reader *r, const char *expected)
{
	return err_set(r->err, EINVAL, "expected %s at character %d of \"%.200s\"", expected,
		       (int)(r->pos - r->text) + 1, r->text);
}

/* A quoted string; \ takes the next character as it is. */
static int read_quoted(struct reader *r, json_t **ret)
{
	char buf[SCALAR_MAX];
	size_t n = 0;

	for (r->pos++; *r->pos && *r->pos != '"'; r->pos++) {
		if (*r->pos == '\\' && r->pos[1])
			r->pos++;
		if (n + 1 == sizeof(buf))
			return fail(r, "a shorter string");
		buf[n++] = *r->pos;
	}
	if (*r->pos != '"')
		return fail(r, "the closing \"");
	r->pos++;
	buf[n] = '\0';
	*ret = json_string(buf);
	return *ret ? 0 : err_set(r->err, EINVAL, "\"%.100s\" is not UTF-8: write it as hex:", buf);
}

/* Bare text up to one of `ends`, without the spaces around it. */
static int read_bare(struct reader *r, const char *ends, json_t **ret)
{
	size_t n = strcspn(r->pos, ends);
	const char *start = r->pos;

	r->pos += n;
	while (n && isspace((unsigned char)start[n - 1]))
		n--;
	if (!n) {
		r->pos = start;
		return fail(r, "a value");
	}
	*ret = json_stringn(start, n);
	return *ret ? 0 : err_set(r->err, EINVAL, "the value is not UTF-8: write it as hex:");
}

static int read_list(struct reader *r, json_t *list)
{
	json_t *item = NULL;
	int rc;

	r->pos++;
	skip_space(r);
	while (*r->pos != ']') {
		rc = read_any(r, &item);
		if (rc)
			return rc;
		if (json_array_append_new(list, item))
			return -ENOMEM;
		skip_space(r);
		if (*r->pos == ',')
			r->pos++;
		else if (*r->pos != ']')
			return fail(r, ", or ]");
		skip_space(r);
	}
	r->pos++;
	return 0;
}

static int read_field(struct reader *r, json_t *object)
{
	json_t *name = NULL, *item = NULL;
	int rc;

	rc = *r->pos == '"' ? read_quoted(r, &name) : read_bare(r, ":,{}[]", &name);
	if (rc)
		return rc;
	skip_space(r);
	if (*r->pos != ':')
		rc = fail(r, "a field name and :");
	else if (json_object_get(object, json_string_value(name)))
		rc = err_set(r->err, EINVAL, "field %s is given twice", json_string_value(name));
	if (!rc) {
		r->pos++;
		rc = read_any(r, &item);
	}
	if (!rc && json_object_set_new(object, json_string_value(name), item))
		rc = -ENOMEM;
	json_decref(name);
	return rc;
}

static int read_object(struct reader *r, json_t *object)
{
	int rc;

	r->pos++;
	skip_space(r);
	while (*r->pos != '}') {
		rc = read_field(r, object);
		if (rc)
			return rc;
		skip_space(r);
		if (*r->pos == ',')
			r->pos++;
		else if (*r->pos != '}')
			return fail(r, ", or }");
		skip_space(r);
	}
	r->pos++;
	return 0;
}

static int read_any(struct reader *r, json_t **ret)
{
	json_t *node;
	int rc;

	skip_space(r);
	if (*r->pos == '"')
		return read_quoted(r, ret);
	if (*r->pos != '{' && *r->pos != '[')
		return read_bare(r, r->depth ? ",]}" : "", ret);
	if (r->depth == VALUE_DEPTH_MAX)
		return fail(r, "less nesting");
	node = *r->pos == '{' ? json_object() : json_array();
	if (!node)
		return -ENOMEM;
	r->depth++;
	rc = json_is_object(node) ? read_object(r, node) : read_list(r, node);
	r->depth--;
	if (rc)
		json_decref(node);
	else
		*ret = node;
	return rc;
}

int value_tree(const char *text, json_t **ret, struct err *err)
{
	struct reader r = { .text = text, .pos = text, .err = err };
	json_t *node = NULL;
	int rc;

	rc = read_any(&r, &node);
	if (rc)
		return rc;
	skip_space(&r);
	if (*r.pos) {
		json_decref(node);
		return fail(&r, "the end");
	}
	*ret = node;
	return 0;
}

int value_integer(const char *text, uint64_t *ret, int *ret_negative)
{
	int base = 10, negative = *text == '-';
	unsigned long long v;
	char *end;

	if (*text == '-' || *text == '+')
		text++;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, base);
	if (*end)
		return -EINVAL;
	if (errno || (negative && v > (uint64_t)INT64_MAX + 1))
		return -ERANGE;
	*ret = negative ? -v : v;
	*ret_negative = negative && v;
	return 0;
}

static int hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

int value_hex_digits(const char *text, uint8_t *bytes, uint32_t cap)
{
	uint32_t n = 0;

	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			continue;
		if (hex_digit(text[0]) < 0 || hex_digit(text[1]) < 0 || n == cap)
			return -EINVAL;
		bytes[n++] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
		text++;
	}
	return (int)n;
}

/* "0x0a 0x00": two or more bytes with their prefixes. Returns how many; 0: not of that form. */
static int prefixed_bytes(const char *text, uint8_t *bytes, uint32_t cap)
{
	uint32_t n = 0;
	int digits, v;

	while (*text) {
		if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
			return 0;
		text += 2;
		for (v = 0, digits = 0; hex_digit(*text) >= 0; text++, digits++) {
			if (digits == 2)
				return 0;
			v = v << 4 | hex_digit(*text);
		}
		if (!digits || (*text && !isspace((unsigned char)*text)))
			return 0;
		if (n < cap)
			bytes[n] = (uint8_t)v;
		n++;
		while (isspace((unsigned char)*text))
			text++;
	}
	return n > 1 ? (int)n : 0;
}

static bool mac_parse(const char *text, uint8_t *mac)
{
	for (int i = 0; i < 6; i++, text += 3) {
		if (hex_digit(text[0]) < 0 || hex_digit(text[1]) < 0)
			return false;
		if (text[2] != (i == 5 ? '\0' : ':'))
			return false;
		mac[i] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
	}
	return true;
}

int value_literal(const char *text, void *bytes, uint32_t size)
{
	uint8_t buf[SCALAR_MAX / 2];
	int n = 0;

	if (!strncmp(text, "hex:", 4)) {
		n = value_hex_digits(text + 4, buf, sizeof(buf));
		if (n <= 0)
			return -EINVAL;
	} else if (inet_pton(AF_INET, text, buf) == 1) {
		n = 4;
	} else if (inet_pton(AF_INET6, text, buf) == 1) {
		n = 16;
	} else if (mac_parse(text, buf)) {
		n = 6;
	} else {
		n = prefixed_bytes(text, buf, sizeof(buf));
	}
	if (!n)
		return 0;
	if ((uint32_t)n != size)
		return -EINVAL;
	memcpy(bytes, buf, size);
	return 1;
}

/* NOLINTEND(misc-no-recursion) */
