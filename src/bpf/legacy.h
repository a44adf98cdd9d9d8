/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of before BTF-defined maps: a section "maps" of structs (bpf_map_def of libbpf and of samples/bpf, iproute2's
 * bpf_elf_map), which libbpf 1.0 and later refuse. They become maps as libbpf takes them, in memory: the section
 * is renamed ".maps", and BTF that says the same is added to the object's, or made.
 *
 * Threads: any. Ownership: the bytes are the caller's, from malloc.
 */
#ifndef WEIR_BPF_LEGACY_H
#define WEIR_BPF_LEGACY_H

#include "base/err.h"

#include <stddef.h>

/*
 * Rewrites *bytes, which are freed and replaced when there is something to rewrite. An object without
 * legacy maps is left as it is. A failure leaves them alone too; its text does not name the file.
 */
int legacy_rewrite(void **bytes, size_t *size, struct err *err);

#endif
