// SPDX-License-Identifier: BSD-2-Clause
/* `dial9-prof explain` in words: a table of the threads, then what the one did, in order of time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cmd/common/callchain.h"
#include "cmd/common/report_text.h"
#include "cmd/explain/explain.h"

/* Columns of the times in front of the story, functions of a stack, and columns that a table with exact times needs. */
enum { TIMES = 14, FRAMES_MAX = 16, EXACT_FROM = 100 };

uint32_t explain_print_comm(const struct explained *x, uint32_t part, uint32_t tid, uint32_t comm)
{
	const struct explain_thread *th = explain_thread(&x->numbers, tid);
	uint32_t pid = TRACE_NONE;

	if (comm == NAMES_NONE && th)
		comm = th->comm;
	names_task_fill(x->timeline.names, part, tid, &pid, &comm);
	return comm;
}

void explain_print_name(struct buf *out, const struct explained *x, uint32_t comm, uint32_t tid)
{
	const struct explain_thread *th = explain_thread(&x->numbers, tid);

	if (comm == NAMES_NONE && th)
		comm = th->comm;
	value_text_name(out, x->timeline.names, comm);
	buf_addch(out, ' ');
	buf_addu(out, tid);
}

static void put_waker(struct buf *out, const struct explained *x, const struct explain_piece *p)
{
	buf_addstr(out, ", woken by ");
	interval_print_waker(out, &x->timeline, &p->waker);
	if (explain_waker_tid(p)) {
		buf_addch(out, ' ');
		buf_addu(out, p->waker.tid);
	}
	if (p->waker.cpu != TRACE_NONE) {
		buf_addstr(out, " on CPU ");
		buf_addu(out, p->waker.cpu);
	}
}

static void put_frames(struct buf *out, const struct explained *x, const uint64_t *frames,
		       uint32_t cnt, size_t indent)
{
	callchain_lines(out, x->timeline.names, frames, cnt < FRAMES_MAX ? cnt : FRAMES_MAX,
			CALLCHAIN_BOTH, indent, x->view.width);
	if (cnt <= FRAMES_MAX)
		return;
	buf_fill(out, ' ', indent);
	buf_printf(out, "... %" PRIu32 " more\n", cnt - FRAMES_MAX);
}

static void put_stack(struct buf *out, const struct explained *x, uint32_t stack, size_t indent)
{
	uint32_t cnt;
	const uint64_t *frames = intervals_stack(x->timeline.intervals, stack, &cnt);

	put_frames(out, x, frames, cnt, indent);
}

/* " in 14 pieces", or where and why of the only one. */
static void put_pieces(struct buf *out, uint64_t n)
{
	buf_addstr(out, " in ");
	str_counted(out, n, "interval");
}

static void put_edges(struct buf *out, const struct explain_piece *p)
{
	if (p->flags & INTERVAL_EDGE_START)
		buf_addstr(out, ", started before the recording");
	if (p->flags & INTERVAL_EDGE_END)
		buf_addstr(out, ", not ended in the recording");
}

static void put_cpu(struct buf *out, const char *how, uint32_t cpu)
{
	if (cpu == TRACE_NONE)
		return;
	buf_addstr(out, how);
	buf_addu(out, cpu);
}

/* ---- the four things that a thread can do -------------------------------------------------------- */

static void put_running(struct buf *out, const struct explained *x, const struct explain_step *s,
			size_t indent)
{
	const struct explain_piece *p = s->longest[INTERVAL_RUNNING];
	const uint64_t n = s->cnt[INTERVAL_RUNNING];
	uint32_t cnt;
	const uint64_t *frames;

	buf_addstr(out, "ran ");
	value_text_duration(out, s->ns[INTERVAL_RUNNING], 0);
	if (n > 1) {
		put_pieces(out, n);
	} else {
		put_cpu(out, " on CPU ", p->cpu);
		put_edges(out, p);
	}
	if (s->samples) {
		buf_addstr(out, "; ");
		str_counted(out, s->samples, "sample");
		if (s->samples > 1)
			buf_printf(out, ", %" PRIu64 " of them here", s->hottest_cnt);
	}
	buf_addch(out, '\n');
	frames = stack_table_get(&x->numbers.stacks, s->hottest, &cnt);
	put_frames(out, x, frames, cnt, indent + 2);
}

static void put_why(struct buf *out, const struct explained *x, const struct explain_piece *p)
{
	if (p->why == INTERVAL_WHY_PREEMPTED)
		buf_addstr(out, ", preempted in the kernel");
	else if (p->why == INTERVAL_WHY_RESCHED)
		buf_addstr(out, ", time slice over or yielded");
	else if (p->why == INTERVAL_WHY_NEW)
		buf_addstr(out, ", new thread");
	else if (p->why == INTERVAL_WHY_WOKEN_EARLY && p->woken)
		put_waker(out, x, p);
	put_edges(out, p);
}

static void put_others(struct buf *out, const char *behind, uint64_t ns, size_t indent)
{
	if (!ns)
		return;
	buf_fill(out, ' ', indent);
	buf_printf(out, "%s ", behind);
	value_text_duration(out, ns, 0);
	buf_addch(out, '\n');
}

void explain_print_own_switches(struct buf *out, const struct explained *x, uint32_t part,
				const struct explain_own_switches *own, const char *before,
				const char *after)
{
	const struct {
		const char *words;
		uint32_t tid;
	} seen[] = { { "replaced by: ", own->replaced_by },
		     { "ran before it returned: ", own->ran_before_return } };

	for (size_t k = 0; k < 2; k++) {
		const uint32_t tid = seen[k].tid;

		if (tid == TRACE_NONE)
			continue;
		buf_addstr(out, before);
		buf_addstr(out, seen[k].words);
		if (tid)
			explain_print_name(out, x, explain_print_comm(x, part, tid, NAMES_NONE),
					   tid);
		else
			buf_addstr(out, "idle");
		buf_addstr(out, after);
	}
}

static void put_behind(struct buf *out, const struct explained *x, const struct explain_step *s,
		       size_t indent)
{
	const uint32_t part = s->longest[INTERVAL_RUNNABLE]->part;
	const struct explain_own_switches own = explain_own_switches(s);
	struct buf before = { 0 };

	for (size_t k = 0; k < s->preemptor_cnt; k++) {
		const struct interval_preemptor *r = &s->preemptors[k];

		buf_fill(out, ' ', indent);
		buf_addstr(out, r->tid ? "ran instead: " : "CPU idle");
		if (r->tid)
			explain_print_name(out, x, explain_print_comm(x, part, r->tid, r->comm),
					   r->tid);
		buf_addch(out, ' ');
		value_text_duration(out, r->ns, 0);
		buf_addch(out, '\n');
	}
	if (s->preemptor_cnt)
		put_others(out, "ran instead: others", s->other_ns, indent);
	put_others(out, interval_print_unknown_task(&x->timeline, part), s->unknown_ns, indent);
	buf_fill(&before, ' ', indent);
	explain_print_own_switches(out, x, part, &own, buf_cstr(&before), "\n");
	buf_free(&before);
}

static void put_waiting(struct buf *out, const struct explained *x, const struct explain_step *s,
			size_t indent)
{
	const struct explain_piece *p = s->longest[INTERVAL_RUNNABLE];
	const uint64_t n = s->cnt[INTERVAL_RUNNABLE];

	buf_addstr(out, "runnable ");
	value_text_duration(out, s->ns[INTERVAL_RUNNABLE], 0);
	if (n > 1) {
		put_pieces(out, n);
	} else {
		put_cpu(out, " on CPU ", p->cpu);
		put_why(out, x, p);
	}
	buf_addch(out, '\n');
	put_behind(out, x, s, indent + 2);
}

static void put_parts(struct buf *out, const struct explained *x, const struct explain_step *s,
		      size_t indent, uint64_t depth);

/* What the waker did while the other was blocked. */
static void put_meanwhile(struct buf *out, const struct explained *x, const struct explain_piece *p,
			  uint64_t from, uint64_t to, size_t indent, uint64_t depth)
{
	const uint32_t by = explain_waker_tid(p);
	struct explain_step s = { 0 };

	if (!depth || !by || by == p->tid || !explain_range(&x->numbers, p->part, by, from, to, &s))
		return;
	buf_fill(out, ' ', indent);
	buf_addstr(out, "during that time ");
	explain_print_name(out, x, p->waker.comm, by);
	buf_addstr(out, ":\n");
	buf_fill(out, ' ', indent + 2);
	put_parts(out, x, &s, indent + 2, depth - 1);
}

static void put_blocked(struct buf *out, const struct explained *x, const struct explain_step *s,
			size_t indent, uint64_t depth)
{
	const struct explain_piece *p = s->longest[INTERVAL_BLOCKED];
	const uint64_t n = s->cnt[INTERVAL_BLOCKED];
	uint64_t from, to;

	buf_addstr(out, "blocked ");
	value_text_duration(out, s->ns[INTERVAL_BLOCKED], 0);
	explain_within(s, p, &from, &to);
	if (n > 1) {
		put_pieces(out, n);
		buf_addstr(out, ", the longest ");
		value_text_duration(out, to - from, 0);
	}
	if (!(p->flags & INTERVAL_EDGE_START))
		buf_printf(out, " (%c)", interval_letter(p->prev_state));
	if (p->woken)
		put_waker(out, x, p);
	put_edges(out, p);
	buf_addch(out, '\n');
	put_stack(out, x, p->stack, indent + 2);
	if (p->woken && p->waker.stack != INTERVAL_NO_STACK && explain_waker_tid(p)) {
		buf_fill(out, ' ', indent);
		buf_addstr(out, "waker stack\n");
		put_stack(out, x, p->waker.stack, indent + 2);
	}
	put_meanwhile(out, x, p, from, to, indent, depth);
}

static void put_unknown(struct buf *out, const struct explained *x, const struct explain_step *s,
			size_t indent)
{
	const struct explain_piece *p = s->longest[INTERVAL_UNKNOWN];
	struct buf line = { 0 };

	buf_addstr(&line, "unknown for ");
	value_text_duration(&line, s->ns[INTERVAL_UNKNOWN], 0);
	if (p->flags & (INTERVAL_NEIGHBOUR | INTERVAL_ELSEWHERE))
		buf_addstr(&line, ": not recorded");
	else if (interval_is_unsure(p->flags))
		buf_addstr(&line, ": runnable or blocked, wakeup not recorded");
	else
		buf_addstr(&line, ": missing events");
	color_put(out, x->view.color, COLOR_WARN, buf_cstr(&line), line.len);
	buf_addch(out, '\n');
	buf_free(&line);
	if (interval_is_unsure(p->flags))
		put_stack(out, x, p->stack, indent + 2);
}

/* All that was done in a step; the first line is indented already. */
static void put_parts(struct buf *out, const struct explained *x, const struct explain_step *s,
		      size_t indent, uint64_t depth)
{
	static const enum interval_state order[] = { INTERVAL_RUNNING, INTERVAL_RUNNABLE,
						     INTERVAL_BLOCKED, INTERVAL_UNKNOWN };
	bool first = true;

	for (size_t k = 0; k < INTERVAL_STATE_CNT; k++) {
		if (!s->cnt[order[k]])
			continue;
		buf_fill(out, ' ', first ? 0 : indent);
		first = false;
		if (order[k] == INTERVAL_RUNNING)
			put_running(out, x, s, indent);
		else if (order[k] == INTERVAL_RUNNABLE)
			put_waiting(out, x, s, indent);
		else if (order[k] == INTERVAL_BLOCKED)
			put_blocked(out, x, s, indent, depth);
		else
			put_unknown(out, x, s, indent);
	}
}

/* ---- the whole ----------------------------------------------------------------------------------- */

void explain_print_ms(struct buf *out, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
	buf_printf(out, " %14s", text);
}

static bool is_exact(const struct explained *x)
{
	return !x->view.width || x->view.width >= EXACT_FROM;
}

void explain_print_times(struct buf *out, const struct explained *x,
			 const uint64_t ns[INTERVAL_STATE_CNT], uint64_t absent)
{
	const uint64_t all[] = { ns[INTERVAL_RUNNING], ns[INTERVAL_RUNNABLE], ns[INTERVAL_BLOCKED],
				 ns[INTERVAL_UNKNOWN], absent };

	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		if (is_exact(x))
			explain_print_ms(out, all[k]);
		else
			value_text_duration(out, all[k], 11);
}

void explain_print_times_head(struct buf *out, const struct explained *x, const char *noun)
{
	buf_addstr(out, is_exact(x) ? "#    Running ms    Runnable ms     Blocked ms     Unknown ms"
				      "      Absent ms" :
				      "#   Running   Runnable    Blocked    Unknown     Absent");
	buf_printf(out, "  %s\n", noun);
}

void explain_print_end(struct buf *out, const struct explained *x, size_t start)
{
	struct buf line = { 0 };

	if (x->view.width) {
		buf_add(&line, buf_cstr(out) + start, out->len - start);
		out->len = start;
		report_text_fit(out, buf_cstr(&line), line.len, x->view.width);
		buf_free(&line);
	}
	buf_addch(out, '\n');
}

void explain_print_window(struct buf *out, uint64_t from, uint64_t to)
{
	buf_printf(out, "from %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 ":",
		   from / 1000000000, from % 1000000000, to / 1000000000, to % 1000000000);
	explain_print_ms(out, to - from);
	buf_addstr(out, " ms\n");
}

static void put_table(struct buf *out, const struct explained *x)
{
	const uint64_t span = x->to - x->from;
	const size_t limit = report_text_rows(x->opts->limit, 0, x->thread_cnt);

	explain_print_times_head(out, x, "thread");
	for (size_t k = 0; k < limit; k++) {
		const struct explain_thread *th = x->threads[k];
		const size_t start = out->len;
		uint64_t there = 0;

		for (int state = 0; state < INTERVAL_STATE_CNT; state++)
			there += th->ns[state];
		explain_print_times(out, x, th->ns, span > there ? span - there : 0);
		buf_addstr(out, "  ");
		explain_print_name(out, x, th->comm, th->tid);
		explain_print_end(out, x, start);
	}
	if (limit == x->thread_cnt)
		return;
	buf_addstr(out, "# ");
	str_counted(out, x->thread_cnt - limit, "more thread");
	buf_addstr(out, " with less runtime: --limit 0 shows all\n");
}

static void put_head(struct buf *out, const struct explained *x)
{
	struct buf what = { 0 };

	buf_addstr(&what, "what ");
	explain_print_name(&what, x, x->thread->comm, x->thread->tid);
	buf_addstr(&what, " did");
	interval_print_head(out, &x->timeline, buf_cstr(&what), x->view.color);
	buf_free(&what);
	buf_addstr(out, "# ");
	explain_print_window(out, x->from, x->to);
	buf_addstr(out, "#\n");
}

void explain_print_at(struct buf *out, uint64_t ns)
{
	buf_addstr(out, "\n+");
	value_text_duration(out, ns, TIMES - 3);
	buf_addstr(out, "  ");
}

void explain_print_sample(struct buf *out, const struct explained *x,
			  const struct explain_sample *sample)
{
	uint32_t cnt;
	const uint64_t *frames = stack_table_get(&x->numbers.stacks, sample->stack, &cnt);

	put_frames(out, x, frames, cnt, TIMES + 2);
}

void explain_print_timeline(struct buf *out, const struct explained *x)
{
	for (size_t k = 0; k < x->step_cnt; k++) {
		const struct explain_step *s = &x->steps[k];

		explain_print_at(out, s->from - x->from);
		put_parts(out, x, s, TIMES, x->opts->depth);
	}
	if (!x->numbers.dropped_from || x->numbers.dropped_from >= x->to)
		return;
	buf_addstr(out,
		   "\n# incomplete: too many events in this time range; intervals missing from +");
	value_text_duration(
		out, x->numbers.dropped_from > x->from ? x->numbers.dropped_from - x->from : 0, 0);
	buf_addstr(out, "; use a shorter --time\n");
}

void explain_print(const struct explained *x)
{
	const char *file = reader_input(x->timeline.reader);
	struct buf out = { 0 };

	if (!x->thread) {
		if (!interval_reader_has_states(&x->timeline))
			printf("Nothing to explain of %s %" PRIu32 " in %s: %s.\n",
			       x->opts->tid ? "thread" : "thread or process", x->id, file,
			       interval_print_no_switches(&x->timeline));
		return;
	}
	put_head(&out, x);
	put_table(&out, x);
	explain_print_timeline(&out, x);
	buf_print(&out, stdout);
}
