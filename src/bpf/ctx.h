/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct xdp_md on a struct frame. The object has 4-byte loads from a 24-byte context; the values of data,
 * data_end and data_meta are 64-bit pointers. As the kernel's verifier rewrites these loads
 * (net/core/filter.c, xdp_convert_ctx_access), both back ends turn them into what this table says.
 */
#ifndef WEIR_BPF_CTX_H
#define WEIR_BPF_CTX_H

#include "pkt/frame.h"

#include <linux/bpf.h>
#include <stdbool.h>

enum { CTX_SIZE = sizeof(struct xdp_md) };

/*
 * The value of a load of `size` bytes at offset `off` of the context: true and *value for the aligned 4-byte
 * loads that the kernel allows, else false: a fault.
 */
static inline bool ctx_load(const struct frame *f, int64_t off, uint32_t size, uint64_t *value)
{
	if (size != 4)
		return false;
	switch (off) {
	case offsetof(struct xdp_md, data):
		*value = (uint64_t)(uintptr_t)f->data;
		return true;
	case offsetof(struct xdp_md, data_end):
		*value = (uint64_t)(uintptr_t)f->data_end;
		return true;
	case offsetof(struct xdp_md, data_meta):
		*value = (uint64_t)(uintptr_t)f->data_meta;
		return true;
	case offsetof(struct xdp_md, ingress_ifindex):
		*value = f->ingress_ifindex;
		return true;
	case offsetof(struct xdp_md, rx_queue_index):
		*value = f->rx_queue_index;
		return true;
	case offsetof(struct xdp_md, egress_ifindex):
		*value = f->egress_ifindex;
		return true;
	default:
		return false;
	}
}

#endif
