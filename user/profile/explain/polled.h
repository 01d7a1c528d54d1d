/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_POLLED_H
#define D9_PROFILE_EXPLAIN_POLLED_H

/*
 * What an application says of its own polls: which task it was, where that was spawned, and which spans it
 * entered meanwhile. Give it the polls that were found (profile/explain/spans.h), then all events once more: in any order.
 */
#include "profile/explain/spans.h"

#define POLLED_SPANS_MAX 4

/* Of one poll. */
struct polled_poll {
	uint64_t start, end;
	uint32_t part, worker;
	uint64_t task;
	bool has_task;
	uint32_t spawned; /* "src/main.rs:7": string id; NAMES_NONE: it is not told */
	uint32_t spans[POLLED_SPANS_MAX]; /* names, each once, as they were entered: string ids */
	uint32_t span_cnt;
	bool more_spans; /* than there is room for */
};

/* Slow polls of tasks that were spawned at one place. */
struct polled_place {
	uint32_t spawned; /* string id; NAMES_NONE: it is not told */
	uint64_t polls, ns;
};

struct polled {
	struct polled_poll *v; /* by part, worker and start */
	size_t cnt;
};

/* Begins with these polls. Those that name no worker have nothing to be found by. */
void polled_init(struct polled *p, const struct span *polls, size_t cnt);
void polled_fini(struct polled *p);
/* Takes any event. @names: of the same trace. */
void polled_add(struct polled *p, struct names *names, const struct trace *t,
		const struct trace_event *ev);
/* What is known of one that it was begun with, NULL: nothing. @part: in which it was found. */
const struct polled_poll *polled_get(const struct polled *p, uint32_t part,
				     const struct span *poll);
/* By place, the most time first; free it. @cnt receives how many. */
struct polled_place *polled_places(const struct polled *p, size_t *cnt);

#endif /* D9_PROFILE_EXPLAIN_POLLED_H */
