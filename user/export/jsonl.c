// SPDX-License-Identifier: BSD-2-Clause
/*
 * One JSON object per line: events as `dial9-prof script --json` prints them, and intervals of
 * threads as objects with the same keys. Owns the intervals and their position: not within the
 * object of a switch whose stack follows.
 */
#include "base/json.h"
#include "export/formats.h"
#include "export/value_text.h"
#include "export/script_stream.h"
#include "profile/sched/intervals.h"

struct jsonl {
	struct script_stream stream;
	struct buf later; /* intervals, until the current object is complete */
	struct buf text;
};

static void jsonl_begin(struct export *x)
{
	const struct script_line_opts opts = { .fields = FIELDS_DEFAULT };
	struct jsonl *j = x->state;

	script_stream_init(&j->stream, &opts, true, x->reader);
}

static void put_later(struct export *x)
{
	struct jsonl *j = x->state;

	if (j->stream.open || !j->later.len)
		return;
	buf_add(&x->out, j->later.data, j->later.len);
	buf_clear(&j->later);
}

static void put_event(struct export *x, const struct trace_event *ev)
{
	struct jsonl *j = x->state;

	if (!script_stream_is_stack_of_last(&j->stream, ev)) {
		script_stream_end(&j->stream, &x->out);
		put_later(x);
	}
	script_stream_put(&j->stream, &x->out, ev);
	put_later(x);
}

static void jsonl_sample(struct export *x, const struct export_sample *s)
{
	put_event(x, s->raw);
}

static void jsonl_event(struct export *x, const struct export_thread *t,
			const struct trace_event *ev)
{
	put_event(x, ev);
}

/*
 * The tid belongs to a waker task; a thread that a timer or an interrupt interrupted is not a
 * waker.
 */
static void put_waker(struct export *x, struct buf *out, const struct export_interval *i)
{
	const struct interval_waker *w = i->raw->waker;
	struct jsonl *j = x->state;

	buf_clear(&j->text);
	value_text_waker(&j->text, x->names, w);
	json_object(out, "waker");
	json_text(out, "name", buf_cstr(&j->text), j->text.len);
	value_text_json_id(out, "tid", i->waker ? w->tid : TRACE_NONE);
	value_text_json_id(out, "cpu", w->cpu);
	json_u64(out, "ts", w->ts);
	json_end(out, "}");
}

static void jsonl_interval(struct export *x, const struct export_interval *i)
{
	const struct trace_event ev = export_interval_event(i);
	const struct interval *raw = i->raw;
	struct jsonl *j = x->state;
	struct buf *out = &j->later;

	value_text_json_begin(out);
	json_u64(out, "ts", raw->start);
	json_u64(out, "end", raw->end);
	if (x->names->parts.cnt > 1)
		value_text_json_id(out, "part", raw->part + 1);
	buf_addstr(out, ",\"event\":\"interval\",\"state\":\"");
	buf_addstr(out, value_text_state(raw->state));
	buf_addch(out, '"');
	value_text_json_name(out, "comm", x->names, i->thread->comm);
	value_text_json_id(out, "pid", i->thread->pid);
	value_text_json_id(out, "tid", i->thread->tid);
	value_text_json_id(out, "cpu", raw->cpu);
	if (raw->state == INTERVAL_BLOCKED)
		json_char(out, "letter", interval_blocked_letter(raw->flags, raw->prev_state));
	buf_addstr(out, raw->flags & INTERVAL_CUT ? ",\"cut\":true" : ",\"cut\":false");
	if (raw->waker)
		put_waker(x, out, i);
	if (i->frames)
		script_line_json_stack(j->stream.lines, out, &ev);
	json_end(out, "}\n");
	put_later(x);
}

static void jsonl_end(struct export *x)
{
	struct jsonl *j = x->state;

	script_stream_end(&j->stream, &x->out);
	put_later(x);
}

static void jsonl_fini(struct export *x)
{
	struct jsonl *j = x->state;

	script_stream_fini(&j->stream);
	buf_free(&j->later);
	buf_free(&j->text);
}

const struct exporter export_jsonl = {
	.name = "jsonl",
	.brief = "one JSON object per line: events with typed fields, and thread states",
	.state_sz = sizeof(struct jsonl),
	.begin = jsonl_begin,
	.sample = jsonl_sample,
	.interval = jsonl_interval,
	.event = jsonl_event,
	.end = jsonl_end,
	.fini = jsonl_fini,
};
