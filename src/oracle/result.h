/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of one packet of a test, in words: made from the engine's outcome, printed as text or JSON, and
 * compared with what was expected (expect.h).
 *
 * Threads: one at a time. Ownership: bytes are borrowed from the outcome and the input.
 */
#ifndef WEIR_ORACLE_RESULT_H
#define WEIR_ORACLE_RESULT_H

#include "engine/engine.h"

#include <jansson.h>
#include <stdio.h>

struct result {
	uint32_t n; /* of the packet, from 1 */
	const uint8_t *in;
	uint32_t in_len;
	uint32_t code;		  /* the verdict as the program returned it */
	char verdict[24];	  /* "XDP_PASS", "unknown 7" */
	char port[PORT_NAME_LEN]; /* where it went; "": nowhere */
	uint32_t ifindex;
	char map[128]; /* that the redirect went through; "": none */
	uint64_t key;
	char program[128]; /* the egress program that ran; "": none */
	char egress_verdict[24];
	const char *error;    /* errno name, or NULL */
	char reason[700];     /* why it was not sent, or the fault; "": none */
	const uint8_t *bytes; /* as it was left, without metadata */
	uint32_t len;
	uint32_t meta_len;
};

/* "XDP_TX"; "unknown 7" beyond. Returns buf. */
char *verdict_name(uint32_t verdict, char *buf, size_t n);
/* The number of "XDP_TX", "TX" or "tx"; -EINVAL. */
int verdict_parse(const char *text);

/* in: the port that the packet came in by. A capture takes no XDP_TX: it counts as sent there all the same. */
void result_fill(struct result *r, const struct outcome *outcome, const struct port *in);
/* Design 10: {"n":..,"verdict":..,"to":..,"error":..,"reason":..,"bytes":..}. New reference. */
json_t *result_json(const struct result *r);
/* The "to" of it, or JSON null. New reference. */
json_t *result_to(const struct result *r);
/* A line, and below it what changed in the packet. */
void result_print(const struct result *r, FILE *out);
/* The difference between two packets, a line for each place: offset, old and new bytes, then the lengths. */
void bytes_print_diff(const uint8_t *a, uint32_t a_len, const uint8_t *b, uint32_t b_len,
		      const char *indent, FILE *out);

#endif
