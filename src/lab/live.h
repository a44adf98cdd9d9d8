/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own XDP on the same object: BPF_PROG_TEST_RUN with BPF_F_TEST_XDP_LIVE_FRAMES, in the oracle's helper
 * process, which has a network namespace of its own.
 */
#ifndef WEIR_LAB_LIVE_H
#define WEIR_LAB_LIVE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct live;

/* Loads examples/NAME.o into the kernel; devmap: its slot 0 leads to a veth whose far end drops. -EPERM without the
 * privilege, with a text. */
int live_open(struct live **ret, const char *name, bool devmap, struct err *err);
/* Nanoseconds a packet over about `packets` packets; below 0 on failure. For struct measure. */
double live_time(void *live, uint64_t packets);
void live_close(struct live *live);

#endif
