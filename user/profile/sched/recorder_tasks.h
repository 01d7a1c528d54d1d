/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RECORDER_TASKS_H
#define D9_PROFILE_SCHED_RECORDER_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/trace.h"

struct recorder_tasks_part;

/* The recorder's own processes. {0} is empty; metadata is parsed once per recording and version. */
struct recorder_tasks {
	struct recorder_tasks_part *parts;
	size_t cap;
};

/*
 * Whether @pid is the recorder of @part or one of its helpers: a process that the metadata names,
 * or a child of one. Without named helpers, only the recorder itself. @t: tasks at the current
 * event; @now: its part. @n must be the same in all calls.
 */
bool recorder_tasks_has(struct recorder_tasks *r, const struct trace *t, const struct names *n,
			uint32_t now, uint32_t part, uint32_t pid);
/* Resets to {0}. */
void recorder_tasks_fini(struct recorder_tasks *r);

#endif /* D9_PROFILE_SCHED_RECORDER_TASKS_H */
