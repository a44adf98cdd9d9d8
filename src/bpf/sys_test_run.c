/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PROG_TEST_RUN of XDP programs: net/bpf/test_run.c, bpf_prog_test_run_xdp (xdp-semantics 8), without live
 * frames and without fragments. It runs outside any engine: no interfaces, no routes, CPU 0, and a redirect is
 * a verdict only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bpf/fd.h"
#include "bpf/prog.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"
#include "pkt/frame.h"

enum {
	CTX_IN_MAX = 4096,    /* a page, as the kernel's */
	REPEAT_MAX = 1 << 30, /* of one call; the kernel has no limit but signals */
	LOOPBACK = 1,	      /* the interface that the kernel shows when none is given */
	META_MAX = FRAME_HEADROOM - FRAME_RESERVED, /* 216 */
};

/* One test run. */
struct test_run {
	struct xdp_md ctx;
	uint8_t *chunk;
	struct frame frame;
	struct run_ctx rc;
};

static int check_attr(const union bpf_attr *attr, const struct prog_obj *po)
{
	if (!attr->test.ctx_in != !attr->test.ctx_size_in ||
	    !attr->test.ctx_out != !attr->test.ctx_size_out)
		return -EINVAL;
	if (po->traits.type != BPF_PROG_TYPE_XDP)
		return -ENOTSUPP;
	if (po->traits.expected_attach_type == BPF_XDP_DEVMAP ||
	    po->traits.expected_attach_type == BPF_XDP_CPUMAP)
		return -EINVAL;
	if (attr->test.flags == BPF_F_TEST_XDP_LIVE_FRAMES)
		return err_set(sys_err(), EOPNOTSUPP, "weir has no live test runs: use weir run");
	if (attr->test.flags || attr->test.batch_size || attr->test.repeat > REPEAT_MAX)
		return -EINVAL;
	return attr->test.data_in || !attr->test.data_size_in ? 0 : -EFAULT;
}

static int read_ctx(struct test_run *t, const union bpf_attr *attr)
{
	const uint8_t *from = sys_ptr(attr->test.ctx_in);
	uint32_t size = attr->test.ctx_size_in;
	struct xdp_md *ctx = &t->ctx;

	ctx->data_end = attr->test.data_size_in;
	if (!from && !attr->test.ctx_out)
		return 0;
	if (size > CTX_IN_MAX)
		return -E2BIG;
	for (uint32_t i = sizeof(*ctx); i < size; i++)
		if (from[i])
			return -E2BIG;
	memset(ctx, 0, sizeof(*ctx));
	if (from)
		memcpy(ctx, from, size < sizeof(*ctx) ? size : sizeof(*ctx));
	if (ctx->data_meta || ctx->egress_ifindex || ctx->data > ctx->data_end ||
	    ctx->data_end != attr->test.data_size_in)
		return -EINVAL;
	if (ctx->data % 4 || ctx->data > META_MAX)
		return -EINVAL;
	return !ctx->ingress_ifindex && ctx->rx_queue_index ? -EINVAL : 0;
}

static int make_frame(struct test_run *t, const union bpf_attr *attr)
{
	uint32_t size = attr->test.data_size_in, meta = t->ctx.data;
	struct frame *f = &t->frame;

	if (size < meta + FRAME_LEN_MIN)
		return -EINVAL;
	if (size - meta > FRAME_DATA_MAX)
		return err_set(sys_err(), EINVAL,
			       "a test frame has %d bytes at most: weir has no fragments",
			       FRAME_DATA_MAX);
	t->chunk = aligned_alloc(FRAME_SIZE, FRAME_SIZE);
	if (!t->chunk)
		return -ENOMEM;
	memset(t->chunk, 0, FRAME_SIZE);
	f->hard_start = t->chunk;
	frame_reset(f);
	f->data_meta = f->data - meta;
	f->data_end = f->data_meta + size;
	memcpy(f->data_meta, sys_ptr(attr->test.data_in), size);
	f->ingress_ifindex = t->ctx.ingress_ifindex ? t->ctx.ingress_ifindex : LOOPBACK;
	f->rx_queue_index = t->ctx.rx_queue_index;
	return 0;
}

/* The same frame again and again, as the kernel does it: what a run changed, the next one sees. */
static void run(struct test_run *t, const struct prog *prog, union bpf_attr *attr)
{
	uint32_t repeat = attr->test.repeat ? attr->test.repeat : 1;
	uint64_t start = clock_ns(CLOCK_MONOTONIC), duration;

	for (uint32_t i = 0; i < repeat; i++) {
		memset(&t->rc.ri, 0, sizeof(t->rc.ri));
		attr->test.retval = prog_run(prog, &t->rc, &t->frame);
	}
	duration = (clock_ns(CLOCK_MONOTONIC) - start) / repeat;
	attr->test.duration = duration > UINT32_MAX ? UINT32_MAX : (uint32_t)duration;
}

/* Copies what there is room for; *size becomes the whole size. A size of 0 is no limit for data. */
static int put(void *to, uint32_t *size, const void *from, uint32_t have)
{
	uint32_t room = *size ? *size : have;

	if (to)
		memcpy(to, from, room < have ? room : have);
	*size = have;
	return to && room < have ? -ENOSPC : 0;
}

static int put_results(struct test_run *t, union bpf_attr *attr)
{
	const struct frame *f = &t->frame;
	uint32_t size = (uint32_t)(f->data_end - f->data_meta), out = attr->test.data_size_out, ctx;
	int rc;

	t->ctx.data = (uint32_t)(f->data - f->data_meta);
	t->ctx.data_end = size;
	rc = put(sys_ptr(attr->test.data_out), &out, f->data_meta, size);
	attr->test.data_size_out = out;
	if (attr->test.ctx_out) {
		ctx = attr->test.ctx_size_out;
		if (put(sys_ptr(attr->test.ctx_out), &ctx, &t->ctx, sizeof(t->ctx)))
			rc = -ENOSPC;
		attr->test.ctx_size_out = ctx;
	}
	return rc;
}

static int test_run(const struct prog *prog, union bpf_attr *attr)
{
	struct test_run t = { .chunk = NULL };
	int rc;

	rc = read_ctx(&t, attr);
	if (!rc)
		rc = make_frame(&t, attr);
	if (!rc)
		rc = run_ctx_init(&t.rc, 0, NULL);
	if (!rc) {
		run(&t, prog, attr);
		rc = put_results(&t, attr);
		run_ctx_fini(&t.rc);
	}
	free(t.chunk);
	return rc;
}

int sys_prog_test_run(union bpf_attr *attr)
{
	struct obj *obj;
	int rc;

	rc = fd_resolve((int)attr->test.prog_fd, OBJ_PROG, &obj);
	if (rc)
		return rc;
	rc = check_attr(attr, (const struct prog_obj *)obj);
	if (!rc)
		rc = test_run((const struct prog *)obj, attr);
	obj_put(obj);
	return rc;
}
