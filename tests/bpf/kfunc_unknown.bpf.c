/* SPDX-License-Identifier: BSD-2-Clause */
/* A kfunc that weir does not have: refused by its name. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

extern int bpf_of_no_kernel(struct xdp_md *ctx) __ksym;

SEC("xdp")
int call(struct xdp_md *ctx)
{
	return bpf_of_no_kernel(ctx);
}

char _license[] SEC("license") = "GPL";
