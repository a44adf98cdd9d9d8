/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cases of tests/data/isa, files *.data:
 *
 *   == name of a case
 *   -- asm                  instructions (asm.h), or -- raw: eight bytes in hex a line
 *   -- mem 00 11 ..         the packet; else 64 bytes 00 01 02 ..
 *   -- result 0x1234        all 64 bits of r0 at the exit
 *   -- fault bad_access     instead of a result: enum fault_reason in lower case
 *   -- error text           or: loading fails, and this is a part of what is said
 *   -- out 00 11 ..         the packet afterwards
 *   -- nokernel             the kernel is not asked (its verifier refuses, or decides otherwise)
 *   -- table                lines `add64 1 2 = 3`, `neg32 1 = 0xffffffff`, `jeq 1 1 = 1`: two operands by register,
 *                           and by immediate where the second fits; the operands come from the packet
 */
#ifndef WEIR_TESTS_ISA_CASES_H
#define WEIR_TESTS_ISA_CASES_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CASE_TEXT = 6000, CASE_PACKET = 512 };

struct isa_case {
	char name[120];
	char text[CASE_TEXT]; /* asm, raw or table lines */
	enum { CASE_ASM, CASE_RAW, CASE_TABLE } kind;
	bool has_result, has_out, no_kernel;
	uint64_t result;
	char fault[32], error[160];
	uint8_t mem[CASE_PACKET], out[CASE_PACKET];
	uint32_t mem_len, out_len;
};

/* Reads all *.data files of a directory, in order of name; an array that the caller frees, *n of them. NULL with a
 * message on stderr when something does not parse. */
struct isa_case *cases_read(const char *dir, size_t *n);

#endif
