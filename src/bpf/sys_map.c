/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MAP_CREATE and the element commands: descriptors, flags and user pointers are dealt with here, the rest
 * by maps/map.h (kernel/bpf/syscall.c, map_create and what follows; xdp-semantics 9.4).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/btf.h"
#include "bpf/fd.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"

enum { ACCESS_FLAGS = BPF_F_RDONLY | BPF_F_WRONLY };

static bool is_map_of_maps(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* Types whose map_check_btf is map_check_no_btf in the kernel. */
static bool takes_btf(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
		return false;
	default:
		return true;
	}
}

static bool numa_node_exists(const union bpf_attr *attr)
{
	char path[64];

	if (!(attr->map_flags & BPF_F_NUMA_NODE) || attr->numa_node == 0)
		return true;
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", attr->numa_node);
	return !access(path, F_OK);
}

static int check_create(const union bpf_attr *attr)
{
	if (attr->btf_vmlinux_value_type_id)
		return err_set(sys_err(), EINVAL, "struct_ops maps are not supported");
	if (attr->btf_key_type_id && !attr->btf_value_type_id)
		return -EINVAL;
	if (attr->map_extra && attr->map_type != BPF_MAP_TYPE_BLOOM_FILTER)
		return err_set(sys_err(), EINVAL, "map_extra is for bloom filters only");
	if ((attr->map_flags & ACCESS_FLAGS) == ACCESS_FLAGS)
		return err_set(sys_err(), EINVAL,
			       "a map cannot be both BPF_F_RDONLY and BPF_F_WRONLY");
	if (!numa_node_exists(attr))
		return err_set(sys_err(), EINVAL, "there is no NUMA node %u", attr->numa_node);
	if (attr->map_ifindex)
		return err_set(sys_err(), EINVAL, "maps of a device are not supported");
	return 0;
}

/* A value or a key of that type has that size; 0 where any is good. */
static bool type_fits(const struct btf *btf, uint32_t id, uint32_t size)
{
	return id < btf__type_cnt(btf) && btf__resolve_size(btf, id) == size;
}

/* The offset of the bpf_spin_lock in a value, or UINT32_MAX. */
static uint32_t spin_lock_off(const struct btf *btf, uint32_t value_id)
{
	const struct btf_type *t = btf__type_by_id(btf, (uint32_t)btf__resolve_type(btf, value_id));

	if (!t || !btf_is_struct(t))
		return UINT32_MAX;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		int id = btf__resolve_type(btf, btf_members(t)[i].type);
		const struct btf_type *m = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

		if (m && btf_is_struct(m) &&
		    !strcmp(btf__str_by_offset(btf, m->name_off), "bpf_spin_lock"))
			return btf_member_bit_offset(t, i) / 8;
	}
	return UINT32_MAX;
}

/* Gives map the BTF of attr: kernel/bpf/syscall.c, map_check_btf. */
static int set_btf(struct map *map, const union bpf_attr *attr)
{
	const struct btf *btf;
	struct obj *obj;
	int rc;

	map->spin_lock_off = UINT32_MAX;
	if (!attr->btf_key_type_id && !attr->btf_value_type_id)
		return 0;
	rc = fd_resolve((int)attr->btf_fd, OBJ_BTF, &obj);
	if (rc)
		return rc;
	btf = btf_of(obj);
	rc = -EINVAL;
	if (attr->btf_key_type_id && !type_fits(btf, attr->btf_key_type_id, map->key_size))
		goto err_put;
	if (!type_fits(btf, attr->btf_value_type_id, map->value_size))
		goto err_put;
	rc = takes_btf(map->type) ? 0 : -ENOTSUPP;
	if (rc)
		goto err_put;
	map->btf = obj;
	map->btf_key_type = attr->btf_key_type_id;
	map->btf_value_type = attr->btf_value_type_id;
	map->spin_lock_off = spin_lock_off(btf, attr->btf_value_type_id);
	return 0;
err_put:
	obj_put(obj);
	return rc;
}

static int create_failed(const struct map_attr *attr, int rc)
{
	const char *type = libbpf_bpf_map_type_str((enum bpf_map_type)attr->type);

	if (!map_ops_of(attr->type))
		return err_set(sys_err(), -rc,
			       "map \"%s\" is of type %u (%s), which weir does not have",
			       attr->name, attr->type, type ? type : "unknown");
	if (!attr->max_entries && rc == -EINVAL)
		return err_set(
			sys_err(), EINVAL,
			"map \"%s\" has no max_entries: its own loader sets them before it loads; "
			"give a number of entries",
			attr->name);
	return err_set(
		sys_err(), -rc,
		"map \"%s\": type %s, keys of %u bytes, values of %u, %u entries, flags %#x: %s",
		attr->name, type ? type : "unknown", attr->key_size, attr->value_size,
		attr->max_entries, attr->flags, errno_name(rc));
}

static int create_map(struct map **ret, const union bpf_attr *attr)
{
	struct map_attr ma = {
		.type = attr->map_type,
		.key_size = attr->key_size,
		.value_size = attr->value_size,
		.max_entries = attr->max_entries,
		.flags = attr->map_flags & ~(uint32_t)ACCESS_FLAGS,
		.extra = attr->map_extra,
	};
	struct obj *inner = NULL;
	int rc;

	rc = sys_copy_name(ma.name, attr->map_name, sizeof(attr->map_name));
	if (rc)
		return rc;
	if (is_map_of_maps(ma.type)) {
		rc = fd_resolve((int)attr->inner_map_fd, OBJ_MAP, &inner);
		if (rc)
			return err_set(sys_err(), -rc,
				       "map \"%s\" has no template of its inner maps", ma.name);
		ma.inner = (struct map *)inner;
	}
	rc = map_create(ret, &ma);
	obj_put(inner);
	return rc ? create_failed(&ma, rc) : 0;
}

int sys_map_create(union bpf_attr *attr)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY };
	struct map *map;
	int rc, fd;

	rc = check_create(attr);
	if (rc)
		return rc;
	rc = create_map(&map, attr);
	if (rc)
		return rc;
	rc = set_btf(map, attr);
	if (rc) {
		map_put(map);
		return rc;
	}
	fd = fd_install(&map->obj, modes[(attr->map_flags & ACCESS_FLAGS) / BPF_F_RDONLY]);
	map_put(map);
	return fd;
}

/* The map of a descriptor, as an owned reference, for reading or writing values. */
static int map_of_fd(struct map **ret, uint32_t fd, bool reads, bool writes)
{
	struct obj *obj;
	int rc, mode;

	rc = fd_resolve((int)fd, OBJ_MAP, &obj);
	if (rc)
		return rc;
	mode = fd_mode((int)fd);
	if ((reads && mode == O_WRONLY) || (writes && mode == O_RDONLY)) {
		obj_put(obj);
		return -EPERM;
	}
	*ret = (struct map *)obj;
	return 0;
}

static int run_elem(int cmd, struct map *map, union bpf_attr *attr)
{
	void *key = sys_ptr(attr->key), *value = sys_ptr(attr->value);

	if (map->key_size && !key && cmd != BPF_MAP_GET_NEXT_KEY)
		return -EFAULT;
	switch (cmd) {
	case BPF_MAP_LOOKUP_ELEM:
		return value ? map_sys_lookup(map, key, value, attr->flags) : -EFAULT;
	case BPF_MAP_UPDATE_ELEM:
		return value ? map_sys_update(map, key, value, attr->flags) : -EFAULT;
	case BPF_MAP_DELETE_ELEM:
		return map_sys_delete(map, key);
	case BPF_MAP_GET_NEXT_KEY:
		return map_sys_next_key(map, key, sys_ptr(attr->next_key));
	default:
		return value ? map_sys_lookup_and_delete(map, key, value, attr->flags) : -EFAULT;
	}
}

int sys_map_elem(int cmd, union bpf_attr *attr)
{
	bool reads = cmd != BPF_MAP_UPDATE_ELEM && cmd != BPF_MAP_DELETE_ELEM;
	bool writes = cmd != BPF_MAP_LOOKUP_ELEM && cmd != BPF_MAP_GET_NEXT_KEY;
	struct map *map;
	int rc;

	rc = map_of_fd(&map, attr->map_fd, reads, writes);
	if (rc)
		return rc;
	rc = run_elem(cmd, map, attr);
	map_put(map);
	return rc;
}

int sys_map_batch(int cmd, union bpf_attr *attr)
{
	bool reads = cmd == BPF_MAP_LOOKUP_BATCH || cmd == BPF_MAP_LOOKUP_AND_DELETE_BATCH;
	struct map *map;
	uint32_t count = attr->batch.count;
	int rc;

	rc = map_of_fd(&map, attr->batch.map_fd, reads, cmd != BPF_MAP_LOOKUP_BATCH);
	if (rc)
		return rc;
	rc = map_sys_batch(map, cmd, sys_ptr(attr->batch.in_batch), sys_ptr(attr->batch.out_batch),
			   sys_ptr(attr->batch.keys), sys_ptr(attr->batch.values), &count,
			   attr->batch.elem_flags, attr->batch.flags);
	attr->batch.count = count;
	map_put(map);
	return rc;
}

int sys_map_freeze(union bpf_attr *attr)
{
	struct map *map;
	int rc;

	rc = map_of_fd(&map, attr->map_fd, false, true);
	if (rc)
		return rc;
	rc = map->spin_lock_off != UINT32_MAX ? -ENOTSUPP : map_sys_freeze(map);
	map_put(map);
	return rc;
}
