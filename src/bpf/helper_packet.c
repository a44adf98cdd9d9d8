/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers on the packet: room at its ends, bytes, checksums (net/core/filter.c; xdp-semantics 7.2 to 7.9). */
#include "bpf/helper_impl.h"

enum {
	META_MAX = 255,	    /* a byte holds the length in skb_shared_info */
	BYTES_MAX = 0xffff, /* of load_bytes and store_bytes: offset and length */
	META_ALIGN = 4,
};

HELPER(xdp_adjust_head)
{
	struct frame *f = helper_frame(a1);
	int64_t meta_len = f->data - f->data_meta;
	int64_t at = f->data - f->hard_start + (int32_t)a2;

	if (at < FRAME_RESERVED + meta_len || at > f->data_end - f->hard_start - FRAME_LEN_MIN)
		return helper_error(EINVAL);
	if (meta_len)
		memmove(f->hard_start + at - meta_len, f->data_meta, (size_t)meta_len);
	f->data = f->hard_start + at;
	f->data_meta = f->data - meta_len;
	return 0;
}

HELPER(xdp_adjust_tail)
{
	struct frame *f = helper_frame(a1);
	int32_t delta = (int32_t)a2;
	int64_t end = f->data_end - f->hard_start + delta;

	if (end > frame_hard_end(f) - f->hard_start ||
	    end < f->data - f->hard_start + FRAME_LEN_MIN)
		return helper_error(EINVAL);
	if (delta > 0)
		memset(f->data_end, 0, (size_t)delta);
	f->data_end = f->hard_start + end;
	return 0;
}

HELPER(xdp_adjust_meta)
{
	struct frame *f = helper_frame(a1);
	int64_t at = f->data_meta - f->hard_start + (int32_t)a2;
	int64_t len = f->data - f->hard_start - at;

	if (at < FRAME_RESERVED || len < 0)
		return helper_error(EINVAL);
	if (len % META_ALIGN || len > META_MAX)
		return helper_error(EACCES);
	f->data_meta = f->hard_start + at;
	return 0;
}

HELPER(xdp_get_buff_len)
{
	return frame_len(helper_frame(a1));
}

static int check_bytes(const struct frame *f, uint32_t off, uint32_t len)
{
	if (off > BYTES_MAX || len > BYTES_MAX)
		return EFAULT;
	return off + len > frame_len(f) ? EINVAL : 0;
}

/* memmove: the buffer may be a part of the packet. */
HELPER(xdp_load_bytes)
{
	const struct frame *f = helper_frame(a1);
	int error = check_bytes(f, (uint32_t)a2, (uint32_t)a4);

	if (error)
		return helper_error(error);
	memmove(helper_ptr(a3), f->data + (uint32_t)a2, (uint32_t)a4);
	return 0;
}

HELPER(xdp_store_bytes)
{
	const struct frame *f = helper_frame(a1);
	int error = check_bytes(f, (uint32_t)a2, (uint32_t)a4);

	if (error)
		return helper_error(error);
	memmove(f->data + (uint32_t)a2, helper_ptr(a3), (uint32_t)a4);
	return 0;
}

/* One's complement sums in 32 bits (RFC 1071); an odd last byte is the low one of a 16-bit word. */
static uint32_t sum_add(uint32_t a, uint32_t b)
{
	uint64_t sum = (uint64_t)a + b;

	return (uint32_t)(sum + (sum >> 32));
}

static uint32_t sum_bytes(const uint8_t *p, uint32_t n, uint32_t sum)
{
	uint32_t word;

	for (; n >= 4; p += 4, n -= 4) {
		memcpy(&word, p, 4);
		sum = sum_add(sum, word);
	}
	word = 0;
	memcpy(&word, p, n);
	return sum_add(sum, word);
}

static uint64_t sum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/* As the kernel's since 6.13: any sizes, a result of 16 bits. */
HELPER(csum_diff)
{
	uint32_t from_size = (uint32_t)a2, to_size = (uint32_t)a4, seed = (uint32_t)a5;
	const uint8_t *from = helper_ptr(a1), *to = helper_ptr(a3);

	if (from_size && to_size)
		return sum_fold(
			sum_add(sum_bytes(to, to_size, seed), ~sum_bytes(from, from_size, 0)));
	if (to_size)
		return sum_fold(sum_bytes(to, to_size, seed));
	if (from_size)
		return sum_fold(~sum_bytes(from, from_size, ~seed));
	return sum_fold(seed);
}
