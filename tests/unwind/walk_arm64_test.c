// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks of arm64's stacks by rows and words that are written here, on any machine: the steps of the loader and
 * of the programs, with separate memory.
 */
#define PROF_WALK_ARM64

#include <criterion/criterion.h>
#include <string.h>

#include "prof_walk.h"

#define TEXT 0xaaaa00000000ULL /* a module of one page of text */
#define JIT 0xbbbb00000000ULL /* without rows */
#define SP 0xffff12340000ULL
#define SIGNATURE 0x7f56000000000000ULL

enum {
	STACK_WORDS = 512,
	MODULE = 7,
	FRAMES_MAX = 16,
	BIG = 2048, /* CFA offset */
	/* each function has a row and 16 bytes */
	LEAF = 0,
	PAIR = 16,
	PAIR_UP = 32,
	BY_FP = 48,
	LR_ALONE = 64,
	LR_UP = 80,
	LR_FP = 96,
	LARGE = 112,
	START = 128,
	SIGRETURN = 144,
	STUCK = 160,
	OTHER_MACHINE = 176,
};

#define ROW(pc, kind, n, low)                                                                      \
	((__u32)(pc) << PROF_UNWIND_ROW_PC_SHIFT | (kind) << PROF_UNWIND_ROW_KIND_SHIFT |          \
	 (__u32)((n) / 8) << PROF_UNWIND_ROW_OFF_SHIFT | (low))
#define SPECIAL(pc, what, low) ROW(pc, PROF_UNWIND_SPECIAL, 8 * (what), low)

/* index word, big offset, rows */
static const __u32 table[PROF_UNWIND_BLOCK_WORDS] = {
	2 << PROF_UNWIND_INDEX_COUNT_BITS | 11,
	BIG,
	ROW(LEAF, PROF_UNWIND_A64_SP, 0, 0),
	ROW(PAIR, PROF_UNWIND_A64_SP, 48, PROF_UNWIND_A64_PAIR | 2),
	ROW(PAIR_UP, PROF_UNWIND_A64_SP, 1024, PROF_UNWIND_A64_PAIR_UP | 1),
	ROW(BY_FP, PROF_UNWIND_A64_FP, 32, PROF_UNWIND_A64_PAIR | 2),
	ROW(LR_ALONE, PROF_UNWIND_A64_SP, 32, PROF_UNWIND_A64_LR | 3),
	ROW(LR_UP, PROF_UNWIND_A64_SP, 512, PROF_UNWIND_A64_LR_UP | 1),
	ROW(LR_FP, PROF_UNWIND_A64_SP, 64, PROF_UNWIND_A64_LR_FP | 2),
	SPECIAL(LARGE, PROF_UNWIND_BIG, PROF_UNWIND_A64_LR_UP),
	SPECIAL(START, PROF_UNWIND_END, 0),
	SPECIAL(SIGRETURN, PROF_UNWIND_SIGNAL, 0),
	ROW(STUCK, PROF_UNWIND_A64_SP, 0, PROF_UNWIND_A64_PAIR_UP),
	ROW(OTHER_MACHINE, PROF_UNWIND_SP, 16, 0),
};
static const struct prof_unwind_map maps[] = {
	{ TEXT, TEXT + 1024, 0, MODULE, 0 },
	{ JIT, JIT + 1024, 0, 0, PROF_UNWIND_NO_SLOT },
};
static struct prof_unwind_module value_text_module = { .page_cnt = 1, .table = 1, .big_cnt = 1 };
static __u64 stack[STACK_WORDS];
static int leaf;

static const __u32 *prof_walk_block(const struct prof_walk *w, __u32 block)
{
	return block ? NULL : table;
}

static const struct prof_unwind_map *prof_walk_map_at(const struct prof_walk *w, __u32 i)
{
	return i < 2 ? &maps[i] : NULL;
}

static struct prof_unwind_module *prof_walk_module_at(const struct prof_walk *w, __u32 slot)
{
	return slot ? NULL : &value_text_module;
}

static int prof_walk_fill(struct prof_walk *w, __u64 addr)
{
	const __u64 word = (addr - SP) / 8;

	if (addr < SP || word >= STACK_WORDS)
		return -1;
	w->words[0] = stack[word];
	w->words_at = addr;
	w->words_sz = 8;
	return 0;
}

static int frame_owner = PROF_WALK_OWNER_SELF;

static int prof_walk_owner(struct prof_walk *w, __u64 ret)
{
	return frame_owner;
}

static int prof_walk_leaf(struct prof_walk *w)
{
	return leaf;
}

static __u64 prof_walk_code_mask(const struct prof_walk *w)
{
	return (1ULL << 48) - 1;
}

#define PROF_WALK_HERE
#include "prof_walk_step.h"

static struct prof_walk w;

static void start(__u64 ip, __u64 fp, __u64 lr)
{
	memset(stack, 0, sizeof(stack));
	leaf = -1;
	prof_walk_start(&w, ip, SP, fp, lr, 2, 1);
}

/* Into a function that was called there: the value of lr. */
static __u64 call(__u64 at)
{
	return TEXT + at + 8;
}

static __u64 in_module(__u64 off)
{
	return (__u64)MODULE << PROF_FRAME_MODULE_SHIFT | off;
}

static void expect_walk(const __u64 *offs, size_t cnt, int end, int flags)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		cr_assert_eq(prof_walk_step(&w), 0, "frame %zu: end %d", i, w.end);
		cr_expect_eq(w.frame, in_module(offs[i]), "frame %zu: %#llx", i, w.frame);
	}
	cr_expect_neq(prof_walk_step(&w), 0);
	cr_expect_eq(w.end, end, "end %d", w.end);
	cr_expect_eq(w.flags, flags, "flags %#x", w.flags);
}

#define EXPECT_WALK(end, flags, ...)                                                               \
	do {                                                                                       \
		const __u64 offs_[] = { __VA_ARGS__ };                                             \
		expect_walk(offs_, sizeof(offs_) / sizeof(offs_[0]), end, flags);                  \
	} while (0)

/* One frame above the other, and each has saved the registers that the next one needs; some addresses are signed. */
Test(walk_arm64, every_kind_of_row_finds_the_caller)
{
	const __u64 fp = SP + 8 * 480;
	__u64 *at = stack;

	start(TEXT + LEAF + 4, 0x1234, call(PAIR) | SIGNATURE);
	at[2] = SP; /* the frame pointer of PAIR_UP: not the saved one */
	at[3] = call(PAIR_UP) | SIGNATURE;
	at += 48 / 8;
	at[2] = 1;
	at[3] = call(LR_ALONE);
	at += 1024 / 8;
	at[1] = call(LR_UP);
	at += 32 / 8;
	at[1] = call(LR_FP) | SIGNATURE;
	at += 512 / 8;
	at[4] = call(LARGE);
	at[2] = fp;
	at += 64 / 8;
	at[0] = call(BY_FP);
	cr_assert_leq(at + BIG / 8, stack + 480);
	stack[480] = 0;
	stack[480 + 1] = call(START) | SIGNATURE;
	EXPECT_WALK(PROF_END_COMPLETE, 0, LEAF + 4, PAIR + 7, PAIR_UP + 7, LR_ALONE + 7, LR_UP + 7,
		    LR_FP + 7, LARGE + 7, BY_FP + 7, START + 7);
	cr_expect_eq(w.fp, 0);
	cr_expect_eq(w.sp, fp + 32);
}

Test(walk_arm64, return_address_in_a_register_is_lost_by_a_call)
{
	start(TEXT + LEAF, 0, call(LEAF));
	EXPECT_WALK(PROF_END_UNSUPPORTED, 0, LEAF, LEAF + 7);
	start(TEXT + LEAF, 0, 0);
	EXPECT_WALK(PROF_END_NO_RETURN, 0, LEAF);
}

Test(walk_arm64, continues_at_the_registers_of_a_signal_frame)
{
	const __u64 regs = (128 + 184) / 8; /* as in the kernel's struct rt_sigframe */

	start(TEXT + LEAF, 0, call(SIGRETURN));
	stack[regs + 29] = SP + 8 * 400;
	stack[regs + 30] = call(BY_FP) | SIGNATURE;
	stack[regs + 31] = SP + 8 * 300;
	stack[regs + 32] = TEXT + LEAF + 12;
	stack[400 + 1] = call(START);
	EXPECT_WALK(PROF_END_COMPLETE, PROF_USER_SIGNAL, LEAF, SIGRETURN + 7, LEAF + 12, BY_FP + 7,
		    START + 7);
}

Test(walk_arm64, ends_where_rows_lead_nowhere)
{
	start(TEXT + STUCK, 0, 0);
	EXPECT_WALK(PROF_END_NO_PROGRESS, 0, STUCK);
	start(TEXT + OTHER_MACHINE, 0, 0);
	EXPECT_WALK(PROF_END_UNSUPPORTED, 0, OTHER_MACHINE);
	start(TEXT + BY_FP, SP + 8 * STACK_WORDS, 0);
	EXPECT_WALK(PROF_END_READ_FAILED, 0, BY_FP);
}

static void expect_raw_step(__u64 at)
{
	cr_assert_eq(prof_walk_step(&w), 0, "end %d", w.end);
	cr_expect_eq(w.frame, PROF_UNWIND_RAW | at, "%#llx", w.frame);
}

/* After a step by frame pointer only the place of the pair is known. */
Test(walk_arm64, finds_the_stack_again_after_frame_pointers)
{
	start(JIT + 4, SP + 8 * 10, 0);
	stack[10] = SP + 8 * 100;
	stack[11] = call(PAIR) | SIGNATURE;
	stack[100] = SP + 8 * 200;
	stack[101] = call(PAIR_UP);
	/* PAIR's CFA is 32 above it, which is PAIR_UP's sp, and so its pair is 16 above that */
	stack[106] = 0;
	stack[107] = call(START);
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_COMPLETE, PROF_USER_FRAME_POINTERS, PAIR + 7, PAIR_UP + 7, START + 7);

	start(JIT + 4, SP + 8 * 10, 0);
	stack[10] = SP + 8 * 100;
	stack[11] = call(PAIR_UP);
	stack[100] = 0;
	stack[101] = call(LR_ALONE);
	stack[98 + 1024 / 8 + 1] = call(START);
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_COMPLETE, PROF_USER_FRAME_POINTERS, PAIR_UP + 7, LR_ALONE + 7,
		    START + 7);
}

Test(walk_arm64, does_not_guess_the_stack_pointer)
{
	start(JIT + 4, SP + 8 * 10, 0);
	stack[10] = SP + 8 * 100;
	stack[11] = call(LR_ALONE);
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_FRAME_POINTER, PROF_USER_FRAME_POINTERS, LR_ALONE + 7);
	start(JIT + 4, SP + 8 * 10, 0);
	stack[11] = call(SIGRETURN);
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_FRAME_POINTER, PROF_USER_FRAME_POINTERS, SIGRETURN + 7);
}

/* Its frame pointer is its caller's. Its stack may differ: it may have locals. */
Test(walk_arm64, finds_the_caller_of_a_leaf_without_rows)
{
	start(JIT + 4, SP + 8 * 100, call(PAIR) | SIGNATURE);
	leaf = 0;
	stack[2] = stack[3] = call(OTHER_MACHINE); /* where PAIR's pair would be by the leaf's sp */
	stack[100] = SP + 8 * 200;
	stack[101] = call(BY_FP);
	stack[201] = call(START);
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_COMPLETE, PROF_USER_GUESSED, PAIR + 7, BY_FP + 7, START + 7);

	start(JIT + 4, SP + 8 * 100, call(LR_ALONE) | SIGNATURE);
	leaf = 0;
	stack[1] = call(BY_FP);
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_FRAME_POINTER, PROF_USER_GUESSED, LR_ALONE + 7);
}

/* Information about a leaf applies to the first frame only. */
Test(walk_arm64, does_not_guess_the_caller_of_an_interrupted_function)
{
	const __u64 regs = (128 + 184) / 8;

	start(TEXT + SIGRETURN, 0, 0);
	leaf = 0;
	stack[regs + 29] = SP + 8 * 400;
	stack[regs + 30] = call(PAIR);
	stack[regs + 31] = SP + 8 * 300;
	stack[regs + 32] = JIT + 4;
	stack[400 + 1] = call(START);
	cr_assert_eq(prof_walk_step(&w), 0);
	cr_expect_eq(w.frame, in_module(SIGRETURN));
	expect_raw_step(JIT + 4);
	EXPECT_WALK(PROF_END_COMPLETE, PROF_USER_SIGNAL | PROF_USER_FRAME_POINTERS, START + 7);
}
