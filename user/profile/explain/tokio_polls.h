/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_TOKIO_POLLS_H
#define D9_PROFILE_EXPLAIN_TOKIO_POLLS_H

/*
 * What an application records about its polls: the task, where it was spawned, and the spans
 * entered. Pass it the polls found by profile/explain/spans.h, then all events again, in any order.
 */
#include "profile/explain/spans.h"

#define TOKIO_POLLS_SPANS_MAX 4

struct tokio_polls_poll {
	uint64_t start, end;
	uint32_t part, worker;
	uint64_t task;
	bool has_task;
	uint32_t spawned; /* "src/main.rs:7": string id; NAMES_NONE: not recorded */
	uint32_t spans[TOKIO_POLLS_SPANS_MAX]; /* distinct names in order of entry: string ids */
	uint32_t span_cnt;
	bool has_more_spans; /* than fit */
};

/* Slow polls of tasks that were spawned at one place. */
struct tokio_polls_place {
	uint32_t spawned; /* string id; NAMES_NONE: not recorded */
	uint64_t polls, ns;
};

struct tokio_polls {
	struct tokio_polls_poll *v; /* by part, worker and start */
	size_t cnt;
};

/* Starts with these polls. Polls without a worker are ignored. */
void tokio_polls_init(struct tokio_polls *p, const struct span *polls, size_t cnt);
void tokio_polls_fini(struct tokio_polls *p);
/* Accepts any event. @names: of the same trace. */
void tokio_polls_add(struct tokio_polls *p, struct names *names, const struct trace *t,
		     const struct trace_event *ev);
/* The details of one of the polls given; NULL: none. @part: the recording it was found in. */
const struct tokio_polls_poll *tokio_polls_get(const struct tokio_polls *p, uint32_t part,
					       const struct span *poll);
/* By place, most time first; free it. @cnt receives the number. */
struct tokio_polls_place *tokio_polls_places(const struct tokio_polls *p, size_t *cnt);

#endif /* D9_PROFILE_EXPLAIN_TOKIO_POLLS_H */
