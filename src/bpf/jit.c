/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the JIT's module and hands it the functions that it calls: see jit.h and jit/module.h. */
#include "bpf/jit.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/helper.h"
#include "bpf/jit/module.h"
#include "bpf/region.h"
#include "maps/prog_array.h"

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

#ifdef WEIR_JIT_BUILD_DIR

#define MODULE "weir-jit.so"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct jit_module *module; /* opened once, never closed */

static bool exists(char *path, const char *dir, const char *below)
{
	if (!dir || snprintf(path, PATH_MAX, "%s%s/" MODULE, dir, below) >= PATH_MAX)
		return false;
	return !access(path, R_OK);
}

/* $WEIR_LIBDIR, then beside the executable in the build tree, then where it was installed, then the build tree. */
static bool find_module(char *path)
{
	char dir[PATH_MAX], *slash;
	ssize_t n;

	if (exists(path, getenv("WEIR_LIBDIR"), ""))
		return true;
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	dir[n > 0 ? n : 0] = '\0';
	slash = strrchr(dir, '/');
	if (slash) {
		*slash = '\0';
		if (exists(path, dir, "/../bpf/jit"))
			return true;
	}
	return exists(path, WEIR_LIBDIR, "") || exists(path, WEIR_JIT_BUILD_DIR, "");
}

static int open_module(struct err *err)
{
	char path[PATH_MAX];
	void *handle;

	if (module)
		return 0;
	if (!find_module(path))
		return err_set(err, ENOTSUP,
			       "the JIT module " MODULE
			       " is not in %s: set WEIR_LIBDIR to its folder, or "
			       "use --engine interp",
			       WEIR_LIBDIR);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return err_set(err, ENOTSUP,
			       "the JIT module cannot be opened: %s; use --engine interp",
			       dlerror());
	module = dlsym(handle, "weir_jit_module");
	if (!module)
		return err_set(err, ENOTSUP, "%s is no JIT module of weir; use --engine interp",
			       path);
	return 0;
}

static int open_locked(struct err *err)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = open_module(err);
	pthread_mutex_unlock(&lock);
	return rc;
}

int jit_compile(struct prog *prog, struct err *err)
{
	int rc = open_locked(err);

	return rc ? rc : module->compile(prog, &host, err);
}

void jit_release(struct prog *prog)
{
	if (prog->jit)
		module->release(prog);
}

bool jit_available(struct err *err)
{
	return !open_locked(err);
}

#else

int jit_compile(struct prog *prog, struct err *err)
{
	(void)host;
	return err_set(err, ENOTSUP,
		       "this weir was built without a JIT (-Djit=disabled): use --engine interp");
}

void jit_release(struct prog *prog)
{
}

bool jit_available(struct err *err)
{
	jit_compile(NULL, err);
	return false;
}

#endif
