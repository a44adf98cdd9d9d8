/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and unmaking an engine, and driving it from the caller's thread: see engine.h. */
#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "engine/engine_impl.h"
#include "maps/devmap.h"

enum {
	FRAMES_DEFAULT = 16384, /* 68 MB: AF_XDP rings of 4 queues, and bursts */
	DISTANCE_DEFAULT = 4,	/* design 3: 4 to 8 frames ahead */
};

/* Whose interfaces devmaps may name: the latest engine's. Written and read by control threads. */
static _Atomic(struct net *) world;

static bool ifindex_known(uint32_t ifindex)
{
	struct net *net = atomic_load(&world);

	return !net || net_if_by_index(net, ifindex);
}

static int check_cfg(struct engine_cfg *cfg, struct err *err)
{
	if (!cfg->n_frames)
		cfg->n_frames = FRAMES_DEFAULT;
	if (!cfg->burst)
		cfg->burst = BURST_MAX;
	if (!cfg->prefetch_distance)
		cfg->prefetch_distance = DISTANCE_DEFAULT;
	if (cfg->burst > BURST_MAX)
		return err_set(err, EINVAL, "burst %u: must be 1 to %u", cfg->burst, BURST_MAX);
	if (cfg->prefetch_distance > BURST_MAX)
		return err_set(err, EINVAL, "prefetch distance %u: must be 1 to %u",
			       cfg->prefetch_distance, BURST_MAX);
	if (cfg->cpu >= cpu_count())
		return err_set(err, EINVAL, "cpu %u: there are %u, give more with --cpus", cfg->cpu,
			       cpu_count());
	return 0;
}

static int worker_create(struct engine *engine)
{
	struct worker *w = aligned_alloc(_Alignof(struct worker), sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	*w = (struct worker){ .engine = engine };
	rc = run_ctx_init(&w->rc, engine->cfg.cpu, engine->net);
	if (rc) {
		free(w);
		return rc;
	}
	w->rc.fixed_time = engine->cfg.fixed_time;
	w->rc.fixed_time_ns = engine->cfg.time_ns;
	w->rc.worker = w;
	pthread_mutex_init(&w->fault_lock, NULL);
	pool_cache_init(&w->cache, engine->pool);
	qsbr_register(&w->qsbr);
	qsbr_offline(&w->qsbr);
	engine->worker = w;
	return 0;
}

static void worker_destroy(struct worker *w)
{
	qsbr_unregister(&w->qsbr);
	pool_cache_fini(&w->cache);
	pthread_mutex_destroy(&w->fault_lock);
	run_ctx_fini(&w->rc);
	free(w);
}

int engine_create(struct engine **ret, const struct engine_cfg *cfg, struct err *err)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int rc;

	if (!engine)
		return err_set(err, ENOMEM, "no memory for the engine");
	engine->cfg = *cfg;
	engine->wake_fd = -1;
	rc = check_cfg(&engine->cfg, err);
	if (rc)
		goto err_free;
	rc = pool_create(&engine->pool, engine->cfg.n_frames, err);
	if (rc)
		goto err_free;
	rc = net_create(&engine->net);
	if (rc)
		goto err_pool;
	rc = worker_create(engine);
	if (rc)
		goto err_net;
	atomic_store(&world, engine->net);
	devmap_set_ifindex_known(ifindex_known);
	*ret = engine;
	return 0;
err_net:
	net_destroy(engine->net);
err_pool:
	pool_destroy(engine->pool);
	err_set(err, -rc, "no memory for the engine");
err_free:
	free(engine);
	return rc;
}

uint32_t engine_destroy(struct engine *engine)
{
	struct net *net;
	uint32_t missing;

	if (!engine)
		return 0;
	engine_stop(engine);
	for (uint32_t i = 0; i < engine->n_ports; i++) {
		port_close(engine->ports[i].port);
		if (engine->ports[i].prog)
			prog_put(engine->ports[i].prog);
	}
	worker_destroy(engine->worker);
	net = engine->net;
	atomic_compare_exchange_strong(&world, &net, NULL);
	net_destroy(engine->net);
	missing = pool_destroy(engine->pool);
	free(engine);
	return missing;
}

struct net *engine_net(struct engine *engine)
{
	return engine->net;
}

struct pool *engine_pool(struct engine *engine)
{
	return engine->pool;
}

struct run_ctx *engine_run_ctx(struct engine *engine)
{
	return &engine->worker->rc;
}

/* Driven by the caller: its thread is worker 0, online for the length of a call. */

void engine_poll_frames(struct engine *engine, struct port *port, struct frame **frames, uint32_t n,
			struct outcome *outcomes)
{
	struct worker *w = engine->worker;
	struct trace trace = { .n = n, .outcomes = outcomes };

	qsbr_online(&w->qsbr);
	if (outcomes) {
		for (uint32_t i = 0; i < n; i++)
			trace.frames[i] = frames[i];
		w->trace = &trace;
	}
	if (n)
		worker_burst(w, &engine->ports[port->id], frames, n);
	worker_flush_ports(w);
	w->trace = NULL;
	qsbr_offline(&w->qsbr);
}

uint32_t engine_poll(struct engine *engine)
{
	struct worker *w = engine->worker;
	uint32_t n;

	qsbr_online(&w->qsbr);
	n = worker_poll(w);
	qsbr_offline(&w->qsbr);
	return n;
}

uint32_t engine_alloc(struct engine *engine, struct frame **frames, uint32_t n)
{
	return pool_alloc(&engine->worker->cache, frames, n);
}

void engine_free(struct engine *engine, struct frame **frames, uint32_t n)
{
	pool_free(&engine->worker->cache, frames, n);
}
