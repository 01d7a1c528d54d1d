/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_LIVE_LOOP_H
#define D9_CMD_COMMON_LIVE_LOOP_H

#include "base/buf.h"
#include "base/out_file.h"
#include "trace/read/trace.h"

struct live_loop;

/* What a command sums and shows of a trace that is still being written. @ctx is its own. */
struct live_loop_ops {
	/* The trace is open; nothing has been read. */
	void (*start)(void *ctx, struct names *names, struct trace *t);
	void (*add)(void *ctx, const struct trace *t, const struct trace_event *ev);
	/* A period has ended; it is shown until the next one has. */
	void (*end_period)(void *ctx, const struct trace *t);
	/* Trace time of the period so far. */
	uint64_t (*period_ns)(const void *ctx);
	/* Appends at most @rows lines of at most @cols columns; 0 columns: any. */
	void (*put)(void *ctx, struct buf *out, const struct live_loop *l, size_t rows,
		    size_t cols);
	/* A key that the loop has no use for. NULL: ignored. */
	void (*press)(void *ctx, char key);
};

struct live_loop_opts {
	const struct live_loop_ops *ops;
	void *ctx;
	int fd; /* of the trace; the caller closes it */
	const char *name; /* of it, in messages */
	uint64_t delay_ns; /* between two pictures */
	struct out_file *sink; /* all of it goes there, too; NULL: nowhere */
	int messages_fd; /* of the recorder's process; -1: none */
	struct buf *messages; /* the last of them */
};

/* How showing ended. */
enum live_view_end {
	LIVE_VIEW_ENDED, /* the trace did */
	LIVE_VIEW_QUIT, /* the user quit */
	LIVE_VIEW_BAD, /* of the trace, printed in one line */
	LIVE_VIEW_OUTPUT, /* of the output, likewise */
};

/*
 * Reads and shows the trace until it ends, or a key or signal ends it. Standard output is the terminal, or receives
 * one screen after the other.
 */
enum live_view_end live_loop_run(const struct live_loop_opts *opts);

/* Whether the screen is a terminal, and whether the user stopped the refresh. */
bool live_loop_is_terminal(const struct live_loop *l);
bool live_loop_is_paused(const struct live_loop *l);

/*
 * Opens a path, or "-", for @run, and closes it: an exit code of cmd.h. @command: the subcommand, for a message. @run gets the
 * descriptor and the name for messages.
 */
int live_loop_show(const char *path, const char *command,
		   enum live_view_end (*run)(void *ctx, int fd, const char *name), void *ctx);

#endif /* D9_CMD_COMMON_LIVE_LOOP_H */
