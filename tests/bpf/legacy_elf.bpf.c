/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps as iproute2 had them: the 36-byte struct bpf_elf_map, with a pinned one, and a map of maps whose
 * template is named by its id; key and value types by the struct of BPF_ANNOTATE_KV_PAIR.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct bpf_elf_map {
	__u32 type;
	__u32 size_key;
	__u32 size_value;
	__u32 max_elem;
	__u32 flags;
	__u32 id;
	__u32 pinning;
	__u32 inner_id;
	__u32 inner_idx;
};

struct flow {
	__u32 from, to;
};

struct ____btf_map_flows {
	struct flow key;
	__u64 value;
};
struct ____btf_map_flows SEC(".maps.annotations") annotation_flows = {};

struct bpf_elf_map SEC("maps") flows = {
	.type = BPF_MAP_TYPE_LRU_HASH,
	.size_key = sizeof(struct flow),
	.size_value = sizeof(__u64),
	.max_elem = 1000,
	.pinning = 2,
};

struct bpf_elf_map SEC("maps") outer = {
	.type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
	.size_key = sizeof(__u32),
	.size_value = sizeof(__u32),
	.max_elem = 4,
	.inner_id = 7,
};

struct bpf_elf_map SEC("maps") inner = {
	.type = BPF_MAP_TYPE_ARRAY,
	.size_key = sizeof(__u32),
	.size_value = sizeof(__u32),
	.max_elem = 2,
	.id = 7,
};

SEC("xdp1")
int look(struct xdp_md *ctx)
{
	struct flow flow = { .from = ctx->ingress_ifindex, .to = ctx->rx_queue_index };
	__u32 key = 0;
	void *map = bpf_map_lookup_elem(&outer, &key);

	if (map && bpf_map_lookup_elem(map, &key))
		return XDP_DROP;
	return bpf_map_lookup_elem(&flows, &flow) ? XDP_TX : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
