/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations as people write them: "10s", "500ms", "1.5m". */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <weir/run.h>

#include "ctl/instance.h"

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000ull },
	{ "m", 60 * 1000000000ull },
	{ "h", 3600 * 1000000000ull },
};

static int unit_find(const char *name, uint64_t fallback, uint64_t *ret)
{
	if (!*name) {
		*ret = fallback;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(name, units[i].name) == 0) {
			*ret = units[i].ns;
			return 0;
		}
	}
	return -EINVAL;
}

/* Digits at *text as a number with a fraction: whole, and parts of `scale`. -EINVAL without a digit. */
static int number_read(const char **text, uint64_t *whole, uint64_t *part, uint64_t *scale)
{
	const char *c = *text;

	if (!isdigit((unsigned char)*c))
		return -EINVAL;
	for (; isdigit((unsigned char)*c); c++) {
		if (__builtin_mul_overflow(*whole, 10u, whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)(*c - '0'), whole))
			return -EINVAL;
	}
	if (*c == '.') {
		if (!isdigit((unsigned char)*++c))
			return -EINVAL;
		for (; isdigit((unsigned char)*c); c++) {
			if (*scale == 1000000000)
				continue; /* digits below a nanosecond of a second are dropped */
			*part = *part * 10 + (uint64_t)(*c - '0');
			*scale *= 10;
		}
	}
	*text = c;
	return 0;
}

static int duration_parse(const char *text, uint64_t unit_ns, uint64_t *ret_ns)
{
	uint64_t whole = 0, part = 0, scale = 1, unit, ns;

	if (number_read(&text, &whole, &part, &scale) || unit_find(text, unit_ns, &unit))
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)((unsigned __int128)part * unit / scale), &ns) ||
	    ns > INT64_MAX)
		return -EINVAL;
	*ret_ns = ns;
	return 0;
}

int weir_duration_parse(const char *text, uint64_t unit_ns, uint64_t *ret_ns,
			struct weir_error *err)
{
	if (duration_parse(text, unit_ns, ret_ns))
		return err_set(instance_err(err), EINVAL,
			       "'%s' is not a duration such as 10s, 500ms or 2m", text);
	return 0;
}
