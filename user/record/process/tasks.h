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

struct process {
	uint32_t pid;
	uint32_t ppid;
	uint64_t serial; /* no two programs share one, whatever their pids: an exec changes it */
	uint64_t owner; /* see tasks_owner(); 0: not asked yet */
	uint32_t task_cnt; /* that refer to it */
	struct task *tasks; /* those */
	uint64_t named_serial; /* frames.c: the serial that named and place_steps belong to */
	uint32_t named; /* places in its code that names were asked for */
	uint32_t place_steps; /* likewise: mappings looked at, in search of modules */
	struct proc_maps maps; /* those that are known for certain */
	bool wanted; /* its mappings are kept */
	bool exe_from_map; /* an exec was seen, and its first mapping is the program */
	const char *exe; /* texts of the tables, "" unknown */
	const char *cgroup;
	bool cgroup_known;
	struct proc_maps_budget maps_budget;

	/* The side-band may have lost a word about it. */
	uint64_t gap; /* the last gap that has been considered for it */
	bool stale; /* the program is not known, nor mappings but those told of since */
	struct proc_maps
		before; /* the mappings from before that, or as last read: they may have changed */
	bool asked; /* of /proc, and not answered yet */
	uint64_t gap_asked; /* the last gap at that time */
	uint64_t asked_ns; /* when: CLOCK_MONOTONIC */
	uint64_t changed_ns; /* when the side-band last told of its mappings or names */
};

/* What tasks count that the trace is to be told of. */
enum tasks_loss_kind {
	TASKS_LOST_MAPS, /* mappings not taken in: their process had or told of too many */
	TASKS_IN_DOUBT, /* stacks of processes whose mappings may have changed unheard */
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
	bool followed; /* it is a target: of recordings that tell */
	uint64_t exit_ns; /* 0 while it lives */
	uint64_t met_ns; /* when it became known, by the clock */
	uint64_t gap; /* as of its process */
};

/*
 * Who is who: tasks and processes, from /proc when recording starts and from perf's side-band after
 * that. Side-band records are to be given in order of time with the records that refer to tasks.
 * Dead tasks are kept for a while, because what they did last may still be on its way.
 *
 * When side-band records are lost, nothing is known for certain any more: who is met again after that
 * has no name, no program and no certain mappings until /proc has been read again or the side-band
 * tells. Until then addresses are looked up in the mappings that were last known.
 */
struct tasks;

/* all_maps: keep the mappings of every process, not only of those wanted. Never fails. */
struct tasks *tasks_new(bool all_maps);
void tasks_free(struct tasks *t);

/* Borrowed: from here on /proc is read beside the caller. Without one it is read in its place. */
void tasks_set_reader(struct tasks *t, struct proc_reader *reader);

/*
 * Reads one process with its threads and mappings from /proc and wants it. -ESRCH. Waits for a process
 * that somebody keeps locked for two seconds at most; its mappings are unknown until it answers.
 */
int tasks_scan(struct tasks *t, pid_t pid);
/* Reads all processes, and waits as long for all of them together. */
void tasks_scan_all(struct tasks *t);

/* Applies what the side-band says. */
void tasks_side(struct tasks *t, const struct perf_side *side);
/* For sets of mappings beside those of processes: an empty one, and whose texts its paths are. */
void tasks_init_maps(struct tasks *t, struct proc_maps *maps);
struct string_pool *tasks_texts(struct tasks *t);
/* What was counted since the last call: false when there was nothing. */
bool tasks_take_loss(struct tasks *t, enum tasks_loss_kind kind, struct tasks_loss *out);
/*
 * To be called now and then, when all records older than now_ns have been given: frees those who ended
 * more than a second before, and takes in what /proc has answered.
 */
void tasks_expire(struct tasks *t, uint64_t now_ns);

/*
 * The task. One that is unknown has its name, as long as it lives, and all else as soon as /proc has been
 * read. pid 0 of tid != 0: not known by the caller, who has the time to read it.
 */
struct task *tasks_get(struct tasks *t, uint32_t tid, uint32_t pid);
/* NULL when it was never seen. */
struct process *tasks_process(struct tasks *t, uint32_t pid);
/*
 * The mappings of proc that addr is to be looked up in: those that are certain, or the last ones known
 * where these say nothing. Borrowed until the next call with t.
 */
struct proc_maps *tasks_maps_at(struct process *proc, uint64_t addr);
/* To be called for each stack of proc that is resolved; time is the record's. */
void tasks_count_stack(struct tasks *t, const struct process *proc, uint64_t time);
/* Who answers for it, see proc_owner(); looked up once for each program. */
uint64_t tasks_owner(struct process *proc);
/* Names a task that has no name yet. */
void tasks_name(struct tasks *t, struct task *task, const char *comm, size_t len);
/* Reads the process's cgroup if it has not been, and nobody else reads /proc. */
void tasks_need_cgroup(struct tasks *t, struct process *proc);

/* Bytes held. */
size_t tasks_memory(const struct tasks *t);
/*
 * Forgets the mappings of those processes that have most, until about `keep` bytes are held. Returns of
 * how many: they are read again by need.
 */
size_t tasks_forget(struct tasks *t, size_t keep);

/*
 * Whether what is known of tid has been written to the trace: clear for new tasks and whenever
 * something changes. One load, for every record.
 */
bool tasks_is_announced(const struct tasks *t, uint32_t tid);
void tasks_set_announced(struct tasks *t, uint32_t tid);
/* Nothing has been written of anybody. */
void tasks_renounce_all(struct tasks *t);
/* The task is a target from here on, or is none any more: the trace is to be told. */
void tasks_follow(struct tasks *t, struct task *task, bool followed);

/* Calls fn for each task of a process. */
void tasks_each(struct tasks *t, uint32_t pid, void (*fn)(struct task *task, void *ctx), void *ctx);
/* Of those that are alive. */
void tasks_each_alive(struct tasks *t, void (*fn)(struct task *task, void *ctx), void *ctx);
/* Calls fn for each process. */
void tasks_each_process(struct tasks *t, void (*fn)(struct process *proc, void *ctx), void *ctx);

#endif
