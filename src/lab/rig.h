/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rig: one program on one engine with a memory port in front and one behind, to be polled as a worker polls. All
 * engines of a row (native, jit, interp) differ in nothing but the function that runs the program.
 *
 * Threads: one.
 */
#ifndef WEIR_LAB_RIG_H
#define WEIR_LAB_RIG_H

#include "base/err.h"
#include "bpf/prog.h"
#include "engine/engine.h"

struct rig;

enum rig_engine { RIG_NATIVE, RIG_JIT, RIG_INTERP };

struct rig_cfg {
	const char *object; /* name of an object of examples/: "xdp1" */
	const char *native; /* name of its native form; NULL: as object */
	enum rig_engine engine;
	const char *input;  /* PORT: "mem:,len=64,frames=2048" */
	const char *output; /* PORT behind slot 0 of the devmap "tx_port"; NULL: none */
	struct engine_cfg engine_cfg;
};

/* -ENOTSUP with a text when the engine is not there (no JIT in this build, no native module). */
int rig_create(struct rig **ret, const struct rig_cfg *cfg, struct err *err);
void rig_destroy(struct rig *rig);
/* Polls until at least `packets` frames were received; returns how many. For struct measure. */
uint64_t rig_work(void *rig, uint64_t packets);
struct engine *rig_engine(struct rig *rig);

/* The path of an object of examples/: in the build tree, else where it is installed; "" when there is none. */
const char *rig_object_path(const char *name, char *buf, size_t n);

#endif
