/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls of libbpf and libxdp as the linker redirects them (-Wl,--wrap, in this folder's meson.build). What
 * concerns weir's objects ends in sys.c, fd.c and pin.c; all else goes to the kernel unchanged, for
 * weir's own code too, which is linked the same way.
 */
#include "bpf/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cpu.h"
#include "bpf/btf.h"
#include "bpf/fd.h"
#include "bpf/sys_impl.h"

/* The linker's names: __real_x is the library's x, __wrap_x what calls of x become. */
long __real_syscall(long nr, ...);
int __real_close(int fd);
int __real_dup3(int fd, int copy, int flags);
int __real_fcntl64(int fd, int cmd, ...);
int __real_open64(const char *path, int flags, ...);
void *__real_mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off);
int __real_munmap(void *addr, size_t len);
int __real_mkdir(const char *path, mode_t mode);
int __real_statfs64(const char *path, struct statfs64 *st);
struct btf *__real_btf__load_vmlinux_btf(void);

long __wrap_syscall(long nr, ...);
int __wrap_close(int fd);
int __wrap_dup3(int fd, int copy, int flags);
int __wrap_fcntl64(int fd, int cmd, ...);
int __wrap_open64(const char *path, int flags, ...);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off);
int __wrap_munmap(void *addr, size_t len);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_statfs64(const char *path, struct statfs64 *st);
struct btf *__wrap_btf__load_vmlinux_btf(void);

static const char possible_cpus[] = "/sys/devices/system/cpu/possible";

static atomic_bool pass_through;

void sys_pass_through(void)
{
	atomic_store_explicit(&pass_through, true, memory_order_relaxed);
}

bool sys_is_pass_through(void)
{
	return atomic_load_explicit(&pass_through, memory_order_relaxed);
}

long sys_kernel_bpf(int cmd, union bpf_attr *attr, unsigned int size)
{
	long rc = __real_syscall(__NR_bpf, cmd, attr, size);

	return rc < 0 ? -errno : rc;
}

static long set_errno(long rc)
{
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

/* perf_buffer__new of libbpf opens these; counters of the host's CPU are none of bpf(2)'s business. */
static bool is_bpf_output(const struct perf_event_attr *attr)
{
	return attr && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

long __wrap_syscall(long nr, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!sys_is_pass_through()) {
		if (nr == __NR_bpf)
			return set_errno(
				sys_bpf((int)a[0], (union bpf_attr *)a[1], (unsigned int)a[2]));
		if (nr == __NR_perf_event_open &&
		    is_bpf_output((const struct perf_event_attr *)a[0]))
			return set_errno(-EOPNOTSUPP);
	}
	return __real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool is_weirs(int fd)
{
	return fd_is_ours(fd) && !sys_is_pass_through();
}

int __wrap_close(int fd)
{
	if (is_weirs(fd))
		fd_forget(fd);
	return __real_close(fd);
}

int __wrap_dup3(int fd, int copy, int flags)
{
	int rc;

	/* dup3 closes `copy`, if it does anything at all */
	if (is_weirs(copy) && fd != copy && __real_fcntl64(fd, F_GETFD) >= 0)
		fd_forget(copy);
	rc = __real_dup3(fd, copy, flags);
	if (rc >= 0 && is_weirs(fd))
		fd_duplicated(fd, rc);
	return rc;
}

int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	rc = __real_fcntl64(fd, cmd, arg);
	if (rc >= 0 && (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) && is_weirs(fd))
		fd_duplicated(fd, rc);
	return rc;
}

/* The list of possible CPUs, from which libbpf sizes per-CPU values: weir's CPUs. */
static int open_possible_cpus(void)
{
	int fd = memfd_create("possible", MFD_CLOEXEC);
	uint32_t n = cpu_count();
	char text[32];
	int len;

	if (fd < 0)
		return -1;
	len = n > 1 ? snprintf(text, sizeof(text), "0-%u\n", n - 1)
		    : snprintf(text, sizeof(text), "0\n");
	if (pwrite(fd, text, (size_t)len, 0) != len) {
		__real_close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (!sys_is_pass_through() && !strcmp(path, possible_cpus))
		return open_possible_cpus();
	return __real_open64(path, flags, mode);
}

void *sys_kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, uint64_t off)
{
	return __real_mmap64(addr, len, prot, flags, fd, (off64_t)off);
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off)
{
	if (flags & MAP_ANONYMOUS || !is_weirs(fd))
		return __real_mmap64(addr, len, prot, flags, fd, off);
	return sys_mmap(addr, len, prot, flags, fd, (uint64_t)off);
}

int __wrap_munmap(void *addr, size_t len)
{
	int rc = __real_munmap(addr, len);

	if (!rc)
		sys_munmapped(addr, len);
	return rc;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	if (!sys_is_pass_through() && pin_path_is_ours(path)) {
		errno = EEXIST;
		return -1;
	}
	return __real_mkdir(path, mode);
}

int __wrap_statfs64(const char *path, struct statfs64 *st)
{
	if (!sys_is_pass_through() && pin_path_is_ours(path)) {
		memset(st, 0, sizeof(*st));
		st->f_type = BPF_FS_MAGIC;
		return 0;
	}
	return __real_statfs64(path, st);
}

struct btf *__wrap_btf__load_vmlinux_btf(void)
{
	return sys_is_pass_through() ? __real_btf__load_vmlinux_btf() : vmlinux_btf_new();
}
