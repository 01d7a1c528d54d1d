// SPDX-License-Identifier: BSD-2-Clause
/*
 * offcpu_interval.c - intervals from --min-block events, each of which covers one off-CPU interval
 * (PROF_EV_OFF_CPU)
 *
 * Such a recording has no switches. Both ends of an off-CPU interval are known, the time between
 * two of them is not. A loss before or after an interval does not affect it.
 */
#include "profile/sched/offcpu_interval.h"

#include "profile/sched/waker.h"

enum { LETTERS = 0xff }; /* none of these bits is set if the thread was runnable */

static struct interval make_interval(const struct offcpu_interval *s, const struct trace *t,
				     const struct trace_event *ev, bool woken)
{
	const struct names_task *task = trace_task(t, ev->tid);
	const bool unfinished = trace_u64_or(ev, ROLE_UNFINISHED, 0);
	const uint64_t cpu = trace_u64_or(ev, ROLE_FROM_CPU, TRACE_NONE);

	return (struct interval){
		.tid = ev->tid,
		.pid = task ? task->pid : TRACE_NONE,
		.comm = task ? task->comm : NAMES_NONE,
		.part = ev->part,
		.prev_state = (uint32_t)trace_u64_or(ev, ROLE_PREV_STATE, 0),
		.stack = INTERVAL_NO_STACK,
		.next_tid = TRACE_NONE,
		.prev_tid = TRACE_NONE,
		.cpu = cpu < TRACE_NONE ? (uint32_t)cpu : TRACE_NONE,
		.end_by = unfinished ? INTERVAL_TO_NOTHING : INTERVAL_TO_CPU,
		.flags = unfinished ? INTERVAL_EDGE_END : 0,
		.waker = woken ? &s->waker : NULL,
	};
}

static void add(struct offcpu_interval *s, struct interval i, enum interval_state state,
		uint64_t from, uint64_t to)
{
	i.state = i.began_as = state;
	i.start = i.began = from;
	i.end = i.ended = to;
	s->v[s->cnt++] = i;
}

static void add_runnable(struct offcpu_interval *s, struct interval i, const struct trace_event *ev,
			 enum interval_why why, uint64_t from)
{
	if (i.end_by == INTERVAL_TO_CPU)
		i.cpu = ev->cpu;
	i.why = why;
	add(s, i, INTERVAL_RUNNABLE, from, ev->ts);
}

static void read_waker(struct offcpu_interval *s, const struct trace *t,
		       const struct trace_event *ev, uint64_t ts)
{
	s->waker = waker_of(ev);
	s->waker.ts = ts;
	s->waker.tid = (uint32_t)trace_u64_or(ev, ROLE_WAKER_PID, TRACE_NONE);
	s->waker.pid = s->waker.cpu = TRACE_NONE;
	s->waker.comm = trace_str_id(t, ev, ROLE_WAKER_COMM);
}

/* Adds a blocked interval that a wakeup ended, and the runnable one after it. */
static void add_blocked(struct offcpu_interval *s, struct interval i, const struct trace_event *ev,
			uint64_t from, uint64_t woken)
{
	struct interval runnable = i;

	i.end_by = INTERVAL_TO_WAKEUP;
	i.flags = 0;
	add(s, i, INTERVAL_BLOCKED, from, woken);
	runnable.prev_state = 0;
	add_runnable(s, runnable, ev, INTERVAL_WHY_WOKEN, woken);
}

/* Limits impossible times of a file. */
static uint64_t at_most(uint64_t ns, uint64_t most)
{
	return ns < most ? ns : most;
}

void offcpu_interval_read(struct offcpu_interval *s, const struct trace *t,
			  const struct trace_event *ev)
{
	const uint64_t off = at_most(trace_u64_or(ev, ROLE_OFF_NS, 0), ev->ts);
	const uint64_t blocked = at_most(trace_u64_or(ev, ROLE_BLOCKED_NS, 0), off);
	const uint64_t from = ev->ts - off;
	const bool woken = trace_u64_or(ev, ROLE_WOKEN, 0);
	struct interval i;

	*s = (struct offcpu_interval){ .ts = ev->ts };
	if (!ev->tid || ev->tid == TRACE_NONE)
		return;
	if (woken)
		read_waker(s, t, ev, from + blocked);
	i = make_interval(s, t, ev, woken);
	if (!(i.prev_state & LETTERS)) {
		i.waker = NULL;
		add_runnable(s, i, ev, i.prev_state ? INTERVAL_WHY_PREEMPTED : INTERVAL_WHY_RESCHED,
			     from);
	} else if (woken && !blocked) {
		add_runnable(s, i, ev, INTERVAL_WHY_WOKEN_EARLY, from);
	} else if (woken) {
		add_blocked(s, i, ev, from, from + blocked);
	} else {
		add(s, i, INTERVAL_BLOCKED, from, ev->ts);
		if (i.end_by == INTERVAL_TO_CPU) {
			s->v[0].state = INTERVAL_UNKNOWN;
			s->v[0].flags |= INTERVAL_UNSURE;
		}
	}
}

bool offcpu_interval_is_of(const struct offcpu_interval *s, const struct trace_event *ev)
{
	return s->cnt && s->v[0].tid == ev->tid && s->ts == ev->ts;
}

void offcpu_interval_set_stack(struct offcpu_interval *s, uint32_t stack)
{
	s->v[0].stack = stack;
}

bool offcpu_interval_is_recorded(const struct names *names, uint32_t part, uint64_t *min_ns,
				 uint64_t *max_ns)
{
	if (min_ns)
		*min_ns = names_meta_u64(names, part, PROF_META_OFF_MIN_NS);
	if (max_ns)
		*max_ns = names_meta_u64(names, part, PROF_META_OFF_MAX_NS);
	return names_meta(names, part, PROF_META_OFF_MIN_NS);
}
