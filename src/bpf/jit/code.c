/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The module's end of module.h: from a decoded program through IR (emit.h) and LLVM's passes to machine code. One
 * LLJIT for the process; each program is a resource of its own, freed with it.
 */
#include "bpf/jit/emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The process's LLJIT and what programs are compiled for; made once, under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LLVMOrcLLJITRef jit;
static LLVMTargetMachineRef machine;
static uint64_t n_programs; /* names must differ */

static int fail(struct err *err, LLVMErrorRef e, const char *what)
{
	char *text = LLVMGetErrorMessage(e);

	err_set(err, EIO, "the JIT cannot %s: %s; use --engine interp", what, text);
	LLVMDisposeErrorMessage(text);
	return -EIO;
}

static LLVMTargetMachineRef make_machine(struct err *err)
{
	char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName();
	char *features = LLVMGetHostCPUFeatures(), *text = NULL;
	LLVMTargetMachineRef tm = NULL;
	LLVMTargetRef target;

	if (LLVMGetTargetFromTriple(triple, &target, &text))
		err_set(err, EIO, "the JIT knows no target %s: %s", triple, text);
	else
		tm = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
					     LLVMRelocPIC, LLVMCodeModelJITDefault);
	LLVMDisposeMessage(text);
	LLVMDisposeMessage(triple);
	LLVMDisposeMessage(cpu);
	LLVMDisposeMessage(features);
	return tm;
}

static int open_jit(struct err *err)
{
	LLVMOrcLLJITBuilderRef builder;
	LLVMTargetMachineRef tm;
	LLVMErrorRef e;

	if (jit)
		return 0;
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	if (!machine)
		machine = make_machine(err);
	tm = machine ? make_machine(err) : NULL;
	if (!tm)
		return -EIO;
	builder = LLVMOrcCreateLLJITBuilder();
	LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
		builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(tm));
	e = LLVMOrcCreateLLJIT(&jit, builder);
	return e ? fail(err, e, "start") : 0;
}

static void dump(LLVMModuleRef mod, const char *stage)
{
	if (!getenv("WEIR_JIT_DUMP") || strcmp(getenv("WEIR_JIT_DUMP"), stage) != 0)
		return;
	LLVMDumpModule(mod);
}

static int optimise(LLVMModuleRef mod, struct err *err)
{
	LLVMPassBuilderOptionsRef options;
	char *text = NULL;
	LLVMErrorRef e;

	dump(mod, "raw");
	if (LLVMVerifyModule(mod, LLVMReturnStatusAction, &text)) {
		err_set(err, EIO, "the JIT made wrong code: %.600s; use --engine interp", text);
		LLVMDisposeMessage(text);
		return -EIO;
	}
	LLVMDisposeMessage(text);
	options = LLVMCreatePassBuilderOptions();
	e = LLVMRunPasses(mod, "default<O2>", machine, options);
	LLVMDisposePassBuilderOptions(options);
	dump(mod, "opt");
	return e ? fail(err, e, "optimise") : 0;
}

static void set_types(struct emit *e)
{
	e->i1 = LLVMInt1TypeInContext(e->ctx);
	e->i8 = LLVMInt8TypeInContext(e->ctx);
	e->i16 = LLVMInt16TypeInContext(e->ctx);
	e->i32 = LLVMInt32TypeInContext(e->ctx);
	e->i64 = LLVMInt64TypeInContext(e->ctx);
	e->ptr = LLVMPointerTypeInContext(e->ctx, 0);
}

/* IR of the program, optimised, in e->mod. */
static int build(struct emit *e, struct err *err)
{
	LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
	int rc;

	set_types(e);
	e->mod = LLVMModuleCreateWithNameInContext("weir", e->ctx);
	LLVMSetModuleDataLayout(e->mod, layout);
	LLVMSetTarget(e->mod, LLVMOrcLLJITGetTripleString(jit));
	LLVMDisposeTargetData(layout);
	e->b = LLVMCreateBuilderInContext(e->ctx);
	rc = emit_program(e, err);
	LLVMDisposeBuilder(e->b);
	return rc ? rc : optimise(e->mod, err);
}

/* Names are per process: the symbols get the program's number. */
static void rename_symbols(struct emit *e, uint64_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "burst.%lu", (unsigned long)number);
	LLVMSetValueName2(LLVMGetNamedFunction(e->mod, "burst"), name, strlen(name));
	for (uint32_t i = 0; i < e->prog->n_subprogs; i++) {
		LLVMValueRef fn;

		if (!e->callbacks[i])
			continue;
		snprintf(name, sizeof(name), "callback_%u", i);
		fn = LLVMGetNamedFunction(e->mod, name);
		snprintf(name, sizeof(name), "callback_%u.%lu", i, (unsigned long)number);
		LLVMSetValueName2(fn, name, strlen(name));
	}
}

static int look_up(struct prog *prog, struct code *code, const struct emit *e, uint64_t number,
		   struct err *err)
{
	LLVMOrcExecutorAddress at;
	LLVMErrorRef error;
	char name[64];

	snprintf(name, sizeof(name), "burst.%lu", (unsigned long)number);
	error = LLVMOrcLLJITLookup(jit, &at, name);
	if (error)
		return fail(err, error, "make code");
	prog->run_many = (prog_run_many)(uintptr_t)at;
	for (uint32_t i = 0; i < prog->n_subprogs; i++) {
		if (!e->callbacks[i])
			continue;
		snprintf(name, sizeof(name), "callback_%u.%lu", i, (unsigned long)number);
		error = LLVMOrcLLJITLookup(jit, &at, name);
		if (error)
			return fail(err, error, "make code");
		code->callbacks[i] = (jit_callback)(uintptr_t)at;
	}
	return 0;
}

static uint32_t run_one(const struct prog *prog, struct run_ctx *rc, struct frame *frame)
{
	uint32_t verdict;

	prog->run_many(prog, rc, &frame, 1, &verdict);
	return verdict;
}

static void drop_code(struct code *code)
{
	LLVMErrorRef e;

	if (code->tracker) {
		e = LLVMOrcResourceTrackerRemove(code->tracker);
		if (e)
			LLVMConsumeError(e);
		LLVMOrcReleaseResourceTracker(code->tracker);
	}
	free(code->callbacks);
	free(code);
}

static struct code *make_code(const struct prog *prog)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->callbacks = calloc(prog->n_subprogs + 1, sizeof(*code->callbacks));
	if (code->callbacks)
		return code;
	free(code);
	return NULL;
}

/* Machine code of e->mod, which it takes over. */
static int make_machine_code(struct prog *prog, struct code *code, struct emit *e,
			     LLVMOrcThreadSafeContextRef ctx, struct err *err)
{
	LLVMOrcJITDylibRef lib = LLVMOrcLLJITGetMainJITDylib(jit);
	uint64_t number = ++n_programs;
	LLVMErrorRef error;

	rename_symbols(e, number);
	code->tracker = LLVMOrcJITDylibCreateResourceTracker(lib);
	error = LLVMOrcLLJITAddLLVMIRModuleWithRT(jit, code->tracker,
						  LLVMOrcCreateNewThreadSafeModule(e->mod, ctx));
	e->mod = NULL;
	if (error)
		return fail(err, error, "take the code");
	return look_up(prog, code, e, number, err);
}

static int compile_locked(struct prog *prog, struct emit *e, struct err *err)
{
	LLVMOrcThreadSafeContextRef ctx;
	struct code *code = make_code(prog);
	int rc;

	if (!code)
		return err_set(err, ENOMEM, "out of memory");
	ctx = LLVMOrcCreateNewThreadSafeContext();
	e->ctx = LLVMOrcThreadSafeContextGetContext(ctx);
	rc = build(e, err);
	if (!rc)
		rc = make_machine_code(prog, code, e, ctx, err);
	if (e->mod)
		LLVMDisposeModule(e->mod);
	LLVMOrcDisposeThreadSafeContext(ctx);
	if (rc) {
		drop_code(code);
		return rc;
	}
	prog->jit = code;
	prog->run_one = run_one;
	return 0;
}

static int compile(struct prog *prog, const struct jit_host *host, struct err *err)
{
	struct emit e = { .prog = prog, .host = host };
	int rc = kinds_analyse(&e.kinds, prog);

	e.subs = calloc(prog->n_subprogs + 1, sizeof(LLVMValueRef));
	e.callbacks = calloc(prog->n_subprogs + 1, sizeof(bool));
	if (rc || !e.subs || !e.callbacks) {
		rc = err_set(err, ENOMEM, "out of memory");
		goto out;
	}
	slow_set_host(host);
	pthread_mutex_lock(&lock);
	rc = open_jit(err);
	if (!rc)
		rc = compile_locked(prog, &e, err);
	pthread_mutex_unlock(&lock);
out:
	kinds_free(e.kinds);
	free(e.subs);
	free(e.callbacks);
	return rc;
}

static void release(struct prog *prog)
{
	pthread_mutex_lock(&lock);
	drop_code(prog->jit);
	pthread_mutex_unlock(&lock);
	prog->jit = NULL;
}

const struct jit_module weir_jit_module = { .compile = compile, .release = release };
