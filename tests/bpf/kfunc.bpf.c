/* SPDX-License-Identifier: BSD-2-Clause */
/* A kfunc that weir has, and a weak one that nobody has: the program asks first. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

extern int bpf_xdp_metadata_rx_hash(const struct xdp_md *ctx, __u32 *hash, __u32 *type) __ksym;
extern int bpf_of_no_kernel(struct xdp_md *ctx) __ksym __weak;

SEC("xdp")
int hash(struct xdp_md *ctx)
{
	__u32 value = 0, type = 0;

	if (bpf_of_no_kernel)
		return bpf_of_no_kernel(ctx);
	return bpf_xdp_metadata_rx_hash(ctx, &value, &type) ? XDP_PASS : XDP_TX;
}

char _license[] SEC("license") = "GPL";
