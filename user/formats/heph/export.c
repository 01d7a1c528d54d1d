// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any dial9 trace as a Heph trace.
 *
 * A trace that came from Heph and nothing else goes back as it was, packet by packet and byte by
 * byte (replay.c). Of any other, times become wall-clock times (each boot by its own clock event),
 * starts and ends are joined to one event, and what has no place is counted. A first pass over the
 * bytes decides which of the two it is and finds the epoch; a trace that is followed is taken
 * for the first kind until it proves to be the second.
 */
#include "formats/heph/heph.h"

#include <errno.h>
#include <string.h>

#include "base/hmap.h"
#include "formats/heph/attributes.h"
#include "formats/heph/mapping.h"
#include "formats/heph/open_spans.h"
#include "formats/heph/replay.h"
#include "formats/heph/wire.h"

#define OUT_SZ (64u << 10)
#define STREAMS_MAX (1u << 20)
#define SAME_CLOCK_NS 1000000000
#define SYMBOL "SymbolTableEntry"

/* Leaves room for the description, and for an end's attributes, which a prefix makes longer. */
#define ATTRS_MAX (HEPH_PACKET_MAX / 4)

struct exporter {
	dial9_write_fn write;
	void *ctx;
	struct foreign_notes *notes;
	struct dial9_dec *dec;
	struct heph_mappings mappings;
	struct heph_spans spans;
	struct heph_attr_out attrs;
	struct buf out;
	struct hmap counters; /* stream to its next counter, plus one */
	bool pure; /* only what an import from Heph makes, so far */
	bool is_writing; /* it is the second pass */
	bool has_clock, has_ts;
	uint64_t clock_real, clock_mono, min_ns; /* of the first clock event; the earliest time */
	bool segment_has_clock;
	__int128 epoch; /* wall-clock ns */
	__int128 shift; /* what makes a time of this segment relative to the epoch */
	uint64_t last_ns; /* of the last event, relative */
};

static int flush(struct exporter *x)
{
	int err = x->out.len ? x->write(x->ctx, x->out.data, x->out.len) : 0;

	buf_clear(&x->out);
	return err;
}

static uint64_t relative(struct exporter *x, uint64_t ts)
{
	return heph_replay_time(x->notes, x->shift + ts);
}

/*
 * ---- streams and attributes --------------------------------------------------------------------
 */

#define NO_WORKER 255

static uint32_t next_counter(struct exporter *x, uint32_t stream)
{
	uintptr_t next = (uintptr_t)hmap_get(&x->counters, stream);

	if (!next && x->counters.cnt == STREAMS_MAX) {
		foreign_note(x->notes, FOREIGN_NOTE_HINT, 1,
			     "event of too many streams to count, counter 0", NULL);
		return 0;
	}
	next = next ? next : 1;
	hmap_set(&x->counters, stream, (void *)(next == (uintptr_t)UINT32_MAX + 1 ? 1 : next + 1));
	return (uint32_t)(next - 1);
}

/* Counts the event and writes it, with the attributes that x->attrs holds. */
static void put_counted(struct exporter *x, struct heph_event *ev)
{
	ev->counter = next_counter(x, ev->stream);
	ev->desc = heph_attr_fit(&x->attrs, ev->desc);
	heph_replay_put(&x->out, &x->attrs, ev);
}

/* Which fields have become something else than an attribute. */
struct used {
	size_t stream, substream, time, name;
};

static bool number_of(const struct dial9_event *ev, size_t field, uint64_t max, uint64_t *out)
{
	if (field == HEPH_MAPPING_NONE || !ev->values[field].type || ev->values[field].u64 > max)
		return false;
	*out = ev->values[field].u64;
	return true;
}

static void find_stream(const struct heph_mapping *mapping, const struct dial9_event *ev,
			struct heph_event *out, struct used *used)
{
	uint64_t n = 0;

	*used = (struct used){ HEPH_MAPPING_NONE, HEPH_MAPPING_NONE, HEPH_MAPPING_NONE,
			       HEPH_MAPPING_NONE };
	/* 255 stands for a thread that is no worker: the thread says more. */
	if (number_of(ev, mapping->worker, UINT32_MAX, &n) &&
	    (n != NO_WORKER || mapping->tid == HEPH_MAPPING_NONE))
		used->stream = mapping->worker;
	else if (number_of(ev, mapping->tid, UINT32_MAX, &n))
		used->stream = mapping->tid;
	else
		n = 0;
	out->stream = (uint32_t)n;
	if (number_of(ev, mapping->task, UINT64_MAX, &out->substream))
		used->substream = mapping->task;
	else if (number_of(ev, mapping->span, UINT64_MAX, &out->substream))
		used->substream = mapping->span;
}

static void put_fields(struct exporter *x, const struct heph_mapping *mapping,
		       const struct dial9_event *ev, const struct used *used)
{
	for (size_t i = 0; i < mapping->cnt; i++)
		if (i != used->stream && i != used->substream && i != used->time && i != used->name)
			heph_attr_put(&x->attrs, heph_attr_fit(&x->attrs, mapping->names[i]),
				      &ev->values[i]);
}

/* Some writers have names of addresses in a type with times, and put 0 there. */
static bool is_timed(const struct dial9_event *ev)
{
	return ev->has_ts && (ev->ts || strcmp(dial9_schema_name(ev->schema), SYMBOL) != 0);
}

static uint64_t time_of(struct exporter *x, const struct dial9_event *ev)
{
	if (is_timed(ev))
		x->last_ns = relative(x, ev->ts);
	else
		foreign_note(x->notes, FOREIGN_NOTE_CHANGED, 1,
			     "event without a time, at the time before", NULL);
	return x->last_ns;
}

static void write_instant(struct exporter *x, const struct heph_mapping *mapping,
			  const struct dial9_event *ev)
{
	struct heph_event out = { .desc = mapping->desc };
	struct used used;
	uint64_t n;

	find_stream(mapping, ev, &out, &used);
	out.start_ns = out.end_ns = time_of(x, ev);
	if (ev->has_ts && number_of(ev, mapping->duration, UINT64_MAX, &n)) {
		used.time = mapping->duration;
		out.end_ns = heph_replay_time(x->notes, (__int128)out.start_ns + n);
	} else if (ev->has_ts && number_of(ev, mapping->end, UINT64_MAX, &n)) {
		used.time = mapping->end;
		out.end_ns = relative(x, n);
	}
	put_fields(x, mapping, ev, &used);
	put_counted(x, &out);
}

/* What was imported from Heph, in a trace that holds other things as well. */
static void write_among_others(struct exporter *x, const struct heph_mapping *mapping,
			       const struct dial9_event *ev)
{
	struct heph_event out = { 0 };
	uint64_t start;

	if (mapping->kind == HEPH_MAPPING_PACKET) {
		if (!heph_replay_packet(&ev->values[6], &out)) {
			write_instant(x, mapping, ev);
			return;
		}
		buf_add(&x->attrs.buf, out.attrs.ptr, out.attrs.len);
	} else {
		heph_replay_fields(&x->attrs, mapping, ev, &out);
	}
	start = time_of(x, ev);
	out.end_ns = heph_replay_time(x->notes, (__int128)start + out.end_ns - out.start_ns);
	out.start_ns = start;
	out.counter = next_counter(x, out.stream);
	heph_replay_put(&x->out, &x->attrs, &out);
}

/*
 * ---- starts and ends ----------------------------------------------------------------------------
 */

static void put_span(struct exporter *x, const struct heph_span *span, uint64_t end_ns)
{
	struct heph_event out = { .stream = span->stream,
				  .substream = span->substream,
				  .start_ns = span->start_ns,
				  .end_ns = end_ns,
				  .desc = { span->desc.data, span->desc.len } };

	put_counted(x, &out);
}

static void end_unfinished(struct exporter *x, struct heph_span *span)
{
	buf_clear(&x->attrs.buf);
	buf_add(&x->attrs.buf, span->attrs.data, span->attrs.len);
	heph_attr_put_u64(&x->attrs, "unfinished", 1);
	foreign_note(x->notes, FOREIGN_NOTE_HINT, 1, "start without an end, marked unfinished",
		     NULL);
	put_span(x, span, x->last_ns > span->start_ns ? x->last_ns : span->start_ns);
	heph_span_free(span);
}

static uint64_t key_of(const struct heph_mapping *mapping, const struct dial9_event *ev,
		       bool is_poll)
{
	uint64_t id = 0;

	if (!is_poll)
		number_of(ev, mapping->span, UINT64_MAX, &id);
	return id;
}

static void put_start(struct exporter *x, const struct heph_mapping *mapping,
		      const struct dial9_event *ev, bool is_poll, struct heph_event *out)
{
	static const char prefix[] = "SpanEnter:";
	struct used used;

	find_stream(mapping, ev, out, &used);
	out->start_ns = time_of(x, ev);
	out->desc = is_poll ? (struct dial9_str){ "Poll", 4 } : mapping->desc;
	if (!is_poll && mapping->span_name != HEPH_MAPPING_NONE &&
	    !dial9_value_str(x->dec, &ev->values[mapping->span_name], &out->desc))
		used.name = mapping->span_name;
	put_fields(x, mapping, ev, &used);
	/*
	 * The type's name says where in the source; its span's name is no more than a part of that.
	 */
	if (used.name != HEPH_MAPPING_NONE && mapping->desc.len > sizeof(prefix) - 1 &&
	    !memcmp(mapping->desc.ptr, prefix, sizeof(prefix) - 1))
		heph_attr_put_text(&x->attrs, (struct dial9_str){ "callsite", 8 },
				   (struct dial9_str){ mapping->desc.ptr + sizeof(prefix) - 1,
						       mapping->desc.len - sizeof(prefix) + 1 });
}

static void write_start(struct exporter *x, const struct heph_mapping *mapping,
			const struct dial9_event *ev)
{
	bool is_poll = mapping->kind == HEPH_MAPPING_POLL_START;
	uint64_t worker = 0, id = key_of(mapping, ev, is_poll);
	struct heph_event out = { 0 };
	struct heph_span *span;

	number_of(ev, mapping->worker, UINT64_MAX, &worker);
	put_start(x, mapping, ev, is_poll, &out);
	/* A worker polls one task at a time, so the end of the poll before is missing. */
	span = is_poll ? heph_span_remove(&x->spans, true, worker, 0) : NULL;
	if (span) {
		struct buf keep = x->attrs.buf;

		x->attrs.buf = (struct buf){ 0 };
		end_unfinished(x, span);
		buf_free(&x->attrs.buf);
		x->attrs.buf = keep;
	}
	span = heph_span_add(&x->spans, is_poll, worker, id);
	if (!span) {
		foreign_note(x->notes, FOREIGN_NOTE_CHANGED, 1,
			     "start while too many are open, as an instant", NULL);
		out.end_ns = out.start_ns;
		put_counted(x, &out);
		return;
	}
	span->start_ns = out.start_ns;
	span->stream = out.stream;
	span->substream = out.substream;
	buf_add(&span->desc, out.desc.ptr, out.desc.len);
	buf_add(&span->attrs, x->attrs.buf.data, x->attrs.buf.len);
	heph_span_weigh(&x->spans, span);
	buf_clear(&x->attrs.buf);
}

/* 1: the start has this attribute, name and value; 0: the name only; -1: neither. */
static int compare(const struct buf *start, const struct heph_attr *a, const char *raw, size_t sz)
{
	struct dial9_str rest = { start->data, start->len }, at;
	struct heph_fault fault;
	struct heph_attr b;
	int found = -1;

	for (at = rest; heph_wire_attr(&rest, start->data, &b, &fault) > 0; at = rest) {
		if (a->name.len != b.name.len || memcmp(a->name.ptr, b.name.ptr, b.name.len) != 0)
			continue;
		found = 0;
		if ((size_t)(rest.ptr - at.ptr) == sz && !memcmp(at.ptr, raw, sz))
			return 1;
	}
	return found;
}

/*
 * Adds the attributes of the end, in x->attrs, to the attributes of the start: new and
 * different attributes.
 */
static void join_attrs(struct exporter *x, const struct heph_span *span)
{
	struct buf of_end = x->attrs.buf, name = { 0 };
	struct dial9_str rest = { of_end.data, of_end.len }, at;
	struct heph_fault fault;
	struct heph_attr a;
	int same;

	x->attrs.buf = (struct buf){ 0 };
	buf_add(&x->attrs.buf, span->attrs.data, span->attrs.len);
	for (at = rest; heph_wire_attr(&rest, of_end.data, &a, &fault) > 0; at = rest) {
		same = compare(&span->attrs, &a, at.ptr, (size_t)(rest.ptr - at.ptr));
		if (same == 1)
			continue;
		if (!same && a.name.len + 5 <= HEPH_TEXT_MAX) {
			buf_clear(&name);
			buf_addstr(&name, "exit.");
			buf_add(&name, a.name.ptr, a.name.len);
			a.name = (struct dial9_str){ name.data, name.len };
		}
		heph_wire_put_attr(&x->attrs.buf, &a);
	}
	buf_free(&name);
	buf_free(&of_end);
}

static void write_end(struct exporter *x, const struct heph_mapping *mapping,
		      const struct dial9_event *ev)
{
	bool is_poll = mapping->kind == HEPH_MAPPING_POLL_END;
	uint64_t worker = 0, id = key_of(mapping, ev, is_poll);
	struct heph_event end = { 0 };
	struct heph_span *span;
	struct used used;

	number_of(ev, mapping->worker, UINT64_MAX, &worker);
	span = heph_span_remove(&x->spans, is_poll, worker, id);
	if (!span) {
		foreign_note(x->notes, FOREIGN_NOTE_HINT, 1, "end without a start, as an instant",
			     NULL);
		write_instant(x, mapping, ev);
		return;
	}
	find_stream(mapping, ev, &end, &used);
	if (!is_poll)
		used.name = mapping->span_name;
	put_fields(x, mapping, ev, &used);
	join_attrs(x, span);
	put_span(x, span, time_of(x, ev));
	heph_span_free(span);
}

/*
 * ---- the run ------------------------------------------------------------------------------------
 */

/* Called once it is known that the trace holds more than what came from Heph. */
static void begin_mixed(struct exporter *x)
{
	__int128 epoch = x->min_ns;

	x->pure = false;
	x->shift = -epoch;
	if (x->has_clock) {
		/* Times relative to the zero of the trace's clock, unless that was before 1970. */
		epoch = (__int128)x->clock_real - x->clock_mono;
		x->shift = 0;
		if (epoch < 0) {
			x->shift = epoch;
			epoch = 0;
		}
	} else if (x->has_ts) {
		foreign_note(x->notes, FOREIGN_NOTE_HINT, 1,
			     "no wall-clock time: the epoch is the earliest timestamp", NULL);
	}
	x->epoch = epoch;
	if (x->has_clock || x->has_ts)
		heph_replay_epoch(&x->out, heph_replay_time(x->notes, epoch));
}

static void set_first_clock(struct exporter *x, const struct dial9_event *ev)
{
	if (x->has_clock || !ev->has_ts)
		return;
	x->has_clock = true;
	x->clock_real = ev->values[0].u64;
	x->clock_mono = ev->ts;
}

static void update_min_time(struct exporter *x, const struct dial9_event *ev)
{
	if (!is_timed(ev))
		return;
	if (!x->has_ts || ev->ts < x->min_ns)
		x->min_ns = ev->ts;
	x->has_ts = true;
}

/*
 * A segment's own clock event. The two clocks are not read at the same time, so clock events of a boot
 * differ by some ns; only with the first event for the whole boot, intervals keep their lengths. Another
 * boot, or another host, is further away than that.
 */
static void set_clock(struct exporter *x, const struct dial9_event *ev)
{
	__int128 shift = (__int128)ev->values[0].u64 - ev->ts - x->epoch;
	__int128 apart = shift > x->shift ? shift - x->shift : x->shift - shift;

	if (apart >= SAME_CLOCK_NS)
		x->shift = shift;
	x->segment_has_clock = true;
}

static void write_mixed(struct exporter *x, const struct heph_mapping *mapping,
			const struct dial9_event *ev)
{
	switch (mapping->kind) {
	case HEPH_MAPPING_FIELDS:
	case HEPH_MAPPING_PACKET:
		write_among_others(x, mapping, ev);
		break;
	case HEPH_MAPPING_INVALID:
		foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, ev->values[1].str.len,
			     "damaged bytes of a Heph trace", NULL);
		break;
	case HEPH_MAPPING_SPAN_ENTER:
	case HEPH_MAPPING_POLL_START:
		write_start(x, mapping, ev);
		break;
	case HEPH_MAPPING_SPAN_EXIT:
	case HEPH_MAPPING_POLL_END:
		write_end(x, mapping, ev);
		break;
	case HEPH_MAPPING_CLOCK:
		if (ev->has_ts && !x->segment_has_clock)
			set_clock(x, ev);
		write_instant(x, mapping, ev);
		break;
	case HEPH_MAPPING_METADATA:
	case HEPH_MAPPING_LOST:
	case HEPH_MAPPING_OTHER:
		write_instant(x, mapping, ev);
		break;
	}
}

static void export_event(struct exporter *x, const struct dial9_event *ev)
{
	const struct heph_mapping *mapping =
		heph_mapping_get(&x->mappings, ev->type_id, ev->schema);

	buf_clear(&x->attrs.buf);
	if (x->pure && heph_replay_is(mapping, ev)) {
		heph_replay_write(&x->out, &x->attrs, mapping, ev);
		if (mapping->kind == HEPH_MAPPING_CLOCK)
			set_first_clock(x, ev);
		return;
	}
	if (x->pure) {
		update_min_time(x, ev);
		begin_mixed(x);
	}
	write_mixed(x, mapping, ev);
}

/* The first pass: what kind of trace it is, and its clock. */
static void survey_event(struct exporter *x, const struct dial9_event *ev)
{
	const struct heph_mapping *mapping =
		heph_mapping_get(&x->mappings, ev->type_id, ev->schema);

	if (mapping->kind == HEPH_MAPPING_CLOCK)
		set_first_clock(x, ev);
	update_min_time(x, ev);
	x->pure = x->pure && heph_replay_is(mapping, ev);
}

static void check_annotations(struct exporter *x, const struct dial9_frame *f)
{
	const struct dial9_schema *schema = dial9_dec_schema(x->dec, f->pool.type_id);
	struct dial9_iter it = f->pool.iter;
	struct dial9_str key, value;
	uint16_t field;

	while (schema && dial9_annotations_next(&it, &field, &key, &value) > 0) {
		heph_mapping_annotate(&x->mappings, f->pool.type_id, schema, field, key, value);
		if (x->is_writing && !x->pure)
			foreign_note(x->notes, FOREIGN_NOTE_NOT_KEPT, 1, "annotation of a field",
				     NULL);
	}
}

static int each_frame(struct exporter *x,
		      void (*on_event)(struct exporter *, const struct dial9_event *))
{
	struct dial9_frame f;
	int ret, err = 0;

	while (!err && (ret = dial9_dec_next(x->dec, &f)) == 1) {
		if (f.kind == DIAL9_FRAME_EVENT)
			on_event(x, &f.event);
		else if (f.kind == DIAL9_FRAME_ANNOTATIONS)
			check_annotations(x, &f);
		else if (f.kind == DIAL9_FRAME_MIDHEADER)
			heph_mapping_clear(&x->mappings);
		if (f.kind == DIAL9_FRAME_MIDHEADER)
			x->segment_has_clock = false;
		if (x->out.len >= OUT_SZ)
			err = flush(x);
	}
	return err ? err : ret;
}

static int pass(struct exporter *x, const struct foreign_input *in,
		void (*on_event)(struct exporter *, const struct dial9_event *))
{
	int err = foreign_open_dec(in, &x->dec);

	if (err)
		return err;
	x->attrs.dec = x->dec;
	return each_frame(x, on_event);
}

static void end_pass(struct exporter *x)
{
	heph_mapping_clear(&x->mappings);
	dial9_dec_free(x->dec);
	x->dec = NULL;
}

static int survey(struct exporter *x, const struct foreign_input *in)
{
	int err;

	x->pure = true;
	if (!in->rewind)
		return 0;
	err = pass(x, in, survey_event);
	end_pass(x);
	/* Damage is met again, and reported, by the second pass. */
	if (err && err != -ENODATA && !foreign_is_stop(err))
		return err;
	err = in->rewind(in->ctx);
	if (!err && !x->pure)
		begin_mixed(x);
	return err;
}

int heph_export(const struct foreign_input *in, const struct foreign_opts *opts,
		dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	struct exporter x = { .write = write, .ctx = ctx, .notes = notes };
	struct dial9_error where = { 0 };
	struct heph_span *span;
	int err, wrote;

	x.attrs.notes = notes;
	x.attrs.max = ATTRS_MAX;
	err = survey(&x, in);
	x.is_writing = true;
	if (!err) {
		err = pass(&x, in, export_event);
		if (x.dec)
			dial9_dec_error(x.dec, &where);
		err = foreign_end_dec(in, err, &where, notes);
		while ((span = heph_span_shift(&x.spans)))
			end_unfinished(&x, span);
		wrote = flush(&x);
		err = wrote ? wrote : err;
	}
	end_pass(&x);
	heph_span_fini(&x.spans);
	hmap_fini(&x.counters);
	heph_attr_fini(&x.attrs);
	buf_free(&x.out);
	return err;
}
