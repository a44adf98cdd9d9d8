/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of this folder, as each compiler makes them for each version of the instruction set: what the
 * loader makes of them, and what they answer when they run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/btf.h"
#include "bpf/helper.h"
#include "bpf/load.h"
#include "maps/prog_array.h"

static const char *const variants[] = { BPF_VARIANTS };

#define FOR_EACH_VARIANT(v)                                                                        \
	for (size_t i_ = 0; i_ < sizeof(variants) / sizeof(variants[0]) && (v = variants[i_]); i_++)

static char path_text[512];

static const char *path_of(const char *name, const char *variant)
{
	snprintf(path_text, sizeof(path_text), "%s/%s-%s.o", BPF_OBJECTS, name, variant);
	return path_text;
}

static struct object *open_object(const char *name, const char *variant,
				  const struct object_cfg *cfg)
{
	struct err err = { "" };
	struct object *obj;

	if (object_open(&obj, path_of(name, variant), cfg, &err))
		fail_msg("%s", err.text);
	return obj;
}

static void load(struct object *obj)
{
	struct err err = { "" };

	if (object_load(obj, &err))
		fail_msg("%s", err.text);
}

static struct object *load_object(const char *name, const char *variant)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	struct object *obj = open_object(name, variant, &cfg);

	load(obj);
	return obj;
}

/* One run on a frame of 60 zero bytes from interface 1. */
static uint32_t run(struct prog *prog, uint32_t queue)
{
	static uint8_t chunk[FRAME_SIZE];
	struct frame frame = { .hard_start = chunk };
	uint8_t bytes[60] = { 0 };
	struct run_ctx rc;
	uint32_t verdict;

	assert_non_null(prog);
	frame_reset(&frame);
	assert_int_equal(frame_fill(&frame, bytes, sizeof(bytes)), 0);
	frame.ingress_ifindex = 1;
	frame.rx_queue_index = queue;
	assert_int_equal(run_ctx_init(&rc, 0, NULL), 0);
	verdict = prog_run(prog, &rc, &frame);
	assert_int_equal(rc.faults, 0);
	run_ctx_fini(&rc);
	return verdict;
}

static void check_map(struct object *obj, const char *name, uint32_t type, uint32_t key,
		      uint32_t value, uint32_t entries, uint32_t flags)
{
	struct map *map = object_map(obj, name);

	assert_non_null(map);
	assert_int_equal(map->type, type);
	assert_int_equal(map->key_size, key);
	assert_int_equal(map->value_size, value);
	assert_int_equal(map->max_entries, entries);
	assert_int_equal(map->flags, flags);
}

static void check_legacy_def(const char *name, const char *variant)
{
	struct object *obj = load_object(name, variant);
	uint64_t key = 3;
	uint8_t value[24] = { 1 };

	check_map(obj, "counters", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 16, 0);
	check_map(obj, "hidden", BPF_MAP_TYPE_HASH, 8, 24, 100, BPF_F_NO_PREALLOC);
	check_map(obj, "tx_port", BPF_MAP_TYPE_DEVMAP, 4, 4, 64, BPF_F_RDONLY_PROG);
	/* each relocation found its own map: queue 3 is in `hidden`, interface 1 is in no devmap */
	assert_int_equal(run(object_main_prog(obj, NULL), 3), XDP_ABORTED);
	assert_int_equal(map_sys_update(object_map(obj, "hidden"), &key, value, BPF_ANY), 0);
	assert_int_equal(run(object_main_prog(obj, NULL), 3), XDP_DROP);
	object_close(obj);
}

static void test_legacy_def(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		check_legacy_def("legacy_def", v);
		check_legacy_def("legacy_def_plain", v);
	}
}

static void test_legacy_elf(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj = load_object("legacy_elf", v);
		uint32_t key_id, value_id;
		const struct btf_type *t;

		check_map(obj, "flows", BPF_MAP_TYPE_LRU_HASH, 8, 8, 1000, 0);
		check_map(obj, "outer", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 4, 0);
		check_map(obj, "inner", BPF_MAP_TYPE_ARRAY, 4, 4, 2, 0);
		assert_int_equal(object_map_types(obj, "flows", &key_id, &value_id), 0);
		t = btf__type_by_id(object_btf(obj), key_id);
		assert_string_equal(btf__str_by_offset(object_btf(obj), t->name_off), "flow");
		assert_int_equal(run(object_main_prog(obj, NULL), 0), XDP_PASS);
		object_close(obj);
	}
}

static void test_B5_06_map_in_map(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj = load_object("map_in_map", v);
		struct prog *prog = object_main_prog(obj, NULL);
		uint32_t key = 0;
		uint64_t one = 1;

		/* slots 0 and 2 have a map, 1 is empty, 4 is out of range */
		assert_int_equal(run(prog, 0), XDP_TX);
		assert_int_equal(run(prog, 1), XDP_PASS);
		assert_int_equal(run(prog, 4), XDP_PASS);
		assert_int_equal(map_sys_update(object_map(obj, "inner_b"), &key, &one, 0), 0);
		assert_int_equal(run(prog, 2), XDP_DROP);
		object_close(obj);
	}
}

static void test_B5_08_prog_array_values(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj = load_object("prog_array", v);
		struct prog *start = object_prog(obj, "start");

		assert_int_equal(run(start, 0), XDP_DROP);
		assert_int_equal(run(start, 1), XDP_PASS);
		assert_int_equal(run(start, 2), XDP_TX);
		assert_int_equal(run(start, 9), XDP_PASS);
		assert_ptr_equal(object_main_prog(obj, NULL), start);
		object_close(obj);
	}
}

static void set_global(struct object *obj, const char *name, uint32_t size, uint64_t value)
{
	uint32_t got, type;
	void *bytes;

	assert_int_equal(object_global(obj, name, &bytes, &got, &type), 0);
	assert_int_equal(got, size);
	assert_true(type);
	memcpy(bytes, &value, size);
}

static void test_globals(void **state)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	uint32_t size, type;
	const char *v;
	void *bytes;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj = open_object("globals", v, &cfg);

		assert_int_equal(object_global(obj, "nothing", &bytes, &size, &type), -ENOENT);
		set_global(obj, "verdict", 4, XDP_TX);	/* .rodata */
		set_global(obj, "limits", 8, 2);	/* .data */
		set_global(obj, "seen", 8, UINT64_MAX); /* .bss */
		load(obj);
		assert_int_equal(run(object_main_prog(obj, NULL), 1), XDP_DROP);
		assert_int_equal(run(object_main_prog(obj, NULL), 2), XDP_TX);
		/* counted up from what was set */
		memcpy(&size, object_map(obj, ".bss")->area.base, sizeof(size));
		assert_int_equal(size, 1);
		object_close(obj);
	}
}

static void test_B5_07_long_names(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj = load_object("globals", v);

		assert_non_null(object_map(obj, "a_very_long_map_name_1"));
		assert_ptr_not_equal(object_map(obj, "a_very_long_map_name_1"),
				     object_map(obj, "a_very_long_map_name_2"));
		assert_non_null(object_prog(obj, "a_very_long_program_name"));
		object_close(obj);
	}
}

static void test_resize(void **state)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	struct object *obj = open_object("globals", variants[0], &cfg);
	struct err err;

	assert_int_equal(object_resize_map(obj, "nothing", 5, &err), -ENOENT);
	assert_int_equal(object_resize_map(obj, "a_very_long_map_name_1", 5, &err), 0);
	load(obj);
	assert_int_equal(object_map(obj, "a_very_long_map_name_1")->max_entries, 5);
	assert_int_equal(object_resize_map(obj, "a_very_long_map_name_1", 6, &err), -EBUSY);
	assert_int_equal(object_load(obj, &err), -EALREADY);
	object_close(obj);
}

static void keep_note(void *arg, const char *text)
{
	snprintf(arg, 256, "%s", text);
}

static void test_sections(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		char note[256] = "";
		struct object_cfg cfg = { .note = keep_note, .note_arg = note };
		struct object *obj = open_object("sections", v, &cfg);

		load(obj);
		assert_string_equal(
			note, "program shaper in section tc is no XDP program and is not loaded");
		assert_null(object_prog(obj, "shaper"));
		assert_string_equal(object_prog_section(obj, "shaper"), "tc");
		assert_null(object_prog_section(obj, "jumbo"));
		assert_int_equal(object_prog(obj, "egress")->po.traits.expected_attach_type,
				 BPF_XDP_DEVMAP);
		assert_int_equal(object_prog(obj, "remote")->po.traits.expected_attach_type,
				 BPF_XDP_CPUMAP);
		assert_true(object_prog(obj, "jumbo")->po.traits.xdp_has_frags);
		assert_false(object_prog(obj, "tutorial")->po.traits.xdp_has_frags);
		assert_ptr_equal(object_prog(obj, "xdp_old_name"), object_prog(obj, "tutorial"));
		assert_ptr_equal(object_main_prog(obj, NULL), object_prog(obj, "jumbo"));
		object_close(obj);
	}
}

static void test_wanted_prog(void **state)
{
	struct object_cfg cfg = { .prog = "xdp/cpumap" };
	struct object *obj = open_object("sections", variants[0], &cfg);

	load(obj);
	assert_string_equal(object_main_prog(obj, NULL)->po.name, "remote");
	object_close(obj);
}

/* A program that does not load is in nobody's way but its own. */
static void test_bad_sibling(void **state)
{
	struct object_cfg cfg = { .prog = "good" };
	struct err err = { "" };
	struct object *obj;
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		cfg.prog = "good";
		obj = open_object("siblings", v, &cfg);
		set_global(obj, "verdict", 4, XDP_TX);
		load(obj);
		assert_int_equal(run(object_main_prog(obj, NULL), 0), XDP_TX);
		assert_null(object_prog(obj, "bad"));
		object_close(obj);
		cfg.prog = "bad";
		obj = open_object("siblings", v, &cfg);
		assert_int_equal(object_load(obj, &err), -EINVAL);
		assert_non_null(strstr(err.text, "bpf_clone_redirect"));
		object_close(obj);
	}
}

static void test_core(void **state)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	char target[512];
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj;

		/* a target that has the field; and one without, where the program does not go there */
		snprintf(target, sizeof(target), "%s", path_of("core_target", v));
		cfg.btf_path = target;
		obj = open_object("core", v, &cfg);
		load(obj);
		assert_int_equal(run(object_main_prog(obj, NULL), 0), 3);
		object_close(obj);
		snprintf(target, sizeof(target), "%s", path_of("sections", v));
		obj = open_object("core", v, &cfg);
		load(obj);
		assert_int_equal(run(object_main_prog(obj, NULL), 0), XDP_ABORTED);
		object_close(obj);
	}
}

static void test_kconfig(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		struct object *obj = load_object("kconfig", v);

		assert_int_equal(run(object_main_prog(obj, NULL), 0), XDP_TX);
		object_close(obj);
	}
}

/* Pinned by name: private to each object, unless there is a directory. */
static void test_pins(void **state)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	struct object *a, *b;
	uint64_t one = 1;
	uint32_t key = 1;

	a = load_object("pinned", variants[0]);
	b = load_object("pinned", variants[0]);
	assert_ptr_not_equal(object_map(a, "shared"), object_map(b, "shared"));
	object_close(a);
	object_close(b);
	cfg.pin_dir = "/weir/test";
	a = open_object("pinned", variants[0], &cfg);
	load(a);
	b = open_object("pinned", variants[0], &cfg);
	load(b);
	assert_ptr_equal(object_map(a, "shared"), object_map(b, "shared"));
	assert_int_equal(map_sys_update(object_map(a, "shared"), &key, &one, 0), 0);
	object_close(a);
	assert_int_equal(run(object_main_prog(b, NULL), 0), XDP_DROP);
	object_close(b);
}

struct refusal {
	const char *object;
	int rc;
	const char *words[2]; /* of the text */
};

static const struct refusal refusals[] = {
	{ "map_in_map_plain", -ENOENT, { "maps need BTF", "rebuild with -g" } }, /* B6.02 */
	{ "extern_function",
	  -ENOENT,
	  { "extern_function.bpf.c:12", "ntohl is not defined" } }, /* B6.03 */
	{ "kfunc_unknown", -EINVAL, { "bpf_of_no_kernel", "not provided by weir" } },
	{ "map_unknown", -EOPNOTSUPP, { "map \"odd\"", "type 77" } },
	{ "helper_unknown", -EINVAL, { "program copy: instruction", "bpf_clone_redirect (13)" } },
};

static int refuse_code(const char *path, struct err *err)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	struct object *obj;
	int rc = object_open(&obj, path, &cfg, err);

	if (rc)
		return rc;
	rc = object_load(obj, err);
	object_close(obj);
	return rc;
}

static void test_B6_02_B6_03_refusals(void **state)
{
	const char *v;

	FOR_EACH_VARIANT(v)
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		struct err err = { "" };
		int rc = refuse_code(path_of(r->object, v), &err);

		if (rc != r->rc || !strstr(err.text, r->words[0]) ||
		    !strstr(err.text, r->words[1]) || !strstr(err.text, path_text))
			fail_msg("%s: %d, \"%s\"", path_text, rc, err.text);
	}
}

/* Found when weir has it, whatever the weak one beside it; else refused by its name. */
static void test_kfunc(void **state)
{
	static const char name[] = "bpf_xdp_metadata_rx_hash";
	struct err err = { "" };
	const char *v;

	FOR_EACH_VARIANT(v)
	{
		int rc = refuse_code(path_of("kfunc", v), &err);

		assert_int_equal(rc, kfunc_by_name(name) ? 0 : -EINVAL);
		if (rc && !strstr(err.text, name))
			fail_msg("%s", err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legacy_def),
		cmocka_unit_test(test_legacy_elf),
		cmocka_unit_test(test_B5_06_map_in_map),
		cmocka_unit_test(test_B5_08_prog_array_values),
		cmocka_unit_test(test_globals),
		cmocka_unit_test(test_B5_07_long_names),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_wanted_prog),
		cmocka_unit_test(test_bad_sibling),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_kconfig),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_kfunc),
		cmocka_unit_test(test_B6_02_B6_03_refusals),
	};

	return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
