// SPDX-License-Identifier: BSD-2-Clause
/* The limit for all stored data, with the real parts below it. */
#include "record/control/cache_limit.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/symbols/stacks.h"
#include "symbol/broker/sym_client.h"
#include "tests/record/support.h"

#define A NO_SUCH_TID
#define MAX (32UL << 20)

static struct rig rig;
static struct cache_limit memory;

static void setup(void)
{
	rig_init(&rig);
	memory = (struct cache_limit){
		.max = MAX, .tasks = rig.tasks, .frames = rig.frames, .stacks = rig.stacks
	};
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(memory, .init = setup, .fini = teardown);

/* A path of three kilobytes, as from a hostile program. */
static void map_long_path(uint32_t pid, uint64_t start, int i)
{
	char path[3000];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	snprintf(path + sizeof(path) - 20, 20, "%d", i);
	rig_map(&rig, pid, start, start + 0x1000, 0, path);
}

Test(memory, mappings_with_long_paths_stay_below_the_cap)
{
	int i;

	for (i = 0; i < 20; i++)
		rig_task(&rig, A + i, A + i, "enemy");
	for (i = 0; i < 100000; i++) {
		map_long_path(A + i % 20, 0x400000 + (uint64_t)i * 0x1000, i);
		if (i % 1000 == 0)
			cache_limit_enforce(&memory);
		cr_assert_lt(tasks_memory(rig.tasks), MAX);
	}
	cache_limit_enforce(&memory);
	cr_expect_gt(memory.forgotten, 10);
	cr_expect_lt(memory.held, MAX);
}

Test(memory, process_with_most_mappings_loses_them_first)
{
	struct tasks *t = rig.tasks;
	size_t before;
	int i;

	rig_task(&rig, A, A, "small");
	rig_task(&rig, A + 1, A + 1, "large");
	rig_map(&rig, A, 0x400000, 0x401000, 0, "/bin/small");
	before = tasks_memory(t);
	for (i = 0; i < 1000; i++)
		map_long_path(A + 1, 0x400000 + (uint64_t)i * 0x1000, i);
	cr_expect_gt(tasks_memory(t), before + 1000 * 3000);
	cr_expect_eq(tasks_forget(t, SIZE_MAX), 0);
	cr_expect_eq(tasks_forget(t, before + 500000), 1);
	cr_expect_lt(tasks_memory(t), before + 500000);
	cr_expect_null(proc_maps_find(&tasks_process(t, A + 1)->maps, 0x400000));
	cr_expect_not_null(proc_maps_find(&tasks_process(t, A)->maps, 0x400000));
	cr_expect_eq(tasks_forget(t, 0), 1, "and then the others");
	cr_expect_null(proc_maps_find(&tasks_process(t, A)->maps, 0x400000));
	rig_map(&rig, A, 0x500000, 0x501000, 0, "/lib/since");
	cr_expect_not_null(proc_maps_find(&tasks_process(t, A)->maps, 0x500000));
}

/* Each mapping is met once, and so is each module. */
Test(memory, modules_with_long_paths_stay_below_the_cap)
{
	uint64_t frame = 0, before = 0;
	int i;

	rig_task(&rig, A, A, "enemy");
	for (i = 0; i < 19000; i++) {
		map_long_path(A, 0x400000, i);
		before = frame;
		frame = frames_user(rig.frames, tasks_process(rig.tasks, A), 0x400010);
		cr_assert_neq(frame, before, "a number of its own");
		if (i % 1000 == 0)
			cache_limit_enforce(&memory);
		cr_assert_lt(frames_memory(rig.frames), MAX / 2);
	}
	cr_expect_gt(memory.forgotten, 15000);
}

Test(memory, modules_without_memory_for_their_symbols_are_reported_as_forgotten)
{
	const char *text;

	frames_limit_naming(rig.frames, 4000);
	rig_task(&rig, A, A, "enemy");
	map_long_path(A, 0x400000, 1);
	map_long_path(A, 0x500000, 2);
	frames_user(rig.frames, tasks_process(rig.tasks, A), 0x400010);
	cr_expect_null(strstr(rig_text(&rig, "ModuleStatus"), "forgotten"));
	frames_user(rig.frames, tasks_process(rig.tasks, A), 0x500010);
	text = rig_text(&rig, "ModuleStatus");
	cr_expect_not_null(strstr(text, "module_id=2 status=\"forgotten\" detail=\"memory\""), "%s",
			   text);
}

/* Two tables of an encoder. Records that wait are in addition. */
Test(memory, shares_of_all_parts_fit_into_the_limit)
{
	cr_expect_gt(cache_limit_waiting_max(MAX), MAX / 8);
	cr_expect_leq(cache_limit_waiting_max(MAX), MAX / 16 * 3, "as the manual says");
	cr_expect_gt(cache_limit_pool_max(MAX), MAX / 32);
	cr_expect_gt(cache_limit_naming_max(MAX), MAX / 32);
	cr_expect_eq(cache_limit_helpers_max(MAX), MAX / 16 * 7, "as the manual says");
	cr_expect_lt(2 * cache_limit_pool_max(MAX) + cache_limit_naming_max(MAX) +
			     cache_limit_helpers_max(MAX),
		     MAX / 8 * 5);
}

/* ---- a program that only calls exec ----------------------------------------------------------- */

static void fork_of(uint32_t pid, uint32_t tid)
{
	tasks_side(rig.tasks, &(struct perf_side){ .type = PERF_SIDE_FORK,
						   .ppid = 1,
						   .ptid = 1,
						   .pid = pid,
						   .tid = tid,
						   .name = "" });
}

/* Otherwise it would take all of the drain's time: a check of each task would take minutes. */
Test(memory, cost_of_an_exec_does_not_grow_with_other_tasks, .timeout = 120)
{
	const uint32_t cnt = 100000;
	struct timespec ts;
	uint32_t i;

	for (i = 1; i <= cnt; i++)
		fork_of(A + i, A + i);
	fork_of(A, A);
	fork_of(A, A + i);
	for (i = 0; i < 20000; i++)
		tasks_side(rig.tasks, &(struct perf_side){ .type = PERF_SIDE_COMM,
							   .pid = A,
							   .tid = A,
							   .comm_exec = true,
							   .name = "again",
							   .name_len = 5 });
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	cr_expect_lt(ts.tv_sec, 3);
	cr_expect_eq(tasks_get(rig.tasks, A, 0)->exit_ns, 0);
	cr_expect_neq(tasks_get(rig.tasks, A + cnt + 1, 0)->exit_ns, 0);
	cr_expect_eq(tasks_get(rig.tasks, A + 1, 0)->exit_ns, 0);
}

/* ---- a program that runs code at endless addresses ----------------------------------------------- */

#define PLACES_MAX (2UL << 20)

static struct sym_client *broker;

static void meet_places(uint32_t pid, uint64_t cnt)
{
	uint64_t i;

	rig_task(&rig, pid, pid, "enemy");
	rig_map(&rig, pid, 1ULL << 32, 2ULL << 32, (uint64_t)pid << 32 & 0xffffffffff,
		"/nowhere/enemy");
	for (i = 0; i < cnt; i++)
		frames_user(rig.frames, tasks_process(rig.tasks, pid), (1ULL << 32) + i);
}

static bool is_requested(uint32_t pid)
{
	size_t before = sym_client_questions(broker);

	rig_task(&rig, pid, pid, "innocent");
	rig_map(&rig, pid, 0x400000, 0x401000, 0, "/nowhere/innocent");
	frames_user(rig.frames, tasks_process(rig.tasks, pid), 0x400000 + pid % 0x1000);
	return sym_client_questions(broker) == before + 1;
}

/* The setup of the suite, with a broker. */
static void name_with_broker(void)
{
	const struct sym_client_cfg cfg = { .no_dwarf = true };

	frames_free(rig.frames);
	cr_assert_eq(sym_client_new(&cfg, &broker), 0);
	cr_assert_eq(frames_new(rig.emit, broker, true, &rig.frames), 0);
}

static void end_broker(void)
{
	sym_client_free(broker);
}

Test(memory, addresses_of_one_program_leave_room_for_other_programs, .init = name_with_broker,
     .fini = end_broker)
{
	const char *output;

	support_catch_stderr();
	meet_places(A, PLACES_MAX + 1);
	output = support_stderr();
	cr_expect_str_eq(output, "dial9-prof: record: process 5000000 has more than 524,288 code "
				 "addresses: some get no symbols (use --switch-stacks none or a "
				 "shorter recording)\n");
	cr_expect_eq(sym_client_questions(broker), PLACES_MAX / 4);
	cr_expect_not_null(
		strstr(rig_text(&rig, "ModuleStatus"),
		       "status=\"not_asked\" detail=\"too many places in one process\""));
	cr_expect(is_requested(A + 1));
}

Test(memory, addresses_of_many_programs_are_requested_again_after_answers, .init = name_with_broker,
     .fini = end_broker)
{
	uint64_t i;

	for (i = 0; i < 4; i++)
		meet_places(A + i, PLACES_MAX / 4);
	cr_expect_not(is_requested(A + 10), "too much is asked already");
	cr_expect_not_null(strstr(rig_text(&rig, "ModuleStatus"),
				  "status=\"not_asked\" detail=\"too many places at a time\""));
	sym_client_close_questions(broker);
	cr_expect(frames_generation(rig.frames) == 0);
	frames_user(rig.frames, tasks_process(rig.tasks, A + 10), 0x400001);
	cr_expect(frames_generation(rig.frames) == 1, "what was passed over is met again");
}

/* The 65th program of one owner that generates its code; all live until the test ends. */
Test(memory, code_of_too_many_programs_is_reported, .init = name_with_broker, .fini = end_broker)
{
	const char *text;
	uint32_t i;

	for (i = 0; i <= 64; i++) {
		rig_task(&rig, A + i, A + i, "jit");
		rig_map(&rig, A + i, 0x400000, 0x401000, 0, "//anon");
		tasks_process(rig.tasks, A + i)->owner = 7;
		frames_user(rig.frames, tasks_process(rig.tasks, A + i), 0x400000);
		text = rig_text(&rig, "ModuleStatus");
		cr_expect_not_null(strstr(text, "anonymous"));
		cr_expect_eq(strstr(text, "not_asked") != NULL, i == 64, "%u: %s", i, text);
	}
}

Test(memory, stacks_are_dropped_too)
{
	uint64_t frames[127];
	uint64_t i;
	size_t k, cnt;

	memory.max = 8 << 20;
	rig_task(&rig, A, A, "deep");
	for (i = 0; i < 4000; i++) {
		struct prof_rec *rec;

		for (k = 0; k < 127; k++)
			frames[k] = i * 1000 + k;
		rec = support_rec(&(struct rec_parts){ .kind = PROF_REC_SAMPLE,
						       .pid = A,
						       .tid = A,
						       .ustack = frames,
						       .ustack_cnt = 127 });
		stacks_resolve(rig.stacks, rec, NULL, &cnt, NULL);
		cr_assert_eq(cnt, 127);
		free(rec);
	}
	cr_expect_gt(stacks_memory(rig.stacks), 4000 * 127 * 8);
	cache_limit_enforce(&memory);
	cr_expect_lt(stacks_memory(rig.stacks), 4000 * 127 * 8 / 2);
}
