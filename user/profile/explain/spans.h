/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_SPANS_H
#define D9_PROFILE_EXPLAIN_SPANS_H

/*
 * Pairs of events, one that begins something and one that ends it, and the longest of them: system
 * calls, polls, spans. Feed every event in order, then spans_finish().
 *
 * What ties an end to its start:
 * - a field, if one is asked for: of equal value, in whichever threads;
 * - else span_id, where the events have that;
 * - else the thread in which both happened; of Tokio's events, which name a worker, that worker. Which threads
 *   workers were is told by profile/explain/tokio_workers.h, after all events.
 * A start that is an end of a system call (syscalls:*, raw_syscalls:*) gives way to the next in its thread,
 * since these never lie within each other, and a call's start and end are of the same number. A call that has
 * events of its own (syscalls:*) is not taken from raw_syscalls by its name as well. Of all others
 * a start within an open pair of the same kind is a part of it, as the end that follows is: the outermost
 * counts.
 *
 * Memory by threads, SPANS_OPEN_MAX and the number of pairs that are kept; never by the number of events.
 */
#include "base/hash.h"
#include "profile/explain/tokio_workers.h"
#include "profile/sums/quantile.h"

#define SPANS_OPEN_MAX 65536 /* pairs that may be open at a time */
#define SPANS_MAX 1000 /* that can be asked for */

/* Names of events: see str_glob(). */
struct spans_pattern {
	const char *enter, *exit;
	const char *call; /* and of the system call, of raw_syscalls; NULL: whichever */
};

struct spans_opts {
	const struct spans_pattern *patterns; /* borrowed; an event is of the first that it matches */
	size_t pattern_cnt;
	const char *field; /* borrowed; NULL: none is asked for */
	size_t max; /* how many are kept */
	uint64_t min_ns; /* and of which length or longer */
	/* Whether a pair is looked for that begins in a thread (TRACE_NONE: unknown). NULL: all. */
	bool (*is_wanted)(void *ctx, uint32_t tid, uint32_t cpu);
	bool by_thread; /* it chooses by the thread */
	void *ctx;
};

struct span {
	uint64_t start, end;
	uint32_t part; /* of the stream */
	uint32_t tid, end_tid; /* in which it began and ended; TRACE_NONE: unknown */
	uint32_t pid, comm; /* of the one in which it began, then; NAMES_NONE: unknown */
	uint32_t worker, end_worker; /* by which these threads were told, or TRACE_NONE */
	uint32_t name; /* of the event that began it: string id */
	uint64_t id; /* of what ties them, if that is a number */
	bool has_id;
	/* A system call's number, and the field that has it (string id): see names_tp_symbols(). NAMES_NONE: it is
	 * no system call. */
	uint64_t call;
	uint32_t call_field;
};

/* Whole pairs that one name of events begins. */
struct spans_kind {
	uint32_t name; /* string id */
	uint64_t pairs, ns;
};

/* Start with { .opts = ... }. */
struct spans {
	struct spans_opts opts;
	struct hmap schemas; /* struct trace_schema -> what it is here */
	struct hmap
		calls; /* number of a system call -> its pattern + 1, or one more than there are */
	/* Hashes of names of system calls: of those that have events of their own whether these begin and end,
	 * and of those taken from raw_syscalls. */
	struct hmap own_calls, raw_calls;
	struct worker_threads workers;
	bool workers_incomplete; /* wants() was asked before all workers were known */
	struct hmap open; /* hash of what ties -> open pair */
	size_t open_others; /* of these: of threads that are not looked for */
	struct hmap last_open; /* thread or worker -> the open pair that began in it last */
	uint64_t losses; /* that may hide events, so far */
	struct span *v; /* a heap; by spans_finish() the longest first */
	size_t cnt, cap;
	uint64_t enters, exits; /* events that begin or end, of all threads */
	uint64_t pairs, ns; /* whole ones, and their time together */
	uint64_t slow, slow_ns; /* those of min_ns or longer, of which the longest are kept */
	struct quantile lengths;
	struct hmap kind_index; /* name + 1 -> index in kinds, + 1 */
	struct spans_kind *kinds; /* by spans_finish() the one with the most time first */
	size_t kind_cnt, kind_cap;
	uint64_t nested; /* starts within an open pair, of the same tie: told as part of it */
	uint64_t inside; /* whole pairs within another one of their thread: both count */
	uint64_t unended, unstarted; /* starts without an end, ends without a start */
	uint64_t untied; /* events that say neither thread nor what else would tie them */
	uint64_t dropped; /* starts that found no room */
};

/* Takes any event. */
void spans_add(struct spans *s, const struct trace *t, const struct trace_event *ev);
/* Once, after the last event. */
void spans_finish(struct spans *s);
/*
 * Whether spans_restart() and all events once more would find others: calls were taken both from raw_syscalls and
 * from events of their own, which came later; or pairs were chosen by threads before these were known.
 */
bool spans_needs_rerun(const struct spans *s);
/* Forgets all but which calls have events of their own, and which threads are workers. */
void spans_restart(struct spans *s);
/* Leaves it as at the start, with its options. */
void spans_fini(struct spans *s);

#endif /* D9_PROFILE_EXPLAIN_SPANS_H */
