// SPDX-License-Identifier: BSD-2-Clause
/* perf-script: script's output, and intervals as samples with a period. */
#include "tests/cmd/run_cmd.h"

Test(perf_script, whole_export_equals_the_output_of_script)
{
	struct run want = run_cmd(cmd_script, run_app_file(), "script", "-", NULL);

	cr_assert(strstr(want.out, "sched:sched_switch:"));
	run_expect(run_cmd(cmd_export, run_app_file(), "export", "perf-script", "-", NULL), CMD_OK,
		   want.out, "");
	run_free(&want);
}

Test(perf_script, samples_are_exported_alone)
{
	struct run want =
		run_cmd(cmd_script, run_app_file(), "script", "-", "-e", "cpu-clock", NULL);

	cr_assert(strstr(want.out, "cpu-clock:"));
	run_expect(run_cmd(cmd_export, run_app_file(), "export", "perf-script", "-", "--kind=cpu",
			   NULL),
		   CMD_OK, want.out, "");
	run_free(&want);
}

Test(perf_script, intervals_are_samples_with_a_period)
{
	run_expect(run_cmd(cmd_export, run_app_file(), "export", "perf-script", "-",
			   "--kind=offcpu", NULL),
		   CMD_OK,
		   "pool      10/11      [001]    13.000000: 998765433 offcpu:\n"
		   "\t              80 schedule+0x40 ([kernel.kallsyms])\n"
		   "\t             210 work+0x10 (/opt/app/bin/app)\n"
		   "\t             110 main+0x10 (/opt/app/bin/app)\n\n",
		   "");
}

/* A line that begins with a blank would be a frame to perf's scripts. */
Test(perf_script, interval_without_a_stack_begins_a_line)
{
	struct make m;

	make_init(&m, NULL);
	make_wait(&m, 1000000, "a b\n", NULL, 0);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "perf-script", "-", "--kind=offcpu",
			   NULL),
		   CMD_OK, "a b\\x0a      -1/10      [000]     0.001001: 1500 offcpu:\n\n", "");
}

/* The name of a thread makes its line neither a frame nor a comment. */
Test(perf_script, leading_blank_or_hash_in_a_name_is_escaped)
{
	static const char *const names[][2] = { { "  lead", "\\x20 lead" },
						{ "#comment", "\\x23comment" } };

	for (size_t i = 0; i < 2; i++) {
		struct make m;
		struct run r;

		make_init(&m, NULL);
		make_wait(&m, 1000000, names[i][0], NULL, 0);
		r = run_cmd(cmd_export, make_done(&m), "export", "perf-script", "-",
			    "--kind=offcpu", NULL);
		cr_expect_eq(strncmp(r.out, names[i][1], strlen(names[i][1])), 0, "%s", r.out);
		run_free(&r);
	}
}
