/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DPDK's testpmd as a receiver that drops: a process that polls an interface with net_af_xdp, in the caller's network
 * namespace, on one CPU (its control thread is on another).
 *
 * Threads: one. The process ends with the thread that started it.
 */
#ifndef WEIR_LAB_TESTPMD_H
#define WEIR_LAB_TESTPMD_H

#include "base/err.h"

#include <stdint.h>

struct testpmd;

struct testpmd_result {
	uint64_t received; /* frames */
	double cycles;	   /* a frame, of the polls that gave frames; 0: not said */
};

/* Starts it and waits until it polls. -ENOENT when it is not installed, with a text that says what to do; what it says
 * itself when it ends at once. options: further arguments of the device, ",busy_budget=0", or "". */
int testpmd_open(struct testpmd **ret, const char *ifname, uint32_t cpu, uint32_t control_cpu,
		 const char *options, struct err *err);
/* Stops forwarding and reads what it counted; the process has ended then. */
int testpmd_finish(struct testpmd *pmd, struct testpmd_result *ret, struct err *err);
/* Ends the process if need be. NULL is allowed. */
void testpmd_close(struct testpmd *pmd);

#endif
