/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_RECORD_SIDE_H
#define D9_TESTS_RECORD_SIDE_H

/* Tasks, and side-band records for them. */
#include <string.h>

#include "kernel/perf_side.h"
#include "record/process/tasks.h"
#include "tests/record/support.h"

#define A NO_SUCH_TID
#define B (NO_SUCH_TID + 10)
#define SECOND 1000000000ULL

static struct tasks *t;

static inline void setup(void)
{
	t = tasks_new(true);
}

static inline void teardown(void)
{
	tasks_free(t);
}

static inline void fork_of(uint32_t ppid, uint32_t ptid, uint32_t pid, uint32_t tid)
{
	tasks_side(t, &(struct perf_side){ .type = PERF_SIDE_FORK,
					   .ppid = ppid,
					   .ptid = ptid,
					   .pid = pid,
					   .tid = tid,
					   .name = "" });
}

static inline void comm(uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	tasks_side(t, &(struct perf_side){ .type = PERF_SIDE_COMM,
					   .pid = pid,
					   .tid = tid,
					   .comm_exec = exec,
					   .name = name,
					   .name_len = strlen(name) });
}

static inline void map_prot(uint32_t pid, uint64_t start, const char *path, uint32_t prot)
{
	tasks_side(t, &(struct perf_side){ .type = PERF_SIDE_MMAP,
					   .pid = pid,
					   .tid = pid,
					   .addr = start,
					   .len = 0x1000,
					   .prot = prot,
					   .name = path,
					   .name_len = strlen(path) });
}

static inline void map(uint32_t pid, uint64_t start, const char *path)
{
	map_prot(pid, start, path, 5);
}

static inline void exit_at(uint64_t time, uint32_t pid, uint32_t tid)
{
	tasks_side(
		t,
		&(struct perf_side){
			.type = PERF_SIDE_EXIT, .time = time, .pid = pid, .tid = tid, .name = "" });
}

/* Returns what the trace would have for a task, and marks it as announced. */
static inline const struct task *known(uint32_t tid)
{
	const struct task *task = tasks_get(t, tid, 0);

	tasks_set_announced(t, tid);
	return task;
}

static inline void map_at_time(uint64_t time, uint32_t pid, uint64_t start, const char *path)
{
	tasks_side(t, &(struct perf_side){ .type = PERF_SIDE_MMAP,
					   .time = time,
					   .pid = pid,
					   .addr = start,
					   .len = 0x1000,
					   .prot = 5,
					   .name = path,
					   .name_len = strlen(path) });
}

static inline void lose(enum perf_side_type type)
{
	tasks_side(t, &(struct perf_side){ .type = type, .name = "" });
}

#endif /* D9_TESTS_RECORD_SIDE_H */
