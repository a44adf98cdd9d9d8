/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps as of before BTF-defined maps: libbpf's 20-byte struct bpf_map_def, one of them static (its relocation
 * names the section), the section "prog" of old tutorials. Built with and without -g.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct bpf_map_def {
	unsigned int type;
	unsigned int key_size;
	unsigned int value_size;
	unsigned int max_entries;
	unsigned int map_flags;
};

struct bpf_map_def SEC("maps") counters = {
	.type = BPF_MAP_TYPE_PERCPU_ARRAY,
	.key_size = sizeof(__u32),
	.value_size = sizeof(__u64),
	.max_entries = 16,
};

static struct bpf_map_def SEC("maps") hidden = {
	.type = BPF_MAP_TYPE_HASH,
	.key_size = 8,
	.value_size = 24,
	.max_entries = 100,
	.map_flags = BPF_F_NO_PREALLOC,
};

struct bpf_map_def SEC("maps") tx_port = {
	.type = BPF_MAP_TYPE_DEVMAP,
	.key_size = sizeof(int),
	.value_size = sizeof(int),
	.max_entries = 64,
};

SEC("prog")
int count(struct xdp_md *ctx)
{
	__u64 wide = ctx->rx_queue_index;
	__u64 *value;
	__u32 key = 0;

	value = bpf_map_lookup_elem(&counters, &key);
	if (value)
		*value += 1;
	if (bpf_map_lookup_elem(&hidden, &wide))
		return XDP_DROP;
	return bpf_redirect_map(&tx_port, ctx->ingress_ifindex, 0);
}

char _license[] SEC("license") = "GPL";
