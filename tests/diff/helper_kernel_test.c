/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers against the kernel's: the same instructions run on weir's interpreter and through BPF_PROG_TEST_RUN, and
 * verdict, metadata and packet must be the same. Skipped where the kernel may not be asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../isa/asm.h"

#include "bpf/prog.h"
#include "bpf/sys.h"

enum { LEN = 100, OUT_MAX = 4096, TEXT = 16384, RANDOM_RUNS = 300 };

struct answer {
	uint32_t verdict, len;
	uint8_t bytes[OUT_MAX]; /* metadata, then packet */
};

static struct run_ctx rc;
static uint8_t chunk[FRAME_SIZE];
static char text[TEXT];
static size_t text_len;
static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_len += (size_t)vsnprintf(text + text_len, sizeof(text) - text_len, fmt, ap);
	va_end(ap);
}

static void begin(const char *first)
{
	text_len = 0;
	say("%s", first);
}

static void packet(uint8_t *bytes)
{
	for (int i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i + 1);
}

static int kernel_load(const struct bpf_insn *insns, int n, char *log, uint32_t log_size)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uint64_t)(uintptr_t)insns,
		.insn_cnt = (uint32_t)n,
		.license = (uint64_t)(uintptr_t) "GPL",
		.log_buf = (uint64_t)(uintptr_t)log,
		.log_size = log_size,
		.log_level = log ? 1 : 0,
	};

	return (int)sys_kernel_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void kernel_run(const struct bpf_insn *insns, int n, struct answer *ret)
{
	static char log[65536];
	uint8_t in[LEN];
	union bpf_attr attr = { 0 };
	int fd = kernel_load(insns, n, log, sizeof(log));

	if (fd < 0)
		fail_msg("the kernel refuses: %s\n%s", log, text);
	packet(in);
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.data_in = (uint64_t)(uintptr_t)in;
	attr.test.data_size_in = LEN;
	attr.test.data_out = (uint64_t)(uintptr_t)ret->bytes;
	attr.test.data_size_out = OUT_MAX;
	assert_int_equal(sys_kernel_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr)), 0);
	close(fd);
	ret->verdict = attr.test.retval;
	ret->len = attr.test.data_size_out;
}

static void weir_run(const struct bpf_insn *insns, int n, struct answer *ret)
{
	struct prog_attr attr = {
		.type = BPF_PROG_TYPE_XDP,
		.insns = insns,
		.n_insns = (uint32_t)n,
		.gpl = true,
		.name = "case",
	};
	struct frame f = { .hard_start = chunk };
	struct err err = { "" };
	struct prog *prog;

	if (prog_create(&prog, &attr, &err))
		fail_msg("weir refuses: %s\n%s", err.text, text);
	memset(chunk, 0, sizeof(chunk));
	frame_reset(&f);
	f.data_end += LEN;
	packet(f.data);
	ret->verdict = prog_run(prog, &rc, &f);
	if (rc.fault.reason)
		fail_msg("faults at instruction %u\n%s", rc.fault.insn, text);
	ret->len = (uint32_t)(f.data_end - f.data_meta);
	memcpy(ret->bytes, f.data_meta, ret->len);
	prog_put(prog);
}

static void compare(bool bytes)
{
	static struct answer kernel, weir;
	struct bpf_insn insns[ASM_INSNS_MAX];
	char error[ASM_ERROR];
	int n = asm_program(insns, text, NULL, error);

	if (n < 0)
		fail_msg("%s\n%s", error, text);
	kernel_run(insns, n, &kernel);
	weir_run(insns, n, &weir);
	if (kernel.verdict != weir.verdict)
		fail_msg("returns 0x%x, the kernel 0x%x\n%s", weir.verdict, kernel.verdict, text);
	if (kernel.len != weir.len)
		fail_msg("leaves %u bytes, the kernel %u\n%s", weir.len, kernel.len, text);
	if (bytes && memcmp(kernel.bytes, weir.bytes, weir.len))
		fail_msg("leaves other bytes than the kernel\n%s", text);
}

/* One call on the context in r6 with a number; its result is worked into r7. */
static void call_with(int helper, int32_t arg)
{
	say("mov64 r1, r6\nmov64 r2, %d\ncall %d\nmul64 r7, 31\nadd64 r7, r0\n", arg, helper);
}

static const int adjust_helpers[] = { 44, 54, 65 };
static const int32_t deltas[] = {
	0,    1,    -1,	  4,	-4,    8,	   -8,
	-6,   -36,  14,	  -14,	40,    86,	   87,
	-86,  -87,  100,  -100, -32,   -212,	   -215,
	-216, -217, -220, -252, -256,  255,	   256,
	3419, 3420, 3421, 4000, -4000, 0x7fffffff, -0x7fffffff - 1,
};

enum { N_DELTAS = sizeof(deltas) / sizeof(deltas[0]) };

static void adjust_one(void **state)
{
	for (int h = 0; h < 3; h++)
		for (int i = 0; i < N_DELTAS; i++) {
			begin("mov64 r6, r1\nmov64 r7, 0\n");
			call_with(adjust_helpers[h], deltas[i]);
			say("mov64 r0, r7\nexit\n");
			compare(true);
		}
}

static void adjust_sequences(void **state)
{
	seed = 1;
	for (int run = 0; run < RANDOM_RUNS; run++) {
		begin("mov64 r6, r1\nmov64 r7, 0\n");
		for (int i = 0; i < 6; i++)
			call_with(adjust_helpers[random_below(3)], deltas[random_below(N_DELTAS)]);
		say("mov64 r0, r7\nexit\n");
		compare(true);
	}
}

static void bytes_in_and_out(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 13, 63, 64 },
			      offs[] = { 0, 1, 36, 37, 99, 100, 0xffff, 0x10000 };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (size_t o = 0; o < sizeof(offs) / sizeof(offs[0]); o++) {
			begin("mov64 r6, r1\n");
			for (int i = 8; i <= 64; i += 8)
				say("stdw [r10-%d], %d\n", i, i * 0x01020304);
			for (int helper = 189; helper <= 190; helper++)
				say("mov64 r1, r6\nmov64 r2, %u\nmov64 r3, r10\nadd64 r3, -64\n"
				    "mov64 r4, %u\ncall %d\nmov64 r%d, r0\n",
				    offs[o], sizes[s], helper == 189 ? 190 : 189,
				    helper == 189 ? 7 : 8);
			say("mov64 r1, r6\ncall 188\nmul64 r7, 1009\nadd64 r0, r7\nadd64 r0, r8\n"
			    "ldxdw r1, [r10-64]\nadd64 r0, r1\nexit\n");
			compare(true);
		}
}

static void checksum_differences(void **state)
{
	seed = 2;
	for (int run = 0; run < RANDOM_RUNS; run++) {
		uint32_t from = random_below(65), to = random_below(65);

		begin("");
		for (int i = 8; i <= 128; i += 8) {
			uint64_t v = run % 8 == 0   ? 0
				     : run % 8 == 1 ? UINT64_MAX
						    : seed ^ seed << 32;

			say("lddw r1, 0x%llx\nstxdw [r10-%d], r1\n", (unsigned long long)v, i);
			random_below(2);
		}
		say("mov64 r1, r10\nadd64 r1, -64\nmov64 r2, %u\nmov64 r3, r10\nadd64 r3, -128\n"
		    "mov64 r4, %u\nmov64 r5, %d\n",
		    run % 3 == 1 ? 0 : from, run % 3 == 2 ? 0 : to,
		    run % 5 == 0   ? 0
		    : run % 5 == 1 ? -1
				   : (int)random_below(0x7fffffff));
		if (run % 3 == 1)
			say("mov64 r1, 0\n");
		if (run % 3 == 2)
			say("mov64 r3, 0\n");
		say("call 28\nexit\n");
		compare(true);
	}
}

/* Puts a string at the bottom of 32 bytes of stack, NUL-padded, as two-byte stores. */
static void put_string(const char *s)
{
	char buf[32] = { 0 };

	memcpy(buf, s, strlen(s) < sizeof(buf) ? strlen(s) : sizeof(buf));
	for (int i = 0; i < 32; i++)
		say("stb [r10-%d], %d\n", 32 - i, (uint8_t)buf[i]);
}

static void numbers_from_strings(void **state)
{
	static const char *const strings[] = {
		"0",
		"12",
		"-12",
		" \t42x",
		"",
		"-",
		"+5",
		"0x1f",
		"0X1F",
		"0x",
		"0xg",
		"017",
		"08",
		"abc",
		"9223372036854775807",
		"9223372036854775808",
		"-9223372036854775808",
		"-9223372036854775809",
		"18446744073709551615",
		"18446744073709551616",
		"-0",
		"7 8",
	};
	static const int flags[] = { 0, 8, 10, 16, 2, 32 };

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		for (size_t k = 0; k < 12; k++) {
			begin("stdw [r10-40], 77\n");
			put_string(strings[i]);
			say("mov64 r1, r10\nadd64 r1, -32\nmov64 r2, %zu\nmov64 r3, %d\nmov64 r4, "
			    "r10\n"
			    "add64 r4, -40\ncall %d\nldxdw r1, [r10-40]\nmul64 r1, 1009\nadd64 r0, "
			    "r1\n"
			    "exit\n",
			    strlen(strings[i]) ? strlen(strings[i]) : 1, flags[k / 2],
			    k % 2 ? 105 : 106);
			compare(false);
		}
}

/* What bpf_trace_printk makes of a format: its length, or why not. */
static void formats(void **state)
{
	static const char *const strings[] = {
		"plain", "",	  "%d",	      "%u %x %X", "%i|%ld|%lld", "%d %d %d %d",
		"%",	 "%%",	  "%5d|%-5d", "%05x",	  "%+d",	 "%llx %lu",
		"%c",	 "%f",	  "%n",	      "%lc",	  "%hd",	 "%p%",
		"%px",	 "%pK",	  "%pz",      "%z",	  "\x01",	 "\n\t",
		"%#x",	 "%200d", "%.3d",     "%l",	  "%0",
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		begin("");
		put_string(strings[i]);
		say("mov64 r1, r10\nadd64 r1, -32\nmov64 r2, 32\nmov64 r3, 65\nlddw r4, "
		    "0x1234567890\n"
		    "mov64 r5, -3\ncall 6\nexit\n");
		compare(false);
	}
}

static void format_without_an_end(void **state)
{
	begin("");
	put_string("0123456789012345678901234567890123456789");
	say("mov64 r1, r10\nadd64 r1, -32\nmov64 r2, 32\nmov64 r3, 1\nmov64 r4, 2\nmov64 r5, 3\n"
	    "call 6\nexit\n");
	compare(false);
}

static void redirects(void **state)
{
	static const int32_t flags[] = { 0, 1, 2, 4, 8, -1 };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		begin("");
		say("mov64 r1, 7\nmov64 r2, %d\ncall 23\nexit\n", flags[i]);
		compare(true);
	}
}

/* A program's tag. */
static void tags(void **state)
{
	struct bpf_prog_info info = { 0 };
	struct bpf_insn insns[ASM_INSNS_MAX];
	union bpf_attr attr = { 0 };
	char error[ASM_ERROR];
	struct err err = { "" };
	struct prog *prog;
	int n = asm_program(insns, "lddw r0, 0x123456789a\nexit\n", NULL, error);
	int fd = kernel_load(insns, n, NULL, 0);
	struct prog_attr weir = {
		.type = BPF_PROG_TYPE_XDP, .insns = insns, .n_insns = (uint32_t)n, .name = "tag"
	};

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info = (uint64_t)(uintptr_t)&info;
	attr.info.info_len = sizeof(info);
	assert_int_equal(sys_kernel_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)), 0);
	close(fd);
	assert_int_equal(prog_create(&prog, &weir, &err), 0);
	assert_memory_equal(prog->tag, info.tag, BPF_TAG_SIZE);
	prog_put(prog);
}

int main(void)
{
	static const struct bpf_insn pass[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K,
						  .imm = XDP_PASS },
						{ .code = BPF_JMP | BPF_EXIT } };
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(adjust_one),
		cmocka_unit_test(adjust_sequences),
		cmocka_unit_test(bytes_in_and_out),
		cmocka_unit_test(checksum_differences),
		cmocka_unit_test(numbers_from_strings),
		cmocka_unit_test(formats),
		cmocka_unit_test(format_without_an_end),
		cmocka_unit_test(redirects),
		cmocka_unit_test(tags),
	};
	int fd = kernel_load(pass, 2, NULL, 0), failed;

	if (fd < 0) {
		printf("skipped: the kernel does not let this user load programs (%s); run it as "
		       "root\n",
		       strerror(-fd));
		return 77;
	}
	close(fd);
	if (run_ctx_init(&rc, 0, NULL))
		return 1;
	failed = cmocka_run_group_tests_name("helpers against the kernel", tests, NULL, NULL);
	run_ctx_fini(&rc);
	return failed ? 1 : 0;
}
