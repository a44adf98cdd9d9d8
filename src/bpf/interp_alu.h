/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of RFC 9669 section 4.1 where C's differs: division by zero, INT_MIN / -1, shift counts, 32-bit
 * results, byte order. Included by interp.c alone.
 */
#ifndef WEIR_BPF_INTERP_ALU_H
#define WEIR_BPF_INTERP_ALU_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

/* A 32-bit operation clears the upper half. */
static inline uint64_t narrow(uint8_t width, uint64_t v)
{
	return width == 64 ? v : (uint32_t)v;
}

static inline int64_t narrow_signed(uint8_t width, uint64_t v)
{
	return width == 64 ? (int64_t)v : (int32_t)v;
}

/* x / 0 is 0, x % 0 is x. */
static inline uint64_t alu_div(uint8_t width, uint64_t a, uint64_t b)
{
	a = narrow(width, a);
	b = narrow(width, b);
	return b ? a / b : 0;
}

static inline uint64_t alu_mod(uint8_t width, uint64_t a, uint64_t b)
{
	a = narrow(width, a);
	b = narrow(width, b);
	return b ? a % b : a;
}

/* Truncates toward zero; INT_MIN / -1 is INT_MIN, which the negation of an unsigned number gives. */
static inline uint64_t alu_sdiv(uint8_t width, uint64_t a, uint64_t b)
{
	int64_t x = narrow_signed(width, a), y = narrow_signed(width, b);

	if (!y)
		return 0;
	return narrow(width, y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y));
}

static inline uint64_t alu_smod(uint8_t width, uint64_t a, uint64_t b)
{
	int64_t x = narrow_signed(width, a), y = narrow_signed(width, b);

	if (!y)
		return narrow(width, a);
	return narrow(width, y == -1 ? 0 : (uint64_t)(x % y));
}

static inline uint64_t alu_lsh(uint8_t width, uint64_t a, uint64_t b)
{
	return narrow(width, a << (b & (width - 1u)));
}

static inline uint64_t alu_rsh(uint8_t width, uint64_t a, uint64_t b)
{
	return narrow(width, a) >> (b & (width - 1u));
}

static inline uint64_t alu_arsh(uint8_t width, uint64_t a, uint64_t b)
{
	return narrow(width, (uint64_t)(narrow_signed(width, a) >> (b & (width - 1u))));
}

static inline uint64_t alu_bswap(uint8_t width, uint64_t v)
{
	return width == 64   ? __builtin_bswap64(v)
	       : width == 32 ? __builtin_bswap32((uint32_t)v)
			     : __builtin_bswap16((uint16_t)v);
}

/* To an order of bytes: a swap where it is not the host's, else a truncation. */
static inline uint64_t alu_to_order(uint8_t width, uint64_t v, bool big)
{
	if (big == (BYTE_ORDER == LITTLE_ENDIAN))
		return alu_bswap(width, v);
	return width == 64 ? v : width == 32 ? (uint32_t)v : (uint16_t)v;
}

#endif
