/* SPDX-License-Identifier: BSD-2-Clause */
/* A map of a type that weir does not have, and no kernel of today either: refused by name and number. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, 77);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} odd SEC(".maps");

SEC("xdp")
int look(struct xdp_md *ctx)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&odd, &key) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
