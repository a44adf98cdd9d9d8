/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The insides of struct weir, for ctl, oracle and lab. See include/weir/weir.h for what it is.
 *
 * Threads: one at a time, but for `stop`, which a signal handler may set.
 */
#ifndef WEIR_CTL_INSTANCE_H
#define WEIR_CTL_INSTANCE_H

#include "base/err.h"
#include "bpf/load.h"
#include "engine/engine.h"

#include <signal.h>
#include <weir/weir.h>

enum {
	INSTANCE_STATE_MAX =
		4096, /* queued state items: as many --map flags as a command line holds */
	INSTANCE_FILES_MAX = ENGINE_PORTS_MAX, /* capture files among the ports */
};

struct instance_state;	/* queued --map, --maps, --global: src/ctl/state.h */
struct instance_events; /* --events: src/ctl/events.h */
struct netlink;		/* the kernel's interfaces and routes: src/ctl/netlink.h */

struct weir {
	struct weir_opts opts; /* strings copied */
	struct engine_cfg engine_cfg;
	struct engine *engine; /* made by the first port */
	struct object *object;
	char *prog_name;   /* asked for; NULL: none */
	struct prog *prog; /* borrowed from object; NULL before load */
	struct instance_state *state;
	struct instance_events *events;
	struct netlink *netlink; /* NULL: no port is a kernel interface */
	enum prog_engine prog_engine;
	uint32_t n_inputs, n_outputs;
	struct port *inputs[ENGINE_PORTS_MAX]; /* borrowed from engine */
	char *control; /* the socket that a configuration file names; NULL: none */
	/* What --route and --neigh gave, so that a refresh from the kernel can add it again. */
	struct net_route *routes;
	struct net_neigh *neighs;
	uint32_t n_routes, n_neighs;
	uint32_t n_files; /* captures, to find one that is read and written */
	struct {
		char path[256];
		bool input;
	} files[INSTANCE_FILES_MAX];
	bool loaded;
	volatile sig_atomic_t stop;
	uint64_t run_ns; /* how long the last run took */
};

/* Errors of the library's insides (struct err) and of its API have the same layout on purpose. */
static inline struct err *instance_err(struct weir_error *err)
{
	_Static_assert(sizeof(struct err) == sizeof(struct weir_error), "same layout");
	return (struct err *)err;
}

/* The engine, made on first use. */
int instance_engine(struct weir *weir, struct err *err);
/* "redirect.flush" = "packet", into weir->engine_cfg: settings.c. */
int settings_apply(struct engine_cfg *cfg, const char *key, const char *value, struct err *err);
/* Says a word to the user, through opts.note. */
void instance_note(struct weir *weir, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
