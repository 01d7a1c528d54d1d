/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_LIVE_VIEW_H
#define D9_CMD_COMMON_LIVE_VIEW_H

#include "cmd/common/live_loop.h"
#include "cmd/common/view.h"

/* How a trace that is still being written is shown. */
struct live_view_opts {
	int fd; /* it comes from here; the caller closes it */
	const char *name; /* of it, in messages */
	const char *title; /* first words of the picture */
	uint64_t delay_ns; /* between two pictures */
	uint64_t limit; /* rows of a picture at most; 0: what fits */
	bool threads,
		off; /* rows are threads; ordered by time off the CPU: until keys say otherwise */
	int color; /* enum color_when */
	struct out_file *sink; /* all of it goes there, too; NULL: nowhere */
	int messages_fd; /* of the recorder's process; -1: none */
	struct buf *messages; /* the last of them */
};

/*
 * Shows the trace until it ends, or a key or signal ends it. Standard output is the terminal, or receives one
 * screen after the other.
 */
enum live_view_end live_view_run(const struct live_view_opts *opts);

/* The same for a trace that comes from a path, or "-"; an exit code of cmd.h. */
int live_view_show(const char *path, uint64_t delay_ns, uint64_t limit, int color);

#endif /* D9_CMD_COMMON_LIVE_VIEW_H */
