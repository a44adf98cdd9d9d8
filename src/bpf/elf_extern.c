/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols that a program uses and nobody defines: see elf_file.h. libbpf has one message for them all, which
 * names neither the line nor what to do.
 */
#include "elf_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bpf/btf.h"

/* The head of .BTF.ext: Documentation/bpf/btf.rst, section 4.2. */
struct ext_header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len;
	uint32_t func_off, func_len, line_off, line_len; /* from the end of the header */
};

struct ext_section {
	uint32_t name_off, n;
};

struct line {
	uint32_t insn_off, file_off, line_off,
		line_col; /* of the line number, 22 bits, above the column */
};

struct externs {
	const struct elf_file *file;
	const struct btf *btf; /* NULL: none */
};

/* Whether BTF says where the symbol comes from: it stands in .ksyms or .kconfig. */
static bool is_declared(const struct externs *x, const char *name)
{
	for (uint32_t id = 1; x->btf && id < btf__type_cnt(x->btf); id++) {
		const struct btf_type *sec = btf__type_by_id(x->btf, id);
		const struct btf_var_secinfo *v = btf_var_secinfos(sec);
		const char *sec_name;

		if (!btf_is_datasec(sec))
			continue;
		sec_name = btf__str_by_offset(x->btf, sec->name_off);
		if (strcmp(sec_name, ".ksyms") && strcmp(sec_name, ".kconfig"))
			continue;
		for (uint32_t i = 0; i < btf_vlen(sec); i++) {
			const struct btf_type *t = btf__type_by_id(x->btf, v[i].type);

			if (!strcmp(btf__str_by_offset(x->btf, t->name_off), name))
				return true;
		}
	}
	return false;
}

/* The records of one section, of which `left` bytes are there: the last at or before off. */
static bool find_line(const uint8_t *at, uint32_t n, uint32_t rec_size, uint64_t off,
		      struct line *ret)
{
	bool found = false;

	for (uint32_t i = 0; i < n; i++) {
		struct line line;

		memcpy(&line, at + (size_t)i * rec_size, sizeof(line));
		if (line.insn_off <= off) {
			*ret = line;
			found = true;
		}
	}
	return found;
}

/* The source line of byte `off` of a section. */
static bool line_at(const struct externs *x, const char *section, uint64_t off, struct line *ret)
{
	uint32_t ext = elf_section_find(x->file, ".BTF.ext"), rec_size;
	struct ext_header h;
	const uint8_t *at, *end;

	if (!ext || !x->btf || x->file->sections[ext].sh_size < sizeof(h))
		return false;
	at = elf_section_bytes(x->file, ext);
	end = at + x->file->sections[ext].sh_size;
	memcpy(&h, at, sizeof(h));
	if ((uint64_t)h.hdr_len + h.line_off + h.line_len > (uint64_t)(end - at) || h.line_len < 4)
		return false;
	at += h.hdr_len + h.line_off;
	end = at + h.line_len;
	memcpy(&rec_size, at, sizeof(rec_size));
	at += sizeof(rec_size);
	while (rec_size >= sizeof(struct line) &&
	       (size_t)(end - at) >= sizeof(struct ext_section)) {
		struct ext_section sec;
		const char *name;

		memcpy(&sec, at, sizeof(sec));
		at += sizeof(sec);
		if ((uint64_t)sec.n * rec_size > (uint64_t)(end - at))
			return false;
		name = btf__str_by_offset(x->btf, sec.name_off);
		if (name && !strcmp(name, section))
			return find_line(at, sec.n, rec_size, off, ret);
		at += (size_t)sec.n * rec_size;
	}
	return false;
}

static int refuse(const struct externs *x, const char *name, const char *section, uint64_t off,
		  struct err *err)
{
	const char *path = NULL, *base;
	struct line line;
	int rc = err_set(
		err, ENOENT,
		"%s is not defined in the object, and no BPF helper: define it there (static "
		"inline), "
		"link its object in (bpftool gen object), or declare a kernel function with __ksym",
		name);

	if (line_at(x, section, off, &line))
		path = btf__str_by_offset(x->btf, line.file_off);
	if (!path)
		return err_prefix(err, -rc, "section %s, instruction %lu", section,
				  (unsigned long)(off / 8));
	base = strrchr(path, '/');
	return err_prefix(err, -rc, "%s:%u", base ? base + 1 : path, line.line_col >> 10);
}

static int check_section(const struct externs *x, uint32_t section, struct err *err)
{
	const struct elf_file *f = x->file;
	const Elf64_Shdr *s = &f->sections[section];
	const Elf64_Rel *rel = elf_section_bytes(f, section);

	for (uint64_t i = 0; i < s->sh_size / sizeof(*rel); i++) {
		const Elf64_Sym *sym = &f->symbols[ELF64_R_SYM(rel[i].r_info)];
		const char *name = elf_symbol_name(f, sym);

		if (sym->st_shndx == SHN_UNDEF && name[0] && !is_declared(x, name))
			return refuse(x, name, elf_section_name(f, s->sh_info), rel[i].r_offset,
				      err);
	}
	return 0;
}

int elf_check_externs(const struct elf_file *file, struct err *err)
{
	uint32_t btf = elf_section_find(file, ".BTF");
	struct externs x = { .file = file };
	int rc = 0;

	if (btf && file->sections[btf].sh_size)
		x.btf = btf__new(elf_section_bytes(file, btf),
				 (uint32_t)file->sections[btf].sh_size);
	for (uint32_t i = 1; i < file->n_sections && !rc; i++)
		if (file->sections[i].sh_type == SHT_REL &&
		    file->sections[file->sections[i].sh_info].sh_flags & SHF_EXECINSTR)
			rc = check_section(&x, i, err);
	btf__free((struct btf *)x.btf);
	return rc;
}
