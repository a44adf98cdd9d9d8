/* SPDX-License-Identifier: BSD-2-Clause */
/* A helper of tc programs: refused by name, with the instruction. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp")
int copy(struct xdp_md *ctx)
{
	return bpf_clone_redirect((void *)ctx, 1, 0) ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
