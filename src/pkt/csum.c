/* SPDX-License-Identifier: BSD-2-Clause */
/* The Internet checksum: see csum.h. */
#include "pkt/csum.h"

uint32_t csum_add(uint32_t sum, const void *bytes, uint32_t len)
{
	const uint8_t *p = bytes;
	uint64_t wide = sum;

	for (; len >= 2; len -= 2, p += 2)
		wide += (uint32_t)p[0] << 8 | p[1];
	if (len)
		wide += (uint32_t)p[0] << 8;
	while (wide >> 32)
		wide = (wide & UINT32_MAX) + (wide >> 32);
	return (uint32_t)wide;
}

uint16_t csum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

void csum_put(uint8_t *at, uint32_t sum)
{
	uint16_t csum = (uint16_t)~csum_fold(sum);

	at[0] = (uint8_t)(csum >> 8);
	at[1] = (uint8_t)csum;
}

uint32_t csum_pseudo_ipv4(const uint8_t addrs[8], uint8_t proto, uint32_t len)
{
	return csum_add(proto + (len >> 16) + (len & 0xffff), addrs, 8);
}

uint32_t csum_pseudo_ipv6(const uint8_t addrs[32], uint8_t proto, uint32_t len)
{
	return csum_add(proto + (len >> 16) + (len & 0xffff), addrs, 32);
}
