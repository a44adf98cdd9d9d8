/* SPDX-License-Identifier: BSD-2-Clause */
/* One program between two memory ports: see rig.h. */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/load.h"
#include "lab/native.h"

struct rig {
	struct engine *engine;
	struct object *object;
	struct port *in, *out;
};

const char *rig_object_path(const char *name, char *buf, size_t n)
{
	static const char *const dirs[] = { WEIR_EXAMPLES_BUILD, WEIR_EXAMPLES_INSTALLED };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(buf, n, "%s/%s.o", dirs[i], name);
		if (!access(buf, R_OK))
			return buf;
	}
	buf[0] = '\0';
	return buf;
}

static int add_port(struct rig *rig, const char *text, bool input, struct port **ret,
		    struct err *err)
{
	struct port_spec spec;
	int rc = port_spec_parse(&spec, text, err);

	return rc ? rc : engine_add_port(rig->engine, &spec, input, ret, err);
}

static int load(struct rig *rig, const struct rig_cfg *cfg, struct err *err)
{
	struct object_cfg object_cfg = {
		.engine = cfg->engine == RIG_JIT ? ENGINE_JIT : ENGINE_INTERP,
	};
	char path[4096];
	int rc;

	if (!rig_object_path(cfg->object, path, sizeof(path))[0])
		return err_set(err, ENOENT,
			       "examples/%s.o was not built: clang-19 was missing when weir was "
			       "configured",
			       cfg->object);
	rc = object_open(&rig->object, path, &object_cfg, err);
	return rc ? rc : object_load(rig->object, err);
}

static int fill_devmap(struct rig *rig, struct err *err)
{
	struct map *map = object_map(rig->object, "tx_port");
	uint32_t key = 0;
	int rc;

	if (!map || !rig->out)
		return 0;
	rc = map_sys_update(map, &key, &rig->out->ifindex, 0);
	return rc ? err_set(err, -rc, "tx_port[0]: %s", errno_name(rc)) : 0;
}

int rig_create(struct rig **ret, const struct rig_cfg *cfg, struct err *err)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct prog *prog;
	int rc;

	if (!rig)
		return err_set(err, ENOMEM, "no memory for a benchmark");
	rc = engine_create(&rig->engine, &cfg->engine_cfg, err);
	if (!rc)
		rc = add_port(rig, cfg->input, true, &rig->in, err);
	if (!rc && cfg->output)
		rc = add_port(rig, cfg->output, false, &rig->out, err);
	if (!rc)
		rc = load(rig, cfg, err);
	if (rc)
		goto err_rig;
	prog = object_main_prog(rig->object, err);
	rc = prog ? fill_devmap(rig, err) : -ENOENT;
	if (!rc && cfg->engine == RIG_NATIVE)
		rc = native_bind(prog, rig->object, cfg->native ? cfg->native : cfg->object, err);
	if (rc)
		goto err_rig;
	engine_attach(rig->engine, rig->in, prog);
	*ret = rig;
	return 0;

err_rig:
	rig_destroy(rig);
	return rc;
}

void rig_destroy(struct rig *rig)
{
	if (!rig)
		return;
	if (rig->engine)
		engine_destroy(rig->engine);
	if (rig->object)
		object_close(rig->object);
	free(rig);
}

uint64_t rig_work(void *arg, uint64_t packets)
{
	struct rig *rig = arg;
	uint64_t done = 0;

	while (done < packets) {
		uint32_t n = engine_poll(rig->engine);

		if (!n)
			return 0; /* an endless source has always something */
		done += n;
	}
	return done;
}

struct engine *rig_engine(struct rig *rig)
{
	return rig->engine;
}
