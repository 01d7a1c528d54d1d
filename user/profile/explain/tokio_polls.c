// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an application records about its polls. Owns a row for each poll, found by part, worker and
 * time. Polls of one worker do not overlap, so an event belongs to the latest poll before it. Knows
 * Tokio's names of events and fields; prints nothing.
 */
#include "profile/explain/tokio_polls.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define POLL_START "PollStartEvent"
#define SPAN_ENTER "SpanEnter:"

static int order(const struct tokio_polls_poll *x, const struct tokio_polls_poll *y)
{
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int in_order(const void *a, const void *b)
{
	return order(a, b);
}

void tokio_polls_init(struct tokio_polls *p, const struct span *polls, size_t cnt)
{
	*p = (struct tokio_polls){ .v = xcalloc(cnt + 1, sizeof(*p->v)) };
	for (size_t k = 0; k < cnt; k++)
		if (polls[k].worker != TRACE_NONE)
			p->v[p->cnt++] = (struct tokio_polls_poll){ .start = polls[k].start,
								    .end = polls[k].end,
								    .part = polls[k].part,
								    .worker = polls[k].worker,
								    .spawned = NAMES_NONE };
	qsort(p->v, p->cnt, sizeof(*p->v), in_order);
}

void tokio_polls_fini(struct tokio_polls *p)
{
	free(p->v);
	*p = (struct tokio_polls){ 0 };
}

/* The last poll of a worker that starts at @ts or before; NULL: none that lasts until @ts. */
static struct tokio_polls_poll *find(const struct tokio_polls *p, uint32_t part, uint32_t worker,
				     uint64_t ts)
{
	const struct tokio_polls_poll want = { .part = part, .worker = worker, .start = ts };
	size_t lo = 0, hi = p->cnt;
	struct tokio_polls_poll *poll;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (order(&p->v[mid], &want) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	poll = lo ? &p->v[lo - 1] : NULL;
	return poll && poll->part == part && poll->worker == worker && ts <= poll->end ? poll :
											 NULL;
}

/* ---- events ------------------------------------------------------------------------------------ */

static const struct dial9_value *field(const struct trace_event *ev, const char *name)
{
	const int32_t at = trace_field_at(ev->schema, name);

	return at >= 0 ? &ev->values[at] : NULL;
}

/* The text of a field as a string id; NAMES_NONE: none. */
static uint32_t text_of(struct names *names, const struct trace *t, const struct trace_event *ev,
			const char *name)
{
	const struct dial9_value *v = field(ev, name);
	struct dial9_str text;

	return v && trace_value_str(t, v, &text) && text.len ?
		       names_add(names, text.ptr, text.len) :
		       NAMES_NONE;
}

static void add_start(struct tokio_polls_poll *poll, struct names *names, const struct trace *t,
		      const struct trace_event *ev)
{
	const struct dial9_value *task = field(ev, "task_id");

	poll->has_task = task && trace_value_u64(task, &poll->task);
	poll->spawned = text_of(names, t, ev, "spawn_loc");
}

static void add_span(struct tokio_polls_poll *poll, struct names *names, const struct trace *t,
		     const struct trace_event *ev)
{
	const uint32_t name = text_of(names, t, ev, "span_name");

	for (uint32_t k = 0; k < poll->span_cnt; k++)
		if (poll->spans[k] == name)
			return;
	if (name == NAMES_NONE)
		return;
	if (poll->span_cnt < TOKIO_POLLS_SPANS_MAX)
		poll->spans[poll->span_cnt++] = name;
	else
		poll->has_more_spans = true;
}

void tokio_polls_add(struct tokio_polls *p, struct names *names, const struct trace *t,
		     const struct trace_event *ev)
{
	const uint64_t worker = trace_u64_or(ev, ROLE_WORKER_ID, PROF_WORKER_NONE);
	struct tokio_polls_poll *poll;
	const char *name;
	bool start;

	if (!ev->has_ts || worker == PROF_WORKER_NONE || worker >= TRACE_NONE)
		return;
	name = names_str(names, ev->schema->name, NULL);
	start = !strcmp(name, POLL_START);
	if (!start && strncmp(name, SPAN_ENTER, strlen(SPAN_ENTER)) != 0)
		return;
	poll = find(p, ev->part, (uint32_t)worker, ev->ts);
	if (!poll)
		return;
	if (!start)
		add_span(poll, names, t, ev);
	else if (ev->ts == poll->start)
		add_start(poll, names, t, ev);
}

/* ---- queries --------------------------------------------------------------------------------- */

const struct tokio_polls_poll *tokio_polls_get(const struct tokio_polls *p, uint32_t part,
					       const struct span *poll)
{
	const struct tokio_polls_poll *found = find(p, part, poll->worker, poll->start);

	return found && found->start == poll->start ? found : NULL;
}

static int by_place(const void *a, const void *b)
{
	const struct tokio_polls_place *x = a, *y = b;

	return (x->spawned > y->spawned) - (x->spawned < y->spawned);
}

static int most_first(const void *a, const void *b)
{
	const struct tokio_polls_place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return by_place(a, b);
}

struct tokio_polls_place *tokio_polls_places(const struct tokio_polls *p, size_t *cnt)
{
	struct tokio_polls_place *v = xcalloc(p->cnt + 1, sizeof(*v));
	size_t n = 0;

	for (size_t k = 0; k < p->cnt; k++)
		v[k] = (struct tokio_polls_place){ .spawned = p->v[k].spawned,
						   .polls = 1,
						   .ns = p->v[k].end - p->v[k].start };
	qsort(v, p->cnt, sizeof(*v), by_place);
	for (size_t k = 0; k < p->cnt; k++) {
		if (n && v[n - 1].spawned == v[k].spawned) {
			v[n - 1].polls++;
			v[n - 1].ns += v[k].ns;
		} else {
			v[n++] = v[k];
		}
	}
	qsort(v, n, sizeof(*v), most_first);
	*cnt = n;
	return v;
}
