// SPDX-License-Identifier: BSD-2-Clause
/*
 * A Heph trace as dial9 events.
 *
 * File order is kept, times stay relative to the epoch, and the epoch becomes a clock event at time
 * 0: so an epoch may stand anywhere, nothing is added to times that may be near 2^64, and the way
 * back gives the same bytes. Bytes that are no packet go along as events of their own. What an
 * event cannot be given as fields (too many kinds, names or text that are not UTF-8) is carried as
 * its packet, in addition to readable fields.
 *
 * Memory is bounded: layouts and descriptions by their table, pooled text by a budget for each
 * attribute name, streams by the counters' table, and one packet.
 */
#include "formats/heph/heph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "formats/heph/attributes.h"
#include "formats/heph/counters.h"
#include "formats/heph/layout.h"
#include "formats/heph/scan.h"

/* Text up to this length is pooled, if an attribute has few different texts. */
#define POOLED_LEN_MAX 256
#define POOLED_PER_NAME 4096
#define POOLED_ALL 65536
#define POOLED_NAMES 4096

#define INVALID_PIECE (64u << 10)

struct importer {
	struct dial9_enc *enc;
	struct foreign_notes *notes;
	int level;
	struct heph_layouts *layouts;
	struct heph_counters counts;
	struct dial9_schema *clock, *metadata, *invalid, *lost;
	uint64_t last_ns; /* of the last event: where things without time are put */
	uint64_t packets, epochs;
	struct strtab pooled; /* all texts that are in the pool */
	struct strtab pool_names; /* attributes that have pooled text; id: index in pool_cnt */
	uint32_t pool_cnt[POOLED_NAMES];
	struct buf text;
	struct heph_attr attrs[HEPH_LAYOUT_ATTRS_MAX];
	uint8_t types[HEPH_LAYOUT_ATTRS_MAX];
};

static bool is_utf8(struct dial9_str s)
{
	return dial9_utf8_valid_len(s.ptr, s.len) == s.len;
}

static void damaged(struct importer *im, const struct heph_item *it, const char *kind)
{
	foreign_note(im->notes, FOREIGN_NOTE_DAMAGED, 1, kind, "byte %" PRIu64, it->off);
}

/*
 * ---- text: pooled or not ------------------------------------------------------------------------
 */

static bool is_pooled(struct importer *im, struct dial9_str name, struct dial9_str text)
{
	uint32_t id;

	if (text.len > POOLED_LEN_MAX)
		return false;
	if (strtab_find(&im->pooled, text.ptr, text.len) != UINT32_MAX)
		return true;
	id = strtab_find(&im->pool_names, name.ptr, name.len);
	if (id == UINT32_MAX) {
		if (im->pool_names.cnt == POOLED_NAMES)
			return false;
		id = strtab_add(&im->pool_names, name.ptr, name.len);
	}
	if (im->pool_cnt[id] == POOLED_PER_NAME || im->pooled.cnt == POOLED_ALL)
		return false;
	im->pool_cnt[id]++;
	strtab_add(&im->pooled, text.ptr, text.len);
	return true;
}

static uint8_t text_type(struct importer *im, struct dial9_str name, struct dial9_str text)
{
	if (!is_utf8(text))
		return DIAL9_BYTES;
	return is_pooled(im, name, text) ? DIAL9_POOLED_STRING : DIAL9_STRING;
}

static uint8_t dial9_type(struct importer *im, const struct heph_attr *a)
{
	if (a->type & HEPH_ARRAY)
		return im->level >= DIAL9_LEVEL_4 ? DIAL9_LIST : DIAL9_STRING;
	switch ((enum heph_type)a->type) {
	case HEPH_U64:
		return DIAL9_VARINT;
	case HEPH_I64:
		return DIAL9_I64;
	case HEPH_F64:
		return DIAL9_F64;
	case HEPH_STR:
	case HEPH_ARRAY:
		break;
	}
	return text_type(im, a->name, a->text);
}

/*
 * ---- an event as fields -------------------------------------------------------------------------
 */

static double f64_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_scalar(struct importer *im, uint8_t type, uint64_t bits, struct dial9_str text)
{
	switch (type & (uint8_t)~HEPH_ARRAY) {
	case HEPH_U64:
		dial9_enc_put_u64(im->enc, bits);
		break;
	case HEPH_I64:
		dial9_enc_put_i64(im->enc, (int64_t)bits);
		break;
	case HEPH_F64:
		dial9_enc_put_f64(im->enc, f64_of(bits));
		break;
	default:
		if (is_utf8(text))
			dial9_enc_put_str(im->enc, text.ptr, text.len);
		else
			dial9_enc_put_bytes(im->enc, text.ptr, text.len);
		break;
	}
}

static void put_attr(struct importer *im, const struct heph_attr *a)
{
	struct dial9_str elems = a->elems, text = { 0 };
	uint64_t bits = 0;

	if (!(a->type & HEPH_ARRAY)) {
		put_scalar(im, a->type, a->bits, a->text);
		return;
	}
	if (im->level < DIAL9_LEVEL_4) {
		buf_clear(&im->text);
		heph_attr_json(&im->text, a);
		dial9_enc_put_str(im->enc, im->text.data, im->text.len);
		foreign_note(im->notes, FOREIGN_NOTE_CHANGED, 1, "array as JSON text",
			     "\"%.*s\"; --spec 0.4 keeps arrays",
			     (int)(a->name.len < 64 ? a->name.len : 64), a->name.ptr);
		return;
	}
	dial9_enc_open_list(im->enc);
	while (heph_wire_elem(&elems, a->type, &bits, &text))
		put_scalar(im, a->type, bits, text);
	dial9_enc_close(im->enc);
}

/* Errors stay in the encoder until the end of the event, so only that result is checked. */
static void put_fixed(struct importer *im, const struct heph_event *ev)
{
	dial9_enc_put_u64(im->enc, ev->stream);
	dial9_enc_put_u64(im->enc, ev->counter);
	dial9_enc_put_u64(im->enc, ev->substream);
	dial9_enc_put_u64(im->enc,
			  ev->end_ns < ev->start_ns ? ev->end_ns : ev->end_ns - ev->start_ns);
}

/* Which element type a list has must be said once, for the lists that are empty. */
static int annotate_lists(struct importer *im, const struct heph_layout *layout,
			  const struct heph_layout_key *key)
{
	static const struct dial9_str type_key = { HEPH_LAYOUT_TYPE_KEY,
						   sizeof(HEPH_LAYOUT_TYPE_KEY) - 1 };
	size_t first = HEPH_LAYOUT_FIXED_CNT + layout->has_desc;
	struct dial9_str value;
	int err = 0;

	for (size_t i = 0; !err && i < key->cnt; i++) {
		if (key->types[i] != DIAL9_LIST)
			continue;
		value.ptr = heph_attr_type_name(key->attrs[i].type);
		value.len = strlen(value.ptr);
		err = dial9_enc_annotate(im->enc, layout->schema, (uint16_t)(first + i), type_key,
					 value);
	}
	return err;
}

static int write_fields(struct importer *im, const struct heph_event *ev,
			const struct heph_layout *layout, const struct heph_layout_key *key,
			struct dial9_str tail)
{
	dial9_enc_begin(im->enc, layout->schema, ev->start_ns);
	put_fixed(im, ev);
	if (layout->has_desc)
		dial9_enc_put_str(im->enc, ev->desc.ptr, ev->desc.len);
	for (size_t i = 0; i < key->cnt; i++)
		put_attr(im, &key->attrs[i]);
	if (key->undecoded)
		dial9_enc_put_bytes(im->enc, tail.ptr, tail.len);
	return dial9_enc_end(im->enc);
}

/*
 * ---- an event as its packet ---------------------------------------------------------------------
 */

struct pairs {
	struct { /* where in text they are */
		size_t key, key_len, value, value_len;
	} * v;
	size_t cnt, cap;
};

static void add_pair(struct importer *im, struct pairs *p, const struct heph_attr *a)
{
	p->v = array_reserve(p->v, &p->cap, p->cnt + 1, sizeof(*p->v));
	p->v[p->cnt].key = im->text.len;
	str_escape_utf8(&im->text, a->name.ptr, a->name.len);
	p->v[p->cnt].key_len = im->text.len - p->v[p->cnt].key;
	p->v[p->cnt].value = im->text.len;
	if (a->type == HEPH_STR)
		str_escape_utf8(&im->text, a->text.ptr, a->text.len);
	else
		heph_attr_json(&im->text, a);
	p->v[p->cnt].value_len = im->text.len - p->v[p->cnt].value;
	p->cnt++;
}

static void put_pairs(struct importer *im, const struct pairs *p)
{
	struct dial9_str(*kv)[2] = xcalloc(p->cnt + 1, sizeof(*kv));

	for (size_t i = 0; i < p->cnt; i++) {
		kv[i][0] = (struct dial9_str){ im->text.data + p->v[i].key, p->v[i].key_len };
		kv[i][1] = (struct dial9_str){ im->text.data + p->v[i].value, p->v[i].value_len };
	}
	dial9_enc_put_map(im->enc, kv, p->cnt);
	free(kv);
}

static int write_packet(struct importer *im, const struct heph_item *it)
{
	const struct heph_event *ev = &it->event;
	struct dial9_str rest = ev->attrs;
	struct heph_fault fault;
	struct pairs pairs = { 0 };
	struct heph_attr attr;

	dial9_enc_begin(im->enc, heph_layout_packet(im->layouts, ev->end_ns < ev->start_ns),
			ev->start_ns);
	put_fixed(im, ev);
	buf_clear(&im->text);
	str_escape_utf8(&im->text, ev->desc.ptr, ev->desc.len);
	dial9_enc_put_str(im->enc, buf_cstr(&im->text), im->text.len);
	buf_clear(&im->text);
	while (heph_wire_attr(&rest, it->p, &attr, &fault) > 0)
		add_pair(im, &pairs, &attr);
	put_pairs(im, &pairs);
	dial9_enc_put_bytes(im->enc, it->p, it->sz);
	free(pairs.v);
	return dial9_enc_end(im->enc);
}

/*
 * ---- packets ------------------------------------------------------------------------------------
 */

static void note_event(struct importer *im, const struct heph_item *it)
{
	struct buf why = { 0 };

	if (it->event.end_ns < it->event.start_ns)
		foreign_note(im->notes, FOREIGN_NOTE_HINT, 1, "event that ends before it starts",
			     "byte %" PRIu64, it->off);
	if (it->fault.kind == HEPH_FINE)
		return;
	heph_attr_fault(&why, &it->fault, it->off);
	foreign_note(im->notes, FOREIGN_NOTE_DAMAGED, 1, "undecodable attributes, kept as bytes",
		     "byte %" PRIu64 ": %s", it->off, buf_cstr(&why));
	buf_free(&why);
}

static int import_event(struct importer *im, const struct heph_item *it)
{
	const struct heph_event *ev = &it->event;
	const struct heph_layout *layout = NULL;
	struct heph_layout_key key = { .ends_before = ev->end_ns < ev->start_ns,
				       .desc = ev->desc,
				       .attrs = im->attrs,
				       .types = im->types };
	struct dial9_str rest = ev->attrs;
	struct heph_fault fault;
	bool is_new = false;
	int err;

	err = heph_counters_add(&im->counts, ev->stream, ev->counter);
	if (err)
		return err;
	im->last_ns = ev->start_ns;
	note_event(im, it);
	while (key.cnt < HEPH_LAYOUT_ATTRS_MAX &&
	       heph_wire_attr(&rest, it->p, &im->attrs[key.cnt], &fault) > 0) {
		im->types[key.cnt] = dial9_type(im, &im->attrs[key.cnt]);
		key.cnt++;
	}
	key.undecoded = it->fault.kind != HEPH_FINE;
	/* More attributes than fit leave a tail that is not damage. */
	if (is_utf8(ev->desc) && (!rest.len || key.undecoded) && key.cnt < HEPH_LAYOUT_ATTRS_MAX) {
		key.desc_type = text_type(im, (struct dial9_str){ "", 0 }, ev->desc);
		layout = heph_layout_get(im->layouts, &key, &is_new);
	}
	if (!layout) {
		foreign_note(im->notes, FOREIGN_NOTE_HINT, 1, "event as its packet",
			     "byte %" PRIu64, it->off);
		return write_packet(im, it);
	}
	if (is_new)
		err = annotate_lists(im, layout, &key);
	return err ? err : write_fields(im, ev, layout, &key, rest);
}

static int write_clock(struct importer *im, uint64_t epoch)
{
	dial9_enc_begin(im->enc, im->clock, 0);
	dial9_enc_put_u64(im->enc, epoch);
	return dial9_enc_end(im->enc);
}

/*
 * The value as text, in a form that says which bytes it was: text as it is, anything else as 0x and
 * digits. Text that begins with 0x is anything else.
 */
static int write_option(struct importer *im, const struct heph_meta *m)
{
	struct buf name = { 0 }, value = { 0 };
	struct dial9_str kv[1][2];

	buf_addstr(&name, HEPH_LAYOUT_OPTION);
	buf_add(&name, m->name.ptr, m->name.len);
	if (is_utf8(m->value) && (m->value.len < 2 || memcmp(m->value.ptr, "0x", 2))) {
		buf_add(&value, m->value.ptr, m->value.len);
	} else {
		buf_addstr(&value, "0x");
		str_hex(&value, m->value.ptr, m->value.len);
	}
	kv[0][0] = (struct dial9_str){ name.data, name.len };
	kv[0][1] = (struct dial9_str){ buf_cstr(&value), value.len };
	dial9_enc_begin(im->enc, im->metadata, im->last_ns);
	dial9_enc_put_map(im->enc, (const struct dial9_str(*)[2])kv, 1);
	buf_free(&name);
	buf_free(&value);
	return dial9_enc_end(im->enc);
}

static int write_invalid(struct importer *im, uint64_t off, const char *p, size_t sz)
{
	size_t n;
	int err = 0;

	for (; !err && sz; sz -= n, p += n, off += n) {
		n = sz < INVALID_PIECE ? sz : INVALID_PIECE;
		dial9_enc_begin(im->enc, im->invalid, im->last_ns);
		dial9_enc_put_u64(im->enc, off);
		dial9_enc_put_bytes(im->enc, p, n);
		err = dial9_enc_end(im->enc);
	}
	return err;
}

static int import_meta(struct importer *im, const struct heph_item *it)
{
	const struct heph_meta *m = &it->meta;

	if (heph_scan_is_epoch(m)) {
		if (++im->epochs == 2)
			log_warn("heph: more than one epoch; the last one counts");
		if (im->epochs > 1)
			foreign_note(im->notes, FOREIGN_NOTE_HINT, 1,
				     "further epoch, which replaces the one before",
				     "byte %" PRIu64, it->off);
		return write_clock(im, heph_wire_u64(m->value.ptr));
	}
	if (!is_utf8(m->name)) {
		damaged(im, it, "option whose name is not UTF-8");
		return write_invalid(im, it->off, it->p, it->sz);
	}
	foreign_note(im->notes, FOREIGN_NOTE_HINT, 1, "unknown option, kept as metadata",
		     "byte %" PRIu64 ": \"%.*s\"", it->off,
		     (int)(m->name.len < 64 ? m->name.len : 64), m->name.ptr);
	return write_option(im, m);
}

static int import_damage(struct importer *im, const struct heph_item *it)
{
	if (it->fresh)
		damaged(im, it, heph_scan_damage_name(it->damage));
	foreign_note(im->notes, FOREIGN_NOTE_DAMAGED, it->sz, "bytes skipped", NULL);
	return write_invalid(im, it->off, it->p, it->sz);
}

static int on_lost(void *ctx, uint32_t stream, uint32_t first, uint32_t cnt)
{
	struct importer *im = ctx;

	foreign_note(im->notes, FOREIGN_NOTE_DROPPED, cnt, "packets, by the counters",
		     "stream %" PRIu32 ", counter %" PRIu32, stream, first);
	dial9_enc_begin(im->enc, im->lost, im->last_ns);
	dial9_enc_put_u64(im->enc, stream);
	dial9_enc_put_u64(im->enc, first);
	dial9_enc_put_u64(im->enc, (uint32_t)(first + cnt));
	return dial9_enc_end(im->enc);
}

/*
 * ---- the run ------------------------------------------------------------------------------------
 */

#define SCHEMA(name, ...)                                                                          \
	heph_layout_schema(name, (const struct dial9_field[]){ __VA_ARGS__ },                      \
			   sizeof((const struct dial9_field[]){ __VA_ARGS__ }) /                   \
				   sizeof(struct dial9_field))

static struct importer *importer_new(const struct foreign_opts *opts, struct dial9_enc *enc,
				     struct foreign_notes *notes)
{
	struct importer *im = xcalloc(1, sizeof(*im));

	im->enc = enc;
	im->notes = notes;
	im->level = opts->level;
	im->counts = (struct heph_counters){ .lost = on_lost, .ctx = im };
	heph_layout_new(&im->layouts);
	im->clock = SCHEMA(HEPH_LAYOUT_CLOCK, { HEPH_LAYOUT_REALTIME, DIAL9_VARINT });
	im->metadata = SCHEMA(HEPH_LAYOUT_METADATA, { HEPH_LAYOUT_ENTRIES, DIAL9_STRING_MAP });
	im->invalid = SCHEMA(HEPH_LAYOUT_INVALID, { HEPH_LAYOUT_OFFSET, DIAL9_VARINT },
			     { HEPH_LAYOUT_BYTES, DIAL9_BYTES });
	im->lost = SCHEMA(HEPH_LAYOUT_LOST, { HEPH_LAYOUT_STREAM, DIAL9_U32 },
			  { HEPH_LAYOUT_EXPECTED, DIAL9_U32 }, { HEPH_LAYOUT_GOT, DIAL9_U32 });
	return im;
}

static void importer_free(struct importer *im)
{
	heph_layout_free(im->layouts);
	heph_counters_fini(&im->counts);
	dial9_schema_free(im->clock);
	dial9_schema_free(im->metadata);
	dial9_schema_free(im->invalid);
	dial9_schema_free(im->lost);
	strtab_fini(&im->pooled);
	strtab_fini(&im->pool_names);
	buf_free(&im->text);
	free(im);
}

static int import_item(struct importer *im, const struct heph_item *it)
{
	switch (it->kind) {
	case HEPH_META:
		im->packets++;
		return import_meta(im, it);
	case HEPH_EVENT:
		im->packets++;
		return import_event(im, it);
	case HEPH_DAMAGE:
		break;
	}
	return import_damage(im, it);
}

static int import_all(struct importer *im, const struct foreign_input *in, bool follow)
{
	struct heph_scan *scan;
	struct heph_item it;
	int ret, err = 0;

	heph_scan_new(in, follow, &scan);
	while (!err && (ret = heph_scan_next(scan, &it)) > 0)
		err = import_item(im, &it);
	if (!err)
		err = ret;
	heph_scan_free(scan);
	if (!err)
		err = heph_counters_finish(&im->counts);
	return err;
}

static void note_counts(struct importer *im)
{
	const struct heph_counters *c = &im->counts;

	if (c->twice)
		foreign_note(im->notes, FOREIGN_NOTE_HINT, c->twice, "counter that came twice",
			     NULL);
	if (c->restarts)
		foreign_note(im->notes, FOREIGN_NOTE_HINT, c->restarts,
			     "stream whose counter started over", NULL);
	if (c->unwatched)
		foreign_note(im->notes, FOREIGN_NOTE_HINT, c->unwatched,
			     "packets of too many streams to look for gaps", NULL);
	if (im->packets && !im->epochs)
		foreign_note(im->notes, FOREIGN_NOTE_HINT, 1,
			     "no epoch: times are relative to an unknown start", NULL);
}

int heph_import(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		struct dial9_enc *enc, struct foreign_notes *notes)
{
	struct importer *im;
	int err;

	if (cnt != 1 || in->has_core) {
		log_error("heph: %s", cnt == 1 ? "a trace has no core of its own (FILE@CORE)" :
						 "one trace at a time: convert each, then merge");
		return -EINVAL;
	}
	im = importer_new(opts, enc, notes);
	err = import_all(im, in, opts->follow);
	if (!err && !im->packets) {
		log_error("heph: %s: no packet in it", in->name);
		err = -EBADMSG;
	}
	note_counts(im);
	importer_free(im);
	return err;
}
