/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs for tests/cli/test_test.sh: each shows one thing that `weir test` tells. */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

enum mode { MODE_OFF, MODE_ON = 5 };

struct rule {
	__be16 port;
	__u8 ports[2];
	enum mode mode;
	__be32 net;
	char name[8];
};

struct event {
	__u32 length;
	__u32 answer;
};

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} tx_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2);
	__type(key, __be16);
	__type(value, struct rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} jumps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 8);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
} nets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} perf SEC(".maps");

const volatile __u32 key = 0;
const volatile __u64 flags = 0;
__u32 ifindex = 99999;
struct event last; /* keeps struct event in BTF */

SEC("xdp")
int redirect_map(struct xdp_md *ctx)
{
	return bpf_redirect_map(&tx_port, key, flags);
}

SEC("xdp")
int redirect_ifindex(struct xdp_md *ctx)
{
	return bpf_redirect(ifindex, 0);
}

SEC("xdp/devmap")
int egress_swap(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	if (data + 14 > end)
		return XDP_DROP;
	data[0] ^= 0xff;
	return XDP_PASS;
}

SEC("xdp")
int count(struct xdp_md *ctx)
{
	__u32 slot = 1;
	__u64 *value = bpf_map_lookup_elem(&counters, &slot);

	if (value)
		*value += 1;
	return XDP_PASS;
}

SEC("xdp")
int jump(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 1);
	return XDP_ABORTED;
}

SEC("xdp")
int encap(struct xdp_md *ctx)
{
	__u8 *data, *end;

	if (bpf_xdp_adjust_head(ctx, -4))
		return XDP_ABORTED;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + 4 > end)
		return XDP_ABORTED;
	__builtin_memcpy(data, "weir", 4);
	return XDP_TX;
}

SEC("xdp")
int events(struct xdp_md *ctx)
{
	struct event e = { .length = ctx->data_end - ctx->data, .answer = 42 };
	static const char fmt[] = "length %d\n";

	last = e;
	bpf_trace_printk(fmt, sizeof(fmt), e.length);
	bpf_ringbuf_output(&ring, &e, sizeof(e), 0);
	bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU | (4ULL << 32), &e, sizeof(e));
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
