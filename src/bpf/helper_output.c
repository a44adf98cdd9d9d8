/* SPDX-License-Identifier: BSD-2-Clause */
/* Records to user space: perf events and ring buffers (net/core/filter.c, kernel/bpf/ringbuf.c). */
#include "bpf/helper_impl.h"

#include "maps/map.h"
#include "maps/perf_array.h"
#include "maps/ringbuf.h"

/* ctx, map, flags, data, size */
HELPER(perf_event_output)
{
	const struct frame *f = helper_frame(a1);
	struct map *map = helper_map(a2);
	uint64_t packet_size = (a3 & BPF_F_CTXLEN_MASK) >> 32;
	uint64_t index = a3 & BPF_F_INDEX_MASK;
	struct perf_sink *sink;

	if (a3 & ~(BPF_F_CTXLEN_MASK | BPF_F_INDEX_MASK))
		return helper_error(EINVAL);
	if (packet_size > frame_len(f))
		return helper_error(EFAULT);
	if (index == BPF_F_CURRENT_CPU)
		index = rc->cpu;
	if (index >= map->max_entries)
		return helper_error(E2BIG);
	sink = perf_array_lookup(map, (uint32_t)index);
	if (!sink)
		return helper_error(ENOENT);
	if (sink->cpu != rc->cpu)
		return helper_error(EOPNOTSUPP);
	return (uint64_t)(int64_t)sink->output(sink, map, helper_ptr(a4), (uint32_t)a5, f->data,
					       (uint32_t)packet_size);
}

HELPER(ringbuf_output)
{
	return (uint64_t)(int64_t)ringbuf_output(helper_map(a1), helper_ptr(a2), a3, a4);
}

HELPER(ringbuf_reserve)
{
	struct map *map = helper_map(a1);
	void *record;

	if (rc->n_reservations == RUN_RESERVATIONS || a2 > UINT32_MAX)
		return 0;
	record = ringbuf_reserve(map, a2, a3);
	if (record)
		rc->reservations[rc->n_reservations++] =
			(struct reservation){ .addr = record, .size = (uint32_t)a2, .map = map };
	return (uint64_t)(uintptr_t)record;
}

/* The record is one of the reservations: helper_check has seen to it. */
static uint64_t commit(struct run_ctx *rc, void *record, uint64_t flags, bool discard)
{
	for (uint32_t i = 0; i < rc->n_reservations; i++) {
		struct reservation r = rc->reservations[i];

		if (r.addr != record)
			continue;
		rc->reservations[i] = rc->reservations[--rc->n_reservations];
		ringbuf_commit(r.map, record, flags, discard);
		break;
	}
	return 0;
}

HELPER(ringbuf_submit)
{
	return commit(rc, helper_ptr(a1), a2, false);
}

HELPER(ringbuf_discard)
{
	return commit(rc, helper_ptr(a1), a2, true);
}

HELPER(ringbuf_query)
{
	return ringbuf_query(helper_map(a1), a2);
}
