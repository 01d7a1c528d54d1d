// SPDX-License-Identifier: BSD-2-Clause
/*
 * The decoder: a window of the input, and a parser for the frame at its start.
 *
 * The window is the caller's memory, or a buffer filled by read(). A frame is parsed as a whole. If
 * the window ends inside the frame, no state changes, more input is read, and the parser restarts
 * at the frame's first byte. The parser returns a lower bound of the missing bytes, so a frame of
 * any size is restarted only a few times. Therefore each parser has two steps: validate everything,
 * then change the decoder.
 *
 * Invalid input is not consumed, so each further call returns the same error.
 *
 * There are five outcomes: a frame; the end between frames; the end inside a frame, which may be
 * temporary; a frame of a later format; and bytes that are invalid with any continuation. A length
 * above the limits counts as invalid, because a reader would otherwise wait for 4 GiB.
 *
 * Events need no allocation: their values are stored in one array, sized by the widest schema, and
 * borrow the window.
 */
#include "decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "copy_slab.h"
#include "dial9.h"
#include "event.h"
#include "pool.h"
#include "schema.h"
#include "value.h"
#include "versioned.h"
#include "wire.h"

#define WINDOW_MIN (64u << 10)

struct dial9_dec {
	struct event_input in; /* rest of the window, types, fault */
	const uint8_t *start; /* of the window */
	uint64_t offset; /* position of start in the stream */
	uint16_t *known_ids; /* ids that have a type; as many entries as in.types */
	size_t known_cnt;
	bool started; /* the header was read */
	uint64_t fault_offset;
	struct dial9_limits limits;
	size_t schema_bytes;
	struct pool_defs strings, stacks;
	struct copy_slabs slabs;
	dial9_read_fn read; /* NULL: the window is the caller's memory */
	void *ctx;
	uint8_t *buf;
	size_t cap;
};

static const struct dial9_skipped skipped_none = { .first_ts = UINT64_MAX };

static void apply_limits(struct dial9_limits *l)
{
	if (!l->frame_bytes)
		l->frame_bytes = (size_t)256 << 20;
	if (!l->pool_bytes)
		l->pool_bytes = (size_t)1 << 30;
	if (!l->schema_bytes)
		l->schema_bytes = (size_t)64 << 20;
	if (!l->depth || l->depth > VALUE_DEPTH_MAX)
		l->depth = VALUE_DEPTH_MAX;
}

static bool has_no_reserved(const struct dial9_limits *l)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < sizeof(l->reserved) / sizeof(l->reserved[0]); i++)
		bits |= l->reserved[i];
	return !bits;
}

int dial9_dec_new(const struct dial9_dec_opts *opts, struct dial9_dec **out)
{
	const size_t least = offsetof(struct dial9_dec_opts, limits);
	struct dial9_dec_opts o = { 0 };
	struct dial9_dec *d;

	if (!opts || versioned_copy(&o, sizeof(o), opts, least))
		return -EINVAL;
	if ((o.read && o.data) || !has_no_reserved(&o.limits))
		return -EINVAL;
	apply_limits(&o.limits);
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->in.fault.reason = "";
	d->limits = o.limits;
	d->in.depth = o.limits.depth;
	d->in.skipped = skipped_none;
	d->read = o.read;
	d->ctx = o.ctx;
	if (!o.read && o.data_sz) {
		d->in.pos = o.data;
		d->start = d->in.pos;
		d->in.end = d->in.pos + o.data_sz;
	}
	pool_defs_init(&d->strings, o.limits.pool_bytes, !o.read);
	pool_defs_init(&d->stacks, o.limits.pool_bytes, !o.read);
	*out = d;
	return 0;
}

/* Resets all definitions of a trace. */
static void restart(struct dial9_dec *d)
{
	uint16_t id;

	while (d->known_cnt) {
		id = d->known_ids[--d->known_cnt];
		event_type_free(d->in.types[id]);
		d->in.types[id] = NULL;
	}
	d->schema_bytes = 0;
	d->in.ts_base = 0;
	pool_defs_fini(&d->strings);
	pool_defs_fini(&d->stacks);
}

void dial9_dec_free(struct dial9_dec *d)
{
	if (!d)
		return;
	restart(d);
	free(d->in.types);
	free(d->known_ids);
	free(d->buf);
	copy_slab_close(&d->slabs);
	free(d);
}

struct copy_slabs *decode_slabs(const struct dial9_dec *d)
{
	return (struct copy_slabs *)&d->slabs;
}

static size_t left(const uint8_t *p, const uint8_t *end)
{
	return (size_t)(end - p);
}

/*
 * ---- frames: each parser returns 0 with *pos after the frame, or -errno with d->in.fault
 * -------------
 */

static int too_big(struct dial9_dec *d, const uint8_t *at, const char *reason)
{
	value_bad(&d->in.fault, at, reason);
	return -E2BIG;
}

static int need(struct dial9_dec *d, const uint8_t *p, uint64_t sz)
{
	if (left(p, d->in.end) < sz)
		return value_short(&d->in.fault, sz - left(p, d->in.end));
	return 0;
}

static int parse_header(struct dial9_dec *d, const uint8_t **pos, struct dial9_frame *out)
{
	const uint8_t *p = *pos;
	size_t i;

	for (i = 0; i < sizeof(WIRE_MAGIC) && i < left(p, d->in.end); i++)
		if (p[i] != (uint8_t)WIRE_MAGIC[i])
			return value_bad(&d->in.fault, p + i,
					 d->started ? "damaged header" : "not a dial9 stream");
	if (need(d, p, WIRE_HEADER_SZ))
		return -ENODATA;
	if (p[4] != WIRE_VERSION)
		return value_bad(&d->in.fault, p + 4, "unknown version");
	out->kind = d->started ? DIAL9_FRAME_MIDHEADER : DIAL9_FRAME_HEADER;
	out->version = p[4];
	*pos = p + WIRE_HEADER_SZ;
	if (d->started)
		restart(d);
	d->started = true;
	return 0;
}

static int reserve_type(struct dial9_dec *d, uint16_t id)
{
	size_t cap = d->in.type_cap ? d->in.type_cap : 64;
	struct event_type **types;
	uint16_t *ids;

	if (id < d->in.type_cap)
		return 0;
	while (cap <= id)
		cap *= 2;
	types = realloc(d->in.types, cap * sizeof(struct event_type *));
	if (!types)
		return -ENOMEM;
	d->in.types = types;
	ids = realloc(d->known_ids, cap * sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	d->known_ids = ids;
	memset(types + d->in.type_cap, 0, (cap - d->in.type_cap) * sizeof(struct event_type *));
	d->in.type_cap = cap;
	return 0;
}

static int add_schema(struct dial9_dec *d, uint16_t id, const uint8_t *wire, size_t sz)
{
	size_t cost = schema_alloc_size(wire, sz);
	struct dial9_schema *s;
	int err;

	/* This check needs the schema, which the first check does not have. */
	if (cost > d->limits.schema_bytes - d->schema_bytes)
		return too_big(d, wire, "schemas over the limit");
	err = reserve_type(d, id);
	if (!err)
		err = schema_from_wire(wire, sz, &s);
	if (err)
		return err;
	cost += event_type_size(s);
	if (cost > d->limits.schema_bytes - d->schema_bytes)
		err = too_big(d, wire, "schemas over the limit");
	else
		err = event_type_new(s, id, &d->in.types[id]);
	dial9_schema_free(s);
	if (err)
		return err;
	d->schema_bytes += cost;
	d->known_ids[d->known_cnt++] = id;
	return 0;
}

static int parse_schema(struct dial9_dec *d, const uint8_t **pos, struct dial9_frame *out)
{
	const uint8_t *p = *pos + 1, *wire;
	const struct event_type *known;
	const struct dial9_schema *s;
	uint16_t id;
	int err;

	if (need(d, p, 2))
		return -ENODATA;
	id = wire_get_u16(p);
	wire = p + 2;
	p = wire;
	err = schema_parse(&p, d->in.end, &d->in.fault);
	if (err)
		return err;
	known = event_type_of(&d->in, id);
	s = known ? known->schema : NULL;
	if (s && (s->wire_sz != left(wire, p) || memcmp(s->wire, wire, s->wire_sz)))
		return value_bad(&d->in.fault, wire - 2,
				 "type id defined again with another layout");
	if (!known) {
		err = add_schema(d, id, wire, left(wire, p));
		if (err)
			return err;
	}
	out->kind = DIAL9_FRAME_SCHEMA;
	out->schema.type_id = id;
	out->schema.schema = d->in.types[id]->schema;
	*pos = p;
	return 0;
}

/* Walks over cnt pool entries. An entry's count is in units of `unit` bytes. */
static int check_pool(struct dial9_dec *d, const uint8_t **pos, uint32_t cnt, uint32_t unit)
{
	const uint8_t *p = *pos;
	uint64_t rest = cnt, sz;

	for (; rest; rest--) {
		if (need(d, p, rest * WIRE_POOL_ENTRY_SZ))
			return -ENODATA;
		sz = (uint64_t)wire_get_u32(p + 4) * unit;
		p += WIRE_POOL_ENTRY_SZ;
		if (need(d, p, sz + (rest - 1) * WIRE_POOL_ENTRY_SZ))
			return -ENODATA;
		p += sz;
	}
	*pos = p;
	return 0;
}

static int define_all(struct dial9_dec *d, struct dial9_iter it)
{
	const bool is_text = it.type == WIRE_STRINGS;
	struct pool_defs *defs = is_text ? &d->strings : &d->stacks;
	struct pool_defs *other = is_text ? &d->stacks : &d->strings;
	const uint8_t *data;
	struct dial9_str s;
	uint32_t id, cnt;
	int err = 0;

	defs->bytes_max = d->limits.pool_bytes - other->bytes;
	while (!err && it.left) {
		if (is_text) {
			dial9_strings_next(&it, &id, &s);
			err = pool_defs_set(defs, id, (const uint8_t *)s.ptr, s.len);
		} else {
			dial9_stacks_next(&it, &id, &data, &cnt);
			err = pool_defs_set(defs, id, data, (size_t)cnt * 8);
		}
	}
	return err == -E2BIG ? too_big(d, it.pos, "pools over the limit") : err;
}

static int parse_pool(struct dial9_dec *d, const uint8_t **pos, struct dial9_frame *out)
{
	const uint8_t *p = *pos, *start;
	bool is_text = *p == WIRE_STRINGS;
	uint32_t cnt;
	int err;

	if (need(d, p, WIRE_POOL_HEAD_SZ))
		return -ENODATA;
	cnt = wire_get_u32(p + 1);
	p += WIRE_POOL_HEAD_SZ;
	start = p;
	err = check_pool(d, &p, cnt, is_text ? 1 : 8);
	if (err)
		return err;
	out->kind = is_text ? DIAL9_FRAME_STRINGS : DIAL9_FRAME_STACKS;
	out->pool.cnt = cnt;
	out->pool.type_id = 0;
	out->pool.iter = (struct dial9_iter){ start, p, cnt, **pos, 0 };
	*pos = p;
	return define_all(d, out->pool.iter);
}

static int parse_reset(struct dial9_dec *d, const uint8_t **pos, struct dial9_frame *out)
{
	if (need(d, *pos, WIRE_RESET_SZ))
		return -ENODATA;
	out->kind = DIAL9_FRAME_RESET;
	out->reset_ts = wire_get_u64(*pos + 1);
	d->in.ts_base = out->reset_ts;
	*pos += WIRE_RESET_SZ;
	return 0;
}

static int parse_annotation_head(struct dial9_dec *d, const uint8_t **pos, uint16_t *id,
				 uint16_t *cnt)
{
	const uint8_t *p = *pos;
	uint64_t wide;
	int err;

	err = wire_get_varint(&p, d->in.end, &wide);
	if (err == -ENODATA)
		return value_short(&d->in.fault, 3);
	if (err || wide > UINT16_MAX)
		return value_bad(&d->in.fault, *pos, "annotations of an impossible type id");
	if (need(d, p, 2))
		return -ENODATA;
	*id = (uint16_t)wide;
	*cnt = wire_get_u16(p);
	*pos = p + 2;
	return 0;
}

/* Annotations of a type without a schema are only passed to the caller. */
static int keep_annotations(struct dial9_dec *d, uint16_t id, uint16_t cnt, const uint8_t *entries,
			    size_t sz)
{
	struct event_type *t = event_type_of(&d->in, id);
	size_t room = d->limits.schema_bytes - d->schema_bytes;
	int err = t ? notes_add(&t->notes, entries, sz, cnt, &room) : 0;

	d->schema_bytes = d->limits.schema_bytes - room;
	return err == -E2BIG ? too_big(d, entries, "annotations over the limit") : err;
}

static int parse_annotations(struct dial9_dec *d, const uint8_t **pos, struct dial9_frame *out)
{
	const uint8_t *p = *pos + 1, *start;
	uint16_t id = 0, cnt = 0, i;
	int err;

	err = parse_annotation_head(d, &p, &id, &cnt);
	if (err)
		return err;
	start = p;
	for (i = 0; i < cnt; i++) {
		if (need(d, p, 4))
			return -ENODATA;
		if (need(d, p, 4 + (uint64_t)wire_get_u16(p + 2) + 4))
			return -ENODATA;
		p += 4 + wire_get_u16(p + 2);
		if (need(d, p, 4 + (uint64_t)wire_get_u32(p)))
			return -ENODATA;
		p += 4 + (size_t)wire_get_u32(p);
	}
	err = keep_annotations(d, id, cnt, start, left(start, p));
	if (err)
		return err;
	out->kind = DIAL9_FRAME_ANNOTATIONS;
	out->pool.cnt = cnt;
	out->pool.type_id = id;
	out->pool.iter = (struct dial9_iter){ start, p, cnt, WIRE_ANNOTATIONS, 0 };
	*pos = p;
	return 0;
}

/*
 * A tag that 0.4 does not define is a frame of a later format. Only that format defines its length,
 * so decoding ends here. Tag 0 stays unused, because file systems fill lost data with zeros.
 */
static int unknown_tag(struct dial9_dec *d, const uint8_t *at)
{
	/* Reasons are static text: they outlive the decoder. */
#define TAG(hi, lo) "frame tag 0x" #hi #lo ": a newer writer (format later than 0.4)"
#define TAGS(hi)                                                                                   \
	TAG(hi, 0), TAG(hi, 1), TAG(hi, 2), TAG(hi, 3), TAG(hi, 4), TAG(hi, 5), TAG(hi, 6),        \
		TAG(hi, 7), TAG(hi, 8), TAG(hi, 9), TAG(hi, a), TAG(hi, b), TAG(hi, c),            \
		TAG(hi, d), TAG(hi, e), TAG(hi, f)
	static const char newer[256][sizeof(TAG(0, 0))] = {
		TAGS(0), TAGS(1), TAGS(2), TAGS(3), TAGS(4), TAGS(5), TAGS(6), TAGS(7),
		TAGS(8), TAGS(9), TAGS(a), TAGS(b), TAGS(c), TAGS(d), TAGS(e), TAGS(f),
	};

	if (!*at)
		return value_bad(&d->in.fault, at, "unknown frame tag");
	value_bad(&d->in.fault, at, newer[*at]);
	return -EPROTONOSUPPORT;
}

static int parse_frame(struct dial9_dec *d, const uint8_t **pos, struct dial9_frame *out)
{
	if (!d->started)
		return parse_header(d, pos, out);
	if (*pos == d->in.end)
		return value_short(&d->in.fault, 1);
	switch ((enum wire_tag) * *pos) {
	case WIRE_EVENT:
		out->kind = DIAL9_FRAME_EVENT;
		return event_parse(&d->in, pos, &out->event);
	case WIRE_SCHEMA:
		return parse_schema(d, pos, out);
	case WIRE_STRINGS:
	case WIRE_STACKS:
		return parse_pool(d, pos, out);
	case WIRE_RESET:
		return parse_reset(d, pos, out);
	case WIRE_ANNOTATIONS:
		return parse_annotations(d, pos, out);
	case WIRE_HEADER:
		return parse_header(d, pos, out);
	}
	return unknown_tag(d, *pos);
}

/* ---- the window ----------------------------------------------------------------------------------- */

/* Makes room for sz bytes from pos on. */
static int reserve_window(struct dial9_dec *d, size_t sz)
{
	size_t have = left(d->in.pos, d->in.end), cap = d->cap ? d->cap : WINDOW_MIN;
	uint8_t *buf = d->buf;

	d->offset += left(d->start, d->in.pos);
	if (have && d->in.pos != buf)
		memmove(buf, d->in.pos, have);
	while (cap < sz)
		cap = cap > SIZE_MAX / 2 ? sz : cap * 2;
	if (cap != d->cap)
		buf = realloc(d->buf, cap);
	if (buf) {
		d->buf = buf;
		d->cap = cap;
	}
	d->start = d->in.pos = d->buf;
	d->in.end = d->buf + have;
	return buf ? 0 : -ENOMEM;
}

/*
 * Reads until `more` bytes have arrived, or the input ends. For a large frame, reads at least half
 * of the present size, which limits the cost of restarts. 1: some bytes arrived; 0: none; or
 * -errno.
 */
static int fill(struct dial9_dec *d, uint64_t more)
{
	size_t have = left(d->in.pos, d->in.end), target;
	ssize_t got;
	int err;

	if (have > WINDOW_MIN && more < have / 2)
		more = have / 2;
	target = have + (size_t)more;
	err = reserve_window(d, target);
	if (err)
		return err;
	do {
		got = d->read(d->ctx, d->buf + left(d->in.pos, d->in.end),
			      d->cap - left(d->in.pos, d->in.end));
		if (got > (ssize_t)(d->cap - left(d->in.pos, d->in.end)))
			return -EINVAL;
		if (got > 0)
			d->in.end += got;
	} while (got > 0 && left(d->in.pos, d->in.end) < target);
	if (left(d->in.pos, d->in.end) > have)
		return 1;
	return got < 0 ? (int)got : 0;
}

/* The window ends inside a frame. 1: continue; otherwise the result for the caller. */
static int want_more(struct dial9_dec *d)
{
	uint64_t more = d->in.fault.short_by ? d->in.fault.short_by : 1;
	size_t have = left(d->in.pos, d->in.end);
	int got = 0;

	if (have > d->limits.frame_bytes || more > d->limits.frame_bytes - have)
		return too_big(d, d->in.pos, "frame over the limit");
	if (d->read)
		got = fill(d, more);
	if (got < 0)
		value_bad(&d->in.fault, d->in.end, "the input cannot be read");
	if (got)
		return got;
	if (!left(d->in.pos, d->in.end) && d->started) {
		d->in.fault.reason = "";
		return 0;
	}
	return -ENODATA;
}

/* The next frame of any kind. */
static int next_frame(struct dial9_dec *d, struct dial9_frame *out)
{
	const uint8_t *p;
	int err;

	do {
		p = d->in.pos;
		d->in.fault.at = d->in.pos;
		err = parse_frame(d, &p, out);
		if (!err) {
			out->offset = dial9_dec_consumed(d);
			d->in.pos = p;
			d->in.fault.reason = "";
			return 1;
		}
		if (err == -ENODATA)
			err = want_more(d);
	} while (err == 1);
	d->fault_offset = dial9_dec_consumed(d);
	if (err == -EBADMSG || err == -E2BIG || err == -EPROTONOSUPPORT)
		d->fault_offset += left(d->in.pos, d->in.fault.at);
	return err;
}

int dial9_dec_next(struct dial9_dec *d, struct dial9_frame *out)
{
	const struct event_type *t;
	const uint8_t *before;
	int got;

	while (!(t = event_quick(&d->in, &before))) {
		got = next_frame(d, out);
		if (got != 1 || out->kind != DIAL9_FRAME_EVENT)
			return got;
		t = d->in.types[out->event.type_id];
		if (!t->skipped)
			return got;
		event_skip(&d->in, t);
	}
	out->kind = DIAL9_FRAME_EVENT;
	out->offset = d->offset + left(d->start, before);
	/* last, because reading it back right after a narrower write would stall */
	out->event = t->event;
	out->event.ts = t->event.has_ts ? d->in.ts_base : 0;
	return 1;
}

int dial9_dec_visit(struct dial9_dec *d, const struct dial9_visitor *visitor)
{
	struct dial9_visitor v;
	struct dial9_frame f;
	const size_t least = offsetof(struct dial9_visitor, ctx) + sizeof(void *);
	int got = versioned_copy(&v, sizeof(v), visitor, least);

	if (got)
		return got;
	do {
		got = event_visit(&d->in, d, &v);
		if (got)
			break;
		got = dial9_dec_next(d, &f);
		if (got != 1)
			break;
		if (f.kind == DIAL9_FRAME_EVENT)
			got = v.event(v.ctx, d, &f.event);
		else
			got = v.frame ? v.frame(v.ctx, d, &f) : 0;
	} while (!got);
	return got;
}

int dial9_dec_skip(struct dial9_dec *d, uint16_t type_id)
{
	struct event_type *t = event_type_of(&d->in, type_id);

	if (!t)
		return -ENOENT;
	t->skipped = true;
	return 0;
}

int dial9_dec_skipped(struct dial9_dec *d, struct dial9_skipped *out)
{
	if (!d->in.skipped.cnt)
		return 0;
	*out = d->in.skipped;
	d->in.skipped = skipped_none;
	return 1;
}

uint64_t dial9_dec_consumed(const struct dial9_dec *d)
{
	return d->offset + left(d->start, d->in.pos);
}

void dial9_dec_error(const struct dial9_dec *d, struct dial9_error *out)
{
	*out = (struct dial9_error){ .offset = d->fault_offset, .reason = d->in.fault.reason };
}

/* ---- look-ups ------------------------------------------------------------------------------------- */

int dial9_dec_string(const struct dial9_dec *d, uint32_t id, struct dial9_str *out)
{
	const uint8_t *data = pool_defs_get(&d->strings, id, &out->len);

	out->ptr = (const char *)data;
	return data ? 0 : -ENOENT;
}

int dial9_dec_stack(const struct dial9_dec *d, uint32_t id, const uint8_t **le, uint32_t *cnt)
{
	size_t sz;

	*le = pool_defs_get(&d->stacks, id, &sz);
	if (!*le)
		return -ENOENT;
	*cnt = (uint32_t)(sz / 8);
	return 0;
}

int dial9_value_str(const struct dial9_dec *d, const struct dial9_value *v, struct dial9_str *out)
{
	if (v->type == DIAL9_POOLED_STRING)
		return dial9_dec_string(d, v->id, out);
	if (v->type != DIAL9_STRING)
		return -EPROTOTYPE;
	out->ptr = v->str.ptr;
	out->len = v->str.len;
	return 0;
}

int dial9_value_stack(const struct dial9_dec *d, const struct dial9_value *v, const uint8_t **le,
		      uint32_t *cnt)
{
	if (v->type == DIAL9_POOLED_STACK)
		return dial9_dec_stack(d, v->id, le, cnt);
	if (v->type != DIAL9_STACK)
		return -EPROTOTYPE;
	*le = v->stack.le;
	*cnt = v->stack.cnt;
	return 0;
}

const struct dial9_schema *dial9_dec_schema(const struct dial9_dec *d, uint16_t type_id)
{
	const struct event_type *t = event_type_of(&d->in, type_id);

	return t ? t->schema : NULL;
}

void dial9_dec_annotations(const struct dial9_dec *d, uint16_t type_id, struct dial9_iter *out)
{
	const struct event_type *t = event_type_of(&d->in, type_id);

	notes_iter(t ? &t->notes : &(struct notes){ 0 }, out);
}

int dial9_dec_annotation(const struct dial9_dec *d, uint16_t type_id, uint16_t field,
			 const char *key, struct dial9_str *out)
{
	struct dial9_str k, v;
	const size_t len = strlen(key);
	struct dial9_iter it;
	int err = -ENOENT;
	uint16_t at;

	dial9_dec_annotations(d, type_id, &it);
	while (dial9_annotations_next(&it, &at, &k, &v) == 1) {
		if (at != field || k.len != len || memcmp(k.ptr, key, len) != 0)
			continue;
		*out = v;
		err = 0;
	}
	return err;
}
