/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts as xdp1 does, and sends UDP back with its MAC addresses swapped: the kernel's sample xdp2 (6.1). */
#include "parse_count.h"

#include <linux/in.h>

SEC("xdp")
int xdp2(struct xdp_md *ctx)
{
	__u8 pkt[COPY_BYTES] = {};
	int proto;

	if (bpf_xdp_load_bytes(ctx, 0, pkt, sizeof(pkt)))
		return XDP_DROP;
	proto = ip_protocol(pkt, sizeof(pkt) - 1);
	if (proto < 0)
		return XDP_DROP;
	count((__u32)proto);
	if (proto != IPPROTO_UDP)
		return XDP_DROP;
	swap_macs((struct ethhdr *)pkt);
	if (bpf_xdp_store_bytes(ctx, 0, pkt, sizeof(pkt)))
		return XDP_DROP;
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
