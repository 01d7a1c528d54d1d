// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exact CPU time in `dial9-prof report`: where rows are tasks, the switches tell more than samples. Owns
 * the intervals and what the selection leaves of them; the sums are user/profile's.
 */
#include "base/alloc.h"
#include "base/str.h"
#include "cmd/report.h"

/* False when nothing is left of it in the window. */
static bool clip(const struct report *r, struct interval *i)
{
	uint64_t from, to;

	if (!select_window(&r->sel, names_part(r->names, i->part)->clock, &from, &to))
		return true;
	i->start = i->start < from ? from : i->start;
	i->end = i->end > to ? to : i->end;
	return i->start <= i->end;
}

/* Cut to the selection, and counted. */
static void take(void *ctx, const struct interval *i)
{
	struct report *r = ctx;
	struct interval cut = *i;
	const struct names_task *known, *first = names_task_first(r->names, i->part, i->tid);
	struct names_task task = {
		.tid = i->tid, .pid = i->pid, .comm = i->comm, .cgroup = NAMES_NONE
	};

	/* a part's last intervals come when the next one has begun */
	known = i->part == r->part ? trace_task(reader_trace(r->reader), i->tid) : first;
	if (known)
		task.cgroup = known->cgroup;
	if (first && task.pid == NAMES_NONE)
		task.pid = first->pid;
	if (first && task.comm == NAMES_NONE)
		task.comm = first->comm;
	if (select_match_task(&r->sel, r->names, &task, i->cpu) && clip(r, &cut))
		cpu_time_take(&r->cpu_time, &cut, task.cgroup);
}

void report_exact_begin(struct report *r)
{
	if (r->graph == REPORT_FLAT && !(r->keys & ~PROFILE_TASK_KEYS))
		r->intervals = intervals_new(&(struct intervals_opts){ r->names, take, r });
}

void report_exact_add(struct report *r, const struct trace_event *ev)
{
	if (!r->intervals)
		return;
	r->part = ev->part;
	intervals_add(r->intervals, reader_trace(r->reader), ev);
}

/* A loss is told after it happened: once more, now that it is known when. */
static int recount(struct report *r)
{
	struct intervals *again;
	struct trace_event ev;
	int ret;

	if (!account_lost(&r->counts.account) || reader_rewind(r->reader))
		return 0;
	again = intervals_new(&(struct intervals_opts){ r->names, take, r });
	while ((ret = reader_next(r->reader, &ev)) == 1)
		intervals_add_gaps(again, reader_trace(r->reader), &ev);
	if (!ret)
		ret = reader_rewind(r->reader);
	cpu_time_fini(&r->cpu_time);
	intervals_free(r->intervals);
	r->intervals = again;
	r->cpu_time = (struct cpu_time){ 0 };
	while (!ret && (ret = reader_next(r->reader, &ev)) == 1) {
		report_exact_add(r, &ev);
		ret = 0;
	}
	return ret;
}

int report_exact_end(struct report *r)
{
	int ret;

	if (!r->intervals)
		return 0;
	ret = recount(r);
	intervals_finish(r->intervals);
	/* where there is nothing but doubt, samples say more */
	r->exact = r->cpu_time.run_ns || (r->cpu_time.doubtful_ns && !profile_samples(r->profile));
	return ret;
}

void report_exact_fini(struct report *r)
{
	intervals_free(r->intervals);
	cpu_time_fini(&r->cpu_time);
}
