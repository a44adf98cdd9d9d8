/* SPDX-License-Identifier: BSD-2-Clause */
/* A map that is shared by name (LIBBPF_PIN_BY_NAME), as xdp-filter's are. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} shared SEC(".maps");

SEC("xdp")
int look(struct xdp_md *ctx)
{
	__u32 key = 1;
	__u64 *value = bpf_map_lookup_elem(&shared, &key);

	return value && *value ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
