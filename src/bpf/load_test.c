/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that people have, and files that are none: what loads, and what the refusals say. */
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
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/load.h"

#define LIB  "/usr/lib/x86_64-linux-gnu/bpf/"
#define TOOL "/usr/libexec/xdp-tools/"

struct packaged {
	const char *path;
	const char *main;
	const char *map; /* one that it must have; NULL: none */
};

static const struct packaged packaged[] = {
	{ TOOL "xdp_drop.o", "xdp_drop", NULL },
	{ TOOL "xdp_pass.o", "xdp_pass", NULL },
	{ LIB "xdp-dispatcher.o", "xdp_dispatcher", ".rodata" },
	{ LIB "xdpfilt_alw_all.o", "xdpfilt_alw_all", "filter_ethernet" },
	{ LIB "xdpfilt_alw_eth.o", "xdpfilt_alw_eth", "filter_ethernet" },
	{ LIB "xdpfilt_alw_ip.o", "xdpfilt_alw_ip", "filter_ipv6" },
	{ LIB "xdpfilt_alw_tcp.o", "xdpfilt_alw_tcp", "filter_ports" },
	{ LIB "xdpfilt_alw_udp.o", "xdpfilt_alw_udp", "filter_ports" },
	{ LIB "xdpfilt_dny_all.o", "xdpfilt_dny_all", "xdp_stats_map" },
	{ LIB "xdpfilt_dny_eth.o", "xdpfilt_dny_eth", "filter_ethernet" },
	{ LIB "xdpfilt_dny_ip.o", "xdpfilt_dny_ip", "filter_ipv4" },
	{ LIB "xdpfilt_dny_tcp.o", "xdpfilt_dny_tcp", "filter_ports" },
	{ LIB "xdpfilt_dny_udp.o", "xdpfilt_dny_udp", "filter_ports" },
	{ LIB "xsk_def_xdp_prog.o", "xsk_def_prog", "xsks_map" },
	{ LIB "xsk_def_xdp_prog_5.3.o", "xsk_def_prog", "xsks_map" },
};

static struct object *load(const char *path, const struct object_cfg *cfg)
{
	struct object *obj;
	struct err err = { "" };

	if (object_open(&obj, path, cfg, &err) || object_load(obj, &err))
		fail_msg("%s", err.text);
	return obj;
}

static void test_packaged(void **state)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };

	for (size_t i = 0; i < sizeof(packaged) / sizeof(packaged[0]); i++) {
		struct object *obj = load(packaged[i].path, &cfg);
		struct prog *prog;
		struct err err;

		prog = object_main_prog(obj, &err);
		assert_non_null(prog);
		assert_string_equal(prog->po.name, packaged[i].main);
		assert_ptr_equal(object_prog(obj, packaged[i].main), prog);
		if (packaged[i].map)
			assert_non_null(object_map(obj, packaged[i].map));
		assert_string_equal(object_path(obj), packaged[i].path);
		object_close(obj);
	}
}

static void refused(const char *path, const struct object_cfg *cfg, int code, const char *word)
{
	struct object *obj = NULL;
	struct err err = { "" };

	assert_int_equal(object_open(&obj, path, cfg, &err), -code);
	assert_null(obj);
	if (!strstr(err.text, word) || !strstr(err.text, path) || strchr(err.text, '\n'))
		fail_msg("%s: wanted \"%s\", got \"%s\"", path, word, err.text);
}

static void count_note(void *arg, const char *text)
{
	assert_non_null(strstr(text, "trace_on_"));
	++*(int *)arg;
}

static void test_no_xdp(void **state)
{
	int notes = 0;
	struct object_cfg cfg = { .note = count_note, .note_arg = &notes };

	refused(LIB "xdpdump_bpf.o", &cfg, ENOENT, "trace_on_entry (fentry/func), trace_on_exit");
	assert_int_equal(notes, 2);
}

static void test_no_such_prog(void **state)
{
	struct object_cfg cfg = { .prog = "xdp_dorp" };

	refused(TOOL "xdp_drop.o", &cfg, ENOENT,
		"no XDP program \"xdp_dorp\"; it has xdp_drop (xdp)");
}

static void test_not_an_object(void **state)
{
	struct object_cfg cfg = { .prog = NULL };

	refused("/nonexistent.o", &cfg, ENOENT, "No such file");
	refused("/tmp", &cfg, EINVAL, "not a file");
	refused("/dev/null", &cfg, EINVAL, "not a file");
	refused("/etc/passwd", &cfg, EINVAL, "not an ELF file");
	refused("/proc/self/exe", &cfg, EINVAL, "not BPF");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packaged),
		cmocka_unit_test(test_no_xdp),
		cmocka_unit_test(test_no_such_prog),
		cmocka_unit_test(test_not_an_object),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
