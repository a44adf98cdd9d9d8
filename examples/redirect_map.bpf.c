/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts a packet, swaps its MAC addresses and sends it to the port in slot 0 of a devmap: the work of the
 * kernel's sample xdp_redirect_map.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} rx_cnt SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 4);
} tx_port SEC(".maps");

SEC("xdp")
int redirect_map(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	__u8 mac[ETH_ALEN];
	__u32 key = 0;
	__u64 *packets;

	if ((void *)(eth + 1) > data_end)
		return XDP_DROP;
	packets = bpf_map_lookup_elem(&rx_cnt, &key);
	if (!packets)
		return XDP_PASS;
	*packets += 1;
	__builtin_memcpy(mac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, mac, ETH_ALEN);
	return bpf_redirect_map(&tx_port, 0, 0);
}

char _license[] SEC("license") = "GPL";
