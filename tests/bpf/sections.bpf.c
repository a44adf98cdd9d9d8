/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of every XDP section, and one of tc, which weir skips. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp/devmap")
int egress(struct xdp_md *ctx)
{
	return ctx->egress_ifindex ? XDP_PASS : XDP_DROP;
}

SEC("xdp/cpumap")
int remote(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("tc")
int shaper(struct __sk_buff *skb)
{
	return 0;
}

SEC("xdp.frags")
int jumbo(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp_old_name")
int tutorial(struct xdp_md *ctx)
{
	return XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
