// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints a value of dial9 in a given style.
 *
 * Owns the list of types and their nesting; a style defines how each looks. Knows the codec's
 * values and a buffer, not traces. The decoder limits how deep lists and maps nest, so recursion is
 * bounded.
 */
#include "trace/read/value.h"

struct walk {
	struct buf *out;
	const struct value_style *style;
	const struct dial9_dec *dec;
};

static bool is_full(const struct walk *w)
{
	return w->style->max && w->out->len > w->style->max;
}

void value_print_frames(struct buf *out, const struct value_style *style, const uint8_t *le,
			uint32_t cnt)
{
	const struct walk w = { .out = out, .style = style };

	buf_addch(out, '[');
	for (uint32_t i = 0; i < cnt && !is_full(&w); i++) {
		if (i)
			buf_addstr(out, style->sep);
		if (style->hex_frames)
			buf_addstr(out, "0x");
		if (style->hex_frames)
			buf_addx(out, dial9_frame_at(le, i));
		else
			buf_addu(out, dial9_frame_at(le, i));
	}
	buf_addch(out, ']');
}

void value_print_f64(struct buf *out, double v)
{
	buf_printf(out, "%.17g", v);
}

static void put_value(const struct walk *w, const struct dial9_value *v, bool nested);

static void put_pooled(const struct walk *w, const struct dial9_value *v, bool nested)
{
	const uint8_t *le = NULL;
	struct dial9_str s;
	uint32_t cnt = 0;
	bool defined = w->dec && (v->type == DIAL9_POOLED_STRING ?
					  !dial9_dec_string(w->dec, v->id, &s) :
					  !dial9_dec_stack(w->dec, v->id, &le, &cnt));

	w->style->pooled(w->out, v, defined);
	if (defined && v->type == DIAL9_POOLED_STRING)
		w->style->text(w->out, s, nested);
	else if (defined)
		value_print_frames(w->out, w->style, le, cnt);
	buf_addstr(w->out, w->style->pooled_close);
}

static void put_list(const struct walk *w, const struct dial9_value *v)
{
	struct dial9_value elem;
	struct dial9_iter it;
	const char *sep = "";

	dial9_iter_init(&it, v);
	buf_addstr(w->out, w->style->list.open);
	while (!is_full(w) && dial9_list_next(&it, &elem) > 0) {
		buf_addstr(w->out, sep);
		put_value(w, &elem, true);
		sep = w->style->sep;
	}
	buf_addstr(w->out, w->style->list.close);
}

static void put_map(const struct walk *w, const struct dial9_value *v,
		    const struct value_brackets *around)
{
	const struct value_style *style = w->style;
	struct dial9_value key, value;
	struct dial9_iter it;
	const char *sep = "";

	dial9_iter_init(&it, v);
	buf_addstr(w->out, around->open);
	while (!is_full(w) && dial9_map_next(&it, &key, &value) > 0) {
		buf_addstr(w->out, sep);
		buf_addstr(w->out, style->pair.open);
		if (style->key && key.type != DIAL9_STRING)
			style->key(w->out, &key);
		else
			put_value(w, &key, true);
		buf_addstr(w->out, style->colon);
		put_value(w, &value, true);
		buf_addstr(w->out, style->pair.close);
		sep = style->sep;
	}
	buf_addstr(w->out, around->close);
}

static void put_value(const struct walk *w, const struct dial9_value *v, bool nested)
{
	switch (v->type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		buf_addu(w->out, v->u64);
		break;
	case DIAL9_I64:
		buf_addi(w->out, v->i64);
		break;
	case DIAL9_F64:
		w->style->f64(w->out, v->f64);
		break;
	case DIAL9_BOOL:
		buf_addstr(w->out, v->b ? "true" : "false");
		break;
	case DIAL9_STRING:
		w->style->text(w->out, (struct dial9_str){ v->str.ptr, v->str.len }, nested);
		break;
	case DIAL9_BYTES:
		w->style->bytes(w->out, v->str.ptr, v->str.len);
		break;
	case DIAL9_POOLED_STRING:
	case DIAL9_POOLED_STACK:
		put_pooled(w, v, nested);
		break;
	case DIAL9_STACK:
		value_print_frames(w->out, w->style, v->stack.le, v->stack.cnt);
		break;
	case DIAL9_STRING_MAP:
		put_map(w, v, &w->style->string_map);
		break;
	case DIAL9_MAP:
		put_map(w, v, &w->style->map);
		break;
	case DIAL9_LIST:
		put_list(w, v);
		break;
	default:
		buf_addstr(w->out, w->style->absent);
		break;
	}
}

void value_print(struct buf *out, const struct value_style *style, const struct dial9_dec *dec,
		 const struct dial9_value *v)
{
	put_value(&(struct walk){ .out = out, .style = style, .dec = dec }, v, false);
}
