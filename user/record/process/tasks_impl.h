/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_TASKS_IMPL_H
#define D9_RECORD_PROCESS_TASKS_IMPL_H

#include "base/hmap.h"
#include "record/process/tasks.h"

struct string_pool;

/* Private to tasks_table.c, tasks_proc.c and tasks.c, which use each other in this order. */

struct tasks {
	bool all_maps;
	struct hmap by_tid;
	struct hmap by_pid;
	struct string_pool *texts;
	size_t maps_memory;
	struct tasks_loss losses[TASKS_LOSS_CNT]; /* since they were last asked for */
	uint64_t serial;
	uint64_t *announced; /* a bit for each tid */
	bool any_announced; /* since they were all cleared */
	struct proc_reader *reader; /* NULL: nobody to ask */
	uint64_t gap; /* how many there were */
	uint64_t asks_since; /* budget of questions */
	uint32_t asks_used;
	size_t check_pos; /* in by_tid */
	size_t checks_left;
	struct {
		struct task **v; /* dead ones, oldest first */
		size_t cnt;
		size_t cap;
	} dead;
};

/* An unknown process: stale, unless the caller knows better. */
struct process *tasks_add_process(struct tasks *t, uint32_t pid);
/* Finds or adds. */
struct process *tasks_get_process(struct tasks *t, uint32_t pid);
struct task *tasks_add_task(struct tasks *t, uint32_t tid, struct process *proc);
/* Takes the reference to text, and gives back the one that was there. */
void tasks_set_text(struct tasks *t, const char **at, const char *text);
void tasks_set_comm(struct tasks *t, struct task *task, const char *comm);
/* The trace is to be told again of who this is. */
void tasks_renounce(struct tasks *t, uint32_t tid);
void tasks_end_task(struct tasks *t, struct task *task, uint64_t time);
/* Frees a task that has ended, and its process with the last one. */
void tasks_bury(struct tasks *t, struct task *task);

/* Nobody who is known is known for certain from here on. */
void tasks_open_gap(struct tasks *t);
/* The program is unknown, and so are all mappings but those that are told from here on. */
void tasks_make_stale(struct tasks *t, struct process *proc);
/* One more of what the trace is to be told of. */
void tasks_count_loss(struct tasks *t, enum tasks_loss_kind kind, uint64_t time);
/* Takes in what /proc answered, and looks for ends that nobody told. */
void tasks_catch_up(struct tasks *t, uint64_t now_ns);

#endif
