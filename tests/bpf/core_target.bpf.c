/* SPDX-License-Identifier: BSD-2-Clause */
/* An object whose BTF stands for a kernel's: there, b is at offset 3 of weir_core_probe. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct weir_core_probe {
	char a[3];
	int b;
} __attribute__((packed));

struct weir_core_probe probe;

SEC("xdp")
int use(struct xdp_md *ctx)
{
	return probe.b;
}

char _license[] SEC("license") = "GPL";
