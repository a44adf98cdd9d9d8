/* SPDX-License-Identifier: BSD-2-Clause */
/* CO-RE: sizes and offsets that the target's BTF decides (core_target.bpf.c makes one). */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct weir_core_probe {
	int b;
} __attribute__((preserve_access_index));

SEC("xdp")
int offset(struct xdp_md *ctx)
{
	return bpf_core_field_exists(struct weir_core_probe, b)
		       ? bpf_core_field_offset(struct weir_core_probe, b)
		       : XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
