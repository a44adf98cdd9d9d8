/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that the kernel refuses, since nothing proves its access: weir stops it. */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

SEC("xdp")
int overrun(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data;

	return data[2000];
}

char _license[] SEC("license") = "GPL";
