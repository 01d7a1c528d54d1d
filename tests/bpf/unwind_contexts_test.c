// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks of contexts that makecontext() made: tests/stimuli/unwind_contexts.c. Each is complete, and its root is the
 * function of the context.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "prof_machine.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_contexts, .fini = live_cleanup);

enum { ROUNDS = 200, NAPS = ROUNDS * 3 * 2 };

struct sum {
	uint64_t naps, stacks, incomplete, other_root;
};

const char *live_missing(void)
{
#ifdef PROF_MACHINE_X86_64
	return NULL;
#else
	return "contexts are known on x86-64 only";
#endif
}

static void add_stack(const struct live_trace *lt, const struct trace_event *ev, struct sum *s)
{
	bool is_nap = live_stack_has(lt, ev, "contexts_nap");
	const uint64_t *user;
	uint32_t cnt;

	user = workload_user(ev, &cnt);
	if (!is_nap && !live_stack_has(lt, ev, "contexts_work"))
		return;
	s->stacks++;
	s->naps += is_nap && ev->source == PROF_SOURCE_SWITCH_OUT;
	s->incomplete += (ev->user_end & PROF_USER_END_MASK) != PROF_END_COMPLETE;
	s->other_root += !cnt || !live_frame_in(lt, user[cnt - 1], "contexts_root");
}

static struct sum read_stacks(const char *path)
{
	struct sum s = { 0 };
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_SAMPLE)
			add_stack(&lt, &ev, &s);
	live_assert_no_loss(&lt);
	live_close(&lt);
	printf("%llu stacks, %llu of naps, %llu incomplete, %llu with another root\n",
	       (unsigned long long)s.stacks, (unsigned long long)s.naps,
	       (unsigned long long)s.incomplete, (unsigned long long)s.other_root);
	return s;
}

Test(unwind_contexts, stacks_end_at_the_function_of_the_context)
{
	struct live_rec rec;
	struct sum s;

	workload_record(&rec, "unwind_contexts", ROUNDS);
	s = read_stacks(rec.path);
	cr_expect_geq(s.naps, NAPS);
	cr_expect_eq(s.incomplete, 0);
	cr_expect_eq(s.other_root, 0);
}

/* From the exec on: stacks of the first moments are copied, and walked once the tables are there. */
Test(unwind_contexts, early_stacks_end_there_too)
{
	struct live_rec rec;
	struct sum s;

	live_record(&rec, "-F", "1999", "--switch-stacks", "user", "--",
		    live_built("stimuli/unwind_contexts"), "--now", live_number(ROUNDS), NULL);
	cr_assert_eq(live_finish(&rec), 0);
	s = read_stacks(rec.path);
	cr_expect_geq(s.naps, NAPS);
	cr_expect_eq(s.incomplete, 0);
	cr_expect_eq(s.other_root, 0);
}
