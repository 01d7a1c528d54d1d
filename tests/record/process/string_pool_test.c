// SPDX-License-Identifier: BSD-2-Clause
/* Equal texts are shared, and freed with their last reference. */
#include "record/process/string_pool.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct string_pool *t;

static void setup(void)
{
	t = string_pool_new();
}

static void teardown(void)
{
	string_pool_free(t);
}

TestSuite(string_pool, .init = setup, .fini = teardown);

Test(string_pool, equal_strings_are_shared)
{
	const char *a = string_pool_get(t, "/usr/lib/a", 10),
		   *b = string_pool_get(t, "/usr/lib/ab", 10);

	cr_expect_eq(a, b);
	cr_expect_str_eq(a, "/usr/lib/a");
	cr_expect_neq(string_pool_get(t, "/usr/lib/ab", 11), a);
}

Test(string_pool, text_ends_at_its_first_nul)
{
	cr_expect_str_eq(string_pool_get(t, "ab\0cd", 5), "ab");
	cr_expect_str_eq(string_pool_get(t, "\0cd", 3), "");
}

Test(string_pool, empty_string_needs_no_reference)
{
	const char *none = string_pool_get(t, "", 0);

	string_pool_unref(t, none);
	string_pool_unref(t, "");
	cr_expect_str_eq(string_pool_ref(""), "");
}

Test(string_pool, last_reference_frees_the_string)
{
	size_t before = string_pool_memory(t);
	const char *a = string_pool_get(t, "/usr/lib/a", 10);

	cr_expect_geq(string_pool_memory(t), before + 11);
	cr_expect_eq(string_pool_ref(a), a);
	string_pool_get(t, "/usr/lib/a", 10);
	string_pool_unref(t, a);
	string_pool_unref(t, a);
	cr_expect_str_eq(a, "/usr/lib/a");
	string_pool_unref(t, a);
	cr_expect_eq(string_pool_memory(t), before);
}

/* Each of a million names, and never more than a thousand at once: memory depends on the thousand. */
Test(string_pool, endless_different_names_need_limited_memory)
{
	enum { LIVE = 1000 };
	const char *live[LIVE];
	char name[64];
	int i;

	for (i = 0; i < LIVE; i++)
		live[i] = "";
	for (i = 0; i < 1000000; i++) {
		snprintf(name, sizeof(name), "/tmp/made-up-%d", i);
		string_pool_unref(t, live[i % LIVE]);
		live[i % LIVE] = string_pool_get(t, name, strlen(name));
	}
	cr_expect_lt(string_pool_memory(t), 200 * LIVE);
	for (i = 0; i < LIVE; i++) {
		snprintf(name, sizeof(name), "/tmp/made-up-%d", 999000 + i);
		cr_assert_str_eq(live[i], name);
	}
}
