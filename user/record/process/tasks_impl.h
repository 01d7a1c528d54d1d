/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_TASKS_IMPL_H
#define D9_RECORD_PROCESS_TASKS_IMPL_H

#include "base/hmap.h"
#include "record/process/tasks.h"

struct string_pool;
struct work_budget;

/* Private to tasks_table.c, tasks_proc.c and tasks.c, which use each other in this order. */

struct tasks {
	bool all_maps;
	struct hmap by_tid;
	struct hmap by_pid;
	struct string_pool *texts;
	struct work_budget *work;
	size_t maps_memory;
	struct tasks_loss losses[TASKS_LOSS_CNT]; /* since the last tasks_read_loss() */
	uint64_t serial;
	uint64_t *announced; /* one bit per tid */
	bool any_announced; /* since all were cleared */
	struct proc_reader *reader; /* NULL: none */
	uint64_t gap; /* number of gaps */
	uint64_t asks_since; /* budget of requests */
	uint32_t asks_used;
	size_t check_pos; /* in by_tid */
	size_t checks_left;
	struct {
		struct task **v; /* dead tasks, oldest first */
		size_t cnt;
		size_t cap;
	} dead;
};

/* Adds an unknown process: stale, unless the caller changes that. */
struct process *tasks_add_process(struct tasks *t, uint32_t pid);
/* Finds or adds. */
struct process *tasks_get_process(struct tasks *t, uint32_t pid);
struct task *tasks_add_task(struct tasks *t, uint32_t tid, struct process *proc);
/* Replaces the text at *at. Owns the reference to text, and removes the reference to the old one. */
void tasks_set_text(struct tasks *t, const char **at, const char *text);
void tasks_set_comm(struct tasks *t, struct task *task, const char *comm);
/* The task will be written to the trace again. */
void tasks_renounce(struct tasks *t, uint32_t tid);
void tasks_end_task(struct tasks *t, struct task *task, uint64_t time);
/* Frees an ended task, and its process with the last task. */
void tasks_bury(struct tasks *t, struct task *task);

/* From here on no task is certain. */
void tasks_open_gap(struct tasks *t);
/* The program is unknown, and so are all mappings except those reported from here on. */
void tasks_make_stale(struct tasks *t, struct process *proc);
/* Adds one loss to be written to the trace. */
void tasks_count_loss(struct tasks *t, enum tasks_loss_kind kind, uint64_t time);
/* Applies answers from /proc, and searches for tasks whose end was lost. */
void tasks_catch_up(struct tasks *t, uint64_t now_ns);

#endif
