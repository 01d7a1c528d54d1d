// SPDX-License-Identifier: BSD-2-Clause
/*
 * The input is a script for an encoder: make a schema, write an event of values drawn from the bytes, intern,
 * cancel, fail on purpose, flush, begin a new trace. Next to the encoder, a record of each accepted event is
 * kept in a separate form. The decoded stream must equal that record, byte for byte.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dial9.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

#define SCHEMA_CNT 8
#define FIELD_CNT 12

struct script {
	const uint8_t *p;
	size_t n;
	struct dial9_enc *enc;
	struct dial9_schema *schemas[SCHEMA_CNT];
	size_t schema_cnt;
	uint64_t ts;
	struct buf stream; /* bytes passed to write() */
	bool refuse; /* write() fails */
};

static uint8_t next_byte(struct script *s)
{
	if (!s->n)
		return 0;
	s->n--;
	return *s->p++;
}

/* Mostly small, sometimes at the edges of the widths. */
static uint64_t next_number(struct script *s)
{
	uint8_t kind = next_byte(s);
	uint64_t v = 0;
	unsigned int i;

	if (kind < 128)
		return kind;
	for (i = 0; i < (kind & 7u) + 1; i++)
		v = v << 8 | next_byte(s);
	return kind & 8 ? ~v : kind & 16 ? 1ull << (v & 63) : v;
}

/* Printable, of up to 31 bytes, and repeating often. */
static size_t next_text(struct script *s, char *out)
{
	size_t len = next_byte(s) & 31, i;
	uint8_t c = next_byte(s);

	for (i = 0; i < len; i++)
		out[i] = (char)('a' + (c + i) % 26);
	return len;
}

static void note(struct buf *b, uint8_t kind, const void *p, size_t n)
{
	uint32_t len = (uint32_t)n;

	buf_addch(b, (char)kind);
	buf_add(b, &len, sizeof(len));
	if (n)
		buf_add(b, p, n);
}

static void note_u64(struct buf *b, uint8_t kind, uint64_t v)
{
	note(b, kind, &v, sizeof(v));
}

static void put_value(struct script *s, uint8_t type, struct buf *rec, unsigned int depth);

static void put_container(struct script *s, uint8_t type, struct buf *rec, unsigned int depth)
{
	unsigned int cnt = next_byte(s) % 4, i;
	uint8_t elem;

	note_u64(rec, type, cnt);
	if (type == DIAL9_LIST)
		dial9_enc_open_list(s->enc);
	else
		dial9_enc_open_map(s->enc);
	for (i = 0; i < cnt * (type == DIAL9_MAP ? 2 : 1); i++) {
		/* what a bare put can write: no U8, U16, U32, pooled text; nested up to a depth */
		static const uint8_t kinds[] = { DIAL9_VARINT, DIAL9_I64,	 DIAL9_F64,
						 DIAL9_BOOL,   DIAL9_STRING,	 DIAL9_BYTES,
						 DIAL9_STACK,  DIAL9_STRING_MAP, DIAL9_LIST,
						 DIAL9_MAP };

		elem = kinds[next_byte(s) % (depth < 8 ? 10 : 8)];
		put_value(s, elem, rec, depth + 1);
	}
	dial9_enc_close(s->enc);
}

static void put_text_map(struct script *s, struct buf *rec)
{
	struct dial9_str kv[4][2];
	size_t cnt = next_byte(s) % 4, i;
	char text[8][32];

	for (i = 0; i < cnt * 2; i++) {
		kv[i / 2][i % 2].ptr = text[i];
		kv[i / 2][i % 2].len = next_text(s, text[i]);
	}
	note_u64(rec, DIAL9_STRING_MAP, cnt);
	for (i = 0; i < cnt * 2; i++)
		note(rec, DIAL9_STRING, kv[i / 2][i % 2].ptr, kv[i / 2][i % 2].len);
	dial9_enc_put_map(s->enc, (const struct dial9_str(*)[2])kv, cnt);
}

static void put_stack(struct script *s, uint8_t type, struct buf *rec)
{
	uint64_t frames[16];
	size_t cnt = next_byte(s) % 16, i;

	for (i = 0; i < cnt; i++)
		frames[i] = next_number(s);
	note(rec, type, frames, cnt * 8);
	dial9_enc_put_stack(s->enc, frames, cnt);
}

static void put_unsigned(struct script *s, uint8_t type, struct buf *rec)
{
	static const uint64_t max[16] = {
		[DIAL9_U8] = UINT8_MAX,
		[DIAL9_U16] = UINT16_MAX,
		[DIAL9_U32] = UINT32_MAX,
		[DIAL9_VARINT] = UINT64_MAX,
	};
	uint64_t v = next_number(s) & max[type];

	note_u64(rec, type, v);
	dial9_enc_put_u64(s->enc, v);
}

static void put_other_scalar(struct script *s, uint8_t type, struct buf *rec)
{
	uint64_t v = next_number(s);
	double d;

	if (type == DIAL9_BOOL)
		v &= 1;
	memcpy(&d, &v, sizeof(d));
	note_u64(rec, type, v);
	if (type == DIAL9_BOOL)
		dial9_enc_put_bool(s->enc, v);
	else if (type == DIAL9_I64)
		dial9_enc_put_i64(s->enc, (int64_t)v);
	else
		dial9_enc_put_f64(s->enc, d);
}

static void put_text(struct script *s, uint8_t type, struct buf *rec)
{
	char text[32];
	size_t n = next_text(s, text);

	note(rec, type, text, n);
	if (type == DIAL9_BYTES)
		dial9_enc_put_bytes(s->enc, text, n);
	else
		dial9_enc_put_str(s->enc, text, n);
}

static void put_value(struct script *s, uint8_t type, struct buf *rec, unsigned int depth)
{
	switch ((enum dial9_type)type) {
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
	case DIAL9_VARINT:
		put_unsigned(s, type, rec);
		break;
	case DIAL9_BOOL:
	case DIAL9_I64:
	case DIAL9_F64:
		put_other_scalar(s, type, rec);
		break;
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
	case DIAL9_BYTES:
		put_text(s, type, rec);
		break;
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		put_stack(s, type, rec);
		break;
	case DIAL9_STRING_MAP:
		put_text_map(s, rec);
		break;
	case DIAL9_LIST:
	case DIAL9_MAP:
		put_container(s, type, rec, depth);
		break;
	case DIAL9_OPTIONAL:
		break;
	}
}

static void make_schema(struct script *s)
{
	struct dial9_field_n fields[FIELD_CNT];
	char name[32], names[FIELD_CNT][32];
	size_t cnt = next_byte(s) % (FIELD_CNT + 1), i, slot = s->schema_cnt % SCHEMA_CNT;
	struct dial9_str text = { name, 0 };

	for (i = 0; i < cnt; i++) {
		fields[i].name.ptr = names[i];
		fields[i].name.len = next_text(s, names[i]);
		fields[i].type = next_byte(s);
		fields[i].type = (uint8_t)(fields[i].type % 15 + 1) | (fields[i].type & 0x80);
	}
	text.len = next_text(s, name);
	dial9_schema_free(s->schemas[slot]);
	s->schemas[slot] = NULL;
	assert(!dial9_schema_new_n(text, next_byte(s) & 3, fields, cnt, &s->schemas[slot]));
	s->schema_cnt++;
}

/* One event; `spoil` makes it fail, and then it must leave no trace. */
static void make_event(struct script *s, struct buf *record, bool spoil)
{
	size_t cnt = s->schema_cnt < SCHEMA_CNT ? s->schema_cnt : SCHEMA_CNT, i;
	const struct dial9_schema *schema = cnt ? s->schemas[next_byte(s) % cnt] : NULL;
	struct buf rec = { 0 };
	uint8_t type;
	int err;

	if (!schema)
		return;
	s->ts += next_byte(s) & 1 ? next_number(s) : next_byte(s);
	note(&rec, 'E', dial9_schema_name(schema), dial9_schema_name_n(schema).len);
	note_u64(&rec, 'T', dial9_schema_has_timestamp(schema) ? s->ts : 0);
	dial9_enc_begin(s->enc, schema, s->ts);
	for (i = 0; i < dial9_schema_field_cnt(schema); i++) {
		type = dial9_schema_field_type(schema, i);
		if (type & DIAL9_OPTIONAL && next_byte(s) & 1) {
			dial9_enc_put_none(s->enc);
			note(&rec, 0, NULL, 0);
		} else {
			put_value(s, type & 0x7f, &rec, 0);
		}
	}
	if (spoil && next_byte(s) & 1) {
		dial9_enc_cancel(s->enc);
	} else {
		if (spoil)
			assert(dial9_enc_put_u64(s->enc, 1));
		err = dial9_enc_end(s->enc);
		assert(spoil || s->refuse ? true : !err);
		if (!err && !spoil)
			buf_add(record, rec.data, rec.len);
		assert(!spoil || err);
	}
	buf_free(&rec);
}

static int sink(void *ctx, const void *data, size_t sz)
{
	struct script *s = ctx;

	if (s->refuse)
		return -ENOSPC;
	buf_add(&s->stream, data, sz);
	return 0;
}

static void run_script(struct script *s, struct buf *record)
{
	char text[32];
	uint32_t id;
	size_t n;

	while (s->n) {
		switch (next_byte(s) % 16) {
		case 0:
			make_schema(s);
			break;
		case 1:
			make_event(s, record, true);
			break;
		case 2:
			n = next_text(s, text);
			assert(!dial9_enc_intern(s->enc, text, n, &id));
			break;
		case 3:
			if (!dial9_enc_reset(s->enc))
				s->ts = next_number(s);
			break;
		case 4:
			s->refuse = next_byte(s) & 1;
			break;
		case 5:
			assert(!dial9_enc_flush(s->enc) || s->refuse);
			break;
		default:
			make_event(s, record, false);
		}
	}
	s->refuse = false;
	assert(!dial9_enc_flush(s->enc));
}

static void note_value(struct buf *rec, const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_value key, value;
	struct dial9_iter it;
	struct dial9_str str;
	const uint8_t *le;
	uint32_t cnt;

	switch (v->type) {
	case 0:
		note(rec, 0, NULL, 0);
		break;
	case DIAL9_BOOL:
		note_u64(rec, v->type, v->b);
		break;
	case DIAL9_BYTES:
		note(rec, v->type, v->str.ptr, v->str.len);
		break;
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
		assert(!v->bad_utf8 && !dial9_value_str(dec, v, &str));
		note(rec, v->type, str.ptr, str.len);
		break;
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		assert(!dial9_value_stack(dec, v, &le, &cnt));
		note(rec, v->type, le, (size_t)cnt * 8);
		break;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		note_u64(rec, v->type, v->map.cnt);
		dial9_iter_init(&it, v);
		while (dial9_list_next(&it, &value) > 0)
			note_value(rec, dec, &value);
		while (dial9_map_next(&it, &key, &value) > 0) {
			note_value(rec, dec, &key);
			note_value(rec, dec, &value);
		}
		break;
	default:
		note_u64(rec, v->type, v->u64);
	}
}

static void decode_all(const struct buf *stream, struct buf *rec)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .data = stream->data, .data_sz = stream->len };
	const struct dial9_event *ev;
	struct dial9_frame f;
	struct dial9_dec *dec;
	size_t i;
	int err;

	assert(!dial9_dec_new(&o, &dec));
	while ((err = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		ev = &f.event;
		note(rec, 'E', dial9_schema_name(ev->schema), dial9_schema_name_n(ev->schema).len);
		note_u64(rec, 'T', ev->ts);
		for (i = 0; i < ev->value_cnt; i++)
			note_value(rec, dec, &ev->values[i]);
	}
	assert(!err);
	dial9_dec_free(dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct script s = { .p = data, .n = sz };
	struct dial9_enc_opts o = {
		.sz = sizeof(o), .write = sink, .ctx = &s, .level = DIAL9_LEVEL_4
	};
	struct buf record = { 0 }, decoded = { 0 };
	size_t i;

	o.flush_at = (size_t)next_byte(&s) * 16 + 1;
	o.pool_bytes_max = (size_t)next_byte(&s) * 256 + 1;
	o.first_type_id = next_byte(&s);
	assert(!dial9_enc_new(&o, &s.enc));
	run_script(&s, &record);
	decode_all(&s.stream, &decoded);
	assert(record.len == decoded.len &&
	       (!record.len || !memcmp(record.data, decoded.data, record.len)));
	for (i = 0; i < SCHEMA_CNT; i++)
		dial9_schema_free(s.schemas[i]);
	dial9_enc_free(s.enc);
	buf_free(&s.stream);
	buf_free(&record);
	buf_free(&decoded);
	return 0;
}
