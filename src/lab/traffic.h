/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traffic into a cable: a process of its own, bound to a CPU, that has the kernel make frames (BPF_PROG_TEST_RUN with
 * live frames) and send them into an interface, as fast as it can. The kernel's receiving work for them runs
 * where the sending process is, unless a receiver takes it over (busy polling).
 *
 * Threads: one. The process ends with its socket, or with the thread that started it.
 */
#ifndef WEIR_LAB_TRAFFIC_H
#define WEIR_LAB_TRAFFIC_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct traffic;

enum { TRAFFIC_FRAME_BYTES = 64 };

/* Starts the process on `cpu`, in the caller's network namespace; its frames are sent through ifindex. */
int traffic_open(struct traffic **ret, uint32_t ifindex, uint32_t cpu, struct err *err);
/* Sends that many frames. Until traffic_done is true the caller does something else. */
int traffic_start(struct traffic *traffic, uint64_t frames);
/* True when the last frame was sent. No system call. */
bool traffic_done(const struct traffic *traffic);
/* Sleeps until the last frame was sent; -ETIMEDOUT after a minute, and the process is ended then. */
int traffic_wait(struct traffic *traffic);
/* Waits, and takes the result: nanoseconds that the sending took, without the start-up of BPF_PROG_TEST_RUN; -errno. */
int64_t traffic_finish(struct traffic *traffic);
void traffic_close(struct traffic *traffic);

/* A link to a program that drops all that ifindex receives: its descriptor, or -errno. */
int traffic_sink(uint32_t ifindex);

#endif
