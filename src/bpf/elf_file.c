/* SPDX-License-Identifier: BSD-2-Clause */
/* The check of an ELF file before anything else reads it: see elf_file.h. */
#include "elf_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bpf/btf.h"

enum {
	SECTIONS_MAX = 4096, /* libbpf's objects have tens; bounds the checks */
	EM_BPF_NUMBER = 247,
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { NATIVE_ORDER = ELFDATA2LSB };
#else
enum { NATIVE_ORDER = ELFDATA2MSB };
#endif

static int truncated(const struct elf_file *f, struct err *err, const char *what)
{
	return err_set(
		err, EINVAL,
		"%s beyond the end of the file (%zu bytes): truncated or damaged; build it again",
		what, f->size);
}

/* Whether [off, off + n) lies in the file. */
static bool in_file(const struct elf_file *f, uint64_t off, uint64_t n)
{
	return off <= f->size && n <= f->size - off;
}

static int check_ident(const struct elf_file *f, struct err *err)
{
	const uint8_t *id = f->bytes;

	if (!f->size)
		return err_set(err, EINVAL, "the file is empty");
	if (f->size < SELFMAG || memcmp(id, ELFMAG, SELFMAG))
		return err_set(err, EINVAL,
			       "not an ELF file: give the object that clang -target bpf -c makes");
	if (f->size < sizeof(Elf64_Ehdr))
		return truncated(f, err, "header");
	if (id[EI_CLASS] != ELFCLASS64)
		return err_set(err, EINVAL, "a 32-bit ELF file: no BPF object");
	if (id[EI_DATA] != NATIVE_ORDER)
		return err_set(err, EINVAL,
			       "of the other byte order: build it with -target bpfel on x86, bpfeb "
			       "on big-endian hosts");
	return 0;
}

static int check_header(struct elf_file *f, struct err *err)
{
	const Elf64_Ehdr *h = f->ehdr = (Elf64_Ehdr *)(void *)f->bytes;

	/* old compilers left the machine 0 */
	if (h->e_machine != EM_BPF_NUMBER && h->e_machine != EM_NONE)
		return err_set(
			err, EINVAL,
			"for machine %u, not BPF: give the object that clang -target bpf -c makes",
			h->e_machine);
	if (h->e_type != ET_REL)
		return err_set(err, EINVAL, "no relocatable object (ELF type %u)", h->e_type);
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8)
		return err_set(err, EINVAL, "damaged ELF header; build it again");
	if (!h->e_shnum || h->e_shnum > SECTIONS_MAX)
		return err_set(err, EINVAL, "%u sections: 1 to %d are allowed", h->e_shnum,
			       SECTIONS_MAX);
	if (!in_file(f, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return truncated(f, err, "section headers");
	if (!h->e_shstrndx || h->e_shstrndx >= h->e_shnum || h->e_phnum)
		return err_set(err, EINVAL, "damaged ELF header; build it again");
	f->sections = (Elf64_Shdr *)(void *)(f->bytes + h->e_shoff);
	f->n_sections = h->e_shnum;
	return 0;
}

static bool strings_good(const struct elf_file *f, uint32_t section)
{
	const Elf64_Shdr *s;

	if (!section || section >= f->n_sections)
		return false;
	s = &f->sections[section];
	return s->sh_type == SHT_STRTAB && s->sh_size && in_file(f, s->sh_offset, s->sh_size) &&
	       !f->bytes[s->sh_offset + s->sh_size - 1];
}

static int check_section(const struct elf_file *f, uint32_t i, struct err *err)
{
	const Elf64_Shdr *s = &f->sections[i];

	if (s->sh_name >= f->sections[f->ehdr->e_shstrndx].sh_size)
		return err_set(err, EINVAL, "section %u has no name; build it again", i);
	if (s->sh_type == SHT_NULL)
		return 0;
	if (s->sh_type != SHT_NOBITS && !in_file(f, s->sh_offset, s->sh_size))
		return truncated(f, err, elf_section_name(f, i));
	if (s->sh_type == SHT_NOBITS && s->sh_size > UINT32_MAX)
		return err_set(err, EINVAL, "section %s is too large", elf_section_name(f, i));
	if (s->sh_flags & SHF_COMPRESSED)
		return err_set(err, EINVAL, "section %s is compressed: build without -gz",
			       elf_section_name(f, i));
	if (s->sh_addralign & (s->sh_addralign - 1) || s->sh_addralign > 4096 ||
	    (s->sh_type != SHT_NOBITS && s->sh_addralign > 1 && s->sh_offset % s->sh_addralign))
		return err_set(err, EINVAL, "section %s is misaligned; build it again",
			       elf_section_name(f, i));
	return 0;
}

static int check_symbols(struct elf_file *f, uint32_t i, struct err *err)
{
	const Elf64_Shdr *s = &f->sections[i];
	const Elf64_Sym *sym;

	if (f->symbols || s->sh_entsize != sizeof(*sym) || s->sh_size % sizeof(*sym) ||
	    s->sh_offset % 8 || s->sh_size / sizeof(*sym) > UINT32_MAX ||
	    !strings_good(f, s->sh_link))
		return err_set(err, EINVAL, "damaged symbol table; build it again");
	sym = elf_section_bytes(f, i);
	for (uint64_t n = 0; n < s->sh_size / sizeof(*sym); n++)
		if (sym[n].st_name >= f->sections[s->sh_link].sh_size ||
		    (sym[n].st_shndx < SHN_LORESERVE && sym[n].st_shndx >= f->n_sections))
			return err_set(err, EINVAL, "damaged symbol %lu; build it again",
				       (unsigned long)n);
	f->symtab = i;
	f->symbols = elf_section_bytes(f, i);
	f->n_symbols = (uint32_t)(s->sh_size / sizeof(*sym));
	return 0;
}

static int check_relocations(const struct elf_file *f, uint32_t i, struct err *err)
{
	const Elf64_Shdr *s = &f->sections[i];
	const Elf64_Rel *rel;

	if (s->sh_entsize != sizeof(*rel) || s->sh_size % sizeof(*rel) || s->sh_offset % 8 ||
	    !s->sh_info || s->sh_info >= f->n_sections || s->sh_link != f->symtab || !f->symtab)
		return err_set(err, EINVAL, "damaged relocations %s; build it again",
			       elf_section_name(f, i));
	rel = elf_section_bytes(f, i);
	for (uint64_t n = 0; n < s->sh_size / sizeof(*rel); n++)
		if (ELF64_R_SYM(rel[n].r_info) >= f->n_symbols ||
		    rel[n].r_offset >= f->sections[s->sh_info].sh_size)
			return err_set(err, EINVAL, "damaged relocation %lu of %s; build it again",
				       (unsigned long)n, elf_section_name(f, i));
	return 0;
}

static int check_btf(const struct elf_file *f, struct err *err)
{
	uint32_t i = elf_section_find(f, ".BTF");

	if (!i || f->sections[i].sh_type == SHT_NOBITS || !f->sections[i].sh_size)
		return 0;
	if (f->sections[i].sh_offset % 4)
		return err_set(err, EINVAL, "section .BTF is misaligned; build it again");
	return btf_check(elf_section_bytes(f, i), f->sections[i].sh_size, err);
}

static int check_sections(struct elf_file *f, struct err *err)
{
	int rc = 0;

	if (!strings_good(f, f->ehdr->e_shstrndx))
		return truncated(f, err, "section names");
	for (uint32_t i = 0; i < f->n_sections && !rc; i++)
		rc = check_section(f, i, err);
	for (uint32_t i = 1; i < f->n_sections && !rc; i++)
		if (f->sections[i].sh_type == SHT_SYMTAB)
			rc = check_symbols(f, i, err);
	for (uint32_t i = 1; i < f->n_sections && !rc; i++)
		if (f->sections[i].sh_type == SHT_REL)
			rc = check_relocations(f, i, err);
	return rc;
}

int elf_file_open(struct elf_file *file, void *bytes, size_t size, struct err *err)
{
	struct elf_file f = { .bytes = bytes, .size = size };
	int rc;

	rc = check_ident(&f, err);
	if (!rc)
		rc = check_header(&f, err);
	if (!rc)
		rc = check_sections(&f, err);
	if (!rc)
		rc = check_btf(&f, err);
	if (!rc)
		*file = f;
	return rc;
}

const char *elf_section_name(const struct elf_file *file, uint32_t section)
{
	const Elf64_Shdr *names = &file->sections[file->ehdr->e_shstrndx];

	return (const char *)file->bytes + names->sh_offset + file->sections[section].sh_name;
}

uint32_t elf_section_find(const struct elf_file *file, const char *name)
{
	for (uint32_t i = 1; i < file->n_sections; i++)
		if (!strcmp(elf_section_name(file, i), name))
			return i;
	return 0;
}

const char *elf_symbol_name(const struct elf_file *file, const Elf64_Sym *sym)
{
	uint32_t strings = file->sections[file->symtab].sh_link;

	return (const char *)elf_section_bytes(file, strings) + sym->st_name;
}
