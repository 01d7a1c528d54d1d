// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values in SQL of ClickHouse. Owns what is text, a quoted name or a comment there, and how a value is written so that no
 * byte of it ends its literal.
 */
#include "fleet/sql_template.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ship/clickhouse.h"

/* ---- literals --------------------------------------------------------------------------------- */

/* After a minus, a negative number without parentheses would begin a comment. */
bool sql_template_put_number(struct buf *out, const char *s, bool integer)
{
	long long n;
	double d;

	errno = 0;
	n = strtoll(s, NULL, 10);
	if (integer && !errno) {
		buf_printf(out, n < 0 ? "(%lld)" : "%lld", n);
		return true;
	}
	d = strtod(s, NULL);
	if (!isfinite(d))
		return false;
	buf_printf(out, d < 0 ? "(%.17g)" : "%.17g", d);
	return true;
}

static void put_regex_char(struct buf *out, char c)
{
	if (strchr("\\.+*?()[]{}^$|-&~#", c))
		buf_addch(out, '\\');
	buf_addch(out, c);
}

const char *sql_template_set_end(const char *at)
{
	const char *first = at + (*at == '^');

	return strchr(first + (*first == ']'), ']');
}

/* The set after "[" as a class; NULL: it does not end, so that nothing matches. */
static const char *put_class(struct buf *out, const char *at)
{
	const bool inverted = *at == '^';
	const char *first = at + inverted, *end = sql_template_set_end(at);
	bool may_range = false;

	if (!end)
		return NULL;
	buf_addstr(out, inverted ? "[^" : "[");
	for (at = first; at < end; at++) {
		/* a range, unless the hyphen is the first or the last one, or ends a range */
		if (*at == '-' && may_range && at + 1 < end) {
			buf_addch(out, '-');
			put_regex_char(out, *++at);
			may_range = false;
		} else {
			put_regex_char(out, *at);
			may_range = true;
		}
	}
	buf_addch(out, ']');
	return end + 1;
}

void sql_template_put_glob(struct buf *out, const char *glob)
{
	struct buf regex = { 0 };

	/* everything, also text that is not UTF-8 */
	if (!strcmp(glob, "*")) {
		buf_addstr(out, "''");
		return;
	}
	buf_addstr(&regex, "(?s)^");
	while (glob && *glob) {
		const char c = *glob++;

		if (c == '*')
			buf_addstr(&regex, ".*");
		else if (c == '?')
			buf_addch(&regex, '.');
		else if (c == '[')
			glob = put_class(&regex, glob);
		else
			put_regex_char(&regex, c);
	}
	buf_addstr(&regex, glob ? "$" : "\\z.");
	clickhouse_put_text(out, buf_cstr(&regex));
	buf_free(&regex);
}

/* ---- places ----------------------------------------------------------------------------------- */

static bool is_name(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (is_name(s[n], !n))
		n++;
	return n;
}

/* Up to the end of @end, or of the text. */
static size_t length_up_to(const char *s, size_t from, const char *end)
{
	const char *found = strstr(s + from, end);

	return found ? (size_t)(found - s) + strlen(end) : strlen(s);
}

static size_t quoted_length(const char *s)
{
	size_t n = 1;

	while (s[n] && s[n] != s[0])
		n += s[n] == '\\' && s[n + 1] ? 2 : 1;
	return n + (s[n] != '\0');
}

/* $tag$ text $tag$: newer servers have it. 0: it is not one. */
static size_t heredoc_length(const char *s)
{
	size_t n = 1;
	char tag[64];

	while (is_name(s[n], false))
		n++;
	if (s[n] != '$' || n + 2 > sizeof(tag))
		return 0;
	memcpy(tag, s, n + 1);
	tag[n + 1] = '\0';
	return length_up_to(s, n + 1, tag);
}

/* Bytes from here on that stay as they are; 0: a name may begin here. */
static size_t plain_length(const char *s)
{
	switch (*s) {
	case '\'':
	case '"':
	case '`':
		return quoted_length(s);
	case '-':
		return s[1] == '-' ? length_up_to(s, 2, "\n") : 1;
	case '#':
		return s[1] == ' ' || s[1] == '!' ? length_up_to(s, 1, "\n") : 1;
	case '/':
		return s[1] == '*' ? length_up_to(s, 2, "*/") : 1;
	case '$':
		return heredoc_length(s) ?: 1;
	case ':':
		/* a cast */
		return s[1] == ':' ? 2 : 0;
	default:
		return 1;
	}
}

static struct sql_template_value *value_of(struct sql_template_value *values, size_t cnt,
					   const char *name, size_t len)
{
	for (size_t i = 0; i < cnt; i++)
		if (strlen(values[i].name) == len && !memcmp(values[i].name, name, len))
			return &values[i];
	return NULL;
}

void sql_template_put(struct buf *out, const char *sql, struct sql_template_value *values,
		      size_t cnt)
{
	while (*sql) {
		size_t len = plain_length(sql), name = len ? 0 : name_length(sql + 1);
		struct sql_template_value *v = name ? value_of(values, cnt, sql + 1, name) : NULL;

		if (v) {
			buf_addstr(out, v->literal);
			v->used = true;
		} else {
			len = len ?: 1 + name;
			buf_add(out, sql, len);
		}
		sql += v ? 1 + name : len;
	}
}
