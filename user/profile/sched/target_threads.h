/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_TARGET_THREADS_H
#define D9_PROFILE_SCHED_TARGET_THREADS_H

#include "trace/read/trace.h"

/*
 * Which threads a recording followed: only of these the trace has every switch and waking. {0} is "all
 * of them".
 */
struct target_threads {
	bool not_all; /* not all */
	bool command; /* the first program that is started */
	bool inherit; /* and what they fork */
	/* TaskEvents say who is followed, PROF_F_FOLLOWED; of those that the target names, if within is set */
	bool from_task_events, within;
	struct hmap pids, tids; /* keys */
	/* The command, by number, before the trace tells of it: until then it is the recorder's own code. */
	struct hmap pending;
};

/* By the metadata of a part. A part that says nothing of its targets is taken to have all. */
void target_threads_init(struct target_threads *f, const struct names *n, uint32_t part);
/* Forks, execs, TaskEvents and samples: who belongs to whom. */
void target_threads_event(struct target_threads *f, const struct trace *t,
			  const struct trace_event *ev);
/* @pid may be TRACE_NONE: unknown. */
bool target_threads_has(const struct target_threads *f, uint32_t pid, uint32_t tid);
/* The thread has ended: its number may be another's soon. */
void target_threads_forget(struct target_threads *f, uint32_t tid);
void target_threads_fini(struct target_threads *f);

#endif /* D9_PROFILE_SCHED_TARGET_THREADS_H */
