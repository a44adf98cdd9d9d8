/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many CPUs weir has (design 8): worker k is CPU k, per-CPU maps have this many slots, libbpf learns
 * this number as the possible CPUs. Fixed before the first map is made.
 *
 * Threads: cpu_count_set at start only, by the main thread.
 */
#ifndef WEIR_BASE_CPU_H
#define WEIR_BASE_CPU_H

#include <stdint.h>

enum {
	/* Bounds per-CPU value areas; libbpf and the kernel accept more, no machine of a user has had more. */
	CPU_MAX = 1024,
};

/* The number of CPUs: what was set, else the host's possible CPUs. At least 1. */
uint32_t cpu_count(void);
/* Sets it to n in 1..CPU_MAX; returns -EINVAL outside, -EBUSY after the first cpu_count(). */
int cpu_count_set(uint32_t n);
/* Binds the calling thread to host CPU `cpu`; 0 or -errno. */
int cpu_pin(uint32_t cpu);

#endif
