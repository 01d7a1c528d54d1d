// SPDX-License-Identifier: BSD-2-Clause
/*
 * stack_unwind.c - callchains from copied stacks
 *
 * Uses prof_walk_step.h, as the recorder does, on the registers and the stack in a sample. Tables come from the caller,
 * who builds them from files; mappings come from the records so far. Stack and registers are untrusted: each step
 * is bounded, and reads inside of the copy only.
 */
#include "formats/perfdata/stack_unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "prof_machine.h"
#include "prof_walk.h"
#include "unwind/table.h"

enum {
	SLOTS_MAX = 4096,
	SLOT_BLOCKS_SHIFT = 12, /* blocks of the largest table */
	WORDS_MAX = 128 << 20, /* of all tables */
	ABI_64 = 2, /* PERF_SAMPLE_REGS_ABI_64 */
	NO_REG = 255,
};

_Static_assert(PROF_UNWIND_TABLE_WORDS_MAX / PROF_UNWIND_BLOCK_WORDS <= 1 << SLOT_BLOCKS_SHIFT,
	       "a table fits into its blocks");

/* The table of a module, in whole blocks. */
struct slot {
	uint32_t *words;
	size_t block_cnt;
	struct prof_unwind_module module;
};

struct perfdata_unwind {
	const struct foreign_unwind *files;
	const struct perfdata_tasks *tasks;
	struct hmap by_module; /* module + 1 -> 1 + slot */
	struct slot *slots;
	size_t cnt, cap, words;
	/* of the walk: */
	const struct perfdata_sample *s;
	uint64_t sp;
	bool past_copy;
	struct prof_unwind_map map;
	struct prof_walk walk;
};

void perfdata_unwind_new(const struct foreign_unwind *files, const struct perfdata_tasks *tasks,
			 struct perfdata_unwind **out)
{
	struct perfdata_unwind *u = xcalloc(1, sizeof(*u));

	u->files = files;
	u->tasks = tasks;
	*out = u;
}

void perfdata_unwind_free(struct perfdata_unwind *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->cnt; i++)
		free(u->slots[i].words);
	free(u->slots);
	hmap_fini(&u->by_module);
	free(u);
}

/* ---- registers --------------------------------------------------------------------------------- */

/* Code is not part of a sample. */
static int prof_walk_owner(const struct prof_walk *w, __u64 ret)
{
	return PROF_WALK_OWNER_UNSURE;
}

/* As asm/perf_regs.h numbers them. */
#ifdef PROF_MACHINE_ARM64
enum { REG_FP = 29, REG_LR = 30, REG_SP = 31, REG_IP = 32 };
#else
enum { REG_FP = 6, REG_SP = 7, REG_IP = 8, REG_LR = NO_REG };
#endif

static bool get_reg(const struct perfdata_sample *s, unsigned int reg, uint64_t *out)
{
	const uint64_t mask = s->user_mask;
	size_t at;

	if (reg >= 64 || !(mask >> reg & 1))
		return false;
	at = sizeof(*out) * (size_t)__builtin_popcountll(mask & ((1ULL << reg) - 1));
	if (at + sizeof(*out) > s->user_regs.sz)
		return false;
	memcpy(out, s->user_regs.p + at, sizeof(*out));
	return true;
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* To the slot made last. */
static void take_table(void *arg, const struct unwind_table *t)
{
	struct perfdata_unwind *u = arg;
	struct slot *slot = &u->slots[u->cnt - 1];
	size_t blocks;

	if (slot->words || !t->cnt || t->cnt > WORDS_MAX - u->words)
		return;
	blocks = (t->cnt + PROF_UNWIND_BLOCK_WORDS - 1) / PROF_UNWIND_BLOCK_WORDS;
	slot->words = xcalloc(blocks * PROF_UNWIND_BLOCK_WORDS, sizeof(*slot->words));
	memcpy(slot->words, t->words, t->cnt * sizeof(*t->words));
	slot->block_cnt = blocks;
	slot->module.first_page = t->first_page;
	slot->module.page_cnt = t->page_cnt;
	slot->module.big_cnt = t->big_cnt;
	u->words += t->cnt;
}

/* Made at the first frame in it. */
static uint32_t slot_of(struct perfdata_unwind *u, uint32_t module)
{
	const uintptr_t known = (uintptr_t)hmap_get(&u->by_module, (uint64_t)module + 1);
	struct foreign_module file = { 0 };
	struct slot *slot;

	if (known)
		return (uint32_t)known - 1;
	if (u->cnt >= SLOTS_MAX)
		return PROF_UNWIND_NO_SLOT;
	u->slots = array_reserve(u->slots, &u->cap, u->cnt + 1, sizeof(*u->slots));
	slot = &u->slots[u->cnt++];
	*slot = (struct slot){ 0 };
	if (u->files && perfdata_tasks_file(u->tasks, module, &file))
		u->files->find(u->files->ctx, &file, take_table, u);
	if (slot->words)
		slot->module.table = 1 + ((uint32_t)(u->cnt - 1) << SLOT_BLOCKS_SHIFT);
	else
		slot->module.without = 1;
	hmap_set(&u->by_module, (uint64_t)module + 1, (void *)(uintptr_t)u->cnt);
	return (uint32_t)(u->cnt - 1);
}

/* ---- what a step stands on --------------------------------------------------------------------- */

static struct perfdata_unwind *of_walk(const struct prof_walk *w)
{
	return (struct perfdata_unwind *)((const char *)w - offsetof(struct perfdata_unwind, walk));
}

static const __u32 *prof_walk_block(const struct prof_walk *w, __u32 block)
{
	const struct perfdata_unwind *u = of_walk(w);
	const uint32_t slot = block >> SLOT_BLOCKS_SHIFT;
	const uint32_t at = block & ((1U << SLOT_BLOCKS_SHIFT) - 1);

	if (slot >= u->cnt || at >= u->slots[slot].block_cnt)
		return NULL;
	return u->slots[slot].words + (size_t)at * PROF_UNWIND_BLOCK_WORDS;
}

/* The list consists of the mapping of the current address. */
static const struct prof_unwind_map *prof_walk_map_at(const struct prof_walk *w, __u32 i)
{
	struct perfdata_unwind *u = of_walk(w);
	const uint64_t addr = w->ip - w->called;
	const struct perfdata_map *map;

	if (i == 0 && addr - u->map.start < u->map.end - u->map.start)
		return &u->map;
	map = i == 0 ? perfdata_tasks_map(u->tasks, u->s->pid, addr) : NULL;
	if (!map)
		return NULL;
	/* module 0: frames are addresses */
	u->map = (struct prof_unwind_map){ .start = map->start,
					   .end = map->end,
					   .pgoff = map->off,
					   .slot = slot_of(u, map->module) };
	return &u->map;
}

static struct prof_unwind_module *prof_walk_module_at(const struct prof_walk *w, __u32 slot)
{
	struct perfdata_unwind *u = of_walk(w);

	return slot < u->cnt ? &u->slots[slot].module : NULL;
}

static int prof_walk_fill(struct prof_walk *w, __u64 addr)
{
	struct perfdata_unwind *u = of_walk(w);
	const struct perfdata_bytes *stack = &u->s->stack;
	const uint64_t word = (addr - u->sp) / 8, all = stack->sz / 8;
	uint64_t cnt;

	if (addr < u->sp || word >= all) {
		u->past_copy = addr >= u->sp;
		return -1;
	}
	cnt = all - word < PROF_WALK_WORDS ? all - word : PROF_WALK_WORDS;
	memcpy(w->words, stack->p + 8 * word, 8 * cnt);
	w->words_at = u->sp + 8 * word;
	w->words_sz = 8 * cnt;
	return 0;
}

/* A sample does not say whether the leaf has a frame. */
static int prof_walk_leaf(const struct prof_walk *w)
{
	return -1;
}

#ifdef PROF_MACHINE_ARM64
/* The addresses of user space have 48 bits, or 52. */
static __u64 prof_walk_code_mask(const struct prof_walk *w)
{
	return (1ULL << 52) - 1;
}
#else
static int prof_walk_register(struct prof_walk *w, __u32 word, __u64 *val)
{
	/* of struct pt_regs: r15 to r12, bp, bx, r11 to r8, ax, cx, dx, si, di */
	static const uint8_t regs[PROF_WALK_REGS] = { 23, 22, 21, 20, 6, 1, 19, 18,
						      17, 16, 0,  2,  3, 4, 5,	NO_REG };
	uint64_t v;

	if (word >= PROF_WALK_REGS || !get_reg(of_walk(w)->s, regs[word], &v))
		return -1;
	*val = v;
	return 0;
}
#endif

#define PROF_WALK_HERE
#include "prof_walk_step.h"

/* ---- walks ------------------------------------------------------------------------------------- */

static uint8_t step(struct perfdata_unwind *u)
{
	u->past_copy = false;
	if (!prof_walk_step(&u->walk))
		return 0;
	return u->past_copy ? PROF_END_COPY_LIMIT : u->walk.end;
}

size_t perfdata_unwind_walk(struct perfdata_unwind *u, const struct perfdata_sample *s,
			    uint64_t *addrs, size_t max, uint8_t *end)
{
	uint64_t ip, fp = 0, lr = 0;
	size_t cnt = 0;
	uint8_t why = 0;

	*end = PROF_END_NOT_WALKED;
	if (!get_reg(s, REG_IP, &ip) || !get_reg(s, REG_SP, &u->sp) || !max)
		return 0;
	addrs[0] = ip;
	*end = PROF_END_32BIT;
	if (s->user_abi != ABI_64)
		return 1;
	get_reg(s, REG_FP, &fp);
	get_reg(s, REG_LR, &lr);
	u->s = s;
	u->map = (struct prof_unwind_map){ 0 };
	prof_walk_start(&u->walk, ip, u->sp, fp, lr, 1, 1);
	while (cnt < max && !(why = step(u)))
		addrs[cnt++] = u->walk.frame & ~PROF_UNWIND_RAW;
	*end = (cnt == max ? PROF_END_FULL : why) | u->walk.flags;
	cnt -= u->walk.surplus;
	return cnt ? cnt : 1;
}
