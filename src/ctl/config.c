/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `weir run -c FILE`: what the file's keys say, done by the calls that a command line leads to. Errors in the file
 * begin with FILE:LINE and are -EINVAL; what else fails has another errno value.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/run.h>

#include "ctl/config_schema.h"
#include "ctl/instance.h"
#include "ctl/yaml_lines.h"

enum { CONFIG_SIZE_MAX = 4 << 20 }; /* bytes: a larger file is no configuration */

struct load {
	const char *path;
	char *text;
	size_t len;
	struct yaml_lines *lines;
	struct config *config;
	struct weir *weir;
	struct weir_error *err;
};

static int file_read(struct load *l, struct err *err)
{
	int fd = open(l->path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", l->path, strerror(errno));
	l->text = malloc(CONFIG_SIZE_MAX);
	while (l->text && n > 0 && l->len < CONFIG_SIZE_MAX) {
		n = read(fd, l->text + l->len, CONFIG_SIZE_MAX - l->len);
		if (n > 0)
			l->len += (size_t)n;
	}
	if (n < 0) {
		int code = err_set(err, errno, "%s: %s", l->path, strerror(errno));

		close(fd);
		return code;
	}
	close(fd);
	if (!l->text)
		return err_set(err, ENOMEM, "%s: no memory", l->path);
	if (l->len == CONFIG_SIZE_MAX)
		return err_set(err, EINVAL, "%s:1: larger than 4 MiB: no configuration", l->path);
	return 0;
}

/* Puts FILE:LINE in front of the text; what the file says wrongly is -EINVAL. */
static int at_line(struct load *l, int ret, const char *a, const char *b, int index)
{
	int code = ret == -EEXIST || ret == -ENAMETOOLONG || ret == -E2BIG ? -EINVAL : ret;

	if (!ret)
		return 0;
	err_prefix(instance_err(l->err), -code, "%s:%u", l->path,
		   yaml_lines_find(l->lines, a, b, index));
	return code;
}

static int wrong(struct load *l, const char *text, const char *a, const char *b, int index)
{
	return at_line(l, err_set(instance_err(l->err), EINVAL, "%s", text), a, b, index);
}

static int number_get(struct load *l, const char *key, const char *text, uint64_t max,
		      uint64_t *ret)
{
	char *end;
	unsigned long long value;

	if (!text)
		return 0;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || text[0] < '0' || text[0] > '9' || value > max) {
		err_set(instance_err(l->err), EINVAL, "run.%s: '%s' is not a number up to %llu",
			key, text, (unsigned long long)max);
		return at_line(l, -EINVAL, "run", key, -1);
	}
	*ret = value;
	return 0;
}

static int duration_get(struct load *l, const char *key, const char *text, uint64_t unit_ns,
			uint64_t *ret)
{
	int code = text ? weir_duration_parse(text, unit_ns, ret, l->err) : 0;

	return code ? at_line(l, code, "run", key, -1) : 0;
}

static int engine_get(struct load *l, const char *text, enum weir_engine *ret)
{
	if (!text || *ret != WEIR_ENGINE_AUTO) /* the command line's has precedence */
		return 0;
	if (strcmp(text, "jit") == 0)
		*ret = WEIR_ENGINE_JIT;
	else if (strcmp(text, "interp") == 0)
		*ret = WEIR_ENGINE_INTERP;
	else if (strcmp(text, "auto") != 0)
		return wrong(l, "engine.type is auto, interp or jit", "engine", "type", -1);
	return 0;
}

/* The options of weir_create; base's callbacks and what the command line set stay. */
static int opts_get(struct load *l, const struct weir_opts *base, struct weir_opts *opts)
{
	const struct config *c = l->config;
	uint64_t cpu = base->cpu, cpus = base->cpus, rx_queue = base->rx_queue;
	int ret;

	*opts = *base;
	if (!opts->btf)
		opts->btf = c->btf;
	if (!opts->pin_dir)
		opts->pin_dir = c->pin_dir;
	ret = engine_get(l, c->engine.type, &opts->engine);
	if (!ret && !cpu)
		ret = number_get(l, "cpu", c->run.cpu, UINT32_MAX, &cpu);
	if (!ret && !cpus)
		ret = number_get(l, "cpus", c->run.cpus, UINT32_MAX, &cpus);
	if (!ret && !rx_queue)
		ret = number_get(l, "rx_queue", c->run.rx_queue, UINT32_MAX, &rx_queue);
	if (!ret && !opts->fixed_time) {
		ret = duration_get(l, "time", c->run.time, 1, &opts->time_ns);
		opts->fixed_time = c->run.time;
	}
	opts->cpu = (uint32_t)cpu;
	opts->cpus = (uint32_t)cpus;
	opts->rx_queue = (uint32_t)rx_queue;
	return ret;
}

/* control: is kept by the instance, since the options outlive the file's text. */
static int run_opts_get(struct load *l, struct weir_run_opts *opts)
{
	const struct config_run *r = &l->config->run;
	int ret = duration_get(l, "for", r->duration, 1000000000, &opts->duration_ns);

	if (!ret)
		ret = number_get(l, "count", r->count, UINT64_MAX, &opts->count);
	if (!ret)
		ret = duration_get(l, "interval", r->interval, 1000000000, &opts->interval_ns);
	if (!ret && r->control) {
		l->weir->control = strdup(r->control);
		if (!l->weir->control)
			return err_set(instance_err(l->err), ENOMEM, "%s: no memory", l->path);
		opts->control = l->weir->control;
	}
	return ret;
}

static int settings_set(struct load *l)
{
	const struct config *c = l->config;
	const struct {
		const char *group, *key, *value;
	} set[] = {
		{ "redirect", "flush", c->redirect.flush },
		{ "engine", "prefetch", c->engine.prefetch },
		{ "engine", "prefetch_distance", c->engine.prefetch_distance },
		{ "engine", "burst", c->engine.burst },
		{ "engine", "frames", c->engine.frames },
		{ "engine", "pin", c->engine.pin },
	};
	char key[64];

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		int ret;

		if (!set[i].value)
			continue;
		snprintf(key, sizeof(key), "%s.%s", set[i].group, set[i].key);
		ret = weir_set(l->weir, key, set[i].value, l->err);
		if (ret)
			return at_line(l, ret, set[i].group, set[i].key, -1);
	}
	return 0;
}

static int port_add(struct load *l, int i)
{
	const struct config_port *p = &l->config->ports[i];
	enum weir_port_role role = p->in ? WEIR_PORT_IN : p->out ? WEIR_PORT_OUT : WEIR_PORT_EXTRA;
	const char *spec = p->in ? p->in : p->out ? p->out : p->port;
	int ret;

	if (!!p->in + !!p->out + !!p->port != 1)
		return wrong(l, "a port has one of in:, out:, port:", "ports", NULL, i);
	if (p->port && !p->name)
		return wrong(l, "port: needs name: beside it", "ports", NULL, i);
	ret = weir_port_add(l->weir, role, p->name, spec, l->err);
	return at_line(l, ret, "ports", NULL, i);
}

static int ports_add(struct load *l)
{
	for (uint32_t i = 0; i < l->config->ports_count; i++) {
		int ret = port_add(l, (int)i);

		if (ret)
			return ret;
	}
	return l->weir->n_inputs ? 0 : wrong(l, "no port has in:", "ports", NULL, -1);
}

typedef int (*text_fn)(struct weir *weir, const char *text, struct weir_error *err);

/* One call for each text of the list at `a`, or at its key `b`. */
static int texts_apply(struct load *l, const char *a, const char *b, char **texts, uint32_t n,
		       text_fn fn)
{
	for (uint32_t i = 0; i < n; i++) {
		int ret = fn(l->weir, texts[i], l->err);

		if (ret)
			return at_line(l, ret, a, b, (int)i);
	}
	return 0;
}

/* A bad object is no mistake in the file. */
static int object_failed(int ret)
{
	return ret == -EINVAL ? -ENOEXEC : ret;
}

static int object_set(struct load *l)
{
	const struct config *c = l->config;
	const struct config_state *s = &c->state;
	int ret;

	if (!c->object)
		return wrong(l, "object: is missing", "object", NULL, -1);
	ret = weir_object_open(l->weir, c->object, c->program, l->err);
	if (ret)
		return object_failed(ret);
	ret = texts_apply(l, "state", "globals", s->globals, s->globals_count, weir_state_global);
	if (!ret)
		ret = texts_apply(l, "state", "files", s->files, s->files_count,
				  weir_state_maps_file);
	if (!ret)
		ret = texts_apply(l, "state", "maps", s->maps, s->maps_count, weir_state_map);
	return ret ? ret : object_failed(weir_object_load(l->weir, l->err));
}

static int load_all(struct load *l, const struct weir_opts *base, struct weir_run_opts *run_opts)
{
	struct err *err = instance_err(l->err);
	struct weir_opts opts;
	int ret = file_read(l, err);

	if (!ret)
		ret = yaml_lines_create(&l->lines, l->path, l->text, l->len, err);
	if (!ret)
		ret = config_parse(&l->config, l->path, l->text, l->len, l->lines, err);
	if (!ret)
		ret = opts_get(l, base, &opts);
	if (!ret)
		ret = weir_create(&l->weir, &opts, l->err);
	if (!ret)
		ret = run_opts_get(l, run_opts);
	if (!ret)
		ret = settings_set(l);
	if (!ret)
		ret = ports_add(l);
	if (!ret)
		ret = texts_apply(l, "routes", NULL, l->config->routes, l->config->routes_count,
				  weir_route_add);
	if (!ret)
		ret = texts_apply(l, "neighbours", NULL, l->config->neighbours,
				  l->config->neighbours_count, weir_neigh_add);
	return ret ? ret : object_set(l);
}

int weir_config_load(struct weir **ret_weir, const char *path, const struct weir_opts *base,
		     struct weir_run_opts *opts, struct weir_error *err)
{
	static const struct weir_opts defaults = { .size = sizeof(defaults) };
	struct load l = { .path = path, .err = err };
	int ret = load_all(&l, base ? base : &defaults, opts);

	config_free(l.config);
	yaml_lines_destroy(l.lines);
	free(l.text);
	if (ret)
		weir_destroy(l.weir);
	else
		*ret_weir = l.weir;
	return ret;
}
