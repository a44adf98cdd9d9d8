/* SPDX-License-Identifier: BSD-2-Clause */
/* Two programs, one of which weir cannot load: the other is loaded when it alone is asked for. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile __u32 verdict = XDP_PASS;

SEC("xdp/bad")
int bad(struct xdp_md *ctx)
{
	return bpf_clone_redirect((void *)ctx, 1, 0) ? XDP_DROP : XDP_PASS;
}

SEC("xdp/good")
int good(struct xdp_md *ctx)
{
	return verdict;
}

char _license[] SEC("license") = "GPL";
