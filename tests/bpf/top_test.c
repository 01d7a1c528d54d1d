// SPDX-License-Identifier: BSD-2-Clause
/* `top` on a terminal, with a recorder on the live kernel: its output, and its end. */
/* ALONE: CPU time of the system */
#include "tests/bpf/support.h"
#include "tests/cmd/pty.h"

#include <signal.h>
#include <stdlib.h>

TestSuite(top, .fini = live_cleanup);

/* `top -p PID -F 999 -d 500ms` and two more words, in a directory of the test's. */
static void show(struct pty_screen *s, pid_t target, const char *option, const char *value)
{
	const char *argv[] = { live_program(), "top", "-p", live_number(target),
			       "-F",	       "999", "-d", "500ms",
			       option,	       value, NULL };
	char *program = realpath(live_program(), NULL);

	if (!pty_screen_fork(s, 24, 80)) {
		if (chdir(live_dir()))
			_exit(99);
		execv(program, (char **)argv);
		_exit(98);
	}
	free(program);
}

static void spin(struct live_proc *p)
{
	const char *argv[] = { live_built("stimuli/spinner"), "--now", "90", "60000", NULL };

	live_spawn(p, argv, NULL);
}

Test(top, top_shows_the_hot_function_and_leaves_no_file)
{
	struct live_proc spinner;
	struct pty_screen s;

	spin(&spinner);
	show(&s, spinner.pid, "--limit", "9");
	pty_wait_for(&s.t, "hot_a (spinner)");
	pty_type(&s.t, "t");
	pty_wait_for(&s.t, "Tid  Thread");
	pty_wait_for(&s.t, live_number(spinner.pid));
	pty_type(&s.t, "q");
	pty_screen_end(&s, 0);
	cr_assert_neq(access(live_path("dial9.bin"), F_OK), 0);
	live_kill(&spinner);
}

Test(top, top_keeps_the_trace_on_request)
{
	struct live_proc spinner;
	struct live_trace lt;
	struct trace_event ev;
	uint64_t hot = 0;
	struct pty_screen s;

	spin(&spinner);
	show(&s, spinner.pid, "-o", live_path("kept.bin"));
	pty_wait_for(&s.t, "hot_a (spinner)");
	pty_type(&s.t, "\003");
	pty_screen_end(&s, 0);
	live_open(&lt, live_path("kept.bin"), false);
	while (live_event(&lt, &ev))
		hot += ev.kind == TRACE_SAMPLE && ev.frame_cnt &&
		       live_frame_in(&lt, ev.frames[0], "hot_a");
	live_close(&lt);
	cr_assert_gt(hot, 10);
	live_kill(&spinner);
}

Test(top, top_ends_with_its_target_and_prints_why_it_cannot_start)
{
	struct live_proc spinner;
	struct pty_screen s;
	pid_t gone;

	spin(&spinner);
	gone = spinner.pid;
	show(&s, gone, "--limit", "9");
	pty_wait_for(&s.t, "hot_a (spinner)");
	live_kill(&spinner);
	pty_screen_end(&s, 0);
	show(&s, gone, "--limit", "9");
	pty_wait_for(&s.t, "dial9-prof: top: ");
	pty_screen_end(&s, 2);
}
