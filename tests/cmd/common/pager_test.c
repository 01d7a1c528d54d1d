// SPDX-License-Identifier: BSD-2-Clause
/* When a pager is started, what it reads, and how it ends. */
#include "tests/cmd/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "cmd/common/cmd.h"
#include "cmd/common/pager.h"

enum { ROWS = 10, COLS = 20 };

/* As fork(), with the child on the terminal. */
static pid_t fork_there(struct pty *t, const char *pager)
{
	pid_t pid;

	pty_open(t, ROWS, COLS);
	fflush(NULL);
	pid = fork();
	if (pid) {
		close(t->slave);
		return pid;
	}
	setpgid(0, 0);
	dup2(t->slave, STDOUT_FILENO);
	close(t->slave);
	close(t->master);
	if (pager)
		setenv("PAGER", pager, 1);
	else
		unsetenv("PAGER");
	return 0;
}

/* Prints the output of @print through a pager; pager_end()'s errno is the status. */
static pid_t start(struct pty *t, const char *pager, void (*print)(void))
{
	const pid_t pid = fork_there(t, pager);

	if (pid)
		return pid;
	struct pager *p = pager_begin();

	if (print)
		print();
	_exit(p ? -pager_end(p) : 99);
}

static int end(struct pty *t, pid_t pid)
{
	int status;

	while (pty_read(t))
		;
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	close(t->master);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int run(struct pty *t, const char *pager, void (*print)(void))
{
	return end(t, start(t, pager, print));
}

static void lines(int n)
{
	for (int i = 1; i <= n; i++)
		printf("line %d\n", i);
}

static void one_screen(void)
{
	lines(ROWS - 1);
}

static void more_than_a_screen(void)
{
	lines(ROWS);
}

/* Escape sequences take no columns; a code point takes one column, with any number of bytes. */
static void one_screen_in_colour(void)
{
	for (int i = 1; i < ROWS; i++)
		puts("\033[1;33m\303\244\303\266\303\274\303\244\303\266\303\274\303\244\303\266\303"
		     "\274\303\244\303\266\303\274\033[0m");
}

static void one_long_line(void)
{
	for (int i = 0; i < ROWS * COLS + 1; i++)
		putchar('x');
}

static void a_line_without_an_end(void)
{
	for (int i = 0; i < 300000; i++)
		fputs("\033[0m", stdout);
}

Test(pager, text_that_fits_the_screen_has_no_pager)
{
	struct pty t;

	cr_expect_eq(run(&t, "sed s/^/P/", one_screen), 0);
	cr_expect(strstr(t.text, "line 1\n") == t.text && strstr(t.text, "line 9\n"), "%s", t.text);
	cr_expect_eq(run(&t, "sed s/^/P/", one_screen_in_colour), 0);
	cr_expect_eq(t.text[0], '\033');
	cr_expect_eq(run(&t, "sed s/^/P/", NULL), 0);
	cr_expect_str_eq(t.text, "");
}

Test(pager, longer_text_goes_to_the_pager_from_the_first_byte)
{
	struct pty t;

	cr_expect_eq(run(&t, "sed s/^/P/", more_than_a_screen), 0);
	cr_expect(strstr(t.text, "Pline 1\n") == t.text && strstr(t.text, "Pline 10\n"), "%s",
		  t.text);
	cr_expect_eq(run(&t, "sed s/^/P/ | tr x y", one_long_line), 0, "by a shell");
	cr_expect(strstr(t.text, "Pyyy") == t.text, "%s", t.text);
	cr_expect_eq(run(&t, "wc -c", a_line_without_an_end), 0);
	cr_expect_str_eq(t.text, "1200000\n");
}

/* Without a pager, everything is still printed. */
Test(pager, cat_empty_and_missing_programs_are_no_pagers)
{
	struct pty t;

	cr_expect_eq(run(&t, "cat", more_than_a_screen), 99);
	cr_expect_eq(run(&t, "", more_than_a_screen), 99);
	cr_expect_eq(run(&t, "/nonexistent/pager", more_than_a_screen), 0);
	cr_expect(strstr(t.text, "line 1\n") == t.text && strstr(t.text, "line 10\n"), "%s",
		  t.text);
	cr_expect_eq(run(&t, " ", more_than_a_screen), 0);
	cr_expect(strstr(t.text, "line 10\n"), "%s", t.text);
}

static void endless(void)
{
	while (!ferror(stdout))
		puts("again and again");
}

Test(pager, pager_that_quits_ends_the_printing)
{
	struct pty t;

	cr_expect_eq(run(&t, "head -n 1", endless), EPIPE);
	cr_expect_str_eq(t.text, "again and again\n");
}

static void print_and_wait(void)
{
	lines(ROWS);
	fflush(stdout);
	pause();
}

/* Otherwise both would read the terminal: this pager ends some time after its input does. */
Test(pager, interrupt_waits_for_the_pager)
{
	struct pty t;
	pid_t pid = start(&t, "trap '' INT; sed -u 's/^/P/'; echo ended", print_and_wait);

	while (!strstr(t.text, "Pline 10"))
		cr_assert(pty_read(&t));
	kill(pid, SIGINT);
	cr_expect_eq(end(&t, pid), 128 + SIGINT);
	cr_expect(strstr(t.text, "ended\n"), "%s", t.text);
}

Test(pager, less_is_configured_to_exit_for_short_text)
{
	struct pty t;

	unsetenv("LESS");
	cr_expect_eq(run(&t, "cat >/dev/null; echo $LESS", more_than_a_screen), 0);
	cr_expect_str_eq(t.text, "FRX\n");
	setenv("LESS", "i", 1);
	cr_expect_eq(run(&t, "cat >/dev/null; echo $LESS", more_than_a_screen), 0);
	cr_expect_str_eq(t.text, "i\n");
}

Test(pager, output_to_a_file_has_no_pager)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), keep = dup(1);

	dup2(fd, 1);
	cr_expect_null(pager_begin());
	cr_expect_eq(pager_end(NULL), 0);
	dup2(keep, 1);
	close(keep);
	close(fd);
}

static void run_command(struct pty *t, const char *pager, int (*cmd)(int, char **),
			const char *word, const char *option)
{
	char words[2][256], *argv[] = { words[0], words[1], NULL };
	const pid_t pid = fork_there(t, pager);

	snprintf(words[0], sizeof(words[0]), "%s", word);
	snprintf(words[1], sizeof(words[1]), "%s", option);
	if (!pid)
		_exit(cmd(2, argv));
	cr_expect_eq(end(t, pid), CMD_OK, "%s: %s", word, t->text);
}

/* A trace of 12 frames is longer than the screen; so is the output of commands that read the kernel. */
Test(pager, commands_that_print_lines_have_a_pager)
{
	const char *top = getenv("D9_TOP");
	char trace[200];
	struct pty t;

	snprintf(trace, sizeof(trace), "%s/tests/golden/dial9/core/small.bin", top ? top : ".");
	run_command(&t, "sed s/^/P/", cmd_dump, "dump", trace);
	cr_expect(strstr(t.text, "P") == t.text, "%s", t.text);
	cr_expect(strstr(t.text, "\nP"), "%s", t.text);
	run_command(&t, "true", cmd_dump, "dump", trace);
	cr_expect_str_eq(t.text, "", "who quits it has seen enough");
	if (geteuid())
		return;
	run_command(&t, "sed s/^/P/", cmd_list, "list", "sched:*");
	cr_expect(strstr(t.text, "Psched:") == t.text, "%s", t.text);
	run_command(&t, "cat", cmd_list, "list", "sched:*");
	cr_expect(strstr(t.text, "sched:") == t.text, "%s", t.text);
}
