/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of the configuration file: see config_schema.h. docs/man/weir.yaml.5 describes them. */
#include "ctl/config_schema.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/yaml_lines.h"

#define TEXT(key, type, member)                                                                    \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0,     \
			       CYAML_UNLIMITED)
#define TEXTS(key, type, member)                                                                   \
	CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member,          \
			     &text_value, 0, CYAML_UNLIMITED)
#define GROUP(key, member, fields)                                                                 \
	CYAML_FIELD_MAPPING(key, CYAML_FLAG_OPTIONAL, struct config, member, fields)

static const cyaml_schema_value_t text_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t port_fields[] = {
	TEXT("in", struct config_port, in),
	TEXT("out", struct config_port, out),
	TEXT("port", struct config_port, port),
	TEXT("name", struct config_port, name),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t port_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_port, port_fields),
};

static const cyaml_schema_field_t engine_fields[] = {
	TEXT("type", struct config_engine, type),
	TEXT("prefetch", struct config_engine, prefetch),
	TEXT("prefetch_distance", struct config_engine, prefetch_distance),
	TEXT("burst", struct config_engine, burst),
	TEXT("frames", struct config_engine, frames),
	TEXT("pin", struct config_engine, pin),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t redirect_fields[] = {
	TEXT("flush", struct config_redirect, flush),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t state_fields[] = {
	TEXTS("globals", struct config_state, globals),
	TEXTS("maps", struct config_state, maps),
	TEXTS("files", struct config_state, files),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t run_fields[] = {
	TEXT("for", struct config_run, duration),
	TEXT("count", struct config_run, count),
	TEXT("interval", struct config_run, interval),
	TEXT("control", struct config_run, control),
	TEXT("cpu", struct config_run, cpu),
	TEXT("cpus", struct config_run, cpus),
	TEXT("rx_queue", struct config_run, rx_queue),
	TEXT("time", struct config_run, time),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t config_fields[] = {
	TEXT("object", struct config, object),
	TEXT("program", struct config, program),
	TEXT("btf", struct config, btf),
	TEXT("pin_dir", struct config, pin_dir),
	GROUP("engine", engine, engine_fields),
	GROUP("redirect", redirect, redirect_fields),
	CYAML_FIELD_SEQUENCE("ports", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct config,
			     ports, &port_value, 0, CYAML_UNLIMITED),
	TEXTS("routes", struct config, routes),
	TEXTS("neighbours", struct config, neighbours),
	GROUP("state", state, state_fields),
	GROUP("run", run, run_fields),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t config_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct config, config_fields),
};

/* What libcyaml said: the first message is the reason, the first line number is where. */
struct said {
	char text[256];
	uint32_t line;
};

__attribute__((format(printf, 3, 0))) static void said_add(cyaml_log_t level, void *arg,
							   const char *fmt, va_list ap)
{
	struct said *said = arg;
	char text[256];
	const char *at;

	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	at = strstr(text, "(line: ");
	if (at && !said->line)
		said->line = (uint32_t)strtoul(at + strlen("(line: "), NULL, 10);
	if (!at && !said->text[0])
		snprintf(said->text, sizeof(said->text), "%s",
			 strncmp(text, "Load: ", 6) == 0 ? text + 6 : text);
}

static int schema_failed(const struct said *said, cyaml_err_t code, const char *name,
			 const struct yaml_lines *lines, struct err *err)
{
	static const char unknown[] = "Unexpected key: ", again[] = "Mapping field already seen: ";
	const char *text = said->text[0] ? said->text : cyaml_strerror(code);
	uint32_t line = said->line ? said->line : 1;
	const char *key;

	if (strncmp(text, unknown, strlen(unknown)) == 0) {
		/* libcyaml gives the line of what stands before the key. */
		key = text + strlen(unknown);
		return err_set(err, EINVAL, "%s:%u: unknown key '%s'; weir.yaml(5) lists them",
			       name, yaml_lines_key(lines, key, line), key);
	}
	if (strncmp(text, again, strlen(again)) == 0)
		return err_set(err, EINVAL, "%s:%u: key '%s' is given twice", name, line,
			       text + strlen(again));
	return err_set(err, code == CYAML_ERR_OOM ? ENOMEM : EINVAL, "%s:%u: %c%s", name, line,
		       text[0] | 0x20, text + 1);
}

static const cyaml_config_t *cyaml_settings(cyaml_config_t *config, struct said *said)
{
	*config = (cyaml_config_t){
		.log_fn = said_add,
		.log_ctx = said,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
	};
	return config;
}

int config_parse(struct config **ret, const char *name, const char *text, size_t len,
		 const struct yaml_lines *lines, struct err *err)
{
	struct said said = { 0 };
	cyaml_config_t settings;
	struct config *config = NULL;
	cyaml_err_t code =
		cyaml_load_data((const uint8_t *)text, len, cyaml_settings(&settings, &said),
				&config_value, (cyaml_data_t **)&config, NULL);

	if (code != CYAML_OK)
		return schema_failed(&said, code, name, lines, err);
	if (!config)
		return err_set(err, EINVAL, "%s:1: the file is empty", name);
	*ret = config;
	return 0;
}

void config_free(struct config *config)
{
	struct said said = { 0 };
	cyaml_config_t settings;

	if (config)
		cyaml_free(cyaml_settings(&settings, &said), &config_value, config, 0);
}
