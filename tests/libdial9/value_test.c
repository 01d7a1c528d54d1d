// SPDX-License-Identifier: BSD-2-Clause
/* Values by themselves: the results for short and wrong bytes, and iteration over handmade ones. */
#include "tests/libdial9/support.h"

#include "libdial9/value.h"

static int parse(uint8_t type, const void *p, size_t n, struct dial9_value *v,
		 struct value_fault *f)
{
	const uint8_t *pos = p;
	int err = value_parse(&pos, pos + n, type, VALUE_DEPTH_MAX, v, f);

	if (!err)
		cr_assert_eq(pos, (const uint8_t *)p + n);
	return err;
}

Test(value, truncated_values_of_every_type_are_reported_with_the_missing_length)
{
	static const struct {
		uint8_t type;
		const char *bytes;
		size_t n;
	} rows[] = {
		{ DIAL9_I64, "\1\2\3\4\5\6\7\10", 8 },
		{ DIAL9_F64, "\1\2\3\4\5\6\7\10", 8 },
		{ DIAL9_BOOL, "\1", 1 },
		{ DIAL9_STRING, "\3\0\0\0abc", 7 },
		{ DIAL9_BYTES, "\3\0\0\0abc", 7 },
		{ DIAL9_POOLED_STACK, "\1\0\0\0", 4 },
		{ DIAL9_POOLED_STRING, "\1\0\0\0", 4 },
		{ DIAL9_STACK, "\1\0\0\0\1\2\3\4\5\6\7\10", 12 },
		{ DIAL9_VARINT, "\x80\x80\1", 3 },
		{ DIAL9_STRING_MAP, "\1\0\0\0\1\0\0\0k\1\0\0\0v", 14 },
		{ DIAL9_U8, "\1", 1 },
		{ DIAL9_U16, "\1\2", 2 },
		{ DIAL9_U32, "\1\2\3\4", 4 },
		{ DIAL9_LIST, "\2\0\0\0\3\1\14\1\2", 9 },
		{ DIAL9_MAP, "\1\0\0\0\3\1\14\1\2", 9 },
	};
	struct value_fault f;
	struct dial9_value v;
	size_t i, cut;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(parse(rows[i].type, rows[i].bytes, rows[i].n, &v, &f), 0);
		cr_assert_eq(v.type, rows[i].type);
		for (cut = 0; cut < rows[i].n; cut++) {
			cr_assert_eq(parse(rows[i].type, rows[i].bytes, cut, &v, &f), -ENODATA);
			cr_assert_geq(f.short_by, 1);
			cr_assert_leq(f.short_by, rows[i].n - cut, "type %u", rows[i].type);
		}
	}
}

Test(value, element_types_are_checked)
{
	static const uint8_t zero[] = { 1, 0, 0, 0, 0, 0 }, optional[] = { 1, 0, 0, 0, 0x8b, 1, 1 };
	struct value_fault f;
	struct dial9_value v;

	cr_assert_eq(parse(DIAL9_LIST, zero, sizeof(zero), &v, &f), -EBADMSG);
	cr_assert_eq(f.at, zero + 4);
	cr_assert_eq(parse(DIAL9_LIST, optional, sizeof(optional), &v, &f), -EBADMSG);
	cr_assert_eq(f.at, optional + 4);
}

Test(value, invalid_nested_text_is_flagged_at_the_top)
{
	static const uint8_t list[] = { 1, 0, 0, 0, 14, 1, 0, 0, 0, 4, 1, 0, 0, 0, 0xff };
	static const uint8_t map[] = { 1, 0, 0, 0, 1, 0, 0, 0, 'k', 1, 0, 0, 0, 0xff };
	struct value_fault f;
	struct dial9_value v;

	cr_assert_eq(parse(DIAL9_LIST, list, sizeof(list), &v, &f), 0);
	cr_assert(v.bad_utf8);
	cr_assert_eq(parse(DIAL9_STRING_MAP, map, sizeof(map), &v, &f), 0);
	cr_assert(v.bad_utf8);
}

Test(value, iterators_over_other_types_are_empty)
{
	struct dial9_value v = { .type = DIAL9_U8, .u64 = 1 }, key, value;
	struct dial9_iter it;

	dial9_iter_init(&it, &v);
	cr_assert_eq(dial9_list_next(&it, &value), 0);
	cr_assert_eq(dial9_map_next(&it, &key, &value), 0);
	cr_assert_eq(dial9_value_frame(&v, 0), 0);
}

Test(value, map_iterator_returns_text_maps_in_order_with_duplicates)
{
	static const uint8_t map[] = { 2, 0,   0, 0, 1, 0, 0,	0, 'k', 1, 0, 0,
				       0, '1', 1, 0, 0, 0, 'k', 1, 0,	0, 0, '2' };
	struct dial9_value v, key, value;
	struct value_fault f;
	struct dial9_iter it;

	cr_assert_eq(parse(DIAL9_STRING_MAP, map, sizeof(map), &v, &f), 0);
	dial9_iter_init(&it, &v);
	cr_assert_eq(dial9_map_next(&it, &key, &value), 1);
	cr_assert_eq(key.str.ptr[0], 'k');
	cr_assert_eq(value.str.ptr[0], '1');
	cr_assert_eq(dial9_map_next(&it, &key, &value), 1);
	cr_assert_eq(value.str.ptr[0], '2');
	cr_assert_eq(dial9_map_next(&it, &key, &value), 0);
}
