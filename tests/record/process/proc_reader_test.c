// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests and answers between threads. Reading is a stub here, because a hanging process is hard to make: some
 * PIDs hang until they are released.
 */
/* ALONE: snapshot_*() */
#include "record/process/proc_reader.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "record/process/snapshot.h"

#define SECOND 1000000000ULL
#define HANGS 1000000u /* and all above */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool pause_open;
static int hanging;

static void wait_at_gate(void)
{
	pthread_mutex_lock(&gate);
	hanging++;
	pthread_cond_broadcast(&gate_moved);
	while (!pause_open)
		pthread_cond_wait(&gate_moved, &gate);
	hanging--;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate);
}

static void wait_until_hanging(int cnt)
{
	pthread_mutex_lock(&gate);
	while (hanging != cnt)
		pthread_cond_wait(&gate_moved, &gate);
	pthread_mutex_unlock(&gate);
}

static void open_gate(void)
{
	pthread_mutex_lock(&gate);
	pause_open = true;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate);
}

struct snapshot *snapshot_read(uint32_t pid, size_t maps_sz)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (pid >= HANGS)
		wait_at_gate();
	s->pid = pid;
	s->map_cnt = maps_sz != 0;
	s->maps_cut = maps_sz && maps_sz < SNAPSHOT_MAPS_SZ;
	s->cpu_ns = SECOND / 1000;
	s->to_ns = clock_mono_ns();
	return s;
}

void snapshot_free(struct snapshot *s)
{
	free(s);
}

const char *snapshot_text(const struct snapshot *s, size_t off)
{
	return "";
}

static uint64_t soon(void)
{
	return clock_mono_ns() + 10 * SECOND;
}

static void expect_answer(struct proc_reader *r, uint32_t pid)
{
	struct snapshot *s = proc_reader_wait(r, soon());

	cr_assert_not_null(s);
	cr_expect_eq(s->pid, pid);
	snapshot_free(s);
}

Test(proc_reader, reader_answers_requests)
{
	struct proc_reader *r;
	struct snapshot *s;

	cr_assert_eq(proc_reader_new(&r), 0);
	cr_expect_null(proc_reader_receive(r, UINT64_MAX));
	cr_expect(proc_reader_ask(r, 5, true));
	s = proc_reader_wait(r, soon());
	cr_assert_not_null(s);
	cr_expect(s->pid == 5 && s->map_cnt == 1);
	snapshot_free(s);
	cr_expect_null(proc_reader_receive(r, UINT64_MAX));
	cr_expect(proc_reader_ask(r, 6, false));
	s = proc_reader_wait(r, soon());
	cr_assert_not_null(s);
	cr_expect(s->pid == 6 && s->map_cnt == 0);
	snapshot_free(s);
	proc_reader_free(r);
}

/* A millisecond each, and ten milliseconds per second are allowed. */
Test(proc_reader, reading_stays_within_its_limit_and_lists_are_cut)
{
	uint64_t began = clock_mono_ns();
	struct proc_reader *r;
	struct snapshot *s;

	cr_assert_eq(proc_reader_new(&r), 0);
	proc_reader_limit(r, SECOND / 100);
	for (uint32_t pid = 1; pid <= 5; pid++)
		cr_expect(proc_reader_ask(r, pid, true));
	for (int i = 0; i < 5; i++) {
		s = proc_reader_wait(r, soon());
		cr_assert_not_null(s);
		cr_expect(s->maps_cut);
		snapshot_free(s);
	}
	/* both threads may begin at once */
	cr_expect_geq(clock_mono_ns() - began, 3 * SECOND / 10);
	proc_reader_free(r);
}

Test(proc_reader, answer_is_held_until_its_time)
{
	struct proc_reader *r;
	struct snapshot *s;
	uint64_t before = clock_mono_ns() - 1;

	cr_assert_eq(proc_reader_new(&r), 0);
	cr_expect(proc_reader_ask(r, 5, true));
	while (!(s = proc_reader_receive(r, clock_mono_ns())))
		cr_assert_null(proc_reader_receive(r, before));
	snapshot_free(s);
	proc_reader_free(r);
}

Test(proc_reader, waiting_ends_at_the_deadline)
{
	uint64_t start = clock_mono_ns();
	struct proc_reader *r;

	cr_assert_eq(proc_reader_new(&r), 0);
	cr_expect_null(proc_reader_wait(r, start + SECOND / 20));
	cr_expect_geq(clock_mono_ns(), start + SECOND / 20);
	proc_reader_free(r);
}

Test(proc_reader, number_of_requests_is_limited)
{
	struct proc_reader *r;
	struct snapshot *s;
	uint32_t cnt = 0, i;

	cr_assert_eq(proc_reader_new(&r), 0);
	while (cnt < 100000 && proc_reader_ask(r, cnt, true))
		cnt++;
	cr_expect_eq(cnt, 1024, "answered or not");
	s = proc_reader_wait(r, soon()); /* two threads answer, in any order */
	cr_assert_not_null(s);
	snapshot_free(s);
	cr_expect(proc_reader_ask(r, cnt++, true));
	cr_expect_not(proc_reader_ask(r, cnt, true));
	for (i = 0; i < 100; i++)
		snapshot_free(proc_reader_wait(r, soon()));
	proc_reader_free(r); /* with answers that were not received */
}

Test(proc_reader, hanging_request_blocks_no_other)
{
	struct proc_reader *r;

	cr_assert_eq(proc_reader_new(&r), 0);
	cr_assert(proc_reader_ask(r, HANGS, true));
	wait_until_hanging(1);
	cr_assert(proc_reader_ask(r, 5, true));
	expect_answer(r, 5);
	open_gate();
	expect_answer(r, HANGS);
	proc_reader_free(r);
}

/* There are two threads at first; a request a second later starts a third. */
Test(proc_reader, new_thread_is_started_if_all_hang)
{
	struct proc_reader *r;
	struct snapshot *s = NULL;
	uint32_t i;

	cr_assert_eq(proc_reader_new(&r), 0);
	for (i = 0; i < 2; i++)
		cr_assert(proc_reader_ask(r, HANGS + i, true));
	wait_until_hanging(2);
	for (i = 0; !s && i < 100; i++) {
		cr_assert(proc_reader_ask(r, 5, true));
		s = proc_reader_wait(r, clock_mono_ns() + SECOND / 10);
	}
	cr_assert_not_null(s);
	cr_expect_eq(s->pid, 5);
	snapshot_free(s);
	open_gate();
	wait_until_hanging(0);
	proc_reader_free(r);
}

/* A hanging thread is abandoned, and cleans up when it returns. */
Test(proc_reader, end_does_not_wait_for_a_hanging_request)
{
	uint64_t start = clock_mono_ns();
	struct proc_reader *r;

	cr_assert_eq(proc_reader_new(&r), 0);
	cr_assert(proc_reader_ask(r, HANGS, true));
	wait_until_hanging(1);
	proc_reader_free(r);
	cr_expect_lt(clock_mono_ns() - start, 5 * SECOND);
	open_gate();
	wait_until_hanging(0);
}
