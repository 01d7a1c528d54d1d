/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_WAITS_H
#define D9_PROFILE_SUMS_WAITS_H

#include "base/hash.h"
#include "profile/sched/intervals.h"

/* What rows are told apart by. */
enum waits_key {
	WAITS_STACK, /* of the switch-out */
	WAITS_COMM,
	WAITS_PID,
	WAITS_TID,
	WAITS_STATE,
	WAITS_WAKER, /* the context, and of a task its name */
	WAITS_WAKER_STACK,
	WAITS_WAKER_TID, /* of a task that woke */
	WAITS_KEY_CNT,
};

/* Lengths of waits by powers of two: bucket k counts those of 2^k up to 2^(k+1) ns, 0 also the empty ones. */
#define WAITS_BUCKETS 64

/* Waits of one kind. Members of keys that were not asked for are as in the first of them. */
struct waits_row {
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

struct waits_opts {
	unsigned int keys; /* 1 << enum waits_key */
	bool buckets;
};

/* Blocked intervals, summed. Start with { .opts = ... }; grows with the distinct rows. */
struct waits {
	struct waits_opts opts;
	struct hmap index; /* hash -> row + 1 */
	struct waits_row *rows;
	struct waits_id *ids; /* of the rows, by which they are found */
	size_t cnt, cap, id_cap;
	uint64_t waits, cut, ns; /* of all rows */
};

/* Takes an interval that is INTERVAL_BLOCKED. */
void waits_add(struct waits *w, const struct interval *i);
/*
 * Names threads that the trace named only later, which may make two rows one, and sorts: most time
 * first, then by what rows are told apart by. Once, after the last one.
 */
void waits_finish(struct waits *w, const struct names *names);
void waits_fini(struct waits *w);

/* Who woke the threads of a row that says woken, as far as rows are told apart by it; no time or CPU. */
struct interval_waker waits_waker(const struct waits_row *r);

/* The bucket of a length. */
unsigned int waits_bucket(uint64_t ns);

#endif /* D9_PROFILE_SUMS_WAITS_H */
