/* SPDX-License-Identifier: BSD-2-Clause */
/* An instance: its life cycle, ports and object, in the order of calls that weir.h gives. */
#include "ctl/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "bpf/jit.h"
#include "ctl/events.h"
#include "ctl/netlink.h"
#include "ctl/state.h"

const char *weir_version(void)
{
	return "0.1.0";
}

void instance_note(struct weir *weir, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!weir->opts.note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	weir->opts.note(weir->opts.note_arg, text);
}

static void note_forward(void *arg, const char *text)
{
	instance_note(arg, "%s", text);
}

static int cpus_apply(const struct weir_opts *opts, struct err *err)
{
	if (opts->cpus) {
		int ret = cpu_count_set(opts->cpus);

		if (ret == -EBUSY && cpu_count() != opts->cpus)
			return err_set(err, EBUSY,
				       "%u CPUs: this process has %u since its first instance",
				       opts->cpus, cpu_count());
		if (ret && ret != -EBUSY)
			return err_set(err, EINVAL, "%u CPUs: the number is from 1 to %d",
				       opts->cpus, CPU_MAX);
	}
	if (opts->cpu >= cpu_count())
		return err_set(err, EINVAL, "cpu %u: there are CPUs 0 to %u; --cpus N makes more",
			       opts->cpu, cpu_count() - 1);
	return 0;
}

/* Copies what the caller's version of the struct has; the rest stays zero. */
static int opts_copy(struct weir *weir, const struct weir_opts *opts, struct err *err)
{
	if (opts->size < offsetof(struct weir_opts, btf))
		return err_set(err, EINVAL,
			       "weir_opts.size is %zu: set it to sizeof(struct weir_opts)",
			       opts->size);
	memcpy(&weir->opts, opts, opts->size < sizeof(*opts) ? opts->size : sizeof(*opts));
	weir->opts.size = sizeof(weir->opts);
	weir->opts.btf = weir->opts.pin_dir = NULL;
	if ((opts->btf && !(weir->opts.btf = strdup(opts->btf))) ||
	    (opts->pin_dir && !(weir->opts.pin_dir = strdup(opts->pin_dir))))
		return err_set(err, ENOMEM, "no memory for an instance");
	return 0;
}

int weir_create(struct weir **ret_weir, const struct weir_opts *opts, struct weir_error *werr)
{
	static const struct weir_opts defaults = { .size = sizeof(defaults) };
	struct err *err = instance_err(werr);
	struct weir *weir = calloc(1, sizeof(*weir));
	int ret;

	if (!weir)
		return err_set(err, ENOMEM, "no memory for an instance");
	ret = opts_copy(weir, opts ? opts : &defaults, err);
	if (!ret)
		ret = cpus_apply(&weir->opts, err);
	if (ret) {
		weir_destroy(weir);
		return ret;
	}
	weir->engine_cfg.cpu = weir->opts.cpu;
	weir->engine_cfg.rx_queue = weir->opts.rx_queue;
	weir->engine_cfg.fixed_time = weir->opts.fixed_time;
	weir->engine_cfg.time_ns = weir->opts.time_ns;
	*ret_weir = weir;
	return 0;
}

void weir_destroy(struct weir *weir)
{
	uint32_t missing;

	if (!weir)
		return;
	if (weir->engine)
		engine_stop(weir->engine);
	netlink_close(weir->netlink);
	events_free(weir->events);
	missing = weir->engine ? engine_destroy(weir->engine) : 0;
	if (missing)
		instance_note(weir, "%u frames were never given back: a defect of weir", missing);
	object_close(weir->object);
	state_free(weir->state);
	free((char *)weir->opts.btf);
	free((char *)weir->opts.pin_dir);
	free(weir->prog_name);
	free(weir->control);
	free(weir->routes);
	free(weir->neighs);
	free(weir);
}

int weir_set(struct weir *weir, const char *key, const char *value, struct weir_error *err)
{
	if (weir->engine)
		return err_set(instance_err(err), EBUSY,
			       "%s: switches are set before the first port", key);
	return settings_apply(&weir->engine_cfg, key, value, instance_err(err));
}

int instance_engine(struct weir *weir, struct err *err)
{
	return weir->engine ? 0 : engine_create(&weir->engine, &weir->engine_cfg, err);
}

/* What the driver got, for people: mode, queues. */
static void port_describe(struct weir *weir, struct port *port)
{
	char text[256] = "";

	if (port->ops->describe)
		port->ops->describe(port, text, sizeof(text));
	if (text[0])
		instance_note(weir, "port %s: %s", port->name, text);
}

static int port_name_set(struct port_spec *spec, const char *name, struct err *err)
{
	if (!*name || strlen(name) >= sizeof(spec->name))
		return err_set(err, EINVAL, "port name '%.80s': from 1 to %zu characters", name,
			       sizeof(spec->name) - 1);
	if (spec->name[0] && strcmp(spec->name, name) != 0)
		return err_set(err, EINVAL, "port %s: its name= says %s", name, spec->name);
	snprintf(spec->name, sizeof(spec->name), "%s", name);
	return 0;
}

/* A capture that is read and written at once would feed itself. */
static int port_check_loop(struct weir *weir, const struct port_spec *spec, bool input,
			   struct err *err)
{
	for (uint32_t i = 0; strcmp(spec->kind, "pcap") == 0 && i < weir->n_files; i++) {
		if (strcmp(weir->files[i].path, spec->arg) == 0 && weir->files[i].input != input)
			return err_set(err, EINVAL,
				       "port %s:%s: the file is input and output at once, a loop; "
				       "write to another file",
				       spec->kind, spec->arg);
	}
	if (strcmp(spec->kind, "pcap") == 0 && weir->n_files < INSTANCE_FILES_MAX) {
		snprintf(weir->files[weir->n_files].path, sizeof(weir->files[0].path), "%s",
			 spec->arg);
		weir->files[weir->n_files++].input = input;
	}
	return 0;
}

int weir_port_add(struct weir *weir, enum weir_port_role role, const char *name, const char *text,
		  struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	struct port_spec spec = { 0 };
	bool input = role == WEIR_PORT_IN;
	struct port *port;
	int ret;

	if (weir->object)
		return err_set(err, EBUSY, "port %s: ports are added before the object is opened",
			       text);
	if (role == WEIR_PORT_EXTRA && !name)
		return err_set(err, EINVAL, "port %s: needs a name, as NAME=%s", text, text);
	ret = port_spec_parse(&spec, text, err);
	if (!ret && name)
		ret = port_name_set(&spec, name, err);
	if (!ret)
		ret = port_check_loop(weir, &spec, input, err);
	if (!ret)
		ret = instance_engine(weir, err);
	if (!ret)
		ret = engine_add_port(weir->engine, &spec, input, &port, err);
	if (ret)
		return ret;
	port_describe(weir, port);
	if (input)
		weir->inputs[weir->n_inputs++] = port;
	else
		weir->n_outputs++;
	return 0;
}

/* Which engine: what was asked for, or the JIT where there is one. */
static enum prog_engine engine_choose(struct weir *weir)
{
	struct err why = { 0 };

	if (weir->opts.engine == WEIR_ENGINE_INTERP)
		return ENGINE_INTERP;
	if (weir->opts.engine == WEIR_ENGINE_JIT || jit_available(&why))
		return ENGINE_JIT;
	instance_note(weir, "interpreting: %s", why.text[0] ? why.text : "there is no JIT");
	return ENGINE_INTERP;
}

int weir_object_open(struct weir *weir, const char *path, const char *prog, struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	struct object_cfg cfg = {
		.btf_path = weir->opts.btf,
		.prog = prog,
		.pin_dir = weir->opts.pin_dir,
		.note = note_forward,
		.note_arg = weir,
	};

	if (weir->object)
		return err_set(err, EBUSY, "%s: the instance has an object already: %s", path,
			       object_path(weir->object));
	if (prog) {
		weir->prog_name = strdup(prog);
		if (!weir->prog_name)
			return err_set(err, ENOMEM, "%s: no memory", path);
	}
	cfg.engine = weir->prog_engine = engine_choose(weir);
	return object_open(&weir->object, path, &cfg, err);
}

/* The kernel's interfaces and routes, when one of the ports is a kernel interface. */
static int world_fill(struct weir *weir, struct err *err)
{
	const struct port *port;

	for (uint32_t i = 0; (port = engine_port_at(weir->engine, i)); i++) {
		if (port->is_kernel_if)
			return netlink_open(&weir->netlink, weir, err);
	}
	return 0;
}

static int progs_attach(struct weir *weir, struct err *err)
{
	weir->prog = object_main_prog(weir->object, err);
	if (!weir->prog)
		return -EINVAL;
	for (uint32_t i = 0; i < weir->n_inputs; i++)
		engine_attach(weir->engine, weir->inputs[i], weir->prog);
	return 0;
}

int weir_object_load(struct weir *weir, struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	int ret;

	if (!weir->object || weir->loaded)
		return err_set(err, EINVAL,
			       weir->loaded ? "the object is loaded already"
					    : "no object was opened");
	ret = instance_engine(weir, err);
	if (!ret)
		ret = state_apply_globals(weir, err);
	if (!ret)
		ret = object_load(weir->object, err);
	if (!ret)
		ret = world_fill(weir, err);
	if (!ret)
		ret = state_apply_maps(weir, err);
	if (!ret)
		ret = progs_attach(weir, err);
	if (!ret)
		ret = events_attach(weir, err);
	if (!ret)
		weir->loaded = true;
	return ret;
}
