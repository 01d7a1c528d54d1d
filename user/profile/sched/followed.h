/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_FOLLOWED_H
#define D9_PROFILE_SCHED_FOLLOWED_H

#include "trace/read/trace.h"

/*
 * Which threads a recording followed: only of these the trace has every switch and waking. {0} is "all
 * of them".
 */
struct followed {
	bool some; /* not all */
	bool command; /* the first program that is started */
	bool inherit; /* and what they fork */
	/* TaskEvents say who is followed, PROF_F_FOLLOWED; of those that the target names, if within is set */
	bool told, within;
	struct hmap pids, tids; /* keys */
	/* The command, by number, before the trace tells of it: until then it is the recorder's own code. */
	struct hmap awaited;
};

/* By the metadata of a part. A part that says nothing of its targets is taken to have all. */
void followed_init(struct followed *f, const struct names *n, uint32_t part);
/* Forks, execs, TaskEvents and samples: who belongs to whom. */
void followed_see(struct followed *f, const struct trace *t, const struct trace_event *ev);
/* @pid may be TRACE_NONE: unknown. */
bool followed_has(const struct followed *f, uint32_t pid, uint32_t tid);
/* The thread has ended: its number may be another's soon. */
void followed_forget(struct followed *f, uint32_t tid);
void followed_fini(struct followed *f);

#endif /* D9_PROFILE_SCHED_FOLLOWED_H */
