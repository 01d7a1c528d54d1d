/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_TOKIO_POLLS_H
#define D9_PROFILE_EXPLAIN_TOKIO_POLLS_H

/*
 * What an application says of its own polls: which task it was, where that was spawned, and which spans it
 * entered meanwhile. Give it the polls that were found (profile/explain/spans.h), then all events once more: in any order.
 */
#include "profile/explain/spans.h"

#define TOKIO_POLLS_SPANS_MAX 4

/* Of one poll. */
struct tokio_polls_poll {
	uint64_t start, end;
	uint32_t part, worker;
	uint64_t task;
	bool has_task;
	uint32_t spawned; /* "src/main.rs:7": string id; NAMES_NONE: it is not told */
	uint32_t spans[TOKIO_POLLS_SPANS_MAX]; /* names, each once, as they were entered: string ids */
	uint32_t span_cnt;
	bool has_more_spans; /* than there is room for */
};

/* Slow polls of tasks that were spawned at one place. */
struct tokio_polls_place {
	uint32_t spawned; /* string id; NAMES_NONE: it is not told */
	uint64_t polls, ns;
};

struct tokio_polls {
	struct tokio_polls_poll *v; /* by part, worker and start */
	size_t cnt;
};

/* Begins with these polls. Those that name no worker have nothing to be found by. */
void tokio_polls_init(struct tokio_polls *p, const struct span *polls, size_t cnt);
void tokio_polls_fini(struct tokio_polls *p);
/* Takes any event. @names: of the same trace. */
void tokio_polls_add(struct tokio_polls *p, struct names *names, const struct trace *t,
		     const struct trace_event *ev);
/* What is known of one that it was begun with, NULL: nothing. @part: in which it was found. */
const struct tokio_polls_poll *tokio_polls_get(const struct tokio_polls *p, uint32_t part,
					       const struct span *poll);
/* By place, the most time first; free it. @cnt receives how many. */
struct tokio_polls_place *tokio_polls_places(const struct tokio_polls *p, size_t *cnt);

#endif /* D9_PROFILE_EXPLAIN_TOKIO_POLLS_H */
