/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_LOAD_SHEDDING_OPTS_H
#define D9_CMD_RECORD_LOAD_SHEDDING_OPTS_H

#include <stddef.h>

#include "base/opts.h"

struct load_shedding_cfg;

/* --sched-sample and --max-overhead; zeros: neither is given. */
struct load_shedding_opts {
	const char *sample, *max_overhead;
};

/* Rows of an option table for a member `m` of type struct load_shedding_opts in struct `s`. */
#define LOAD_SHEDDING_OPTS(s, m)                                                                   \
	{ .name = "sched-sample",                                                                  \
	  .kind = OPT_STR,                                                                         \
	  .off = offsetof(s, m.sample),                                                            \
	  .arg = "1/N",                                                                            \
	  .help = "Record one of N time slices of 50 ms completely, and nothing in the others" },  \
	{                                                                                          \
		.name = "max-overhead", .kind = OPT_STR, .off = offsetof(s, m.max_overhead),       \
		.arg = "PCT",                                                                      \
		.help = "Limit the cost to PCT percent of all CPUs: drop stacks of switches and "  \
			"wakeups, then skip time slices"                                           \
	}

/* Sets one_in and max_ppm. 0, or -EINVAL after one printed line. */
int load_shedding_opts_read(const struct load_shedding_opts *o, struct load_shedding_cfg *out);

#endif /* D9_CMD_RECORD_LOAD_SHEDDING_OPTS_H */
