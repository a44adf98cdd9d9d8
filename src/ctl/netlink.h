/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills net/ from the kernel's interfaces, routes and neighbours, for instances with a port that is a kernel
 * interface: what bpf_fib_lookup, bpf_check_mtu and redirects by ifindex see. What the command line added
 * (--route, --neigh) is kept beside the kernel's.
 *
 * Between rtnetlink below and the control loop (run.c) above, which sleeps on netlink_fd.
 *
 * Threads: control thread.
 */
#ifndef WEIR_CTL_NETLINK_H
#define WEIR_CTL_NETLINK_H

#include "base/err.h"

#include <stdint.h>

struct weir;
struct netlink;

/* Subscribes to changes and fills the net of weir's engine once. -errno with a text. */
int netlink_open(struct netlink **ret, struct weir *weir, struct err *err);
void netlink_close(struct netlink *nl); /* NULL is allowed */
/* Readable when the kernel's tables have changed. */
int netlink_fd(const struct netlink *nl);
/* Takes in what changed; reads all tables again when something did, or a second has passed and the interfaces are
 * to be looked at, but spends at most a tenth of its time on it. now_ns: CLOCK_MONOTONIC. */
void netlink_poll(struct netlink *nl, uint64_t now_ns);

#endif
