// SPDX-License-Identifier: BSD-2-Clause
/* The cap over all that is remembered, with the real parts below it. */
#include "record/memory.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "record/frames.h"
#include "record/stacks.h"
#include "record/tasks.h"
#include "support.h"

#define A NO_SUCH_TID
#define MAX (32UL << 20)

static struct rig rig;
static struct memory memory;

static void setup(void)
{
	rig_init(&rig);
	memory = (struct memory){
		.max = MAX, .tasks = rig.tasks, .frames = rig.frames, .stacks = rig.stacks
	};
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(memory, .init = setup, .fini = teardown);

/* A path of three kilobytes, as a hostile program would have it. */
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
			memory_check(&memory);
		cr_assert_lt(tasks_memory(rig.tasks), MAX);
	}
	memory_check(&memory);
	cr_expect_gt(memory.forgotten, 10);
	cr_expect_lt(memory.held, MAX);
}

Test(memory, who_has_most_mappings_loses_them_first)
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
	cr_expect_null(maps_find(&tasks_process(t, A + 1)->maps, 0x400000));
	cr_expect_not_null(maps_find(&tasks_process(t, A)->maps, 0x400000));
	cr_expect_eq(tasks_forget(t, 0), 1, "and then the others");
	cr_expect_null(maps_find(&tasks_process(t, A)->maps, 0x400000));
	rig_map(&rig, A, 0x500000, 0x501000, 0, "/lib/since");
	cr_expect_not_null(maps_find(&tasks_process(t, A)->maps, 0x500000));
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
			memory_check(&memory);
		cr_assert_lt(frames_memory(rig.frames), MAX / 2);
	}
	cr_expect_gt(memory.forgotten, 15000);
}

Test(memory, modules_that_there_is_no_memory_to_name_are_said_to_be_forgotten)
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

Test(memory, stacks_are_forgotten_too)
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
		stacks_resolve(rig.stacks, rec, NULL, &cnt);
		cr_assert_eq(cnt, 127);
		free(rec);
	}
	cr_expect_gt(stacks_memory(rig.stacks), 4000 * 127 * 8);
	memory_check(&memory);
	cr_expect_lt(stacks_memory(rig.stacks), 4000 * 127 * 8 / 2);
}
