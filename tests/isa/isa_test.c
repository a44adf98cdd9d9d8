/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every instruction of RFC 9669 on every engine: the cases of tests/data/isa run on the interpreter, on the JIT
 * where there is one, and on the kernel where it may be asked and its verifier accepts the program. The packet
 * stands against a page without access, at its end in one run and at its start in another.
 *
 * Case names begin with those of ../shared/cases.md where they come from there (B8.02).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asm.h"
#include "cases.h"

#include "bpf/jit.h"
#include "bpf/prog.h"
#include "bpf/sys.h"

enum {
	PAGE = 4096,
	ROWS = 32, /* of a table in one program: their operands fill the packet */
	ROW_SIZE = 16,
};

_Static_assert(ROWS *ROW_SIZE == CASE_PACKET, "operands of a program");

static uint8_t *page; /* between two without access */
static struct run_ctx rc;
static bool have_jit;
static bool have_kernel;
static unsigned int n_kernel, n_kernel_refused;

static const char *const fault_names[FAULT_REASONS] = {
	[FAULT_NONE] = "none",
	[FAULT_BAD_ACCESS] = "bad_access",
	[FAULT_READ_ONLY] = "read_only",
	[FAULT_MISALIGNED] = "misaligned",
	[FAULT_FUEL] = "fuel",
	[FAULT_CALL_DEPTH] = "call_depth",
	[FAULT_BAD_HELPER_ARG] = "bad_helper_arg",
	[FAULT_BAD_CALL] = "bad_call",
};

struct program {
	struct bpf_insn insns[ASM_INSNS_MAX];
	int n;
};

static int load(struct prog **ret, const struct program *p, enum prog_engine engine,
		struct err *err)
{
	struct prog_attr attr = {
		.type = BPF_PROG_TYPE_XDP,
		.expected_attach_type = BPF_XDP,
		.insns = p->insns,
		.n_insns = (uint32_t)p->n,
		.gpl = true,
		.name = "case",
		.engine = engine,
	};

	return prog_create(ret, &attr, err);
}

/* The kernel's answer: true when its verifier took the program. */
static bool run_kernel(const struct program *p, const struct isa_case *c, uint32_t *verdict)
{
	uint8_t out[PAGE];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uint64_t)(uintptr_t)p->insns,
		.insn_cnt = (uint32_t)p->n,
		.license = (uint64_t)(uintptr_t) "GPL",
		.expected_attach_type = BPF_XDP,
	};
	int fd = (int)sys_kernel_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
	long result;

	if (fd < 0)
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.data_in = (uint64_t)(uintptr_t)c->mem;
	attr.test.data_size_in = c->mem_len;
	attr.test.data_out = (uint64_t)(uintptr_t)out;
	attr.test.data_size_out = sizeof(out);
	result = sys_kernel_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
	close(fd);
	*verdict = attr.test.retval;
	return result >= 0;
}

static void ask_kernel(const struct program *p, const struct isa_case *c, uint32_t expected)
{
	uint32_t verdict;

	if (!have_kernel || c->no_kernel)
		return;
	if (!run_kernel(p, c, &verdict)) {
		n_kernel_refused++;
		return;
	}
	n_kernel++;
	if (verdict != expected)
		fail_msg("the kernel returns 0x%x, the case says 0x%x", verdict, expected);
}

/* Runs once with the packet at the end, or at the start, of the page. */
static uint32_t run_placed(const struct prog *prog, const struct isa_case *c, bool at_end)
{
	struct frame f = { .ingress_ifindex = 1 };

	f.data = at_end ? page + PAGE - c->mem_len : page;
	f.data_end = f.data + c->mem_len;
	f.data_meta = f.data;
	f.hard_start = f.data;
	memcpy(f.data, c->mem, c->mem_len);
	return prog_run(prog, &rc, &f);
}

static void check_run(const struct prog *prog, const struct isa_case *c, uint32_t expected)
{
	const char *engine = prog->engine == ENGINE_JIT ? "jit" : "interp";

	for (int at_end = 0; at_end < 2; at_end++) {
		const uint8_t *data = at_end ? page + PAGE - c->mem_len : page;
		uint32_t verdict = run_placed(prog, c, at_end);
		const char *fault = fault_names[rc.fault.reason];

		if (strcmp(fault, c->fault[0] ? c->fault : "none"))
			fail_msg("%s: fault %s at instruction %u", engine, fault, rc.fault.insn);
		if (verdict != (c->fault[0] ? XDP_ABORTED : expected))
			fail_msg("%s: returns 0x%x, not 0x%x (in a table: the row, from 1; else 0: "
				 "r0 is wrong)",
				 engine, verdict, expected);
		if (c->has_out && memcmp(data, c->out, c->out_len))
			fail_msg("%s: the packet differs", engine);
	}
}

static void check_engine(const struct program *p, const struct isa_case *c, uint32_t expected,
			 enum prog_engine engine)
{
	struct err err = { "" };
	struct prog *prog;
	int result = load(&prog, p, engine, &err);

	if (result && !c->error[0])
		fail_msg("does not load: %s", err.text);
	if (!result && c->error[0]) {
		prog_put(prog);
		fail_msg("loads, where it should not");
	}
	if (result) {
		if (!strstr(err.text, c->error))
			fail_msg("is refused with: %s", err.text);
		return;
	}
	check_run(prog, c, expected);
	prog_put(prog);
}

static void check_program(const struct program *p, const struct isa_case *c, uint32_t expected)
{
	check_engine(p, c, expected, ENGINE_INTERP);
	if (have_jit)
		check_engine(p, c, expected, ENGINE_JIT);
	if (!c->error[0] && !c->fault[0])
		ask_kernel(p, c, expected);
}

static void check_text(const struct isa_case *c)
{
	const uint64_t *expected = c->has_result ? &c->result : NULL;
	char error[ASM_ERROR];
	struct program p;

	p.n = asm_program(p.insns, c->text, expected, error);
	if (p.n < 0)
		fail_msg("%s", error);
	check_program(&p, c, ASM_GOOD);
}

static void check_raw(const struct isa_case *c)
{
	struct program p = { .n = 0 };
	const char *s = c->text;
	unsigned int byte;
	size_t len = 0;
	int used;

	while (len < sizeof(p.insns) && sscanf(s, "%2x%n", &byte, &used) == 1) {
		((uint8_t *)p.insns)[len++] = (uint8_t)byte;
		s += used;
	}
	assert_int_equal(len % sizeof(p.insns[0]), 0);
	p.n = (int)(len / sizeof(p.insns[0]));
	check_program(&p, c, (uint32_t)c->result);
}

static uint64_t number(const char *s)
{
	return s[0] == '-' ? (uint64_t)strtoll(s, NULL, 0) : strtoull(s, NULL, 0);
}

static bool is_unary(const char *op)
{
	return !strncmp(op, "neg", 3) || !strncmp(op, "le", 2) || !strncmp(op, "be", 2) ||
	       !strncmp(op, "bswap", 5) || !strncmp(op, "movsx", 5);
}

struct row {
	char op[16], a[32], b[32], result[32];
};

/* Rows with an immediate that the kernel's verifier refuses go into programs of their own. */
enum form { FORM_REGISTER, FORM_IMMEDIATE, FORM_ODD_IMMEDIATE, FORMS };

static bool verifier_refuses(const struct row *row)
{
	uint64_t b = number(row->b);
	bool shift = strstr(row->op, "sh") != NULL;
	bool divides = strstr(row->op, "div") || strstr(row->op, "mod");

	return (divides && !b) || (shift && b >= (strstr(row->op, "32") ? 32u : 64u));
}

static bool has_form(const struct row *row, enum form form)
{
	int64_t imm = (int64_t)number(row->b);

	if (form == FORM_REGISTER)
		return true;
	if (is_unary(row->op) || imm < INT32_MIN || imm > INT32_MAX)
		return false;
	return verifier_refuses(row) == (form == FORM_ODD_IMMEDIATE);
}

/* The instructions of row i of a program: the result is checked in it, and i + 1 returned when it is wrong. */
static int row_text(char *text, size_t size, const struct row *row, uint32_t i, bool imm)
{
	const char *b = imm ? row->b : "r2";
	char op[120];

	if (row->op[0] == 'j')
		snprintf(op, sizeof(op), "mov64 r3, r0\nmov64 r0, 1\n%s r3, %s, +1\nmov64 r0, 0\n",
			 row->op, b);
	else if (!strncmp(row->op, "movsx", 5))
		snprintf(op, sizeof(op), "mov64 r3, r0\n%s r0, r3\n", row->op);
	else if (is_unary(row->op))
		snprintf(op, sizeof(op), "%s r0\n", row->op);
	else
		snprintf(op, sizeof(op), "%s r0, %s\n", row->op, b);
	return snprintf(text, size,
			"ldxdw r0, [r6+%u]\nldxdw r2, [r6+%u]\n%slddw r1, %s\njeq r0, r1, +2\n"
			"mov64 r0, %u\nret\n",
			i * ROW_SIZE, i * ROW_SIZE + 8, op, row->result, i + 1);
}

static void check_rows(const struct isa_case *c, const struct row *rows, uint32_t n, enum form form)
{
	static char text[ROWS * 300];
	struct isa_case packet = { .mem_len = CASE_PACKET,
				   .no_kernel = form == FORM_ODD_IMMEDIATE };
	size_t len =
		(size_t)snprintf(text, sizeof(text),
				 "ldxw r6, [r1+0]\nldxw r2, [r1+4]\nmov64 r0, 99\nmov64 r1, r6\n"
				 "add64 r1, %d\njle r1, r2, +1\nret\n",
				 CASE_PACKET);
	char error[ASM_ERROR];
	struct program p;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t operands[2] = { number(rows[i].a), number(rows[i].b) };

		memcpy(packet.mem + i * ROW_SIZE, operands, ROW_SIZE);
		len += (size_t)row_text(text + len, sizeof(text) - len, &rows[i], i,
					form != FORM_REGISTER);
	}
	snprintf(text + len, sizeof(text) - len, "mov64 r0, 0\nret\n");
	p.n = asm_program(p.insns, text, NULL, error);
	if (p.n < 0)
		fail_msg("%s: %s", c->name, error);
	check_program(&p, &packet, 0);
}

static const char *read_row(const char *s, struct row *row)
{
	memset(row, 0, sizeof(*row));
	strcpy(row->b, "0");
	if (sscanf(s, "%15s %31s = %31s", row->op, row->a, row->result) != 3 &&
	    sscanf(s, "%15s %31s %31s = %31s", row->op, row->a, row->b, row->result) != 4)
		fail_msg("bad row: %.40s", s);
	return s + strcspn(s, "\n") + 1;
}

static void check_form(const struct isa_case *c, enum form form)
{
	struct row rows[ROWS];
	const char *s = c->text;
	uint32_t n = 0;

	while (*s) {
		s = read_row(s, &rows[n]);
		n += has_form(&rows[n], form);
		if (n == ROWS) {
			check_rows(c, rows, n, form);
			n = 0;
		}
	}
	if (n)
		check_rows(c, rows, n, form);
}

static void check_table(const struct isa_case *c)
{
	for (int form = 0; form < FORMS; form++)
		check_form(c, (enum form)form);
}

static void run_case(void **state)
{
	const struct isa_case *c = *state;

	switch (c->kind) {
	case CASE_RAW:
		check_raw(c);
		break;
	case CASE_TABLE:
		check_table(c);
		break;
	default:
		check_text(c);
	}
}

static bool probe_kernel(void)
{
	const struct isa_case c = { .mem_len = 64 };
	const struct program p = { .insns = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 2 },
					      { .code = BPF_JMP | BPF_EXIT } },
				   .n = 2 };
	uint32_t verdict;

	return run_kernel(&p, &c, &verdict) && verdict == XDP_PASS;
}

static int set_up(void)
{
	uint8_t *mem = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED || mprotect(mem + PAGE, PAGE, PROT_READ | PROT_WRITE))
		return -1;
	page = mem + PAGE;
	have_jit = jit_available(NULL);
	have_kernel = probe_kernel();
	printf("# engines: interp%s%s\n", have_jit ? " jit" : "", have_kernel ? " kernel" : "");
	return run_ctx_init(&rc, 0, NULL);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "tests/data/isa";
	struct CMUnitTest *tests;
	struct isa_case *cases;
	size_t n = 0;
	int failed;

	cases = cases_read(dir, &n);
	tests = calloc(n ? n : 1, sizeof(*tests));
	if (!cases || !tests || set_up())
		return 1;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = &cases[i] };
	failed = _cmocka_run_group_tests("isa", tests, n, NULL, NULL);
	printf("# the kernel: %u programs the same, %u refused by its verifier\n", n_kernel,
	       n_kernel_refused);
	run_ctx_fini(&rc);
	munmap(page - PAGE, 3 * PAGE);
	free(tests);
	free(cases);
	return failed ? 1 : 0;
}
