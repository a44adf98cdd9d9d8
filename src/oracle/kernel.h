/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's answer for the same object, state and packet: BPF_PROG_TEST_RUN in a helper process (the same binary
 * executed again, with bpf(2) passed through; design 2). Beside the test driver (test.c), which asks it for each
 * packet when --against kernel is given. kernel.c is weir's end, helper.c the other.
 *
 * Threads: one at a time.
 * Ownership: everything in the cfg is borrowed during open.
 */
#ifndef WEIR_ORACLE_KERNEL_H
#define WEIR_ORACLE_KERNEL_H

#include "base/err.h"
#include "pkt/frame.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct kernel_oracle;

/* An interface that the helper makes in its own network namespace. */
struct kernel_if {
	uint32_t ifindex;
	uint32_t mtu;
	bool down;
	bool peer_drops; /* what is sent to it is dropped, not passed up */
};

struct kernel_oracle_cfg {
	const char *object; /* path */
	const char *prog;   /* function name of the program that runs */
	const char *btf;    /* BTF of the target kernel for CO-RE; NULL: the running kernel's */
	uint32_t cpu;	    /* that the program runs on */
	const char *const *globals; /* "NAME=bytes in hex", n_globals of them */
	uint32_t n_globals;
	json_t *maps; /* snapshot_take() before the first packet: what the maps are set to; NULL: none */
	const struct kernel_if *ifs; /* n_ifs of them */
	uint32_t n_ifs;
};

struct kernel_answer {
	uint32_t verdict; /* what the program returned */
	uint32_t len;	  /* of the packet as the program left it */
	uint32_t meta_len;
	uint8_t meta[FRAME_HEADROOM];
	uint8_t bytes[FRAME_SIZE]; /* the packet, without metadata */
};

/* Starts the helper, loads the object, sets the state. The text of a failure has the kernel's words: no
 * privilege, the verifier's last lines. */
int kernel_oracle_open(struct kernel_oracle **ret, const struct kernel_oracle_cfg *cfg,
		       struct err *err);
/* Runs the program once. -EINVAL and the like, with a text, for packets that TEST_RUN does not take. */
int kernel_oracle_run(struct kernel_oracle *oracle, uint32_t ifindex, uint32_t rx_queue,
		      const uint8_t *bytes, uint32_t len, struct kernel_answer *ret,
		      struct err *err);
/* The maps as they are: a snapshot (snapshot.h). New reference. */
int kernel_oracle_maps(struct kernel_oracle *oracle, json_t **ret, struct err *err);
/* Runs the program `repeat` times on live frames (BPF_F_TEST_XDP_LIVE_FRAMES): nanoseconds of all of them. */
int kernel_oracle_live(struct kernel_oracle *oracle, const uint8_t *bytes, uint32_t len,
		       uint32_t repeat, uint64_t *ret_ns, struct err *err);
/* Ends the helper. NULL is allowed. */
void kernel_oracle_close(struct kernel_oracle *oracle);

/* Main of the helper process: weir_oracle_main. */
int kernel_helper_main(int argc, char **argv);

/* The program that is executed as the helper; this one unless a test says otherwise. */
void kernel_oracle_set_helper(const char *path);

#endif
