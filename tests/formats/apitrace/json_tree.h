/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_APITRACE_JSON_TREE_H
#define D9_TESTS_FORMATS_APITRACE_JSON_TREE_H

/*
 * JSON compared by its content: order of keys, blanks and spelling of text and numbers do not count. Whole
 * numbers are compared digit by digit, others as doubles.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

struct tree {
	char kind; /* [ { " or the first character of a number or word */
	struct buf text; /* strings decoded, numbers and words as they stand */
	struct tree *kids; /* of { keys and values in turn */
	size_t cnt, cap;
};

static inline void tree_free(struct tree *t)
{
	for (size_t i = 0; i < t->cnt; i++)
		tree_free(&t->kids[i]);
	free(t->kids);
	buf_free(&t->text);
}

static inline void tree_add_char(struct buf *b, unsigned long u)
{
	if (u < 0x80) {
		buf_addch(b, (char)u);
	} else if (u < 0x800) {
		buf_addch(b, (char)(0xc0 | u >> 6));
		buf_addch(b, (char)(0x80 | (u & 0x3f)));
	} else {
		if (u < 0x10000) {
			buf_addch(b, (char)(0xe0 | u >> 12));
		} else {
			buf_addch(b, (char)(0xf0 | u >> 18));
			buf_addch(b, (char)(0x80 | (u >> 12 & 0x3f)));
		}
		buf_addch(b, (char)(0x80 | (u >> 6 & 0x3f)));
		buf_addch(b, (char)(0x80 | (u & 0x3f)));
	}
}

static inline unsigned long tree_hex4(const char *p)
{
	char hex[5] = { p[0], p[1], p[2], p[3], 0 };

	return strtoul(hex, NULL, 16);
}

static inline const char *tree_string(const char *p, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	unsigned long u;
	const char *at;

	for (p++; *p != '"'; p++) {
		cr_assert(*p, "a string without an end");
		if (*p != '\\') {
			buf_addch(out, *p);
			continue;
		}
		p++;
		at = strchr(from, *p);
		if (*p == 'u') {
			u = tree_hex4(p + 1);
			p += 4;
			if (u >= 0xd800 && u < 0xdc00) {
				u = 0x10000 + ((u - 0xd800) << 10) + (tree_hex4(p + 3) - 0xdc00);
				p += 6;
			}
			tree_add_char(out, u);
		} else {
			buf_addch(out, at ? to[at - from] : *p);
		}
	}
	return p + 1;
}

static inline const char *tree_parse(const char *p, struct tree *t)
{
	*t = (struct tree){ .kind = *p };
	if (*p == '"')
		return tree_string(p, &t->text);
	if (*p != '[' && *p != '{') {
		cr_assert(isalnum(*p) || *p == '-', "not JSON: %.40s", p);
		while (isalnum(*p) || (*p && strchr("+-.", *p)))
			buf_addch(&t->text, *p++);
		return p;
	}
	for (p++;; t->cnt++) {
		while (*p && strchr(" ,:", *p))
			p++;
		if (*p == ']' || *p == '}')
			return p + 1;
		t->kids = array_reserve(t->kids, &t->cap, t->cnt + 1, sizeof(*t->kids));
		p = tree_parse(p, &t->kids[t->cnt]);
	}
}

static inline bool tree_same_text(struct tree *a, struct tree *b)
{
	return a->text.len == b->text.len &&
	       !memcmp(buf_cstr(&a->text), buf_cstr(&b->text), a->text.len);
}

static inline bool tree_equal(struct tree *a, struct tree *b);

static inline bool tree_same_map(struct tree *a, struct tree *b)
{
	for (size_t i = 0; i < a->cnt; i += 2) {
		size_t k = 0;

		while (k < b->cnt && !tree_same_text(&a->kids[i], &b->kids[k]))
			k += 2;
		if (k >= b->cnt || !tree_equal(&a->kids[i + 1], &b->kids[k + 1]))
			return false;
	}
	return true;
}

static inline bool tree_equal(struct tree *a, struct tree *b)
{
	const char *x = buf_cstr(&a->text), *y = buf_cstr(&b->text);

	if ((a->kind == '"' || a->kind == '[' || a->kind == '{') && a->kind != b->kind)
		return false;
	if (a->kind == '"')
		return tree_same_text(a, b);
	if (a->kind != '[' && a->kind != '{') {
		if (strpbrk(x, ".eE") && strpbrk(y, ".eE") && !isalpha(*x))
			return strtod(x, NULL) == strtod(y, NULL);
		return tree_same_text(a, b);
	}
	if (a->cnt != b->cnt)
		return false;
	if (a->kind == '{')
		return tree_same_map(a, b);
	for (size_t i = 0; i < a->cnt; i++)
		if (!tree_equal(&a->kids[i], &b->kids[i]))
			return false;
	return true;
}

/* Whether two lines of JSON have the same content. */
static inline bool tree_same_json(const char *a, const char *b)
{
	struct tree x, y;
	bool same;

	tree_parse(a, &x);
	tree_parse(b, &y);
	same = tree_equal(&x, &y);
	tree_free(&x);
	tree_free(&y);
	return same;
}

#endif /* D9_TESTS_FORMATS_APITRACE_JSON_TREE_H */
