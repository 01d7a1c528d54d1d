/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_BLOCKED_H
#define D9_PROFILE_SUMS_BLOCKED_H

#include "base/hash.h"
#include "profile/sched/intervals.h"

/* Keys to group rows by. */
enum blocked_key {
	BLOCKED_STACK, /* of the switch-out */
	BLOCKED_COMM,
	BLOCKED_PID,
	BLOCKED_TID,
	BLOCKED_CGROUP,
	BLOCKED_STATE,
	BLOCKED_WAKER, /* the context; for tasks the name */
	BLOCKED_WAKER_STACK,
	BLOCKED_WAKER_TID, /* of a waker task */
	BLOCKED_KEY_CNT,
};

/* Durations by powers of two: bucket k has 2^k up to 2^(k+1) ns; bucket 0 also 0 ns. */
#define BLOCKED_BUCKETS 64

/*
 * Blocked intervals of one group. Members that are not in the keys have the values of the first
 * interval.
 */
struct blocked_row {
	uint32_t stack, waker_stack; /* ids of the engine, or INTERVAL_NO_STACK */
	uint32_t comm, pid, tid; /* comm: string id or NAMES_NONE; TRACE_NONE: unknown */
	uint32_t cgroup; /* path of the control group: string id or NAMES_NONE */
	uint32_t part; /* recording of the first interval */
	char state; /* see interval_letter(); '?': blocked since before the trace */
	bool woken; /* false: no waker recorded; ignore the next members */
	enum interval_context context;
	int32_t number; /* as in struct interval_waker */
	uint64_t raw;
	uint32_t waker_comm, waker_tid; /* waker_tid TRACE_NONE: unknown */
	uint64_t cnt, cut; /* intervals; intervals clipped by an edge of the trace or window */
	uint64_t ns, max_ns; /* total; the longest */
	uint64_t max_start; /* start of the longest */
	uint64_t *buckets; /* NULL unless requested */
};

struct blocked_opts {
	unsigned int keys; /* 1 << enum blocked_key */
	bool buckets;
};

/* Sums of blocked intervals. Start with { .opts = ... }; grows with distinct rows. */
struct blocked {
	struct blocked_opts opts;
	bool named; /* all names are known: blocked_finish() was called */
	struct hmap index; /* hash -> row + 1 */
	struct blocked_row *rows;
	struct blocked_id *ids; /* keys of the rows */
	size_t cnt, cap, id_cap;
	uint64_t intervals, cut, ns; /* of all rows */
};

/* Adds an INTERVAL_BLOCKED interval. @cgroup: its thread's control group, or NAMES_NONE. */
void blocked_add(struct blocked *w, const struct interval *i, uint32_t cgroup);
/*
 * Sets the names of threads that the trace named late, which may merge rows, and sorts: most time
 * first, then by key. Call it once, at the end.
 */
void blocked_finish(struct blocked *w, const struct names *names);
void blocked_fini(struct blocked *w);

/* The waker of a row with woken set, as far as the keys have it; no time or CPU. */
struct interval_waker blocked_waker(const struct blocked_row *r);

/* The bucket of a duration. */
unsigned int blocked_bucket(uint64_t ns);

#endif /* D9_PROFILE_SUMS_BLOCKED_H */
