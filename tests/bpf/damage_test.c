/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damaged objects: cut at many lengths, with bytes flipped, with fields of the headers overwritten. Whatever the answer
 * is, it comes without a crash, without a leak, and with a line of text when it is no.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/load.h"

enum {
	CUTS = 150,  /* lengths tried, evenly spread; each opens the object once */
	FLIPS = 600, /* damaged copies of each object */
};

static const char *const objects[] = {
	"/usr/lib/x86_64-linux-gnu/bpf/xdpfilt_dny_udp.o",
	BPF_OBJECTS "/legacy_elf-19-v3.o",
	BPF_OBJECTS "/map_in_map-19-v3.o",
	BPF_OBJECTS "/globals-19-v3.o",
	BPF_OBJECTS "/prog_array-19-v3.o",
};

static uint64_t seed;

static uint32_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32);
}

static uint8_t *read_object(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	uint8_t *bytes;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	*ret_size = (size_t)st.st_size;
	return bytes;
}

/* Opens and loads the bytes: true when that went well. */
static bool try_bytes(int fd, const uint8_t *bytes, size_t size)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	struct err err = { "" };
	struct object *obj;
	char path[64];
	int rc;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = object_open(&obj, path, &cfg, &err);
	if (!rc) {
		rc = object_load(obj, &err);
		object_close(obj);
	}
	if (rc && (!err.text[0] || strchr(err.text, '\n')))
		fail_msg("seed %#lx: %d without a line of text: \"%s\"", seed, rc, err.text);
	return !rc;
}

static void test_truncated(void **state)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		size_t size;
		uint8_t *bytes = read_object(objects[i], &size);

		for (size_t cut = 0; cut < CUTS; cut++)
			assert_false(try_bytes(fd, bytes, size * cut / CUTS));
		assert_true(try_bytes(fd, bytes, size));
		free(bytes);
	}
	close(fd);
}

/* A byte, a word of the headers, or a run of zeros. */
static void damage(uint8_t *bytes, size_t size)
{
	static const uint32_t words[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0 };
	uint32_t n = 1 + next_random() % 3;

	while (n--) {
		size_t at = next_random() % (size - 8);

		switch (next_random() % 4) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next_random() % 8);
			break;
		case 1:
			bytes[at] = (uint8_t)next_random();
			break;
		case 2:
			memcpy(bytes + (at & ~(size_t)3), &words[next_random() % 6], 4);
			break;
		default: /* the tables at the end: section headers */
			at = size - 1 - next_random() % (size < 1024 ? size : 1024);
			bytes[at] = (uint8_t)next_random();
			break;
		}
	}
}

static void test_flipped(void **state)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		size_t size;
		uint8_t *bytes = read_object(objects[i], &size), *copy = malloc(size);
		uint32_t refused = 0;

		for (uint32_t n = 0; n < FLIPS; n++) {
			seed = (uint64_t)(i + 1) << 32 | (n + 1) * 2654435761u;
			memcpy(copy, bytes, size);
			damage(copy, size);
			refused += !try_bytes(fd, copy, size);
		}
		assert_true(refused > FLIPS / 20);
		free(copy);
		free(bytes);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
	};

	return cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
