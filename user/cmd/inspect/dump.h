/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_INSPECT_DUMP_H
#define D9_CMD_INSPECT_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/inspect/dump_frame.h"

struct source;

struct dump_how {
	bool json;
	uint64_t limit; /* how many frames, headers and all; 0: no limit */
};

/*
 * Print all frames that dec gives, one a line, as JSON (with an `end` line) or text. Returns what
 * dial9_dec_next() ended with, or -EPIPE when `out` does not take it.
 */
int dump_run(struct dial9_dec *dec, const struct dump_how *how, FILE *out,
	     struct dump_tally *tally);

/* One frame more. */
void dump_count(struct dump_tally *tally, const struct dial9_frame *f);

/*
 * How reading ended, with its exit code. `err`: the last result of dial9_dec_next(). Prints one line that begins
 * with the command's name unless the end is regular.
 */
int dump_conclude(const char *cmd, const struct source *src, const struct dial9_dec *dec, int err);

#endif
