/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_walk_step.h - walks a user stack with prof_unwind.h's tables, one frame at a time
 *
 * The same code runs in BPF programs and, for copied stacks, in the loader. Define PROF_WALK_HERE to get
 * it, after including prof_walk.h and defining these functions:
 *
 *	const __u32 *prof_walk_block(const struct prof_walk *w, __u32 block): PROF_UNWIND_BLOCK_WORDS
 *		words of tables
 *	const struct prof_unwind_map *prof_walk_map_at(const struct prof_walk *w, __u32 i)
 *	struct prof_unwind_module *prof_walk_module_at(const struct prof_walk *w, __u32 slot)
 *	int prof_walk_fill(struct prof_walk *w, __u64 addr): reads w->words from an address at or below addr,
 *		with the word at addr; 0 if successful
 *	int prof_walk_register(struct prof_walk *w, __u32 word, __u64 *val): a word of pt_regs at the
 *		entry to the kernel; word is below PROF_WALK_REGS; 0 if successful; only on x86-64
 *	int prof_walk_leaf(struct prof_walk *w): before the first step: offset from sp of the return address of
 *		a leaf without a frame, 0 if it is in a register; negative: it has a frame, or this is unknown
 *	int prof_walk_owner(struct prof_walk *w, __u64 ret): enum prof_walk_owner of the frame that the frame pointer
 *		leads to and that has this return address; PROF_WALK_OWNER_UNSURE if code cannot be read
 *	__u64 prof_walk_code_mask(const struct prof_walk *w): the bits of a code address; only on arm64, where
 *		the other bits may hold a signature
 *
 * NULL means not found. Their results are untrusted: the caller limits the number of steps, and each step
 * is bounded for any contents.
 *
 * The meaning of rows for the caller's registers depends on the architecture: prof_walk_x86_64.h and
 * prof_walk_arm64.h. The header of the target architecture is used, or the arm64 header if PROF_WALK_ARM64 is
 * defined.
 *
 * Shared memory is read once and then checked. The verifier follows every path, so there are few branches,
 * and the search for a row uses arithmetic.
 */
#ifndef D9_PROF_WALK_STEP_H
#define D9_PROF_WALK_STEP_H

#include "prof_bound.h"
#include "prof_machine.h"
#include "prof_walk.h"

#ifdef PROF_WALK_HERE

#if !defined(PROF_WALK_ARM64) && defined(PROF_MACHINE_ARM64)
#define PROF_WALK_ARM64
#endif

#define PROF_WALK_INLINE static inline __attribute__((always_inline))
/* A function that few walks need; programs have it verified once. */
#ifndef PROF_WALK_PART
#define PROF_WALK_PART static
#endif
#define PROF_WALK_READ(x) (*(volatile __typeof__(x) *)&(x))

/* Hides the value of x from the compiler. */
#define PROF_WALK_HIDE(x) __asm__ volatile("" : "+r"(x))

PROF_WALK_INLINE int prof_walk_word(struct prof_walk *w, __u64 addr, __u64 *val)
{
	__u64 off = addr - w->words_at;
	__u32 n;

	if (addr & 7)
		return -1;
	if (off >= w->words_sz) {
		if (prof_walk_fill(w, addr))
			return -1;
		off = addr - w->words_at;
	}
	*val = w->words[PROF_BOUND_INDEX(off / 8, PROF_WALK_WORDS)];
	n = PROF_BOUND_INDEX(w->seen.cnt++, PROF_WALK_SEEN);
	w->seen.at[n] = addr;
	w->seen.words[n] = *val;
	return 0;
}

/* The same for words that few walks read: the code of prof_walk_word() is long. */
PROF_WALK_PART int prof_walk_load(struct prof_walk *w, __u64 addr)
{
	return w ? prof_walk_word(w, addr, &w->loaded[0]) : -1;
}

PROF_WALK_PART int prof_walk_load_pair(struct prof_walk *w, __u64 addr)
{
	return w && !prof_walk_word(w, addr, &w->loaded[0]) ?
		       prof_walk_word(w, addr + 8, &w->loaded[1]) :
		       -1;
}

PROF_WALK_INLINE int prof_walk_rare(struct prof_walk *w, __u64 addr, __u64 *val)
{
	if (prof_walk_load(w, addr))
		return -1;
	*val = w->loaded[0];
	return 0;
}

/*
 * ---- the mapping of an address -----------------------------------------------------------------
 */

PROF_WALK_INLINE void prof_walk_enter(struct prof_walk *w, const struct prof_unwind_map *m)
{
	struct prof_unwind_module *mod;

	w->in.map.start = PROF_WALK_READ(m->start);
	w->in.map.end = PROF_WALK_READ(m->end);
	w->in.map.pgoff = PROF_WALK_READ(m->pgoff);
	w->in.map.module_id = PROF_WALK_READ(m->module_id) & PROF_FRAME_MODULE_MAX;
	w->in.map.slot = PROF_WALK_READ(m->slot);
	w->in.table = 0;
	w->in.without = 0;
	mod = prof_walk_module_at(w, w->in.map.slot);
	if (!mod)
		return;
	if (!PROF_WALK_READ(mod->used))
		PROF_WALK_READ(mod->used) = 1;
	w->in.first_page = PROF_WALK_READ(mod->first_page);
	w->in.page_cnt = PROF_WALK_READ(mod->page_cnt);
	w->in.big_cnt = PROF_WALK_READ(mod->big_cnt);
	w->in.without = PROF_WALK_READ(mod->without);
	w->in.table = PROF_WALK_READ(mod->table);
}

PROF_WALK_INLINE bool prof_walk_is_in(const struct prof_walk_place *p, __u64 addr)
{
	return addr - p->map.start < p->map.end - p->map.start;
}

/*
 * Leaves the current mapping for the last one of the list that starts at or before the address. 0 if it contains
 * the address.
 */
PROF_WALK_PART int prof_walk_change_map(struct prof_walk *w, __u64 addr)
{
	__u32 low, cnt, half, i;
	const struct prof_unwind_map *m;
	__s64 below;

	if (!w)
		return -1;
	low = w->list >> 32;
	cnt = w->list;
	w->other = w->before;
	w->before = w->in;
	w->in = w->other;
	if (prof_walk_is_in(&w->in, addr))
		return 0;
	cnt = PROF_BOUND_SIZE(cnt, PROF_WALK_MAPS_MAX);
	for (i = 0; i < 21; i++) {
		if (!cnt)
			break;
		half = cnt / 2;
		m = prof_walk_map_at(w, low + half);
		if (!m)
			return -1;
		/* a difference of halves has a sign; a mapping starts at an even address */
		below = (addr >> 1) - (PROF_WALK_READ(m->start) >> 1);
		PROF_WALK_HIDE(below);
		below >>= 63;
		low += (half + 1) & ~below;
		cnt = half - (~cnt & 1 & ~below);
	}
	if (low == w->list >> 32)
		return -1;
	m = prof_walk_map_at(w, low - 1);
	if (!m)
		return -1;
	prof_walk_enter(w, m);
	return prof_walk_is_in(&w->in, addr) ? 0 : -1;
}

/* Enters the mapping of an address: 0. */
PROF_WALK_INLINE int prof_walk_find_map(struct prof_walk *w, __u64 addr)
{
	return prof_walk_is_in(&w->in, addr) ? 0 : prof_walk_change_map(w, addr);
}

/*
 * ---- the row of an address ----------------------------------------------------------------------
 */

/* Reads a word of the table of `w`. */
PROF_WALK_INLINE int prof_walk_table_word(const struct prof_walk *w, __u32 at, __u32 *val)
{
	const __u32 *words = prof_walk_block(w, w->in.table - 1 + at / PROF_UNWIND_BLOCK_WORDS);

	if (!words)
		return -1;
	*val = PROF_WALK_READ(words[PROF_BOUND_INDEX(at, PROF_UNWIND_BLOCK_WORDS)]);
	return 0;
}

/*
 * Binary search with a fixed number of steps for the largest page: each step adds `half` or
 * nothing.
 */
PROF_WALK_INLINE int prof_walk_search(const struct prof_walk *w, __u32 index, __u32 pc, __u32 *row)
{
	__u32 first = index >> PROF_UNWIND_INDEX_COUNT_BITS, at = 0, next, half;
	__u32 last = PROF_BOUND_INDEX(index, PROF_UNWIND_PAGE_ROWS_MAX);
	const __u32 *words = prof_walk_block(w, w->in.table - 1 + first / PROF_UNWIND_BLOCK_WORDS);
	__s32 no;

	if (!words)
		return -1;
	half = last < 32 ? 16 : PROF_UNWIND_PAGE_ROWS_MAX / 2;
	for (; half; half /= 2) {
		next = PROF_BOUND_INDEX(first + at + half, PROF_UNWIND_BLOCK_WORDS);
		no = pc - (PROF_WALK_READ(words[next]) >> PROF_UNWIND_ROW_PC_SHIFT);
		no = (no | (__s32)(last - (at + half))) >> 31;
		PROF_WALK_HIDE(no);
		at += half & ~no;
	}
	*row = PROF_WALK_READ(words[PROF_BOUND_INDEX(first + at, PROF_UNWIND_BLOCK_WORDS)]);
	return 0;
}

/* Finds the row at an offset of the current file. */
PROF_WALK_INLINE int prof_walk_row(struct prof_walk *w, __u64 off, __u32 *row)
{
	__u64 key = (__u64)(w->in.map.slot + 1) << 40 | (off & PROF_FRAME_OFFSET_MASK);
	__u32 hash = key * 0x9e3779b97f4a7c15ULL >> 54, index;
	__u64 page = (off >> PROF_UNWIND_PAGE_SHIFT) - w->in.first_page;
	struct prof_walk_rule *rule = &w->rules[PROF_BOUND_INDEX(hash, PROF_WALK_RULES)];

	if (rule->key == key && rule->generation == w->generation) {
		*row = rule->row;
		return 0;
	}
	if (page >= w->in.page_cnt || prof_walk_table_word(w, page, &index) ||
	    prof_walk_search(w, index, off % (1 << PROF_UNWIND_PAGE_SHIFT), row))
		return -1;
	rule->key = key;
	rule->row = *row;
	rule->generation = w->generation;
	return 0;
}

/* ---- the caller's registers --------------------------------------------------------------------- */

#if defined(PROF_WALK_ARM64)
#include "prof_walk_arm64.h"
#else
#include "prof_walk_x86_64.h"
#endif

/*
 * Steps by the frame pointer if there is no row: 0, or @why if it is invalid. A frame pointer of 0
 * ends the chain. A function without a frame leaves its caller's frame pointer in place.
 */
PROF_WALK_INLINE int prof_walk_by_fp(struct prof_walk *w, int why)
{
	bool search = w->searches && why == PROF_END_NO_ROW;
	__u64 fp = w->fp, sp = fp + 16, next, ret;
	int owner;

	if (w->regs_at == PROF_WALK_REGS_START && prof_walk_guess(w)) {
		w->by_fp = why;
		return 0;
	}
	if (w->fp_lost)
		return why;
	if (!fp && (why == PROF_END_FRAME_POINTER ||
		    (why == PROF_END_NO_TABLE && w->flags & PROF_USER_FRAME_POINTERS)))
		return PROF_END_COMPLETE;
	if (fp - w->sp >= PROF_UNWIND_SP_MAX || prof_walk_load_pair(w, fp))
		return why;
	next = w->loaded[0];
	ret = prof_walk_code(w, w->loaded[1]);
	owner = prof_walk_owner(w, ret);
	if (owner == PROF_WALK_OWNER_NONE || (search && owner < PROF_WALK_OWNER_LIKELY))
		return why;
	w->unsure = owner == PROF_WALK_OWNER_UNSURE || (search && owner == PROF_WALK_OWNER_LIKELY);
	w->guessed = owner == PROF_WALK_OWNER_CALLER;
	if (w->guessed) {
		sp = w->bare_at + 8;
		next = fp;
		if (prof_walk_rare(w, w->bare_at, &ret))
			return why;
	}
	w->ip = ret;
	w->sp = sp;
	w->sp_lost = 1;
	w->fp = next;
	w->called = 1;
	w->regs_at = PROF_WALK_REGS_NONE;
	w->by_fp = why;
	return 0;
}

/* Steps to the caller of the last frame. 0 or enum prof_user_end. */
PROF_WALK_INLINE int prof_walk_up(struct prof_walk *w)
{
	__u64 off = w->ip - w->called - w->in.map.start + w->in.map.pgoff;
	__u32 row = 0, special;
	int why = 0;

	if (w->nowhere)
		return PROF_END_NO_MAPPING;
	if (w->in.map.slot == PROF_UNWIND_NO_SLOT)
		why = PROF_END_FRAME_POINTER;
	else if (!w->in.table)
		why = PROF_END_NO_TABLE;
	else if (prof_walk_row(w, off, &row))
		why = PROF_END_NO_ROW;
	special = row >> PROF_UNWIND_ROW_OFF_SHIFT & PROF_UNWIND_ROW_OFF_MASK;
	if ((row >> PROF_UNWIND_ROW_KIND_SHIFT & 7) != PROF_UNWIND_SPECIAL)
		special = PROF_UNWIND_BIG;
	else if (special == PROF_UNWIND_NONE)
		why = PROF_END_NO_ROW;
	if (why == PROF_END_NO_TABLE && !w->in.without)
		return why; /* a table may come later, and frame pointers may be wrong */
	if (why)
		return prof_walk_by_fp(w, why);
	w->surplus = special == PROF_UNWIND_NO_FRAME && w->called;
	if (special == PROF_UNWIND_END || w->surplus)
		return PROF_END_COMPLETE;
	if (special == PROF_UNWIND_SIGNAL)
		return prof_walk_signal(w);
	if (special == PROF_UNWIND_UNSUPPORTED)
		return PROF_END_UNSUPPORTED;
	return prof_walk_by_row(w, row, special);
}

/*
 * Finds the next frame, the leaf first: returns 0 and sets w->frame; or returns the reason for the
 * end, as in w->end. Call once per wanted frame, and once more to check for the end. At the end, drop
 * w->surplus frames.
 */
PROF_WALK_INLINE int prof_walk_step(struct prof_walk *w)
{
	__u64 at, module;

	w->by_fp = 0;
	w->guessed = 0;
	w->unsure = 0;
	w->leaf_known = 0;
	w->end = w->stepped ? prof_walk_up(w) : 0;
	if (w->end)
		return w->end;
	if (w->stepped && !w->guessed)
		w->searches = 0;
	at = w->ip - w->called;
	if (prof_walk_find_map(w, at)) {
		w->in.map.module_id = 0;
		w->nowhere = 1;
		if (w->stepped)
			w->end = w->by_fp ? w->by_fp : PROF_END_NO_MAPPING;
	}
	if (w->by_fp && !w->end)
		w->flags |= (w->guessed ? 0 : PROF_USER_FRAME_POINTERS) |
			    ((w->guessed && !w->leaf_known) || w->unsure ? PROF_USER_GUESSED : 0);
	w->stepped = 1;
	module = w->in.map.module_id;
	w->frame = PROF_UNWIND_RAW | at;
	if (module)
		w->frame = module << PROF_FRAME_MODULE_SHIFT |
			   ((at - w->in.map.start + w->in.map.pgoff) & PROF_FRAME_OFFSET_MASK);
	return w->end;
}

#endif /* PROF_WALK_HERE */

#endif /* D9_PROF_WALK_STEP_H */
