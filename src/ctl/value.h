/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of maps and global variables as people write them: text or JSON on one side, bytes typed by BTF on
 * the other. Between the command line and files (src/ctl/state.c) and map bytes; libbpf's BTF reader does the
 * types.
 *
 * Text becomes a tree of JSON first, whose scalars are strings; one function turns trees into bytes:
 *
 *   7  -1  0x1f        integers; of typedefs __be16, __be32 and __be64 they go out in network order
 *   10.0.0.1           anything of 4 bytes; fe80::1 of 16; 02:00:00:00:00:01 of 6
 *   0x0a 0x00, hex:0a00  anything of as many bytes
 *   name               an enumerator; true, false; text for arrays of char
 *   {field: value, ..} structs and unions; fields that are not named keep what the bytes were
 *   [value, ..]        arrays; elements that are not there keep what the bytes were
 *
 * A JSON integer (from a file) is the integer in memory, whatever its typedef, as bpftool prints it.
 *
 * Threads: any; BTF is only read.
 */
#ifndef WEIR_CTL_VALUE_H
#define WEIR_CTL_VALUE_H

#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

struct btf;

enum {
	VALUE_DEPTH_MAX =
		16, /* nesting of a value: C structs stay far below it, and recursion is bounded */
};

/* What the bytes are. id 0 or btf NULL: not known, then `size` alone decides. */
struct value_type {
	const struct btf *btf;
	uint32_t id;
	uint32_t size;
};

/* The type `id` when its size is the one of the map, else one of unknown type. */
struct value_type value_type_of(const struct btf *btf, uint32_t id, uint32_t size);

/* Text to tree: a new reference. -EINVAL with the place where it does not parse. */
int value_tree(const char *text, json_t **ret, struct err *err);
/* Tree to bytes (type->size of them, which keep what is not named). `what` begins the path in errors: "key",
 * "value", "global limits". */
int value_set(const struct value_type *type, const char *what, json_t *tree, void *bytes,
	      struct err *err);
/* Both. */
int value_parse(const struct value_type *type, const char *what, const char *text, void *bytes,
		struct err *err);

/* Bytes to a tree as bpftool's "formatted" has it, or NULL when the type is not known or memory is out. Integers
 * above INT64_MAX become strings. */
json_t *value_format(const struct value_type *type, const void *bytes);
/* ["0x0a","0x00"] */
json_t *value_hex(const void *bytes, uint32_t size);
/* True when tree is such a list of exactly `size` bytes; fills them. */
int value_is_hex(json_t *tree, void *bytes, uint32_t size);

/* Scalars. An integer in decimal or hex with an optional sign: 0, or -EINVAL, -ERANGE beyond 64 bits. */
int value_integer(const char *text, uint64_t *ret, int *ret_negative);
/* An address or bytes: 1 filled, 0 not of such a form, -EINVAL of such a form but of another size. */
int value_literal(const char *text, void *bytes, uint32_t size);
/* Digits in pairs, spaces allowed: the number of bytes, or -EINVAL. */
int value_hex_digits(const char *text, uint8_t *bytes, uint32_t cap);

#endif
