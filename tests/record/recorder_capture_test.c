// SPDX-License-Identifier: BSD-2-Clause
/* The kernel's symbols are read only for records with addresses of kernel code. */
#include "record/recorder_capture.h"

#include <criterion/criterion.h>

#include "prof_abi.h"
#include "record/recorder.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/eventset.h"

Test(recorder_capture, switches_and_wakeups_without_stacks_have_no_kernel_code)
{
	const struct eventset none = { 0 };
	struct recorder_cfg cfg = { 0 };

	cr_expect_not(recorder_capture_has_kernel_code(&cfg, &none));
	cfg.capture.switch_stacks = cfg.capture.wakeup_stacks = PROF_STACKS_USER;
	cr_expect_not(recorder_capture_has_kernel_code(&cfg, &none));
}

Test(recorder_capture, kernel_stacks_of_each_kind_and_samples_have_kernel_code)
{
	const struct eventset none = { 0 };
	const struct capture_cfg have[] = {
		{ .samples = true },
		{ .switch_stacks = PROF_STACKS_USER | PROF_STACKS_KERNEL },
		{ .wakeup_stacks = PROF_STACKS_KERNEL },
		{ .event_stacks = PROF_STACKS_KERNEL },
	};

	for (size_t i = 0; i < sizeof(have) / sizeof(have[0]); i++) {
		const struct recorder_cfg cfg = { .capture = have[i] };

		cr_expect(recorder_capture_has_kernel_code(&cfg, &none), "%zu", i);
	}
}

Test(recorder_capture, field_with_a_function_has_kernel_code)
{
	struct event_def plain = { 0 }, timer = { .any_code = true };
	struct event_def *defs[] = { &plain, &timer };
	struct eventset events = { .defs = defs, .cnt = 1 };
	const struct recorder_cfg cfg = { 0 };

	cr_expect_not(recorder_capture_has_kernel_code(&cfg, &events));
	events.cnt = 2;
	cr_expect(recorder_capture_has_kernel_code(&cfg, &events));
}
