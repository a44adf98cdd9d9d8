/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the Ethernet header and drops: what the first access to a packet's bytes costs. */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int touch(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;

	if ((void *)(eth + 1) > data_end)
		return XDP_ABORTED;
	/* No frame of a benchmark has this type: the load decides the verdict, so no compiler drops it. */
	return eth->h_proto == bpf_htons(0xfffe) ? XDP_PASS : XDP_DROP;
}

char _license[] SEC("license") = "GPL";
