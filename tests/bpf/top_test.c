// SPDX-License-Identifier: BSD-2-Clause
/* `top` on a terminal, with a recorder on the live kernel: its output, and its end. */
/* ALONE: CPU time of the system */
#include "tests/bpf/support.h"
#include "tests/cmd/pty.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

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

/* ---- its end without a key --------------------------------------------------------------------- */

/* Descriptor of the recorder, the only child of `top`. */
static int open_recorder(pid_t top)
{
	char path[64];
	FILE *children;
	int pid, fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", top, top);
	children = fopen(path, "re");
	cr_assert(children);
	cr_assert_eq(fscanf(children, "%d", &pid), 1);
	fclose(children);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	cr_assert_geq(fd, 0);
	return fd;
}

static void expect_end(int recorder)
{
	struct pollfd p = { .fd = recorder, .events = POLLIN };
	const int ended = poll(&p, 1, 30000);

	if (ended != 1)
		syscall(SYS_pidfd_send_signal, recorder, SIGKILL, NULL, 0);
	cr_expect_eq(ended, 1, "the recorder still runs");
	close(recorder);
}

/* `top` in a pipe, after the first screen with samples; its recorder. */
static int show_in_pipe(struct live_proc *top, pid_t target)
{
	const char *argv[] = { live_program(), "top",	"-p", live_number(target), "-F", "999",
			       "-d",	       "500ms", NULL };

	live_spawn(top, argv, NULL);
	live_read_until(top, "dial9-prof top: pid ");
	return open_recorder(top->pid);
}

Test(top, top_and_its_recorder_end_when_the_reader_of_the_screens_ends)
{
	struct live_proc spinner, top;
	struct buf errors;
	int recorder;

	spin(&spinner);
	recorder = show_in_pipe(&top, spinner.pid);
	fclose(top.out);
	top.out = NULL;
	cr_expect_eq(live_wait(&top), 0);
	expect_end(recorder);
	errors = live_errors(&top);
	cr_expect_str_eq(buf_cstr(&errors), "");
	buf_free(&errors);
	live_proc_fini(&top);
	live_kill(&spinner);
}

static void kill_top(pid_t target)
{
	struct live_proc top;
	const int recorder = show_in_pipe(&top, target);

	live_kill(&top);
	expect_end(recorder);
}

Test(top, recorder_ends_when_top_is_killed)
{
	struct live_proc spinner, idle;

	spin(&spinner);
	kill_top(spinner.pid);
	live_kill(&spinner);
	live_stimulus(&idle, "numbers", "5", NULL);
	kill_top(idle.pid);
	live_kill(&idle);
}
