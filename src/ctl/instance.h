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

enum { INSTANCE_STATE_MAX = 4096 }; /* queued state items: as many --map flags as a command line holds */

struct instance_state; /* queued --map, --maps, --global: src/ctl/state.h */
struct instance_events; /* --events: src/ctl/events.h */

struct weir {
	struct weir_opts opts; /* strings copied */
	struct engine_cfg engine_cfg;
	struct engine *engine; /* made by the first port */
	struct object *object;
	char *prog_name; /* asked for; NULL: none */
	struct prog *prog; /* borrowed from object; NULL before load */
	struct instance_state *state;
	struct instance_events *events;
	enum prog_engine prog_engine;
	uint32_t n_inputs, n_outputs;
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
/* Says a word to the user, through opts.note. */
void instance_note(struct weir *weir, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
