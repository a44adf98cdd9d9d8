/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program says to people: function names, source lines, faults. */
#include "bpf/prog_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/btf.h"

static const char *const reasons[FAULT_REASONS] = {
	[FAULT_NONE] = "no fault",
	[FAULT_BAD_ACCESS] = "access outside the memory of the program",
	[FAULT_READ_ONLY] = "write to read-only memory",
	[FAULT_MISALIGNED] = "atomic operation on an unaligned address",
	[FAULT_FUEL] = "a loop that does not end",
	[FAULT_CALL_DEPTH] = "more than 8 nested calls",
	[FAULT_BAD_HELPER_ARG] = "helper argument that is not what the helper takes",
	[FAULT_BAD_CALL] = "call of something that is no function",
};

static const char *func_name(const struct btf *btf, uint32_t type_id)
{
	const struct btf_type *t = btf__type_by_id(btf, type_id);

	return t && btf_is_func(t) ? btf__name_by_offset(btf, t->name_off) : NULL;
}

static void name_subprog(struct prog *prog, const struct bpf_func_info *info, const char *name)
{
	for (uint32_t i = 0; i < prog->n_subprogs; i++) {
		struct subprog *sub = &prog->subprogs[i];

		if (sub->start == info->insn_off && name && *name)
			snprintf(sub->name, sizeof(sub->name), "%s", name);
	}
}

void prog_name_subprogs(struct prog *prog)
{
	const struct btf *btf = prog->btf ? btf_of(prog->btf) : NULL;
	const struct bpf_func_info *info = prog->func_info;

	for (uint32_t i = 0; btf && i < prog->n_func_info; i++)
		name_subprog(prog, &info[i], func_name(btf, info[i].type_id));
}

/* The record for an instruction is the last one that begins at or before it. */
static const struct bpf_line_info *line_of(const struct prog *prog, uint32_t insn)
{
	const struct bpf_line_info *lines = prog->line_info, *best = NULL;

	for (uint32_t i = 0; i < prog->n_line_info; i++)
		if (lines[i].insn_off <= insn && (!best || lines[i].insn_off >= best->insn_off))
			best = &lines[i];
	return best;
}

static const char *skip_blanks(const char *text)
{
	return text ? text + strspn(text, " \t") : "";
}

char *prog_source_line(const struct prog *prog, uint32_t insn, char *buf, size_t n)
{
	const struct btf *btf = prog->btf ? btf_of(prog->btf) : NULL;
	const struct bpf_line_info *line = btf ? line_of(prog, insn) : NULL;
	const char *file, *slash, *text;

	if (n)
		buf[0] = '\0';
	if (!line)
		return buf;
	file = btf__name_by_offset(btf, line->file_name_off);
	slash = file ? strrchr(file, '/') : NULL;
	text = skip_blanks(btf__name_by_offset(btf, line->line_off));
	snprintf(buf, n, "%s:%u: %s",
		 slash	? slash + 1
		 : file ? file
			: "?",
		 BPF_LINE_INFO_LINE_NUM(line->line_col), text);
	return buf;
}

static void format_place(const struct fault *fault, char *buf, size_t n)
{
	if (fault->packet_off != INT64_MIN)
		snprintf(buf, n, " (%u bytes at packet offset %" PRId64 ")", fault->size,
			 fault->packet_off);
	else if (fault->size)
		snprintf(buf, n, " (%u bytes at 0x%" PRIx64 ")", fault->size, fault->addr);
	else
		buf[0] = '\0';
}

char *prog_fault_text(const struct prog *prog, const struct fault *fault, char *buf, size_t n)
{
	char place[80], line[256];
	uint32_t reason = fault->reason < FAULT_REASONS ? fault->reason : FAULT_NONE;

	format_place(fault, place, sizeof(place));
	prog_source_line(prog, fault->insn, line, sizeof(line));
	snprintf(buf, n, "program %s, instruction %u: %s%s%s%s", prog->po.name, fault->insn,
		 reasons[reason], place, line[0] ? " at " : "", line);
	return buf;
}
