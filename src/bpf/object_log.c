/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf's log. It names the symbol, map or relocation that its errno value does not; of the lines of a
 * failed call the first warning is the cause and the rest follow from it.
 */
#include "object_impl.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

static _Thread_local char first_warning[512];
static _Thread_local bool keeping;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Warnings that say nothing about the object. */
static bool is_noise(const char *line)
{
	return strstr(line, "Error in bpf_create_map_xattr") ||
	       strstr(line, "BPF program load failed") || strstr(line, "PROG LOAD LOG") ||
	       strstr(line, "Failed to bump RLIMIT_MEMLOCK");
}

__attribute__((format(printf, 2, 0))) static int keep_line(enum libbpf_print_level level,
							   const char *fmt, va_list args)
{
	char line[sizeof(first_warning)];
	const char *text = line;
	size_t n;

	if (!keeping || level != LIBBPF_WARN || first_warning[0])
		return 0;
	vsnprintf(line, sizeof(line), fmt, args);
	if (!strncmp(text, "libbpf: ", 8))
		text += 8;
	n = strcspn(text, "\n");
	if (n && !is_noise(text))
		snprintf(first_warning, sizeof(first_warning), "%.*s", (int)n, text);
	return 0;
}

static void set_print(void)
{
	libbpf_set_print(keep_line);
}

void object_log_begin(void)
{
	pthread_once(&once, set_print);
	first_warning[0] = '\0';
	keeping = true;
}

const char *object_log_end(void)
{
	keeping = false;
	return first_warning;
}
