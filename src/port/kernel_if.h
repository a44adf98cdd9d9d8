/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network interface of the kernel, as the drivers that sit on one see it: what it is, whether it is still
 * there, who else uses it. For src/port only.
 *
 * Threads: as the port that holds it.
 * Ownership: kernel_if_open fills the caller's struct, which holds a descriptor of the network namespace it
 * was opened in; kernel_if_close closes it.
 */
#ifndef WEIR_PORT_KERNEL_IF_H
#define WEIR_PORT_KERNEL_IF_H

#include "port/port.h"

enum {
	KERNEL_IF_CHECK_NS = 100 * 1000 * 1000
}; /* how often an idle port looks whether it is still up */

struct kernel_if {
	char name[16];
	int fd;
	uint32_t ifindex, mtu, n_queues;
	uint8_t mac[6];
	bool up;
	uint64_t next_check_ns;
};

struct kernel_if_xdp {
	uint32_t prog_id; /* 0: no program */
	uint8_t mode;	  /* XDP_ATTACHED_* */
};

/* Finds it; -ENODEV with a text that begins "port kind:name". */
int kernel_if_open(struct kernel_if *kif, const char *kind, const char *name, struct err *err);
void kernel_if_close(struct kernel_if *kif);
/* Reads mtu, mac and state again: 0 or -errno. */
int kernel_if_read(struct kernel_if *kif);
int kernel_if_set_up(struct kernel_if *kif);
int kernel_if_set_mtu(struct kernel_if *kif, uint32_t mtu);
int kernel_if_set_mac(struct kernel_if *kif, const uint8_t mac[6]);
/* Sets the head of a port on this interface; what the specification gives (mtu=, ifindex=) stays. */
void kernel_if_port(const struct kernel_if *kif, const struct port_spec *spec, struct port *port);
/* For an idle rx, at most every KERNEL_IF_CHECK_NS: 0 while the interface is up, else port->lost is set and
 * -ENODEV or -ENETDOWN returned. */
int kernel_if_check(struct kernel_if *kif, struct port *port);

/* Asks the kernel over netlink; 0 or -errno. */
int kernel_if_default_route(uint32_t ifindex, bool *ret);
int kernel_if_xdp(uint32_t ifindex, struct kernel_if_xdp *ret);
/* Takes off the program that was attached without a link. */
int kernel_if_xdp_detach(uint32_t ifindex, uint8_t mode);

#endif
