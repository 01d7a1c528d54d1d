// SPDX-License-Identifier: BSD-2-Clause
/* Lists of processes in memory that programs would read, with forks and execs as the programs do them. */
#include "unwind/lists.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "unwind/waiter.h"

enum { MAPS = 64, PROCS = 64, A = 1000, B = 2000 };

static struct prof_unwind_map maps[MAPS];
static struct prof_unwind_proc procs[PROCS];
static uint64_t condemned;
static uint32_t generation;
static struct waiter *waiter;
static struct lists *lists;

/* While locked, grace periods do not end. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int make(void *ctx, uint32_t i, void **mem)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return -EINVAL;
}

static void setup(void)
{
	const struct waiter_cfg waiter_cfg = { .make_chunk = make };
	struct lists_cfg cfg = { .maps = maps,
				 .map_cnt = MAPS,
				 .procs = procs,
				 .proc_cnt = PROCS,
				 .condemned = &condemned };

	cr_assert_eq(waiter_new(&waiter_cfg, &waiter), 0);
	cfg.waiter = waiter;
	cfg.generation = &generation;
	lists = lists_new(&cfg);
}

static void teardown(void)
{
	lists_free(lists);
	waiter_free(waiter);
}

TestSuite(lists, .init = setup, .fini = teardown);

static struct lists_counts counts(void)
{
	struct lists_counts c;

	lists_count(lists, &c);
	return c;
}

static struct prof_unwind_proc *proc(uint32_t tgid)
{
	uint32_t i;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++)
		if (procs[(prof_unwind_hash(tgid) + i) % PROCS].tgid == tgid)
			return &procs[(prof_unwind_hash(tgid) + i) % PROCS];
	return NULL;
}

static int publish_of(uint64_t owner, uint32_t tgid, uint32_t *execs, uint64_t start, uint32_t cnt)
{
	struct prof_unwind_map v[MAPS] = { 0 };
	uint32_t i;

	for (i = 0; i < cnt; i++)
		v[i] = (struct prof_unwind_map){ .start = start + i, .end = start + i + 1 };
	return lists_publish(lists, tgid, owner, execs, v, cnt);
}

static int publish_as(uint32_t tgid, uint32_t *execs, uint64_t start, uint32_t cnt)
{
	return publish_of(1, tgid, execs, start, cnt);
}

static int publish(uint32_t tgid, uint64_t start, uint32_t cnt)
{
	uint32_t execs = 0;

	return publish_as(tgid, &execs, start, cnt);
}

static void expect_list(uint32_t tgid, uint64_t start, uint32_t cnt)
{
	uint32_t first, i;

	cr_assert(proc(tgid), "%u", tgid);
	first = proc(tgid)->list >> 32;
	cr_assert_eq((uint32_t)proc(tgid)->list, cnt, "%u", tgid);
	for (i = 0; i < cnt; i++)
		cr_expect_eq(maps[first + i].start, start + i, "%u", tgid);
}

/* The program at a fork passes on a list that it has read. */
static uint64_t handed(uint64_t list)
{
	return condemned >> (list >> 32) / PROF_UNWIND_LIST_ROUND & 1 ? 0 : list;
}

static void fork_of(uint32_t parent, uint32_t child)
{
	procs[prof_unwind_hash(child) % PROCS] =
		(struct prof_unwind_proc){ .tgid = child, .list = handed(proc(parent)->list) };
}

static void pass_grace(void)
{
	uint64_t ticket = waiter_grace(waiter);

	while (!waiter_is_over(waiter, ticket))
		sched_yield();
}

/* Until at most this many lists exist. */
static void sweep_until(uint32_t live)
{
	while (counts().live > live) {
		lists_step(lists);
		sched_yield();
	}
}

Test(lists, process_has_the_last_published_list)
{
	cr_expect_eq(publish(A, 100, 3), 0);
	cr_expect_eq(publish(B, 200, 5), 0);
	expect_list(A, 100, 3);
	cr_expect_eq(publish(A, 300, 4), 0);
	expect_list(A, 300, 4);
	expect_list(B, 200, 5);
	cr_expect(lists_has_list(lists, A));
	lists_withdraw(lists, A);
	cr_expect_not(lists_has_list(lists, A));
	cr_expect(proc(A));
	lists_remove(lists, A);
	cr_expect_null(proc(A));
	cr_expect_eq(publish(B, 0, 0), 0);
	cr_expect_not(lists_has_list(lists, B));
	sweep_until(0);
	cr_expect_eq(counts().live_maps, 0);
	cr_expect_eq(counts().published, 3);
}

Test(lists, list_stays_while_an_unreported_child_uses_it)
{
	cr_assert_eq(publish(A, 100, 16), 0);
	fork_of(A, B);
	cr_assert_eq(publish(A, 200, 16), 0);
	cr_assert_eq(publish(A, 300, 16), 0);
	sweep_until(2);
	expect_list(B, 100, 16);
	cr_assert_eq(publish(A, 400, 16), 0);
	cr_assert_eq(publish(A, 500, 16), 0);
	cr_expect_eq(publish(A, 600, 16), -ENOSPC, "all four places are taken");
	expect_list(A, 500, 16);
	expect_list(B, 100, 16);
	lists_remove(lists, B);
	sweep_until(1);
	while (publish(A, 600, 48) == -ENOSPC)
		lists_step(lists);
	expect_list(A, 600, 48);
}

Test(lists, condemned_list_that_is_used_again_stays)
{
	int i;

	cr_assert_eq(publish(A, 100, 8), 0);
	fork_of(A, B);
	proc(B)->list = 0;
	lists_withdraw(lists, A);
	lists_step(lists);
	/* the fork was in progress during that time */
	proc(B)->list = 8;
	for (i = 0; i < 5; i++) {
		pass_grace();
		lists_step(lists);
	}
	expect_list(B, 100, 8);
	cr_expect_eq(counts().live, 1);
	lists_remove(lists, B);
	sweep_until(0);
}

Test(lists, list_is_free_only_after_a_grace_period)
{
	int i;

	cr_assert_eq(publish(A, 100, MAPS), 0);
	pthread_mutex_lock(&gate);
	waiter_ask_chunk(waiter, 0);
	lists_withdraw(lists, A);
	cr_expect_eq(publish(B, 200, 1), -ENOSPC);
	for (i = 0; i < 3; i++)
		lists_step(lists);
	cr_expect_eq(counts().live, 1, "seen in no place, but walks may read it");
	cr_expect_eq(generation, 0);
	pthread_mutex_unlock(&gate);
	sweep_until(0);
	cr_expect_eq(generation, 1, "walks by it are forgotten");
	while (publish(B, 200, 1) == -ENOSPC)
		lists_step(lists);
	expect_list(B, 200, 1);
}

Test(lists, list_that_moves_between_processes_around_each_check_is_not_free)
{
	uint32_t from = A;
	uint64_t list;
	int i;

	cr_assert_eq(publish(A, 100, 8), 0);
	for (i = 0; i < 5; i++) {
		/*
		 * the check misses it: the child's entry was checked before the fork, and the parent has
		 * another program when its entry is checked
		 */
		list = handed(proc(from)->list);
		proc(from)->list = 0;
		lists_step(lists);
		from += 7;
		procs[prof_unwind_hash(from) % PROCS] =
			(struct prof_unwind_proc){ .tgid = from, .list = list };
		if (list)
			cr_assert_eq(counts().live, 1, "process %u has it", from);
		pass_grace();
	}
	sweep_until(0);
	cr_expect_eq(condemned, 0);
}

Test(lists, list_that_is_used_again_is_inherited_again)
{
	cr_assert_eq(publish(A, 100, 8), 0);
	fork_of(A, B);
	proc(B)->list = 0;
	lists_withdraw(lists, A);
	lists_step(lists);
	cr_expect_neq(condemned, 0);
	proc(B)->list = 8;
	lists_step(lists);
	cr_expect_eq(condemned, 0);
	fork_of(B, B + 7);
	expect_list(B + 7, 100, 8);
}

Test(lists, equal_list_is_not_published_again)
{
	uint64_t before;

	cr_assert_eq(publish(A, 100, 8), 0);
	before = proc(A)->list;
	cr_expect_eq(publish(A, 100, 8), 0);
	cr_expect_eq(proc(A)->list, before);
	cr_expect_eq(counts().published, 1);
	cr_expect_eq(publish(A, 100, 7), 0);
	cr_expect_neq(proc(A)->list, before);
	lists_withdraw(lists, A);
	cr_expect_eq(publish(A, 100, 7), 0);
	expect_list(A, 100, 7);
	cr_expect_eq(counts().published, 3);
}

/* ---- owners ---------------------------------------------------------------------------------------- */

enum { HOG = 1, MEEK = 2, OTHER = 3 };

static int publish_for(uint64_t owner, uint32_t tgid, uint64_t start, uint32_t cnt)
{
	uint32_t execs = 0;

	return publish_of(owner, tgid, &execs, start, cnt);
}

static void publish_in_time(uint64_t owner, uint32_t tgid, uint64_t start, uint32_t cnt)
{
	int i, err = -ENOSPC;

	for (i = 0; i < 4 && err; i++) {
		lists_step(lists);
		pass_grace();
		err = publish_for(owner, tgid, start, cnt);
	}
	cr_assert_eq(err, 0);
	expect_list(tgid, start, cnt);
}

Test(lists, owner_with_most_room_gives_room_to_owners_with_less)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		cr_assert_eq(publish_for(HOG, A + 7 * i, 100 * i, 16 - (i == 1 ? 0 : 4)), 0);
	fork_of(A + 7, B);
	cr_assert_eq(publish_for(MEEK, B + 7, 900, 12), 0);
	cr_expect_eq(publish_for(OTHER, B + 14, 800, 4), -ENOSPC);
	cr_expect_eq(counts().taken_back, 1, "the longest is enough");
	cr_expect_not(lists_has_list(lists, A + 7));
	cr_expect_not(lists_has_list(lists, B), "its child has none either");
	expect_list(A, 0, 12);
	expect_list(B + 7, 900, 12);
	publish_in_time(OTHER, B + 14, 800, 4);
	cr_expect_eq(counts().taken_back, 1);
}

Test(lists, owner_with_most_room_gets_no_more_while_others_wait)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		cr_assert_eq(publish_for(HOG, A + 7 * i, 100 * i, 16), 0);
	cr_expect_eq(publish_for(MEEK, B, 800, 16), -ENOSPC);
	lists_step(lists);
	pass_grace();
	lists_step(lists);
	cr_expect_eq(publish_for(HOG, A, 50, 8), -ENOSPC, "there is room, but not for him");
	cr_expect_eq(publish_for(MEEK, B, 800, 16), 0);
	for (i = 0; i < 10; i++)
		lists_step(lists);
	lists_remove(lists, A + 7);
	sweep_until(3);
	cr_expect_eq(publish_for(HOG, A, 50, 8), 0, "nobody waits any more");
}

Test(lists, no_owner_gives_room_to_an_owner_with_as_much)
{
	cr_assert_eq(publish_for(HOG, A, 100, 32), 0);
	cr_assert_eq(publish_for(MEEK, B, 200, 32), 0);
	cr_expect_eq(publish_for(MEEK, B + 7, 300, 4), -ENOSPC);
	cr_expect_eq(publish_for(HOG, A + 7, 300, 4), -ENOSPC);
	cr_expect_eq(publish_for(OTHER, B + 14, 300, 40), -ENOSPC, "he would have most");
	expect_list(A, 100, 32);
	expect_list(B, 200, 32);
	cr_expect_eq(counts().taken_back, 0);
}

Test(lists, fork_in_progress_does_not_keep_a_withdrawn_list)
{
	uint64_t list;

	cr_assert_eq(publish_for(HOG, A, 100, MAPS), 0);
	list = proc(A)->list;
	cr_expect_eq(publish_for(MEEK, B, 200, 8), -ENOSPC);
	cr_expect_not(lists_has_list(lists, A));
	procs[prof_unwind_hash(A + 7) % PROCS] =
		(struct prof_unwind_proc){ .tgid = A + 7, .list = list };
	lists_step(lists);
	cr_expect_not(lists_has_list(lists, A + 7));
	publish_in_time(MEEK, B, 200, 8);
}

Test(lists, unreported_exec_prevents_publishing_of_the_list)
{
	uint32_t execs = 7;

	cr_assert_eq(publish_as(A, &execs, 100, 2), 0);
	cr_expect_eq(execs, 0, "a new place counts from 0");
	proc(A)->execs = 1;
	proc(A)->list = 0;
	cr_expect_eq(publish_as(A, &execs, 100, 2), -EAGAIN);
	cr_expect_eq(proc(A)->list, 0);
	cr_assert(lists_find(lists, A, &execs));
	cr_expect_eq(execs, 1);
	cr_expect_eq(publish_as(A, &execs, 300, 3), 0);
	expect_list(A, 300, 3);
	execs = 2;
	cr_expect_eq(publish_as(A, &execs, 400, 3), -EAGAIN, "it is told of but not done");
	expect_list(A, 300, 3);
	cr_expect_not(lists_find(lists, B, &execs));
}

Test(lists, shared_memory_flag_is_no_part_of_the_exec_count)
{
	uint32_t execs = 0;

	procs[prof_unwind_hash(A) % PROCS] =
		(struct prof_unwind_proc){ .tgid = A, .execs = PROF_UNWIND_SHARES_MEMORY };
	cr_expect(lists_shares_memory(lists, A));
	cr_expect_not(lists_shares_memory(lists, B));
	cr_expect_eq(publish_as(A, &execs, 100, 2), 0);
	expect_list(A, 100, 2);
	cr_expect(lists_shares_memory(lists, A));
	cr_assert(lists_find(lists, A, &execs));
	cr_expect_eq(execs, 0);
	proc(A)->execs = 1;
	cr_expect_not(lists_shares_memory(lists, A));
}

Test(lists, entry_may_be_claimed_before_there_is_a_list)
{
	uint32_t execs = 5;

	cr_expect(lists_claim(lists, A));
	cr_expect_not(lists_has_list(lists, A));
	cr_assert(lists_find(lists, A, &execs));
	cr_expect_eq(execs, 0);
	proc(A)->execs = 2;
	cr_expect(lists_claim(lists, A));
	cr_expect_eq(proc(A)->execs, 2, "it has one");
}

Test(lists, process_without_a_free_entry_overwrites_no_other)
{
	uint32_t i;

	for (i = 0; i < PROCS; i++)
		procs[i] = (struct prof_unwind_proc){ .tgid = 1 << 20 | i, .list = 99 };
	cr_expect_eq(publish(A, 100, 1), -ENFILE);
	cr_expect_not(lists_claim(lists, A));
	for (i = 0; i < PROCS; i++)
		cr_expect_eq(procs[i].list, 99);
	lists_remove(lists, A);
	lists_withdraw(lists, A);
}

static void sum(void *ctx, const struct prof_unwind_map *m)
{
	*(uint64_t *)ctx += m->start;
}

Test(lists, each_mapping_in_use_is_visited)
{
	uint64_t total = 0;

	cr_assert_eq(publish(A, 10, 2), 0);
	cr_assert_eq(publish(B, 100, 1), 0);
	lists_each_map(lists, sum, &total);
	cr_expect_eq(total, 10 + 11 + 100);
}
