// SPDX-License-Identifier: BSD-2-Clause
/*
 * Screens of a growing trace, on a terminal of the test and in a pipe; keys, signals, and the state of the
 * terminal at the end. The recorder is not needed: the trace comes from the test.
 */
#include "tests/cmd/run_cmd.h"

#include "tests/cmd/pty.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>

#include "cmd/common/live_view.h"
#include "cmd/common/report_text.h"

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

Test(top, screens_in_a_pipe_follow_each_other)
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

/* By threads, and by off-CPU time on request. */
static int top_threads(int argc, char **argv)
{
	const struct live_view_opts opts = { .fd = STDIN_FILENO,
					     .name = "it",
					     .title = "it",
					     .delay_ns = 3600 * RUN_SEC,
					     .threads = true,
					     .off = argc > 1 && !strcmp(argv[1], "off"),
					     .messages_fd = -1 };

	return live_view_run(&opts) == LIVE_VIEW_ENDED ? CMD_OK : CMD_INPUT;
}

/* It runs in hot, and is blocked in cold for half a second of two. */
Test(top, thread_is_printed_with_the_function_that_it_runs_or_blocks_in)
{
	const uint64_t cold = make_frame(1, 0x20), s = RUN_SEC;
	struct make m;

	make_second(&m, "hot");
	make_switch(&m, 2 * s, 0, "app", 7, 1, "swapper/0", 0);
	make_sample(&m, 2 * s, 7, 7, PROF_SOURCE_SWITCH_OUT, 0, &cold, 1);
	make_waking(&m, 2 * s + s / 2, 0, 0, "app", 7);
	make_switch(&m, 2 * s + s / 2, 0, "swapper/0", 0, 0, "app", 7);
	make_clock(&m, 3 * s, 1);
	run_expect(run_cmd(top_threads, make_file(&m), "top", NULL), CMD_OK,
		   "it  2.0 s  4 samples  CPU 50.0%\n"
		   "lost: nothing\n"
		   "    CPU  Runq ms/s   Off ms/s      Tid  Thread            Function\n"
		   "  50.0%        0.0      250.0        7  app               hot (app)\n"
		   "\n",
		   "");
	run_expect(run_cmd(top_threads, make_file(&m), "top", "off", NULL), CMD_OK,
		   "it  2.0 s  4 samples  CPU 50.0%\n"
		   "lost: nothing\n"
		   "    CPU  Runq ms/s   Off ms/s      Tid  Thread            Blocked in\n"
		   "  50.0%        0.0      250.0        7  app               cold (app)\n"
		   "\n",
		   "");
	make_fini(&m);
}

/* A recorder with -z sends this: each gzip member is decompressed as it arrives. */
Test(top, compressed_input_is_shown_as_it_arrives)
{
	struct make m;
	struct run r;
	int ends[2], plain, all;
	uint8_t bytes[65536], packed[65536];
	z_stream z = { 0 };
	ssize_t n;

	make_second(&m, "hot");
	plain = make_file(&m);
	n = read(plain, bytes, sizeof(bytes));
	cr_assert_gt(n, 100);
	close(plain);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	for (int member = 0; member < 2; member++) {
		cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			     Z_OK);
		z.next_in = member ? bytes + 50 : bytes;
		z.avail_in = member ? (uInt)n - 50 : 50;
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
		all = (int)(sizeof(packed) - z.avail_out);
		cr_assert_eq(write(ends[1], packed, (size_t)all), all);
		deflateEnd(&z);
	}
	close(ends[1]);
	r = run_cmd(cmd_report, ends[0], "report", "-", "--live=3600", NULL);
	run_expect_in(r.out, "standard input  1.0 s  4 samples  CPU 100.0%\n");
	run_expect_in(r.out, "  75.0%        0.0  hot (app)\n");
	run_free(&r);
	r = run_cmd(cmd_report, make_fd("\x1f\x8b garbage that is none", 23), "report", "-",
		    "--live=3600", NULL);
	cr_expect_eq(r.code, CMD_INPUT);
	run_expect_in(r.err, "dial9-prof: standard input: damaged gzip data\n");
	run_free(&r);
	make_fini(&m);
}

Test(top, selection_is_refused_with_live)
{
	run_expect(
		run_cmd(cmd_report, make_fd("", 0), "report", "-", "--live=1", "-p5", NULL), 1, "",
		"dial9-prof: report: --live cannot be combined with --wall, -s, -g, -G, --json or a selection\n");
}

Test(top, bad_input_is_reported)
{
	struct run r = run_cmd(cmd_report, make_fd("no trace", 8), "report", "-", "--live=1", NULL);

	cr_assert_eq(r.code, CMD_INPUT);
	cr_assert_eq(strncmp(r.err, "dial9-prof: standard input: ", 28), 0, "%s", r.err);
	run_free(&r);
	run_expect(run_cmd(cmd_report, make_fd("", 0), "report", "-", "--live=1", NULL), 5, "",
		   "dial9-prof: standard input is empty (was anything recorded?)\n");
}

/* ---- on a terminal ----------------------------------------------------------------------------- */

/* `report - --live` in front of a terminal; returns the end to write the trace to. */
static int show(struct pty_screen *s, const char *delay)
{
	int p[2];

	cr_assert_eq(pipe(p), 0);
	if (!pty_screen_fork(s, ROWS, COLS)) {
		char *argv[] = { (char *)"report", (char *)"-", (char *)delay, NULL };

		dup2(p[0], STDIN_FILENO);
		close(p[0]);
		close(p[1]);
		exit(cmd_report(3, argv));
	}
	close(p[0]);
	return p[1];
}

static void feed(int trace, struct make *m)
{
	size_t sz;
	const void *data = dial9_enc_data(m->enc, &sz);

	cr_assert_eq(write(trace, data, sz), (ssize_t)sz);
}

/* The widest line of the last screen, and how many lines it has. */
static size_t widest(const struct pty_screen *s, size_t *lines)
{
	const char *at = s->t.text, *home, *end;
	size_t most = 0, cols;

	while ((home = strstr(at, "\033[H")) && strstr(home, "\033[J"))
		at = home + 3;
	*lines = 0;
	while ((end = strstr(at, "\033[K"))) {
		cols = value_text_width(at, (size_t)(end - at));
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

Test(top, screen_fits_its_terminal_and_follows_its_size)
{
	struct winsize ws = { .ws_row = 4, .ws_col = 40 };
	struct pty_screen s;
	struct make m;
	int trace;
	size_t lines;

	trace = show(&s, "--live=0.1");
	make_second(&m, long_name);
	feed(trace, &m);
	pty_wait_for(&s.t, "cold (app)");
	pty_wait_for(&s.t, "\033[J");
	cr_assert_leq(widest(&s, &lines), COLS, "%s", s.t.text);
	cr_assert_eq(lines, 5, "%d lines: %s", (int)lines, s.t.text);
	pty_forget(&s.t);
	cr_assert_eq(ioctl(s.t.master, TIOCSWINSZ, &ws), 0);
	/* a head of three lines and one row */
	do {
		pty_forget(&s.t);
		pty_wait_for(&s.t, "\033[J");
	} while (widest(&s, &lines) > 40);
	cr_assert_leq(lines, 4);
	pty_type(&s.t, "q");
	pty_screen_end(&s, CMD_OK);
	close(trace);
	make_fini(&m);
}

/* Before the first period is over. */
Test(top, change_of_the_size_is_drawn_at_once)
{
	struct winsize ws = { .ws_row = 10, .ws_col = 30 };
	struct pty_screen s;
	int trace;
	size_t lines;

	trace = show(&s, "--live=3600");
	pty_wait_for(&s.t, "\033[?25l");
	cr_assert_eq(ioctl(s.t.master, TIOCSWINSZ, &ws), 0);
	pty_wait_for(&s.t, "\033[J");
	cr_assert_leq(widest(&s, &lines), 30, "%s", s.t.text);
	cr_assert_eq(lines, 3);
	pty_type(&s.t, "q");
	pty_screen_end(&s, CMD_OK);
	close(trace);
}

Test(top, job_control_restores_the_terminal_while_stopped)
{
	struct pty_screen s;
	struct make m;
	int trace, status;

	trace = show(&s, "--live=0.1");
	make_second(&m, "hot");
	feed(trace, &m);
	pty_wait_for(&s.t, "hot");
	kill(s.pid, SIGTSTP);
	pty_wait_for(&s.t, "\033[?25h\033[?1049l");
	cr_assert_eq(waitpid(s.pid, &status, WUNTRACED), s.pid);
	cr_assert(WIFSTOPPED(status));
	pty_forget(&s.t);
	kill(s.pid, SIGCONT);
	pty_wait_for(&s.t, "\033[?1049h\033[?25l");
	pty_wait_for(&s.t, "\033[J");
	pty_forget(&s.t);
	pty_type(&s.t, "q");
	pty_screen_end(&s, CMD_OK);
	close(trace);
	make_fini(&m);
}

Test(top, keys_change_the_display)
{
	struct pty_screen s;
	struct make m;
	int trace;

	trace = show(&s, "--live=0.1");
	make_second(&m, "hot");
	feed(trace, &m);
	pty_wait_for(&s.t, "Off ms/s  Function");
	pty_forget(&s.t);
	pty_type(&s.t, "t");
	pty_wait_for(&s.t, "Tid  Thread");
	pty_type(&s.t, " ");
	pty_wait_for(&s.t, "(paused)");
	pty_type(&s.t, "q");
	pty_screen_end(&s, CMD_OK);
	close(trace);
	make_fini(&m);
}

Test(top, ctrl_c_and_hangup_end_the_display)
{
	struct pty_screen s;
	struct make m;
	int trace;

	make_second(&m, "hot");
	for (int i = 0; i < 2; i++) {
		trace = show(&s, "--live=0.1");
		feed(trace, &m);
		pty_wait_for(&s.t, "\033[?1049h");
		pty_wait_for(&s.t, "hot");
		if (i)
			kill(s.pid, SIGHUP);
		else
			pty_type(&s.t, "\003");
		pty_screen_end(&s, CMD_OK);
		close(trace);
	}
	make_fini(&m);
}

Test(top, last_screen_stays_when_the_trace_ends)
{
	struct pty_screen s;
	struct make m;
	int trace;
	char *left;

	trace = show(&s, "--live=3600");
	make_second(&m, "hot");
	feed(trace, &m);
	close(trace);
	pty_wait_for(&s.t, "\033[?1049l");
	left = strstr(s.t.text, "\033[?1049l");
	while (!strstr(left, "cold (app)"))
		cr_assert(pty_read(&s.t));
	pty_screen_end(&s, CMD_OK);
	make_fini(&m);
}

Test(top, damaged_input_restores_the_terminal)
{
	struct pty_screen s;
	struct make m;
	int trace;

	trace = show(&s, "--live=0.1");
	make_second(&m, "hot");
	feed(trace, &m);
	pty_wait_for(&s.t, "hot");
	cr_assert_eq(write(trace, "\xee\xee\xee\xee", 4), 4);
	pty_screen_end(&s, CMD_INPUT);
	close(trace);
	make_fini(&m);
}

/* ---- options ----------------------------------------------------------------------------------- */

Test(top, command_needs_one_target)
{
	run_expect(
		run_cmd(cmd_top, make_fd("", 0), "top", NULL), 1, "",
		"dial9-prof: top: no target given; use -p PID, -t TID, -a for the whole system, -G, -u, --comm, --thread or -C for a part of it, or -- COMMAND; see dial9-prof top --help\n");
	run_expect(
		run_cmd(cmd_top, make_fd("", 0), "top", "-a", "-p1", NULL), 1, "",
		"dial9-prof: top: -p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop after a time use --duration 10); see dial9-prof top --help\n");
}
