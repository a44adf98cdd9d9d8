/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legacy maps sections: see legacy.h. All layouts begin with type, key size, value size, entries and flags; what
 * follows is known for iproute2's 36 bytes (id, pinning, inner_id, inner_idx). Each map gets a struct of
 * BTF with members as __uint and __type of bpf_helpers.h make them, a place of its own in a new section,
 * and its symbol and relocations there.
 */
#include "legacy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include "bpf/btf.h"
#include "bpf/elf_file.h"

enum {
	MAPS_MAX = 1024, /* libbpf's objects have tens */
	DEF_MIN = 16,	 /* type, key size, value size, entries: samples/bpf of Linux 3.x */
	DEF_ELF = 36,	 /* iproute2's bpf_elf_map */
	FIELDS_MAX = 7,
	PLACE = 8 *
		FIELDS_MAX, /* bytes a map in the new section: its struct has a pointer a field */
	PIN_GLOBAL_NS = 2,  /* of iproute2 */
};

struct legacy_map {
	Elf64_Sym *sym;
	const char *name;
	uint32_t section;
	uint64_t old_value;
	uint32_t def[DEF_ELF / 4]; /* what the section has; 0 beyond its layout */
	uint32_t size;
	int struct_id;
};

/* The maps of an object, and the BTF that is made for them. */
struct legacy {
	struct elf_file file;
	struct legacy_map *maps;
	uint32_t n_maps;
	uint32_t section; /* the first of the legacy sections: it becomes .maps */
	struct btf *btf;
	int int_id;
	struct err *err;
};

enum def_field {
	DEF_TYPE,
	DEF_KEY,
	DEF_VALUE,
	DEF_ENTRIES,
	DEF_FLAGS,
	DEF_ID,
	DEF_PINNING,
	DEF_INNER_ID
};

static bool is_legacy_name(const char *name)
{
	return !strcmp(name, "maps") || !strncmp(name, "maps/", 5);
}

static bool is_legacy(const struct elf_file *file, uint32_t section)
{
	return section && section < file->n_sections &&
	       file->sections[section].sh_type == SHT_PROGBITS &&
	       is_legacy_name(elf_section_name(file, section));
}

static bool is_map_symbol(const struct elf_file *file, const Elf64_Sym *sym)
{
	uint32_t type = ELF64_ST_TYPE(sym->st_info);

	return is_legacy(file, sym->st_shndx) && (type == STT_OBJECT || type == STT_NOTYPE) &&
	       elf_symbol_name(file, sym)[0];
}

static int by_place(const void *a, const void *b)
{
	const struct legacy_map *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->old_value < y->old_value ? -1 : x->old_value > y->old_value;
}

/* Where map i's definition ends: at the next one of its section. */
static uint64_t def_end(const struct legacy *l, uint32_t i)
{
	const struct legacy_map *m = &l->maps[i], *next = m + 1;

	if (i + 1 < l->n_maps && next->section == m->section)
		return next->old_value;
	return l->file.sections[m->section].sh_size;
}

static int read_def(struct legacy *l, uint32_t i)
{
	struct legacy_map *m = &l->maps[i];
	uint64_t end = def_end(l, i), size;
	const uint8_t *bytes = elf_section_bytes(&l->file, m->section);

	if (m->old_value > end || end - m->old_value < DEF_MIN)
		return err_set(
			l->err, EINVAL,
			"map \"%s\" of section %s has %ld bytes: a map definition has 16 at least",
			m->name, elf_section_name(&l->file, m->section),
			(long)(end - m->old_value));
	size = end - m->old_value;
	m->size = (uint32_t)(size > DEF_ELF ? DEF_ELF : size);
	memcpy(m->def, bytes + m->old_value, m->size);
	return 0;
}

static int find_maps(struct legacy *l)
{
	const struct elf_file *file = &l->file;
	int rc = 0;

	l->maps = calloc(MAPS_MAX, sizeof(*l->maps));
	if (!l->maps)
		return err_set(l->err, ENOMEM, "no memory for legacy maps");
	for (uint32_t i = 1; i < file->n_symbols; i++) {
		Elf64_Sym *sym = &file->symbols[i];

		if (!is_map_symbol(file, sym))
			continue;
		if (l->n_maps == MAPS_MAX)
			return err_set(l->err, E2BIG, "more than %d maps", MAPS_MAX);
		l->maps[l->n_maps++] = (struct legacy_map){ .sym = sym,
							    .name = elf_symbol_name(file, sym),
							    .section = sym->st_shndx,
							    .old_value = sym->st_value };
	}
	qsort(l->maps, l->n_maps, sizeof(*l->maps), by_place);
	for (uint32_t i = 0; i < l->n_maps && !rc; i++)
		rc = read_def(l, i);
	return rc;
}

/* The members of a map's struct: types cannot be added between a struct and its members, so they come first. */
struct fields {
	const char *names[FIELDS_MAX];
	int types[FIELDS_MAX];
	uint32_t n;
	bool failed;
};

static void add_field(struct fields *f, const char *name, int type)
{
	if (type < 0)
		f->failed = true;
	f->names[f->n] = name;
	f->types[f->n++] = type;
}

/* int (*name)[value], as __uint(name, value) has it. */
static void add_uint(struct legacy *l, struct fields *f, const char *name, uint32_t value)
{
	int id = btf__add_array(l->btf, l->int_id, l->int_id, value);

	add_field(f, name, id > 0 ? btf__add_ptr(l->btf, id) : id);
}

/* The type of member `name` in struct ____btf_map_MAP (BPF_ANNOTATE_KV_PAIR), when its size is right; else 0. */
static uint32_t annotated(const struct legacy *l, const struct legacy_map *m, const char *name,
			  uint32_t size)
{
	const struct btf_type *t;
	char text[256];
	int id;

	snprintf(text, sizeof(text), "____btf_map_%s", m->name);
	id = size ? btf__find_by_name_kind(l->btf, text, BTF_KIND_STRUCT) : 0;
	t = id > 0 ? btf__type_by_id(l->btf, (uint32_t)id) : NULL;
	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_member *member = &btf_members(t)[i];

		if (!strcmp(btf__str_by_offset(l->btf, member->name_off), name) &&
		    btf__resolve_size(l->btf, member->type) == size)
			return member->type;
	}
	return 0;
}

/* The key or the value: by its type, else by its size. */
static void add_side(struct legacy *l, struct fields *f, const struct legacy_map *m, bool key)
{
	uint32_t size = m->def[key ? DEF_KEY : DEF_VALUE];
	uint32_t type = annotated(l, m, key ? "key" : "value", size);

	if (type)
		add_field(f, key ? "key" : "value", btf__add_ptr(l->btf, (int)type));
	else
		add_uint(l, f, key ? "key_size" : "value_size", size);
}

/* The template of a map of maps, by iproute2's ids. */
static struct legacy_map *inner_of(const struct legacy *l, const struct legacy_map *m)
{
	uint32_t type = m->def[DEF_TYPE];

	if ((type != BPF_MAP_TYPE_ARRAY_OF_MAPS && type != BPF_MAP_TYPE_HASH_OF_MAPS) ||
	    m->size < DEF_ELF || !m->def[DEF_INNER_ID])
		return NULL;
	for (uint32_t i = 0; i < l->n_maps; i++)
		if (l->maps[i].def[DEF_ID] == m->def[DEF_INNER_ID] && &l->maps[i] != m)
			return &l->maps[i];
	return NULL;
}

/* struct { ... } *values[], as __array(values, struct { ... }) has it. */
static void add_values(struct legacy *l, struct fields *f, const struct legacy_map *inner)
{
	int id = btf__add_ptr(l->btf, inner->struct_id);

	add_field(f, "values", id > 0 ? btf__add_array(l->btf, l->int_id, id, 0) : id);
}

static int add_struct(struct legacy *l, struct legacy_map *m)
{
	struct legacy_map *inner = inner_of(l, m);
	struct fields f = { .n = 0 };
	int rc = 0;

	if (inner && !inner->struct_id)
		return 0; /* its template first: add_structs comes again */
	add_uint(l, &f, "type", m->def[DEF_TYPE]);
	add_side(l, &f, m, true);
	add_side(l, &f, m, false);
	add_uint(l, &f, "max_entries", m->def[DEF_ENTRIES]);
	add_uint(l, &f, "map_flags", m->size >= DEF_MIN + 4 ? m->def[DEF_FLAGS] : 0);
	if (m->size >= DEF_ELF && m->def[DEF_PINNING] == PIN_GLOBAL_NS)
		add_uint(l, &f, "pinning", 1); /* LIBBPF_PIN_BY_NAME */
	if (inner)
		add_values(l, &f, inner);
	m->struct_id = f.failed ? -1 : btf__add_struct(l->btf, NULL, PLACE);
	if (m->struct_id < 0)
		return err_set(l->err, ENOMEM, "no memory for BTF");
	for (uint32_t i = 0; i < f.n && rc >= 0; i++)
		rc = btf__add_field(l->btf, f.names[i], f.types[i], i * 64, 0);
	return rc < 0 ? err_set(l->err, ENOMEM, "no memory for BTF") : 0;
}

/* Twice: a map of maps comes after its template, and the kernel allows no deeper nesting. */
static int add_structs(struct legacy *l)
{
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < l->n_maps; i++) {
			int rc = l->maps[i].struct_id ? 0 : add_struct(l, &l->maps[i]);

			if (rc)
				return rc;
		}
	for (uint32_t i = 0; i < l->n_maps; i++)
		if (!l->maps[i].struct_id)
			return err_set(l->err, EINVAL,
				       "map \"%s\": its inner maps are maps of maps",
				       l->maps[i].name);
	return 0;
}

/*
 * The object's own DATASEC of a legacy section describes what is no longer there: it becomes a struct of as many
 * ints, which has the same size in BTF and which nothing refers to.
 */
static void retire_datasecs(struct legacy *l)
{
	for (uint32_t id = 1; id < btf__type_cnt(l->btf); id++) {
		struct btf_type *t = (struct btf_type *)btf__type_by_id(l->btf, id);
		struct btf_member *m;

		if (!btf_is_datasec(t) || !is_legacy_name(btf__str_by_offset(l->btf, t->name_off)))
			continue;
		_Static_assert(sizeof(struct btf_member) == sizeof(struct btf_var_secinfo),
			       "a DATASEC can become a STRUCT in place");
		m = btf_members(t);
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			m[i] = (struct btf_member){ .type = (uint32_t)l->int_id };
		t->name_off = 0;
		t->info = (uint32_t)BTF_KIND_STRUCT << 24 | btf_vlen(t);
		t->size = 4;
	}
}

static int add_datasec(struct legacy *l)
{
	int first = (int)btf__type_cnt(l->btf), rc = 0;

	for (uint32_t i = 0; i < l->n_maps && rc >= 0; i++)
		rc = btf__add_var(l->btf, l->maps[i].name, BTF_VAR_GLOBAL_ALLOCATED,
				  l->maps[i].struct_id);
	if (rc >= 0)
		rc = btf__add_datasec(l->btf, ".maps", l->n_maps * PLACE);
	for (uint32_t i = 0; i < l->n_maps && rc >= 0; i++)
		rc = btf__add_datasec_var_info(l->btf, first + (int)i, i * PLACE, PLACE);
	return rc < 0 ? err_set(l->err, -rc, "no BTF for legacy maps: %s", errno_name(rc)) : 0;
}

static int make_btf(struct legacy *l)
{
	uint32_t section = elf_section_find(&l->file, ".BTF");
	int rc;

	l->btf = section ? btf__new(elf_section_bytes(&l->file, section),
				    (uint32_t)l->file.sections[section].sh_size)
			 : btf__new_empty();
	if (!l->btf)
		return err_set(l->err, errno, "its BTF does not parse");
	l->int_id = btf__add_int(l->btf, "int", 4, BTF_INT_SIGNED);
	if (l->int_id < 0)
		return err_set(l->err, ENOMEM, "no memory for BTF");
	retire_datasecs(l);
	rc = add_structs(l);
	return rc ? rc : add_datasec(l);
}

/* The map that a relocation against its section means: the offset is in the instruction. */
static const struct legacy_map *map_at(const struct legacy *l, uint32_t section, uint64_t off)
{
	for (uint32_t i = 0; i < l->n_maps; i++)
		if (l->maps[i].section == section && l->maps[i].old_value == off)
			return &l->maps[i];
	return NULL;
}

/* Relocations of static maps name the section; libbpf wants the map's symbol. */
static int move_relocations(struct legacy *l, uint32_t section)
{
	const struct elf_file *file = &l->file;
	const Elf64_Shdr *s = &file->sections[section], *target = &file->sections[s->sh_info];
	Elf64_Rel *rel = elf_section_bytes(file, section);

	for (uint64_t i = 0; i < s->sh_size / sizeof(*rel); i++) {
		const Elf64_Sym *sym = &file->symbols[ELF64_R_SYM(rel[i].r_info)];
		const struct legacy_map *m;
		struct bpf_insn insn;

		if (ELF64_ST_TYPE(sym->st_info) != STT_SECTION || !is_legacy(file, sym->st_shndx))
			continue;
		if (target->sh_type != SHT_PROGBITS ||
		    target->sh_size - rel[i].r_offset < sizeof(insn))
			continue;
		memcpy(&insn, file->bytes + target->sh_offset + rel[i].r_offset, sizeof(insn));
		m = map_at(l, sym->st_shndx, (uint32_t)insn.imm);
		if (!m)
			return err_set(l->err, EINVAL, "relocation %lu of %s names no map",
				       (unsigned long)i, elf_section_name(file, section));
		insn.imm = 0;
		memcpy(file->bytes + target->sh_offset + rel[i].r_offset, &insn, sizeof(insn));
		rel[i].r_info = ELF64_R_INFO((uint64_t)(m->sym - file->symbols),
					     ELF64_R_TYPE(rel[i].r_info));
	}
	return 0;
}

static int move_maps(struct legacy *l)
{
	for (uint32_t i = 1; i < l->file.n_sections; i++) {
		const Elf64_Shdr *s = &l->file.sections[i];
		int rc;

		if (s->sh_type != SHT_REL)
			continue;
		if (is_legacy(&l->file, s->sh_info))
			return err_set(
				l->err, EOPNOTSUPP,
				"section %s has relocations: maps with initial values need .maps",
				elf_section_name(&l->file, s->sh_info));
		rc = move_relocations(l, i);
		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < l->n_maps; i++) {
		/* libbpf looks for the symbols of maps among the global ones */
		l->maps[i].sym->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
		l->maps[i].sym->st_shndx = (uint16_t)l->section;
		l->maps[i].sym->st_value = (uint64_t)i * PLACE;
		l->maps[i].sym->st_size = PLACE;
	}
	return 0;
}

/* The new file: the old bytes, then what is appended, each part 8-aligned, the section headers last. */
struct layout {
	size_t names, maps, btf, headers, end;
	uint32_t n_sections;
};

static size_t round8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static const char new_names[] = ".maps\0.BTF";
enum { NAME_MAPS = 0, NAME_BTF = 6 };

static void fill_headers(const struct legacy *l, const struct layout *at, uint8_t *to,
			 uint32_t btf_size)
{
	const struct elf_file *file = &l->file;
	Elf64_Shdr *h = (Elf64_Shdr *)(void *)(to + at->headers);
	uint32_t names = file->ehdr->e_shstrndx, btf = elf_section_find(file, ".BTF");
	uint64_t old_names = file->sections[names].sh_size;

	memcpy(h, file->sections, file->n_sections * sizeof(*h));
	if (!btf)
		btf = file->n_sections; /* one more */
	h[btf].sh_name = (uint32_t)old_names + NAME_BTF;
	h[btf].sh_type = SHT_PROGBITS;
	h[btf].sh_offset = at->btf;
	h[btf].sh_size = btf_size;
	h[btf].sh_addralign = 8;
	h[names].sh_offset = at->names;
	h[names].sh_size = old_names + sizeof(new_names);
	h[l->section].sh_name = (uint32_t)old_names + NAME_MAPS;
	h[l->section].sh_offset = at->maps;
	h[l->section].sh_size = (uint64_t)l->n_maps * PLACE;
	h[l->section].sh_addralign = 8;
}

static int write_file(const struct legacy *l, void **ret, size_t *ret_size)
{
	const struct elf_file *file = &l->file;
	const Elf64_Shdr *names = &file->sections[file->ehdr->e_shstrndx];
	uint32_t btf_size;
	const void *btf = btf__raw_data(l->btf, &btf_size);
	struct layout at;
	Elf64_Ehdr *ehdr;
	uint8_t *to;

	if (!btf)
		return err_set(l->err, ENOMEM, "no memory for BTF");
	at.n_sections = file->n_sections + !elf_section_find(file, ".BTF");
	at.names = round8(file->size);
	at.maps = round8(at.names + names->sh_size + sizeof(new_names));
	at.btf = round8(at.maps + (size_t)l->n_maps * PLACE);
	at.headers = round8(at.btf + btf_size);
	at.end = at.headers + at.n_sections * sizeof(Elf64_Shdr);
	to = calloc(1, at.end);
	if (!to)
		return err_set(l->err, ENOMEM, "no memory for %zu bytes", at.end);
	memcpy(to, file->bytes, file->size);
	memcpy(to + at.names, file->bytes + names->sh_offset, names->sh_size);
	memcpy(to + at.names + names->sh_size, new_names, sizeof(new_names));
	memcpy(to + at.btf, btf, btf_size);
	fill_headers(l, &at, to, btf_size);
	ehdr = (Elf64_Ehdr *)(void *)to;
	ehdr->e_shoff = at.headers;
	ehdr->e_shnum = (uint16_t)at.n_sections;
	*ret = to;
	*ret_size = at.end;
	return 0;
}

/* On a copy of the file: a failure half way leaves the caller's as it was. */
static int rewrite(struct legacy *l, void **ret, size_t *ret_size)
{
	int rc = find_maps(l);

	if (rc)
		return rc;
	if (!l->n_maps)
		return err_set(l->err, EINVAL,
			       "section %s has no symbols: it was stripped; build it again",
			       elf_section_name(&l->file, l->section));
	rc = make_btf(l);
	if (!rc)
		rc = move_maps(l);
	return rc ? rc : write_file(l, ret, ret_size);
}

int legacy_rewrite(void **bytes, size_t *size, struct err *err)
{
	struct legacy l = { .err = err };
	void *copy, *rewritten = NULL;
	size_t new_size = 0;
	int rc;

	rc = elf_file_open(&l.file, *bytes, *size, err);
	if (rc)
		return rc;
	while (l.section < l.file.n_sections && !is_legacy(&l.file, l.section))
		l.section++;
	if (l.section == l.file.n_sections)
		return 0;
	if (elf_section_find(&l.file, ".maps"))
		return err_set(err, EOPNOTSUPP, "it has both a section maps and a section .maps");
	copy = malloc(*size);
	if (!copy)
		return err_set(err, ENOMEM, "no memory for %zu bytes", *size);
	memcpy(copy, *bytes, *size);
	rc = elf_file_open(&l.file, copy, *size, err);
	if (!rc)
		rc = rewrite(&l, &rewritten, &new_size);
	btf__free(l.btf);
	free(l.maps);
	free(copy);
	if (rc)
		return rc;
	free(*bytes);
	*bytes = rewritten;
	*size = new_size;
	return 0;
}
