/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weir's results against the kernel's, packet by packet and map by map: the use of kernel.h that `weir test` makes.
 *
 * Threads: one at a time.
 */
#ifndef WEIR_ORACLE_COMPARE_H
#define WEIR_ORACLE_COMPARE_H

#include "ctl/instance.h"
#include "oracle/result.h"

struct compare;

/* Gives the kernel the instance's object, globals, maps and ports as they are now. */
int compare_open(struct compare **ret, struct weir *weir, const struct port *in, struct err *err);
/* 0 equal, 1 different (a line to out when that is not NULL), or -errno. Where an egress program ran after the
 * program, bytes are not compared: TEST_RUN ends with the program. */
int compare_packet(struct compare *compare, const struct result *result, FILE *out,
		   struct err *err);
/* The maps; *ret_different counts the entries. */
int compare_maps(struct compare *compare, FILE *out, uint32_t *ret_different, struct err *err);
void compare_close(struct compare *compare);

#endif
