/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_BLOCKED_H
#define D9_PROFILE_SUMS_BLOCKED_H

#include "base/hash.h"
#include "profile/sched/intervals.h"

/* What rows are told apart by. */
enum blocked_key {
	BLOCKED_STACK, /* of the switch-out */
	BLOCKED_COMM,
	BLOCKED_PID,
	BLOCKED_TID,
	BLOCKED_STATE,
	BLOCKED_WAKER, /* the context, and of a task its name */
	BLOCKED_WAKER_STACK,
	BLOCKED_WAKER_TID, /* of a task that woke */
	BLOCKED_KEY_CNT,
};

/* Lengths of waits by powers of two: bucket k counts those of 2^k up to 2^(k+1) ns, 0 also the empty ones. */
#define BLOCKED_BUCKETS 64

/* Waits of one kind. Members of keys that were not asked for are as in the first of them. */
struct blocked_row {
	uint32_t stack, waker_stack; /* of the engine, or INTERVAL_NO_STACK */
	uint32_t comm, pid, tid; /* comm: string id or NAMES_NONE; TRACE_NONE: unknown */
	uint32_t part; /* of the stream; of the first wait */
	char state; /* see interval_letter(); '?': it was blocked when the trace began */
	bool woken; /* false: nobody, as far as the trace tells, and the next ones say nothing */
	enum interval_context context;
	int32_t number; /* as in struct interval_waker */
	uint64_t said;
	uint32_t waker_comm, waker_tid; /* waker_tid TRACE_NONE: unknown */
	uint64_t cnt, cut; /* waits; those of them that an edge of the trace or window cut */
	uint64_t ns, max_ns; /* together; the longest */
	uint64_t max_start; /* of the longest */
	uint64_t *buckets; /* NULL unless asked for */
};

struct blocked_opts {
	unsigned int keys; /* 1 << enum blocked_key */
	bool buckets;
};

/* Blocked intervals, summed. Start with { .opts = ... }; grows with the distinct rows. */
struct blocked {
	struct blocked_opts opts;
	struct hmap index; /* hash -> row + 1 */
	struct blocked_row *rows;
	struct blocked_id *ids; /* of the rows, by which they are found */
	size_t cnt, cap, id_cap;
	uint64_t intervals, cut, ns; /* of all rows */
};

/* Takes an interval that is INTERVAL_BLOCKED. */
void blocked_add(struct blocked *w, const struct interval *i);
/*
 * Names threads that the trace named only later, which may make two rows one, and sorts: most time
 * first, then by what rows are told apart by. Once, after the last one.
 */
void blocked_finish(struct blocked *w, const struct names *names);
void blocked_fini(struct blocked *w);

/* Who woke the threads of a row that says woken, as far as rows are told apart by it; no time or CPU. */
struct interval_waker blocked_waker(const struct blocked_row *r);

/* The bucket of a length. */
unsigned int blocked_bucket(uint64_t ns);

#endif /* D9_PROFILE_SUMS_BLOCKED_H */
