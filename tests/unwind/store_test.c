// SPDX-License-Identifier: BSD-2-Clause
/* Tables in memory that programs would read: which are added, which are evicted, and when their space is reused. */
#include "unwind/store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
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

/* While locked, grace periods do not end. */
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

/* Like a walk reads it. */
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

Test(store, table_is_expected_once_and_becomes_available)
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

Test(store, tables_may_cross_chunks)
{
	uint32_t a = add("a", PROF_UNWIND_CHUNK_BLOCKS - 1, 5), b = add("b", 4, 7);

	expect_table(a, PROF_UNWIND_CHUNK_BLOCKS - 1, 5);
	expect_table(b, 4, 7);
}

Test(store, module_without_a_table_is_not_requested_again)
{
	uint32_t a = slot_of("a"), b = slot_of("b"), pos = 0, slot;

	cr_assert(store_expect(store, a));
	store_put_none(store, a, false);
	cr_assert(store_expect(store, b));
	store_put_none(store, b, true);
	cr_expect(store_is_settled(store));
	cr_expect(modules[a].without && !modules[b].without);
	cr_expect(!modules[a].left_out && modules[b].left_out);
	modules[a].used = modules[b].used = 1;
	cr_expect_not(store_next_needed(store, &pos, &slot), "too early");
	now += 11 * SECOND;
	store_step(store, now);
	pos = 0;
	cr_assert(store_next_needed(store, &pos, &slot));
	cr_expect_eq(slot, b);
	cr_expect_not(store_next_needed(store, &pos, &slot));
}

Test(store, key_whose_table_is_elsewhere_is_not_requested)
{
	uint32_t a = slot_of("a"), pos = 0, slot;

	cr_expect_not(store_is_elsewhere(store, a));
	cr_assert(store_expect(store, a));
	store_put_elsewhere(store, a);
	cr_expect(store_is_elsewhere(store, a));
	cr_expect(store_is_settled(store));
	modules[a].used = 1;
	cr_expect_not(store_next_needed(store, &pos, &slot));
	cr_expect_not(store_expect(store, a));
	cr_expect_not(store_is_elsewhere(store, PROF_UNWIND_NO_SLOT));
}

Test(store, least_used_table_is_evicted_and_its_space_reused)
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

Test(store, tables_that_walks_may_read_are_not_overwritten)
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

Test(store, used_tables_stay_and_a_new_table_is_skipped_for_a_while)
{
	uint32_t a = add("a", 200, 1), b = slot_of("b"), pos = 0, slot;

	now += 10 * SECOND;
	modules[a].used = modules[b].used = 1;
	cr_assert(store_expect(store, b));
	put(b, 200, 2);
	settle();
	expect_table(a, 200, 1);
	cr_expect_eq(modules[b].table, 0);
	cr_expect(modules[b].left_out);
	cr_expect_eq(counts().left_out, 1);
	cr_expect_not(store_expect(store, b));
	now += 11 * SECOND;
	store_step(store, now);
	cr_expect_not(store_next_needed(store, &pos, &slot), "nobody came there since");
	modules[b].used = 1;
	pos = 0;
	cr_expect(store_next_needed(store, &pos, &slot));
	cr_expect_not(modules[b].left_out, "it may come");
	put(b, 200, 2);
	settle();
	expect_table(b, 200, 2);
}

Test(store, table_larger_than_all_room_is_skipped)
{
	uint32_t a = add("a", 10, 1), b = add("b", BLOCK_MAX + 1, 2);

	cr_expect_eq(modules[b].table, 0);
	cr_expect_eq(counts().left_out, 1);
	expect_table(a, 10, 1);
	cr_expect_eq(counts().evicted, 0);
}

/* ---- slots ----------------------------------------------------------------------------------------- */

static void use_all_slots(void)
{
	char key[] = "0";

	for (; key[0] < '0' + MODULES; key[0]++)
		cr_assert_neq(slot_of(key), PROF_UNWIND_NO_SLOT);
}

/* All others are unused. */
static void release_but(uint32_t a, uint32_t b)
{
	bool held[MODULES] = { false };

	held[a] = held[b] = true;
	store_release(store, held, false);
}

static void step_until_free(uint32_t frees)
{
	while (store_frees(store) == frees) {
		store_step(store, now);
		sched_yield();
	}
}

Test(store, unused_slot_is_given_to_another_file_after_a_grace_period)
{
	uint32_t a = add("0", 3, 7), again;

	use_all_slots();
	cr_expect_not(store_is_short(store), "nobody was refused");
	cr_assert_eq(slot_of("new"), PROF_UNWIND_NO_SLOT);
	cr_assert(store_is_short(store));
	pthread_mutex_lock(&gate);
	waiter_ask_chunk(waiter, CHUNKS);
	modules[a].used = modules[a].without = 1;
	release_but(2, 3);
	store_step(store, now);
	cr_expect_eq(modules[a].table, 0, "no walk begins there any more");
	cr_expect_eq(generation, 2, "rows are forgotten");
	cr_expect_eq(counts().evicted, 0);
	cr_expect_eq(slot_of("new"), PROF_UNWIND_NO_SLOT, "walks may still know it");
	cr_expect_not(store_is_short(store), "some are on their way");
	cr_expect_eq(counts().slots_freed, 0);
	pthread_mutex_unlock(&gate);
	step_until_free(0);
	cr_expect_eq(counts().slots_freed, MODULES - 2);
	again = slot_of("new");
	cr_assert_neq(again, PROF_UNWIND_NO_SLOT);
	cr_expect(again != 2 && again != 3, "%u is held", again);
	cr_expect_eq(slot_of("2"), 2);
	cr_expect_eq(slot_of("3"), 3);
	cr_expect_eq(modules[a].used + modules[a].without + modules[a].page_cnt, 0, "as new");
	cr_expect_eq(counts().bytes, 0);
}

Test(store, unused_tables_are_evicted_before_more_memory_is_used)
{
	bool held[MODULES] = { false };
	uint32_t idle = add("idle", 60, 1), has = add("has", 60, 2), used, fresh;

	cr_expect_not(store_is_crowded(store), "there is more than half of a chunk");
	used = add("used", 60, 3);
	cr_expect(store_is_crowded(store));
	now += 40 * SECOND;
	modules[used].used = 1;
	store_step(store, now);
	fresh = add("fresh", 10, 4);
	held[has] = true;
	store_release(store, held, true);
	cr_expect_not(store_is_crowded(store), "it is on its way");
	while (!counts().slots_freed) {
		store_step(store, now);
		sched_yield();
	}
	cr_expect_eq(counts().slots_freed, 1);
	cr_expect_eq(counts().bytes, 130 * 4 * PROF_UNWIND_BLOCK_WORDS);
	expect_table(has, 60, 2);
	expect_table(used, 60, 3);
	expect_table(fresh, 10, 4);
	cr_expect_eq(modules[idle].table, 0);
	cr_expect_eq(store_frees(store), 0, "nobody waits for a slot");
	cr_assert_eq(slot_of("idle again"), idle);
	cr_expect(store_expect(store, idle));
}

Test(store, memory_for_short_lived_programs_is_limited_to_half_a_minute)
{
	bool none[MODULES] = { false };
	char key[] = "a";
	uint64_t freed;
	uint32_t i;

	for (i = 0; i < 24; i++, key[0]++) {
		add(key, 70, i);
		now += 20 * SECOND;
		store_step(store, now);
		if (!store_is_crowded(store))
			continue;
		freed = counts().slots_freed;
		store_release(store, none, true);
		while (counts().slots_freed == freed) {
			store_step(store, now);
			sched_yield();
		}
	}
	cr_expect_eq(counts().slots_freed, 23);
	cr_expect_eq(counts().evicted, 0);
	cr_expect_null(chunks[1]);
}

Test(store, slots_are_reused_without_end)
{
	char key[8];
	uint32_t round, i, slot;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < 2; i++) {
			snprintf(key, sizeof(key), "%u", 2 * round + i);
			slot = slot_of(key);
			if (slot == PROF_UNWIND_NO_SLOT)
				break;
			cr_assert(store_expect(store, slot), "%s", key);
			put(slot, 2, 2 * round + i);
			settle();
			expect_table(slot, 2, 2 * round + i);
		}
		if (store_is_short(store)) {
			uint32_t frees = store_frees(store);

			release_but(0, 0);
			step_until_free(frees);
		}
	}
	expect_table(0, 2, 0);
	cr_expect_gt(counts().slots_freed, 200);
	cr_expect_leq(counts().bytes, MODULES * 2 * 4096);
}

Test(store, slot_of_an_expected_table_stays)
{
	uint32_t a = slot_of("0"), b = slot_of("1"), c;

	use_all_slots();
	cr_assert(store_expect(store, a));
	cr_assert(store_expect(store, b));
	cr_assert_eq(slot_of("new"), PROF_UNWIND_NO_SLOT);
	release_but(5, 5);
	step_until_free(0);
	put(a, 1, 1);
	store_put_none(store, b, false);
	settle();
	expect_table(a, 1, 1);
	cr_expect_eq(slot_of("0"), a);
	cr_expect_eq(slot_of("1"), b);
	c = slot_of("new");
	cr_expect(store_expect(store, c), "it has its first file's state no more");
}
