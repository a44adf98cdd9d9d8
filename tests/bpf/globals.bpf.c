/* SPDX-License-Identifier: BSD-2-Clause */
/* Global variables of every section, and names too long for the kernel's 15 characters (B5.07). */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct limits {
	__u32 low, high;
};

const volatile __u32 verdict = XDP_PASS;
volatile struct limits limits = { 10, 20 };
volatile __u64 seen;
static volatile __u32 hidden = 5;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, struct limits);
} a_very_long_map_name_1 SEC(".maps"), a_very_long_map_name_2 SEC(".maps");

SEC("xdp")
int a_very_long_program_name(struct xdp_md *ctx)
{
	__u32 key = hidden;

	seen++;
	if (ctx->rx_queue_index < limits.low)
		return XDP_DROP;
	if (bpf_map_lookup_elem(&a_very_long_map_name_1, &key) ||
	    bpf_map_lookup_elem(&a_very_long_map_name_2, &key))
		return XDP_TX;
	return verdict;
}

char _license[] SEC("license") = "GPL";
