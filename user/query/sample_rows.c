// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables `samples` and `lost`: a row for each CpuSampleEvent, and for each LostEvents. Independent of the interval
 * engine: events that are not rows are skipped where their names are not needed.
 */
#include "query/sample_rows.h"

#include <string.h>

/* clang-format off */
#define SAMPLE_COLUMNS(X) \
	X(TID, tid, INTEGER, TID, "thread") \
	X(PID, pid, INTEGER, PID, "process") \
	X(COMM, comm, TEXT, NONE, "name of the thread at that time") \
	X(CGROUP, cgroup, TEXT, NONE, "path of the control group") \
	X(CPU, cpu, INTEGER, NONE, "CPU") \
	X(SOURCE, source, TEXT, WORD, "cpu: a CPU sample; stacks of other events: switch, waker or event") \
	X(STACK, stack, INTEGER, NONE, "stack, for frames(), leaf(), folded() and has_frame()") \
	X(WEIGHT, weight, INTEGER, NONE, "CPU time in ns that a CPU sample stands for; NULL: unknown, or no CPU sample")

#define LOST_COLUMNS(X) \
	X(LAST_TS, last_ts, INTEGER, NONE, "end of the time range in which events were lost") \
	X(CPU, cpu, INTEGER, NONE, "CPU; NULL: unknown, or all") \
	X(KIND, kind, TEXT, NONE, "kind of loss") \
	X(CLASS, class, TEXT, NONE, "what was lost: events, samples, estimated samples, sideband, pauses, stacks, slices or files") \
	X(COUNT, count, INTEGER, NONE, "number of lost events")
/* clang-format on */

#define COLUMN(id, name, type, role, doc) SAMPLE_##id,
enum sample_column { SAMPLE_BEFORE = SCAN_OWN - 1, SAMPLE_COLUMNS(COLUMN) SAMPLE_CNT };
#undef COLUMN
#define COLUMN(id, name, type, role, doc) LOST_##id,
enum lost_column { LOST_BEFORE = SCAN_OWN - 1, LOST_COLUMNS(COLUMN) LOST_CNT };
#undef COLUMN

#define COLUMN(id, name, type, role, doc) { #name, #type, doc, SCAN_ROLE_##role },
static const struct scan_column sample_columns[] = { SCAN_COLUMNS, SAMPLE_COLUMNS(COLUMN) };
static const struct scan_column lost_columns[] = { SCAN_COLUMNS, LOST_COLUMNS(COLUMN) };
#undef COLUMN

/* ---- samples ------------------------------------------------------------------------------------ */

/* NULL: a source from a later version. */
static const char *source_word(uint8_t source)
{
	switch (source) {
	case PROF_SOURCE_SAMPLE:
		return "cpu";
	case PROF_SOURCE_SWITCH_OUT:
		return "switch";
	case PROF_SOURCE_WAKING:
		return "waker";
	case PROF_SOURCE_EVENT:
		return "event";
	default:
		return NULL;
	}
}

static void begin_samples(struct scan *s)
{
	const struct scan_filter *f = &s->filter;
	const bool names = scan_filter_uses(f, SAMPLE_COMM) || scan_filter_uses(f, SAMPLE_CGROUP);

	/* a switch may be the only event that names a thread */
	s->skip.kinds =
		names ? TRACE_KINDS_QUIET & ~(1u << TRACE_TRACEPOINT) : TRACE_KINDS_TRACEPOINT;
	if (!scan_filter_uses(f, SAMPLE_STACK) || (f->has_word && !strcmp(f->word, "cpu")))
		s->skip.stacks = true;
}

static bool is_sample(struct scan *s, const struct trace_event *ev)
{
	const char *source;

	if (ev->kind != TRACE_SAMPLE || !scan_wants(s, ev->part, ev->ts, ev->pid, ev->tid))
		return false;
	source = source_word(ev->source);
	if (s->filter.has_word && (!source || strcmp(s->filter.word, source) != 0))
		return false;
	s->part = ev->part;
	s->ts = ev->ts;
	return true;
}

static void sample_column(struct scan *s, size_t column, struct query_value *out)
{
	const struct trace_event *ev = s->ev;
	const uint64_t period = trace_input_part(s->in, ev->part)->period_ns;

	switch ((enum sample_column)column) {
	case SAMPLE_TID:
		scan_value_id(out, ev->tid);
		break;
	case SAMPLE_PID:
		scan_value_id(out, ev->pid);
		break;
	case SAMPLE_COMM:
		scan_value_string(s, out, ev->comm);
		break;
	case SAMPLE_CGROUP:
		scan_value_string(s, out, ev->cgroup);
		break;
	case SAMPLE_CPU:
		scan_value_id(out, ev->cpu);
		break;
	case SAMPLE_SOURCE:
		query_value_word(out, source_word(ev->source));
		break;
	case SAMPLE_STACK:
		scan_value_stack(out, trace_input_add_stack(s->in, ev->frames, ev->frame_cnt));
		break;
	case SAMPLE_WEIGHT:
		if (period && ev->source == PROF_SOURCE_SAMPLE)
			query_value_integer(out, (int64_t)period);
		break;
	case SAMPLE_BEFORE:
	case SAMPLE_CNT:
		break;
	}
}

struct scan_table sample_rows_table(struct trace_inputs *all)
{
	static const struct scan_ops ops = {
		.begin = begin_samples,
		.event = is_sample,
		.column = sample_column,
		.in_range = true,
	};

	return (struct scan_table){ .name = "samples",
				    .doc = "CPU samples, and stacks of other events",
				    .columns = sample_columns,
				    .column_cnt = SAMPLE_CNT,
				    .ops = &ops,
				    .all = all };
}

/* ---- losses ------------------------------------------------------------------------------------- */

static const char *class_word(enum loss_accounting_class cls)
{
	switch (cls) {
	case LOSS_ACCOUNTING_EVENTS:
		return "events";
	case LOSS_ACCOUNTING_SAMPLES:
		return "samples";
	case LOSS_ACCOUNTING_ESTIMATE:
		return "estimated samples";
	case LOSS_ACCOUNTING_SIDEBAND:
	case LOSS_ACCOUNTING_STALLS:
	case LOSS_ACCOUNTING_DOUBTS:
		return "sideband";
	case LOSS_ACCOUNTING_PAUSES:
		return "pauses";
	case LOSS_ACCOUNTING_STACKS:
	case LOSS_ACCOUNTING_STACKS_OFF:
		return "stacks";
	case LOSS_ACCOUNTING_SLICES:
		return "slices";
	case LOSS_ACCOUNTING_HOLES:
		return "files";
	case LOSS_ACCOUNTING_CLASS_CNT:
		break;
	}
	return NULL;
}

static void begin_losses(struct scan *s)
{
	s->skip.tasks = true;
	s->skip.kinds = TRACE_KINDS_TRACEPOINT | 1u << TRACE_SAMPLE;
}

static bool is_loss(struct scan *s, const struct trace_event *ev)
{
	if (ev->kind != TRACE_LOST)
		return false;
	s->part = ev->part;
	s->ts = trace_u64_or(ev, ROLE_FIRST_NS, ev->ts);
	return scan_wants(s, ev->part, s->ts, TRACE_NONE, TRACE_NONE);
}

static void lost_column(struct scan *s, size_t column, struct query_value *out)
{
	struct dial9_str kind = { 0 };
	uint64_t v;

	switch ((enum lost_column)column) {
	case LOST_LAST_TS:
		query_value_integer(out, (int64_t)trace_u64_or(s->ev, ROLE_LAST_NS, s->ev->ts));
		break;
	case LOST_CPU:
		if (trace_u64(s->ev, ROLE_CPU, &v) && v < TRACE_NONE)
			query_value_integer(out, (int64_t)v);
		break;
	case LOST_KIND:
		if (trace_str(s->trace, s->ev, ROLE_KIND, &kind))
			query_value_bytes(out, QUERY_TEXT, kind.ptr, kind.len);
		break;
	case LOST_CLASS:
		if (trace_str(s->trace, s->ev, ROLE_KIND, &kind))
			query_value_word(out,
					 class_word(loss_accounting_class(kind.ptr, kind.len)));
		break;
	case LOST_COUNT:
		if (trace_u64(s->ev, ROLE_COUNT, &v))
			query_value_integer(out, (int64_t)v);
		break;
	case LOST_BEFORE:
	case LOST_CNT:
		break;
	}
}

struct scan_table sample_rows_lost_table(struct trace_inputs *all)
{
	static const struct scan_ops ops = {
		.begin = begin_losses,
		.event = is_loss,
		.column = lost_column,
	};

	return (struct scan_table){ .name = "lost",
				    .doc = "what the recorder lost or skipped, and when",
				    .columns = lost_columns,
				    .column_cnt = LOST_CNT,
				    .ops = &ops,
				    .all = all };
}
