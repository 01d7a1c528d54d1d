// SPDX-License-Identifier: BSD-2-Clause
/* Names that are made unique, and are restored. */
#include "tests/formats/heph/support.h"

#include "formats/heph/layout.h"

static void assert_strip(const char *field, const char *want, struct dial9_str a,
			 struct dial9_str b)
{
	struct dial9_str before[] = { a, b };
	struct dial9_str got = heph_layout_strip(str(field), before, 2);

	cr_assert(got.len == strlen(want) && !memcmp(got.ptr, want, got.len), "%s: %.*s", field,
		  (int)got.len, got.ptr);
}

Test(heph_layout, removes_a_suffix_only_if_it_was_added)
{
	assert_strip("a", "a", str("a"), str("b"));
	assert_strip("a#2", "a", str("a"), str("b"));
	assert_strip("a#3", "a", str("a"), str("a"));
	assert_strip("a#2", "a#2", str("a"), str("a"));
	assert_strip("a#3", "a#3", str("a"), str("b"));
	assert_strip("a#02", "a#02", str("a"), str("b"));
	assert_strip("a#1", "a#1", str("b"), str("b"));
	assert_strip("#2", "#2", str("a"), str("b"));
	assert_strip("#2", "", str(""), str("b"));
	assert_strip("a#99999999999999999999", "a#99999999999999999999", str("a"), str("b"));
}

static const struct heph_layout *get(struct heph_layouts *s, const char *desc, uint8_t wire,
				     uint8_t type, bool *is_new)
{
	struct heph_attr attr = { .name = str("x"), .type = wire };
	struct heph_layout_key key = { .desc = str(desc),
				       .desc_type = DIAL9_STRING,
				       .attrs = &attr,
				       .types = &type,
				       .cnt = 1 };

	return heph_layout_get(s, &key, is_new);
}

Test(heph_layout, equal_events_share_a_layout)
{
	const struct dial9_schema *first;
	struct heph_layouts *s;
	bool is_new;

	heph_layout_new(&s);
	first = get(s, "e", HEPH_U64, DIAL9_VARINT, &is_new)->schema;
	cr_assert(is_new);
	cr_assert_eq(get(s, "e", HEPH_U64, DIAL9_VARINT, &is_new)->schema, first);
	cr_assert_not(is_new);
	cr_assert_neq(get(s, "e", HEPH_I64, DIAL9_I64, &is_new)->schema, first);
	cr_assert_neq(get(s, "f", HEPH_U64, DIAL9_VARINT, &is_new)->schema, first);
	heph_layout_free(s);
}

/* An empty list does not have an element type, so one layout must not have two meanings. */
Test(heph_layout, refuses_a_list_of_another_type_in_the_same_place)
{
	struct heph_layouts *s;
	bool is_new;

	heph_layout_new(&s);
	cr_assert(get(s, "e", HEPH_U64 | HEPH_ARRAY, DIAL9_LIST, &is_new));
	cr_assert_null(get(s, "e", HEPH_STR | HEPH_ARRAY, DIAL9_LIST, &is_new));
	cr_assert(get(s, "e", HEPH_U64 | HEPH_ARRAY, DIAL9_LIST, &is_new));
	heph_layout_free(s);
}
