/* SPDX-License-Identifier: BSD-2-Clause */
/* Values as text to bytes and back: tables over a BTF that is made here. */
#include "ctl/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

/* Type ids, in the order in which types_create adds them. */
enum {
	T_U8 = 1,
	T_U16,
	T_U32,
	T_U64,
	T_S32,
	T_CHAR,
	T_BOOL,
	T_BE16,
	T_BE32,
	T_U128,
	T_ENUM,
	T_MAC,	/* u8[6] */
	T_NAME, /* char[8] */
	T_INNER,
	T_U32S, /* u32[3] */
	T_IN6,	/* struct with u8[16] */
	T_ADDR16,
	T_REC, /* struct rec, below */
	T_ONE, /* struct one { u64 packets; } */
	T_PTR,
	T_BITS,
	T_ENUM64,
};

static struct btf *btf;

static int types_create(void **state)
{
	btf = btf__new_empty();
	btf__add_int(btf, "unsigned char", 1, 0);
	btf__add_int(btf, "unsigned short", 2, 0);
	btf__add_int(btf, "unsigned int", 4, 0);
	btf__add_int(btf, "unsigned long long", 8, 0);
	btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
	btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	btf__add_typedef(btf, "__be16", T_U16);
	btf__add_typedef(btf, "__be32", T_U32);
	btf__add_int(btf, "__int128", 16, 0);
	btf__add_enum(btf, "verdict", 4);
	btf__add_enum_value(btf, "XDP_DROP", 1);
	btf__add_enum_value(btf, "XDP_PASS", 2);
	btf__add_array(btf, T_U32, T_U8, 6);
	btf__add_array(btf, T_U32, T_CHAR, 8);
	btf__add_struct(btf, "inner", 4);
	btf__add_field(btf, "port", T_BE16, 0, 0);
	btf__add_field(btf, "low", T_U8, 16, 0);
	btf__add_field(btf, "on", T_BOOL, 24, 0);
	btf__add_array(btf, T_U32, T_U32, 3);
	btf__add_struct(btf, "in6_addr", 16);
	btf__add_field(btf, "bytes", T_ADDR16, 0, 0);
	btf__add_array(btf, T_U32, T_U8, 16);
	/* struct rec { be32 addr; u8 mac[6]; u16 pad; struct inner in; union { u32 n; s32 s; }; u32 list[3]; } */
	btf__add_struct(btf, "rec", 32);
	btf__add_field(btf, "addr", T_BE32, 0, 0);
	btf__add_field(btf, "mac", T_MAC, 32, 0);
	btf__add_field(btf, "pad", T_U16, 80, 0);
	btf__add_field(btf, "in", T_INNER, 96, 0);
	btf__add_field(btf, "", T_ENUM64 + 1, 128, 0);
	btf__add_field(btf, "list", T_U32S, 160, 0);
	btf__add_struct(btf, "one", 8);
	btf__add_field(btf, "packets", T_U64, 0, 0);
	btf__add_ptr(btf, T_U32);
	btf__add_struct(btf, "bits", 4);
	btf__add_field(btf, "a", T_U32, 0, 3);
	btf__add_field(btf, "b", T_S32, 3, 7);
	btf__add_field(btf, "c", T_U32, 10, 22);
	btf__add_enum64(btf, "big", 8, false);
	btf__add_enum64_value(btf, "HUGE", 0x100000001u);
	btf__add_union(btf, NULL, 4);
	btf__add_field(btf, "n", T_U32, 0, 0);
	btf__add_field(btf, "s", T_S32, 0, 0);
	return btf__type_cnt(btf) == T_ENUM64 + 2 ? 0 : -1;
}

static int types_destroy(void **state)
{
	btf__free(btf);
	return 0;
}

struct good {
	uint32_t type, size;
	const char *text;
	const char *hex;
};

static const struct good goods[] = {
	{ T_U8, 1, "255", "ff" },
	{ T_U8, 1, "0x1f", "1f" },
	{ T_U8, 1, "a", "61" },
	{ T_U16, 2, "80", "5000" },
	{ T_U32, 4, " 7 ", "07000000" },
	{ T_U32, 4, "010", "0a000000" },
	{ T_U32, 4, "10.0.0.1", "0a000001" },
	{ T_U32, 4, "0x0a 0x00 0x00 0x01", "0a000001" },
	{ T_U32, 4, "hex:0a 00 00 01", "0a000001" },
	{ T_U32, 4, "[\"0x0a\", \"0x00\", \"0x00\", \"0x01\"]", "0a000001" },
	{ T_U64, 8, "18446744073709551615", "ffffffffffffffff" },
	{ T_S32, 4, "-1", "ffffffff" },
	{ T_S32, 4, "-2147483648", "00000080" },
	{ T_S32, 4, "+5", "05000000" },
	{ T_BOOL, 1, "true", "01" },
	{ T_BOOL, 1, "0", "00" },
	{ T_BE16, 2, "80", "0050" },
	{ T_BE16, 2, "hex:0102", "0102" },
	{ T_BE32, 4, "1", "00000001" },
	{ T_BE32, 4, "10.1.2.3", "0a010203" },
	{ T_U128, 16, "fe80::1", "fe800000000000000000000000000001" },
	{ T_U128, 16, "5", "05000000000000000000000000000000" },
	{ T_ENUM, 4, "XDP_PASS", "02000000" },
	{ T_ENUM, 4, "9", "09000000" },
	{ T_ENUM64, 8, "HUGE", "0100000001000000" },
	{ T_MAC, 6, "02:00:00:00:00:01", "020000000001" },
	{ T_MAC, 6, "[2, 0, 0, 0, 0, 1]", "020000000001" },
	{ T_MAC, 6, "[2]", "020000000000" },
	{ T_NAME, 8, "eth0", "6574683000000000" },
	{ T_NAME, 8, "\"a \\\"b\"", "6120226200000000" },
	{ T_NAME, 8, "1234567", "3132333435363700" },
	{ T_NAME, 8, "10.0.0.1", NULL }, /* 8 characters: no room for the NUL */
	{ T_INNER, 4, "{port: 443, low: 7, on: true}", "01bb0701" },
	{ T_INNER, 4, "{}", "00000000" },
	{ T_IN6, 16, "::1", "00000000000000000000000000000001" },
	{ T_ONE, 8, "3", "0300000000000000" },
	{ T_ONE, 8, "{packets: 3}", "0300000000000000" },
	{ T_BITS, 4, "{a: 5, b: -1, c: 1}", "fd070000" },
	{ T_PTR, 8, "hex:0102030405060708", "0102030405060708" },
	{ T_REC, 32,
	  "{addr: 10.0.0.1, mac: 02:00:00:00:00:01, in: {port: 53}, s: -2, list: [1, 2, 3]}",
	  "0a0000010200000000010000"
	  "00350000feffffff010000000200000003000000" },
	{ T_REC, 32, "{list: [0, 9,],}",
	  "000000000000000000000000000000000000000000000000"
	  "0900000000000000" },
	{ 0, 4, "-1", "ffffffff" },
	{ 0, 4, "10.0.0.1", "0a000001" },
	{ 0, 6, "02:00:00:00:00:01", "020000000001" },
	{ 0, 16, "fe80::2", "fe800000000000000000000000000002" },
	{ 0, 3, "hex:010203", "010203" },
	{ 0, 2, "65535", "ffff" },
	{ 0, 8, "0xffffffffffffffff", "ffffffffffffffff" },
};

static void check_good(const struct good *g)
{
	struct value_type type = value_type_of(btf, g->type, g->size);
	uint8_t bytes[64] = { 0 }, want[64];
	struct err err = { "" };
	int rc;

	rc = value_parse(&type, "value", g->text, bytes, &err);
	if (!g->hex) {
		assert_int_equal(rc, -22);
		return;
	}
	if (rc)
		fail_msg("%s: %s", g->text, err.text);
	assert_int_equal(value_hex_digits(g->hex, want, sizeof(want)), g->size);
	if (memcmp(bytes, want, g->size))
		fail_msg("%s: wrong bytes, %s wanted", g->text, g->hex);
}

static void values_become_bytes(void **state)
{
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++)
		check_good(&goods[i]);
}

static void bytes_come_back(void **state)
{
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct value_type type = value_type_of(btf, goods[i].type, goods[i].size);
		uint8_t bytes[64], again[64] = { 0 };
		struct err err = { "" };
		json_t *tree;

		if (!goods[i].hex || !type.id)
			continue;
		value_hex_digits(goods[i].hex, bytes, sizeof(bytes));
		tree = value_format(&type, bytes);
		assert_non_null(tree);
		if (value_set(&type, "value", tree, again, &err))
			fail_msg("%s: %s", goods[i].text, err.text);
		assert_memory_equal(bytes, again, type.size);
		json_decref(tree);
		tree = value_hex(bytes, type.size);
		memset(again, 0, sizeof(again));
		assert_true(value_is_hex(tree, again, type.size));
		assert_memory_equal(bytes, again, type.size);
		json_decref(tree);
	}
}

struct bad {
	uint32_t type, size;
	const char *text;
	const char *error; /* part of the text */
};

static const struct bad bads[] = {
	{ T_U8, 1, "256", "value: expected a number from 0 to 255, not \"256\"" },
	{ T_U8, 1, "-1", "a number from 0 to 255" },
	{ T_U32, 4, "4294967296", "from 0 to 4294967295" },
	{ T_U32, 4, "ten", "expected a number from 0 to 4294967295, not \"ten\"" },
	{ T_U32, 4, "0x", "expected a number" },
	{ T_U32, 4, "7z", "expected a number" },
	{ T_U32, 4, "fe80::1", "expected 4 bytes" },
	{ T_U32, 4, "hex:0102", "expected 4 bytes" },
	{ T_U32, 4, "hex:010", "expected 4 bytes" },
	{ T_U32, 4, "0x01 0x02", "expected 4 bytes" },
	{ T_U32, 4, "", "expected a value at character 1" },
	{ T_U64, 8, "18446744073709551616", "from 0 to 18446744073709551615" },
	{ T_U64, 8, "10.0.0.1", "expected 8 bytes" },
	{ T_S32, 4, "2147483648", "from -2147483648 to 2147483647" },
	{ T_BOOL, 1, "2", "from 0 to 1" },
	{ T_ENUM, 4, "XDP_NONE", "one of XDP_DROP, XDP_PASS" },
	{ T_MAC, 6, "02:00:00:00:00", "[value, ...] with up to 6 elements" },
	{ T_MAC, 6, "[1, 2, 3, 4, 5, 6, 7]", "at most 6 elements" },
	{ T_MAC, 6, "[1, 300]", "value[1]: expected a number from 0 to 255, not \"300\"" },
	{ T_NAME, 8, "12345678", "at most 7 characters" },
	{ T_INNER, 4, "{port: 70000}", "value.port: expected a number from 0 to 65535" },
	{ T_INNER, 4, "{ports: 7}", "no field ports in struct inner: it has port, low, on" },
	{ T_INNER, 4, "{port: 1, port: 2}", "field port is given twice" },
	{ T_INNER, 4, "{port: 1", ", or }" },
	{ T_INNER, 4, "{port 1}", "a field name and :" },
	{ T_INNER, 4, "{port: }", "expected a value" },
	{ T_INNER, 4, "{port: 1} 2", "expected the end" },
	{ T_INNER, 4, "7", "{field: value, ...} with the fields port, low, on" },
	{ T_REC, 32, "{in: {low: 999}}", "value.in.low: expected a number from 0 to 255" },
	{ T_REC, 32, "{list: [1, x]}", "value.list[1]: expected" },
	{ T_REC, 32, "{zip: 1}", "it has addr, mac, pad, in, n, s, list" },
	{ T_BITS, 4, "{a: 8}", "value.a: expected a number from 0 to 7" },
	{ T_PTR, 8, "7", "a pointer" },
	{ T_U32S, 12, "[1, 2", ", or ]" },
	{ T_U32, 4, "\"7", "the closing \"" },
	{ 0, 4, "abc", "a number that fits, or 4 hex bytes" },
	{ 0, 1, "256", "a number that fits" },
	{ 0, 3, "7", "3 hex bytes (hex:0a00), since its type is not known" },
	{ 0, 4, "{a: 1}", "4 hex bytes" },
	{ T_U32, 4, "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]", "less nesting" },
};

static void errors_name_the_field(void **state)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct value_type type = value_type_of(btf, bads[i].type, bads[i].size);
		uint8_t bytes[64] = { 0 };
		struct err err = { "" };

		if (value_parse(&type, "value", bads[i].text, bytes, &err) != -22)
			fail_msg("%s was taken", bads[i].text);
		if (!strstr(err.text, bads[i].error))
			fail_msg("%s: \"%s\" lacks \"%s\"", bads[i].text, err.text, bads[i].error);
	}
}

static void fields_not_named_stay(void **state)
{
	struct value_type type = value_type_of(btf, T_INNER, 4);
	uint8_t bytes[4] = { 1, 2, 3, 1 };
	struct err err = { "" };

	assert_int_equal(value_parse(&type, "global cfg", "{low: 9}", bytes, &err), 0);
	assert_memory_equal(bytes, "\x01\x02\x09\x01", 4);
}

/* A number in a file is the integer in memory: what bpftool prints for port 80 of a __be16 is 20480. */
static void json_integers_are_memory(void **state)
{
	struct value_type type = value_type_of(btf, T_BE16, 2);
	json_t *tree = json_integer(20480);
	struct err err = { "" };
	uint8_t bytes[2];

	assert_int_equal(value_set(&type, "value", tree, bytes, &err), 0);
	assert_memory_equal(bytes, "\x00\x50", 2);
	json_decref(tree);
}

static void formatted_as_bpftool(void **state)
{
	static const struct {
		uint32_t type, size;
		const char *hex, *json;
	} rows[] = {
		{ T_S32, 4, "feffffff", "-2" },
		{ T_U64, 8, "ffffffffffffffff", "\"18446744073709551615\"" },
		{ T_BE16, 2, "0050", "20480" },
		{ T_ENUM, 4, "01000000", "\"XDP_DROP\"" },
		{ T_ENUM, 4, "07000000", "7" },
		{ T_NAME, 8, "6574683000000000", "\"eth0\"" },
		{ T_NAME, 8, "6574683000000001", "[101,116,104,48,0,0,0,1]" },
		{ T_BITS, 4, "fd070000", "{\"a\":5,\"b\":-1,\"c\":1}" },
		{ T_INNER, 4, "01bb0701", "{\"port\":47873,\"low\":7,\"on\":true}" },
		{ T_BOOL, 1, "00", "false" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct value_type type = value_type_of(btf, rows[i].type, rows[i].size);
		uint8_t bytes[64];
		json_t *tree;
		char *text;

		value_hex_digits(rows[i].hex, bytes, sizeof(bytes));
		tree = value_format(&type, bytes);
		text = json_dumps(tree, JSON_ENCODE_ANY | JSON_COMPACT);
		assert_string_equal(text, rows[i].json);
		free(text);
		json_decref(tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_bytes),	    cmocka_unit_test(bytes_come_back),
		cmocka_unit_test(errors_name_the_field),    cmocka_unit_test(fields_not_named_stay),
		cmocka_unit_test(json_integers_are_memory), cmocka_unit_test(formatted_as_bpftool),
	};

	return cmocka_run_group_tests_name("value", tests, types_create, types_destroy);
}
