// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parquet files in a directory, for databases: tables of thread states, samples, stacks and events. Owns the columns of
 * the fixed tables, and what each partition was given of tasks, stacks and frames. Each partition is complete: it has
 * the stacks and tasks that its rows refer to, so that old days can be deleted.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/out_dir.h"
#include "base/str.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/parquet/parquet_events.h"
#include "profile/sums/content_ids.h"
#include "profile/sched/intervals.h"
#include "profile/sums/event_counts.h"

enum fixed_table { SLICES, SAMPLES, STACKS, FRAMES, TASKS, LOST, FIXED_CNT };

enum {
	SLICE_DUR = PARQUET_TIMES,
	SLICE_CPU,
	SLICE_TID,
	SLICE_PID,
	SLICE_COMM,
	SLICE_STATE,
	SLICE_LETTER,
	SLICE_WHY,
	SLICE_ENDED_BY,
	SLICE_WAKER_TID,
	SLICE_WAKER,
	SLICE_STACK,
	SLICE_CUT,
	SLICE_UNKNOWN,
	SLICE_CNT,
};

enum {
	SAMPLE_CPU = PARQUET_TIMES,
	SAMPLE_TID,
	SAMPLE_PID,
	SAMPLE_COMM,
	SAMPLE_SOURCE,
	SAMPLE_STACK,
	SAMPLE_WEIGHT,
	SAMPLE_CNT,
};

enum { STACK_ID, STACK_FRAMES, STACK_CNT };

enum {
	FRAME_ID,
	FRAME_DEPTH,
	FRAME_FUNCTION,
	FRAME_MODULE,
	FRAME_BUILD_ID,
	FRAME_OFFSET,
	FRAME_KERNEL,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_CNT,
};

enum { TASK_TID, TASK_PID, TASK_PPID, TASK_COMM, TASK_EXE, TASK_CGROUP, TASK_CNT };

enum { LOST_KIND = PARQUET_TIMES, LOST_CPU, LOST_COUNT, LOST_FIRST, LOST_LAST, LOST_CNT };

static const struct parquet_def slice_defs[] = {
	PARQUET_DEFS_TIMES,
	[SLICE_DUR] = { "dur", PARQUET_I64, false, PARQUET_DELTA },
	[SLICE_CPU] = { "cpu", PARQUET_U32, true, PARQUET_PLAIN },
	[SLICE_TID] = { "tid", PARQUET_U32, false, PARQUET_PLAIN },
	[SLICE_PID] = { "pid", PARQUET_U32, true, PARQUET_PLAIN },
	[SLICE_COMM] = { "comm", PARQUET_TEXT, true, PARQUET_PLAIN },
	[SLICE_STATE] = { "state", PARQUET_TEXT, false, PARQUET_PLAIN },
	[SLICE_LETTER] = { "letter", PARQUET_TEXT, true, PARQUET_PLAIN },
	[SLICE_WHY] = { "why", PARQUET_TEXT, true, PARQUET_PLAIN },
	[SLICE_ENDED_BY] = { "ended_by", PARQUET_TEXT, true, PARQUET_PLAIN },
	[SLICE_WAKER_TID] = { "waker_tid", PARQUET_U32, true, PARQUET_PLAIN },
	[SLICE_WAKER] = { "waker", PARQUET_TEXT, true, PARQUET_PLAIN },
	[SLICE_STACK] = { "stack", PARQUET_I64, true, PARQUET_PLAIN },
	[SLICE_CUT] = { "cut", PARQUET_BOOL, false, PARQUET_PLAIN },
	[SLICE_UNKNOWN] = { "unknown", PARQUET_TEXT, true, PARQUET_PLAIN },
};

static const struct parquet_def sample_defs[] = {
	PARQUET_DEFS_TIMES,
	[SAMPLE_CPU] = { "cpu", PARQUET_U32, true, PARQUET_PLAIN },
	[SAMPLE_TID] = { "tid", PARQUET_U32, true, PARQUET_PLAIN },
	[SAMPLE_PID] = { "pid", PARQUET_U32, true, PARQUET_PLAIN },
	[SAMPLE_COMM] = { "comm", PARQUET_TEXT, true, PARQUET_PLAIN },
	[SAMPLE_SOURCE] = { "source", PARQUET_TEXT, false, PARQUET_PLAIN },
	[SAMPLE_STACK] = { "stack", PARQUET_I64, true, PARQUET_PLAIN },
	[SAMPLE_WEIGHT] = { "weight_ns", PARQUET_I64, true, PARQUET_PLAIN },
};

static const struct parquet_def stack_defs[] = {
	[STACK_ID] = { "stack", PARQUET_I64, false, PARQUET_PLAIN },
	[STACK_FRAMES] = { "frames", PARQUET_LIST, false, PARQUET_PLAIN },
};

static const struct parquet_def frame_defs[] = {
	[FRAME_ID] = { "frame", PARQUET_I64, false, PARQUET_PLAIN },
	[FRAME_DEPTH] = { "inline_depth", PARQUET_U32, false, PARQUET_PLAIN },
	[FRAME_FUNCTION] = { "function", PARQUET_TEXT, true, PARQUET_PLAIN },
	[FRAME_MODULE] = { "module", PARQUET_TEXT, true, PARQUET_PLAIN },
	[FRAME_BUILD_ID] = { "build_id", PARQUET_TEXT, true, PARQUET_PLAIN },
	[FRAME_OFFSET] = { "offset", PARQUET_I64, false, PARQUET_PLAIN },
	[FRAME_KERNEL] = { "kernel", PARQUET_BOOL, false, PARQUET_PLAIN },
	[FRAME_FILE] = { "file", PARQUET_TEXT, true, PARQUET_PLAIN },
	[FRAME_LINE] = { "line", PARQUET_U32, true, PARQUET_PLAIN },
};

static const struct parquet_def task_defs[] = {
	[TASK_TID] = { "tid", PARQUET_U32, false, PARQUET_PLAIN },
	[TASK_PID] = { "pid", PARQUET_U32, true, PARQUET_PLAIN },
	[TASK_PPID] = { "ppid", PARQUET_U32, true, PARQUET_PLAIN },
	[TASK_COMM] = { "comm", PARQUET_TEXT, true, PARQUET_PLAIN },
	[TASK_EXE] = { "exe", PARQUET_TEXT, true, PARQUET_PLAIN },
	[TASK_CGROUP] = { "cgroup", PARQUET_TEXT, true, PARQUET_PLAIN },
};

static const struct parquet_def lost_defs[] = {
	PARQUET_DEFS_TIMES,
	[LOST_KIND] = { "kind", PARQUET_TEXT, true, PARQUET_PLAIN },
	[LOST_CPU] = { "cpu", PARQUET_U32, true, PARQUET_PLAIN },
	[LOST_COUNT] = { "count", PARQUET_I64, true, PARQUET_PLAIN },
	[LOST_FIRST] = { "first_ns", PARQUET_I64, true, PARQUET_PLAIN },
	[LOST_LAST] = { "last_ns", PARQUET_I64, true, PARQUET_PLAIN },
};

static const struct {
	const char *name;
	const struct parquet_def *defs;
	size_t def_cnt;
	bool has_times;
} fixed[] = {
	[SLICES] = { "slices", slice_defs, SLICE_CNT, true },
	[SAMPLES] = { "samples", sample_defs, SAMPLE_CNT, true },
	[STACKS] = { "stacks", stack_defs, STACK_CNT, false },
	[FRAMES] = { "frames", frame_defs, FRAME_CNT, false },
	[TASKS] = { "tasks", task_defs, TASK_CNT, false },
	[LOST] = { "lost", lost_defs, LOST_CNT, true },
};

/* An array of partition numbers: the last partition that was given a thread or a stack. */
struct marks {
	uint32_t *v;
	size_t cap;
};

struct parquet {
	struct parquet_tables *tables;
	uint32_t numbers[FIXED_CNT]; /* of the fixed tables */
	struct parquet_events events;
	struct content_ids ids;
	struct marks task_marks; /* by thread */
	struct marks stack_marks; /* by row of ids.stacks */
	uint64_t switch_ts; /* of the last switch, whose stack its slice has */
	struct buf text;
};

static void parquet_begin(struct export *x)
{
	struct parquet *p = x->state;

	p->tables = parquet_tables_new(x->dir, x->names);
	p->events.tables = p->tables;
	p->switch_ts = UINT64_MAX;
	for (size_t i = 0; i < FIXED_CNT; i++)
		p->numbers[i] = parquet_tables_add(p->tables, fixed[i].name, fixed[i].defs,
						   fixed[i].def_cnt, fixed[i].has_times);
}

/* Marks it for the partition: false if it was. */
static bool mark(struct marks *m, uint32_t at, const struct parquet_partition *part)
{
	m->v = array_reserve(m->v, &m->cap, (size_t)at + 1, sizeof(*m->v));
	if (m->v[at] == part->no)
		return false;
	m->v[at] = part->no;
	return true;
}

/* ---- values ----------------------------------------------------------------------------------- */

/* Nothing for an unknown name, */
static void put_name(struct parquet_file *f, size_t column, const struct names *n, uint32_t id)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	if (id != NAMES_NONE)
		parquet_file_put_text(f, column, s, len);
}

static void put_word(struct parquet_file *f, size_t column, const char *word)
{
	if (word)
		parquet_file_put_text(f, column, word, strlen(word));
}

/* and for an unknown number. */
static void put_id(struct parquet_file *f, size_t column, uint32_t id)
{
	if (id != TRACE_NONE)
		parquet_file_put(f, column, id);
}

/* ---- tasks and stacks of a partition ---------------------------------------------------------- */

/* What is known of a thread now, or else of the first thread with its TID. */
static struct names_task task_of(const struct export *x, const struct export_thread *t)
{
	const struct names_task *known = trace_task(reader_trace(x->reader), t->tid);
	struct names_task task = { .ppid = NAMES_NONE, .exe = NAMES_NONE, .cgroup = NAMES_NONE };

	if (!known || known->pid != t->pid || !known->recorded)
		known = names_task_first(x->names, t->part, t->tid);
	if (known && known->pid == t->pid && known->recorded)
		task = *known;
	task.tid = t->tid;
	task.pid = t->pid;
	task.comm = t->comm;
	return task;
}

static void put_task(struct export *x, struct parquet_partition *part,
		     const struct names_task *task)
{
	const uint32_t row[] = { task->tid,  task->pid, task->ppid,
				 task->comm, task->exe, task->cgroup };
	const uint64_t hash = content_ids_hash(CONTENT_IDS_HASH, row, sizeof(row));
	struct parquet *p = x->state;
	struct parquet_file *f;

	if (hmap_get(&part->tasks, hash))
		return;
	hmap_set(&part->tasks, hash, part);
	f = parquet_tables_file(p->tables, part, p->numbers[TASKS]);
	if (!f)
		return;
	parquet_file_put(f, TASK_TID, task->tid);
	put_id(f, TASK_PID, task->pid);
	put_id(f, TASK_PPID, task->ppid);
	put_name(f, TASK_COMM, x->names, task->comm);
	put_name(f, TASK_EXE, x->names, task->exe);
	put_name(f, TASK_CGROUP, x->names, task->cgroup);
	parquet_tables_end_row(p->tables, f);
}

static void add_task(struct export *x, struct parquet_partition *part,
		     const struct export_thread *t)
{
	struct parquet *p = x->state;
	struct names_task task;

	if (!t || !mark(&p->task_marks, t->idx, part))
		return;
	task = task_of(x, t);
	put_task(x, part, &task);
}

/* It may have another name, or be another thread. */
static void parquet_thread(struct export *x, const struct export_thread *t)
{
	struct parquet *p = x->state;

	if (t->idx < p->task_marks.cap)
		p->task_marks.v[t->idx] = 0;
}

/* Writes a stack, and notes its frames for the end. */
static void put_stack(struct export *x, struct parquet_partition *part, uint64_t id,
		      const uint64_t *frames, uint32_t cnt)
{
	struct parquet *p = x->state;
	uint64_t *ids = xcalloc(cnt, sizeof(*ids));
	struct parquet_file *f;

	for (uint32_t i = 0; i < cnt; i++) {
		const struct content_frame *frame = content_ids_frame(&p->ids, x->names, frames[i]);

		ids[i] = frame->id;
		hmap_set(&part->frames, frame->id, (void *)frame);
	}
	f = parquet_tables_file(p->tables, part, p->numbers[STACKS]);
	if (f) {
		parquet_file_put(f, STACK_ID, id);
		parquet_file_put_list(f, STACK_FRAMES, ids, cnt);
		parquet_tables_end_row(p->tables, f);
	}
	free(ids);
}

/* The id of a stack, which is in the partition then. */
static uint64_t add_stack(struct export *x, struct parquet_partition *part, const uint64_t *frames,
			  uint32_t cnt)
{
	struct parquet *p = x->state;
	const uint32_t row = content_ids_stack(&p->ids, x->names, frames, cnt);
	const uint64_t id = p->ids.stack_ids[row];

	if (mark(&p->stack_marks, row, part) && !hmap_get(&part->stacks, id)) {
		hmap_set(&part->stacks, id, part);
		put_stack(x, part, id, frames, cnt);
	}
	return id;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* What a row refers to is written before the row begins, since that may write row groups. */
struct references {
	struct parquet_partition *part;
	uint64_t stack;
};

static bool refer(struct export *x, const struct parquet_place *at, const struct export_thread *t,
		  const uint64_t *frames, uint32_t frame_cnt, struct references *out)
{
	struct parquet *p = x->state;

	out->part = parquet_tables_partition(p->tables, at);
	if (!out->part)
		return false;
	add_task(x, out->part, t);
	out->stack = frame_cnt ? add_stack(x, out->part, frames, frame_cnt) : 0;
	return true;
}

static void put_sample(struct export *x, const struct trace_event *ev,
		       const struct export_thread *t, const char *source, uint64_t weight_ns)
{
	const struct parquet_place at = { ev->has_ts, ev->ts, ev->part };
	struct parquet *p = x->state;
	struct references refs;
	struct parquet_file *f;

	if (!refer(x, &at, t, ev->frames, ev->frame_cnt, &refs))
		return;
	f = parquet_tables_row(p->tables, &at, p->numbers[SAMPLES]);
	if (!f)
		return;
	put_id(f, SAMPLE_CPU, ev->cpu);
	if (t) {
		put_id(f, SAMPLE_TID, t->tid);
		put_id(f, SAMPLE_PID, t->pid);
		put_name(f, SAMPLE_COMM, x->names, t->comm);
	}
	put_word(f, SAMPLE_SOURCE, source);
	if (ev->frame_cnt)
		parquet_file_put(f, SAMPLE_STACK, refs.stack);
	if (weight_ns)
		parquet_file_put(f, SAMPLE_WEIGHT, weight_ns);
	parquet_tables_end_row(p->tables, f);
}

static void parquet_sample(struct export *x, const struct export_sample *s)
{
	put_sample(x, s->raw, s->thread, "cpu", s->ns);
}

/* ---- slices ----------------------------------------------------------------------------------- */

static const char *unknown_word(const struct interval *i)
{
	if (i->state != INTERVAL_UNKNOWN)
		return NULL;
	if (i->flags & INTERVAL_LOSS)
		return "lost";
	if (i->flags & INTERVAL_ELSEWHERE)
		return "other_cpu";
	if (i->flags & INTERVAL_HOLE)
		return "contradiction";
	return interval_is_unsure(i->flags) ? "no_wakeup" : "edge";
}

/* A thread by its name, as its TID has a column of its own. */
static void put_waker(struct export *x, struct parquet_file *f, const struct export_interval *i)
{
	struct parquet *p = x->state;

	if (i->waker) {
		parquet_file_put(f, SLICE_WAKER_TID, i->waker->tid);
		put_name(f, SLICE_WAKER, x->names, i->waker->comm);
	} else if (i->raw->waker && !interval_by_thread(i->raw->waker->context)) {
		buf_clear(&p->text);
		value_text_waker(&p->text, x->names, i->raw->waker);
		parquet_file_put_text(f, SLICE_WAKER, buf_cstr(&p->text), p->text.len);
	}
}

static void put_state(struct parquet_file *f, const struct interval *i, const char *end)
{
	const char letter = interval_blocked_letter(i->flags, i->prev_state);

	put_word(f, SLICE_STATE, value_text_state(i->state));
	if (i->state == INTERVAL_BLOCKED && letter != '?')
		parquet_file_put_text(f, SLICE_LETTER, &letter, 1);
	put_word(f, SLICE_WHY, i->state == INTERVAL_RUNNABLE ? interval_why_word(i->why) : NULL);
	put_word(f, SLICE_ENDED_BY, end);
	parquet_file_put(f, SLICE_CUT, (i->flags & INTERVAL_CUT) != 0);
	put_word(f, SLICE_UNKNOWN, unknown_word(i));
}

/* What the thread did as one program, and how that ended. */
static void put_slice(struct export *x, const struct export_interval *i, const char *end)
{
	const struct interval *raw = i->raw;
	const struct parquet_place at = { true, raw->start, raw->part };
	struct parquet *p = x->state;
	struct references refs;
	struct parquet_file *f;

	if (!refer(x, &at, i->thread, i->frames, i->frame_cnt, &refs))
		return;
	add_task(x, refs.part, i->waker);
	f = parquet_tables_row(p->tables, &at, p->numbers[SLICES]);
	if (!f)
		return;
	parquet_file_put(f, SLICE_DUR, raw->end - raw->start);
	put_id(f, SLICE_CPU, raw->cpu);
	parquet_file_put(f, SLICE_TID, i->thread->tid);
	put_id(f, SLICE_PID, i->thread->pid);
	put_name(f, SLICE_COMM, x->names, i->thread->comm);
	put_state(f, raw, end);
	put_waker(x, f, i);
	if (i->frame_cnt)
		parquet_file_put(f, SLICE_STACK, refs.stack);
	parquet_tables_end_row(p->tables, f);
}

/* A row for each program in the selected window, which the interval is cut to, and its execs are not. */
static void parquet_interval(struct export *x, const struct export_interval *whole)
{
	const struct interval *raw = whole->raw;
	struct export_thread thread = *whole->thread;
	struct export_interval row = *whole;
	struct interval piece;

	row.raw = &piece;
	row.thread = &thread;
	for (uint32_t k = 0; interval_piece(raw, k, &piece); k++) {
		const bool last = k == raw->exec_cnt;
		const bool clipped = last ? raw->flags & INTERVAL_CLIP_END : piece.end > raw->end;
		const char *end = last ? interval_end_word(raw->end_by) : "exec";

		if (piece.end < raw->start || piece.start > raw->end)
			continue;
		piece.start = piece.start > raw->start ? piece.start : raw->start;
		piece.end = piece.end < raw->end ? piece.end : raw->end;
		thread.comm = last ? whole->thread->comm : piece.comm;
		put_slice(x, &row, clipped ? NULL : end);
	}
}

/* ---- events ----------------------------------------------------------------------------------- */

static void put_lost(struct export *x, const struct trace_event *ev)
{
	const struct parquet_place at = { ev->has_ts, ev->ts, ev->part };
	struct parquet *p = x->state;
	struct parquet_file *f = parquet_tables_row(p->tables, &at, p->numbers[LOST]);
	struct own_lost lost;

	if (!f)
		return;
	trace_read_lost(reader_trace(x->reader), ev, &lost);
	if (lost.kind.ptr)
		parquet_file_put_text(f, LOST_KIND, lost.kind.ptr, lost.kind.len);
	put_id(f, LOST_CPU, lost.cpu);
	parquet_file_put(f, LOST_COUNT, lost.count);
	parquet_file_put(f, LOST_FIRST, lost.first_ns);
	parquet_file_put(f, LOST_LAST, lost.last_ns);
	parquet_tables_end_row(p->tables, f);
}

/* A stack that is not a CPU sample. A slice has the stack of the switch before it. */
static void put_other_stack(struct export *x, const struct trace_event *ev,
			    const struct export_thread *t)
{
	static const char *const sources[] = {
		[PROF_SOURCE_SAMPLE] = "cpu",
		[PROF_SOURCE_SWITCH_OUT] = "switch-out",
		[PROF_SOURCE_WAKING] = "waker",
		[PROF_SOURCE_EVENT] = "event",
	};
	const struct parquet *p = x->state;
	const bool known = ev->source < sizeof(sources) / sizeof(sources[0]);

	if (ev->source != PROF_SOURCE_SWITCH_OUT || ev->ts != p->switch_ts)
		put_sample(x, ev, t, known ? sources[ev->source] : "other", 0);
}

static void parquet_event(struct export *x, const struct export_thread *t,
			  const struct trace_event *ev)
{
	const struct parquet_place at = { ev->has_ts, ev->ts, ev->part };
	struct parquet *p = x->state;
	struct references refs;

	if (ev->kind == TRACE_SCHED_SWITCH)
		p->switch_ts = ev->ts;
	if (ev->kind == TRACE_SAMPLE)
		put_other_stack(x, ev, t);
	else if (ev->kind == TRACE_LOST)
		put_lost(x, ev);
	else if (!trace_is_recorder_info(ev->kind) && refer(x, &at, t, NULL, 0, &refs))
		parquet_events_add(&p->events, x, t, ev);
}

/* ---- the end ---------------------------------------------------------------------------------- */

/* One function at an address; @depth 0 if none is known. */
static void put_function(struct export *x, struct parquet_file *f, const struct names_symbol *sym,
			 uint32_t depth)
{
	const struct names_frame *line;

	parquet_file_put(f, FRAME_DEPTH, depth);
	if (!sym)
		return;
	line = names_symbol_line(sym, depth);
	put_name(f, FRAME_FUNCTION, x->names, sym->frames[depth].name);
	put_name(f, FRAME_FILE, x->names, line->file);
	if (line->line)
		parquet_file_put(f, FRAME_LINE, line->line);
}

static void put_location(struct export *x, struct parquet_file *f,
			 const struct content_frame *frame)
{
	const struct names_module *m = names_module(x->names, names_frame_module(frame->frame));
	struct parquet *p = x->state;

	parquet_file_put(f, FRAME_ID, frame->id);
	parquet_file_put(f, FRAME_OFFSET, content_ids_offset(x->names, frame->frame));
	parquet_file_put(f, FRAME_KERNEL, (frame->frame & PROF_FRAME_KERNEL) != 0);
	if (!m->announced)
		return;
	put_name(f, FRAME_MODULE, x->names, m->path);
	if (!m->build_id_sz)
		return;
	buf_clear(&p->text);
	str_hex(&p->text, m->build_id, m->build_id_sz);
	parquet_file_put_text(f, FRAME_BUILD_ID, buf_cstr(&p->text), p->text.len);
}

static void put_frame(struct export *x, struct parquet_partition *part,
		      const struct content_frame *frame)
{
	const struct names_symbol *sym = names_symbol(x->names, frame->frame);
	const uint32_t depths = sym ? sym->cnt : 1;
	struct parquet *p = x->state;
	struct parquet_file *f;

	for (uint32_t depth = 0; depth < depths; depth++) {
		if (depth && !names_symbol_is_printed(sym, depth))
			continue;
		f = parquet_tables_file(p->tables, part, p->numbers[FRAMES]);
		if (!f)
			return;
		put_location(x, f, frame);
		put_function(x, f, sym, depth);
		parquet_tables_end_row(p->tables, f);
	}
}

static void put_frames(void *ctx, struct parquet_partition *part)
{
	size_t pos = 0;
	void *frame;

	while (hmap_next(&part->frames, &pos, NULL, &frame))
		put_frame(ctx, part, frame);
}

static uint64_t count_lost(void *ctx, uint32_t source)
{
	const struct export *x = ctx;
	uint64_t sum = 0;

	for (uint32_t i = 0; x->losses && i < x->names->parts.cnt; i++)
		if (parquet_tables_source(x->names, i) == source)
			sum += loss_accounting_lost(&event_counts_part(x->losses, i)->account);
	return sum;
}

static void parquet_end(struct export *x)
{
	struct parquet *p = x->state;
	int err;

	parquet_tables_each(p->tables, put_frames, x);
	err = parquet_tables_end(p->tables, count_lost, x);
	if (err)
		export_fail(x, err);
}

static void parquet_fini(struct export *x)
{
	struct parquet *p = x->state;

	parquet_tables_free(p->tables);
	parquet_events_fini(&p->events);
	content_ids_fini(&p->ids);
	free(p->task_marks.v);
	free(p->stack_marks.v);
	buf_free(&p->text);
}

const struct exporter export_parquet = {
	.name = "parquet",
	.brief = "tables for databases: a directory of Parquet files (-o DIR)",
	.binary = true,
	.directory = true,
	.all_losses = true,
	.state_sz = sizeof(struct parquet),
	.begin = parquet_begin,
	.thread = parquet_thread,
	.sample = parquet_sample,
	.interval = parquet_interval,
	.event = parquet_event,
	.end = parquet_end,
	.fini = parquet_fini,
};
