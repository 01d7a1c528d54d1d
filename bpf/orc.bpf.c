// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * orc.bpf.c - rows of the ORC tables, and steps by them
 *
 * Rows that were looked up are cached in orc_rows, one word per address. Access is a single load or store, so CPUs
 * and nested samples share the cache without a lock. A lookup searches the kernel's table without branches, because
 * the verifier follows each branch.
 *
 * Searches, steps and walks are global functions, which the verifier checks once.
 */
#include "orc.bpf.h"

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

#if defined(__TARGET_ARCH_x86)

enum {
	/* the kernel's ORC_REG_* */
	REG_UNDEFINED = 0,
	REG_PREV_SP = 1,
	REG_BP = 4,
	REG_SP = 5,
	TYPE_END = 1,
	TYPE_CALL = 2,
	TYPE_REGS = 3,
	REGS_BP = 4 * 8,
	REGS_IP = 16 * 8,
	REGS_CS = 17 * 8,
	REGS_SP = 19 * 8,
	ROW_SIZE = 6,
	STACK_SIZE = 16384, /* at least */
	START_PART = 9, /* words */
	SEARCH_FROM = 1 << 20, /* more than half of the maximum number of rows */
	SEARCH_STEPS = 7, /* three times, with the last of one row */
	/* a rule: the caller's frame is at sp or bp + 8 * a signed number; 0: no rule */
	RULE_UNUSUAL = 1,
	RULE_END = 2,
	RULE_CALL = 3,
	RULE_REGS = 4,
	RULE_KIND = 7,
	RULE_BY_BP = 8,
	RULE_BP_SAVED = 16, /* at the caller's frame + 8 * a signed number */
	RULE_EXACT = 32, /* the caller was interrupted: its ip is exact */
	RULE_CFA_SHIFT = 6,
	RULE_BP_SHIFT = 19,
	RULE_OFFSET_BITS = 13,
};

/* The used fields of a row; padded to a word, whose last bytes belong to the table's next row. */
struct orc_entry___row {
	__s16 sp_offset;
	__s16 bp_offset;
	unsigned int sp_reg : 4;
	unsigned int bp_reg : 4;
	unsigned int type : 3;
	unsigned int signal : 1;
} __attribute__((packed, preserve_access_index));

/* The word of kernel memory at @addr; 0 if it is not mapped. */
static __always_inline __u64 word_at(__u64 addr)
{
	__u64 *word = bpf_rdonly_cast((void *)addr, bpf_core_type_id_kernel(struct pt_regs));

	return *word;
}

/* The layout of rows since Linux 6.4. */
static __always_inline bool layout_is_known(void)
{
	const struct orc_entry___row *row = 0;

	return bpf_core_field_exists(row->signal) &&
	       __builtin_preserve_field_info(row->type, BPF_FIELD_RSHIFT_U64) == 64 - 3 &&
	       bpf_core_type_size(struct orc_entry___row) == ROW_SIZE;
}

static __always_inline __u32 rule_of(__u64 row)
{
	__s16 sp_off = row, bp_off = row >> 16;
	__u32 sp_reg = row >> 32 & 15, bp_reg = row >> 36 & 15, type = row >> 40 & 7;
	__u32 rule = type == TYPE_CALL ? RULE_CALL : RULE_REGS;

	if (type == TYPE_END)
		return RULE_END;
	if ((type != TYPE_CALL && type != TYPE_REGS) || (sp_reg != REG_SP && sp_reg != REG_BP) ||
	    (bp_reg != REG_UNDEFINED && bp_reg != REG_PREV_SP) || sp_off & 7 || bp_off & 7 ||
	    (type == TYPE_REGS && bp_reg) || !layout_is_known())
		return RULE_UNUSUAL;
	if (sp_reg == REG_BP)
		rule |= RULE_BY_BP;
	if (bp_reg == REG_PREV_SP)
		rule |= RULE_BP_SAVED | (bp_off >> 3 & 0x1fff) << RULE_BP_SHIFT;
	if (row >> 43 & 1)
		rule |= RULE_EXACT;
	return rule | (sp_off >> 3 & 0x1fff) << RULE_CFA_SHIFT;
}

#define HIDE(x) __asm__ volatile("" : "+r"(x))

/* Continues the search for @addr after row @at by SEARCH_STEPS steps, the first of @half rows. */
__attribute__((noinline)) __u64 orc_search(__u64 addr, __u64 at, __u64 half)
{
	__u64 ips = orc_tables.ips, last = orc_tables.cnt - 1, next, in;
	__s64 no;
	__u32 i;

	for (i = 0; i < SEARCH_STEPS; i++) {
		next = at + half;
		no = (__s64)(last - next) >> 63;
		HIDE(no);
		in = ips + 4 * (next & ~no);
		no |= (__s64)(addr - (in + (__s32)word_at(in))) >> 63;
		HIDE(no);
		at += half & ~no;
		half /= 2;
	}
	return at;
}

/* The rule of the last row that starts at or before @addr. */
__attribute__((noinline)) int orc_rule_at(__u64 addr)
{
	__u64 at = 0, half;

	ROLLED
	for (half = SEARCH_FROM; half; half >>= SEARCH_STEPS)
		at = orc_search(addr, at, half);
	return rule_of(word_at(orc_tables.rows + ROW_SIZE * at));
}

/* The rule at a return address (minus one) or at an interrupted instruction. */
static __always_inline __u32 find_rule(const struct orc_place *p)
{
	__u64 addr = p->ip - !p->exact, word;
	__u32 i = (__u32)addr * 0x9e3779b1U >> (32 - 14), rule;

	word = *(volatile __u64 *)&orc_rows[PROF_BOUND_INDEX(i, ORC_ROWS)];
	if (word >> 32 == (__u32)addr)
		return word;
	rule = p->ip == orc_tables.hooks[0] || p->ip == orc_tables.hooks[1] ? RULE_UNUSUAL :
									      orc_rule_at(addr);
	if (p->keep)
		*(volatile __u64 *)&orc_rows[PROF_BOUND_INDEX(i, ORC_ROWS)] = addr << 32 | rule;
	return rule;
}

/* In words. */
static __always_inline __s64 offset_of(__u32 rule, __u32 shift)
{
	return (__s64)((__u64)rule << (64 - RULE_OFFSET_BITS - shift)) >> (64 - RULE_OFFSET_BITS);
}

static __always_inline bool is_text(__u64 ip)
{
	return ip - orc_tables.text < orc_tables.text_sz;
}

/* Registers saved by an interrupt's entry. 0: continue from there, 1: they are user registers, -1: unusual. */
static __always_inline int step_to_registers(struct orc_place *p, __u64 regs, __u32 rule)
{
	if (word_at(regs + REGS_CS) & 3)
		return 1;
	p->ip = word_at(regs + REGS_IP);
	p->sp = word_at(regs + REGS_SP);
	p->bp = word_at(regs + REGS_BP);
	p->exact = !!(rule & RULE_EXACT);
	return p->sp > regs && p->sp <= p->top && is_text(p->ip) ? 0 : -1;
}

/* Steps to the caller. 0: done, 1: no caller, -1: unusual. */
__attribute__((noinline)) int orc_step(struct orc_place *p)
{
	__u32 rule;
	__u64 cfa;

	if (!p)
		return -1;
	rule = find_rule(p);
	p->keep = 1;
	if ((rule & RULE_KIND) < RULE_CALL)
		return (rule & RULE_KIND) == RULE_END ? 1 : -1;
	cfa = (rule & RULE_BY_BP ? p->bp : p->sp) + 8 * offset_of(rule, RULE_CFA_SHIFT);
	if ((rule & RULE_KIND) == RULE_REGS)
		return cfa < p->sp || cfa > p->top ? -1 : step_to_registers(p, cfa, rule);
	if (cfa <= p->sp || cfa > p->top)
		return -1;
	p->ip = word_at(cfa - 8);
	if (rule & RULE_BP_SAVED)
		p->bp = word_at(cfa + 8 * offset_of(rule, RULE_BP_SHIFT));
	p->sp = cfa;
	p->exact = !!(rule & RULE_EXACT);
	return is_text(p->ip) ? 0 : -1;
}

/* Walks a part of the stack. Returns the number of frames, STACK_PART + 1 if there are more, or 0. */
__attribute__((noinline)) int orc_walk_part(struct orc_place *p, struct stack_part *frames)
{
	int end;
	__u32 i;

	if (!p || !frames)
		return 0;
	ROLLED
	for (i = 0; i < STACK_PART; i++) {
		frames->at[i] = p->ip;
		end = orc_step(p);
		if (end)
			return end > 0 ? i + 1 : 0;
	}
	return STACK_PART + 1;
}

static __always_inline int walk(struct orc_place *p, struct stack_frames *frames)
{
	__u32 i, cnt;

	if (!is_text(p->ip) || p->top - p->sp > STACK_SIZE)
		return 0;
	ROLLED
	for (i = 0; i < ORC_PARTS; i++) {
		cnt = orc_walk_part(p, &frames->parts[i]);
		if (cnt <= STACK_PART)
			return cnt ? i * STACK_PART + cnt : 0;
	}
	return 0;
}

__attribute__((noinline)) int orc_walk_registers(struct orc_place *p, struct stack_frames *frames)
{
	return p && frames ? walk(p, frames) : 0;
}

__attribute__((noinline)) int orc_walk_context(struct orc_place *p, struct stack_frames *frames,
					       __u64 start)
{
	__u64 ret;

	if (!p || !frames)
		return 0;
	ret = p->ctx + 8 * (__u64)(__u32)start;
	p->ip = word_at(ret);
	p->sp = ret + 8;
	p->bp = word_at(ret + 8 * (__s64)(__s32)(start >> 32));
	p->exact = 0;
	p->keep = 1;
	return walk(p, frames);
}

/* Searches a part of the words after the context for the address of the second frame: its distance, or 0. */
__attribute__((noinline)) int orc_find_word(const struct orc_place *p, __u32 first)
{
	__u32 i;

	for (i = 0; p && i < START_PART; i++)
		if (word_at(p->ctx + 8 * (__u64)(first + i)) == p->check.at[1])
			return first + i;
	return 0;
}

/*
 * The first frame lies in bpf_trace_run(): its row shows where it saved bp. The second frame is the place that it
 * returns to.
 */
__attribute__((noinline)) __u64 orc_find_start(struct orc_place *p, __u32 cnt)
{
	__u32 rule, start, i;

	if (!p || cnt < 2 || !is_text(p->check.at[0]))
		return ORC_START_NEVER;
	rule = orc_rule_at(p->check.at[0] - 1);
	if ((rule & RULE_KIND) != RULE_CALL || !(rule & RULE_BP_SAVED))
		return ORC_START_NEVER;
	ROLLED
	for (i = ORC_START_KNOWN; i < ORC_START_WORDS; i += START_PART) {
		start = orc_find_word(p, i);
		if (start)
			return start | (__u64)(offset_of(rule, RULE_BP_SHIFT) + 1) << 32;
	}
	return ORC_START_NEVER;
}

#else

__attribute__((noinline)) int orc_walk_registers(struct orc_place *p, struct stack_frames *frames)
{
	return 0;
}

__attribute__((noinline)) int orc_walk_context(struct orc_place *p, struct stack_frames *frames,
					       __u64 start)
{
	return 0;
}

__attribute__((noinline)) __u64 orc_find_start(struct orc_place *p, __u32 cnt)
{
	return ORC_START_NEVER;
}

#endif

__attribute__((noinline)) int orc_is_same(const struct orc_place *p,
					  const struct stack_frames *frames, __u32 cnt, long bytes)
{
	if (!p || !frames || bytes != 8 * (long)cnt)
		return 0;
	return words_are_same(p->check.groups, frames->groups, STACK_GROUPS, cnt);
}
