/* SPDX-License-Identifier: BSD-2-Clause */
/* Bloom filters (kernel/bpf/bloom_filter.c): push sets bits, peek asks for them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "maps/map_impl.h"

enum {
	BLOOM_HASHES = 5, /* when map_extra does not say */
};

struct bloom {
	struct map map;
	uint32_t mask; /* bits - 1 */
	uint32_t n_hashes;
	uint64_t seed;
	_Atomic uint64_t *bits;
};

static struct bloom *bloom_of(struct map *map)
{
	return (struct bloom *)map;
}

static int bloom_check(struct map_attr *attr)
{
	if (attr->value_size > MAP_VALUE_SIZE_MAX)
		return -E2BIG;
	if (attr->key_size || !attr->value_size || !attr->max_entries ||
	    (attr->flags & ~(uint32_t)(BPF_F_NUMA_NODE | BPF_F_ZERO_SEED | MAP_ACCESS_FLAGS)) ||
	    !map_access_ok(attr->flags) || (attr->extra & ~(uint64_t)0xf))
		return -EINVAL;
	return 0;
}

/* n * hashes / ln 2 bits, with 7/5 for 1 / ln 2 as in the kernel, as a power of two from 64 to 2^32. */
static uint32_t bits_mask(uint32_t n, uint32_t hashes)
{
	uint64_t bits = (uint64_t)n * hashes;

	if (bits > UINT32_MAX)
		return UINT32_MAX;
	bits = bits / 5 * 7;
	if (bits > 1u << 31)
		return UINT32_MAX;
	return bits <= 64 ? 63 : (uint32_t)((1ull << (64 - __builtin_clzll(bits - 1))) - 1);
}

static size_t bits_size(const struct bloom *b)
{
	return ((size_t)b->mask + 1) / 8;
}

static int bloom_create(struct map **ret, const struct map_attr *attr)
{
	struct bloom *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->n_hashes = attr->extra ? (uint32_t)attr->extra : BLOOM_HASHES;
	b->mask = bits_mask(attr->max_entries, b->n_hashes);
	b->bits = sparse_alloc(bits_size(b));
	if (!b->bits)
		goto err_free;
	if (!(attr->flags & BPF_F_ZERO_SEED) &&
	    getrandom(&b->seed, sizeof(b->seed), 0) != sizeof(b->seed))
		goto err_bits;
	*ret = &b->map;
	return 0;
err_bits:
	sparse_free((void *)b->bits, bits_size(b));
err_free:
	free(b);
	return -ENOMEM;
}

static void bloom_destroy(struct map *map)
{
	struct bloom *b = bloom_of(map);

	sparse_free((void *)b->bits, bits_size(b));
	free(b);
}

/* One pass over the value; the k-th bit is at h1 + k * h2 (double hashing), h2 odd. */
static uint64_t hash_value(const struct bloom *b, const uint8_t *value)
{
	uint64_t h = b->seed ^ b->map.value_size, w;

	for (uint32_t i = 0; i < b->map.value_size; i += 8) {
		uint32_t n = b->map.value_size - i;

		w = 0;
		memcpy(&w, value + i, n < 8 ? n : 8);
		h = (h ^ w) * 0x9fb21c651e98df25u;
		h ^= h >> 29;
	}
	h *= 0xd6e8feb86659fd93u;
	return h ^ (h >> 32);
}

static uint32_t bit_at(const struct bloom *b, uint64_t hash, uint32_t k)
{
	return ((uint32_t)hash + k * ((uint32_t)(hash >> 32) | 1)) & b->mask;
}

static int bloom_push(struct map *map, const void *value, uint64_t flags)
{
	struct bloom *b = bloom_of(map);
	uint64_t hash = hash_value(b, value);

	if (flags != BPF_ANY)
		return -EINVAL;
	for (uint32_t k = 0; k < b->n_hashes; k++) {
		uint32_t bit = bit_at(b, hash, k);

		atomic_fetch_or_explicit(&b->bits[bit / 64], 1ull << (bit % 64),
					 memory_order_relaxed);
	}
	return 0;
}

static int bloom_peek(struct map *map, void *value)
{
	struct bloom *b = bloom_of(map);
	uint64_t hash = hash_value(b, value);

	for (uint32_t k = 0; k < b->n_hashes; k++) {
		uint32_t bit = bit_at(b, hash, k);
		uint64_t w = atomic_load_explicit(&b->bits[bit / 64], memory_order_relaxed);

		if (!(w >> (bit % 64) & 1))
			return -ENOENT;
	}
	return 0;
}

static int bloom_pop(struct map *map, void *value)
{
	return -EOPNOTSUPP;
}

static int bloom_del(struct map *map, const void *key)
{
	return -EOPNOTSUPP;
}

static int bloom_next_key(struct map *map, const void *key, void *next)
{
	return -EOPNOTSUPP;
}

const struct map_ops bloom_ops = {
	.type = BPF_MAP_TYPE_BLOOM_FILTER,
	.name = "bloom_filter",
	.check = bloom_check,
	.create = bloom_create,
	.destroy = bloom_destroy,
	.push = bloom_push,
	.pop = bloom_pop,
	.peek = bloom_peek,
	.sys_del = bloom_del,
	.next_key = bloom_next_key,
};
