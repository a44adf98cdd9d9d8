/* SPDX-License-Identifier: BSD-2-Clause */
/* Running an instance on its ports: what `weir run` does. See weir.h for the order of calls. */
#ifndef WEIR_RUN_H
#define WEIR_RUN_H

#include <weir/weir.h>

struct weir_run_opts {
	size_t size;	      /* sizeof(struct weir_run_opts) */
	uint64_t duration_ns; /* --for; 0: until the inputs end or weir_run_stop */
	uint64_t count;	      /* --count: frames received; 0: no limit */
	uint64_t interval_ns; /* --interval; 0: no reports while it runs */
	/* Path of the control socket. NULL: none. "auto": NAME.sock in /run/weir or $XDG_RUNTIME_DIR/weir, NAME
	 * being the process id; that it cannot be made is a note and no error. */
	const char *control;
	FILE *report; /* interval reports, a line a port; NULL: none */
	bool report_json;
};

/* Runs until the inputs end, the limits are reached or weir_run_stop is called. -EIO and the like when an input
 * was lost: the accounting is complete all the same. */
WEIR_API int weir_run(struct weir *weir, const struct weir_run_opts *opts, struct weir_error *err);
/* How long the last run took, in ns; 0: none has begun. */
WEIR_API_VOID uint64_t weir_run_duration(const struct weir *weir);
/* May be called from a signal handler. */
WEIR_API_VOID void weir_run_stop(struct weir *weir);
/* The accounting (design 10) as JSON; the caller frees *ret_json. */
WEIR_API int weir_run_stats(struct weir *weir, char **ret_json, struct weir_error *err);
/* The same for people, on out. */
WEIR_API_VOID void weir_run_print(struct weir *weir, FILE *out);

/* Reads a configuration file (YAML, docs in weir.yaml(5)) into a new instance that is ready for weir_run; *opts gets
 * what the file says about the run. opts->control is borrowed from the instance. base: callbacks, and
 * options of the command line, which have precedence. -EINVAL for what is wrong in the file, as an unknown key, a
 * duplicate port, a bad value: the text begins with FILE:LINE. */
WEIR_API int weir_config_load(struct weir **ret, const char *path, const struct weir_opts *base,
			      struct weir_run_opts *opts, struct weir_error *err);

/* "10s", "500ms", "2m", "1h", "20us", "7ns", "1.5s"; a plain number counts in unit_ns. -EINVAL for anything
 * else and for more than 2^63 ns. */
WEIR_API int weir_duration_parse(const char *text, uint64_t unit_ns, uint64_t *ret_ns,
				 struct weir_error *err);

/* A running instance, through its control socket: sends one request, returns its JSON answer (the caller frees
 * it). request is e.g. {"command":"map-dump","map":"counters"}. socket_path NULL: the only instance that runs, as
 * its "auto" socket shows. An answer {"error":TEXT} becomes -EREMOTEIO with that text. -ECONNREFUSED, -ENOENT,
 * -ETIMEDOUT after 10 s, ... */
WEIR_API int weir_control(const char *socket_path, const char *request_json, char **ret_json,
			  struct weir_error *err);

#endif
