/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures in and out of the test driver: see packets.h. */
#include "oracle/packets.h"

#include "pkt/pool.h"
#include "port/port.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	POOL_FRAMES = 1024, /* more than the cache keeps, and a burst */
};

struct packets {
	struct pool *pool;
	struct pool_cache cache;
	struct port *port;
	struct frame *frames[BURST_MAX];
	uint32_t n, next;
	char name[256];
};

char *packets_port(const char *name, char *buf, size_t n)
{
	size_t kind = strcspn(name, ":,");
	bool is_port = false;

	for (uint32_t i = 0; port_driver_at(i); i++) {
		const char *known = port_driver_at(i)->kind;

		is_port |= strlen(known) == kind && !strncmp(name, known, kind);
	}
	snprintf(buf, n, "%s%s", is_port ? "" : "pcap:", name);
	return buf;
}

int packets_open(struct packets **ret, const char *name, struct err *err)
{
	struct packets *p = calloc(1, sizeof(*p));
	struct port_spec spec;
	char text[512];
	int rc;

	if (!p)
		return err_set(err, ENOMEM, "out of memory");
	snprintf(p->name, sizeof(p->name), "%s", name);
	rc = pool_create(&p->pool, POOL_FRAMES, err);
	if (rc)
		goto err_free;
	pool_cache_init(&p->cache, p->pool);
	rc = port_spec_parse(&spec, packets_port(name, text, sizeof(text)), err);
	if (!rc)
		rc = port_open(&p->port, &spec, p->pool, err);
	if (rc)
		goto err_pool;
	*ret = p;
	return 0;
err_pool:
	pool_cache_fini(&p->cache);
	pool_destroy(p->pool);
err_free:
	free(p);
	return rc;
}

static void give_back(struct packets *p)
{
	if (p->n)
		pool_free(&p->cache, p->frames, p->n);
	p->n = p->next = 0;
}

int packets_next(struct packets *p, const uint8_t **bytes, uint32_t *len, struct err *err)
{
	int rc;

	if (p->next == p->n) {
		give_back(p);
		rc = port_rx(p->port, &p->cache, p->frames, BURST_MAX);
		if (rc == PORT_EOF)
			return 0;
		if (rc < 0 && p->port->lost[0])
			return err_set(err, -rc, "%s", p->port->lost);
		if (rc <= 0)
			return err_set(err, rc ? -rc : EIO, "%s: reading stopped: %s", p->name,
				       errno_name(rc ? rc : EIO));
		p->n = (uint32_t)rc;
	}
	*bytes = p->frames[p->next]->data;
	*len = frame_len(p->frames[p->next]);
	p->next++;
	return 1;
}

uint64_t packets_lost(const struct packets *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < RX_LOSSES; i++)
		n += p->port->stats.rx_dropped[i];
	return n;
}

void packets_close(struct packets *p)
{
	if (!p)
		return;
	give_back(p);
	port_close(p->port);
	pool_cache_fini(&p->cache);
	pool_destroy(p->pool);
	free(p);
}

struct capture {
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	uint64_t n;
	char path[256];
};

int capture_create(struct capture **ret, const char *path, struct err *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	snprintf(c->path, sizeof(c->path), "%s", path);
	c->pcap =
		pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 65535, PCAP_TSTAMP_PRECISION_NANO);
	if (!c->pcap) {
		free(c);
		return err_set(err, ENOMEM, "out of memory");
	}
	c->dumper = pcap_dump_open(c->pcap, path);
	if (!c->dumper) {
		rc = err_set(err, EIO, "%s", pcap_geterr(c->pcap));
		pcap_close(c->pcap);
		free(c);
		return rc;
	}
	*ret = c;
	return 0;
}

void capture_add(struct capture *c, const uint8_t *bytes, uint32_t len)
{
	struct pcap_pkthdr header = { .caplen = len, .len = len };

	c->n++;
	header.ts.tv_sec = (time_t)(c->n / 1000000);
	header.ts.tv_usec =
		(suseconds_t)(c->n % 1000000 * 1000); /* nanoseconds, by the precision */
	pcap_dump((u_char *)c->dumper, &header, bytes);
}

int capture_close(struct capture *c, struct err *err)
{
	int rc = 0;

	if (!c)
		return 0;
	if (pcap_dump_flush(c->dumper) || ferror(pcap_dump_file(c->dumper)))
		rc = err_set(err, EIO, "%s: writing failed: is the disk full?", c->path);
	pcap_dump_close(c->dumper);
	pcap_close(c->pcap);
	free(c);
	return rc;
}
