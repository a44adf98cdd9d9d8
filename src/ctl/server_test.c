/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket's server against clients that behave and clients that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ctl/server.c"

static char path[96];
static struct server *server;
static uint64_t clock_now = 1;

/* "echo LINE", but a line of "large" gives 1 MB. */
static char *echo(void *arg, const char *line)
{
	char *text = malloc(1 << 20);

	(*(int *)arg)++;
	memset(text, 'x', 1 << 20);
	if (strcmp(line, "large") == 0)
		text[(1 << 20) - 1] = '\0';
	else
		snprintf(text, 1 << 20, "echo %s", line);
	return text;
}

static int n_requests;

static int start(void **state)
{
	struct err err = { 0 };

	n_requests = 0;
	snprintf(path, sizeof(path), "/tmp/weir_server_test.%d", (int)getpid());
	return server_open(&server, path, echo, &n_requests, &err);
}

static int stop(void **state)
{
	server_close(server);
	return access(path, F_OK) == 0 ? -1 : 0;
}

static void serve(int times)
{
	struct pollfd fds[SERVER_FDS];

	for (int i = 0; i < times; i++) {
		int n = server_pollfds(server, fds);

		poll(fds, (nfds_t)n, 0);
		server_serve(server, fds, n, clock_now);
	}
}

static int dial(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	serve(1);
	return fd;
}

/* Sends, serves, and returns what came back ("" when nothing did). */
static const char *ask(int fd, const char *text)
{
	static char answer[4096];
	ssize_t n;

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	serve(4);
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	answer[n > 0 ? n : 0] = '\0';
	return answer;
}

static bool hung_up(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) == 0;
}

static void test_requests(void **state)
{
	int fd = dial();

	assert_string_equal(ask(fd, "one\n"), "echo one\n");
	assert_string_equal(ask(fd, "two\nthree\n"), "echo two\necho three\n");
	assert_string_equal(ask(fd, "fo"), "");
	assert_string_equal(ask(fd, "ur\n"), "echo four\n");
	assert_string_equal(ask(fd, "\n"), "echo \n");
	close(fd);
	serve(2);
	assert_int_equal(n_requests, 5);
}

static void test_oversized_request_is_refused(void **state)
{
	static char text[SERVER_LINE_MAX + 100];
	int fd = dial();
	size_t off = 0;
	char answer[256];
	ssize_t n;

	memset(text, 'a', sizeof(text));
	for (int i = 0; i < 1000 && off < sizeof(text); i++) {
		n = send(fd, text + off, sizeof(text) - off, MSG_NOSIGNAL);
		off += n > 0 ? (size_t)n : 0;
		serve(1);
	}
	serve(4);
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	assert_true(n > 0);
	answer[n] = '\0';
	assert_non_null(strstr(answer, "longer than 65536 bytes"));
	assert_int_equal(n_requests, 0);
	for (int i = 0; i < SERVER_CLIENTS; i++)
		assert_int_equal(server->clients[i].fd, -1);
	close(fd);
}

static void test_slow_client_is_cut_off(void **state)
{
	int slow = dial(), other = dial();

	assert_int_equal(send(slow, "large\nlarge\n", 12, MSG_NOSIGNAL), 12);
	serve(10);
	assert_int_equal(n_requests, 1); /* the second waits for the first answer to go */
	assert_string_equal(ask(other, "quick\n"), "echo quick\n");
	clock_now += SERVER_STALL_NS / 2;
	assert_string_equal(ask(other, "quick\n"), "echo quick\n");
	clock_now += SERVER_STALL_NS;
	serve(1);
	assert_string_equal(ask(other, "still\n"), "echo still\n");
	assert_int_equal(n_requests, 4);
	assert_null(client_of(server, -2));
	close(slow);
	close(other);
}

static void test_full_table_drops_the_idlest(void **state)
{
	int fds[SERVER_CLIENTS + 1];

	for (int i = 0; i < SERVER_CLIENTS; i++) {
		clock_now++;
		fds[i] = dial();
	}
	clock_now++;
	assert_string_equal(ask(fds[0], "busy\n"), "echo busy\n");
	fds[SERVER_CLIENTS] = dial();
	assert_string_equal(ask(fds[SERVER_CLIENTS], "new\n"), "echo new\n");
	assert_true(hung_up(fds[1]));
	assert_string_equal(ask(fds[0], "here\n"), "echo here\n");
	for (int i = 0; i <= SERVER_CLIENTS; i++)
		close(fds[i]);
}

/* Random bytes in random pieces: the server answers each line and keeps its bounds. */
static void test_garbage(void **state)
{
	unsigned int seed = 20240611;
	int fd = dial();

	for (int i = 0; i < 2000; i++) {
		char bytes[64];
		size_t n = 1 + (size_t)rand_r(&seed) % sizeof(bytes);

		for (size_t k = 0; k < n; k++)
			bytes[k] = (char)rand_r(&seed);
		if (send(fd, bytes, n, MSG_NOSIGNAL) < 0)
			break;
		serve(2);
		while (recv(fd, bytes, sizeof(bytes), 0) > 0)
			;
	}
	close(fd);
	serve(2);
	fd = dial();
	assert_string_equal(ask(fd, "alive\n"), "echo alive\n");
	close(fd);
}

static void test_socket_file(void **state)
{
	struct server *second = NULL;
	struct err err = { 0 };
	struct stat st;
	FILE *f;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(server_open(&second, path, echo, &n_requests, &err), -EADDRINUSE);
	assert_non_null(strstr(err.text, "another instance"));
	assert_null(second);

	/* A dead instance's socket is replaced. File times have the granularity of a tick. */
	close(server->fd);
	usleep(20000);
	assert_int_equal(server_open(&second, path, echo, &n_requests, &err), 0);
	server->fd = dup(0);
	server_close(server); /* does not take away what is not its own */
	assert_int_equal(access(path, F_OK), 0);
	server = second;

	server_close(server);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(server_open(&second, path, echo, &n_requests, &err), -EEXIST);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	assert_int_equal(server_open(&server, path, echo, &n_requests, &err), 0);
	assert_int_equal(server_open(&second, "", echo, &n_requests, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_requests, start, stop),
		cmocka_unit_test_setup_teardown(test_oversized_request_is_refused, start, stop),
		cmocka_unit_test_setup_teardown(test_slow_client_is_cut_off, start, stop),
		cmocka_unit_test_setup_teardown(test_full_table_drops_the_idlest, start, stop),
		cmocka_unit_test_setup_teardown(test_garbage, start, stop),
		cmocka_unit_test_setup_teardown(test_socket_file, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
