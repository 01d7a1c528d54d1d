// SPDX-License-Identifier: BSD-2-Clause
/*
 * A pager between us and a terminal. Owns the pager's process and the pipe to it; independent of the output, which
 * is written to stdout as usual.
 *
 * stdout becomes a stream of our own. It buffers the first screen: shorter text is printed directly, without a
 * pager. Longer text starts the pager. An interrupt during the pager ends the program, but only after the pager,
 * since otherwise both would read the terminal.
 */
#include "cmd/common/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

/* Held back at most, for lines without an end. */
#define HELD_MAX (256 * 1024)
#define WORDS_MAX 16
/* What only a shell understands. */
#define SHELL_CHARS "|&;<>()$`\\\"'*?[#~=%{}!\n"

enum pager_mode { PAGE_HOLDS, PAGE_PAGES, PAGE_PASSES };

struct pager {
	FILE *terminal, *stream; /* stdout as it was, and as it is */
	enum pager_mode mode;
	size_t rows, cols; /* of the terminal */
	size_t row, col; /* where the text has got to */
	bool escape; /* in an escape sequence, which takes no room */
	struct buf held;
	int fd; /* to the pager */
	int err;
	void (*on_pipe)(int), (*on_interrupt)(int); /* as they were */
};

/* For the signal handler. */
static volatile sig_atomic_t pager_pid, pager_fd;

/* ---- the pager --------------------------------------------------------------------------------- */

static void interrupted(int sig)
{
	close(pager_fd);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(128 + sig);
}

static void exec_words(const char *command)
{
	char *copy = xstrdup(command), *words[WORDS_MAX + 1], *rest = NULL;
	size_t cnt = 0;

	for (char *w = strtok_r(copy, " \t", &rest); w && cnt < WORDS_MAX;
	     w = strtok_r(NULL, " \t", &rest))
		words[cnt++] = w;
	words[cnt] = NULL;
	if (cnt)
		execvp(words[0], words);
}

/* In the child: the pager, or its errno into @failed. */
static void __attribute__((noreturn)) exec_pager(const char *command, int in, int failed)
{
	int err;

	dup2(in, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRX", 0);
	if (!command) {
		execlp("less", "less", (char *)NULL);
		execlp("more", "more", (char *)NULL);
	} else if (strpbrk(command, SHELL_CHARS)) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	} else {
		exec_words(command);
	}
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* NULL: ours to choose. False: none is wanted. */
static bool pager_command(const char **out)
{
	const char *env = secure_getenv("PAGER");

	*out = env;
	return !env || (*env && strcmp(env, "cat") != 0);
}

/* The pipe to a pager that runs, or -errno. */
static int start_pager(pid_t *pid)
{
	int to[2], failed[2], err = 0;
	const char *command;
	ssize_t n;

	if (!pager_command(&command))
		return -ENOENT;
	if (pipe2(to, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return -EMFILE;
	}
	*pid = fork();
	if (!*pid)
		exec_pager(command, to[0], failed[1]);
	close(to[0]);
	close(failed[1]);
	do {
		n = *pid < 0 ? 1 : read(failed[0], &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(failed[0]);
	if (!n)
		return to[1];
	close(to[1]);
	if (*pid > 0)
		waitpid(*pid, NULL, 0);
	return -ENOENT;
}

/* ---- the stream -------------------------------------------------------------------------------- */

static int put(struct pager *p, const char *s, size_t n)
{
	return file_write(p->mode == PAGE_PAGES ? p->fd : fileno(p->terminal), s, n);
}

/* The first screen has been filled. */
static int stop_holding(struct pager *p)
{
	pid_t pid = 0;
	int fd = start_pager(&pid);

	p->mode = PAGE_PASSES;
	if (fd >= 0) {
		p->mode = PAGE_PAGES;
		p->fd = fd;
		pager_fd = fd;
		pager_pid = pid;
		p->on_pipe = signal(SIGPIPE, SIG_IGN);
		p->on_interrupt = signal(SIGINT, interrupted);
	}
	return put(p, buf_cstr(&p->held), p->held.len);
}

/* Follows the text as the terminal would show it; true when it needs more rows than there are. */
static bool fills_screen(struct pager *p, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (p->escape) {
			p->escape = c == '[' || c < 0x40;
		} else if (c == '\033') {
			p->escape = true;
		} else if (c == '\n') {
			p->row++;
			p->col = 0;
		} else if ((c & 0xc0) != 0x80 && ++p->col > p->cols) {
			p->row++;
			p->col = 1;
		}
	}
	/* the last row is the prompt's */
	return p->row >= p->rows || p->held.len > HELD_MAX;
}

static ssize_t write_stream(void *cookie, const char *s, size_t n)
{
	struct pager *p = cookie;

	if (p->err)
		return 0;
	if (p->mode != PAGE_HOLDS) {
		p->err = put(p, s, n);
	} else {
		buf_add(&p->held, s, n);
		if (fills_screen(p, s, n))
			p->err = stop_holding(p);
	}
	errno = -p->err;
	return p->err ? 0 : (ssize_t)n;
}

/* False: only glibc lets a program do so; with another C library all output goes past the pager. */
static bool replace_stdout(FILE *f)
{
#ifdef __GLIBC__
	stdout = f;
	return true;
#else
	return false;
#endif
}

struct pager *pager_begin(void)
{
	const cookie_io_functions_t io = { .write = write_stream };
	struct winsize ws;
	const char *command;
	struct pager *p;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row ||
	    !ws.ws_col || !pager_command(&command))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->rows = ws.ws_row;
	p->cols = ws.ws_col;
	p->terminal = stdout;
	p->stream = fopencookie(p, "w", io);
	fflush(stdout);
	if (p->stream && replace_stdout(p->stream))
		return p;
	if (p->stream)
		fclose(p->stream);
	free(p);
	return NULL;
}

int pager_end(struct pager *p)
{
	int err;

	if (!p)
		return 0;
	fclose(p->stream);
	replace_stdout(p->terminal);
	if (p->mode == PAGE_HOLDS)
		p->err = put(p, buf_cstr(&p->held), p->held.len);
	if (p->mode == PAGE_PAGES) {
		close(p->fd);
		while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
			;
		signal(SIGPIPE, p->on_pipe);
		signal(SIGINT, p->on_interrupt);
	}
	err = p->err;
	buf_free(&p->held);
	free(p);
	return err;
}
