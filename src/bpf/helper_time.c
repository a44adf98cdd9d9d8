/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks, random numbers, and where the program runs. */
#include "bpf/helper_impl.h"

#include <unistd.h>

#include "base/clock.h"

enum {
	HZ_NS = 4000000 /* CONFIG_HZ=250 */,
	JIFFIES_START = 300 /* seconds before the wrap, at boot */
};

uint64_t helper_clock_ns(const struct run_ctx *rc, int clock_id)
{
	return rc->fixed_time ? rc->fixed_time_ns : clock_ns(clock_id);
}

HELPER(ktime_get_ns)
{
	return helper_clock_ns(rc, CLOCK_MONOTONIC);
}

HELPER(ktime_get_boot_ns)
{
	return helper_clock_ns(rc, CLOCK_BOOTTIME);
}

HELPER(ktime_get_tai_ns)
{
	return helper_clock_ns(rc, CLOCK_TAI);
}

HELPER(ktime_get_coarse_ns)
{
	return helper_clock_ns(rc, CLOCK_MONOTONIC_COARSE);
}

/* As the kernel's: 250 a second, from five minutes before the 32-bit wrap. */
HELPER(jiffies64)
{
	uint64_t start = (uint32_t) - (JIFFIES_START * 250);

	return start + helper_clock_ns(rc, CLOCK_MONOTONIC) / HZ_NS;
}

HELPER(get_prandom_u32)
{
	uint64_t x = rc->prng;

	/* xorshift64*: Marsaglia, "Xorshift RNGs", 2003. */
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	rc->prng = x;
	return (uint32_t)(x * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

HELPER(get_smp_processor_id)
{
	return rc->cpu;
}

HELPER(get_numa_node_id)
{
	return 0;
}

/* The task that the kernel's helper shows is whatever the interrupt hit; here it is weir, without a system call. */
HELPER(get_current_pid_tgid)
{
	static uint64_t pid;
	uint64_t now = __atomic_load_n(&pid, __ATOMIC_RELAXED);

	if (!now) {
		now = (uint64_t)getpid();
		__atomic_store_n(&pid, now, __ATOMIC_RELAXED);
	}
	return now << 32 | now;
}

HELPER(get_current_uid_gid)
{
	return 0;
}
