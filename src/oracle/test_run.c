/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet through an instance: see test_run.h. */
#include "oracle/test_run.h"

#include "ctl/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct test_run {
	struct weir *weir;
	struct port *port;
	uint32_t n;
	uint8_t in[FRAME_SIZE];
	struct outcome outcome;
};

static struct port *first_input(struct weir *weir)
{
	struct port *port;

	for (uint32_t i = 0; (port = engine_port_at(weir->engine, i)); i++) {
		if (engine_port_prog(weir->engine, port))
			return port;
	}
	return NULL;
}

int test_run_open(struct test_run **ret, struct weir *weir, struct port *port, struct err *err)
{
	struct test_run *run;

	if (!weir->loaded)
		return err_set(err, EINVAL, "no object is loaded");
	if (!port)
		port = first_input(weir);
	if (!port)
		return err_set(err, EINVAL, "there is no input port: add one (--in FILE)");
	run = calloc(1, sizeof(*run));
	if (!run)
		return err_set(err, ENOMEM, "out of memory");
	run->weir = weir;
	run->port = port;
	*ret = run;
	return 0;
}

int test_run_packet(struct test_run *run, const uint8_t *bytes, uint32_t len, struct result *result,
		    struct err *err)
{
	struct engine *engine = run->weir->engine;
	struct frame *frame;

	if (len > FRAME_DATA_MAX)
		return err_set(err, EMSGSIZE, "a packet of %u bytes: a frame holds %d", len,
			       FRAME_DATA_MAX);
	if (engine_alloc(engine, &frame, 1) != 1)
		return err_set(err, ENOMEM, "no frame is free: raise engine.frames");
	memcpy(run->in, bytes, len);
	frame_fill(frame, bytes, len);
	frame->seq = ++run->n;
	frame->rx_queue_index = run->weir->opts.rx_queue;
	memset(&run->outcome, 0, offsetof(struct outcome, bytes));
	engine_poll_frames(engine, run->port, &frame, 1, &run->outcome);
	events_poll(run->weir);
	*result = (struct result){ .n = run->n, .in = run->in, .in_len = len };
	result_fill(result, &run->outcome, run->port);
	return 0;
}

struct port *test_run_port(struct test_run *run)
{
	return run->port;
}

void test_run_close(struct test_run *run)
{
	free(run);
}
