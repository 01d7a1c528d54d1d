/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_TASKS_H
#define D9_RECORD_PROCESS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/process/proc_maps.h"

struct perf_side;
struct proc_reader;
struct work_budget;

struct process {
	uint32_t pid;
	uint32_t ppid;
	uint64_t serial; /* unique per program, even if pids repeat: an exec changes it */
	uint64_t owner; /* see tasks_owner(); 0: not determined yet */
	uint32_t task_cnt; /* tasks that refer to it */
	struct task *tasks; /* list of these */
	uint64_t named_serial; /* frames.c: the serial that named and place_steps belong to */
	uint32_t named; /* addresses in its code with requested symbols */
	uint32_t place_steps; /* likewise: mappings searched for modules */
	struct proc_maps maps; /* the certain ones */
	uint32_t expected; /* unwind_loader.c: generation of the mappings whose tables were requested */
	bool wanted; /* its mappings are stored */
	bool exe_from_map; /* after an exec: its first mapping is the program */
	const char *exe; /* texts of the tables, "": unknown */
	const char *cgroup;
	bool cgroup_known;
	struct proc_maps_budget maps_budget;

	/* Metadata records about it may have been lost. */
	uint64_t gap; /* the last gap that was handled for it */
	bool stale; /* the program is unknown, and mappings except those reported since */
	struct proc_maps
		before; /* the mappings from before the gap, or as last read: they may have changed */
	bool asked; /* /proc was requested, no answer yet */
	uint64_t gap_asked; /* the last gap at that time */
	uint64_t asked_ns; /* time of the request: CLOCK_MONOTONIC */
	uint64_t changed_ns; /* last reported change of its mappings or names */
};

/* Losses to write to the trace. */
enum tasks_loss_kind {
	TASKS_LOST_MAPS, /* mappings dropped: their process had or reported too many */
	TASKS_IN_DOUBT, /* stacks of processes whose mappings may have changed without a record */
	TASKS_LOSS_CNT,
};

struct tasks_loss {
	uint64_t cnt;
	uint64_t first_ns, last_ns;
};

struct task {
	uint32_t tid;
	struct process *proc;
	struct task *prev, *next; /* of proc */
	char comm[16];
	bool followed; /* it is a target: in recordings that report targets */
	uint64_t exit_ns; /* 0 while it lives */
	uint64_t met_ns; /* when it became known, by the clock */
	uint64_t gap; /* like its process's gap */
};

/*
 * Tasks and processes, from /proc when recording starts and from perf's metadata records after that. Pass metadata
 * records in order of time with the records that refer to tasks. Dead tasks are kept for a while, because their
 * last records may not have been read yet.
 *
 * If metadata records are lost, no task is certain. A task in a later record has no name, no program and no certain
 * mappings until /proc has been read again or a metadata record describes it. Until then addresses are looked up in
 * the mappings that were last known.
 */
struct tasks;

/* all_maps: store the mappings of every process, not only of wanted ones. Never fails. */
struct tasks *tasks_new(bool all_maps);
void tasks_free(struct tasks *t);

/* Borrowed: from here on threads read /proc. Without a reader the caller's thread reads it. */
void tasks_set_reader(struct tasks *t, struct proc_reader *reader);

/*
 * Reads one process with its threads and mappings from /proc and marks it as wanted. -ESRCH. Waits at most two
 * seconds for a locked process; its mappings are unknown until it answers.
 */
int tasks_scan(struct tasks *t, pid_t pid);
/* Reads all processes, with the same time limit for all of them together. */
void tasks_scan_all(struct tasks *t);

/* Applies a metadata record. */
void tasks_side(struct tasks *t, const struct perf_side *side);
/* Makes an empty set of mappings that belongs to no process, with the table of its texts. */
void tasks_init_maps(struct tasks *t, struct proc_maps *maps);
struct string_pool *tasks_texts(struct tasks *t);
/* What the processes cost. */
struct work_budget *tasks_work(struct tasks *t);
/* Losses since the last call; false: none. */
bool tasks_read_loss(struct tasks *t, enum tasks_loss_kind kind, struct tasks_loss *out);
/*
 * Call it now and then, when all records older than now_ns have been passed: frees tasks that ended more than a
 * second before, and applies answers from /proc.
 */
void tasks_expire(struct tasks *t, uint64_t now_ns);

/*
 * Finds or adds the task. An unknown task gets its name if it lives, and the rest when /proc has been read. pid 0
 * of tid != 0: unknown to the caller, which can wait for reading it.
 */
struct task *tasks_get(struct tasks *t, uint32_t tid, uint32_t pid);
/* NULL: the process is unknown. */
struct process *tasks_process(struct tasks *t, uint32_t pid);
/*
 * The mappings of proc to look up addr in: the certain ones, or the last known ones where these have no entry.
 * Borrowed until the next call with t.
 */
struct proc_maps *tasks_maps_at(struct process *proc, uint64_t addr);
/* Call for each resolved stack of proc; @time: of the record. */
void tasks_count_stack(struct tasks *t, const struct process *proc, uint64_t time);
/* See proc_owner(); determined once per program. */
uint64_t tasks_owner(struct process *proc);
/* Names a task without a name. */
void tasks_name(struct tasks *t, struct task *task, const char *comm, size_t len);
/* Reads the process's cgroup if it was not read, and if there is no reader. */
void tasks_need_cgroup(struct tasks *t, struct process *proc);

/* Bytes held. */
size_t tasks_memory(const struct tasks *t);
/*
 * Frees the mappings of the processes with the most mappings, until about `keep` bytes are held. Returns the number
 * of these processes. Their mappings are read again on demand.
 */
size_t tasks_forget(struct tasks *t, size_t keep);

/*
 * Whether the state of tid has been written to the trace: cleared for new tasks and at each change. One load, for
 * every record.
 */
bool tasks_is_announced(const struct tasks *t, uint32_t tid);
void tasks_set_announced(struct tasks *t, uint32_t tid);
/* Marks all tasks as not written. */
void tasks_renounce_all(struct tasks *t);
/* The task becomes a target, or is no longer one: the trace will report it. */
void tasks_follow(struct tasks *t, struct task *task, bool followed);

/* Calls fn for each task of a process. */
void tasks_each(struct tasks *t, uint32_t pid, void (*fn)(struct task *task, void *ctx), void *ctx);
/* Calls fn for each living task. */
void tasks_each_alive(struct tasks *t, void (*fn)(struct task *task, void *ctx), void *ctx);
/* Calls fn for each process. */
void tasks_each_process(struct tasks *t, void (*fn)(struct process *proc, void *ctx), void *ctx);

#endif
