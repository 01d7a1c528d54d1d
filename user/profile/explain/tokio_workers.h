/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_TOKIO_WORKERS_H
#define D9_PROFILE_EXPLAIN_TOKIO_WORKERS_H

/*
 * Which thread a worker of a Tokio runtime is, and which worker a thread, at any time. Learnt from the events
 * that name both, which are those of parking and unparking; an application's events come in batches by
 * thread, so they may be given in any order of time. A worker's number is its application's own: what tells
 * applications apart is the part of the stream. A worker may move from one thread to another.
 *
 * Memory by moves of workers between threads, TOKIO_WORKERS_BINDINGS_MAX of them; never by the number of events.
 */
#include "base/hash.h"
#include "trace/read/trace.h"

#define TOKIO_WORKERS_BINDINGS_MAX 16384

/* {0} is empty. */
struct worker_threads {
	struct hmap workers; /* part << 32 | worker -> where it was */
	struct hmap threads; /* part << 32 | tid -> what it was */
	uint32_t *parts; /* that have any */
	size_t part_cnt, part_cap;
	size_t bindings;
	uint64_t dropped; /* events that found no room */
};

/* Whether the event names a worker and its thread, and which. */
bool worker_threads_parse(const struct trace_event *ev, uint32_t *worker, uint32_t *tid);
/* Takes any event, in any order, also of a trace that is read for its names only. */
void worker_threads_add(struct worker_threads *w, const struct trace_event *ev);
/* The same of an event at @ts, in part @part, that tells that. */
void worker_threads_learn(struct worker_threads *w, uint32_t part, uint32_t worker, uint32_t tid,
			  uint64_t ts);

/*
 * The thread that a worker of that part was at @ts: where it was seen last before that, or first after
 * it. TRACE_NONE: the trace does not say.
 */
uint32_t worker_threads_tid(const struct worker_threads *w, uint32_t part, uint32_t worker,
			    uint64_t ts);
/*
 * The worker that a thread was at @ts, likewise, and the part of its application. @part is the part that asks: any
 * on the clock of the application. False: it was none.
 */
bool worker_threads_worker(const struct worker_threads *w, const struct names *names, uint32_t part,
			   uint32_t tid, uint64_t ts, uint32_t *worker, uint32_t *app);
void worker_threads_fini(struct worker_threads *w);

#endif /* D9_PROFILE_EXPLAIN_TOKIO_WORKERS_H */
