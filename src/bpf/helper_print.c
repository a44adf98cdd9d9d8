/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_trace_printk, bpf_trace_vprintk, bpf_snprintf: the subset of printf that the kernel allows
 * (kernel/bpf/helpers.c, bpf_bprintf_prepare). A string or address that is no memory of the program prints as
 * empty, or zeros, as one that faults does in the kernel.
 */
#include "bpf/helper_impl.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "bpf/region.h"

enum {
	TEXT_MAX = 1024, /* MAX_BPRINTF_BUF */
	PRINTK_ARGS = 3,
	VARARGS_MAX = 12, /* MAX_BPRINTF_VARARGS */
	STRING_MAX = 512,
	SPEC_MAX = 32,
};

struct printer {
	struct run_ctx *rc;
	const char *fmt, *end;
	const uint64_t *args;
	uint32_t n_args, next_arg;
	char spec[SPEC_MAX]; /* % and its flags and width */
	uint32_t spec_len;
	char *out;
	size_t cap, len; /* len may pass cap, as snprintf's result does */
};

static void __attribute__((format(printf, 2, 3))) put(struct printer *p, const char *fmt, ...)
{
	size_t at = p->len < p->cap ? p->len : p->cap;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p->out + at, p->cap - at, fmt, ap);
	va_end(ap);
	p->len += n > 0 ? (size_t)n : 0;
}

/* What follows the first conversion letter must end the conversion. */
static bool ends_spec(const struct printer *p, const char *at)
{
	return at >= p->end || isspace((uint8_t)*at) || ispunct((uint8_t)*at);
}

static const uint8_t *read_bytes(struct printer *p, uint64_t addr, uint32_t n, uint8_t *zeros)
{
	memset(zeros, 0, n);
	return region_check(p->rc, p->rc->frame, addr, n, false) ? zeros : helper_ptr(addr);
}

static int print_ip(struct printer *p, uint64_t addr, char letter, char version)
{
	uint8_t zeros[16];
	const uint8_t *b = read_bytes(p, addr, version == '4' ? 4 : 16, zeros);

	if (version == '4') {
		put(p, letter == 'I' ? "%u.%u.%u.%u" : "%03u.%03u.%03u.%03u", b[0], b[1], b[2],
		    b[3]);
		return 0;
	}
	for (int i = 0; i < 16; i += 2)
		put(p, "%02x%02x%s", b[i], b[i + 1], letter == 'I' && i < 14 ? ":" : "");
	return 0;
}

static void print_string(struct printer *p, uint64_t addr)
{
	char text[STRING_MAX];
	uint32_t n = 0;

	while (n < STRING_MAX - 1 && !region_check(p->rc, p->rc->frame, addr + n, 1, false)) {
		text[n] = *(const char *)helper_ptr(addr + n);
		if (!text[n])
			break;
		n++;
	}
	text[n] = '\0';
	put(p, "%s", text);
}

/* p->fmt stands behind the p. */
static int print_pointer(struct printer *p, uint64_t arg)
{
	char a = p->fmt < p->end ? p->fmt[0] : '\0',
	     b = a && p->fmt + 1 < p->end ? p->fmt[1] : '\0';

	if ((a == 'i' || a == 'I') && (b == '4' || b == '6')) {
		p->fmt += 2;
		return print_ip(p, arg, a, b);
	}
	if ((a == 'k' || a == 'u') && b == 's') {
		p->fmt += 2;
		print_string(p, arg);
		return 0;
	}
	if (a == 'K' || a == 'x' || a == 's' || a == 'S' || a == 'B')
		p->fmt++;
	else if (!ends_spec(p, p->fmt))
		return -EINVAL;
	put(p, "%016" PRIx64, arg);
	return 0;
}

/* p->fmt stands at the length or letter of an integer. */
static int print_integer(struct printer *p, uint64_t arg)
{
	bool wide = false;
	char letter, spec[SPEC_MAX + 4];

	for (int i = 0; i < 2 && p->fmt < p->end && *p->fmt == 'l'; i++, p->fmt++)
		wide = true;
	letter = p->fmt < p->end ? *p->fmt++ : '\0';
	if (!letter || !strchr("diuxX", letter))
		return -EINVAL;
	snprintf(spec, sizeof(spec), "%.*sll%c", (int)p->spec_len, p->spec, letter);
	if (!wide)
		arg = letter == 'd' || letter == 'i' ? (uint64_t)(int64_t)(int32_t)arg
						     : (uint32_t)arg;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	put(p, spec, (unsigned long long)arg); /* made above: flags, width, ll, a letter */
#pragma GCC diagnostic pop
	return 0;
}

static void take_spec(struct printer *p)
{
	const char *start = p->fmt - 1; /* the % */

	while (p->fmt < p->end && strchr("0+- ", *p->fmt))
		p->fmt++;
	while (p->fmt < p->end && isdigit((uint8_t)*p->fmt))
		p->fmt++;
	p->spec_len = p->fmt - start < SPEC_MAX ? (uint32_t)(p->fmt - start) : 1;
	memcpy(p->spec, start, p->spec_len);
}

/* p->fmt stands behind a %. */
static int print_spec(struct printer *p)
{
	uint64_t arg;

	if (p->fmt < p->end && *p->fmt == '%') {
		p->fmt++;
		put(p, "%%");
		return 0;
	}
	if (p->next_arg >= p->n_args)
		return -EINVAL;
	arg = p->args[p->next_arg++];
	take_spec(p);
	if (p->fmt >= p->end)
		return -EINVAL;
	switch (*p->fmt) {
	case 'p':
		p->fmt++;
		return print_pointer(p, arg);
	case 's':
		p->fmt++;
		print_string(p, arg);
		return 0;
	case 'c':
		p->fmt++;
		put(p, "%c", (int)(uint8_t)arg);
		return 0;
	default:
		return print_integer(p, arg);
	}
}

/* The length of the whole text, or -errno. fmt is a string of at most fmt_size bytes, NUL included. */
static int print(struct printer *p, const char *fmt, uint64_t fmt_size)
{
	int rc = 0;

	p->fmt = fmt;
	p->end = memchr(fmt, 0, fmt_size);
	if (!p->end)
		return -EINVAL;
	if (p->cap)
		p->out[0] = '\0';
	while (p->fmt < p->end && !rc) {
		char c = *p->fmt++;

		if (!isascii(c) || (!isprint((uint8_t)c) && !isspace((uint8_t)c)))
			rc = -EINVAL;
		else if (c == '%')
			rc = print_spec(p);
		else
			put(p, "%c", c);
	}
	return rc ? rc : (int)p->len;
}

static uint64_t trace(struct run_ctx *rc, const char *fmt, uint64_t fmt_size, const uint64_t *args,
		      uint32_t n_args)
{
	char text[TEXT_MAX];
	struct printer p = {
		.rc = rc, .args = args, .n_args = n_args, .out = text, .cap = sizeof(text)
	};
	int n = print(&p, fmt, fmt_size);

	if (n < 0)
		return (uint64_t)(int64_t)n;
	if (rc->trace)
		rc->trace->print(rc->trace, text);
	return (uint64_t)n;
}

HELPER(trace_printk)
{
	uint64_t args[PRINTK_ARGS] = { a3, a4, a5 };

	return trace(rc, helper_ptr(a1), a2, args, PRINTK_ARGS);
}

/* Copies the arguments, which another thread might change and which need not be aligned; their number or -EINVAL. */
static int take_varargs(uint64_t *args, const void *data, uint64_t size)
{
	if (size % 8 || size > VARARGS_MAX * 8 || (size && !data))
		return -EINVAL;
	if (size)
		memcpy(args, data, size);
	return (int)(size / 8);
}

HELPER(trace_vprintk)
{
	uint64_t args[VARARGS_MAX];
	int n = take_varargs(args, helper_ptr(a3), a4);

	if (n < 0)
		return (uint64_t)(int64_t)n;
	return trace(rc, helper_ptr(a1), a2, args, (uint32_t)n);
}

/* str, size, fmt, data, data size: the length with its NUL, whether or not it fitted. */
HELPER(snprintf)
{
	uint64_t args[VARARGS_MAX];
	int n = take_varargs(args, helper_ptr(a4), a5);
	const char *fmt = helper_ptr(a3);
	struct printer p = { .rc = rc, .args = args, .out = helper_ptr(a1), .cap = a2 };

	if (n < 0)
		return (uint64_t)(int64_t)n;
	p.n_args = (uint32_t)n;
	n = print(&p, fmt, strlen(fmt) + 1);
	return (uint64_t)(int64_t)(n < 0 ? n : n + 1);
}
