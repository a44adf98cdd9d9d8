/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the case files: see cases.h. */
#include "cases.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LEN = 64 };

struct reader {
	struct isa_case *cases;
	size_t n;
	bool in_text;
};

static struct isa_case *current(struct reader *r)
{
	return r->n ? &r->cases[r->n - 1] : NULL;
}

static bool begin_case(struct reader *r, const char *name)
{
	struct isa_case *more = reallocarray(r->cases, r->n + 1, sizeof(*more));

	if (!more)
		return false;
	r->cases = more;
	memset(&more[r->n], 0, sizeof(*more));
	snprintf(more[r->n].name, sizeof(more[r->n].name), "%.*s", (int)sizeof(more[r->n].name) - 1,
		 name);
	more[r->n].mem_len = DEFAULT_LEN;
	for (uint32_t i = 0; i < DEFAULT_LEN; i++)
		more[r->n].mem[i] = (uint8_t)i;
	r->n++;
	r->in_text = false;
	return true;
}

static uint32_t parse_hex(uint8_t *out, const char *s)
{
	uint32_t n = 0;
	unsigned int byte;
	int used;

	while (n < CASE_PACKET && sscanf(s, "%2x%n", &byte, &used) == 1) {
		out[n++] = (uint8_t)byte;
		s += used;
	}
	return n;
}

static bool begin_text(struct reader *r, int kind)
{
	current(r)->kind = (__typeof__(current(r)->kind))kind;
	r->in_text = true;
	return true;
}

/* A line `-- word rest`. */
static bool do_section(struct reader *r, const char *word, const char *rest)
{
	struct isa_case *c = current(r);

	r->in_text = false;
	if (!strcmp(word, "asm"))
		return begin_text(r, CASE_ASM);
	if (!strcmp(word, "raw"))
		return begin_text(r, CASE_RAW);
	if (!strcmp(word, "table"))
		return begin_text(r, CASE_TABLE);
	if (!strcmp(word, "mem")) {
		c->mem_len = parse_hex(c->mem, rest);
	} else if (!strcmp(word, "out")) {
		c->out_len = parse_hex(c->out, rest);
		c->has_out = true;
	} else if (!strcmp(word, "result")) {
		c->result =
			*rest == '-' ? (uint64_t)strtoll(rest, NULL, 0) : strtoull(rest, NULL, 0);
		c->has_result = true;
	} else if (!strcmp(word, "fault")) {
		snprintf(c->fault, sizeof(c->fault), "%s", rest);
	} else if (!strcmp(word, "error")) {
		snprintf(c->error, sizeof(c->error), "%s", rest);
	} else if (!strcmp(word, "nokernel")) {
		c->no_kernel = true;
	} else {
		return false;
	}
	return true;
}

static bool do_line(struct reader *r, char *line)
{
	char word[32] = "";
	struct isa_case *c;
	int used = 0;

	line[strcspn(line, "\n")] = '\0';
	if (!*line || *line == '#')
		return true;
	if (!strncmp(line, "== ", 3))
		return begin_case(r, line + 3);
	c = current(r);
	if (!c)
		return false;
	if (sscanf(line, "-- %31s %n", word, &used) == 1)
		return do_section(r, word, line + used);
	if (!r->in_text || strlen(c->text) + strlen(line) + 2 > CASE_TEXT)
		return false;
	strcat(c->text, line);
	strcat(c->text, "\n");
	return true;
}

static bool read_file(struct reader *r, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256];
	int number = 0;
	bool good = f;

	while (good && fgets(line, sizeof(line), f)) {
		number++;
		good = do_line(r, line);
	}
	if (!good)
		fprintf(stderr, "%s:%d: does not parse\n", path, number);
	if (f)
		fclose(f);
	return good;
}

struct isa_case *cases_read(const char *dir, size_t *n)
{
	struct reader r = { 0 };
	bool good = true;
	char pattern[512];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s/*.data", dir);
	if (glob(pattern, 0, NULL, &files)) {
		fprintf(stderr, "%s: no such files\n", pattern);
		return NULL;
	}
	for (size_t i = 0; i < files.gl_pathc && good; i++)
		good = read_file(&r, files.gl_pathv[i]);
	globfree(&files);
	if (!good) {
		free(r.cases);
		return NULL;
	}
	*n = r.n;
	return r.cases;
}
