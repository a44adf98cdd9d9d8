/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings, and reads of memory that need not be there (kernel/bpf/helpers.c, kernel/trace/bpf_trace.c). */
#include "bpf/helper_impl.h"

#include <ctype.h>

#include "bpf/region.h"

enum { STRTOX_BASE_MASK = 0x1f, DIGITS_MAX = 63 /* the kernel copies as many characters */ };

HELPER(strncmp)
{
	return (uint64_t)(int64_t)strncmp(helper_ptr(a1), helper_ptr(a3), (uint32_t)a2);
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* The base that a prefix tells, when it is not given; a hexadecimal prefix is skipped in any case. */
static uint32_t fix_base(const char **s, const char *end, uint32_t base)
{
	const char *p = *s;
	bool hex = end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' && isxdigit((uint8_t)p[2]);

	if (!base)
		base = hex ? 16 : p < end && p[0] == '0' ? 8 : 10;
	if (base == 16 && end - p > 1 && p[0] == '0' && (p[1] | 0x20) == 'x')
		*s = p + 2;
	return base;
}

/* Characters used, or -errno. */
static int parse_digits(const char *s, const char *end, uint32_t base, uint64_t *value)
{
	const char *start = s, *first;
	bool overflow = false;

	base = fix_base(&s, end, base);
	first = s;
	*value = 0;
	for (; s < end && digit_value(*s) < (int)base; s++)
		overflow |= __builtin_mul_overflow(*value, base, value) ||
			    __builtin_add_overflow(*value, (uint64_t)digit_value(*s), value);
	if (overflow)
		return -ERANGE;
	return s == first ? -EINVAL : (int)(s - start);
}

static int parse_number(const char *buf, uint64_t size, uint64_t flags, uint64_t *value,
			bool *negative)
{
	uint32_t base = flags & STRTOX_BASE_MASK;
	const char *p = buf, *end = buf + size;
	int used;

	if (!size || (base && base != 8 && base != 10 && base != 16) ||
	    flags & ~(uint64_t)STRTOX_BASE_MASK)
		return -EINVAL;
	while (p < end && isspace((uint8_t)*p))
		p++;
	*negative = p < end && *p == '-';
	p += *negative;
	if (p == end)
		return -EINVAL;
	if (end - p > DIGITS_MAX)
		end = p + DIGITS_MAX;
	used = parse_digits(p, end, base, value);
	return used < 0 ? used : (int)(p - buf) + used;
}

/* buf, size, flags, result: 0 after an error. */
HELPER(strtol)
{
	uint64_t value = 0;
	bool negative;
	int used = parse_number(helper_ptr(a1), a2, a3, &value, &negative);

	if (used >= 0 && value > (uint64_t)INT64_MAX + negative)
		used = -ERANGE;
	if (used >= 0 && negative)
		value = 0 - value;
	if (used < 0)
		value = 0;
	memcpy(helper_ptr(a4), &value, sizeof(value));
	return (uint64_t)(int64_t)used;
}

HELPER(strtoul)
{
	uint64_t value = 0;
	bool negative;
	int used = parse_number(helper_ptr(a1), a2, a3, &value, &negative);

	if (used >= 0 && negative)
		used = -EINVAL;
	if (used < 0)
		value = 0;
	memcpy(helper_ptr(a4), &value, sizeof(value));
	return (uint64_t)(int64_t)used;
}

/* dst, size, address: what is no memory of the program reads as a fault does in the kernel. */
HELPER(probe_read_kernel)
{
	uint32_t size = (uint32_t)a2;

	if (!size)
		return 0;
	if (region_check(rc, rc->frame, a3, size, false)) {
		memset(helper_ptr(a1), 0, size);
		return helper_error(EFAULT);
	}
	memmove(helper_ptr(a1), helper_ptr(a3), size);
	return 0;
}

HELPER(probe_read_kernel_str)
{
	uint32_t size = (uint32_t)a2;
	char *dst = helper_ptr(a1);

	for (uint32_t i = 0; i < size; i++) {
		if (region_check(rc, rc->frame, a3 + i, 1, false)) {
			memset(dst, 0, size);
			return helper_error(EFAULT);
		}
		dst[i] = *(const char *)helper_ptr(a3 + i);
		if (!dst[i])
			return i + 1;
	}
	if (size)
		dst[size - 1] = '\0';
	return size;
}
