/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports: where frames come from and go to. One file a driver behind this ops table.
 *
 * The law of packets: port_rx gives frames to the caller; port_tx takes all of them whatever it returns, and
 * counts under a reason what it could not send.
 *
 * Threads: rx, tx, flush and wait of a queue are called by the one worker that owns it; open, close and stats by
 * the control thread. Counters have one writer, the worker, and are read with relaxed loads.
 * Ownership: port_open makes a port that the caller closes. Frames come from and go back to the worker's
 * pool_cache that is passed in.
 */
#ifndef WEIR_PORT_PORT_H
#define WEIR_PORT_PORT_H

#include "base/err.h"
#include "pkt/frame.h"
#include "pkt/pool.h"

#include <stdbool.h>
#include <stdint.h>

struct port;

enum {
	PORT_NAME_LEN = 64,
	PORT_KEYS_MAX = 16,
	PORT_QUEUES_MAX = 64, /* queues of an AF_XDP port: a worker polls them in turn */
};

/* A PORT of design 10, cut into its parts: "xdp:eth0,queues=2,force" is kind, argument and keys. */
struct port_spec {
	char kind[16];
	char arg[256];		  /* file or interface; "" when there is none */
	char name[PORT_NAME_LEN]; /* given by name=, else empty: the engine names it */
	uint32_t ifindex;	  /* given by ifindex=, else 0 */
	uint32_t mtu;		  /* given by mtu=, else 0: the kernel's, or 1500 */
	bool has_mac, down;	  /* mac= was given; state=down */
	uint8_t mac[6];
	uint32_t n_keys;
	struct {
		char key[32];
		char value[128]; /* "" for a key without = */
		bool used;	 /* set by the driver that understood it */
	} keys[PORT_KEYS_MAX];
};

/* What the outside and the port itself did. All in frames, but for bytes. */
struct port_stats {
	uint64_t rx_frames, rx_bytes; /* given to the caller */
	uint64_t tx_frames, tx_bytes; /* left weir */
	uint64_t rx_dropped[8];	      /* lost before weir had them, by enum port_rx_loss */
	uint64_t tx_dropped[8];	      /* taken by tx and not sent, by enum port_tx_loss */
};

/* Lost on the way in: part of no total of weir, since weir never had them; shown a port. */
enum port_rx_loss {
	RX_LOSS_RING_FULL,    /* the kernel's ring or the port's was full */
	RX_LOSS_NO_FRAME,     /* no free frame in the pool, or the fill ring was empty */
	RX_LOSS_TOO_LONG,     /* longer than FRAME_DATA_MAX */
	RX_LOSS_GSO,	      /* a GSO super-frame (the text names the ethtool line) */
	RX_LOSS_TRUNCATED,    /* cut short by a snap length: the bytes are not the packet */
	RX_LOSS_TOO_SHORT,    /* shorter than an Ethernet header */
	RX_LOSS_BAD_CSUM_REQ, /* a checksum to complete that lies outside the packet */
	RX_LOSSES,
};

enum port_tx_loss {
	TX_LOSS_RING_FULL, /* after the driver had tried for as long as it is allowed to */
	TX_LOSS_DOWN,	   /* the interface is down or gone */
	TX_LOSS_TOO_LONG,  /* more than the interface takes */
	TX_LOSS_IO,	   /* write failed: disk full, ... */
	TX_LOSSES,
};

struct port_ops {
	const char *kind;
	/* Opens what spec names; private part behind struct port. pool is the instance's (AF_XDP registers it
	 * as its UMEM). The text of a failure names the port, the reason and the remedy. */
	int (*open)(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err);
	void (*close)(struct port *port);
	/* Up to n frames (at most BURST_MAX); 0 when there are none now; PORT_EOF at the end of a capture or a
	 * generator's count; -errno when the port is lost (interface gone). Sets seq, rx_queue_index, hash. */
	int (*rx)(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n);
	/* Takes n frames (at most BURST_MAX) for queue `queue`; frees them when it no longer needs them. */
	void (*tx)(struct port *port, struct pool_cache *cache, uint32_t queue,
		   struct frame **frames, uint32_t n);
	/* End of a burst: kicks the kernel, reaps completions. May be NULL. */
	void (*flush)(struct port *port, struct pool_cache *cache);
	/* Frames that tx has taken and that have not left yet (AF_XDP's TX ring). May be NULL: 0. */
	uint32_t (*in_flight)(struct port *port);
	/* For XDP_PASS: gives frames to the host behind this port (a tap beside an AF_XDP port). Takes all.
	 * NULL: the port has no host; PASS frames are counted as passed to nobody and freed by the engine. */
	void (*to_host)(struct port *port, struct pool_cache *cache, struct frame **frames,
			uint32_t n);
	/* Frames that the host sends out through this port (read from that tap), to be sent as they are.
	 * As rx. May be NULL. */
	int (*from_host)(struct port *port, struct pool_cache *cache, struct frame **frames,
			 uint32_t n);
	/* Descriptors to sleep on when rx had nothing; fills up to n, returns how many. NULL: never sleep. */
	int (*poll_fds)(struct port *port, int *fds, int n);
	/* "copy mode, need_wakeup, 2 queues, program 12 by link": what was got. May be NULL. */
	void (*describe)(struct port *port, char *buf, size_t n);
	/* Refreshes what only the kernel counts (XDP_STATISTICS, PACKET_STATISTICS). May be NULL. */
	void (*update_stats)(struct port *port);
};

enum { PORT_EOF = 1 << 20 }; /* rx: there will be no more */

/* The head of every driver's port. Read only but for its driver. */
struct port {
	const struct port_ops *ops;
	char name[PORT_NAME_LEN];
	char kind[16];
	uint32_t ifindex; /* what programs see; set by the engine when the kernel gives none */
	uint32_t id;	  /* index in the engine */
	uint32_t mtu;
	uint32_t n_tx_queues;
	uint32_t n_rx_queues;
	uint8_t mac[6];
	bool up;
	bool can_rx, can_tx;
	bool is_kernel_if; /* ifindex is the kernel's */
	char lost[256];	   /* one line: why rx returned -errno; empty when it did not */
	struct port_stats stats;
};

/* Parses "kind:arg,key=value,..." (no name in front); -EINVAL with a text. */
int port_spec_parse(struct port_spec *spec, const char *text, struct err *err);
/* Adds a key, as the engine does with dir=in or dir=out before it opens a port; -EINVAL when there is one of
 * that name already, or no room. */
int port_spec_set(struct port_spec *spec, const char *key, const char *value, struct err *err);
/* The value of a driver's own key, or NULL when it was not given; marks it as used. */
const char *port_spec_key(struct port_spec *spec, const char *key);
/* The same as a number in [min, max]; `fallback` when absent; -EINVAL with a text. */
int port_spec_number(struct port_spec *spec, const char *key, uint64_t min, uint64_t max,
		     uint64_t fallback, uint64_t *ret, struct err *err);

/* Opens a port with the driver of its kind; unknown kinds and unknown keys are errors that list the known. */
int port_open(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err);
void port_close(struct port *port);
/* Walks the drivers: i from 0; NULL at the end. */
const struct port_ops *port_driver_at(uint32_t i);
const char *port_rx_loss_name(enum port_rx_loss loss);
const char *port_tx_loss_name(enum port_tx_loss loss);

/* The driver's common end: sets the head's fields from spec. For drivers. */
void port_init(struct port *port, const struct port_ops *ops, const struct port_spec *spec);

/* Data path */
static inline int port_rx(struct port *port, struct pool_cache *cache, struct frame **frames,
			  uint32_t n)
{
	return port->ops->rx(port, cache, frames, n);
}

static inline void port_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
			   struct frame **frames, uint32_t n)
{
	port->ops->tx(port, cache, queue, frames, n);
}

static inline void port_flush(struct port *port, struct pool_cache *cache)
{
	if (port->ops->flush)
		port->ops->flush(port, cache);
}

#endif
