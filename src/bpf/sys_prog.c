/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PROG_LOAD: turns the descriptors in a program's instructions into maps and hands it to prog_create
 * (kernel/bpf/syscall.c, bpf_prog_load, and resolve_pseudo_ldimm64 of the verifier; xdp-semantics 9.3).
 *
 * libbpf also loads small programs of other types, to find out what the kernel can do. They are accepted
 * and never run: what they ask for is there for XDP programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "bpf/btf.h"
#include "bpf/fd.h"
#include "bpf/prog.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"
#include "maps/prog_array.h"

enum {
	INSNS_MAX = 1000000, /* BPF_COMPLEXITY_LIMIT_INSNS */
	PROBE_INSNS_MAX =
		32, /* the longest probe of libbpf has 7; a program of use is longer than this */
	LICENSE_MAX = 128,
	CORE_POISON =
		0xbad2310, /* the helper id that libbpf puts for a CO-RE relocation that failed */
	LD_IMM64 = BPF_LD | BPF_IMM | BPF_DW,
	LOAD_FLAGS = BPF_F_STRICT_ALIGNMENT | BPF_F_ANY_ALIGNMENT | BPF_F_TEST_RND_HI32 |
		     BPF_F_TEST_STATE_FREQ | BPF_F_XDP_HAS_FRAGS,
};

/* A program being loaded: its own copy of the instructions, and the maps that they name. */
struct loading {
	struct prog_attr pa;
	struct bpf_insn *insns;
	struct map **maps; /* owned references, one an instruction that names a map */
	uint32_t n_maps;
	void *func_info, *line_info;
};

static void loading_fini(struct loading *l)
{
	for (uint32_t i = 0; i < l->n_maps; i++)
		map_put(l->maps[i]);
	free(l->maps);
	free(l->insns);
	free(l->func_info);
	free(l->line_info);
	obj_put(l->pa.btf);
}

/* A program that libbpf probes with. */
static void probe_release(struct obj *obj)
{
	free(obj);
}

static bool is_probe_type(uint32_t type)
{
	return type == BPF_PROG_TYPE_SOCKET_FILTER || type == BPF_PROG_TYPE_TRACEPOINT ||
	       type == BPF_PROG_TYPE_KPROBE || type == BPF_PROG_TYPE_CGROUP_SOCK;
}

static int load_probe(const struct prog_attr *pa)
{
	struct prog_obj *po = calloc(1, sizeof(*po));
	int fd;

	if (!po)
		return -ENOMEM;
	po->traits.type = pa->type;
	po->traits.expected_attach_type = pa->expected_attach_type;
	memcpy(po->name, pa->name, sizeof(po->name));
	obj_init(&po->obj, OBJ_PROG, probe_release);
	fd = fd_install(&po->obj, O_RDWR);
	obj_put(&po->obj);
	return fd;
}

static int refuse_type(const struct prog_attr *pa)
{
	const char *type = libbpf_bpf_prog_type_str((enum bpf_prog_type)pa->type);

	return err_set(sys_err(), EINVAL,
		       "program \"%s\" is of type %u (%s): weir runs XDP programs only", pa->name,
		       pa->type, type ? type : "unknown");
}

/* The descriptor that an instruction names: its own, or the one in the caller's fd_array. */
static int insn_fd(const struct bpf_insn *insn, const union bpf_attr *attr)
{
	const int *fds = sys_ptr(attr->fd_array);

	if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE)
		return insn->imm;
	return fds && insn->imm >= 0 ? fds[insn->imm] : -1;
}

/* Constant addresses of a value are for arrays of one element: kernel/bpf/arraymap.c, array_map_direct_value_addr. */
static int check_value(const struct map *map, uint32_t i, uint32_t off)
{
	if (map->type != BPF_MAP_TYPE_ARRAY)
		return err_set(
			sys_err(), EINVAL,
			"instruction %u: map \"%s\" has no constant value address (it is no array)",
			i, map->name);
	if (map->max_entries != 1)
		return err_set(sys_err(), ENOTSUPP,
			       "instruction %u: map \"%s\" has no constant value address (more "
			       "than one entry)",
			       i, map->name);
	if (off >= map->value_size)
		return err_set(sys_err(), EINVAL,
			       "instruction %u: offset %u is beyond the value of map \"%s\"", i,
			       off, map->name);
	return 0;
}

static int resolve_map(struct loading *l, uint32_t i, const union bpf_attr *attr)
{
	struct bpf_insn *insn = &l->insns[i];
	bool value =
		insn->src_reg == BPF_PSEUDO_MAP_VALUE || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
	struct map *map;
	struct obj *obj;
	int fd = insn_fd(insn, attr), rc;

	rc = fd_resolve(fd, OBJ_MAP, &obj);
	if (rc)
		return err_set(sys_err(), -rc, "instruction %u: descriptor %d is not a map", i, fd);
	map = (struct map *)obj;
	l->maps[l->n_maps++] = map;
	if (!value && insn[1].imm)
		return err_set(sys_err(), EINVAL, "instruction %u: a map has no offset", i);
	if (value) {
		rc = check_value(map, i, (uint32_t)insn[1].imm);
		if (rc)
			return rc;
	}
	insn->src_reg = value ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
	insn->imm = (int32_t)map->obj.id;
	return 0;
}

/*
 * The address of a kernel symbol. Of those there are only the kfuncs that weir has: a program compares
 * them with NULL (bpf_ksym_exists), so any other value does.
 */
static int resolve_ksym(struct bpf_insn *insn, uint32_t i)
{
	if (!vmlinux_func_name((uint32_t)insn->imm))
		return err_set(sys_err(), EINVAL,
			       "instruction %u: kernel variable of BTF id %d is unknown", i,
			       insn->imm);
	insn->src_reg = 0;
	insn[1].imm = 0;
	return 0;
}

/*
 * What libbpf could not resolve it lets stand, as long as the program asks first and does not come here: a
 * CO-RE relocation, a weak kfunc. The kernel's verifier finds that no path leads to it; here a path that
 * does ends in a fault, by a load from an address that is no memory.
 */
static bool is_unresolved(const struct bpf_insn *insn)
{
	if (insn->code != (BPF_JMP | BPF_CALL))
		return false;
	return (insn->src_reg == 0 && insn->imm == CORE_POISON) ||
	       (insn->src_reg == BPF_PSEUDO_KFUNC_CALL && insn->imm == 0);
}

static void make_fault(struct bpf_insn *insn)
{
	*insn = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_B,
				   .dst_reg = BPF_REG_0,
				   .src_reg = BPF_REG_10,
				   .off = INT16_MAX };
}

static int resolve_insns(struct loading *l, const union bpf_attr *attr)
{
	int rc = 0;

	for (uint32_t i = 0; i < l->pa.n_insns && !rc; i++) {
		if (is_unresolved(&l->insns[i]))
			make_fault(&l->insns[i]);
		if (l->insns[i].code != LD_IMM64)
			continue;
		if (i + 1 >= l->pa.n_insns)
			return err_set(sys_err(), EINVAL,
				       "instruction %u: its second half is missing", i);
		switch (l->insns[i].src_reg) {
		case BPF_PSEUDO_MAP_FD:
		case BPF_PSEUDO_MAP_VALUE:
		case BPF_PSEUDO_MAP_IDX:
		case BPF_PSEUDO_MAP_IDX_VALUE:
			rc = resolve_map(l, i, attr);
			break;
		case BPF_PSEUDO_BTF_ID:
			rc = resolve_ksym(&l->insns[i], i);
			break;
		default:
			break;
		}
		i++;
	}
	return rc;
}

/* Copies n records of rec_size bytes to records of `size`, as the headers here have them. */
static int copy_records(void **ret, const void *from, uint32_t n, uint32_t rec_size, uint32_t size)
{
	uint32_t take = rec_size < size ? rec_size : size;
	uint8_t *to;

	if (!n)
		return 0;
	if (!from)
		return -EFAULT;
	if (rec_size < 8 || rec_size > 256 || rec_size % 4 || n > INSNS_MAX)
		return -EINVAL;
	to = calloc(n, size);
	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		memcpy(to + (size_t)i * size, (const uint8_t *)from + (size_t)i * rec_size, take);
	*ret = to;
	return 0;
}

static int copy_btf(struct loading *l, const union bpf_attr *attr)
{
	int rc;

	if (!attr->func_info_cnt && !attr->line_info_cnt)
		return 0;
	rc = fd_resolve((int)attr->prog_btf_fd, OBJ_BTF, &l->pa.btf);
	if (rc)
		return rc;
	rc = copy_records(&l->func_info, sys_ptr(attr->func_info), attr->func_info_cnt,
			  attr->func_info_rec_size, sizeof(struct bpf_func_info));
	if (!rc)
		rc = copy_records(&l->line_info, sys_ptr(attr->line_info), attr->line_info_cnt,
				  attr->line_info_rec_size, sizeof(struct bpf_line_info));
	l->pa.func_info = l->func_info;
	l->pa.line_info = l->line_info;
	l->pa.n_func_info = attr->func_info_cnt;
	l->pa.n_line_info = attr->line_info_cnt;
	return rc;
}

/* The kernel's names have 15 characters; BTF has the whole one. */
static void widen_name(struct prog_attr *pa)
{
	const struct bpf_func_info *info = pa->func_info;
	const struct btf_type *t;
	const char *name;

	if (!info || !pa->n_func_info || info->insn_off || strlen(pa->name) != BPF_OBJ_NAME_LEN - 1)
		return;
	t = btf__type_by_id(btf_of(pa->btf), info->type_id);
	name = t && btf_is_func(t) ? btf__name_by_offset(btf_of(pa->btf), t->name_off) : NULL;
	if (name && !strncmp(name, pa->name, BPF_OBJ_NAME_LEN - 1))
		snprintf(pa->name, sizeof(pa->name), "%s", name);
}

static bool license_is_gpl(const char *license)
{
	/* include/linux/license.h */
	static const char *const good[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strncmp(license, good[i], LICENSE_MAX - 1))
			return true;
	return false;
}

static int check_load(const union bpf_attr *attr)
{
	if (attr->prog_flags & ~(uint32_t)LOAD_FLAGS)
		return err_set(sys_err(), EINVAL, "program flags %#x are not supported",
			       attr->prog_flags);
	if (!attr->insn_cnt || attr->insn_cnt > INSNS_MAX)
		return err_set(sys_err(), E2BIG, "a program has 1 to 1000000 instructions, not %u",
			       attr->insn_cnt);
	if (attr->attach_btf_id || attr->attach_prog_fd)
		return err_set(
			sys_err(), EINVAL,
			"programs that attach to functions (fentry, freplace) are not supported");
	if (!attr->insns || !attr->license)
		return -EFAULT;
	if (attr->prog_ifindex)
		return err_set(sys_err(), EINVAL, "programs bound to a device are not supported");
	return 0;
}

/* Maps that hold programs take only those of one kind, and only such programs may name them. */
static int check_owners(const struct loading *l, const struct prog *prog)
{
	for (uint32_t i = 0; i < l->n_maps; i++)
		if (!map_owner_compatible(l->maps[i], &prog->po.traits))
			return err_set(sys_err(), EINVAL,
				       "program \"%s\" and the programs in map \"%s\" are of "
				       "different kinds",
				       prog->po.name, l->maps[i]->name);
	return 0;
}

static int load_xdp(struct loading *l)
{
	struct prog *prog;
	int rc, fd;

	rc = prog_create(&prog, &l->pa, sys_err());
	if (rc)
		return rc;
	rc = check_owners(l, prog);
	fd = rc ? rc : fd_install(&prog->po.obj, O_RDWR);
	prog_put(prog);
	return fd;
}

static int load(struct loading *l, const union bpf_attr *attr)
{
	int rc;

	rc = sys_copy_name(l->pa.name, attr->prog_name, sizeof(attr->prog_name));
	if (rc)
		return rc;
	if (is_probe_type(l->pa.type) && l->pa.n_insns <= PROBE_INSNS_MAX)
		return load_probe(&l->pa);
	if (l->pa.type != BPF_PROG_TYPE_XDP)
		return refuse_type(&l->pa);
	l->insns = calloc(l->pa.n_insns, sizeof(*l->insns));
	l->maps = calloc(l->pa.n_insns, sizeof(struct map *));
	if (!l->insns || !l->maps)
		return -ENOMEM;
	memcpy(l->insns, sys_ptr(attr->insns), l->pa.n_insns * sizeof(*l->insns));
	l->pa.insns = l->insns;
	rc = copy_btf(l, attr);
	if (rc)
		return rc;
	widen_name(&l->pa);
	rc = resolve_insns(l, attr);
	return rc ? rc : load_xdp(l);
}

/* The log of the verifier: the one line that weir has. */
static void write_log(const union bpf_attr *attr, const char *text)
{
	if (attr->log_level && attr->log_buf && attr->log_size)
		snprintf(sys_ptr(attr->log_buf), attr->log_size, "%s\n", text);
}

int sys_prog_load(union bpf_attr *attr)
{
	struct loading l = { .pa = {
				     .type = attr->prog_type,
				     .expected_attach_type = attr->expected_attach_type,
				     .flags = attr->prog_flags,
				     .n_insns = attr->insn_cnt,
				     .engine = sys_engine(),
			     } };
	int rc;

	sys_err()->text[0] = '\0';
	rc = check_load(attr);
	if (!rc) {
		l.pa.gpl = license_is_gpl(sys_ptr(attr->license));
		rc = load(&l, attr);
		loading_fini(&l);
	}
	if (rc < 0)
		write_log(attr, sys_err()->text);
	return rc;
}

int sys_prog_bind_map(union bpf_attr *attr)
{
	struct obj *prog, *map;
	int rc;

	if (attr->prog_bind_map.flags)
		return -EINVAL;
	rc = fd_resolve((int)attr->prog_bind_map.prog_fd, OBJ_PROG, &prog);
	if (rc)
		return rc;
	rc = fd_resolve((int)attr->prog_bind_map.map_fd, OBJ_MAP, &map);
	if (!rc)
		obj_put(map);
	obj_put(prog);
	return rc;
}
