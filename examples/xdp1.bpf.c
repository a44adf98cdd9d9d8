/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts packets by IP protocol and drops them: the work of the kernel's sample xdp1 (6.1). */
#include "parse_count.h"

SEC("xdp")
int xdp1(struct xdp_md *ctx)
{
	__u8 pkt[COPY_BYTES] = {};
	int proto;

	if (bpf_xdp_load_bytes(ctx, 0, pkt, sizeof(pkt)))
		return XDP_DROP;
	proto = ip_protocol(pkt, sizeof(pkt) - 1);
	if (proto >= 0)
		count((__u32)proto);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
