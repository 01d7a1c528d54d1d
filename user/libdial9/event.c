// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event frames. A stream consists mostly of these, so decoding them must be fast.
 *
 * A schema is compiled to a short program: runs of varints, and one step for each other field. The
 * values are stored in an array of the type, where the value types are set in advance, so a number
 * is one store. The program does not check the end of the window, because it runs only if the
 * widest event fits before it. In all other cases (the end of the window, a damaged value, a map)
 * it stops without side effects. Then event_parse() parses the same event, checks each step and
 * sets the error.
 */
#include "event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "wire.h"

/* Varints are loaded eight bytes at a time, which may read up to eight bytes too far. */
#define SLACK 8

size_t event_type_size(const struct dial9_schema *s)
{
	return sizeof(struct event_type) + s->field_cnt * sizeof(struct dial9_value);
}

int event_type_new(struct dial9_schema *s, uint16_t id, struct event_type **out)
{
	struct event_type *t = calloc(1, event_type_size(s));
	uint32_t i;

	if (!t)
		return -ENOMEM;
	t->values = (struct dial9_value *)(t + 1);
	for (i = 0; i < s->field_cnt; i++)
		t->values[i].type = s->types[i] & 0x7f;
	t->ops = s->ops;
	t->ops_end = s->ops_end;
	t->room = s->fixed_max + SLACK;
	t->schema = dial9_schema_ref(s);
	t->event = (struct dial9_event){ .schema = s,
					 .type_id = id,
					 .has_ts = s->has_ts,
					 .values = t->values,
					 .value_cnt = s->field_cnt };
	*out = t;
	return 0;
}

void event_type_free(struct event_type *t)
{
	if (!t)
		return;
	dial9_schema_free(t->schema);
	notes_fini(&t->notes);
	free(t);
}

/* A varint with at least 10 readable bytes. NULL if it is longer than 8: rare, or damaged. */
static inline const uint8_t *quick_varint(const uint8_t *p, uint64_t *out)
{
	uint64_t v, ends;

	if (p[0] < 0x80) {
		*out = p[0];
		return p + 1;
	}
	v = wire_get_u64(p);
	if (p[1] < 0x80) {
		*out = (v & 0x7f) | (v >> 1 & 0x3f80);
		return p + 2;
	}
	ends = ~v & 0x8080808080808080ull;
	if (!ends)
		return NULL;
	/* Clear the following bytes, then join the groups of seven bits pairwise. */
	v &= ends ^ (ends - 1);
	v &= 0x7f7f7f7f7f7f7f7full;
	v = (v & 0x007f007f007f007full) | (v & 0x7f007f007f007f00ull) >> 1;
	v = (v & 0x00003fff00003fffull) | (v & 0x3fff00003fff0000ull) >> 2;
	v = (v & 0x000000000fffffffull) | (v & 0x0fffffff00000000ull) >> 4;
	*out = v;
	return p + (__builtin_ctzll(ends) >> 3) + 1;
}

/* A u32 count and cnt * unit bytes; NULL unless `room` bytes follow them. */
static inline const uint8_t *quick_counted(const uint8_t *p, const uint8_t *end, uint32_t unit,
					   size_t room, uint32_t *cnt)
{
	uint64_t sz;

	*cnt = wire_get_u32(p);
	sz = (uint64_t)*cnt * unit;
	p += 4;
	return (uint64_t)(end - p) >= sz + room ? p : NULL;
}

static inline const uint8_t *quick_text(const uint8_t *p, const uint8_t *end, size_t room,
					struct dial9_value *v)
{
	uint32_t len;

	p = quick_counted(p, end, 1, room, &len);
	if (!p)
		return NULL;
	v->str.ptr = (const char *)p;
	v->str.len = len;
	return p + len;
}

static inline const uint8_t *quick_stack(const uint8_t *p, const uint8_t *end, size_t room,
					 struct dial9_value *v)
{
	uint32_t cnt;

	p = quick_counted(p, end, 8, room, &cnt);
	if (!p)
		return NULL;
	v->stack.le = p;
	v->stack.cnt = cnt;
	return p + (size_t)cnt * 8;
}

/* Decodes one value; NULL if the slow path has to. */
static inline __attribute__((always_inline)) const uint8_t *
quick_value(enum schema_code code, const uint8_t *p, const uint8_t *end, size_t room,
	    struct dial9_value *v)
{
	switch (code) {
	case SCHEMA_VARINTS:
		return quick_varint(p, &v->u64);
	case SCHEMA_8:
		v->u64 = *p;
		return p + 1;
	case SCHEMA_BOOL:
		v->u64 = 0;
		v->b = *p != 0;
		return p + 1;
	case SCHEMA_16:
		v->u64 = wire_get_u16(p);
		return p + 2;
	case SCHEMA_32:
		v->u64 = wire_get_u32(p);
		return p + 4;
	case SCHEMA_ID:
		v->u64 = 0;
		v->id = wire_get_u32(p);
		return p + 4;
	case SCHEMA_64:
		v->u64 = wire_get_u64(p);
		return p + 8;
	case SCHEMA_STACK:
		return quick_stack(p, end, room, v);
	case SCHEMA_BYTES:
		return quick_text(p, end, room, v);
	case SCHEMA_TEXT:
		p = quick_text(p, end, room, v);
		if (p)
			v->bad_utf8 = dial9_utf8_valid_len(v->str.ptr, v->str.len) != v->str.len;
		return p;
	case SCHEMA_OTHER:
	case SCHEMA_OPTIONAL:
		break;
	}
	return NULL;
}

static __attribute__((noinline)) const uint8_t *quick_optional(const struct event_type *t,
							       uint32_t code, const uint8_t *p,
							       const uint8_t *end,
							       struct dial9_value *v)
{
	if (*p > 1)
		return NULL;
	v->u64 = 0;
	v->type = *p ? t->schema->types[v - t->values] & 0x7f : 0;
	return *p++ ? quick_value((enum schema_code)(code & ~SCHEMA_OPTIONAL), p, end, t->room, v) :
		      p;
}

static inline __attribute__((always_inline)) const uint8_t *
quick_values(const struct event_type *t, const uint8_t *p, const uint8_t *end)
{
	const struct schema_op *op = t->ops, *ops_end = t->ops_end;
	struct dial9_value *v = t->values;
	uint32_t left;

	for (; op < ops_end; op++) {
		if (op->code == SCHEMA_VARINTS) {
			left = op->cnt;
			do {
				p = quick_varint(p, &v->u64);
				if (!p)
					return NULL;
				v++;
			} while (--left);
			continue;
		}
		if (op->code & SCHEMA_OPTIONAL)
			p = quick_optional(t, op->code, p, end, v);
		else
			p = quick_value((enum schema_code)op->code, p, end, t->room, v);
		if (!p)
			return NULL;
		v++;
	}
	return p;
}

/*
 * Skips a varint; NULL if it is longer than 8. Compares instead of counting, so the CPU predicts
 * the length and the following code does not wait for it.
 */
static inline const uint8_t *skip_varint(const uint8_t *p)
{
	uint64_t ends;

	if (p[0] < 0x80)
		return p + 1;
	if (p[1] < 0x80)
		return p + 2;
	if (p[2] < 0x80)
		return p + 3;
	ends = ~wire_get_u64(p) & 0x8080808080808080ull;
	return ends ? p + (__builtin_ctzll(ends) >> 3) + 1 : NULL;
}

/* Skips a value without storing it. Accepts and rejects the same bytes as quick_values(). */
static __attribute__((noinline)) const uint8_t *skip_values(const struct event_type *t,
							    const uint8_t *p, const uint8_t *end)
{
	const struct schema_op *op = t->ops, *ops_end = t->ops_end;
	struct dial9_value v;
	uint32_t code, left;

	for (; p && op < ops_end; op++) {
		code = op->code & ~(uint32_t)SCHEMA_OPTIONAL;
		if (op->code == SCHEMA_VARINTS) {
			for (left = op->cnt; p && left; left--)
				p = skip_varint(p);
			continue;
		}
		if (op->code & SCHEMA_OPTIONAL) {
			if (*p > 1)
				return NULL;
			if (!*p++)
				continue;
		}
		/* skipped text is not validated */
		code = code == SCHEMA_TEXT ? SCHEMA_BYTES : code;
		p = quick_value((enum schema_code)code, p, end, t->room, &v);
	}
	return p;
}

static inline __attribute__((always_inline)) struct event_type *
quick(const struct event_input *in, const uint8_t **pos, const uint8_t *end, uint64_t *ts_base)
{
	const uint8_t *p = *pos;
	struct event_type *t;
	uint64_t head, ts;

	if (end - p < (ptrdiff_t)sizeof(head))
		return NULL;
	head = wire_get_u64(p);
	if ((uint8_t)head != WIRE_EVENT)
		return NULL;
	t = event_type_of(in, (uint16_t)(head >> 8));
	if (!t || (size_t)(end - p) < t->room)
		return NULL;
	ts = *ts_base;
	if (t->event.has_ts) {
		ts += head >> 24 & WIRE_DELTA_MAX;
		if (ts < *ts_base)
			return NULL;
		p += WIRE_EVENT_TS_SZ;
	} else {
		p += WIRE_EVENT_SZ;
	}
	p = t->skipped ? skip_values(t, p, end) : quick_values(t, p, end);
	if (!p)
		return NULL;
	*ts_base = ts;
	*pos = p;
	return t;
}

const struct event_type *event_quick(struct event_input *in, const uint8_t **start)
{
	const struct event_type *t;

	for (;;) {
		*start = in->pos;
		t = quick(in, &in->pos, in->end, &in->ts_base);
		if (!t || !t->skipped)
			return t;
		event_skip(in, t);
	}
}

static const char bad_presence[] =
	"optional value with a flag other than 0 (absent) or 1 (present)";

static int parse_values(struct event_input *in, const uint8_t **pos, struct event_type *t)
{
	const uint8_t *type = t->schema->types, *type_end = type + t->schema->field_cnt, *p = *pos;
	struct dial9_value *v = t->values;
	int err;

	for (; type < type_end; type++, v++) {
		if (*type & DIAL9_OPTIONAL) {
			if (p == in->end)
				return value_short(&in->fault, (uint64_t)(type_end - type));
			if (*p > 1)
				return value_bad(&in->fault, p, bad_presence);
			if (!*p++) {
				*v = (struct dial9_value){ 0 };
				continue;
			}
		}
		err = value_parse(&p, in->end, *type & 0x7f, in->depth, v, &in->fault);
		if (err)
			return err;
	}
	*pos = p;
	return 0;
}

static int need(struct event_input *in, const uint8_t *p, size_t sz)
{
	size_t left = (size_t)(in->end - p);

	return left < sz ? value_short(&in->fault, sz - left) : 0;
}

int event_parse(struct event_input *in, const uint8_t **pos, struct dial9_event *out)
{
	const uint8_t *p = *pos;
	struct event_type *t;
	uint64_t ts = in->ts_base;
	int err;

	if (need(in, p, WIRE_EVENT_SZ))
		return -ENODATA;
	t = event_type_of(in, wire_get_u16(p + 1));
	if (!t)
		return value_bad(&in->fault, p + 1, "event of a type without schema");
	p += WIRE_EVENT_SZ;
	if (t->event.has_ts) {
		if (need(in, p, 3))
			return -ENODATA;
		ts += wire_get_u24(p);
		if (ts < in->ts_base)
			return value_bad(&in->fault, p, "timestamp beyond 64 bits");
		p += 3;
	}
	err = parse_values(in, &p, t);
	if (err)
		return err;
	in->ts_base = ts;
	*out = t->event;
	out->ts = out->has_ts ? ts : 0;
	*pos = p;
	return 0;
}

int event_visit(struct event_input *in, const struct dial9_dec *d,
		const struct dial9_visitor *visitor)
{
	int (*const on_event)(void *, const struct dial9_dec *, const struct dial9_event *) =
		visitor->event;
	const uint8_t *p = in->pos, *const end = in->end;
	uint64_t ts_base = in->ts_base;
	struct event_type *t;
	void *ctx = visitor->ctx;
	int got = 0;

	while (!got && (t = quick(in, &p, end, &ts_base))) {
		in->pos = p;
		if (t->skipped) {
			in->ts_base = ts_base;
			event_skip(in, t);
			continue;
		}
		if (t->event.has_ts)
			t->event.ts = ts_base;
		got = on_event(ctx, d, &t->event);
	}
	in->ts_base = ts_base;
	return got;
}
