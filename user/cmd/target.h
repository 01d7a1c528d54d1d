/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_TARGET_H
#define D9_CMD_TARGET_H

#include "base/opts.h"

/* Whom to record, beside a command: the options that record and top share. */
struct target_opts {
	bool all, as_root, no_inherit;
	struct opt_u32s pids, tids;
};

/* Rows of an option table for a member `m` of type struct target_opts in struct `s`. */
#define TARGET_OPTS(s, m)                                                                           \
	{ .name = "all-cpus",                                                                       \
	  .key = 'a',                                                                               \
	  .kind = OPT_FLAG,                                                                         \
	  .off = offsetof(s, m.all),                                                                \
	  .group = "Target",                                                                        \
	  .help = "the whole system" },                                                             \
		{ .name = "pid",                                                                    \
		  .key = 'p',                                                                       \
		  .kind = OPT_PIDS,                                                                 \
		  .off = offsetof(s, m.pids),                                                       \
		  .arg = "PID[,PID]",                                                               \
		  .many = true,                                                                     \
		  .help = "processes, with their threads and children, present and later" },        \
		{ .name = "tid",                                                                    \
		  .key = 't',                                                                       \
		  .kind = OPT_PIDS,                                                                 \
		  .off = offsetof(s, m.tids),                                                       \
		  .arg = "TID[,TID]",                                                               \
		  .many = true,                                                                     \
		  .help = "single threads" },                                                       \
		{ .name = "no-inherit",                                                             \
		  .kind = OPT_FLAG,                                                                 \
		  .off = offsetof(s, m.no_inherit),                                                 \
		  .help = "neither the children that a process has nor new threads and children" }, \
	{                                                                                           \
		.name = "as-root", .kind = OPT_FLAG, .off = offsetof(s, m.as_root),                 \
		.help = "run COMMAND as root, not as the user behind sudo"                          \
	}

/* How many of -a, -p, -t and a command were given. */
static inline int target_cnt(const struct target_opts *o, bool command)
{
	return o->all + (o->pids.cnt > 0) + (o->tids.cnt > 0) + command;
}
/* More than can be followed at once: of the whole system a command may say how long. */
static inline bool target_is_too_many(const struct target_opts *o, bool command)
{
	const int cnt = target_cnt(o, command);

	return cnt > 1 && !(cnt == 2 && o->all && command);
}
#define TARGET_TOO_MANY "-p, -t, -a and a COMMAND exclude each other, but for -a -- COMMAND"

#endif /* D9_CMD_TARGET_H */
