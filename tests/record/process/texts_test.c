// SPDX-License-Identifier: BSD-2-Clause
/* Texts are one when equal, and gone with the last who refers to them. */
#include "record/process/texts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct texts *t;

static void setup(void)
{
	t = texts_new();
}

static void teardown(void)
{
	texts_free(t);
}

TestSuite(texts, .init = setup, .fini = teardown);

Test(texts, equal_ones_are_one)
{
	const char *a = texts_get(t, "/usr/lib/a", 10), *b = texts_get(t, "/usr/lib/ab", 10);

	cr_expect_eq(a, b);
	cr_expect_str_eq(a, "/usr/lib/a");
	cr_expect_neq(texts_get(t, "/usr/lib/ab", 11), a);
}

Test(texts, a_text_ends_at_its_first_nul)
{
	cr_expect_str_eq(texts_get(t, "ab\0cd", 5), "ab");
	cr_expect_str_eq(texts_get(t, "\0cd", 3), "");
}

Test(texts, an_empty_one_needs_no_reference)
{
	const char *none = texts_get(t, "", 0);

	texts_unref(t, none);
	texts_unref(t, "");
	cr_expect_str_eq(texts_ref(""), "");
}

Test(texts, the_last_reference_frees)
{
	size_t before = texts_memory(t);
	const char *a = texts_get(t, "/usr/lib/a", 10);

	cr_expect_geq(texts_memory(t), before + 11);
	cr_expect_eq(texts_ref(a), a);
	texts_get(t, "/usr/lib/a", 10);
	texts_unref(t, a);
	texts_unref(t, a);
	cr_expect_str_eq(a, "/usr/lib/a");
	texts_unref(t, a);
	cr_expect_eq(texts_memory(t), before);
}

/* Each of a million names, and never more than a thousand at once: memory follows the thousand. */
Test(texts, names_made_up_without_end_take_no_memory)
{
	enum { LIVE = 1000 };
	const char *live[LIVE];
	char name[64];
	int i;

	for (i = 0; i < LIVE; i++)
		live[i] = "";
	for (i = 0; i < 1000000; i++) {
		snprintf(name, sizeof(name), "/tmp/made-up-%d", i);
		texts_unref(t, live[i % LIVE]);
		live[i % LIVE] = texts_get(t, name, strlen(name));
	}
	cr_expect_lt(texts_memory(t), 200 * LIVE);
	for (i = 0; i < LIVE; i++) {
		snprintf(name, sizeof(name), "/tmp/made-up-%d", 999000 + i);
		cr_assert_str_eq(live[i], name);
	}
}
