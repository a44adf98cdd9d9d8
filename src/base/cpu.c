/* SPDX-License-Identifier: BSD-2-Clause */
/* The number of CPUs that weir has: see cpu.h. */
#include "cpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic uint32_t count;

static uint32_t host_possible(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	if (n < 1)
		return 1;
	return n > CPU_MAX ? CPU_MAX : (uint32_t)n;
}

uint32_t cpu_count(void)
{
	uint32_t n = atomic_load_explicit(&count, memory_order_relaxed);

	if (!n) {
		n = host_possible();
		atomic_store_explicit(&count, n, memory_order_relaxed);
	}
	return n;
}

int cpu_count_set(uint32_t n)
{
	if (n < 1 || n > CPU_MAX)
		return -EINVAL;
	if (atomic_load_explicit(&count, memory_order_relaxed) && cpu_count() != n)
		return -EBUSY;
	atomic_store_explicit(&count, n, memory_order_relaxed);
	return 0;
}

int cpu_pin(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}
