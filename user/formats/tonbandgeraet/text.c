// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fields of a dial9 event as one line of text, for formats that have only a message.
 *
 * Exact where it can be: integers in full, floating point with all digits, text as it is when it has
 * nothing that "key=value" would trip over and quoted as in JSON otherwise, bytes in hex, addresses in
 * hex, lists and maps as JSON. Work stops at the limit, however long a value claims to be.
 */
#include "formats/tonbandgeraet/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"

static bool is_full(const struct buf *out)
{
	return out->len > TONBAND_TEXT_MAX;
}

static void put_hex(struct buf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n && !is_full(out); i++)
		buf_printf(out, "%02x", (unsigned char)p[i]);
}

static void put_stack(struct buf *out, const uint8_t *le, uint32_t cnt)
{
	buf_addch(out, '[');
	for (uint32_t i = 0; i < cnt && !is_full(out); i++)
		buf_printf(out, "%s0x%" PRIx64, i ? "," : "", dial9_frame_at(le, i));
	buf_addch(out, ']');
}

static bool is_plain(const char *s, size_t n)
{
	if (!n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == '"' || s[i] == '=' || s[i] == 0x7f)
			return false;
	return str_utf8_valid_len(s, n) == n;
}

static void put_str(struct buf *out, struct dial9_str s, bool nested)
{
	size_t n = s.len < TONBAND_TEXT_MAX ? s.len : TONBAND_TEXT_MAX + 1;

	if (!nested && is_plain(s.ptr, n))
		buf_add(out, s.ptr, n);
	else
		str_json(out, s.ptr, n);
}

static void put_value(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v,
		      bool nested);

static void put_pairs(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_value key, value;
	struct dial9_iter it;
	const char *sep = "";

	dial9_iter_init(&it, v);
	buf_addch(out, '{');
	while (!is_full(out) && dial9_map_next(&it, &key, &value) == 1) {
		buf_addstr(out, sep);
		put_value(out, dec, &key, true);
		buf_addch(out, ':');
		put_value(out, dec, &value, true);
		sep = ",";
	}
	buf_addch(out, '}');
}

static void put_list(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_value elem;
	struct dial9_iter it;
	const char *sep = "";

	dial9_iter_init(&it, v);
	buf_addch(out, '[');
	while (!is_full(out) && dial9_list_next(&it, &elem) == 1) {
		buf_addstr(out, sep);
		put_value(out, dec, &elem, true);
		sep = ",";
	}
	buf_addch(out, ']');
}

static void put_pooled(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v,
		       bool nested)
{
	const uint8_t *le;
	struct dial9_str s;
	uint32_t cnt;

	if (v->type == DIAL9_POOLED_STRING && !dial9_value_str(dec, v, &s))
		put_str(out, s, nested);
	else if (v->type == DIAL9_POOLED_STACK && !dial9_value_stack(dec, v, &le, &cnt))
		put_stack(out, le, cnt);
	else
		buf_printf(out, "#%" PRIu32, v->id);
}

static void put_value(struct buf *out, const struct dial9_dec *dec, const struct dial9_value *v,
		      bool nested)
{
	switch ((enum dial9_type)v->type) {
	case DIAL9_I64:
		buf_printf(out, "%" PRId64, v->i64);
		break;
	case DIAL9_F64:
		buf_printf(out, "%.17g", v->f64);
		break;
	case DIAL9_BOOL:
		buf_addstr(out, v->b ? "true" : "false");
		break;
	case DIAL9_STRING:
		put_str(out, (struct dial9_str){ v->str.ptr, v->str.len }, nested);
		break;
	case DIAL9_BYTES:
		put_hex(out, v->str.ptr, v->str.len);
		break;
	case DIAL9_POOLED_STACK:
	case DIAL9_POOLED_STRING:
		put_pooled(out, dec, v, nested);
		break;
	case DIAL9_STACK:
		put_stack(out, v->stack.le, v->stack.cnt);
		break;
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		buf_printf(out, "%" PRIu64, v->u64);
		break;
	case DIAL9_STRING_MAP:
	case DIAL9_MAP:
		put_pairs(out, dec, v);
		break;
	case DIAL9_LIST:
		put_list(out, dec, v);
		break;
	case DIAL9_OPTIONAL:
		break;
	}
}

/* What a reader of the text cannot know any more. */
static void note_type(const struct dial9_dec *dec, const struct dial9_value *v,
		      struct foreign_notes *notes)
{
	static const char *const kinds[] = {
		[DIAL9_F64] = "floating-point numbers, as text",
		[DIAL9_BYTES] = "bytes, as text",
		[DIAL9_POOLED_STACK] = "stacks, as text",
		[DIAL9_STACK] = "stacks, as text",
		[DIAL9_STRING_MAP] = "maps, as text",
		[DIAL9_LIST] = "lists, as text",
		[DIAL9_MAP] = "maps, as text",
	};

	struct dial9_str s;

	if (v->type < sizeof(kinds) / sizeof(kinds[0]) && kinds[v->type])
		foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, kinds[v->type], NULL);
	if (v->bad_utf8 ||
	    (!dial9_value_str(dec, v, &s) && str_utf8_valid_len(s.ptr, s.len) != s.len))
		foreign_note(notes, FOREIGN_NOTE_LOST, 1,
			     "bytes of text that is not UTF-8, replaced", NULL);
}

void tonband_text_event(struct buf *out, const struct dial9_dec *dec, const struct dial9_event *ev,
			struct foreign_notes *notes)
{
	size_t valid;

	for (size_t i = 0; i < ev->value_cnt && !is_full(out); i++) {
		struct dial9_str name = dial9_schema_field_name_n(ev->schema, i);

		if (!ev->values[i].type) {
			foreign_note(notes, FOREIGN_NOTE_CHANGED, 1,
				     "optional fields without a value, left out", NULL);
			continue;
		}
		if (out->len)
			buf_addch(out, ' ');
		put_str(out, name, false);
		buf_addch(out, '=');
		put_value(out, dec, &ev->values[i], false);
		note_type(dec, &ev->values[i], notes);
	}
	if (is_full(out)) {
		foreign_note(notes, FOREIGN_NOTE_LOST, 1, "ends of messages beyond 64 KiB", NULL);
		valid = str_utf8_valid_len(out->data, TONBAND_TEXT_MAX);
		out->len = valid;
	}
}
