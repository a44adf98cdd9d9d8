/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that sends: see traffic.h. */
#include "traffic.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "bpf/sys.h"
#include "port/kernel_bpf.h"

enum {
	LIVE_BATCH = 64,
	LOOPBACK = 1,
	START_UP_FRAMES = 1,
	CALL_FRAMES_MAX = 1 << 30, /* the kernel counts in 32 bits */
	WAIT_MS = 60 * 1000,
};

struct traffic {
	pid_t pid;
	int fd;
	_Atomic uint32_t *done; /* shared with the process */
};

static int prog_load(const struct bpf_insn *insns, uint32_t n)
{
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n;
	attr.license = (uintptr_t) "Dual BSD/GPL";
	strcpy(attr.prog_name, "weir_traffic");
	return (int)sys_kernel_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* return bpf_redirect(ifindex, 0) */
static int sender_load(uint32_t ifindex)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,
		  .dst_reg = BPF_REG_1,
		  .imm = (int32_t)ifindex },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return prog_load(insns, sizeof(insns) / sizeof(insns[0]));
}

int traffic_sink(uint32_t ifindex)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int prog = prog_load(insns, sizeof(insns) / sizeof(insns[0])), link;

	if (prog < 0)
		return prog;
	link = kernel_bpf_xdp_link(prog, ifindex, XDP_FLAGS_DRV_MODE);
	close(prog); /* the link holds it */
	return link;
}

/* The process */

/* An IPv4 UDP packet; the receivers look at none of it. */
static void frame_make(uint8_t *frame)
{
	static const uint8_t head[] = {
		0x02, 0, 0,  0,	 0, 2, 0x02, 0, 0,  0,	0, 1, 0x08, 0x00, /* Ethernet */
		0x45, 0, 0,  50, 0, 0, 0,    0, 64, 17, 0, 0, 10,   0,
		0,    1, 10, 0,	 0, 2, /* IPv4 */
	};

	memset(frame, 0, TRAFFIC_FRAME_BYTES);
	memcpy(frame, head, sizeof(head));
}

/* Nanoseconds of one call, or -errno. */
static int64_t call(int prog_fd, uint64_t frames)
{
	struct xdp_md ctx = { .data_end = TRAFFIC_FRAME_BYTES, .ingress_ifindex = LOOPBACK };
	uint8_t frame[TRAFFIC_FRAME_BYTES];
	union bpf_attr attr = { 0 };
	uint64_t start;
	long rc;

	frame_make(frame);
	attr.test.prog_fd = (uint32_t)prog_fd;
	attr.test.data_in = (uintptr_t)frame;
	attr.test.data_size_in = sizeof(frame);
	attr.test.ctx_in = (uintptr_t)&ctx;
	attr.test.ctx_size_in = sizeof(ctx);
	attr.test.repeat = (uint32_t)frames;
	attr.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	attr.test.batch_size = LIVE_BATCH;
	start = clock_ns(CLOCK_MONOTONIC);
	rc = sys_kernel_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
	return rc < 0 ? rc : (int64_t)(clock_ns(CLOCK_MONOTONIC) - start);
}

static int64_t send_frames(int prog_fd, uint64_t frames)
{
	/* Making the page pool and taking it down again costs the same for one frame. */
	int64_t start_up = call(prog_fd, START_UP_FRAMES), total = 0;

	if (start_up < 0)
		return start_up;
	while (frames) {
		uint64_t n = frames < CALL_FRAMES_MAX ? frames : CALL_FRAMES_MAX;
		int64_t ns = call(prog_fd, n);

		if (ns < 0)
			return ns;
		total += ns - start_up;
		frames -= n;
	}
	return total > 0 ? total : -EINVAL;
}

static int serve(struct traffic *traffic, uint32_t ifindex, uint32_t cpu)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t frames;
	int prog_fd, rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	rc = cpu_pin(cpu);
	prog_fd = rc ? rc : sender_load(ifindex);
	if (write(traffic->fd, &prog_fd, sizeof(prog_fd)) != sizeof(prog_fd) || prog_fd < 0)
		return 1;
	while (read(traffic->fd, &frames, sizeof(frames)) == sizeof(frames)) {
		int64_t ns = send_frames(prog_fd, frames);

		atomic_store_explicit(traffic->done, 1, memory_order_release);
		if (write(traffic->fd, &ns, sizeof(ns)) != sizeof(ns))
			return 1;
	}
	return 0;
}

/* weir's end */

static int process_start(struct traffic *traffic, uint32_t ifindex, uint32_t cpu)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	traffic->pid = fork();
	if (traffic->pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return -errno;
	}
	traffic->fd = pair[!traffic->pid];
	close(pair[!!traffic->pid]);
	if (!traffic->pid)
		_exit(serve(traffic, ifindex, cpu));
	return 0;
}

int traffic_open(struct traffic **ret, uint32_t ifindex, uint32_t cpu, struct err *err)
{
	struct traffic *traffic = calloc(1, sizeof(*traffic));
	int rc = -ENOMEM, answer;

	if (!traffic)
		return err_set(err, ENOMEM, "no memory for the traffic generator");
	traffic->done = mmap(NULL, sizeof(*traffic->done), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (traffic->done == MAP_FAILED)
		goto err_free;
	rc = process_start(traffic, ifindex, cpu);
	if (rc)
		goto err_unmap;
	if (read(traffic->fd, &answer, sizeof(answer)) != sizeof(answer))
		answer = -EIO;
	if (answer < 0) {
		traffic_close(traffic);
		return err_set(err, -answer, "the traffic generator cannot start on CPU %u: %s",
			       cpu, errno_name(answer));
	}
	*ret = traffic;
	return 0;

err_unmap:
	munmap(traffic->done, sizeof(*traffic->done));
err_free:
	free(traffic);
	return err_set(err, -rc, "no process for the traffic generator: %s", errno_name(rc));
}

int traffic_start(struct traffic *traffic, uint64_t frames)
{
	atomic_store_explicit(traffic->done, 0, memory_order_relaxed);
	return send(traffic->fd, &frames, sizeof(frames), MSG_NOSIGNAL) == sizeof(frames) ? 0
											  : -EIO;
}

bool traffic_done(const struct traffic *traffic)
{
	return atomic_load_explicit(traffic->done, memory_order_acquire);
}

int traffic_wait(struct traffic *traffic)
{
	struct pollfd pfd = { .fd = traffic->fd, .events = POLLIN };

	/* The end of the process is readable too. */
	if (poll(&pfd, 1, WAIT_MS) == 1)
		return 0;
	kill(traffic->pid, SIGKILL);
	return -ETIMEDOUT;
}

int64_t traffic_finish(struct traffic *traffic)
{
	int64_t ns;
	int rc = traffic_wait(traffic);

	if (rc)
		return rc;
	return read(traffic->fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : -EIO;
}

void traffic_close(struct traffic *traffic)
{
	if (!traffic)
		return;
	kill(traffic->pid, SIGKILL);
	close(traffic->fd);
	waitpid(traffic->pid, NULL, 0);
	munmap(traffic->done, sizeof(*traffic->done));
	free(traffic);
}
