/* SPDX-License-Identifier: BSD-2-Clause */
/* Framed messages on a stream socket: see wire.h. */
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static int send_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return sent < 0 ? -errno : -EPIPE;
		p += sent;
		n -= (size_t)sent;
	}
	return 0;
}

static int recv_all(int fd, void *bytes, size_t n)
{
	char *p = bytes;

	while (n) {
		ssize_t got = recv(fd, p, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EPIPE;
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

int wire_send(int fd, const struct wire_head *head, const void *a, uint32_t a_len, const void *b,
	      uint32_t b_len)
{
	struct wire_head h = *head;
	int rc;

	h.len = a_len + b_len;
	rc = send_all(fd, &h, sizeof(h));
	if (!rc && a_len)
		rc = send_all(fd, a, a_len);
	if (!rc && b_len)
		rc = send_all(fd, b, b_len);
	return rc;
}

int wire_recv(int fd, struct wire_head *head, void **ret_bytes)
{
	char *bytes;
	int rc = recv_all(fd, head, sizeof(*head));

	if (rc)
		return rc;
	if (head->len > WIRE_MAX)
		return -EMSGSIZE;
	bytes = malloc((size_t)head->len + 1);
	if (!bytes)
		return -ENOMEM;
	rc = recv_all(fd, bytes, head->len);
	if (rc) {
		free(bytes);
		return rc;
	}
	bytes[head->len] = '\0';
	*ret_bytes = bytes;
	return 0;
}
