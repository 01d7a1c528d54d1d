/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_RECORDED_TIME_H
#define D9_PROFILE_SCHED_RECORDED_TIME_H

#include "profile/sched/gaps.h"
#include "trace/read/trace.h"

/* Skipped ranges kept, over all recordings; further ones count as recorded. */
#define RECORDED_TIME_SKIPPED_MAX (1 << 20)

struct recorded_time_part {
	bool any; /* any event */
	uint64_t first, last; /* its time range */
	uint32_t cpus; /* highest CPU number + 1 */
	struct gap *skipped; /* pauses, slices and gaps, in the order of the trace */
	size_t cnt, cap;
};

/* For how long a trace was recorded. {0} is empty; grows with recordings and skipped ranges. */
struct recorded_time {
	struct recorded_time_part *v; /* by part */
	size_t cap, skipped_cnt;
};

/*
 * Adds an event that happened: anything except losses and events for which trace_is_naming() is
 * true.
 */
static inline void recorded_time_event(struct recorded_time *o, const struct trace_event *ev);
/* Adds a LostEvents event, at any position; kinds that do not skip time are ignored. */
void recorded_time_loss(struct recorded_time *o, const struct trace *t,
			const struct trace_event *ev);

struct recorded_time_opts {
	const struct names *names;
	const void *ctx;
	/* Gets the window on a clock, inclusive; false: no window. NULL: none at all. */
	bool (*window)(const void *ctx, uint32_t clock, uint64_t *from, uint64_t *to);
	/* Whether a recording has the measured data; if none has, all count. NULL: all have. */
	bool (*has_data)(const void *ctx, uint32_t part);
	uint32_t cpu; /* only recordings of this CPU; TRACE_NONE: all */
	/*
	 * NULL, or an array by part of parts.cnt elements. Sums of a recording are multiplied by
	 * its weight before they are divided by recorded_time_sum.ns. So a recording that overlaps
	 * others gets a rate over its own time; without overlap the weight is 1. Recordings that
	 * overlap by at most a tenth count as successive.
	 */
	double *weights;
};

/* Time that several recordings on one clock cover counts once; different clocks are added up. */
struct recorded_time_sum {
	uint64_t span_ns; /* including skipped ranges */
	uint64_t ns; /* recorded, without them */
	uint64_t parts_ns; /* sum over recordings: more than ns if some overlap */
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
