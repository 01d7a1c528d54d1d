/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_TOKIO_WORKERS_H
#define D9_PROFILE_EXPLAIN_TOKIO_WORKERS_H

/*
 * Which thread a Tokio worker ran on at a time, and which worker a thread was. Learned from events
 * that name both: parking and unparking. An application's events come in batches by thread, so any
 * order of time is accepted. A worker's number is unique within its application, which the part of
 * the stream identifies. A worker may move to another thread.
 *
 * Memory grows with moves of workers, at most TOKIO_WORKERS_BINDINGS_MAX, not with the number of
 * events.
 */
#include "base/hash.h"
#include "trace/read/trace.h"

#define TOKIO_WORKERS_BINDINGS_MAX 16384

/* {0} is empty. */
struct worker_threads {
	struct hmap workers; /* part << 32 | worker -> its threads */
	struct hmap threads; /* part << 32 | tid -> its workers */
	uint32_t *parts; /* parts with any workers */
	size_t part_cnt, part_cap;
	size_t bindings;
	uint64_t dropped; /* events that did not fit */
};

/* Whether the event names a worker and its thread, and which. */
bool worker_threads_parse(const struct trace_event *ev, uint32_t *worker, uint32_t *tid);
/* Accepts any event, in any order, also in a pass for names only. */
void worker_threads_add(struct worker_threads *w, const struct trace_event *ev);
/* The same for a known pair, observed at @ts in @part. */
void worker_threads_learn(struct worker_threads *w, uint32_t part, uint32_t worker, uint32_t tid,
			  uint64_t ts);

/*
 * The thread of a worker at @ts: the last one observed before, or the first after it. TRACE_NONE:
 * unknown.
 */
uint32_t worker_threads_tid(const struct worker_threads *w, uint32_t part, uint32_t worker,
			    uint64_t ts);
/*
 * The worker that a thread was at @ts, as above, and the part of its application. @part: any part
 * on the application's clock. False: not a worker.
 */
bool worker_threads_worker(const struct worker_threads *w, const struct names *names, uint32_t part,
			   uint32_t tid, uint64_t ts, uint32_t *worker, uint32_t *app);
void worker_threads_fini(struct worker_threads *w);

#endif /* D9_PROFILE_EXPLAIN_TOKIO_WORKERS_H */
