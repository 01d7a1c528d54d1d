// SPDX-License-Identifier: BSD-2-Clause
/* How user stacks end, in the output of `report` and `info`. */
#include "tests/cmd/run_cmd.h"

/* 200 samples: 150 complete, 40 that end in b.so, 9 in a.so and one with the maximum number of frames. */
static struct run run_ends(int (*cmd)(int, char **), const char *name, const char *option)
{
	const uint64_t a[] = { make_frame(1, 0x10), make_frame(1, 0x20) };
	const uint64_t b[] = { make_frame(1, 0x10), make_frame(2, 0x20) };
	struct make m;

	make_init(&m, NULL);
	make_module(&m, 1, 1, "/lib/a.so", PROF_MODULE_ELF);
	make_module(&m, 1, 2, "/lib/b.so", PROF_MODULE_ELF);
	for (int i = 0; i < 200; i++)
		make_sample_ended(&m, 2, PROF_SOURCE_SAMPLE, i >= 150 && i < 190 ? b : a, 2,
				  i < 140 ? PROF_END_COMPLETE :
				  i < 150 ? PROF_END_COMPLETE | PROF_USER_SIGNAL :
				  i < 157 ? PROF_END_NO_TABLE | PROF_USER_GUESSED :
				  i < 190 ? PROF_END_NO_TABLE :
				  i < 199 ? PROF_END_UNSUPPORTED | PROF_USER_FRAME_POINTERS :
					    PROF_END_FULL);
	/* not counted: of a recorder that did not record the end, and without a user stack */
	make_sample(&m, 3, 10, 10, PROF_SOURCE_SAMPLE, 0, a, 2);
	make_sample_ended(&m, 3, PROF_SOURCE_SAMPLE, a, 0, PROF_END_NOT_WALKED);
	return run_cmd(cmd, make_done(&m), name, "-", option, NULL);
}

static const char unwind_status_json[] =
	",\"user_stacks\":{\"stacks\":200,\"ends\":{\"complete\":150,\"full\":1,\"no_table\":40,"
	"\"unsupported\":9},\"frame_pointer_steps\":9,\"signal_frames\":10,\"uncertain_callers\":7,"
	"\"modules\":["
	"{\"path\":\"/lib/b.so\",\"end\":\"no_table\",\"stacks\":40},"
	"{\"path\":\"/lib/a.so\",\"end\":\"unsupported\",\"stacks\":9}]}";

Test(unwind_status, report_prints_how_user_stacks_end_and_where)
{
	struct run r = run_ends(cmd_report, "report", NULL);

	run_expect_in(
		r.out,
		"# user stacks: 75.00% of 200 complete, 9 with steps by frame pointers, "
		"10 through signal handlers, 7 with an uncertain caller; "
		"the others: no unwind information 20.00%, "
		"unwind rule not supported 4.50%, frame limit reached 0.50%\n# b.so: 20.0% of user stacks end in this module: no unwind information\n# a.so: 4.5% of user stacks end in this module: unwind rule not supported\n#\n");
	run_free(&r);
	r = run_ends(cmd_report, "report", "--json");
	run_expect_in(r.out, unwind_status_json);
	run_free(&r);
}

Test(unwind_status, info_prints_how_user_stacks_end_and_where)
{
	struct run r = run_ends(cmd_info, "info", NULL);

	run_expect_in(r.out,
		      "\nuser stacks     75.00% of 200 complete, 9 with steps by frame pointers, "
		      "10 through signal handlers, 7 with an uncertain caller\n"
		      "                40 (20.00%): no unwind information\n"
		      "                9 (4.50%): unwind rule not supported\n"
		      "                1 (0.50%): frame limit reached\n");
	run_expect_in(r.out, "\nUser stacks that end early, by module:\n"
			     "  40 (20.00%)  /lib/b.so: no unwind information\n"
			     "  9 (4.50%)  /lib/a.so: unwind rule not supported\n");
	run_free(&r);
	r = run_ends(cmd_info, "info", "--json");
	run_expect_in(r.out, unwind_status_json);
	run_free(&r);
}
