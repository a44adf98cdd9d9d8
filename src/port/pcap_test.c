/* SPDX-License-Identifier: BSD-2-Clause */
/* Capture files: what is written is read back, and every kind of bad file gets a line that helps. */
#include <errno.h>
#include <pcap/pcap.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "port/mem.h"
#include "port/port.h"

enum { N_FRAMES = 256 };

struct env {
	struct pool *pool;
	struct pool_cache cache;
};

static char dir[] = "/tmp/weir-pcap-test-XXXXXX";

static void env_init(struct env *e)
{
	assert_int_equal(pool_create(&e->pool, N_FRAMES, NULL), 0);
	pool_cache_init(&e->cache, e->pool);
}

static void env_fini(struct env *e)
{
	pool_cache_fini(&e->cache);
	assert_int_equal(pool_destroy(e->pool), 0);
}

static int open_as(struct env *e, const char *path, const char *way, struct port **ret,
		   struct err *err)
{
	struct port_spec spec;
	char text[300];

	snprintf(text, sizeof(text), "pcap:%s", path);
	assert_int_equal(port_spec_parse(&spec, text, err), 0);
	assert_int_equal(port_spec_set(&spec, "dir", way, err), 0);
	return port_open(ret, &spec, e->pool, err);
}

static const char *file(const char *name)
{
	static char paths[4][128];
	static int i;

	i = (i + 1) % 4;
	snprintf(paths[i], sizeof(paths[i]), "%s/%s", dir, name);
	return paths[i];
}

static void file_write(const char *path, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

/* A pcap header and n records of caplen bytes that say len. Returns the length of it all. */
static size_t capture_make(uint8_t *buf, uint32_t link, uint32_t snaplen, uint32_t n,
			   uint32_t caplen, uint32_t len)
{
	size_t at = 24;

	memset(buf, 0, 24);
	put32(buf, 0xa1b2c3d4);
	memcpy(buf + 4, "\2\0\4\0", 4);
	put32(buf + 16, snaplen);
	put32(buf + 20, link);
	for (uint32_t i = 0; i < n; i++) {
		memset(buf + at, 0, 16);
		put32(buf + at + 8, caplen);
		put32(buf + at + 12, len);
		memset(buf + at + 16, (int)i + 1, caplen);
		at += 16 + caplen;
	}
	return at;
}

static void written_frames_are_read_back(void **state)
{
	struct frame *frames[BURST_MAX];
	struct port *out, *in;
	struct env e;
	uint32_t n = sample_count();

	env_init(&e);
	assert_int_equal(open_as(&e, file("out.pcap"), "out", &out, NULL), 0);
	assert_false(out->can_rx);
	assert_int_equal(pool_alloc(&e.cache, frames, n), n);
	for (uint32_t i = 0; i < n; i++)
		frame_fill(frames[i], sample_at(i)->bytes, sample_at(i)->len);
	port_tx(out, &e.cache, 0, frames, n);
	assert_int_equal(out->stats.tx_frames, n);
	port_close(out);

	assert_int_equal(open_as(&e, file("out.pcap"), "in", &in, NULL), 0);
	assert_false(in->can_tx);
	assert_string_equal(in->name, file("out.pcap"));
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(frame_len(frames[i]), sample_at(i)->len);
		assert_memory_equal(frames[i]->data, sample_at(i)->bytes, sample_at(i)->len);
		assert_int_equal(frames[i]->seq, i + 1);
	}
	pool_free(&e.cache, frames, n);
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), PORT_EOF);
	port_close(in);
	env_fini(&e);
}

static void written_files_have_nanoseconds(void **state)
{
	char text[PCAP_ERRBUF_SIZE];
	struct port *out;
	struct env e;
	pcap_t *p;

	env_init(&e);
	assert_int_equal(open_as(&e, file("ns.pcap"), "out", &out, NULL), 0);
	port_close(out);
	p = pcap_open_offline_with_tstamp_precision(file("ns.pcap"), PCAP_TSTAMP_PRECISION_NANO,
						    text);
	assert_non_null(p);
	assert_int_equal(pcap_datalink(p), DLT_EN10MB);
	pcap_close(p);
	env_fini(&e);
}

/* Section header, interface description (nanoseconds), one enhanced packet block of 60 bytes. */
static void pcapng_is_read(void **state)
{
	uint8_t ng[28 + 28 + 92] = { 0 };
	struct frame *frames[BURST_MAX];
	struct port *in;
	struct env e;

	put32(ng, 0x0a0d0d0a);
	put32(ng + 4, 28);
	put32(ng + 8, 0x1a2b3c4d);
	put32(ng + 12, 1);
	memset(ng + 16, 0xff, 8);
	put32(ng + 24, 28);
	put32(ng + 28, 1);
	put32(ng + 32, 28);
	put32(ng + 36, 1);
	put32(ng + 44, 0x00010009); /* if_tsresol, 1 byte */
	put32(ng + 48, 9);
	put32(ng + 52, 28);
	put32(ng + 56, 6);
	put32(ng + 60, 92);
	put32(ng + 76, 60);
	put32(ng + 80, 60);
	memset(ng + 84, 0x5a, 60);
	put32(ng + 144, 92);
	file_write(file("x.pcapng"), ng, sizeof(ng));
	env_init(&e);
	assert_int_equal(open_as(&e, file("x.pcapng"), "in", &in, NULL), 0);
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), 1);
	assert_int_equal(frame_len(frames[0]), 60);
	assert_int_equal(frames[0]->data[59], 0x5a);
	pool_free(&e.cache, frames, 1);
	port_close(in);
	env_fini(&e);
}

static void bad_files_get_a_line_that_helps(void **state)
{
	static uint8_t buf[8192];
	static const struct {
		const char *name, *says;
		int code;
	} cases[] = {
		{ "missing.pcap", "no such file or folder; check the path", -ENOENT },
		{ "empty.pcap", "the file is empty", -EBADMSG },
		{ "header.pcap", "not a pcap or pcapng capture", -EBADMSG },
		{ "text.pcap", "not a pcap or pcapng capture", -EBADMSG },
		{ "sll.pcap", "its link type is LINUX_SLL (113), not Ethernet", -EBADMSG },
		{ "folder.pcap", "it is a folder", -EISDIR },
	};
	struct env e;

	file_write(file("empty.pcap"), "", 0);
	capture_make(buf, 1, 65535, 0, 0, 0);
	file_write(file("header.pcap"), buf, 20);
	file_write(file("text.pcap"), "this is no capture, it is a text", 32);
	file_write(file("sll.pcap"), buf, capture_make(buf, 113, 65535, 1, 60, 60));
	mkdir(file("folder.pcap"), 0755);
	env_init(&e);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { "" };
		struct port *port = NULL;

		assert_int_equal(open_as(&e, file(cases[i].name), "in", &port, &err),
				 cases[i].code);
		assert_null(port);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, file(cases[i].name)))
			fail_msg("%s gave '%s'", cases[i].name, err.text);
		assert_null(strchr(err.text, '\n'));
	}
	env_fini(&e);
}

static void file_cut_in_a_packet_gives_those_before_it(void **state)
{
	static uint8_t buf[8192];
	struct frame *frames[BURST_MAX];
	struct port *in;
	struct env e;
	size_t len = capture_make(buf, 1, 65535, 4, 60, 60);

	env_init(&e);
	for (size_t cut = 1; cut < 76; cut += 7) {
		file_write(file("cut.pcap"), buf, len - cut);
		assert_int_equal(open_as(&e, file("cut.pcap"), "in", &in, NULL), 0);
		assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), 3);
		pool_free(&e.cache, frames, 3);
		assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), -EBADMSG);
		assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), -EBADMSG);
		assert_non_null(strstr(in->lost, "cut.pcap: broken after packet 3"));
		port_close(in);
	}
	env_fini(&e);
}

static void packets_that_are_not_whole_are_counted(void **state)
{
	static uint8_t buf[16384];
	static const struct {
		uint32_t snaplen, caplen, len;
		enum port_rx_loss loss;
		int end;
		const char *says;
	} cases[] = {
		{ 96, 96, 1500, RX_LOSS_TRUNCATED, -EBADMSG,
		  "odd.pcap: 3 of its 3 packets are cut and left out (snap length 96)" },
		/* the header's snap length is below the record's */
		{ 40, 60, 60, RX_LOSS_TRUNCATED, -EBADMSG, "(snap length 40)" },
		{ 65535, 13, 13, RX_LOSS_TOO_SHORT, PORT_EOF, "" },
		{ 65535, 3521, 3521, RX_LOSS_TOO_LONG, PORT_EOF, "" },
	};
	struct env e;

	env_init(&e);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len =
			capture_make(buf, 1, cases[i].snaplen, 3, cases[i].caplen, cases[i].len);
		struct frame *frames[BURST_MAX];
		struct port *in;
		int n, rounds = 0;

		file_write(file("odd.pcap"), buf, len);
		assert_int_equal(open_as(&e, file("odd.pcap"), "in", &in, NULL), 0);
		while ((n = port_rx(in, &e.cache, frames, BURST_MAX)) != cases[i].end) {
			assert_int_equal(n, 0);
			assert_true(rounds++ < 3);
		}
		assert_non_null(strstr(in->lost, cases[i].says));
		assert_int_equal(in->stats.rx_dropped[cases[i].loss], 3);
		assert_int_equal(in->stats.rx_frames, 0);
		port_close(in);
	}
	env_fini(&e);
}

static void a_capture_without_packets_is_an_error(void **state)
{
	static uint8_t buf[64];
	struct frame *frames[BURST_MAX];
	struct port *in;
	struct env e;

	file_write(file("none.pcap"), buf, capture_make(buf, 1, 65535, 0, 0, 0));
	env_init(&e);
	assert_int_equal(open_as(&e, file("none.pcap"), "in", &in, NULL), 0);
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), -EBADMSG);
	assert_non_null(strstr(in->lost, "none.pcap: no packet in it"));
	port_close(in);
	env_fini(&e);
}

static void longest_frame_is_read(void **state)
{
	static uint8_t buf[8192];
	struct frame *frames[BURST_MAX];
	struct port *in;
	struct env e;

	file_write(file("max.pcap"), buf, capture_make(buf, 1, 65535, 1, 3520, 3520));
	env_init(&e);
	assert_int_equal(open_as(&e, file("max.pcap"), "in", &in, NULL), 0);
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), 1);
	assert_int_equal(frame_len(frames[0]), FRAME_DATA_MAX);
	pool_free(&e.cache, frames, 1);
	port_close(in);
	env_fini(&e);
}

static void one_file_is_not_read_and_written(void **state)
{
	static uint8_t buf[8192];
	struct port *in, *in2, *out;
	struct err err = { "" };
	struct stat st;
	struct env e;

	file_write(file("same.pcap"), buf, capture_make(buf, 1, 65535, 3, 60, 60));
	assert_int_equal(link(file("same.pcap"), file("other-name.pcap")), 0);
	env_init(&e);
	assert_int_equal(open_as(&e, file("same.pcap"), "in", &in, NULL), 0);
	assert_int_equal(open_as(&e, file("same.pcap"), "in", &in2, NULL), 0);
	assert_int_equal(open_as(&e, file("other-name.pcap"), "out", &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "the same file"));
	assert_int_equal(stat(file("same.pcap"), &st), 0);
	assert_int_equal(st.st_size, 24 + 3 * 76); /* nothing was lost by trying */
	port_close(in);
	port_close(in2);
	assert_int_equal(open_as(&e, file("other-name.pcap"), "out", &out, NULL), 0);
	assert_int_equal(open_as(&e, file("same.pcap"), "in", &in, &err), -EINVAL);
	assert_int_equal(open_as(&e, file("same.pcap"), "out", &in, &err), -EINVAL);
	port_close(out);
	env_fini(&e);
}

static void unwritable_files_are_named(void **state)
{
	struct err err = { "" };
	struct port *out;
	struct env e;

	env_init(&e);
	assert_int_equal(open_as(&e, file("no/such/folder.pcap"), "out", &out, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such file or folder"));
	assert_int_equal(open_as(&e, "/dev/full", "out", &out, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "check the free space"));
	env_fini(&e);
}

/* A limit on the file's size stands for a full disk: the frames are counted, the file stays whole. */
static void full_disk_is_counted_and_leaves_a_whole_file(void **state)
{
	struct frame *frames[BURST_MAX];
	struct port *out, *in;
	struct env e;
	pid_t pid;
	int status;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit limit = { 24 + 5 * 116 + 50, 24 + 5 * 116 + 50 };
		int ok;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		env_init(&e);
		ok = !open_as(&e, file("full.pcap"), "out", &out, NULL);
		ok = ok && pool_alloc(&e.cache, frames, 8) == 8;
		for (int i = 0; i < 8 && ok; i++)
			frames[i]->data_end = frames[i]->data + 100;
		port_tx(out, &e.cache, 0, frames, 8);
		ok = ok && out->stats.tx_frames == 5 && out->stats.tx_dropped[TX_LOSS_IO] == 3;
		port_close(out);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	env_init(&e);
	assert_int_equal(open_as(&e, file("full.pcap"), "in", &in, NULL), 0);
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), 5);
	pool_free(&e.cache, frames, 5);
	assert_int_equal(port_rx(in, &e.cache, frames, BURST_MAX), PORT_EOF);
	port_close(in);
	env_fini(&e);
}

static int folder_make(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int folder_remove(void **state)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_frames_are_read_back),
		cmocka_unit_test(written_files_have_nanoseconds),
		cmocka_unit_test(pcapng_is_read),
		cmocka_unit_test(bad_files_get_a_line_that_helps),
		cmocka_unit_test(file_cut_in_a_packet_gives_those_before_it),
		cmocka_unit_test(packets_that_are_not_whole_are_counted),
		cmocka_unit_test(a_capture_without_packets_is_an_error),
		cmocka_unit_test(longest_frame_is_read),
		cmocka_unit_test(one_file_is_not_read_and_written),
		cmocka_unit_test(unwritable_files_are_named),
		cmocka_unit_test(full_disk_is_counted_and_leaves_a_whole_file),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
