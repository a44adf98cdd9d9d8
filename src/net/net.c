/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces, routes and neighbours as one immutable table behind a pointer: see net.h. Routes are found with
 * one hash probe a distinct prefix length, longest first; neighbours and interfaces with one probe.
 */
#include "net/net.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/qsbr.h"

enum {
	/* Distinct (table, family, prefix length): the probes of a look-up. 1,024 is seven tables that use
	 * every length of both families; more are refused with -ENOSPC at commit. */
	GROUPS_MAX = 1024,
	/* Bounds the arrays, so that doubled sizes and hash sizes fit in 32 bits. */
	ENTRIES_MAX = 1 << 24,
	/* Interfaces that are found without hashing: a redirect looks one up for each frame, and the numbers that
	 * weir and most kernels give are low. 2 KB a table. */
	LOW_IFS = 256,
};

/* The routes of one table, family and prefix length. */
struct group {
	uint32_t table;
	uint8_t family, prefix_len;
};

/* Slots hold an index + 1; 0 is empty. At most half full, so that a probe ends. */
struct hash {
	uint32_t *slots;
	uint32_t mask;
};

struct table {
	struct qsbr_entry defer; /* first: the entry is the table */
	uint32_t n_ifs, n_routes, n_neighs, n_groups;
	struct net_if *ifs;	  /* by ifindex */
	struct net_route *routes; /* by compare_routes */
	struct net_neigh *neighs;
	struct group *groups; /* in order of the routes: lengths of a table and family fall */
	struct hash if_hash, route_hash, neigh_hash;
	const struct net_if *low_ifs[LOW_IFS]; /* by ifindex; if_hash has them too */
};

struct net {
	_Atomic(struct table *) table;
};

/* What waits for the commit: of two equal entries the one with the larger `seq` stays. */
struct new_route {
	struct net_route route;
	uint32_t seq;
};

struct new_neigh {
	struct net_neigh neigh;
	uint32_t seq;
};

struct net_edit {
	struct net *net;
	struct net_if *ifs;
	struct new_route *routes;
	struct new_neigh *neighs;
	uint32_t n_ifs, cap_ifs, n_routes, cap_routes, n_neighs, cap_neighs;
};

static uint32_t mix(uint32_t h, const void *bytes, uint32_t n)
{
	const uint8_t *b = bytes;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 16777619u;
	return h;
}

/* FNV leaves the low bits of short keys close together. */
static uint32_t finish(uint32_t h)
{
	h ^= h >> 15;
	h *= 0x2c1b3c6du;
	return h ^ h >> 13;
}

static uint32_t if_key(uint32_t ifindex)
{
	return finish(ifindex * 0x9e3779b9u);
}

static uint32_t route_key(const struct group *g, const uint8_t *dst)
{
	uint32_t h =
		2166136261u ^ g->table * 0x9e3779b9u ^ (uint32_t)g->prefix_len << 8 ^ g->family;

	return finish(mix(h, dst, ((uint32_t)g->prefix_len + 7) / 8));
}

static uint32_t neigh_key(uint32_t ifindex, uint8_t family, const uint8_t *addr)
{
	return finish(mix(2166136261u ^ ifindex * 0x9e3779b9u, addr, family == AF_INET ? 4 : 16));
}

static uint32_t addr_len(uint8_t family)
{
	return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

/* The first prefix_len bits of addr; the rest of the NET_ADDR bytes is zero. */
static void mask_addr(uint8_t *out, const uint8_t *addr, uint32_t prefix_len)
{
	uint32_t whole = prefix_len / 8, bits = prefix_len % 8;

	memset(out, 0, NET_ADDR);
	memcpy(out, addr, whole);
	if (bits)
		out[whole] = (uint8_t)(addr[whole] & 0xff << (8 - bits));
}

static int hash_init(struct hash *hash, uint32_t n)
{
	uint32_t size = 8;

	while (size < 2 * n)
		size <<= 1;
	hash->slots = calloc(size, sizeof(*hash->slots));
	hash->mask = size - 1;
	return hash->slots ? 0 : -ENOMEM;
}

static void hash_add(struct hash *hash, uint32_t key, uint32_t index)
{
	uint32_t i = key & hash->mask;

	while (hash->slots[i])
		i = (i + 1) & hash->mask;
	hash->slots[i] = index + 1;
}

static void table_free(struct table *t)
{
	if (!t)
		return;
	free(t->ifs);
	free(t->routes);
	free(t->neighs);
	free(t->groups);
	free(t->if_hash.slots);
	free(t->route_hash.slots);
	free(t->neigh_hash.slots);
	free(t);
}

static void table_free_deferred(struct qsbr_entry *entry)
{
	table_free((struct table *)entry);
}

/* Space for all entries of the edit, at least one of each so that no array is NULL. */
static struct table *table_alloc(const struct net_edit *edit)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (hash_init(&t->if_hash, edit->n_ifs) || hash_init(&t->route_hash, edit->n_routes) ||
	    hash_init(&t->neigh_hash, edit->n_neighs))
		goto err_free;
	t->ifs = calloc(edit->n_ifs + 1, sizeof(*t->ifs));
	t->routes = calloc(edit->n_routes + 1, sizeof(*t->routes));
	t->neighs = calloc(edit->n_neighs + 1, sizeof(*t->neighs));
	t->groups = calloc(GROUPS_MAX, sizeof(*t->groups));
	if (t->ifs && t->routes && t->neighs && t->groups)
		return t;
err_free:
	table_free(t);
	return NULL;
}

/* Life cycle */

int net_create(struct net **ret)
{
	struct net_edit none = { 0 };
	struct net *net = calloc(1, sizeof(*net));
	struct table *t = net ? table_alloc(&none) : NULL;

	if (!t) {
		free(net);
		return -ENOMEM;
	}
	atomic_init(&net->table, t);
	*ret = net;
	return 0;
}

void net_destroy(struct net *net)
{
	if (!net)
		return;
	table_free(atomic_load_explicit(&net->table, memory_order_acquire));
	free(net);
}

/* Changes */

static int grow(void **array, uint32_t *cap, uint32_t n, size_t size)
{
	uint32_t want = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return 0;
	if (want > ENTRIES_MAX)
		return -ENOMEM;
	p = realloc(*array, want * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = want;
	return 0;
}

static void edit_free(struct net_edit *edit)
{
	free(edit->ifs);
	free(edit->routes);
	free(edit->neighs);
	free(edit);
}

static int edit_copy(struct net_edit *edit, const struct table *t)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < t->n_ifs; i++)
		rc = net_edit_if(edit, &t->ifs[i]);
	for (uint32_t i = 0; !rc && i < t->n_routes; i++)
		rc = net_edit_route(edit, &t->routes[i]);
	for (uint32_t i = 0; !rc && i < t->n_neighs; i++)
		rc = net_edit_neigh(edit, &t->neighs[i]);
	return rc;
}

struct net_edit *net_edit_begin(struct net *net)
{
	struct net_edit *edit = calloc(1, sizeof(*edit));

	if (!edit)
		return NULL;
	edit->net = net;
	if (edit_copy(edit, atomic_load_explicit(&net->table, memory_order_acquire))) {
		edit_free(edit);
		return NULL;
	}
	return edit;
}

int net_edit_if(struct net_edit *edit, const struct net_if *nif)
{
	uint32_t i;

	for (i = 0; i < edit->n_ifs && edit->ifs[i].ifindex != nif->ifindex; i++)
		;
	if (i == edit->n_ifs) {
		if (grow((void **)&edit->ifs, &edit->cap_ifs, i, sizeof(*nif)))
			return -ENOMEM;
		edit->n_ifs++;
	}
	edit->ifs[i] = *nif;
	return 0;
}

void net_edit_del_if(struct net_edit *edit, uint32_t ifindex)
{
	for (uint32_t i = 0; i < edit->n_ifs; i++)
		if (edit->ifs[i].ifindex == ifindex) {
			edit->ifs[i] = edit->ifs[--edit->n_ifs];
			return;
		}
}

int net_edit_route(struct net_edit *edit, const struct net_route *route)
{
	uint32_t len = addr_len(route->family);
	struct new_route *slot;

	if (!len || route->prefix_len > len * 8)
		return -EINVAL;
	if (grow((void **)&edit->routes, &edit->cap_routes, edit->n_routes, sizeof(*slot)))
		return -ENOMEM;
	slot = &edit->routes[edit->n_routes];
	slot->route = *route;
	slot->seq = edit->n_routes++;
	mask_addr(slot->route.dst, route->dst, route->prefix_len);
	return 0;
}

int net_edit_neigh(struct net_edit *edit, const struct net_neigh *neigh)
{
	uint32_t len = addr_len(neigh->family);
	struct new_neigh *slot;

	if (!len)
		return -EINVAL;
	if (grow((void **)&edit->neighs, &edit->cap_neighs, edit->n_neighs, sizeof(*slot)))
		return -ENOMEM;
	slot = &edit->neighs[edit->n_neighs];
	slot->neigh = *neigh;
	slot->seq = edit->n_neighs++;
	mask_addr(slot->neigh.addr, neigh->addr, len * 8);
	return 0;
}

void net_edit_clear_routes(struct net_edit *edit)
{
	edit->n_routes = 0;
	edit->n_neighs = 0;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ifs(const void *a, const void *b)
{
	return compare_u32(((const struct net_if *)a)->ifindex,
			   ((const struct net_if *)b)->ifindex);
}

/* Table, family, falling prefix length, destination: equal for routes to the same network. */
static int compare_networks(const struct net_route *a, const struct net_route *b)
{
	int rc = compare_u32(a->table, b->table);

	if (!rc)
		rc = compare_u32(a->family, b->family);
	if (!rc)
		rc = compare_u32(b->prefix_len, a->prefix_len);
	return rc ? rc : memcmp(a->dst, b->dst, NET_ADDR);
}

static int compare_routes(const void *a, const void *b)
{
	const struct new_route *x = a, *y = b;
	int rc = compare_networks(&x->route, &y->route);

	if (!rc)
		rc = compare_u32(x->route.metric, y->route.metric);
	return rc ? rc : compare_u32(y->seq, x->seq);
}

static int compare_neigh_keys(const struct net_neigh *a, const struct net_neigh *b)
{
	int rc = compare_u32(a->ifindex, b->ifindex);

	if (!rc)
		rc = compare_u32(a->family, b->family);
	return rc ? rc : memcmp(a->addr, b->addr, NET_ADDR);
}

static int compare_neighs(const void *a, const void *b)
{
	const struct new_neigh *x = a, *y = b;
	int rc = compare_neigh_keys(&x->neigh, &y->neigh);

	return rc ? rc : compare_u32(y->seq, x->seq);
}

static void build_ifs(struct table *t, struct net_edit *edit)
{
	if (edit->n_ifs)
		qsort(edit->ifs, edit->n_ifs, sizeof(*edit->ifs), compare_ifs);
	for (uint32_t i = 0; i < edit->n_ifs; i++) {
		t->ifs[t->n_ifs] = edit->ifs[i];
		if (edit->ifs[i].ifindex < LOW_IFS)
			t->low_ifs[edit->ifs[i].ifindex] = &t->ifs[t->n_ifs];
		hash_add(&t->if_hash, if_key(edit->ifs[i].ifindex), t->n_ifs++);
	}
}

static void build_neighs(struct table *t, struct net_edit *edit)
{
	const struct net_neigh *n;

	if (edit->n_neighs)
		qsort(edit->neighs, edit->n_neighs, sizeof(*edit->neighs), compare_neighs);
	for (uint32_t i = 0; i < edit->n_neighs; i++) {
		n = &edit->neighs[i].neigh;
		if (t->n_neighs && !compare_neigh_keys(&t->neighs[t->n_neighs - 1], n))
			continue;
		t->neighs[t->n_neighs] = *n;
		hash_add(&t->neigh_hash, neigh_key(n->ifindex, n->family, n->addr), t->n_neighs++);
	}
}

static bool group_has(const struct group *g, const struct net_route *r)
{
	return g->table == r->table && g->family == r->family && g->prefix_len == r->prefix_len;
}

/* The index of a route's group, which is the last one or new; -ENOSPC. */
static int group_of(struct table *t, const struct net_route *r)
{
	if (t->n_groups && group_has(&t->groups[t->n_groups - 1], r))
		return (int)t->n_groups - 1;
	if (t->n_groups == GROUPS_MAX)
		return -ENOSPC;
	t->groups[t->n_groups] = (struct group){ r->table, r->family, r->prefix_len };
	return (int)t->n_groups++;
}

/* The hash leads to the first route of a network, the one with the smallest metric. */
static int build_routes(struct table *t, struct net_edit *edit)
{
	const struct net_route *r;
	bool same_network;
	int g;

	if (edit->n_routes)
		qsort(edit->routes, edit->n_routes, sizeof(*edit->routes), compare_routes);
	for (uint32_t i = 0; i < edit->n_routes; i++) {
		r = &edit->routes[i].route;
		same_network = t->n_routes && !compare_networks(&t->routes[t->n_routes - 1], r);
		if (same_network && t->routes[t->n_routes - 1].metric == r->metric)
			continue;
		g = group_of(t, r);
		if (g < 0)
			return g;
		t->routes[t->n_routes] = *r;
		if (!same_network)
			hash_add(&t->route_hash, route_key(&t->groups[g], r->dst), t->n_routes);
		t->n_routes++;
	}
	return 0;
}

int net_edit_commit(struct net_edit *edit)
{
	struct table *t = table_alloc(edit), *old;
	int rc = t ? 0 : -ENOMEM;

	if (t) {
		build_ifs(t, edit);
		build_neighs(t, edit);
		rc = build_routes(t, edit);
	}
	if (rc) {
		table_free(t);
	} else {
		old = atomic_exchange_explicit(&edit->net->table, t, memory_order_acq_rel);
		qsbr_defer(&old->defer, table_free_deferred);
	}
	edit_free(edit);
	return rc;
}

/* Look-ups */

static const struct table *table_of(const struct net *net)
{
	return atomic_load_explicit(&net->table, memory_order_acquire);
}

const struct net_if *net_if_by_index(const struct net *net, uint32_t ifindex)
{
	const struct table *t = table_of(net);
	uint32_t slot;

	if (ifindex < LOW_IFS)
		return t->low_ifs[ifindex];
	for (uint32_t i = if_key(ifindex);; i++) {
		slot = t->if_hash.slots[i & t->if_hash.mask];
		if (!slot)
			return NULL;
		if (t->ifs[slot - 1].ifindex == ifindex)
			return &t->ifs[slot - 1];
	}
}

const struct net_if *net_if_by_name(const struct net *net, const char *name)
{
	const struct table *t = table_of(net);

	for (uint32_t i = 0; i < t->n_ifs; i++)
		if (!strncmp(t->ifs[i].name, name, NET_IF_NAME))
			return &t->ifs[i];
	return NULL;
}

const struct net_if *net_if_at(const struct net *net, uint32_t i)
{
	const struct table *t = table_of(net);

	return i < t->n_ifs ? &t->ifs[i] : NULL;
}

static const struct net_route *group_lookup(const struct table *t, const struct group *g,
					    const uint8_t *addr)
{
	const struct net_route *r;
	uint8_t dst[NET_ADDR];
	uint32_t slot;

	mask_addr(dst, addr, g->prefix_len);
	for (uint32_t i = route_key(g, dst);; i++) {
		slot = t->route_hash.slots[i & t->route_hash.mask];
		if (!slot)
			return NULL;
		r = &t->routes[slot - 1];
		if (group_has(g, r) && !memcmp(r->dst, dst, NET_ADDR))
			return r;
	}
}

static const struct net_route *table_lookup(const struct table *t, uint8_t family,
					    const uint8_t *addr, uint32_t table)
{
	const struct net_route *r;

	for (uint32_t i = 0; i < t->n_groups; i++) {
		if (t->groups[i].table != table || t->groups[i].family != family)
			continue;
		r = group_lookup(t, &t->groups[i], addr);
		/* As fib_table_lookup: a throw route ends the search in this table. */
		if (r)
			return r->type == RTN_THROW ? NULL : r;
	}
	return NULL;
}

const struct net_route *net_route_lookup(const struct net *net, uint8_t family, const void *addr,
					 uint32_t table)
{
	const struct table *t = table_of(net);
	const struct net_route *r;

	if (table)
		return table_lookup(t, family, addr, table);
	r = table_lookup(t, family, addr, RT_TABLE_LOCAL);
	if (!r)
		r = table_lookup(t, family, addr, RT_TABLE_MAIN);
	return r ? r : table_lookup(t, family, addr, RT_TABLE_DEFAULT);
}

const struct net_neigh *net_neigh_lookup(const struct net *net, uint32_t ifindex, uint8_t family,
					 const void *addr)
{
	const struct table *t = table_of(net);
	uint32_t len = addr_len(family), slot;
	const struct net_neigh *n;

	if (!len)
		return NULL;
	for (uint32_t i = neigh_key(ifindex, family, addr);; i++) {
		slot = t->neigh_hash.slots[i & t->neigh_hash.mask];
		if (!slot)
			return NULL;
		n = &t->neighs[slot - 1];
		if (n->ifindex == ifindex && n->family == family && !memcmp(n->addr, addr, len))
			return n;
	}
}
