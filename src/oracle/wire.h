/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between weir and the oracle's helper process, over a socket pair: a head, then `len` bytes. Requests are
 * answered one by one, in order, with the same type; an error has its text as bytes.
 */
#ifndef WEIR_ORACLE_WIRE_H
#define WEIR_ORACLE_WIRE_H

#include <stdint.h>

enum wire_type {
	WIRE_OPEN, /* JSON: the configuration; answered when the object is loaded */
	WIRE_RUN, /* struct wire_run, then the packet; answered with struct wire_ran, then metadata and packet */
	WIRE_MAPS, /* nothing; answered with a snapshot */
	WIRE_LIVE, /* struct wire_run with repeat; answered with a u64 of nanoseconds */
};

enum { WIRE_MAX = 64 << 20 };

struct wire_head {
	uint32_t type;
	int32_t error; /* answers: 0 or -errno */
	uint32_t len;
};

struct wire_run {
	uint32_t ifindex, rx_queue, repeat;
};

struct wire_ran {
	int32_t error;
	uint32_t verdict, meta_len;
};

/* Sends a head and up to two pieces; 0 or -errno. */
int wire_send(int fd, const struct wire_head *head, const void *a, uint32_t a_len, const void *b,
	      uint32_t b_len);
/* Receives a message; *ret_bytes is allocated (NUL-terminated behind its len bytes), the caller frees it. -EPIPE at
 * the end of the stream. */
int wire_recv(int fd, struct wire_head *head, void **ret_bytes);

#endif
