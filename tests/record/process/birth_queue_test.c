// SPDX-License-Identifier: BSD-2-Clause
/* Which metadata records are dropped, which are passed on, and in which order. */
#include "record/process/birth_queue.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "kernel/perf_side.h"

enum { SHELL = 10, CHILD = 20, GRANDCHILD = 30, THREAD = 21 };

static struct birth_queue *q;
static struct buf passed; /* of birth_queue_release() */
static struct buf dropped; /* processes */
static uint64_t now; /* time of the records */

static void note_dropped(void *ctx, uint32_t pid)
{
	buf_printf(&dropped, "%u ", pid);
}

static void setup(void)
{
	q = birth_queue_new(note_dropped, NULL);
}

static void teardown(void)
{
	birth_queue_free(q);
	buf_free(&passed);
	buf_free(&dropped);
}

TestSuite(birth_queue, .init = setup, .fini = teardown);

static enum birth_queue_answer add(enum perf_side_type type, uint32_t pid, uint32_t tid,
				   uint32_t ppid, const char *name)
{
	return birth_queue_add(q, &(struct perf_side){
					  .type = type,
					  .time = now,
					  .pid = pid,
					  .tid = tid,
					  .ppid = ppid,
					  .name = name,
					  .name_len = strlen(name),
				  });
}

static void expect(enum birth_queue_answer want, enum birth_queue_answer got)
{
	cr_expect_eq(got, want, "%d, not %d", (int)got, (int)want);
}

static void held(enum birth_queue_answer got)
{
	expect(BIRTH_QUEUE_HELD, got);
}

static enum birth_queue_answer forks(uint32_t ppid, uint32_t pid)
{
	return add(PERF_SIDE_FORK, pid, pid, ppid, "");
}

static enum birth_queue_answer maps_code(uint32_t pid)
{
	return birth_queue_add(q, &(struct perf_side){ .type = PERF_SIDE_MMAP,
						       .time = now,
						       .pid = pid,
						       .tid = pid,
						       .prot = PROT_READ | PROT_EXEC,
						       .name = "" });
}

static enum birth_queue_answer execs(uint32_t pid)
{
	return birth_queue_add(q, &(struct perf_side){ .type = PERF_SIDE_COMM,
						       .time = now,
						       .pid = pid,
						       .tid = pid,
						       .comm_exec = true,
						       .name = "" });
}

static enum birth_queue_answer ends(uint32_t pid, uint32_t tid)
{
	return add(PERF_SIDE_EXIT, pid, tid, 1, "");
}

/* Ended processes need not be kept any longer. */
static void let_linger(void)
{
	now += 10000000;
	expect(BIRTH_QUEUE_PASS, add(PERF_SIDE_KSYMBOL, 0, 0, 0, ""));
}

static int note(void *ctx, const struct perf_side *side)
{
	static const char letters[] = { [PERF_SIDE_FORK] = 'f',
					[PERF_SIDE_COMM] = 'c',
					[PERF_SIDE_MMAP] = 'm',
					[PERF_SIDE_EXIT] = 'e' };

	buf_printf(&passed, "%c%u%s ", letters[side->type], side->tid, side->name);
	return 0;
}

static void expect_released(const char *want)
{
	buf_clear(&passed);
	cr_assert_eq(birth_queue_release(q, note, NULL), 0);
	cr_expect_str_eq(buf_cstr(&passed), want);
	cr_expect(birth_queue_is_empty(q));
}

Test(birth_queue, records_of_a_process_that_ends_are_dropped)
{
	held(forks(SHELL, CHILD));
	held(add(PERF_SIDE_COMM, CHILD, CHILD, 0, "cc1"));
	held(add(PERF_SIDE_MMAP, CHILD, CHILD, 0, "/usr/bin/cc1"));
	held(ends(CHILD, CHILD));
	cr_expect(!birth_queue_is_empty(q));
	let_linger();
	cr_expect(birth_queue_is_empty(q));
	expect_released("");
}

static void expect_dropped(const char *want)
{
	cr_expect_str_eq(buf_cstr(&dropped), want);
	buf_clear(&dropped);
}

/* Its last switch and its parent's wait come after its end. */
Test(birth_queue, a_process_that_has_just_ended_is_passed_on)
{
	held(forks(SHELL, CHILD));
	held(forks(SHELL, 40));
	held(ends(40, 40));
	let_linger();
	held(ends(CHILD, CHILD));
	now += 1000000;
	expect(BIRTH_QUEUE_PASS, add(PERF_SIDE_KSYMBOL, 0, 0, 0, ""));
	expect_dropped("40 ");
	expect_released("f20 e20 ");
	let_linger();
	expect_dropped("");
}

Test(birth_queue, dropped_processes_are_reported)
{
	held(forks(SHELL, CHILD));
	held(forks(CHILD, GRANDCHILD));
	held(ends(CHILD, CHILD));
	let_linger();
	expect_dropped("");
	held(ends(GRANDCHILD, GRANDCHILD));
	let_linger();
	expect_dropped("30 20 ");
	held(forks(SHELL, CHILD));
	expect_released("f20 ");
	expect_dropped("");
}

Test(birth_queue, records_of_others_are_passed_on_in_order)
{
	held(forks(SHELL, CHILD));
	held(forks(SHELL, 40));
	held(add(PERF_SIDE_COMM, CHILD, CHILD, 0, "sh"));
	held(ends(40, 40));
	let_linger();
	held(forks(SHELL, 41));
	expect_released("f20 c20sh f41 ");
	expect_released("");
}

Test(birth_queue, a_process_stays_until_its_threads_and_children_have_ended)
{
	held(forks(SHELL, CHILD));
	held(add(PERF_SIDE_FORK, CHILD, THREAD, SHELL, ""));
	held(forks(CHILD, GRANDCHILD));
	held(ends(CHILD, CHILD));
	held(ends(CHILD, THREAD));
	let_linger();
	cr_expect(!birth_queue_is_empty(q));
	held(ends(GRANDCHILD, GRANDCHILD));
	let_linger();
	cr_expect(birth_queue_is_empty(q));
	held(forks(SHELL, CHILD));
	held(forks(CHILD, GRANDCHILD));
	held(ends(CHILD, CHILD));
	let_linger();
	expect_released("f20 f30 e20 ");
}

Test(birth_queue, processes_from_before_pass)
{
	expect(BIRTH_QUEUE_PASS, add(PERF_SIDE_MMAP, SHELL, SHELL, 0, "/bin/sh"));
	expect(BIRTH_QUEUE_PASS, ends(SHELL, SHELL));
	expect(BIRTH_QUEUE_PASS, add(PERF_SIDE_FORK, SHELL, 11, 1, ""));
	expect(BIRTH_QUEUE_PASS, add(PERF_SIDE_KSYMBOL, SHELL, SHELL, 0, "bpf"));
}

/* A child has the mappings that its parent had at its start. */
Test(birth_queue, a_parent_that_changes_releases_its_children)
{
	held(forks(SHELL, CHILD));
	expect(BIRTH_QUEUE_PASS, add(PERF_SIDE_FORK, SHELL, 11, 1, ""));
	expect(BIRTH_QUEUE_RELEASE, add(PERF_SIDE_MMAP, SHELL, SHELL, 0, "/lib/x.so"));
	expect(BIRTH_QUEUE_RELEASE, ends(SHELL, SHELL));
	held(ends(CHILD, CHILD));
	expect(BIRTH_QUEUE_RELEASE, ends(SHELL, SHELL));
	let_linger();
	expect(BIRTH_QUEUE_PASS, ends(SHELL, SHELL));
}

/* Until its exec it may share the memory of a process that lives. */
Test(birth_queue, code_that_a_process_maps_before_its_exec_releases_all)
{
	held(forks(SHELL, CHILD));
	held(add(PERF_SIDE_MMAP, CHILD, CHILD, 0, "/data"));
	expect(BIRTH_QUEUE_RELEASE, maps_code(CHILD));
	held(execs(CHILD));
	held(maps_code(CHILD));
	held(forks(CHILD, GRANDCHILD));
	expect(BIRTH_QUEUE_RELEASE, maps_code(GRANDCHILD));
}

Test(birth_queue, a_loss_releases_all)
{
	held(forks(SHELL, CHILD));
	expect(BIRTH_QUEUE_RELEASE, add(PERF_SIDE_LOST, 0, 0, 0, ""));
	expect(BIRTH_QUEUE_RELEASE, add(PERF_SIDE_FULL, 0, 0, 0, ""));
}

Test(birth_queue, a_number_that_is_used_again_releases_all)
{
	held(forks(SHELL, CHILD));
	expect(BIRTH_QUEUE_RELEASE, forks(SHELL, CHILD));
	expect(BIRTH_QUEUE_RELEASE, forks(CHILD, SHELL));
}

Test(birth_queue, records_that_an_early_reader_applied_are_not_held)
{
	struct perf_side side = { .type = PERF_SIDE_FORK,
				  .pid = CHILD,
				  .tid = CHILD,
				  .ppid = SHELL,
				  .looked = true,
				  .name = "" };

	expect(BIRTH_QUEUE_PASS, birth_queue_add(q, &side));
	expect(BIRTH_QUEUE_PASS, ends(CHILD, CHILD));
	held(forks(SHELL, CHILD));
	side.pid = side.tid = GRANDCHILD;
	side.ppid = CHILD;
	expect(BIRTH_QUEUE_RELEASE, birth_queue_add(q, &side));
}

Test(birth_queue, without_room_all_are_released)
{
	char path[300];
	uint32_t pid = 1000, cnt = 0;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	held(forks(SHELL, CHILD));
	expect(BIRTH_QUEUE_RELEASE, add(PERF_SIDE_MMAP, CHILD, CHILD, 0, path));
	while (forks(SHELL, pid++) == BIRTH_QUEUE_HELD)
		cnt++;
	cr_expect_gt(cnt, 100u);
	cr_expect_lt(cnt, 2048u);
	buf_clear(&passed);
	cr_assert_eq(birth_queue_release(q, note, NULL), 0);
	held(forks(SHELL, CHILD));
	while (add(PERF_SIDE_COMM, CHILD, CHILD, 0, "name") == BIRTH_QUEUE_HELD)
		cnt++;
	cr_expect_lt(cnt, 4096u);
}

/* Against a model: each fork is dropped with its process, or passed on. */
Test(birth_queue, storms_leave_those_that_live)
{
	enum { PIDS = 200, STEPS = 200000 };
	uint32_t seed = 1, alive[PIDS] = { 0 }, cnt = 0, last = 1000;

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t i;

		now += 20000;
		seed = seed * 1664525 + 1013904223;
		i = (seed >> 8) % PIDS;
		if (alive[i]) {
			held(ends(alive[i], alive[i]));
			alive[i] = 0;
			cnt--;
		} else {
			alive[i] = last += 7;
			held(forks(SHELL, alive[i]));
			cnt++;
		}
	}
	let_linger();
	buf_clear(&passed);
	cr_assert_eq(birth_queue_release(q, note, NULL), 0);
	for (const char *p = buf_cstr(&passed); (p = strchr(p, 'f')); p++)
		cnt--;
	cr_expect_eq(cnt, 0);
}
