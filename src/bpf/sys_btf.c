/* SPDX-License-Identifier: BSD-2-Clause */
/* BTF_LOAD: BTF objects. */
#include "bpf/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/fd.h"
#include "bpf/sys_impl.h"

enum {
	BTF_MAX_SIZE = 16 << 20, /* as the kernel's: bounds the work of the checks */
};

static void btf_obj_release(struct obj *obj)
{
	struct btf_obj *bo = (struct btf_obj *)obj;

	btf__free(bo->btf);
	free(bo);
}

int btf_obj_create(struct btf_obj **ret, const void *data, uint32_t size, struct err *err)
{
	struct btf_obj *bo;
	int rc;

	rc = btf_check(data, size, err);
	if (rc)
		return rc;
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return err_set(err, ENOMEM, "no memory for BTF");
	bo->btf = btf__new(data, size);
	if (!bo->btf) {
		rc = -errno;
		free(bo);
		return err_set(err, -rc, "BTF does not parse");
	}
	obj_init(&bo->obj, OBJ_BTF, btf_obj_release);
	*ret = bo;
	return 0;
}

const struct btf *btf_of(const struct obj *obj)
{
	return obj ? ((const struct btf_obj *)obj)->btf : NULL;
}

int sys_btf_load(union bpf_attr *attr)
{
	struct btf_obj *bo;
	void *copy;
	int rc, fd;

	if (attr->btf_size > BTF_MAX_SIZE)
		return -E2BIG;
	if (!attr->btf || !attr->btf_size)
		return attr->btf_size ? -EFAULT : -EINVAL;
	copy = malloc(attr->btf_size); /* aligned, as the caller's may not be */
	if (!copy)
		return -ENOMEM;
	memcpy(copy, sys_ptr(attr->btf), attr->btf_size);
	rc = btf_obj_create(&bo, copy, attr->btf_size, sys_err());
	free(copy);
	if (rc)
		return rc;
	fd = fd_install(&bo->obj, O_RDWR);
	obj_put(&bo->obj);
	return fd;
}
