/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small assembler for the cases in tests/data/isa: one instruction a line, `label:` lines, `;` comments.
 *
 *   add64 r1, 5         any of add sub mul div sdiv mod smod or and xor lsh rsh arsh mov, 32 or 64, imm or register
 *   neg32 r1            neg32 neg64 le16..le64 be16..be64 bswap16..bswap64
 *   movsx8_64 r0, r1    movsx{8,16}_{32,64}, movsx32_64
 *   lddw r1, 0x11223344 | func r2, label
 *   ldxw r0, [r1+4]     ldxb ldxh ldxw ldxdw ldxsb ldxsh ldxsw
 *   stxw [r10-8], r1    stxb stxh stxw stxdw; stb sth stw stdw take a number
 *   fetch_add64 [r10-8], r1   atomic_ and fetch_ {add,or,and,xor}, xchg, cmpxchg, 32 or 64; store_rel8..64
 *   load_acq32 r0, [r10-8]
 *   jeq r1, 5, label    jeq jne jgt jge jlt jle jsgt jsge jslt jsle jset, with 32 at the end for 32 bits
 *   ja label | gotol label | call 7 | callsub label | exit | ret
 *
 * A label may be +N: a distance in instructions. `exit` ends the program: with *expected, all 64 bits of r0 are compared with it, and ASM_GOOD
 * or ASM_WRONG is returned. `ret` is a plain exit, of a subprogram.
 */
#ifndef WEIR_TESTS_ISA_ASM_H
#define WEIR_TESTS_ISA_ASM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASM_INSNS_MAX = 512, ASM_ERROR = 160, ASM_GOOD = 1, ASM_WRONG = 0 };

/* The number of instructions, or -1 with a text in error. */
int asm_program(struct bpf_insn insns[ASM_INSNS_MAX], const char *text, const uint64_t *expected,
		char error[ASM_ERROR]);

#endif
