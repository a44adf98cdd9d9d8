/* SPDX-License-Identifier: BSD-2-Clause */
/* DPDK's testpmd as a process: see testpmd.h. */
#include "testpmd.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define READY "Press enter to exit"

enum {
	OUTPUT_MAX = 65536,
	WAIT_MS = 20000, /* for what it is asked */
	NOT_INSTALLED = 127,
};

struct testpmd {
	pid_t pid;
	int fd; /* its terminal: into a pipe it would write by the block, and READY would not come */
	uint32_t n;
	char output[OUTPUT_MAX];
};

/* The process: from here to exec. */
static void become(int fd, const char *ifname, const char *lcores, const char *options)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	cpu_set_t all;
	char vdev[128];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	/* weir is bound to one CPU, and EAL takes no lcore outside. */
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	snprintf(vdev, sizeof(vdev), "net_af_xdp0,iface=%s%s", ifname, options);
	execlp("dpdk-testpmd", "dpdk-testpmd", "--no-huge", "--no-pci", "--no-shconf",
	       "--no-telemetry", "-m", "512", "--lcores", lcores, "--vdev", vdev, "--",
	       "--forward-mode=rxonly", "--record-core-cycles", "--total-num-mbufs=32768",
	       (char *)NULL);
	_exit(NOT_INSTALLED);
}

/* Reads on until the output has `text`, or ends (-EPIPE), or nothing comes (-ETIMEDOUT). */
static int output_wait(struct testpmd *pmd, const char *text)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + WAIT_MS * UINT64_C(1000000);

	while (clock_ns(CLOCK_MONOTONIC) < end && pmd->n < OUTPUT_MAX - 1) {
		struct pollfd pfd = { .fd = pmd->fd, .events = POLLIN };
		ssize_t n;

		if (text && strstr(pmd->output, text))
			return 0;
		if (poll(&pfd, 1, 100) <= 0)
			continue;
		n = read(pmd->fd, pmd->output + pmd->n, OUTPUT_MAX - 1 - pmd->n);
		if (n <= 0)
			return text ? -EPIPE : 0;
		pmd->n += (uint32_t)n;
		pmd->output[pmd->n] = '\0';
	}
	return -ETIMEDOUT;
}

/* The line that says why it ended: the first that names an error, else the last. */
static void complaint(const struct testpmd *pmd, char *buf, size_t size)
{
	static const char *const words[] = { "Cannot", "cannot", "rror", "ailed", "No probed" };
	const char *line = NULL, *end = pmd->output + pmd->n;

	for (size_t i = 0; !line && i < sizeof(words) / sizeof(words[0]); i++)
		line = strstr(pmd->output, words[i]);
	while (line && line > pmd->output && line[-1] != '\n')
		line--;
	if (!line)
		line = pmd->output;
	end = line + strcspn(line, "\r\n");
	snprintf(buf, size, "%.*s", (int)(end - line), line);
}

static int fail(struct testpmd *pmd, int rc, struct err *err)
{
	char line[160];
	int status = 0;

	if (rc == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT, "dpdk-testpmd did not answer for %d s",
			       WAIT_MS / 1000);
	if (waitpid(pmd->pid, &status, 0) == pmd->pid)
		pmd->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED)
		return err_set(err, ENOENT,
			       "dpdk-testpmd is not installed; scripts/setup --bench installs it");
	complaint(pmd, line, sizeof(line));
	return err_set(err, EIO, "dpdk-testpmd ended: %s", line);
}

int testpmd_open(struct testpmd **ret, const char *ifname, uint32_t cpu, uint32_t control_cpu,
		 const char *options, struct err *err)
{
	struct testpmd *pmd = calloc(1, sizeof(*pmd));
	char lcores[64];
	int terminal, rc;

	if (!pmd)
		return err_set(err, ENOMEM, "no memory for dpdk-testpmd's output");
	snprintf(lcores, sizeof(lcores), "0@%u,1@%u", control_cpu, cpu);
	rc = openpty(&pmd->fd, &terminal, NULL, NULL, NULL) ? errno : 0;
	if (rc)
		goto err_free;
	pmd->pid = fork();
	if (!pmd->pid) {
		close(pmd->fd);
		become(terminal, ifname, lcores, options);
	}
	rc = pmd->pid < 0 ? errno : 0;
	close(terminal);
	if (rc) {
		close(pmd->fd);
		goto err_free;
	}
	rc = output_wait(pmd, READY);
	if (rc) {
		rc = fail(pmd, rc, err);
		testpmd_close(pmd);
		return rc;
	}
	*ret = pmd;
	return 0;

err_free:
	free(pmd);
	return err_set(err, rc, "no process for dpdk-testpmd: %s", errno_name(rc));
}

/* The number behind the last occurrence of a label. */
static int last_number(const char *output, const char *label, double *ret)
{
	const char *at, *last = NULL;

	for (at = strstr(output, label); at; at = strstr(at + 1, label))
		last = at;
	if (!last)
		return -ENOENT;
	*ret = strtod(last + strlen(label), NULL);
	return 0;
}

int testpmd_finish(struct testpmd *pmd, struct testpmd_result *ret, struct err *err)
{
	double received = 0, cycles = 0;
	int rc;

	if (write(pmd->fd, "\n", 1) != 1)
		return fail(pmd, -EPIPE, err);
	rc = output_wait(pmd, NULL);
	if (rc)
		return fail(pmd, rc, err);
	if (last_number(pmd->output, "RX-packets:", &received))
		return fail(pmd, -EPIPE, err);
	(void)last_number(pmd->output, "CPU cycles/packet=", &cycles);
	ret->received = (uint64_t)received;
	ret->cycles = cycles;
	return 0;
}

void testpmd_close(struct testpmd *pmd)
{
	if (!pmd)
		return;
	if (pmd->pid > 0) {
		kill(pmd->pid, SIGKILL);
		waitpid(pmd->pid, NULL, 0);
	}
	close(pmd->fd);
	free(pmd);
}
