/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests/cli/run_test.sh: writes down what a program can see of where it runs, and says it. */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 6);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

const volatile __u32 answer = 1; /* .rodata */
__u64 limit;			 /* .bss */

static void note(__u32 key, __u64 value)
{
	bpf_map_update_elem(&seen, &key, &value, BPF_ANY);
}

SEC("xdp")
int context(struct xdp_md *ctx)
{
	note(0, ctx->ingress_ifindex);
	note(1, ctx->rx_queue_index);
	note(2, bpf_get_smp_processor_id());
	note(3, bpf_ktime_get_ns());
	note(4, answer);
	note(5, limit);
	bpf_printk("answer %d", answer);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
