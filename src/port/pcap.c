/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture files: see port.h. Reading is libpcap's (pcap and pcapng, any time stamps); writing is done here,
 * one write(2) a burst, so that a full disk is known for each frame and never leaves half a record behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "port/port_impl.h"

enum {
	RECORD_HDR = 16,
	BUF_SIZE = BURST_MAX * (RECORD_HDR + FRAME_SIZE),
	SNAPLEN = 262144, /* what tcpdump writes */
};

struct file_hdr {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, sigfigs, snaplen, link_type;
};

static_assert(sizeof(struct file_hdr) == 24, "the header of a pcap file");

struct capture {
	struct port port;
	char path[256];
	struct capture *next; /* all that are open: open_captures */
	dev_t dev;
	ino_t ino;
	bool regular, output;
	/* in */
	pcap_t *pcap;
	uint32_t seq;
	int end; /* what rx returns from now on; 0: goes on */
	/* out */
	int fd;
	bool broken; /* a stream that ended in the middle of a record */
	uint8_t *buf;
};

/* Open captures, so that no file is read and written at the same time. */
static struct capture *open_captures;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static bool captures_clash(const struct capture *a, const struct capture *b)
{
	return a->regular && b->regular && a->dev == b->dev && a->ino == b->ino &&
	       (a->output || b->output);
}

/* Enters the capture; false when its file is open in a way that does not go together with it. */
static bool capture_enter(struct capture *c, const struct stat *st)
{
	bool clash = false;

	c->dev = st->st_dev;
	c->ino = st->st_ino;
	c->regular = S_ISREG(st->st_mode);
	pthread_mutex_lock(&open_lock);
	for (struct capture *o = open_captures; o && !clash; o = o->next)
		clash = captures_clash(o, c);
	if (!clash) {
		c->next = open_captures;
		open_captures = c;
	}
	pthread_mutex_unlock(&open_lock);
	return !clash;
}

static void capture_leave(struct capture *c)
{
	pthread_mutex_lock(&open_lock);
	for (struct capture **o = &open_captures; *o; o = &(*o)->next) {
		if (*o != c)
			continue;
		*o = c->next;
		break;
	}
	pthread_mutex_unlock(&open_lock);
}

static int clash_error(const struct capture *c, struct err *err)
{
	return err_set(
		err, EINVAL,
		"port pcap:%s: the same file is open as another port; give each output a file "
		"of its own",
		c->path);
}

static int open_error(const struct capture *c, int code, struct err *err)
{
	switch (code) {
	case ENOENT:
		return err_set(err, code, "port pcap:%s: no such file or folder; check the path",
			       c->path);
	case EACCES:
	case EPERM:
		return err_set(err, code, "port pcap:%s: no permission to %s it; check its owner",
			       c->path, c->output ? "write" : "read");
	case EISDIR:
		return err_set(err, code, "port pcap:%s: it is a folder; give a capture file",
			       c->path);
	default:
		return err_set(err, code, "port pcap:%s: %s; check the path", c->path,
			       errno_name(code));
	}
}

/* Reading */

static int link_check(struct capture *c, struct err *err)
{
	int link = pcap_datalink(c->pcap);
	const char *name = pcap_datalink_val_to_name(link);

	if (link == DLT_EN10MB)
		return 0;
	return err_set(
		err, EBADMSG,
		"port pcap:%s: its link type is %s (%d), not Ethernet; capture on an Ethernet "
		"interface",
		c->path, name ? name : "unknown", link);
}

/* Takes the stream. */
static int reader_start(struct capture *c, FILE *in, struct err *err)
{
	char text[PCAP_ERRBUF_SIZE];
	struct stat st;

	if (fstat(fileno(in), &st) || S_ISDIR(st.st_mode)) {
		fclose(in);
		return open_error(c, EISDIR, err);
	}
	if (S_ISREG(st.st_mode) && !st.st_size) {
		fclose(in);
		return err_set(
			err, EBADMSG,
			"port pcap:%s: the file is empty, not even a header; capture it again",
			c->path);
	}
	c->pcap = pcap_fopen_offline_with_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!c->pcap) {
		fclose(in);
		return err_set(
			err, EBADMSG,
			"port pcap:%s: not a pcap or pcapng capture (%s); capture it again with "
			"tcpdump -w",
			c->path, text);
	}
	if (link_check(c, err))
		return -EBADMSG;
	return capture_enter(c, &st) ? 0 : clash_error(c, err);
}

static int reader_open(struct capture *c, struct err *err)
{
	FILE *in = strcmp(c->path, "-") ? fopen(c->path, "rbe") : stdin;

	if (!in)
		return open_error(c, errno, err);
	c->port.can_tx = false;
	return reader_start(c, in, err);
}

/* Puts one packet of the file into f; false when it was counted as lost instead. */
static bool packet_take(struct capture *c, struct frame *f, const struct pcap_pkthdr *h,
			const uint8_t *bytes)
{
	uint64_t *dropped = c->port.stats.rx_dropped;

	if (h->len > FRAME_DATA_MAX)
		port_count(&dropped[RX_LOSS_TOO_LONG], 1);
	else if (h->caplen < h->len)
		port_count(&dropped[RX_LOSS_TRUNCATED], 1);
	else if (h->caplen < FRAME_LEN_MIN)
		port_count(&dropped[RX_LOSS_TOO_SHORT], 1);
	else
		return !frame_fill(f, bytes, h->caplen);
	return false;
}

/* The end of the file: an error when it had nothing to give, or not all of it. */
static int reader_end(struct capture *c)
{
	uint64_t cut = c->port.stats.rx_dropped[RX_LOSS_TRUNCATED];

	if (!c->seq)
		return port_lost(&c->port, EBADMSG,
				 "port pcap:%.100s: no packet in it; capture it again", c->path);
	if (cut)
		return port_lost(
			&c->port, EBADMSG,
			"port pcap:%.100s: %llu of its %u packets are cut and left out (snap "
			"length %d); capture them whole with tcpdump -s 0",
			c->path, (unsigned long long)cut, c->seq, pcap_snapshot(c->pcap));
	return PORT_EOF;
}

/* Reads until n frames are filled, or the file ends: then c->end is set. */
static uint32_t reader_fill(struct capture *c, struct frame **frames, uint32_t n)
{
	struct pcap_pkthdr *h;
	const uint8_t *bytes;
	uint32_t filled = 0;
	int rc;

	while (filled < n) {
		rc = pcap_next_ex(c->pcap, &h, &bytes);
		if (rc == PCAP_ERROR_BREAK) {
			c->end = reader_end(c);
			break;
		}
		if (rc != 1) {
			c->end = port_lost(
				&c->port, EBADMSG,
				"port pcap:%.100s: broken after packet %u (%.80s); capture "
				"it again",
				c->path, c->seq, pcap_geterr(c->pcap));
			break;
		}
		c->seq++;
		if (!packet_take(c, frames[filled], h, bytes))
			continue;
		frames[filled++]->seq = c->seq;
	}
	return filled;
}

static int capture_rx(struct port *port, struct pool_cache *cache, struct frame **frames,
		      uint32_t n)
{
	struct capture *c = (struct capture *)port;
	uint32_t got, filled;

	if (!c->pcap)
		return PORT_EOF;
	if (c->end)
		return c->end;
	got = pool_alloc(cache, frames, n);
	filled = reader_fill(c, frames, got);
	pool_free(cache, frames + filled, got - filled);
	port_count_rx(port, frames, filled);
	return filled || !c->end ? (int)filled : c->end;
}

/* Writing */

static int writer_start(struct capture *c)
{
	const struct file_hdr h = {
		.magic = 0xa1b23c4d, /* nanoseconds */
		.major = 2,
		.minor = 4,
		.snaplen = SNAPLEN,
		.link_type = DLT_EN10MB,
	};
	ssize_t n = write(c->fd, &h, sizeof(h));

	if (n == sizeof(h))
		return 0;
	return n < 0 ? -errno : -ENOSPC;
}

static int writer_open(struct capture *c, struct err *err)
{
	struct stat st;
	int rc;

	c->port.can_rx = false;
	c->buf = malloc(BUF_SIZE);
	if (!c->buf)
		return err_set(err, ENOMEM, "port pcap:%s: out of memory", c->path);
	/* Not truncated before it is known that nobody reads it. */
	c->fd = strcmp(c->path, "-") ? open(c->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)
				     : dup(STDOUT_FILENO);
	if (c->fd < 0 || fstat(c->fd, &st))
		return open_error(c, errno, err);
	if (!capture_enter(c, &st))
		return clash_error(c, err);
	if (c->regular && ftruncate(c->fd, 0))
		return open_error(c, errno, err);
	rc = writer_start(c);
	if (rc)
		return err_set(err, -rc,
			       "port pcap:%s: cannot write its header (%s); check the free space",
			       c->path, errno_name(rc));
	return 0;
}

static uint32_t record_put(uint8_t *at, const struct frame *f, uint64_t now)
{
	uint32_t len = frame_len(f);
	const uint32_t h[4] = { (uint32_t)(now / 1000000000), (uint32_t)(now % 1000000000), len,
				len };

	static_assert(sizeof(h) == RECORD_HDR, "the header of a record");
	memcpy(at, h, sizeof(h));
	memcpy(at + sizeof(h), f->data, len);
	return RECORD_HDR + len;
}

/* Writes all of the buffer, or as much as the disk takes; returns how much that was. */
static size_t write_all(int fd, const uint8_t *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* Takes back the part of a record that was written before the disk was full. */
static void partial_remove(struct capture *c, size_t written, size_t whole)
{
	off_t pos;

	if (written == whole)
		return;
	pos = lseek(c->fd, -(off_t)(written - whole), SEEK_CUR);
	c->broken = pos < 0 || ftruncate(c->fd, pos);
}

static uint32_t burst_write(struct capture *c, struct frame **frames, uint32_t n)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	uint32_t sent = 0;
	size_t len = 0, whole = 0, written;

	if (c->broken)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		len += record_put(c->buf + len, frames[i], now);
	written = write_all(c->fd, c->buf, len);
	while (sent < n && whole + RECORD_HDR + frame_len(frames[sent]) <= written)
		whole += RECORD_HDR + frame_len(frames[sent++]);
	partial_remove(c, written, whole);
	return sent;
}

static void capture_tx(struct port *port, struct pool_cache *cache, uint32_t queue,
		       struct frame **frames, uint32_t n)
{
	struct capture *c = (struct capture *)port;
	uint32_t sent = c->buf ? burst_write(c, frames, n) : 0;

	port_count_tx(port, frames, sent);
	if (sent < n)
		port_count(&port->stats.tx_dropped[TX_LOSS_IO], n - sent);
	pool_free(cache, frames, n);
}

static void capture_close(struct port *port)
{
	struct capture *c = (struct capture *)port;

	capture_leave(c);
	if (c->pcap)
		pcap_close(c->pcap);
	if (c->fd >= 0)
		close(c->fd);
	free(c->buf);
	free(c);
}

static int capture_open(struct port **ret, struct port_spec *spec, struct pool *pool,
			struct err *err)
{
	const char *dir = port_spec_dir(spec);
	struct capture *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return err_set(err, ENOMEM, "port pcap:%s: out of memory", spec->arg);
	c->fd = -1;
	c->output = dir && !strcmp(dir, "out");
	snprintf(c->path, sizeof(c->path), "%s", spec->arg);
	port_init(&c->port, &pcap_ops, spec);
	rc = c->output ? writer_open(c, err) : reader_open(c, err);
	if (rc) {
		capture_close(&c->port);
		return rc;
	}
	*ret = &c->port;
	return 0;
}

static void capture_describe(struct port *port, char *buf, size_t size)
{
	const struct capture *c = (const struct capture *)port;

	snprintf(buf, size, "%s %s", c->output ? "writes" : "reads", c->path);
}

const struct port_ops pcap_ops = {
	.kind = "pcap",
	.open = capture_open,
	.close = capture_close,
	.rx = capture_rx,
	.tx = capture_tx,
	.describe = capture_describe,
};
