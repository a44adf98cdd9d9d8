/* SPDX-License-Identifier: BSD-2-Clause */
/* OBJ_GET_INFO_BY_FD: kernel/bpf/syscall.c, bpf_{map,prog}_get_info_by_fd, and kernel/bpf/btf.c, btf_get_info_by_fd. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/btf.h"
#include "bpf/fd.h"
#include "bpf/prog.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"

enum {
	INFO_SIZE_MAX = 4096, /* as for attr: a page */
};

/* Copies the known part of an info to the caller and says how much that was. */
static void put_info(union bpf_attr *attr, const void *info, size_t size)
{
	if (attr->info.info_len < size)
		size = attr->info.info_len;
	memcpy(sys_ptr(attr->info.info), info, size);
	attr->info.info_len = (uint32_t)size;
}

/* The caller's info, zero-extended to `size`; bytes beyond that must be 0. */
static int get_info(const union bpf_attr *attr, void *info, size_t size)
{
	const uint8_t *from = sys_ptr(attr->info.info);
	size_t len = attr->info.info_len;

	if (len > INFO_SIZE_MAX)
		return -E2BIG;
	if (!from && len)
		return -EFAULT;
	for (size_t i = size; i < len; i++)
		if (from[i])
			return -E2BIG;
	memset(info, 0, size);
	if (len)
		memcpy(info, from, len < size ? len : size);
	return 0;
}

/* The kernel's 15 characters of a name. */
static void put_name(char ret[BPF_OBJ_NAME_LEN], const char *name)
{
	snprintf(ret, BPF_OBJ_NAME_LEN, "%.*s", BPF_OBJ_NAME_LEN - 1, name);
}

static int map_info(const struct map *map, union bpf_attr *attr)
{
	struct bpf_map_info info;
	int rc = get_info(attr, &info, sizeof(info));

	if (rc)
		return rc;
	info = (struct bpf_map_info){
		.type = map->type,
		.id = map->obj.id,
		.key_size = map->key_size,
		.value_size = map->value_size,
		.max_entries = map->max_entries,
		.map_flags = map->flags,
		.btf_id = map->btf ? map->btf->id : 0,
		.btf_key_type_id = map->btf_key_type,
		.btf_value_type_id = map->btf_value_type,
		.map_extra = map->extra,
	};
	put_name(info.name, map->name);
	put_info(attr, &info, sizeof(info));
	return 0;
}

static void put_map_ids(const struct prog *prog, const struct bpf_prog_info *asked)
{
	uint32_t *ids = sys_ptr(asked->map_ids);

	for (uint32_t i = 0; ids && i < asked->nr_map_ids && i < prog->n_maps; i++)
		ids[i] = prog->maps[i]->obj.id;
}

/* The instructions as loaded, with map ids: what weir has instead of the kernel's rewritten ones. */
static void put_insns(const struct prog *prog, const struct bpf_prog_info *asked)
{
	size_t size = (size_t)prog->n_insns * sizeof(struct bpf_insn);

	if (asked->xlated_prog_insns && asked->xlated_prog_len)
		memcpy(sys_ptr(asked->xlated_prog_insns), prog->raw,
		       asked->xlated_prog_len < size ? asked->xlated_prog_len : size);
}

static void put_records(uint64_t to, uint32_t asked, const void *from, uint32_t have, size_t size)
{
	if (to && asked && have)
		memcpy(sys_ptr(to), from, (asked < have ? asked : have) * size);
}

static int check_rec_sizes(const struct bpf_prog_info *asked)
{
	if ((asked->nr_func_info || asked->func_info_rec_size) &&
	    asked->func_info_rec_size != sizeof(struct bpf_func_info))
		return -EINVAL;
	if ((asked->nr_line_info || asked->line_info_rec_size) &&
	    asked->line_info_rec_size != sizeof(struct bpf_line_info))
		return -EINVAL;
	return 0;
}

static void fill_xdp_info(struct bpf_prog_info *info, const struct prog *prog)
{
	info->nr_map_ids = prog->n_maps;
	info->xlated_prog_len = (uint32_t)((size_t)prog->n_insns * sizeof(struct bpf_insn));
	info->load_time = prog->load_time_ns;
	info->gpl_compatible = prog->gpl;
	info->btf_id = prog->btf ? prog->btf->id : 0;
	info->nr_func_info = prog->n_func_info;
	info->nr_line_info = prog->n_line_info;
	info->func_info_rec_size = sizeof(struct bpf_func_info);
	info->line_info_rec_size = sizeof(struct bpf_line_info);
	memcpy(info->tag, prog->tag, sizeof(info->tag));
}

static int prog_info(const struct prog_obj *po, union bpf_attr *attr)
{
	const struct prog *prog = (const struct prog *)po;
	struct bpf_prog_info asked, info;
	int rc = get_info(attr, &asked, sizeof(asked));

	if (!rc)
		rc = check_rec_sizes(&asked);
	if (rc)
		return rc;
	info = asked;
	info.type = po->traits.type;
	info.id = po->obj.id;
	info.jited_prog_len = 0;
	info.nr_jited_ksyms = 0;
	info.nr_jited_func_lens = 0;
	info.nr_jited_line_info = 0;
	put_name(info.name, po->name);
	/* Programs that libbpf probes with have no more than this. */
	if (po->traits.type == BPF_PROG_TYPE_XDP) {
		put_map_ids(prog, &asked);
		put_insns(prog, &asked);
		put_records(asked.func_info, asked.nr_func_info, prog->func_info, prog->n_func_info,
			    sizeof(struct bpf_func_info));
		put_records(asked.line_info, asked.nr_line_info, prog->line_info, prog->n_line_info,
			    sizeof(struct bpf_line_info));
		fill_xdp_info(&info, prog);
	}
	put_info(attr, &info, sizeof(info));
	return 0;
}

static int btf_info(const struct btf_obj *bo, union bpf_attr *attr)
{
	struct bpf_btf_info asked, info;
	uint32_t size;
	const void *raw = btf__raw_data(bo->btf, &size);
	int rc = get_info(attr, &asked, sizeof(asked));

	if (rc)
		return rc;
	if (!raw)
		return -ENOMEM;
	info = asked;
	info.id = bo->obj.id;
	info.kernel_btf = 0;
	info.name_len = (uint32_t)strlen(bo->name);
	if (asked.btf && asked.btf_size)
		memcpy(sys_ptr(asked.btf), raw, asked.btf_size < size ? asked.btf_size : size);
	info.btf_size = size;
	if (asked.name && asked.name_len)
		snprintf(sys_ptr(asked.name), asked.name_len, "%s", bo->name);
	put_info(attr, &info, sizeof(info));
	return asked.name && asked.name_len && asked.name_len <= info.name_len ? -ENOSPC : 0;
}

int sys_obj_info(union bpf_attr *attr)
{
	struct obj *obj;
	int rc = fd_resolve((int)attr->info.bpf_fd, 0, &obj);

	if (rc)
		return rc == -EBADF ? -EBADFD : rc;
	switch (obj->kind) {
	case OBJ_MAP:
		rc = map_info((const struct map *)obj, attr);
		break;
	case OBJ_PROG:
		rc = prog_info((const struct prog_obj *)obj, attr);
		break;
	case OBJ_BTF:
		rc = btf_info((const struct btf_obj *)obj, attr);
		break;
	default:
		rc = -EINVAL;
		break;
	}
	obj_put(obj);
	return rc;
}
