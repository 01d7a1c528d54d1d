// SPDX-License-Identifier: BSD-2-Clause
/* Fragments, intervals and steps from intervals that a test makes up. Times in us. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "profile/explain/explain.h"

struct fixture {
	struct names *names;
	struct intervals *iv;
	struct explain e;
};

static void ignore(void *ctx, const struct interval *i)
{
	(void)ctx;
	(void)i;
}

static struct fixture setup(void)
{
	struct fixture f = { 0 };

	cr_assert_eq(names_new(&f.names), 0);
	f.iv = intervals_new(&(struct intervals_opts){ .names = f.names, .fn = ignore });
	return f;
}

static void teardown(struct fixture *f)
{
	explain_fini(&f->e);
	intervals_free(f->iv);
	names_free(f->names);
}

static void add(struct fixture *f, uint32_t tid, enum interval_state state, uint64_t from,
		uint64_t to, enum interval_end end_by, unsigned int flags)
{
	const struct interval i = {
		.tid = tid,
		.pid = 7,
		.comm = NAMES_NONE,
		.state = state,
		.start = from * 1000,
		.end = to * 1000,
		.end_by = end_by,
		.flags = flags,
		.stack = INTERVAL_NO_STACK,
		.cpu = 0,
	};

	explain_add(&f->e, f->iv, &i);
}

Test(profile_explain, sums_and_longest_time_off_cpu)
{
	const struct explain_thread *th, **all;
	struct fixture f = setup();
	uint64_t from, to;
	size_t cnt;

	/* longer, but cut: by the start of the recording, and by a loss */
	add(&f, 7, INTERVAL_BLOCKED, 0, 500, INTERVAL_TO_CPU, INTERVAL_EDGE_START);
	add(&f, 7, INTERVAL_RUNNING, 500, 510, INTERVAL_TO_BLOCK, 0);
	add(&f, 7, INTERVAL_BLOCKED, 510, 540, INTERVAL_TO_WAKEUP, 0);
	add(&f, 7, INTERVAL_RUNNABLE, 540, 550, INTERVAL_TO_CPU, 0);
	add(&f, 7, INTERVAL_RUNNING, 550, 560, INTERVAL_TO_BLOCK, 0);
	add(&f, 7, INTERVAL_BLOCKED, 560, 595, INTERVAL_TO_CPU, 0);
	add(&f, 7, INTERVAL_RUNNING, 595, 600, INTERVAL_TO_BLOCK, 0);
	add(&f, 7, INTERVAL_BLOCKED, 600, 800, INTERVAL_TO_WAKEUP, 0);
	add(&f, 7, INTERVAL_UNKNOWN, 800, 900, INTERVAL_TO_CPU, INTERVAL_LOSS);
	add(&f, 8, INTERVAL_RUNNING, 100, 1000, INTERVAL_TO_NOTHING, INTERVAL_EDGE_END);
	explain_finish(&f.e, f.names);
	th = explain_thread(&f.e, 7);
	cr_assert_eq(th->ns[INTERVAL_BLOCKED], 765000);
	cr_assert_eq(th->ns[INTERVAL_RUNNABLE], 10000);
	cr_assert_eq(th->ns[INTERVAL_RUNNING], 25000);
	cr_assert_eq(th->ns[INTERVAL_UNKNOWN], 100000);
	cr_assert_eq(th->worst_from, 510000);
	cr_assert_eq(th->worst_to, 550000);
	explain_bounds(&f.e, 0, &from, &to);
	cr_assert_eq(from, 0);
	cr_assert_eq(to, 1000000);
	all = explain_process(&f.e, 0, 7, &cnt);
	cr_assert_eq(cnt, 2);
	cr_assert_eq(all[0]->tid, 8);
	free(all);
	cr_assert_null(explain_thread(&f.e, 9));
	teardown(&f);
}

Test(profile_explain, cut_off_cpu_interval_is_used_if_there_is_no_other)
{
	struct fixture f = setup();

	add(&f, 7, INTERVAL_RUNNING, 0, 1, INTERVAL_TO_BLOCK, 0);
	add(&f, 7, INTERVAL_BLOCKED, 1, 9, INTERVAL_TO_NOTHING, INTERVAL_EDGE_END);
	cr_assert_eq(explain_thread(&f.e, 7)->worst_to, 9000);
	teardown(&f);
}

/* Off its CPU for sure: the clocks of two writers may differ a little. */
Test(profile_explain, thread_off_cpu_at_a_time_is_found)
{
	static const struct {
		uint32_t part, tid;
		uint64_t at_us;
		bool off;
	} asked[] = {
		{ 0, 7, 5, false },  { 0, 7, 10, false }, { 0, 7, 14, false }, { 0, 7, 15, true },
		{ 0, 7, 25, true },  { 0, 7, 26, false }, { 0, 7, 35, true },  { 0, 7, 45, false },
		{ 0, 7, 55, false }, { 0, 7, 65, false }, { 0, 7, 70, false }, { 0, 8, 20, false },
		{ 0, 6, 20, false }, { 1, 7, 20, false },
	};
	struct fixture f = setup();

	add(&f, 7, INTERVAL_RUNNING, 0, 10, INTERVAL_TO_BLOCK, 0);
	add(&f, 7, INTERVAL_BLOCKED, 10, 30, INTERVAL_TO_WAKEUP, 0);
	add(&f, 7, INTERVAL_RUNNABLE, 30, 40, INTERVAL_TO_CPU, 0);
	add(&f, 7, INTERVAL_UNKNOWN, 40, 50, INTERVAL_TO_CPU, INTERVAL_LOSS);
	/* there is no data from here to 60 */
	add(&f, 7, INTERVAL_BLOCKED, 60, 68, INTERVAL_TO_NOTHING, INTERVAL_EDGE_END);
	add(&f, 8, INTERVAL_RUNNING, 0, 100, INTERVAL_TO_NOTHING, INTERVAL_EDGE_END);
	explain_finish(&f.e, f.names);
	for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++)
		cr_expect_eq(explain_was_off(&f.e, asked[k].part, asked[k].tid,
					     asked[k].at_us * 1000, 5000),
			     asked[k].off, "%u at %d", asked[k].tid, (int)asked[k].at_us);
	teardown(&f);
}

/* Steps add up to the requested range, merged or not; fragments at its ends are cut. */
Test(profile_explain, steps_add_up)
{
	struct explain_step *steps = NULL;
	struct fixture f = setup();
	size_t cap = 0;

	for (uint64_t t = 0, k = 0; k < 100; k++) {
		const uint64_t len = 1 + k * k % 17;

		add(&f, 7, k % 2 ? INTERVAL_BLOCKED : INTERVAL_RUNNING, t, t + len,
		    INTERVAL_TO_BLOCK, 0);
		add(&f, 6, INTERVAL_RUNNING, t, t + len, INTERVAL_TO_BLOCK, 0);
		t += len;
	}
	explain_finish(&f.e, f.names);
	for (uint64_t small = 0; small < 20000; small += 1000) {
		uint64_t at = 50500, pieces = 0;
		size_t cnt = 0;

		explain_steps(&f.e, 0, 7, 50500, 333300, small, &steps, &cnt, &cap);
		for (size_t k = 0; k < cnt; k++) {
			uint64_t sum = 0;

			cr_assert_eq(steps[k].from, at);
			for (int s = 0; s < INTERVAL_STATE_CNT; s++) {
				sum += steps[k].ns[s];
				pieces += steps[k].cnt[s];
			}
			cr_assert_eq(sum, steps[k].to - steps[k].from);
			at = steps[k].to;
		}
		cr_assert_eq(at, 333300);
		cr_assert(small ? cnt <= pieces : cnt == pieces);
	}
	free(steps);
	teardown(&f);
}

static void sample(struct fixture *f, uint64_t us, const uint64_t *frames)
{
	const struct trace_event ev = {
		.ts = us * 1000, .tid = 7, .frames = frames, .frame_cnt = 1
	};

	explain_add_sample(&f->e, &ev);
}

Test(profile_explain, stack_of_most_samples_is_used)
{
	const uint64_t one = 1, two = 2;
	struct explain_step *steps = NULL;
	struct fixture f = setup();
	size_t cnt = 0, cap = 0;
	uint32_t n;

	add(&f, 7, INTERVAL_RUNNING, 0, 100, INTERVAL_TO_BLOCK, 0);
	sample(&f, 90, &one);
	sample(&f, 10, &two);
	sample(&f, 20, &one);
	sample(&f, 30, &two);
	sample(&f, 100, &one); /* after it */
	sample(&f, 40, &two);
	explain_finish(&f.e, f.names);
	explain_steps(&f.e, 0, 7, 0, 100000, 0, &steps, &cnt, &cap);
	cr_assert_eq(cnt, 1);
	cr_assert_eq(steps[0].samples, 5);
	cr_assert_eq(steps[0].hottest_cnt, 3);
	cr_assert_eq(stack_table_get(&f.e.stacks, steps[0].hottest, &n)[0], two);
	free(steps);
	teardown(&f);
}

Test(profile_explain, sums_only_keeps_no_fragments)
{
	struct fixture f = setup();
	const uint64_t one = 1;

	f.e.sums_only = true;
	add(&f, 7, INTERVAL_RUNNING, 0, 100, INTERVAL_TO_BLOCK, 0);
	sample(&f, 90, &one);
	cr_assert_eq(f.e.piece_cnt, 0);
	cr_assert_eq(f.e.sample_cnt, 0);
	cr_assert_eq(explain_thread(&f.e, 7)->ns[INTERVAL_RUNNING], 100000);
	teardown(&f);
}
