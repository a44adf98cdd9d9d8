/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF in the place of the kernel's: see btf.h. libbpf wants the prototype of a kfunc there and compares it
 * with the object's declaration. It gets the object's own types, so that the two agree, with the names of
 * functions that weir does not have taken out: for those libbpf finds nothing, as on a kernel without them.
 */
#include "bpf/btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/helper.h"

static _Thread_local const struct btf *object_btf;

void vmlinux_set_object(const struct btf *obj)
{
	object_btf = obj;
}

/* The name of a function, else NULL. libbpf has made the declared ones global: they cannot be told from the
 * object's own by their linkage, only by their names. */
static const char *func_name(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;

	if (!t || !btf_is_func(t))
		return NULL;
	return btf__name_by_offset(btf, t->name_off);
}

const char *vmlinux_func_name(uint32_t btf_id)
{
	return object_btf ? func_name(object_btf, btf_id) : NULL;
}

struct btf *vmlinux_btf_new(void)
{
	struct btf *btf = btf__new_empty();
	int rc = 0;

	if (!btf)
		return NULL;
	if (object_btf)
		rc = btf__add_btf(btf, object_btf);
	if (rc < 0) {
		btf__free(btf);
		errno = -rc;
		return NULL;
	}
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		struct btf_type *t = (struct btf_type *)btf__type_by_id(btf, id);
		const char *name = func_name(btf, id);

		/* libbpf keeps types in memory of its own, which it lets nobody write but changes itself */
		if (name && !kfunc_by_name(name))
			t->name_off = 0;
	}
	return btf;
}
