// SPDX-License-Identifier: BSD-2-Clause
/* Tables in memory that programs would read: who comes in, who goes, and when its place is used again. */
#include "unwind/store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/waiter.h"

enum { MODULES = 8, CHUNKS = 2, BLOCK_MAX = PROF_UNWIND_CHUNK_BLOCKS + 10, MUCH = 200 };

#define SECOND 1000000000ULL

static struct prof_unwind_module modules[MODULES];
static uint32_t generation;
static uint32_t *chunks[CHUNKS];
static struct waiter *waiter;
static struct store *store;
static uint64_t now;

/* Held, it keeps the waiter from periods of grace. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int make(void *ctx, uint32_t i, void **mem)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	if (i >= CHUNKS)
		return -EINVAL;
	*mem = chunks[i] = calloc(PROF_UNWIND_CHUNK_BLOCKS, 4 * PROF_UNWIND_BLOCK_WORDS);
	return 0;
}

static void setup(void)
{
	const struct waiter_cfg waiter_cfg = { .make_chunk = make };
	struct store_cfg cfg = { .modules = modules,
				 .module_cnt = MODULES,
				 .block_max = BLOCK_MAX };

	cr_assert_eq(waiter_new(&waiter_cfg, &waiter), 0);
	cfg.waiter = waiter;
	cfg.generation = &generation;
	store = store_new(&cfg);
	now = 100 * SECOND;
	store_step(store, now);
}

static void teardown(void)
{
	int i;

	store_free(store);
	waiter_free(waiter);
	for (i = 0; i < CHUNKS; i++)
		free(chunks[i]);
}

TestSuite(store, .init = setup, .fini = teardown);

static struct store_counts counts(void)
{
	struct store_counts c;

	store_count(store, &c);
	return c;
}

static void settle(void)
{
	while (!store_is_settled(store)) {
		store_step(store, now);
		sched_yield();
	}
}

static uint32_t slot_of(const char *key)
{
	return store_slot(store, key, strlen(key));
}

/* Blocks full of a number. */
static void put(uint32_t slot, uint32_t blocks, uint32_t number)
{
	size_t cnt = (size_t)blocks * PROF_UNWIND_BLOCK_WORDS - 3, i;
	struct unwind_table t = { .words = malloc(cnt * 4),
				  .cnt = cnt,
				  .first_page = number,
				  .page_cnt = number + 1,
				  .big_cnt = number + 2 };

	for (i = 0; i < cnt; i++)
		t.words[i] = number + i;
	store_put(store, slot, &t);
	unwind_table_free(&t);
}

static uint32_t add(const char *key, uint32_t blocks, uint32_t number)
{
	uint32_t slot = slot_of(key);

	cr_assert(store_expect(store, slot), "%s", key);
	put(slot, blocks, number);
	settle();
	return slot;
}

/* As a walk reads it. */
static uint32_t word(uint32_t slot, uint32_t i)
{
	uint32_t block = modules[slot].table - 1 + i / PROF_UNWIND_BLOCK_WORDS;

	return chunks[block / PROF_UNWIND_CHUNK_BLOCKS]
		     [block % PROF_UNWIND_CHUNK_BLOCKS * PROF_UNWIND_BLOCK_WORDS +
		      i % PROF_UNWIND_BLOCK_WORDS];
}

static void expect_table(uint32_t slot, uint32_t blocks, uint32_t number)
{
	uint32_t i;

	cr_assert(modules[slot].table, "%u", number);
	cr_expect_eq(modules[slot].first_page, number);
	cr_expect_eq(modules[slot].page_cnt, number + 1);
	cr_expect_eq(modules[slot].big_cnt, number + 2);
	for (i = 0; i < blocks * PROF_UNWIND_BLOCK_WORDS - 3; i++)
		cr_assert_eq(word(slot, i), number + i);
}

Test(store, equal_keys_have_one_slot_until_there_are_too_many)
{
	char key[] = "0";

	cr_expect_eq(slot_of("0"), 0);
	cr_expect_eq(slot_of("1"), 1);
	cr_expect_eq(slot_of("0"), 0);
	for (key[0] = '2'; key[0] < '0' + MODULES; key[0]++)
		cr_expect_neq(slot_of(key), PROF_UNWIND_NO_SLOT);
	cr_expect_eq(slot_of("one more"), PROF_UNWIND_NO_SLOT);
	cr_expect_eq(slot_of("7"), 7);
	cr_expect_eq(counts().modules_left_out, 1);
	cr_expect_not(store_expect(store, PROF_UNWIND_NO_SLOT));
}

Test(store, a_table_is_expected_once_and_comes_into_reach)
{
	uint32_t a = slot_of("a"), pos = 0, slot;

	cr_expect_not(store_next_needed(store, &pos, &slot), "nobody walked there");
	modules[a].used = 1;
	pos = 0;
	cr_assert(store_next_needed(store, &pos, &slot));
	cr_expect_eq(slot, a);
	cr_expect_not(store_expect(store, a));
	cr_expect_not(store_is_settled(store));
	put(a, 3, 1000);
	settle();
	expect_table(a, 3, 1000);
	cr_expect_eq(counts().put, 1);
	cr_expect_eq(counts().bytes, 3 * 4096);
	put(a, 3, 2000);
	settle();
	expect_table(a, 3, 1000);
}

Test(store, tables_may_lie_across_chunks)
{
	uint32_t a = add("a", PROF_UNWIND_CHUNK_BLOCKS - 1, 5), b = add("b", 4, 7);

	expect_table(a, PROF_UNWIND_CHUNK_BLOCKS - 1, 5);
	expect_table(b, 4, 7);
}

Test(store, a_module_without_a_table_is_not_asked_about_again)
{
	uint32_t a = slot_of("a"), b = slot_of("b"), pos = 0, slot;

	cr_assert(store_expect(store, a));
	store_put_none(store, a, false);
	cr_assert(store_expect(store, b));
	store_put_none(store, b, true);
	cr_expect(store_is_settled(store));
	cr_expect(modules[a].without && !modules[b].without);
	modules[a].used = modules[b].used = 1;
	cr_expect_not(store_next_needed(store, &pos, &slot), "too early");
	now += 11 * SECOND;
	store_step(store, now);
	pos = 0;
	cr_assert(store_next_needed(store, &pos, &slot));
	cr_expect_eq(slot, b);
	cr_expect_not(store_next_needed(store, &pos, &slot));
}

Test(store, the_least_used_goes_and_its_place_is_used_again)
{
	uint32_t a = add("a", 100, 1), b = add("b", 100, 2), c;

	now += 5 * SECOND;
	modules[a].used = 1;
	store_step(store, now);
	cr_expect_eq(modules[a].used, 0, "seen, and to be set again");
	now += 5 * SECOND;
	c = add("c", MUCH - 50, 3);
	cr_expect_eq(modules[b].table, 0);
	expect_table(a, 100, 1);
	expect_table(c, MUCH - 50, 3);
	cr_expect_eq(counts().evicted, 1);
	cr_expect_eq(generation, 1, "rows are forgotten");
	cr_expect_eq(counts().bytes, (100 + MUCH - 50) * 4096);
	cr_expect(store_expect(store, b), "it may come again");
}

Test(store, what_walks_may_read_is_not_written_over)
{
	uint32_t a = add("a", PROF_UNWIND_CHUNK_BLOCKS, 1), b = slot_of("b"), block, i;

	block = modules[a].table - 1;
	add("c", 1, 3); /* in the last chunk */
	now += 10 * SECOND;
	pthread_mutex_lock(&gate);
	waiter_ask_chunk(waiter, CHUNKS);
	cr_assert(store_expect(store, b));
	put(b, PROF_UNWIND_CHUNK_BLOCKS, 2);
	for (i = 0; i < 3; i++)
		store_step(store, now);
	cr_expect_eq(modules[a].table, 0);
	cr_expect_eq(modules[b].table, 0);
	for (i = 0; i < 100; i++)
		cr_expect_eq(chunks[0][block * PROF_UNWIND_BLOCK_WORDS + i], 1 + i);
	pthread_mutex_unlock(&gate);
	settle();
	expect_table(b, PROF_UNWIND_CHUNK_BLOCKS, 2);
}

Test(store, what_is_in_use_stays_and_the_newcomer_is_left_out_for_a_while)
{
	uint32_t a = add("a", 200, 1), b = slot_of("b"), pos = 0, slot;

	now += 10 * SECOND;
	modules[a].used = modules[b].used = 1;
	cr_assert(store_expect(store, b));
	put(b, 200, 2);
	settle();
	expect_table(a, 200, 1);
	cr_expect_eq(modules[b].table, 0);
	cr_expect_eq(counts().left_out, 1);
	cr_expect_not(store_expect(store, b));
	now += 11 * SECOND;
	store_step(store, now);
	cr_expect_not(store_next_needed(store, &pos, &slot), "nobody came there since");
	modules[b].used = 1;
	pos = 0;
	cr_expect(store_next_needed(store, &pos, &slot));
	put(b, 200, 2);
	settle();
	expect_table(b, 200, 2);
}

Test(store, a_table_larger_than_all_room_is_left_out)
{
	uint32_t a = add("a", 10, 1), b = add("b", BLOCK_MAX + 1, 2);

	cr_expect_eq(modules[b].table, 0);
	cr_expect_eq(counts().left_out, 1);
	expect_table(a, 10, 1);
	cr_expect_eq(counts().evicted, 0);
}
