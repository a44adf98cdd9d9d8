/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that programs may point into: value areas of maps, ring buffers, global data. All of it lies in
 * one reserved window of addresses, so that the owner of an address is found with one table look-up and
 * no lock (the guard behind pointers of unknown origin, src/bpf/region.h), and each area stands between
 * PROT_NONE pages. An area is backed by a memfd from offset 0, so that mmap(2) of the descriptor of a
 * BPF_F_MMAPABLE map shows its values (design 2).
 *
 * Threads: create and destroy from any thread (a lock inside); area_find from any thread, without a lock.
 * Ownership: area_create fills the caller's struct; the caller calls area_destroy.
 */
#ifndef WEIR_BASE_AREA_H
#define WEIR_BASE_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AREA_GRANULE_SHIFT =
		16, /* an area starts at a multiple of 64 KiB: the size of the table below */
	AREA_WINDOW_SHIFT = 38, /* 256 GiB of addresses, reserved and not used */
};

struct area {
	uint8_t *base; /* page-aligned, zeroed */
	size_t size;   /* bytes asked for; accesses beyond it are refused by area_find's users */
	int memfd;     /* owned by the area; size rounded up to pages */
	/* How the area is cut, for the guard of unknown pointers: */
	uint32_t stride; /* bytes from one value to the next; 0: one value, the whole area */
	uint32_t
		elem_size; /* bytes of a value that may be accessed; the rest of the stride is padding */
	bool read_only; /* programs may not write (BPF_F_RDONLY_PROG) */
	void *owner;	/* struct map */
};

/* Makes an area of `size` bytes (at least 1), zeroed, with a PROT_NONE page on both sides. -ENOMEM, -EMFILE. */
int area_create(struct area *area, size_t size, const char *name);
/* As area_create, but the `size` bytes from `mirror_from` on appear a second time right behind the first:
 * the data part of a ring buffer (page-aligned). The mirror counts in area->size. */
int area_create_mirrored(struct area *area, size_t size, size_t mirror_from, const char *name);
void area_destroy(struct area *area);
/* The area that holds addr, or NULL. Borrowed: valid while its map is (a program holds its maps). */
const struct area *area_find(uint64_t addr);

#endif
