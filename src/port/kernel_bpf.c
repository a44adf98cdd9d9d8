/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's own bpf(2): see kernel_bpf.h. */
#include "port/kernel_bpf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* syscall(2) is wrapped when weir is linked: what has to reach the kernel is called without it. */
static long raw_bpf(int cmd, union bpf_attr *attr, size_t size)
{
#if defined(__x86_64__)
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"((long)__NR_bpf), "D"((long)cmd), "S"(attr), "d"(size)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = __NR_bpf;
	register long x0 __asm__("x0") = cmd;
	register long x1 __asm__("x1") = (long)attr;
	register long x2 __asm__("x2") = (long)size;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
#error "a system call without libc is written for x86-64 and arm64"
#endif
}

static int kernel_bpf(int cmd, union bpf_attr *attr)
{
	return (int)raw_bpf(cmd, attr, sizeof(*attr));
}

int kernel_bpf_xskmap_create(uint32_t n_queues)
{
	union bpf_attr attr = { 0 };

	attr.map_type = BPF_MAP_TYPE_XSKMAP;
	attr.key_size = 4;
	attr.value_size = 4;
	attr.max_entries = n_queues;
	strcpy(attr.map_name, "weir_xsk");
	return kernel_bpf(BPF_MAP_CREATE, &attr);
}

int kernel_bpf_xskmap_set(int map_fd, uint32_t queue, int socket_fd)
{
	union bpf_attr attr = { 0 };
	uint32_t value = (uint32_t)socket_fd;

	attr.map_fd = (uint32_t)map_fd;
	attr.key = (uintptr_t)&queue;
	attr.value = (uintptr_t)&value;
	return kernel_bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int kernel_bpf_redirect_prog(int map_fd)
{
	const struct bpf_insn insns[] = {
		/* r2 = ctx->rx_queue_index; return bpf_redirect_map(map, r2, XDP_PASS) */
		{ .code = BPF_LDX | BPF_W | BPF_MEM,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_1,
		  .off = 16 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map_fd },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { 0 };
	int fd;

	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.expected_attach_type = BPF_XDP;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t) "Dual BSD/GPL";
	/* So that an MTU above a page is no reason to refuse it. */
	attr.prog_flags = BPF_F_XDP_HAS_FRAGS;
	strcpy(attr.prog_name, "weir_xsk");
	fd = kernel_bpf(BPF_PROG_LOAD, &attr);
	if (fd != -EINVAL)
		return fd;
	attr.prog_flags = 0; /* a kernel below 5.18 */
	return kernel_bpf(BPF_PROG_LOAD, &attr);
}

int kernel_bpf_xdp_link(int prog_fd, uint32_t ifindex, uint32_t flags)
{
	union bpf_attr attr = { 0 };

	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_ifindex = ifindex;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = flags;
	return kernel_bpf(BPF_LINK_CREATE, &attr);
}

static int prog_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr = { 0 };

	memset(info, 0, sizeof(*info));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uintptr_t)info;
	return kernel_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

void kernel_bpf_prog_name(uint32_t id, char name[16])
{
	union bpf_attr attr = { 0 };
	struct bpf_prog_info info;
	int fd;

	name[0] = 0;
	attr.prog_id = id;
	fd = kernel_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return;
	if (!prog_info(fd, &info))
		memcpy(name, info.name, 16);
	name[15] = 0;
	close(fd);
}

uint32_t kernel_bpf_prog_id(int prog_fd)
{
	struct bpf_prog_info info;

	return prog_info(prog_fd, &info) ? 0 : info.id;
}
