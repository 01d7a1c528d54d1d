/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RECORDED_TIME_H
#define D9_PROFILE_SCHED_RECORDED_TIME_H

#include "profile/sched/gaps.h"
#include "trace/read/trace.h"

/* Stretches left out that are remembered, of all parts together; what is left out beyond counts as recorded. */
#define RECORDED_TIME_SKIPPED_MAX (1 << 20)

struct recorded_time_part {
	bool any; /* something happened in it, */
	uint64_t first, last; /* from when to when, */
	uint32_t cpus; /* on CPUs below this number */
	struct gap *skipped; /* what was left out, as it was told */
	size_t cnt, cap;
};

/* For how long a trace was recorded. {0} is empty; grows with parts and with stretches left out. */
struct recorded_time {
	struct recorded_time_part *v; /* by part */
	size_t cap, skipped_cnt;
};

/* Takes an event that happened: any but those that trace_is_naming() tells and losses. */
static inline void recorded_time_event(struct recorded_time *o, const struct trace_event *ev);
/* Takes a LostEvents, wherever it stands: a pause, a slice, a hole, or another, of which time is not left out. */
void recorded_time_loss(struct recorded_time *o, const struct trace *t,
			const struct trace_event *ev);

struct recorded_time_opts {
	const struct names *names;
	const void *ctx;
	/* What is looked at on a clock, both ends included; false: all of it. NULL: all. */
	bool (*window)(const void *ctx, uint32_t clock, uint64_t *from, uint64_t *to);
	/* Whether a part tells of what is measured; where none does, all count. NULL: all do. */
	bool (*has_data)(const void *ctx, uint32_t part);
	uint32_t cpu; /* parts that this CPU was recorded in; TRACE_NONE: all */
	/*
	 * NULL, or an array by part, of as many as there are: what sums of a part are to be multiplied by before they
	 * are divided by recorded_time_sum.ns, so that what lies side by side has a rate by its own time. 1 where nothing
	 * does. Parts that overlap by no more than a tenth follow each other.
	 */
	double *weights;
};

/* Times that several parts on one clock have count once; those of several clocks are added up. */
struct recorded_time_sum {
	uint64_t span_ns; /* with what was left out meanwhile, */
	uint64_t ns; /* and without: what was recorded */
	uint64_t parts_ns; /* the same of all parts one by one: more, where some lie within each other */
	size_t parts;
};

struct recorded_time_sum recorded_time_sum(const struct recorded_time *o,
					   const struct recorded_time_opts *opts);
void recorded_time_fini(struct recorded_time *o);

struct recorded_time_part *recorded_time_part(struct recorded_time *o, uint32_t part);

static inline void recorded_time_event(struct recorded_time *o, const struct trace_event *ev)
{
	struct recorded_time_part *p =
		ev->part < o->cap ? &o->v[ev->part] : recorded_time_part(o, ev->part);

	if (!p->any || ev->ts < p->first)
		p->first = ev->ts;
	if (!p->any || ev->ts > p->last)
		p->last = ev->ts;
	p->any = true;
	if (ev->cpu != TRACE_NONE && ev->cpu >= p->cpus)
		p->cpus = ev->cpu + 1;
}

#endif /* D9_PROFILE_SCHED_RECORDED_TIME_H */
