/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines over a UNIX socket: see server.h. */
#include "ctl/server.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const uint64_t SERVER_STALL_NS = 10ull * 1000 * 1000 * 1000;

struct client {
	int fd;		    /* -1: free */
	uint64_t active_ns; /* when it last sent or took something */
	bool closing;	    /* after the answer */
	size_t in_len;
	char *in; /* SERVER_LINE_MAX + 1 */
	char *out;
	size_t out_len, out_off;
};

struct server {
	int fd;
	server_handler handler;
	void *arg;
	struct sockaddr_un addr;
	struct stat own; /* of the socket file that is ours */
	struct client clients[SERVER_CLIENTS];
};

static void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->in);
	free(c->out);
	*c = (struct client){ .fd = -1 };
}

static bool someone_listens(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool listens;

	if (fd < 0)
		return true;
	listens = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 || errno == EAGAIN;
	close(fd);
	return listens;
}

/* Makes room for our socket where a dead instance left one. */
static int stale_remove(const struct sockaddr_un *addr, struct err *err)
{
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, EEXIST,
			       "control socket %s: a file that is no socket is there; name another "
			       "with --control",
			       addr->sun_path);
	if (someone_listens(addr))
		return err_set(
			err, EADDRINUSE,
			"control socket %s: another instance listens there; name another with "
			"--control",
			addr->sun_path);
	unlink(addr->sun_path);
	return 0;
}

static int failed(const char *path, struct err *err)
{
	return err_set(err, errno, "control socket %s: %s", path, strerror(errno));
}

/* Binds and listens; the mode is set before there is anything to connect to. */
static int listen_on(struct server *server, struct err *err)
{
	const char *path = server->addr.sun_path;

	if (fchmod(server->fd, 0600) ||
	    bind(server->fd, (const struct sockaddr *)&server->addr, sizeof(server->addr)))
		return failed(path, err);
	if (listen(server->fd, SERVER_CLIENTS) || lstat(path, &server->own)) {
		int ret = failed(path, err);

		unlink(path);
		return ret;
	}
	return 0;
}

int server_open(struct server **ret_server, const char *path, server_handler handler, void *arg,
		struct err *err)
{
	struct server *server;
	int ret;

	if (!path[0] || strlen(path) >= sizeof(server->addr.sun_path))
		return err_set(err, EINVAL, "control socket '%s': a path has 1 to %zu characters",
			       path, sizeof(server->addr.sun_path) - 1);
	server = calloc(1, sizeof(*server));
	if (!server)
		return err_set(err, ENOMEM, "control socket %s: no memory", path);
	server->handler = handler;
	server->arg = arg;
	server->addr.sun_family = AF_UNIX;
	strcpy(server->addr.sun_path, path);
	for (int i = 0; i < SERVER_CLIENTS; i++)
		server->clients[i].fd = -1;
	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ret = server->fd < 0 ? failed(path, err) : stale_remove(&server->addr, err);
	if (!ret)
		ret = listen_on(server, err);
	if (ret) {
		if (server->fd >= 0)
			close(server->fd);
		free(server);
		return ret;
	}
	*ret_server = server;
	return 0;
}

/* Inode numbers are used again at once: the time of making tells two files apart. */
static bool file_is_own(const struct server *server)
{
	struct stat st;

	return lstat(server->addr.sun_path, &st) == 0 && st.st_dev == server->own.st_dev &&
	       st.st_ino == server->own.st_ino && st.st_mtim.tv_sec == server->own.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == server->own.st_mtim.tv_nsec;
}

void server_close(struct server *server)
{
	if (!server)
		return;
	for (int i = 0; i < SERVER_CLIENTS; i++)
		client_close(&server->clients[i]);
	close(server->fd);
	if (file_is_own(server))
		unlink(server->addr.sun_path);
	free(server);
}

int server_pollfds(struct server *server, struct pollfd *fds)
{
	int n = 0;

	fds[n++] = (struct pollfd){ .fd = server->fd, .events = POLLIN };
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		const struct client *c = &server->clients[i];

		/* No further request is read before the answer to the last one has gone. */
		if (c->fd >= 0)
			fds[n++] =
				(struct pollfd){ .fd = c->fd, .events = c->out ? POLLOUT : POLLIN };
	}
	return n;
}

static struct client *client_slot(struct server *server)
{
	struct client *idlest = &server->clients[0];

	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &server->clients[i];

		if (c->fd < 0)
			return c;
		if (c->active_ns < idlest->active_ns)
			idlest = c;
	}
	client_close(idlest);
	return idlest;
}

static void client_accept(struct server *server, uint64_t now_ns)
{
	struct client *c;
	int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	c = client_slot(server);
	c->in = malloc(SERVER_LINE_MAX + 1);
	c->fd = fd;
	c->active_ns = now_ns;
	if (!c->in)
		client_close(c);
}

/* Takes over the answer, a line end added. */
static void answer_set(struct client *c, char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *line = text ? realloc(text, len + 2) : NULL;

	if (!line) {
		free(text);
		client_close(c);
		return;
	}
	line[len] = '\n';
	c->out = line;
	c->out_len = len + 1;
	c->out_off = 0;
}

static void client_write(struct client *c, uint64_t now_ns)
{
	ssize_t n = send(c->fd, c->out + c->out_off, c->out_len - c->out_off,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			client_close(c);
		return;
	}
	c->active_ns = now_ns;
	c->out_off += (size_t)n;
	if (c->out_off < c->out_len)
		return;
	free(c->out);
	c->out = NULL;
	if (c->closing)
		client_close(c);
}

/* Answers one line if a whole one is there. */
static void line_serve(struct server *server, struct client *c, uint64_t now_ns)
{
	char *end = memchr(c->in, '\n', c->in_len);
	size_t used;

	if (!end) {
		if (c->in_len < SERVER_LINE_MAX)
			return;
		c->closing = true;
		answer_set(c, strdup("{\"error\": \"the request is longer than 65536 bytes\"}"));
	} else {
		*end = '\0';
		used = (size_t)(end - c->in) + 1;
		answer_set(c, server->handler(server->arg, c->in));
		if (c->fd < 0)
			return;
		memmove(c->in, c->in + used, c->in_len - used);
		c->in_len -= used;
	}
	if (c->fd >= 0)
		client_write(c, now_ns);
}

static void client_read(struct server *server, struct client *c, uint64_t now_ns)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, SERVER_LINE_MAX - c->in_len, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		client_close(c);
		return;
	}
	if (n < 0)
		return;
	c->active_ns = now_ns;
	c->in_len += (size_t)n;
	line_serve(server, c, now_ns);
}

static struct client *client_of(struct server *server, int fd)
{
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		if (server->clients[i].fd == fd)
			return &server->clients[i];
	}
	return NULL;
}

/* Requests that came in one piece with an earlier one, and clients that take nothing. */
static void clients_tend(struct server *server, uint64_t now_ns)
{
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &server->clients[i];

		if (c->fd < 0)
			continue;
		if (c->out && now_ns - c->active_ns > SERVER_STALL_NS)
			client_close(c);
		else if (!c->out && c->in_len)
			line_serve(server, c, now_ns);
	}
}

void server_serve(struct server *server, const struct pollfd *fds, int n, uint64_t now_ns)
{
	for (int i = 1; i < n; i++) {
		struct client *c = fds[i].revents ? client_of(server, fds[i].fd) : NULL;

		if (!c)
			continue;
		if (c->out)
			client_write(c, now_ns);
		else
			client_read(server, c, now_ns);
	}
	clients_tend(server, now_ns);
	if (n > 0 && fds[0].revents)
		client_accept(server, now_ns);
}
