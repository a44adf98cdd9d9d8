/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that call back: bpf_loop, bpf_for_each_map_elem (kernel/bpf/bpf_iter.c, arraymap.c, hashtab.c). */
#include "bpf/helper_impl.h"

#include "bpf/prog.h"
#include "maps/map.h"

enum {
	LOOPS_MAX = 1 << 23, /* BPF_MAX_LOOPS */
	KEY_MAX = 512,	     /* MAX_BPF_STACK: the kernel's bound on keys of hash maps */
};

struct caller {
	const struct prog *prog;
	struct run_ctx *rc;
	uint32_t subprog;
	helper_callback call;
};

/* n, callback, ctx, flags: the number of iterations. */
static uint64_t run_loop(const struct caller *c, const uint64_t args[HELPER_ARGS])
{
	uint32_t n = (uint32_t)args[0], i;
	uint64_t ret;

	if (args[3])
		return helper_error(EINVAL);
	if (n > LOOPS_MAX)
		return helper_error(E2BIG);
	for (i = 0; i < n; i++) {
		uint64_t cb_args[4] = { i, args[2] };

		if (!c->call(c->prog, c->rc, c->subprog, cb_args, &ret))
			return 0;
		if (ret)
			return i + 1;
	}
	return i;
}

/* Calls back for one element; the key is lent for the time of the call. False: stop. */
static bool visit(const struct caller *c, struct map *map, const void *key, uint64_t cb_ctx)
{
	struct run_ctx *rc = c->rc;
	void *value = map->ops->lookup(map, key, rc->cpu);
	struct lent *lent = &rc->lent[rc->n_lent++ % RUN_LENT];
	uint64_t ret = 0, args[4] = { (uint64_t)(uintptr_t)map, (uint64_t)(uintptr_t)key,
				      (uint64_t)(uintptr_t)value, cb_ctx };
	bool good = true;

	*lent = (struct lent){ .addr = key, .size = map->key_size };
	if (value)
		good = c->call(c->prog, rc, c->subprog, args, &ret);
	for (uint32_t i = 0; i < RUN_LENT; i++)
		if (rc->lent[i].addr == key)
			rc->lent[i] = (struct lent){ 0 };
	return good && !ret;
}

static uint64_t each_of_array(const struct caller *c, struct map *map, uint64_t cb_ctx)
{
	uint32_t i = 0;

	while (i < map->max_entries) {
		uint32_t key = i++;

		if (!visit(c, map, &key, cb_ctx))
			break;
	}
	return i;
}

/* The next key is taken before the callback, which may delete the element that it is shown. */
static uint64_t each_of_hash(const struct caller *c, struct map *map, uint64_t cb_ctx)
{
	_Alignas(8) uint8_t keys[2][KEY_MAX];
	uint32_t now = 0;
	uint64_t n = 0;
	bool more;

	if (map->key_size > KEY_MAX)
		return helper_error(EINVAL);
	more = !map->ops->next_key(map, NULL, keys[now]);
	while (more) {
		more = !map->ops->next_key(map, keys[now], keys[!now]);
		n++;
		if (!visit(c, map, keys[now], cb_ctx))
			break;
		now = !now;
	}
	return n;
}

/* map, callback, ctx, flags: the number of elements visited. */
static uint64_t run_each(const struct caller *c, const uint64_t args[HELPER_ARGS])
{
	struct map *map = helper_map(args[0]);

	if (args[3])
		return helper_error(EINVAL);
	if (map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY)
		return each_of_array(c, map, args[2]);
	return each_of_hash(c, map, args[2]);
}

uint64_t helper_run_callbacks(const struct helper *h, const struct prog *prog, struct run_ctx *rc,
			      const uint64_t args[HELPER_ARGS], helper_callback call)
{
	struct caller c = { prog, rc, (uint32_t)args[1], call };

	return h->id == BPF_FUNC_loop ? run_loop(&c, args) : run_each(&c, args);
}
