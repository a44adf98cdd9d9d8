/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Totals: the sum of what the worker and the ports counted. The identity of design 10 follows from three facts:
 * the worker counts each frame when it comes in; it counts its end, or hands it to a port; and a port counts what
 * it was handed as sent, lost or still in flight.
 */
#include "engine/engine_impl.h"

#include <string.h>

enum drop_reason count_tx_loss_reason(enum port_tx_loss loss)
{
	switch (loss) {
	case TX_LOSS_DOWN:
		return DROP_TX_DOWN;
	case TX_LOSS_TOO_LONG:
		return DROP_TX_TOO_LONG;
	case TX_LOSS_IO:
		return DROP_TX_IO;
	default:
		return DROP_TX_RING_FULL;
	}
}

/* Written by the worker while this thread reads. */
static uint64_t stat_read(const uint64_t *stat)
{
	return __atomic_load_n(stat, __ATOMIC_RELAXED);
}

void engine_totals(struct engine *engine, struct engine_totals *totals)
{
	const struct worker *w = engine->worker;

	memset(totals, 0, sizeof(*totals));
	totals->received = count_read(&w->received);
	for (uint32_t i = 0; i < DROP_REASONS; i++)
		totals->dropped[i] = count_read(&w->dropped[i]);
	for (uint32_t i = 0; i < engine->n_ports; i++) {
		struct port *port = engine->ports[i].port;

		totals->passed += count_read(&w->ports[i].passed);
		totals->aborted += count_read(&w->ports[i].aborted);
		totals->transmitted += stat_read(&port->stats.tx_frames);
		for (uint32_t loss = 0; loss < TX_LOSSES; loss++)
			totals->dropped[count_tx_loss_reason(loss)] +=
				stat_read(&port->stats.tx_dropped[loss]);
		if (port->ops->in_flight)
			totals->in_flight += port->ops->in_flight(port);
	}
}

void engine_port_totals(struct engine *engine, const struct port *port,
			struct engine_port_totals *totals)
{
	const struct port_counters *c = &engine->worker->ports[port->id];

	totals->received = count_read(&c->received);
	totals->passed = count_read(&c->passed);
	totals->aborted = count_read(&c->aborted);
	totals->dropped = count_read(&c->dropped);
	totals->tx = count_read(&c->tx);
	totals->redirected = count_read(&c->redirected);
	totals->transmitted = stat_read(&port->stats.tx_frames);
	for (uint32_t loss = 0; loss < TX_LOSSES; loss++)
		totals->dropped += stat_read(&port->stats.tx_dropped[loss]);
}

void count_fault(struct worker *w)
{
	pthread_mutex_lock(&w->fault_lock);
	w->last_fault = w->rc.last_fault;
	pthread_mutex_unlock(&w->fault_lock);
	atomic_store_explicit(&w->faults, w->rc.faults, memory_order_relaxed);
}

uint64_t engine_faults(struct engine *engine, struct fault *last)
{
	struct worker *w = engine->worker;

	pthread_mutex_lock(&w->fault_lock);
	*last = w->last_fault;
	pthread_mutex_unlock(&w->fault_lock);
	return count_read(&w->faults);
}
