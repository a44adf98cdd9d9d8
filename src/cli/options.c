/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a command, by a table: see options.h. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <weir/run.h>

#include "cli/command.h"

enum { LONG_BASE = 256, HELP_VALUE = LONG_BASE + OPTIONS_MAX };

int options_misuse(const struct command *cmd, const char *fmt, ...)
{
	va_list ap;

	fputs("weir: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see `weir %s --help`\n", cmd->name);
	return EXIT_MISUSE;
}

static int bad_value(const struct command *cmd, const struct option_def *def, const char *text,
		     const char *wanted)
{
	options_misuse(cmd, "--%s: '%s' is not %s", def->name, text, wanted);
	return -EINVAL;
}

static int number_parse(const char *text, uint64_t max, uint64_t *ret)
{
	char *end;
	uint64_t value;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || value > max)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int engine_parse(const char *text, int *ret)
{
	static const struct {
		const char *name;
		enum weir_engine engine;
	} engines[] = {
		{ "auto", WEIR_ENGINE_AUTO },
		{ "interp", WEIR_ENGINE_INTERP },
		{ "jit", WEIR_ENGINE_JIT },
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strcmp(text, engines[i].name) == 0) {
			*ret = (int)engines[i].engine;
			return 0;
		}
	}
	return -EINVAL;
}

static int item_append(const struct command *cmd, const struct option_def *def, const char *text,
		       struct option_items *items)
{
	if (items->n == OPTION_ITEMS_MAX) {
		options_misuse(cmd, "--%s: more than %d repeated options", def->name,
			       OPTION_ITEMS_MAX);
		return -EINVAL;
	}
	items->at[items->n].item = def->item;
	items->at[items->n++].value = text;
	return 0;
}

static int time_parse(const char *text, struct option_time *ret)
{
	struct weir_error err;

	ret->set = true;
	return weir_duration_parse(text, 1, &ret->ns, &err);
}

static int value_set(const struct command *cmd, const struct option_def *def, const char *text,
		     void *where)
{
	struct weir_error err;
	uint64_t number;

	switch (def->kind) {
	case OPTION_FLAG:
		*(bool *)where = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)where = text;
		return 0;
	case OPTION_ITEM:
		return item_append(cmd, def, text, where);
	case OPTION_U32:
		if (number_parse(text, UINT32_MAX, &number))
			return bad_value(cmd, def, text, "a number below 2^32");
		*(uint32_t *)where = (uint32_t)number;
		return 0;
	case OPTION_U64:
		if (number_parse(text, UINT64_MAX, where))
			return bad_value(cmd, def, text, "a number");
		return 0;
	case OPTION_DURATION:
		if (weir_duration_parse(text, 1000000000, where, &err))
			return bad_value(cmd, def, text, "a duration such as 10s, 500ms or 2m");
		return 0;
	case OPTION_TIME:
		if (time_parse(text, where))
			return bad_value(cmd, def, text, "a time in ns, or with a unit as 10s");
		return 0;
	case OPTION_ENGINE:
		if (engine_parse(text, where))
			return bad_value(cmd, def, text, "an engine: auto, interp or jit");
		return 0;
	}
	return -EINVAL;
}

/* getopt's tables from ours; returns the number of rows. */
static int tables_make(const struct option_def *defs, struct option *longs, char *shorts)
{
	int n = 0;

	*shorts++ = ':';
	for (; defs[n].name && n < OPTIONS_MAX; n++) {
		longs[n] =
			(struct option){ .name = defs[n].name,
					 .has_arg = defs[n].arg ? required_argument : no_argument,
					 .val = LONG_BASE + n };
		if (!defs[n].letter)
			continue;
		*shorts++ = defs[n].letter;
		if (defs[n].arg)
			*shorts++ = ':';
	}
	longs[n] = (struct option){ .name = "help", .val = HELP_VALUE };
	*shorts++ = 'h';
	*shorts = '\0';
	return n;
}

static const struct option_def *row_of(const struct option_def *defs, int n, int got)
{
	if (got >= LONG_BASE)
		return &defs[got - LONG_BASE];
	for (int i = 0; i < n; i++) {
		if (defs[i].letter == got)
			return &defs[i];
	}
	return NULL;
}

/* What getopt did not like. */
static int not_understood(const struct command *cmd, int got, char **argv)
{
	const char *text = argv[optind - 1];

	if (got == ':')
		options_misuse(cmd, "%s needs a value", text);
	else if (optopt && optopt < LONG_BASE)
		options_misuse(cmd, "unknown option -%c", optopt);
	else if (optopt)
		options_misuse(cmd, "%s takes no value", text);
	else
		options_misuse(cmd, "unknown or ambiguous option %s", text);
	return -EINVAL;
}

int options_parse(const struct command *cmd, int argc, char **argv, void *args)
{
	struct option longs[OPTIONS_MAX + 2] = { 0 };
	char shorts[2 * OPTIONS_MAX + 4];
	int n = tables_make(cmd->options, longs, shorts);
	int got, ret;

	opterr = 0;
	optind = 0; /* glibc: start afresh, for the tests call this more than once */
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_def *def;

		if (got == 'h' || got == HELP_VALUE) {
			options_usage(cmd, stdout);
			return OPTIONS_HELP;
		}
		if (got == '?' || got == ':')
			return not_understood(cmd, got, argv);
		def = row_of(cmd->options, n, got);
		if (!def)
			return -EINVAL;
		ret = value_set(cmd, def, optarg, (char *)args + def->offset);
		if (ret)
			return ret;
	}
	return optind;
}

static void synopsis_print(const struct command *cmd, FILE *out)
{
	const char *line = cmd->synopsis;
	const char *lead = "usage:";

	while (line) {
		const char *end = strchr(line, '\n');
		int len = end ? (int)(end - line) : (int)strlen(line);

		fprintf(out, "%-6s weir %s %.*s\n", lead, cmd->name, len, line);
		lead = "";
		line = end ? end + 1 : NULL;
	}
}

void options_usage(const struct command *cmd, FILE *out)
{
	synopsis_print(cmd, out);
	fprintf(out, "\n%s\n\n", cmd->summary);
	for (const struct option_def *def = cmd->options; def->name; def++) {
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", def->name, def->arg ? " " : "",
			 def->arg ? def->arg : "");
		if (def->letter)
			fprintf(out, "  -%c, %-24s %s\n", def->letter, left, def->help);
		else
			fprintf(out, "      %-24s %s\n", left, def->help);
	}
	fprintf(out, "  -h, %-24s %s\n", "--help", "this text");
}
