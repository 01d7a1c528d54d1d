// SPDX-License-Identifier: BSD-2-Clause
/*
 * A Heph trace as JSON lines, and in numbers.
 *
 * A line is a packet, or a range of bytes that is not a packet; nothing is joined, converted or
 * skipped. The scanner may return a range in several pieces; it is one line, which is printed when
 * the next packet comes.
 */
#include "formats/heph/heph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "formats/heph/attributes.h"
#include "formats/heph/counters.h"
#include "formats/heph/scan.h"

#define OUT_SZ (64u << 10)

struct dumper {
	struct buf out;
	bool in_damage; /* held back: */
	enum heph_damage damage;
	uint64_t off, sz;
	uint32_t claimed;
};

/* Text and, when it is not UTF-8, its bytes. */
static void put_text(struct buf *out, const char *key, struct dial9_str s)
{
	buf_printf(out, ", \"%s\": ", key);
	str_json(out, s.ptr, s.len);
	if (dial9_utf8_valid_len(s.ptr, s.len) == s.len)
		return;
	buf_printf(out, ", \"%s_hex\": \"", key);
	str_hex(out, s.ptr, s.len);
	buf_addch(out, '"');
}

static void put_fault(struct buf *out, const struct heph_item *it)
{
	buf_addstr(out, ", \"bad\": \"");
	heph_attr_fault(out, &it->fault, it->off);
	buf_addch(out, '"');
}

static void put_attr(struct buf *out, const struct heph_attr *a)
{
	struct buf name = { 0 };

	/* The first member has no comma in front. */
	put_text(&name, "name", a->name);
	buf_addch(out, '{');
	buf_add(out, name.data + 2, name.len - 2);
	buf_free(&name);
	buf_printf(out, ", \"type\": \"%s\"", heph_attr_type_name(a->type));
	if (a->type == HEPH_STR) {
		put_text(out, "value", a->text);
	} else {
		buf_addstr(out, ", \"value\": ");
		heph_attr_json(out, a);
	}
	buf_addch(out, '}');
}

static void put_attrs(struct buf *out, const struct heph_item *it)
{
	struct dial9_str rest = it->event.attrs;
	struct heph_fault fault;
	struct heph_attr attr;
	const char *sep = "";

	buf_addstr(out, ", \"attrs\": [");
	while (heph_wire_attr(&rest, it->p, &attr, &fault) > 0) {
		buf_addstr(out, sep);
		put_attr(out, &attr);
		sep = ", ";
	}
	buf_addch(out, ']');
	if (it->fault.kind == HEPH_FINE)
		return;
	put_fault(out, it);
	buf_printf(out, ", \"undecoded_hex_len\": %zu", rest.len);
}

static void put_head(struct buf *out, const struct heph_item *it, uint64_t size)
{
	const struct heph_event *ev = &it->event;

	buf_printf(out, "{\"off\": %" PRIu64 ", \"size\": %" PRIu64 ", \"kind\": \"%s\"", it->off,
		   size, it->is_event ? "event" : "metadata");
	if (it->is_event)
		buf_printf(out,
			   ", \"stream\": %" PRIu32 ", \"count\": %" PRIu32
			   ", \"substream\": %" PRIu64 ", \"start\": %" PRIu64
			   ", \"end\": %" PRIu64,
			   ev->stream, ev->counter, ev->substream, ev->start_ns, ev->end_ns);
}

static void put_meta(struct buf *out, const struct heph_item *it)
{
	const struct heph_meta *m = &it->meta;

	put_head(out, it, it->sz);
	put_text(out, "option", m->name);
	if (heph_scan_is_epoch(m)) {
		buf_printf(out, ", \"epoch\": %" PRIu64, heph_wire_u64(m->value.ptr));
	} else {
		buf_addstr(out, ", \"value_hex\": \"");
		str_hex(out, m->value.ptr, m->value.len);
		buf_addch(out, '"');
	}
	buf_addstr(out, "}\n");
}

static void end_damage(struct dumper *d)
{
	if (!d->in_damage)
		return;
	d->in_damage = false;
	if (d->damage == HEPH_NO_PACKET)
		buf_printf(&d->out,
			   "{\"off\": %" PRIu64 ", \"bad\": \"no packet\", \"skipped\": %" PRIu64
			   "}\n",
			   d->off, d->sz);
	else
		buf_printf(&d->out,
			   "{\"off\": %" PRIu64
			   ", \"bad\": \"truncated packet\", \"size\": %" PRIu32
			   ", \"have\": %" PRIu64 "}\n",
			   d->off, d->claimed, d->sz);
}

static void put_damage(struct dumper *d, const struct heph_item *it)
{
	if (it->damage == HEPH_CUT) {
		put_head(&d->out, it, it->claimed);
		put_fault(&d->out, it);
		buf_addstr(&d->out, "}\n");
		return;
	}
	d->in_damage = true;
	d->damage = it->damage;
	d->off = it->off;
	d->sz = it->sz;
	d->claimed = it->claimed;
}

static void put_item(struct dumper *d, const struct heph_item *it)
{
	if (it->kind == HEPH_DAMAGE && !it->fresh) {
		d->sz += it->sz;
		return;
	}
	end_damage(d);
	switch (it->kind) {
	case HEPH_META:
		put_meta(&d->out, it);
		break;
	case HEPH_EVENT:
		put_head(&d->out, it, it->sz);
		put_text(&d->out, "desc", it->event.desc);
		put_attrs(&d->out, it);
		buf_addstr(&d->out, "}\n");
		break;
	case HEPH_DAMAGE:
		put_damage(d, it);
		break;
	}
}

static int flush(struct dumper *d, dial9_write_fn write, void *ctx)
{
	int err = d->out.len ? write(ctx, d->out.data, d->out.len) : 0;

	buf_clear(&d->out);
	return err;
}

static void note_item(struct foreign_notes *notes, const struct heph_item *it)
{
	if (it->kind == HEPH_DAMAGE && it->fresh)
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, heph_scan_damage_name(it->damage),
			     "byte %" PRIu64, it->off);
	if (it->kind == HEPH_EVENT && it->fault.kind != HEPH_FINE)
		foreign_note(notes, FOREIGN_NOTE_DAMAGED, 1, "undecodable attributes",
			     "byte %" PRIu64, it->off);
}

static int conclude(const struct foreign_input *in, uint64_t packets)
{
	if (packets)
		return 0;
	log_error("heph: %s: no packet in it", in->name);
	return -EBADMSG;
}

int heph_dump(const struct foreign_input *in, const struct foreign_opts *opts, dial9_write_fn write,
	      void *ctx, struct foreign_notes *notes)
{
	struct dumper d = { 0 };
	struct heph_scan *scan;
	uint64_t packets = 0;
	struct heph_item it;
	int ret, err = 0;

	heph_scan_new(in, opts->follow, &scan);
	while (!err && (ret = heph_scan_next(scan, &it)) > 0) {
		packets += it.kind != HEPH_DAMAGE;
		note_item(notes, &it);
		put_item(&d, &it);
		if (d.out.len >= OUT_SZ || opts->follow)
			err = flush(&d, write, ctx);
	}
	if (!err)
		err = ret;
	end_damage(&d);
	if (!err)
		err = flush(&d, write, ctx);
	heph_scan_free(scan);
	buf_free(&d.out);
	return err ? err : conclude(in, packets);
}

/*
 * ---- info ---------------------------------------------------------------------------------------
 */

#define DESCRIPTIONS_MAX 65536

struct totals {
	struct heph_counters counts;
	struct strtab descs;
	uint64_t events, options, attrs, bad_attrs, damages, damaged_bytes, epochs, epoch;
	uint64_t first_ns, last_ns;
};

static void add_event(struct totals *t, const struct heph_item *it)
{
	const struct heph_event *ev = &it->event;
	struct dial9_str rest = ev->attrs;
	uint64_t last = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns;
	struct heph_fault fault;
	struct heph_attr attr;

	heph_counters_add(&t->counts, ev->stream, ev->counter);
	if (!t->events || ev->start_ns < t->first_ns)
		t->first_ns = ev->start_ns;
	if (last > t->last_ns)
		t->last_ns = last;
	t->events++;
	while (heph_wire_attr(&rest, it->p, &attr, &fault) > 0)
		t->attrs++;
	t->bad_attrs += it->fault.kind != HEPH_FINE;
	if (t->descs.cnt < DESCRIPTIONS_MAX)
		strtab_add(&t->descs, ev->desc.ptr, ev->desc.len);
}

static void add_item(struct totals *t, const struct heph_item *it)
{
	switch (it->kind) {
	case HEPH_EVENT:
		add_event(t, it);
		break;
	case HEPH_META:
		if (heph_scan_is_epoch(&it->meta)) {
			t->epochs++;
			t->epoch = heph_wire_u64(it->meta.value.ptr);
		} else {
			t->options++;
		}
		break;
	case HEPH_DAMAGE:
		t->damages += it->fresh;
		t->damaged_bytes += it->sz;
		break;
	}
}

static void put_facts(struct foreign_facts *f, const struct totals *t)
{
	foreign_fact_text(f, "format", "Heph trace 0.1.0");
	if (t->epochs)
		foreign_fact_text(f, "epoch", "%" PRIu64 " ns", t->epoch);
	else
		foreign_fact_text(f, "epoch", "none, times are relative");
	if (t->events)
		foreign_fact_ns(f, "span", t->last_ns - t->first_ns, 9);
	foreign_fact_count(f, "events", t->events);
	foreign_fact_count(f, "metadata", t->epochs + t->options);
	foreign_fact_count(f, "streams", t->counts.cnt);
	if (t->descs.cnt < DESCRIPTIONS_MAX)
		foreign_fact_count(f, "descriptions", t->descs.cnt);
	else
		foreign_fact_text(f, "descriptions", "%d or more", DESCRIPTIONS_MAX);
	foreign_fact_count(f, "attributes", t->attrs);
	foreign_fact_count(f, "lost packets", t->counts.lost_cnt);
	if (t->bad_attrs)
		foreign_fact_count(f, "events with undecodable attributes", t->bad_attrs);
	foreign_fact_count(f, "damaged places", t->damages);
	if (t->damages)
		foreign_fact_count(f, "bytes skipped", t->damaged_bytes);
}

int heph_info(const struct foreign_input *in, const struct foreign_opts *opts,
	      struct foreign_facts *facts, struct foreign_notes *notes)
{
	struct totals t = { 0 };
	struct heph_scan *scan;
	struct heph_item it;
	int ret;

	heph_scan_new(in, opts->follow, &scan);
	while ((ret = heph_scan_next(scan, &it)) > 0) {
		note_item(notes, &it);
		add_item(&t, &it);
	}
	heph_scan_free(scan);
	heph_counters_finish(&t.counts);
	if (!ret)
		ret = conclude(in, t.events + t.epochs + t.options);
	if (!ret)
		put_facts(facts, &t);
	heph_counters_fini(&t.counts);
	strtab_fini(&t.descs);
	return ret;
}
