// SPDX-License-Identifier: BSD-2-Clause
/*
 * A terminal that is redrawn. Owns its modes, its signals, and restoring it: at exit, on fatal signals, and when
 * the program is stopped from the keyboard.
 *
 * Signals are blocked except while waiting, so none is missed between checking flags and waiting. The data that a
 * signal handler needs to restore the terminal is process-wide, like the terminal.
 */
#include "cmd/common/screen.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

#define FDS_MAX 8

/* Another screen without a cursor; and back. */
static const char enter_text[] = "\033[?1049h\033[?25l";
static const char leave_text[] = "\033[?25h\033[?1049l";

static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP };
static const int fatal[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

#define CAUGHT_CNT (sizeof(caught) / sizeof(caught[0]))
#define FATAL_CNT (sizeof(fatal) / sizeof(fatal[0]))

static volatile sig_atomic_t stop_asked, resized, paused;
static struct termios before; /* of the terminal */
static volatile sig_atomic_t entered; /* the terminal is to be restored, */
static volatile sig_atomic_t entered_fd = -1; /* and its modes by this descriptor */

struct screen {
	bool terminal;
	int fd; /* of keys */
	sigset_t mask; /* as it was */
	struct sigaction old[CAUGHT_CNT], old_fatal[FATAL_CNT];
};

/* ---- the way in and back ----------------------------------------------------------------------- */

/* Safe in signal handlers. */
static void restore(void)
{
	if (!entered)
		return;
	entered = 0;
	(void)!write(STDOUT_FILENO, leave_text, sizeof(leave_text) - 1);
	if (entered_fd >= 0)
		tcsetattr(entered_fd, TCSANOW, &before);
	entered_fd = -1;
}

static void enter(const struct screen *s)
{
	struct termios raw;

	if (!s->terminal)
		return;
	if (s->fd >= 0 && !tcgetattr(s->fd, &before)) {
		raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		tcsetattr(s->fd, TCSANOW, &raw);
		entered_fd = s->fd;
	}
	entered = 1;
	(void)!write(STDOUT_FILENO, enter_text, sizeof(enter_text) - 1);
}

static void on_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else if (sig == SIGTSTP)
		paused = 1;
	else
		stop_asked = 1;
}

static void on_fatal(int sig)
{
	restore();
	/* the handler is gone, so this is the end */
	raise(sig);
}

static void catch_signals(struct screen *s)
{
	struct sigaction on = { .sa_handler = on_signal },
			 bad = { .sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND };
	sigset_t block;

	stop_asked = resized = paused = 0;
	sigemptyset(&block);
	for (size_t i = 0; i < CAUGHT_CNT; i++) {
		sigaddset(&block, caught[i]);
		sigaction(caught[i], &on, &s->old[i]);
	}
	for (size_t i = 0; i < FATAL_CNT; i++)
		sigaction(fatal[i], &bad, &s->old_fatal[i]);
	sigprocmask(SIG_BLOCK, &block, &s->mask);
}

struct screen *screen_open(void)
{
	static bool at_exit;
	struct screen *s = xcalloc(1, sizeof(*s));

	s->terminal = isatty(STDOUT_FILENO);
	s->fd = s->terminal ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
	/* a terminal that is not ours to control still has keys */
	if (s->terminal && s->fd < 0)
		s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	catch_signals(s);
	if (!at_exit)
		atexit(restore);
	at_exit = true;
	enter(s);
	return s;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	restore();
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	for (size_t i = 0; i < CAUGHT_CNT; i++)
		sigaction(caught[i], &s->old[i], NULL);
	for (size_t i = 0; i < FATAL_CNT; i++)
		sigaction(fatal[i], &s->old_fatal[i], NULL);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* ---- use --------------------------------------------------------------------------------------- */

bool screen_is_terminal(const struct screen *s)
{
	return s->terminal;
}

void screen_size(const struct screen *s, size_t *rows, size_t *cols)
{
	struct winsize ws = { 0 };

	*rows = SIZE_MAX;
	*cols = 0;
	if (!s->terminal)
		return;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws);
	*rows = ws.ws_row ? ws.ws_row : 24;
	*cols = ws.ws_col ? ws.ws_col : 80;
}

int screen_fd(const struct screen *s)
{
	return s->fd;
}

char screen_key(struct screen *s)
{
	char c = 0;

	if (s->fd < 0)
		return 0;
	if (read(s->fd, &c, 1) == 1)
		return c;
	/* a terminal that is gone can be read without end */
	close(s->fd);
	s->fd = -1;
	return 0;
}

/* Acts like SIGTSTP, with the terminal restored while stopped. */
static void pause_here(struct screen *s)
{
	restore();
	raise(SIGSTOP);
	enter(s);
}

unsigned int screen_wait(struct screen *s, const int *fds, bool *ready, size_t cnt, int ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };
	struct pollfd p[FDS_MAX];
	unsigned int what = SCREEN_NOTHING;

	for (size_t i = 0; i < cnt; i++)
		p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (ppoll(p, cnt, &ts, &s->mask) < 0)
		for (size_t i = 0; i < cnt; i++)
			p[i].revents = 0;
	for (size_t i = 0; i < cnt; i++)
		ready[i] = p[i].revents;
	if (paused) {
		pause_here(s);
		what |= SCREEN_PAUSED;
	}
	if (resized)
		what |= SCREEN_RESIZED;
	if (stop_asked)
		what |= SCREEN_STOP;
	resized = paused = 0;
	return what;
}

int screen_draw(struct screen *s, const char *text, size_t len)
{
	struct buf out = { 0 };
	const char *end = text + len, *nl;
	int err;

	if (!s->terminal)
		return file_write(STDOUT_FILENO, text, len);
	buf_addstr(&out, "\033[H");
	for (; text < end; text = nl + 1) {
		nl = memchr(text, '\n', (size_t)(end - text));
		nl = nl ? nl : end;
		buf_add(&out, text, (size_t)(nl - text));
		buf_addstr(&out, "\033[K");
		/* a newline after the last line would scroll the screen */
		if (nl + 1 < end)
			buf_addstr(&out, "\r\n");
	}
	buf_addstr(&out, "\033[J");
	err = file_write(STDOUT_FILENO, buf_cstr(&out), out.len);
	buf_free(&out);
	return err;
}
