/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports and programs wired together: names, ifindexes (design 10), the entry in net, the program that runs. Control
 * path; before traffic.
 */
#include "engine/engine_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Ports of memory: their argument is no name. */
static bool kind_is_nameless(const char *kind)
{
	return !strcmp(kind, "mem") || !strcmp(kind, "sample") || !strcmp(kind, "null");
}

struct port *engine_port_by_name(struct engine *engine, const char *name)
{
	for (uint32_t i = 0; i < engine->n_ports; i++)
		if (!strcmp(engine->ports[i].port->name, name))
			return engine->ports[i].port;
	return NULL;
}

struct port *engine_port_by_ifindex(struct engine *engine, uint32_t ifindex)
{
	for (uint32_t i = 0; i < engine->n_ports; i++)
		if (engine->ports[i].port->ifindex == ifindex)
			return engine->ports[i].port;
	return NULL;
}

struct port *engine_port_at(struct engine *engine, uint32_t i)
{
	return i < engine->n_ports ? engine->ports[i].port : NULL;
}

struct prog *engine_port_prog(struct engine *engine, const struct port *port)
{
	return engine->ports[port->id].prog;
}

/* "in", "in2", ... for inputs; "out1", "out2", ... for the rest: the first that is free. */
static void name_by_role(struct engine *engine, struct port *port, bool input)
{
	for (uint32_t i = 1; i <= ENGINE_PORTS_MAX; i++) {
		if (input && i == 1)
			snprintf(port->name, sizeof(port->name), "in");
		else
			snprintf(port->name, sizeof(port->name), "%s%u", input ? "in" : "out", i);
		if (!engine_port_by_name(engine, port->name))
			return;
	}
}

/* A path that is too long for a name is named after its file. */
static const char *name_in_arg(const char *arg)
{
	const char *slash = strrchr(arg, '/');

	return strlen(arg) < PORT_NAME_LEN || !slash ? arg : slash + 1;
}

static int name_port(struct engine *engine, struct port *port, const struct port_spec *spec,
		     bool input, struct err *err)
{
	const char *name = spec->name[0] ? spec->name : name_in_arg(spec->arg);
	const struct port *other;

	if (!spec->name[0] && (!name[0] || kind_is_nameless(spec->kind))) {
		name_by_role(engine, port, input);
		return 0;
	}
	if (strlen(name) >= PORT_NAME_LEN)
		return err_set(err, ENAMETOOLONG,
			       "port %s:%s: too long for a name, give it a short one with name=",
			       spec->kind, spec->arg);
	other = engine_port_by_name(engine, name);
	if (other)
		return err_set(
			err, EEXIST,
			"port %s:%s: port %u is named %s already, give this one another with name=",
			spec->kind, spec->arg, other->id + 1, name);
	snprintf(port->name, sizeof(port->name), "%.*s", PORT_NAME_LEN - 1, name);
	return 0;
}

static bool ifindex_is_free(struct engine *engine, uint32_t ifindex)
{
	return !engine_port_by_ifindex(engine, ifindex) && !net_if_by_index(engine->net, ifindex);
}

static int number_port(struct engine *engine, struct port *port, const struct port_spec *spec,
		       struct err *err)
{
	uint32_t ifindex = spec->ifindex;
	const struct port *other;

	if (!ifindex && port->is_kernel_if)
		ifindex = port->ifindex;
	if (!ifindex)
		for (ifindex = 1; !ifindex_is_free(engine, ifindex); ifindex++)
			;
	other = engine_port_by_ifindex(engine, ifindex);
	if (other)
		return err_set(err, EEXIST,
			       "port %s: ifindex %u belongs to port %s, give another with ifindex=",
			       port->name, ifindex, other->name);
	port->ifindex = ifindex;
	return 0;
}

/* Enters the port in net; an interface that is there already keeps what only the kernel knows. */
static int enter_net(struct engine *engine, const struct port *port, struct err *err)
{
	const struct net_if *old = net_if_by_index(engine->net, port->ifindex);
	struct net_if nif = { .forwarding4 = true, .forwarding6 = true };
	struct net_edit *edit;
	int rc;

	if (old)
		nif = *old;
	nif.ifindex = port->ifindex;
	nif.mtu = port->mtu;
	nif.n_rx_queues = port->n_rx_queues;
	nif.up = port->up;
	nif.can_xmit = port->can_tx;
	nif.port_id = port->id;
	memcpy(nif.mac, port->mac, sizeof(nif.mac));
	snprintf(nif.name, sizeof(nif.name), "%.*s", NET_IF_NAME - 1, port->name);
	edit = net_edit_begin(engine->net);
	if (!edit)
		return err_set(err, ENOMEM, "port %s: no memory", port->name);
	rc = net_edit_if(edit, &nif);
	if (!rc)
		return net_edit_commit(edit);
	net_edit_commit(edit);
	return rc;
}

int wiring_take_port(struct engine *engine, struct port *port, const struct port_spec *spec,
		     bool input, struct err *err)
{
	struct wired *wired = &engine->ports[engine->n_ports];
	int rc;

	if (engine->n_ports == ENGINE_PORTS_MAX) {
		rc = err_set(err, ENOSPC,
			     "port %s:%s: there are %u ports already, the most there can be",
			     spec->kind, spec->arg, ENGINE_PORTS_MAX);
		goto err_close;
	}
	if (input && !port->can_rx) {
		rc = err_set(err, EINVAL, "port %s:%s: cannot receive, use it as an output",
			     spec->kind, spec->arg);
		goto err_close;
	}
	rc = name_port(engine, port, spec, input, err);
	if (!rc)
		rc = number_port(engine, port, spec, err);
	port->id = engine->n_ports;
	if (!rc)
		rc = enter_net(engine, port, err);
	if (rc)
		goto err_close;
	*wired = (struct wired){ .port = port, .id = port->id, .input = input };
	wired->rx_queue = port->is_kernel_if ? 0 : engine->cfg.rx_queue;
	wired->run = worker_choose_run(engine, NULL);
	engine->worker->queues[port->id].to = wired;
	engine->n_inputs += input;
	engine->n_ports++;
	return 0;
err_close:
	port_close(port);
	return rc;
}

int engine_add_port(struct engine *engine, struct port_spec *spec, bool input, struct port **ret,
		    struct err *err)
{
	struct port *port;
	/* Drivers need to know which way frames go: a capture is read or written. */
	int rc = port_spec_set(spec, "dir", input ? "in" : "out", err);

	if (!rc)
		rc = port_open(&port, spec, engine->pool, err);
	if (!rc)
		rc = wiring_take_port(engine, port, spec, input, err);
	if (!rc)
		*ret = port;
	return rc;
}

void engine_attach(struct engine *engine, struct port *port, struct prog *prog)
{
	struct wired *wired = &engine->ports[port->id];
	struct prog *old = wired->prog;

	wired->prog = prog ? prog_get(prog) : NULL;
	wired->run = worker_choose_run(engine, prog);
	if (old)
		prog_put(old);
}
