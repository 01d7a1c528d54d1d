// SPDX-License-Identifier: BSD-2-Clause
/* Folded stacks are one per line with a number at the end, for any names. */
#include "tests/cmd/run_cmd.h"

Test(folded, hostile_names_stay_within_a_line)
{
	const uint64_t frames[] = { make_frame(1, 0x310), make_frame(1, 0x110) };
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 10, "a;b\n7");
	make_sample(&m, 5, 10, 10, PROF_SOURCE_SAMPLE, 0, frames, 2);
	make_sample(&m, 6, 10, 10, PROF_SOURCE_SAMPLE, 0, NULL, 0);
	make_symbol(&m, 7, frames[0], 0, frames[0], "f;o\no 1\n", "", 0);
	make_symbol(&m, 7, frames[1], 0, frames[1], "\x1b[31m\"", "", 0);
	run_expect(run_cmd(cmd_export, make_done(&m), "export", "folded", "-", NULL), CMD_OK,
		   "a:b\\x0a7;[no stack] 1\n"
		   "a:b\\x0a7;\\x1b[31m\";f:o\\x0ao 1\\x0a 1\n",
		   "");
}

/* Three stacks of 1.5 us are 4.5: rounded down after the sum, not each alone. */
Test(folded, folded_microseconds_add_up)
{
	struct make m;
	struct run r;
	int sum = 0;

	make_init(&m, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t frame = make_frame(1, 0x100 + i * 0x100), ts = 1000000 + i * 10000;

		make_wait(&m, ts, "app", &frame, 1);
		make_symbol(&m, ts, frame, 0, frame, i == 0 ? "a" : i == 1 ? "b" : "c", "", 0);
	}
	r = run_cmd(cmd_export, make_done(&m), "export", "folded", "-", "--kind=offcpu", NULL);
	for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n"))
		sum += atoi(strrchr(line, ' '));
	cr_expect_eq(sum, 4);
	run_free(&r);
}
