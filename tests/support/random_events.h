/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_RANDOM_EVENTS_H
#define D9_TESTS_SUPPORT_RANDOM_EVENTS_H

/*
 * From a seed: schemas and values of every type and modifier, and a stream of them through the
 * public encoder, mixed with all other operations of an encoder. The expected result is kept as a
 * tree per value, which does not depend on the wire format except for the order of list elements.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dial9.h"
#include "tests/support/chance.h"

/* ---- text --------------------------------------------------------------------------------------- */

/* UTF-8 with characters of one to four bytes, NUL among them; the caller frees. */
static inline char *chance_text(struct chance *c, size_t *len)
{
	static const char *const chars[] = { "a",  "Z",	     "0",    " ",    "\"",
					     "\\", "\n",     "\x7f", "é",    "ß",
					     "ﬀ",  "\ufeff", "漢",   "🦀", "\U0010ffff" };
	size_t cnt = chance_below(c, 8) ? chance_below(c, 12) : chance_below(c, 600), i, n;
	char *text = malloc(cnt * 4 + 1), *to = text;
	const char *ch;

	assert(text);
	for (i = 0; i < cnt; i++) {
		ch = chars[chance_below(c, sizeof(chars) / sizeof(chars[0]))];
		n = chance_below(c, 40) ? strlen(ch) : 1;
		memcpy(to, n == strlen(ch) ? ch : "", n);
		to += n;
	}
	*len = (size_t)(to - text);
	return text;
}

/* ---- values --------------------------------------------------------------------------------------- */

struct tree {
	uint8_t type; /* without modifier; 0: absent */
	uint64_t num; /* all numbers, as bits */
	char *data; /* text, bytes; the frames of stacks in the wire's order */
	size_t len; /* bytes of data */
	struct tree *kids; /* of maps: key, value, key, value */
	uint32_t cnt;
	uint32_t id; /* of pooled ones, once interned */
};

static inline void tree_fini(struct tree *t)
{
	uint32_t i;

	for (i = 0; i < t->cnt; i++)
		tree_fini(&t->kids[i]);
	free(t->kids);
	free(t->data);
}

static inline void tree_init_stack(struct tree *t, struct chance *c)
{
	size_t i, cnt = chance_below(c, 8) ? chance_below(c, 9) : chance_below(c, 200);
	uint64_t frame;

	t->len = cnt * 8;
	t->data = malloc(t->len + 1);
	assert(t->data);
	for (i = 0; i < cnt; i++) {
		frame = htole64(chance_number(c));
		memcpy(t->data + i * 8, &frame, 8);
	}
}

static inline uint64_t tree_number(uint8_t type, uint64_t v)
{
	switch (type) {
	case DIAL9_BOOL:
		return v & 1;
	case DIAL9_U8:
		return (uint8_t)v;
	case DIAL9_U16:
		return (uint16_t)v;
	case DIAL9_U32:
		return (uint32_t)v;
	default:
		return v;
	}
}

static inline void tree_init(struct tree *t, struct chance *c, uint8_t type, unsigned int depth)
{
	uint32_t i;
	uint8_t kid;

	memset(t, 0, sizeof(*t));
	t->type = type;
	switch (type) {
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
	case DIAL9_BYTES:
		t->data = chance_text(c, &t->len);
		if (type == DIAL9_BYTES && t->len)
			t->data[chance_below(c, (uint32_t)t->len)] = (char)chance_next(c);
		break;
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		tree_init_stack(t, c);
		break;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		t->cnt = chance_below(c, 5) * (type == DIAL9_LIST ? 1 : 2);
		t->kids = calloc(t->cnt + 1, sizeof(*t->kids));
		assert(t->kids);
		for (i = 0; i < t->cnt; i++) {
			kid = type == DIAL9_STRING_MAP ?
				      DIAL9_STRING :
				      1 + (uint8_t)chance_below(c, depth < 6 ? 15 : 13);
			tree_init(&t->kids[i], c, kid, depth + 1);
		}
		break;
	default:
		t->num = tree_number(type, chance_number(c));
	}
}

static inline size_t tree_frames(const struct tree *t, uint64_t *frames)
{
	size_t i;

	for (i = 0; i < t->len / 8; i++)
		frames[i] = dial9_frame_at((const uint8_t *)t->data, (uint32_t)i);
	return i;
}

#define TREE_FRAMES_MAX 200

/* Interns all pooled values. */
static inline void tree_intern(struct tree *t, struct dial9_enc *enc)
{
	uint64_t frames[TREE_FRAMES_MAX];
	uint32_t i;
	int err = 0;

	if (t->type == DIAL9_POOLED_STRING)
		err = dial9_enc_intern(enc, t->data, t->len, &t->id);
	else if (t->type == DIAL9_POOLED_STACK)
		err = dial9_enc_intern_stack(enc, frames, tree_frames(t, frames), &t->id);
	assert(!err);
	for (i = 0; i < t->cnt; i++)
		tree_intern(&t->kids[i], enc);
}

static inline void tree_put_int(FILE *f, uint64_t v, size_t sz)
{
	for (; sz; sz--, v >>= 8)
		fputc((int)(v & 255), f);
}

/* A value as a list element on the wire; pooled values must be interned. */
static inline void tree_wire(const struct tree *t, FILE *f)
{
	static const uint8_t fixed[16] = { [DIAL9_I64] = 8, [DIAL9_F64] = 8, [DIAL9_BOOL] = 1,
					   [DIAL9_U8] = 1,  [DIAL9_U16] = 2, [DIAL9_U32] = 4 };
	uint64_t v = t->num;
	uint32_t i;

	if (fixed[t->type]) {
		tree_put_int(f, v, fixed[t->type]);
	} else if (t->type == DIAL9_VARINT) {
		for (; v >= 128; v >>= 7)
			fputc((int)(v & 127) | 128, f);
		fputc((int)v, f);
	} else if (t->type == DIAL9_POOLED_STRING || t->type == DIAL9_POOLED_STACK) {
		tree_put_int(f, t->id, 4);
	} else if (t->kids) {
		tree_put_int(f, t->type == DIAL9_LIST ? t->cnt : t->cnt / 2, 4);
		for (i = 0; i < t->cnt; i++) {
			if (t->type != DIAL9_STRING_MAP)
				fputc(t->kids[i].type, f);
			tree_wire(&t->kids[i], f);
		}
	} else {
		tree_put_int(f, t->type == DIAL9_STACK ? t->len / 8 : t->len, 4);
		fwrite(t->data, 1, t->len, f);
	}
}

/* The value for the encoder, borrowing from the tree; the caller frees *raw. */
static inline struct dial9_value tree_value(const struct tree *t, char **raw)
{
	struct dial9_value v = { .type = t->type };
	size_t sz;
	FILE *f;

	*raw = NULL;
	switch (t->type) {
	case DIAL9_STRING:
	case DIAL9_BYTES:
		v.str = (struct dial9_text){ t->data, (uint32_t)t->len };
		break;
	case DIAL9_STACK:
		v.stack = (struct dial9_frames){ (uint8_t *)t->data, (uint32_t)(t->len / 8) };
		break;
	case DIAL9_POOLED_STRING:
	case DIAL9_POOLED_STACK:
		v.id = t->id;
		break;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		f = open_memstream(raw, &sz);
		tree_wire(t, f);
		fclose(f);
		v.map.raw = (uint8_t *)*raw + 4;
		v.map.sz = (uint32_t)sz - 4;
		v.map.cnt = t->type == DIAL9_LIST ? t->cnt : t->cnt / 2;
		break;
	case DIAL9_BOOL:
		v.b = t->num;
		break;
	default:
		v.u64 = t->num;
	}
	return v;
}

static inline int tree_put_by_value(const struct tree *t, struct dial9_enc *enc)
{
	char *raw;
	struct dial9_value v = tree_value(t, &raw);
	int err = dial9_enc_put_value(enc, &v);

	free(raw);
	return err;
}

static inline int tree_put_map(const struct tree *t, struct dial9_enc *enc)
{
	struct dial9_str kv[5][2];
	uint32_t i;

	for (i = 0; i < t->cnt; i++)
		kv[i / 2][i % 2] = (struct dial9_str){ t->kids[i].data, t->kids[i].len };
	return dial9_enc_put_map(enc, (const struct dial9_str(*)[2])kv, t->cnt / 2);
}

static inline int tree_put(const struct tree *t, struct dial9_enc *enc, bool in_list);

static inline int tree_put_nested(const struct tree *t, struct dial9_enc *enc)
{
	int err = t->type == DIAL9_LIST ? dial9_enc_open_list(enc) : dial9_enc_open_map(enc);
	uint32_t i;

	for (i = 0; !err && i < t->cnt; i++)
		err = tree_put(&t->kids[i], enc, true);
	return err ? err : dial9_enc_close(enc);
}

/*
 * With the put function of the type. In a list a bare put chooses its own type, so some cannot be
 * used.
 */
static inline int tree_put(const struct tree *t, struct dial9_enc *enc, bool in_list)
{
	uint64_t frames[TREE_FRAMES_MAX];
	double f64;

	switch (t->type) {
	case 0:
		return dial9_enc_put_none(enc);
	case DIAL9_I64:
		return dial9_enc_put_i64(enc, (int64_t)t->num);
	case DIAL9_F64:
		memcpy(&f64, &t->num, sizeof(f64));
		return dial9_enc_put_f64(enc, f64);
	case DIAL9_BOOL:
		return dial9_enc_put_bool(enc, t->num);
	case DIAL9_VARINT:
		return dial9_enc_put_u64(enc, t->num);
	case DIAL9_STRING:
		return dial9_enc_put_str(enc, t->data, t->len);
	case DIAL9_BYTES:
		return dial9_enc_put_bytes(enc, t->data, t->len);
	case DIAL9_STACK:
		return dial9_enc_put_stack(enc, frames, tree_frames(t, frames));
	case DIAL9_STRING_MAP:
		return tree_put_map(t, enc);
	case DIAL9_LIST:
	case DIAL9_MAP:
		return tree_put_nested(t, enc);
	}
	if (in_list)
		return tree_put_by_value(t, enc);
	if (t->type == DIAL9_POOLED_STRING)
		return dial9_enc_put_str(enc, t->data, t->len);
	if (t->type == DIAL9_POOLED_STACK)
		return dial9_enc_put_stack(enc, frames, tree_frames(t, frames));
	return dial9_enc_put_u64(enc, t->num);
}

static inline bool tree_same_bytes(const struct tree *t, const void *p, size_t sz)
{
	return sz == t->len && (!sz || !memcmp(p, t->data, sz));
}

/* Whether the decoded value is equal; `owned`: a copy, with resolved pool ids. */
static inline bool tree_equals(const struct tree *t, const struct dial9_dec *dec,
			       const struct dial9_value *v, bool owned)
{
	bool pooled = t->type == DIAL9_POOLED_STRING || t->type == DIAL9_POOLED_STACK;
	struct dial9_value kid[2];
	struct dial9_iter it;
	struct dial9_str s;
	const uint8_t *le;
	uint32_t cnt, i;

	if (v->type != t->type && !(owned && pooled))
		return false;
	if (!t->type)
		return true;
	if (t->type == DIAL9_BYTES)
		return tree_same_bytes(t, v->str.ptr, v->str.len);
	if (!dial9_value_str(dec, v, &s))
		return (!owned || v->type == DIAL9_STRING) && tree_same_bytes(t, s.ptr, s.len) &&
		       !v->bad_utf8;
	if (!dial9_value_stack(dec, v, &le, &cnt))
		return (!owned || v->type == DIAL9_STACK) && tree_same_bytes(t, le, cnt * 8ull);
	if (!t->kids)
		return t->type == DIAL9_BOOL ? v->b == (t->num != 0) : v->u64 == t->num;
	dial9_iter_init(&it, v);
	for (i = 0; t->type == DIAL9_LIST && dial9_list_next(&it, &kid[0]) > 0; i++)
		if (i == t->cnt || !tree_equals(&t->kids[i], dec, &kid[0], false))
			return false;
	for (; t->type != DIAL9_LIST && dial9_map_next(&it, &kid[0], &kid[1]) > 0; i += 2)
		if (i == t->cnt || !tree_equals(&t->kids[i], dec, &kid[0], false) ||
		    !tree_equals(&t->kids[i + 1], dec, &kid[1], false))
			return false;
	return i == t->cnt;
}

/* ---- events --------------------------------------------------------------------------------------- */

#define RANDOM_SCHEMAS 8
#define RANDOM_FIELDS 14

struct random_event {
	struct dial9_schema *schema; /* counted */
	uint64_t ts; /* 0 if the schema has none */
	struct tree values[RANDOM_FIELDS];
	size_t cnt;
};

struct random_events {
	struct chance chance;
	struct dial9_enc *enc; /* owned by the caller; level 4 */
	struct dial9_schema *schemas[RANDOM_SCHEMAS];
	struct dial9_event_type types[RANDOM_SCHEMAS];
	uint64_t ts;
	uint32_t next_id; /* for ids chosen by the caller */
	struct random_event *events; /* accepted events, in order */
	size_t cnt, cap;
	size_t refused; /* events that failed as expected */
};

static inline void random_schema(struct random_events *r, size_t slot)
{
	struct dial9_field_n fields[RANDOM_FIELDS];
	size_t cnt = chance_below(&r->chance, RANDOM_FIELDS + 1), i;
	struct dial9_str name;
	char *texts[RANDOM_FIELDS + 1];

	for (i = 0; i < cnt; i++) {
		texts[i] = chance_text(&r->chance, &fields[i].name.len);
		fields[i].name.ptr = texts[i];
		fields[i].type = (uint8_t)(1 + chance_below(&r->chance, 15)) |
				 (chance_below(&r->chance, 3) ? 0 : DIAL9_OPTIONAL);
	}
	texts[cnt] = chance_text(&r->chance, &name.len);
	name.ptr = texts[cnt];
	dial9_schema_free(r->schemas[slot]);
	assert(!dial9_schema_new_n(name, chance_below(&r->chance, 4), fields, cnt,
				   &r->schemas[slot]));
	r->types[slot] = (struct dial9_event_type){ .schema = r->schemas[slot] };
	for (i = 0; i <= cnt; i++)
		free(texts[i]);
}

/* Mostly a little later, sometimes much later or earlier; near the limits of 24 bits. */
static inline void random_time(struct random_events *r)
{
	switch (chance_below(&r->chance, 8)) {
	case 0:
		r->ts = chance_number(&r->chance);
		break;
	case 1:
		r->ts -= chance_below(&r->chance, 1000);
		break;
	case 2:
		r->ts = dial9_enc_last_ts(r->enc) + 0xfffffe + chance_below(&r->chance, 3);
		break;
	default:
		r->ts += chance_below(&r->chance, 100000);
	}
}

static inline int random_write_by_values(struct random_events *r, size_t slot,
					 const struct random_event *ev, bool typed)
{
	struct dial9_value values[RANDOM_FIELDS];
	char *raw[RANDOM_FIELDS];
	size_t i;
	int err;

	for (i = 0; i < ev->cnt; i++)
		values[i] = tree_value(&ev->values[i], &raw[i]);
	if (typed)
		err = dial9_enc_write_type(r->enc, &r->types[slot], r->ts, values, ev->cnt);
	else
		err = dial9_enc_write(r->enc, ev->schema, r->ts, values, ev->cnt);
	for (i = 0; i < ev->cnt; i++)
		free(raw[i]);
	return err;
}

/* Field by field; with `spoil` a value too many or too few, or a discarded event. */
static inline int random_write_by_puts(struct random_events *r, const struct random_event *ev,
				       bool spoil)
{
	size_t i, stop = spoil ? chance_below(&r->chance, (uint32_t)ev->cnt + 1) : ev->cnt;
	int err = dial9_enc_begin(r->enc, ev->schema, r->ts);

	for (i = 0; i < stop; i++)
		err = chance_below(&r->chance, 4) ? tree_put(&ev->values[i], r->enc, false) :
						    tree_put_by_value(&ev->values[i], r->enc);
	assert(!err);
	if (!spoil)
		return dial9_enc_end(r->enc);
	if (stop == ev->cnt)
		assert(dial9_enc_put_none(r->enc) == -EPROTOTYPE);
	if (chance_below(&r->chance, 2))
		return dial9_enc_end(r->enc);
	dial9_enc_cancel(r->enc);
	return -ECANCELED;
}

static inline void random_event_fini(struct random_event *ev)
{
	size_t i;

	for (i = 0; i < ev->cnt; i++)
		tree_fini(&ev->values[i]);
	dial9_schema_free(ev->schema);
}

static inline void random_keep(struct random_events *r, const struct random_event *ev)
{
	if (r->cnt == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 64;
		r->events = realloc(r->events, r->cap * sizeof(*r->events));
		assert(r->events);
	}
	r->events[r->cnt++] = *ev;
}

static inline void random_event(struct random_events *r)
{
	size_t slot = chance_below(&r->chance, RANDOM_SCHEMAS), i;
	const struct dial9_schema *s = r->schemas[slot];
	bool spoil = !chance_below(&r->chance, 8);
	uint32_t style = chance_below(&r->chance, 3);
	struct random_event ev = { .schema = dial9_schema_ref(s),
				   .cnt = dial9_schema_field_cnt(s) };
	uint8_t type;
	int err;

	random_time(r);
	ev.ts = dial9_schema_has_timestamp(s) ? r->ts : 0;
	for (i = 0; i < ev.cnt; i++) {
		type = dial9_schema_field_type(s, i);
		if (type & DIAL9_OPTIONAL && chance_below(&r->chance, 2))
			type = 0;
		tree_init(&ev.values[i], &r->chance, type & 0x7f, 0);
		tree_intern(&ev.values[i], r->enc);
	}
	if (style && !spoil)
		err = random_write_by_values(r, slot, &ev, style == 1);
	else
		err = random_write_by_puts(r, &ev, spoil);
	assert(!err == !spoil);
	r->refused += spoil;
	if (spoil)
		random_event_fini(&ev);
	else
		random_keep(r, &ev);
}

/* Any other operation of an encoder between two events. */
static inline void random_aside(struct random_events *r)
{
	size_t slot = chance_below(&r->chance, RANDOM_SCHEMAS), cnt;
	struct dial9_schema *s = r->schemas[slot];
	struct dial9_str note = { "a note", 6 };
	uint64_t frame = chance_next(&r->chance);

	switch (chance_below(&r->chance, 7)) {
	case 0:
		random_schema(r, slot);
		break;
	case 1:
		assert(!dial9_enc_reset(r->enc));
		break;
	case 2:
		assert(!dial9_enc_flush(r->enc));
		break;
	case 3:
		assert(!dial9_enc_define_string(r->enc, r->next_id++, "own", 3));
		break;
	case 4:
		assert(!dial9_enc_define_stack(r->enc, r->next_id++, &frame, 1));
		break;
	case 5:
		cnt = dial9_schema_field_cnt(s);
		if (cnt)
			assert(!dial9_enc_annotate(
				r->enc, s, (uint16_t)chance_below(&r->chance, (uint32_t)cnt), note,
				note));
		break;
	default:
		assert(dial9_enc_end(r->enc) == -EINVAL);
	}
}

/* Runs `steps` events and other operations. */
static inline void random_run(struct random_events *r, uint64_t seed, size_t steps,
			      struct dial9_enc *enc)
{
	size_t i;

	memset(r, 0, sizeof(*r));
	r->chance.state = seed;
	r->enc = enc;
	r->next_id = 1u << 30;
	for (i = 0; i < RANDOM_SCHEMAS; i++)
		random_schema(r, i);
	for (i = 0; i < steps; i++) {
		if (chance_below(&r->chance, 12))
			random_event(r);
		else
			random_aside(r);
	}
	assert(!dial9_enc_flush(enc));
}

static inline void random_fini(struct random_events *r)
{
	size_t i;

	for (i = 0; i < RANDOM_SCHEMAS; i++)
		dial9_schema_free(r->schemas[i]);
	for (i = 0; i < r->cnt; i++)
		random_event_fini(&r->events[i]);
	free(r->events);
}

#endif
