/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The front of weir's bpf(2): what is common to all commands (kernel/bpf/syscall.c, __sys_bpf; xdp-semantics
 * 9.1), and the table of the commands that weir has.
 */
#include "bpf/sys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "bpf/fd.h"
#include "bpf/sys_impl.h"

enum {
	ATTR_SIZE_MAX = 4096, /* a page: beyond it the kernel does not look for zeros */
};

static _Thread_local struct err last_error;
static _Atomic int engine = ENGINE_INTERP;

struct err *sys_err(void)
{
	return &last_error;
}

void sys_take_error(struct err *err)
{
	*err = last_error;
	last_error.text[0] = '\0';
}

void sys_set_engine(enum prog_engine e)
{
	engine = (int)e;
}

enum prog_engine sys_engine(void)
{
	return (enum prog_engine)engine;
}

static int resolver(int fd, enum obj_kind kind, struct obj **ret)
{
	return fd_resolve(fd, kind, ret);
}

__attribute__((constructor)) static void register_resolver(void)
{
	obj_set_fd_resolver(resolver);
}

int sys_fd_install(struct obj *obj)
{
	return fd_install(obj, O_RDWR);
}

int sys_fd_resolve(int fd, enum obj_kind kind, struct obj **ret)
{
	return fd_resolve(fd, kind, ret);
}

int sys_copy_name(char *ret, const char *name, size_t size)
{
	size_t n = strnlen(name, size);

	if (n == size)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '.')
			return -EINVAL;
	memcpy(ret, name, n + 1);
	return 0;
}

static int next_id(enum obj_kind kind, union bpf_attr *attr)
{
	uint32_t id;

	if (attr->start_id >= INT32_MAX)
		return -EINVAL;
	id = obj_next_id(kind, attr->start_id);
	if (!id)
		return -ENOENT;
	attr->next_id = id;
	return 0;
}

static int fd_by_id(enum obj_kind kind, union bpf_attr *attr)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY };
	uint32_t flags = kind == OBJ_MAP ? attr->open_flags : 0;
	struct obj *obj;
	int fd;

	if (flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY) ||
	    flags == (BPF_F_RDONLY | BPF_F_WRONLY))
		return -EINVAL;
	obj = obj_by_id(kind, attr->map_id);
	if (!obj)
		return -ENOENT;
	fd = fd_install(obj, modes[flags / BPF_F_RDONLY]);
	obj_put(obj);
	return fd;
}

/* The interface is weir's port, not the kernel's: programs run where the engine's wiring says. */
static int link_create(const union bpf_attr *attr)
{
	struct obj *prog;
	int rc = fd_resolve((int)attr->link_create.prog_fd, OBJ_PROG, &prog);

	if (rc)
		return rc;
	obj_put(prog);
	return err_set(sys_err(), EOPNOTSUPP,
		       "weir has no BPF links: a port's program is named in its configuration");
}

#define END(field)		 offsetofend(union bpf_attr, field)
#define offsetofend(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Bytes of the attr that a command knows: any byte set after them is refused. 0: not a command of weir. */
static const uint16_t attr_ends[] = {
	[BPF_MAP_CREATE] = END(map_extra),
	[BPF_MAP_LOOKUP_ELEM] = END(flags),
	[BPF_MAP_UPDATE_ELEM] = END(flags),
	[BPF_MAP_DELETE_ELEM] = END(key),
	[BPF_MAP_GET_NEXT_KEY] = END(next_key),
	[BPF_PROG_LOAD] = END(core_relo_rec_size),
	[BPF_OBJ_PIN] = END(file_flags),
	[BPF_OBJ_GET] = END(file_flags),
	[BPF_PROG_TEST_RUN] = END(test.batch_size),
	[BPF_PROG_GET_NEXT_ID] = END(next_id),
	[BPF_MAP_GET_NEXT_ID] = END(next_id),
	[BPF_BTF_GET_NEXT_ID] = END(next_id),
	[BPF_LINK_GET_NEXT_ID] = END(next_id),
	[BPF_PROG_GET_FD_BY_ID] = END(prog_id),
	[BPF_MAP_GET_FD_BY_ID] = END(open_flags),
	[BPF_BTF_GET_FD_BY_ID] = END(btf_id),
	[BPF_LINK_GET_FD_BY_ID] = END(link_id),
	[BPF_OBJ_GET_INFO_BY_FD] = END(info.info),
	[BPF_BTF_LOAD] = END(btf_log_level),
	[BPF_MAP_LOOKUP_AND_DELETE_ELEM] = END(flags),
	[BPF_MAP_FREEZE] = END(map_fd),
	[BPF_MAP_LOOKUP_BATCH] = END(batch.flags),
	[BPF_MAP_LOOKUP_AND_DELETE_BATCH] = END(batch.flags),
	[BPF_MAP_UPDATE_BATCH] = END(batch.flags),
	[BPF_MAP_DELETE_BATCH] = END(batch.flags),
	[BPF_LINK_CREATE] = END(link_create.kprobe_multi.cookies),
	[BPF_PROG_BIND_MAP] = END(prog_bind_map.flags),
};

static bool is_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

static long dispatch(int cmd, union bpf_attr *attr)
{
	switch (cmd) {
	case BPF_MAP_CREATE:
		return sys_map_create(attr);
	case BPF_MAP_LOOKUP_ELEM:
	case BPF_MAP_UPDATE_ELEM:
	case BPF_MAP_DELETE_ELEM:
	case BPF_MAP_GET_NEXT_KEY:
	case BPF_MAP_LOOKUP_AND_DELETE_ELEM:
		return sys_map_elem(cmd, attr);
	case BPF_MAP_LOOKUP_BATCH:
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
	case BPF_MAP_UPDATE_BATCH:
	case BPF_MAP_DELETE_BATCH:
		return sys_map_batch(cmd, attr);
	case BPF_MAP_FREEZE:
		return sys_map_freeze(attr);
	case BPF_PROG_LOAD:
		return sys_prog_load(attr);
	case BPF_PROG_BIND_MAP:
		return sys_prog_bind_map(attr);
	case BPF_PROG_TEST_RUN:
		return sys_prog_test_run(attr);
	case BPF_BTF_LOAD:
		return sys_btf_load(attr);
	case BPF_OBJ_GET_INFO_BY_FD:
		return sys_obj_info(attr);
	case BPF_OBJ_PIN:
		return sys_obj_pin(attr);
	case BPF_OBJ_GET:
		return sys_obj_get(attr);
	case BPF_LINK_CREATE:
		return link_create(attr);
	case BPF_MAP_GET_NEXT_ID:
		return next_id(OBJ_MAP, attr);
	case BPF_PROG_GET_NEXT_ID:
		return next_id(OBJ_PROG, attr);
	case BPF_BTF_GET_NEXT_ID:
		return next_id(OBJ_BTF, attr);
	case BPF_LINK_GET_NEXT_ID:
		return next_id(OBJ_LINK, attr);
	case BPF_MAP_GET_FD_BY_ID:
		return fd_by_id(OBJ_MAP, attr);
	case BPF_PROG_GET_FD_BY_ID:
		return fd_by_id(OBJ_PROG, attr);
	case BPF_BTF_GET_FD_BY_ID:
		return fd_by_id(OBJ_BTF, attr);
	case BPF_LINK_GET_FD_BY_ID:
		return fd_by_id(OBJ_LINK, attr);
	default:
		return -EINVAL;
	}
}

long sys_bpf(int cmd, union bpf_attr *attr, unsigned int size)
{
	const uint8_t *bytes = (const uint8_t *)attr;
	union bpf_attr copy;
	size_t known, end;
	long rc;

	if (size > ATTR_SIZE_MAX)
		return -E2BIG;
	if (!attr && size)
		return -EFAULT;
	known = size < sizeof(copy) ? size : sizeof(copy);
	if (!is_zero(bytes + known, size - known))
		return -E2BIG;
	if (cmd < 0 || (size_t)cmd >= sizeof(attr_ends) / sizeof(attr_ends[0]) || !attr_ends[cmd])
		return -EINVAL;
	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, attr, known);
	end = attr_ends[cmd];
	if (!is_zero((const uint8_t *)&copy + end, sizeof(copy) - end))
		return -EINVAL;
	rc = dispatch(cmd, &copy);
	memcpy(attr, &copy, known);
	return rc;
}
