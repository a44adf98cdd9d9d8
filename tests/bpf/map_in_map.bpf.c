/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps of maps with templates and with initial values (B5.06), as users write them today. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} inner_a SEC(".maps"), inner_b SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(values, struct inner);
} by_cpu SEC(".maps") = {
	.values = { &inner_a, 0, &inner_b },
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 8);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_LRU_HASH);
			__uint(max_entries, 100);
			__type(key, __u32);
			__type(value, __u32);
		});
} by_key SEC(".maps");

SEC("xdp")
int pick(struct xdp_md *ctx)
{
	__u32 slot = ctx->rx_queue_index, zero = 0;
	void *map = bpf_map_lookup_elem(&by_cpu, &slot);
	__u64 *value = map ? bpf_map_lookup_elem(map, &zero) : 0;

	if (value)
		return *value ? XDP_DROP : XDP_TX;
	map = bpf_map_lookup_elem(&by_key, &slot);
	return map && bpf_map_lookup_elem(map, &zero) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
