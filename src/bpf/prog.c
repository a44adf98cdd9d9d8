/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a program, and what a run leaves behind: see prog.h. The texts are in prog_text.c. */
#include "bpf/prog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bpf/decode.h"
#include "bpf/interp.h"
#include "bpf/jit.h"
#include "bpf/prog_impl.h"
#include "maps/map.h"
#include "maps/prog_array.h"
#include "maps/ringbuf.h"

enum { INSNS_MAX = 1000000 }; /* BPF_COMPLEXITY_LIMIT_INSNS, the kernel's for privileged users */

static void release(struct obj *obj)
{
	struct prog *prog = (struct prog *)obj;

	if (prog->jit)
		jit_release(prog);
	for (uint32_t i = 0; i < prog->n_maps; i++)
		map_put(prog->maps[i]);
	obj_put(prog->btf);
	free(prog->maps);
	free(prog->raw);
	free(prog->insns);
	free(prog->subprogs);
	free(prog->line_info);
	free(prog->func_info);
	free(prog);
}

/* A copy of n items of an array of the attributes; NULL is a good copy of none. */
static bool copy_array(void **ret, const void *from, size_t n, size_t size)
{
	if (!n)
		return true;
	*ret = malloc(n * size);
	if (!*ret)
		return false;
	memcpy(*ret, from, n * size);
	return true;
}

static int copy_attr(struct prog *prog, const struct prog_attr *attr)
{
	void *raw = NULL;
	bool good = copy_array(&raw, attr->insns, attr->n_insns, sizeof(*attr->insns));

	prog->raw = raw;
	prog->n_insns = attr->n_insns;
	prog->gpl = attr->gpl;
	prog->engine = attr->engine;
	prog->load_time_ns = clock_ns(CLOCK_BOOTTIME);
	prog->po.traits = (struct prog_traits){
		.type = attr->type,
		.expected_attach_type = attr->expected_attach_type,
		.jited = attr->engine == ENGINE_JIT,
		.xdp_has_frags = attr->flags & BPF_F_XDP_HAS_FRAGS,
	};
	memcpy(prog->po.name, attr->name, sizeof(prog->po.name) - 1);
	if (attr->btf)
		prog->btf = obj_get(attr->btf);
	good = good && copy_array(&prog->line_info, attr->line_info, attr->n_line_info,
				  sizeof(struct bpf_line_info));
	good = good && copy_array(&prog->func_info, attr->func_info, attr->n_func_info,
				  sizeof(struct bpf_func_info));
	prog->n_line_info = attr->n_line_info;
	prog->n_func_info = attr->n_func_info;
	return good ? 0 : -ENOMEM;
}

/* A program that uses a map which carries programs must be of their kind (xdp-semantics 9.6). */
static int check_owners(const struct prog *prog, struct err *err)
{
	for (uint32_t i = 0; i < prog->n_maps; i++) {
		struct map *map = prog->maps[i];

		if (map->type == BPF_MAP_TYPE_PROG_ARRAY &&
		    !map_owner_compatible(map, &prog->po.traits))
			return err_set(
				err, EINVAL,
				"map %s holds programs of another kind (type, engine or frags)",
				map->name);
	}
	return 0;
}

static int check_attr(const struct prog_attr *attr, struct err *err)
{
	if (!attr->n_insns)
		return err_set(err, EINVAL, "program %s has no instructions", attr->name);
	if (attr->n_insns > INSNS_MAX)
		return err_set(err, E2BIG, "program %s has %u instructions, the limit is %d",
			       attr->name, attr->n_insns, INSNS_MAX);
	return 0;
}

static int compile(struct prog *prog, struct err *err)
{
	prog->run_one = interp_run;
	prog->run_many = interp_run_burst;
	return prog->engine == ENGINE_JIT ? jit_compile(prog, err) : 0;
}

int prog_create(struct prog **ret, const struct prog_attr *attr, struct err *err)
{
	int rc = check_attr(attr, err);
	struct prog *prog;

	if (rc)
		return rc;
	prog = calloc(1, sizeof(*prog));
	if (!prog)
		return err_set(err, ENOMEM, "out of memory");
	obj_init(&prog->po.obj, OBJ_PROG, release);
	rc = copy_attr(prog, attr);
	if (rc) {
		err_set(err, ENOMEM, "out of memory");
		goto err_put;
	}
	rc = decode_prog(prog, err);
	if (!rc)
		rc = check_owners(prog, err);
	if (rc)
		goto err_prefix;
	prog_name_subprogs(prog);
	prog_tag(prog);
	rc = compile(prog, err);
	if (rc)
		goto err_prefix;
	*ret = prog;
	return 0;
err_prefix:
	err_prefix(err, -rc, "program %s", prog->po.name);
err_put:
	obj_put(&prog->po.obj);
	return rc;
}

struct prog *prog_get(struct prog *prog)
{
	obj_get(&prog->po.obj);
	return prog;
}

void prog_put(struct prog *prog)
{
	if (prog)
		obj_put(&prog->po.obj);
}

void prog_run_clean(struct run_ctx *rc)
{
	while (rc->n_reservations) {
		struct reservation *r = &rc->reservations[--rc->n_reservations];

		ringbuf_commit(r->map, r->addr, 0, true);
	}
	if (rc->spin_lock)
		__atomic_store_n(rc->spin_lock, 0, __ATOMIC_RELEASE);
	rc->spin_lock = NULL;
}
