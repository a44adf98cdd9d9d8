/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Longest-prefix-match tries (kernel/bpf/lpm_trie.c). A binary trie with its paths compressed: a node holds
 * a prefix, its children continue it with a 0 and a 1. Nodes between that nobody inserted are intermediate
 * and have both children. Nodes are immutable but for their links and the intermediate mark; an update
 * replaces the node. The value of a node is a value of the map's area.
 *
 * Threads: look-ups without a lock, under QSBR; writers and walks take the trie's lock.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "maps/map_impl.h"
#include "maps/slots.h"

enum {
	DATA_MAX = 256, /* bytes of a key without its length: the kernel's */
	DEPTH_MAX = DATA_MAX * 8 + 1,
	SPARE_VALUES = 4096, /* for nodes that wait for a grace period */
};

struct node {
	_Atomic(struct node *) child[2];
	_Atomic bool intermediate;
	uint32_t prefixlen;
	uint32_t value;	     /* SLOT_NONE: intermediate from the beginning */
	struct slots *slots; /* referenced while the node waits to be freed */
	struct qsbr_entry defer;
	uint8_t data[]; /* padded with zeroes to 8 bytes */
};

struct lpm {
	struct map map;
	uint32_t data_size, max_prefixlen, n_entries;
	struct spin lock;
	_Atomic(struct node *) root;
	struct slots *values;
};

/* A key as bpf(2) has it. */
struct lpm_key {
	uint32_t prefixlen;
	uint8_t data[DATA_MAX];
};

static struct lpm *lpm_of(struct map *map)
{
	return (struct lpm *)map;
}

static struct node *load(const _Atomic(struct node *) *link)
{
	return atomic_load_explicit((_Atomic(struct node *) *)link, memory_order_acquire);
}

static void store(_Atomic(struct node *) *link, struct node *node)
{
	atomic_store_explicit(link, node, memory_order_release);
}

static bool is_intermediate(const struct node *node)
{
	return atomic_load_explicit((_Atomic bool *)&node->intermediate, memory_order_relaxed);
}

static int lpm_check(struct map_attr *attr)
{
	uint32_t flags = BPF_F_NO_PREALLOC | BPF_F_NUMA_NODE | MAP_ACCESS_FLAGS;

	if (!attr->max_entries || !(attr->flags & BPF_F_NO_PREALLOC) || (attr->flags & ~flags) ||
	    !map_access_ok(attr->flags))
		return -EINVAL;
	if (attr->key_size < 4 + 1 || attr->key_size > 4 + DATA_MAX)
		return -EINVAL;
	/* 40 bytes: the kernel's node header counts against its limit. */
	if (!attr->value_size || attr->value_size > MAP_VALUE_SIZE_MAX - DATA_MAX - 40)
		return -EINVAL;
	return 0;
}

static int lpm_create(struct map **ret, const struct map_attr *attr)
{
	/* A deleted node with two children keeps its value: twice max_entries at most. */
	uint64_t n = 2 * (uint64_t)attr->max_entries + SPARE_VALUES;
	struct lpm *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	n = n < SLOT_NONE ? n : SLOT_NONE - 1;
	t->data_size = attr->key_size - 4;
	t->max_prefixlen = t->data_size * 8;
	rc = slots_create(&t->values, (uint32_t)n, 1);
	if (rc)
		goto err_free;
	rc = map_values_create(&t->map, attr, (uint32_t)n, 1);
	if (rc)
		goto err_slots;
	*ret = &t->map;
	return 0;
err_slots:
	slots_put_ref(t->values);
err_free:
	free(t);
	return rc;
}

/* Always takes off a node without children: no recursion, and no depth to keep. */
static void lpm_destroy(struct map *map)
{
	struct lpm *t = lpm_of(map);
	_Atomic(struct node *) *link = &t->root;
	struct node *node;

	while ((node = load(link))) {
		if (load(&node->child[0])) {
			link = &node->child[0];
		} else if (load(&node->child[1])) {
			link = &node->child[1];
		} else {
			store(link, NULL);
			free(node);
			link = &t->root;
		}
	}
	slots_put_ref(t->values);
	free(t);
}

static bool bit_of(const uint8_t *data, uint32_t i)
{
	return data[i / 8] >> (7 - i % 8) & 1;
}

/* How many bits node and key have in common, at most the shorter prefix of both. */
static uint32_t common_prefix(const struct lpm *t, const struct node *node, uint32_t prefixlen,
			      const uint8_t *data)
{
	uint32_t limit = node->prefixlen < prefixlen ? node->prefixlen : prefixlen, bits = 0;

	for (uint32_t off = 0; off < t->data_size && bits < limit; off += 8) {
		uint32_t n = t->data_size - off;
		uint64_t a, b = 0, diff;

		memcpy(&a, node->data + off, 8);
		memcpy(&b, data + off, n < 8 ? n : 8);
		diff = be64toh(a ^ b);
		if (diff) {
			bits += (uint32_t)__builtin_clzll(diff);
			break;
		}
		bits += 64;
	}
	return bits < limit ? bits : limit;
}

static void *lpm_lookup(struct map *map, const void *key, uint32_t cpu)
{
	struct lpm *t = lpm_of(map);
	const uint8_t *data = (const uint8_t *)key + 4;
	uint32_t prefixlen = key_u32(key), match;
	struct node *node, *found = NULL;

	if (prefixlen > t->max_prefixlen)
		return NULL;
	for (node = load(&t->root); node; node = load(&node->child[bit_of(data, match)])) {
		match = common_prefix(t, node, prefixlen, data);
		if (match < node->prefixlen)
			break;
		if (!is_intermediate(node))
			found = node;
		if (match >= prefixlen || match == t->max_prefixlen)
			break;
	}
	return found ? map_value(map, 0, found->value) : NULL;
}

static struct node *node_create(const struct lpm *t, uint32_t prefixlen, const uint8_t *data,
				uint32_t value)
{
	struct node *node = calloc(1, sizeof(*node) + round_up8(t->data_size));

	if (!node)
		return NULL;
	node->prefixlen = prefixlen;
	node->value = value;
	atomic_init(&node->intermediate, value == SLOT_NONE);
	memcpy(node->data, data, t->data_size);
	return node;
}

static void node_expired(struct qsbr_entry *entry)
{
	struct node *node = container_of(entry, struct node, defer);

	if (node->value != SLOT_NONE)
		slots_give(node->slots, node->value);
	slots_put_ref(node->slots);
	free(node);
}

static void node_retire(struct lpm *t, struct node *node)
{
	if (!node)
		return;
	node->slots = slots_get_ref(t->values);
	qsbr_defer(&node->defer, node_expired);
}

/* Where a key belongs: the link to the node that stops the walk, or an empty one. */
struct walk {
	_Atomic(struct node *) *link, *parent_link;
	struct node *node, *parent;
	uint32_t match;
};

static void walk_to(struct lpm *t, uint32_t prefixlen, const uint8_t *data, struct walk *w)
{
	*w = (struct walk){ .link = &t->root, .parent_link = &t->root };
	while ((w->node = load(w->link))) {
		w->match = common_prefix(t, w->node, prefixlen, data);
		if (w->node->prefixlen != w->match || w->node->prefixlen == prefixlen)
			break;
		w->parent = w->node;
		w->parent_link = w->link;
		w->link = &w->node->child[bit_of(data, w->node->prefixlen)];
	}
}

static int count_entry(struct lpm *t, uint64_t flags)
{
	if (flags == BPF_EXIST)
		return -ENOENT;
	if (t->n_entries == t->map.max_entries)
		return -ENOSPC;
	t->n_entries++;
	return 0;
}

/* In place of a node with the same prefix; *old is the node that leaves. */
static int put_same(struct lpm *t, struct walk *w, struct node *node, uint64_t flags,
		    struct node **old)
{
	int rc = 0;

	if (is_intermediate(w->node))
		rc = count_entry(t, flags);
	else if (flags == BPF_NOEXIST)
		rc = -EEXIST;
	if (rc)
		return rc;
	store(&node->child[0], load(&w->node->child[0]));
	store(&node->child[1], load(&w->node->child[1]));
	store(w->link, node);
	*old = w->node;
	return 0;
}

/* Above a node that its prefix covers, or beside one, below a new intermediate node. */
static int put_between(struct lpm *t, struct walk *w, struct node *node)
{
	struct node *im;

	if (w->match == node->prefixlen) {
		store(&node->child[bit_of(w->node->data, w->match)], w->node);
		store(w->link, node);
		return 0;
	}
	im = node_create(t, w->match, w->node->data, SLOT_NONE);
	if (!im) {
		t->n_entries--;
		return -ENOMEM;
	}
	store(&im->child[bit_of(node->data, w->match)], node);
	store(&im->child[!bit_of(node->data, w->match)], w->node);
	store(w->link, im);
	return 0;
}

static int put_locked(struct lpm *t, struct node *node, uint64_t flags, struct node **old)
{
	struct walk w;
	int rc;

	walk_to(t, node->prefixlen, node->data, &w);
	if (w.node && w.node->prefixlen == w.match)
		return put_same(t, &w, node, flags, old);
	rc = count_entry(t, flags);
	if (rc)
		return rc;
	if (w.node)
		return put_between(t, &w, node);
	store(w.link, node);
	return 0;
}

static int lpm_update(struct map *map, const void *key, const void *value, uint64_t flags,
		      uint32_t cpu)
{
	struct lpm *t = lpm_of(map);
	struct node *node, *old = NULL;
	uint32_t i;
	int rc;

	if (flags > BPF_EXIST || key_u32(key) > t->max_prefixlen)
		return -EINVAL;
	i = slots_take(t->values, 0, false);
	if (i == SLOT_NONE)
		return -ENOMEM;
	node = node_create(t, key_u32(key), (const uint8_t *)key + 4, i);
	if (!node) {
		slots_give(t->values, i);
		return -ENOMEM;
	}
	map_value_store(map, map_value(map, 0, i), value, 0);
	spin_lock(&t->lock);
	rc = put_locked(t, node, flags, &old);
	spin_unlock(&t->lock);
	if (rc) {
		slots_give(t->values, i);
		free(node);
	}
	node_retire(t, old);
	return rc;
}

/* Takes out w->node; its intermediate parent too when that has nothing else to part. */
static void remove_locked(struct walk *w, struct node *gone[2])
{
	struct node *left = load(&w->node->child[0]), *right = load(&w->node->child[1]);

	if (left && right) {
		atomic_store_explicit(&w->node->intermediate, true, memory_order_relaxed);
		return;
	}
	gone[0] = w->node;
	if (w->parent && is_intermediate(w->parent) && !left && !right) {
		store(w->parent_link,
		      load(&w->parent->child[load(&w->parent->child[0]) == w->node]));
		gone[1] = w->parent;
		return;
	}
	store(w->link, left ? left : right);
}

static int lpm_del(struct map *map, const void *key)
{
	struct lpm *t = lpm_of(map);
	uint32_t prefixlen = key_u32(key);
	struct node *gone[2] = { NULL, NULL };
	struct walk w;
	int rc = -ENOENT;

	if (prefixlen > t->max_prefixlen)
		return -EINVAL;
	spin_lock(&t->lock);
	walk_to(t, prefixlen, (const uint8_t *)key + 4, &w);
	if (w.node && w.node->prefixlen == prefixlen && w.match == prefixlen &&
	    !is_intermediate(w.node)) {
		remove_locked(&w, gone);
		t->n_entries--;
		rc = 0;
	}
	spin_unlock(&t->lock);
	node_retire(t, gone[0]);
	node_retire(t, gone[1]);
	return rc;
}

/* The first node in post-order below `node`: always down, to the left where there is a left. */
static struct node *first_below(struct node *node)
{
	struct node *next;

	while ((next = load(&node->child[0])) || (next = load(&node->child[1])))
		node = next;
	return node;
}

/* The node behind `node` in post-order, given the path of its `depth` ancestors. */
static struct node *behind(struct node *node, struct node *const *path, uint32_t depth)
{
	while (depth--) {
		struct node *parent = path[depth], *sibling = load(&parent->child[1]);

		if (sibling && sibling != node)
			return first_below(sibling);
		if (!is_intermediate(parent))
			return parent;
		node = parent;
	}
	return NULL;
}

static struct node *next_locked(struct lpm *t, const void *key)
{
	struct node *path[DEPTH_MAX], *node = load(&t->root);
	uint32_t prefixlen = key ? key_u32(key) : UINT32_MAX, depth = 0, match = 0;
	const uint8_t *data = key ? (const uint8_t *)key + 4 : NULL;

	if (!node)
		return NULL;
	if (prefixlen > t->max_prefixlen)
		return first_below(node);
	while (node) {
		match = common_prefix(t, node, prefixlen, data);
		if (node->prefixlen != match || node->prefixlen == prefixlen)
			break;
		path[depth++] = node;
		node = load(&node->child[bit_of(data, node->prefixlen)]);
	}
	/* A key that is not there restarts the walk. */
	if (!node || node->prefixlen != match || is_intermediate(node))
		return first_below(load(&t->root));
	return behind(node, path, depth);
}

static int lpm_next_key(struct map *map, const void *key, void *next)
{
	struct lpm *t = lpm_of(map);
	struct node *node;

	spin_lock(&t->lock);
	node = next_locked(t, key);
	if (node) {
		memcpy(next, &node->prefixlen, 4);
		memcpy((uint8_t *)next + 4, node->data, t->data_size);
	}
	spin_unlock(&t->lock);
	return node ? 0 : -ENOENT;
}

static int lpm_sys_lookup(struct map *map, const void *key, void *value, uint64_t flags)
{
	struct lpm *t = lpm_of(map);
	void *slot;

	/* The lock keeps the value: bpf(2)'s threads are no QSBR readers. */
	spin_lock(&t->lock);
	slot = lpm_lookup(map, key, 0);
	if (slot)
		map_value_load(map, value, slot, flags);
	spin_unlock(&t->lock);
	return slot ? 0 : -ENOENT;
}

const struct map_ops lpm_ops = {
	.type = BPF_MAP_TYPE_LPM_TRIE,
	.name = "lpm_trie",
	.check = lpm_check,
	.create = lpm_create,
	.destroy = lpm_destroy,
	.lookup = lpm_lookup,
	.update = lpm_update,
	.del = lpm_del,
	.sys_lookup = lpm_sys_lookup,
	.next_key = lpm_next_key,
	.batches = MAP_BATCH_LOOKUP | MAP_BATCH_UPDATE | MAP_BATCH_DELETE,
};
