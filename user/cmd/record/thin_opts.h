/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_THIN_OPTS_H
#define D9_CMD_RECORD_THIN_OPTS_H

#include <stddef.h>

#include "base/opts.h"

struct load_shedding_cfg;

/* --sched-sample and --max-overhead; zeros: neither is given. */
struct thin_opts {
	const char *sample, *max_overhead;
};

/* Rows of an option table for a member `m` of type struct thin_opts in struct `s`. */
#define THIN_OPTS(s, m)                                                                            \
	{ .name = "sched-sample",                                                                  \
	  .kind = OPT_STR,                                                                         \
	  .off = offsetof(s, m.sample),                                                            \
	  .arg = "1/N",                                                                            \
	  .help = "record one in N slices of 50 ms, all that happens in it; the trace says which " \
		  "are left out" },                                                                \
	{                                                                                          \
		.name = "max-overhead", .kind = OPT_STR, .off = offsetof(s, m.max_overhead),       \
		.arg = "PCT",                                                                      \
		.help = "of the CPU time of all CPUs: beyond that stacks of switches are left "    \
			"out, then slices of time, which the trace says"                           \
	}

/* Sets one_in and max_ppm. 0, or -EINVAL after one printed line. */
int thin_opts_read(const struct thin_opts *o, struct load_shedding_cfg *out);

#endif /* D9_CMD_RECORD_THIN_OPTS_H */
