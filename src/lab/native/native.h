/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native ceiling: a program of examples/, the same .bpf.c, compiled by clang -O3 for the host into a function
 * that takes the same place as the JIT's (prog_run_many), in the same burst loop. Each native_NAME.c includes this
 * file, then the program, then says NATIVE_PROGRAM. Nothing is guarded: this is what guards are compared with.
 *
 * struct xdp_md has 64-bit pointers here; helpers are inline functions with the semantics that the programs use.
 */
#ifndef WEIR_LAB_NATIVE_NATIVE_H
#define WEIR_LAB_NATIVE_NATIVE_H

#include "pkt/frame.h"
#include "pkt/run_ctx.h"

#include <string.h>

#define xdp_md kernel_xdp_md
#include <linux/bpf.h>
#undef xdp_md
#include <bpf/bpf_helpers.h>

struct prog;

struct xdp_md {
	uint64_t data, data_end, data_meta;
	uint32_t ingress_ifindex, rx_queue_index, egress_ifindex;
	struct run_ctx *rc;
};

/* What a map is to native code: filled by native_bind. The program's map variable holds a pointer to one. */
struct native_map {
	const char *name;
	void *variable;
	uint8_t *base; /* values of CPU 0 */
	uint32_t stride, max_entries;
	uint32_t id, type;
	void *map;
	void *(*devmap_lookup)(void *map, uint32_t key);
};

enum {
	NATIVE_PREFETCH = 4, /* frames ahead, as the JIT's */
};

static struct run_ctx *native_rc; /* of the running burst: one worker benchmarks at a time */

static inline const struct native_map *native_map_of(const void *variable)
{
	return *(const struct native_map *const *)variable;
}

static inline void *native_map_lookup(const void *variable, const void *key)
{
	const struct native_map *map = native_map_of(variable);
	uint32_t index = *(const uint32_t *)key;

	return index < map->max_entries ? map->base + (size_t)index * map->stride : NULL;
}

static inline long native_load_bytes(struct xdp_md *ctx, uint32_t off, void *buf, uint32_t len)
{
	if (off + len > ctx->data_end - ctx->data)
		return -22;
	memcpy(buf, (const void *)(ctx->data + off), len);
	return 0;
}

static inline long native_store_bytes(struct xdp_md *ctx, uint32_t off, const void *buf,
				      uint32_t len)
{
	if (off + len > ctx->data_end - ctx->data)
		return -22;
	memcpy((void *)(ctx->data + off), buf, len);
	return 0;
}

static inline long native_redirect_map(const void *variable, uint64_t key, uint64_t flags)
{
	const struct native_map *map = native_map_of(variable);
	void *entry = map->devmap_lookup(map->map, (uint32_t)key);
	struct redirect_info *ri = &native_rc->ri;

	if (!entry)
		return (long)(flags & 3);
	ri->tgt_index = key;
	ri->tgt_value = entry;
	ri->map = NULL;
	ri->flags = 0;
	ri->map_id = map->id;
	ri->map_type = map->type;
	return XDP_REDIRECT;
}

#define bpf_map_lookup_elem(map, key)		native_map_lookup((map), (key))
#define bpf_xdp_load_bytes(ctx, off, buf, len)	native_load_bytes((ctx), (off), (buf), (len))
#define bpf_xdp_store_bytes(ctx, off, buf, len) native_store_bytes((ctx), (off), (buf), (len))
#define bpf_redirect_map(map, key, flags)	native_redirect_map((map), (key), (flags))

/* The burst function of program `func`, exported as native_run_<func>; and its maps, as native_maps_<func>. */
#define NATIVE_PROGRAM(func, ...)                                                                  \
	__attribute__((visibility(                                                                 \
		"default"))) struct native_map native_maps_##func[] = { __VA_ARGS__{ 0 } };        \
	__attribute__((visibility("default"))) void native_run_##func(                             \
		const struct prog *prog, struct run_ctx *rc, struct frame *const *frames,          \
		uint32_t n, uint32_t *verdicts)                                                    \
	{                                                                                          \
		native_rc = rc;                                                                    \
		for (uint32_t i = 0; i < n; i++) {                                                 \
			const struct frame *f = frames[i];                                         \
			struct xdp_md ctx = { (uint64_t)f->data,                                   \
					      (uint64_t)f->data_end,                               \
					      (uint64_t)f->data_meta,                              \
					      f->ingress_ifindex,                                  \
					      f->rx_queue_index,                                   \
					      f->egress_ifindex,                                   \
					      rc };                                                \
			if (i + NATIVE_PREFETCH < n)                                               \
				__builtin_prefetch(frames[i + NATIVE_PREFETCH]->data);             \
			verdicts[i] = (uint32_t)func(&ctx);                                        \
		}                                                                                  \
		(void)prog;                                                                        \
	}
#define NATIVE_MAP(name, variable) { name, &(variable), 0, 0, 0, 0, 0, 0, 0 },

#endif
