// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof sched latency`: how long tasks were runnable without a CPU. Owns the options and the
 * text; intervals come from the engine, sums from user/profile/sums/runq_delays.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/common/cmd.h"
#include "cmd/common/interval_report.h"
#include "cmd/sched/offcpu_sums_print.h"
#include "cmd/sched/sched.h"
#include "profile/sums/runq_delays.h"

struct latency_opts {
	struct interval_report_opts common;
	int sort, by;
	uint64_t worst;
	bool hist;
};

struct latency {
	struct interval_report report;
	const struct latency_opts *opts;
	struct runq_delays delays;
	struct runq_delays_heap worst;
	struct offcpu_sums sums; /* of a trace that has these in place of events */
};

/* Rows of a table, unless --limit says otherwise. */
#define LIMIT_TEXT 30

#define O(m) offsetof(struct latency_opts, m)

/* As enum runq_delays_order and enum runq_delays_by. */
static const char *const sort_words[] = { "max", "avg", "p99", "runtime", "switch", "wait", NULL };
static const char *const by_words[] = { "tid", "pid", "comm", "cgroup", NULL };

static const struct opt latency_opts[] = {
	SELECT_READ_OPTS(struct latency_opts, common.sel),
	{ .name = "sort",
	  .key = 's',
	  .kind = OPT_CHOICE,
	  .off = O(sort),
	  .choices = sort_words,
	  .help = "Sort rows by KEY (default max)",
	  .group = "Output" },
	{ .name = "by",
	  .kind = OPT_CHOICE,
	  .off = O(by),
	  .choices = by_words,
	  .help = "Print one row per thread (default), process, name or control group" },
	{ .name = "worst",
	  .kind = OPT_U64,
	  .off = O(worst),
	  .arg = "N",
	  .max = 100000,
	  .help = "Also print the N longest run-queue intervals, each with the threads that ran instead" },
	{ .name = "hist",
	  .kind = OPT_FLAG,
	  .off = O(hist),
	  .help = "Print a histogram of all run-queue intervals, by powers of two" },
	INTERVAL_REPORT_OPTS(struct latency_opts, common, "30"),
};

static const struct opt_spec latency_spec = {
	.name = "sched latency",
	.usage = "dial9-prof sched latency [OPTIONS] [FILE]",
	.brief = "Print run-queue latency: how long threads were runnable before they got a CPU.",
	OPT_ROWS(latency_opts),
	.examples = "  dial9-prof sched latency\n"
		    "  dial9-prof sched latency --worst 10\n"
		    "  dial9-prof sched latency --by comm -s p99 --hist\n"
		    "  dial9-prof sched latency --by cgroup -s p99\n",
};

static void add_interval(void *report, const struct interval *i)
{
	struct latency *l = report;
	uint32_t cgroup = NAMES_NONE;

	if (i->flags & INTERVAL_NEIGHBOUR || !i->tid ||
	    !interval_reader_wants(&l->report.timeline, i, i->cpu))
		return;
	if (l->opts->by == RUNQ_DELAYS_BY_CGROUP)
		cgroup = select_interval_task(l->report.timeline.reader, l->report.timeline.part, i)
				 .cgroup;
	runq_delays_add(&l->delays, i, cgroup);
	if (i->state == INTERVAL_RUNNABLE)
		runq_delays_heap_add(&l->worst, l->report.timeline.intervals, i);
}

static void add_sums(void *report, const struct trace *t, const struct trace_event *ev)
{
	struct latency *l = report;

	offcpu_sums_print_add(&l->sums, &l->report.timeline, t, ev);
}

static void reset_intervals(struct latency *l)
{
	runq_delays_fini(&l->delays);
	runq_delays_heap_fini(&l->worst);
}

static void reset_sums(void *report)
{
	struct latency *l = report;

	offcpu_sums_fini(&l->sums);
	reset_intervals(l);
}

/* ---- text -------------------------------------------------------------------------------------- */

static void put_task(struct buf *out, const struct latency *l, const struct runq_delays_row *r)
{
	value_text_name(out, l->report.timeline.names,
			l->opts->by == RUNQ_DELAYS_BY_CGROUP ? r->cgroup : r->comm);
	if (l->opts->by == RUNQ_DELAYS_BY_TID)
		buf_printf(out, " %u", r->tid);
	else if (l->opts->by == RUNQ_DELAYS_BY_PID && r->pid != TRACE_NONE)
		buf_printf(out, " %u", r->pid);
}

/* Columns that a narrow terminal has no room for, least wanted first, and the width from which on it has. */
enum { P50_FROM = 129, MAX_AT_FROM = 118, TOTAL_FROM = 100, AVG_FROM = 89, TASK_COLS = 24 };

static bool has_room(const struct latency *l, size_t from)
{
	return !l->report.view.width || l->report.view.width >= from;
}

static void put_max_at(struct buf *out, const struct runq_delays_row *r)
{
	struct buf at = { 0 };

	buf_addstr(out, "  ");
	if (r->max_ns)
		report_text_time(&at, r->max_start, 0);
	else
		buf_addch(&at, '-');
	report_text_column(out, buf_cstr(&at), at.len, 16, false);
	buf_free(&at);
}

/* Threads with off-CPU intervals only have an unknown CPU time. */
static bool is_timed(const struct latency *l, uint64_t switches)
{
	return switches || !interval_reader_stays(&l->report.timeline, NULL, NULL);
}

static void put_row(struct buf *out, const struct latency *l, const struct runq_delays_row *r)
{
	const struct quantile *q = &r->latencies;
	struct buf task = { 0 };

	if (is_timed(l, r->switches)) {
		value_text_duration(out, r->run_ns, 11);
		buf_printf(out, " %9" PRIu64, r->switches);
	} else {
		buf_addstr(out, "          -         -");
	}
	buf_printf(out, " %7" PRIu64 "%c", q->cnt + r->cut, r->cut ? '*' : ' ');
	if (has_room(l, TOTAL_FROM))
		value_text_duration(out, r->wait_ns, 11);
	if (has_room(l, AVG_FROM))
		value_text_duration(out, q->cnt ? (uint64_t)(q->sum / (double)q->cnt) : 0, 11);
	if (has_room(l, P50_FROM))
		value_text_duration(out, (uint64_t)quantile_at(q, 0.5), 11);
	value_text_duration(out, (uint64_t)quantile_at(q, 0.99), 11);
	value_text_duration(out, r->max_ns, 11);
	if (has_room(l, MAX_AT_FROM))
		put_max_at(out, r);
	buf_addstr(out, "  ");
	put_task(&task, l, r);
	report_text_fit(out, buf_cstr(&task), task.len,
			l->report.view.width ? TASK_COLS : SIZE_MAX);
	buf_free(&task);
	buf_addch(out, '\n');
}

/* What the star says, if one of the first @n rows has it. */
static void put_cut(struct buf *out, const struct runq_delays *d, size_t n)
{
	bool shown = false;
	uint64_t cut = 0;

	for (size_t i = 0; i < d->cnt; i++) {
		cut += d->rows[i].cut;
		shown |= i < n && d->rows[i].cut;
	}
	if (!shown)
		return;
	buf_addstr(out, "# *: includes fragments (");
	buf_addu(out, cut);
	buf_addstr(out, ")\n");
}

static void put_rows(struct buf *out, const struct latency *l)
{
	const struct runq_delays *d = &l->delays;
	const size_t n = report_text_rows(l->opts->common.limit, LIMIT_TEXT, d->cnt);

	put_cut(out, d, n);
	buf_printf(out, "#\n#   Runtime  Switches   Count  %s%s%s       P99        Max  %sTask\n",
		   has_room(l, TOTAL_FROM) ? "     Total " : "",
		   has_room(l, AVG_FROM) ? "       Avg " : "",
		   has_room(l, P50_FROM) ? "       P50 " : "",
		   has_room(l, MAX_AT_FROM) ? "Max at            " : "");
	for (size_t i = 0; i < n; i++)
		put_row(out, l, &d->rows[i]);
	report_text_more_rows(out, d->cnt - n, "");
}

static void put_hist(struct buf *out, const struct quantile *q)
{
	uint64_t counts[REPORT_TEXT_POWERS];

	for (unsigned int k = 0; k < REPORT_TEXT_POWERS; k++)
		counts[k] = quantile_power(q, k);
	buf_addstr(out, "#\n# Histogram of all run-queue intervals\n");
	report_text_powers(out, counts, 12, 10);
}

static const char *why_text(enum interval_why why)
{
	static const char *const texts[] = {
		[INTERVAL_WHY_UNKNOWN] = "runnable since before the trace",
		[INTERVAL_WHY_WOKEN] = "woken by ",
		[INTERVAL_WHY_WOKEN_EARLY] = "woken while about to block, by ",
		[INTERVAL_WHY_PREEMPTED] = "preempted in the kernel",
		[INTERVAL_WHY_RESCHED] = "time slice over or yielded",
		[INTERVAL_WHY_NEW] = "started by ",
	};

	return texts[why];
}

static bool has_waker(const struct runq_delays_worst *w)
{
	return w->why == INTERVAL_WHY_WOKEN || w->why == INTERVAL_WHY_WOKEN_EARLY ||
	       w->why == INTERVAL_WHY_NEW;
}

/* Also where its name was not known yet when it ran. */
static uint32_t name_of(const struct latency *l, const struct runq_delays_worst *w,
			const struct interval_preemptor *b)
{
	uint32_t pid = b->pid, comm = b->comm;

	names_task_fill(l->report.timeline.names, w->part, b->tid, &pid, &comm);
	return comm;
}

static void put_preemptors(struct buf *out, const struct latency *l,
			   const struct runq_delays_worst *w)
{
	for (size_t k = 0; k < w->sum.n; k++) {
		const struct interval_preemptor *b = &w->preemptors[k];

		buf_addstr(out, "      ");
		value_text_duration(out, b->ns, 10);
		if (b->tid) {
			buf_addstr(out, "  ran instead: ");
			value_text_name(out, l->report.timeline.names, name_of(l, w, b));
			buf_printf(out, " %u on CPU %u\n", b->tid, b->cpu);
		} else {
			buf_printf(out, "  CPU %u was idle\n", b->cpu);
		}
	}
	if (w->sum.other_ns) {
		buf_addstr(out, "      ");
		value_text_duration(out, w->sum.other_ns, 10);
		buf_addstr(out, "  ran instead: others\n");
	}
	if (w->sum.unknown_ns) {
		buf_addstr(out, "      ");
		value_text_duration(out, w->sum.unknown_ns, 10);
		buf_printf(out, "  %s\n",
			   interval_print_unknown_task(&l->report.timeline, w->part));
	}
}

static void put_worst(struct buf *out, const struct latency *l, const struct runq_delays_worst *w)
{
	const uint64_t *frames;
	uint32_t cnt;

	report_text_time(out, w->start, 0);
	buf_addstr(out, "  ");
	value_text_duration(out, w->ns, 0);
	buf_addstr(out, w->flags & INTERVAL_CUT ? "*  " : "  ");
	value_text_name(out, l->report.timeline.names, w->comm);
	buf_printf(out, " %u", w->tid);
	if (w->cpu != TRACE_NONE)
		buf_printf(out, "  CPU %u", w->cpu);
	buf_printf(out, "  %s", why_text(w->why));
	if (has_waker(w))
		interval_print_waker(out, &l->report.timeline, w->woken ? &w->waker : NULL);
	buf_addch(out, '\n');
	put_preemptors(out, l, w);
	frames = intervals_stack(l->report.timeline.intervals, w->stack, &cnt);
	if (cnt) {
		buf_addstr(out, "      off-CPU stack\n");
		callchain_lines(out, l->report.timeline.names, frames, cnt, CALLCHAIN_BOTH, 8,
				l->report.view.width);
	}
}

static struct offcpu_sums_print sums_of(const struct latency *l)
{
	return (struct offcpu_sums_print){ .timeline = &l->report.timeline,
					   .sums = &l->sums,
					   .limit = l->opts->common.limit,
					   .hist = l->opts->hist,
					   .color = l->report.view.color };
}

static bool put_text(struct buf *out, const void *report)
{
	const struct latency *l = report;
	const struct offcpu_sums_print sums = sums_of(l);

	if (l->sums.cnt && !l->delays.cnt) {
		offcpu_sums_print_latency_text(out, &sums);
		return true;
	}
	if (!l->delays.cnt && !l->delays.unknown.ns)
		return false;
	interval_print_unknown(out, &l->report.timeline, &l->delays.unknown, l->report.view.color);
	put_rows(out, l);
	if (l->opts->hist && l->delays.latencies.cnt)
		put_hist(out, &l->delays.latencies);
	if (l->opts->worst)
		buf_addstr(out, "#\n# Longest run-queue intervals\n");
	for (size_t i = 0; i < l->worst.cnt; i++)
		put_worst(out, l, &l->worst.v[i]);
	return true;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_times(struct buf *out, const struct latency *l, uint64_t run_ns, uint64_t switches)
{
	if (is_timed(l, switches)) {
		json_u64s(out, { "run_ns", run_ns }, { "switches", switches });
	} else {
		json_null(out, "run_ns");
		json_null(out, "switches");
	}
}

static void json_row(struct buf *out, const struct latency *l, const struct runq_delays_row *r)
{
	const struct quantile *q = &r->latencies;

	json_object(out, NULL);
	if (l->opts->by == RUNQ_DELAYS_BY_CGROUP)
		value_text_json_name(out, "cgroup", l->report.timeline.names, r->cgroup);
	else
		value_text_json_name(out, "comm", l->report.timeline.names, r->comm);
	if (l->opts->by == RUNQ_DELAYS_BY_TID)
		value_text_json_id(out, "tid", r->tid);
	if (l->opts->by == RUNQ_DELAYS_BY_TID || l->opts->by == RUNQ_DELAYS_BY_PID)
		value_text_json_id(out, "pid", r->pid);
	json_times(out, l, r->run_ns, r->switches);
	json_u64s(out, { "intervals", q->cnt + r->cut }, { "cut", r->cut },
		  { "runnable_ns", r->wait_ns }, { "p50_ns", (uint64_t)rint(quantile_at(q, 0.5)) },
		  { "p99_ns", (uint64_t)rint(quantile_at(q, 0.99)) }, { "max_ns", r->max_ns },
		  { "max_start_ns", r->max_start });
	json_end(out, "}");
}

static void json_worst(struct buf *out, const struct latency *l, const struct runq_delays_worst *w)
{
	json_object(out, NULL);
	json_u64s(out, { "start_ns", w->start }, { "ns", w->ns });
	json_bool(out, "cut", w->flags & INTERVAL_CUT);
	value_text_json_name(out, "comm", l->report.timeline.names, w->comm);
	value_text_json_id(out, "tid", w->tid);
	value_text_json_id(out, "pid", w->pid);
	value_text_json_id(out, "cpu", w->cpu);
	interval_print_json_waker(out, "waker", &l->report.timeline, w->woken ? &w->waker : NULL);
	json_array(out, "ran_instead");
	for (size_t k = 0; k < w->sum.n; k++) {
		json_object(out, NULL);
		json_u64s(out, { "ns", w->preemptors[k].ns }, { "cpu", w->preemptors[k].cpu },
			  { "tid", w->preemptors[k].tid });
		value_text_json_name(out, "comm", l->report.timeline.names,
				     name_of(l, w, &w->preemptors[k]));
		json_end(out, "}");
	}
	json_end(out, "]");
	json_u64s(out, { "ran_instead_others_ns", w->sum.other_ns },
		  { "ran_instead_unknown_ns", w->sum.unknown_ns });
	interval_print_json_stack(out, &l->report.timeline, "stack", w->stack, CALLCHAIN_BOTH);
	json_end(out, "}");
}

static void put_json(struct buf *out, const void *report)
{
	const struct latency *l = report;
	const struct runq_delays *d = &l->delays;
	const size_t n = report_text_rows(l->opts->common.limit, 0, d->cnt);
	const struct offcpu_sums_print sums = sums_of(l);

	if (l->sums.cnt && !d->cnt) {
		offcpu_sums_print_latency_json(out, &sums);
		return;
	}
	json_times(out, l, d->run_ns, d->switches);
	json_u64(out, "runnable_ns", d->wait_ns);
	interval_print_json_unknown(out, &d->unknown);
	report_text_json_rows(out, d->cnt - n);
	for (size_t i = 0; i < n; i++) {
		json_line(out);
		json_row(out, l, &d->rows[i]);
	}
	json_end(out, "]");
	json_array(out, "worst");
	for (size_t i = 0; i < l->worst.cnt; i++) {
		json_line(out);
		json_worst(out, l, &l->worst.v[i]);
	}
	json_end(out, "]");
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int finish(void *report)
{
	struct latency *l = report;

	if (offcpu_sums_print_lacks("sched latency", &l->report.timeline,
				    l->opts->worst || l->opts->by == RUNQ_DELAYS_BY_CGROUP,
				    ", --worst and --by cgroup"))
		return CMD_USAGE;
	/* its threads would seem to do one thing all the while */
	if (!interval_reader_has_states(&l->report.timeline))
		reset_intervals(l);
	runq_delays_finish(&l->delays, l->report.timeline.names,
			   (enum runq_delays_order)l->opts->sort);
	runq_delays_heap_sort(&l->worst);
	if (l->sums.cnt && !l->delays.cnt)
		offcpu_sums_print_latency(&l->sums, l->opts->sort);
	l->report.found = l->report.rows = l->delays.cnt + l->sums.cnt;
	return CMD_OK;
}

static const struct interval_report_ops latency_ops = {
	.title = "run-queue latency",
	.what = "run-queue latency",
	.none = "No run-queue latency",
	.why_none = "no thread ran",
	.add_interval = add_interval,
	.add_event = add_sums,
	.reset = reset_sums,
	.finish = finish,
	.put_text = put_text,
	.put_json = put_json,
};

static int latency_file(const void *arg, const char *path)
{
	const struct latency_opts *opts = arg;
	struct latency l = { .report = { .ops = &latency_ops,
					 .opts = &opts->common,
					 .read.hide_recorder = !opts->common.include_self,
					 .read.no_stacks = !opts->worst },
			     .opts = opts,
			     .delays.by = (enum runq_delays_by)opts->by,
			     .worst.max = opts->worst,
			     .sums.by_comm = opts->by == RUNQ_DELAYS_BY_COMM };

	return interval_report_run(&l.report, path);
}

int sched_latency(int argc, char **argv)
{
	struct latency_opts opts = { .common.limit = REPORT_TEXT_LIMIT_UNSAID };

	return select_run(&latency_spec, argc, argv, &opts, &opts.common.sel, latency_file);
}
