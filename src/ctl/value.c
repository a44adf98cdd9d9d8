/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees to bytes by BTF: see value.h for the notation, value_text.c for its scalars. */
#include "ctl/value.h"

#include <bpf/btf.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* NOLINTBEGIN(misc-no-recursion): C types nest, and VALUE_DEPTH_MAX bounds it */

enum { PATH_MAX_LEN = 256, LIST_MAX_LEN = 400 };

struct setter {
	const struct btf *btf;
	struct err *err;
	uint32_t depth;
	size_t path_len;
	char path[PATH_MAX_LEN];
};

/* A type without its modifiers; whether a typedef on the way said big endian. */
struct bare_type {
	const struct btf_type *t;
	uint32_t id;
	bool big_endian;
};

static int set_any(struct setter *s, uint32_t id, json_t *tree, uint8_t *to);

static void path_push(struct setter *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void path_push(struct setter *s, const char *fmt, ...)
{
	size_t room = sizeof(s->path) - s->path_len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->path + s->path_len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->path_len += (size_t)n < room ? (size_t)n : room - 1;
}

static void path_pop(struct setter *s, size_t len)
{
	s->path_len = len;
	s->path[len] = '\0';
}

/* "value.mask: expected X, not Y" */
static int expected(struct setter *s, json_t *got, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int expected(struct setter *s, json_t *got, const char *fmt, ...)
{
	char want[LIST_MAX_LEN + 100], *is;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	is = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);
	rc = err_set(s->err, EINVAL, "%s: expected %s, not %.120s", s->path, want,
		     is ? is : "that");
	free(is);
	return rc;
}

static struct bare_type bare(const struct btf *btf, uint32_t id)
{
	struct bare_type b = { .id = id, .t = btf__type_by_id(btf, id) };

	for (int i = 0; i < 32 && b.t && (btf_is_mod(b.t) || btf_is_typedef(b.t)); i++) {
		const char *name = btf__name_by_offset(btf, b.t->name_off);

		if (btf_is_typedef(b.t) && name &&
		    (!strcmp(name, "__be16") || !strcmp(name, "__be32") || !strcmp(name, "__be64")))
			b.big_endian = true;
		b.id = b.t->type;
		b.t = btf__type_by_id(btf, b.id);
	}
	return b;
}

static void store(uint8_t *to, uint64_t v, uint32_t size, bool big_endian)
{
	for (uint32_t i = 0; i < size; i++) {
		bool low_first = (__BYTE_ORDER == __LITTLE_ENDIAN) != big_endian;
		uint32_t at = low_first ? i : size - 1 - i;

		to[at] = (uint8_t)(i < 8 ? v >> (8 * i) : 0);
	}
}

/* Whether v (negative when it says so) fits in `bits`. */
static bool fits(uint64_t v, int negative, bool is_signed, uint32_t bits)
{
	uint64_t max;

	if (negative)
		return is_signed && (bits >= 64 || (int64_t)v >= -((int64_t)1 << (bits - 1)));
	if (bits >= 64 + (is_signed ? 1u : 0u))
		return true;
	max = is_signed	   ? ((uint64_t)1 << (bits - 1)) - 1
	      : bits == 64 ? UINT64_MAX
			   : ((uint64_t)1 << bits) - 1;
	return v <= max;
}

static int range_error(struct setter *s, json_t *tree, bool is_signed, uint32_t bits)
{
	unsigned long long top = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;

	if (is_signed)
		return expected(s, tree, "a number from %lld to %lld", -(long long)(top >> 1) - 1,
				(long long)(top >> 1));
	return expected(s, tree, "a number from 0 to %llu", top);
}

/* A scalar tree as an integer: numbers, true and false. */
static int tree_integer(json_t *tree, uint64_t *ret, int *ret_negative)
{
	const char *text = json_string_value(tree);

	if (json_is_integer(tree)) {
		*ret = (uint64_t)json_integer_value(tree);
		*ret_negative = json_integer_value(tree) < 0;
		return 0;
	}
	*ret_negative = 0;
	if (json_is_boolean(tree) || (text && (!strcmp(text, "true") || !strcmp(text, "false")))) {
		*ret = json_is_true(tree) || (text && *text == 't');
		return 0;
	}
	return text ? value_integer(text, ret, ret_negative) : -EINVAL;
}

static int set_int(struct setter *s, const struct bare_type *b, json_t *tree, uint8_t *to)
{
	bool is_signed = btf_int_encoding(b->t) & BTF_INT_SIGNED;
	uint32_t size = b->t->size, bits = size * 8;
	const char *text = json_string_value(tree);
	int rc, negative;
	uint64_t v;

	if (btf_int_encoding(b->t) & BTF_INT_BOOL) {
		bits = 1;
		is_signed = false;
	}
	rc = tree_integer(tree, &v, &negative);
	if (!rc && fits(v, negative, is_signed, bits)) {
		/* A JSON integer is the memory's, as bpftool prints it: see value.h. */
		store(to, v, size, b->big_endian && !json_is_integer(tree));
		return 0;
	}
	if (rc && text && size == 1 && strlen(text) == 1) {
		*to = (uint8_t)*text;
		return 0;
	}
	return range_error(s, tree, is_signed, bits);
}

/* Enumerator i of either size: its name and value. */
static const char *enumerator(const struct btf *btf, const struct btf_type *t, uint32_t i,
			      int64_t *ret)
{
	if (btf_is_enum64(t)) {
		const struct btf_enum64 *e = btf_enum64(t) + i;

		*ret = (int64_t)btf_enum64_value(e);
		return btf__name_by_offset(btf, e->name_off);
	}
	*ret = btf_enum(t)[i].val;
	return btf__name_by_offset(btf, btf_enum(t)[i].name_off);
}

static int set_enum(struct setter *s, const struct bare_type *b, json_t *tree, uint8_t *to)
{
	const char *text = json_string_value(tree), *name;
	char names[LIST_MAX_LEN] = "";
	size_t n = 0;
	int negative;
	uint64_t v;
	int64_t val;

	if (!tree_integer(tree, &v, &negative)) {
		store(to, v, b->t->size, false);
		return 0;
	}
	for (uint32_t i = 0; i < btf_vlen(b->t); i++) {
		name = enumerator(s->btf, b->t, i, &val);
		if (text && name && !strcmp(text, name)) {
			store(to, (uint64_t)val, b->t->size, false);
			return 0;
		}
		if (n < sizeof(names) - 1)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
					      name);
	}
	return expected(s, tree, "one of %s", names);
}

static bool is_char(const struct btf *btf, uint32_t id)
{
	struct bare_type b = bare(btf, id);
	const char *name;

	if (!b.t || !btf_is_int(b.t) || b.t->size != 1)
		return false;
	name = btf__name_by_offset(btf, b.t->name_off);
	return name && !strcmp(name, "char");
}

static int set_string(struct setter *s, uint32_t size, json_t *tree, uint8_t *to)
{
	size_t n = json_string_length(tree);

	if (n >= size)
		return expected(s, tree, "a text of at most %u characters", size - 1);
	memset(to, 0, size);
	memcpy(to, json_string_value(tree), n);
	return 0;
}

static int set_array(struct setter *s, const struct bare_type *b, json_t *tree, uint8_t *to)
{
	const struct btf_array *a = btf_array(b->t);
	int64_t elem = btf__resolve_size(s->btf, a->type);
	size_t len = s->path_len;
	int rc = 0;

	if (json_is_string(tree) && is_char(s->btf, a->type))
		return set_string(s, a->nelems, tree, to);
	if (!json_is_array(tree))
		return expected(s, tree, "[value, ...] with up to %u elements", a->nelems);
	if (json_array_size(tree) > a->nelems || elem < 0)
		return expected(s, tree, "at most %u elements", a->nelems);
	for (size_t i = 0; i < json_array_size(tree) && !rc; i++) {
		path_push(s, "[%zu]", i);
		rc = set_any(s, a->type, json_array_get(tree, i), to + i * (size_t)elem);
		path_pop(s, len);
	}
	return rc;
}

static int set_bitfield(struct setter *s, uint32_t id, uint32_t at, uint32_t bits, json_t *tree,
			uint8_t *to)
{
	struct bare_type b = bare(s->btf, id);
	bool is_signed = b.t && btf_is_int(b.t) && (btf_int_encoding(b.t) & BTF_INT_SIGNED);
	int negative;
	uint64_t v;

	if (tree_integer(tree, &v, &negative) || !fits(v, negative, is_signed, bits))
		return range_error(s, tree, is_signed, bits);
	for (uint32_t i = 0; i < bits; i++) {
		uint32_t bit = at + i, shift = bit % 8;
		uint32_t from = i;

		if (__BYTE_ORDER == __BIG_ENDIAN) {
			shift = 7 - shift;
			from = bits - 1 - i;
		}
		to[bit / 8] = (uint8_t)((to[bit / 8] & ~(1u << shift)) | (v >> from & 1) << shift);
	}
	return 0;
}

/* The member of that name, also inside unnamed structs and unions; `at` gets its offset in bits. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, uint32_t *at, uint32_t *ret_bits,
					    int depth)
{
	const struct btf_member *m = btf_members(t), *found;

	for (uint32_t i = 0; i < btf_vlen(t); i++, m++) {
		const char *is = btf__name_by_offset(btf, m->name_off);
		uint32_t off = *at + btf_member_bit_offset(t, i);
		struct bare_type inner;

		if (is && *is) {
			if (strcmp(is, name) != 0)
				continue;
			*at = off;
			*ret_bits = btf_member_bitfield_size(t, i);
			return m;
		}
		inner = bare(btf, m->type);
		if (!inner.t || !btf_is_composite(inner.t) || depth == VALUE_DEPTH_MAX)
			continue;
		found = find_member(btf, inner.t, name, &off, ret_bits, depth + 1);
		if (found) {
			*at = off;
			return found;
		}
	}
	return NULL;
}

/* "a, b, c" of a struct, into names. */
static void list_members(const struct btf *btf, const struct btf_type *t, char *names, size_t size,
			 int depth)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++, m++) {
		const char *name = btf__name_by_offset(btf, m->name_off);
		struct bare_type inner = bare(btf, m->type);
		size_t n = strlen(names);

		if (name && *name)
			snprintf(names + n, size - n, "%s%s", n ? ", " : "", name);
		else if (inner.t && btf_is_composite(inner.t) && depth < VALUE_DEPTH_MAX)
			list_members(btf, inner.t, names, size, depth + 1);
	}
}

static int set_member(struct setter *s, const struct btf_type *t, const char *name, json_t *tree,
		      uint8_t *to)
{
	char names[LIST_MAX_LEN] = "";
	const struct btf_member *m;
	size_t len = s->path_len;
	uint32_t at = 0, bits = 0;
	int rc;

	m = find_member(s->btf, t, name, &at, &bits, 0);
	if (!m) {
		list_members(s->btf, t, names, sizeof(names), 0);
		return err_set(s->err, EINVAL, "%s: no field %s in struct %s: it has %s", s->path,
			       name, btf__name_by_offset(s->btf, t->name_off), names);
	}
	path_push(s, ".%s", name);
	if (bits)
		rc = set_bitfield(s, m->type, at, bits, tree, to);
	else
		rc = set_any(s, m->type, tree, to + at / 8);
	path_pop(s, len);
	return rc;
}

static int set_struct(struct setter *s, const struct bare_type *b, json_t *tree, uint8_t *to)
{
	char names[LIST_MAX_LEN] = "";
	const char *name;
	json_t *item;
	int rc;

	/* A scalar is as good for a struct of one member as for the member. */
	if (!json_is_object(tree) && btf_vlen(b->t) == 1 && !btf_members(b->t)->offset)
		return set_any(s, btf_members(b->t)->type, tree, to);
	if (!json_is_object(tree)) {
		list_members(s->btf, b->t, names, sizeof(names), 0);
		return expected(s, tree, "{field: value, ...} with the fields %s", names);
	}
	json_object_foreach(tree, name, item)
	{
		rc = set_member(s, b->t, name, item, to);
		if (rc)
			return rc;
	}
	return 0;
}

static int set_kind(struct setter *s, const struct bare_type *b, json_t *tree, uint8_t *to)
{
	switch (btf_kind(b->t)) {
	case BTF_KIND_INT:
		return set_int(s, b, tree, to);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return set_enum(s, b, tree, to);
	case BTF_KIND_ARRAY:
		return set_array(s, b, tree, to);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return set_struct(s, b, tree, to);
	default:
		return expected(s, tree, "hex bytes (hex:0a00), since the type is %s",
				btf_is_ptr(b->t) ? "a pointer" : "not a number");
	}
}

static int set_any(struct setter *s, uint32_t id, json_t *tree, uint8_t *to)
{
	struct bare_type b = bare(s->btf, id);
	int64_t size = btf__resolve_size(s->btf, id);
	const char *text = json_string_value(tree);
	bool string_like;
	int rc;

	if (!b.t || size < 0 || s->depth == VALUE_DEPTH_MAX)
		return err_set(s->err, EINVAL, "%s: BTF type %u has no size", s->path, id);
	if (value_is_hex(tree, to, (uint32_t)size))
		return 0;
	if (text) {
		string_like = btf_is_array(b.t) && is_char(s->btf, btf_array(b.t)->type);
		rc = value_literal(text, to, (uint32_t)size);
		if (rc > 0)
			return 0;
		if (rc < 0 && !string_like)
			return expected(s, tree, "%lld bytes", (long long)size);
	}
	s->depth++;
	rc = set_kind(s, &b, tree, to);
	s->depth--;
	return rc;
}

/* Bytes of unknown type: literals, a list of bytes, and numbers of the four sizes. */
static int set_untyped(struct setter *s, uint32_t size, json_t *tree, uint8_t *to)
{
	const char *text = json_string_value(tree);
	bool number = size == 1 || size == 2 || size == 4 || size == 8;
	int negative;
	uint64_t v;

	if (value_is_hex(tree, to, size) || (text && value_literal(text, to, size) > 0))
		return 0;
	if (number && !tree_integer(tree, &v, &negative) &&
	    (fits(v, negative, false, size * 8) || fits(v, negative, true, size * 8))) {
		store(to, v, size, false);
		return 0;
	}
	return expected(s, tree, "%s%u hex bytes (hex:0a00), since its type is not known",
			number ? "a number that fits, or " : "", size);
}

struct value_type value_type_of(const struct btf *btf, uint32_t id, uint32_t size)
{
	struct value_type t = { .btf = btf, .id = id, .size = size };

	if (!btf || !id || btf__resolve_size(btf, id) != (int64_t)size)
		t.id = 0;
	return t;
}

int value_set(const struct value_type *type, const char *what, json_t *tree, void *bytes,
	      struct err *err)
{
	struct setter s = { .btf = type->btf, .err = err };

	path_push(&s, "%s", what);
	if (!type->id)
		return set_untyped(&s, type->size, tree, bytes);
	return set_any(&s, type->id, tree, bytes);
}

int value_parse(const struct value_type *type, const char *what, const char *text, void *bytes,
		struct err *err)
{
	json_t *tree = NULL;
	int rc;

	rc = value_tree(text, &tree, err);
	if (rc)
		return err_prefix(err, -rc, "%s", what);
	rc = value_set(type, what, tree, bytes, err);
	json_decref(tree);
	return rc;
}

/* NOLINTEND(misc-no-recursion) */
