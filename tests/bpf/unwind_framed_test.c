// SPDX-License-Identifier: BSD-2-Clause
/*
 * Leaf functions without a frame in a program with frame pointers and without unwind information:
 * tests/stimuli/unwind_framed.c. No caller may be missing.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "prof_machine.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_framed, .fini = live_cleanup);

enum { ROUNDS = 40000, STACKS_MIN = 50 };

struct leaf {
	const char *name;
	uint64_t stacks, whole, unmarked;
	uint64_t marked; /* after the first that is not: before, stacks are copied until there is a table */
};

static const char *const callers[] = { "framed_inner", "framed_middle", "framed_outer", "main",
				       NULL };

const char *live_missing(void)
{
#ifdef PROF_MACHINE_X86_64
	return NULL;
#else
	return "functions without a frame are found on x86-64 only";
#endif
}

static void add_stack(const struct live_trace *lt, const struct trace_event *ev, struct leaf *leaf)
{
	uint32_t cnt;
	const uint64_t *user = workload_user(ev, &cnt);

	if (!cnt || !live_frame_in(lt, user[0], leaf->name))
		return;
	leaf->stacks++;
	leaf->whole += workload_has_callers(lt, user, cnt, 1, callers) &&
		       (ev->user_end & PROF_USER_END_MASK) == PROF_END_COMPLETE;
	leaf->unmarked += !(ev->user_end & PROF_USER_GUESSED);
	leaf->marked += leaf->unmarked && ev->user_end & PROF_USER_GUESSED;
}

Test(unwind_framed, leaf_without_a_frame_has_all_callers)
{
	struct leaf loop = { .name = "leaf_loop" }, naps = { .name = "leaf_naps" };
	struct live_trace lt;
	struct trace_event ev;
	struct live_rec rec;

	workload_record(&rec, "unwind_framed", ROUNDS);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_SAMPLE) {
			add_stack(&lt, &ev, &loop);
			if (ev.source != PROF_SOURCE_SAMPLE)
				add_stack(&lt, &ev, &naps);
		}
	live_close(&lt);
	printf("leaf_loop: %llu stacks, %llu whole, %llu unmarked; leaf_naps: %llu, %llu, %llu\n",
	       (unsigned long long)loop.stacks, (unsigned long long)loop.whole,
	       (unsigned long long)loop.unmarked, (unsigned long long)naps.stacks,
	       (unsigned long long)naps.whole, (unsigned long long)naps.unmarked);
	cr_expect_geq(loop.stacks, STACKS_MIN);
	cr_expect_eq(loop.whole, loop.stacks);
	cr_expect_geq(naps.stacks, STACKS_MIN);
	cr_expect_eq(naps.whole, naps.stacks);
	cr_expect_geq(naps.unmarked, STACKS_MIN);
	cr_expect_eq(naps.marked, 0, "the next instruction returns");
}
