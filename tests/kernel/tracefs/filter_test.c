// SPDX-License-Identifier: BSD-2-Clause
/*
 * Filters: refused expressions and the reasons, and random expressions over random records, which are evaluated
 * by walking the expression's tree here and by fnmatch().
 */
#define PROF_FILTER_HERE
#include "kernel/tracefs/filter.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { PLACE = 1024, FIXED = 64, LOC_OFF = 56, REL_OFF = 60, RECORDS = 60, EXPRESSIONS = 4000 };

static char name_buf[][8] = { "s1", "u1", "s2", "u2",	"s4",  "u4",
			      "s8", "u8", "ok", "name", "loc", "rel" };
static struct format_field fields[] = {
	{ .name = name_buf[0], .off = 8, .size = 1, .kind = FORMAT_SINT },
	{ .name = name_buf[1], .off = 9, .size = 1, .kind = FORMAT_UINT },
	{ .name = name_buf[2], .off = 10, .size = 2, .kind = FORMAT_SINT },
	{ .name = name_buf[3], .off = 12, .size = 2, .kind = FORMAT_UINT },
	{ .name = name_buf[4], .off = 14, .size = 4, .kind = FORMAT_SINT },
	{ .name = name_buf[5], .off = 18, .size = 4, .kind = FORMAT_UINT },
	{ .name = name_buf[6], .off = 22, .size = 8, .kind = FORMAT_SINT },
	{ .name = name_buf[7], .off = 30, .size = 8, .kind = FORMAT_UINT },
	{ .name = name_buf[8], .off = 38, .size = 1, .kind = FORMAT_BOOL },
	{ .name = name_buf[9], .off = 40, .size = 16, .kind = FORMAT_CHARS },
	{ .name = name_buf[10], .off = LOC_OFF, .size = 4, .kind = FORMAT_STRING },
	{ .name = name_buf[11], .off = REL_OFF, .size = 4, .kind = FORMAT_REL_STRING },
	{ .name = (char *)"words", .off = 0, .size = 8, .kind = FORMAT_ARRAY },
};

enum { NUMBERS = 9, TEXTS = 3, FIELD_CNT = sizeof(fields) / sizeof(fields[0]) };

static struct format_event format = {
	.system = (char *)"test",
	.name = (char *)"event",
	.fields = fields,
	.cnt = FIELD_CNT,
};

static const struct filter *running;

static int prof_filter_text(const __u8 *bytes, __u32 mask, __u32 off, __u32 n, __u32 pattern)
{
	cr_assert_lt(pattern, running->pattern_cnt);
	return prof_filter_match(&running->patterns[pattern], bytes, mask, off, n);
}

struct record {
	uint8_t bytes[PLACE + 8];
	uint32_t len;
	char texts[TEXTS][24];
};

static bool passes(const struct filter *f, const struct record *r)
{
	running = f;
	return prof_filter_run(&f->prog, r->bytes, PLACE - 1, r->len);
}

/* ---- the reference ----------------------------------------------------------------------------- */

struct tree {
	enum { LEAF, AND, OR } kind;
	bool inverted;
	const struct tree *left, *right;
	int field;
	const char *op;
	int64_t number;
	bool unsigned_number;
	char text[24];
};

static uint64_t rnd(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static int below(int n)
{
	return rnd() % n;
}

static __int128 value_of(const struct record *r, const struct format_field *f)
{
	uint64_t v = 0;

	memcpy(&v, r->bytes + f->off, f->size);
	if (f->kind != FORMAT_SINT || !(v >> (8 * f->size - 1) & 1))
		return v;
	return (__int128)v - ((__int128)1 << 8 * f->size);
}

static bool number_truth(const struct tree *t, const struct record *r)
{
	__int128 a = value_of(r, &fields[t->field]);
	__int128 b = t->unsigned_number ? (__int128)(uint64_t)t->number : t->number;

	if (!strcmp(t->op, "=="))
		return a == b;
	if (!strcmp(t->op, "!="))
		return a != b;
	if (!strcmp(t->op, "<"))
		return a < b;
	if (!strcmp(t->op, "<="))
		return a <= b;
	if (!strcmp(t->op, ">"))
		return a > b;
	if (!strcmp(t->op, ">="))
		return a >= b;
	return (a & b) != 0;
}

static bool truth(const struct tree *t, const struct record *r)
{
	const char *text;
	bool is;

	if (t->kind == AND) {
		is = truth(t->left, r) && truth(t->right, r);
	} else if (t->kind == OR) {
		is = truth(t->left, r) || truth(t->right, r);
	} else if (t->field < NUMBERS) {
		is = number_truth(t, r);
	} else {
		text = r->texts[t->field - NUMBERS];
		is = strchr(t->op, '~') ? !fnmatch(t->text, text, 0) : !strcmp(t->text, text);
		is ^= t->op[0] == '!';
	}
	return is ^ t->inverted;
}

/* ---- random ones ------------------------------------------------------------------------------- */

/* With few letters, so that they often match. */
static void random_text(char *to, int most)
{
	int n = below(most + 1);

	for (int i = 0; i < n; i++)
		to[i] = "abc"[below(3)];
	to[n] = '\0';
}

static void random_pattern(char *to)
{
	static const char *const parts[] = {
		"*", "?", "[ab]", "[!a]", "[b-c]", "a", "b", "c", "\\a"
	};
	int n = below(4);

	strcpy(to, n || below(2) ? "" : "*");
	while (n--)
		strcat(to, parts[below(sizeof(parts) / sizeof(parts[0]))]);
}

static void random_number(struct tree *t)
{
	const struct format_field *f = &fields[t->field];
	uint64_t most = f->size == 8 ? UINT64_MAX : (1ULL << 8 * f->size) - 1;
	uint64_t v = below(2) ? rnd() & most : (uint64_t)below(4);

	t->unsigned_number = f->kind != FORMAT_SINT;
	t->number = (int64_t)v;
	if (!t->unsigned_number) {
		t->number = (int64_t)(v << (64 - 8 * f->size)) >> (64 - 8 * f->size);
		if (below(4) == 0)
			t->number = -below(4);
	}
}

static struct tree *random_tree(struct tree **pool, int depth)
{
	static const char *const number_ops[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	static const char *const text_ops[] = { "==", "!=", "~", "!~" };
	struct tree *t = (*pool)++;

	*t = (struct tree){ .kind = depth && below(4) ? 1 + below(2) : LEAF,
			    .inverted = !below(4) };
	if (t->kind != LEAF) {
		t->left = random_tree(pool, depth - 1);
		t->right = random_tree(pool, depth - 1);
		return t;
	}
	t->field = below(NUMBERS + TEXTS);
	if (t->field < NUMBERS) {
		t->op = number_ops[below(7)];
		random_number(t);
	} else {
		t->op = text_ops[below(4)];
		if (strchr(t->op, '~'))
			random_pattern(t->text);
		else
			random_text(t->text, 3);
	}
	return t;
}

static const char *blank(void)
{
	return below(3) ? " " : "";
}

/* With only the needed parentheses, or more. */
static void print_tree(struct buf *out, const struct tree *t, int around)
{
	bool parens = t->inverted || !below(4);

	if (t->kind == LEAF)
		parens = t->inverted && below(2);
	else if (around == AND && t->kind == OR)
		parens = true;
	buf_printf(out, "%s%s", t->inverted ? "!" : "", parens ? "(" : "");
	if (t->kind == LEAF) {
		buf_printf(out, "%s%s%s%s", fields[t->field].name, blank(), t->op, blank());
		if (t->field >= NUMBERS)
			buf_printf(out, below(2) ? "'%s'" : "\"%s\"", t->text);
		else if (t->unsigned_number)
			buf_printf(out, below(2) ? "%llu" : "0x%llx",
				   (unsigned long long)t->number);
		else
			buf_printf(out, "%lld", (long long)t->number);
	} else {
		print_tree(out, t->left, t->kind);
		buf_printf(out, "%s%s%s", blank(), t->kind == AND ? "&&" : "||", blank());
		print_tree(out, t->right, t->kind);
	}
	buf_addstr(out, parens ? ")" : "");
}

static void put_word(struct record *r, uint32_t off, uint32_t to, uint32_t len)
{
	uint32_t word = len << 16 | to;

	memcpy(r->bytes + off, &word, sizeof(word));
}

static void random_record(struct record *r)
{
	uint32_t len;

	for (size_t i = 0; i < sizeof(r->bytes); i++)
		r->bytes[i] = below(3) ? below(4) : below(256);
	random_text(r->texts[0], 16);
	random_text(r->texts[1], 20);
	random_text(r->texts[2], 4);
	memcpy(r->bytes + 40, r->texts[0], 16); /* the NUL need not fit */
	len = strlen(r->texts[1]) + 1;
	memcpy(r->bytes + FIXED, r->texts[1], len);
	put_word(r, LOC_OFF, FIXED, len);
	r->len = FIXED + len;
	len = strlen(r->texts[2]) + 1;
	memcpy(r->bytes + r->len, r->texts[2], len);
	put_word(r, REL_OFF, r->len - REL_OFF - 4, len);
	r->len += len;
}

Test(filter, passes_records_for_which_the_expression_is_true)
{
	struct tree pool[64], *next;
	static struct record records[RECORDS];
	struct buf text = { 0 };
	const struct tree *t;
	struct filter *f;
	size_t through = 0;
	char *why;

	for (int i = 0; i < RECORDS; i++)
		random_record(&records[i]);
	for (int n = 0; n < EXPRESSIONS; n++) {
		next = pool;
		t = random_tree(&next, 4);
		buf_clear(&text);
		print_tree(&text, t, LEAF);
		cr_assert_eq(filter_compile(buf_cstr(&text), &format, NULL, 0, &f, &why), 0,
			     "%s: %s", text.data, why);
		for (int i = 0; i < RECORDS; i++) {
			cr_assert_eq(passes(f, &records[i]), truth(t, &records[i]),
				     "%s of record %d", text.data, i);
			through += truth(t, &records[i]);
		}
		filter_free(f);
	}
	/* neither all nor none of them */
	cr_assert_gt(through, EXPRESSIONS * RECORDS / 5);
	cr_assert_lt(through, EXPRESSIONS * RECORDS * 4 / 5);
	buf_free(&text);
}

/* ---- single ones ------------------------------------------------------------------------------- */

static bool is_true(const char *expr, const struct record *r)
{
	struct filter *f;
	char *why;
	bool is;

	cr_assert_eq(filter_compile(expr, &format, NULL, 0, &f, &why), 0, "%s: %s", expr, why);
	is = passes(f, r);
	filter_free(f);
	return is;
}

Test(filter, uses_current_task_and_cpu_if_the_event_has_no_such_field)
{
	struct record r = { .len = FIXED };
	struct prof_filter_context *c = (void *)(r.bytes + PLACE - sizeof(*c));
	int32_t pid = 4711;

	memcpy(r.bytes + 4, &pid, sizeof(pid));
	strcpy((char *)c->comm, "shell");
	c->cpu = 3;
	cr_expect(is_true("common_pid == 4711 && CPU == 3 && COMM == shell", &r));
	cr_expect(is_true("cpu > 2 && comm ~ sh*", &r));
	cr_expect(!is_true("cpu > 3", &r));
	cr_expect(!is_true("comm != shell", &r));
}

Test(filter, accepts_numbers_of_each_base_and_bits_of_signed_fields)
{
	struct record r = { .len = FIXED };

	r.bytes[8] = 0xfe; /* s1 */
	r.bytes[9] = 0xfe; /* u1 */
	cr_expect(is_true("s1 == -2 && s1 == 0xfe && s1 < 0", &r));
	cr_expect(is_true("u1 == 0376 && u1 == 254 && u1 > 0", &r));
	cr_expect(is_true("u1 & 2 && !(u1 & 1)", &r));
	cr_expect(is_true("s1&0x80", &r));
}

/* The kernel's globs: a leading ! negates a glob; an open bracket without an end is a literal. */
Test(filter, globs_match_like_the_kernels)
{
	struct record r = { .len = FIXED };

	strcpy((char *)r.bytes + 40, "a[b]*c");
	cr_expect(is_true("name ~ a*c", &r));
	cr_expect(is_true("name ~ '!b*'", &r));
	cr_expect(is_true("name ~ 'a\\[b]\\*c'", &r));
	cr_expect(is_true("name ~ 'a[[]b[]][*]c'", &r));
	cr_expect(is_true("name ~ 'a[b]*c' || name == 'a[b]*c'", &r));
	cr_expect(!is_true("name ~ 'a[b'", &r));
	cr_expect(is_true("name !~ ''", &r));
	r.bytes[40] = '\0';
	cr_expect(is_true("name ~ '' && name == '' && name ~ '*'", &r));
}

Test(filter, reads_no_text_outside_the_record)
{
	struct record r = { .len = FIXED + 4 };

	strcpy((char *)r.bytes + FIXED, "abc");
	put_word(&r, LOC_OFF, FIXED, 4);
	cr_expect(is_true("loc == abc", &r));
	put_word(&r, LOC_OFF, FIXED, 5);
	cr_expect(!is_true("loc ~ '*'", &r));
	put_word(&r, LOC_OFF, 0xffff, 0xffff);
	cr_expect(!is_true("loc ~ '*'", &r));
	r.len = LOC_OFF;
	cr_expect(!is_true("loc ~ '*'", &r));
}

static void expect_refused(const char *expr, const char *want)
{
	struct filter *f;
	char *why;

	cr_assert_eq(filter_compile(expr, &format, NULL, 0, &f, &why), -EINVAL, "%s", expr);
	cr_expect_str_eq(why, want, "%s: %s", expr, why);
	free(why);
}

Test(filter, error_lists_the_fields)
{
	expect_refused("prio == 3",
		       "test:event has no field 'prio'; it has s1, u1, s2, u2, s4, u4, s8, "
		       "u8, ok, name, loc, rel, common_pid, CPU and COMM");
	expect_refused("common_flags == 3", "the kernel does not show 'common_flags' to programs");
}

Test(filter, error_explains_mismatched_types)
{
	expect_refused("s4 == abc", "'s4' is a number of 4 bytes, signed: 'abc' is none");
	expect_refused("u1 == 256", "'u1' is a number of 1 byte, unsigned: '256' is none");
	expect_refused("u4 == -1", "'u4' is a number of 4 bytes, unsigned: '-1' is none");
	expect_refused("s1 == -129", "'s1' is a number of 1 byte, signed: '-129' is none");
	expect_refused("u8 == 18446744073709551616",
		       "'u8' is a number of 8 bytes, unsigned: '18446744073709551616' is none");
	expect_refused("s4 ~ 3*", "'s4' is a number: ~ compares text");
	expect_refused("name < abc", "'name' is text: use ==, !=, ~ or !~");
	expect_refused("words == 1", "'words' is neither a number nor text");
}

Test(filter, error_has_the_place_of_a_syntax_error)
{
	expect_refused("", "the name of a field is missing at the end");
	expect_refused("s4", "an operator (== != < <= > >= & ~) is missing at the end");
	expect_refused("s4 && u4", "an operator (== != < <= > >= & ~) is missing before '&& u4'");
	expect_refused("s4 == ", "a value is missing at the end");
	expect_refused("s4 == 1 u4 == 2", "&& or || is missing before 'u4 == 2'");
	expect_refused("(s4 == 1", "&&, || or a closing parenthesis is missing at the end");
	expect_refused("s4 == 1)", "&& or || is missing before ')'");
	expect_refused("name == 'abc", "a quote is not closed: 'abc");
	expect_refused("3 == s4", "the name of a field is missing before '3 == s4'");
}

Test(filter, number_of_comparisons_is_limited)
{
	struct buf b = { 0 };
	struct filter *f;
	char *why;

	for (int i = 0; i < PROF_FILTER_TERMS; i++)
		buf_printf(&b, "%ss4 == %d", i ? " || " : "", i);
	cr_assert_eq(filter_compile(buf_cstr(&b), &format, NULL, 0, &f, &why), 0);
	filter_free(f);
	buf_addstr(&b, " && s4 == 1");
	expect_refused(buf_cstr(&b), "more than 16 comparisons");
	buf_clear(&b);
	for (int i = 0; i < 40; i++)
		buf_addstr(&b, i % 2 ? "(" : "!");
	expect_refused(buf_cstr(&b), "parentheses and ! are more than 32 deep");
	buf_clear(&b);
	buf_addstr(&b, "name == ");
	for (int i = 0; i < 63; i++)
		buf_addstr(&b, "x");
	cr_assert_eq(filter_compile(buf_cstr(&b), &format, NULL, 0, &f, &why), 0);
	filter_free(f);
	buf_addstr(&b, "x");
	expect_refused(buf_cstr(&b), "'xxxxxxxxxxxxxxxxxxxxxxxx...' is longer than 63 characters");
	buf_free(&b);
}
