// SPDX-License-Identifier: BSD-2-Clause
/* Frames from walks over mapping lists: what is written to the trace for them, and when. */
#include "record/symbols/frames.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel/perf_side.h"
#include "prof_events.h"
#include "prof_unwind.h"
#include "record/process/tasks.h"
#include "tests/record/support.h"

#define A NO_SUCH_TID
#define B (NO_SUCH_TID + 10)
#define LIB "/usr/lib/libwalked.so"

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
	rig_task(&rig, A, A, "a");
	rig_task(&rig, B, B, "b");
}

static void teardown(void)
{
	rig_fini(&rig);
}

TestSuite(frames, .init = setup, .fini = teardown);

static void map_build(uint32_t pid, uint64_t start, uint8_t build)
{
	tasks_side(rig.tasks, &(struct perf_side){ .type = PERF_SIDE_MMAP,
						   .pid = pid,
						   .addr = start,
						   .len = 0x2000,
						   .pgoff = 0x1000,
						   .prot = PROT_EXEC,
						   .build_id = { build, 0, 7 },
						   .build_id_sz = 3,
						   .name = LIB,
						   .name_len = strlen(LIB) });
}

static uint32_t identify(uint32_t pid, uint64_t addr)
{
	struct map m = *proc_maps_find(&tasks_process(rig.tasks, pid)->maps, addr);
	uint32_t id = 0;

	cr_assert(frames_identify(rig.frames, &(struct frames_from){ .pid = pid }, &m, true, &id));
	return id;
}

static uint64_t walked(uint32_t pid, uint64_t frame)
{
	return frames_walked(rig.frames, tasks_process(rig.tasks, pid), frame);
}

static uint64_t frame_in(uint32_t id, uint64_t off)
{
	return (uint64_t)id << PROF_FRAME_MODULE_SHIFT | off;
}

/* Events that were written since the last call. */
static void expect_events(size_t modules, size_t maps)
{
	const char *text = rig_text(&rig, ""), *at;
	size_t cnt[2] = { 0 };

	for (at = text; (at = strstr(at, " ModuleEvent ")); at++)
		cnt[0]++;
	for (at = text; (at = strstr(at, " ProcMapsEntry ")); at++)
		cnt[1]++;
	cr_expect_eq(cnt[0], modules, "%s", text);
	cr_expect_eq(cnt[1], maps, "%s", text);
}

Test(frames, file_has_one_module_id_in_all_processes_and_each_build_its_own)
{
	uint32_t id;

	map_build(A, 0x400000, 1);
	map_build(B, 0x700000, 1);
	map_build(B, 0x800000, 2);
	id = identify(A, 0x400000);
	cr_expect_gt(id, 0);
	cr_expect_eq(identify(B, 0x700000), id);
	cr_expect_neq(identify(B, 0x800000), id);
	expect_events(0, 0);
}

Test(frames, walked_frame_announces_its_module_and_mapping)
{
	const char *text;
	uint32_t id;

	map_build(A, 0x400000, 1);
	id = identify(A, 0x400000);
	cr_expect_eq(walked(A, frame_in(id, 0x1234)), frame_in(id, 0x1234));
	cr_expect_eq(walked(A, frame_in(id, 0x1300)), frame_in(id, 0x1300));
	text = rig_text(&rig, "");
	cr_expect(strstr(text, " ProcMapsEntry pid=5000000 start=4194304 end=4202496 offset=4096 "
			       "module_id=1\n"),
		  "%s", text);
	cr_expect(strstr(text,
			 " ModuleEvent module_id=1 path=\"" LIB "\" build_id=<010007> kind=0\n"),
		  "%s", text);
}

Test(frames, mappings_of_each_program_are_announced_once)
{
	uint32_t id;

	map_build(A, 0x400000, 1);
	map_build(A, 0x600000, 1);
	map_build(B, 0x700000, 1);
	map_build(B, 0x800000, 2);
	id = identify(A, 0x400000);
	walked(A, frame_in(id, 0x1000));
	expect_events(1, 2);
	walked(B, frame_in(id, 0x1000));
	walked(B, frame_in(id, 0x1001));
	walked(A, frame_in(id, 0x1001));
	expect_events(0, 1);
}

Test(frames, unknown_mappings_are_announced_later)
{
	uint32_t id;

	map_build(A, 0x400000, 1);
	id = identify(A, 0x400000);
	walked(B, frame_in(id, 0x1000));
	expect_events(1, 0);
	map_build(B, 0x700000, 1);
	walked(B, frame_in(id, 0x1001));
	walked(B, frame_in(id, 0x1001));
	expect_events(0, 1);
}

Test(frames, raw_frame_is_looked_up)
{
	uint64_t frame;

	rig_map(&rig, A, 0x10000, 0x11000, 0, "//anon");
	frame = walked(A, PROF_UNWIND_RAW | 0x10010);
	cr_expect_eq(frame, frames_user(rig.frames, tasks_process(rig.tasks, A), 0x10010));
	cr_expect_neq(frame >> PROF_FRAME_MODULE_SHIFT, 0);
	cr_expect_eq(walked(A, PROF_UNWIND_RAW | 0x99990000), 0x99990000);
}

Test(frames, forgotten_and_unknown_modules_give_no_address)
{
	uint32_t id, before;

	map_build(A, 0x400000, 1);
	id = identify(A, 0x400000);
	before = frames_forgets(rig.frames);
	frames_forget(rig.frames, 0);
	cr_expect_neq(frames_forgets(rig.frames), before);
	cr_expect_eq(walked(A, frame_in(id, 0x1000)), 0);
	cr_expect_eq(walked(A, frame_in(77, 0x1000)), 0);
	expect_events(0, 0);
	cr_expect_eq(frames_walked(rig.frames, NULL, frame_in(77, 0x1000)), 0);
}

Test(frames, announced_module_keeps_its_id_when_it_is_forgotten)
{
	uint32_t id;

	map_build(A, 0x400000, 1);
	id = identify(A, 0x400000);
	cr_expect_eq(walked(A, frame_in(id, 0x1000)), frame_in(id, 0x1000));
	frames_forget(rig.frames, 0);
	cr_expect_eq(walked(A, frame_in(id, 0x2000)), frame_in(id, 0x2000));
	cr_expect_neq(identify(A, 0x400000), id);
}

Test(frames, recently_used_module_is_forgotten_last)
{
	uint32_t first, second, i;
	struct map m = { .path = "/x", .build_id_sz = 4, .build_id_known = true };

	map_build(A, 0x400000, 1);
	map_build(A, 0x500000, 2);
	first = identify(A, 0x400000);
	second = identify(A, 0x500000);
	for (i = 0; i < 1000; i++) {
		uint32_t id;

		memcpy(m.build_id, &i, sizeof(i));
		cr_assert(frames_identify(rig.frames, &(struct frames_from){ 0 }, &m, true, &id));
	}
	frames_touch(rig.frames, first);
	frames_forget(rig.frames, frames_memory(rig.frames) * 3 / 4);
	cr_expect_eq(walked(A, frame_in(first, 0x1000)), frame_in(first, 0x1000));
	cr_expect_eq(walked(A, frame_in(second, 0x1000)), 0);
}
