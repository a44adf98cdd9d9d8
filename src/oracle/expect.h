/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the results of a test should have been: a capture (bytes in order), or an earlier --json output
 * (verdict, target and bytes).
 *
 * Threads: one at a time.
 */
#ifndef WEIR_ORACLE_EXPECT_H
#define WEIR_ORACLE_EXPECT_H

#include "oracle/result.h"

struct expect;

/* The form is told from the content: JSON begins with {. */
int expect_open(struct expect **ret, const char *path, struct err *err);
/* Compares with the next one that is expected: 0 equal, 1 different (each difference goes to out as a line, when that
 * is not NULL), or -errno. */
int expect_compare(struct expect *expect, const struct result *result, FILE *out, struct err *err);
/* How many are left that no packet was compared with, or -errno. */
int expect_rest(struct expect *expect, uint64_t *ret, struct err *err);
void expect_close(struct expect *expect);

#endif
