/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Internet checksum (RFC 1071): one's complement sums over bytes in wire order. Used where weir makes
 * packets and where a sender left a checksum to be completed (af_packet).
 *
 * Threads: pure functions.
 */
#ifndef WEIR_PKT_CSUM_H
#define WEIR_PKT_CSUM_H

#include <stdint.h>

/* Adds len bytes to a running sum; the bytes begin at an even offset of what is summed. */
uint32_t csum_add(uint32_t sum, const void *bytes, uint32_t len);
/* The sum folded to 16 bits, not complemented, in host order of the big-endian words. */
uint16_t csum_fold(uint32_t sum);
/* Writes the complement of the sum at `at`, in wire order. */
void csum_put(uint8_t *at, uint32_t sum);
/* Pseudo-header sums of TCP, UDP and ICMPv6: addresses as they lie in the IP header. */
uint32_t csum_pseudo_ipv4(const uint8_t addrs[8], uint8_t proto, uint32_t len);
uint32_t csum_pseudo_ipv6(const uint8_t addrs[32], uint8_t proto, uint32_t len);

#endif
