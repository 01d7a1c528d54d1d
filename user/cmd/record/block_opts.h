/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_BLOCK_OPTS_H
#define D9_CMD_RECORD_BLOCK_OPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opts.h"

struct capture_off_cpu;

/* Off-CPU intervals to record in place of switches. The default is zeros: record switches. */
struct block_opts {
	const char *min, *max;
};

/* Rows of an option table for a member `m` of type struct block_opts in struct `s`. */
#define BLOCK_OPTS(s, m)                                                                           \
	{ .name = "min-block",                                                                     \
	  .kind = OPT_STR,                                                                         \
	  .off = offsetof(s, m.min),                                                               \
	  .arg = "DUR",                                                                            \
	  .help = "Record one event per off-CPU interval of at least DUR (10ms; 100 is "           \
		  "microseconds) instead of every context switch" },                               \
	{                                                                                          \
		.name = "max-block", .kind = OPT_STR, .off = offsetof(s, m.max), .arg = "DUR",     \
		.help = "The same, for off-CPU intervals of at most DUR"                           \
	}

bool block_opts_are_used(const struct block_opts *o);
/* What they say. 0, or -EINVAL after one printed line. */
int block_opts_read(const struct block_opts *o, struct capture_off_cpu *out);

#endif /* D9_CMD_RECORD_BLOCK_OPTS_H */
