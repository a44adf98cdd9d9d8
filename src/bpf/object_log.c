/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf's log. It names the symbol, map or relocation that its errno value does not; of the lines of a
 * failed call the first warning is the cause and the rest follow from it.
 */
#include "object_impl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

static _Thread_local char first_warning[512], verdict[512];
static _Thread_local bool keeping;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Warnings that say nothing about the object. */
static bool is_noise(const char *line)
{
	return strstr(line, "Error in bpf_create_map_xattr") ||
	       strstr(line, "BPF program load failed") || strstr(line, "PROG LOAD LOG") ||
	       strstr(line, "Failed to bump RLIMIT_MEMLOCK");
}

/* Lines that a verifier's log ends with, after the one that says what is wrong. */
static bool is_summary(const char *line, size_t n)
{
	static const char *const starts[] = { "processed ", "verification time", "stack depth",
					      "max_states", "-- END" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (n >= strlen(starts[i]) && !strncmp(line, starts[i], strlen(starts[i])))
			return true;
	return !n;
}

/* Keeps the last line of a verifier's log that says something. */
static void keep_verdict(const char *log)
{
	for (const char *line = strchr(log, '\n'); line; line = strchr(line, '\n')) {
		size_t n = strcspn(++line, "\n");

		if (!is_summary(line, n))
			snprintf(verdict, sizeof(verdict), "the verifier says: %.*s", (int)n, line);
	}
}

static void keep_warning(const char *text)
{
	size_t n = strcspn(text, "\n");

	if (n && !first_warning[0] && !is_noise(text))
		snprintf(first_warning, sizeof(first_warning), "%.*s", (int)n, text);
}

__attribute__((format(printf, 2, 0))) static int keep_line(enum libbpf_print_level level,
							   const char *fmt, va_list args)
{
	char *text;

	if (!keeping || level != LIBBPF_WARN || vasprintf(&text, fmt, args) < 0)
		return 0;
	if (strstr(text, "BEGIN PROG LOAD LOG"))
		keep_verdict(text);
	else
		keep_warning(strncmp(text, "libbpf: ", 8) ? text : text + 8);
	free(text);
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
	verdict[0] = '\0';
	keeping = true;
}

const char *object_log_end(void)
{
	keeping = false;
	return verdict[0] ? verdict : first_warning;
}
