// SPDX-License-Identifier: BSD-2-Clause
/* Times in `report` that come from switches instead of samples. */
#include "tests/cmd/run_cmd.h"

TestSuite(report_exact, .timeout = 60);

/* Two samples stand for 20 ms, the switches for 461 ms. */
Test(report_exact, running_time_of_tasks_equals_the_sum_of_their_switches)
{
	const uint64_t at = make_frame(1, 0x10), ms = RUN_SEC / 1000;
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, (const char *const[]){ "sample_period_ns", "10000000", NULL });
	make_task(&m, RUN_SEC, 6, 6, "six");
	make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "six", 6);
	make_sample(&m, 2 * RUN_SEC + ms, 6, 6, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_sample(&m, 2 * RUN_SEC + 2 * ms, 6, 6, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_switch(&m, 2 * RUN_SEC + 461 * ms, 0, "six", 6, 1, "swapper/0", 0);
	r = run_cmd(cmd_report, make_file(&m), "report", "--wall", "-s", "tid", "-", NULL);
	run_expect_in(r.out, "\n# running, runnable and blocked are exact in the recorded 31.5%\n");
	run_expect_in(r.out, "        1     0.461  running  6\n");
	cr_expect_null(strstr(r.out, "0.020  running"), "%s", r.out);
	run_free(&r);
	r = run_cmd(cmd_report, make_done(&m), "report", "--wall", "-s", "tid,sym", "-", NULL);
	run_expect_in(r.out, "\n# running is estimated from samples; ");
	run_expect_in(r.out, "        2     0.020  running  6    [unknown]\n");
	run_free(&r);
}
