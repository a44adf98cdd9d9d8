/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weir: user-space XDP. An instance is an object (a compiled XDP .o), the ports that frames come from and go
 * to, and the state that a loader would set up. Order of calls:
 *
 *   weir_create                      options that are fixed for the instance
 *   weir_port_add ...                ports, in the order of the command line
 *   weir_object_open                 the object; not yet loaded
 *   weir_state_* ...                 globals, map entries: queued, checked against BTF
 *   weir_object_load                 maps and programs exist; the queued state is applied
 *   weir_run (weir/run.h) or weir_test (weir/test.h)
 *   weir_destroy
 *
 * Errors: functions return 0 or a negative errno value and, on failure, put one line into *err that names the
 * thing, the reason and the remedy. Structs of options start with their size, so that later versions can add
 * members; unset members are zero.
 *
 * Threads: one thread at a time for each instance.
 * Ownership: strings and structs passed in are borrowed for the call, unless said otherwise.
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define WEIR_API      __attribute__((visibility("default"), warn_unused_result))
#define WEIR_API_VOID __attribute__((visibility("default")))
#else
#define WEIR_API
#define WEIR_API_VOID
#endif

struct weir;

struct weir_error {
	char text[1024]; /* lower case, one line, no full stop */
};

enum weir_engine {
	WEIR_ENGINE_AUTO, /* the JIT when this build and machine have it, else the interpreter */
	WEIR_ENGINE_INTERP,
	WEIR_ENGINE_JIT,
};

struct weir_opts {
	size_t size; /* sizeof(struct weir_opts) */
	enum weir_engine engine;
	const char *
		btf; /* BTF file of the target kernel for CO-RE; NULL: the running kernel's if needed */
	const char *pin_dir; /* NULL: pin paths in the object are ignored */
	uint32_t cpus;	     /* how many CPUs programs see; 0: the host's */
	uint32_t cpu;	     /* the CPU that worker 0 is (--cpu) */
	uint32_t rx_queue;   /* rx_queue_index of frames whose port gives none (--rx-queue) */
	bool fixed_time;     /* clocks stand at time_ns (--time) */
	uint64_t time_ns;
	/* Called with one line each about what was skipped or fell back, for people; NULL: dropped. */
	void (*note)(void *arg, const char *text);
	void *note_arg;
	/* Called with one line each: trace_printk text, perf and ring-buffer records (--events); NULL: dropped. */
	void (*event)(void *arg, const char *json_or_text);
	void *event_arg;
	bool event_json; /* records as JSON, else as text */
};

/* Life cycle. -EINVAL for bad options, -ENOMEM. */
WEIR_API int weir_create(struct weir **ret, const struct weir_opts *opts, struct weir_error *err);
/* Stops what runs, detaches and closes everything. NULL is allowed. */
WEIR_API_VOID void weir_destroy(struct weir *weir);
/* "0.1.0" */
WEIR_API_VOID const char *weir_version(void);

/* A switch by its dotted name: "redirect.flush" = "packet". -EINVAL lists what there is. Before weir_port_add. */
WEIR_API int weir_set(struct weir *weir, const char *key, const char *value,
		      struct weir_error *err);

enum weir_port_role {
	WEIR_PORT_IN,	 /* polled; programs run on what it receives */
	WEIR_PORT_OUT,	 /* a target */
	WEIR_PORT_EXTRA, /* --port NAME=SPEC: a target, named */
};

/* Adds the port `spec` (PORT syntax: "pcap:x.pcap,ifindex=4"). name may be NULL: then it has its argument's
 * name, else "in", "out1", ... -EINVAL, -ENOENT, -EEXIST, -EPERM, ... */
WEIR_API int weir_port_add(struct weir *weir, enum weir_port_role role, const char *name,
			   const char *spec, struct weir_error *err);

/* A route ("10.0.0.0/8,dev=out1,via=10.9.9.1") or a neighbour ("10.9.9.1,dev=out1,mac=02:00:00:00:00:01") for
 * bpf_fib_lookup. Without any, and with no kernel interface among the ports, there are none. */
WEIR_API int weir_route_add(struct weir *weir, const char *text, struct weir_error *err);
WEIR_API int weir_neigh_add(struct weir *weir, const char *text, struct weir_error *err);

/* Opens the object at path; prog: the program by function or section name, NULL: the only or first one. */
WEIR_API int weir_object_open(struct weir *weir, const char *path, const char *prog,
			      struct weir_error *err);
/* Creates maps and programs, applies the queued state, attaches the program to the input ports. */
WEIR_API int weir_object_load(struct weir *weir, struct weir_error *err);

/* State before traffic. Each is checked against BTF where there is any; errors name the map, the field and what
 * was expected. Between weir_object_open and weir_object_load. */

/* "NAME[KEY]=VALUE": numbers, addresses, MACs, hex bytes, {field: value}; port names in devmaps, program names in
 * prog arrays, map names in maps of maps. */
WEIR_API int weir_state_map(struct weir *weir, const char *text, struct weir_error *err);
/* "NAME=VALUE": a variable of .data, .bss or .rodata. */
WEIR_API int weir_state_global(struct weir *weir, const char *text, struct weir_error *err);
/* A file in bpftool's dump format (an object of map name to its entries). */
WEIR_API int weir_state_maps_file(struct weir *weir, const char *path, struct weir_error *err);

/* After load: all maps as JSON in bpftool's dump format, an object of name to entries, typed by BTF. The caller
 * frees *ret_json with free(). */
WEIR_API int weir_maps_dump(struct weir *weir, char **ret_json, struct weir_error *err);
/* Compares the maps with an earlier dump; *ret_different counts the entries that differ, and each is written to
 * `out` in a line when that is not NULL. */
WEIR_API int weir_maps_expect(struct weir *weir, const char *path, FILE *out,
			      uint32_t *ret_different, struct weir_error *err);

#endif
