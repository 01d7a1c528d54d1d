// SPDX-License-Identifier: BSD-2-Clause
/*
 * Converts decoded values to self-contained bytes, and encodes these. Owns the form of these bytes: each value has
 * its type, a number and the counted data. They exist only in this process, and are not validated again.
 *
 * Ids of pools are valid in one file only: pooled text and stacks are looked up, and pooled again. An undefined id
 * stays undefined.
 */
#include "rewrite/copy/value_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#define UNDEFINED UINT32_MAX /* an id that no pool reaches */
#define UNKNOWN UINT64_MAX /* the count for such an id */

void value_record_fini(struct value_record *r)
{
	buf_free(&r->text);
	buf_free(&r->escaped);
}

/* ---- into a record ----------------------------------------------------------------------------- */

static void add_head(struct buf *out, uint8_t type, uint64_t number)
{
	buf_addch(out, (char)type);
	buf_add(out, &number, sizeof(number));
}

static void add_bytes(struct value_record *r, uint8_t type, struct dial9_str s, struct buf *out)
{
	if (type != DIAL9_BYTES && dial9_utf8_valid_len(s.ptr, s.len) != s.len) {
		buf_clear(&r->escaped);
		str_escape_invalid(&r->escaped, s.ptr, s.len);
		s = (struct dial9_str){ buf_cstr(&r->escaped), r->escaped.len };
	}
	add_head(out, type, s.len);
	buf_add(out, s.ptr, s.len);
}

static void add_text(struct value_record *r, uint8_t type, const struct dial9_str *key,
		     struct dial9_str s, struct buf *out)
{
	if (r->text_of) {
		buf_clear(&r->text);
		r->text_of(r->ctx, type, key, s, &r->text);
		s = (struct dial9_str){ buf_cstr(&r->text), r->text.len };
	}
	add_bytes(r, type, s, out);
}

static void add_stack(struct value_record *r, const struct dial9_value *v, struct buf *out)
{
	const uint8_t *le;
	uint32_t cnt;

	if (!trace_value_stack(r->trace, v, &le, &cnt)) {
		add_head(out, v->type, UNKNOWN);
		return;
	}
	add_head(out, v->type, cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		const uint64_t addr = dial9_frame_at(le, i);
		const uint64_t frame = r->frame_of ? r->frame_of(r->ctx, addr) : addr;

		buf_add(out, &frame, sizeof(frame));
	}
}

void value_record_add_map(uint32_t cnt, struct buf *out)
{
	add_head(out, DIAL9_STRING_MAP, cnt);
}

void value_record_add_entry(struct value_record *r, struct dial9_str key, struct dial9_str value,
			    struct buf *out)
{
	add_bytes(r, DIAL9_STRING, key, out);
	add_text(r, DIAL9_STRING, &key, value, out);
}

/* Keys are unchanged. */
static void add_entry(struct value_record *r, const struct dial9_value *key,
		      const struct dial9_value *value, bool strings, struct buf *out)
{
	struct value_record same = { .trace = r->trace };

	if (strings) {
		value_record_add_entry(r, (struct dial9_str){ key->str.ptr, key->str.len },
				       (struct dial9_str){ value->str.ptr, value->str.len }, out);
		return;
	}
	value_record_add(&same, key, out);
	value_record_fini(&same);
	value_record_add(r, value, out);
}

static void add_entries(struct value_record *r, const struct dial9_value *v, struct buf *out)
{
	struct dial9_value key, value;
	struct dial9_iter it;

	add_head(out, v->type, v->map.cnt);
	dial9_iter_init(&it, v);
	if (v->type == DIAL9_LIST)
		while (dial9_list_next(&it, &value) == 1)
			value_record_add(r, &value, out);
	else
		while (dial9_map_next(&it, &key, &value) == 1)
			add_entry(r, &key, &value, v->type == DIAL9_STRING_MAP, out);
}

/* Lists nest no deeper than the decoder allows. */
void value_record_add(struct value_record *r, const struct dial9_value *v, struct buf *out)
{
	struct dial9_str s;

	switch ((int)v->type) {
	case DIAL9_STRING:
	case DIAL9_BYTES:
		add_text(r, v->type, NULL, (struct dial9_str){ v->str.ptr, v->str.len }, out);
		break;
	case DIAL9_POOLED_STRING:
		if (trace_value_str(r->trace, v, &s))
			add_text(r, v->type, NULL, s, out);
		else
			add_head(out, v->type, UNKNOWN);
		break;
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		add_stack(r, v, out);
		break;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		add_entries(r, v, out);
		break;
	default:
		add_head(out, v->type, v->type == DIAL9_BOOL ? v->b : v->u64);
	}
}

/* ---- out of a record --------------------------------------------------------------------------- */

static uint8_t get_head(const char **pos, uint64_t *number)
{
	const uint8_t type = (uint8_t) * *pos;

	memcpy(number, *pos + 1, sizeof(*number));
	*pos += 1 + sizeof(*number);
	return type;
}

static struct dial9_str get_text(const char **pos, uint64_t len)
{
	const struct dial9_str s = { *pos, len };

	*pos += len;
	return s;
}

static int write_pooled_text(struct dial9_enc *enc, const char **pos, uint64_t len)
{
	const struct dial9_str s = get_text(pos, len == UNKNOWN ? 0 : len);
	uint32_t id = UNDEFINED;
	const int err = len == UNKNOWN ? 0 : dial9_enc_intern(enc, s.ptr, s.len, &id);

	return err ? err : dial9_enc_put_str_id(enc, id);
}

static int write_stack(struct dial9_enc *enc, const char **pos, uint8_t type, uint64_t cnt)
{
	uint32_t id = UNDEFINED;
	uint64_t *frames;
	int err;

	if (cnt == UNKNOWN)
		return dial9_enc_put_stack_id(enc, UNDEFINED);
	/* a copy, because the frames may be unaligned */
	frames = xmalloc(cnt * sizeof(*frames));
	memcpy(frames, get_text(pos, cnt * sizeof(*frames)).ptr, cnt * sizeof(*frames));
	if (type == DIAL9_STACK) {
		err = dial9_enc_put_stack(enc, frames, cnt);
	} else {
		err = dial9_enc_intern_stack(enc, frames, cnt, &id);
		err = err ? err : dial9_enc_put_stack_id(enc, id);
	}
	free(frames);
	return err;
}

static int write_string_map(struct dial9_enc *enc, const char **pos, uint64_t cnt)
{
	struct dial9_str(*pairs)[2] = xcalloc(cnt + 1, sizeof(*pairs));
	uint64_t len;
	int err;

	for (uint64_t i = 0; i < 2 * cnt; i++) {
		get_head(pos, &len);
		pairs[i / 2][i % 2] = get_text(pos, len);
	}
	err = dial9_enc_put_map(enc, (const struct dial9_str(*)[2])pairs, cnt);
	free(pairs);
	return err;
}

static int write_entries(struct dial9_enc *enc, const char **pos, bool map, uint64_t cnt)
{
	int err = map ? dial9_enc_open_map(enc) : dial9_enc_open_list(enc);

	for (cnt *= map ? 2 : 1; cnt && !err; cnt--)
		err = value_record_write(pos, enc);
	return err ? err : dial9_enc_close(enc);
}

int value_record_write(const char **pos, struct dial9_enc *enc)
{
	struct dial9_value v = { 0 };
	uint64_t number;
	struct dial9_str s;

	v.type = get_head(pos, &number);
	switch ((int)v.type) {
	case DIAL9_STRING:
		s = get_text(pos, number);
		return dial9_enc_put_str(enc, s.ptr, s.len);
	case DIAL9_BYTES:
		s = get_text(pos, number);
		return dial9_enc_put_bytes(enc, s.ptr, s.len);
	case DIAL9_POOLED_STRING:
		return write_pooled_text(enc, pos, number);
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		return write_stack(enc, pos, v.type, number);
	case DIAL9_STRING_MAP:
		return write_string_map(enc, pos, number);
	case DIAL9_LIST:
	case DIAL9_MAP:
		return write_entries(enc, pos, v.type == DIAL9_MAP, number);
	case DIAL9_BOOL:
		v.b = number;
		return dial9_enc_put_value(enc, &v);
	default:
		v.u64 = number;
		return dial9_enc_put_value(enc, &v);
	}
}
