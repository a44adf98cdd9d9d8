/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces in the helper process's own network namespace, with the numbers that the ports have: veths, whose far ends
 * have the next free names.
 *
 * Threads: the helper's one.
 */
#ifndef WEIR_ORACLE_HELPER_NET_H
#define WEIR_ORACLE_HELPER_NET_H

#include "oracle/kernel.h"

/* Enters new network and mount namespaces, with the loopback up. -EPERM with a text. */
int helper_net_enter(struct err *err);
/* Makes the veth kif->ifindex; with an XDP program on it that passes, so that its receive queue is one that
 * BPF_PROG_TEST_RUN accepts, and one on its far end that drops or passes, so that it is a target. */
int helper_net_add(const struct kernel_if *kif, struct err *err);

#endif
