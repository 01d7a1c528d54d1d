// SPDX-License-Identifier: BSD-2-Clause
/* Values in SQL of ClickHouse: whatever they are, they stay in their literals, and only places outside of text get them. */
#include "fleet/sql_template.h"

#include <criterion/criterion.h>
#include <string.h>

#include "ship/clickhouse.h"
#include "tests/support/chance.h"

static void expect_put(const char *sql, const char *want)
{
	struct sql_template_value values[] = { { "x", "'v'", false }, { "xy", "7", false } };
	struct buf out = { 0 };

	sql_template_put(&out, sql, values, 2);
	cr_expect_str_eq(buf_cstr(&out), want, "%s\n%s", sql, buf_cstr(&out));
	buf_free(&out);
}

Test(sql_template, names_become_values)
{
	expect_put("SELECT :x, :xy,:x", "SELECT 'v', 7,'v'");
	expect_put(":x:xy", "'v'7");
	expect_put("a ? b : c, :unknown, :", "a ? b : c, :unknown, :");
	expect_put("y::x, :xyz, 1:2", "y::x, :xyz, 1:2");
}

Test(sql_template, text_names_and_comments_stay)
{
	expect_put("':x' \":x\" `:x` :x", "':x' \":x\" `:x` 'v'");
	expect_put("'a\\':x' :x", "'a\\':x' 'v'");
	expect_put("'a'':x' :x", "'a'':x' 'v'");
	expect_put("-- :x\n:x", "-- :x\n'v'");
	expect_put("/* :x */:x", "/* :x */'v'");
	expect_put("# :x\n:x #! :x", "# :x\n'v' #! :x");
	expect_put("$$ :x $$ :x $t$ :x $$ :x $t$ :x", "$$ :x $$ 'v' $t$ :x $$ :x $t$ 'v'");
	expect_put("'open :x", "'open :x");
	expect_put("/* open :x", "/* open :x");
	expect_put("'\\", "'\\");
}

static void expect_text(const char *text, const char *want)
{
	struct buf out = { 0 };

	clickhouse_put_text(&out, text);
	cr_expect_str_eq(buf_cstr(&out), want);
	buf_free(&out);
}

Test(sql_template, text_is_one_literal)
{
	expect_text("", "''");
	expect_text("it's", "'it\\'s'");
	expect_text("\\' OR 1", "'\\\\\\' OR 1'");
	expect_text("a\n--\t\x7f", "'a\\x0A--\\x09\\x7F'");
	expect_text("\xff\xc3\xa9", "'\xff\xc3\xa9'");
}

/* A literal's value, as a server reads it; fails if anything follows it. */
static void read_literal(const char *at, char *value)
{
	cr_assert_eq(*at++, '\'');
	while (*at != '\'') {
		unsigned int c = (unsigned char)*at;

		cr_assert(c >= ' ', "ends within the literal");
		if (*at == '\\' && at[1] == 'x') {
			cr_assert_eq(sscanf(at + 2, "%2x", &c), 1);
			at += 3;
		} else if (*at == '\\') {
			c = (unsigned char)*++at;
		}
		*value++ = (char)c;
		at++;
	}
	cr_assert_eq(at[1], '\0');
	*value = '\0';
}

Test(sql_template, any_bytes_come_back)
{
	struct chance chance = { 1 };

	for (int i = 0; i < 20000; i++) {
		char text[24], value[64];
		struct buf out = { 0 };
		size_t n = chance_below(&chance, sizeof(text));

		for (size_t k = 0; k < n; k++)
			text[k] = chance_below(&chance, 2) ?
					  "'\\\n-*/x$#`\""[chance_below(&chance, 11)] :
					  (char)(1 + chance_below(&chance, 255));
		text[n] = '\0';
		clickhouse_put_text(&out, text);
		read_literal(buf_cstr(&out), value);
		cr_assert_str_eq(value, text);
		buf_free(&out);
	}
}

static void expect_number(const char *text, bool integer, const char *want)
{
	struct buf out = { 0 };

	cr_expect_eq(sql_template_put_number(&out, text, integer), want != NULL);
	if (want)
		cr_expect_str_eq(buf_cstr(&out), want);
	buf_free(&out);
}

Test(sql_template, numbers)
{
	expect_number("+5", true, "5");
	expect_number("-5", true, "(-5)");
	expect_number("-9223372036854775808", true, "(-9223372036854775808)");
	expect_number("99999999999999999999", true, "1e+20");
	expect_number(".5", false, "0.5");
	expect_number("-1e3", false, "(-1000)");
	expect_number("1e999", false, NULL);
}

static void expect_glob(const char *glob, const char *want)
{
	struct buf out = { 0 };

	sql_template_put_glob(&out, glob);
	cr_expect_str_eq(buf_cstr(&out), want, "%s: %s", glob, buf_cstr(&out));
	buf_free(&out);
}

Test(sql_template, globs_are_regular_expressions)
{
	expect_glob("*", "''");
	expect_glob("a*b?", "'(?s)^a.*b.$'");
	expect_glob("a.b(c)", "'(?s)^a\\\\.b\\\\(c\\\\)$'");
	expect_glob("[a-c^]", "'(?s)^[a-c\\\\^]$'");
	expect_glob("[^]x]", "'(?s)^[^\\\\]x]$'");
	expect_glob("[-a][a-]", "'(?s)^[\\\\-a][a\\\\-]$'");
	expect_glob("[open", "'(?s)^\\\\z.'");
	expect_glob("[]", "'(?s)^\\\\z.'");
	expect_glob("'", "'(?s)^\\'$'");
}
