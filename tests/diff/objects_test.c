/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real objects against the kernel: every XDP program of every object named on the command line, on both engines, over the
 * built-in capture and 1,000 mutations of it; verdict, bytes and maps must be the kernel's. What maps and globals are set to
 * before is in tests/objects/state.json, as is which objects must be refused and with which word.
 *
 *   objects_test STATE.json DIR_OR_OBJECT...
 *
 * Prints a line a case in cmocka's form. Exit 77: not root, or the kernel runs no BPF here.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/test.h>

#include "bpf/jit.h"
#include "bpf/load.h"
#include "oracle/packets.h"
#include "pkt/frame.h"
#include "port/mem.h"

enum { MUTATED = 1000, LEN_MAX = 2000, PROGS_MAX = 64 };

static json_t *state;
static char capture_path[] = "/tmp/weir-objects-XXXXXX";
static unsigned int n_ok, n_failed, n_skipped;

/* A generator of its own, so that a failure is the same one tomorrow. */
static uint64_t random_state = 0x5eed5eed5eed5eedu;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

/* Changes a few bytes, most of them in the headers, and sometimes the length. BPF_PROG_TEST_RUN takes 14 bytes or more. */
static uint32_t mutate(uint8_t *bytes, uint32_t len)
{
	uint32_t changes = 1 + random_below(4), header = len < 80 ? len : 80;

	while (changes--)
		bytes[random_below(random_below(4) ? header : len)] = (uint8_t)random_below(256);
	switch (random_below(8)) {
	case 0:
		return 14 + random_below(len - 13);
	case 1:
		memset(bytes + len, 0x5a, LEN_MAX - len);
		return len + random_below(LEN_MAX - len);
	default:
		return len;
	}
}

static int write_capture(struct err *err)
{
	struct capture *out;
	uint8_t bytes[LEN_MAX];
	int rc, fd = mkstemp(capture_path);

	if (fd < 0)
		return err_set(err, errno, "%s: %s", capture_path, strerror(errno));
	close(fd);
	rc = capture_create(&out, capture_path, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < sample_count(); i++)
		if (sample_at(i)->len >= FRAME_LEN_MIN)
			capture_add(out, sample_at(i)->bytes, sample_at(i)->len);
	for (uint32_t i = 0; i < MUTATED; i++) {
		const struct sample_packet *p = sample_at(random_below(sample_count()));
		uint32_t len = p->len < LEN_MAX ? p->len : LEN_MAX;

		memcpy(bytes, p->bytes, len);
		if (len >= FRAME_LEN_MIN)
			capture_add(out, bytes, mutate(bytes, len));
	}
	return capture_close(out, err);
}

static void case_ok(const char *name)
{
	n_ok++;
	printf("[       OK ] %s\n", name);
}

static void case_failed(const char *name, const char *why)
{
	n_failed++;
	printf("%s\n[  FAILED  ] %s\n", why, name);
}

static void case_skipped(const char *name, const char *why)
{
	n_skipped++;
	printf("SKIP: %s: %s\n[  SKIPPED ] %s\n", name, why, name);
}

/* What state.json says of an object: by its name, else by the longest prefix that ends in `*`. */
static json_t *state_of(const char *object)
{
	json_t *found = json_object_get(state, object), *value;
	size_t longest = 0;
	const char *key;

	if (found)
		return found;
	json_object_foreach(state, key, value)
	{
		size_t n = strlen(key);

		if (key[n - 1] == '*' && n > longest && !strncmp(key, object, n - 1)) {
			longest = n;
			found = value;
		}
	}
	return found;
}

static int apply(struct weir *weir, json_t *list,
		 int (*fn)(struct weir *, const char *, struct weir_error *),
		 struct weir_error *err)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		int rc = fn(weir, json_string_value(item), err);

		if (rc)
			return rc;
	}
	return 0;
}

/* Ports 3 and 4 are targets of redirects; the input is the loopback of the kernel's side. */
static int set_up(struct weir *weir, const char *path, const char *prog, json_t *before,
		  struct weir_error *err)
{
	int rc = weir_port_add(weir, WEIR_PORT_IN, NULL, "mem:,ifindex=1", err);

	if (!rc)
		rc = weir_port_add(weir, WEIR_PORT_EXTRA, "out1", "null,ifindex=3", err);
	if (!rc)
		rc = weir_port_add(weir, WEIR_PORT_EXTRA, "out2", "null,ifindex=4", err);
	if (!rc)
		rc = weir_object_open(weir, path, prog, err);
	if (!rc)
		rc = apply(weir, json_object_get(before, "globals"), weir_state_global, err);
	if (!rc)
		rc = apply(weir, json_object_get(before, "maps"), weir_state_map, err);
	return rc ? rc : weir_object_load(weir, err);
}

static const char *last_line(const char *text, size_t n)
{
	while (n && text[n - 1] == '\n')
		n--;
	while (n && text[n - 1] != '\n')
		n--;
	return text + n;
}

static void compare(const char *name, struct weir *weir)
{
	struct weir_test_result result = { 0 };
	struct weir_error err = { 0 };
	struct weir_test_opts opts = {
		.size = sizeof(opts), .in = capture_path, .against_kernel = true, .quiet = true
	};
	char *text = NULL;
	size_t n = 0;
	int rc;

	opts.report = open_memstream(&text, &n);
	rc = weir_test(weir, &opts, &result, &err);
	fclose(opts.report);
	if (rc)
		(strstr(err.text, "the kernel does not take") ? case_skipped
							      : case_failed)(name, err.text);
	else if (result.different || result.compared < MUTATED) {
		if (n > 3000)
			text[3000] = '\0';
		printf("%s", text);
		case_failed(name, last_line(text, strlen(text)));
	} else
		case_ok(name);
	free(text);
}

static void run_case(const char *path, const char *object, const char *prog,
		     enum weir_engine engine)
{
	struct weir_opts opts = { .size = sizeof(opts), .engine = engine };
	json_t *before = state_of(object);
	struct weir_error err = { 0 };
	struct weir *weir;
	char name[256];

	snprintf(name, sizeof(name), "%s/%s/%s", object, prog,
		 engine == WEIR_ENGINE_JIT ? "jit" : "interp");
	if (json_object_get(json_object_get(before, "skip"), prog)) {
		case_skipped(name, json_string_value(
					   json_object_get(json_object_get(before, "skip"), prog)));
		return;
	}
	if (weir_create(&weir, &opts, &err)) {
		case_failed(name, err.text);
		return;
	}
	if (set_up(weir, path, prog, before, &err))
		case_failed(name, err.text);
	else
		compare(name, weir);
	weir_destroy(weir);
}

/* The names of an object's plain XDP programs: those that BPF_PROG_TEST_RUN takes. The object is loaded once for that. */
static int list_progs(const char *path, char names[PROGS_MAX][128], struct err *err)
{
	struct object_cfg cfg = { .engine = ENGINE_INTERP };
	struct object *obj;
	struct prog *prog;
	int n = 0, rc = object_open(&obj, path, &cfg, err);

	if (rc)
		return rc;
	rc = object_load(obj, err);
	for (uint32_t i = 0; !rc && (prog = object_prog_at(obj, i)) && n < PROGS_MAX; i++)
		if (prog->po.traits.type == BPF_PROG_TYPE_XDP &&
		    prog->po.traits.expected_attach_type != BPF_XDP_DEVMAP &&
		    prog->po.traits.expected_attach_type != BPF_XDP_CPUMAP)
			snprintf(names[n++], 128, "%s", prog->po.name);
	object_close(obj);
	return rc ? rc : n;
}

static void run_object(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char object[128], names[PROGS_MAX][128];
	struct err err = { 0 };
	const char *refused;
	int n;

	snprintf(object, sizeof(object), "%.*s", (int)(strlen(base) - 2), base);
	refused = json_string_value(json_object_get(state_of(object), "refused"));
	n = list_progs(path, names, &err);
	if (refused) {
		if (n < 0 && strstr(err.text, refused))
			case_ok(object);
		else
			case_failed(object, n < 0 ? err.text : "it loads, and should be refused");
		return;
	}
	if (json_is_true(json_object_get(state_of(object), "only_remote"))) {
		/* Programs for devmaps and cpumaps alone: BPF_PROG_TEST_RUN takes none. They load. */
		(n == 0 ? case_ok(object)
			: case_failed(object, n < 0 ? err.text : "it has a program to run"));
		return;
	}
	if (n <= 0) {
		case_failed(object, n ? err.text : "it has no program to run");
		return;
	}
	for (int i = 0; i < n; i++) {
		run_case(path, object, names[i], WEIR_ENGINE_INTERP);
		if (jit_available(NULL))
			run_case(path, object, names[i], WEIR_ENGINE_JIT);
	}
}

static int is_object(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 2 && !strcmp(entry->d_name + n - 2, ".o") && entry->d_name[0] != '.';
}

static void run_path(const char *path)
{
	struct dirent **entries;
	char file[4096];
	int n = scandir(path, &entries, is_object, alphasort);

	if (n < 0) {
		run_object(path);
		return;
	}
	for (int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		run_object(file);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	json_error_t error;

	if (argc > 1 && !strcmp(argv[1], "__oracle"))
		return weir_oracle_main(argc, argv);
	if (argc < 3) {
		fprintf(stderr, "usage: objects_test STATE.json DIR_OR_OBJECT...\n");
		return 2;
	}
	if (geteuid() != 0) {
		printf("SKIP: the kernel's BPF needs root\n");
		return 77;
	}
	state = json_load_file(argv[1], 0, &error);
	if (!state) {
		fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (write_capture(&err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (int i = 2; i < argc; i++)
		run_path(argv[i]);
	unlink(capture_path);
	json_decref(state);
	printf("%u passed, %u failed, %u skipped\n", n_ok, n_failed, n_skipped);
	return n_failed || !n_ok;
}
