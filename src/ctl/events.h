/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --events: what programs say while they run: trace_printk text, records of perf event arrays and of ring
 * buffers, given to opts.event as lines of text or JSON. Between the run context and maps below, and whoever
 * drives the engine above.
 *
 * JSON: {"event":"trace","text":T}, {"event":"perf","map":M,"cpu":N,"size":N,"type":S,"data":V,"packet":"hex"},
 * {"event":"ringbuf","map":M,"size":N,"type":S,"data":V}. A record is typed when the object's BTF has exactly one
 * struct of its size; else "type" is null and "data" a hex string.
 *
 * Threads: trace text and perf records come from any worker (a lock around the callback); events_poll from the
 * control thread.
 * Ownership: weir->events; freed by events_free, before the engine and the object.
 */
#ifndef WEIR_CTL_EVENTS_H
#define WEIR_CTL_EVENTS_H

#include "ctl/instance.h"

/* After load: puts sinks into the perf event arrays, and the trace sink into worker 0's run context. Without
 * opts.event: nothing. */
int events_attach(struct weir *weir, struct err *err);
/* Gives out the ring-buffer records that are ready; returns how many. After each poll in `weir test`, now and
 * then while workers run. */
uint32_t events_poll(struct weir *weir);
void events_free(struct instance_events *events);
/* The sink for further run contexts; NULL without events. */
struct trace_sink *events_trace_sink(struct instance_events *events);

#endif
