/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_PROGRESS_H
#define D9_CMD_COMMON_PROGRESS_H

#include "trace/read/reader.h"

struct progress;

/*
 * Opens a path, or "-" for standard input, as reader_new() does. From a second on, prints on a terminal
 * how far reading has got. *@progress may be NULL, and is on failure.
 */
int progress_open(const char *path, enum reader_mode mode, struct reader **out,
		  struct progress **progress);

/* The same over an open source, which is taken over also on failure. */
int progress_read(struct source *src, enum reader_mode mode, struct reader **out,
		  struct progress **progress);

/* Takes the line away. Before the first output. NULL is fine. */
void progress_end(struct progress *p);

#endif /* D9_CMD_COMMON_PROGRESS_H */
