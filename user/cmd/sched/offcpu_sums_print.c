// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traces of sums (--summary) as `sched latency` and `offcpu` show them. Owns the text; the sums are
 * profile/sums/offcpu_sums.c's. There are no single waits, so percentiles are bounds: powers of two.
 */
#include "cmd/sched/offcpu_sums_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/color.h"
#include "cmd/common/report_text.h"
#include "profile/sums/runq_delays.h"

enum { LATENCY_LIMIT = 30, BLOCKED_LIMIT = 20 };

void offcpu_sums_print_add(struct offcpu_sums *s, struct interval_reader *t,
			   const struct trace *trace, const struct trace_event *ev)
{
	struct names_task task = { .tid = TRACE_NONE,
				   .pid = ev->pid,
				   .comm = NAMES_NONE,
				   .exe = NAMES_NONE,
				   .cgroup = NAMES_NONE };
	const struct names_task *known;
	struct dial9_str name;

	if (ev->kind != TRACE_SUMMARY || !interval_reader_has_time(t, ev) ||
	    interval_reader_hides(t, ev->part, ev->pid, ev->pid))
		return;
	if (trace_str(trace, ev, ROLE_COMM, &name))
		task.comm = names_add(t->names, name.ptr, name.len);
	known = trace_task(trace, ev->pid);
	if (known)
		task.cgroup = known->cgroup;
	/* the CPU is unknown */
	if (select_match_task(&t->sel, t->names, &task, TRACE_NONE))
		offcpu_sums_add(s, t->names, trace, ev);
}

bool offcpu_sums_print_lacks(const char *word, const struct interval_reader *t, bool asked,
			     const char *options)
{
	const struct select_opts *sel = t->sel.opts;

	if (t->switches || !names_meta(t->names, 0, PROF_META_SUMMARY_NS) ||
	    !(asked || sel->tids.cnt || sel->cpus.cnt))
		return false;
	log_error("%s: %s has only sums per process (recorded with --summary); remove -t, -C%s",
		  word, reader_input(t->reader), options);
	return true;
}

/* ---- what both print --------------------------------------------------------------------------- */

static uint64_t average(const struct offcpu_sums_hist *h)
{
	return h->cnt ? h->sum_ns / h->cnt : 0;
}

static void put_process(struct buf *out, const struct offcpu_sums_print *p,
			const struct offcpu_sums_row *r)
{
	if (r->other) {
		buf_addstr(out, "(others)");
		return;
	}
	value_text_name(out, p->timeline->names, r->comm);
	if (!p->sums->by_comm)
		buf_printf(out, " %" PRIu32, r->pid);
}

static void put_head(struct buf *out, const struct offcpu_sums_print *p)
{
	const uint64_t period = names_meta_u64(p->timeline->names, 0, PROF_META_SUMMARY_NS);
	const uint64_t unknown = p->sums->all.unknown;

	buf_addstr(out, "# sums per process, recorded every ");
	value_text_duration(out, period, 0);
	buf_addstr(out, " (--summary); percentiles are upper bounds");
	if (unknown) {
		buf_addstr(out, "; ");
		str_counted(out, unknown, "interval");
		buf_addstr(out, " with unknown start not counted");
	}
	buf_addch(out, '\n');
}

static void flush(struct buf *out)
{
	fwrite(buf_cstr(out), 1, out->len, stdout);
	buf_clear(out);
}

static void json_process(struct buf *out, const struct offcpu_sums_print *p,
			 const struct offcpu_sums_row *r)
{
	if (r->other) {
		json_null(out, "comm");
		json_null(out, "pid");
		return;
	}
	value_text_json_name(out, "comm", p->timeline->names, r->comm);
	if (!p->sums->by_comm)
		value_text_json_id(out, "pid", r->pid);
}

static void json_rows(const struct offcpu_sums_print *p, struct buf *out,
		      void (*row)(struct buf *out, const struct offcpu_sums_print *p,
				  const struct offcpu_sums_row *r))
{
	const size_t n = report_text_rows(p->limit, 0, p->sums->cnt);

	report_text_json_rows(out, p->sums->cnt - n);
	for (size_t i = 0; i < n; i++) {
		json_line(out);
		row(out, p, &p->sums->rows[i]);
		json_flush(out, stdout);
	}
}

/* ---- waits for a CPU --------------------------------------------------------------------------- */

static double latency_weight(const struct offcpu_sums_row *r, int order)
{
	const struct offcpu_sums_hist *w = &r->hists[PROF_SUMMARY_WAIT];

	switch ((enum runq_delays_order)order) {
	case RUNQ_DELAYS_BY_MAX:
		return (double)w->max_ns;
	case RUNQ_DELAYS_BY_AVG:
		return (double)average(w);
	case RUNQ_DELAYS_BY_P99:
		return (double)offcpu_sums_at_most(w, 0.99);
	case RUNQ_DELAYS_BY_RUNTIME:
		return (double)r->hists[PROF_SUMMARY_RUN].sum_ns;
	case RUNQ_DELAYS_BY_SWITCHES:
		return (double)r->hists[PROF_SUMMARY_RUN].cnt;
	case RUNQ_DELAYS_BY_WAIT:
		return (double)w->sum_ns;
	}
	return 0;
}

void offcpu_sums_print_latency(struct offcpu_sums *s, int order)
{
	offcpu_sums_sort(s, latency_weight, order);
}

static void put_latency(struct buf *out, const struct offcpu_sums_print *p,
			const struct offcpu_sums_row *r)
{
	const struct offcpu_sums_hist *run = &r->hists[PROF_SUMMARY_RUN];
	const struct offcpu_sums_hist *w = &r->hists[PROF_SUMMARY_WAIT];

	value_text_duration(out, run->sum_ns, 11);
	buf_printf(out, " %9" PRIu64 " %9" PRIu64 " %7" PRIu64 " ", run->cnt, r->involuntary,
		   w->cnt);
	value_text_duration(out, w->sum_ns, 11);
	value_text_duration(out, average(w), 11);
	value_text_duration(out, offcpu_sums_at_most(w, 0.5), 11);
	value_text_duration(out, offcpu_sums_at_most(w, 0.99), 11);
	value_text_duration(out, w->max_ns, 11);
	buf_addstr(out, "  ");
	put_process(out, p, r);
	buf_addch(out, '\n');
}

void offcpu_sums_print_latency_text(struct buf *out, const struct offcpu_sums_print *p)
{
	const size_t n = report_text_rows(p->limit, LATENCY_LIMIT, p->sums->cnt);

	put_head(out, p);
	buf_addstr(out, "#\n#   Runtime  Switches Preempted   Count       Total        Avg"
			"     P50 <=     P99 <=        Max  Process\n");
	for (size_t i = 0; i < n; i++)
		put_latency(out, p, &p->sums->rows[i]);
	report_text_more_rows(out, p->sums->cnt - n, "");
	if (p->hist) {
		buf_addstr(out, "#\n# Histogram of all run-queue intervals\n");
		report_text_powers(out, p->sums->all.hists[PROF_SUMMARY_WAIT].powers, 12, 10);
	}
}

static void json_latency(struct buf *out, const struct offcpu_sums_print *p,
			 const struct offcpu_sums_row *r)
{
	const struct offcpu_sums_hist *run = &r->hists[PROF_SUMMARY_RUN];
	const struct offcpu_sums_hist *w = &r->hists[PROF_SUMMARY_WAIT];

	json_object(out, NULL);
	json_process(out, p, r);
	json_u64s(out, { "run_ns", run->sum_ns }, { "switches", run->cnt },
		  { "involuntary", r->involuntary }, { "intervals", w->cnt },
		  { "unknown", r->unknown }, { "runnable_ns", w->sum_ns },
		  { "p50_at_most_ns", offcpu_sums_at_most(w, 0.5) },
		  { "p99_at_most_ns", offcpu_sums_at_most(w, 0.99) }, { "max_ns", w->max_ns });
	report_text_json_powers(out, w->powers);
	json_end(out, "}");
}

void offcpu_sums_print_latency_json(struct buf *out, const struct offcpu_sums_print *p)
{
	const struct offcpu_sums_row *all = &p->sums->all;

	json_u64(out, "summary_ns", names_meta_u64(p->timeline->names, 0, PROF_META_SUMMARY_NS));
	json_u64s(out, { "run_ns", all->hists[PROF_SUMMARY_RUN].sum_ns },
		  { "runnable_ns", all->hists[PROF_SUMMARY_WAIT].sum_ns },
		  { "switches", all->hists[PROF_SUMMARY_RUN].cnt },
		  { "unknown_intervals", all->unknown });
	json_rows(p, out, json_latency);
	json_end(out, "]");
	json_array(out, "worst");
	json_end(out, "]");
}

/* ---- blocked time ------------------------------------------------------------------------------ */

static double blocked_weight(const struct offcpu_sums_row *r, int order)
{
	return (double)r->hists[PROF_SUMMARY_BLOCKED].sum_ns;
}

void offcpu_sums_print_blocked(struct offcpu_sums *s)
{
	offcpu_sums_sort(s, blocked_weight, 0);
}

static void put_blocked(struct buf *out, const struct offcpu_sums_print *p,
			const struct offcpu_sums_row *r)
{
	const struct offcpu_sums_hist *h = &r->hists[PROF_SUMMARY_BLOCKED];
	const struct blocked_row as = { .ns = h->sum_ns,
					.cnt = h->cnt ? h->cnt : 1,
					.max_ns = h->max_ns };

	interval_print_sums(out, &as, p->sums->all.hists[PROF_SUMMARY_BLOCKED].sum_ns, p->color);
	buf_addstr(out, "  ");
	put_process(out, p, r);
	buf_addch(out, '\n');
	if (!p->hist)
		return;
	report_text_powers(out, h->powers, 22, 8);
	buf_addch(out, '\n');
}

void offcpu_sums_print_blocked_text(struct buf *out, const struct offcpu_sums_print *p)
{
	const struct offcpu_sums_hist *all = &p->sums->all.hists[PROF_SUMMARY_BLOCKED];
	const size_t n = report_text_rows(p->limit, BLOCKED_LIMIT, p->sums->cnt);
	size_t shown = 0;

	put_head(out, p);
	buf_addstr(out, "# ");
	str_counted(out, all->cnt, "off-CPU interval");
	buf_addstr(out, ", ");
	value_text_duration(out, all->sum_ns, 0);
	buf_addstr(out, " in total\n#\n#      Time    Share    Count        Avg        Max\n");
	for (size_t i = 0; i < n; i++) {
		/* the last rows: those that never were blocked */
		if (!p->sums->rows[i].hists[PROF_SUMMARY_BLOCKED].cnt)
			continue;
		put_blocked(out, p, &p->sums->rows[i]);
		shown++;
		flush(out);
	}
	report_text_more_rows(out, shown == n ? p->sums->cnt - n : 0, " with less time");
}

static void json_blocked(struct buf *out, const struct offcpu_sums_print *p,
			 const struct offcpu_sums_row *r)
{
	const struct offcpu_sums_hist *h = &r->hists[PROF_SUMMARY_BLOCKED];

	json_object(out, NULL);
	json_u64s(out, { "ns", h->sum_ns }, { "intervals", h->cnt }, { "max_ns", h->max_ns });
	json_process(out, p, r);
	report_text_json_powers(out, h->powers);
	json_end(out, "}");
}

void offcpu_sums_print_blocked_json(struct buf *out, const struct offcpu_sums_print *p)
{
	const struct offcpu_sums_hist *all = &p->sums->all.hists[PROF_SUMMARY_BLOCKED];

	json_u64(out, "summary_ns", names_meta_u64(p->timeline->names, 0, PROF_META_SUMMARY_NS));
	json_u64s(out, { "intervals", all->cnt }, { "ns", all->sum_ns },
		  { "unknown_intervals", p->sums->all.unknown });
	json_rows(p, out, json_blocked);
	json_end(out, "]");
}
