// SPDX-License-Identifier: BSD-2-Clause
/* Tasks from side-band records: births, names, programs, ends, and reused numbers. */
#include "record/process/tasks.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/record/side.h"

/* ---- births ----------------------------------------------------------------------------------------- */

Test(tasks, child_inherits_name_program_and_mappings_of_its_parent, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	comm(A, A, "parent", true);
	map(A, 0x400000, "/bin/parent");
	fork_of(A, A, B, B);
	cr_expect_str_eq(known(B)->comm, "parent");
	cr_expect_eq(known(B)->proc->ppid, A);
	cr_expect_str_eq(known(B)->proc->exe, "/bin/parent");
	cr_assert_not_null(proc_maps_find(&known(B)->proc->maps, 0x400000));
	cr_expect_neq(known(B)->proc->serial, known(A)->proc->serial);
	map(B, 0x400000, "/lib/other");
	cr_expect_str_eq(proc_maps_find(&known(A)->proc->maps, 0x400000)->path, "/bin/parent");
}

Test(tasks, thread_belongs_to_its_process_and_inherits_the_name_of_its_creator, .init = setup,
     .fini = teardown)
{
	fork_of(1, 1, A, A);
	comm(A, A, "main", false);
	fork_of(A, A, A, A + 1);
	comm(A, A + 1, "worker", false);
	fork_of(A, A + 1, A, A + 2);
	cr_expect_eq(known(A + 1)->proc, known(A)->proc);
	cr_expect_eq(known(A + 2)->proc, known(A)->proc);
	cr_expect_str_eq(known(A + 2)->comm, "worker");
	cr_expect_str_eq(known(A)->comm, "main");
}

Test(tasks, repeated_record_changes_nothing, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	comm(A, A, "one", true);
	map(A, 0x400000, "/bin/one");
	fork_of(A, A, B, B);
	comm(B, B, "two", true);
	map(B, 0x400000, "/bin/two");
	known(B);
	fork_of(A, A, B, B);
	comm(B, B, "two", false);
	cr_expect(tasks_is_announced(t, B), "nothing new");
	cr_expect_str_eq(known(B)->comm, "two");
	cr_expect_str_eq(proc_maps_find(&known(B)->proc->maps, 0x400000)->path, "/bin/two");
}

Test(tasks, name_may_come_before_any_other_record, .init = setup, .fini = teardown)
{
	comm(A, A + 1, "early", false);
	cr_expect_str_eq(known(A + 1)->comm, "early");
	cr_expect_eq(known(A + 1)->proc->pid, A);
	cr_expect_eq(tasks_process(t, A), known(A + 1)->proc);
}

Test(tasks, empty_name_is_a_name_too, .init = setup, .fini = teardown)
{
	comm(A, A, "one", true);
	known(A);
	comm(A, A, "", false);
	cr_expect_not(tasks_is_announced(t, A), "it is told");
	cr_expect_str_eq(known(A)->comm, "");
}

Test(tasks, mapping_in_an_unknown_process_is_ignored, .init = setup, .fini = teardown)
{
	map(A, 0x400000, "/bin/x");
	exit_at(5, A, A);
	cr_expect_null(tasks_process(t, A));
}

Test(tasks, data_and_reversed_mappings_are_ignored, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	map_prot(A, 0x400000, "/usr/lib/locale", 1);
	tasks_side(t, &(struct perf_side){ .type = PERF_SIDE_MMAP,
					   .pid = A,
					   .addr = UINT64_MAX - 5,
					   .len = 100,
					   .prot = 4,
					   .name = "/x",
					   .name_len = 2 });
	cr_expect_null(tasks_process(t, A)->maps.table);
}

Test(tasks, only_mappings_of_selected_processes_are_kept)
{
	t = tasks_new(false);
	cr_assert_eq(tasks_scan(t, getpid()), 0);
	fork_of(1, 1, A, A);
	map(A, 0x400000, "/bin/x");
	fork_of(getpid(), getpid(), B, B);
	map(B, 0x400000, "/bin/x");
	cr_expect_null(tasks_process(t, A)->maps.table);
	cr_expect_not_null(proc_maps_find(&tasks_process(t, B)->maps, 0x400000),
			   "a child of one wanted is wanted");
	teardown();
}

Test(tasks, exec_sets_the_program_of_selected_and_other_processes)
{
	t = tasks_new(false);
	fork_of(1, 1, A, A);
	comm(A, A, "x", true);
	map(A, 0x400000, "/bin/x");
	map(A, 0x500000, "/lib/y");
	cr_expect_str_eq(known(A)->proc->exe, "/bin/x");
	cr_expect_null(known(A)->proc->maps.table);
	teardown();
}

/* A JIT makes its memory writable and executable alternately, and each change is reported. */
Test(tasks, code_generated_at_run_time_stays_one_module, .init = setup, .fini = teardown)
{
	struct map *m;

	fork_of(1, 1, A, A);
	map(A, 0x400000, "//anon");
	map(A, 0x600000, "/usr/lib/x.so");
	m = proc_maps_edit(&tasks_process(t, A)->maps, 0x400000);
	m->module_id = 7;
	m->announced = 11;
	proc_maps_edit(&tasks_process(t, A)->maps, 0x600000)->module_id = 8;
	map(A, 0x400000, "//anon");
	m = proc_maps_edit(&tasks_process(t, A)->maps, 0x400000);
	cr_expect_eq(m->module_id, 7);
	cr_expect_eq(m->announced, 11);
	map(A, 0x400800, "//anon");
	cr_expect_eq(proc_maps_find(&tasks_process(t, A)->maps, 0x400800)->module_id, 0,
		     "elsewhere");
	map(A, 0x400000, "/usr/lib/y.so");
	cr_expect_eq(proc_maps_find(&tasks_process(t, A)->maps, 0x400000)->module_id, 0);
	map(A, 0x600000, "/usr/lib/x.so");
	cr_expect_eq(proc_maps_find(&tasks_process(t, A)->maps, 0x600000)->module_id, 0,
		     "a file may be another one by now");
}

/* One page after the other, at falling addresses. */
Test(tasks, flood_of_mappings_affects_only_symbols_of_its_own_process, .init = setup,
     .fini = teardown)
{
	struct tasks_loss loss;
	uint64_t i;

	fork_of(1, 1, A, A);
	fork_of(1, 1, B, B);
	map_at_time(1, A, 0x400000, "/bin/flood");
	map_at_time(1, B, 0x400000, "/bin/quiet");
	cr_expect_not(tasks_read_loss(t, TASKS_LOST_MAPS, &loss));
	for (i = 0; i < 100000; i++)
		map_at_time(10 + i, A, 0x7f0000000000 - i * 0x1000, "/tmp/x");
	cr_expect_not_null(proc_maps_find(&tasks_process(t, B)->maps, 0x400000));
	cr_expect_null(proc_maps_find(&tasks_process(t, A)->maps, 0x400000),
		       "what it has there now is not known");
	cr_expect_null(
		proc_maps_find(tasks_maps_at(tasks_process(t, A), 0x7f0000000000), 0x7f0000000000));
	cr_assert(tasks_read_loss(t, TASKS_LOST_MAPS, &loss));
	cr_expect_eq(loss.cnt, 100000 - 20000 + 1, "all mappings beyond its budget");
	cr_expect_eq(loss.last_ns, 10 + 100000 - 1);
	cr_expect_not(tasks_read_loss(t, TASKS_LOST_MAPS, &loss), "told once");
	map_at_time(2 * SECOND, A, 0x500000, "/lib/new");
	cr_expect_not_null(proc_maps_find(&tasks_process(t, A)->maps, 0x500000),
			   "what it tells a second later is taken in");
}

Test(tasks, program_whose_first_mapping_was_dropped_is_unknown, .init = setup, .fini = teardown)
{
	uint64_t i;

	fork_of(1, 1, A, A);
	for (i = 0; i < 20000; i++)
		map_at_time(10, A, 0x400000, "/tmp/x");
	comm(A, A, "new", true);
	map_at_time(20, A, 0x400000, "/bin/new");
	map_at_time(2 * SECOND, A, 0x500000, "/lib/ld.so");
	cr_expect_str_eq(known(A)->proc->exe, "");
}

/* ---- names and programs ----------------------------------------------------------------------------- */

Test(tasks, every_change_is_announced_again, .init = setup, .fini = teardown)
{
	cr_expect_not(tasks_is_announced(t, A));
	fork_of(1, 1, A, A);
	known(A);
	cr_expect(tasks_is_announced(t, A));
	comm(A, A, "x", false);
	cr_expect_not(tasks_is_announced(t, A));
	known(A);
	comm(A, A, "x", true);
	cr_expect_not(tasks_is_announced(t, A), "an exec, though the name is the same");
	known(A);
	map(A, 0x400000, "/bin/x");
	cr_expect_not(tasks_is_announced(t, A), "now the program is known");
	known(A);
	map(A, 0x500000, "/lib/y");
	cr_expect(tasks_is_announced(t, A));
}

Test(tasks, exec_is_another_program_named_by_its_first_code, .init = setup, .fini = teardown)
{
	uint64_t serial;

	fork_of(1, 1, A, A);
	map(A, 0x400000, "/bin/old");
	serial = known(A)->proc->serial;
	comm(A, A, "new", true);
	cr_expect_neq(known(A)->proc->serial, serial);
	cr_expect_null(known(A)->proc->maps.table);
	map_prot(A, 0x300000, "/bin/new-data", 1);
	map(A, 0x400000, "/bin/new");
	map(A, 0x500000, "/lib/ld.so");
	cr_expect_str_eq(known(A)->proc->exe, "/bin/new");
	cr_expect_eq(known(A)->proc->maps.table->cnt, 2);
}

Test(tasks, name_is_cut_to_the_kernels_length, .init = setup, .fini = teardown)
{
	comm(A, A, "a-name-that-is-far-too-long", false);
	cr_expect_str_eq(known(A)->comm, "a-name-that-is-");
	tasks_name(t, tasks_get(t, B, B), "sixteen-letters!", 16);
	cr_expect_str_eq(known(B)->comm, "sixteen-letters");
}

/* The kernel releases the caller's TID and gives it the leader's; all other threads end. */
Test(tasks, exec_by_a_thread_leaves_the_leader_alive_under_the_new_name, .init = setup,
     .fini = teardown)
{
	fork_of(1, 1, A, A);
	comm(A, A, "old", false);
	fork_of(A, A, A, A + 1);
	fork_of(A, A, A, A + 2);
	exit_at(5 * SECOND, A, A + 2);
	exit_at(5 * SECOND, A, A);
	comm(A, A, "new", true);
	map(A, 0x400000, "/bin/new");
	tasks_expire(t, 60 * SECOND);
	cr_assert_not_null(tasks_process(t, A));
	cr_expect_eq(tasks_process(t, A)->task_cnt, 1,
		     "the leader, and not its maker's old number");
	cr_expect_str_eq(known(A)->comm, "new");
	cr_expect_str_eq(known(A)->proc->exe, "/bin/new");
	exit_at(70 * SECOND, A, A);
	tasks_expire(t, 80 * SECOND);
	cr_expect_null(tasks_process(t, A), "its end is seen");
}

Test(tasks, name_from_a_record_is_used_only_for_unnamed_tasks, .init = setup, .fini = teardown)
{
	tasks_name(t, tasks_get(t, A, A), "0123456789abcdefgh", 18);
	cr_expect_str_eq(known(A)->comm, "0123456789abcde");
	tasks_name(t, tasks_get(t, A, A), "other", 5);
	cr_expect_str_eq(known(A)->comm, "0123456789abcde");
	cr_expect(tasks_is_announced(t, A));
	tasks_name(t, tasks_get(t, B, B), "b", 1);
	cr_expect_str_eq(known(B)->comm, "b");
}

/* ---- ends ------------------------------------------------------------------------------------------- */

Test(tasks, dead_tasks_are_known_for_a_second, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	comm(A, A, "mortal", false);
	map(A, 0x400000, "/bin/x");
	exit_at(5 * SECOND, A, A);
	tasks_expire(t, 6 * SECOND);
	cr_expect_str_eq(known(A)->comm, "mortal");
	cr_expect_not_null(proc_maps_find(&tasks_process(t, A)->maps, 0x400000));
	tasks_expire(t, 6 * SECOND + 1);
	cr_expect_null(tasks_process(t, A));
	cr_expect_not(tasks_is_announced(t, A), "the number is free for another");
}

Test(tasks, repeated_end_is_one_end, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	exit_at(5 * SECOND, A, A);
	exit_at(6 * SECOND, A, A);
	tasks_expire(t, 20 * SECOND);
	cr_expect_null(tasks_process(t, A));
}

Test(tasks, leader_may_end_before_its_threads, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	map(A, 0x400000, "/bin/x");
	fork_of(A, A, A, A + 1);
	exit_at(1 * SECOND, A, A);
	tasks_expire(t, 10 * SECOND);
	cr_assert_not_null(tasks_process(t, A));
	cr_expect_eq(known(A + 1)->proc, tasks_process(t, A));
	cr_expect_not_null(proc_maps_find(&tasks_process(t, A)->maps, 0x400000));
	exit_at(11 * SECOND, A, A + 1);
	tasks_expire(t, 20 * SECOND);
	cr_expect_null(tasks_process(t, A));
}

Test(tasks, threads_may_end_before_their_leader, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	fork_of(A, A, A, A + 1);
	exit_at(1 * SECOND, A, A + 1);
	tasks_expire(t, 10 * SECOND);
	cr_assert_not_null(tasks_process(t, A));
	cr_expect_eq(tasks_process(t, A)->task_cnt, 1);
	exit_at(11 * SECOND, A, A);
	tasks_expire(t, 20 * SECOND);
	cr_expect_null(tasks_process(t, A));
}

/* ---- reused numbers ---------------------------------------------------------------------------------- */

Test(tasks, tid_that_starts_again_is_another_thread, .init = setup, .fini = teardown)
{
	uint64_t serial;

	fork_of(1, 1, A, A);
	comm(A, A, "first", true);
	map(A, 0x400000, "/bin/first");
	serial = known(A)->proc->serial;
	exit_at(1 * SECOND, A, A);
	fork_of(2, 2, A, A);
	cr_expect_not(tasks_is_announced(t, A));
	cr_expect_str_eq(known(A)->comm, "");
	cr_expect_str_eq(known(A)->proc->exe, "");
	cr_expect_eq(known(A)->proc->ppid, 2);
	cr_expect_null(known(A)->proc->maps.table);
	cr_expect_neq(known(A)->proc->serial, serial);
	comm(A, A, "second", false);
	known(A);
	tasks_expire(t, 60 * SECOND);
	cr_expect_str_eq(known(A)->comm, "second", "the first one's burial is not the second's");
	cr_expect(tasks_is_announced(t, A));
	exit_at(61 * SECOND, A, A);
	tasks_expire(t, 70 * SECOND);
	cr_expect_null(tasks_process(t, A));
}

/* The last switch of a task may come after it has been removed, and adds it again. */
Test(tasks, tid_met_before_its_birth_was_another_thread, .init = setup, .fini = teardown)
{
	struct task *ghost = tasks_get(t, A, A);

	tasks_name(t, ghost, "ghost", 5);
	tasks_set_announced(t, A);
	tasks_side(t, &(struct perf_side){ .type = PERF_SIDE_FORK,
					   .time = ghost->met_ns + 1,
					   .ppid = 1,
					   .ptid = 1,
					   .pid = A,
					   .tid = A,
					   .name = "" });
	cr_expect_not(tasks_is_announced(t, A));
	cr_expect_str_eq(known(A)->comm, "");
}

Test(tasks, pid_may_return_as_a_thread_of_another_process, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	exit_at(1 * SECOND, A, A);
	fork_of(1, 1, B, B);
	comm(B, B, "b", false);
	fork_of(B, B, B, A);
	cr_expect_eq(known(A)->proc->pid, B);
	tasks_expire(t, 60 * SECOND);
	cr_expect_null(tasks_process(t, A));
	cr_expect_eq(known(A)->proc->pid, B);
	cr_expect_eq(tasks_process(t, B)->task_cnt, 2);
}

Test(tasks, tid_that_returns_after_a_lost_end_leaks_nothing, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	fork_of(A, A, A, A + 1); /* a task whose end is lost */
	exit_at(1 * SECOND, A, A);
	fork_of(1, 1, A, A);
	cr_expect_neq(known(A)->proc, known(A + 1)->proc);
	cr_expect_eq(known(A)->proc, tasks_process(t, A));
}

Test(tasks, tid_with_a_lost_end_is_another_thread_in_another_process, .init = setup,
     .fini = teardown)
{
	fork_of(1, 1, A, A);
	comm(A, A + 1, "old", false);
	fork_of(1, 1, B, B);
	known(A + 1);
	fork_of(B, B, B, A + 1);
	cr_expect_not(tasks_is_announced(t, A + 1));
	cr_expect_eq(known(A + 1)->proc->pid, B);
	cr_expect_str_eq(known(A + 1)->comm, "");
	tasks_expire(t, 60 * SECOND);
	cr_expect_eq(tasks_process(t, A)->task_cnt, 1);
}

Test(tasks, end_without_a_time_is_an_end, .init = setup, .fini = teardown)
{
	fork_of(1, 1, A, A);
	exit_at(0, A, A);
	exit_at(0, A, A);
	tasks_expire(t, 60 * SECOND);
	cr_expect_null(tasks_process(t, A));
}

/* ---- all at once --------------------------------------------------------------------------------------- */

/* Any side-band records, in any order and with few numbers: a sanitizer checks. */
Test(tasks, any_order_of_events_is_safe, .init = setup, .fini = teardown)
{
	unsigned int seed = 11;
	uint64_t now = 0;
	int i;

	for (i = 0; i < 200000; i++) {
		uint32_t pid = A + rand_r(&seed) % 8, tid = A + rand_r(&seed) % 16;

		now += rand_r(&seed) % (SECOND / 10);
		switch (rand_r(&seed) % 10) {
		case 9:
			if (rand_r(&seed) % 50 == 0)
				tasks_forget(t, 0);
			break;
		case 8:
			if (rand_r(&seed) % 50 == 0)
				lose(PERF_SIDE_LOST);
			tasks_process(t, pid);
			break;
		case 0:
			fork_of(A + rand_r(&seed) % 8, A + rand_r(&seed) % 16, pid, pid);
			break;
		case 1:
			fork_of(pid, pid, pid, tid);
			break;
		case 2:
			comm(pid, tid, rand_r(&seed) % 2 ? "a" : "b", rand_r(&seed) % 2);
			break;
		case 3:
			map(pid, rand_r(&seed) % 16 * 0x1000, "/bin/x");
			break;
		case 4:
		case 5:
			exit_at(now, pid, tid);
			break;
		case 6:
			tasks_expire(t, now);
			break;
		default:
			cr_assert_eq(tasks_get(t, tid, pid)->tid, tid);
			tasks_set_announced(t, tid);
		}
	}
}
