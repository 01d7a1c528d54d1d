// SPDX-License-Identifier: BSD-2-Clause
/* Values of parameters for servers. Owns which value is valid for which kind, and the conditions on hosts and times. */
#include "fleet/fleet_params.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/opts.h"
#include "base/str.h"
#include "query/statement_params.h"
#include "ship/clickhouse.h"

#define SECOND_NS ((int64_t)1000000000)
#define DAY_NS (24 * 3600 * SECOND_NS)
/* No row has a later day: a column of days has 16 bits. */
#define TIME_MAX (65535 * DAY_NS)

static int refuse(struct buf *message, const struct query_param *p, const char *expected)
{
	buf_addstr(message, "bad value '");
	str_printable(message, p->value, strlen(p->value));
	buf_printf(message, "' for --param %s: %s", p->name, expected);
	return -EINVAL;
}

/* ---- times ------------------------------------------------------------------------------------ */

/* "2026-11-28", "2026-11-28 18:17" or with seconds; UTC. */
static bool parse_date(const char *s, int64_t *ns)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(s, formats[i], &tm);

		if (!end || *end)
			continue;
		*ns = (int64_t)timegm(&tm) * SECOND_NS;
		return *ns >= 0 && *ns < TIME_MAX;
	}
	return false;
}

/* A date, or a duration before now. */
static bool parse_time(const char *s, int64_t *ns)
{
	const int64_t now = (int64_t)clock_real_ns();
	uint64_t ago;

	if (parse_date(s, ns))
		return true;
	if (str_parse_unit_duration(s, &ago) || ago > (uint64_t)now)
		return false;
	*ns = now - (int64_t)ago;
	return true;
}

/* What the places :range, :span and :days become. */
struct conditions {
	struct buf range, span, days;
};

static void add_time(struct conditions *c, int64_t ns, bool from)
{
	const char *op = from ? ">=" : "<";

	buf_printf(&c->range, " AND wall %s %" PRId64 " AND day %s toDate(%" PRId64 ")", op, ns,
		   from ? ">=" : "<=", ns / DAY_NS);
	buf_printf(&c->span, " AND %s %s %" PRId64, from ? "last_wall" : "first_wall", op, ns);
	buf_printf(&c->days, " AND day %s toDate(%" PRId64 ")", from ? ">=" : "<=", ns / DAY_NS);
}

/* Of the set that begins with "[". */
static size_t set_length(const char *s)
{
	const char *end = sql_template_set_end(s + 1);

	return end ? (size_t)(end + 1 - s) : strlen(s);
}

/* Up to the next comma that is not in a set. */
static size_t glob_length(const char *s)
{
	size_t n = 0;

	while (s[n] && s[n] != ',')
		n += s[n] == '[' ? set_length(s + n) : 1;
	return n;
}

/* " AND (match(COLUMN, 'a') OR match(COLUMN, 'b'))" */
static void add_globs(struct buf *out, const char *column, const char *globs)
{
	const char *at = globs, *sep = " AND (";

	if (!strcmp(globs, "*"))
		return;
	do {
		const size_t len = glob_length(at);
		char *glob = xstrndup(at, len);

		buf_printf(out, "%smatch(%s, ", sep, column);
		sql_template_put_glob(out, glob);
		buf_addch(out, ')');
		free(glob);
		sep = " OR ";
		at += len;
	} while (*at++ == ',');
	buf_addch(out, ')');
}

static void add_host(struct conditions *c, const char *globs)
{
	add_globs(&c->range, "host", globs);
	add_globs(&c->span, "host", globs);
	add_globs(&c->days, "host", globs);
}

/* ---- values ----------------------------------------------------------------------------------- */

static void add(struct fleet_params *p, const char *name, struct buf *literal)
{
	p->values[p->cnt++] =
		(struct sql_template_value){ xstrdup(name), xstrdup(buf_cstr(literal)), false };
	buf_free(literal);
}

static void add_condition(struct fleet_params *p, const char *name, struct buf *more)
{
	struct buf literal = { 0 };

	buf_printf(&literal, "(1%s)", more->len ? buf_cstr(more) : "");
	buf_free(more);
	add(p, name, &literal);
}

/* A number, or text. */
static int put_any(struct buf *literal, const struct query_param *v, struct buf *message)
{
	bool integer;

	if (!statement_params_is_number(v->value, &integer))
		clickhouse_put_text(literal, v->value);
	else if (!sql_template_put_number(literal, v->value, integer))
		return refuse(message, v, "the number is too large");
	return 0;
}

static int put_number(struct buf *literal, const struct query_param *v, bool share,
		      struct buf *message)
{
	bool integer;
	const bool number = statement_params_is_number(v->value, &integer);

	if (share && !(number && strtod(v->value, NULL) >= 0 && strtod(v->value, NULL) <= 1))
		return refuse(message, v, "expected a number from 0 to 1");
	if (!share && !(number && integer))
		return refuse(message, v, "expected a whole number");
	return put_any(literal, v, message);
}

/* The value of one parameter; conditions are put together later. */
static int put_value(struct buf *literal, const struct fleet_param *known,
		     const struct query_param *v, struct conditions *c, struct buf *message)
{
	int64_t ns;

	switch (known->kind) {
	case FLEET_PARAM_COUNT:
	case FLEET_PARAM_SHARE:
		return put_number(literal, v, known->kind == FLEET_PARAM_SHARE, message);
	case FLEET_PARAM_GLOB:
		sql_template_put_glob(literal, v->value);
		return 0;
	case FLEET_PARAM_TEXT:
		clickhouse_put_text(literal, v->value);
		return 0;
	case FLEET_PARAM_HOST:
		add_host(c, v->value);
		return 0;
	case FLEET_PARAM_SERVICE:
		add_globs(&c->range, "service", v->value);
		return 0;
	case FLEET_PARAM_FROM:
	case FLEET_PARAM_TO:
		if (!*v->value)
			return 0;
		if (!parse_time(v->value, &ns))
			return refuse(message, v,
				      "expected 2026-11-28, '2026-11-28 18:17' (UTC), or 1h for "
				      "an hour ago");
		add_time(c, ns, known->kind == FLEET_PARAM_FROM);
		return 0;
	}
	return 0;
}

static enum query_param_kind merge_kind(enum fleet_param_kind kind)
{
	if (kind == FLEET_PARAM_COUNT)
		return QUERY_PARAM_COUNT;
	return kind == FLEET_PARAM_SHARE ? QUERY_PARAM_SHARE : QUERY_PARAM_TEXT;
}

static int check_names(const struct fleet_query *query, const struct query_param *given,
		       size_t given_cnt, struct buf *message)
{
	const char *names[FLEET_QUERIES_PARAMS_MAX], *near;
	size_t cnt = 0;

	while (cnt < FLEET_QUERIES_PARAMS_MAX && query->params[cnt].name) {
		names[cnt] = query->params[cnt].name;
		cnt++;
	}
	for (size_t i = 0; i < given_cnt; i++) {
		if (opts_word(given[i].name, strlen(given[i].name), names, (int)cnt) >= 0)
			continue;
		near = opts_nearest(given[i].name, names, cnt);
		buf_addstr(message, "the query has no parameter :");
		str_printable(message, given[i].name, strlen(given[i].name));
		if (near)
			buf_printf(message, " (did you mean :%s?)", near);
		for (size_t k = 0; !near && k < cnt; k++)
			buf_printf(message, "%s:%s", k ? ", " : "; it has ", names[k]);
		return -EINVAL;
	}
	return 0;
}

static struct query_param value_of(const struct fleet_param *known, const struct query_param *given,
				   size_t given_cnt)
{
	struct query_param v = { known->name, known->value, merge_kind(known->kind) };

	for (size_t i = given_cnt; i > 0; i--)
		if (!strcmp(given[i - 1].name, known->name))
			v.value = given[i - 1].value;
	return v;
}

static void begin(struct fleet_params *p, size_t cnt)
{
	*p = (struct fleet_params){
		.values = xcalloc(cnt + FLEET_PARAMS_MAX, sizeof(*p->values)),
		.merge = xcalloc(FLEET_PARAMS_MAX, sizeof(*p->merge)),
	};
}

/* The LIMIT of the servers: all rows, if what several servers have is summed up. */
static void add_rows(struct fleet_params *p, bool limits_rows)
{
	const char *rows = "9223372036854775807";
	struct buf literal = { 0 };

	for (size_t i = 0; i < p->cnt && limits_rows; i++)
		if (!strcmp(p->values[i].name, "limit") && p->values[i].literal[0] != '(')
			rows = p->values[i].literal;
	buf_addstr(&literal, rows);
	add(p, "rows", &literal);
}

/* After the values of the user, which may have these names. */
static void add_conditions(struct fleet_params *p, struct conditions *c)
{
	add_condition(p, "range", &c->range);
	add_condition(p, "span", &c->span);
	add_condition(p, "days", &c->days);
}

int fleet_params_of_query(struct fleet_params *p, const struct fleet_query *query,
			  const struct query_param *given, size_t given_cnt, bool limits_rows,
			  struct buf *message)
{
	struct conditions c = { 0 };
	int err;

	begin(p, 0);
	err = check_names(query, given, given_cnt, message);
	for (size_t i = 0; i < FLEET_QUERIES_PARAMS_MAX && query->params[i].name && !err; i++) {
		const struct query_param v = value_of(&query->params[i], given, given_cnt);
		struct buf literal = { 0 };

		err = put_value(&literal, &query->params[i], &v, &c, message);
		p->merge[p->merge_cnt++] = v;
		add(p, v.name, &literal);
	}
	add_rows(p, limits_rows);
	add_conditions(p, &c);
	return err;
}

/* ---- SQL -------------------------------------------------------------------------------------- */

static const struct fleet_param filters[] = {
	{ "host", "*", FLEET_PARAM_HOST },
	{ "service", "*", FLEET_PARAM_SERVICE },
	{ "from", "", FLEET_PARAM_FROM },
	{ "to", "", FLEET_PARAM_TO },
};
#define FILTER_CNT (sizeof(filters) / sizeof(filters[0]))

bool fleet_params_are_filtered(const char *sql)
{
	struct sql_template_value places[] = { { "range", "", false },
					       { "span", "", false },
					       { "days", "", false } };
	struct buf scratch = { 0 };

	sql_template_put(&scratch, sql, places, 3);
	buf_free(&scratch);
	return places[0].used || places[1].used || places[2].used;
}

static bool has_place(const struct fleet_params *p, const char *name)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (p->values[i].used && !strcmp(p->values[i].name, name))
			return true;
	return false;
}

bool fleet_params_is_used(const struct fleet_params *p, const char *name)
{
	if (has_place(p, name))
		return true;
	for (size_t i = 0; p->has_filters && i < FILTER_CNT; i++)
		if (!strcmp(filters[i].name, name))
			return has_place(p, "range") ||
			       (filters[i].kind != FLEET_PARAM_SERVICE &&
				(has_place(p, "span") || has_place(p, "days")));
	return false;
}

static int add_filters(struct fleet_params *p, const struct query_param *given, size_t given_cnt,
		       struct buf *message)
{
	struct conditions c = { 0 };
	int err = 0;

	for (size_t i = 0; i < FILTER_CNT && !err; i++) {
		const struct query_param v = value_of(&filters[i], given, given_cnt);

		err = put_value(NULL, &filters[i], &v, &c, message);
	}
	add_conditions(p, &c);
	p->has_filters = true;
	return err;
}

int fleet_params_of_sql(struct fleet_params *p, const char *sql, const struct query_param *given,
			size_t given_cnt, struct buf *message)
{
	int err = 0;

	begin(p, given_cnt);
	for (size_t i = 0; i < given_cnt && !err; i++) {
		struct buf literal = { 0 };

		err = put_any(&literal, &given[i], message);
		add(p, given[i].name, &literal);
	}
	if (!err && fleet_params_are_filtered(sql))
		err = add_filters(p, given, given_cnt, message);
	return err;
}

void fleet_params_add(struct fleet_params *p, const char *name, const struct query_value *v)
{
	struct buf literal = { 0 };
	char *text;

	if (v->type == QUERY_INTEGER) {
		buf_printf(&literal, v->integer < 0 ? "(%lld)" : "%lld", (long long)v->integer);
	} else {
		text = xstrndup(v->data ?: "", v->sz);
		clickhouse_put_text(&literal, text);
		free(text);
	}
	add(p, name, &literal);
}

void fleet_params_fini(struct fleet_params *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		free((char *)p->values[i].name);
		free((char *)p->values[i].literal);
	}
	free(p->values);
	free(p->merge);
}
