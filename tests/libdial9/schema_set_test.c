// SPDX-License-Identifier: BSD-2-Clause
/* Type ids: one per layout, for any schema object with it, and each id once. */
#include "tests/libdial9/support.h"

#include "libdial9/schema_set.h"

static struct dial9_schema *numbered(unsigned int i)
{
	char name[48];

	snprintf(name, sizeof(name), "type %u", i);
	return schema(name, true, NULL, 0);
}

Test(schema_set, assigns_increasing_ids_and_keeps_them_while_it_grows)
{
	struct dial9_schema *s[1000];
	struct schema_set_entry *e;
	struct schema_set r;
	unsigned int i, round;

	cr_assert_eq(schema_set_init(&r, 256), 0);
	for (i = 0; i < 1000; i++)
		s[i] = numbered(i);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 1000; i++) {
			cr_assert_eq(schema_set_get(&r, s[i], &e), 0);
			cr_assert_eq(e->id, 256 + i);
		}
	}
	schema_set_clear(&r);
	cr_assert_eq(schema_set_get(&r, s[999], &e), 0);
	cr_assert_eq(e->id, 256);
	for (i = 0; i < 1000; i++)
		dial9_schema_free(s[i]);
	schema_set_fini(&r);
}

/* A new object for each event: same id each time, and limited memory. */
Test(schema_set, accepts_endless_copies_of_one_layout)
{
	struct dial9_schema *s, *other = numbered(7);
	struct schema_set_entry *e;
	struct schema_set r;
	unsigned int i;

	cr_assert_eq(schema_set_init(&r, 0), 0);
	for (i = 0; i < 10000; i++) {
		s = numbered(1);
		cr_assert_eq(schema_set_get(&r, s, &e), 0);
		cr_assert_eq(e->id, 0);
		dial9_schema_free(s);
		cr_assert_eq(schema_set_get(&r, other, &e), 0);
		cr_assert_eq(e->id, 1);
	}
	cr_assert_leq(r.ptr_bits, 12);
	dial9_schema_free(other);
	schema_set_fini(&r);
}

Test(schema_set, fails_when_all_65536_ids_are_used)
{
	struct schema_set_entry *e;
	struct dial9_schema *s;
	struct schema_set r;
	unsigned int i;

	cr_assert_eq(schema_set_init(&r, 65000), 0);
	for (i = 65000; i < 65536; i++) {
		s = numbered(i);
		cr_assert_eq(schema_set_get(&r, s, &e), 0);
		cr_assert_eq(e->id, i);
		dial9_schema_free(s);
	}
	s = numbered(i);
	cr_assert_eq(schema_set_get(&r, s, &e), -ENOSPC);
	dial9_schema_free(s);
	schema_set_fini(&r);
}

Test(schema_set, chosen_ids_are_kept_and_skipped)
{
	struct dial9_schema *a = numbered(1), *b = numbered(2), *c = numbered(3);
	struct schema_set_entry *e;
	struct schema_set r;

	cr_assert_eq(schema_set_init(&r, 5), 0);
	cr_assert_eq(schema_set_get_as(&r, a, 5, &e), 0);
	cr_assert_eq(schema_set_get_as(&r, b, 5, &e), -EEXIST);
	cr_assert_eq(schema_set_get(&r, b, &e), 0);
	cr_assert_eq(e->id, 6);
	cr_assert_eq(schema_set_get_as(&r, b, 65535, &e), 0);
	cr_assert_eq(schema_set_get(&r, b, &e), 0);
	cr_assert_eq(e->id, 65535, "the last choice counts");
	cr_assert_eq(schema_set_get_as(&r, b, 6, &e), 0, "both stand for the layout");
	cr_assert_eq(schema_set_get(&r, c, &e), 0);
	cr_assert_eq(e->id, 7);
	dial9_schema_free(a);
	dial9_schema_free(b);
	dial9_schema_free(c);
	schema_set_fini(&r);
}
