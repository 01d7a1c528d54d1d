/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_TASKS_OUT_H
#define D9_FORMATS_PERFDATA_TASKS_OUT_H

#include "formats/perfdata/addresses.h"
#include "trace/read/trace.h"

/* What perf knows of threads, by the records so far. {0} is empty. */
struct perfdata_tasks_out {
	const struct names *names;
	struct perfdata_out *out;
	struct perfdata_addresses *addresses;
	struct hmap tasks; /* tid -> struct task */
	struct hmap parents; /* tid of a new thread -> the thread that made it */
};

void perfdata_tasks_out_fini(struct perfdata_tasks_out *t);

/* Who a thread is. pid TRACE_NONE and comm NAMES_NONE: unknown. */
struct perfdata_task {
	uint32_t part, tid, pid, comm;
};

/* The process of a thread: the known one, or else the thread itself. */
uint32_t perfdata_tasks_out_pid(const struct perfdata_tasks_out *t,
				const struct perfdata_task *task);

/* Writes FORK and COMM records if perf does not know the thread or its name. @m: when, and on which CPU. */
void perfdata_tasks_out_sync(struct perfdata_tasks_out *t, const struct perfdata_moment *m,
			     const struct perfdata_task *task);

/* Thread @child is new: its number may have been another thread's. */
void perfdata_tasks_out_fork(struct perfdata_tasks_out *t, uint32_t parent, uint32_t child);
void perfdata_tasks_out_exit(struct perfdata_tasks_out *t, const struct perfdata_moment *m);

#endif /* D9_FORMATS_PERFDATA_TASKS_OUT_H */
