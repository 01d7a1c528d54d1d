/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_TARGET_H
#define D9_CMD_RECORD_TARGET_H

#include "base/opts.h"
#include "record/target/selection.h"

struct buf;

/* Targets besides a command: the options that record and top share. */
struct target_opts {
	bool all, as_root, no_inherit, include_self;
	struct prof_select_task task;
	struct opt_u32s pids, tids, cpus;
	struct opt_list cgroups, users, comms, no_comms, threads;
};

/* Rows of an option table for a member `m` of type struct target_opts in struct `s`. */
#define TARGET_OPTS(s, m)                                                                                 \
	{ .name = "all-cpus",                                                                             \
	  .key = 'a',                                                                                     \
	  .kind = OPT_FLAG,                                                                               \
	  .off = offsetof(s, m.all),                                                                      \
	  .group = "Target",                                                                              \
	  .help = "Record the whole system" },                                                            \
		{ .name = "pid",                                                                          \
		  .key = 'p',                                                                             \
		  .kind = OPT_PIDS,                                                                       \
		  .off = offsetof(s, m.pids),                                                             \
		  .arg = "PID[,PID]",                                                                     \
		  .many = true,                                                                           \
		  .help = "Record these processes with their threads and children, present and future" }, \
		{ .name = "tid",                                                                          \
		  .key = 't',                                                                             \
		  .kind = OPT_PIDS,                                                                       \
		  .off = offsetof(s, m.tids),                                                             \
		  .arg = "TID[,TID]",                                                                     \
		  .many = true,                                                                           \
		  .help = "Record single threads" },                                                      \
		{ .name = "cgroup",                                                                       \
		  .key = 'G',                                                                             \
		  .kind = OPT_LIST,                                                                       \
		  .off = offsetof(s, m.cgroups),                                                          \
		  .arg = "PATH",                                                                          \
		  .help = "Record tasks in this control group (version 2) and below; repeatable" },       \
		{ .name = "user",                                                                         \
		  .key = 'u',                                                                             \
		  .kind = OPT_LIST,                                                                       \
		  .off = offsetof(s, m.users),                                                            \
		  .arg = "USER",                                                                          \
		  .help = "Record tasks of this user (name or number); repeatable" },                     \
		{ .name = "comm",                                                                         \
		  .kind = OPT_LIST,                                                                       \
		  .off = offsetof(s, m.comms),                                                            \
		  .arg = "GLOB",                                                                          \
		  .help = "Record processes with a matching name (* and ?); repeatable" },                \
		{ .name = "thread",                                                                       \
		  .kind = OPT_LIST,                                                                       \
		  .off = offsetof(s, m.threads),                                                          \
		  .arg = "GLOB",                                                                          \
		  .help = "Record threads with a matching name; repeatable" },                            \
		{ .name = "no-comm",                                                                      \
		  .kind = OPT_LIST,                                                                       \
		  .off = offsetof(s, m.no_comms),                                                         \
		  .arg = "GLOB",                                                                          \
		  .help = "Exclude processes with a matching name; repeatable" },                         \
		{ .name = "no-kthread",                                                                   \
		  .kind = OPT_FLAG,                                                                       \
		  .off = offsetof(s, m.task.no_kthread),                                                  \
		  .help = "With -a: exclude kernel threads" },                                            \
		{ .name = "include-self",                                                                 \
		  .kind = OPT_FLAG,                                                                       \
		  .off = offsetof(s, m.include_self),                                                     \
		  .help = "With -a: also record the recorder itself" },                                   \
		{ .name = "cpu",                                                                          \
		  .key = 'C',                                                                             \
		  .kind = OPT_CPUS,                                                                       \
		  .off = offsetof(s, m.cpus),                                                             \
		  .help = "Record only these CPUs, for example 0-3,8" },                                  \
		{ .name = "no-inherit",                                                                   \
		  .kind = OPT_FLAG,                                                                       \
		  .off = offsetof(s, m.no_inherit),                                                       \
		  .help = "With -p or COMMAND: ignore present children, and new threads and children" },  \
	{                                                                                                 \
		.name = "as-root", .kind = OPT_FLAG, .off = offsetof(s, m.as_root),                       \
		.help = "Run COMMAND as root, not as the user who called sudo"                            \
	}

/* Why these options are inconsistent: text after "record: "; NULL: they are consistent. */
const char *target_conflict(const struct target_opts *o, bool command);

/* All processes, as far as target_selection() does not filter them. */
bool target_is_system(const struct target_opts *o, bool command);

/* Which of them. Borrows from o. */
struct selection_cfg target_selection(const struct target_opts *o);

/* For people, and as words of a command line that mean the same; all but the COMMAND. */
void target_describe(const struct target_opts *o, struct buf *out);
void target_each_word(const struct target_opts *o, void (*word)(void *ctx, const char *word),
		      void *ctx);

#endif /* D9_CMD_RECORD_TARGET_H */
