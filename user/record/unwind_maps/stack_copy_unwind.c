// SPDX-License-Identifier: BSD-2-Clause
/*
 * stack_copy_unwind.c - unwinds copied stacks
 *
 * Uses prof_walk_step.h on a copied stack instead of memory. Tables belong to the programs, the caller finds the
 * mappings, and memory beyond the copy is missing. One walk at a time.
 */
#include "record/unwind_maps/stack_copy_unwind.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "prof_abi.h"
#include "prof_rec.h"
#include "prof_walk.h"
#include "record/capture/capture_unwind.h"

struct stack_copy_unwind {
	struct capture_unwind *memory;
	uint32_t max_stack;
	uint64_t code_mask; /* for return addresses */
	const uint64_t *regs, *stack; /* of the record */
	size_t stack_cnt; /* words */
	bool past_copy; /* the last step needed memory above a copy of the maximum size */
	bool leaf_bare; /* without a frame: the return address is the first word of the stack, or in a register */
	const struct stack_copy_maps *maps;
	struct prof_unwind_map map; /* the last one found */
	struct prof_walk walk;
	uint64_t walked[(UINT16_MAX + 1) / 8]; /* the size of a record has 16 bits */
};

struct stack_copy_unwind *stack_copy_unwind_new(struct capture_unwind *memory, uint32_t max_stack)
{
	struct stack_copy_unwind *c = xcalloc(1, sizeof(*c));

	c->memory = memory;
	c->code_mask = capture_unwind_code_mask();
	c->max_stack = max_stack && max_stack < PROF_STACK_MAX ? max_stack : PROF_STACK_MAX;
	return c;
}

void stack_copy_unwind_free(struct stack_copy_unwind *c)
{
	free(c);
}

size_t stack_copy_unwind_memory(const struct stack_copy_unwind *c)
{
	return sizeof(*c);
}

/* ---- what a step stands on ----------------------------------------------------------------------- */

static struct stack_copy_unwind *of_walk(const struct prof_walk *w)
{
	return (struct stack_copy_unwind *)((const char *)w -
					    offsetof(struct stack_copy_unwind, walk));
}

static const __u32 *prof_walk_block(const struct prof_walk *w, __u32 block)
{
	const struct capture_unwind *m = of_walk(w)->memory;
	uint32_t chunk = block / PROF_UNWIND_CHUNK_BLOCKS;
	const uint32_t *words = chunk < m->cnt.chunk_cnt ? m->chunks[chunk] : NULL;

	return words ? words + block % PROF_UNWIND_CHUNK_BLOCKS * PROF_UNWIND_BLOCK_WORDS : NULL;
}

/* The list consists of the mapping of the current address. */
static const struct prof_unwind_map *prof_walk_map_at(const struct prof_walk *w, __u32 i)
{
	struct stack_copy_unwind *c = of_walk(w);
	uint64_t addr = w->ip - w->called;
	const struct prof_unwind_map *m;

	if (i == 0 && addr - c->map.start < c->map.end - c->map.start)
		return &c->map;
	m = i == 0 ? c->maps->find(c->maps->ctx, addr) : NULL;
	if (m)
		c->map = *m;
	return m;
}

static struct prof_unwind_module *prof_walk_module_at(const struct prof_walk *w, __u32 slot)
{
	const struct capture_unwind *m = of_walk(w)->memory;

	return slot < m->cnt.module_cnt ? &m->modules[slot] : NULL;
}

/* Whether the copy has the maximum size. A smaller one ends where the memory of the stack ends. */
static bool is_cut(const struct stack_copy_unwind *c)
{
	return c->stack_cnt >= PROF_COPY_WORDS ||
	       8 * c->stack_cnt >= PROF_COPY_BYTES(c->regs[PROF_REG_SP], PROF_COPY_PAGES);
}

static int prof_walk_fill(struct prof_walk *w, __u64 addr)
{
	struct stack_copy_unwind *c = of_walk(w);
	uint64_t word = (addr - c->regs[PROF_REG_SP]) / 8, cnt;

	if (addr < c->regs[PROF_REG_SP] || word >= c->stack_cnt) {
		c->past_copy = addr >= c->regs[PROF_REG_SP] && is_cut(c);
		return -1;
	}
	cnt = c->stack_cnt - word < PROF_WALK_WORDS ? c->stack_cnt - word : PROF_WALK_WORDS;
	memcpy(w->words, c->stack + word, 8 * cnt);
	w->words_at = addr;
	w->words_sz = 8 * cnt;
	return 0;
}

static int prof_walk_leaf(const struct prof_walk *w)
{
	return of_walk(w)->leaf_bare ? 0 : -1;
}

/* Code is not part of a copy. */
static int prof_walk_owner(const struct prof_walk *w, __u64 ret)
{
	return PROF_WALK_OWNER_UNSURE;
}

#ifdef PROF_MACHINE_ARM64
static __u64 prof_walk_code_mask(const struct prof_walk *w)
{
	return of_walk(w)->code_mask;
}
#else
static int prof_walk_register(struct prof_walk *w, __u32 word, __u64 *val)
{
	*val = of_walk(w)->regs[word];
	return 0;
}
#endif

#define PROF_WALK_HERE
#include "prof_walk_step.h"

/* ---- walks ----------------------------------------------------------------------------------------- */

/* 0 or enum prof_user_end */
static uint8_t step(struct stack_copy_unwind *c)
{
	c->past_copy = false;
	if (!prof_walk_step(&c->walk))
		return 0;
	if (c->past_copy)
		c->walk.end = PROF_END_COPY_LIMIT;
	return c->walk.end;
}

static uint8_t walk(struct stack_copy_unwind *c, struct prof_rec *out, uint64_t *frames)
{
	struct prof_walk *w = &c->walk;
	uint32_t cnt = 0;

	prof_walk_start(w, c->regs[PROF_REG_IP], c->regs[PROF_REG_SP], c->regs[PROF_REG_FP],
			PROF_REGS_LR(c->regs), 1, *c->memory->generation);
	while (cnt < c->max_stack && !step(c))
		frames[cnt++] = w->frame;
	if (cnt == c->max_stack && !step(c)) {
		w->end = PROF_END_FULL;
		out->flags |= PROF_REC_USTACK_CUT;
	}
	out->ustack_cnt = cnt - w->surplus;
	return w->end | w->flags;
}

const struct prof_rec *stack_copy_unwind_walk(struct stack_copy_unwind *c,
					      const struct prof_rec *rec,
					      const struct stack_copy_maps *maps)
{
	size_t head = prof_rec_stack_offset(rec) + 8UL * rec->kstack_cnt;
	struct prof_rec *out = (struct prof_rec *)c->walked;
	uint64_t *frames = c->walked + head / 8;

	c->walk.end = PROF_END_NOT_WALKED;
	memcpy(out, rec, head);
	out->flags = (rec->flags & ~PROF_REC_COPIED) | PROF_REC_WALKED;
	out->user_end &= ~PROF_USER_GUESSED;
	out->ustack_cnt = 0;
	if (rec->ustack_cnt >= PROF_COPY_REGS &&
	    head + 8 * PROF_STACK_MAX <= sizeof(c->walked) - 8) {
		c->regs = (const uint64_t *)((const uint8_t *)rec + head);
		c->stack = c->regs + PROF_COPY_REGS;
		c->stack_cnt = rec->ustack_cnt - PROF_COPY_REGS;
		c->leaf_bare = rec->user_end & PROF_USER_GUESSED;
		c->maps = maps;
		c->map = (struct prof_unwind_map){ 0 };
		frames[0] = PROF_UNWIND_RAW | c->regs[PROF_REG_IP];
		out->ustack_cnt = 1;
		if (maps)
			out->user_end = walk(c, out, frames);
	}
	out->size = head + 8 * out->ustack_cnt;
	return out;
}

const struct prof_rec *stack_copy_unwind_refuse(struct stack_copy_unwind *c,
						const struct prof_rec *rec)
{
	struct prof_rec *out = (struct prof_rec *)stack_copy_unwind_walk(c, rec, NULL);

	out->user_end = PROF_END_OVER_BUDGET;
	return out;
}

bool stack_copy_unwind_lacks_table(const struct stack_copy_unwind *c, uint32_t *slot)
{
	*slot = c->walk.in.map.slot;
	return c->walk.end == PROF_END_NO_TABLE;
}
