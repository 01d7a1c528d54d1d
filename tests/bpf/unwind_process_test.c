// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which process has which list of mappings, as fork and exec leave it before the loader reads either,
 * and the memory that it lies in.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/privileges.h"
#include "tests/bpf/own_capture.h"
#include "tests/bpf/support.h"

TestSuite(unwind_process, .fini = live_cleanup);

enum { RING_BYTES = 1 << 16, PROCS = 1 << 16, PIDS = 8000, CHUNKS = 4, CHUNK_SZ = 1 << 20 };

static const uint64_t my_list = 7ULL << 32 | 3;

static void open_capture(void)
{
	const struct eventset_cfg events_cfg = { 0 };
	struct capture_cfg cfg = {
		.follow = true,
		.ring_bytes = RING_BYTES,
		.call_graph = PROF_CALL_GRAPH_AUTO,
		.unwind = { .module_cnt = 10,
			    .map_cnt = 1000,
			    .proc_cnt = PROCS,
			    .chunk_cnt = CHUNKS },
	};

	own_capture_open(&events_cfg, &cfg);
	cr_assert(unwind);
}

static struct prof_unwind_proc *place(pid_t pid, uint32_t i)
{
	return &unwind->procs[(prof_unwind_hash(pid) + i) % PROCS];
}

static struct prof_unwind_proc *find(pid_t pid)
{
	uint32_t i;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++)
		if (place(pid, i)->tgid == (uint32_t)pid)
			return place(pid, i);
	return NULL;
}

static void add_myself(uint64_t list)
{
	place(getpid(), 2)->tgid = getpid();
	place(getpid(), 2)->list = list;
}

static void add_stale(pid_t pid)
{
	uint32_t i = 0;

	while (place(pid, i)->tgid)
		cr_assert_lt(++i, PROF_UNWIND_PROC_PROBES);
	*place(pid, i) = (struct prof_unwind_proc){ .tgid = pid, .execs = 9, .list = 99 };
}

/* A child that waits for the end of its input, then does the requested step. */
static pid_t make_child(int *go, const char *program)
{
	int ends[2];
	pid_t pid;
	char c;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		while (read(ends[0], &c, 1) > 0)
			;
		if (program)
			execl(program, program, "60", NULL);
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

static size_t entries_used(void)
{
	size_t i, cnt = 0;

	for (i = 0; i < PROCS; i++)
		cnt += unwind->procs[i].tgid != 0;
	return cnt;
}

Test(unwind_process, child_inherits_its_parents_list_and_exec_clears_it)
{
	pid_t child;
	int go;

	open_capture();
	add_myself(my_list);
	child = make_child(&go, "/bin/sleep");
	cr_assert(find(child));
	cr_expect_eq(find(child)->list, my_list);
	cr_expect_eq(find(child)->execs, 0);
	close(go);
	while (!__atomic_load_n(&find(child)->execs, __ATOMIC_ACQUIRE))
		sched_yield();
	cr_expect_eq(__atomic_load_n(&find(child)->list, __ATOMIC_ACQUIRE), 0);
	cr_expect_eq(find(child)->execs, 1);
	cr_expect_eq(find(getpid())->list, my_list);
	cr_expect_eq(find(getpid())->execs, 0);
	end_child(child);
	own_capture_close();
}

static int wait_for_the_end(void *ctx)
{
	while (pause() < 0)
		;
	return 0;
}

Test(unwind_process, child_that_shares_its_parents_memory_is_marked_until_it_execs)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	const uint64_t lists[] = { 0, my_list };
	pid_t child;
	int go, i;

	open_capture();
	for (i = 0; i < 2; i++) {
		add_myself(lists[i]);
		child = clone(wait_for_the_end, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		cr_assert_gt(child, 0);
		cr_assert(find(child), "with a list or without");
		cr_expect_eq(find(child)->list, lists[i]);
		cr_expect_eq(find(child)->execs, PROF_UNWIND_SHARES_MEMORY);
		end_child(child);
	}
	child = make_child(&go, NULL);
	cr_expect_eq(find(child)->execs, 0, "a copy");
	close(go);
	end_child(child);
	child = vfork();
	if (!child) {
		execl("/bin/sleep", "/bin/sleep", "60", NULL);
		_exit(1);
	}
	/* its parent goes on in the middle of the exec; then it has a memory of its own */
	while (__atomic_load_n(&find(child)->execs, __ATOMIC_ACQUIRE) != 1)
		sched_yield();
	cr_expect_eq(find(child)->list, 0);
	end_child(child);
	own_capture_close();
}

static void *do_nothing(void *ctx)
{
	return ctx;
}

Test(unwind_process, threads_need_no_entry_and_unknown_processes_get_none)
{
	pthread_t thread;
	pid_t child;
	int go;

	open_capture();
	child = make_child(&go, NULL);
	cr_expect_eq(find(child), NULL, "the parent is not known");
	close(go);
	end_child(child);
	add_myself(0);
	child = make_child(&go, NULL);
	cr_expect_eq(find(child), NULL, "the parent's list is not known");
	close(go);
	end_child(child);
	find(getpid())->list = my_list;
	cr_assert_eq(pthread_create(&thread, NULL, do_nothing, NULL), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(entries_used(), 1);
	own_capture_close();
}

Test(unwind_process, child_never_inherits_the_list_of_a_dead_process)
{
	pid_t child;
	size_t i;
	int go;

	open_capture();
	/* each pid that may come next had a process once, and the loader is late */
	for (i = 1; i < PIDS; i++)
		add_stale(getpid() + i);
	child = make_child(&go, NULL);
	cr_assert(find(child));
	cr_expect_eq(find(child)->list, 0);
	cr_expect_eq(find(child)->execs, 0);
	close(go);
	end_child(child);
	own_capture_close();
}

Test(unwind_process, child_never_inherits_a_condemned_list)
{
	pid_t child;
	int go;

	open_capture();
	add_myself(my_list);
	unwind->condemned[0] = 1 << (my_list >> 32) / PROF_UNWIND_LIST_ROUND;
	child = make_child(&go, NULL);
	cr_expect_eq(find(child), NULL);
	close(go);
	end_child(child);
	unwind->condemned[0] = ~unwind->condemned[0];
	child = make_child(&go, NULL);
	cr_assert(find(child));
	cr_expect_eq(find(child)->list, my_list);
	close(go);
	end_child(child);
	own_capture_close();
}

Test(unwind_process, child_without_a_free_entry_overwrites_no_other)
{
	pid_t child;
	size_t i;
	int go;

	open_capture();
	for (i = 0; i < PROCS; i++)
		unwind->procs[i] = (struct prof_unwind_proc){ .tgid = ~0U, .list = 99 };
	add_myself(my_list);
	child = make_child(&go, NULL);
	for (i = 0; i < PROCS; i++)
		if (unwind->procs[i].tgid != (uint32_t)getpid())
			cr_assert_eq(unwind->procs[i].list, 99);
	cr_expect_eq(find(child), NULL);
	close(go);
	end_child(child);
	own_capture_close();
}

/* As the recorder is while it records. */
static int make_chunks_with(uint64_t caps)
{
	void *mem, *again;
	pid_t pid = fork();
	int status, err;

	if (!pid) {
		err = privileges_drop_all_but(caps);
		if (!err)
			err = capture_unwind_chunk(unwind, 1, &mem);
		if (!err) {
			memset(mem, 1, CHUNK_SZ);
			err = capture_unwind_chunk(unwind, 1, &again);
			err = err ? err : mem != again;
		}
		_exit(-err);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

Test(unwind_process, chunks_are_created_on_demand_with_cap_bpf_only)
{
	void *mem;

	open_capture();
	cr_expect_eq(unwind->cnt.chunk_cnt, CHUNKS);
	cr_expect_eq(unwind->cnt.module_cnt, 10);
	cr_expect_eq(unwind->cnt.map_cnt, 1000);
	cr_expect_eq(unwind->cnt.proc_cnt, PROCS);
	cr_expect_eq(make_chunks_with(1ULL << CAP_BPF), 0);
	cr_expect_eq(capture_unwind_chunk(unwind, CHUNKS, &mem), -EINVAL);
	unwind->modules[9].used = 1;
	unwind->maps[999].slot = 1;
	own_capture_close();
}
