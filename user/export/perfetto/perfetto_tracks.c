// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tracks of Perfetto's trace for data without ftrace events: off-CPU intervals with their stacks,
 * and counters. Owns the ids of tracks, which are written before first use.
 */
#include "export/perfetto/perfetto_tracks.h"

#include "export/value_text.h"
#include "export/perfetto/perfetto_stacks.h"
#include "profile/sched/intervals.h"

enum { PACKET_TRACK_EVENT = 11, PACKET_TRACK = 60 };
enum { TRACK_ID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22 };
enum { EVENT_NAME = 23, EVENT_VALUE = 30, EVENT_DOUBLE = 44, EVENT_STACK = 56 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_COUNTER = 4 };
enum { COUNTER_UNIT = 3, COUNTER_MULTIPLIER = 4, COUNTER_UNIT_NAME = 6 };
enum { UNIT_TIME_NS = 1, UNIT_SIZE_BYTES = 3 };
enum { ANNOTATION_BOOL = 2, ANNOTATION_UINT = 3, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };
enum { ANNOTATION_STRING_ID = 17 };

/* The kind of a track, in the low bits of its id; then the thread, and above that the counter. */
enum { OF_THREAD = 1, OF_OFFCPU = 2, OF_COUNTER = 3, OF_BITS = 2, COUNTER_SHIFT = 34 };

static uint64_t track_of(const struct export_thread *t, unsigned int what)
{
	return ((uint64_t)t->idx + 1) << OF_BITS | what;
}

static void put_string(struct buf *out, uint32_t field, const char *s)
{
	proto_bytes(out, field, s, strlen(s));
}

/* ---- tracks ------------------------------------------------------------------------------------ */

static void put_thread_track(struct export *x, const struct export_thread *t, uint64_t ts)
{
	size_t packet = perfetto_packet_in_sequence(x, ts);
	size_t track = proto_begin(&x->out, PACKET_TRACK), thread;

	proto_u64(&x->out, TRACK_ID, track_of(t, OF_THREAD));
	thread = proto_begin(&x->out, TRACK_THREAD);
	/* if the process is unknown, the thread stands for it */
	proto_u64(&x->out, THREAD_PID, t->pid != TRACE_NONE ? t->pid : t->tid);
	proto_u64(&x->out, THREAD_TID, t->tid);
	proto_end(&x->out, thread);
	proto_end(&x->out, track);
	proto_end(&x->out, packet);
}

static void put_offcpu_track(struct export *x, const struct export_thread *t, uint64_t ts)
{
	size_t packet = perfetto_packet_in_sequence(x, ts);
	size_t track = proto_begin(&x->out, PACKET_TRACK);

	proto_u64(&x->out, TRACK_ID, track_of(t, OF_OFFCPU));
	proto_u64(&x->out, TRACK_PARENT, track_of(t, OF_THREAD));
	put_string(&x->out, TRACK_NAME, "off-CPU");
	proto_end(&x->out, track);
	proto_end(&x->out, packet);
}

static bool is_new(struct perfetto *p, uint64_t track)
{
	if (hmap_get(&p->tracks, track))
		return false;
	hmap_set(&p->tracks, track, p);
	return true;
}

static void announce_thread(struct export *x, const struct export_thread *t, uint64_t ts)
{
	if (is_new(x->state, track_of(t, OF_THREAD)))
		put_thread_track(x, t, ts);
}

static void announce_offcpu_track(struct export *x, const struct export_thread *t, uint64_t ts)
{
	announce_thread(x, t, ts);
	if (is_new(x->state, track_of(t, OF_OFFCPU)))
		put_offcpu_track(x, t, ts);
}

/* ---- slices ------------------------------------------------------------------------------------ */

static size_t begin_annotation(struct export *x, const char *name)
{
	size_t annotation = proto_begin(&x->out, EVENT_ANNOTATION);

	put_string(&x->out, ANNOTATION_NAME, name);
	return annotation;
}

static void annotate_text(struct export *x, const char *name)
{
	size_t annotation = begin_annotation(x, name);

	perfetto_put_text(x, ANNOTATION_STRING);
	proto_end(&x->out, annotation);
}

static void annotate_u64(struct export *x, const char *name, uint32_t field, uint64_t v)
{
	size_t annotation = begin_annotation(x, name);

	proto_u64(&x->out, field, v);
	proto_end(&x->out, annotation);
}

static void put_annotations(struct export *x, const struct interval *raw, uint32_t leaf)
{
	struct perfetto *p = x->state;

	if (raw->state == INTERVAL_BLOCKED && !(raw->flags & INTERVAL_EDGE_START)) {
		buf_addch(&p->text, interval_letter(raw->prev_state));
		annotate_text(x, "letter");
	}
	if (raw->cpu != TRACE_NONE)
		annotate_u64(x, "cpu", ANNOTATION_UINT, raw->cpu);
	if (raw->waker) {
		value_text_waker(&p->text, x->names, raw->waker);
		annotate_text(x, "waker");
	}
	if (raw->flags & INTERVAL_CUT)
		annotate_u64(x, "cut", ANNOTATION_BOOL, true);
	if (leaf != STACK_TREE_NONE)
		annotate_u64(x, "stack", ANNOTATION_STRING_ID, perfetto_stack_id(leaf));
}

static void put_begin(struct export *x, const struct export_interval *i)
{
	struct perfetto *p = x->state;
	uint32_t leaf = stack_tree_add(&p->stacks, x->names, i->frames, i->frame_cnt);
	size_t packet = perfetto_packet_in_sequence(x, i->raw->start), event;

	if (leaf != STACK_TREE_NONE)
		perfetto_intern(x, leaf, true);
	event = proto_begin(&x->out, PACKET_TRACK_EVENT);
	proto_u64(&x->out, EVENT_TYPE, TYPE_BEGIN);
	proto_u64(&x->out, EVENT_TRACK, track_of(i->thread, OF_OFFCPU));
	put_string(&x->out, EVENT_CATEGORY, "off-CPU");
	put_string(&x->out, EVENT_NAME, value_text_state(i->raw->state));
	put_annotations(x, i->raw, leaf);
	if (leaf != STACK_TREE_NONE)
		proto_u64(&x->out, EVENT_STACK, perfetto_stack_id(leaf));
	proto_end(&x->out, event);
	proto_end(&x->out, packet);
}

static void put_end(struct export *x, const struct export_interval *i)
{
	size_t packet = perfetto_packet_in_sequence(x, i->raw->end);
	size_t event = proto_begin(&x->out, PACKET_TRACK_EVENT);

	proto_u64(&x->out, EVENT_TYPE, TYPE_END);
	proto_u64(&x->out, EVENT_TRACK, track_of(i->thread, OF_OFFCPU));
	proto_end(&x->out, event);
	proto_end(&x->out, packet);
}

void perfetto_slice(struct export *x, const struct export_interval *i)
{
	announce_offcpu_track(x, i->thread, i->raw->start);
	put_begin(x, i);
	put_end(x, i);
}

/* ---- counters ---------------------------------------------------------------------------------- */

static void put_unit(struct export *x, const struct field_units *m)
{
	size_t counter = proto_begin(&x->out, TRACK_COUNTER);

	if (m->ns) {
		proto_u64(&x->out, COUNTER_UNIT, UNIT_TIME_NS);
		proto_u64(&x->out, COUNTER_MULTIPLIER, m->ns);
	} else if (!strcmp(names_str(x->names, m->unit, NULL), PROF_UNIT_BYTES)) {
		proto_u64(&x->out, COUNTER_UNIT, UNIT_SIZE_BYTES);
	} else if (m->unit != NAMES_NONE) {
		perfetto_put_name(x, COUNTER_UNIT_NAME, m->unit);
	}
	proto_end(&x->out, counter);
}

static void put_counter_track(struct export *x, uint64_t id, const struct export_thread *t,
			      const struct trace_event *ev, size_t field)
{
	struct perfetto *p = x->state;
	size_t packet = perfetto_packet_in_sequence(x, ev->ts);
	size_t track = proto_begin(&x->out, PACKET_TRACK);

	proto_u64(&x->out, TRACK_ID, id);
	if (t)
		proto_u64(&x->out, TRACK_PARENT, track_of(t, OF_THREAD));
	value_text_name(&p->text, x->names, ev->schema->name);
	buf_addch(&p->text, ' ');
	value_text_name(&p->text, x->names, ev->schema->field_names[field]);
	perfetto_put_text(x, TRACK_NAME);
	put_unit(x, trace_field_units(ev->schema, field));
	proto_end(&x->out, track);
	proto_end(&x->out, packet);
}

/* Per thread, if there is one: two threads may have separate counters. */
static uint64_t announce_counter(struct export *x, const struct export_thread *t,
				 const struct trace_event *ev, size_t field)
{
	const uint64_t what = (uint64_t)ev->schema->name << 32 | ev->schema->field_names[field];
	struct perfetto *p = x->state;
	uint64_t counter = (uintptr_t)hmap_get(&p->counters, what), id;

	if (!counter) {
		counter = p->counters.cnt + 1;
		hmap_set(&p->counters, what, (void *)(uintptr_t)counter);
	}
	id = counter << COUNTER_SHIFT | (t ? track_of(t, OF_COUNTER) : OF_COUNTER);
	if (t)
		announce_thread(x, t, ev->ts);
	if (is_new(p, id))
		put_counter_track(x, id, t, ev, field);
	return id;
}

static void put_value(struct export *x, const struct dial9_value *v)
{
	uint64_t n = 0;

	if (v->type == DIAL9_F64)
		proto_double(&x->out, EVENT_DOUBLE, v->f64);
	else if (v->type == DIAL9_I64)
		proto_u64(&x->out, EVENT_VALUE, (uint64_t)v->i64);
	else if (trace_value_u64(v, &n) && n <= INT64_MAX)
		proto_u64(&x->out, EVENT_VALUE, n);
	else
		proto_double(&x->out, EVENT_DOUBLE, (double)n);
}

static void put_count(struct export *x, uint64_t id, uint64_t ts, const struct dial9_value *v)
{
	size_t packet = perfetto_packet_in_sequence(x, ts);
	size_t event = proto_begin(&x->out, PACKET_TRACK_EVENT);

	proto_u64(&x->out, EVENT_TYPE, TYPE_COUNTER);
	proto_u64(&x->out, EVENT_TRACK, id);
	put_value(x, v);
	proto_end(&x->out, event);
	proto_end(&x->out, packet);
}

static bool is_counter(const struct trace_event *ev, size_t field)
{
	const struct field_units *m = trace_field_units(ev->schema, field);
	const struct dial9_value *v = &ev->values[field];
	uint64_t n;

	return (m->kind == FIELD_UNITS_COUNTER || m->kind == FIELD_UNITS_GAUGE) &&
	       (v->type == DIAL9_F64 || v->type == DIAL9_I64 || trace_value_u64(v, &n));
}

void perfetto_counters(struct export *x, const struct export_thread *t,
		       const struct trace_event *ev)
{
	/* the idle threads of all CPUs are one */
	t = t && t->tid ? t : NULL;
	for (size_t i = 0; i < ev->schema->field_cnt; i++)
		if (is_counter(ev, i))
			put_count(x, announce_counter(x, t, ev, i), ev->ts, &ev->values[i]);
}

void perfetto_tracks_fini(struct perfetto *p)
{
	hmap_fini(&p->counters);
	hmap_fini(&p->tracks);
}
