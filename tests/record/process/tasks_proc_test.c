// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=proc_read_status,--wrap=proc_read_exe,--wrap=proc_read_cgroup */
/* Task data from /proc, and what is left of it if the side-band loses records. */
#include "record/process/tasks.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kernel/proc.h"
#include "record/process/proc_reader.h"
#include "tests/record/side.h"

/* ---- /proc ------------------------------------------------------------------------------------------- */

static void *wait_at(void *barrier)
{
	prctl(PR_SET_NAME, "a-thread");
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static void count_named(struct task *task, void *cnt)
{
	*(int *)cnt += !strcmp(task->comm, "a-thread");
}

Test(tasks_proc, running_process_is_read_from_proc, .init = setup, .fini = teardown)
{
	pthread_barrier_t barrier;
	pthread_t thread;
	char exe[4096] = "", own[17] = "";
	const struct map *m;
	int cnt = 0;

	cr_assert_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	prctl(PR_GET_NAME, own);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, wait_at, &barrier);
	pthread_barrier_wait(&barrier);
	cr_assert_eq(tasks_scan(t, getpid()), 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	tasks_each(t, getpid(), count_named, &cnt);
	cr_expect_eq(cnt, 1);
	cr_expect_eq(tasks_process(t, getpid())->ppid, (uint32_t)getppid());
	cr_expect_str_eq(tasks_process(t, getpid())->exe, exe);
	cr_expect_str_eq(known(getpid())->comm, own);
	m = proc_maps_find(&tasks_process(t, getpid())->maps, (uint64_t)(uintptr_t)&setup);
	cr_assert_not_null(m);
	cr_expect_str_eq(m->path, exe);
	cr_expect_null(proc_maps_find(&tasks_process(t, getpid())->maps, (uint64_t)(uintptr_t)&own),
		       "the stack is no code");
}

Test(tasks_proc, each_task_of_a_process_can_be_visited, .init = setup, .fini = teardown)
{
	int cnt = 0;

	fork_of(1, 1, A, A);
	comm(A, A + 1, "a-thread", false);
	comm(A, A + 2, "a-thread", false);
	comm(B, B, "a-thread", false);
	tasks_each(t, A, count_named, &cnt);
	cr_expect_eq(cnt, 2);
}

Test(tasks_proc, tid_in_another_process_is_another_thread, .init = setup, .fini = teardown)
{
	const struct task *task = tasks_get(t, getpid(), B);

	cr_expect_eq(task->proc->pid, B);
	cr_expect_str_eq(task->comm, "", "which is not our name");
	cr_expect_str_eq(task->proc->exe, "");
}

Test(tasks_proc, missing_process_is_an_error, .init = setup, .fini = teardown)
{
	cr_expect_eq(tasks_scan(t, A), -ESRCH);
	cr_expect_null(tasks_process(t, A));
}

Test(tasks_proc, idle_task_has_its_name, .init = setup, .fini = teardown)
{
	cr_expect_str_eq(known(0)->comm, "swapper");
	cr_expect_eq(known(0)->proc->pid, 0);
}

/* ---- gaps in the side-band ------------------------------------------------------------------------------ */

Test(tasks_proc, state_after_a_gap_is_unknown_until_it_is_reported, .init = setup, .fini = teardown)
{
	static const enum perf_side_type types[] = { PERF_SIDE_LOST, PERF_SIDE_DAMAGED,
						     PERF_SIDE_FULL };
	size_t i;

	for (i = 0; i < 3; i++) {
		fork_of(0, 0, A, A);
		comm(A, A, "before", true);
		map(A, 0x400000, "/bin/before");
		known(A);
		lose(types[i]);
		cr_expect_not(tasks_is_announced(t, A));
		cr_expect_str_eq(known(A)->comm, "");
		cr_expect_str_eq(known(A)->proc->exe, "");
		cr_expect_null(proc_maps_find(&tasks_process(t, A)->maps, 0x400000));
		tasks_name(t, tasks_get(t, A, A), "own-record", 10);
		cr_expect_str_eq(known(A)->comm, "own-record");
		map(A, 0x500000, "/lib/since");
		cr_expect_str_eq(proc_maps_find(&tasks_process(t, A)->maps, 0x500000)->path,
				 "/lib/since");
		comm(A, A, "after", true);
		map(A, 0x400000, "/bin/after");
		cr_expect_str_eq(known(A)->comm, "after");
		cr_expect_str_eq(known(A)->proc->exe, "/bin/after");
		cr_expect_str_eq(proc_maps_find(&tasks_process(t, A)->maps, 0x400000)->path,
				 "/bin/after");
		exit_at(1, A, A);
	}
	lose(PERF_SIDE_STALLED);
	cr_expect(tasks_is_announced(t, A), "what is late is not lost");
}

Test(tasks_proc, child_of_an_uncertain_process_inherits_nothing, .init = setup, .fini = teardown)
{
	fork_of(0, 0, A, A);
	comm(A, A, "parent", true);
	map(A, 0x400000, "/bin/parent");
	lose(PERF_SIDE_LOST);
	fork_of(A, A, B, B);
	cr_expect_str_eq(known(B)->comm, "");
	cr_expect_str_eq(known(B)->proc->exe, "");
	cr_expect_eq(known(B)->proc->ppid, A);
	cr_expect_null(proc_maps_find(&tasks_process(t, B)->maps, 0x400000));
}

Test(tasks_proc, tid_that_a_record_puts_into_another_process_is_another_thread, .init = setup,
     .fini = teardown)
{
	fork_of(0, 0, A, A);
	comm(A, A, "old", true);
	known(A);
	cr_expect_str_eq(tasks_get(t, A, B)->comm, "");
	cr_expect_eq(known(A)->proc->pid, B);
}

Test(tasks_proc, unreported_ends_are_found, .init = setup, .fini = teardown)
{
	uint32_t i;

	cr_assert_eq(tasks_scan(t, getpid()), 0);
	for (i = 0; i < 1000; i++)
		fork_of(0, 0, A + i, A + i);
	tasks_expire(t, 1 * SECOND);
	cr_expect_not_null(tasks_process(t, A));
	lose(PERF_SIDE_LOST);
	for (i = 0; i < 20; i++)
		tasks_expire(t, 2 * SECOND);
	tasks_expire(t, 4 * SECOND);
	for (i = 0; i < 1000; i++)
		cr_assert_null(tasks_process(t, A + i), "%u", i);
	cr_expect_not_null(tasks_process(t, getpid()));
}

/* Drains until /proc requests are answered. */
static void await_answer(struct process *proc)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	cr_assert(proc->asked, "nobody was asked");
	while (proc->asked) {
		nanosleep(&step, NULL);
		tasks_expire(t, clock_mono_ns());
	}
}

static struct process *scan_self(struct proc_reader **reader)
{
	cr_assert_eq(proc_reader_new(reader), 0);
	tasks_set_reader(t, *reader);
	cr_assert_eq(tasks_scan(t, getpid()), 0);
	return tasks_process(t, getpid());
}

Test(tasks_proc, mappings_are_read_again_after_a_gap, .init = setup, .fini = teardown)
{
	uint64_t here = (uintptr_t)&scan_self;
	struct proc_reader *reader;
	struct process *proc = scan_self(&reader);
	uint32_t generation, known_by = proc->maps.generation;
	char own[17] = "";
	struct map *m;

	m = proc_maps_edit(&proc->maps, here);
	m->module_id = 7;
	m->announced = proc->serial;
	known(getpid());
	lose(PERF_SIDE_LOST);
	cr_expect_null(proc_maps_find(&tasks_process(t, getpid())->maps, here));
	cr_expect_str_eq(known(getpid())->comm, "");
	generation = proc->maps.generation;
	await_answer(proc);
	prctl(PR_GET_NAME, own);
	cr_expect_not(tasks_is_announced(t, getpid()), "it is news");
	cr_expect_str_eq(known(getpid())->comm, own);
	cr_expect_neq(*known(getpid())->proc->exe, 0);
	cr_expect_neq(proc->maps.generation, generation);
	cr_expect_neq(proc->maps.generation, known_by, "stacks from before the gap do not count");
	cr_assert_not_null(proc_maps_find(&proc->maps, here));
	cr_expect_eq(proc_maps_find(&proc->maps, here)->module_id, 7, "it is the same module");
	cr_expect_eq(proc_maps_find(&proc->maps, here)->announced, proc->serial);
	proc_reader_free(reader);
}

/* Side-band records during a read of /proc may or may not be included in the answer. */
Test(tasks_proc, answer_during_a_change_does_not_count, .init = setup, .fini = teardown)
{
	uint64_t here = (uintptr_t)&scan_self;
	struct proc_reader *reader;
	struct process *proc = scan_self(&reader);

	lose(PERF_SIDE_LOST);
	tasks_process(t, getpid());
	map_at_time(clock_mono_ns() + SECOND, getpid(), 0x10000, "/lib/since");
	await_answer(proc);
	cr_expect_null(proc_maps_find(&proc->maps, here));
	cr_expect_str_eq(proc_maps_find(&proc->maps, 0x10000)->path, "/lib/since");
	proc_reader_free(reader);
}

Test(tasks_proc, answer_from_before_another_gap_does_not_count, .init = setup, .fini = teardown)
{
	uint64_t here = (uintptr_t)&scan_self;
	struct proc_reader *reader;
	struct process *proc = scan_self(&reader);

	lose(PERF_SIDE_LOST);
	tasks_process(t, getpid());
	lose(PERF_SIDE_LOST);
	await_answer(proc);
	cr_expect_null(proc_maps_find(&proc->maps, here));
	/* and it is requested again, though not at once */
	while (!proc_maps_find(&tasks_process(t, getpid())->maps, here))
		if (proc->asked)
			await_answer(proc);
	proc_reader_free(reader);
}

/* A flood that never ends: each pass of the drain finds a loss. */
static void pass_with_loss(void)
{
	tasks_process(t, getpid());
	lose(PERF_SIDE_LOST);
	tasks_expire(t, clock_mono_ns());
	tasks_process(t, getpid());
}

static const char *last_path(struct process *proc, uint64_t addr)
{
	const struct map *m = proc_maps_find(tasks_maps_at(proc, addr), addr);

	return m ? m->path : NULL;
}

Test(tasks_proc, last_known_mappings_are_used_if_gaps_never_end, .init = setup, .fini = teardown)
{
	uint64_t here = (uintptr_t)&scan_self, fresh;
	struct proc_reader *reader;
	struct process *proc = scan_self(&reader);
	char own[4096] = "";
	struct map *m;
	void *p;
	int fd;

	cr_assert_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
	m = proc_maps_edit(&proc->maps, here);
	m->module_id = 7;
	m->announced = proc->serial;
	pass_with_loss();
	cr_expect_str_eq(last_path(proc, here), own);
	/* a new mapping is found, though each answer comes after another loss */
	fd = open(own, O_RDONLY | O_CLOEXEC);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	cr_assert_neq(p, MAP_FAILED);
	fresh = (uintptr_t)p;
	while (!last_path(proc, fresh)) {
		pass_with_loss();
		cr_assert_str_eq(last_path(proc, here), own);
	}
	cr_expect_str_eq(last_path(proc, fresh), own);
	cr_expect_str_eq(proc->exe, own, "as it was read");
	cr_expect_eq(proc_maps_find(tasks_maps_at(proc, here), here)->module_id, 7);
	cr_expect_eq(proc_maps_find(tasks_maps_at(proc, here), here)->announced, proc->serial);
	/* and side-band records have priority */
	map(getpid(), fresh, "/lib/since");
	cr_expect_str_eq(last_path(proc, fresh), "/lib/since");
	proc_reader_free(reader);
}

Test(tasks_proc, uncertain_stacks_are_counted, .init = setup, .fini = teardown)
{
	struct process *proc;
	struct tasks_loss loss;

	fork_of(0, 0, A, A);
	comm(A, A, "before", true);
	map(A, 0x400000, "/bin/before");
	proc = tasks_process(t, A);
	tasks_count_stack(t, proc, 10);
	cr_expect_not(tasks_read_loss(t, TASKS_IN_DOUBT, &loss));
	lose(PERF_SIDE_LOST);
	tasks_process(t, A);
	tasks_count_stack(t, proc, 20);
	tasks_count_stack(t, proc, 30);
	cr_assert(tasks_read_loss(t, TASKS_IN_DOUBT, &loss));
	cr_expect_eq(loss.cnt, 2);
	cr_expect_eq(loss.first_ns, 20);
	cr_expect_eq(loss.last_ns, 30);
	cr_expect_not(tasks_read_loss(t, TASKS_IN_DOUBT, &loss), "told once");
	comm(A, A, "after", true);
	tasks_count_stack(t, proc, 40);
	cr_expect_not(tasks_read_loss(t, TASKS_IN_DOUBT, &loss), "all is known again");
	cr_expect_null(last_path(proc, 0x400000));
}

Test(tasks_proc, process_that_is_met_for_the_first_time_is_read, .init = setup, .fini = teardown)
{
	uint64_t here = (uintptr_t)&scan_self;
	struct proc_reader *reader;
	struct process *proc;
	char own[17] = "";

	cr_assert_eq(proc_reader_new(&reader), 0);
	tasks_set_reader(t, reader);
	prctl(PR_GET_NAME, own);
	cr_expect_str_eq(tasks_get(t, getpid(), getpid())->comm, own, "at once");
	proc = tasks_process(t, getpid());
	await_answer(proc);
	cr_expect_neq(*proc->exe, 0);
	cr_expect_neq(*proc->cgroup, 0);
	cr_expect_eq(proc->ppid, (uint32_t)getppid());
	cr_expect_not(tasks_is_announced(t, getpid()), "it is news");
	cr_expect_not_null(proc_maps_find(&proc->maps, here));
	proc_reader_free(reader);
}

/* Files that may take a lock of the process, and which thread reads them. */
static pid_t drain;
static size_t read_by_drain;

int __real_proc_read_status(pid_t tid, struct proc_status *out);
int __real_proc_read_exe(pid_t pid, struct buf *out);
int __real_proc_read_cgroup(pid_t tid, struct buf *out);
int __wrap_proc_read_status(pid_t tid, struct proc_status *out);
int __wrap_proc_read_exe(pid_t pid, struct buf *out);
int __wrap_proc_read_cgroup(pid_t tid, struct buf *out);

int __wrap_proc_read_status(pid_t tid, struct proc_status *out)
{
	read_by_drain += gettid() == drain;
	return __real_proc_read_status(tid, out);
}

int __wrap_proc_read_exe(pid_t pid, struct buf *out)
{
	read_by_drain += gettid() == drain;
	return __real_proc_read_exe(pid, out);
}

int __wrap_proc_read_cgroup(pid_t tid, struct buf *out)
{
	read_by_drain += gettid() == drain;
	return __real_proc_read_cgroup(tid, out);
}

Test(tasks_proc, drain_leaves_reading_of_proc_to_the_reader, .init = setup, .fini = teardown)
{
	struct proc_reader *reader;
	struct process *proc = scan_self(&reader);

	drain = gettid();
	lose(PERF_SIDE_LOST);
	known(getpid());
	tasks_need_cgroup(t, proc);
	proc = tasks_get(t, getppid(), getppid())->proc;
	tasks_need_cgroup(t, proc);
	tasks_get(t, A, A);
	await_answer(proc);
	cr_expect_neq(*proc->cgroup, 0);
	comm(getppid(), getppid(), "exec", true);
	lose(PERF_SIDE_LOST);
	comm(getppid(), getppid(), "exec again", true);
	cr_expect_not(proc->stale, "all of it was told but its cgroup");
	while (!*tasks_get(t, getppid(), getppid())->proc->cgroup)
		if (proc->asked)
			await_answer(proc);
	cr_expect_eq(read_by_drain, 0);
	proc_reader_free(reader);
}

Test(tasks_proc, all_processes_are_read_at_the_start, .init = setup, .fini = teardown)
{
	struct proc_reader *reader;

	cr_assert_eq(proc_reader_new(&reader), 0);
	tasks_set_reader(t, reader);
	tasks_scan_all(t);
	cr_expect_not_null(tasks_process(t, 1));
	cr_expect_not_null(
		proc_maps_find(&tasks_process(t, getpid())->maps, (uintptr_t)&scan_self));
	cr_expect_not_null(tasks_process(t, getppid()));
	proc_reader_free(reader);
}
