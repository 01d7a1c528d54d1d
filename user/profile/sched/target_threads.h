/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_TARGET_THREADS_H
#define D9_PROFILE_SCHED_TARGET_THREADS_H

#include "trace/read/trace.h"

/*
 * Target threads of a recording: only these have every switch and wakeup in the trace. {0}: all
 * threads.
 */
struct target_threads {
	bool not_all; /* only some threads are targets */
	bool command; /* the first program that is exec'ed */
	bool inherit; /* and its children */
	/* TaskEvents name targets (PROF_F_FOLLOWED); if within is set, only among the named PIDs */
	bool from_task_events, within;
	struct hmap pids, tids; /* keys */
	/* Without inherit: TIDs of threads that are new. A reused TID is new, too. */
	struct hmap excluded;
	/*
	 * PIDs of the command until the trace mentions them; before that the process runs the
	 * recorder's code.
	 */
	struct hmap pending;
};

/* Reads the metadata of a recording. Without targets there, all threads are targets. */
void target_threads_init(struct target_threads *f, const struct names *n, uint32_t part);
/* Handles forks, execs, TaskEvents and samples, which add targets. */
void target_threads_event(struct target_threads *f, const struct trace *t,
			  const struct trace_event *ev);
/* @pid may be TRACE_NONE: unknown. */
bool target_threads_has(const struct target_threads *f, uint32_t pid, uint32_t tid);
/* The thread has exited: its TID may be reused. */
void target_threads_forget(struct target_threads *f, uint32_t tid);
void target_threads_fini(struct target_threads *f);

#endif /* D9_PROFILE_SCHED_TARGET_THREADS_H */
