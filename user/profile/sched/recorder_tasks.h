/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RECORDER_TASKS_H
#define D9_PROFILE_SCHED_RECORDER_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/trace.h"

struct recorder_tasks_part;

/* The recorder's own processes. {0} is one that knows nothing yet; metadata are parsed once per part and change. */
struct recorder_tasks {
	struct recorder_tasks_part *parts;
	size_t cap;
};

/*
 * Whether a process is the one that recorded this part of the trace, or a helper process of it: one that the
 * trace names, or a child of one. Where it names none the recorder is known alone. @t: what is known of tasks at the
 * event at hand; @now: its part. @n: the same as in the calls before.
 */
bool recorder_tasks_has(struct recorder_tasks *r, const struct trace *t, const struct names *n,
			uint32_t now, uint32_t part, uint32_t pid);
/* Leaves {0}. */
void recorder_tasks_fini(struct recorder_tasks *r);

#endif /* D9_PROFILE_SCHED_RECORDER_TASKS_H */
