/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap(2) of a map's descriptor: kernel/bpf/syscall.c, bpf_map_mmap, arraymap.c and ringbuf.c
 * (xdp-semantics 9.4, 9.7). The memory is the memfd's own; what is kept here is the list of writable
 * mappings, since a map with one cannot be frozen.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/fd.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"

enum { PAGE = 4096 };

/* A writable mapping: it counts as a writer of the map, and holds it. */
struct mapping {
	uint8_t *addr;
	size_t len;
	struct map *map; /* owned */
	struct mapping *next;
};

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;
static _Atomic unsigned int n_mappings; /* spares munmap(2) of the rest of the process the lock */

static uint64_t round_page(uint64_t n)
{
	return (n + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static int check_array(const struct map *map, size_t len, uint64_t off)
{
	uint64_t size = round_page((uint64_t)map->max_entries * map->stride);

	if (!(map->flags & BPF_F_MMAPABLE))
		return -EINVAL;
	return off > size || len > size - off ? -EINVAL : 0;
}

/* The consumer's page may be written to; the producer's page and the data may not. */
static int check_ringbuf(const struct map *map, size_t len, int prot, uint64_t off)
{
	uint64_t size = 2 * PAGE + 2 * (uint64_t)map->max_entries;

	if (prot & PROT_WRITE && (off || len > PAGE))
		return -EPERM;
	return off > size || len > size - off ? -EINVAL : 0;
}

static int check_mmap(struct map *map, size_t len, int prot, int flags, uint64_t off)
{
	bool ringbuf = map->type == BPF_MAP_TYPE_RINGBUF;
	bool write = prot & PROT_WRITE;

	if (!ringbuf && map->type != BPF_MAP_TYPE_ARRAY)
		return -ENOTSUPP;
	if (map->spin_lock_off != UINT32_MAX)
		return -ENOTSUPP;
	if (!(flags & MAP_SHARED))
		return -EINVAL;
	if (write && map->frozen)
		return -EPERM;
	if (write && map->flags & BPF_F_RDONLY_PROG)
		return -EACCES;
	return ringbuf ? check_ringbuf(map, len, prot, off) : check_array(map, len, off);
}

/* The data of a ring lies in the file once: what reaches beyond its end is the data's start again. */
static void *map_pages(const struct map *map, void *addr, size_t len, int prot, int flags, int fd,
		       uint64_t off)
{
	uint64_t file = 2 * PAGE + (uint64_t)map->max_entries;
	uint8_t *base;
	size_t first;

	if (map->type != BPF_MAP_TYPE_RINGBUF || off + len <= file)
		return sys_kernel_mmap(addr, len, prot, flags, fd, off);
	base = sys_kernel_mmap(addr, round_page(len), PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | (flags & MAP_FIXED), -1, 0);
	if (base == MAP_FAILED)
		return MAP_FAILED;
	first = off < file ? (size_t)(file - off) : 0;
	if ((!first ||
	     sys_kernel_mmap(base, first, prot, MAP_SHARED | MAP_FIXED, fd, off) != MAP_FAILED) &&
	    sys_kernel_mmap(base + first, len - first, prot, MAP_SHARED | MAP_FIXED, fd,
			    off + first - map->max_entries) != MAP_FAILED)
		return base;
	munmap(base, len);
	return MAP_FAILED;
}

/* Counts a writer; takes map's reference when that succeeds. */
static int mapping_add(struct map *map, uint8_t *addr, size_t len)
{
	struct mapping *m = malloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	*m = (struct mapping){ .addr = addr, .len = len, .map = map };
	map->writers++;
	pthread_mutex_lock(&mappings_lock);
	m->next = mappings;
	mappings = m;
	n_mappings++;
	pthread_mutex_unlock(&mappings_lock);
	return 0;
}

void *sys_mmap(void *addr, size_t len, int prot, int flags, int fd, uint64_t off)
{
	struct obj *obj;
	struct map *map;
	void *ret;
	int rc;

	rc = fd_resolve(fd, 0, &obj);
	if (rc) /* not weir's after all */
		return sys_kernel_mmap(addr, len, prot, flags, fd, off);
	if (obj->kind != OBJ_MAP) {
		obj_put(obj);
		errno = ENODEV;
		return MAP_FAILED;
	}
	map = (struct map *)obj;
	rc = check_mmap(map, len, prot, flags, off);
	if (rc) {
		map_put(map);
		errno = -rc;
		return MAP_FAILED;
	}
	ret = map_pages(map, addr, len, prot & ~PROT_EXEC, flags, fd, off);
	if (ret == MAP_FAILED || !(prot & PROT_WRITE)) {
		map_put(map);
		return ret;
	}
	if (!mapping_add(map, ret, len))
		return ret;
	munmap(ret, len);
	map_put(map);
	errno = ENOMEM;
	return MAP_FAILED;
}

void sys_munmapped(void *addr, size_t len)
{
	uint8_t *lo = addr, *hi = lo + len;
	struct mapping *gone = NULL, **link;

	if (!n_mappings)
		return;
	pthread_mutex_lock(&mappings_lock);
	link = &mappings;
	while (*link) {
		struct mapping *m = *link;

		if (m->addr >= lo && m->addr + m->len <= hi) {
			*link = m->next;
			m->next = gone;
			gone = m;
			n_mappings--;
		} else {
			link = &m->next;
		}
	}
	pthread_mutex_unlock(&mappings_lock);
	while (gone) {
		struct mapping *next = gone->next;

		gone->map->writers--;
		map_put(gone->map);
		free(gone);
		gone = next;
	}
}
