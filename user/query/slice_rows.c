// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table `slices`: what each thread did, and when. Owns the engine of a scan and the rows between the engine's
 * callback and the reader of the table. Properties of a row that cost time are computed only if the query reads their columns.
 *
 * A running interval in which the thread became another program is a row for each program, as in report.
 */
#include "query/slice_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/sums/off_stack.h"

/* clang-format off */
#define SLICE_COLUMNS(X) \
	X(DUR, dur, INTEGER, NONE, "duration in ns") \
	X(TID, tid, INTEGER, TID, "thread") \
	X(PID, pid, INTEGER, PID, "process") \
	X(COMM, comm, TEXT, NONE, "name of the thread at that time") \
	X(CGROUP, cgroup, TEXT, NONE, "path of the control group") \
	X(CPU, cpu, INTEGER, NONE, "running: the CPU; runnable: of the run queue; blocked: CPU that it left") \
	X(STATE, state, TEXT, WORD, "running, runnable, blocked or unknown") \
	X(TASK_STATE, task_state, TEXT, NONE, "blocked: letter as in ps, for example S or D; NULL: unknown") \
	X(WHY, why, TEXT, NONE, "why it became runnable: woken, woken_early, preempted, resched or new") \
	X(END, end, TEXT, NONE, "how it ended: cpu, wakeup, block, preempted, resched, exec, exit; open: it did not") \
	X(WAKER, waker, TEXT, NONE, "what woke the thread: task, timer, softirq, irq, ipi or unknown") \
	X(WAKER_TID, waker_tid, INTEGER, NONE, "thread that woke it, or was interrupted to do so") \
	X(WAKER_COMM, waker_comm, TEXT, NONE, "name of that thread") \
	X(WAKER_STACK, waker_stack, INTEGER, NONE, "stack of the wakeup") \
	X(STACK, stack, INTEGER, NONE, "stack of its switch-out; NULL: running or unknown") \
	X(RAN_TID, ran_tid, INTEGER, NONE, "runnable: thread that ran instead the longest; 0: idle CPU") \
	X(RAN_COMM, ran_comm, TEXT, NONE, "its name") \
	X(RAN_CGROUP, ran_cgroup, TEXT, NONE, "its control group") \
	X(RAN_NS, ran_ns, INTEGER, NONE, "for how long it ran instead") \
	X(CUT, cut, INTEGER, NONE, "1: may be a fragment: a loss, or an end of the recording") \
	X(LOSS, loss, INTEGER, NONE, "1: events are missing during it") \
	X(UNKNOWN, unknown, INTEGER, NONE, "1: the state is not known") \
	X(UNSURE, unsure, INTEGER, NONE, "1: of unknown ones: off the CPU, runnable or blocked") \
	X(RECORDER, recorder, INTEGER, NONE, "1: thread of the recorder or its helpers")
/* clang-format on */

enum slice_column {
	COLUMN_BEFORE = SCAN_OWN - 1,
#define COLUMN(id, name, type, role, doc) COLUMN_##id,
	SLICE_COLUMNS(COLUMN)
#undef COLUMN
		COLUMN_CNT,
};

static const struct scan_column columns[] = { SCAN_COLUMNS,
#define COLUMN(id, name, type, role, doc) { #name, #type, doc, SCAN_ROLE_##role },
					      SLICE_COLUMNS(COLUMN)
#undef COLUMN
};

static const char *const states[INTERVAL_STATE_CNT] = {
	[INTERVAL_UNKNOWN] = "unknown",
	[INTERVAL_RUNNING] = "running",
	[INTERVAL_RUNNABLE] = "runnable",
	[INTERVAL_BLOCKED] = "blocked",
};

/* One row. */
struct slice_rows_row {
	uint64_t start, ns;
	uint32_t part, tid, pid, comm, cgroup, cpu, prev_state;
	unsigned int flags;
	enum interval_state state;
	enum interval_why why;
	const char *end;
	bool woken, recorder, ran;
	struct interval_waker waker;
	int64_t stack, waker_stack;
	uint32_t ran_tid, ran_comm, ran_cgroup;
	uint64_t ran_ns;
};

struct slice_rows {
	struct intervals *engine;
	struct slice_rows_row *rows;
	size_t cnt, cap, at; /* rows from at on are not returned yet */
	struct slice_rows_row now;
	struct off_stack off_stack;
	bool tasks, stacks, wakers, preemptors, recorder; /* properties that are read */
	bool wanted[INTERVAL_STATE_CNT];
	bool finished;
};

/* ---- rows --------------------------------------------------------------------------------------- */

static const char *waker_word(enum interval_context context)
{
	switch (context) {
	case INTERVAL_BY_TASK:
		return "task";
	case INTERVAL_BY_TIMER:
		return "timer";
	case INTERVAL_BY_SOFTIRQ:
		return "softirq";
	case INTERVAL_BY_HARDIRQ:
		return "irq";
	case INTERVAL_BY_IPI:
		return "ipi";
	case INTERVAL_BY_UNKNOWN:
		break;
	}
	return "unknown";
}

/* The names of the interval; for unknown ones the current or first names of its thread. */
static void set_task(struct scan *s, const struct interval *i, struct slice_rows_row *row)
{
	const struct names_task *first = names_task_first(s->in->names, i->part, i->tid);
	const struct names_task *known = NULL;

	if (i->part == s->ev->part)
		known = trace_task(s->trace, i->tid);
	if (!known || (!known->recorded && first))
		known = first;
	if (!known)
		return;
	row->cgroup = known->cgroup;
	if (row->pid == NAMES_NONE)
		row->pid = known->pid;
	if (row->comm == NAMES_NONE)
		row->comm = known->comm;
}

static int64_t stack_number(struct scan *s, uint32_t stack)
{
	const struct slice_rows *r = s->state;
	const uint64_t *frames;
	uint32_t cnt;

	if (!r->stacks || stack == INTERVAL_NO_STACK)
		return -1;
	frames = intervals_stack(r->engine, stack, &cnt);
	return trace_input_add_stack(s->in, frames, cnt);
}

static void set_preemptor(const struct scan *s, const struct interval *i,
			  struct slice_rows_row *row)
{
	const struct slice_rows *r = s->state;
	const struct names_task *task;
	struct interval_preemptor one;

	if (i->state != INTERVAL_RUNNABLE || !intervals_preemptors(r->engine, i, &one, 1).n)
		return;
	row->ran = true;
	row->ran_tid = one.tid;
	row->ran_comm = one.comm;
	task = names_task_first(s->in->names, i->part, one.tid);
	row->ran_cgroup = task ? task->cgroup : NAMES_NONE;
	row->ran_ns = one.ns;
}

static void set_details(struct scan *s, const struct interval *i, uint32_t stack,
			struct slice_rows_row *row)
{
	const struct slice_rows *r = s->state;

	row->stack = stack_number(s, stack);
	row->waker_stack = -1;
	if (i->waker && r->wakers) {
		row->woken = true;
		row->waker = *i->waker;
		row->waker_stack = stack_number(s, i->waker->stack);
	}
	if (r->preemptors)
		set_preemptor(s, i, row);
	if (r->recorder)
		row->recorder = recorder_tasks_has(&s->in->recorder, s->trace, s->in->names,
						   s->ev->part, i->part, i->pid);
}

static void add_row(struct slice_rows *r, const struct slice_rows_row *row)
{
	if (r->at == r->cnt)
		r->at = r->cnt = 0;
	r->rows = array_reserve(r->rows, &r->cap, r->cnt + 1, sizeof(*r->rows));
	r->rows[r->cnt++] = *row;
}

static void add_piece(struct scan *s, const struct slice_rows_row *whole, uint64_t from,
		      uint64_t to)
{
	struct slice_rows_row row = *whole;

	row.start = from;
	row.ns = to > from ? to - from : 0;
	if (scan_wants(s, row.part, row.start, row.pid, row.tid))
		add_row(s->state, &row);
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct scan *s = ctx;
	struct slice_rows *r = s->state;
	struct slice_rows_row row = { .part = i->part,
				      .tid = i->tid,
				      .pid = i->pid,
				      .comm = i->comm,
				      .cgroup = NAMES_NONE,
				      .cpu = i->cpu,
				      .prev_state = i->prev_state,
				      .flags = i->flags,
				      .state = i->state,
				      .why = i->why };
	const uint32_t stack = r->stacks ? off_stack_of(&r->off_stack, i) : INTERVAL_NO_STACK;
	struct interval piece;
	uint32_t comm;

	/* Nothing is known of a thread that is no target, except when targets ran. Without switches each thread would
	 * appear to stay in one state. */
	if (!r->wanted[i->state] || i->flags & INTERVAL_NEIGHBOUR ||
	    (i->end_by == INTERVAL_TO_NOTHING && !trace_input_part(s->in, i->part)->switches))
		return;
	if (r->tasks)
		set_task(s, i, &row);
	/* a later piece of it may be in the time range */
	if (!i->exec_cnt && !scan_wants(s, i->part, i->start, row.pid, row.tid))
		return;
	set_details(s, i, stack, &row);
	comm = row.comm;
	for (uint32_t k = 0; interval_piece(i, k, &piece); k++) {
		const bool last = k == i->exec_cnt;

		row.comm = last ? comm : piece.comm;
		row.end = last ? interval_end_word(i->end_by) : "exec";
		add_piece(s, &row, piece.start, piece.end);
	}
}

/* ---- the scan ----------------------------------------------------------------------------------- */

static bool uses_any(const struct scan *s, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++)
		if (scan_filter_uses(&s->filter, i))
			return true;
	return false;
}

static void begin_slices(struct scan *s)
{
	struct slice_rows *r = s->state;

	r->engine = intervals_new(&(struct intervals_opts){ s->in->names, add_interval, s });
	intervals_copy_gaps(r->engine, s->in->gaps);
	r->tasks = uses_any(s, COLUMN_PID, COLUMN_CGROUP) || s->filter.has_pid;
	r->stacks = uses_any(s, COLUMN_WAKER_STACK, COLUMN_STACK);
	r->wakers = uses_any(s, COLUMN_WAKER, COLUMN_WAKER_STACK);
	r->preemptors = uses_any(s, COLUMN_RAN_TID, COLUMN_RAN_NS);
	r->recorder = uses_any(s, COLUMN_RECORDER, COLUMN_RECORDER);
	for (int i = 0; i < INTERVAL_STATE_CNT; i++)
		r->wanted[i] = !s->filter.has_word || !strcmp(s->filter.word, states[i]);
	if (r->stacks)
		return;
	intervals_skip_stacks(r->engine);
	s->skip.stacks = true;
}

static bool add_event(struct scan *s, const struct trace_event *ev)
{
	const struct slice_rows *r = s->state;

	intervals_add(r->engine, s->trace, ev);
	return false;
}

static void end_slices(struct scan *s)
{
	struct slice_rows *r = s->state;

	intervals_finish(r->engine);
	intervals_free(r->engine);
	r->engine = NULL;
	/* threads of the next trace may have the same numbers */
	off_stack_fini(&r->off_stack);
	r->off_stack = (struct off_stack){ 0 };
}

static bool next_slice(struct scan *s)
{
	struct slice_rows *r = s->state;

	if (r->at == r->cnt)
		return false;
	r->now = r->rows[r->at++];
	s->part = r->now.part;
	s->ts = r->now.start;
	return true;
}

static void fini_slices(struct scan *s)
{
	struct slice_rows *r = s->state;

	intervals_free(r->engine);
	off_stack_fini(&r->off_stack);
	free(r->rows);
}

static void set_letter(struct scan *s, const struct slice_rows_row *row, struct query_value *out)
{
	const char letter = interval_blocked_letter(row->flags, row->prev_state);

	if (row->state != INTERVAL_BLOCKED || letter == '?')
		return;
	buf_clear(&s->text);
	buf_addch(&s->text, letter);
	scan_value_built(s, out);
}

static void set_waker(const struct scan *s, const struct slice_rows_row *row,
		      enum slice_column column, struct query_value *out)
{
	if (!row->woken)
		return;
	if (column == COLUMN_WAKER)
		query_value_word(out, waker_word(row->waker.context));
	else if (column == COLUMN_WAKER_TID)
		scan_value_id(out, row->waker.tid);
	else if (column == COLUMN_WAKER_COMM)
		scan_value_string(s, out, row->waker.comm);
	else
		scan_value_stack(out, row->waker_stack);
}

static void set_ran(const struct scan *s, const struct slice_rows_row *row,
		    enum slice_column column, struct query_value *out)
{
	if (!row->ran)
		return;
	if (column == COLUMN_RAN_TID)
		scan_value_id(out, row->ran_tid);
	else if (column == COLUMN_RAN_COMM)
		scan_value_string(s, out, row->ran_comm);
	else if (column == COLUMN_RAN_CGROUP)
		scan_value_string(s, out, row->ran_cgroup);
	else
		query_value_integer(out, (int64_t)row->ran_ns);
}

static void set_flag(const struct slice_rows_row *row, enum slice_column column,
		     struct query_value *out)
{
	const unsigned int flags = row->flags;
	const bool unknown = row->state == INTERVAL_UNKNOWN;

	if (column == COLUMN_CUT)
		query_value_integer(out, (flags & INTERVAL_CUT) != 0);
	else if (column == COLUMN_LOSS)
		query_value_integer(out, (flags & (INTERVAL_LOSS | INTERVAL_HOLE)) != 0);
	else if (column == COLUMN_UNKNOWN)
		query_value_integer(out, unknown);
	else if (column == COLUMN_UNSURE)
		query_value_integer(out, unknown && interval_is_unsure(flags));
	else
		query_value_integer(out, row->recorder);
}

static void slice_column(struct scan *s, size_t column, struct query_value *out)
{
	const struct slice_rows_row *row = &((struct slice_rows *)s->state)->now;
	const enum slice_column c = (enum slice_column)column;

	if (c == COLUMN_DUR)
		query_value_integer(out, (int64_t)row->ns);
	else if (c == COLUMN_TID)
		scan_value_id(out, row->tid);
	else if (c == COLUMN_PID)
		scan_value_id(out, row->pid);
	else if (c == COLUMN_COMM)
		scan_value_string(s, out, row->comm);
	else if (c == COLUMN_CGROUP)
		scan_value_string(s, out, row->cgroup);
	else if (c == COLUMN_CPU)
		scan_value_id(out, row->cpu);
	else if (c == COLUMN_STATE)
		query_value_word(out, states[row->state]);
	else if (c == COLUMN_TASK_STATE)
		set_letter(s, row, out);
	else if (c == COLUMN_WHY)
		query_value_word(
			out, row->state == INTERVAL_RUNNABLE ? interval_why_word(row->why) : NULL);
	else if (c == COLUMN_END)
		query_value_word(out, row->end ? row->end : "open");
	else if (c == COLUMN_STACK)
		scan_value_stack(out, row->stack);
	else if (c <= COLUMN_WAKER_STACK)
		set_waker(s, row, c, out);
	else if (c <= COLUMN_RAN_NS)
		set_ran(s, row, c, out);
	else
		set_flag(row, c, out);
}

struct scan_table slice_rows_table(struct trace_inputs *all)
{
	static const struct scan_ops ops = {
		.begin = begin_slices,
		.event = add_event,
		.end = end_slices,
		.pending = next_slice,
		.column = slice_column,
		.fini = fini_slices,
		.state_sz = sizeof(struct slice_rows),
	};

	return (struct scan_table){ .name = "slices",
				    .doc = "what each recorded thread did: a row for each interval",
				    .columns = columns,
				    .column_cnt = COLUMN_CNT,
				    .ops = &ops,
				    .all = all };
}
