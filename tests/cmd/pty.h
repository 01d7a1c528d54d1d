/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_CMD_PTY_H
#define D9_TESTS_CMD_PTY_H

/* A terminal whose other end is held by the test. */
#include <criterion/criterion.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "export/value_text.h"

struct pty {
	int master, slave;
	char text[65536]; /* printed so far */
	size_t len;
};

/* Discards what was printed so far. */
static inline void pty_forget(struct pty *t)
{
	t->len = 0;
	t->text[0] = '\0';
}

static inline void pty_open(struct pty *t, unsigned short rows, unsigned short cols)
{
	struct winsize ws = { .ws_row = rows, .ws_col = cols };
	struct termios raw = { 0 };

	pty_forget(t);
	cfmakeraw(&raw);
	cr_assert_eq(openpty(&t->master, &t->slave, NULL, &raw, &ws), 0);
}

/* Waits for the next output; false at the end. */
static inline bool pty_read(struct pty *t)
{
	struct pollfd p = { .fd = t->master, .events = POLLIN };
	ssize_t n;

	cr_assert_eq(poll(&p, 1, 30000), 1, "nothing printed after: %s", t->text);
	n = read(t->master, t->text + t->len, sizeof(t->text) - 1 - t->len);
	if (n <= 0)
		return false;
	t->len += (size_t)n;
	t->text[t->len] = '\0';
	return true;
}

/* Reads output until it has @text. */
static inline void pty_wait_for(struct pty *t, const char *text)
{
	while (!strstr(t->text, text)) {
		/* only later output counts, or many screens would fill the buffer */
		if (t->len > sizeof(t->text) / 2)
			pty_forget(t);
		cr_assert(pty_read(t), "ended before '%s': %s", text, t->text);
	}
}

static inline void pty_type(const struct pty *t, const char *keys)
{
	cr_assert_eq(write(t->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* What a command with at most 8 arguments prints on a terminal with this many columns. */
static inline void pty_run(struct pty *t, unsigned short cols, int (*cmd)(int argc, char **argv),
			   int input, const char *const *words)
{
	char copies[8][64], *argv[9] = { 0 };
	int argc = 0, status;
	pid_t pid;

	for (; words[argc]; argc++) {
		snprintf(copies[argc], sizeof(copies[argc]), "%s", words[argc]);
		argv[argc] = copies[argc];
	}
	pty_open(t, 200, cols);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(input, STDIN_FILENO);
		dup2(t->slave, STDOUT_FILENO);
		close(t->slave);
		close(t->master);
		setenv("NO_COLOR", "1", 1);
		_exit(cmd(argc, argv));
	}
	close(input);
	close(t->slave);
	while (pty_read(t))
		;
	close(t->master);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "%s", t->text);
}

/* Columns of the widest of these lines. */
static inline size_t pty_widest(const char *text)
{
	size_t most = 0, n, w;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		w = value_text_width(text, n);
		most = w > most ? w : most;
	}
	return most;
}

/* ---- a program that fills the screen ------------------------------------------------------------ */

struct pty_screen {
	struct pty t;
	pid_t pid; /* the program in front of it */
	struct termios before;
};

/* A terminal with signals from keys, and a child in front of it: 0 there, its pid here, as of fork(). */
static inline pid_t pty_screen_fork(struct pty_screen *s, unsigned short rows, unsigned short cols)
{
	pty_open(&s->t, rows, cols);
	cr_assert_eq(tcgetattr(s->t.slave, &s->before), 0);
	s->before.c_lflag |= ISIG | ICANON | ECHO;
	s->before.c_cc[VINTR] = 3;
	cr_assert_eq(tcsetattr(s->t.slave, TCSANOW, &s->before), 0);
	fflush(NULL);
	s->pid = fork();
	if (s->pid)
		return s->pid;
	setsid();
	ioctl(s->t.slave, TIOCSCTTY, 0);
	for (int fd = 0; fd <= 2; fd++)
		dup2(s->t.slave, fd);
	close(s->t.master);
	setenv("NO_COLOR", "1", 1);
	return 0;
}

/*
 * Waits for the end of the program, and expects the terminal in its initial state. The slave is held open until
 * then, or its modes would be lost.
 */
static inline void pty_screen_end(struct pty_screen *s, int code)
{
	struct termios after;
	int status;

	pty_wait_for(&s->t, "\033[?25h\033[?1049l");
	cr_assert_eq(waitpid(s->pid, &status, 0), s->pid);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), code, "%s", s->t.text);
	cr_assert_eq(tcgetattr(s->t.slave, &after), 0);
	cr_assert_eq(after.c_lflag, s->before.c_lflag);
	cr_assert_eq(after.c_cc[VMIN], s->before.c_cc[VMIN]);
	close(s->t.slave);
	close(s->t.master);
}

#endif /* D9_TESTS_CMD_PTY_H */
