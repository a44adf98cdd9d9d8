/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text that goes with a failure on the control path: one line that names the thing, the reason and
 * the remedy, lower case and without a full stop. Modules return 0 or -errno and put the text here; only
 * cli prints it.
 *
 * Threads: an err belongs to its caller.
 */
#ifndef WEIR_BASE_ERR_H
#define WEIR_BASE_ERR_H

#include <stdarg.h>

#define WEIR_MUST_CHECK __attribute__((warn_unused_result))

struct err {
	char text[1024]; /* empty when nothing was said */
};

/*
 * Sets the text and returns -code, so that a function can end in `return err_set(err, EINVAL, ...)`.
 * err may be NULL: then only the code is returned. code is a positive errno value.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts `fmt: ` in front of the text that is there; returns -code. For adding a file or port name. */
int err_prefix(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The name of an errno value ("ENETDOWN"); 524 is "ENOTSUPP". Returns borrowed text, forever valid. */
const char *errno_name(int code);

#endif
