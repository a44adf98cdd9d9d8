/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF ring buffers: see ringbuf.h. */
#include "ringbuf.h"

#include <errno.h>
#include <stdlib.h>

#include "maps/map_impl.h"

enum {
	PAGE = 4096,
	POS_PAGES = 2, /* consumer's, producer's */
	HDR_SIZE = BPF_RINGBUF_HDR_SZ,
	RECORD_MAX = UINT32_MAX / 4,
};

/* In front of each record, as the kernel has it. */
struct record_hdr {
	_Atomic uint32_t len; /* | BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT */
	uint32_t page_off;    /* of this header in the area */
};

struct ringbuf {
	struct map map;
	uint64_t mask;
	struct spin lock;
	uint64_t pending; /* up to here nothing is busy; under the lock */
	_Atomic uint64_t *consumer, *producer;
	uint8_t *data;
	struct spin wakeup_lock;
	void (*wakeup)(void *arg);
	void *wakeup_arg;
};

static struct ringbuf *ring_of(struct map *map)
{
	return (struct ringbuf *)map;
}

static int ringbuf_check(struct map_attr *attr)
{
	uint32_t n = attr->max_entries;

	if (attr->flags & ~(uint32_t)BPF_F_NUMA_NODE)
		return -EINVAL;
	if (attr->key_size || attr->value_size || !n || (n & (n - 1)) || n % PAGE)
		return -EINVAL;
	return 0;
}

static int ringbuf_create(struct map **ret, const struct map_attr *attr)
{
	size_t pos = (size_t)POS_PAGES * PAGE;
	struct ringbuf *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	rc = area_create_mirrored(&r->map.area, pos + attr->max_entries, pos, "map:ringbuf");
	if (rc) {
		free(r);
		return rc;
	}
	r->map.area.elem_size =
		(uint32_t)(r->map.area.size > UINT32_MAX ? UINT32_MAX : r->map.area.size);
	r->map.area.owner = &r->map;
	r->mask = attr->max_entries - 1;
	r->consumer = (void *)r->map.area.base;
	r->producer = (void *)(r->map.area.base + PAGE);
	r->data = r->map.area.base + pos;
	*ret = &r->map;
	return 0;
}

static void ringbuf_destroy(struct map *map)
{
	free(ring_of(map));
}

static struct record_hdr *hdr_at(const struct ringbuf *r, uint64_t pos)
{
	return (void *)(r->data + (pos & r->mask));
}

static uint64_t record_size(uint32_t len)
{
	len &= ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	return ((uint64_t)len + HDR_SIZE + 7) & ~(uint64_t)7;
}

/* Moves `pending` over the records that are no longer busy. The lengths are the producers' own: every
 * step is at least a header. */
static void advance_pending(struct ringbuf *r, uint64_t prod)
{
	while (r->pending < prod) {
		uint32_t len =
			atomic_load_explicit(&hdr_at(r, r->pending)->len, memory_order_acquire);

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		r->pending += record_size(len);
	}
}

static struct record_hdr *reserve_locked(struct ringbuf *r, uint32_t size)
{
	uint64_t prod = atomic_load_explicit(r->producer, memory_order_relaxed);
	uint64_t cons = atomic_load_explicit(r->consumer, memory_order_acquire);
	uint64_t end = prod + record_size(size);
	struct record_hdr *hdr;

	advance_pending(r, prod);
	if (end - cons > r->mask || end - r->pending > r->mask)
		return NULL;
	hdr = hdr_at(r, prod);
	atomic_store_explicit(&hdr->len, size | BPF_RINGBUF_BUSY_BIT, memory_order_relaxed);
	hdr->page_off = (uint32_t)(((uint8_t *)hdr - r->map.area.base) / PAGE);
	atomic_store_explicit(r->producer, end, memory_order_release);
	return hdr;
}

void *ringbuf_reserve(struct map *map, uint64_t size, uint64_t flags)
{
	struct ringbuf *r = ring_of(map);
	struct record_hdr *hdr;

	if (flags || size > RECORD_MAX || record_size((uint32_t)size) > r->mask + 1)
		return NULL;
	spin_lock(&r->lock);
	hdr = reserve_locked(r, (uint32_t)size);
	spin_unlock(&r->lock);
	return hdr ? hdr + 1 : NULL;
}

static void wake(struct ringbuf *r)
{
	spin_lock(&r->wakeup_lock);
	if (r->wakeup)
		r->wakeup(r->wakeup_arg);
	spin_unlock(&r->wakeup_lock);
}

void ringbuf_commit(struct map *map, void *record, uint64_t flags, bool discard)
{
	struct ringbuf *r = ring_of(map);
	struct record_hdr *hdr = (struct record_hdr *)record - 1;
	uint64_t pos = (uint64_t)((uint8_t *)hdr - r->data), cons;
	uint32_t len = atomic_load_explicit(&hdr->len, memory_order_relaxed);

	len &= ~(uint32_t)BPF_RINGBUF_BUSY_BIT;
	if (discard)
		len |= BPF_RINGBUF_DISCARD_BIT;
	/* seq_cst: either this thread sees that the consumer has caught up, or the consumer the record. */
	atomic_exchange(&hdr->len, len);
	cons = atomic_load(r->consumer) & r->mask;
	if ((flags & BPF_RB_FORCE_WAKEUP) || (cons == pos && !(flags & BPF_RB_NO_WAKEUP)))
		wake(r);
}

int ringbuf_output(struct map *map, const void *data, uint64_t size, uint64_t flags)
{
	void *record;

	if (flags & ~(uint64_t)(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP))
		return -EINVAL;
	record = ringbuf_reserve(map, size, 0);
	if (!record)
		return -EAGAIN;
	memcpy(record, data, size);
	ringbuf_commit(map, record, flags, false);
	return 0;
}

uint64_t ringbuf_query(struct map *map, uint64_t flags)
{
	struct ringbuf *r = ring_of(map);
	uint64_t cons = atomic_load_explicit(r->consumer, memory_order_acquire);
	uint64_t prod = atomic_load_explicit(r->producer, memory_order_acquire);

	switch (flags) {
	case BPF_RB_AVAIL_DATA:
		return prod - cons;
	case BPF_RB_RING_SIZE:
		return r->mask + 1;
	case BPF_RB_CONS_POS:
		return cons;
	case BPF_RB_PROD_POS:
		return prod;
	default:
		return 0;
	}
}

void ringbuf_set_wakeup(struct map *map, void (*fn)(void *arg), void *arg)
{
	struct ringbuf *r = ring_of(map);

	spin_lock(&r->wakeup_lock);
	r->wakeup = fn;
	r->wakeup_arg = arg;
	spin_unlock(&r->wakeup_lock);
}

uint32_t ringbuf_consume(struct map *map, void (*fn)(void *arg, const void *data, uint32_t size),
			 void *arg)
{
	struct ringbuf *r = ring_of(map);
	uint64_t cons = atomic_load_explicit(r->consumer, memory_order_relaxed);
	uint64_t prod = atomic_load_explicit(r->producer, memory_order_acquire);
	uint32_t n = 0;

	while (cons < prod) {
		struct record_hdr *hdr = hdr_at(r, cons);
		uint32_t len = atomic_load(&hdr->len);

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			fn(arg, hdr + 1, len);
			n++;
		}
		cons += record_size(len);
		atomic_store(r->consumer, cons);
	}
	return n;
}

const struct map_ops ringbuf_ops = {
	.type = BPF_MAP_TYPE_RINGBUF,
	.name = "ringbuf",
	.check = ringbuf_check,
	.create = ringbuf_create,
	.destroy = ringbuf_destroy,
};
