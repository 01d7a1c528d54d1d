// SPDX-License-Identifier: BSD-2-Clause
/*
 * Times in `dial9-prof report` from switches instead of samples. Owns the intervals and their selection;
 * user/profile sums them.
 *
 * If rows are tasks, switches measure their CPU time better than samples. With --wall they show the states of
 * threads: the stack of a switch out counts for the time until the thread runs again. Only samples show where a thread
 * spent its running time, so they are used for rows with stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/report/report.h"
#include "profile/sched/recorded_switches.h"

/* Whether rows need no stacks. */
static bool has_task_rows(const struct report *r)
{
	return r->graph == REPORT_FLAT && !(r->keys & ~PROFILE_TASK_KEYS);
}

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

static void add_wall_time(struct report *r, const struct interval *i, const struct names_task *task,
			  uint32_t stack)
{
	struct trace_event ev = { .part = i->part,
				  .tid = i->tid,
				  .pid = task->pid,
				  .comm = task->comm,
				  .cgroup = task->cgroup,
				  .cpu = i->cpu };

	r->state_ns[i->state] += i->end - i->start;
	intervals_unknown_add(&r->unknown, i);
	if (i->state == INTERVAL_RUNNING && (!has_task_rows(r) || i->end == i->start))
		return;
	if (stack != INTERVAL_NO_STACK)
		ev.frames = intervals_stack(r->intervals, stack, &ev.frame_cnt);
	profile_add_time(r->profile, &ev, i->state, i->end - i->start);
}

/* What is left of it by the selection, under one name. */
static void add_selected_piece(struct report *r, const struct interval *i,
			       const struct names_task *task, uint32_t stack)
{
	struct interval cut = *i;

	if (i->end < i->start || !select_match_task(&r->sel, r->names, task, i->cpu) ||
	    !clip(r, &cut))
		return;
	cpu_time_add(&r->cpu_time, &cut, task->cgroup);
	if (r->wall && !(i->flags & INTERVAL_NEIGHBOUR))
		add_wall_time(r, &cut, task, stack);
}

/* Cut where it became another program, and to the selection, and counted. */
static void add_interval(void *ctx, const struct interval *i)
{
	struct report *r = ctx;
	struct interval piece;
	struct names_task task;
	uint32_t stack = r->wall ? off_stack_of(&r->off_stack, i) : INTERVAL_NO_STACK;

	/* only --wall counts what is neither CPU time nor doubtful */
	if (!r->wall && (i->state == INTERVAL_BLOCKED || i->state == INTERVAL_RUNNABLE))
		return;
	/* without switches, threads of the part would appear to stay in one state */
	if (i->end_by == INTERVAL_TO_NOTHING && !report_exact_has_switches(r, i->part))
		return;
	task = select_interval_task(r->reader, r->part, i);
	for (uint32_t k = 0; interval_piece(i, k, &piece); k++) {
		struct names_task then = task;

		if (k < i->exec_cnt)
			then.comm = piece.comm;
		add_selected_piece(r, &piece, &then, stack);
	}
}

bool report_exact_has_switches(const struct report *r, uint32_t part)
{
	return (part < r->switch_cap && r->switches[part]) || recorded_switches(r->names, part);
}

bool report_exact_has_states(const struct report *r)
{
	bool has = false;

	for (uint32_t part = 0; !has && part < r->names->parts.cnt; part++)
		has = report_exact_has_switches(r, part);
	return has;
}

/* Where switches happened is asked for by --wall alone. */
static struct intervals *engine(struct report *r)
{
	struct intervals *iv = intervals_new(&(struct intervals_opts){ r->names, add_interval, r });

	if (!r->wall)
		intervals_skip_stacks(iv);
	return iv;
}

/* All samples are wanted, and whose they are is not shown. */
static bool wants_samples_alone(const struct report *r)
{
	return !(r->keys & PROFILE_TASK_KEYS) && r->graph != REPORT_FOLDED &&
	       !select_is_used(&r->sel);
}

void report_exact_begin(struct report *r)
{
	if (!r->wall)
		reader_skip_stacks(r->reader);
	if (r->wall || has_task_rows(r))
		r->intervals = engine(r);
	else if (wants_samples_alone(r))
		reader_skip_kinds(r->reader, TRACE_KINDS_TRACEPOINT);
}

void report_exact_add(struct report *r, const struct trace_event *ev)
{
	if (!r->intervals)
		return;
	r->part = ev->part;
	while (r->switch_cap <= ev->part) {
		size_t from = r->switch_cap;

		r->switches = array_reserve(r->switches, &r->switch_cap, (size_t)ev->part + 1,
					    sizeof(*r->switches));
		memset(r->switches + from, 0, (r->switch_cap - from) * sizeof(*r->switches));
	}
	r->switches[ev->part] += ev->kind == TRACE_SCHED_SWITCH;
	/* thread states between off-CPU intervals are unknown */
	if (ev->kind != TRACE_OFF_CPU)
		intervals_add(r->intervals, reader_trace(r->reader), ev);
}

/* A loss is written after its time: reads the trace again with its time known. */
static int recount(struct report *r)
{
	struct trace_event ev;
	int ret = 0;

	if (!loss_accounting_lost(&r->counts.account) || reader_rewind(r->reader))
		return 0;
	cpu_time_fini(&r->cpu_time);
	intervals_restart(r->intervals);
	profile_forget_times(r->profile);
	memset(r->state_ns, 0, sizeof(r->state_ns));
	r->unknown = (struct intervals_unknown){ 0 };
	off_stack_fini(&r->off_stack);
	while (!ret && (ret = reader_next(r->reader, &ev)) == 1) {
		report_exact_add(r, &ev);
		ret = 0;
	}
	return ret;
}

/* With --wall: the running time of recordings with switches, unless only samples show where it was spent. */
static void set_running_time(struct report *r)
{
	r->running_is_exact = has_task_rows(r) || !profile_samples(r->profile);
	for (uint32_t i = 0; i < r->part_cnt; i++) {
		const bool switches = report_exact_has_switches(r, i);

		if (switches && has_task_rows(r))
			profile_forget_samples(r->profile, i);
		r->running_is_exact &= switches || !r->parts[i].samples;
	}
	if (!profile_samples(r->profile) && !has_task_rows(r))
		cpu_time_to_profile(&r->cpu_time, r->profile);
}

int report_exact_end(struct report *r, uint64_t ns)
{
	int ret;

	if (!r->intervals)
		return 0;
	ret = recount(r);
	intervals_finish(r->intervals);
	cpu_time_bound(&r->cpu_time, ns);
	if (r->wall)
		set_running_time(r);
	/* where there is nothing but doubt, samples say more */
	r->exact = !r->wall && (r->cpu_time.run_ns ||
				(r->cpu_time.uncertain_ns && !profile_samples(r->profile)));
	return ret;
}

void report_exact_weigh(struct report *r)
{
	const struct cpu_time *c = &r->cpu_time;

	r->inexact =
		r->exact && r->timed && c->uncertain_ns > c->run_ns && r->whole / 2 > c->run_ns;
	r->exact &= !r->inexact;
}

bool report_exact_doubt(const struct report *r, struct buf *out)
{
	if (!r->cpu_time.uncertain_ns)
		return false;
	value_text_duration(out, r->cpu_time.uncertain_ns, 0);
	buf_addstr(out, " of CPU time may be missing: ");
	report_text_why_unknown(out, &r->counts.account, r->names, &r->cpu_time.holes);
	return true;
}

void report_exact_fini(struct report *r)
{
	intervals_free(r->intervals);
	cpu_time_fini(&r->cpu_time);
	off_stack_fini(&r->off_stack);
	free(r->switches);
}
