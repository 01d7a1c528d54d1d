// SPDX-License-Identifier: BSD-2-Clause
/* Values of the parameters of a statement. Owns which text is a number, and the messages about parameters. */
#include "query/statement_params.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/str.h"

/* ---- numbers ------------------------------------------------------------------------------------ */

static const char *skip_sign(const char *s)
{
	return s + (*s == '+' || *s == '-');
}

static size_t count_digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* A decimal number, as SQL has it, with a sign: not what else strtod() reads. */
bool statement_params_is_number(const char *s, bool *integer)
{
	const char *at = skip_sign(s);
	size_t digits = count_digits(at), exponent;

	at += digits;
	*integer = *at != '.' && *at != 'e' && *at != 'E';
	if (*at == '.') {
		at++;
		digits += count_digits(at);
		at += count_digits(at);
	}
	if (!digits)
		return false;
	if (*at == 'e' || *at == 'E') {
		at = skip_sign(at + 1);
		exponent = count_digits(at);
		at += exponent;
		return exponent && !*at;
	}
	return !*at;
}

/* ---- binding ------------------------------------------------------------------------------------ */

static int refuse(struct buf *message, const struct query_param *p, const char *expected)
{
	buf_addstr(message, "bad value '");
	str_printable(message, p->value, strlen(p->value));
	buf_printf(message, "' for --param %s: %s", p->name, expected);
	return -EINVAL;
}

/* An integer above 64 bits is a double, as in SQL. */
static int bind_number(sqlite3_stmt *stmt, int at, const struct query_param *p, bool integer,
		       struct buf *message)
{
	long long n;
	double d;

	errno = 0;
	n = strtoll(p->value, NULL, 10);
	if (integer && !errno)
		return sqlite3_bind_int64(stmt, at, n);
	d = strtod(p->value, NULL);
	if (!isfinite(d) || p->kind == QUERY_PARAM_COUNT)
		return refuse(message, p, "the number is too large");
	return sqlite3_bind_double(stmt, at, d);
}

static int bind_value(sqlite3_stmt *stmt, int at, const struct query_param *p, struct buf *message)
{
	bool integer = false;
	const bool number =
		p->kind != QUERY_PARAM_TEXT && statement_params_is_number(p->value, &integer);

	if (p->kind == QUERY_PARAM_COUNT && !(number && integer))
		return refuse(message, p, "expected a whole number");
	if (p->kind == QUERY_PARAM_SHARE &&
	    !(number && strtod(p->value, NULL) >= 0 && strtod(p->value, NULL) <= 1))
		return refuse(message, p, "expected a number from 0 to 1");
	if (number)
		return bind_number(stmt, at, p, integer, message);
	return sqlite3_bind_text(stmt, at, p->value, -1, SQLITE_TRANSIENT);
}

/* NULL: no value. */
static const struct query_param *param_of(const struct query_statement *s, const char *name)
{
	for (size_t i = 0; name && *name && i < s->param_cnt; i++)
		if (!strcmp(s->params[i].name, name + 1))
			return &s->params[i];
	return NULL;
}

/* ---- names -------------------------------------------------------------------------------------- */

/* The names of the statement's parameters without their first character: free the array. */
static const char **names_of(sqlite3_stmt *stmt, size_t *cnt)
{
	const int all = sqlite3_bind_parameter_count(stmt);
	const char **names = xcalloc((size_t)all + 1, sizeof(*names));

	*cnt = 0;
	for (int i = 1; i <= all; i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);

		if (name && *name != '?')
			names[(*cnt)++] = name + 1;
	}
	return names;
}

static void report_unknown(struct buf *message, const char *name, const char **names, size_t cnt)
{
	const char *near = opts_nearest(name, names, cnt);

	buf_addstr(message, "the query has no parameter :");
	str_printable(message, name, strlen(name));
	if (near) {
		buf_printf(message, " (did you mean :%s?)", near);
		return;
	}
	for (size_t i = 0; i < cnt; i++)
		buf_printf(message, "%s:%s", i ? ", " : "; it has ", names[i]);
}

/* A misspelt name would leave the default in place. */
static int check_names(sqlite3_stmt *stmt, const struct query_statement *s, struct buf *message)
{
	size_t cnt;
	const char **names = names_of(stmt, &cnt);
	int err = 0;

	for (size_t i = 0; i < s->param_cnt && !err; i++) {
		bool known = false;

		for (size_t k = 0; k < cnt && !known; k++)
			known = !strcmp(names[k], s->params[i].name);
		if (known)
			continue;
		report_unknown(message, s->params[i].name, names, cnt);
		err = -EINVAL;
	}
	free(names);
	return err;
}

int statement_params_bind(sqlite3_stmt *stmt, const struct query_statement *s, struct buf *message)
{
	const int cnt = sqlite3_bind_parameter_count(stmt);
	int err = s->spare_params ? 0 : check_names(stmt, s, message);

	for (int i = 1; i <= cnt && !err; i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);
		const struct query_param *p = param_of(s, name);

		if (p) {
			err = bind_value(stmt, i, p, message);
			continue;
		}
		buf_printf(message, "no value for the parameter %s; use --param NAME=VALUE",
			   name ? name : "?");
		err = -EINVAL;
	}
	return err;
}

/* Only LIMIT and OFFSET refuse a value for its type. */
void statement_params_explain_mismatch(sqlite3_stmt *stmt, const struct query_statement *s,
				       struct buf *message)
{
	const int cnt = sqlite3_bind_parameter_count(stmt);

	buf_addstr(message, ": LIMIT and OFFSET take whole numbers");
	for (int i = 1; i <= cnt; i++) {
		const struct query_param *p = param_of(s, sqlite3_bind_parameter_name(stmt, i));
		bool integer;

		if (!p || (statement_params_is_number(p->value, &integer) && integer))
			continue;
		buf_printf(message, "; --param %s is '", p->name);
		str_printable(message, p->value, strlen(p->value));
		buf_addch(message, '\'');
	}
}
