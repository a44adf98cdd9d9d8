/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wire between ports: what comes in by an interface leaves by the one that `tx_port` has under its ifindex.
 * Nothing of the packet is changed.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 64);
} tx_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 64);
} forwarded SEC(".maps");

SEC("xdp")
int forward(struct xdp_md *ctx)
{
	__u32 in = ctx->ingress_ifindex;
	__u64 one = 1, *packets = bpf_map_lookup_elem(&forwarded, &in);

	if (packets)
		__sync_fetch_and_add(packets, 1);
	else
		bpf_map_update_elem(&forwarded, &in, &one, BPF_NOEXIST);
	return bpf_redirect_map(&tx_port, in, XDP_PASS);
}

char _license[] SEC("license") = "GPL";
