// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of a ClickHouse server from text with tabs. Owns escapes and types. A server is not trusted: whatever it sends
 * becomes values, or an error.
 */
#include "fleet/table_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "query/statement_params.h"

enum kind { KIND_TEXT, KIND_INTEGER, KIND_REAL, KIND_DECIMAL };

struct cell {
	char *data;
	size_t sz;
	bool null;
};

struct answer {
	char *at, *end; /* not read yet */
	size_t cnt; /* columns */
	struct cell *cells;
	enum kind *kinds;
};

/* ---- lines ------------------------------------------------------------------------------------ */

static char unescape(char c)
{
	static const char letters[] = "bfnrt0av", bytes[] = "\b\f\n\r\t\0\a\v";
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? bytes[at - letters] : c;
}

/* A cell up to the tab or the end of the line, unescaped in its place. */
static struct cell read_cell(struct answer *a)
{
	struct cell c = { .data = a->at };
	char *to = a->at, *from = a->at;

	while (from < a->end && *from != '\t' && *from != '\n') {
		if (*from == '\\' && from + 1 < a->end) {
			c.null |= from == c.data && from[1] == 'N';
			*to++ = unescape(from[1]);
			from += 2;
		} else {
			*to++ = *from++;
		}
	}
	c.sz = (size_t)(to - c.data);
	c.null &= c.sz == 1;
	a->at = from;
	return c;
}

/* The cells of a line, which ends with a newline. */
static int read_line(struct answer *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		const char want = i + 1 == a->cnt ? '\n' : '\t';

		a->cells[i] = read_cell(a);
		if (a->at == a->end || *a->at != want)
			return -EBADMSG;
		a->at++;
	}
	return 0;
}

static size_t count_columns(const struct answer *a)
{
	size_t cnt = 1;

	for (const char *at = a->at; at < a->end && *at != '\n'; at++)
		cnt += *at == '\t';
	return cnt;
}

/* ---- types ------------------------------------------------------------------------------------ */

/* What is in Nullable() and LowCardinality(). */
static const char *strip_type(const char *type)
{
	static const char *const wraps[] = { "Nullable(", "LowCardinality(" };

	for (size_t i = 0; i < 2;) {
		if (str_starts(type, wraps[i])) {
			type += strlen(wraps[i]);
			i = 0;
		} else {
			i++;
		}
	}
	return type;
}

static enum kind kind_of(const struct cell *c)
{
	char *text = xstrndup(c->data, c->sz);
	const char *type = strip_type(text);
	enum kind kind = KIND_TEXT;

	if ((str_starts(type, "Int") || str_starts(type, "UInt")) && !str_starts(type, "Interval"))
		kind = KIND_INTEGER;
	else if (str_starts(type, "Float"))
		kind = KIND_REAL;
	else if (str_starts(type, "Decimal"))
		kind = KIND_DECIMAL;
	free(text);
	return kind;
}

/* The cell is a string with an end: its tab or newline was read. */
static int read_number(const struct cell *c, enum kind kind, struct query_value *out)
{
	bool integer;

	c->data[c->sz] = '\0';
	*out = (struct query_value){ .type = QUERY_NUMBER, .data = c->data, .sz = c->sz };
	if (kind == KIND_REAL) {
		char *end;

		out->type = QUERY_REAL;
		out->real = strtod(c->data, &end);
		return *end || !c->sz ? -EBADMSG : 0;
	}
	if (!statement_params_is_number(c->data, &integer) || strlen(c->data) != c->sz)
		return -EBADMSG;
	errno = 0;
	out->integer = strtoll(c->data, NULL, 10);
	if (kind == KIND_INTEGER && integer && !errno)
		out->type = QUERY_INTEGER;
	return 0;
}

static int read_row(struct answer *a, struct query_value *values)
{
	int err = read_line(a);

	for (size_t i = 0; i < a->cnt && !err; i++) {
		const struct cell *c = &a->cells[i];

		values[i] = (struct query_value){ .type = c->null ? QUERY_NULL : QUERY_TEXT,
						  .data = c->data,
						  .sz = c->sz };
		if (!c->null && a->kinds[i] != KIND_TEXT)
			err = read_number(c, a->kinds[i], &values[i]);
	}
	return err;
}

/* ---- the answer ------------------------------------------------------------------------------- */

static int read_head(struct answer *a, const struct table_answer_sink *sink)
{
	char **names = xcalloc(a->cnt, sizeof(*names));
	int err = read_line(a);

	for (size_t i = 0; i < a->cnt && !err; i++)
		names[i] = xstrndup(a->cells[i].data, a->cells[i].sz);
	if (!err)
		err = read_line(a);
	for (size_t i = 0; i < a->cnt && !err; i++)
		a->kinds[i] = kind_of(&a->cells[i]);
	if (!err)
		err = sink->begin(sink->ctx, (const char *const *)names, a->cnt);
	for (size_t i = 0; i < a->cnt; i++)
		free(names[i]);
	free(names);
	return err;
}

int table_answer_read(struct buf *answer, const struct table_answer_sink *sink)
{
	struct answer a = { .at = answer->data, .end = answer->data + answer->len };
	struct query_value *values;
	int err;

	if (!answer->len)
		return -EBADMSG;
	a.cnt = count_columns(&a);
	a.cells = xcalloc(a.cnt, sizeof(*a.cells));
	a.kinds = xcalloc(a.cnt, sizeof(*a.kinds));
	values = xcalloc(a.cnt, sizeof(*values));
	err = read_head(&a, sink);
	while (!err && a.at < a.end) {
		err = read_row(&a, values);
		if (!err)
			err = sink->row(sink->ctx, values, a.cnt);
	}
	free(values);
	free(a.kinds);
	free(a.cells);
	return err;
}
