/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of the control socket: one request to a running instance. */
#include "ctl/control.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <weir/run.h>

enum {
	ANSWER_TIMEOUT_S = 10,
	ANSWER_MAX =
		1 << 30, /* bytes: a dump of the largest map that fits in memory with its JSON */
};

static int connect_to(const char *path, int *ret_fd, struct err *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	int fd;

	if (!path[0] || strlen(path) >= sizeof(addr.sun_path))
		return err_set(err, EINVAL, "control socket '%s': a path has 1 to %zu characters",
			       path, sizeof(addr.sun_path) - 1);
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, errno, "control socket %s: %s", path, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr))) {
		int code = err_set(err, errno, "control socket %s: %s: is that instance running?",
				   path, strerror(errno));

		close(fd);
		return code;
	}
	*ret_fd = fd;
	return 0;
}

/* Adds the socket to what was found, when somebody listens there. */
static void candidate_try(const char *path, char *found, size_t size, uint32_t *n)
{
	int fd;

	if (connect_to(path, &fd, NULL))
		return;
	close(fd);
	if ((*n)++ == 0)
		snprintf(found, size, "%s", path);
}

/* The socket of the only instance that runs. */
static int default_path(char *found, size_t size, struct err *err)
{
	char dir[108], path[512];
	struct dirent *entry;
	uint32_t n = 0;
	DIR *list;
	int ret = control_dir(dir, sizeof(dir), err);

	if (ret)
		return ret;
	list = opendir(dir);
	while (list && (entry = readdir(list))) {
		size_t len = strlen(entry->d_name);

		if (len <= 5 || strcmp(entry->d_name + len - 5, ".sock") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		candidate_try(path, found, size, &n);
	}
	if (list)
		closedir(list);
	if (n == 0)
		return err_set(err, ENOENT,
			       "no instance of weir runs (no socket answers in %s); start one, or "
			       "name its socket with --control",
			       dir);
	if (n > 1)
		return err_set(err, EINVAL,
			       "%u instances run; name one of %s/*.sock with --control", n, dir);
	return 0;
}

static int send_line(int fd, const char *text)
{
	size_t len = strlen(text), off = 0;

	while (off < len) {
		ssize_t n = send(fd, text + off, len - off, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		off += n > 0 ? (size_t)n : 0;
	}
	return send(fd, "\n", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int receive_line(int fd, char **ret)
{
	size_t len = 0, cap = 65536;
	char *buf = malloc(cap), *larger;

	while (buf && cap <= ANSWER_MAX) {
		ssize_t n = recv(fd, buf + len, cap - len - 1, 0);

		if (n <= 0) {
			int code = n == 0 ? -ECONNRESET : errno == EAGAIN ? -ETIMEDOUT : -errno;

			free(buf);
			return code;
		}
		len += (size_t)n;
		if (buf[len - 1] == '\n') {
			buf[len - 1] = '\0';
			*ret = buf;
			return 0;
		}
		if (len < cap - 1)
			continue;
		larger = realloc(buf, cap *= 2);
		if (!larger)
			free(buf);
		buf = larger;
	}
	free(buf);
	return -ENOMEM;
}

/* An answer {"error":...} becomes the text of a failure. */
static int answer_check(const char *answer, struct err *err)
{
	json_t *json = json_loads(answer, 0, NULL);
	const char *text = json_string_value(json_object_get(json, "error"));
	int ret = 0;

	if (!json)
		ret = err_set(err, EPROTO, "the instance's answer is not JSON");
	else if (text)
		ret = err_set(err, EREMOTEIO, "%s", text);
	json_decref(json);
	return ret;
}

int weir_control(const char *socket_path, const char *request, char **ret_json,
		 struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	char found[512], *answer = NULL;
	int fd, ret;

	if (strchr(request, '\n'))
		return err_set(err, EINVAL, "a request is one line");
	if (!socket_path) {
		ret = default_path(found, sizeof(found), err);
		if (ret)
			return ret;
		socket_path = found;
	}
	ret = connect_to(socket_path, &fd, err);
	if (ret)
		return ret;
	ret = send_line(fd, request);
	if (!ret)
		ret = receive_line(fd, &answer);
	close(fd);
	if (ret)
		return err_set(err, -ret, "control socket %s: %s", socket_path, strerror(-ret));
	ret = answer_check(answer, err);
	if (ret)
		free(answer);
	else
		*ret_json = answer;
	return ret;
}
