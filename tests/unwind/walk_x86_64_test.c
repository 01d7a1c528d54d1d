// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks on x86-64 with special rows: from the stack of a thread to the stack of its goroutine, from a leaf
 * without a row, from a frame that libgcc rewrites, and by registers that assembler preserves or called functions push.
 * The test writes the memory.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "prof_machine.h"
#include "prof_walk.h"

#ifdef PROF_MACHINE_X86_64

#define TEXT 0x400000ULL /* a module of one page of text */
#define MEM 0x7f0000000000ULL
#define AT(word) (MEM + 8 * (word))

enum {
	MEM_WORDS = 512,
	MODULE = 7,
	/* offsets of members, and where the objects are: words */
	G_M = 6,
	G_SP = 7,
	G_PC = 8,
	G_FP = 13,
	M_CURG = 24,
	G0 = 100,
	M = 150,
	G = 200,
	THREAD = 10, /* the thread's stack */
	GOROUTINE = 400, /* the goroutine's stack */
	/* each function has a row and 16 bytes */
	PLAIN = 0,
	ROOT = 16,
	SYSTEMSTACK = 32,
	MORESTACK = 48,
	CALL_C = 64,
	BARE = 80, /* without information */
	REWRITTEN = 96, /* by libgcc */
	BY_RAX = 112, /* a function of assembler */
	BY_RBX = 128,
	FRAMED = 224,
	OTHER_STACK = 208, /* has its frame where the frame pointer leads */
	SAVED = 144, /* the frame pointer, at sp */
	POPPED = 160, /* in the epilogue after that: below sp */
	START_CONTEXT = 176, /* after a byte that is no frame */
	PUSHED =
		192, /* its CFA is rbx + 24; the function that it calls pushes rbx 16 bytes below its own */
	CONTEXT = 300, /* words, see above */
	FP = 340,
};

#define ROW(pc, kind, off, low)                                                                    \
	((__u32)(pc) << PROF_UNWIND_ROW_PC_SHIFT | (kind) << PROF_UNWIND_ROW_KIND_SHIFT |          \
	 (__u32)(off) << PROF_UNWIND_ROW_OFF_SHIFT | (low))

/* index word, big words, rows */
static const __u32 table[PROF_UNWIND_BLOCK_WORDS] = {
	5 << PROF_UNWIND_INDEX_COUNT_BITS | 15,
	G_M | M_CURG << 8 | G_SP << 16 | G_FP << 24,
	2 | 1 << 8,
	8 * (FP - CONTEXT),
	2 | 3 << 8,
	ROW(PLAIN, PROF_UNWIND_SP, 1, 0),
	ROW(ROOT, PROF_UNWIND_SPECIAL, PROF_UNWIND_END, 0),
	ROW(SYSTEMSTACK, PROF_UNWIND_SPECIAL, PROF_UNWIND_GO, 0),
	ROW(MORESTACK, PROF_UNWIND_SPECIAL, PROF_UNWIND_GO, PROF_UNWIND_ROW_ADD8),
	ROW(CALL_C, PROF_UNWIND_SPECIAL, PROF_UNWIND_GO_CALL + 1, 0),
	ROW(BARE, PROF_UNWIND_SPECIAL, PROF_UNWIND_NONE, 0),
	ROW(REWRITTEN, PROF_UNWIND_SPECIAL, PROF_UNWIND_CONTEXT + 2, 0),
	ROW(BY_RAX, PROF_UNWIND_REG, 0 << 8 | 1, 0),
	ROW(BY_RBX, PROF_UNWIND_REG, 3 << 8 | 1, 0),
	ROW(SAVED, PROF_UNWIND_SP, 2, 2),
	ROW(POPPED, PROF_UNWIND_SP, 1, 2),
	ROW(START_CONTEXT - 1, PROF_UNWIND_SPECIAL, PROF_UNWIND_NO_FRAME, 0),
	ROW(START_CONTEXT, PROF_UNWIND_SPECIAL, PROF_UNWIND_END, 0),
	ROW(PUSHED, PROF_UNWIND_SPECIAL, PROF_UNWIND_PUSHED + 3, 0),
	ROW(OTHER_STACK, PROF_UNWIND_FP, 2, PROF_UNWIND_ROW_ADD8 | 2),
	ROW(FRAMED, PROF_UNWIND_FP, 2, 2),
};
static const struct prof_unwind_map text_map = { TEXT, TEXT + 1024, 0, MODULE, 0 };
static struct prof_unwind_module text_module = { .page_cnt = 1, .table = 1, .big_cnt = 4 };
static __u64 mem[MEM_WORDS], r14, other_register;

static const __u32 *prof_walk_block(const struct prof_walk *w, __u32 block)
{
	return block ? NULL : table;
}

static const struct prof_unwind_map *prof_walk_map_at(const struct prof_walk *w, __u32 i)
{
	return i ? NULL : &text_map;
}

static struct prof_unwind_module *prof_walk_module_at(const struct prof_walk *w, __u32 slot)
{
	return slot ? NULL : &text_module;
}

static int prof_walk_fill(struct prof_walk *w, __u64 addr)
{
	const __u64 word = (addr - MEM) / 8;

	if (addr < MEM || word >= MEM_WORDS)
		return -1;
	w->words[0] = mem[word];
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
	return -1;
}

static int prof_walk_register(struct prof_walk *w, __u32 word, __u64 *val)
{
	*val = word == 1 ? r14 : other_register; /* as in struct pt_regs */
	return 0;
}

#define PROF_WALK_HERE
#include "prof_walk_step.h"

static struct prof_walk w;

static __u64 ret(__u64 func)
{
	return TEXT + func + 8;
}

/* A function on the thread's stack that was called there; the goroutine stopped in PLAIN, called by ROOT. */
static void start(__u64 func)
{
	memset(mem, 0, sizeof(mem));
	mem[THREAD] = ret(func);
	mem[G0 + G_M] = AT(M);
	mem[G + G_M] = AT(M);
	mem[M] = AT(G0);
	mem[M + M_CURG] = AT(G);
	mem[G + G_SP] = AT(GOROUTINE);
	mem[G + G_PC] = ret(PLAIN);
	mem[G + G_FP] = 0xf9;
	mem[G + 1] = AT(GOROUTINE + 50); /* top of its stack */
	mem[GOROUTINE] = ret(PLAIN);
	mem[GOROUTINE + 1] = ret(ROOT);
	r14 = AT(G0);
	prof_walk_start(&w, TEXT + PLAIN, AT(THREAD), 0xf0, 0, 1, 1);
}

static void expect_walk(const __u64 *offs, size_t cnt, int end)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		cr_assert_eq(prof_walk_step(&w), 0, "frame %zu: end %d", i, w.end);
		cr_expect_eq(w.frame, (__u64)MODULE << PROF_FRAME_MODULE_SHIFT | offs[i],
			     "frame %zu: %#llx", i, w.frame);
	}
	cr_expect_neq(prof_walk_step(&w), 0);
	cr_expect_eq(w.end, end, "end %d", w.end);
}

#define EXPECT_WALK(end, ...)                                                                      \
	do {                                                                                       \
		const __u64 offs_[] = { __VA_ARGS__ };                                             \
		expect_walk(offs_, sizeof(offs_) / sizeof(offs_[0]), end);                         \
	} while (0)

Test(walk_go, systemstack_returns_to_the_goroutine)
{
	start(SYSTEMSTACK);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, SYSTEMSTACK + 7, PLAIN + 7, ROOT + 7);
	cr_expect_eq(w.fp, 0xf0);
	cr_expect(w.unseen, "a register has a part in it");
}

Test(walk_go, morestack_continues_at_the_saved_registers)
{
	start(MORESTACK);
	mem[GOROUTINE] = ret(ROOT);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, MORESTACK + 7, PLAIN + 7, ROOT + 7);
	cr_expect_eq(w.fp, 0xf9);
}

Test(walk_go, goroutine_is_known_in_a_signal_handler)
{
	start(SYSTEMSTACK);
	r14 = AT(G0 - 20);
	mem[G0 - 20 + G_M] = AT(M);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, SYSTEMSTACK + 7, PLAIN + 7, ROOT + 7);
}

Test(walk_go, c_code_keeps_the_distance_to_the_top_of_the_goroutine)
{
	start(CALL_C);
	mem[THREAD + 1 + 2] = AT(G);
	mem[THREAD + 1 + 1] = 8 * 50;
	r14 = 0;
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, CALL_C + 7, PLAIN + 7, ROOT + 7);
}

Test(walk_go, frame_pointer_leads_to_a_goroutine_below)
{
	start(OTHER_STACK);
	mem[3] = 0xf9;
	mem[4] = ret(PLAIN);
	mem[5] = ret(ROOT);
	w.fp = AT(3);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, OTHER_STACK + 7, PLAIN + 7, ROOT + 7);
	cr_expect_eq(w.fp, 0xf9);
	start(FRAMED);
	w.fp = AT(3);
	EXPECT_WALK(PROF_END_NO_PROGRESS, PLAIN, FRAMED + 7);
}

Test(walk_go, thread_without_a_goroutine_ends_its_stack)
{
	start(MORESTACK);
	mem[M + M_CURG] = 0;
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, MORESTACK + 7);
}

Test(walk_go, register_that_is_no_g_is_not_followed)
{
	start(SYSTEMSTACK);
	r14 = AT(G + 1);
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, SYSTEMSTACK + 7);
	start(SYSTEMSTACK);
	r14 = 12345;
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, SYSTEMSTACK + 7);
	start(CALL_C);
	EXPECT_WALK(PROF_END_READ_FAILED, PLAIN, CALL_C + 7);
}

Test(walk_go, leaf_without_a_row_waits_for_a_search_of_its_caller)
{
	start(PLAIN);
	prof_walk_start(&w, TEXT + BARE, AT(THREAD), AT(THREAD), 0, 1, 1);
	mem[THREAD + 1] = ret(ROOT); /* where the frame pointer leads */
	w.searches = 1;
	EXPECT_WALK(PROF_END_NO_ROW, BARE);
	w.searches = 0;
	EXPECT_WALK(PROF_END_COMPLETE, ROOT + 7);
	cr_expect_eq(w.flags, PROF_USER_FRAME_POINTERS);
}

static void start_by_frame_pointer(int whose)
{
	start(BARE);
	prof_walk_start(&w, TEXT + PLAIN, AT(THREAD), AT(THREAD + 10), 0, 1, 1);
	frame_owner = whose;
	w.bare_at = AT(THREAD + 5);
	mem[THREAD + 5] = ret(PLAIN);
	mem[THREAD + 6] = ret(BARE);
	mem[THREAD + 11] = ret(ROOT);
}

Test(walk_x86_64, frame_pointer_of_doubtful_owner_is_marked)
{
	start_by_frame_pointer(PROF_WALK_OWNER_SELF);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, BARE + 7, ROOT + 7);
	cr_expect_eq(w.flags, PROF_USER_FRAME_POINTERS);
	start_by_frame_pointer(PROF_WALK_OWNER_UNSURE);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, BARE + 7, ROOT + 7);
	cr_expect_eq(w.flags, PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED);
	start_by_frame_pointer(PROF_WALK_OWNER_NONE);
	EXPECT_WALK(PROF_END_NO_ROW, PLAIN, BARE + 7);
	cr_expect_eq(w.flags, 0);
	frame_owner = PROF_WALK_OWNER_SELF;
}

Test(walk_x86_64, function_without_a_frame_leaves_the_frame_pointer_in_place)
{
	start_by_frame_pointer(PROF_WALK_OWNER_CALLER);
	cr_assert_eq(prof_walk_step(&w), 0);
	cr_assert_eq(prof_walk_step(&w), 0);
	cr_assert_eq(prof_walk_step(&w), 0);
	cr_expect_eq(w.flags, PROF_USER_GUESSED);
	cr_expect_eq(w.fp, AT(THREAD + 10));
	frame_owner = PROF_WALK_OWNER_SELF;
	w.flags = 0;
	w.stepped = 1;
	EXPECT_WALK(PROF_END_COMPLETE, BARE + 7, ROOT + 7);
	cr_expect_eq(w.flags, PROF_USER_FRAME_POINTERS);
}

/* Of a copied stack, whose first word is at sp. */
Test(walk_x86_64, popped_frame_pointer_is_in_its_register)
{
	start(PLAIN);
	mem[0] = ret(ROOT);
	prof_walk_start(&w, TEXT + POPPED, MEM, 0xf0, 0, 1, 1);
	EXPECT_WALK(PROF_END_COMPLETE, POPPED, ROOT + 7);
	cr_expect_eq(w.fp, 0xf0);
	cr_expect(!w.fp_lost);
	/* where it still is, but cannot be read */
	prof_walk_start(&w, TEXT + SAVED, MEM - 8, 0xf0, 0, 1, 1);
	EXPECT_WALK(PROF_END_READ_FAILED, SAVED);
}

Test(walk_x86_64, start_of_a_context_is_no_frame)
{
	start(PLAIN);
	mem[THREAD + 1] = TEXT + START_CONTEXT;
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, PLAIN + 7, START_CONTEXT - 1);
	cr_expect_eq(w.surplus, 1);
	/* the function of the context has returned to it, and it calls others */
	start(START_CONTEXT);
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, START_CONTEXT + 7);
	cr_expect_eq(w.surplus, 0);
	/* a leaf was not called from there */
	prof_walk_start(&w, TEXT + START_CONTEXT - 1, AT(THREAD), 0xf0, 0, 1, 1);
	EXPECT_WALK(PROF_END_UNSUPPORTED, START_CONTEXT - 1);
	cr_expect_eq(w.surplus, 0);
}

static void start_rewritten(void)
{
	start(REWRITTEN);
	prof_walk_start(&w, TEXT + PLAIN, AT(THREAD), AT(FP), 0, 1, 1);
	mem[FP + 1] = ret(ROOT); /* of the handler */
	mem[CONTEXT + 0x90 / 8] = AT(FP + 2);
	mem[CONTEXT + 0x98 / 8] = ret(PLAIN);
	mem[FP + 2] = ret(ROOT);
}

Test(walk_x86_64, frame_that_libgcc_rewrites_has_its_caller_in_its_context)
{
	start_rewritten();
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, REWRITTEN + 7, PLAIN + 7, ROOT + 7);
	cr_expect(w.fp_lost);
	start_rewritten();
	mem[CONTEXT + 0x90 / 8] += 8;
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, REWRITTEN + 7);
	start_rewritten();
	w.fp_lost = 1;
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, REWRITTEN + 7);
}

static void start_by_register(__u64 func, __u64 value)
{
	start(func);
	other_register = value;
	mem[THREAD + 40] = ret(PLAIN);
	mem[THREAD + 41] = ret(ROOT);
}

Test(walk_x86_64, first_frame_preserves_the_stack_pointer_of_its_caller)
{
	start_by_register(BY_RAX, AT(THREAD + 40));
	EXPECT_WALK(PROF_END_COMPLETE, PLAIN, BY_RAX + 7, PLAIN + 7, ROOT + 7);
	cr_expect(w.unseen, "a register has a part in it");
}

Test(walk_x86_64, register_that_is_no_stack_pointer_is_not_followed)
{
	start_by_register(BY_RAX, AT(THREAD) - 8);
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, BY_RAX + 7);
	start_by_register(BY_RAX, AT(THREAD + 40) + 1);
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, BY_RAX + 7);
	start_by_register(BY_RBX, AT(THREAD + 40));
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, BY_RBX + 7);
	/* a caller further up */
	start_by_register(PLAIN, AT(THREAD + 40));
	mem[THREAD + 1] = ret(BY_RAX);
	EXPECT_WALK(PROF_END_UNSUPPORTED, PLAIN, PLAIN + 7, BY_RAX + 7);
}

/* The frame of the function that keeps its stack pointer in rbx */
static void start_pushed(__u64 start_sp, __u64 in_register, __u64 in_memory)
{
	start_by_register(PUSHED, in_register);
	mem[THREAD + 1] = ret(PUSHED);
	mem[THREAD] = in_memory; /* where the called function pushes rbx */
	prof_walk_start(&w, TEXT + SAVED, start_sp, 0xf0, 0, 1, 1);
}

Test(walk_x86_64, called_function_has_pushed_the_stack_pointer_of_its_caller)
{
	const __u64 rbx = AT(THREAD + 41) - 24;

	start_pushed(AT(THREAD), 0, rbx);
	EXPECT_WALK(PROF_END_COMPLETE, SAVED, PUSHED + 7, PLAIN + 7, ROOT + 7);
	cr_expect_eq(w.unseen, 0);
	/* in its prologue or epilogue */
	start_pushed(AT(THREAD), rbx, 12345);
	w.ip = TEXT + POPPED;
	w.sp = AT(THREAD + 1);
	w.start_sp = w.sp;
	EXPECT_WALK(PROF_END_COMPLETE, POPPED, PUSHED + 7, PLAIN + 7, ROOT + 7);
	cr_expect(w.unseen, "a register has a part in it");
}

Test(walk_x86_64, pushed_value_that_is_no_stack_pointer_is_not_followed)
{
	start_pushed(AT(THREAD), 0, AT(THREAD) - 32);
	EXPECT_WALK(PROF_END_NO_PROGRESS, SAVED, PUSHED + 7);
	start_pushed(AT(THREAD), 0, AT(THREAD + 30) + 4);
	EXPECT_WALK(PROF_END_READ_FAILED, SAVED, PUSHED + 7);
	/* not at a call */
	prof_walk_start(&w, TEXT + PUSHED, AT(THREAD), 0xf0, 0, 1, 1);
	EXPECT_WALK(PROF_END_UNSUPPORTED, PUSHED);
}

#endif
