/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program runs with, besides its frame: the worker's redirect information, CPU number, clock, random
 * numbers, BPF stack, and the record of the last fault. A worker has one and passes it to every run.
 *
 * Threads: belongs to one worker.
 */
#ifndef WEIR_PKT_RUN_CTX_H
#define WEIR_PKT_RUN_CTX_H

#include <stdbool.h>
#include <stdint.h>

struct net;
struct prog;
struct frame;
struct run_ctx;

enum {
	RUN_STACK_SIZE = 512,  /* MAX_BPF_STACK: bytes a frame of the call chain */
	RUN_CALL_DEPTH = 8,    /* MAX_CALL_FRAMES */
	RUN_TAIL_CALLS = 33,   /* MAX_TAIL_CALL_CNT */
	RUN_RESERVATIONS = 16, /* ring buffer records reserved at a time in one run */
	RUN_LENT =
		32, /* look-ups of inner maps and device entries that one run may hold at a time */
	/* Instructions that one run may take where no bound was found: as many as the kernel's verifier
	 * walks (1 M), times the largest bpf_loop in use; a run stops in a fraction of a second. */
	RUN_FUEL = 64 * 1024 * 1024,
};

/*
 * As the kernel's struct bpf_redirect_info (include/linux/filter.h): the helpers write it, the verdict loop
 * acts on it. Zeroed once a poll, not once a packet (xdp-semantics 2).
 */
struct redirect_info {
	uint64_t tgt_index;
	void *tgt_value; /* the map's entry: struct dev_entry, struct cpu_entry, struct obj (xsk) */
	void *map;	 /* struct map, for broadcast; else NULL */
	uint32_t flags;
	uint32_t map_id;   /* INT32_MAX after bpf_redirect */
	uint32_t map_type; /* enum bpf_map_type; 0: by ifindex */
};

enum fault_reason {
	FAULT_NONE,
	FAULT_BAD_ACCESS,     /* outside every region, or across the end of one */
	FAULT_READ_ONLY,      /* a write to context, .rodata, ... */
	FAULT_MISALIGNED,     /* an atomic operation on an unaligned address */
	FAULT_FUEL,	      /* a loop that did not end */
	FAULT_CALL_DEPTH,     /* more than RUN_CALL_DEPTH nested calls */
	FAULT_BAD_HELPER_ARG, /* a helper argument that is no memory, map, ... as it must be */
	FAULT_BAD_CALL,	      /* a callback that is none */
	FAULT_REASONS,
};

struct fault {
	enum fault_reason reason;
	uint32_t prog_id;
	uint32_t insn; /* index in the program as loaded */
	uint32_t size; /* bytes accessed */
	uint64_t addr;
	int64_t packet_off; /* addr - data, when it lies near the packet; else INT64_MIN */
};

/* A ring-buffer record between reserve and submit: a region that the program may write. */
struct reservation {
	uint8_t *addr;
	uint32_t size;
	void *map;
};

/*
 * What a look-up lent to the run that lies outside the areas: an inner map (size 0, addr is the struct map), or
 * the read-only value of a devmap or cpumap. Good until the end of the run.
 */
struct lent {
	const void *addr;
	uint32_t size;
};

/* Where trace_printk goes; NULL drops the text. */
struct trace_sink {
	void (*print)(struct trace_sink *sink, const char *text);
};

struct run_ctx {
	struct redirect_info ri;
	uint32_t cpu; /* the worker's number, below cpu_count() */
	uint32_t tail_calls;
	int64_t fuel;	    /* refilled at the start of each run */
	uint64_t faults;    /* how many runs ended in a fault */
	struct fault fault; /* the last one; reason is FAULT_NONE again at the start of each run */
	uint64_t fixed_time_ns; /* what clocks return when fixed_time is set (--time) */
	bool fixed_time;
	uint64_t prng; /* xorshift state, never 0 */
	const struct net *net;
	struct trace_sink *trace;
	uint32_t n_reservations;
	struct reservation reservations[RUN_RESERVATIONS];
	uint32_t call_depth;
	uint32_t n_lent; /* look-ups so far: the last RUN_LENT are kept, entry i at i % RUN_LENT */
	struct lent lent[RUN_LENT];
	/* The run in progress, for helpers without a context argument and for callbacks: set by the back ends. */
	const struct prog *prog;
	struct frame *frame;
	uint32_t *spin_lock; /* the lock that the program holds, or NULL */
	/* The BPF stack of both back ends' slow paths: frame k at stack + k * RUN_STACK_SIZE. 64-byte aligned,
	 * inside a mapping with PROT_NONE pages on both sides. */
	uint8_t *stack;
	void *worker; /* the engine's, for nobody else */
	struct fault
		last_fault; /* as fault, but kept until the next fault: runs after it do not reset it */
};

/* In place; makes the stack. -ENOMEM. run_ctx_fini takes a zeroed one too. */
int run_ctx_init(struct run_ctx *rc, uint32_t cpu, const struct net *net);
void run_ctx_fini(struct run_ctx *rc);

#endif
