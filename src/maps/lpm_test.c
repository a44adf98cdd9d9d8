/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the longest-prefix-match trie: lpm.c. */
#include <pthread.h>

#include "base/qsbr.h"
#include "maps/map_test.h"

enum {
	MAX = 40,
	OPS = 20000,
	BITS_MAX = 128,
};

struct key {
	uint32_t prefixlen;
	uint8_t data[BITS_MAX / 8];
};

static struct map *make_trie(uint32_t bytes, uint32_t max)
{
	return make_map(BPF_MAP_TYPE_LPM_TRIE, 4 + bytes, 4, max, BPF_F_NO_PREALLOC);
}

static struct key ipv4(uint32_t prefixlen, uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return (struct key){ prefixlen, { a, b, c, d } };
}

/* The order of the kernel's own example: more specific first. */
static void walk_is_post_order(void **state)
{
	struct map *map = make_trie(4, 8);
	const struct key in[] = { ipv4(16, 192, 168, 0, 0), ipv4(24, 192, 168, 0, 0),
				  ipv4(24, 192, 168, 128, 0), ipv4(24, 192, 168, 1, 0) };
	static const uint8_t order[] = { 1, 3, 2, 0 };
	struct key next;
	uint32_t v = 1;

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(map_sys_update(map, &in[i], &v, 0), 0);
	assert_int_equal(map_sys_next_key(map, NULL, &next), 0);
	for (size_t i = 0; i < 4; i++) {
		struct key at = next;

		assert_memory_equal(&at, &in[order[i]], 8);
		assert_int_equal(map_sys_next_key(map, &at, &next), i < 3 ? 0 : -ENOENT);
	}
	map_put(map);
}

static void rules_of_keys(void **state)
{
	struct map *map = make_trie(4, 2);
	struct key k = ipv4(33, 1, 2, 3, 4), a = ipv4(8, 10, 1, 1, 1), b = ipv4(0, 0, 0, 0, 0), out;
	uint32_t v = 1;

	assert_int_equal(map_sys_update(map, &k, &v, 0), -EINVAL);
	assert_int_equal(map_sys_delete(map, &k), -EINVAL);
	assert_int_equal(map_sys_lookup(map, &k, &v, 0), -ENOENT);
	assert_int_equal(map_sys_next_key(map, &k, &k), -ENOENT);
	assert_int_equal(map_sys_update(map, &a, &v, BPF_EXIST), -ENOENT);
	assert_int_equal(map_sys_update(map, &a, &v, 0), 0);
	assert_int_equal(map_sys_update(map, &a, &v, BPF_NOEXIST), -EEXIST);
	assert_int_equal(map_sys_update(map, &b, &v, 3), -EINVAL);
	assert_int_equal(map_sys_update(map, &b, &v, 0), 0);
	k.prefixlen = 32;
	assert_int_equal(map_sys_update(map, &k, &v, 0), -ENOSPC);
	/* Bits behind the prefix are kept as given. */
	assert_int_equal(map_sys_next_key(map, NULL, &out), 0);
	assert_memory_equal(&out, &a, 8);
	map_put(map);
}

/* A list of prefixes, searched from one end to the other. */
struct twin {
	struct key keys[MAX];
	uint32_t values[MAX], n;
};

static bool covers(const struct key *prefix, const struct key *key)
{
	for (uint32_t i = 0; i < prefix->prefixlen; i++)
		if ((prefix->data[i / 8] ^ key->data[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return prefix->prefixlen <= key->prefixlen;
}

static uint32_t twin_exact(const struct twin *t, const struct key *k)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->keys[i].prefixlen == k->prefixlen && covers(&t->keys[i], k))
			break;
	return i;
}

static int twin_update(struct twin *t, const struct key *k, uint32_t v, uint64_t flags)
{
	uint32_t i = twin_exact(t, k);

	if (i < t->n && flags == BPF_NOEXIST)
		return -EEXIST;
	if (i == t->n && flags == BPF_EXIST)
		return -ENOENT;
	if (i == MAX)
		return -ENOSPC;
	t->keys[i] = *k;
	t->values[i] = v;
	t->n += i == t->n;
	return 0;
}

static int twin_delete(struct twin *t, const struct key *k)
{
	uint32_t i = twin_exact(t, k);

	if (i == t->n)
		return -ENOENT;
	t->n--;
	t->keys[i] = t->keys[t->n];
	t->values[i] = t->values[t->n];
	return 0;
}

static const uint32_t *twin_lookup(const struct twin *t, const struct key *k)
{
	const uint32_t *best = NULL;
	uint32_t len = 0;

	for (uint32_t i = 0; i < t->n; i++)
		if (covers(&t->keys[i], k) && (!best || t->keys[i].prefixlen >= len)) {
			best = &t->values[i];
			len = t->keys[i].prefixlen;
		}
	return best;
}

/* Few distinct bits, so that prefixes nest and meet. */
static struct key random_key(uint32_t bytes)
{
	struct key k = { rng_below(bytes * 8 + 1), { 0 } };

	for (uint32_t i = 0; i < bytes; i++)
		k.data[i] = (uint8_t)(rng_below(2) ? 0 : 1u << rng_below(8));
	return k;
}

static void twin_step(struct map *map, struct twin *t, uint32_t bytes)
{
	struct key k = random_key(bytes);
	uint64_t flags = rng_below(3);
	uint32_t v = rng_below(1000), *got;
	const uint32_t *want;

	switch (rng_below(3)) {
	case 0:
		assert_int_equal(map->ops->update(map, &k, &v, flags, 0),
				 twin_update(t, &k, v, flags));
		break;
	case 1:
		/* Half of the time something that is there. */
		if (t->n && rng_below(2))
			k = t->keys[rng_below(t->n)];
		assert_int_equal(map->ops->del(map, &k), twin_delete(t, &k));
		break;
	default:
		got = map->ops->lookup(map, &k, 0);
		want = twin_lookup(t, &k);
		assert_int_equal(got != NULL, want != NULL);
		if (got)
			assert_int_equal(*got, *want);
	}
}

/* Each once, and never a key behind one that covers it. */
static void check_walk(struct map *map, const struct twin *t)
{
	struct key seen[MAX], key;
	uint32_t n = 0;
	int rc;

	memset(&key, 0, sizeof(key));
	rc = map_sys_next_key(map, NULL, &key);
	while (!rc && n < MAX) {
		assert_true(twin_exact(t, &key) < t->n);
		for (uint32_t i = 0; i < n; i++)
			assert_false(covers(&seen[i], &key));
		seen[n] = key;
		rc = map_sys_next_key(map, &seen[n++], &key);
	}
	assert_int_equal(n, t->n);
}

static void trie_against_twin(void **state)
{
	static const uint32_t bytes[] = { 1, 2, 4, 9, 16 };

	rng_start("trie_against_twin");
	for (size_t s = 0; s < sizeof(bytes) / sizeof(bytes[0]); s++) {
		struct map *map = make_trie(bytes[s], MAX);
		struct twin t = { .n = 0 };

		for (uint32_t i = 0; i < OPS; i++) {
			twin_step(map, &t, bytes[s]);
			if (i % 500 == 0)
				check_walk(map, &t);
		}
		check_walk(map, &t);
		map_put(map);
	}
}

/* Values of replaced nodes outlive their readers: one writer, one reader under QSBR. */
static _Atomic bool stop;
static struct map *shared;

static void *reader(void *arg)
{
	struct qsbr_reader self;
	uint32_t *wrong = arg;

	qsbr_register(&self);
	while (!atomic_load(&stop)) {
		struct key k = ipv4(32, 10, 1, 2, 3);
		uint32_t *v = shared->ops->lookup(shared, &k, 0);

		/* 10.0.0.0/8 is never deleted. */
		if (!v || __atomic_load_n(v, __ATOMIC_RELAXED) - 1 > 1)
			++*wrong;
		qsbr_quiescent(&self);
	}
	qsbr_unregister(&self);
	return NULL;
}

static void replacing_under_a_reader(void **state)
{
	struct key wide = ipv4(8, 10, 0, 0, 0), narrow = ipv4(24, 10, 1, 2, 0);
	uint32_t wrong = 0, one = 1, two = 2;
	pthread_t thread;

	shared = make_trie(4, 4);
	assert_int_equal(map_sys_update(shared, &wide, &one, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, reader, &wrong), 0);
	for (uint32_t i = 0; i < OPS; i++) {
		int rc = shared->ops->update(shared, &wide, i & 1 ? &two : &one, 0, 0);

		/* All values wait for the reader: as when the kernel has no memory. */
		assert_true(!rc || rc == -ENOMEM);
		rc = shared->ops->update(shared, &narrow, &two, 0, 0);
		assert_true(!rc || rc == -ENOMEM);
		rc = shared->ops->del(shared, &narrow);
		assert_true(!rc || rc == -ENOENT);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
	map_put(shared);
	qsbr_synchronize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_is_post_order),
		cmocka_unit_test(rules_of_keys),
		cmocka_unit_test(trie_against_twin),
		cmocka_unit_test(replacing_under_a_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
