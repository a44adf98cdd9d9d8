/* SPDX-License-Identifier: BSD-2-Clause */
/* The form of each instruction, class by class (RFC 9669 section 2.5): see decode.h. */
#include "bpf/decode.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

#include "bpf/btf.h"
#include "bpf/helper.h"
#include "maps/map.h"

/* What the 6.1 headers do not have yet. */
enum {
	MODE_MEMSX = 0x80,
	ALU_OFF_SIGNED = 1, /* DIV and MOD */
	ATOMIC_LOAD_ACQ = 0x100,
	ATOMIC_STORE_REL = 0x110,
	JMP_MAY_GOTO = 0xe0,
	STACK_REG = 10,
	REGS = 11,
};

struct decoder {
	struct prog *prog;
	struct err *err;
	uint32_t at;
};

static int refuse(const struct decoder *d, const char *why)
{
	return err_set(d->err, EINVAL, "instruction %u (opcode 0x%02x): %s", d->at,
		       d->prog->raw[d->at].code, why);
}

static const struct bpf_insn *raw_at(const struct decoder *d)
{
	return &d->prog->raw[d->at];
}

/* The source of ALU operations, conditional jumps: a register, or imm. */
static int decode_source(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	if (BPF_SRC(in->code) == BPF_K) {
		if (in->src_reg)
			return refuse(d, "source register set beside an immediate, it must be 0");
		out->src = INSN_IMM;
		out->imm = in->imm;
		return 0;
	}
	if (in->imm)
		return refuse(d, "immediate set beside a source register, it must be 0");
	out->src = in->src_reg;
	return 0;
}

static int decode_swap(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	bool swap = BPF_CLASS(in->code) == BPF_ALU64;

	if (in->src_reg || in->off)
		return refuse(d, "reserved field set in a byte swap, it must be 0");
	if (in->imm != 16 && in->imm != 32 && in->imm != 64)
		return refuse(d, "byte swap of a width other than 16, 32, 64");
	if (swap && BPF_SRC(in->code) != BPF_TO_LE)
		return refuse(d, "unknown opcode");
	out->op = swap ? OP_BSWAP : BPF_SRC(in->code) == BPF_TO_BE ? OP_BE : OP_LE;
	out->width = (uint8_t)in->imm;
	out->src = INSN_IMM;
	return 0;
}

static int decode_mov(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	out->op = OP_MOV;
	if (!in->off)
		return decode_source(d, out);
	if (BPF_SRC(in->code) != BPF_X)
		return refuse(d, "offset set in a move, it must be 0");
	if (in->off == 8)
		out->op = OP_MOVSX8;
	else if (in->off == 16)
		out->op = OP_MOVSX16;
	else if (in->off == 32 && out->width == 64)
		out->op = OP_MOVSX32;
	else
		return refuse(d,
			      "move with an offset that is no sign extension of 8, 16 or 32 bits");
	return decode_source(d, out);
}

static int decode_neg(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	if (BPF_SRC(in->code) != BPF_K || in->src_reg || in->imm || in->off)
		return refuse(d, "reserved field set in a negation, it must be 0");
	out->op = OP_NEG;
	out->src = INSN_IMM;
	return 0;
}

static int decode_alu(const struct decoder *d, struct insn *out)
{
	static const uint8_t ops[16] = {
		[BPF_ADD >> 4] = OP_ADD, [BPF_SUB >> 4] = OP_SUB,   [BPF_MUL >> 4] = OP_MUL,
		[BPF_DIV >> 4] = OP_DIV, [BPF_OR >> 4] = OP_OR,	    [BPF_AND >> 4] = OP_AND,
		[BPF_LSH >> 4] = OP_LSH, [BPF_RSH >> 4] = OP_RSH,   [BPF_NEG >> 4] = OP_NEG,
		[BPF_MOD >> 4] = OP_MOD, [BPF_XOR >> 4] = OP_XOR,   [BPF_MOV >> 4] = OP_MOV,
		[BPF_END >> 4] = OP_BE,	 [BPF_ARSH >> 4] = OP_ARSH,
	};
	const struct bpf_insn *in = raw_at(d);

	out->op = ops[BPF_OP(in->code) >> 4];
	out->width = BPF_CLASS(in->code) == BPF_ALU64 ? 64 : 32;
	if (out->op == OP_NOP)
		return refuse(d, "unknown opcode");
	if (out->dst == STACK_REG)
		return refuse(d, "write to r10, the frame pointer, which is read only");
	if (out->op == OP_BE)
		return decode_swap(d, out);
	if (out->op == OP_MOV)
		return decode_mov(d, out);
	if (out->op == OP_NEG)
		return decode_neg(d, out);
	if (in->off == ALU_OFF_SIGNED && (out->op == OP_DIV || out->op == OP_MOD))
		out->op = out->op == OP_DIV ? OP_SDIV : OP_SMOD;
	else if (in->off)
		return refuse(d, "offset set in an arithmetic instruction, it must be 0");
	return decode_source(d, out);
}

static int decode_jump(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	bool wide = BPF_CLASS(in->code) == BPF_JMP32; /* gotol: the distance is in imm */
	int64_t target = (int64_t)d->at + 1 + (wide ? in->imm : in->off);

	if (BPF_OP(in->code) == BPF_JA) {
		if (BPF_SRC(in->code) != BPF_K || in->dst_reg || in->src_reg ||
		    (wide ? in->off : in->imm))
			return refuse(d, "reserved field set in a jump, it must be 0");
	} else {
		target = (int64_t)d->at + 1 + in->off;
	}
	if (target < 0 || target >= d->prog->n_insns)
		return refuse(d, "jump out of the program");
	out->off = (int32_t)target;
	return BPF_OP(in->code) == BPF_JA ? 0 : decode_source(d, out);
}

static int decode_subprog_call(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	int64_t target = (int64_t)d->at + 1 + in->imm;

	if (in->off)
		return refuse(d, "offset set in a call, it must be 0");
	if (target < 0 || target >= d->prog->n_insns)
		return refuse(d, "call out of the program");
	out->op = OP_CALL;
	out->off = (int32_t)target;
	return 0;
}

static int decode_kfunc_call(const struct decoder *d, struct insn *out)
{
	uint32_t id = (uint32_t)raw_at(d)->imm;
	const char *name = vmlinux_func_name(id);
	const struct helper *h = name ? kfunc_by_name(name) : NULL;

	if (!h)
		return err_set(
			d->err, EINVAL,
			"instruction %u: kernel function %s (BTF id %u) is not provided by weir",
			d->at, name ? name : "of unknown name", id);
	out->op = OP_CALL_HELPER;
	out->ptr = (void *)h;
	return 0;
}

static int decode_helper_call(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	uint32_t id = (uint32_t)in->imm;
	const struct helper *h = helper_by_id(id);

	if (in->off)
		return refuse(d, "offset set in a helper call, it must be 0");
	out->op = id == BPF_FUNC_tail_call ? OP_TAIL_CALL : OP_CALL_HELPER;
	if (!h)
		return err_set(d->err, EINVAL,
			       "instruction %u: helper bpf_%s (%u) is not provided by weir", d->at,
			       helper_id_name(id), id);
	if (h->gpl && !d->prog->gpl)
		return err_set(
			d->err, EINVAL,
			"instruction %u: helper bpf_%s may be called from GPL-compatible programs "
			"only, and this one's license is not",
			d->at, h->name);
	if (out->op == OP_CALL_HELPER)
		out->ptr = (void *)h;
	return 0;
}

static int decode_call(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	if (BPF_CLASS(in->code) != BPF_JMP || BPF_SRC(in->code) != BPF_K)
		return refuse(d, "unknown opcode (calls through a register are not in RFC 9669)");
	if (in->dst_reg)
		return refuse(d, "destination register set in a call, it must be 0");
	out->src = INSN_IMM;
	switch (in->src_reg) {
	case 0:
		return decode_helper_call(d, out);
	case BPF_PSEUDO_CALL:
		return decode_subprog_call(d, out);
	case BPF_PSEUDO_KFUNC_CALL:
		return decode_kfunc_call(d, out);
	default:
		return refuse(d, "call of an unknown kind (source register above 2)");
	}
}

static int decode_exit(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	if (BPF_CLASS(in->code) != BPF_JMP || BPF_SRC(in->code) != BPF_K)
		return refuse(d, "unknown opcode");
	if (in->dst_reg || in->src_reg || in->off || in->imm)
		return refuse(d, "reserved field set in an exit, it must be 0");
	out->op = OP_EXIT;
	return 0;
}

static int decode_jmp(const struct decoder *d, struct insn *out)
{
	static const uint8_t ops[16] = {
		[BPF_JA >> 4] = OP_JA,	   [BPF_JEQ >> 4] = OP_JEQ,   [BPF_JGT >> 4] = OP_JGT,
		[BPF_JGE >> 4] = OP_JGE,   [BPF_JSET >> 4] = OP_JSET, [BPF_JNE >> 4] = OP_JNE,
		[BPF_JSGT >> 4] = OP_JSGT, [BPF_JSGE >> 4] = OP_JSGE, [BPF_CALL >> 4] = OP_CALL,
		[BPF_EXIT >> 4] = OP_EXIT, [BPF_JLT >> 4] = OP_JLT,   [BPF_JLE >> 4] = OP_JLE,
		[BPF_JSLT >> 4] = OP_JSLT, [BPF_JSLE >> 4] = OP_JSLE,
	};
	const struct bpf_insn *in = raw_at(d);

	out->op = ops[BPF_OP(in->code) >> 4];
	out->width = BPF_CLASS(in->code) == BPF_JMP ? 64 : 32;
	if (BPF_OP(in->code) == JMP_MAY_GOTO && BPF_CLASS(in->code) == BPF_JMP)
		return refuse(d, "may_goto is not provided by weir; build with a bounded loop");
	if (out->op == OP_NOP)
		return refuse(d, "unknown opcode");
	if (out->op == OP_CALL)
		return decode_call(d, out);
	if (out->op == OP_EXIT)
		return decode_exit(d, out);
	return decode_jump(d, out);
}

static uint8_t size_bytes(uint8_t code)
{
	static const uint8_t bytes[4] = { 4, 2, 1, 8 };

	return bytes[BPF_SIZE(code) >> 3];
}

/* clang-format off */
static int decode_atomic_op(const struct decoder *d, struct insn *out)
{
	switch (raw_at(d)->imm) {
	case BPF_ADD: out->op = OP_ATOMIC_ADD; return 0;
	case BPF_OR: out->op = OP_ATOMIC_OR; return 0;
	case BPF_AND: out->op = OP_ATOMIC_AND; return 0;
	case BPF_XOR: out->op = OP_ATOMIC_XOR; return 0;
	case BPF_ADD | BPF_FETCH: out->op = OP_ATOMIC_FETCH_ADD; return 0;
	case BPF_OR | BPF_FETCH: out->op = OP_ATOMIC_FETCH_OR; return 0;
	case BPF_AND | BPF_FETCH: out->op = OP_ATOMIC_FETCH_AND; return 0;
	case BPF_XOR | BPF_FETCH: out->op = OP_ATOMIC_FETCH_XOR; return 0;
	case BPF_XCHG: out->op = OP_ATOMIC_XCHG; return 0;
	case BPF_CMPXCHG: out->op = OP_ATOMIC_CMPXCHG; return 0;
	case ATOMIC_LOAD_ACQ: out->op = OP_LOAD_ACQ; return 0;
	case ATOMIC_STORE_REL: out->op = OP_STORE_REL; return 0;
	case BPF_XCHG & ~BPF_FETCH:
	case BPF_CMPXCHG & ~BPF_FETCH:
		return refuse(d, "atomic exchange without BPF_FETCH");
	default:
		return refuse(d, "unknown atomic operation");
	}
}
/* clang-format on */

static int decode_atomic(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	int rc = decode_atomic_op(d, out);

	if (rc)
		return rc;
	out->width = size_bytes(in->code);
	out->src = in->src_reg;
	if (out->op == OP_LOAD_ACQ)
		return out->dst == STACK_REG ? refuse(d, "write to r10, the frame pointer") : 0;
	if (out->op == OP_STORE_REL)
		return 0;
	if (out->width < 4)
		return refuse(d, "atomic operation on less than 4 bytes");
	if (out->op >= OP_ATOMIC_FETCH_ADD && out->op <= OP_ATOMIC_XCHG && out->src == STACK_REG)
		return refuse(d, "atomic fetch into r10, the frame pointer, which is read only");
	return 0;
}

static int decode_store(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	bool reg = BPF_CLASS(in->code) == BPF_STX;

	out->off = in->off;
	if (reg && BPF_MODE(in->code) == BPF_ATOMIC)
		return decode_atomic(d, out);
	if (BPF_MODE(in->code) != BPF_MEM)
		return refuse(d, "unknown opcode");
	if (reg ? in->imm : in->src_reg)
		return refuse(d, "reserved field set in a store, it must be 0");
	out->op = OP_ST;
	out->width = size_bytes(in->code);
	out->src = reg ? in->src_reg : INSN_IMM;
	out->imm = in->imm;
	return 0;
}

static int decode_load(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	out->width = size_bytes(in->code);
	out->src = in->src_reg;
	out->off = in->off;
	if (BPF_MODE(in->code) == BPF_MEM)
		out->op = OP_LDX;
	else if (BPF_MODE(in->code) == MODE_MEMSX && out->width < 8)
		out->op = OP_LDXS;
	else
		return refuse(d, "unknown opcode");
	if (in->imm)
		return refuse(d, "immediate set in a load, it must be 0");
	return out->dst == STACK_REG
		       ? refuse(d, "write to r10, the frame pointer, which is read only")
		       : 0;
}

/* Takes over the reference to map; the program keeps each map once. */
static int keep_map(struct prog *prog, struct map *map)
{
	struct map **maps;

	for (uint32_t i = 0; i < prog->n_maps; i++)
		if (prog->maps[i] == map) {
			map_put(map);
			return 0;
		}
	maps = reallocarray(prog->maps, prog->n_maps + 1, sizeof(*maps));
	if (!maps) {
		map_put(map);
		return -ENOMEM;
	}
	maps[prog->n_maps++] = map;
	prog->maps = maps;
	return 0;
}

static int decode_map_value(const struct decoder *d, struct insn *out, const struct map *map,
			    uint32_t off)
{
	if (map->type != BPF_MAP_TYPE_ARRAY || map->max_entries != 1)
		return err_set(d->err, ENOTSUPP,
			       "instruction %u: address of a value of map %s, which is no array of "
			       "one entry",
			       d->at, map->name);
	if (off >= map->value_size)
		return err_set(d->err, EINVAL,
			       "instruction %u: offset %u beyond the value of map %s (%u bytes)",
			       d->at, off, map->name, map->value_size);
	out->op = OP_LD_MAP_VALUE;
	out->off = (int32_t)off;
	out->imm = (int64_t)(uintptr_t)(map->area.base + off);
	return 0;
}

static int decode_map(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	struct map *map = map_by_id((uint32_t)in[0].imm);
	int rc;

	if (!map)
		return err_set(d->err, EBADF, "instruction %u: there is no map of id %d", d->at,
			       in[0].imm);
	rc = keep_map(d->prog, map);
	if (rc)
		return err_set(d->err, -rc, "out of memory");
	if (in->src_reg == BPF_PSEUDO_MAP_VALUE)
		return decode_map_value(d, out, map, (uint32_t)in[1].imm);
	if (in[1].imm)
		return refuse(d, "second immediate set beside a map, it must be 0");
	out->op = OP_LD_MAP;
	out->ptr = map;
	return 0;
}

static int decode_func(const struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);
	int64_t target = (int64_t)d->at + 1 + in->imm;

	if (in[1].imm)
		return refuse(d, "second immediate set beside a function, it must be 0");
	if (target < 0 || target >= d->prog->n_insns)
		return refuse(d, "address of a function outside the program");
	out->op = OP_LD_FUNC;
	out->off = (int32_t)target;
	return 0;
}

static int decode_ksym(const struct decoder *d)
{
	uint32_t id = (uint32_t)raw_at(d)->imm;
	const char *name = vmlinux_func_name(id);

	return err_set(d->err, EINVAL,
		       "instruction %u: kernel symbol %s (BTF id %u): weir has no kernel variables",
		       d->at, name ? name : "of unknown name", id);
}

/* lddw, which takes two slots. */
static int decode_wide(struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	if (in->code != (BPF_LD | BPF_IMM | BPF_DW))
		return refuse(d, BPF_MODE(in->code) == BPF_ABS || BPF_MODE(in->code) == BPF_IND
					 ? "legacy packet load (LD_ABS, LD_IND), which XDP "
					   "programs cannot use"
					 : "unknown opcode");
	if (d->at + 1 >= d->prog->n_insns || in[1].code || in[1].dst_reg || in[1].src_reg ||
	    in[1].off || in->off)
		return refuse(d, "64-bit immediate load without a good second slot");
	if (out->dst == STACK_REG)
		return refuse(d, "write to r10, the frame pointer, which is read only");
	out->width = 64;
	out->src = INSN_IMM;
	switch (in->src_reg) {
	case 0:
		out->op = OP_LD_IMM;
		out->imm = (int64_t)((uint64_t)(uint32_t)in[1].imm << 32 | (uint32_t)in[0].imm);
		return 0;
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_VALUE:
		return decode_map(d, out);
	case BPF_PSEUDO_FUNC:
		return decode_func(d, out);
	case BPF_PSEUDO_BTF_ID:
		return decode_ksym(d);
	default:
		return refuse(d, "64-bit immediate load of an unknown kind");
	}
}

static int decode_one(struct decoder *d, struct insn *out)
{
	const struct bpf_insn *in = raw_at(d);

	if (in->dst_reg >= REGS || in->src_reg >= REGS)
		return refuse(d, "register above r10");
	out->dst = in->dst_reg;
	switch (BPF_CLASS(in->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return decode_alu(d, out);
	case BPF_JMP:
	case BPF_JMP32:
		return decode_jmp(d, out);
	case BPF_LDX:
		return decode_load(d, out);
	case BPF_ST:
	case BPF_STX:
		return decode_store(d, out);
	default:
		return decode_wide(d, out);
	}
}

int decode_insns(struct prog *prog, struct err *err)
{
	struct decoder d = { .prog = prog, .err = err };

	prog->insns = calloc(prog->n_insns, sizeof(*prog->insns));
	if (!prog->insns)
		return err_set(err, ENOMEM, "out of memory");
	for (d.at = 0; d.at < prog->n_insns; d.at++) {
		struct insn *out = &prog->insns[d.at];
		int rc = decode_one(&d, out);

		if (rc)
			return rc;
		if (prog->raw[d.at].code == (BPF_LD | BPF_IMM | BPF_DW))
			d.at++; /* the second slot stays OP_NOP */
	}
	return 0;
}

int decode_prog(struct prog *prog, struct err *err)
{
	int rc = decode_insns(prog, err);

	if (!rc)
		rc = decode_flow(prog, err);
	return rc ? rc : decode_ctx(prog, err);
}
