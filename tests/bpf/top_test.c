// SPDX-License-Identifier: BSD-2-Clause
/* `top` on a terminal, with a recorder on the live kernel behind it: what it shows, and how it ends. */
#include "../cmd/pty.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

TestSuite(top, .fini = live_cleanup, .timeout = 120);

struct shown {
	struct pty t;
	pid_t pid;
	struct termios before;
};

/* `top -p PID -F 999 -d 500ms` and two more words, in a directory of the test's. */
static void show(struct shown *s, pid_t target, const char *option, const char *value)
{
	const char *argv[] = { live_program(), "top", "-p", live_number(target),
			       "-F",	       "999", "-d", "500ms",
			       option,	       value, NULL };
	char *program = realpath(live_program(), NULL);

	pty_open(&s->t, 24, 80);
	cr_assert_eq(tcgetattr(s->t.slave, &s->before), 0);
	s->before.c_lflag |= ISIG | ICANON | ECHO;
	s->before.c_cc[VINTR] = 3;
	cr_assert_eq(tcsetattr(s->t.slave, TCSANOW, &s->before), 0);
	fflush(NULL);
	s->pid = fork();
	if (!s->pid) {
		setsid();
		ioctl(s->t.slave, TIOCSCTTY, 0);
		for (int fd = 0; fd <= 2; fd++)
			dup2(s->t.slave, fd);
		setenv("NO_COLOR", "1", 1);
		if (chdir(live_dir()))
			_exit(99);
		execv(program, (char **)argv);
		_exit(98);
	}
	free(program);
}

static void wait_for(struct shown *s, const char *text)
{
	while (!strstr(s->t.text, text)) {
		/* only what comes next counts, or many pictures would fill the buffer */
		if (s->t.len > sizeof(s->t.text) / 2) {
			s->t.len = 0;
			s->t.text[0] = '\0';
		}
		cr_assert(pty_read(&s->t), "ended before '%s': %s", text, s->t.text);
	}
}

static void expect_end(struct shown *s, int code)
{
	struct termios after;
	int status;

	wait_for(s, "\033[?25h\033[?1049l");
	cr_assert_eq(waitpid(s->pid, &status, 0), s->pid);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), code, "%s", s->t.text);
	cr_assert_eq(tcgetattr(s->t.slave, &after), 0);
	cr_assert_eq(after.c_lflag, s->before.c_lflag);
	close(s->t.slave);
	close(s->t.master);
}

static void spin(struct live_proc *p)
{
	const char *argv[] = { live_built("stimuli/spinner"), "--now", "90", "60000", NULL };

	live_spawn(p, argv, NULL);
}

static void stop(struct live_proc *p)
{
	kill(p->pid, SIGKILL);
	live_wait(p);
	live_proc_fini(p);
}

Test(top, shows_the_hot_function_and_leaves_no_file)
{
	struct live_proc spinner;
	struct shown s;

	spin(&spinner);
	show(&s, spinner.pid, "--limit", "9");
	wait_for(&s, "hot_a (spinner)");
	cr_assert_eq(write(s.t.master, "t", 1), 1);
	wait_for(&s, "Tid  Thread");
	wait_for(&s, live_number(spinner.pid));
	cr_assert_eq(write(s.t.master, "q", 1), 1);
	expect_end(&s, 0);
	cr_assert_neq(access(live_path("dial9.bin"), F_OK), 0);
	stop(&spinner);
}

Test(top, keeps_what_it_showed_if_asked_to)
{
	struct live_proc spinner;
	struct live_trace lt;
	struct trace_event ev;
	uint64_t hot = 0;
	struct shown s;

	spin(&spinner);
	show(&s, spinner.pid, "-o", live_path("kept.bin"));
	wait_for(&s, "hot_a (spinner)");
	cr_assert_eq(write(s.t.master, "\003", 1), 1);
	expect_end(&s, 0);
	live_open(&lt, live_path("kept.bin"), false);
	while (live_next(&lt, &ev))
		hot += ev.kind == TRACE_SAMPLE && ev.frame_cnt &&
		       live_frame_in(&lt, ev.frames[0], "hot_a");
	live_close(&lt);
	cr_assert_gt(hot, 10);
	stop(&spinner);
}

Test(top, ends_with_its_target_and_says_why_it_cannot_start)
{
	struct live_proc spinner;
	struct shown s;
	pid_t gone;

	spin(&spinner);
	gone = spinner.pid;
	show(&s, gone, "--limit", "9");
	wait_for(&s, "hot_a (spinner)");
	stop(&spinner);
	expect_end(&s, 0);
	show(&s, gone, "--limit", "9");
	wait_for(&s, "dial9-prof: record: ");
	expect_end(&s, 2);
}
