/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's bpf(2), past the wrapper that makes libbpf and libxdp in this process speak to weir (design 2):
 * the little that AF_XDP ports need of it. For src/port only.
 *
 * Threads: any. Ownership: descriptors returned belong to the caller. All return -errno on failure.
 */
#ifndef WEIR_PORT_KERNEL_BPF_H
#define WEIR_PORT_KERNEL_BPF_H

#include <stdint.h>

int kernel_bpf_xskmap_create(uint32_t n_queues);
int kernel_bpf_xskmap_set(int map_fd, uint32_t queue, int socket_fd);
/* Loads the program that sends each packet to the socket of its queue in the map, and passes those of queues
 * that have none. */
int kernel_bpf_redirect_prog(int map_fd);
/* Attaches it; flags are XDP_FLAGS_*_MODE. The program goes when the last descriptor of the link does, however
 * the process ends. */
int kernel_bpf_xdp_link(int prog_fd, uint32_t ifindex, uint32_t flags);
/* Names and ids, for texts: "" and 0 when unknown. */
void kernel_bpf_prog_name(uint32_t id, char name[16]);
uint32_t kernel_bpf_prog_id(int prog_fd);

#endif
