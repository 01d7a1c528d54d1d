// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * unwind.bpf.c - one step up a user stack, as functions that are compiled into each program that walks
 *
 * Stack memory is read in blocks: a read of 8 bytes costs as much as a read of some hundred. Most frames lie in a
 * block that was read before.
 */
#include "unwind.bpf.h"

enum {
	PAGE_SIZE = 4096, /* the smallest page size: memory is mapped in multiples of it */
	USER_FRAME_MIN = 4096,
	SAVED_BELOW = 8 * PROF_UNWIND_FP_SAVED_MAX, /* bytes below the address that is read */
};

_Static_assert(8 * PROF_WALK_WORDS > 2 * SAVED_BELOW, "a frame's words are read at once");

/*
 * Reads the words of the frame below `addr` that a row can need, and the words above. If the next page is missing,
 * it reads up to that page.
 */
__attribute__((noinline)) int unwind_fill(struct prof_walk *w, __u64 addr)
{
	__u64 from = addr - SAVED_BELOW, sz = sizeof(w->words), page = addr & -(__u64)PAGE_SIZE;

	if (!w)
		return -1;
	if (from < w->sp || from > addr)
		from = (w->sp + 7) & ~7ULL;
	if (addr - from > SAVED_BELOW)
		from = addr;
	w->words_at = from;
	w->words_sz = 0;
	if (bpf_probe_read_user(w->words, sizeof(w->words), (void *)from)) {
		if (from < page)
			from = page;
		sz = page + PAGE_SIZE - from;
		if (sz > sizeof(w->words))
			sz = sizeof(w->words);
		if (bpf_probe_read_user(w->words, PROF_BOUND_SIZE(sz, sizeof(w->words)),
					(void *)from))
			return -1;
		w->words_at = from;
	}
	w->words_sz = sz;
	return 0;
}

static __always_inline int prof_walk_fill(struct prof_walk *w, __u64 addr)
{
	return unwind_fill(w, addr);
}

static __always_inline const __u32 *prof_walk_block(const struct prof_walk *w, __u32 block)
{
	__u32 chunk = block / PROF_UNWIND_CHUNK_BLOCKS, idx = block % PROF_UNWIND_CHUNK_BLOCKS;
	void *blocks = bpf_map_lookup_elem(&unwind_chunks, &chunk);

	return blocks ? bpf_map_lookup_elem(blocks, &idx) : NULL;
}

static __always_inline const struct prof_unwind_map *prof_walk_map_at(const struct prof_walk *w,
								      __u32 i)
{
	return bpf_map_lookup_elem(&unwind_maps, &i);
}

static __always_inline struct prof_unwind_module *prof_walk_module_at(const struct prof_walk *w,
								      __u32 slot)
{
	return bpf_map_lookup_elem(&unwind_modules, &slot);
}

static __always_inline int prof_walk_leaf(struct prof_walk *w)
{
	return unwind_leaf(w);
}

static __always_inline int prof_walk_owner(struct prof_walk *w, __u64 ret)
{
	return unwind_owner(w, ret);
}

#ifdef PROF_MACHINE_ARM64
static __always_inline __u64 prof_walk_code_mask(const struct prof_walk *w)
{
	return cfg_code_mask;
}
#else
static __always_inline int prof_walk_register(struct prof_walk *w, __u32 word, __u64 *val)
{
	return bpf_probe_read_kernel(val, sizeof(*val), (void *)(w->regs + 8 * word));
}
#endif

#define PROF_WALK_HERE
#define PROF_WALK_PART __attribute__((noinline))
#include "prof_walk_step.h"

#include "leaf.bpf.h"
#include "owner.bpf.h"
#ifdef PROF_MACHINE_X86_64
#include "search.bpf.h"
#endif

__attribute__((noinline)) int unwind_leaf(struct prof_walk *w)
{
	return w ? find_leaf_return(w) : -1;
}

__attribute__((noinline)) int unwind_step(struct prof_walk *w)
{
	return w ? prof_walk_step(w) : PROF_END_NOT_WALKED;
}

__attribute__((noinline)) int unwind_walk(struct prof_walk *w, struct stack_part *frames, __u32 max)
{
	__u32 i;

	if (!w || !frames)
		return 0;
	ROLLED
	for (i = 0; i < STACK_PART && i < max; i++) {
		if (unwind_step(w) && (unwind_search(w) || unwind_step(w)))
			break;
		frames->at[i] = w->frame;
	}
	return i;
}

/* A step by the frame pointer. 0: w->frame is a return address. */
__attribute__((noinline)) int unwind_pair(struct prof_walk *w)
{
	__u64 fp, next, ret;

	if (!w)
		return -1;
	if (w->regs_at == PROF_WALK_REGS_START && prof_walk_guess(w)) {
		w->flags |= w->leaf_known ? 0 : PROF_USER_GUESSED;
		w->frame = w->ip;
		return 0;
	}
	w->regs_at = PROF_WALK_REGS_NONE;
	fp = w->fp;
	if (fp - w->sp < PROF_UNWIND_SP_MAX) {
		if (prof_walk_word(w, fp, &next) || prof_walk_word(w, fp + 8, &ret))
			return -1;
	} else {
		/* another stack, or an invalid frame pointer: read two words, not a block */
		w->words_sz = 0;
		if (fp < USER_FRAME_MIN || fp & 7 ||
		    bpf_probe_read_user(w->words, 2 * sizeof(*w->words), (void *)fp))
			return -1;
		next = w->words[0];
		ret = w->words[1];
	}
	ret = prof_walk_code(w, ret);
	if (ret < USER_FRAME_MIN)
		return -1;
	w->frame = ret;
	w->fp = next > fp ? next : 0;
	return 0;
}

__attribute__((noinline)) int unwind_pairs(struct prof_walk *w, struct unwind_pair_frames *frames,
					   __u32 max)
{
	__u32 i;

	if (!w || !frames)
		return 0;
	ROLLED
	for (i = 0; i < UNWIND_PAIRS && i < max; i++) {
		if (unwind_pair(w))
			break;
		frames->at[i] = w->frame;
	}
	return i;
}
