/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads suite files: the schema, by libcyaml. See suite.h. */
#include "oracle/suite.h"

#include "ctl/yaml_lines.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONAL (CYAML_FLAG_OPTIONAL)
#define LIST	 (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(type, key)                                                                            \
	CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | OPTIONAL, type, key, 0, CYAML_UNLIMITED)
#define TEXTS(type, key)                                                                           \
	CYAML_FIELD_SEQUENCE(#key, LIST, type, key, &text_schema, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t text_schema = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0,
								     CYAML_UNLIMITED) };

static const cyaml_schema_field_t expect_fields[] = {
	TEXT(struct suite_expect, verdict), TEXT(struct suite_expect, port),
	TEXT(struct suite_expect, error),   TEXT(struct suite_expect, bytes),
	TEXT(struct suite_expect, file),    TEXT(struct suite_expect, maps_file),
	TEXTS(struct suite_expect, maps),   CYAML_FIELD_END,
};

static const cyaml_schema_field_t packet_fields[] = {
	TEXT(struct suite_packet, hex),
	TEXT(struct suite_packet, capture),
	TEXT(struct suite_packet, sample),
	CYAML_FIELD_MAPPING_PTR("expect", CYAML_FLAG_POINTER | OPTIONAL, struct suite_packet,
				expect, expect_fields),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t packet_schema = { CYAML_VALUE_MAPPING(
	CYAML_FLAG_DEFAULT, struct suite_packet, packet_fields) };

static const cyaml_schema_field_t case_fields[] = {
	TEXT(struct suite_case, name),
	TEXT(struct suite_case, object),
	TEXT(struct suite_case, prog),
	TEXT(struct suite_case, btf),
	TEXT(struct suite_case, maps_file),
	TEXTS(struct suite_case, ports),
	TEXTS(struct suite_case, maps),
	TEXTS(struct suite_case, globals),
	TEXTS(struct suite_case, set),
	CYAML_FIELD_UINT("cpu", OPTIONAL, struct suite_case, cpu),
	CYAML_FIELD_UINT("rx_queue", OPTIONAL, struct suite_case, rx_queue),
	CYAML_FIELD_UINT_PTR("time", CYAML_FLAG_POINTER | OPTIONAL, struct suite_case, time),
	CYAML_FIELD_SEQUENCE("packets", LIST, struct suite_case, packets, &packet_schema, 0,
			     CYAML_UNLIMITED),
	CYAML_FIELD_MAPPING_PTR("expect", CYAML_FLAG_POINTER | OPTIONAL, struct suite_case, expect,
				expect_fields),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t case_schema = { CYAML_VALUE_MAPPING(
	CYAML_FLAG_DEFAULT, struct suite_case, case_fields) };

static const cyaml_schema_field_t suite_fields[] = {
	CYAML_FIELD_MAPPING_PTR("defaults", CYAML_FLAG_POINTER | OPTIONAL, struct suite, defaults,
				case_fields),
	CYAML_FIELD_SEQUENCE("cases", CYAML_FLAG_POINTER, struct suite, cases, &case_schema, 1,
			     CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t suite_schema = { CYAML_VALUE_MAPPING(
	CYAML_FLAG_POINTER, struct suite, suite_fields) };

/* What libcyaml says on its way out: the error first, then a line for each level it was in, innermost first. */
struct complaint {
	char error[300];
	char where[200];
};

static void on_log(cyaml_log_t level, void *arg, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void on_log(cyaml_log_t level, void *arg, const char *fmt, va_list ap)
{
	struct complaint *c = arg;
	char line[300], *at;

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = '\0';
	at = strstr(line, "(line: ");
	if (at && !*c->where)
		snprintf(c->where, sizeof(c->where), "%.*s", (int)strcspn(at + 7, ","), at + 7);
	else if (!at && !*c->error && !strstr(line, "Backtrace"))
		snprintf(c->error, sizeof(c->error), "%s",
			 !strncmp(line, "Load: ", 6) ? line + 6 : line);
}

/* libcyaml knows where the mapping of an unknown key begins, not where the key stands. */
static uint32_t key_line(const char *path, const char *key, uint32_t from)
{
	struct yaml_lines *lines = NULL;
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t len = -1;

	if (file)
		len = getdelim(&text, &size, '\0', file);
	if (len > 0 && !yaml_lines_create(&lines, path, text, (size_t)len, NULL))
		from = yaml_lines_key(lines, key, from);
	yaml_lines_destroy(lines);
	free(text);
	if (file)
		fclose(file);
	return from;
}

static int load_error(const char *path, const struct complaint *c, cyaml_err_t error,
		      struct err *err)
{
	static const char unknown[] = "Unexpected key: ";
	uint32_t line = (uint32_t)strtoul(c->where, NULL, 10);

	if (!line)
		line = 1;
	if (strncmp(c->error, unknown, sizeof(unknown) - 1) != 0)
		return err_set(err, EINVAL, "%s:%u: %s", path, line,
			       *c->error ? c->error : cyaml_strerror(error));
	return err_set(err, EINVAL, "%s:%u: unknown key %s: see docs/suite.md for the keys", path,
		       key_line(path, c->error + sizeof(unknown) - 1, line),
		       c->error + sizeof(unknown) - 1);
}

static cyaml_config_t config(struct complaint *complaint)
{
	return (cyaml_config_t){
		.log_fn = on_log,
		.log_ctx = complaint,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_WARNING,
		.flags = CYAML_CFG_NO_ALIAS,
	};
}

/* What the schema cannot say. */
static int check_case(const struct suite *suite, unsigned i, const char *path, struct err *err)
{
	const struct suite_case *c = &suite->cases[i];

	if (!c->name)
		return err_set(err, EINVAL, "%s: case %u has no name", path, i + 1);
	if (!c->object && (!suite->defaults || !suite->defaults->object))
		return err_set(err, EINVAL, "%s: case %s has no object", path, c->name);
	if (!c->packets_count)
		return err_set(err, EINVAL, "%s: case %s has no packets", path, c->name);
	for (unsigned p = 0; p < c->packets_count; p++) {
		const struct suite_packet *packet = &c->packets[p];

		if (!!packet->hex + !!packet->capture + !!packet->sample != 1)
			return err_set(
				err, EINVAL,
				"%s: case %s, packet %u: expected one of hex, capture, sample",
				path, c->name, p + 1);
		if (packet->expect && (packet->expect->maps_count || packet->expect->maps_file ||
				       packet->expect->file))
			return err_set(err, EINVAL,
				       "%s: case %s, packet %u: maps, maps_file and file belong to "
				       "the case's expect",
				       path, c->name, p + 1);
	}
	return 0;
}

int suite_load(struct suite **ret, const char *path, struct err *err)
{
	struct complaint complaint = { "", "" };
	cyaml_config_t cfg = config(&complaint);
	struct suite *suite = NULL;
	cyaml_err_t error;
	int rc = 0;

	error = cyaml_load_file(path, &cfg, &suite_schema, (cyaml_data_t **)&suite, NULL);
	if (error == CYAML_ERR_FILE_OPEN)
		return err_set(err, errno ? errno : ENOENT, "%s: %s", path,
			       strerrordesc_np(errno ? errno : ENOENT));
	if (error != CYAML_OK)
		return load_error(path, &complaint, error, err);
	if (!suite)
		return err_set(err, EINVAL, "%s:1: the file is empty: expected cases: [...]", path);
	for (unsigned i = 0; i < suite->cases_count && !rc; i++)
		rc = check_case(suite, i, path, err);
	if (rc)
		suite_free(suite);
	else
		*ret = suite;
	return rc;
}

void suite_free(struct suite *suite)
{
	struct complaint complaint = { "", "" };
	cyaml_config_t cfg = config(&complaint);

	if (suite)
		cyaml_free(&cfg, &suite_schema, suite, 0);
}
