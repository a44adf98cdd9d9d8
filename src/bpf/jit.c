/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening the JIT module, and giving it the functions of this executable: see jit.h and jit/module.h. */
#include "bpf/jit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/jit/module.h"
#include "bpf/region.h"
#include "maps/prog_array.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct jit_module *module;
static struct err why; /* the module is not there */

/* region_check is inline: the module wants its address. */
static enum fault_reason check(const struct run_ctx *rc, const struct frame *f, uint64_t addr,
			       uint64_t size, bool write)
{
	return region_check(rc, f, addr, size, write);
}

static const struct jit_host host = {
	.region_check = check,
	.region_fault = region_fault,
	.helper_check = helper_check,
	.helper_run_callbacks = helper_run_callbacks,
	.helper_by_id = helper_by_id,
	.prog_array_lookup = prog_array_lookup,
	.run_clean = prog_run_clean,
};

#ifdef WEIR_JIT_BUILD
static void open_module(void)
{
	const char *dir = getenv("WEIR_LIBDIR");
	char path[4096] = "";
	void *lib = NULL;

	if (dir) {
		snprintf(path, sizeof(path), "%s/weir-jit.so", dir);
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (!lib)
		lib = dlopen(WEIR_JIT_BUILD, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		lib = dlopen(WEIR_JIT_INSTALLED, RTLD_NOW | RTLD_LOCAL);
	if (lib)
		module = dlsym(lib, "weir_jit_module");
	if (!module)
		err_set(&why, ENOTSUP, "no JIT: %s; --engine interp works without", dlerror());
}
#else
static void open_module(void)
{
	err_set(&why, ENOTSUP,
		"no JIT: this weir was built without LLVM (-Djit=disabled); --engine interp "
		"works without");
}
#endif

bool jit_available(struct err *err)
{
	pthread_once(&once, open_module);
	if (!module && err)
		*err = why;
	return module != NULL;
}

int jit_compile(struct prog *prog, struct err *err)
{
	return jit_available(err) ? module->compile(prog, &host, err) : -ENOTSUP;
}

void jit_release(struct prog *prog)
{
	if (module && prog->jit)
		module->release(prog);
}
