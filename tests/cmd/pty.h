/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_CMD_PTY_H
#define D9_TESTS_CMD_PTY_H

/* A terminal that a test holds the other end of. */
#include <criterion/criterion.h>
#include <poll.h>
#include <pty.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

struct pty {
	int master, slave;
	char text[65536]; /* what was printed to it so far */
	size_t len;
};

static inline void pty_open(struct pty *t, unsigned short rows, unsigned short cols)
{
	struct winsize ws = { .ws_row = rows, .ws_col = cols };
	struct termios raw = { 0 };

	t->len = 0;
	t->text[0] = '\0';
	cfmakeraw(&raw);
	cr_assert_eq(openpty(&t->master, &t->slave, NULL, &raw, &ws), 0);
}

/* What is printed next, once there is some; false at the end. */
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

#endif /* D9_TESTS_CMD_PTY_H */
