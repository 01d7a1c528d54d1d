// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks of copied stacks with arbitrary tables, mappings and records. tests/bpf/unwind_walk_test.c, which has
 * programs that copy real stacks, checks that the results are right.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "prof_abi.h"
#include "record/capture/capture_unwind.h"
#include "record/unwind_maps/stack_copy_unwind.h"
#include "tests/support/chance.h"

TestSuite(stack_copy_unwind, .timeout = 60);

enum {
	MODULES = 8,
	MAPS = 4,
	CHUNKS = 2,
	CHUNK_WORDS = PROF_UNWIND_CHUNK_BLOCKS * PROF_UNWIND_BLOCK_WORDS,
	ROUNDS = 40,
	WALKS = 500,
	MAX_STACK = 8,
	REG_IP = 16,
	REG_SP = 19,
	AREA_SZ = 1 << 20,
};

#define IP 0x400000ULL
#define SP 0x7fff0000ULL

static struct chance chance = { 88172645463325252ULL };

static uint64_t any(void)
{
	return chance_next(&chance);
}

static void *zeroed(size_t sz)
{
	void *p = calloc(1, sz);

	cr_assert(p);
	return p;
}

static struct capture_unwind new_memory(void)
{
	static uint32_t generation;
	struct capture_unwind m = {
		.modules = zeroed(MODULES * sizeof(*m.modules)),
		.maps = zeroed((MAPS + 1) * sizeof(*m.maps)),
		.cnt = { .module_cnt = MODULES, .map_cnt = MAPS, .chunk_cnt = CHUNKS + 1 },
		.chunks = zeroed((CHUNKS + 1) * sizeof(*m.chunks)),
		.generation = &generation,
	};
	int i;

	/* the last chunk does not exist yet */
	for (i = 0; i < CHUNKS; i++)
		m.chunks[i] = zeroed(4UL * CHUNK_WORDS);
	return m;
}

static void free_memory(struct capture_unwind *m)
{
	int i;

	for (i = 0; i < CHUNKS; i++)
		free(m->chunks[i]);
	free(m->chunks);
	free(m->modules);
	free(m->maps);
}

/* Most words mean "8 bytes up the stack", so that walks make progress. */
static void fill_memory(struct capture_unwind *m)
{
	uint32_t i, chunk;

	for (chunk = 0; chunk < CHUNKS; chunk++)
		for (i = 0; i < CHUNK_WORDS; i++)
			((uint32_t *)m->chunks[chunk])[i] = any() % 16 ? 1 << 7 : any();
	for (i = 0; i < MODULES; i++)
		m->modules[i] = (struct prof_unwind_module){
			.page_cnt = any() % 8 ? 8192 : any(),
			.table = any() % ((CHUNKS + 1) * PROF_UNWIND_CHUNK_BLOCKS),
			.big_cnt = any() & 0x1ff,
		};
	for (i = 0; i < MAPS; i++) {
		m->maps[i] = (struct prof_unwind_map){
			.start = IP + (uint64_t)i * AREA_SZ,
			.end = IP + (i + 1ULL) * AREA_SZ,
			.pgoff = any() & 0xfffff,
			.module_id = any() % 8,
			.slot = any() % 8 ? any() % (MODULES + 1) : PROF_UNWIND_NO_SLOT,
		};
		if (any() % 8 == 0)
			m->maps[i].end = any();
	}
	++*m->generation;
}

/* Entries, the last one with an address of 0. */
static const struct prof_unwind_map *find(void *ctx, uint64_t addr)
{
	const struct prof_unwind_map *m, *best = NULL;

	for (m = ctx; m->start; m++)
		if (m->start <= addr)
			best = m;
	return best;
}

struct record {
	struct prof_rec rec;
	uint64_t words[3 + PROF_COPY_REGS + PROF_COPY_WORDS];
};

static struct record *new_record(size_t stack_cnt)
{
	/* to the word, so that a read after it is detected */
	struct record *r = zeroed(sizeof(r->rec) + 8 * (3 + PROF_COPY_REGS + stack_cnt));
	size_t i;

	r->rec = (struct prof_rec){
		.size = sizeof(r->rec) + 8 * (3 + PROF_COPY_REGS + stack_cnt),
		.kind = PROF_REC_SAMPLE,
		.flags = PROF_REC_STACKS | PROF_REC_COPIED,
		.raw_len = 7,
		.kstack_cnt = 2,
		.ustack_cnt = PROF_COPY_REGS + stack_cnt,
		.user_end = PROF_END_NO_LIST,
	};
	for (i = 0; i < 3 + PROF_COPY_REGS + stack_cnt; i++)
		r->words[i] = any() & 7 ? IP + any() % (4 * AREA_SZ) : SP + (any() & 0xff8);
	r->words[3 + REG_SP] = SP;
	return r;
}

Test(stack_copy_unwind, walk_over_any_tables_ends_and_reads_only_its_copy)
{
	struct capture_unwind memory = new_memory();
	struct stack_copy_unwind *c = stack_copy_unwind_new(&memory, MAX_STACK);
	const struct stack_copy_maps maps = { find, memory.maps };
	uint32_t round, i, ends[PROF_END_CNT] = { 0 }, kinds = 0;

	for (round = 0; round < ROUNDS; round++) {
		fill_memory(&memory);
		for (i = 0; i < WALKS; i++) {
			struct record *r = new_record(any() % PROF_COPY_WORDS);
			const struct prof_rec *out = stack_copy_unwind_walk(c, &r->rec, &maps);

			cr_assert_leq(out->ustack_cnt, MAX_STACK);
			cr_assert_eq(out->flags & (PROF_REC_WALKED | PROF_REC_COPIED),
				     PROF_REC_WALKED);
			cr_assert_eq(out->size, sizeof(*out) + 8 * (3 + out->ustack_cnt));
			cr_assert_eq(memcmp(out + 1, r->words, 8 * 3UL), 0);
			cr_assert_lt(out->user_end & PROF_USER_END_MASK, PROF_END_CNT);
			ends[out->user_end & PROF_USER_END_MASK]++;
			free(r);
		}
	}
	for (i = 0; i < PROF_END_CNT; i++)
		kinds += ends[i] > 0;
	cr_expect_geq(kinds, 8, "%u kinds of ends", kinds);
	cr_expect_gt(ends[PROF_END_FULL], 0);
	stack_copy_unwind_free(c);
	free_memory(&memory);
}

Test(stack_copy_unwind, only_the_leaf_is_found_without_mappings)
{
	struct capture_unwind memory = new_memory();
	struct stack_copy_unwind *c = stack_copy_unwind_new(&memory, 0);
	struct record *r = new_record(4);
	const struct prof_rec *out = stack_copy_unwind_walk(c, &r->rec, NULL);

	cr_expect_eq(out->ustack_cnt, 1);
	cr_expect_eq(out->user_end, PROF_END_NO_LIST);
	cr_expect_eq(((const uint64_t *)(out + 1))[3], PROF_UNWIND_RAW | r->words[3 + REG_IP]);
	out = stack_copy_unwind_refuse(c, &r->rec);
	cr_expect_eq(out->ustack_cnt, 1);
	cr_expect_eq(out->user_end, PROF_END_OVER_BUDGET);
	cr_expect_eq(((const uint64_t *)(out + 1))[3], PROF_UNWIND_RAW | r->words[3 + REG_IP]);
	free(r);
	stack_copy_unwind_free(c);
	free_memory(&memory);
}

struct counted {
	uint32_t finds;
	struct prof_unwind_map map;
};

static const struct prof_unwind_map *count_find(void *ctx, uint64_t addr)
{
	struct counted *c = ctx;

	c->finds++;
	return addr - c->map.start < c->map.end - c->map.start ? &c->map : NULL;
}

Test(stack_copy_unwind, mapping_of_many_frames_is_looked_up_once)
{
	enum { REG_FP = 4, FRAMES = 8 };
	struct capture_unwind memory = new_memory();
	struct counted counted = { .map = { IP, IP + AREA_SZ, 0, 1, 0 } };
	const struct stack_copy_maps maps = { count_find, &counted };
	struct stack_copy_unwind *c = stack_copy_unwind_new(&memory, 0);
	struct record *r = new_record(2 * FRAMES);
	uint64_t *regs = r->words + 3, *stack = regs + PROF_COPY_REGS;
	const struct prof_rec *out;
	int i;

	memory.modules[0].without = 1;
	regs[REG_IP] = IP + 16;
	regs[REG_FP] = SP;
	for (i = 0; i < FRAMES; i++) {
		stack[2 * i] = i + 1 < FRAMES ? SP + 16 * (i + 1ULL) : 0;
		stack[2 * i + 1] = IP + 32;
	}
	out = stack_copy_unwind_walk(c, &r->rec, &maps);
	cr_expect_eq(out->ustack_cnt, FRAMES + 1);
	cr_expect_eq(counted.finds, 1);
	free(r);
	stack_copy_unwind_free(c);
	free_memory(&memory);
}

Test(stack_copy_unwind, record_without_a_copy_or_too_large_has_no_user_frames)
{
	struct capture_unwind memory = new_memory();
	struct stack_copy_unwind *c = stack_copy_unwind_new(&memory, 0);
	const struct stack_copy_maps maps = { find, memory.maps };
	struct prof_rec *large = zeroed(UINT16_MAX + 1);
	struct record *r = new_record(0);

	r->rec.ustack_cnt = PROF_COPY_REGS - 1;
	cr_expect_eq(stack_copy_unwind_walk(c, &r->rec, &maps)->ustack_cnt, 0);
	*large = (struct prof_rec){
		.size = UINT16_MAX,
		.kstack_cnt = (UINT16_MAX - sizeof(*large)) / 8 - PROF_COPY_REGS,
		.ustack_cnt = PROF_COPY_REGS,
	};
	cr_expect_eq(stack_copy_unwind_walk(c, large, &maps)->ustack_cnt, 0);
	free(r);
	free(large);
	stack_copy_unwind_free(c);
	free_memory(&memory);
}

Test(stack_copy_unwind, frame_pointer_chain_that_ends_with_0_is_complete_without_tables)
{
	enum { REG_FP = 4 };
	struct capture_unwind memory = new_memory();
	struct prof_unwind_map map[] = { { IP, IP + AREA_SZ, 0, 1, 0 }, { 0 } };
	const struct stack_copy_maps maps = { find, map };
	struct stack_copy_unwind *c = stack_copy_unwind_new(&memory, 0);
	struct record *r = new_record(4);
	uint64_t *regs = r->words + 3, *stack = regs + PROF_COPY_REGS;
	const struct prof_rec *out;

	memory.modules[0].without = 1;
	regs[REG_IP] = IP + 16;
	regs[REG_FP] = SP + 8;
	stack[1] = 0;
	stack[2] = IP + 32;
	out = stack_copy_unwind_walk(c, &r->rec, &maps);
	cr_expect_eq(out->user_end,
		     PROF_END_COMPLETE | PROF_USER_FRAME_POINTERS | PROF_USER_GUESSED,
		     "without code, no step can be checked");
	cr_expect_eq(out->ustack_cnt, 2);
	regs[REG_FP] = 0; /* otherwise it is an ordinary register */
	out = stack_copy_unwind_walk(c, &r->rec, &maps);
	cr_expect_eq(out->user_end, PROF_END_NO_TABLE);
	cr_expect_eq(out->ustack_cnt, 1);
	free(r);
	stack_copy_unwind_free(c);
	free_memory(&memory);
}

/* A walk that needs the word after a copy of @cnt words, from that stack pointer on. */
static uint8_t end_above(uint64_t sp, size_t cnt)
{
	enum { REG_FP = 4 };
	struct capture_unwind memory = new_memory();
	struct prof_unwind_map map[] = { { IP, IP + AREA_SZ, 0, 1, 0 }, { 0 } };
	const struct stack_copy_maps maps = { find, map };
	struct stack_copy_unwind *c = stack_copy_unwind_new(&memory, 0);
	struct record *r = new_record(cnt);
	uint64_t *regs = r->words + 3;
	uint8_t end;

	memory.modules[0].without = 1;
	regs[REG_IP] = IP + 16;
	regs[REG_SP] = sp;
	regs[REG_FP] = sp + 8 * cnt;
	end = stack_copy_unwind_walk(c, &r->rec, &maps)->user_end;
	free(r);
	stack_copy_unwind_free(c);
	free_memory(&memory);
	return end;
}

Test(stack_copy_unwind, stack_above_a_copy_of_the_maximum_size_ends_at_the_copy_limit)
{
	const uint64_t off = 0x808; /* of a stack pointer in its page: the copy ends at a page */

	cr_expect_eq(end_above(SP, PROF_COPY_WORDS), PROF_END_COPY_LIMIT);
	cr_expect_eq(end_above(SP + off, (4 * 4096 - off) / 8), PROF_END_COPY_LIMIT);
	/* the memory of the stack ends there */
	cr_expect_eq(end_above(SP + off, (3 * 4096 - off) / 8), PROF_END_NO_TABLE);
	cr_expect_eq(end_above(SP, 4 * 512 - PROF_COPY_REGS - 512), PROF_END_NO_TABLE);
}
