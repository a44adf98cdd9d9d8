/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls a function that is nowhere (B6.03): ntohl of the C library, which BPF does not have. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

extern __u32 ntohl(__u32 value);

SEC("xdp")
int order(struct xdp_md *ctx)
{
	return ntohl(ctx->rx_queue_index) ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "GPL";
