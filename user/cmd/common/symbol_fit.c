// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fits C++ and Rust names into a column. All commands shorten names by this file, so a name always looks the same.
 *
 * A name is text with brackets. First parameters are emptied, then template arguments from the innermost level
 * outwards, until the name fits. Some brackets belong to names: operator<, operator->, operator(), (anonymous
 * namespace), the arrow of a return type. The outermost level of Rust's <Type as Trait>::f is kept to the last,
 * because it contains the name.
 */
#include "cmd/common/symbol_fit.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/common/report_text.h"

/* Distinct levels of template arguments; deeper ones are removed together. */
#define LEVELS_MAX 8

/* How far to go. */
struct degree {
	bool params; /* leave out parameters */
	size_t levels; /* of template arguments that are kept */
};

/* Bytes at s[i] that are a name although they hold brackets; 0: none. */
static size_t literal(const char *s, size_t i, size_t n)
{
	static const char *const words[] = {
		"(anonymous namespace)",
		"operator()",
		"operator<=>",
		"operator<<=",
		"operator<<",
		"operator<=",
		"operator<",
		"operator->*",
		"operator->",
		"operator>>=",
		"operator>>",
		"operator>=",
		"operator>",
		"->",
	};

	/* most bytes begin none of them, and a name may end in that word */
	if (!strchr("(o-", s[i]) ||
	    (s[i] == 'o' && i && (isalnum((unsigned char)s[i - 1]) || s[i - 1] == '_')))
		return 0;
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
		size_t len = strlen(words[k]);

		if (len <= n - i && !memcmp(s + i, words[k], len))
			return len;
	}
	return 0;
}

/* The bytes of the group that begins at s[at], up to its closing bracket; 0 when it does not close. */
static size_t group(const char *s, size_t at, size_t n)
{
	size_t depth = 0, len;

	for (size_t i = at; i < n; i += len) {
		len = literal(s, i, n);
		if (len)
			continue;
		len = 1;
		if (s[i] == '(' || s[i] == '<')
			depth++;
		else if ((s[i] == ')' || s[i] == '>') && !--depth)
			return i + 1 - at;
	}
	return 0;
}

/* Goes over the name once: a group that does not close ends the leaving out. */
static void apply(struct buf *out, const char *s, size_t n, struct degree d)
{
	size_t depth = 0, len;

	for (size_t i = 0; i < n; i += len) {
		bool drop = (s[i] == '(' && d.params) || (s[i] == '<' && i && depth >= d.levels);

		len = literal(s, i, n);
		if (!len && drop) {
			len = group(s, i, n);
			if (!len)
				d = (struct degree){ .levels = SIZE_MAX };
			if (len > 2) {
				buf_addstr(out, s[i] == '(' ? "(...)" : "<...>");
				continue;
			}
		}
		if (!len) {
			len = 1;
			depth += s[i] == '<';
			depth -= s[i] == '>' && depth;
		}
		buf_add(out, s + i, len);
	}
}

void symbol_fit_name(struct buf *out, const char *s, size_t n, size_t cols)
{
	struct degree d = { .params = true, .levels = LEVELS_MAX };
	size_t from = out->len;

	if (!cols || value_text_width(s, n) <= cols) {
		buf_add(out, s, n);
		return;
	}
	do {
		out->len = from;
		apply(out, s, n, d);
	} while (value_text_width(out->data + from, out->len - from) > cols && d.levels--);
}
