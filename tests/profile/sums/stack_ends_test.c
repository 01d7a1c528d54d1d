// SPDX-License-Identifier: BSD-2-Clause
/* How user stacks end: counted by reason, and by the module of the last frame. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/sums/stack_ends.h"
#include "tests/profile/app.h"

static void end_at(struct stack_ends *e, const struct names *n, uint64_t last, uint8_t user_end)
{
	const uint64_t frames[] = { at(1, HOT), last };
	struct trace_event ev = {
		.kind = TRACE_SAMPLE, .frames = frames, .frame_cnt = 2, .user_end = user_end
	};

	stack_ends_add(e, n, &ev);
}

Test(stack_ends, stack_ends_are_counted_by_reason_and_walk_method)
{
	struct names *n = make_names();
	struct stack_ends e = { 0 };
	struct trace_event other = { .kind = TRACE_TRACEPOINT, .user_end = PROF_END_COMPLETE };
	uint8_t early[STACK_ENDS_CNT];

	end_at(&e, n, at(1, MAIN), PROF_END_COMPLETE);
	end_at(&e, n, at(1, MAIN), PROF_END_COMPLETE | PROF_USER_SIGNAL);
	end_at(&e, n, at(1, MAIN), PROF_END_FULL | PROF_USER_FRAME_POINTERS);
	end_at(&e, n, at(2, COLD), PROF_END_NO_ROW);
	end_at(&e, n, at(2, COLD), PROF_END_NO_ROW | PROF_USER_SIGNAL);
	end_at(&e, n, at(1, MAIN), PROF_END_NOT_WALKED);
	stack_ends_add(&e, n, &other);
	cr_assert_eq(e.stacks, 5);
	cr_assert_eq(e.by_end[PROF_END_COMPLETE], 2);
	cr_assert_eq(e.by_end[PROF_END_FULL], 1);
	cr_assert_eq(e.by_end[PROF_END_NO_ROW], 2);
	cr_assert_eq(e.signals, 2);
	cr_assert_eq(e.frame_pointers, 1);
	cr_assert_eq(stack_ends_early(&e, early), 2);
	cr_assert_eq(early[0], PROF_END_NO_ROW);
	cr_assert_eq(early[1], PROF_END_FULL);
	stack_ends_fini(&e);
	names_free(n);
}

Test(stack_ends, stack_ends_caused_by_code_are_counted_by_module)
{
	struct names *n = make_names();
	struct stack_ends_module *v;
	struct stack_ends e = { 0 };
	size_t cnt;

	end_at(&e, n, at(1, MAIN), PROF_END_NO_TABLE);
	for (int i = 0; i < 3; i++)
		end_at(&e, n, at(2, COLD), PROF_END_NO_ROW);
	for (int i = 0; i < 2; i++)
		end_at(&e, n, 0x4000, PROF_END_NO_MAPPING);
	end_at(&e, n, at(1, MAIN), PROF_END_COMPLETE);
	end_at(&e, n, at(1, MAIN), PROF_END_FULL);
	end_at(&e, n, at(1, MAIN), PROF_END_NO_LIST);
	end_at(&e, n, at(1, MAIN), PROF_END_UNCHECKED);
	end_at(&e, n, at(1, MAIN), PROF_END_32BIT);
	v = stack_ends_modules(&e, &cnt);
	cr_assert_eq(cnt, 3);
	cr_assert(v[0].module == 2 && v[0].end == PROF_END_NO_ROW && v[0].stacks == 3);
	cr_assert(v[1].module == 0 && v[1].end == PROF_END_NO_MAPPING && v[1].stacks == 2);
	cr_assert(v[2].module == 1 && v[2].end == PROF_END_NO_TABLE && v[2].stacks == 1);
	free(v);
	stack_ends_fini(&e);
	names_free(n);
}

/* New reasons are appended; a stack without a user frame has no module. */
Test(stack_ends, unknown_reasons_and_stacks_without_frames_are_counted)
{
	struct names *n = make_names();
	struct trace_event ev = { .kind = TRACE_SAMPLE, .user_end = PROF_END_READ_FAILED };
	struct stack_ends_module *v;
	struct stack_ends e = { 0 };
	size_t cnt;

	end_at(&e, n, at(1, MAIN), PROF_END_CNT);
	end_at(&e, n, at(1, MAIN), PROF_USER_END_MASK);
	cr_assert_eq(e.by_end[STACK_ENDS_OTHER], 2);
	stack_ends_add(&e, n, &ev);
	end_at(&e, n, at(2, COLD) | PROF_FRAME_KERNEL, PROF_END_READ_FAILED);
	v = stack_ends_modules(&e, &cnt);
	cr_assert_eq(cnt, 1);
	cr_assert(v[0].module == 0 && v[0].stacks == 2);
	free(v);
	stack_ends_fini(&e);
	names_free(n);
}
