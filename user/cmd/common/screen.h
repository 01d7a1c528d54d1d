/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_SCREEN_H
#define D9_CMD_COMMON_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <signal.h>

#include "base/buf.h"

/*
 * The terminal on standard output as a redrawn screen, with its keys. The terminal is restored however the program
 * ends. One at a time.
 */
struct screen;

/* What happened to it while waiting. */
enum screen_event {
	SCREEN_NOTHING = 0,
	SCREEN_STOP = 1, /* a signal asks the program to end */
	SCREEN_RESIZED = 2,
	SCREEN_PAUSED = 4, /* it was stopped from the keyboard, and goes on now */
};

/*
 * Begins to catch SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH and SIGTSTP, and takes over the terminal, if
 * standard output is one. Never NULL; screen_close() releases it.
 */
struct screen *screen_open(void);
void screen_close(struct screen *s);

/* False: standard output is no terminal; frames follow each other as plain text. */
bool screen_is_terminal(const struct screen *s);
/* Rows and columns; of no terminal SIZE_MAX and 0. */
void screen_size(const struct screen *s, size_t *rows, size_t *cols);

/* The descriptor that keys come from; -1: from nowhere. The next key, or 0. */
int screen_fd(const struct screen *s);
char screen_key(struct screen *s);

/*
 * Waits for one of the @cnt descriptors (negative ones are skipped) or for @ms. ready[i]: readable. Returns bits of
 * enum screen_event. Signals are delivered only here.
 */
unsigned int screen_wait(struct screen *s, const int *fds, bool *ready, size_t cnt, int ms);

/* Shows lines of text, each with its newline. 0, or -errno. */
int screen_draw(struct screen *s, const char *text, size_t len);

#endif /* D9_CMD_COMMON_SCREEN_H */
