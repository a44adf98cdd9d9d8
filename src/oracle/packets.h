/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture read packet by packet, for what is compared and for suites. Uses the port drivers, with a pool
 * of its own, so that captures mean the same here as at an input.
 *
 * Threads: one at a time.
 */
#ifndef WEIR_ORACLE_PACKETS_H
#define WEIR_ORACLE_PACKETS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct packets;

/* A capture file, or "sample". The text of a failure names the file. */
int packets_open(struct packets **ret, const char *name, struct err *err);
/* 1: *bytes (borrowed until the next call) and *len are the next packet; 0: the end; or -errno. */
int packets_next(struct packets *packets, const uint8_t **bytes, uint32_t *len, struct err *err);
/* How many packets the driver could not give: cut by a snap length, too long or short. */
uint64_t packets_lost(const struct packets *packets);
void packets_close(struct packets *packets);

/* The PORT of a capture named on a command line: "sample", "pcap:..." as they are, else pcap:NAME. Returns buf. */
char *packets_port(const char *name, char *buf, size_t n);

/* Writes packets to a new capture file (Ethernet, nanosecond stamps of n microseconds). */
struct capture;
int capture_create(struct capture **ret, const char *path, struct err *err);
void capture_add(struct capture *capture, const uint8_t *bytes, uint32_t len);
/* 0, or -EIO when the file could not be written to the end. NULL: 0. */
int capture_close(struct capture *capture, struct err *err);

#endif
