// SPDX-License-Identifier: BSD-2-Clause
/* Answers of a server: types, escapes, and whatever else may come instead of rows. */
#include "fleet/table_answer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tests/support/chance.h"

struct sink {
	struct buf text;
	size_t cnt;
	int stop_at; /* rows */
};

static int begin(void *ctx, const char *const *columns, size_t cnt)
{
	struct sink *s = ctx;

	s->cnt = cnt;
	for (size_t i = 0; i < cnt; i++)
		buf_printf(&s->text, "%s%s", i ? "|" : "", columns[i]);
	buf_addch(&s->text, '\n');
	return 0;
}

static int row(void *ctx, const struct query_value *v, size_t cnt)
{
	struct sink *s = ctx;

	cr_assert_eq(cnt, s->cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (i)
			buf_addch(&s->text, '|');
		if (v[i].type == QUERY_INTEGER)
			buf_printf(&s->text, "%" PRId64, v[i].integer);
		else if (v[i].type == QUERY_REAL)
			buf_printf(&s->text, "r%g", v[i].real);
		else if (v[i].type == QUERY_NUMBER)
			buf_printf(&s->text, "n%.*s", (int)v[i].sz, v[i].data);
		else if (v[i].type == QUERY_TEXT)
			buf_printf(&s->text, "'%.*s'", (int)v[i].sz, v[i].data);
		else
			buf_addstr(&s->text, "NULL");
	}
	buf_addch(&s->text, '\n');
	return s->stop_at && !--s->stop_at ? -EPIPE : 0;
}

static void expect(const char *answer, int code, const char *want)
{
	struct sink s = { 0 };
	struct buf in = { 0 };

	buf_addstr(&in, answer);
	cr_expect_eq(table_answer_read(&in, &(struct table_answer_sink){ begin, row, &s }), code,
		     "%s", answer);
	if (want)
		cr_expect_str_eq(buf_cstr(&s.text), want, "%s\n%s", answer, buf_cstr(&s.text));
	buf_free(&s.text);
	buf_free(&in);
}

Test(table_answer, values_have_their_types)
{
	expect("a\tb\tc\nUInt8\tString\tFloat64\n1\tx\t0.5\n255\t\tinf\n", 0,
	       "a|b|c\n1|'x'|r0.5\n255|''|rinf\n");
	expect("a\nUInt64\n18446744073709551615\n9223372036854775807\n", 0,
	       "a\nn18446744073709551615\n9223372036854775807\n");
	expect("a\tb\nNullable(Int8)\tLowCardinality(Nullable(String))\n\\N\t\\N\n-1\tN\n", 0,
	       "a|b\nNULL|NULL\n-1|'N'\n");
	expect("a\nDecimal(9, 2)\n-1.25\n", 0, "a\nn-1.25\n");
	expect("a\nArray(UInt8)\n[1,2]\n", 0, "a\n'[1,2]'\n");
	expect("a\nUInt8\n", 0, "a\n");
}

Test(table_answer, escapes)
{
	expect("a\nString\nx\\ty\\n\\\\\\'\n", 0, "a\n'x\ty\n\\''\n");
	expect("a\\tb\nString\n\\\\N\n", 0, "a\tb\n'\\N'\n");
}

Test(table_answer, other_text_is_an_error)
{
	static const char *const answers[] = { "",
					       "a",
					       "a\n",
					       "a\nUInt8\nx\n",
					       "a\nUInt8\n1",
					       "a\nUInt8\n1\t2\n",
					       "a\tb\nUInt8\n1\n",
					       "a\nUInt8\n1 OR 1\n",
					       "a\nUInt8\n\n",
					       "a\nFloat64\n1.5x\n",
					       "a\nUInt8\n1\\0\n" };

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		expect(answers[i], -EBADMSG, NULL);
}

Test(table_answer, a_sink_can_stop)
{
	struct sink s = { .stop_at = 2 };
	struct buf in = { 0 };

	buf_addstr(&in, "a\nUInt8\n1\n2\n3\n");
	cr_expect_eq(table_answer_read(&in, &(struct table_answer_sink){ begin, row, &s }), -EPIPE);
	cr_expect_str_eq(buf_cstr(&s.text), "a\n1\n2\n");
	buf_free(&s.text);
	buf_free(&in);
}

/* Nothing is read outside of it: under a sanitizer. */
Test(table_answer, random_bytes)
{
	struct chance chance = { 7 };

	for (int i = 0; i < 20000; i++) {
		struct sink s = { 0 };
		struct buf in = { 0 };
		size_t n = chance_below(&chance, 40);

		buf_addstr(&in, chance_below(&chance, 2) ? "a\tb\nUInt8\tFloat32\n" : "");
		for (size_t k = 0; k < n; k++)
			buf_addch(&in, "\t\n\\N01x-.\t\n"[chance_below(&chance, 11)]);
		(void)table_answer_read(&in, &(struct table_answer_sink){ begin, row, &s });
		buf_free(&s.text);
		buf_free(&in);
	}
}
