/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A veth pair in a network namespace of its own, for tables that measure real ports. The calling thread, and the
 * processes that it starts from then on, are in that namespace until the cable is closed; the kernel removes both with
 * the last process that is in it, however that ends.
 *
 * Threads: one.
 */
#ifndef WEIR_LAB_CABLE_H
#define WEIR_LAB_CABLE_H

#include "base/err.h"

#include <stdint.h>

struct cable {
	int home_fd; /* the namespace that the thread came from */
	uint32_t near, far;
};

/* Names of the two ends: the receiver is at the near one, what the generator sends enters at the far one. */
#define CABLE_NEAR "near"
#define CABLE_FAR  "far"

/* Enters a new namespace and makes the pair, both ends up. -EPERM and the like with a text; then nothing has
 * changed. */
int cable_open(struct cable *cable, struct err *err);
/* Goes back. */
void cable_close(struct cable *cable);

#endif
