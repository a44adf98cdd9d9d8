/* SPDX-License-Identifier: BSD-2-Clause */
/* Error text for the control path: see err.h. */
#include "err.h"

#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -code;
}

int err_prefix(struct err *err, int code, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	int n;

	if (!err)
		return -code;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n + 2 < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %.*s",
			 (int)(sizeof(err->text) - (size_t)n - 3), old);
	return -code;
}

const char *errno_name(int code)
{
	const char *name;

	if (code < 0)
		code = -code;
	if (code == 524)
		return "ENOTSUPP"; /* kernel-internal, but it does reach programs and user space */
	name = strerrorname_np(code);
	return name ? name : "unknown";
}
