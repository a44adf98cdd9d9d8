/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors and the objects behind them: see fd.h. */
#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maps/map.h"

enum {
	/* Numbers with a bit of their own; larger ones are looked up each time. The usual hard limit of
	 * open files is 2^20, a process of weir has some hundreds. */
	HINT_FDS = 1 << 16,
	N_BUCKETS = 256, /* inodes of memfds are consecutive: the low bits spread them evenly */
};

struct fd_entry {
	dev_t dev;
	ino_t ino;
	struct obj *obj;
	unsigned int n_fds;
	struct fd_entry *next;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fd_entry *buckets[N_BUCKETS];
static _Atomic uint64_t hints[HINT_FDS / 64];

static void hint_set(int fd, bool ours)
{
	uint64_t bit;

	if (fd < 0 || fd >= HINT_FDS)
		return;
	bit = 1ULL << (fd % 64);
	if (ours)
		atomic_fetch_or_explicit(&hints[fd / 64], bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&hints[fd / 64], ~bit, memory_order_relaxed);
}

bool fd_is_ours(int fd)
{
	if (fd < 0)
		return false;
	if (fd >= HINT_FDS)
		return true;
	return atomic_load_explicit(&hints[fd / 64], memory_order_relaxed) >> (fd % 64) & 1;
}

static struct fd_entry **entry_find(const struct stat *st)
{
	struct fd_entry **link = &buckets[st->st_ino % N_BUCKETS];

	while (*link && ((*link)->ino != st->st_ino || (*link)->dev != st->st_dev))
		link = &(*link)->next;
	return link;
}

static struct map *obj_as_map(struct obj *obj)
{
	return obj->kind == OBJ_MAP ? (struct map *)obj : NULL;
}

/* One more descriptor of st's file; makes its entry with the first. */
static int entry_add(const struct stat *st, struct obj *obj)
{
	struct fd_entry *entry, **link;
	int rc = 0;

	pthread_mutex_lock(&table_lock);
	link = entry_find(st);
	entry = *link;
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry) {
			rc = -ENOMEM;
			goto out;
		}
		entry->dev = st->st_dev;
		entry->ino = st->st_ino;
		entry->obj = obj_get(obj);
		*link = entry;
	}
	entry->n_fds++;
	if (obj_as_map(obj))
		map_uref_get(obj_as_map(obj));
out:
	pthread_mutex_unlock(&table_lock);
	return rc;
}

/* The same file, opened again with another access mode. */
static int fd_reopen(int fd, int mode)
{
	char path[64];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, mode | O_CLOEXEC);
	return copy < 0 ? -errno : copy;
}

/* A descriptor of the file that stands for obj: the value area of a map that has one, else an empty file. */
static int fd_make(struct obj *obj, int mode)
{
	static const char *const names[OBJ_KINDS] = {
		[OBJ_MAP] = "bpf-map",	 [OBJ_PROG] = "bpf-prog", [OBJ_BTF] = "btf",
		[OBJ_LINK] = "bpf-link", [OBJ_XSK] = "bpf-xsk",	  [OBJ_PERF] = "bpf-perf",
	};
	struct map *map = obj_as_map(obj);
	int fd, copy;

	if (map && map->area.base)
		fd = fcntl(map->area.memfd, F_DUPFD_CLOEXEC, 3);
	else
		fd = memfd_create(names[obj->kind], MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (mode == O_RDWR && fd > 2)
		return fd;
	/* libbpf and its users take 0, 1 and 2 for no descriptor */
	copy = mode == O_RDWR ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd_reopen(fd, mode);
	if (copy < 0 && mode == O_RDWR)
		copy = -errno;
	close(fd);
	return copy;
}

int fd_install(struct obj *obj, int mode)
{
	struct stat st;
	int fd, rc;

	fd = fd_make(obj, mode);
	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? -errno : entry_add(&st, obj);
	if (rc) {
		close(fd);
		return rc;
	}
	hint_set(fd, true);
	return fd;
}

int fd_resolve(int fd, enum obj_kind kind, struct obj **ret)
{
	struct fd_entry *entry;
	struct stat st;
	int rc = -EINVAL;

	if (fstat(fd, &st))
		return -EBADF;
	pthread_mutex_lock(&table_lock);
	entry = *entry_find(&st);
	if (entry && (!kind || entry->obj->kind == kind)) {
		*ret = obj_get(entry->obj);
		rc = 0;
	}
	pthread_mutex_unlock(&table_lock);
	return rc;
}

int fd_mode(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? O_RDWR : flags & O_ACCMODE;
}

void fd_forget(int fd)
{
	struct fd_entry *entry, **link;
	struct obj *obj = NULL, *last = NULL;
	struct stat st;

	hint_set(fd, false);
	if (fstat(fd, &st))
		return;
	pthread_mutex_lock(&table_lock);
	link = entry_find(&st);
	entry = *link;
	if (entry) {
		obj = obj_get(entry->obj);
		if (!--entry->n_fds) {
			last = entry->obj;
			*link = entry->next;
			free(entry);
		}
	}
	pthread_mutex_unlock(&table_lock);
	/* Outside the lock: the last reference may close descriptors of its own. */
	if (obj && obj_as_map(obj))
		map_uref_put(obj_as_map(obj));
	obj_put(last);
	obj_put(obj);
}

void fd_duplicated(int fd, int copy)
{
	struct obj *obj;
	struct stat st;

	if (fstat(copy, &st) || fd_resolve(fd, 0, &obj))
		return;
	if (!entry_add(&st, obj))
		hint_set(copy, true);
	obj_put(obj);
}
