/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work that the kernel's samples xdp1 and xdp2 do for each packet: copy 60 bytes out through
 * bpf_xdp_load_bytes, skip up to two VLAN tags, find the IP protocol, count it in a per-CPU array.
 */
#ifndef EXAMPLES_PARSE_COUNT_H
#define EXAMPLES_PARSE_COUNT_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum { COPY_BYTES = 60, MAX_TAGS = 2 };

struct vlan_tag {
	__be16 tci;
	__be16 encapsulated_proto;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 256);
} rxcnt SEC(".maps");

/* The IP protocol of the packet in the `len` bytes at pkt, 0 when it is none; -1 when it is cut short. */
static __always_inline int ip_protocol(const __u8 *pkt, __u32 len)
{
	const struct ethhdr *eth = (const void *)pkt;
	__be16 proto = eth->h_proto;
	__u32 off = sizeof(*eth);

	for (int i = 0; i < MAX_TAGS; i++) {
		const struct vlan_tag *tag = (const void *)(pkt + off);

		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		off += sizeof(*tag);
		if (off > len)
			return -1;
		proto = tag->encapsulated_proto;
	}
	if (proto == bpf_htons(ETH_P_IP)) {
		const struct iphdr *ip = (const void *)(pkt + off);

		return off + sizeof(*ip) > len ? 0 : ip->protocol;
	}
	if (proto == bpf_htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip6 = (const void *)(pkt + off);

		return off + sizeof(*ip6) > len ? 0 : ip6->nexthdr;
	}
	return 0;
}

static __always_inline void count(__u32 proto)
{
	__u64 *value = bpf_map_lookup_elem(&rxcnt, &proto);

	if (value)
		*value += 1;
}

static __always_inline void swap_macs(struct ethhdr *eth)
{
	__u8 mac[ETH_ALEN];

	__builtin_memcpy(mac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, mac, ETH_ALEN);
}

#endif
