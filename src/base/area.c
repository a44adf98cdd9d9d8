/* SPDX-License-Identifier: BSD-2-Clause */
/* One window of addresses for all memory that programs may point into: see area.h. */
#include "area.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW_SIZE  ((size_t)1 << AREA_WINDOW_SHIFT)
#define GRANULE	     ((size_t)1 << AREA_GRANULE_SHIFT)
#define N_GRANULES   (WINDOW_SIZE >> AREA_GRANULE_SHIFT)
#define PAGE	     ((size_t)4096)
#define ROUND(n, to) (((n) + (to)-1) & ~((to)-1))

static pthread_mutex_t window_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *_Atomic window;		    /* PROT_NONE but for the areas */
static _Atomic(const struct area *) *table; /* a granule's area */
static size_t next_granule = 1;		    /* search starts here: addresses are reused late */

static int open_window(void)
{
	void *w, *t;

	if (atomic_load_explicit(&window, memory_order_relaxed))
		return 0;
	w = mmap(NULL, WINDOW_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w == MAP_FAILED)
		return -ENOMEM;
	t = mmap(NULL, N_GRANULES * sizeof(*table), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t == MAP_FAILED) {
		munmap(w, WINDOW_SIZE);
		return -ENOMEM;
	}
	table = t;
	atomic_store_explicit(&window, w, memory_order_release);
	return 0;
}

static bool run_free(size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (atomic_load_explicit(&table[first + i], memory_order_relaxed))
			return false;
	return true;
}

/* Finds n free granules; 0 when there are none (granule 0 is never given: it guards the window's start). */
static size_t find_run(size_t n)
{
	for (size_t pass = 0; pass < 2; pass++) {
		size_t end = N_GRANULES - n;

		for (size_t g = pass ? 1 : next_granule; g < end; g++)
			if (run_free(g, n))
				return g;
	}
	return 0;
}

static void set_run(size_t first, size_t n, const struct area *area)
{
	for (size_t i = 0; i < n; i++)
		atomic_store_explicit(&table[first + i], area, memory_order_release);
}

/* Granules of an area: a last page at least stays PROT_NONE, as the next area begins a granule later. */
static size_t granules(const struct area *area)
{
	return ROUND(ROUND(area->size, PAGE) + PAGE, GRANULE) >> AREA_GRANULE_SHIFT;
}

static int map_pages(struct area *area, size_t size, size_t mirror_from)
{
	size_t len = ROUND(size, PAGE);
	int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;

	if (mmap(area->base, len, prot, flags, area->memfd, 0) == MAP_FAILED)
		return -ENOMEM;
	if (mirror_from < size && mmap(area->base + len, len - mirror_from, prot, flags,
				       area->memfd, (off_t)mirror_from) == MAP_FAILED)
		return -ENOMEM;
	return 0;
}

static void unmap_run(size_t first, size_t n)
{
	mmap(window + (first << AREA_GRANULE_SHIFT), n << AREA_GRANULE_SHIFT, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	set_run(first, n, NULL);
}

int area_create_mirrored(struct area *area, size_t size, size_t mirror_from, const char *name)
{
	size_t first, n;
	int rc;

	if (!size || size > WINDOW_SIZE / 4)
		return -ENOMEM;
	*area = (struct area){ .size = size, .memfd = -1 };
	if (mirror_from < size)
		area->size = ROUND(size, PAGE) + ROUND(size, PAGE) - mirror_from;
	area->memfd = memfd_create(name, MFD_CLOEXEC);
	if (area->memfd < 0)
		return -errno;
	if (ftruncate(area->memfd, (off_t)ROUND(size, PAGE))) {
		rc = -errno;
		goto err_close;
	}
	n = granules(area);
	pthread_mutex_lock(&window_lock);
	rc = open_window();
	first = rc ? 0 : find_run(n);
	if (first) {
		next_granule = first + n;
		area->base = window + (first << AREA_GRANULE_SHIFT);
		rc = map_pages(area, size, mirror_from);
		if (!rc)
			set_run(first, n, area);
		else
			unmap_run(first, n);
	} else if (!rc) {
		rc = -ENOMEM;
	}
	pthread_mutex_unlock(&window_lock);
	if (!rc)
		return 0;
err_close:
	close(area->memfd);
	area->memfd = -1;
	return rc;
}

int area_create(struct area *area, size_t size, const char *name)
{
	return area_create_mirrored(area, size, size, name);
}

void area_destroy(struct area *area)
{
	if (!area->base)
		return;
	pthread_mutex_lock(&window_lock);
	unmap_run((size_t)(area->base - window) >> AREA_GRANULE_SHIFT, granules(area));
	pthread_mutex_unlock(&window_lock);
	close(area->memfd);
	area->base = NULL;
}

const struct area *area_find(uint64_t addr)
{
	const uint8_t *w = atomic_load_explicit(&window, memory_order_acquire);
	uint64_t off = addr - (uint64_t)(uintptr_t)w;

	if (!w || off >= WINDOW_SIZE)
		return NULL;
	return atomic_load_explicit(&table[off >> AREA_GRANULE_SHIFT], memory_order_acquire);
}
