// SPDX-License-Identifier: BSD-2-Clause
/* Current mappings of processes, from a side-band made here and from this process's own /proc. */
#include "record/unwind_maps/live_maps.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/perf_side.h"
#include "record/process/proc_reader.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"
#include "tests/record/support.h"

#define A NO_SUCH_TID
#define B (NO_SUCH_TID + 10)
#define SECOND 1000000000ULL

static struct tasks *tasks;
static struct live_maps *mapped;
static int news[LIVE_MAPS_GONE + 1];

static void on_news(void *ctx, struct live_maps_proc *p, enum live_maps_news what)
{
	news[what]++;
}

static void start(bool all, struct proc_reader *reader)
{
	tasks = tasks_new(true);
	mapped = live_maps_new(&(struct live_maps_cfg){
		.tasks = tasks, .reader = reader, .all = all, .news = on_news });
	memset(news, 0, sizeof(news));
}

static void setup(void)
{
	start(false, NULL);
}

static void teardown(void)
{
	live_maps_free(mapped);
	tasks_free(tasks);
}

TestSuite(live_maps, .fini = teardown);

static void side(enum perf_side_type type, uint64_t time, uint32_t pid, uint32_t ppid)
{
	live_maps_side(mapped, &(struct perf_side){ .type = type,
						    .time = time,
						    .pid = pid,
						    .tid = pid,
						    .ppid = ppid,
						    .ptid = ppid,
						    .comm_exec = true,
						    .name = "" });
}

static void map_at(uint64_t time, uint32_t pid, uint64_t start_addr, const char *path,
		   uint32_t prot)
{
	live_maps_side(mapped, &(struct perf_side){ .type = PERF_SIDE_MMAP,
						    .time = time,
						    .pid = pid,
						    .addr = start_addr,
						    .len = 0x1000,
						    .pgoff = 0x3000,
						    .prot = prot,
						    .build_id = { 1, 2 },
						    .build_id_sz = 2,
						    .name = path,
						    .name_len = strlen(path) });
}

static struct live_maps_proc *follow(uint32_t pid)
{
	struct proc_maps none;

	tasks_init_maps(tasks, &none);
	return live_maps_follow(mapped, pid, &none);
}

static const char *path_at(uint32_t pid, uint64_t addr)
{
	const struct live_maps_proc *p = live_maps_find(mapped, pid);
	const struct map *m = p ? proc_maps_find(&p->maps, addr) : NULL;

	return m ? m->path : "";
}

Test(live_maps, programs_that_start_over_the_budget_stay_unknown, .init = setup)
{
	work_budget_cap(tasks_work(tasks), 2 * SECOND / 100);
	follow(A);
	follow(B);
	work_budget_charge(tasks_work(tasks), 1, WORK_LISTS, SECOND / 10);
	side(PERF_SIDE_COMM, 5, A, 0);
	map_at(6, A, 0x400000, "/bin/a", PROT_EXEC);
	cr_expect_not(live_maps_find(mapped, A)->known);
	cr_expect(live_maps_find(mapped, A)->doubted, "/proc is read later");
	cr_expect_str_eq(path_at(A, 0x400000), "");
	map_at(6, B, 0x400000, "/lib/b", PROT_EXEC);
	cr_expect(live_maps_find(mapped, B)->known, "it ran before");
	cr_expect_str_eq(path_at(B, 0x400000), "/lib/b");
}

Test(live_maps, targets_and_their_children_are_followed, .init = setup)
{
	follow(A);
	map_at(5, A, 0x400000, "/bin/a", PROT_EXEC | PROT_READ);
	map_at(5, A, 0x500000, "/data", PROT_READ);
	map_at(5, B, 0x400000, "/bin/b", PROT_EXEC);
	side(PERF_SIDE_FORK, 6, B, 1);
	cr_expect_null(live_maps_find(mapped, B), "a stranger's child");
	cr_expect_str_eq(path_at(A, 0x400fff), "/bin/a");
	cr_expect_str_eq(path_at(A, 0x500000), "", "no code");
	side(PERF_SIDE_FORK, 7, B, A);
	cr_assert(live_maps_find(mapped, B));
	cr_expect(live_maps_find(mapped, B)->known);
	cr_expect_eq(live_maps_find(mapped, B)->ppid, A);
	map_at(8, B, 0x600000, "/lib/b", PROT_EXEC);
	cr_expect_str_eq(path_at(B, 0x400000), "/bin/a");
	cr_expect_str_eq(path_at(B, 0x600000), "/lib/b");
	cr_expect_str_eq(path_at(A, 0x600000), "");
	cr_expect_eq(news[LIVE_MAPS_CHANGED], 2);
	cr_expect_eq(news[LIVE_MAPS_FORKED], 1);
}

Test(live_maps, new_program_has_new_mappings, .init = setup)
{
	follow(A);
	map_at(5, A, 0x400000, "/bin/a", PROT_EXEC);
	side(PERF_SIDE_COMM, 10, A, 0);
	map_at(9, A, 0x500000, "/lib/of-the-old", PROT_EXEC);
	map_at(11, A, 0x600000, "/bin/new", PROT_EXEC);
	cr_expect_str_eq(path_at(A, 0x400000), "");
	cr_expect_str_eq(path_at(A, 0x500000), "", "it came late");
	cr_expect_str_eq(path_at(A, 0x600000), "/bin/new");
	cr_expect_eq(news[LIVE_MAPS_EXECED], 1);
	cr_expect_eq(proc_maps_find(&live_maps_find(mapped, A)->maps, 0x600000)->pgoff, 0x3000);
	map_at(12, A, 0x700000, "//anon", PROT_EXEC);
	cr_expect_eq(proc_maps_find(&live_maps_find(mapped, A)->maps, 0x700000)->pgoff, 0);
}

Test(live_maps, every_process_is_followed_in_system_mode)
{
	start(true, NULL);
	side(PERF_SIDE_COMM, 10, A, 0);
	cr_expect(live_maps_find(mapped, A)->known, "its program is new");
	map_at(5, B, 0x400000, "/bin/b", PROT_EXEC);
	cr_assert(live_maps_find(mapped, B));
	cr_expect_not(live_maps_find(mapped, B)->known, "who knows what else it has");
	side(PERF_SIDE_FORK, 6, B + 1, B);
	cr_expect_not(live_maps_find(mapped, B + 1)->known);
}

Test(live_maps, process_that_maps_without_end_is_unknown_until_it_is_quiet, .init = setup)
{
	int i;

	follow(A);
	follow(B);
	map_at(1, A, 0x400000, "/bin/a", PROT_EXEC);
	map_at(1, B, 0x400000, "/bin/b", PROT_EXEC);
	for (i = 0; i < 30000; i++)
		map_at(2 + i, A, 0x10000000 + 0x2000 * (uint64_t)(i % 9), "/tmp/x", PROT_EXEC);
	cr_expect_not(live_maps_find(mapped, A)->known);
	cr_expect_str_eq(path_at(A, 0x400000), "");
	cr_expect_eq(news[LIVE_MAPS_UNKNOWN], 1);
	cr_expect_str_eq(path_at(B, 0x400000), "/bin/b");
	side(PERF_SIDE_COMM, 3 * SECOND, A, 0);
	map_at(3 * SECOND, A, 0x400000, "/bin/new", PROT_EXEC);
	cr_expect(live_maps_find(mapped, A)->known);
	cr_expect_str_eq(path_at(A, 0x400000), "/bin/new");
}

Test(live_maps, process_is_removed_when_its_pid_is_free, .init = setup)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	follow(child);
	side(PERF_SIDE_EXIT, 5, child, getpid());
	live_maps_step(mapped, 6);
	cr_expect(live_maps_find(mapped, child), "nobody has waited for it");
	cr_assert_eq(waitpid(child, NULL, 0), child);
	live_maps_step(mapped, 7);
	cr_expect_null(live_maps_find(mapped, child));
	cr_expect_eq(news[LIVE_MAPS_GONE], 1);
}

Test(live_maps, all_processes_are_checked_for_existence_after_a_loss, .init = setup)
{
	follow(A);
	side(PERF_SIDE_LOST, 5, 0, 0);
	live_maps_step(mapped, 6);
	cr_expect_null(live_maps_find(mapped, A));
}

Test(live_maps, existing_process_is_checked_once_after_a_loss, .init = setup)
{
	struct live_maps_proc *p = follow(getpid());

	side(PERF_SIDE_LOST, 5, 0, 0);
	cr_expect(p->checked);
	live_maps_step(mapped, 6);
	cr_expect_not(p->checked);
	side(PERF_SIDE_EXIT, 7, getpid(), 1);
	live_maps_step(mapped, 8);
	cr_expect(p->checked, "a leader may be gone before the others");
}

/* ---- shared memory --------------------------------------------------------------------------------- */

static int replaced[64];

static void on_replaced(void *ctx, const struct live_maps_proc *p, uint32_t module_id,
			uint64_t time)
{
	if (p->pid - A < 64)
		replaced[p->pid - A]++;
}

/* A child that shares A's memory. */
static struct live_maps_proc *sharer(uint32_t pid)
{
	side(PERF_SIDE_FORK, 2, pid, A);
	live_maps_share(mapped, live_maps_find(mapped, A), live_maps_find(mapped, pid));
	return live_maps_find(mapped, pid);
}

static void start_sharing(void)
{
	tasks = tasks_new(true);
	mapped = live_maps_new(&(struct live_maps_cfg){
		.tasks = tasks, .news = on_news, .replaced = on_replaced });
	memset(news, 0, sizeof(news));
	memset(replaced, 0, sizeof(replaced));
	follow(A);
	map_at(1, A, 0x400000, "/bin/a", PROT_EXEC);
}

Test(live_maps, mapping_of_a_process_is_shared_with_all_that_share_its_memory,
     .init = start_sharing)
{
	sharer(B);
	map_at(3, B, 0x400000, "/lib/over", PROT_EXEC);
	cr_expect_str_eq(path_at(A, 0x400000), "/lib/over");
	cr_expect_eq(replaced[0], 1, "A's list was not true from then on");
	cr_expect_eq(replaced[B - A], 1);
	cr_expect_eq(news[LIVE_MAPS_CHANGED], 3);
	map_at(4, A, 0x500000, "/lib/x", PROT_EXEC);
	cr_expect_str_eq(path_at(B, 0x500000), "/lib/x");
	side(PERF_SIDE_COMM, 5, B, 0);
	map_at(6, B, 0x600000, "/lib/y", PROT_EXEC);
	map_at(6, A, 0x700000, "/lib/z", PROT_EXEC);
	cr_expect_str_eq(path_at(A, 0x600000), "", "that is another memory");
	cr_expect_str_eq(path_at(B, 0x700000), "");
}

Test(live_maps, endless_mappings_make_all_processes_with_the_same_memory_unknown,
     .init = start_sharing)
{
	int i;

	sharer(B);
	for (i = 0; i < 30000; i++)
		map_at(3 + i, B, 0x10000000, "/tmp/x", PROT_EXEC);
	cr_expect_not(live_maps_find(mapped, A)->known);
	cr_expect_not(live_maps_find(mapped, B)->known);
}

Test(live_maps, processes_above_the_limit_of_one_memory_are_unknown, .init = start_sharing)
{
	size_t before = live_maps_memory(mapped);
	int i;

	for (i = 1; i <= 20; i++)
		cr_expect_eq(sharer(A + i)->known, i < 16, "%d", i);
	cr_expect_eq(news[LIVE_MAPS_UNKNOWN], 5);
	cr_expect_geq(live_maps_memory(mapped), before + 20 * sizeof(struct live_maps_proc) + 128);
	map_at(3, A + 18, 0x400000, "/lib/over", PROT_EXEC);
	cr_expect_str_eq(path_at(A, 0x400000), "/lib/over", "nobody has what is not true");
	cr_expect_str_eq(path_at(A + 15, 0x400000), "/lib/over");
	live_maps_doubt(mapped, A + 18, 4);
	cr_expect_not(live_maps_find(mapped, A + 18)->doubted);
	side(PERF_SIDE_COMM, 5, A + 18, 0);
	map_at(6, A + 18, 0x600000, "/bin/b", PROT_EXEC);
	cr_expect(live_maps_find(mapped, A + 18)->known);
	cr_expect_str_eq(path_at(A + 18, 0x600000), "/bin/b");
	cr_expect_str_eq(path_at(A, 0x600000), "");
	/* the end of a process does not change the others */
	side(PERF_SIDE_EXIT, 7, A, 1);
	live_maps_step(mapped, 8);
	cr_expect_null(live_maps_find(mapped, A));
	map_at(9, A + 17, 0x700000, "/lib/x", PROT_EXEC);
	cr_expect_str_eq(path_at(A + 15, 0x700000), "/lib/x");
}

/* ---- /proc -------------------------------------------------------------------------------------------- */

static struct proc_reader *reader;

static void step_until_known(uint32_t pid, int changes)
{
	while (!live_maps_find(mapped, pid)->known || news[LIVE_MAPS_CHANGED] < changes) {
		live_maps_step(mapped, clock_mono_ns());
		sched_yield();
	}
}

Test(live_maps, unreported_mappings_come_from_proc)
{
	uint32_t me = getpid();
	uint64_t here = (uintptr_t)step_until_known;
	void *code;

	cr_assert_eq(proc_reader_new(&reader), 0);
	start(true, reader);
	live_maps_doubt(mapped, me, clock_mono_ns());
	step_until_known(me, 1);
	cr_expect_str_neq(path_at(me, here), "");
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(code, MAP_FAILED);
	cr_expect_null(proc_maps_find(&live_maps_find(mapped, me)->maps, (uintptr_t)code));
	while (!proc_maps_find(&live_maps_find(mapped, me)->maps, (uintptr_t)code)) {
		live_maps_doubt(mapped, me, clock_mono_ns());
		live_maps_step(mapped, clock_mono_ns());
		sched_yield();
	}
	proc_reader_free(reader);
}

Test(live_maps, mappings_from_proc_are_shared_with_all_that_share_the_memory)
{
	uint32_t me = getpid();
	struct live_maps_proc *p;

	cr_assert_eq(proc_reader_new(&reader), 0);
	start(true, reader);
	live_maps_doubt(mapped, me, clock_mono_ns());
	step_until_known(me, 1);
	p = live_maps_find(mapped, me);
	follow(B);
	live_maps_share(mapped, p, live_maps_find(mapped, B));
	cr_assert_neq(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		      MAP_FAILED);
	while (news[LIVE_MAPS_CHANGED] < 3) {
		live_maps_doubt(mapped, me, clock_mono_ns());
		live_maps_step(mapped, clock_mono_ns());
		sched_yield();
	}
	cr_expect_eq(live_maps_find(mapped, B)->maps.table->cnt, p->maps.table->cnt);
	proc_reader_free(reader);
}

Test(live_maps, process_that_ended_before_it_was_reported_is_removed, .timeout = 20)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_eq(proc_reader_new(&reader), 0);
	start(true, reader);
	live_maps_doubt(mapped, child, clock_mono_ns());
	cr_assert(live_maps_find(mapped, child));
	while (live_maps_find(mapped, child)) {
		live_maps_step(mapped, clock_mono_ns());
		sched_yield();
	}
	cr_expect_eq(news[LIVE_MAPS_GONE], 1);
	proc_reader_free(reader);
}

Test(live_maps, process_without_an_answer_is_requested_less_often)
{
	uint32_t me = getpid();
	struct live_maps_proc *p;
	uint64_t wait;

	cr_assert_eq(proc_reader_new(&reader), 0);
	start(true, reader);
	live_maps_doubt(mapped, me, clock_mono_ns());
	step_until_known(me, 1);
	p = live_maps_find(mapped, me);
	wait = p->ask_wait_ns;
	while (p->ask_wait_ns < 4 * wait) {
		live_maps_doubt(mapped, me, p->ask_ns);
		live_maps_step(mapped, p->ask_ns);
		sched_yield();
	}
	live_maps_doubt(mapped, me, p->ask_ns - 1);
	cr_expect_not(p->doubted, "it is not yet time");
	proc_reader_free(reader);
}

Test(live_maps, process_with_too_many_mappings_is_unknown, .timeout = 30)
{
	size_t sz = (2UL * PROC_MAPS_MAX + 2) * 4096, i;
	uint32_t me = getpid();
	char *area = mmap(NULL, sz, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(area, MAP_FAILED);
	for (i = 0; i < PROC_MAPS_MAX; i++)
		cr_assert_eq(mprotect(area + 2 * i * 4096, 4096, PROT_READ | PROT_EXEC), 0);
	cr_assert_eq(proc_reader_new(&reader), 0);
	start(true, reader);
	live_maps_doubt(mapped, me, clock_mono_ns());
	while (!news[LIVE_MAPS_UNKNOWN]) {
		live_maps_step(mapped, clock_mono_ns());
		sched_yield();
	}
	cr_expect_eq(news[LIVE_MAPS_CHANGED], 0);
	cr_expect_not(live_maps_find(mapped, me)->known);
	cr_expect_null(proc_maps_next(&live_maps_find(mapped, me)->maps, 0));
	munmap(area, sz);
	live_maps_doubt(mapped, me, live_maps_find(mapped, me)->ask_ns);
	step_until_known(me, 1);
	proc_reader_free(reader);
}

static void count(void *ctx, struct live_maps_proc *p)
{
	*(size_t *)ctx += p->pid == A || p->pid == B;
}

Test(live_maps, mappings_can_be_forgotten, .init = setup)
{
	size_t cnt = 0;

	follow(A);
	follow(B);
	map_at(1, A, 0x400000, "/bin/a", PROT_EXEC);
	live_maps_each(mapped, count, &cnt);
	cr_expect_eq(cnt, 2);
	cr_expect_gt(live_maps_memory(mapped), 2 * sizeof(struct live_maps_proc));
	live_maps_forget(mapped, live_maps_find(mapped, A));
	cr_expect_str_eq(path_at(A, 0x400000), "");
	cr_expect_eq(news[LIVE_MAPS_UNKNOWN], 1);
}
