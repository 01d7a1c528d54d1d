/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_CONTROL_H
#define D9_RECORD_CONTROL_CONTROL_H

#include <stdint.h>

/* What may be asked for. */
enum control_command {
	CONTROL_NONE, /* nothing, or nothing more for now */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_PING,
	CONTROL_STOP,
};

/* Commands from others, a line each, while recording. */
struct control;

/*
 * @text is "fifo:PATH[,PATH]" or "fd:N[,N]": where commands come from, and where each is answered with "ack". A
 * FIFO is not found behind a link, belongs to root, to whoever runs this or to the user behind sudo, and is
 * not writable for all. Prints one line and returns -errno.
 */
int control_open(const char *text, struct control **out);
/* NULL is allowed. */
void control_close(struct control *c);
/* Whether @text has the form that control_open() wants. */
int control_check(const char *text);

/*
 * The next command, CONTROL_NONE when there is none: never waits. Of what comes, a bounded part is looked at
 * between two calls that returned CONTROL_NONE; what is no command is told once and passed over. NULL is
 * allowed and has none.
 */
enum control_command control_next(struct control *c);
/* Answers the command that was given last, where answers are wanted; one that finds no room is dropped. */
void control_ack(struct control *c);

#endif
