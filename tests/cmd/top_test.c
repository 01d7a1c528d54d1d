// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures of a trace that grows, on a terminal of the test's own and in a pipe; keys, signals, and how the
 * terminal is left. The recorder is not needed: the trace comes from the test.
 */
#include "run_cmd.h"

#include "pty.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "cmd/text.h"

TestSuite(top, .timeout = 60);

enum { ROWS = 24, COLS = 80 };

/* A second of two functions: hot, of a long name, has three of four samples. */
static void make_second(struct make *m, const char *hot)
{
	static const char *const kv[] = { "sample_event",     "cpu-clock", "sample_hz", "4",
					  "sample_period_ns", "250000000", NULL };
	const uint64_t a = make_frame(1, 0x10), b = make_frame(1, 0x20);

	make_init(m, NULL);
	make_metadata(m, RUN_SEC, kv);
	make_clock(m, RUN_SEC, 1);
	make_module(m, RUN_SEC, 1, "/opt/app", PROF_MODULE_ELF);
	make_task(m, RUN_SEC, 7, 7, "app");
	make_symbol(m, RUN_SEC, a, 0, a, hot, "", 0);
	make_symbol(m, RUN_SEC, b, 0, b, "cold", "", 0);
	for (uint64_t i = 1; i <= 4; i++)
		make_sample(m, RUN_SEC + i * RUN_SEC / 4, 7, 7, PROF_SOURCE_SAMPLE, 0,
			    i < 4 ? &a : &b, 1);
}

Test(top, in_a_pipe_pictures_follow_each_other)
{
	struct make m;

	make_second(&m, "hot");
	run_expect(run_cmd(cmd_report, make_file(&m), "report", "-", "--live=3600", NULL), 0,
		   "standard input  1.0 s  4 samples  CPU 100.0%\n"
		   "lost: nothing\n"
		   "    CPU   Off ms/s  Function\n"
		   "  75.0%        0.0  hot (app)\n"
		   "  25.0%        0.0  cold (app)\n"
		   "\n",
		   "");
	run_expect(run_cmd(cmd_report, make_file(&m), "report", "-", "--live=3600", "--limit=1",
			   NULL),
		   0,
		   "standard input  1.0 s  4 samples  CPU 100.0%\n"
		   "lost: nothing\n"
		   "    CPU   Off ms/s  Function\n"
		   "  75.0%        0.0  hot (app)\n"
		   "\n",
		   "");
	make_fini(&m);
}

Test(top, what_is_live_cannot_be_selected_from)
{
	run_expect(
		run_cmd(cmd_report, make_fd("", 0), "report", "-", "--live=1", "-p5", NULL), 1, "",
		"dial9-prof: report: --live shows all that is recorded, without --wall, -s, -g, -G, "
		"--json and selections\n");
}

Test(top, bad_input_is_told)
{
	struct run r = run_cmd(cmd_report, make_fd("no trace", 8), "report", "-", "--live=1", NULL);

	cr_assert_eq(r.code, CMD_INPUT);
	cr_assert_eq(strncmp(r.err, "dial9-prof: standard input: ", 28), 0, "%s", r.err);
	run_free(&r);
	run_expect(run_cmd(cmd_report, make_fd("", 0), "report", "-", "--live=1", NULL), 5, "",
		   "dial9-prof: standard input is empty (was anything recorded?)\n");
}

/* ---- on a terminal ----------------------------------------------------------------------------- */

struct shown {
	struct pty t;
	pid_t pid;
	int trace; /* the end to write the trace to */
	struct termios before;
};

/* A terminal with signals from keys, which `report - --live` is in front of. */
static void show(struct shown *s, const char *delay)
{
	int p[2];

	pty_open(&s->t, ROWS, COLS);
	cr_assert_eq(tcgetattr(s->t.slave, &s->before), 0);
	s->before.c_lflag |= ISIG | ICANON | ECHO;
	s->before.c_cc[VINTR] = 3;
	cr_assert_eq(tcsetattr(s->t.slave, TCSANOW, &s->before), 0);
	cr_assert_eq(pipe(p), 0);
	fflush(NULL);
	s->pid = fork();
	if (!s->pid) {
		char *argv[] = { (char *)"report", (char *)"-", (char *)delay, NULL };

		setsid();
		ioctl(s->t.slave, TIOCSCTTY, 0);
		dup2(p[0], STDIN_FILENO);
		dup2(s->t.slave, STDOUT_FILENO);
		dup2(s->t.slave, STDERR_FILENO);
		close(p[0]);
		close(p[1]);
		close(s->t.master);
		setenv("NO_COLOR", "1", 1);
		exit(cmd_report(3, argv));
	}
	close(p[0]);
	s->trace = p[1];
}

static void feed(const struct shown *s, struct make *m)
{
	size_t sz;
	const void *data = dial9_enc_data(m->enc, &sz);

	cr_assert_eq(write(s->trace, data, sz), (ssize_t)sz);
}

/* Reads what is printed until it holds @text, from there on. */
static void wait_for(struct shown *s, const char *text)
{
	while (!strstr(s->t.text, text))
		cr_assert(pty_read(&s->t), "ended before '%s': %s", text, s->t.text);
}

static void forget(struct shown *s)
{
	s->t.len = 0;
	s->t.text[0] = '\0';
}

/* It ends, and the terminal is as it was. The slave is held open until then, or its modes would go. */
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
	cr_assert_eq(after.c_cc[VMIN], s->before.c_cc[VMIN]);
	close(s->trace);
	close(s->t.slave);
	close(s->t.master);
}

/* The widest line of the last picture, and how many lines it has. */
static size_t widest(const struct shown *s, size_t *lines)
{
	const char *at = s->t.text, *home, *end;
	size_t most = 0, cols;

	while ((home = strstr(at, "\033[H")) && strstr(home, "\033[J"))
		at = home + 3;
	*lines = 0;
	while ((end = strstr(at, "\033[K"))) {
		cols = text_width(at, (size_t)(end - at));
		most = cols > most ? cols : most;
		(*lines)++;
		at = end + 3;
		if (strncmp(at, "\r\n", 2) != 0)
			break;
		at += 2;
	}
	return most;
}

static const char long_name[] =
	"a_function_with_a_name_that_is_longer_than_any_terminal_of_eighty_columns_could_show_on_a_line";

Test(top, a_picture_fits_its_terminal_and_follows_its_size)
{
	struct winsize ws = { .ws_row = 4, .ws_col = 40 };
	struct shown s;
	struct make m;
	size_t lines;

	show(&s, "--live=0.1");
	make_second(&m, long_name);
	feed(&s, &m);
	wait_for(&s, "cold (app)");
	wait_for(&s, "\033[J");
	cr_assert_leq(widest(&s, &lines), COLS, "%s", s.t.text);
	cr_assert_eq(lines, 5, "%d lines: %s", (int)lines, s.t.text);
	forget(&s);
	cr_assert_eq(ioctl(s.t.master, TIOCSWINSZ, &ws), 0);
	/* a head of three lines and one row */
	do {
		forget(&s);
		wait_for(&s, "\033[J");
	} while (widest(&s, &lines) > 40);
	cr_assert_leq(lines, 4);
	cr_assert_eq(write(s.t.master, "q", 1), 1);
	expect_end(&s, CMD_OK);
	make_fini(&m);
}

/* Before the first period is over. */
Test(top, a_change_of_size_is_drawn_at_once)
{
	struct winsize ws = { .ws_row = 10, .ws_col = 30 };
	struct shown s;
	size_t lines;

	show(&s, "--live=3600");
	wait_for(&s, "\033[?25l");
	cr_assert_eq(ioctl(s.t.master, TIOCSWINSZ, &ws), 0);
	wait_for(&s, "\033[J");
	cr_assert_leq(widest(&s, &lines), 30, "%s", s.t.text);
	cr_assert_eq(lines, 3);
	cr_assert_eq(write(s.t.master, "q", 1), 1);
	expect_end(&s, CMD_OK);
}

Test(top, stopped_from_the_keyboard_it_gives_the_terminal_back_until_it_goes_on)
{
	struct shown s;
	struct make m;
	int status;

	show(&s, "--live=0.1");
	make_second(&m, "hot");
	feed(&s, &m);
	wait_for(&s, "hot");
	kill(s.pid, SIGTSTP);
	wait_for(&s, "\033[?25h\033[?1049l");
	cr_assert_eq(waitpid(s.pid, &status, WUNTRACED), s.pid);
	cr_assert(WIFSTOPPED(status));
	forget(&s);
	kill(s.pid, SIGCONT);
	wait_for(&s, "\033[?1049h\033[?25l");
	wait_for(&s, "\033[J");
	forget(&s);
	cr_assert_eq(write(s.t.master, "q", 1), 1);
	expect_end(&s, CMD_OK);
	make_fini(&m);
}

Test(top, keys_change_what_is_shown)
{
	struct shown s;
	struct make m;

	show(&s, "--live=0.1");
	make_second(&m, "hot");
	feed(&s, &m);
	wait_for(&s, "Off ms/s  Function");
	forget(&s);
	cr_assert_eq(write(s.t.master, "t", 1), 1);
	wait_for(&s, "Tid  Thread");
	cr_assert_eq(write(s.t.master, " ", 1), 1);
	wait_for(&s, "(paused)");
	cr_assert_eq(write(s.t.master, "q", 1), 1);
	expect_end(&s, CMD_OK);
	make_fini(&m);
}

Test(top, control_c_and_the_terminal_going_away_end_it)
{
	struct shown s;
	struct make m;

	make_second(&m, "hot");
	for (int i = 0; i < 2; i++) {
		show(&s, "--live=0.1");
		feed(&s, &m);
		wait_for(&s, "\033[?1049h");
		wait_for(&s, "hot");
		if (i)
			kill(s.pid, SIGHUP);
		else
			cr_assert_eq(write(s.t.master, "\003", 1), 1);
		expect_end(&s, CMD_OK);
	}
	make_fini(&m);
}

Test(top, the_last_picture_stays_when_the_trace_ends)
{
	struct shown s;
	struct make m;
	char *left;

	show(&s, "--live=3600");
	make_second(&m, "hot");
	feed(&s, &m);
	close(s.trace);
	s.trace = dup(0);
	wait_for(&s, "\033[?1049l");
	left = strstr(s.t.text, "\033[?1049l");
	while (!strstr(left, "cold (app)"))
		cr_assert(pty_read(&s.t));
	expect_end(&s, CMD_OK);
	make_fini(&m);
}

Test(top, damage_leaves_the_terminal_as_it_was)
{
	struct shown s;
	struct make m;

	show(&s, "--live=0.1");
	make_second(&m, "hot");
	feed(&s, &m);
	wait_for(&s, "hot");
	cr_assert_eq(write(s.trace, "\xee\xee\xee\xee", 4), 4);
	expect_end(&s, CMD_INPUT);
	make_fini(&m);
}

/* ---- options ----------------------------------------------------------------------------------- */

Test(top, wants_one_target)
{
	run_expect(run_cmd(cmd_top, make_fd("", 0), "top", NULL), 1, "",
		   "dial9-prof: top: whom to watch? -p PID, -t TID, -a for the whole system, or -- "
		   "COMMAND; see dial9-prof top --help\n");
	run_expect(run_cmd(cmd_top, make_fd("", 0), "top", "-a", "-p1", NULL), 1, "",
		   "dial9-prof: top: -p, -t, -a and a COMMAND exclude each other; see dial9-prof "
		   "top --help\n");
}
