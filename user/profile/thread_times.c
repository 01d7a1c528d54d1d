// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the time of threads went: on a CPU, waiting for one, or neither. Owns one small state
 * machine per thread, fed by switches and wakings; numbers only.
 *
 *   switched in            -> running
 *   switched out, runnable -> waiting      (state 0, or 0x100: preempted)
 *   switched out, else     -> off, until a waking makes it waiting
 *
 * Only intervals with both ends in the trace count. What a thread did before its first event and
 * after its last one is not guessed, unless thread_times_close() is told that the trace has all of them; an interval during which events were lost is put aside:
 * a lost switch inside it would have split it in a way that nobody can know.
 */
#include "profile/thread_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/account.h"

/* The letters of ps lie in the low byte; 0x100 above them says preempted. */
#define STATE_LETTERS 0xff
#define STATE_DEAD 0x10
#define STATE_ZOMBIE 0x20

static struct thread_times_task *task_of(struct thread_times *s, uint32_t tid)
{
	uintptr_t at = (uintptr_t)hmap_get(&s->by_tid, tid);

	if (at)
		return &s->tasks[at - 1];
	s->tasks = array_reserve(s->tasks, &s->cap, s->cnt + 1, sizeof(*s->tasks));
	s->tasks[s->cnt++] = (struct thread_times_task){
		.tid = tid, .pid = TRACE_NONE, .comm = NAMES_NONE, .state = THREAD_TIMES_UNKNOWN
	};
	hmap_set(&s->by_tid, tid, (void *)(uintptr_t)s->cnt);
	return &s->tasks[s->cnt - 1];
}

/* ---- gaps ------------------------------------------------------------------------------------- */

/* Index of the first gap that ends at or after @ts. */
static size_t gap_find(const struct thread_times *s, uint64_t ts)
{
	size_t lo = 0, hi = s->gap_cnt, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->gaps[mid].to < ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool spans_gap(const struct thread_times *s, uint64_t from, uint64_t to)
{
	size_t i = gap_find(s, from);

	return i < s->gap_cnt && s->gaps[i].from <= to;
}

/* One more than may be kept: the two that lie closest become one, which only widens doubt. */
static void gap_merge_closest(struct thread_times *s)
{
	size_t best = 0;

	for (size_t i = 1; i + 1 < s->gap_cnt; i++)
		if (s->gaps[i + 1].from - s->gaps[i].to < s->gaps[best + 1].from - s->gaps[best].to)
			best = i;
	s->gaps[best].to = s->gaps[best + 1].to;
	memmove(&s->gaps[best + 1], &s->gaps[best + 2], (s->gap_cnt - best - 2) * sizeof(*s->gaps));
	s->gap_cnt--;
}

static void gap_add(struct thread_times *s, uint64_t from, uint64_t to)
{
	size_t i = gap_find(s, from), end = i;

	while (end < s->gap_cnt && s->gaps[end].from <= to) {
		if (s->gaps[end].from < from)
			from = s->gaps[end].from;
		if (s->gaps[end].to > to)
			to = s->gaps[end].to;
		end++;
	}
	if (end == i) {
		s->gaps = array_reserve(s->gaps, &s->gap_cap, s->gap_cnt + 1, sizeof(*s->gaps));
		memmove(&s->gaps[i + 1], &s->gaps[i], (s->gap_cnt - i) * sizeof(*s->gaps));
		s->gap_cnt++;
	} else {
		memmove(&s->gaps[i + 1], &s->gaps[end], (s->gap_cnt - end) * sizeof(*s->gaps));
		s->gap_cnt -= end - i - 1;
	}
	s->gaps[i] = (struct thread_times_gap){ from, to };
	if (s->gap_cnt > THREAD_TIMES_GAPS_MAX)
		gap_merge_closest(s);
}

void thread_times_add_gaps(struct thread_times *s, const struct trace *t,
			   const struct trace_event *ev)
{
	uint64_t first, last;
	struct dial9_str kind;

	if (ev->kind != TRACE_LOST || !trace_str(t, ev, ROLE_KIND, &kind) ||
	    !account_hides_switches(kind.ptr, kind.len))
		return;
	if (trace_u64(ev, ROLE_FIRST_NS, &first) && trace_u64(ev, ROLE_LAST_NS, &last) &&
	    first <= last)
		gap_add(s, first, last);
}

/* ---- states ----------------------------------------------------------------------------------- */

/* The thread was in this state from one time to the other. */
static void spend(struct thread_times *s, struct thread_times_task *task,
		  enum thread_times_state state, uint64_t from, uint64_t to)
{
	uint64_t spent = to > from ? to - from : 0;

	if (state != THREAD_TIMES_UNKNOWN && state != THREAD_TIMES_GONE && spans_gap(s, from, to)) {
		task->spoilt += spent;
		return;
	}
	switch (state) {
	case THREAD_TIMES_RUNNING:
		task->run += spent;
		break;
	case THREAD_TIMES_WAITING:
		task->wait += spent;
		break;
	case THREAD_TIMES_OFF:
		task->off += spent;
		break;
	case THREAD_TIMES_UNKNOWN:
	case THREAD_TIMES_GONE:
		break;
	}
}

static void enter(struct thread_times *s, struct thread_times_task *task,
		  enum thread_times_state state, uint64_t ts)
{
	spend(s, task, task->state, task->since, ts);
	task->state = state;
	task->since = ts;
}

/* What the first event of a thread says of the time before it. */
static void first_seen(struct thread_times_task *task, enum thread_times_state before, uint64_t ts)
{
	if (task->seen)
		return;
	task->seen = true;
	task->before = before;
	task->first_ns = ts;
}

static void name_task(struct thread_times_task *task, const struct trace *t)
{
	const struct names_task *known;

	if (task->pid != TRACE_NONE && task->comm != NAMES_NONE)
		return;
	known = trace_task(t, task->tid);
	if (known) {
		task->pid = known->pid;
		task->comm = known->comm;
	}
}

static void switched_out(struct thread_times *s, struct thread_times_task *task, uint64_t state,
			 uint64_t ts)
{
	enum thread_times_state next = THREAD_TIMES_OFF;

	if (!(state & STATE_LETTERS)) {
		next = THREAD_TIMES_WAITING;
		task->preempted++;
	} else if (state & (STATE_DEAD | STATE_ZOMBIE)) {
		next = THREAD_TIMES_GONE;
	}
	task->switches++;
	enter(s, task, next, ts);
}

/* wakeup_new: there was no such thread before. */
static bool is_birth(const struct trace_event *ev)
{
	return !strcmp(dial9_schema_name(ev->schema->schema), PROF_EV_SCHED_WAKEUP_NEW);
}

void thread_times_add(struct thread_times *s, const struct trace *t, const struct trace_event *ev)
{
	struct thread_times_task *task;
	uint64_t tid;

	thread_times_add_gaps(s, t, ev);
	if (ev->kind == TRACE_SCHED_SWITCH) {
		/* the idle threads all share tid 0 and do nothing worth counting */
		if (trace_u64(ev, ROLE_PREV_PID, &tid) && tid && tid < TRACE_NONE) {
			task = task_of(s, (uint32_t)tid);
			name_task(task, t);
			first_seen(task, THREAD_TIMES_RUNNING, ev->ts);
			switched_out(s, task, trace_u64_or(ev, ROLE_PREV_STATE, 0), ev->ts);
		}
		if (trace_u64(ev, ROLE_NEXT_PID, &tid) && tid && tid < TRACE_NONE) {
			task = task_of(s, (uint32_t)tid);
			name_task(task, t);
			first_seen(task, THREAD_TIMES_WAITING, ev->ts);
			enter(s, task, THREAD_TIMES_RUNNING, ev->ts);
		}
	} else if (ev->kind == TRACE_SCHED_WAKING && trace_u64(ev, ROLE_PID, &tid) && tid &&
		   tid < TRACE_NONE) {
		task = task_of(s, (uint32_t)tid);
		first_seen(task, is_birth(ev) ? THREAD_TIMES_GONE : THREAD_TIMES_OFF, ev->ts);
		/* one that runs was woken before it got off: the switch will tell */
		if (task->state != THREAD_TIMES_RUNNING && task->state != THREAD_TIMES_WAITING)
			enter(s, task, THREAD_TIMES_WAITING, ev->ts);
	} else if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE && ev->tid &&
		   ev->tid != TRACE_NONE) {
		task = task_of(s, ev->tid);
		name_task(task, t);
		task->sampled = true;
	}
}

void thread_times_finish(struct thread_times *s, const struct names *n)
{
	for (size_t i = 0; i < s->cnt; i++) {
		const struct names_task *known = names_task_first(n, 0, s->tasks[i].tid);

		if (!known)
			continue;
		if (s->tasks[i].pid == TRACE_NONE)
			s->tasks[i].pid = known->pid;
		if (s->tasks[i].comm == NAMES_NONE)
			s->tasks[i].comm = known->comm;
	}
}

void thread_times_sum(const struct thread_times *s, const struct hmap *pids,
		      struct thread_times_task *out)
{
	*out = (struct thread_times_task){ .tid = TRACE_NONE,
					   .pid = TRACE_NONE,
					   .comm = NAMES_NONE };
	for (size_t i = 0; i < s->cnt; i++) {
		const struct thread_times_task *task = &s->tasks[i];

		if (pids && !hmap_get(pids, task->pid))
			continue;
		out->run += task->run;
		out->wait += task->wait;
		out->off += task->off;
		out->spoilt += task->spoilt;
		out->switches += task->switches;
		out->preempted += task->preempted;
	}
}

/* Known threads without any event are given a place: they did one thing all the while. */
static void add_unseen(struct thread_times *s, const struct names *n, const struct hmap *pids)
{
	const struct names_task *told;
	struct thread_times_task *task;
	uint64_t tid;
	void *known;
	size_t pos = 0;

	while (hmap_next(&n->tasks, &pos, &tid, &known)) {
		told = known;
		if (!tid || !hmap_get(pids, told->pid))
			continue;
		task = task_of(s, (uint32_t)tid);
		if (task->pid == TRACE_NONE)
			task->pid = told->pid;
	}
}

void thread_times_close(struct thread_times *s, const struct names *n, const struct hmap *pids,
			uint64_t start_ns, uint64_t end_ns)
{
	add_unseen(s, n, pids);
	for (size_t i = 0; i < s->cnt; i++) {
		struct thread_times_task *task = &s->tasks[i];

		if (!hmap_get(pids, task->pid))
			continue;
		if (!task->seen) {
			/* not switched in, and not on a CPU: it never ran */
			spend(s, task, task->sampled ? THREAD_TIMES_RUNNING : THREAD_TIMES_OFF,
			      start_ns, end_ns);
			continue;
		}
		spend(s, task, task->before, start_ns, task->first_ns);
		enter(s, task, task->state, end_ns);
	}
}

void thread_times_fini(struct thread_times *s)
{
	hmap_fini(&s->by_tid);
	free(s->tasks);
	free(s->gaps);
	memset(s, 0, sizeof(*s));
}
