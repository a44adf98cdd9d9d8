/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The built-in capture, and the port `sample` that plays it: see mem.h. Packets are built from the inside out
 * when they are first asked for: a payload, then each header in front of it, so that lengths and checksums
 * are known when a header is written.
 */
#include "port/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pkt/csum.h"
#include "port/port_impl.h"

enum {
	PACKETS_MAX = 40,
	ROOM = 256, /* the longest packet built here has 150 bytes */
	ARP = 0x0806,
	IPV4 = 0x0800,
	IPV6 = 0x86dd,
	CVLAN = 0x8100,
	SVLAN = 0x88a8,
	VXLAN_PORT = 4789,
	SYN = 0x02,
	PSH_ACK = 0x18,
};

static struct sample_packet packets[PACKETS_MAX];
static uint8_t room[PACKETS_MAX][ROOM];
static char kinds[PACKETS_MAX][64];
static uint32_t n_packets;
static const uint8_t ipv4_addrs[8] = { 10, 0, 0, 1, 10, 0, 0, 2 };
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A packet that grows to the front. */
struct build {
	uint8_t buf[ROOM];
	uint8_t *p;
	uint8_t proto; /* of what stands at p, for the IP header in front of it */
};

static uint32_t build_len(const struct build *b)
{
	return (uint32_t)(b->buf + ROOM - b->p);
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint8_t *prepend(struct build *b, uint32_t len)
{
	b->p -= len;
	memset(b->p, 0, len);
	return b->p;
}

static void payload(struct build *b, const char *text, uint32_t len)
{
	b->p = b->buf + ROOM;
	b->proto = 59; /* no next header */
	memcpy(prepend(b, len), text, len);
}

static void udp(struct build *b, uint32_t sport, uint32_t dport)
{
	uint8_t *h = prepend(b, 8);

	put16(h, sport);
	put16(h + 2, dport);
	put16(h + 4, build_len(b));
	b->proto = 17;
}

static void tcp(struct build *b, uint32_t sport, uint32_t dport, uint8_t flags)
{
	uint8_t *h = prepend(b, 20);

	put16(h, sport);
	put16(h + 2, dport);
	put16(h + 6, 1000);
	put16(h + 10, flags == SYN ? 0 : 2000);
	h[12] = 5 << 4;
	h[13] = flags;
	put16(h + 14, 64240);
	b->proto = 6;
}

static void icmp(struct build *b, uint8_t proto, uint8_t type)
{
	uint8_t *h = prepend(b, 8);

	h[0] = type;
	put16(h + 4, 7);
	put16(h + 6, 1);
	b->proto = proto;
	if (proto == 1)
		csum_put(h + 2, csum_add(0, h, build_len(b)));
}

/* Where the checksum of this protocol lies, when it covers the addresses; 0: it does not. */
static uint32_t l4_csum_at(uint8_t proto)
{
	return proto == 6 ? 16 : proto == 17 ? 6 : proto == 58 ? 2 : 0;
}

static void l4_finish(struct build *b, uint32_t pseudo)
{
	uint8_t *csum = b->p + l4_csum_at(b->proto);

	csum_put(csum, csum_add(pseudo, b->p, build_len(b)));
	if (b->proto == 17 && !get16(csum))
		put16(csum, 0xffff);
}

/* options: bytes of IP options, filled with NOPs. fragment: the flags and offset field. */
static void ipv4(struct build *b, uint32_t options, uint32_t fragment)
{
	uint32_t len = build_len(b), hlen = 20 + options;
	uint8_t *h;

	if (l4_csum_at(b->proto) && !(fragment & 0x3fff))
		l4_finish(b, csum_pseudo_ipv4(ipv4_addrs, b->proto, len));
	h = prepend(b, hlen);
	h[0] = (uint8_t)(0x40 | hlen / 4);
	put16(h + 2, hlen + len);
	put16(h + 4, 0x1234);
	put16(h + 6, fragment);
	h[8] = 64;
	h[9] = b->proto;
	memcpy(h + 12, ipv4_addrs, 8);
	memset(h + 20, 1, options);
	csum_put(h + 10, csum_add(0, h, hlen));
}

static void ipv6(struct build *b)
{
	static const uint8_t addrs[32] = {
		0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	};
	uint32_t len = build_len(b);
	uint8_t *h;

	if (l4_csum_at(b->proto))
		l4_finish(b, csum_pseudo_ipv6(addrs, b->proto, len));
	h = prepend(b, 40);
	h[0] = 0x60;
	put16(h + 4, len);
	h[6] = b->proto;
	h[7] = 64;
	memcpy(h + 8, addrs, 32);
}

static void vlan(struct build *b, uint32_t tci, uint32_t inner_type)
{
	uint8_t *h = prepend(b, 4);

	put16(h, tci);
	put16(h + 2, inner_type);
}

static void ether(struct build *b, uint32_t type)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
	uint8_t *h = prepend(b, 14);

	memcpy(h, macs, 12);
	if (type == ARP)
		memset(h, 0xff, 6);
	put16(h + 12, type);
}

static void arp(struct build *b, uint8_t op)
{
	static const uint8_t body[28] = {
		0,  1, 8, 0, 6, 4, 0, 0, 2, 0, 0,  0, 0, 1,
		10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2,
	};

	payload(b, (const char *)body, sizeof(body));
	b->p[7] = op;
	if (op == 2)
		memcpy(b->p + 18, "\2\0\0\0\0\2", 6);
	ether(b, ARP);
}

static void vxlan(struct build *b, uint32_t vni)
{
	uint8_t *h = prepend(b, 8);

	h[0] = 8; /* the I flag, RFC 7348 section 5 */
	h[4] = (uint8_t)(vni >> 16);
	put16(h + 5, vni & 0xffff);
}

static void store(struct build *b)
{
	uint32_t len = build_len(b), i = n_packets++;

	memcpy(room[i], b->p, len);
	packets[i].bytes = room[i];
	packets[i].len = len;
	snprintf(kinds[i], sizeof(kinds[i]), "%s", sample_classify(room[i], len));
	packets[i].kind = kinds[i];
}

static void build_arp(struct build *b)
{
	arp(b, 1);
	store(b);
	arp(b, 2);
	store(b);
}

static void build_ipv4(struct build *b)
{
	static const uint32_t tcp_ports[] = { 80, 443, 8080 }, udp_ports[] = { 80, 443, 8080, 9 };
	static const char dns[] = "\1\2\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1";

	for (uint32_t i = 0; i < 3; i++) {
		payload(b, "", 0);
		tcp(b, 40000 + i, tcp_ports[i], SYN);
		ipv4(b, 0, 0x4000);
		ether(b, IPV4);
		store(b);
		payload(b, "GET / HTTP/1.0\r\n\r\n", 18);
		tcp(b, 40000 + i, tcp_ports[i], PSH_ACK);
		ipv4(b, 0, 0x4000);
		ether(b, IPV4);
		store(b);
	}
	for (uint32_t i = 0; i < 4; i++) {
		payload(b, "weir sample payload", 19);
		udp(b, 50000 + i, udp_ports[i]);
		ipv4(b, 0, 0);
		ether(b, IPV4);
		store(b);
	}
	payload(b, dns, sizeof(dns) - 1);
	udp(b, 50053, 53);
	ipv4(b, 0, 0);
	ether(b, IPV4);
	store(b);
	payload(b, "weir ping payload", 17);
	icmp(b, 1, 8);
	ipv4(b, 0, 0);
	ether(b, IPV4);
	store(b);
}

/* One datagram in two: the checksum in the first covers both. */
static void build_fragments(struct build *b)
{
	uint8_t datagram[40];

	payload(b, "first fragment..second fragment.", 32);
	udp(b, 50002, 80);
	l4_finish(b, csum_pseudo_ipv4(ipv4_addrs, 17, sizeof(datagram)));
	memcpy(datagram, b->p, sizeof(datagram));
	for (uint32_t i = 0; i < 2; i++) {
		payload(b, (const char *)datagram + 24 * i, i ? 16 : 24);
		b->proto = 17;
		ipv4(b, 0, i ? 3 : 0x2000);
		ether(b, IPV4);
		store(b);
	}
}

/* Headers that a parser has to notice: options, and fragments, whose later ones have no ports. */
static void build_ipv4_odd(struct build *b)
{
	payload(b, "options", 7);
	udp(b, 50001, 9);
	ipv4(b, 8, 0);
	ether(b, IPV4);
	store(b);
	build_fragments(b);
}

static void build_ipv6(struct build *b)
{
	for (uint32_t i = 0; i < 2; i++) {
		payload(b, "GET / HTTP/1.0\r\n\r\n", i ? 18 : 0);
		tcp(b, 40010, 80, i ? PSH_ACK : SYN);
		ipv6(b);
		ether(b, IPV6);
		store(b);
	}
	payload(b, "weir sample payload", 19);
	udp(b, 50010, 443);
	ipv6(b);
	ether(b, IPV6);
	store(b);
	payload(b, "weir ping payload", 17);
	icmp(b, 58, 128);
	ipv6(b);
	ether(b, IPV6);
	store(b);
}

static void build_vlan(struct build *b)
{
	payload(b, "", 0);
	tcp(b, 40020, 80, SYN);
	ipv4(b, 0, 0x4000);
	vlan(b, 10, IPV4);
	ether(b, CVLAN);
	store(b);
	payload(b, "weir sample payload", 19);
	udp(b, 50020, 9);
	ipv6(b);
	vlan(b, 0x2000 | 20, IPV6);
	ether(b, CVLAN);
	store(b);
	payload(b, "weir sample payload", 19);
	udp(b, 50021, 9);
	ipv4(b, 0, 0);
	vlan(b, 10, IPV4);
	vlan(b, 100, CVLAN);
	ether(b, SVLAN);
	store(b);
}

static void vxlan_wrap(struct build *b)
{
	vxlan(b, 123);
	udp(b, 55555, VXLAN_PORT);
	ipv4(b, 0, 0);
	ether(b, IPV4);
	store(b);
}

static void build_vxlan(struct build *b)
{
	payload(b, "", 0);
	tcp(b, 40030, 80, SYN);
	ipv4(b, 0, 0x4000);
	ether(b, IPV4);
	vxlan_wrap(b);
	payload(b, "weir sample payload", 19);
	udp(b, 50030, 9);
	ipv6(b);
	ether(b, IPV6);
	vxlan_wrap(b);
	arp(b, 1);
	vxlan_wrap(b);
}

static void build_short(struct build *b)
{
	payload(b, "\x45\0\0\x14\0\0", 6); /* an IPv4 header that ends after 6 bytes */
	ether(b, IPV4);
	store(b);
}

static void build_all(void)
{
	struct build b;

	build_arp(&b);
	build_ipv4(&b);
	build_ipv4_odd(&b);
	build_ipv6(&b);
	build_vlan(&b);
	build_vxlan(&b);
	build_short(&b);
}

uint32_t sample_count(void)
{
	pthread_once(&once, build_all);
	return n_packets;
}

const struct sample_packet *sample_at(uint32_t i)
{
	return i < sample_count() ? &packets[i] : NULL;
}

/* The words for a packet, and where the reader stands in it. */
struct words {
	char *text;
	size_t size;
	const uint8_t *p, *end;
};

static void say(struct words *w, const char *word)
{
	size_t len = strlen(w->text);

	snprintf(w->text + len, w->size - len, "%s%s", len ? "/" : "", word);
}

static bool has(const struct words *w, ptrdiff_t n)
{
	return w->end - w->p >= n;
}

/* Says the protocol above IP; true when a VXLAN header was passed and an inner frame begins at p. */
static bool say_l4(struct words *w, uint8_t proto)
{
	static const struct {
		uint8_t proto, len;
		const char *word;
	} known[] = { { 6, 20, "tcp" }, { 17, 8, "udp" }, { 1, 8, "icmp" }, { 58, 4, "icmpv6" } };

	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].proto != proto)
			continue;
		say(w, known[i].word);
		if (!has(w, known[i].len)) {
			say(w, "short");
			return false;
		}
		if (proto != 17 || get16(w->p + 2) != VXLAN_PORT || !has(w, 16))
			return false;
		say(w, "vxlan");
		w->p += 16;
		return true;
	}
	say(w, "other");
	return false;
}

static bool say_ipv4(struct words *w)
{
	const uint8_t *h = w->p;
	int hlen;

	say(w, "ipv4");
	if (!has(w, 20) || (h[0] & 15) < 5 || !has(w, (h[0] & 15) * 4)) {
		say(w, "short");
		return false;
	}
	hlen = (h[0] & 15) * 4;
	w->p += hlen;
	if (hlen > 20)
		say(w, "options");
	if (get16(h + 6) & 0x3fff) {
		say(w, "fragment");
		return false;
	}
	return say_l4(w, h[9]);
}

static bool say_ipv6(struct words *w)
{
	uint8_t proto;

	say(w, "ipv6");
	if (!has(w, 40)) {
		say(w, "short");
		return false;
	}
	proto = w->p[6];
	w->p += 40;
	return say_l4(w, proto);
}

static bool say_frame(struct words *w)
{
	uint32_t type;

	if (!has(w, 14)) {
		say(w, "short");
		return false;
	}
	type = get16(w->p + 12);
	w->p += 14;
	for (int tags = 0; (type == CVLAN || type == SVLAN) && tags < 2 && has(w, 4); tags++) {
		say(w, "vlan");
		type = get16(w->p + 2);
		w->p += 4;
	}
	if (type == IPV4)
		return say_ipv4(w);
	if (type == IPV6)
		return say_ipv6(w);
	say(w, type == ARP ? "arp" : "other");
	return false;
}

const char *sample_classify(const uint8_t *bytes, uint32_t len)
{
	static _Thread_local char text[64];
	struct words w = { text, sizeof(text), bytes, bytes + len };

	*text = 0;
	if (say_frame(&w))
		say_frame(&w); /* the inner frame; a tunnel in a tunnel ends here */
	return text;
}

/* The port */

struct sample {
	struct port port;
	uint32_t next; /* packet of the capture */
	uint64_t given, count;
};

static int sample_open(struct port **ret, struct port_spec *spec, struct pool *pool,
		       struct err *err)
{
	struct sample *s;
	uint64_t loops, count;
	int rc;

	rc = port_spec_number(spec, "loops", 0, UINT32_MAX, 1, &loops, err);
	if (!rc)
		rc = port_spec_number(spec, "count", 1, UINT64_MAX, 0, &count, err);
	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ENOMEM, "port sample: out of memory");
	port_init(&s->port, &sample_ops, spec);
	s->port.can_tx = false;
	s->count = count ? count : loops ? loops * sample_count() : UINT64_MAX;
	*ret = &s->port;
	return 0;
}

static void sample_close(struct port *port)
{
	free(port);
}

static int sample_rx(struct port *port, struct pool_cache *cache, struct frame **frames, uint32_t n)
{
	struct sample *s = (struct sample *)port;
	uint32_t total = sample_count(), got;

	if (s->given == s->count)
		return PORT_EOF;
	if (n > s->count - s->given)
		n = (uint32_t)(s->count - s->given);
	got = pool_alloc(cache, frames, n);
	for (uint32_t i = 0; i < got; i++) {
		frame_fill(frames[i], packets[s->next].bytes, packets[s->next].len);
		frames[i]->seq = (uint32_t)++s->given;
		s->next = s->next + 1 == total ? 0 : s->next + 1;
	}
	port_count_rx(port, frames, got);
	return (int)got;
}

static void sample_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		      struct frame **frames, uint32_t n)
{
	port_count(&port->stats.tx_dropped[TX_LOSS_DOWN], n);
	pool_free(cache, frames, n);
}

const struct port_ops sample_ops = {
	.kind = "sample",
	.open = sample_open,
	.close = sample_close,
	.rx = sample_rx,
	.tx = sample_tx,
};
