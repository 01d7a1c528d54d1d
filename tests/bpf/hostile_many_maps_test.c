// SPDX-License-Identifier: BSD-2-Clause
/* Programs with tens of thousands of executable mappings: the recording ends in time, and nothing else is lost. */
/* ALONE: time and loss next to a hostile program */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/bpf/fault.h"

enum { PROGRAMS = 4 };

TestSuite(fault_many_maps, .fini = live_cleanup);

static void expect_expensive(const struct live_proc *info)
{
	const char *at = strstr(info->output.data, "\"most_expensive\":[");
	const char *end = at ? strchr(at, ']') : NULL;

	cr_assert(end, "%s", info->output.data);
	at = strstr(at, "\"comm\":\"many_maps\"");
	cr_expect(at && at < end, "%s", info->output.data);
}

/* @expensive: their mappings cost more than anything else on a machine. */
static void record_with(const char *mappings, bool expensive)
{
	struct live_proc programs[PROGRAMS], info;
	struct fault f;
	int i;

	fault_begin(&f);
	for (i = 0; i < PROGRAMS; i++)
		live_stimulus(&programs[i], "many_maps", mappings, "0", NULL);
	for (i = 0; i < PROGRAMS; i++)
		cr_assert_eq(write(programs[i].in, "\n", 1), 1);
	fault_record(&f, 3, NULL);
	fault_watch(&f, NULL, NULL);
	for (i = 0; i < PROGRAMS; i++)
		fault_kill(&programs[i]);
	fault_check(&f);
	fault_info(&f, &info);
	cr_expect(strstr(info.output.data, "\"lost_events\":0"), "%s", info.output.data);
	if (expensive)
		expect_expensive(&info);
	live_proc_fini(&info);
	fault_end(&f);
}

Test(fault_many_maps, number_of_mappings_at_the_limit)
{
	record_with("8000", false);
}

Test(fault_many_maps, number_of_mappings_above_the_limit)
{
	record_with("32700", true);
}

enum { SECOND = 1000000000 };

/*
 * 32,000 is close to vm.max_map_count, which counts the unreadable pages, too. While the unwind tables are made,
 * stacks may end because a table is missing; stacks of the last second may not.
 */
Test(fault_many_maps, stacks_of_a_recorded_program_are_complete)
{
	uint64_t stacks = 0, without_table = 0, incomplete = 0, from = 0;
	struct live_proc program;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	unsigned int last_end = 0;
	uint32_t pid;

	live_stimulus(&program, "many_maps", "32000", "0", NULL);
	pid = program.pid;
	cr_assert_eq(write(program.in, "\n", 1), 1);
	live_record(&rec, "-q", "-d", "4", "-p", live_number(pid), NULL);
	live_recording(&rec);
	cr_assert_eq(live_finish(&rec), 0);
	fault_kill(&program);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		uint8_t end = ev.user_end & PROF_USER_END_MASK;

		if (ev.kind != TRACE_SAMPLE || ev.pid != pid || end == PROF_END_NOT_WALKED)
			continue;
		from = from ? from : ev.ts;
		stacks++;
		without_table += end == PROF_END_NO_TABLE;
		if (end != PROF_END_COMPLETE &&
		    (end != PROF_END_NO_TABLE || ev.ts - from > 3ULL * SECOND)) {
			incomplete++;
			last_end = end;
		}
	}
	cr_expect_gt(stacks, 1000);
	cr_expect_eq(incomplete, 0, "%llu of %llu stacks, the last one with user_end %u",
		     (unsigned long long)incomplete, (unsigned long long)stacks, last_end);
	fprintf(stderr, "%llu of %llu stacks without a table\n", (unsigned long long)without_table,
		(unsigned long long)stacks);
	live_assert_no_loss(&lt);
	live_close(&lt);
}
