/* SPDX-License-Identifier: BSD-2-Clause */
/* Drops every packet without looking at it: the least that a program can do. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
