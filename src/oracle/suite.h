/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A suite file as it was read: cases of object, state, packets and what is expected (docs/suite.md). suite.c reads
 * it, suite_run.c runs a case, suite_report.c writes TAP and JUnit.
 *
 * Threads: one at a time. Ownership: suite_load returns it owned; suite_free.
 */
#ifndef WEIR_ORACLE_SUITE_H
#define WEIR_ORACLE_SUITE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <weir/test.h>

/* NULL members are not compared. */
struct suite_expect {
	char *verdict;
	char *port;  /* "none": nowhere */
	char *error; /* an errno name; "none" */
	char *bytes; /* hex, or "same" as the packet */
	char *file;  /* of a case: a capture, or an earlier --json output */
	char *maps_file;
	char **maps; /* "NAME[KEY]=VALUE" */
	unsigned maps_count;
};

/* One of hex, capture and sample ("all", or a kind of packet). */
struct suite_packet {
	char *hex, *capture, *sample;
	struct suite_expect *expect;
};

struct suite_case {
	char *name;
	char *object, *prog, *btf, *maps_file;
	char **ports, **maps, **globals, **set;
	unsigned ports_count, maps_count, globals_count, set_count;
	uint32_t cpu, rx_queue;
	uint64_t *time;
	struct suite_packet *packets;
	unsigned packets_count;
	struct suite_expect *expect;
};

struct suite {
	struct suite_case *defaults; /* NULL: none; has no packets */
	struct suite_case *cases;
	unsigned cases_count;
};

/* Unknown keys and values of the wrong kind are errors that name the file, the line and the key. */
int suite_load(struct suite **ret, const char *path, struct err *err);
void suite_free(struct suite *suite);

/* Runs one case; why it failed goes to `why`, a line each. *ret_passed is set when it could be run; -errno with a
 * text when it could not (which is a failure of the case too). dir: what paths are relative to. */
int suite_case_run(const struct suite *suite, const struct suite_case *c, const char *dir,
		   enum weir_engine engine, FILE *why, bool *ret_passed, struct err *err);

#endif
