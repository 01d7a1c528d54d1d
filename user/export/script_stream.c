// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order of the lines from script_line.c. Owns which stack belongs to which event, and when a
 * JSON object is complete; the caller selects events.
 */
#include "export/script_stream.h"

#include "export/value_text.h"

void script_stream_init(struct script_stream *s, const struct script_line_opts *opts, bool json,
			const struct reader *r)
{
	*s = (struct script_stream){ .opts = *opts, .json = json, .last_tid = TRACE_NONE };
	s->names = reader_names((struct reader *)r);
	s->announced[0] = 1;
	s->lines = script_line_new(opts, r);
}

void script_stream_fini(struct script_stream *s)
{
	script_line_free(s->lines);
}

const char *script_stream_sample_name(const struct names *n, uint32_t part)
{
	const char *clock = names_meta(n, part, PROF_META_SAMPLE_EVENT);

	return clock && *clock ? clock : PROF_EV_CPU_SAMPLE;
}

bool script_stream_is_stack_of_last(const struct script_stream *s, const struct trace_event *ev)
{
	return ev->part == s->part && ev->kind == TRACE_SAMPLE && s->last_source == ev->source &&
	       s->last_tid == ev->tid && s->last_ts == ev->ts;
}

/* The source of the stack that an event may have; for a sample none is expected. */
static uint8_t source_of(enum trace_kind kind)
{
	return kind == TRACE_SCHED_SWITCH ? PROF_SOURCE_SWITCH_OUT :
	       kind == TRACE_SCHED_WAKING ? PROF_SOURCE_WAKING :
	       kind == TRACE_TRACEPOINT	  ? PROF_SOURCE_EVENT :
	       kind == TRACE_OFF_CPU	  ? PROF_SOURCE_EVENT :
					    PROF_SOURCE_SAMPLE;
}

static void set_last_event(struct script_stream *s, const struct trace_event *ev)
{
	s->last_source = source_of(ev->kind);
	s->last_tid = s->last_source != PROF_SOURCE_SAMPLE ? ev->tid : TRACE_NONE;
	s->last_ts = ev->ts;
}

static const char *sample_name(const struct script_stream *s, const struct trace_event *ev)
{
	return ev->kind == TRACE_SAMPLE ? script_stream_sample_name(s->names, ev->part) : "";
}

static void put_text(struct script_stream *s, struct buf *out, const struct trace_event *ev)
{
	bool stack = ev->frames && s->opts.fields & FIELDS_STACK;
	bool below = script_stream_is_stack_of_last(s, ev);

	if (below && !stack)
		return;
	if (!below)
		script_line_text(s->lines, out, ev, sample_name(s, ev));
	if (stack)
		script_line_stack(s->lines, out, ev);
	else if (s->opts.comment_asides && ev->kind == TRACE_SAMPLE)
		buf_addch(out, '\n'); /* otherwise the next stack would belong to this event */
	set_last_event(s, ev);
}

void script_stream_end(struct script_stream *s, struct buf *out)
{
	if (s->open)
		buf_addstr(out, "}\n");
	s->open = false;
}

static void put_json(struct script_stream *s, struct buf *out, const struct trace_event *ev)
{
	if (script_stream_is_stack_of_last(s, ev)) {
		if (ev->frames)
			script_line_json_stack(s->lines, out, ev);
	} else {
		script_stream_end(s, out);
		script_line_json(s->lines, out, ev, sample_name(s, ev));
	}
	s->open = true;
	set_last_event(s, ev);
	if (s->last_tid == TRACE_NONE)
		script_stream_end(s, out);
}

/* Events before and after may come from two hosts. */
static void put_part(struct script_stream *s, struct buf *out, const struct trace_event *ev)
{
	const struct part *part = names_part(s->names, ev->part);
	const struct part *last = names_part(s->names, s->part);
	const bool announced =
		s->announced[ev->part / 8 % sizeof(s->announced)] & 1u << ev->part % 8;

	if (ev->part == s->part)
		return;
	s->part = ev->part;
	s->last_tid = TRACE_NONE;
	/* overlapping parts are announced once, if their thread ids have the same meaning */
	if (s->json || (announced && part->base == last->base && part->clock == last->clock))
		return;
	s->announced[ev->part / 8 % sizeof(s->announced)] |= 1u << ev->part % 8;
	buf_printf(out, "# recording %u", ev->part + 1);
	if (part->host != NAMES_NONE) {
		buf_addstr(out, " (");
		value_text_name(out, s->names, part->host);
		buf_addch(out, ')');
	}
	if (part->merged && part->base == last->base && part->clock != last->clock)
		buf_addstr(out, ": another host or boot, times aligned with those above\n");
	else if (part->clock == ev->part)
		buf_addstr(out, ": its times are not comparable with those above\n");
	else
		buf_printf(out, ": on the clock of recording %u\n", part->clock + 1);
}

void script_stream_put(struct script_stream *s, struct buf *out, const struct trace_event *ev)
{
	put_part(s, out, ev);
	if (s->json)
		put_json(s, out, ev);
	else
		put_text(s, out, ev);
}
