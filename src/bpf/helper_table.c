/* SPDX-License-Identifier: BSD-2-Clause */
/* The prototypes of all helpers that weir has, by id: see helper.h; rules: xdp-semantics 10. */
#include "bpf/helper_impl.h"

#include <stdio.h>

#define FUNC(func)  .id = BPF_FUNC_##func, .name = #func, .fn = helper_##func
#define TYPE(t)	    (UINT64_C(1) << BPF_MAP_TYPE_##t)
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Kernel ids after the 6.1 header. */
enum { FUNC_CGRP_STORAGE_GET = 210, FUNC_CGRP_STORAGE_DELETE = 211, FUNC_IDS };

#define DEVICE_MAPS (TYPE(DEVMAP) | TYPE(DEVMAP_HASH) | TYPE(CPUMAP) | TYPE(XSKMAP))
#define LOOKUP_MAPS                                                                                \
	(TYPE(HASH) | TYPE(ARRAY) | TYPE(PERCPU_HASH) | TYPE(PERCPU_ARRAY) | TYPE(LRU_HASH) |      \
	 TYPE(LRU_PERCPU_HASH) | TYPE(LPM_TRIE) | TYPE(ARRAY_OF_MAPS) | TYPE(HASH_OF_MAPS) |       \
	 DEVICE_MAPS)
#define UPDATE_MAPS                                                                                \
	(TYPE(HASH) | TYPE(ARRAY) | TYPE(PERCPU_HASH) | TYPE(PERCPU_ARRAY) | TYPE(LRU_HASH) |      \
	 TYPE(LRU_PERCPU_HASH) | TYPE(LPM_TRIE))
#define EACH_MAPS                                                                                  \
	(TYPE(HASH) | TYPE(ARRAY) | TYPE(PERCPU_HASH) | TYPE(PERCPU_ARRAY) | TYPE(LRU_HASH) |      \
	 TYPE(LRU_PERCPU_HASH))

/* clang-format off */
static const struct helper table[] = {
	{ FUNC(map_lookup_elem), .ret = RET_MAP_VALUE, .args = { ARG_MAP, ARG_MAP_KEY },
	  .map_types = LOOKUP_MAPS },
	{ FUNC(map_update_elem), .args = { ARG_MAP, ARG_MAP_KEY, ARG_MAP_VALUE, ARG_SCALAR },
	  .map_types = UPDATE_MAPS },
	{ FUNC(map_delete_elem), .args = { ARG_MAP, ARG_MAP_KEY }, .map_types = UPDATE_MAPS },
	{ FUNC(ktime_get_ns) },
	{ .id = BPF_FUNC_tail_call, .name = "tail_call", .ret = RET_VOID,
	  .args = { ARG_CTX, ARG_MAP, ARG_SCALAR }, .map_types = TYPE(PROG_ARRAY) },
	{ FUNC(get_prandom_u32) },
	{ FUNC(get_smp_processor_id) },
	{ FUNC(get_current_pid_tgid) },
	{ FUNC(get_current_uid_gid) },
	{ FUNC(redirect), .args = { ARG_SCALAR, ARG_SCALAR } },
	{ FUNC(get_numa_node_id) },
	{ FUNC(redirect_map), .args = { ARG_MAP, ARG_SCALAR, ARG_SCALAR }, .map_types = DEVICE_MAPS },
	{ FUNC(map_push_elem), .args = { ARG_MAP, ARG_MAP_VALUE, ARG_SCALAR },
	  .map_types = TYPE(QUEUE) | TYPE(STACK) | TYPE(BLOOM_FILTER) },
	{ FUNC(map_pop_elem), .args = { ARG_MAP, ARG_MAP_VALUE_OUT },
	  .map_types = TYPE(QUEUE) | TYPE(STACK) },
	{ FUNC(map_peek_elem), .args = { ARG_MAP, ARG_MAP_VALUE_OUT },
	  .map_types = TYPE(QUEUE) | TYPE(STACK) | TYPE(BLOOM_FILTER) },
	{ FUNC(spin_lock), .ret = RET_VOID, .args = { ARG_SPIN_LOCK } },
	{ FUNC(spin_unlock), .ret = RET_VOID, .args = { ARG_SPIN_LOCK } },
	{ FUNC(jiffies64) },
	{ FUNC(ktime_get_boot_ns) },
	{ FUNC(ktime_get_coarse_ns) },
	{ FUNC(ktime_get_tai_ns) },
	{ FUNC(trace_printk), .gpl = true,
	  .args = { ARG_MEM, ARG_SIZE, ARG_SCALAR, ARG_SCALAR, ARG_SCALAR } },
	{ FUNC(trace_vprintk), .gpl = true,
	  .args = { ARG_MEM, ARG_SIZE, ARG_MEM_OR_NULL, ARG_SIZE_OR_ZERO } },
	{ FUNC(snprintf), .gpl = true,
	  .args = { ARG_MEM_OUT, ARG_SIZE_OR_ZERO, ARG_CONST_STR, ARG_MEM_OR_NULL, ARG_SIZE_OR_ZERO } },
	{ FUNC(perf_event_output), .gpl = true,
	  .args = { ARG_CTX, ARG_MAP, ARG_SCALAR, ARG_MEM, ARG_SIZE_OR_ZERO },
	  .map_types = TYPE(PERF_EVENT_ARRAY) },
	{ FUNC(csum_diff), .args = { ARG_MEM_OR_NULL, ARG_SIZE_OR_ZERO, ARG_MEM_OR_NULL,
				     ARG_SIZE_OR_ZERO, ARG_SCALAR } },
	{ FUNC(xdp_adjust_head), .args = { ARG_CTX, ARG_SCALAR }, .moves_packet = true },
	{ FUNC(xdp_adjust_meta), .args = { ARG_CTX, ARG_SCALAR }, .moves_packet = true },
	{ FUNC(xdp_adjust_tail), .args = { ARG_CTX, ARG_SCALAR }, .moves_packet = true },
	{ FUNC(xdp_get_buff_len), .args = { ARG_CTX } },
	{ FUNC(xdp_load_bytes), .args = { ARG_CTX, ARG_SCALAR, ARG_MEM_OUT, ARG_SIZE } },
	{ FUNC(xdp_store_bytes), .args = { ARG_CTX, ARG_SCALAR, ARG_MEM, ARG_SIZE } },
	{ FUNC(fib_lookup), .gpl = true, .args = { ARG_CTX, ARG_MEM_OUT, ARG_SIZE, ARG_SCALAR } },
	{ FUNC(check_mtu), .gpl = true, .fixed = 4,
	  .args = { ARG_CTX, ARG_SCALAR, ARG_MEM_FIXED_OUT, ARG_SCALAR, ARG_SCALAR } },
	{ FUNC(ringbuf_output), .args = { ARG_MAP, ARG_MEM, ARG_SIZE_OR_ZERO, ARG_SCALAR },
	  .map_types = TYPE(RINGBUF) },
	{ FUNC(ringbuf_reserve), .ret = RET_MEM, .args = { ARG_MAP, ARG_SCALAR, ARG_SCALAR },
	  .map_types = TYPE(RINGBUF) },
	{ FUNC(ringbuf_submit), .ret = RET_VOID, .args = { ARG_RINGBUF_RECORD, ARG_SCALAR } },
	{ FUNC(ringbuf_discard), .ret = RET_VOID, .args = { ARG_RINGBUF_RECORD, ARG_SCALAR } },
	{ FUNC(ringbuf_query), .args = { ARG_MAP, ARG_SCALAR }, .map_types = TYPE(RINGBUF) },
	{ FUNC(strncmp), .args = { ARG_MEM, ARG_SIZE, ARG_CONST_STR } },
	{ FUNC(strtol), .fixed = 8,
	  .args = { ARG_MEM, ARG_SIZE, ARG_SCALAR, ARG_MEM_FIXED_OUT } },
	{ FUNC(strtoul), .fixed = 8,
	  .args = { ARG_MEM, ARG_SIZE, ARG_SCALAR, ARG_MEM_FIXED_OUT } },
	{ FUNC(probe_read_kernel), .gpl = true,
	  .args = { ARG_MEM_OUT, ARG_SIZE_OR_ZERO, ARG_SCALAR } },
	{ FUNC(probe_read_kernel_str), .gpl = true,
	  .args = { ARG_MEM_OUT, ARG_SIZE_OR_ZERO, ARG_SCALAR } },
	{ .id = BPF_FUNC_for_each_map_elem, .name = "for_each_map_elem", .needs_prog = true,
	  .args = { ARG_MAP, ARG_CALLBACK, ARG_ANY_OR_NULL, ARG_SCALAR }, .map_types = EACH_MAPS },
	{ FUNC(map_lookup_percpu_elem), .ret = RET_MAP_VALUE,
	  .args = { ARG_MAP, ARG_MAP_KEY, ARG_SCALAR },
	  .map_types = TYPE(PERCPU_HASH) | TYPE(PERCPU_ARRAY) | TYPE(LRU_PERCPU_HASH) },
	{ .id = BPF_FUNC_loop, .name = "loop", .needs_prog = true,
	  .args = { ARG_SCALAR, ARG_CALLBACK, ARG_ANY_OR_NULL, ARG_SCALAR } },
};
/* clang-format on */

const struct helper *helper_by_id(uint32_t id)
{
	/* An index in the table, plus 1; the table is fixed, so filling it twice is harmless. */
	static uint8_t index[FUNC_IDS];
	static _Atomic bool filled;

	if (!filled) {
		for (uint32_t i = 0; i < COUNT_OF(table); i++)
			__atomic_store_n(&index[table[i].id], (uint8_t)(i + 1), __ATOMIC_RELAXED);
		filled = true;
	}
	return id < FUNC_IDS && index[id] ? &table[index[id] - 1] : NULL;
}

const char *helper_id_name(uint32_t id)
{
#define NAME(func) [BPF_FUNC_##func] = #func
	static const char *const names[FUNC_IDS] = {
		__BPF_FUNC_MAPPER(NAME)[FUNC_CGRP_STORAGE_GET] = "cgrp_storage_get",
		[FUNC_CGRP_STORAGE_DELETE] = "cgrp_storage_delete",
	};
#undef NAME
	static _Thread_local char unknown[24];

	if (id < FUNC_IDS && names[id])
		return names[id];
	snprintf(unknown, sizeof(unknown), "helper %u", id);
	return unknown;
}

const struct helper *kfunc_by_name(const char *name)
{
	return NULL;
}

const struct helper *helper_at(uint32_t i)
{
	return i < COUNT_OF(table) ? &table[i] : NULL;
}
