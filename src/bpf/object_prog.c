/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of an object: which are XDP and of what kind, which one is meant, and what the others are.
 */
#include "object_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "bpf/btf.h"
#include "bpf/sys.h"

/* A line of names: "a (xdp), b (tc)". */
struct name_list {
	char text[512];
	size_t len;
};

static void list_add(struct name_list *list, const char *name, const char *section)
{
	int n = snprintf(list->text + list->len, sizeof(list->text) - list->len, "%s%s (%s)",
			 list->len ? ", " : "", name, section);

	if (n > 0)
		list->len += (size_t)n < sizeof(list->text) - list->len
				     ? (size_t)n
				     : sizeof(list->text) - list->len - 1;
}

static void note_skipped(const struct object_cfg *cfg, const char *name, const char *section)
{
	char text[512];

	if (!cfg->note)
		return;
	snprintf(text, sizeof(text), "program %s in section %s is no XDP program and is not loaded",
		 name, section);
	cfg->note(cfg->note_arg, text);
}

/* The name of the struct that a program's first parameter points to, by BTF; "" when that is not known. */
static const char *context_name(const struct object *obj, const struct bpf_program *prog)
{
	const struct btf *btf = bpf_object__btf(obj->bpf);
	const struct btf_type *t;
	int id;

	if (!btf)
		return "";
	id = btf__find_by_name_kind(btf, bpf_program__name(prog), BTF_KIND_FUNC);
	t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_vlen(t))
		return "";
	t = btf__type_by_id(btf, btf_params(t)[0].type);
	if (!t || !btf_is_ptr(t))
		return "";
	id = btf__resolve_type(btf, t->type);
	t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	return t ? btf__str_by_offset(btf, t->name_off) : "";
}

/* Sections whose names no type of libbpf claims hold XDP programs, unless they say otherwise: "prog", "xdp1" of
 * old samples. */
static void set_free_section(const struct object *obj, struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);
	enum bpf_attach_type attach = BPF_XDP;

	if (!strcmp(context_name(obj, prog), "__sk_buff")) {
		bpf_program__set_type(prog, BPF_PROG_TYPE_SCHED_CLS);
		return;
	}
	if (!strncmp(section, "xdp_devmap", strlen("xdp_devmap")))
		attach = BPF_XDP_DEVMAP;
	else if (!strncmp(section, "xdp_cpumap", strlen("xdp_cpumap")))
		attach = BPF_XDP_CPUMAP;
	bpf_program__set_type(prog, BPF_PROG_TYPE_XDP);
	bpf_program__set_expected_attach_type(prog, attach);
	bpf_program__set_autoload(prog, true);
}

static bool is_named(const struct bpf_program *prog, const char *name)
{
	return !strcmp(bpf_program__name(prog), name) ||
	       !strcmp(bpf_program__section_name(prog), name);
}

void object_keep_wanted(struct object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj->bpf) if (!is_named(prog, obj->cfg.prog))
		bpf_program__set_autoload(prog, false);
}

int object_sort_progs(struct object *obj, const struct object_cfg *cfg, struct err *err)
{
	struct name_list others = { .len = 0 }, xdp = { .len = 0 };
	struct bpf_program *prog;
	bool wanted = false;

	bpf_object__for_each_program(prog, obj->bpf)
	{
		const char *name = bpf_program__name(prog);
		const char *section = bpf_program__section_name(prog);

		if (bpf_program__type(prog) == BPF_PROG_TYPE_UNSPEC)
			set_free_section(obj, prog);
		if (bpf_program__type(prog) == BPF_PROG_TYPE_XDP) {
			list_add(&xdp, name, section);
			wanted |= cfg->prog && is_named(prog, cfg->prog);
			continue;
		}
		bpf_program__set_autoload(prog, false);
		list_add(&others, name, section);
		note_skipped(cfg, name, section);
	}
	if (!xdp.len)
		return err_set(err, ENOENT, "%s has no XDP program%s%s%s", obj->path,
			       others.len ? "; it has " : " and no other: is it a BPF object?",
			       others.text, others.len ? ": mark one with SEC(\"xdp\")" : "");
	if (cfg->prog && !wanted)
		return err_set(err, ENOENT, "%s has no XDP program \"%s\"; it has %s", obj->path,
			       cfg->prog, xdp.text);
	return 0;
}

int object_take_progs(struct object *obj, struct err *err)
{
	struct bpf_program *bp;
	uint32_t n = 0;

	bpf_object__for_each_program(bp, obj->bpf) n++;
	obj->progs = calloc(n, sizeof(struct prog *));
	obj->sections = calloc(n, sizeof(char *));
	if (!obj->progs || !obj->sections)
		return err_set(err, ENOMEM, "no memory for %u programs", n);
	bpf_object__for_each_program(bp, obj->bpf)
	{
		struct obj *o;
		struct prog *prog;
		int rc;

		if (!bpf_program__autoload(bp))
			continue;
		rc = sys_fd_resolve(bpf_program__fd(bp), OBJ_PROG, &o);
		if (rc)
			return err_set(err, -rc, "program %s was not loaded",
				       bpf_program__name(bp));
		prog = (struct prog *)o;
		/* bpf(2) saw 15 characters of it */
		snprintf(prog->po.name, sizeof(prog->po.name), "%s", bpf_program__name(bp));
		obj->sections[obj->n_progs] = bpf_program__section_name(bp);
		obj->progs[obj->n_progs++] = prog;
	}
	return 0;
}

struct prog *object_prog(struct object *obj, const char *name)
{
	for (uint32_t i = 0; i < obj->n_progs; i++)
		if (!strcmp(obj->progs[i]->po.name, name))
			return obj->progs[i];
	for (uint32_t i = 0; i < obj->n_progs; i++)
		if (!strcmp(obj->sections[i], name))
			return obj->progs[i];
	return NULL;
}

struct prog *object_prog_at(struct object *obj, uint32_t i)
{
	return i < obj->n_progs ? obj->progs[i] : NULL;
}

const char *object_prog_section(struct object *obj, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj->bpf, name);

	return prog && !bpf_program__autoload(prog) ? bpf_program__section_name(prog) : NULL;
}

/* Programs that run on frames from a port, not on those of a map's entry. */
static bool is_entry(const struct prog *prog)
{
	uint32_t attach = prog->po.traits.expected_attach_type;

	return attach != BPF_XDP_DEVMAP && attach != BPF_XDP_CPUMAP;
}

struct prog *object_main_prog(struct object *obj, struct err *err)
{
	struct name_list names = { .len = 0 };
	struct prog *first = NULL;
	uint32_t n = 0;

	if (obj->cfg.prog)
		return object_prog(obj, obj->cfg.prog);
	if (!obj->n_progs)
		return NULL;
	for (uint32_t i = 0; i < obj->n_progs; i++) {
		if (!is_entry(obj->progs[i]))
			continue;
		first = first ? first : obj->progs[i];
		list_add(&names, obj->progs[i]->po.name, obj->sections[i]);
		n++;
	}
	if (n == 1)
		return first;
	for (uint32_t i = 0; i < obj->n_progs; i++)
		if (!strcmp(obj->sections[i], "xdp") || !strcmp(obj->sections[i], "xdp.frags"))
			return obj->progs[i];
	if (!first)
		err_set(err, ENOENT,
			"%s has programs of devmap and cpumap entries only: name one of them",
			obj->path);
	return first;
}
