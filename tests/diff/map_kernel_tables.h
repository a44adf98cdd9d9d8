/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations that map_kernel_test.c does on both sides; included by it alone. */
#ifndef WEIR_TESTS_MAP_KERNEL_TABLES_H
#define WEIR_TESTS_MAP_KERNEL_TABLES_H

/* Rows name what matters; the rest is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define K(k)                                                                                       \
	{                                                                                          \
		(k), 0                                                                             \
	}
#define V(v)                                                                                       \
	{                                                                                          \
		(v), (v)                                                                           \
	}
#define P(len, a, b, c, d)                                                                         \
	{                                                                                          \
		(len), (uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |                  \
			       (uint32_t)(d) << 24                                                 \
	}

#define BIG (~0u - 1)

static const struct op array_table[] = {
	{ LOOKUP, K(0), V(0) },
	{ UPDATE, K(1), V(7) },
	{ LOOKUP, K(1) },
	{ UPDATE, K(1), V(8), BPF_EXIST },
	{ UPDATE, K(1), V(9), BPF_NOEXIST },
	{ UPDATE, K(9), V(9), BPF_NOEXIST },
	{ UPDATE, K(9), V(9), 3 },
	{ UPDATE, K(9), V(9), BPF_F_LOCK },
	{ UPDATE, K(1), V(9), 8 },
	{ UPDATE, K(1), V(9), 3 },
	{ LOOKUP, K(9) },
	{ LOOKUP, K(1), V(0), 1 },
	{ LOOKUP, K(1), V(0), BPF_F_LOCK },
	{ LOOKUP, K(NO_KEY) },
	{ UPDATE, K(NO_KEY), V(1) },
	{ DELETE, K(NO_KEY) },
	{ DELETE, K(1) },
	{ DELETE, K(99) },
	{ POP, K(1) },
	{ POP, K(1), V(0), 1 },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(0) },
	{ NEXT, K(3) },
	{ NEXT, K(4) },
	{ NEXT, K(BIG) },
	{ WALK },
	{ BATCH_UPDATE, K(0), { 5, 4 } },
	{ BATCH_UPDATE, K(2), { 6, 4 } },
	{ BATCH_UPDATE, K(0), { 6, 0 } },
	{ BATCH_UPDATE, K(0), { 6, 1 }, BPF_F_LOCK },
	{ BATCH_UPDATE, K(0), { 6, 1 }, BPF_NOEXIST },
	{ BATCH_LOOKUP, K(0), { 0, 2 } },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 2 } },
	{ BATCH_DELETE, K(0), { 0, 2 } },
	{ FREEZE },
	{ FREEZE },
	{ UPDATE, K(1), V(7) },
	{ BATCH_UPDATE, K(0), { 5, 4 } },
	{ DELETE, K(1) },
	{ POP, K(1) },
	{ LOOKUP, K(1) },
};

static const struct op hash_table[] = {
	{ LOOKUP, K(0) },
	{ NEXT, K(NO_KEY) },
	{ UPDATE, K(1), V(1) },
	{ UPDATE, K(2), V(2), BPF_NOEXIST },
	{ UPDATE, K(2), V(3), BPF_NOEXIST },
	{ UPDATE, K(3), V(3), BPF_EXIST },
	{ UPDATE, K(3), V(3), 3 },
	{ UPDATE, K(3), V(3), BPF_F_LOCK },
	{ UPDATE, K(3), V(3), 8 },
	{ UPDATE, K(3), V(3) },
	{ UPDATE, K(4), V(4) },
	{ UPDATE, K(4), V(4), BPF_EXIST },
	{ UPDATE, K(1), V(5) },
	{ UPDATE, K(1), V(6), BPF_EXIST },
	{ LOOKUP, K(1) },
	{ LOOKUP, K(4) },
	{ WALK },
	{ DELETE, K(9) },
	{ DELETE, K(2) },
	{ DELETE, K(2) },
	{ LOOKUP, K(2) },
	{ UPDATE, K(5), V(5) },
	{ POP, K(5) },
	{ POP, K(5) },
	{ POP, K(1), V(0), BPF_F_LOCK },
	{ POP, K(1), V(0), 2 },
	{ BATCH_UPDATE, K(10), { 7, 4 } },
	{ WALK },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ BATCH_LOOKUP, K(0), { 0, 0 } },
	{ BATCH_LOOKUP, K(0), { 0, 9 }, BPF_F_LOCK },
	{ BATCH_DELETE, K(10), { 0, 2 } },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 9 } },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 9 } },
	{ WALK },
	{ UPDATE, K(5), V(5) },
	{ FREEZE },
	{ DELETE, K(5) },
	{ UPDATE, K(5), V(6) },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 9 } },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ LOOKUP, K(5) },
};

/* No more keys than fit beside the kernel's parked free nodes: eviction differs, and may. */
static const struct op lru_table[] = {
	{ UPDATE, K(1), V(1) },
	{ UPDATE, K(1), V(2), BPF_NOEXIST },
	{ UPDATE, K(2), V(2), BPF_EXIST },
	{ UPDATE, K(2), V(2), 3 },
	{ UPDATE, K(2), V(2), BPF_F_LOCK },
	{ UPDATE, K(2), V(2) },
	{ UPDATE, K(2), V(3), BPF_EXIST },
	{ LOOKUP, K(1) },
	{ LOOKUP, K(2) },
	{ LOOKUP, K(3) },
	{ WALK },
	{ POP, K(2) },
	{ DELETE, K(1) },
	{ DELETE, K(1) },
	{ BATCH_UPDATE, K(10), { 7, 4 } },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 9 } },
	{ WALK },
};

static const struct op lpm_table[] = {
	{ LOOKUP, P(32, 10, 0, 0, 1) },
	{ NEXT, K(NO_KEY) },
	{ UPDATE, P(16, 192, 168, 0, 0), V(1) },
	{ UPDATE, P(24, 192, 168, 0, 0), V(2) },
	{ UPDATE, P(24, 192, 168, 128, 0), V(3) },
	{ UPDATE, P(24, 192, 168, 1, 0), V(4) },
	{ WALK },
	{ LOOKUP, P(32, 192, 168, 128, 9) },
	{ LOOKUP, P(24, 192, 168, 128, 9) },
	{ LOOKUP, P(23, 192, 168, 128, 9) },
	{ LOOKUP, P(15, 192, 168, 128, 9) },
	{ LOOKUP, P(33, 192, 168, 128, 9) },
	{ UPDATE, P(33, 192, 168, 1, 0), V(4) },
	{ DELETE, P(33, 192, 168, 1, 0) },
	{ NEXT, P(33, 192, 168, 1, 0) },
	{ NEXT, P(20, 1, 2, 3, 4) },
	{ UPDATE, P(24, 192, 168, 1, 0), V(5), BPF_NOEXIST },
	{ UPDATE, P(24, 192, 168, 1, 77), V(5), BPF_EXIST },
	{ LOOKUP, P(32, 192, 168, 1, 0) },
	{ WALK },
	{ UPDATE, P(8, 10, 0, 0, 0), V(6), BPF_EXIST },
	{ UPDATE, P(8, 10, 0, 0, 0), V(6), 3 },
	{ UPDATE, P(0, 0, 0, 0, 0), V(6) },
	{ UPDATE, P(8, 10, 0, 0, 0), V(7) },
	{ UPDATE, P(9, 10, 0, 0, 0), V(7) },
	{ UPDATE, P(9, 10, 0, 0, 0), V(7), BPF_EXIST },
	{ LOOKUP, P(32, 99, 0, 0, 0) },
	{ WALK },
	{ DELETE, P(17, 192, 168, 0, 0) },
	{ DELETE, P(16, 192, 168, 0, 0) },
	{ DELETE, P(16, 192, 168, 0, 0) },
	{ LOOKUP, P(32, 192, 168, 7, 0) },
	{ WALK },
	{ DELETE, P(24, 192, 168, 0, 0) },
	{ WALK },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 9 } },
	{ POP, P(0, 0, 0, 0, 0) },
	{ BATCH_UPDATE, P(20, 1, 2, 3, 4), { 9, 2 } },
	{ WALK },
	{ BATCH_DELETE, P(20, 1, 2, 3, 4), { 9, 2 } },
	{ WALK },
};

static const struct op queue_table[] = {
	{ LOOKUP, K(NO_KEY) },
	{ POP, K(NO_KEY) },
	{ UPDATE, K(NO_KEY), V(1) },
	{ UPDATE, K(NO_KEY), V(2), BPF_NOEXIST },
	{ UPDATE, K(NO_KEY), V(2), 3 },
	{ UPDATE, K(NO_KEY), V(2), BPF_F_LOCK },
	{ UPDATE, K(NO_KEY), V(2), BPF_EXIST },
	{ UPDATE, K(0), V(2) },
	{ UPDATE, K(NO_KEY), V(3) },
	{ UPDATE, K(NO_KEY), V(4) },
	{ LOOKUP, K(NO_KEY) },
	{ UPDATE, K(NO_KEY), V(5), BPF_EXIST },
	{ LOOKUP, K(NO_KEY) },
	{ LOOKUP, K(0) },
	{ LOOKUP, K(NO_KEY), V(0), BPF_F_LOCK },
	{ POP, K(NO_KEY), V(0), BPF_F_LOCK },
	{ POP, K(NO_KEY) },
	{ POP, K(0) },
	{ POP, K(NO_KEY) },
	{ DELETE, K(NO_KEY) },
	{ DELETE, K(0) },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(0) },
	{ POP, K(NO_KEY) },
	{ POP, K(NO_KEY) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ BATCH_UPDATE, K(0), { 0, 3 } },
	{ UPDATE, K(NO_KEY), V(6) },
	{ FREEZE },
	{ UPDATE, K(NO_KEY), V(6) },
	{ POP, K(NO_KEY) },
	{ LOOKUP, K(NO_KEY) },
};

static const struct op bloom_table[] = {
	{ LOOKUP, K(NO_KEY), V(1) },
	{ UPDATE, K(NO_KEY), V(1) },
	{ LOOKUP, K(NO_KEY), V(1) },
	{ UPDATE, K(NO_KEY), V(1), BPF_EXIST },
	{ UPDATE, K(NO_KEY), V(1), BPF_F_LOCK },
	{ UPDATE, K(0), V(1) },
	{ POP, K(NO_KEY), V(1) },
	{ DELETE, K(NO_KEY) },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(0) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
};

static const struct op ringbuf_table[] = {
	{ LOOKUP, K(NO_KEY) },
	{ UPDATE, K(NO_KEY), V(1) },
	{ DELETE, K(NO_KEY) },
	{ NEXT, K(NO_KEY) },
	{ POP, K(NO_KEY) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ LOOKUP, K(0) },
	{ FREEZE },
	{ UPDATE, K(NO_KEY), V(1) },
};

static const struct op prog_array_table[] = {
	{ LOOKUP, K(0) },
	{ LOOKUP, K(9) },
	{ UPDATE, K(0), V(0), 0, CLOSED },
	{ UPDATE, K(9), V(0), 0, CLOSED },
	{ UPDATE, K(0), V(0), BPF_EXIST, XDP },
	{ UPDATE, K(9), V(0), BPF_EXIST, XDP },
	{ UPDATE, K(0), V(0), 0, INNER },
	{ UPDATE, K(0), V(0), 0, XDP },
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), V(0), 0, XDP_2 },
	{ LOOKUP, K(0) },
	{ UPDATE, K(1), V(0), 0, FILTER },
	{ UPDATE, K(1), V(0), 0, XDP_DEVMAP },
	{ UPDATE, K(1), V(0), 0, XDP_CPUMAP },
	{ LOOKUP, K(1) },
	{ DELETE, K(1) },
	{ DELETE, K(9) },
	{ DELETE, K(0) },
	{ DELETE, K(0) },
	{ NEXT, K(0) },
	{ NEXT, K(3) },
	{ POP, K(0) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ BATCH_UPDATE, K(0), { 0, 3 } },
};

static const struct op perf_table[] = {
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), V(0), 0, CLOSED },
	{ UPDATE, K(0), V(0), 0, INNER },
	{ UPDATE, K(0), V(0), BPF_EXIST, PERF },
	{ UPDATE, K(9), V(0), 0, PERF },
	{ UPDATE, K(0), V(0), 0, PERF },
	{ LOOKUP, K(0) },
	{ LOOKUP, K(9) },
	{ DELETE, K(9) },
	{ DELETE, K(0) },
	{ DELETE, K(0) },
	{ NEXT, K(NO_KEY) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ POP, K(0) },
};

static const struct op array_of_maps_table[] = {
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), V(0), 0, CLOSED },
	{ UPDATE, K(0), V(0), 0, XDP },
	{ UPDATE, K(0), V(0), 0, INNER_WIDE },
	{ UPDATE, K(0), V(0), 0, INNER_LONG },
	{ UPDATE, K(0), V(0), 0, INNER_HASH },
	{ UPDATE, K(0), V(0), BPF_EXIST, INNER },
	{ UPDATE, K(9), V(0), 0, CLOSED },
	{ UPDATE, K(0), V(0), 0, INNER },
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), V(0), 0, INNER_2 },
	{ UPDATE, K(2), V(0), 0, INNER },
	{ LOOKUP, K(0) },
	{ LOOKUP, K(9) },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ DELETE, K(9) },
	{ DELETE, K(0) },
	{ DELETE, K(0) },
	{ LOOKUP, K(0) },
	{ POP, K(2) },
	{ WALK },
	{ BATCH_UPDATE, K(1), { 0, 2 }, 0, INNER },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ BATCH_DELETE, K(1), { 0, 2 } },
};

static const struct op hash_of_maps_table[] = {
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), V(0), 0, CLOSED },
	{ UPDATE, K(0), V(0), 3, CLOSED },
	{ UPDATE, K(0), V(0), 3, INNER_HASH },
	{ UPDATE, K(0), V(0), 0, INNER },
	{ UPDATE, K(0), V(0), BPF_EXIST, INNER_HASH },
	{ UPDATE, K(0), V(0), BPF_NOEXIST, INNER_HASH },
	{ UPDATE, K(0), V(0), BPF_NOEXIST, INNER_HASH_2 },
	{ UPDATE, K(0), V(0), 0, INNER_HASH_2 },
	{ LOOKUP, K(0) },
	{ UPDATE, K(1), V(0), 0, INNER_HASH },
	{ UPDATE, K(2), V(0), 0, INNER_HASH },
	{ UPDATE, K(3), V(0), 0, INNER_HASH },
	{ UPDATE, K(4), V(0), 0, INNER_HASH },
	{ UPDATE, K(5), V(0), 0, INNER_HASH },
	{ WALK },
	{ BATCH_LOOKUP, K(0), { 0, 9 } },
	{ POP, K(2) },
	{ DELETE, K(2) },
	{ DELETE, K(2) },
	{ BATCH_LOOKUP_DEL, K(0), { 0, 9 } },
	{ WALK },
	{ UPDATE, K(5), V(0), 0, INNER_HASH },
};

#define D(ifindex)                                                                                 \
	{                                                                                          \
		(ifindex), 0                                                                       \
	}
static const struct op devmap_table[] = {
	{ LOOKUP, K(0) },
	{ LOOKUP, K(9) },
	{ UPDATE, K(0), D(1) },
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), D(999999) },
	{ UPDATE, K(0), D(0xffffffff) },
	{ UPDATE, K(0), D(1), BPF_NOEXIST },
	{ UPDATE, K(1), D(1), BPF_NOEXIST },
	{ UPDATE, K(1), D(1), BPF_EXIST },
	{ UPDATE, K(9), D(1), 3 },
	{ UPDATE, K(9), D(1), BPF_NOEXIST },
	{ UPDATE, K(1), D(1), BPF_F_LOCK },
	{ UPDATE, K(1), D(0) },
	{ LOOKUP, K(1) },
	{ UPDATE, K(1), D(0) },
	{ DELETE, K(1) },
	{ DELETE, K(9) },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(3) },
	{ NEXT, K(9) },
	{ WALK },
	{ POP, K(0) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ FREEZE },
	{ UPDATE, K(0), D(1) },
};

static const struct op devmap_prog_table[] = {
	{ UPDATE, K(0), D(1), 0, XDP_DEVMAP },
	{ LOOKUP, K(0) },
	{ UPDATE, K(1), D(1), 0, XDP },
	{ UPDATE, K(1), D(1), 0, XDP_CPUMAP },
	{ UPDATE, K(1), D(1), 0, FILTER },
	{ UPDATE, K(1), D(1), 0, CLOSED },
	{ UPDATE, K(1), D(1), 0, INNER },
	{ UPDATE, K(1), D(0), 0, XDP_DEVMAP },
	{ UPDATE, K(1), D(999999), 0, CLOSED },
	{ UPDATE, K(1), { 1, 0xffffffff } },
	{ LOOKUP, K(1) },
	{ UPDATE, K(1), { 0, 0xffffffff } },
	{ LOOKUP, K(1) },
	{ UPDATE, K(0), D(1) },
	{ LOOKUP, K(0) },
	{ DELETE, K(0) },
	{ LOOKUP, K(0) },
};

static const struct op devmap_hash_table[] = {
	{ LOOKUP, K(0) },
	{ NEXT, K(NO_KEY) },
	{ UPDATE, K(5), D(1) },
	{ UPDATE, K(5), D(1), BPF_NOEXIST },
	{ UPDATE, K(5), D(0) },
	{ UPDATE, K(6), D(1), BPF_EXIST },
	{ UPDATE, K(7), D(1), 3 },
	{ UPDATE, K(7), D(999999) },
	{ UPDATE, K(77), D(1) },
	{ UPDATE, K(BIG), D(1) },
	{ UPDATE, K(8), D(1) },
	{ UPDATE, K(8), D(999999) },
	{ UPDATE, K(5), D(1) },
	{ WALK },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(5) },
	{ NEXT, K(77) },
	{ NEXT, K(BIG) },
	{ NEXT, K(1000) },
	{ DELETE, K(1000) },
	{ DELETE, K(77) },
	{ DELETE, K(77) },
	{ LOOKUP, K(BIG) },
	{ POP, K(5) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
	{ UPDATE, K(1), D(1) },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(1) },
};

static const struct op cpumap_table[] = {
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), D(64) },
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), D(16384) },
	{ UPDATE, K(0), D(16385) },
	{ UPDATE, K(60), D(16385) },
	{ UPDATE, K(60), D(16) },
	{ UPDATE, K(60), D(0) },
	{ UPDATE, K(1000), D(16) },
	{ UPDATE, K(1000), D(16), BPF_NOEXIST },
	{ UPDATE, K(0), D(16), BPF_NOEXIST },
	{ UPDATE, K(0), D(16), 3 },
	{ UPDATE, K(0), D(16), BPF_EXIST },
	{ LOOKUP, K(0) },
	{ UPDATE, K(0), D(0) },
	{ LOOKUP, K(0) },
	{ DELETE, K(0) },
	{ DELETE, K(1000) },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(63) },
	{ POP, K(0) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
};

static const struct op cpumap_prog_table[] = {
	{ UPDATE, K(0), D(64), 0, XDP_CPUMAP }, { LOOKUP, K(0) },
	{ UPDATE, K(0), D(64), 0, XDP },	{ UPDATE, K(0), D(64), 0, XDP_DEVMAP },
	{ UPDATE, K(0), D(64), 0, FILTER },	{ UPDATE, K(0), D(64), 0, CLOSED },
	{ UPDATE, K(0), D(64), 0, INNER },	{ LOOKUP, K(0) },
	{ UPDATE, K(0), { 64, 0xffffffff } },	{ LOOKUP, K(0) },
	{ UPDATE, K(0), D(0), 0, CLOSED },	{ LOOKUP, K(0) },
};

static const struct op xskmap_table[] = {
	{ LOOKUP, K(0) },
	{ LOOKUP, K(9) },
	{ UPDATE, K(0), V(0), 0, CLOSED },
	{ UPDATE, K(0), V(0), 0, INNER },
	{ UPDATE, K(4), V(0), 0, XSK },
	{ UPDATE, K(64), V(0), 0, XSK },
	{ UPDATE, K(0), V(0), 3, XSK },
	{ UPDATE, K(0), V(0), BPF_EXIST, XSK },
	{ UPDATE, K(0), V(0), BPF_NOEXIST, XSK },
	{ UPDATE, K(0), V(0), BPF_NOEXIST, XSK },
	{ UPDATE, K(0), V(0), BPF_NOEXIST, XSK_2 },
	{ UPDATE, K(0), V(0), BPF_EXIST, XSK_2 },
	{ UPDATE, K(1), V(0), 0, XSK_2 },
	{ LOOKUP, K(0) },
	{ DELETE, K(0) },
	{ DELETE, K(0) },
	{ DELETE, K(9) },
	{ NEXT, K(NO_KEY) },
	{ NEXT, K(3) },
	{ POP, K(1) },
	{ BATCH_LOOKUP, K(0), { 0, 3 } },
};

#define T(ops) (ops), sizeof(ops) / sizeof((ops)[0])
#define A(t, k, v, n, ...)                                                                         \
	{                                                                                          \
		.type = BPF_MAP_TYPE_##t, .key_size = (k), .value_size = (v), .max_entries = (n),  \
		__VA_ARGS__                                                                        \
	}

static const struct table tables[] = {
	{ "array", A(ARRAY, 4, 4, 4), NO_OBJ, T(array_table) },
	{ "array of 13 bytes", A(ARRAY, 4, 13, 4), NO_OBJ, T(array_table) },
	{ "array mmapable", A(ARRAY, 4, 8, 4, .flags = BPF_F_MMAPABLE), NO_OBJ, T(array_table) },
	{ "array rdonly", A(ARRAY, 4, 8, 4, .flags = BPF_F_RDONLY), NO_OBJ, T(array_table) },
	{ "array wronly", A(ARRAY, 4, 8, 4, .flags = BPF_F_WRONLY), NO_OBJ, T(array_table) },
	{ "percpu_array", A(PERCPU_ARRAY, 4, 4, 4), NO_OBJ, T(array_table) },
	{ "percpu_array of 12", A(PERCPU_ARRAY, 4, 12, 4), NO_OBJ, T(array_table) },
	{ "hash", A(HASH, 4, 4, 3), NO_OBJ, T(hash_table) },
	{ "hash of 13 bytes", A(HASH, 4, 13, 3), NO_OBJ, T(hash_table) },
	{ "hash, long keys", A(HASH, 8, 8, 3), NO_OBJ, T(hash_table) },
	{ "hash, short keys", A(HASH, 1, 8, 3), NO_OBJ, T(hash_table) },
	{ "hash no prealloc", A(HASH, 4, 8, 3, .flags = BPF_F_NO_PREALLOC), NO_OBJ, T(hash_table) },
	{ "hash rdonly", A(HASH, 4, 8, 3, .flags = BPF_F_RDONLY), NO_OBJ, T(hash_table) },
	{ "hash wronly", A(HASH, 4, 8, 3, .flags = BPF_F_WRONLY), NO_OBJ, T(hash_table) },
	{ "percpu_hash", A(PERCPU_HASH, 4, 4, 3), NO_OBJ, T(hash_table) },
	{ "lru_hash", A(LRU_HASH, 4, 4, 1024), NO_OBJ, T(lru_table) },
	{ "lru_percpu_hash", A(LRU_PERCPU_HASH, 4, 4, 1024), NO_OBJ, T(lru_table) },
	{ "lru_hash, own lists", A(LRU_HASH, 4, 4, 1023, .flags = BPF_F_NO_COMMON_LRU), NO_OBJ,
	  T(lru_table) },
	{ "lpm_trie", A(LPM_TRIE, 8, 4, 6, .flags = BPF_F_NO_PREALLOC), NO_OBJ, T(lpm_table) },
	{ "queue", A(QUEUE, 0, 4, 3), NO_OBJ, T(queue_table) },
	{ "stack", A(STACK, 0, 4, 3), NO_OBJ, T(queue_table) },
	{ "bloom_filter", A(BLOOM_FILTER, 0, 8, 100, .extra = 3), NO_OBJ, T(bloom_table) },
	{ "ringbuf", A(RINGBUF, 0, 0, 4096), NO_OBJ, T(ringbuf_table) },
	{ "prog_array", A(PROG_ARRAY, 4, 4, 4), NO_OBJ, T(prog_array_table) },
	{ "perf_event_array", A(PERF_EVENT_ARRAY, 4, 4, 4), NO_OBJ, T(perf_table) },
	{ "array_of_maps", A(ARRAY_OF_MAPS, 4, 4, 4), INNER, T(array_of_maps_table) },
	{ "hash_of_maps", A(HASH_OF_MAPS, 4, 4, 4), INNER_HASH, T(hash_of_maps_table) },
	{ "devmap", A(DEVMAP, 4, 4, 4), NO_OBJ, T(devmap_table) },
	{ "devmap with programs", A(DEVMAP, 4, 8, 4), NO_OBJ, T(devmap_prog_table) },
	{ "devmap_hash", A(DEVMAP_HASH, 4, 4, 4), NO_OBJ, T(devmap_hash_table) },
	{ "devmap_hash, 8 bytes", A(DEVMAP_HASH, 4, 8, 4), NO_OBJ, T(devmap_hash_table) },
	{ "devmap_hash programs", A(DEVMAP_HASH, 4, 8, 4), NO_OBJ, T(devmap_prog_table) },
	{ "cpumap", A(CPUMAP, 4, 4, 64), NO_OBJ, T(cpumap_table) },
	{ "cpumap with programs", A(CPUMAP, 4, 8, 4), NO_OBJ, T(cpumap_prog_table) },
	{ "xskmap (B2.07: key 64)", A(XSKMAP, 4, 4, 4), NO_OBJ, T(xskmap_table) },
};

#define EACH_TYPE(k, v, n, ...)                                                                    \
	{ A(ARRAY, k, v, n, __VA_ARGS__), NO_OBJ },                                                \
		{ A(PERCPU_ARRAY, k, v, n, __VA_ARGS__), NO_OBJ },                                 \
		{ A(HASH, k, v, n, __VA_ARGS__), NO_OBJ },                                         \
		{ A(PERCPU_HASH, k, v, n, __VA_ARGS__), NO_OBJ },                                  \
		{ A(LRU_HASH, k, v, n, __VA_ARGS__), NO_OBJ },                                     \
		{ A(LRU_PERCPU_HASH, k, v, n, __VA_ARGS__), NO_OBJ },                              \
		{ A(LPM_TRIE, k, v, n, __VA_ARGS__), NO_OBJ },                                     \
		{ A(QUEUE, k, v, n, __VA_ARGS__), NO_OBJ },                                        \
		{ A(STACK, k, v, n, __VA_ARGS__), NO_OBJ },                                        \
		{ A(BLOOM_FILTER, k, v, n, __VA_ARGS__), NO_OBJ },                                 \
		{ A(RINGBUF, k, v, n, __VA_ARGS__), NO_OBJ },                                      \
		{ A(PROG_ARRAY, k, v, n, __VA_ARGS__), NO_OBJ },                                   \
		{ A(PERF_EVENT_ARRAY, k, v, n, __VA_ARGS__), NO_OBJ },                             \
		{ A(ARRAY_OF_MAPS, k, v, n, __VA_ARGS__), INNER },                                 \
		{ A(HASH_OF_MAPS, k, v, n, __VA_ARGS__), INNER },                                  \
		{ A(DEVMAP, k, v, n, __VA_ARGS__), NO_OBJ },                                       \
		{ A(DEVMAP_HASH, k, v, n, __VA_ARGS__), NO_OBJ },                                  \
		{ A(CPUMAP, k, v, n, __VA_ARGS__), NO_OBJ },                                       \
	{                                                                                          \
		A(XSKMAP, k, v, n, __VA_ARGS__), NO_OBJ                                            \
	}

static const struct {
	struct map_attr attr;
	enum sym inner;
} creations[] = {
	EACH_TYPE(4, 4, 4, .flags = 0),
	EACH_TYPE(4, 4, 0, .flags = 0),
	EACH_TYPE(0, 4, 4, .flags = 0),
	EACH_TYPE(8, 4, 4, .flags = 0),
	EACH_TYPE(4, 0, 4, .flags = 0),
	EACH_TYPE(4, 6, 4, .flags = 0),
	EACH_TYPE(0, 0, 4096, .flags = 0),
	EACH_TYPE(0, 0, 4095, .flags = 0),
	EACH_TYPE(4, 4, 4, .extra = 1),
	EACH_TYPE(0, 4, 4, .extra = 15),
	EACH_TYPE(0, 4, 4, .extra = 16),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_NO_PREALLOC),
	EACH_TYPE(8, 4, 4, .flags = BPF_F_NO_PREALLOC),
	EACH_TYPE(260, 4, 4, .flags = BPF_F_NO_PREALLOC),
	EACH_TYPE(261, 4, 4, .flags = BPF_F_NO_PREALLOC),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_NO_COMMON_LRU),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_NO_COMMON_LRU | BPF_F_NUMA_NODE),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_NUMA_NODE),
	EACH_TYPE(0, 4, 4, .flags = BPF_F_NUMA_NODE),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_MMAPABLE),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_PRESERVE_ELEMS),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_INNER_MAP),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_ZERO_SEED),
	EACH_TYPE(0, 4, 4, .flags = BPF_F_ZERO_SEED),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_RDONLY),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_WRONLY),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_RDONLY | BPF_F_WRONLY),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_RDONLY_PROG),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_WRONLY_PROG),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG),
	EACH_TYPE(0, 4, 4, .flags = BPF_F_RDONLY_PROG),
	EACH_TYPE(4, 4, 4, .flags = BPF_F_CLONE),
	EACH_TYPE(4, 32768, 1, .flags = 0),
	EACH_TYPE(4, 32769, 1, .flags = 0),
	EACH_TYPE(4, (4 << 20) - 200, 1, .flags = 0),
	EACH_TYPE(4, 4 << 20, 1, .flags = 0),
	EACH_TYPE(0, (4 << 20) + 1, 1, .flags = 0),
	EACH_TYPE(4, 0x80000000u, 1, .flags = 0),
	EACH_TYPE(4, 4, 8193, .flags = 0),
	{ A(ARRAY_OF_MAPS, 4, 4, 4, .flags = 0), INNER_HASH },
	{ A(HASH_OF_MAPS, 4, 4, 4, .flags = 0), INNER_WIDE },
	{ A(CGROUP_ARRAY, 4, 4, 4, .flags = 1u << 30), NO_OBJ },
};

/* Random operations: few keys, all flags. */
enum {
	RANDOM_OPS = 3000,
	RANDOM_KEYS = 12,
};

static const struct map_attr random_maps[] = {
	A(HASH, 4, 4, 8, .flags = 0),
	A(HASH, 8, 16, 8, .flags = BPF_F_NO_PREALLOC),
	A(PERCPU_HASH, 4, 4, 8, .flags = 0),
	A(ARRAY, 4, 4, 8, .flags = 0),
	A(LPM_TRIE, 8, 4, 8, .flags = BPF_F_NO_PREALLOC),
	A(LPM_TRIE, 5, 4, 8, .flags = BPF_F_NO_PREALLOC),
	A(QUEUE, 0, 4, 5, .flags = 0),
	A(STACK, 0, 4, 5, .flags = 0),
	A(DEVMAP, 4, 4, 8, .flags = 0),
	A(DEVMAP_HASH, 4, 4, 8, .flags = 0),
};

static struct op random_op(const struct map_attr *attr, uint32_t x)
{
	static const enum op_kind kinds[] = { UPDATE, UPDATE, UPDATE, UPDATE, LOOKUP, LOOKUP,
					      DELETE, DELETE, POP,    WALK,   LOOKUP, DELETE };
	struct op op = { .kind = kinds[x % 12], .key = { x / 12 % RANDOM_KEYS, 0 } };

	if (attr->type == BPF_MAP_TYPE_LPM_TRIE)
		op.key[0] = x / 12 % 34, op.key[1] = (x >> 16 & 7) << 5 | (x >> 19 & 3) << 14;
	if (!attr->key_size)
		op.key[0] = NO_KEY;
	if (op.kind == UPDATE) {
		op.flags = x / 1000 % 8 < 6 ? 0 : x / 8000 % 4;
		/* An interface for devmaps: none, lo, or one that is not there. */
		op.val[0] =
			attr->type == BPF_MAP_TYPE_DEVMAP || attr->type == BPF_MAP_TYPE_DEVMAP_HASH
				? x / 500 % 8 < 6 ? 1 : x / 500 % 8 * 1000000 - 6000000
				: x;
	}
	return op;
}

#endif
