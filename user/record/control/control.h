/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_CONTROL_H
#define D9_RECORD_CONTROL_CONTROL_H

#include <stdint.h>

/* Commands. */
enum control_command {
	CONTROL_NONE, /* no further command for now */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_PING,
	CONTROL_STOP,
};

/* Reads commands, one per line, while recording. */
struct control;

/*
 * @text is "fifo:PATH[,PATH]" or "fd:N[,N]": the source of commands, and the destination of answers ("ack"). A FIFO
 * must not be a symbolic link or writable for all. It must belong to root, to the user of this process or to the
 * user who called sudo. Prints one line and returns -errno.
 */
int control_open(const char *text, struct control **out);
/* NULL is allowed. */
void control_close(struct control *c);
/* Whether @text has the form that control_open() expects. */
int control_check(const char *text);

/*
 * The next command, or CONTROL_NONE. Never blocks. It reads a bounded number of bytes between two calls that return
 * CONTROL_NONE. An unknown command is skipped, and the first one is reported. NULL is allowed and has no commands.
 */
enum control_command control_next(struct control *c);
/* Answers the last command if answers are enabled. An answer is dropped if the pipe is full. */
void control_ack(struct control *c);

#endif
