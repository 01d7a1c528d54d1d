// SPDX-License-Identifier: BSD-2-Clause
/* Which lists processes have, if a side-band and programs simulated here disagree on times. */
#include "record/unwind_maps/unwind_loader.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/perf_side.h"
#include "prof_walk.h"
#include "record/capture/capture_unwind.h"
#include "record/process/proc_maps.h"
#include "record/process/string_pool.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "tests/record/support.h"

enum { MAPS = 64, PROCS = 64, MODULES = 8, A = NO_SUCH_TID, B = NO_SUCH_TID + 10 };

static struct prof_unwind_map lists[MAPS];
static struct prof_unwind_proc procs[PROCS];
static struct prof_unwind_module modules[MODULES];
static uint32_t generation, list_generation;
static uint64_t condemned;
static struct capture_unwind memory;
static struct tasks *tasks;
static struct frames *frames;
static struct unwind_loader *u;

static void start(bool all)
{
	const struct unwind_loader_cfg cfg = {
		.memory = &memory, .tasks = tasks, .frames = frames, .all = all
	};

	cr_assert_eq(unwind_loader_new(&cfg, &u), 0);
}

static void setup(void)
{
	memory = (struct capture_unwind){
		.modules = modules,
		.maps = lists,
		.procs = procs,
		.cnt = { .module_cnt = MODULES, .map_cnt = MAPS, .proc_cnt = PROCS },
		.generation = &generation,
		.condemned = &condemned,
		.list_generation = &list_generation,
	};
	tasks = tasks_new(true);
	cr_assert_eq(frames_new(NULL, NULL, false, &frames), 0);
	start(false);
}

static void teardown(void)
{
	unwind_loader_free(u);
	frames_free(frames);
	tasks_free(tasks);
}

TestSuite(unwind_loader, .init = setup, .fini = teardown);

static struct prof_unwind_proc *place(uint32_t tgid)
{
	uint32_t i;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++)
		if (procs[(prof_unwind_hash(tgid) + i) % PROCS].tgid == tgid)
			return &procs[(prof_unwind_hash(tgid) + i) % PROCS];
	return NULL;
}

static void on_exec(uint32_t pid)
{
	unwind_loader_side(u, &(struct perf_side){ .type = PERF_SIDE_COMM,
						   .time = clock_mono_ns(),
						   .pid = pid,
						   .tid = pid,
						   .comm_exec = true,
						   .name = "" });
}

static void on_file(uint32_t pid, uint64_t addr, uint8_t build_id)
{
	unwind_loader_side(u, &(struct perf_side){ .type = PERF_SIDE_MMAP,
						   .time = clock_mono_ns(),
						   .pid = pid,
						   .tid = pid,
						   .addr = addr,
						   .len = 0x1000,
						   .prot = PROT_READ | PROT_EXEC,
						   .build_id = { build_id },
						   .build_id_sz = 1,
						   .name = "/bin/x",
						   .name_len = 6 });
}

static void on_map(uint32_t pid, uint64_t addr)
{
	on_file(pid, addr, 1);
}

static void on_fork(uint32_t ppid, uint32_t pid, uint64_t time)
{
	unwind_loader_side(u, &(struct perf_side){ .type = PERF_SIDE_FORK,
						   .time = time,
						   .pid = pid,
						   .tid = pid,
						   .ppid = ppid,
						   .ptid = ppid,
						   .name = "" });
}

/* Like the BPF programs. */
static void count_exec(uint32_t tgid)
{
	place(tgid)->execs++;
	place(tgid)->list = 0;
}

/* How many mappings its list has when all known mappings are published. */
static uint32_t listed(uint32_t tgid)
{
	while (unwind_loader_poll(u) != UINT64_MAX)
		sched_yield();
	return (uint32_t)place(tgid)->list;
}

static void follow_new_program(void)
{
	unwind_loader_follow(u, A, NULL, false);
	count_exec(A);
	on_exec(A);
	on_map(A, 0x400000);
}

Test(unwind_loader, exec_that_ended_before_it_was_reported_is_counted_once)
{
	follow_new_program();
	unwind_loader_poll(u);
	cr_expect_eq((uint32_t)place(A)->list, 1, "at once");
}

Test(unwind_loader, list_that_is_ready_before_the_exec_is_counted_waits_for_it)
{
	unwind_loader_follow(u, A, NULL, false);
	on_exec(A);
	on_map(A, 0x400000);
	unwind_loader_poll(u);
	cr_expect_eq(place(A)->list, 0);
	count_exec(A);
	cr_expect_eq(listed(A), 1);
}

Test(unwind_loader, fork_before_a_list_was_published_does_not_pass_it_to_the_child)
{
	uint64_t before, forked;

	follow_new_program();
	cr_assert_eq(listed(A), 1);
	before = place(A)->list;
	on_map(A, 0x500000);
	forked = clock_mono_ns();
	procs[prof_unwind_hash(B) % PROCS] = (struct prof_unwind_proc){ .tgid = B, .list = before };
	cr_assert_eq(listed(A), 2);
	on_fork(A, B, forked);
	cr_expect_eq(listed(B), 2);
}

Test(unwind_loader, child_keeps_the_list_that_it_inherited)
{
	follow_new_program();
	cr_assert_eq(listed(A), 1);
	procs[prof_unwind_hash(B) % PROCS] =
		(struct prof_unwind_proc){ .tgid = B, .list = place(A)->list };
	on_fork(A, B, clock_mono_ns());
	cr_expect_eq(listed(B), 1);
	cr_expect_eq(place(B)->list, place(A)->list);
}

Test(unwind_loader, mapping_of_a_child_with_shared_memory_belongs_to_its_parent_too)
{
	follow_new_program();
	cr_assert_eq(listed(A), 1);
	procs[prof_unwind_hash(B) % PROCS] = (struct prof_unwind_proc){
		.tgid = B, .execs = PROF_UNWIND_SHARES_MEMORY, .list = place(A)->list
	};
	on_fork(A, B, clock_mono_ns());
	on_map(B, 0x500000);
	cr_expect_eq(listed(B), 2);
	cr_expect_eq(listed(A), 2);
	place(B)->execs &= ~PROF_UNWIND_SHARES_MEMORY;
	count_exec(B);
	on_exec(B);
	on_map(B, 0x600000);
	cr_expect_eq(listed(B), 1);
	cr_expect_eq(listed(A), 2);
}

Test(unwind_loader, walk_without_a_list_requests_a_list_after_a_lost_exec)
{
	const struct prof_rec rec = { .pid = A, .user_end = PROF_END_NO_LIST };

	follow_new_program();
	cr_assert_eq(listed(A), 1);
	count_exec(A);
	unwind_loader_record(u, &rec, true);
	cr_expect_eq(listed(A), 1);
}

Test(unwind_loader, memory_for_walks_of_copies_is_counted)
{
	cr_expect_gt(unwind_loader_memory(u), sizeof(struct prof_walk) + UINT16_MAX);
}

Test(unwind_loader, process_without_room_is_counted_once)
{
	struct unwind_loader_counts counts;
	uint64_t until;
	int i;

	follow_new_program();
	cr_assert_eq(listed(A), 1);
	for (i = 0; i < MAPS; i++)
		on_map(A, 0x500000 + 0x2000 * (uint64_t)i);
	until = clock_mono_ns() + 900000000; /* it is tried again at 0.2 and 0.6 s */
	while (clock_mono_ns() < until) {
		unwind_loader_poll(u);
		sched_yield();
	}
	unwind_loader_count(u, &counts);
	cr_expect_eq(counts.left_out, 1);
	cr_expect_eq(place(A)->list, 0, "what it had is not true any more");
}

static struct perf_side map_of(uint64_t addr, uint8_t build_id_sz)
{
	return (struct perf_side){ .type = PERF_SIDE_MMAP,
				   .time = clock_mono_ns(),
				   .pid = A,
				   .tid = A,
				   .addr = addr,
				   .len = 0x1000,
				   .prot = PROT_READ | PROT_EXEC,
				   .ino = 77,
				   .build_id = { 1 },
				   .build_id_sz = build_id_sz,
				   .name = "/bin/x",
				   .name_len = 6 };
}

Test(unwind_loader, slots_of_ended_programs_are_reused, .timeout = 30)
{
	const struct prof_unwind_map *last = NULL;
	struct perf_side unidentified;
	int i;

	follow_new_program();
	for (i = 1; i < MODULES; i++)
		on_file(A, 0x500000 + 0x2000 * (uint64_t)i, 1 + i);
	cr_assert_eq(listed(A), MODULES);
	count_exec(A);
	on_exec(A);
	on_file(A, 0x400000, 99);
	unidentified = map_of(0x480000, 0);
	unwind_loader_side(u, &unidentified);
	cr_assert_eq(listed(A), 2);
	cr_expect_eq(lists[(place(A)->list >> 32) + 1].slot, PROF_UNWIND_SOON);
	cr_expect_eq(lists[place(A)->list >> 32].slot, PROF_UNWIND_NO_SLOT, "all are taken");
	while (!last || last->slot == PROF_UNWIND_NO_SLOT) {
		unwind_loader_step(u);
		unwind_loader_poll(u);
		sched_yield();
		last = &lists[place(A)->list >> 32];
	}
	cr_expect_lt(last->slot, MODULES);
}

/* ---- stacks that were copied -------------------------------------------------------------------- */

enum { REG_IP = 16, REG_SP = 19 }; /* words of pt_regs */

struct copy {
	struct prof_rec rec;
	uint64_t words[PROF_COPY_REGS + 1];
};

/* Of a process that has mapped this file there, as known to the drain. */
static struct copy copy_in(uint64_t addr, uint64_t time, const struct perf_side *map)
{
	struct copy c = { .rec = { .size = sizeof(c),
				   .kind = PROF_REC_SAMPLE,
				   .flags = PROF_REC_STACKS | PROF_REC_COPIED,
				   .ts = time,
				   .pid = A,
				   .tid = A,
				   .ustack_cnt = PROF_COPY_REGS + 1,
				   .user_end = PROF_END_NO_TABLE } };

	tasks_get(tasks, A, A);
	tasks_side(tasks, map);
	c.words[REG_IP] = addr;
	c.words[REG_SP] = 0x7fff0000;
	return c;
}

static uint8_t walked_end(const struct copy *c)
{
	const struct prof_rec *rec = unwind_loader_record(u, &c->rec, true);

	return rec ? rec->user_end : PROF_END_NOT_WALKED;
}

static uint64_t walked_frame(const struct copy *c)
{
	return *(const uint64_t *)(unwind_loader_record(u, &c->rec, true) + 1);
}

Test(unwind_loader, stack_waits_for_a_missing_table_for_a_limited_time)
{
	uint64_t now = clock_mono_ns(), second = 1000000000;
	struct perf_side map = map_of(0x400000, 1);
	struct copy young = copy_in(0x400010, now + 100 * second, &map);
	struct copy old = copy_in(0x400010, now - 4 * second, &map);

	unwind_loader_be_patient(u, true);
	cr_expect_eq(walked_end(&young), PROF_END_NO_TABLE, "nobody is there to build it");
	cr_expect(modules[0].left_out);
	modules[0].left_out = 0;
	cr_expect_eq(walked_end(&young), PROF_END_NOT_WALKED, "later");
	cr_expect_eq(walked_end(&old), PROF_END_NO_TABLE);
	unwind_loader_be_patient(u, false);
	cr_expect_eq(walked_end(&young), PROF_END_NO_TABLE);
}

Test(unwind_loader, stack_waits_until_its_file_is_identified)
{
	uint64_t now = clock_mono_ns(), second = 1000000000;
	struct perf_side map = map_of(0x400000, 0);
	struct copy young = copy_in(0x400010, now + 100 * second, &map);
	struct copy old = copy_in(0x400010, now - 4 * second, &map);

	unwind_loader_be_patient(u, true);
	cr_expect_eq(walked_end(&young), PROF_END_NOT_WALKED, "later");
	cr_expect_eq(walked_end(&old), PROF_END_NO_TABLE);
}

Test(unwind_loader, copied_stack_looks_up_only_the_mappings_of_its_frames)
{
	struct perf_side map = map_of(0x400000, 1);
	struct copy c = copy_in(0x400010, clock_mono_ns(), &map);
	struct unwind_loader_counts counts;
	uint8_t i;

	unwind_loader_free(u);
	start(true);
	for (i = 1; i < 8 * MODULES; i++) {
		map = map_of(0x400000 + i * 0x2000, 1);
		map.build_id[0] = i + 1;
		tasks_side(tasks, &map);
	}
	cr_expect_eq(walked_end(&c), PROF_END_NO_TABLE);
	unwind_loader_count(u, &counts);
	cr_expect_eq(counts.store.modules_left_out, 0, "each file has a slot if it is looked up");
}

Test(unwind_loader, copied_stack_after_an_exec_belongs_to_the_new_program)
{
	uint64_t now = clock_mono_ns();
	struct perf_side map = map_of(0x400000, 1);
	struct copy c = copy_in(0x400010, now, &map);
	uint64_t before, after;

	before = walked_frame(&c);
	tasks_side(tasks, &(struct perf_side){ .type = PERF_SIDE_COMM,
					       .time = now,
					       .pid = A,
					       .tid = A,
					       .comm_exec = true,
					       .name = "y",
					       .name_len = 1 });
	map.build_id[0] = 2;
	tasks_side(tasks, &map);
	after = walked_frame(&c);
	cr_expect_neq(before >> PROF_FRAME_MODULE_SHIFT, 0);
	cr_expect_neq(after >> PROF_FRAME_MODULE_SHIFT, 0);
	cr_expect_neq(after, before);
}

/* ---- tables that are requested before a stack needs them, system-wide ------------------------------ */

static void map_in_new_program(uint32_t pid)
{
	on_exec(pid);
	count_exec(pid);
	on_map(pid, 0x400000);
	cr_assert_eq(listed(pid), 1);
}

Test(unwind_loader, table_of_a_file_is_requested_when_many_processes_map_it)
{
	uint32_t i;

	unwind_loader_free(u);
	start(true);
	for (i = 0; i < 7; i++)
		map_in_new_program(B + i);
	on_map(B, 0x500000);
	cr_assert_eq(listed(B), 2);
	cr_expect_eq(modules[0].left_out, 0);
	map_in_new_program(B + i);
	cr_expect_eq(modules[0].left_out, 1, "requested, and nobody is there to build it");
}

Test(unwind_loader, tables_of_a_running_process_are_requested_at_once)
{
	const struct map map = { .start = 0x400000,
				 .end = 0x401000,
				 .path = string_pool_get(tasks_texts(tasks), "/bin/x", 6),
				 .build_id = { 1 },
				 .build_id_sz = 1,
				 .build_id_known = true };
	struct proc_maps maps;

	unwind_loader_free(u);
	start(true);
	tasks_init_maps(tasks, &maps);
	cr_assert(proc_maps_insert(&maps, &map));
	unwind_loader_follow(u, A, &maps, false);
	cr_expect_eq(modules[0].left_out, 0);
	unwind_loader_follow(u, B, &maps, true);
	cr_expect_eq(modules[0].left_out, 1, "requested, and nobody is there to build it");
	proc_maps_free(&maps);
	string_pool_unref(tasks_texts(tasks), map.path);
}

/* Its records were dropped. Other processes may have its number by then. */
Test(unwind_loader, place_of_a_process_that_was_never_reported_is_freed_when_its_number_is)
{
	const pid_t child = fork();

	if (!child)
		_exit(0);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t pid = i ? (uint32_t)child : B;

		procs[prof_unwind_hash(pid) % PROCS] =
			(struct prof_unwind_proc){ .tgid = pid, .list = 1ULL << 32 | 1 };
		unwind_loader_ended(u, pid);
	}
	unwind_loader_step(u);
	cr_expect_null(place(B));
	cr_assert_not_null(place(child), "nobody has waited for it");
	cr_assert_eq(waitpid(child, NULL, 0), child);
	unwind_loader_step(u);
	cr_expect_null(place(child));
}

Test(unwind_loader, place_of_a_known_process_stays_when_an_older_one_with_its_number_is_dropped)
{
	follow_new_program();
	unwind_loader_ended(u, A);
	unwind_loader_step(u);
	cr_expect_not_null(place(A));
}
