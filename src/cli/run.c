/* SPDX-License-Identifier: BSD-2-Clause */
/* weir run: an object on ports, until the inputs end, a limit is reached or a signal comes. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <weir/run.h>

#include "cli/setup.h"

struct run_args {
	struct setup_args setup;
	const char *config;
	const char *control;
	uint64_t duration_ns, count, interval_ns;
};

static const struct option_def run_options[] = {
	{ "config", 'c', OPTION_TEXT, "FILE", "all of this from a file: weir.yaml(5)",
	  offsetof(struct run_args, config), 0 },
	{ "in", 'i', OPTION_ITEM, "PORT", "a port that frames come from",
	  SETUP_OFF(struct run_args, items), ITEM_IN },
	{ "out", 'o', OPTION_ITEM, "PORT", "a port that frames may be sent to",
	  SETUP_OFF(struct run_args, items), ITEM_OUT },
	{ "for", 0, OPTION_DURATION, "TIME", "stop after 10s, 500ms, 2m",
	  offsetof(struct run_args, duration_ns), 0 },
	{ "count", 'n', OPTION_U64, "N", "stop after N frames were received",
	  offsetof(struct run_args, count), 0 },
	{ "interval", 'I', OPTION_DURATION, "TIME", "report each port so often, as 1 or 500ms",
	  offsetof(struct run_args, interval_ns), 0 },
	{ "control", 0, OPTION_TEXT, "PATH", "the control socket; none for none",
	  offsetof(struct run_args, control), 0 },
	SETUP_OPTIONS(struct run_args),
	{ 0 },
};

/* The instance that a signal stops. */
static struct weir *running;

static void on_signal(int sig)
{
	weir_run_stop(running);
}

static void signals_set(struct weir *weir)
{
	struct sigaction act = { .sa_handler = weir ? on_signal : SIG_DFL };

	running = weir;
	sigemptyset(&act.sa_mask);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

static int run_report(struct weir *weir, const struct run_args *args)
{
	struct weir_error err = { 0 };
	char *json;
	int ret;

	if (!args->setup.json) {
		weir_run_print(weir, stdout);
		return fflush(stdout) ? EXIT_FAILED : EXIT_FINE;
	}
	ret = weir_run_stats(weir, &json, &err);
	if (ret)
		return setup_failed(&err, ret);
	ret = puts(json) < 0 || fflush(stdout) ? EXIT_FAILED : EXIT_FINE;
	free(json);
	return ret;
}

/* Runs the loaded instance, reports, looks at the maps. A lost input does not hide the accounting. */
static int run_and_report(struct weir *weir, const struct weir_run_opts *opts,
			  const struct run_args *args)
{
	struct weir_error err = { 0 };
	int code = EXIT_FINE, report, maps;
	int ret;

	signals_set(weir);
	ret = weir_run(weir, opts, &err);
	signals_set(NULL);
	if (ret)
		code = setup_failed(&err, ret);
	if (!weir_run_duration(weir)) /* it never began */
		return code;
	report = run_report(weir, args);
	maps = setup_maps_after(weir, &args->setup);
	if (code)
		return code;
	return report ? report : maps;
}

static void run_opts_fill(struct weir_run_opts *opts, const struct run_args *args)
{
	opts->size = sizeof(*opts);
	if (args->duration_ns)
		opts->duration_ns = args->duration_ns;
	if (args->count)
		opts->count = args->count;
	if (args->interval_ns)
		opts->interval_ns = args->interval_ns;
	if (args->control)
		opts->control = args->control;
	else if (!opts->control)
		opts->control = "auto";
	if (strcmp(opts->control, "none") == 0)
		opts->control = NULL;
	opts->report = stdout;
	opts->report_json = args->setup.json;
}

static int run_config(const struct command *cmd, const struct run_args *args)
{
	struct weir_error err = { 0 };
	struct weir_run_opts opts = { .size = sizeof(opts) };
	struct weir_opts base;
	struct weir *weir;
	int ret;

	if (args->setup.object || args->setup.items.n)
		return options_misuse(cmd,
				      "with -c, the object, ports and state stand in the file");
	setup_opts(&args->setup, &base);
	ret = weir_config_load(&weir, args->config, &base, &opts, &err);
	if (ret) {
		setup_failed(&err, ret);
		return ret == -EINVAL ? EXIT_MISUSE : EXIT_FAILED;
	}
	run_opts_fill(&opts, args);
	ret = run_and_report(weir, &opts, args);
	weir_destroy(weir);
	return ret;
}

static int run_line(const struct run_args *args)
{
	struct weir_run_opts opts = { 0 };
	struct weir *weir;
	int code = setup_create(&weir, &args->setup);

	if (code)
		return code;
	code = setup_ports(weir, &args->setup);
	if (!code)
		code = setup_load(weir, &args->setup);
	if (!code) {
		run_opts_fill(&opts, args);
		code = run_and_report(weir, &opts, args);
	}
	weir_destroy(weir);
	return code;
}

static bool has_input(const struct option_items *items)
{
	for (uint32_t i = 0; i < items->n; i++) {
		if (items->at[i].item == ITEM_IN)
			return true;
	}
	return false;
}

static int run_parsed(const struct command *cmd, const struct run_args *args)
{
	if (args->config)
		return run_config(cmd, args);
	if (!args->setup.object)
		return options_misuse(cmd, "an object is needed: weir run prog.o --in PORT");
	if (!has_input(&args->setup.items))
		return options_misuse(cmd, "--in PORT is needed, as --in sample or --in xdp:eth0");
	return run_line(args);
}

static int run_main(const struct command *cmd, int argc, char **argv)
{
	struct run_args *args = calloc(1, sizeof(*args));
	int first, code;

	if (!args) {
		fprintf(stderr, "weir: no memory\n");
		return EXIT_FAILED;
	}
	first = options_parse(cmd, argc, argv, args);
	if (first <= 0) {
		code = first < 0 ? EXIT_MISUSE : EXIT_FINE;
	} else if (argc - first > 1) {
		code = options_misuse(cmd, "one object at a time: what is '%s'", argv[first + 1]);
	} else {
		args->setup.object = first < argc ? argv[first] : NULL;
		code = run_parsed(cmd, args);
	}
	free(args);
	return code;
}

const struct command command_run = {
	.name = "run",
	.synopsis = "OBJECT --in PORT [--out PORT ...] [option ...]\n-c FILE [option ...]",
	.summary = "run a compiled XDP object on ports",
	.options = run_options,
	.run = run_main,
};
