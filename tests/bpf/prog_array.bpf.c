/* SPDX-License-Identifier: BSD-2-Clause */
/* A program array that the object fills itself (B5.08), and its programs. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

int drops(struct xdp_md *ctx);
int sends(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} jumps SEC(".maps") = {
	.values = {
		[0] = (void *)&drops,
		[2] = (void *)&sends,
	},
};

SEC("xdp")
int start(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, ctx->rx_queue_index);
	return XDP_PASS;
}

SEC("xdp/drops")
int drops(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp/sends")
int sends(struct xdp_md *ctx)
{
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
