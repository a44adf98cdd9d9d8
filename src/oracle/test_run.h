/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One packet after another through a loaded instance, each its own poll: the core that `weir test` (test.c) and the
 * cases of a suite (suite_run.c) share.
 *
 * Threads: one at a time. Ownership: the instance is borrowed until test_run_close.
 */
#ifndef WEIR_ORACLE_TEST_RUN_H
#define WEIR_ORACLE_TEST_RUN_H

#include "ctl/instance.h"
#include "oracle/result.h"

struct test_run;

/* port: which input the packets come in by; NULL: the first of the instance. */
int test_run_open(struct test_run **ret, struct weir *weir, struct port *port, struct err *err);
/* Runs one packet; *result is valid until the next call. -EMSGSIZE for one that no frame holds. */
int test_run_packet(struct test_run *run, const uint8_t *bytes, uint32_t len, struct result *result,
		    struct err *err);
struct port *test_run_port(struct test_run *run);
void test_run_close(struct test_run *run);

#endif
