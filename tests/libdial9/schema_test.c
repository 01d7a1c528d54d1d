// SPDX-License-Identifier: BSD-2-Clause
/* Schemas: what they refuse, what they store, when two are equal. */
#include "tests/libdial9/support.h"

static const struct dial9_field two[] = { { "n", DIAL9_VARINT },
					  { "s", DIAL9_STRING | DIAL9_OPTIONAL } };

Test(schema, remembers_name_fields_and_types)
{
	struct dial9_schema *s = schema("Tick", true, two, 2);

	cr_assert_str_eq(dial9_schema_name(s), "Tick");
	cr_assert(dial9_schema_has_timestamp(s));
	cr_assert_eq(dial9_schema_field_cnt(s), 2);
	cr_assert_str_eq(dial9_schema_field_name(s, 1), "s");
	cr_assert_eq(dial9_schema_field_type(s, 1), 0x84);
	cr_assert_eq(dial9_schema_find(s, "s"), 1);
	cr_assert_eq(dial9_schema_find(s, "t"), -ENOENT);
	cr_assert_null(dial9_schema_field_name(s, 2));
	cr_assert_eq(dial9_schema_field_type(s, 2), 0);
	dial9_schema_free(s);
}

Test(schema, finds_the_first_of_several_fields_with_one_name)
{
	const struct dial9_field same[] = { { "a", DIAL9_U8 },
					    { "b", DIAL9_U8 },
					    { "b", DIAL9_U16 } };
	struct dial9_schema *s = schema("x", true, same, 3);

	cr_assert_eq(dial9_schema_find(s, "b"), 1);
	dial9_schema_free(s);
}

Test(schema, keeps_names_that_hold_nul)
{
	const struct dial9_field_n f = { { "a\0b", 3 }, DIAL9_U8 };
	struct dial9_str name = { "n\0", 2 }, got;
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new_n(name, false, &f, 1, &s), 0);
	got = dial9_schema_field_name_n(s, 0);
	cr_assert_eq(got.len, 3);
	cr_assert_arr_eq(got.ptr, "a\0b", 4);
	cr_assert_eq(dial9_schema_name_n(s).len, 2);
	cr_assert_eq(dial9_schema_find(s, "a"), -ENOENT);
	cr_assert_eq(dial9_schema_find_n(s, f.name), 0);
	dial9_schema_free(s);
}

Test(schema, refuses_unknown_types)
{
	static const uint8_t bad[] = { 0, 16, 0x80, 0x90, 0x7f, 0xff };
	struct dial9_schema *s = NULL;
	size_t i;

	for (i = 0; i < sizeof(bad); i++) {
		struct dial9_field f = { "f", bad[i] };

		cr_assert_eq(dial9_schema_new("x", true, &f, 1, &s), -EINVAL);
	}
	cr_assert_null(s, "out is untouched on failure");
}

Test(schema, refuses_names_that_are_not_utf8)
{
	const struct dial9_field f = { "\xff", DIAL9_U8 };
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new("\xed\xa0\x80", true, NULL, 0, &s), -EILSEQ);
	cr_assert_eq(dial9_schema_new("x", true, &f, 1, &s), -EILSEQ);
}

/* Clarification f: lengths and counts that do not fit the wire are refused, not cut. */
Test(schema, refuses_names_and_field_counts_over_65535)
{
	struct dial9_field *many = calloc(65536, sizeof(*many));
	char *name = calloc(1, 65537);
	struct dial9_schema *s;
	size_t i;

	memset(name, 'n', 65536);
	cr_assert_eq(dial9_schema_new(name, true, NULL, 0, &s), -E2BIG);
	name[65535] = '\0';
	cr_assert_eq(dial9_schema_new(name, true, NULL, 0, &s), 0);
	cr_assert_eq(dial9_schema_name_n(s).len, 65535);
	dial9_schema_free(s);
	for (i = 0; i < 65536; i++)
		many[i] = (struct dial9_field){ "f", DIAL9_VARINT };
	cr_assert_eq(dial9_schema_new("x", true, many, 65536, &s), -E2BIG);
	cr_assert_eq(dial9_schema_new_n((struct dial9_str){ "x", 1 }, true, NULL, 65536, &s),
		     -E2BIG);
	cr_assert_eq(dial9_schema_new("x", true, many, 65535, &s), 0);
	cr_assert_eq(dial9_schema_field_cnt(s), 65535);
	dial9_schema_free(s);
	free(many);
	free(name);
}

Test(schema, equal_means_same_name_flag_and_fields)
{
	const struct dial9_field other[] = { { "n", DIAL9_VARINT }, { "s", DIAL9_STRING } };
	struct dial9_schema *a = schema("x", true, two, 2), *b = schema("x", true, two, 2);
	struct dial9_schema *c = schema("x", false, two, 2), *d = schema("y", true, two, 2);
	struct dial9_schema *e = schema("x", true, two, 1), *f = schema("x", true, other, 2);

	cr_assert(dial9_schema_equal(a, b));
	cr_assert_not(dial9_schema_equal(a, c));
	cr_assert_not(dial9_schema_equal(a, d));
	cr_assert_not(dial9_schema_equal(a, e));
	cr_assert_not(dial9_schema_equal(a, f));
	dial9_schema_free(a);
	dial9_schema_free(b);
	dial9_schema_free(c);
	dial9_schema_free(d);
	dial9_schema_free(e);
	dial9_schema_free(f);
}

Test(schema, is_freed_with_its_last_reference)
{
	struct dial9_schema *a = schema("counted", true, two, 2), *b = dial9_schema_ref(a);

	cr_assert_eq(a, b);
	dial9_schema_free(a);
	cr_assert_str_eq(dial9_schema_name(b), "counted");
	dial9_schema_free(b);
	dial9_schema_free(NULL);
}
