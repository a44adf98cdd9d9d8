/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle's helper process: loads an object into the kernel and answers requests about it until its socket is
 * closed. Here libbpf speaks to the kernel. The other end is kernel.c.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <weir/test.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "bpf/load.h"
#include "bpf/sys.h"
#include "oracle/helper_net.h"
#include "oracle/kernel.h"
#include "oracle/snapshot.h"
#include "oracle/wire.h"

enum { LIVE_BATCH = 64 };

struct helper {
	int fd;
	struct object *object;
	struct bpf_object *bpf; /* borrowed from object */
	int prog_fd;
};

static int make_ifs(json_t *ifs, struct err *err)
{
	json_t *item;
	size_t i;

	json_array_foreach(ifs, i, item)
	{
		struct kernel_if kif = {
			.ifindex = (uint32_t)json_integer_value(json_object_get(item, "ifindex")),
			.mtu = (uint32_t)json_integer_value(json_object_get(item, "mtu")),
			.down = json_is_true(json_object_get(item, "down")),
			.peer_drops = json_is_true(json_object_get(item, "peer_drops")),
		};
		int rc = kif.ifindex > 1 ? helper_net_add(&kif, err) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int set_global(struct object *object, const char *text, struct err *err)
{
	size_t name_len = strcspn(text, "=");
	char name[256];
	uint32_t size, type;
	void *bytes;

	snprintf(name, sizeof(name), "%.*s", (int)name_len, text);
	if (!text[name_len] || object_global(object, name, &bytes, &size, &type) ||
	    hex_decode(bytes, size, text + name_len + 1) < 0)
		return err_set(err, ENOENT, "oracle: no global variable %s", name);
	return 0;
}

static int set_globals(struct object *object, json_t *globals, struct err *err)
{
	json_t *item;
	size_t i;

	json_array_foreach(globals, i, item)
	{
		int rc = set_global(object, json_string_value(item), err);

		if (rc)
			return rc;
	}
	return 0;
}

static int find_prog(struct helper *helper, const char *name, struct err *err)
{
	struct bpf_program *prog, *first = NULL;

	bpf_object__for_each_program(prog, helper->bpf)
	{
		if (bpf_program__fd(prog) < 0)
			continue;
		if (!first)
			first = prog;
		if (name && !strcmp(bpf_program__name(prog), name))
			break;
	}
	if (!prog && !name)
		prog = first;
	if (!prog)
		return err_set(err, ENOENT, "oracle: the kernel has no program %s",
			       name ? name : "at all");
	helper->prog_fd = bpf_program__fd(prog);
	return 0;
}

static int open_object(struct helper *helper, json_t *cfg, struct err *err)
{
	const char *name = json_string_value(json_object_get(cfg, "prog"));
	struct object_cfg object_cfg = {
		.btf_path = json_string_value(json_object_get(cfg, "btf")),
	};
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int rc;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	rc = cpu_pin((uint32_t)json_integer_value(json_object_get(cfg, "cpu")));
	if (rc)
		return err_set(err, -rc,
			       "the kernel oracle cannot run on CPU %d: this host has none",
			       (int)json_integer_value(json_object_get(cfg, "cpu")));
	rc = helper_net_enter(err);
	if (!rc)
		rc = make_ifs(json_object_get(cfg, "ifs"), err);
	if (!rc)
		rc = object_open(&helper->object, json_string_value(json_object_get(cfg, "object")),
				 &object_cfg, err);
	if (!rc)
		rc = set_globals(helper->object, json_object_get(cfg, "globals"), err);
	if (!rc)
		rc = object_load(helper->object, err);
	if (rc)
		return err_prefix(err, -rc, "the kernel does not take the object");
	helper->bpf = object_libbpf(helper->object);
	rc = find_prog(helper, name, err);
	return rc ? rc : snapshot_apply(helper->bpf, json_object_get(cfg, "maps"), err);
}

static int answer_open(struct helper *helper, const char *text)
{
	struct wire_head head = { .type = WIRE_OPEN };
	struct err err = { 0 };
	json_t *cfg = json_loads(text, 0, NULL);

	head.error =
		cfg ? open_object(helper, cfg, &err) : err_set(&err, EINVAL, "oracle: no JSON");
	json_decref(cfg);
	return wire_send(helper->fd, &head, err.text, (uint32_t)strlen(err.text), NULL, 0);
}

static int answer_run(struct helper *helper, const struct wire_run *run, const uint8_t *bytes,
		      uint32_t len)
{
	uint8_t out[FRAME_SIZE + 256];
	struct xdp_md in_ctx = { .data_end = len,
				 .ingress_ifindex = run->ifindex,
				 .rx_queue_index = run->rx_queue };
	struct xdp_md out_ctx = { 0 };
	struct wire_head head = { .type = WIRE_RUN };
	struct wire_ran ran = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = bytes, .data_size_in = len, .data_out = out,
		    .data_size_out = sizeof(out), .ctx_in = &in_ctx, .ctx_size_in = sizeof(in_ctx),
		    .ctx_out = &out_ctx, .ctx_size_out = sizeof(out_ctx), .repeat = 1);

	ran.error = bpf_prog_test_run_opts(helper->prog_fd, &opts) ? -errno : 0;
	if (ran.error)
		opts.data_size_out = 0;
	ran.verdict = opts.retval;
	ran.meta_len = ran.error ? 0 : out_ctx.data;
	return wire_send(helper->fd, &head, &ran, sizeof(ran), out, opts.data_size_out);
}

static int answer_maps(struct helper *helper)
{
	struct wire_head head = { .type = WIRE_MAPS };
	json_t *maps = snapshot_take(helper->bpf);
	char *text = json_dumps(maps, JSON_COMPACT);
	int rc = wire_send(helper->fd, &head, text, text ? (uint32_t)strlen(text) : 0, NULL, 0);

	free(text);
	json_decref(maps);
	return rc;
}

static int answer_live(struct helper *helper, const struct wire_run *run, const uint8_t *bytes,
		       uint32_t len)
{
	struct xdp_md ctx = { .data_end = len, .ingress_ifindex = 1 };
	struct wire_head head = { .type = WIRE_LIVE };
	const char *text = "BPF_PROG_TEST_RUN with live frames failed";
	uint64_t ns;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = bytes, .data_size_in = len, .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .repeat = (int)run->repeat,
		    .batch_size = LIVE_BATCH, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	ns = clock_ns(CLOCK_MONOTONIC);
	head.error = bpf_prog_test_run_opts(helper->prog_fd, &opts) ? -errno : 0;
	ns = clock_ns(CLOCK_MONOTONIC) - ns;
	if (head.error)
		return wire_send(helper->fd, &head, text, (uint32_t)strlen(text), NULL, 0);
	return wire_send(helper->fd, &head, &ns, sizeof(ns), NULL, 0);
}

static int answer(struct helper *helper, const struct wire_head *head, const char *bytes)
{
	const struct wire_run *run = (const void *)bytes;
	bool has_run = head->len >= sizeof(*run);

	if (head->type != WIRE_OPEN && !helper->bpf)
		return -EPROTO;
	switch (head->type) {
	case WIRE_OPEN:
		return answer_open(helper, bytes);
	case WIRE_RUN:
		return has_run ? answer_run(helper, run, (const uint8_t *)(run + 1),
					    head->len - (uint32_t)sizeof(*run))
			       : -EPROTO;
	case WIRE_LIVE:
		return has_run ? answer_live(helper, run, (const uint8_t *)(run + 1),
					     head->len - (uint32_t)sizeof(*run))
			       : -EPROTO;
	case WIRE_MAPS:
		return answer_maps(helper);
	default:
		return -EPROTO;
	}
}

int weir_oracle_main(int argc, char **argv)
{
	struct helper helper = { .fd = argc == 3 ? atoi(argv[2]) : -1, .prog_fd = -1 };
	struct wire_head head;
	void *bytes;
	int rc = 0;

	if (helper.fd < 3)
		return 2;
	sys_pass_through();
	while (!rc && !wire_recv(helper.fd, &head, &bytes)) {
		rc = answer(&helper, &head, bytes);
		free(bytes);
	}
	object_close(helper.object);
	return rc ? 1 : 0;
}
