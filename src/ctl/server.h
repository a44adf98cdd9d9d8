/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A UNIX stream socket that takes requests of one line and gives answers of one line. It knows lines, not what
 * they mean: control.c does. A client that sends garbage, sends without end, or does not read its answers is no
 * danger to the others or to traffic: requests are bounded, one is in work at a time for each client, and who
 * takes nothing of an answer for SERVER_STALL_NS is cut off.
 *
 * Threads: control thread, which sleeps in poll(2) on what server_pollfds gives.
 * Ownership: the socket file (mode 0600) is removed at close, if it is still the server's own.
 */
#ifndef WEIR_CTL_SERVER_H
#define WEIR_CTL_SERVER_H

#include "base/err.h"

#include <poll.h>
#include <stdint.h>

struct server;

enum {
	SERVER_CLIENTS = 16, /* the idlest one makes room for a further one */
	SERVER_LINE_MAX =
		64 * 1024, /* bytes of a request: a key and a value in hex fit; larger is refused */
	SERVER_FDS = SERVER_CLIENTS + 1,
};

/* The answer to a line (NUL-terminated, without its end), as a string that the server frees; NULL: no memory,
 * the client is cut off. */
typedef char *(*server_handler)(void *arg, const char *line);

/* Binds path. A socket there that nobody listens on is replaced; -EADDRINUSE when somebody does, -EEXIST when
 * it is no socket. */
int server_open(struct server **ret, const char *path, server_handler handler, void *arg,
		struct err *err);
void server_close(struct server *server); /* NULL is allowed */

/* Fills fds (SERVER_FDS of them) for poll(2); returns how many. */
int server_pollfds(struct server *server, struct pollfd *fds);
/* Serves what is ready, after poll(2) on those. now_ns: CLOCK_MONOTONIC. */
void server_serve(struct server *server, const struct pollfd *fds, int n, uint64_t now_ns);

#endif
