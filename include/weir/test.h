/* SPDX-License-Identifier: BSD-2-Clause */
/* Testing a program on packets: what `weir test` does. See weir.h for the order of calls. */
#ifndef WEIR_TEST_H
#define WEIR_TEST_H

#include <weir/weir.h>

struct weir_test_opts {
	size_t size;	     /* sizeof(struct weir_test_opts) */
	const char *in;	     /* as given to weir_test_input */
	const char *out;     /* capture of each frame as the program left it; NULL: none */
	const char *expect;  /* a capture, or an earlier --json output; NULL: none */
	bool against_kernel; /* compare verdict, bytes and maps with BPF_PROG_TEST_RUN */
	bool json;
	bool quiet; /* only differences and the summary */
	uint32_t
		ingress_ifindex; /* packets come in by the port of this ifindex; 0: the first input */
	FILE *report;		 /* where the text or JSON goes */
};

/* Adds the input port of a test: a capture ("x.pcap", "pcap:x.pcap,ifindex=7") or "sample". Like weir_port_add, before
 * the object is opened; the first port, so that its ifindex is 1 unless said otherwise. */
WEIR_API int weir_test_input(struct weir *weir, const char *in, struct weir_error *err);

struct weir_test_result {
	uint64_t frames;
	uint64_t compared;
	uint64_t different;
};

/* Runs the program on each packet, prints what became of it, compares where asked. Returns 0 also when there
 * are differences: *result counts them. */
WEIR_API int weir_test(struct weir *weir, const struct weir_test_opts *opts,
		       struct weir_test_result *result, struct weir_error *err);

enum weir_suite_format { WEIR_SUITE_TAP, WEIR_SUITE_JUNIT };

/* Runs a suite file (docs/ci.md): each case is an instance of its own. *ret_failed counts the cases that failed. */
WEIR_API int weir_suite(const char *path, enum weir_engine engine, enum weir_suite_format format,
			FILE *out, uint32_t *ret_failed, struct weir_error *err);

/* Main of the oracle's helper process: `weir __oracle FD`. Never for people. */
WEIR_API_VOID int weir_oracle_main(int argc, char **argv);

#endif
