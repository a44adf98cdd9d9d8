/* SPDX-License-Identifier: BSD-2-Clause */
/* What libbpf fills in from the kernel's version and configuration. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

extern int LINUX_KERNEL_VERSION __kconfig;

SEC("xdp")
int version(struct xdp_md *ctx)
{
	return LINUX_KERNEL_VERSION > 0x50000 ? XDP_TX : XDP_DROP;
}

char _license[] SEC("license") = "GPL";
