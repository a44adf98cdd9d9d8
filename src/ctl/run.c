/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running an instance on its ports. Workers move the frames; this is the control thread's loop: it sleeps on the
 * control socket and netlink, reports now and then, and looks whether the run is over.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/run.h>

#include "base/clock.h"
#include "base/qsbr.h"
#include "ctl/control.h"
#include "ctl/events.h"
#include "ctl/instance.h"
#include "ctl/netlink.h"
#include "ctl/server.h"
#include "ctl/stats.h"

enum {
	/* How long the loop sleeps: short at first, for runs on a small capture; a signal or the end of the
	 * inputs is seen after the longest. */
	SLEEP_MIN_MS = 1,
	SLEEP_MAX_MS = 20,
};

struct run {
	struct weir *weir;
	struct weir_run_opts opts;
	struct server *server;
	uint64_t start_ns, report_ns; /* of the run; of the last interval report */
	int sleep_ms;
	struct stats_port last[ENGINE_PORTS_MAX]; /* at the last interval report */
};

void weir_run_stop(struct weir *weir)
{
	if (weir)
		weir->stop = 1;
}

uint64_t weir_run_duration(const struct weir *weir)
{
	return weir->run_ns;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static int auto_open(struct run *run, struct err *err)
{
	char dir[108], path[160];
	int ret = control_dir(dir, sizeof(dir), err);

	if (ret)
		return ret;
	if (mkdir(dir, 0755) && errno != EEXIST)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/%d.sock", dir, (int)getpid());
	return server_open(&run->server, path, control_answer, run->weir, err);
}

static int control_open(struct run *run, struct err *err)
{
	struct err why = { 0 };

	if (!run->opts.control)
		return 0;
	if (strcmp(run->opts.control, "auto") != 0)
		return server_open(&run->server, run->opts.control, control_answer, run->weir, err);
	if (auto_open(run, &why))
		instance_note(run->weir, "no control socket: %s", why.text);
	return 0;
}

static void port_report_text(const struct run *run, const struct port *port,
			     const struct stats_port *is, const struct stats_port *was,
			     double seconds)
{
	fprintf(run->opts.report,
		"%8.2fs %-12s rx %" PRIu64 " (%.0f pkt/s)  tx %" PRIu64
		" (%.0f pkt/s)  drop %" PRIu64 "\n",
		(double)(run->report_ns - run->start_ns) / 1e9, port->name,
		is->received - was->received, (double)(is->received - was->received) / seconds,
		is->transmitted - was->transmitted,
		(double)(is->transmitted - was->transmitted) / seconds, is->dropped - was->dropped);
}

static json_t *port_report_json(const struct port *port, const struct stats_port *is,
				const struct stats_port *was, double seconds)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f}", "name", port->name, "rx",
			 (json_int_t)(is->received - was->received), "tx",
			 (json_int_t)(is->transmitted - was->transmitted), "drop",
			 (json_int_t)(is->dropped - was->dropped), "rx_pps",
			 (double)(is->received - was->received) / seconds, "tx_pps",
			 (double)(is->transmitted - was->transmitted) / seconds);
}

static void report_json(const struct run *run, json_t *ports)
{
	json_t *line = json_pack("{s:{s:f, s:o}}", "interval", "at",
				 (double)(run->report_ns - run->start_ns) / 1e9, "ports", ports);
	char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;

	if (text)
		fprintf(run->opts.report, "%s\n", text);
	free(text);
	json_decref(line);
}

/* What each port did since the last report. */
static void report(struct run *run, uint64_t now_ns)
{
	double seconds = (double)(now_ns - run->report_ns) / 1e9;
	json_t *ports = run->opts.report_json ? json_array() : NULL;
	struct port *port;

	run->report_ns = now_ns;
	for (uint32_t i = 0; (port = engine_port_at(run->weir->engine, i)); i++) {
		struct stats_port is;

		stats_port_read(run->weir, port, &is);
		if (ports)
			json_array_append_new(ports,
					      port_report_json(port, &is, &run->last[i], seconds));
		else
			port_report_text(run, port, &is, &run->last[i], seconds);
		run->last[i] = is;
	}
	if (ports)
		report_json(run, ports);
	fflush(run->opts.report);
}

static bool over(const struct run *run, uint64_t now_ns)
{
	return run->weir->stop || engine_done(run->weir->engine) ||
	       (run->opts.duration_ns && now_ns - run->start_ns >= run->opts.duration_ns);
}

/* Sleeps until something is to be done. */
static int wait_for_work(struct run *run, struct pollfd *fds, int n, uint64_t now_ns)
{
	uint64_t sleep_ns = (uint64_t)run->sleep_ms * 1000000;
	uint64_t left;
	struct timespec ts;

	if (run->opts.duration_ns) {
		left = run->start_ns + run->opts.duration_ns - now_ns;
		sleep_ns = left < sleep_ns ? left : sleep_ns;
	}
	if (run->sleep_ms < SLEEP_MAX_MS)
		run->sleep_ms *= 2;
	ts = (struct timespec){ .tv_nsec = (long)sleep_ns };
	return ppoll(fds, (nfds_t)n, &ts, NULL);
}

static void step(struct run *run, uint64_t now_ns)
{
	struct pollfd fds[SERVER_FDS + 1];
	int n = run->server ? server_pollfds(run->server, fds) : 0, n_server = n;

	if (run->weir->netlink)
		fds[n++] =
			(struct pollfd){ .fd = netlink_fd(run->weir->netlink), .events = POLLIN };
	if (wait_for_work(run, fds, n, now_ns) < 0) /* a signal: nothing is ready */
		n_server = 0;
	now_ns = now();
	if (run->server && n_server)
		server_serve(run->server, fds, n_server, now_ns);
	if (run->weir->netlink)
		netlink_poll(run->weir->netlink, now_ns);
	events_poll(run->weir);
	qsbr_reclaim();
	if (run->opts.report && run->opts.interval_ns &&
	    now_ns - run->report_ns >= run->opts.interval_ns)
		report(run, now_ns);
}

static int run_workers(struct run *run, struct err *err)
{
	struct weir *weir = run->weir;
	int ret;

	engine_limit(weir->engine, run->opts.count);
	run->start_ns = run->report_ns = now();
	ret = engine_start(weir->engine, err);
	if (ret)
		return ret;
	for (uint64_t now_ns = run->start_ns; !over(run, now_ns); now_ns = now())
		step(run, now_ns);
	engine_stop(weir->engine);
	weir->run_ns = now() - run->start_ns;
	weir->stop = 0;
	events_poll(weir);
	return engine_input_error(weir->engine, err);
}

/* Copies what the caller's version of the struct has. */
static int run_opts_copy(struct weir_run_opts *to, const struct weir_run_opts *from,
			 struct err *err)
{
	if (from->size < offsetof(struct weir_run_opts, control))
		return err_set(err, EINVAL, "weir_run_opts.size is %zu: set it to sizeof",
			       from->size);
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	return 0;
}

int weir_run(struct weir *weir, const struct weir_run_opts *opts, struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	struct run *run;
	int ret;

	if (!weir->loaded)
		return err_set(err, EINVAL, "no object is loaded");
	if (!weir->n_inputs)
		return err_set(err, EINVAL, "there is no port to receive from");
	run = calloc(1, sizeof(*run));
	if (!run)
		return err_set(err, ENOMEM, "no memory for a run");
	run->weir = weir;
	run->sleep_ms = SLEEP_MIN_MS;
	ret = run_opts_copy(&run->opts, opts, err);
	if (!ret)
		ret = control_open(run, err);
	if (!ret)
		ret = run_workers(run, err);
	server_close(run->server);
	free(run);
	return ret;
}
