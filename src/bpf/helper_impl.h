/* SPDX-License-Identifier: BSD-2-Clause */
/* The helpers themselves, a file a family, for the table in helper_table.c: helper.h says what they may rely on. */
#ifndef WEIR_BPF_HELPER_IMPL_H
#define WEIR_BPF_HELPER_IMPL_H

#include "bpf/helper.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#define HELPER(name)                                                                               \
	uint64_t helper_##name(struct run_ctx *rc, uint64_t a1, uint64_t a2, uint64_t a3,          \
			       uint64_t a4, uint64_t a5)

/* helper_map.c */
HELPER(map_lookup_elem);
HELPER(map_update_elem);
HELPER(map_delete_elem);
HELPER(map_lookup_percpu_elem);
HELPER(map_push_elem);
HELPER(map_pop_elem);
HELPER(map_peek_elem);
HELPER(spin_lock);
HELPER(spin_unlock);
/* helper_time.c */
HELPER(ktime_get_ns);
HELPER(ktime_get_boot_ns);
HELPER(ktime_get_tai_ns);
HELPER(ktime_get_coarse_ns);
HELPER(jiffies64);
HELPER(get_prandom_u32);
HELPER(get_smp_processor_id);
HELPER(get_numa_node_id);
HELPER(get_current_pid_tgid);
HELPER(get_current_uid_gid);
/* helper_redirect.c */
HELPER(redirect);
HELPER(redirect_map);
/* helper_packet.c */
HELPER(xdp_adjust_head);
HELPER(xdp_adjust_tail);
HELPER(xdp_adjust_meta);
HELPER(xdp_get_buff_len);
HELPER(xdp_load_bytes);
HELPER(xdp_store_bytes);
HELPER(csum_diff);
/* helper_fib.c */
HELPER(fib_lookup);
HELPER(check_mtu);
/* helper_output.c */
HELPER(perf_event_output);
HELPER(ringbuf_output);
HELPER(ringbuf_reserve);
HELPER(ringbuf_submit);
HELPER(ringbuf_discard);
HELPER(ringbuf_query);
/* helper_print.c */
HELPER(trace_printk);
HELPER(trace_vprintk);
HELPER(snprintf);
/* helper_string.c */
HELPER(strncmp);
HELPER(strtol);
HELPER(strtoul);
HELPER(probe_read_kernel);
HELPER(probe_read_kernel_str);

/* An error as programs see it. */
static inline uint64_t helper_error(int error)
{
	return (uint64_t)(int64_t)-error;
}

static inline void *helper_ptr(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

static inline struct map *helper_map(uint64_t addr)
{
	return helper_ptr(addr);
}

static inline struct frame *helper_frame(uint64_t addr)
{
	return helper_ptr(addr);
}

#endif
