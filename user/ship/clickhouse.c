// SPDX-License-Identifier: BSD-2-Clause
/*
 * Statements for a ClickHouse server. Owns which answers are a success, which an error that passes, and what the server
 * supports. An insert succeeded only if status, header and body all say so: servers report errors in any of them.
 */
#include "ship/clickhouse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* Of an error's text in messages. */
#define ERROR_MAX 300

struct clickhouse {
	struct http_client *http;
	char *database;
	struct buf error;
	int error_code;
	struct buf version;
	bool has_token_setting; /* inserts may have a token */
	bool has_tokens; /* and the tables remember it */
	bool lacks_ttl;
	bool has_fixed_settings; /* the user cannot change them */
};

int clickhouse_new(const struct clickhouse_opts *opts, struct clickhouse **out)
{
	const struct http_client_opts http = {
		.base = opts->url->base,
		.user = opts->url->user,
		.password = opts->password,
		.ca_file = opts->ca_file,
		.timeout_ns = opts->timeout_ns,
		.body_max = opts->answer_max,
		.stop = opts->stop,
		.gives_up = opts->gives_up,
		.ctx = opts->ctx,
	};
	struct clickhouse *c = xcalloc(1, sizeof(*c));
	int err = http_client_new(&http, &c->http);

	if (err) {
		free(c);
		return err;
	}
	c->database = xstrdup(*opts->url->path ? opts->url->path : "default");
	*out = c;
	return 0;
}

void clickhouse_free(struct clickhouse *c)
{
	if (!c)
		return;
	http_client_free(c->http);
	free(c->database);
	buf_free(&c->error);
	buf_free(&c->version);
	free(c);
}

const char *clickhouse_error(struct clickhouse *c)
{
	return buf_cstr(&c->error);
}

bool clickhouse_lacks_ttl(const struct clickhouse *c)
{
	return c->lacks_ttl;
}

int clickhouse_error_code(const struct clickhouse *c)
{
	return c->error_code;
}

bool clickhouse_has_tokens(const struct clickhouse *c)
{
	return c->has_tokens;
}

const char *clickhouse_version(const struct clickhouse *c)
{
	return c->version.len ? c->version.data : "unknown";
}

void clickhouse_put_text(struct buf *out, const char *s)
{
	buf_addch(out, '\'');
	for (; *s; s++) {
		const unsigned char c = (unsigned char)*s;

		if (c == '\'' || c == '\\')
			buf_addch(out, '\\');
		if (c < ' ' || c == 0x7f)
			buf_printf(out, "\\x%02X", c);
		else
			buf_addch(out, *s);
	}
	buf_addch(out, '\'');
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* The number in "Code: 60, e.displayText() = ...", which old servers have in the text only; 0: none. */
static int code_of(const struct http_answer *a)
{
	static const char word[] = "Code: ";
	const char *at;

	if (a->exception)
		return a->exception;
	at = a->body.len ? strstr(a->body.data, word) : NULL;
	return at ? (int)strtol(at + sizeof(word) - 1, NULL, 10) : 0;
}

/* Errors that do not pass by waiting: statements, types, names and rights. */
static bool is_lasting(int code)
{
	static const int codes[] = { 16,  36,  44,  46,	 47,  50,  53,	60,  62, 81,
				     115, 192, 193, 194, 291, 368, 492, 497, 516 };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* The first line of a body, printable. */
static void put_body(struct buf *out, const struct buf *body)
{
	size_t len = strcspn(body->len ? body->data : "", "\r\n");

	if (len > ERROR_MAX)
		len = ERROR_MAX;
	str_printable(out, body->data ?: "", len);
}

static enum clickhouse_result judge(struct clickhouse *c, const struct http_answer *a,
				    bool wants_body)
{
	const int code = c->error_code = code_of(a);
	const bool passes = a->status >= 500 || a->status == 408 || a->status == 429;

	buf_clear(&c->error);
	if (a->err == -EINTR) {
		buf_addstr(&c->error, "stopped");
		return CLICKHOUSE_STOPPED;
	}
	if (a->err) {
		buf_add(&c->error, a->error.data, a->error.len);
		return a->sent ? CLICKHOUSE_UNSURE : CLICKHOUSE_AGAIN;
	}
	if (a->status == 200 && !a->exception && (wants_body || !a->body.len))
		return CLICKHOUSE_OK;
	if (a->status == 200 && !a->exception)
		buf_addstr(&c->error, "the answer is not one of ClickHouse: ");
	else
		buf_printf(&c->error, "status %ld: ", a->status);
	put_body(&c->error, &a->body);
	if (is_lasting(code))
		return CLICKHOUSE_REFUSED;
	return passes || a->status == 200 ? CLICKHOUSE_UNSURE : CLICKHOUSE_REFUSED;
}

/* Runs a statement. @out NULL: it has no rows. */
static enum clickhouse_result run(struct clickhouse *c, const char *sql, struct buf *out)
{
	const struct http_param params[] = { { "database", c->database } };
	const struct buf body = { .data = (char *)sql, .len = strlen(sql) };
	enum clickhouse_result result;
	struct http_answer a;

	http_client_post(c->http, params, 1, &body, false, &a);
	result = judge(c, &a, out != NULL);
	if (out) {
		buf_clear(out);
		buf_add(out, a.body.data, a.body.len);
		while (out->len && out->data[out->len - 1] == '\n')
			out->data[--out->len] = '\0';
	}
	http_answer_fini(&a);
	return result;
}

/* A number is the only answer that counts as one. */
static enum clickhouse_result run_number(struct clickhouse *c, const char *sql, uint64_t *out)
{
	struct buf text = { 0 };
	enum clickhouse_result result = run(c, sql, &text);

	if (result == CLICKHOUSE_OK && str_parse_u64(buf_cstr(&text), UINT64_MAX, out)) {
		buf_clear(&c->error);
		buf_addstr(&c->error, "the answer is not one of ClickHouse: ");
		put_body(&c->error, &text);
		result = CLICKHOUSE_UNSURE;
	}
	buf_free(&text);
	return result;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static enum clickhouse_result create(struct clickhouse *c, const struct ship_table *t,
				     const struct ship_ttl *ttl)
{
	struct buf sql = { 0 };
	enum clickhouse_result result;

	ship_tables_put_create(&sql, t, true, ttl);
	result = run(c, buf_cstr(&sql), NULL);
	if (result == CLICKHOUSE_REFUSED) {
		/* as an older server understands it */
		buf_clear(&sql);
		ship_tables_put_create(&sql, t, false, ttl);
		c->lacks_ttl |= ship_tables_ttl(t, ttl) > 0;
		result = run(c, buf_cstr(&sql), NULL);
	}
	buf_free(&sql);
	return result;
}

static bool has_line(const struct buf *text, const char *line)
{
	const size_t len = strlen(line);

	for (const char *at = text->data; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (!strncmp(at, line, len) && (at[len] == '\n' || !at[len]))
			return true;
	return false;
}

/* An older program made the table. */
static enum clickhouse_result add_columns(struct clickhouse *c, const struct ship_table *t)
{
	struct buf sql = { 0 }, names = { 0 };
	enum clickhouse_result result;

	buf_addstr(&sql, "SELECT name FROM system.columns WHERE database = ");
	clickhouse_put_text(&sql, c->database);
	buf_printf(&sql, " AND table = '%s' FORMAT TabSeparated", t->name);
	result = run(c, buf_cstr(&sql), &names);
	for (size_t i = 0; i < t->column_cnt && result == CLICKHOUSE_OK; i++) {
		if (has_line(&names, t->columns[i].name))
			continue;
		buf_clear(&sql);
		ship_tables_put_alter(&sql, t, &t->columns[i]);
		result = run(c, buf_cstr(&sql), NULL);
	}
	buf_free(&sql);
	buf_free(&names);
	return result;
}

/* Appends the names of tables whose batches must not come twice: their number. */
static uint64_t put_fact_tables(struct buf *sql)
{
	uint64_t n = 0;

	for (size_t i = 0; i < SHIP_TABLE_CNT; i++)
		if (!ship_tables[i].replaces)
			buf_printf(sql, "%s'%s'", n++ ? ", " : "", ship_tables[i].name);
	return n;
}

/* Old servers have neither the setting nor the column engine_full. */
static enum clickhouse_result find_tokens(struct clickhouse *c)
{
	enum clickhouse_result result;
	struct buf sql = { 0 };
	uint64_t n = 0, wanted;

	c->has_tokens = c->has_token_setting = false;
	result = run_number(
		c, "SELECT count() FROM system.settings WHERE name = 'insert_deduplication_token'",
		&n);
	if (result != CLICKHOUSE_OK || !n)
		return result;
	c->has_token_setting = true;
	buf_addstr(&sql, "SELECT count() FROM system.tables WHERE database = ");
	clickhouse_put_text(&sql, c->database);
	buf_addstr(&sql, " AND name IN (");
	wanted = put_fact_tables(&sql);
	buf_addstr(&sql, ") AND (engine LIKE 'Replicated%' OR"
			 " engine_full LIKE '%non_replicated_deduplication_window%')");
	result = run_number(c, buf_cstr(&sql), &n);
	c->has_tokens = result == CLICKHOUSE_OK && n == wanted;
	buf_free(&sql);
	return result;
}

enum clickhouse_result clickhouse_prepare(struct clickhouse *c, const struct ship_ttl *ttl)
{
	enum clickhouse_result result = run(c, "SELECT version()", &c->version);

	for (size_t i = 0; i < SHIP_TABLE_CNT && result == CLICKHOUSE_OK; i++) {
		result = create(c, &ship_tables[i], ttl);
		if (result == CLICKHOUSE_OK)
			result = add_columns(c, &ship_tables[i]);
	}
	return result == CLICKHOUSE_OK ? find_tokens(c) : result;
}

/* ---- rows ------------------------------------------------------------------------------------- */

enum clickhouse_result clickhouse_insert(struct clickhouse *c, const struct ship_table *t,
					 const char *token, const struct buf *body)
{
	struct http_param params[] = {
		{ "database", c->database },
		{ "query", NULL },
		{ "query_id", token },
		{ "insert_deduplication_token", token },
	};
	struct buf sql = { 0 };
	enum clickhouse_result result;
	struct http_answer a;

	ship_tables_put_insert(&sql, t);
	params[1].value = buf_cstr(&sql);
	http_client_post(c->http, params, c->has_token_setting ? 4 : 3, body, true, &a);
	result = judge(c, &a, false);
	http_answer_fini(&a);
	buf_free(&sql);
	return result;
}

enum clickhouse_result clickhouse_count(struct clickhouse *c, const struct ship_table *t,
					uint64_t day, const char *host, uint64_t batch,
					uint64_t *rows)
{
	struct buf sql = { 0 };
	enum clickhouse_result result;

	buf_printf(&sql, "SELECT count() FROM `%s` WHERE day = toDate(%" PRIu64 ")", t->name, day);
	if (host) {
		buf_addstr(&sql, " AND host = ");
		clickhouse_put_text(&sql, host);
	}
	buf_printf(&sql, " AND batch = %" PRIu64, batch);
	result = run_number(c, buf_cstr(&sql), rows);
	buf_free(&sql);
	return result;
}

enum clickhouse_result clickhouse_is_running(struct clickhouse *c, const char *token, bool *running)
{
	struct buf sql = { 0 };
	enum clickhouse_result result;
	uint64_t n = 0;

	buf_printf(&sql, "SELECT count() FROM system.processes WHERE query_id = '%s'", token);
	result = run_number(c, buf_cstr(&sql), &n);
	*running = n > 0;
	buf_free(&sql);
	return result;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* "Cannot modify a setting in readonly mode" */
#define CODE_READONLY 164

/* The server sends nothing before it has all of it: an error in the middle would look like rows. */
static enum clickhouse_result select_with(struct clickhouse *c, const char *sql, const char *format,
					  const char *skip, struct buf *out)
{
	const struct http_param params[] = {
		{ "database", c->database },  { "default_format", format },
		{ "wait_end_of_query", "1" }, { "skip_unavailable_shards", skip },
		{ "readonly", "2" },
	};
	const struct buf body = { .data = (char *)sql, .len = strlen(sql) };
	enum clickhouse_result result;
	struct http_answer a;

	http_client_post(c->http, params, skip ? 5 : 3, &body, false, &a);
	result = judge(c, &a, true);
	if (a.err == -EMSGSIZE) {
		buf_addstr(&c->error, "; use LIMIT, or a larger --mem-max");
		result = CLICKHOUSE_REFUSED;
	}
	buf_free(out);
	*out = a.body;
	a.body = (struct buf){ 0 };
	http_answer_fini(&a);
	return result;
}

enum clickhouse_result clickhouse_select(struct clickhouse *c, const char *sql, const char *format,
					 bool skip_shards, struct buf *out, bool *may_skip)
{
	enum clickhouse_result result = CLICKHOUSE_REFUSED;
	uint64_t skips = 0;

	*may_skip = false;
	if (!c->has_fixed_settings) {
		result = select_with(c, sql, format, skip_shards ? "1" : "0", out);
		if (result == CLICKHOUSE_OK || c->error_code != CODE_READONLY)
			return result;
		/* of a user who may not change settings, or of a statement that writes */
		result = select_with(c, "SELECT 1", format, "0", out);
		if (result == CLICKHOUSE_OK || c->error_code != CODE_READONLY) {
			buf_clear(&c->error);
			buf_addstr(&c->error, "the statement does not only read");
			c->error_code = CODE_READONLY;
			return CLICKHOUSE_REFUSED;
		}
		c->has_fixed_settings = true;
	}
	result = select_with(c, sql, format, NULL, out);
	if (result == CLICKHOUSE_OK)
		result = run_number(c,
				    "SELECT count() FROM system.settings WHERE"
				    " name = 'skip_unavailable_shards' AND value = '1'",
				    &skips);
	*may_skip = skips > 0;
	return result;
}
