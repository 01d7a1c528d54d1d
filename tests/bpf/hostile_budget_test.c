// SPDX-License-Identifier: BSD-2-Clause
/* Programs that cause as much of the recorder's work as they can: no other program's stacks pay for it. */
/* ALONE: time and loss next to a hostile program */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/bpf/fault.h"

enum { INNOCENTS_MAX = 64, TICKS = 5, SECONDS = 4 };

TestSuite(fault_budget, .fini = live_cleanup);

/* Programs that start while recording: their mappings and tables are not known at first. */
struct innocents {
	struct live_proc v[INNOCENTS_MAX];
	size_t cnt;
	unsigned int ticks;
};

static void start_innocent(void *ctx, struct fault *f)
{
	struct innocents *in = ctx;

	(void)f;
	if (in->ticks++ % TICKS || in->cnt == INNOCENTS_MAX)
		return;
	live_stimulus(&in->v[in->cnt], "sleeper", "100", "1000", NULL);
	cr_assert_eq(write(in->v[in->cnt++].in, "\n", 1), 1);
}

static bool is_innocent(const struct innocents *in, uint32_t pid)
{
	size_t i = 0;

	while (i < in->cnt && (uint32_t)in->v[i].pid != pid)
		i++;
	return i < in->cnt;
}

static void expect_no_refusal(const struct fault *f, const struct innocents *in)
{
	uint64_t stacks = 0, complete = 0, refused = 0, of_others = 0;
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, f->rec.path, false);
	while (live_event(&lt, &ev)) {
		const uint8_t end = ev.user_end & PROF_USER_END_MASK;

		if (ev.kind != TRACE_SAMPLE || end == PROF_END_NOT_WALKED)
			continue;
		if (!is_innocent(in, ev.pid) && ev.pid != (uint32_t)f->neighbour.pid) {
			of_others += end == PROF_END_OVER_BUDGET;
			continue;
		}
		stacks++;
		complete += end == PROF_END_COMPLETE;
		refused += end == PROF_END_OVER_BUDGET;
	}
	fprintf(stderr,
		"%llu stacks of %zu innocent processes, %llu complete; others refused: %llu\n",
		(unsigned long long)stacks, in->cnt + 1, (unsigned long long)complete,
		(unsigned long long)of_others);
	cr_expect_gt(stacks, 500);
	cr_expect_eq(refused, 0, "%llu stacks refused", (unsigned long long)refused);
	live_assert_no_loss(&lt);
	live_close(&lt);
}

static void record_with(const char *stimulus, const char *kind, const char *cnt)
{
	struct innocents *in = xcalloc(1, sizeof(*in));
	struct live_proc enemy;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&enemy, stimulus, kind, cnt, NULL);
	cr_assert_eq(write(enemy.in, "\n", 1), 1);
	fault_record(&f, SECONDS, NULL);
	fault_watch(&f, start_innocent, in);
	fault_kill(&enemy);
	fault_check(&f);
	expect_no_refusal(&f, in);
	for (size_t i = 0; i < in->cnt; i++)
		fault_kill(&in->v[i]);
	free(in);
	fault_end(&f);
}

Test(fault_budget, loop_of_execs)
{
	record_with("enemy_user", "execs", "1");
}

Test(fault_budget, fifty_processes_of_one_user_that_map_without_end)
{
	record_with("enemy_user", "maps", "50");
}

Test(fault_budget, process_with_tens_of_thousands_of_mappings)
{
	record_with("many_maps", "32000", "0");
}
