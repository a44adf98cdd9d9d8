/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The check of raw BTF, before libbpf reads it: libbpf trusts offsets and type ids of BTF that parses, and follows
 * chains of types to their end. Format: Documentation/bpf/btf.rst; rules as kernel/bpf/btf.c, less its checks of
 * names.
 */
#include "bpf/btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TYPES_MAX = 1 << 20, /* BTF_MAX_TYPE */
	DEPTH_MAX = 32,	     /* MAX_RESOLVE_DEPTH: how deep types may nest */
};

struct check {
	const uint8_t *types;
	size_t types_size;
	const char *strs;
	size_t strs_size;
	const struct btf_type **by_id; /* [0] is void: NULL */
	uint32_t n_types;
	uint8_t *
		depth; /* of what a type is made of; 0: not known yet, UINT8_MAX: being looked at */
	struct err *err;
};

static int bad(const struct check *c, uint32_t id, const char *what)
{
	return err_set(c->err, EINVAL, "malformed BTF: type %u: %s; rebuild the object", id, what);
}

/* Bytes that follow a type; -1: an unknown kind. */
static long extra_size(const struct btf_type *t)
{
	long n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (long)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (long)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * (long)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * (long)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * (long)sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

static int check_header(struct check *c, const void *data, size_t size)
{
	const struct btf_header *h = data;
	size_t body;

	if (size < sizeof(*h))
		return err_set(c->err, EINVAL, "malformed BTF: shorter than its header");
	if (h->magic != BTF_MAGIC)
		return err_set(c->err, EINVAL, "malformed BTF: magic %#x (another byte order?)",
			       h->magic);
	if (h->version != BTF_VERSION || h->flags)
		return err_set(c->err, EINVAL, "BTF of version %u, flags %#x is not known",
			       h->version, h->flags);
	if (h->hdr_len < sizeof(*h) || h->hdr_len > size || h->hdr_len % 4)
		return err_set(c->err, EINVAL, "malformed BTF: header of %u bytes", h->hdr_len);
	body = size - h->hdr_len;
	if (h->type_off % 4 || h->type_off > body || h->type_len > body - h->type_off ||
	    h->str_off > body || h->str_len > body - h->str_off ||
	    h->str_off < (uint64_t)h->type_off + h->type_len)
		return err_set(c->err, EINVAL, "malformed BTF: sections beyond its end");
	c->types = (const uint8_t *)data + h->hdr_len + h->type_off;
	c->types_size = h->type_len;
	c->strs = (const char *)data + h->hdr_len + h->str_off;
	c->strs_size = h->str_len;
	if (!c->strs_size || c->strs[0] || c->strs[c->strs_size - 1])
		return err_set(c->err, EINVAL, "malformed BTF: strings are not terminated");
	return 0;
}

/* Walks the types once: counts them, or notes where each is. */
static int walk_types(struct check *c, const struct btf_type **by_id)
{
	uint32_t n = 0;

	for (size_t off = 0; off < c->types_size;) {
		const struct btf_type *t = (const void *)(c->types + off);
		size_t left = c->types_size - off;
		long extra;

		if (++n >= TYPES_MAX)
			return err_set(c->err, E2BIG, "BTF has more than %d types", TYPES_MAX);
		if (left < sizeof(*t))
			return bad(c, n, "cut off");
		extra = extra_size(t);
		if (extra < 0)
			return bad(c, n, "unknown kind");
		if (left - sizeof(*t) < (size_t)extra)
			return bad(c, n, "cut off");
		if (by_id)
			by_id[n] = t;
		off += sizeof(*t) + (size_t)extra;
	}
	c->n_types = n + 1;
	return 0;
}

static bool id_good(const struct check *c, uint32_t id)
{
	return id < c->n_types;
}

static bool name_good(const struct check *c, uint32_t off)
{
	return off < c->strs_size;
}

static bool kind_is(const struct check *c, uint32_t id, uint32_t kind)
{
	return id && id < c->n_types && btf_kind(c->by_id[id]) == kind;
}

static bool members_good(const struct check *c, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t bit = btf_member_bit_offset(t, i);

		if (!name_good(c, m[i].name_off) || !m[i].type || !id_good(c, m[i].type) ||
		    bit > (uint64_t)t->size * 8)
			return false;
	}
	return true;
}

static bool enums_good(const struct check *c, const struct btf_type *t)
{
	bool wide = btf_kind(t) == BTF_KIND_ENUM64;

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (!name_good(c, wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off))
			return false;
	return t->size <= 8;
}

static bool params_good(const struct check *c, const struct btf_type *t)
{
	const struct btf_param *p = btf_params(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (!name_good(c, p[i].name_off) || !id_good(c, p[i].type))
			return false;
	return id_good(c, t->type);
}

/* An object file's DATASEC has size 0 and offsets 0 until libbpf fills them from the ELF. */
static bool datasec_good(const struct check *c, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		if (!kind_is(c, v[i].type, BTF_KIND_VAR) && !kind_is(c, v[i].type, BTF_KIND_FUNC))
			return false;
		if (t->size && (uint64_t)v[i].offset + v[i].size > t->size)
			return false;
	}
	return true;
}

static bool type_good(const struct check *c, const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return t->size >= 1 && t->size <= 16 && btf_int_bits(t) <= t->size * 8;
	case BTF_KIND_FLOAT:
		return t->size >= 2 && t->size <= 16;
	case BTF_KIND_ARRAY:
		return btf_array(t)->type && id_good(c, btf_array(t)->type) &&
		       btf_array(t)->index_type && id_good(c, btf_array(t)->index_type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return members_good(c, t);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return enums_good(c, t);
	case BTF_KIND_FUNC_PROTO:
		return params_good(c, t);
	case BTF_KIND_DATASEC:
		return datasec_good(c, t);
	case BTF_KIND_FUNC:
		return kind_is(c, t->type, BTF_KIND_FUNC_PROTO);
	case BTF_KIND_FWD:
		return true;
	case BTF_KIND_DECL_TAG:
		return t->type && id_good(c, t->type);
	default: /* pointers, modifiers, typedefs, variables */
		return id_good(c, t->type);
	}
}

static uint32_t depth_of(struct check *c, uint32_t id, int level);

/* One more than the deepest of what t is made of. Pointers and prototypes end the walk: they may be circular. */
static uint32_t depth_below(struct check *c, const struct btf_type *t, int level)
{
	uint32_t max = 0;

	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < btf_vlen(t) && max < DEPTH_MAX; i++) {
			uint32_t d = depth_of(c, btf_members(t)[i].type, level);

			max = d > max ? d : max;
		}
		return max + 1;
	case BTF_KIND_ARRAY:
		return depth_of(c, btf_array(t)->type, level) + 1;
	case BTF_KIND_VAR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_DECL_TAG:
		return depth_of(c, t->type, level) + 1;
	default:
		return 1;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_MAX; a type being looked at counts as too deep. */
static uint32_t depth_of(struct check *c, uint32_t id, int level)
{
	uint32_t d;

	if (!id)
		return 1;
	if (level > DEPTH_MAX)
		return DEPTH_MAX + 1;
	if (c->depth[id])
		return c->depth[id] > DEPTH_MAX ? DEPTH_MAX + 1 : c->depth[id];
	c->depth[id] = UINT8_MAX;
	d = depth_below(c, c->by_id[id], level + 1);
	c->depth[id] = (uint8_t)(d > DEPTH_MAX ? DEPTH_MAX + 1 : d);
	return c->depth[id];
}

static int check_types(struct check *c)
{
	for (uint32_t id = 1; id < c->n_types; id++)
		if (!name_good(c, c->by_id[id]->name_off) || !type_good(c, c->by_id[id]))
			return bad(c, id, "refers to what is not there");
	for (uint32_t id = 1; id < c->n_types; id++)
		if (depth_of(c, id, 0) > DEPTH_MAX)
			return bad(c, id, "nests without end, or too deep");
	return 0;
}

int btf_check(const void *data, size_t size, struct err *err)
{
	struct check c = { .err = err };
	int rc;

	rc = check_header(&c, data, size);
	if (!rc)
		rc = walk_types(&c, NULL);
	if (rc)
		return rc;
	c.by_id = calloc(c.n_types, sizeof(struct btf_type *));
	c.depth = calloc(c.n_types, 1);
	if (!c.by_id || !c.depth)
		rc = err_set(err, ENOMEM, "no memory for %u BTF types", c.n_types);
	if (!rc)
		rc = walk_types(&c, c.by_id);
	if (!rc)
		rc = check_types(&c);
	free(c.by_id);
	free(c.depth);
	return rc;
}
