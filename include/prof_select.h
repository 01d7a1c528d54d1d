/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prof_select.h - the tasks to record, as the loader passes them to the BPF programs
 *
 * Several kinds narrow each other; values of one kind are alternatives. A task is a target if it is
 * in one of the cgroups, and belongs to one of the users, and its process has one of the names. An
 * empty kind matches all tasks.
 */
#ifndef D9_PROF_SELECT_H
#define D9_PROF_SELECT_H

#include "prof_abi.h"

enum prof_select_limits {
	PROF_SELECT_CGROUPS = 16,
	PROF_SELECT_USERS = 16,
	PROF_SELECT_GLOBS = 8, /* of each kind */
	PROF_SELECT_CGROUP_DEPTH = 64, /* deeper cgroups match none */
	PROF_SELECT_CGROUP_SLOTS = 256, /* cached results of cgroups */
};

/*
 * A pattern for names of tasks. Its letters and question marks are numbered, at most 15, because a
 * name has no more. State i means that i of them matched.
 */
struct prof_glob {
	__u16 accepts[256]; /* by character: the states that accept it */
	__u16 repeats; /* the states before a star */
	__u16 end; /* the last state */
};

/* Whether the whole name matches. It ends at a NUL or after PROF_COMM_SIZE - 1 characters. */
static inline int prof_glob_matches(const volatile struct prof_glob *glob, const char *name)
{
	__u32 states = 1, i;

	for (i = 0; i < PROF_COMM_SIZE - 1; i++) {
		__u8 c = name[i];

		if (!c)
			break;
		states = (states & glob->accepts[c]) << 1 | (states & glob->repeats);
	}
	return states >> (glob->end & 15) & 1;
}

/* Filters by single properties of a task. Options of record write here directly; 0: no filter. */
struct prof_select_task {
	__u8 no_kthread;
};

struct prof_select {
	/* Tasks are selected one by one, and the result can change during the recording: PROF_REC_FOLLOWED
	 * reports each change. Everything below but by_cpu counts only if this is set. */
	__u8 by_task;
	struct prof_select_task task;
	__u8 by_cpu; /* only on CPUs in cpus, with or without by_task */
	__u8 cgroup_cnt, user_cnt;
	__u8 comm_cnt, no_comm_cnt; /* for processes, by the name of their first thread */
	__u8 thread_cnt;
	__u32 users[PROF_SELECT_USERS]; /* real user ids */
	__u64 cgroups[PROF_SELECT_CGROUPS]; /* cgroup v2 ids, including their descendants */
	__u64 cpus[PROF_CPUS_MAX / 64];
	struct prof_glob comms[PROF_SELECT_GLOBS];
	struct prof_glob no_comms[PROF_SELECT_GLOBS];
	struct prof_glob threads[PROF_SELECT_GLOBS];
};

/* 64 tasks, one bit each. */
struct prof_select_word {
	__u64 followed; /* is a target, and that was reported */
	__u64 process; /* by process id: its name is selected */
	__u64 thread; /* by thread id, likewise */
};

#endif
