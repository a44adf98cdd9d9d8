/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF object file in memory, checked: after elf_file_open all headers, sections, names, symbols, relocations
 * and BTF lie within the file and refer to what is there. It stands before libbpf and libelf, which trust
 * more of a file than they should.
 *
 * Threads: any; the struct is plain data. Ownership: borrows the bytes.
 */
#ifndef WEIR_BPF_ELF_FILE_H
#define WEIR_BPF_ELF_FILE_H

#include "base/err.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	uint8_t *bytes;
	size_t size;
	Elf64_Ehdr *ehdr;
	Elf64_Shdr *sections;
	uint32_t n_sections;
	Elf64_Sym *symbols; /* NULL: none */
	uint32_t n_symbols;
	uint32_t symtab; /* its section */
};

/* Fills *file; the text of a failure says what is wrong, without the file's name. bytes are 8-aligned. */
int elf_file_open(struct elf_file *file, void *bytes, size_t size, struct err *err);

const char *elf_section_name(const struct elf_file *file, uint32_t section);
/* The first section of that name, or 0. */
uint32_t elf_section_find(const struct elf_file *file, const char *name);
const char *elf_symbol_name(const struct elf_file *file, const Elf64_Sym *sym);

/* -ENOENT when a program refers to a symbol that is neither defined nor declared in .ksyms or .kconfig; the text names
 * it, with its source line. */
int elf_check_externs(const struct elf_file *file, struct err *err);

static inline void *elf_section_bytes(const struct elf_file *file, uint32_t section)
{
	return file->bytes + file->sections[section].sh_offset;
}

#endif
