// SPDX-License-Identifier: BSD-2-Clause
/* The error of a failed open, and settings that are refused before the kernel is asked. */
#include "kernel/perf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/privileges.h"

Test(perf, errors_of_either_sign_have_a_remedy)
{
	static const struct {
		int err;
		const char *part;
	} cases[] = {
		{ EMFILE, "ulimit -n" },
		{ ENFILE, "ulimit -n" },
		{ ENOMEM, "ulimit -v" },
		{ ENODEV, "offline" },
		{ ENOENT, "does not have the event" },
		{ EOPNOTSUPP, "counter" },
		{ EBUSY, "another program" },
		{ EINVAL, "rate is too high" },
		{ ENOSPC, "No space left on device" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect(strstr(perf_open_error(cases[i].err), cases[i].part), "%d", cases[i].err);
		cr_expect_str_eq(perf_open_error(-cases[i].err), perf_open_error(cases[i].err));
	}
}

Test(perf, missing_capabilities_are_reported)
{
	cr_assert_eq(privileges_drop_all_but(0), 0);
	cr_expect(strstr(perf_open_error(EPERM), "CAP_PERFMON"), "%s", perf_open_error(EPERM));
	cr_expect(strstr(perf_open_error(-EACCES), "sudo"));
}

Test(perf, sampler_without_a_rate_is_refused)
{
	static const enum perf_sampler all[] = { PERF_SAMPLER_AUTO, PERF_SAMPLER_CPU_CLOCK,
						 PERF_SAMPLER_CYCLES };
	bool cycles = true;
	int fd = -7;

	for (size_t i = 0; i < 3; i++) {
		const struct perf_sampler_cfg cfg = { .which = all[i] };

		cr_expect_eq(perf_open_sampler(0, &cfg, &fd, &cycles), -EINVAL);
	}
	cr_expect_eq(fd, -7);
	cr_expect(cycles);
}

/* Every kernel has a limit; the file of this kernel is read in a second way. */
Test(perf, maximum_rate_equals_the_kernels_file)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "r");
	unsigned int want = 0;

	if (!f)
		cr_skip_test("no perf events here");
	cr_assert_eq(fscanf(f, "%u", &want), 1);
	fclose(f);
	cr_expect_eq(perf_max_rate(), want);
}
