/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes to trees, as bpftool prints them: the way back from value.c. */
#include "ctl/value.h"

#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(misc-no-recursion): C types nest, and VALUE_DEPTH_MAX bounds it */

static json_t *format_any(const struct btf *btf, uint32_t id, const uint8_t *from, int depth);

static uint64_t load(const uint8_t *from, uint32_t size)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < size && i < 8; i++)
		v |= (uint64_t)from[__BYTE_ORDER == __LITTLE_ENDIAN ? i : size - 1 - i] << (8 * i);
	return v;
}

static json_t *integer(uint64_t v, uint32_t bits, bool is_signed)
{
	char text[24];

	if (is_signed && bits && bits < 64 && v >> (bits - 1) & 1)
		v |= ~(uint64_t)0 << bits;
	if (is_signed || v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return json_string(text);
}

static json_t *format_int(const struct btf_type *t, const uint8_t *from)
{
	uint8_t encoding = btf_int_encoding(t);

	if (t->size > 8)
		return value_hex(from, t->size);
	if (encoding & BTF_INT_BOOL)
		return json_boolean(from[0]);
	return integer(load(from, t->size), t->size * 8, encoding & BTF_INT_SIGNED);
}

static json_t *format_enum(const struct btf *btf, const struct btf_type *t, const uint8_t *from)
{
	uint64_t v = load(from, t->size);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t name;

		if (btf_is_enum64(t)) {
			if (btf_enum64_value(btf_enum64(t) + i) != v)
				continue;
			name = btf_enum64(t)[i].name_off;
		} else {
			if ((uint32_t)btf_enum(t)[i].val != (uint32_t)v)
				continue;
			name = btf_enum(t)[i].name_off;
		}
		return json_string(btf__name_by_offset(btf, name));
	}
	return integer(v, t->size * 8, true);
}

/* An array of char that holds printable text with its NUL, and nothing behind it. */
static bool is_text(const struct btf *btf, const struct btf_array *a, const uint8_t *from)
{
	const struct btf_type *t = btf__type_by_id(btf, a->type);
	uint32_t n = 0;

	if (!t || !btf_is_int(t) || t->size != 1 ||
	    strcmp(btf__name_by_offset(btf, t->name_off), "char") != 0)
		return false;
	while (n < a->nelems && isprint(from[n]))
		n++;
	if (n == a->nelems)
		return false;
	while (n < a->nelems && !from[n])
		n++;
	return n == a->nelems;
}

static json_t *format_array(const struct btf *btf, const struct btf_type *t, const uint8_t *from,
			    int depth)
{
	const struct btf_array *a = btf_array(t);
	int64_t size = btf__resolve_size(btf, a->type);
	json_t *list;

	if (is_text(btf, a, from))
		return json_string((const char *)from);
	list = json_array();
	for (uint32_t i = 0; list && i < a->nelems; i++) {
		if (json_array_append_new(
			    list, format_any(btf, a->type, from + i * (uint64_t)size, depth + 1))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *format_bitfield(const struct btf *btf, uint32_t id, uint32_t at, uint32_t bits,
			       const uint8_t *from)
{
	const struct btf_type *t = btf__type_by_id(btf, (uint32_t)btf__resolve_type(btf, id));
	uint64_t v = 0;

	for (uint32_t i = 0; i < bits; i++) {
		uint32_t bit = at + i;
		bool little = __BYTE_ORDER == __LITTLE_ENDIAN;
		uint64_t is = from[bit / 8] >> (little ? bit % 8 : 7 - bit % 8) & 1;

		v |= is << (little ? i : bits - 1 - i);
	}
	return integer(v, bits, t && btf_is_int(t) && (btf_int_encoding(t) & BTF_INT_SIGNED));
}

static json_t *format_struct(const struct btf *btf, const struct btf_type *t, const uint8_t *from,
			     int depth)
{
	const struct btf_member *m = btf_members(t);
	json_t *object = json_object(), *item;

	for (uint32_t i = 0; object && i < btf_vlen(t); i++, m++) {
		const char *name = btf__name_by_offset(btf, m->name_off);
		uint32_t at = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
		char unnamed[24];

		if (bits)
			item = format_bitfield(btf, m->type, at, bits, from);
		else
			item = format_any(btf, m->type, from + at / 8, depth + 1);
		/* Members of unnamed structs are named as if they were the outer one's: value.c finds them. */
		if ((!name || !*name) && json_is_object(item)) {
			json_object_update_missing(object, item);
			json_decref(item);
			continue;
		}
		snprintf(unnamed, sizeof(unnamed), "unnamed_%u", i);
		if (json_object_set_new(object, name && *name ? name : unnamed, item)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/* A global data section: {".data":[{"name":value},...]} in bpftool; the list alone here. */
static json_t *format_datasec(const struct btf *btf, const struct btf_type *t, const uint8_t *from,
			      int depth)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < btf_vlen(t); i++, v++) {
		const struct btf_type *var = btf__type_by_id(btf, v->type);
		json_t *item = json_object();

		if (!item || !var ||
		    json_object_set_new(item, btf__name_by_offset(btf, var->name_off),
					format_any(btf, var->type, from + v->offset, depth + 1)) ||
		    json_array_append(list, item)) {
			json_decref(item);
			json_decref(list);
			return NULL;
		}
		json_decref(item);
	}
	return list;
}

static json_t *format_any(const struct btf *btf, uint32_t id, const uint8_t *from, int depth)
{
	int64_t size = btf__resolve_size(btf, id);
	const struct btf_type *t;

	for (t = btf__type_by_id(btf, id); t && (btf_is_mod(t) || btf_is_typedef(t));)
		t = btf__type_by_id(btf, t->type);
	if (!t || size < 0)
		return NULL;
	if (depth > VALUE_DEPTH_MAX)
		return value_hex(from, (uint32_t)size);
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return format_int(t, from);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return format_enum(btf, t, from);
	case BTF_KIND_ARRAY:
		return format_array(btf, t, from, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return format_struct(btf, t, from, depth);
	case BTF_KIND_DATASEC:
		return format_datasec(btf, t, from, depth);
	default:
		return value_hex(from, (uint32_t)size);
	}
}

json_t *value_format(const struct value_type *type, const void *bytes)
{
	return type->id ? format_any(type->btf, type->id, bytes, 0) : NULL;
}

json_t *value_hex(const void *bytes, uint32_t size)
{
	const uint8_t *b = bytes;
	json_t *list = json_array();
	char text[8];

	for (uint32_t i = 0; list && i < size; i++) {
		snprintf(text, sizeof(text), "0x%02x", b[i]);
		if (json_array_append_new(list, json_string(text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int value_is_hex(json_t *tree, void *bytes, uint32_t size)
{
	uint8_t *to = bytes;

	if (!json_is_array(tree) || json_array_size(tree) != size || !size)
		return 0;
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < size; i++) {
			const char *text = json_string_value(json_array_get(tree, i));
			char *end;
			unsigned long v;

			if (!text || text[0] != '0' || text[1] != 'x')
				return 0;
			v = strtoul(text, &end, 16);
			if (*end || v > 0xff)
				return 0;
			if (fill)
				to[i] = (uint8_t)v;
		}
	}
	return 1;
}

/* NOLINTEND(misc-no-recursion) */
