// SPDX-License-Identifier: BSD-2-Clause
/* Which frames of a walk are valid if code had been mapped over code. */
#include <criterion/criterion.h>

#include "prof_abi.h"
#include "prof_events.h"
#include "prof_unwind.h"
#include "record/unwind_maps/mapping_lag.h"

#define AT(module) ((uint64_t)(module) << PROF_FRAME_MODULE_SHIFT | 0x10)

static const uint64_t stack[] = { AT(1), AT(7), AT(2), AT(7) };

static size_t true_at(const struct mapping_lag *s, uint32_t pid, uint64_t ts)
{
	return mapping_lag_true(s, pid, ts, stack, 4);
}

Test(mapping_lag, frames_are_valid_up_to_the_module_that_was_unmapped)
{
	struct mapping_lag *s = mapping_lag_new();

	cr_assert_eq(true_at(s, 10, 100), 4);
	mapping_lag_begin(s, 10, 7, 100);
	cr_assert_eq(true_at(s, 10, 99), 4, "it was there");
	cr_assert_eq(true_at(s, 10, 100), 1);
	cr_assert_eq(true_at(s, 10, 1000), 1, "until the list is new");
	cr_assert_eq(true_at(s, 11, 100), 4, "another process");
	mapping_lag_end(s, 10, 200);
	cr_assert_eq(true_at(s, 10, 200), 1);
	cr_assert_eq(true_at(s, 10, 201), 4);
	cr_assert_eq(true_at(s, 10, 150), 1, "the past stays what it was");
	mapping_lag_begin(s, 10, 1, 300);
	cr_assert_eq(true_at(s, 10, 300), 0);
	mapping_lag_free(s);
}

Test(mapping_lag, shorter_stack_is_another_stack)
{
	const struct {
		struct prof_rec rec;
		uint64_t frames[4], id;
	} whole = {
		.rec = { .size = sizeof(whole),
			 .flags = PROF_REC_STACKS | PROF_REC_WALKED | PROF_REC_NUMBERED,
			 .ts = 100,
			 .pid = 10,
			 .ustack_cnt = 4,
			 .user_end = PROF_END_COMPLETE },
		.frames = { AT(1), AT(7), AT(2), AT(7) },
		.id = 77,
	};
	struct mapping_lag *s = mapping_lag_new();
	const struct prof_rec *rec;

	cr_expect_eq(mapping_lag_record(s, &whole.rec), &whole.rec);
	mapping_lag_begin(s, 10, 7, 100);
	rec = mapping_lag_record(s, &whole.rec);
	cr_assert_eq(rec->ustack_cnt, 1);
	cr_expect_eq(rec->flags, PROF_REC_STACKS | PROF_REC_WALKED, "its id is not valid for it");
	cr_expect_eq(rec->user_end, PROF_END_NO_LIST);
	mapping_lag_free(s);
}

Test(mapping_lag, raw_addresses_are_no_frames_of_a_module)
{
	const uint64_t raw = PROF_UNWIND_RAW | AT(7);
	struct mapping_lag *s = mapping_lag_new();

	mapping_lag_begin(s, 10, 7, 100);
	cr_assert_eq(mapping_lag_true(s, 10, 100, &raw, 1), 1);
	mapping_lag_begin(s, 11, 0, 100);
	cr_assert_eq(mapping_lag_true(s, 11, 100, &raw, 1), 1);
	cr_assert_eq(true_at(s, 11, 100), 0, "a module that is not known may be any");
	mapping_lag_free(s);
}

Test(mapping_lag, child_inherits_the_list_of_its_parent_at_the_time_of_the_fork)
{
	struct mapping_lag *s = mapping_lag_new();

	cr_assert_not(mapping_lag_fork(s, 10, 20, 50));
	mapping_lag_begin(s, 10, 7, 100);
	cr_assert_not(mapping_lag_fork(s, 10, 21, 99));
	cr_assert(mapping_lag_fork(s, 10, 22, 150));
	mapping_lag_end(s, 10, 200);
	cr_assert(mapping_lag_fork(s, 10, 23, 180), "a fork that was reported late");
	cr_assert_not(mapping_lag_fork(s, 10, 24, 201));
	cr_assert_eq(true_at(s, 21, 150), 4);
	cr_assert_eq(true_at(s, 22, 1000), 1, "its own list is still the old one");
	cr_assert_eq(true_at(s, 23, 1000), 1);
	cr_assert_eq(true_at(s, 24, 1000), 4);
	mapping_lag_end(s, 22, 300);
	cr_assert_eq(true_at(s, 22, 301), 4);
	mapping_lag_free(s);
}

/* The number of windows of a process is limited. */
Test(mapping_lag, many_time_windows_are_merged)
{
	struct mapping_lag *s = mapping_lag_new();
	size_t one;

	mapping_lag_begin(s, 10, 7, 100);
	one = mapping_lag_memory(s);
	for (uint32_t i = 0; i < 1000; i++)
		mapping_lag_begin(s, 10, 100 + i % 50, 101 + i);
	cr_assert_eq(mapping_lag_memory(s), one);
	cr_assert_eq(true_at(s, 10, 99), 4);
	cr_assert_eq(true_at(s, 10, 1200), 0, "any module");
	mapping_lag_end(s, 10, 2000);
	cr_assert_eq(true_at(s, 10, 2001), 4);
	mapping_lag_free(s);
}

Test(mapping_lag, unused_windows_are_removed)
{
	struct mapping_lag *s = mapping_lag_new();
	size_t none;

	mapping_lag_begin(s, 9, 7, 1);
	mapping_lag_end(s, 9, 2);
	mapping_lag_forget(s, 3);
	none = mapping_lag_memory(s);
	for (uint32_t pid = 10; pid < 1000; pid++) {
		mapping_lag_begin(s, pid, 7, 100);
		if (pid != 500)
			mapping_lag_end(s, pid, pid);
	}
	mapping_lag_forget(s, 990);
	cr_assert_eq(true_at(s, 995, 150), 1);
	cr_assert_eq(true_at(s, 500, 150), 1, "not over");
	cr_assert_eq(true_at(s, 15, 12), 4);
	mapping_lag_end(s, 500, 2000);
	mapping_lag_forget(s, 3000);
	cr_assert_eq(mapping_lag_memory(s), none);
	mapping_lag_free(s);
}
