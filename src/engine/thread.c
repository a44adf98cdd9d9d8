/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker in a thread: polls while there are frames, sleeps on the ports' descriptors when there are none,
 * and lets the ports' rings run empty at the end. The system calls of the engine are here.
 */
#include "engine/engine_impl.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	/* Empty polls before a sleep: a few microseconds, in which the next frame of a busy port comes. */
	IDLE_POLLS = 64,
	/* The longest sleep: completions of a quiet transmit ring have no descriptor to wake by. */
	SLEEP_MS = 10,
	SLEEP_FDS = 256, /* what does not fit is polled after SLEEP_MS */
	/* How long ports may take at the end to send what they took: then it stays in flight, and is counted so. */
	DRAIN_TRIES = 200,
	DRAIN_PAUSE_NS = 1000000,
};

bool engine_done(struct engine *engine)
{
	uint64_t max = atomic_load_explicit(&engine->max_frames, memory_order_relaxed);

	if (max && count_read(&engine->worker->received) >= max)
		return true;
	for (uint32_t i = 0; i < engine->n_ports; i++)
		if (engine->ports[i].input &&
		    !atomic_load_explicit(&engine->ports[i].ended, memory_order_acquire))
			return false;
	return true;
}

void engine_limit(struct engine *engine, uint64_t max_frames)
{
	atomic_store_explicit(&engine->max_frames, max_frames, memory_order_relaxed);
}

int engine_input_error(struct engine *engine, struct err *err)
{
	for (uint32_t i = 0; i < engine->n_ports; i++) {
		const struct port *port = engine->ports[i].port;
		int rc = atomic_load_explicit(&engine->ports[i].lost, memory_order_acquire);

		if (!rc)
			continue;
		if (port->lost[0])
			return err_set(err, -rc, "%s", port->lost);
		return err_set(err, -rc,
			       "port %s: lost while running: %s (%s), is the interface still there "
			       "and up?",
			       port->name, strerrordesc_np(-rc), errno_name(rc));
	}
	return 0;
}

/* Whether frames may come from this port without a call of ours. */
static bool port_may_wake(const struct wired *port)
{
	return port->port->ops->from_host ||
	       (port->input && !atomic_load_explicit(&port->ended, memory_order_relaxed));
}

/* The descriptors to sleep on; -1 when a port has none and must be polled. */
static int gather_fds(struct engine *engine, struct pollfd *polls)
{
	int fds[SLEEP_FDS], n = 0, got;

	for (uint32_t i = 0; i < engine->n_ports; i++) {
		struct port *port = engine->ports[i].port;

		if (!port_may_wake(&engine->ports[i]))
			continue;
		if (!port->ops->poll_fds)
			return -1;
		got = port->ops->poll_fds(port, &fds[n], SLEEP_FDS - n);
		if (got > 0)
			n += got;
	}
	for (int i = 0; i < n; i++)
		polls[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	return n;
}

static void worker_sleep(struct worker *w)
{
	struct pollfd polls[SLEEP_FDS + 1];
	int n = gather_fds(w->engine, polls);

	if (n < 0)
		return;
	polls[n] = (struct pollfd){ .fd = w->engine->wake_fd, .events = POLLIN };
	qsbr_offline(&w->qsbr);
	poll(polls, (nfds_t)n + 1, SLEEP_MS);
	qsbr_online(&w->qsbr);
}

static uint64_t in_flight(const struct engine *engine)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < engine->n_ports; i++)
		if (engine->ports[i].port->ops->in_flight)
			n += engine->ports[i].port->ops->in_flight(engine->ports[i].port);
	return n;
}

/* Lets what the ports took leave. */
static void drain(struct worker *w)
{
	struct timespec pause = { .tv_nsec = DRAIN_PAUSE_NS };

	worker_flush_ports(w);
	for (uint32_t i = 0; i < DRAIN_TRIES && in_flight(w->engine); i++) {
		nanosleep(&pause, NULL);
		worker_flush_ports(w);
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct engine *engine = w->engine;
	uint32_t idle = 0;

	qsbr_online(&w->qsbr);
	while (!atomic_load_explicit(&engine->stop, memory_order_acquire)) {
		if (worker_poll(w))
			idle = 0;
		else if (engine_done(engine))
			break;
		else if (++idle > IDLE_POLLS)
			worker_sleep(w);
		qsbr_quiescent(&w->qsbr);
	}
	drain(w);
	qsbr_offline(&w->qsbr);
	return NULL;
}

static int start_thread(struct engine *engine, struct err *err)
{
	uint32_t cpu = engine->cfg.cpu;
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	rc = pthread_attr_init(&attr);
	if (rc)
		return err_set(err, rc, "cannot start a worker: %s", strerrordesc_np(rc));
	if (engine->cfg.pin) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	rc = pthread_create(&engine->thread, &attr, worker_main, engine->worker);
	pthread_attr_destroy(&attr);
	if (!rc)
		return 0;
	if (engine->cfg.pin)
		return err_set(
			err, rc,
			"cannot start a worker on host cpu %u: %s, is it online and allowed?", cpu,
			strerrordesc_np(rc));
	return err_set(err, rc, "cannot start a worker: %s", strerrordesc_np(rc));
}

int engine_start(struct engine *engine, struct err *err)
{
	int rc;

	if (engine->running)
		return err_set(err, EBUSY, "the engine is running already");
	if (!engine->n_inputs)
		return err_set(err, EINVAL, "no input port, give one with --in");
	engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake_fd < 0)
		return err_set(err, errno, "cannot make an eventfd: %s", strerrordesc_np(errno));
	atomic_store(&engine->stop, false);
	rc = start_thread(engine, err);
	if (rc) {
		close(engine->wake_fd);
		engine->wake_fd = -1;
		return rc;
	}
	engine->running = true;
	return 0;
}

void engine_stop(struct engine *engine)
{
	uint64_t one = 1;

	if (!engine->running)
		return;
	atomic_store_explicit(&engine->stop, true, memory_order_release);
	/* A full eventfd is as good a wake-up as a new one. */
	if (write(engine->wake_fd, &one, sizeof(one)) < 0)
		(void)0;
	pthread_join(engine->thread, NULL);
	close(engine->wake_fd);
	engine->wake_fd = -1;
	engine->running = false;
}
