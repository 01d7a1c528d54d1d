// SPDX-License-Identifier: BSD-2-Clause
/*
 * One dial9 value in apitrace's terms. Lists and maps of dial9 nest 64 deep at most, which bounds the
 * recursion here.
 */
#include "formats/apitrace/take.h"

#include <string.h>

static void take_text(struct dial9_str s, struct buf *out)
{
	bool blob = s.len && memchr(s.ptr, 0, s.len);

	apitrace_value_put_tagged(out, blob ? APITRACE_BLOB : APITRACE_STRING, s.len);
	buf_add(out, s.len ? s.ptr : "", s.len);
}

static void take_pooled(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
			struct foreign_notes *notes)
{
	struct dial9_str s;

	if (!dial9_value_str(dec, v, &s)) {
		take_text(s, out);
		return;
	}
	foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, "pool ids that nothing defines, as numbers",
		     NULL);
	apitrace_value_put_tagged(out, APITRACE_UINT, v->id);
}

static void take_stack(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
		       struct foreign_notes *notes)
{
	const uint8_t *le;
	uint32_t cnt;

	if (dial9_value_stack(dec, v, &le, &cnt)) {
		foreign_note(notes, FOREIGN_NOTE_CHANGED, 1,
			     "pool ids that nothing defines, as numbers", NULL);
		apitrace_value_put_tagged(out, APITRACE_UINT, v->id);
		return;
	}
	apitrace_value_put_tagged(out, APITRACE_ARRAY, cnt);
	for (uint32_t i = 0; i < cnt; i++)
		apitrace_value_put_tagged(out, APITRACE_POINTER, dial9_frame_at(le, i));
}

static void take_map(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
		     struct foreign_notes *notes)
{
	struct dial9_value key, value;
	struct dial9_iter it;

	apitrace_value_put_tagged(out, APITRACE_ARRAY, v->map.cnt);
	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) == 1) {
		apitrace_value_put_tagged(out, APITRACE_ARRAY, 2);
		apitrace_take_value(dec, &key, out, notes);
		apitrace_take_value(dec, &value, out, notes);
	}
}

static void take_list(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
		      struct foreign_notes *notes)
{
	struct dial9_value elem;
	struct dial9_iter it;

	apitrace_value_put_tagged(out, APITRACE_ARRAY, v->list.cnt);
	dial9_iter_init(&it, v);
	while (dial9_list_next(&it, &elem) == 1)
		apitrace_take_value(dec, &elem, out, notes);
}

static void take_real(double d, struct buf *out)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	buf_addch(out, APITRACE_DOUBLE);
	for (unsigned int i = 0; i < 8; i++)
		buf_addch(out, (char)(bits >> (8 * i)));
}

void apitrace_take_value(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
			 struct foreign_notes *notes)
{
	switch ((enum dial9_type)v->type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		return apitrace_value_put_tagged(out, APITRACE_UINT, v->u64);
	case DIAL9_I64:
		if (v->i64 < 0)
			return apitrace_value_put_tagged(out, APITRACE_NEG, 0 - (uint64_t)v->i64);
		return apitrace_value_put_tagged(out, APITRACE_UINT, (uint64_t)v->i64);
	case DIAL9_F64:
		return take_real(v->f64, out);
	case DIAL9_BOOL:
		return buf_addch(out, v->b ? APITRACE_TRUE : APITRACE_FALSE);
	case DIAL9_STRING:
		return take_text((struct dial9_str){ v->str.ptr, v->str.len }, out);
	case DIAL9_BYTES:
		apitrace_value_put_tagged(out, APITRACE_BLOB, v->str.len);
		return buf_add(out, v->str.len ? v->str.ptr : "", v->str.len);
	case DIAL9_POOLED_STRING:
		return take_pooled(dec, v, out, notes);
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		return take_stack(dec, v, out, notes);
	case DIAL9_STRING_MAP:
	case DIAL9_MAP:
		return take_map(dec, v, out, notes);
	case DIAL9_LIST:
		return take_list(dec, v, out, notes);
	case DIAL9_OPTIONAL:
		break;
	}
	buf_addch(out, APITRACE_NULL);
}
