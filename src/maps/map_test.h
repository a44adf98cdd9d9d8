/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of map operations, {op, key, value, flags, expected errno}, and descriptors that are numbers: what
 * the tests of the map types share.
 */
#ifndef WEIR_MAPS_MAP_TEST_H
#define WEIR_MAPS_MAP_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "maps/map.h"

enum step_op {
	UPDATE,
	LOOKUP,
	DELETE,
	NEXT,
	POP,
};

/* One operation on a map with u32 keys and u32 values. key NONE: no key. */
#define NONE UINT32_MAX
struct step {
	enum step_op op;
	uint32_t key;
	uint32_t value; /* in; or what comes out when rc is 0 */
	uint64_t flags;
	int rc;
};

static inline int run_step(struct map *map, const struct step *s, uint8_t *buf)
{
	const void *key = s->key == NONE ? NULL : &s->key;

	switch (s->op) {
	case UPDATE:
		for (uint32_t i = 0; i < map_sys_value_size(map); i += 4)
			memcpy(buf + i, &s->value, 4);
		return map_sys_update(map, key, buf, s->flags);
	case LOOKUP:
		return map_sys_lookup(map, key, buf, s->flags);
	case DELETE:
		return map_sys_delete(map, key);
	case NEXT:
		return map_sys_next_key(map, key, buf);
	case POP:
		return map_sys_lookup_and_delete(map, key, buf, s->flags);
	}
	return -1;
}

static inline void run_steps(struct map *map, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t buf[4096] = { 0 };
		uint32_t got;
		int rc = run_step(map, &steps[i], buf);

		memcpy(&got, buf, 4);
		if (rc != steps[i].rc)
			fail_msg("%s step %zu: %d, not %d", map->ops->name, i, rc, steps[i].rc);
		if (!rc && (steps[i].op == LOOKUP || steps[i].op == NEXT || steps[i].op == POP) &&
		    got != steps[i].value)
			fail_msg("%s step %zu: value %u, not %u", map->ops->name, i, got,
				 steps[i].value);
	}
}

#define RUN(map, steps) run_steps(map, steps, sizeof(steps) / sizeof((steps)[0]))

static inline struct map *make_map(uint32_t type, uint32_t key_size, uint32_t value_size,
				   uint32_t max_entries, uint32_t flags)
{
	struct map_attr attr = { .type = type,
				 .key_size = key_size,
				 .value_size = value_size,
				 .max_entries = max_entries,
				 .flags = flags };
	struct map *map = NULL;
	int rc = map_create(&map, &attr);

	if (rc)
		fail_msg("create %s: %d", map_type_name(type), rc);
	return map;
}

/* Descriptors: FD + i is objs[i]. */
enum {
	FD = 100,
	FDS = 16,
};
static struct obj *fd_objs[FDS];

static inline int resolve_fd(int fd, enum obj_kind kind, struct obj **ret)
{
	if (fd < FD || fd >= FD + FDS || !fd_objs[fd - FD])
		return -EBADF;
	if (fd_objs[fd - FD]->kind != kind)
		return -EINVAL;
	*ret = obj_get(fd_objs[fd - FD]);
	return 0;
}

/* Program objects that count their releases. */
static int progs_released;

static inline void release_prog(struct obj *obj)
{
	progs_released++;
	free(obj);
}

static inline struct prog_obj *make_prog(uint32_t attach_type)
{
	struct prog_obj *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->traits.type = BPF_PROG_TYPE_XDP;
	p->traits.expected_attach_type = attach_type;
	obj_init(&p->obj, OBJ_PROG, release_prog);
	return p;
}

/* A generator whose seed is printed, and can be given. */
static uint64_t rng;

static inline void rng_start(const char *name)
{
	const char *s = getenv("WEIR_SEED");

	rng = s ? strtoull(s, NULL, 0) : (uint64_t)time(NULL);
	print_message("%s: WEIR_SEED=%llu\n", name, (unsigned long long)rng);
	rng = rng * 2 + 1;
}

static inline uint32_t rng_below(uint32_t n)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % n);
}

#endif
