/* SPDX-License-Identifier: BSD-2-Clause */
/* The assembler of the instruction tests: see asm.h. */
#include "asm.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 128, NAME_MAX_LEN = 32, OPERANDS = 3 };

struct label {
	char name[NAME_MAX_LEN];
	int at;
};

struct fixup {
	char name[NAME_MAX_LEN];
	int at;
	bool wide; /* the distance goes into imm */
};

struct assembler {
	struct bpf_insn *insns;
	int n;
	const uint64_t *expected;
	struct label labels[LABELS_MAX];
	struct fixup fixups[LABELS_MAX];
	int n_labels, n_fixups;
	char *error;
	char op[NAME_MAX_LEN];
	char args[OPERANDS][NAME_MAX_LEN];
	int n_args;
};

static bool fail(struct assembler *a, const char *what)
{
	snprintf(a->error, ASM_ERROR, "%s: %s %s", what, a->op, a->n_args ? a->args[0] : "");
	return false;
}

static struct bpf_insn *emit(struct assembler *a, int code, int dst, int src, int off, int64_t imm)
{
	struct bpf_insn *insn = &a->insns[a->n];

	if (a->n < ASM_INSNS_MAX - 2)
		a->n++;
	*insn = (struct bpf_insn){
		.code = (uint8_t)code,
		.off = (int16_t)off,
		.imm = (int32_t)imm,
	};
	((uint8_t *)insn)[1] = (uint8_t)((dst & 0xf) | src << 4); /* two fields of four bits */
	return insn;
}

/* rN, or -1. */
static int reg_of(const char *s)
{
	char *end;
	long n;

	if (s[0] != 'r' || !isdigit((unsigned char)s[1]))
		return -1;
	n = strtol(s + 1, &end, 10);
	return *end || n > 15 ? -1 : (int)n;
}

static int64_t number(const char *s)
{
	return s[0] == '-' ? (int64_t)strtoll(s, NULL, 0) : (int64_t)strtoull(s, NULL, 0);
}

/* [rN+off] */
static bool mem_of(const char *s, int *reg, int *off)
{
	char name[8] = { 0 };
	size_t n = strcspn(s + 1, "+-]");

	if (s[0] != '[' || n >= sizeof(name))
		return false;
	memcpy(name, s + 1, n);
	*reg = reg_of(name);
	*off = s[1 + n] == ']' ? 0 : (int)strtol(s + 1 + n, NULL, 0);
	return *reg >= 0;
}

static void jump_to(struct assembler *a, const char *label, bool wide)
{
	struct fixup *f = &a->fixups[a->n_fixups];

	if (a->n_fixups < LABELS_MAX - 1)
		a->n_fixups++;
	snprintf(f->name, sizeof(f->name), "%s", label);
	f->at = a->n - 1;
	f->wide = wide;
}

struct code {
	const char *name;
	int code;
	int aux; /* offset or imm that goes with it */
};

static const struct code alu[] = {
	{ "add", BPF_ADD, 0 },	 { "sub", BPF_SUB, 0 },	 { "mul", BPF_MUL, 0 },
	{ "div", BPF_DIV, 0 },	 { "sdiv", BPF_DIV, 1 }, { "mod", BPF_MOD, 0 },
	{ "smod", BPF_MOD, 1 },	 { "or", BPF_OR, 0 },	 { "and", BPF_AND, 0 },
	{ "xor", BPF_XOR, 0 },	 { "lsh", BPF_LSH, 0 },	 { "rsh", BPF_RSH, 0 },
	{ "arsh", BPF_ARSH, 0 }, { "mov", BPF_MOV, 0 },	 { NULL, 0, 0 },
};

static const struct code jumps[] = {
	{ "jeq", BPF_JEQ, 0 },	 { "jne", BPF_JNE, 0 },	  { "jgt", BPF_JGT, 0 },
	{ "jge", BPF_JGE, 0 },	 { "jlt", BPF_JLT, 0 },	  { "jle", BPF_JLE, 0 },
	{ "jsgt", BPF_JSGT, 0 }, { "jsge", BPF_JSGE, 0 }, { "jslt", BPF_JSLT, 0 },
	{ "jsle", BPF_JSLE, 0 }, { "jset", BPF_JSET, 0 }, { NULL, 0, 0 },
};

static const struct code atomics[] = {
	{ "atomic_add", 0, BPF_ADD },
	{ "atomic_or", 0, BPF_OR },
	{ "atomic_and", 0, BPF_AND },
	{ "atomic_xor", 0, BPF_XOR },
	{ "fetch_add", 0, BPF_ADD | 1 },
	{ "fetch_or", 0, BPF_OR | 1 },
	{ "fetch_and", 0, BPF_AND | 1 },
	{ "fetch_xor", 0, BPF_XOR | 1 },
	{ "xchg", 0, BPF_XCHG },
	{ "cmpxchg", 0, BPF_CMPXCHG },
	{ "load_acq", 0, 0x100 },
	{ "store_rel", 0, 0x110 },
	{ NULL, 0, 0 },
};

static const struct code sizes[] = {
	{ "b", BPF_B, 0 },   { "h", BPF_H, 0 }, { "w", BPF_W, 0 },
	{ "dw", BPF_DW, 0 }, { NULL, 0, 0 },
};

static const struct code bits[] = {
	{ "8", BPF_B, 0 },   { "16", BPF_H, 0 }, { "32", BPF_W, 0 },
	{ "64", BPF_DW, 0 }, { NULL, 0, 0 },
};

/* The entry whose name op begins with, followed by one of the suffixes; *rest is the suffix. */
static const struct code *find(const struct code *table, const char *op, const char **rest)
{
	const struct code *best = NULL;

	for (; table->name; table++) {
		size_t n = strlen(table->name);

		if (!strncmp(op, table->name, n) && (!op[n] || isdigit((unsigned char)op[n]))) {
			best = table;
			*rest = op + n;
		}
	}
	return best;
}

static const struct code *find_exact(const struct code *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static bool do_alu(struct assembler *a, const struct code *c, int class)
{
	int dst = reg_of(a->args[0]), src = reg_of(a->args[1]);

	if (a->n_args != 2 || dst < 0)
		return fail(a, "two operands wanted");
	if (src >= 0)
		emit(a, class | c->code | BPF_X, dst, src, c->aux, 0);
	else
		emit(a, class | c->code | BPF_K, dst, 0, c->aux, number(a->args[1]));
	return true;
}

static bool do_jump(struct assembler *a, const struct code *c, int class)
{
	int dst = reg_of(a->args[0]), src = reg_of(a->args[1]);

	if (a->n_args != 3 || dst < 0)
		return fail(a, "three operands wanted");
	if (src >= 0)
		emit(a, class | c->code | BPF_X, dst, src, 0, 0);
	else
		emit(a, class | c->code | BPF_K, dst, 0, 0, number(a->args[1]));
	jump_to(a, a->args[2], false);
	return true;
}

static bool do_atomic(struct assembler *a, const struct code *c, const struct code *size)
{
	bool load = c->aux == 0x100;
	int reg, off, other = reg_of(a->args[!load]);

	if (!size || a->n_args != 2 || !mem_of(a->args[load], &reg, &off) || other < 0)
		return fail(a, "bad operands");
	emit(a, BPF_STX | BPF_ATOMIC | size->code, load ? other : reg, load ? reg : other, off,
	     c->aux);
	return true;
}

static bool do_load(struct assembler *a)
{
	bool sx = a->op[3] == 's';
	const struct code *size = find_exact(sizes, a->op + 3 + sx);
	int dst = reg_of(a->args[0]), reg, off;

	if (!size || dst < 0 || !mem_of(a->args[1], &reg, &off))
		return fail(a, "bad load");
	emit(a, BPF_LDX | (sx ? 0x80 : BPF_MEM) | size->code, dst, reg, off, 0);
	return true;
}

static bool do_store(struct assembler *a)
{
	bool x = a->op[2] == 'x';
	const struct code *size = find_exact(sizes, a->op + 2 + x);
	int reg, off, src = reg_of(a->args[1]);

	if (!size || !mem_of(a->args[0], &reg, &off) || (x && src < 0))
		return fail(a, "bad store");
	if (x)
		emit(a, BPF_STX | BPF_MEM | size->code, reg, src, off, 0);
	else
		emit(a, BPF_ST | BPF_MEM | size->code, reg, 0, off, number(a->args[1]));
	return true;
}

/* neg, byte swaps, sign-extending moves. */
static bool do_unary(struct assembler *a, bool *known)
{
	int dst = reg_of(a->args[0]), src = reg_of(a->args[1]), from, width;

	*known = true;
	if (sscanf(a->op, "neg%d", &width) == 1)
		emit(a, (width == 64 ? BPF_ALU64 : BPF_ALU) | BPF_NEG, dst, 0, 0, 0);
	else if (sscanf(a->op, "le%d", &width) == 1)
		emit(a, BPF_ALU | BPF_END | BPF_TO_LE, dst, 0, 0, width);
	else if (sscanf(a->op, "be%d", &width) == 1)
		emit(a, BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, width);
	else if (sscanf(a->op, "bswap%d", &width) == 1)
		emit(a, BPF_ALU64 | BPF_END, dst, 0, 0, width);
	else if (sscanf(a->op, "movsx%d_%d", &from, &width) == 2)
		emit(a, (width == 64 ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_X, dst, src, from, 0);
	else
		*known = false;
	return !*known || dst >= 0 || fail(a, "register wanted");
}

static bool do_wide(struct assembler *a)
{
	int dst = reg_of(a->args[0]);
	uint64_t v = (uint64_t)number(a->args[1]);
	bool func = !strcmp(a->op, "func");

	emit(a, BPF_LD | BPF_IMM | BPF_DW, dst, func ? BPF_PSEUDO_FUNC : 0, 0, (int64_t)v);
	if (func)
		jump_to(a, a->args[1], true);
	emit(a, 0, 0, 0, 0, func ? 0 : (int64_t)(v >> 32));
	return dst >= 0 || fail(a, "register wanted");
}

static void check_result(struct assembler *a)
{
	emit(a, BPF_LD | BPF_IMM | BPF_DW, 1, 0, 0, (int64_t)*a->expected);
	emit(a, 0, 0, 0, 0, (int64_t)(*a->expected >> 32));
	emit(a, BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 2, 0);
	emit(a, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, ASM_WRONG);
	emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	emit(a, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, ASM_GOOD);
}

static bool do_control(struct assembler *a, bool *known)
{
	*known = true;
	if (!strcmp(a->op, "exit") && a->expected)
		check_result(a);
	if (!strcmp(a->op, "exit") || !strcmp(a->op, "ret")) {
		emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	} else if (!strcmp(a->op, "ja")) {
		emit(a, BPF_JMP | BPF_JA, 0, 0, 0, 0);
		jump_to(a, a->args[0], false);
	} else if (!strcmp(a->op, "gotol")) {
		emit(a, BPF_JMP32 | BPF_JA, 0, 0, 0, 0);
		jump_to(a, a->args[0], true);
	} else if (!strcmp(a->op, "callsub")) {
		emit(a, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
		jump_to(a, a->args[0], true);
	} else if (!strcmp(a->op, "call")) {
		emit(a, BPF_JMP | BPF_CALL, 0, 0, 0, number(a->args[0]));
	} else {
		*known = false;
	}
	return true;
}

static bool assemble(struct assembler *a)
{
	const struct code *c;
	const char *rest = "";
	bool known, good = do_control(a, &known);

	if (known)
		return good;
	good = do_unary(a, &known);
	if (known)
		return good;
	if (!strcmp(a->op, "lddw") || !strcmp(a->op, "func"))
		return do_wide(a);
	if (!strncmp(a->op, "ldx", 3))
		return do_load(a);
	c = find(atomics, a->op, &rest);
	if (c)
		return do_atomic(a, c, find_exact(bits, rest));
	if (!strncmp(a->op, "st", 2))
		return do_store(a);
	c = find(alu, a->op, &rest);
	if (c && *rest)
		return do_alu(a, c, !strcmp(rest, "64") ? BPF_ALU64 : BPF_ALU);
	c = find(jumps, a->op, &rest);
	if (c)
		return do_jump(a, c, *rest ? BPF_JMP32 : BPF_JMP);
	return fail(a, "unknown instruction");
}

static bool add_label(struct assembler *a, const char *name, size_t len)
{
	if (a->n_labels == LABELS_MAX || len >= NAME_MAX_LEN)
		return fail(a, "labels");
	memcpy(a->labels[a->n_labels].name, name, len);
	a->labels[a->n_labels++].at = a->n;
	return true;
}

static bool do_line(struct assembler *a, const char *line)
{
	char buf[128];
	size_t colon;

	snprintf(buf, sizeof(buf), "%s", line + strspn(line, " \t"));
	buf[strcspn(buf, ";\n")] = '\0';
	colon = strcspn(buf, ":");
	if (buf[colon])
		return add_label(a, buf, colon);
	a->op[0] = '\0';
	memset(a->args, 0, sizeof(a->args));
	a->n_args = sscanf(buf, "%31s %31[^, ] , %31[^, ] , %31[^, ]", a->op, a->args[0],
			   a->args[1], a->args[2]) -
		    1;
	return a->n_args < 0 || assemble(a);
}

static bool fix(struct assembler *a, const struct fixup *f)
{
	if (f->name[0] == '+') {
		a->insns[f->at].off = (int16_t)number(f->name + 1);
		return true;
	}
	for (int i = 0; i < a->n_labels; i++) {
		int distance = a->labels[i].at - f->at - 1;

		if (strcmp(a->labels[i].name, f->name))
			continue;
		if (f->wide)
			a->insns[f->at].imm = distance;
		else
			a->insns[f->at].off = (int16_t)distance;
		return true;
	}
	snprintf(a->error, ASM_ERROR, "no label %s", f->name);
	return false;
}

int asm_program(struct bpf_insn insns[ASM_INSNS_MAX], const char *text, const uint64_t *expected,
		char error[ASM_ERROR])
{
	struct assembler a = { .insns = insns, .expected = expected, .error = error };

	while (*text) {
		if (!do_line(&a, text))
			return -1;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	for (int i = 0; i < a.n_fixups; i++)
		if (!fix(&a, &a.fixups[i]))
			return -1;
	return a.n;
}
