/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_FLIGHT_OPTS_H
#define D9_CMD_RECORD_FLIGHT_OPTS_H

#include <stdint.h>

#include "base/opts.h"

struct flight_cfg;
struct trigger_cfg;

/* What rearm_ns stands at when it was not given; then it is 1 s. */
#define FLIGHT_REARM_UNSAID UINT64_MAX

/* What is kept in memory, and what has it written. The defaults are zeros, but for rearm_ns. */
struct flight_opts {
	const char *keep; /* NULL: nothing is kept, all is written */
	struct opt_list events, latencies;
	uint64_t post_ns, rearm_ns;
};

/* Rows of an option table for a member `m` of type struct flight_opts in struct `s`. */
#define FLIGHT_OPTS(s, m)                                                                          \
	{ .name = "flight",                                                                        \
	  .kind = OPT_STR,                                                                         \
	  .off = offsetof(s, m.keep),                                                              \
	  .arg = "TIME[,SIZE]",                                                                    \
	  .group = "Flight recorder",                                                              \
	  .help = "Keep the last TIME in memory, at most SIZE (default 256M); write it to "        \
		  "FILE.0.bin, FILE.1.bin, ... at a trigger, on SIGUSR2, and at the end" },        \
		{ .name = "trigger",                                                               \
		  .kind = OPT_LIST,                                                                \
		  .off = offsetof(s, m.events),                                                    \
		  .arg = "SYS:EVENT[/FILTER/]",                                                    \
		  .help = "Record this tracepoint, and write when it occurs; repeatable" },        \
		{ .name = "trigger-latency",                                                       \
		  .kind = OPT_LIST,                                                                \
		  .off = offsetof(s, m.latencies),                                                 \
		  .arg = "offcpu|runq>DUR",                                                        \
		  .help = "Write when a thread was blocked or runnable for longer than DUR" },     \
		{ .name = "post",                                                                  \
		  .kind = OPT_DURATION,                                                            \
		  .off = offsetof(s, m.post_ns),                                                   \
		  .help = "Record for DUR after a trigger before writing (default 0)" },           \
	{                                                                                          \
		.name = "rearm", .kind = OPT_DURATION, .off = offsetof(s, m.rearm_ns),             \
		.help = "After a write, ignore triggers for DUR (default 1s)"                      \
	}

/* Events that are to be recorded because they are triggers, and their filters, NULL for none. */
struct flight_events {
	char **names, **filters;
	size_t cnt;
};

/*
 * Fills all three, which borrow from o and from *events. Returns NULL, or what is wrong with the options, static.
 * flight_opts_fini() frees in both cases.
 */
const char *flight_opts_read(const struct flight_opts *o, struct flight_cfg *flight,
			     struct trigger_cfg *trigger, struct flight_events *events);
void flight_opts_fini(struct flight_events *events);

#endif /* D9_CMD_RECORD_FLIGHT_OPTS_H */
