// SPDX-License-Identifier: BSD-2-Clause
/* The arguments of --meta. The reserved keys are read from the header that readers share with the recorder. */
#include "record/encode/user_metadata.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *text, struct user_metadata_entry *out)
{
	const char *why;
	int err = user_metadata_parse(text, NULL, 0, out, &why);

	cr_expect_eq(!err, !why, "%s", text);
	return err;
}

Test(user_metadata, key_ends_and_value_begins_at_the_first_equals_sign)
{
	struct user_metadata_entry m;

	cr_assert_eq(parse("build=x=1, y", &m), 0);
	cr_expect_str_eq(m.key, "build");
	cr_expect_str_eq(m.value, "x=1, y");
	cr_assert_eq(parse("empty=", &m), 0);
	cr_expect_str_eq(m.value, "");
}

Test(user_metadata, invalid_or_too_long_pairs_are_refused)
{
	char text[USER_METADATA_KEY_MAX + USER_METADATA_VALUE_MAX + 3];
	struct user_metadata_entry m;

	cr_expect_eq(parse("", &m), -EINVAL);
	cr_expect_eq(parse("key", &m), -EINVAL);
	cr_expect_eq(parse("=value", &m), -EINVAL);
	cr_expect_eq(parse("a=\xff", &m), -EINVAL);
	memset(text, 'x', sizeof(text));
	text[USER_METADATA_KEY_MAX] = '=';
	text[USER_METADATA_KEY_MAX + 1 + USER_METADATA_VALUE_MAX] = '\0';
	cr_expect_eq(parse(text, &m), 0);
	text[USER_METADATA_KEY_MAX + 1 + USER_METADATA_VALUE_MAX] = 'x';
	text[USER_METADATA_KEY_MAX + 2 + USER_METADATA_VALUE_MAX] = '\0';
	cr_expect_eq(parse(text, &m), -EINVAL);
	text[USER_METADATA_KEY_MAX] = 'x';
	text[USER_METADATA_KEY_MAX + 1] = '=';
	cr_expect_eq(parse(text, &m), -EINVAL);
}

Test(user_metadata, repeated_key_is_refused)
{
	struct user_metadata_entry known[2] = { { .key = "a" }, { .key = "b" } }, m;
	const char *why;

	cr_expect_eq(user_metadata_parse("b=1", known, 1, &m, &why), 0);
	cr_expect_eq(user_metadata_parse("b=1", known, 2, &m, &why), -EINVAL);
	cr_expect_str_eq(why, "the key is given twice");
}

Test(user_metadata, each_reserved_key_is_refused)
{
	const char *top = getenv("D9_TOP");
	char path[4096], line[512], text[512], *quote, *end;
	struct user_metadata_entry m;
	bool wanted = false;
	int keys = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/include/prof_events.h", top ? top : ".");
	f = fopen(path, "r");
	cr_assert_not_null(f, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		wanted |= !strncmp(line, "#define PROF_META_", strlen("#define PROF_META_"));
		quote = strchr(line, '"');
		end = quote ? strchr(quote + 1, '"') : NULL;
		if (!wanted || !end)
			continue;
		wanted = false;
		keys++;
		snprintf(text, sizeof(text), "%.*s=1", (int)(end - quote - 1), quote + 1);
		cr_expect_eq(parse(text, &m), -EINVAL, "%s", text);
	}
	fclose(f);
	cr_expect_geq(keys, 22);
}
