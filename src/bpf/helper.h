/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers and kfuncs: one table of prototypes, which decoding checks calls against, and both back ends guard
 * arguments by. A helper gets only arguments that the caller has checked: memory is readable or writable for
 * its size, a map is a map of this program. Ids, arguments and results: include/uapi/linux/bpf.h,
 * xdp-semantics 7 and 10.
 *
 * Threads: helpers are called by workers, each with its own run context.
 */
#ifndef WEIR_BPF_HELPER_H
#define WEIR_BPF_HELPER_H

#include "pkt/frame.h"
#include "pkt/run_ctx.h"

#include <stdbool.h>
#include <stdint.h>

enum { HELPER_ARGS = 5 };

enum helper_arg {
	ARG_NONE,
	ARG_SCALAR,
	ARG_CTX,	   /* the context: passed as struct frame * */
	ARG_MAP,	   /* struct map * */
	ARG_MAP_KEY,	   /* readable, key_size of the call's map */
	ARG_MAP_VALUE,	   /* readable, value_size of the call's map */
	ARG_MAP_VALUE_OUT, /* writable, value_size of the call's map */
	ARG_MEM,	   /* readable; its size is the next argument */
	ARG_MEM_OR_NULL,   /* the same; NULL is allowed when the size is 0 */
	ARG_MEM_OUT,	   /* writable; its size is the next argument */
	ARG_MEM_FIXED,	   /* readable, `fixed` bytes */
	ARG_MEM_FIXED_OUT, /* writable, `fixed` bytes */
	ARG_SIZE, /* bytes of the argument before; 0 is refused with FAULT_BAD_HELPER_ARG */
	ARG_SIZE_OR_ZERO,
	/* A callback: registers hold INSN_FUNC_VALUE + index (OP_LD_FUNC), the helper gets the index in
	 * prog->subprogs. */
	ARG_CALLBACK,
	ARG_RINGBUF_RECORD, /* a reserved record; the helper ends the reservation */
	ARG_CONST_STR,	    /* a NUL-terminated string in readable memory */
	ARG_SPIN_LOCK, /* the bpf_spin_lock of a map value; not held before lock, held before unlock */
	ARG_ANY_OR_NULL, /* passed through unchecked: the helper only passes it on (callback ctx) */
};

enum helper_ret {
	RET_INT,       /* a scalar */
	RET_MAP_VALUE, /* a value of the call's map, or NULL */
	RET_MEM,       /* memory of the size given by argument 2 (ringbuf_reserve), or NULL */
	RET_VOID,      /* R0 is undefined for the program: 0 here */
	RET_PACKET,    /* a pointer into the packet, or NULL: bpf_dynptr_slice */
};

struct prog;

typedef uint64_t (*helper_fn)(struct run_ctx *rc, uint64_t a1, uint64_t a2, uint64_t a3,
			      uint64_t a4, uint64_t a5);

struct helper {
	uint32_t id;	  /* enum bpf_func_id; kfuncs: 0 */
	const char *name; /* "map_lookup_elem"; kfuncs have their full name */
	helper_fn fn;
	uint8_t ret;		   /* enum helper_ret */
	uint8_t args[HELPER_ARGS]; /* enum helper_arg */
	uint16_t fixed;		   /* bytes of ARG_MEM_FIXED* */
	bool gpl;
	bool moves_packet; /* data, data_end, data_meta may change */
	/* Runs a callback: fn is NULL, the back end calls helper_run_callbacks or has code of its own. */
	bool needs_prog;
	/* Map types that it accepts, a bit each (1 << type); 0: any. */
	uint64_t map_types;
};

/* The prototype of a helper id or a kfunc name, or NULL when weir has none. */
const struct helper *helper_by_id(uint32_t id);
const struct helper *kfunc_by_name(const char *name);
/* The kernel's name of any helper id, known to weir or not: "sk_lookup_tcp"; "helper 9999" beyond. */
const char *helper_id_name(uint32_t id);
/* Walks all of weir's helpers and kfuncs, for documents and tests; NULL at the end. */
const struct helper *helper_at(uint32_t i);

/*
 * Checks the arguments of a call at run time, in order, and translates callbacks in place. FAULT_NONE, or the
 * reason with the address and size at fault. The reference; the JIT may check what it knows in its own code.
 */
struct helper_fault {
	uint64_t addr, size;
};
enum fault_reason helper_check(const struct helper *h, const struct prog *prog, struct run_ctx *rc,
			       uint64_t args[HELPER_ARGS], struct helper_fault *ret_fault);

/* How a back end calls subprogram `subprog` as a callback. False: it faulted. interp_callback is one. */
typedef bool (*helper_callback)(const struct prog *prog, struct run_ctx *rc, uint32_t subprog,
				const uint64_t args[4], uint64_t *ret);
/* Runs a needs_prog helper on checked arguments, calling back through `call`. When a callback faulted, rc->fault
 * says so and the result means nothing. */
uint64_t helper_run_callbacks(const struct helper *h, const struct prog *prog, struct run_ctx *rc,
			      const uint64_t args[HELPER_ARGS], helper_callback call);

/* The time that clocks show: rc's fixed time, else the clock's. */
uint64_t helper_clock_ns(const struct run_ctx *rc, int clock_id);

#endif
