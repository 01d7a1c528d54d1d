/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_SPANS_H
#define D9_PROFILE_EXPLAIN_SPANS_H

/*
 * Pairs of a start and an end event, and the longest of them: system calls, polls, spans. Feed
 * every event in order, then call spans_finish().
 *
 * What ties an end to its start:
 * - a field, if one is requested: equal values, in any threads;
 * - otherwise span_id, if the events have it;
 * - otherwise the thread of both; for Tokio's events, which name a worker, that worker.
 *   profile/explain/tokio_workers.h maps workers to threads, after all events.
 * A start of a system call (syscalls:*, raw_syscalls:*) replaces an open one in its thread, because
 * system calls never nest; start and end have the same number. A call with events of its own
 * (syscalls:*) is not also matched in raw_syscalls. For all others, a start within an open pair of
 * the same kind is part of that pair, and so is its end: the outermost pair counts.
 *
 * Memory grows with threads, SPANS_OPEN_MAX and the number of pairs kept, not with the number of
 * events.
 */
#include "base/hash.h"
#include "profile/explain/tokio_workers.h"
#include "profile/sums/quantile.h"

#define SPANS_OPEN_MAX 65536 /* pairs open at a time */
#define SPANS_MAX 1000 /* pairs that can be requested */

/* Names of events: see str_glob(). */
struct spans_pattern {
	const char *enter, *exit;
	const char *call; /* raw_syscalls: name of the system call; NULL: any */
};

struct span;

struct spans_opts {
	const struct spans_pattern
		*patterns; /* borrowed; an event belongs to the first that matches */
	size_t pattern_cnt;
	const char *field; /* borrowed; NULL: none */
	size_t max; /* pairs to keep */
	uint64_t min_ns; /* minimum length */
	/* Whether to report pairs that start in a thread (TRACE_NONE: unknown). NULL: all. */
	bool (*is_wanted)(void *ctx, uint32_t tid, uint32_t cpu);
	bool by_thread; /* is_wanted depends on the thread */
	/*
	 * Whether events may be missing between two times of a recording. NULL: losses cut where they are reported,
	 * which is after their time.
	 */
	bool (*is_cut)(void *ctx, uint32_t part, uint64_t from, uint64_t to);
	/*
	 * Each complete pair with its end event. @cut: events may be missing in it; such a pair is counted nowhere
	 * else. NULL: not called, and these count as any other.
	 */
	void (*pair)(void *ctx, const struct span *p, bool cut, const struct trace *t,
		     const struct trace_event *end);
	void *ctx;
};

struct span {
	uint64_t start, end;
	uint32_t part; /* the recording */
	uint32_t tid, end_tid; /* of start and end; TRACE_NONE: unknown */
	uint32_t pid, comm; /* of the start, at that time; NAMES_NONE: unknown */
	uint32_t worker, end_worker; /* from which tid and end_tid were found, or TRACE_NONE */
	uint32_t name; /* of the start event: string id */
	uint64_t id; /* value of the tie, if it is a number */
	bool has_id;
	/*
	 * System call number, and the field that has it (string id): see names_tp_symbols().
	 * NAMES_NONE: not a system call.
	 */
	uint64_t call;
	uint32_t call_field;
};

/* Complete pairs with one name of the start event. */
struct spans_kind {
	uint32_t name; /* string id */
	uint64_t pairs, ns;
};

/* Start with { .opts = ... }. */
struct spans {
	struct spans_opts opts;
	struct hmap schemas; /* struct trace_schema -> struct kind */
	struct hmap calls; /* system call number -> its pattern + 1; pattern_cnt + 1: none */
	/*
	 * Hashes of system call names. own_calls: those with events of their own, and which halves.
	 * raw_calls: those from raw_syscalls.
	 */
	struct hmap own_calls, raw_calls;
	struct hmap own_unended,
		own_unstarted; /* hash of a call with own events -> how many of these */
	struct worker_threads workers;
	bool workers_incomplete; /* is_wanted() was called before all workers were known */
	struct hmap open; /* hash of the tie -> open pair */
	struct hmap last_open; /* thread or worker -> its latest open pair */
	uint64_t losses; /* losses so far that may hide events */
	struct span *v; /* a heap; after spans_finish() longest first */
	size_t cnt, cap;
	uint64_t enters, exits; /* start and end events, of all threads */
	uint64_t pairs, ns; /* complete ones, and their total time */
	uint64_t slow, slow_ns; /* spans of min_ns or longer; the longest are kept */
	struct quantile lengths;
	struct hmap kind_index; /* name + 1 -> index in kinds, + 1 */
	struct spans_kind *kinds; /* after spans_finish() most time first */
	size_t kind_cnt, kind_cap;
	uint64_t nested; /* starts within an open pair of the same tie: counted as part of it */
	uint64_t inside; /* complete pairs within another one of their thread: both count */
	/* Unmatched starts, unmatched ends. After spans_finish(): see spans_drop_single(). */
	uint64_t unended, unstarted;
	uint64_t untied; /* events without thread or other tie */
	uint64_t dropped; /* starts that did not fit */
};

/* Accepts any event. */
void spans_add(struct spans *s, const struct trace *t, const struct trace_event *ev);
/* Call it once, after the last event. */
void spans_finish(struct spans *s);
/*
 * After spans_finish(): both ends of the system call are in raw_syscalls. If the trace has only one half of the call's
 * own events (syscalls:*), these are not unmatched. spans_finish() does this for calls that a pattern names.
 */
void spans_drop_single(struct spans *s, const char *call);
/*
 * Whether spans_restart() and a second pass would find other pairs: calls came from raw_syscalls
 * before their own events were known, or threads were selected before workers were known.
 */
bool spans_needs_rerun(const struct spans *s);
/* Resets everything except which calls have events of their own, and which threads are workers. */
void spans_restart(struct spans *s);
/* Frees everything except the options. */
void spans_fini(struct spans *s);

#endif /* D9_PROFILE_EXPLAIN_SPANS_H */
