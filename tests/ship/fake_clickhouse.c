// SPDX-License-Identifier: BSD-2-Clause
/* The fake server. */
#include "tests/ship/fake_clickhouse.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <zlib.h>

#include "base/buf.h"
#include "ship/ship_tables.h"
#include "tests/ship/fake_http.h"
#include "tests/ship/native_rows.h"

#define BATCHES_MAX 4096

struct fake_clickhouse {
	struct fake_opts opts;
	struct fake_http http;
	pthread_mutex_t lock;
	struct fake_batch batches[BATCHES_MAX];
	struct buf blocks[BATCHES_MAX]; /* of these, unpacked */
	size_t batch_cnt;
	unsigned int inserts;
	struct buf seen; /* heads, and statements */
	struct buf bodies; /* of inserts, unpacked */
};

/* ---- inserts ---------------------------------------------------------------------------------- */

static uint64_t read_varint(const unsigned char **at)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		v |= (uint64_t)(**at & 0x7f) << shift;
		if (!(*(*at)++ & 0x80))
			return v;
	}
}

static uint64_t count_rows(const struct buf *body)
{
	unsigned char start[32] = { 0 };
	const unsigned char *at = start;
	z_stream z = { .next_in = (Bytef *)body->data,
		       .avail_in = (uInt)body->len,
		       .next_out = start,
		       .avail_out = sizeof(start) };

	inflateInit2(&z, 15 + 16);
	inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	read_varint(&at);
	return read_varint(&at);
}

static void keep_body(struct fake_clickhouse *f, const struct buf *body)
{
	pthread_mutex_lock(&f->lock);
	fake_http_unpack(body->data, body->len, &f->bodies);
	pthread_mutex_unlock(&f->lock);
}

static void store(struct fake_clickhouse *f, const struct fake_request *r)
{
	struct fake_batch b = { .rows = count_rows(&r->body) };
	const char *token = strstr(r->head.data, "query_id=");
	bool known = false;

	cr_assert(token && strlen(token) > 57);
	cr_assert_eq(sscanf(strstr(r->head.data, "INSERT INTO"), "INSERT INTO `%31[^`]", b.table),
		     1);
	cr_assert_eq(sscanf(token + strlen("query_id=") + 32, "%16" SCNx64, &b.id), 1);
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->batch_cnt && f->opts.tokens; i++)
		known |= f->batches[i].id == b.id;
	if (!known && f->batch_cnt < BATCHES_MAX) {
		fake_http_unpack(r->body.data, r->body.len, &f->blocks[f->batch_cnt]);
		f->batches[f->batch_cnt++] = b;
	}
	pthread_mutex_unlock(&f->lock);
}

static void answer_forever(int fd)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			  piece[] = "400\r\n%01024d\r\n";
	struct buf out = { 0 };

	buf_addstr(&out, head);
	do {
		buf_printf(&out, piece, 0);
		if (send(fd, out.data, out.len, MSG_NOSIGNAL) < 0)
			break;
		buf_clear(&out);
	} while (true);
	buf_free(&out);
}

/* false: the connection is closed. */
static bool take_insert(struct fake_clickhouse *f, int fd, struct fake_request *r)
{
	const enum fake_fault fault =
		f->opts.fault ? f->opts.fault(f->opts.ctx, f->inserts) : FAKE_FINE;

	f->inserts++;
	if (!fake_http_read(fd, &r->body, fault == FAKE_CUT ? r->length / 2 : r->length) ||
	    fault == FAKE_CUT)
		return false;
	keep_body(f, &r->body);
	if (fault == FAKE_FINE || fault == FAKE_EAT || fault == FAKE_PARTIAL ||
	    fault == FAKE_ENDLESS || fault == FAKE_DOUBLE)
		store(f, r);
	switch (fault) {
	case FAKE_SILENT:
		(void)!fake_http_read(fd, &r->body, r->length + 1);
		return false;
	case FAKE_EAT:
	case FAKE_CUT:
		return false;
	case FAKE_PARTIAL:
		(void)!send(fd, "HTTP/1.1 200 OK\r\nCon", 20, MSG_NOSIGNAL);
		return false;
	case FAKE_ENDLESS:
		answer_forever(fd);
		return false;
	case FAKE_ERROR:
		fake_http_answer(fd, "500 Error", "",
				 "Code: 252, e.displayText() = Too many parts");
		break;
	case FAKE_STATUS:
		fake_http_answer(fd, "302 Found", "Location: http://127.0.0.1:1/\r\n", "");
		break;
	case FAKE_HEADER:
		fake_http_answer(fd, "200 OK", "X-ClickHouse-Exception-Code: 241\r\n", "");
		break;
	case FAKE_BODY:
		fake_http_answer(fd, "200 OK", "", "<html>please log in</html>");
		break;
	case FAKE_TABLE:
		fake_http_answer(fd, "404 Not Found", "",
				 "Code: 60. DB::Exception: Table x does not exist");
		break;
	case FAKE_DOUBLE:
		store(f, r);
		/* fall through */
	case FAKE_FINE:
		fake_http_answer(fd, "200 OK", "", "");
		break;
	}
	return true;
}

/* ---- other statements ------------------------------------------------------------------------- */

static void answer_number(int fd, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", n);
	fake_http_answer(fd, "200 OK", "", text);
}

/* Of each table, one column is missing: the program adds it. */
static void answer_columns(int fd, const char *sql)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < SHIP_TABLE_CNT; i++) {
		char table[64];

		snprintf(table, sizeof(table), "table = '%s'", ship_tables[i].name);
		for (size_t k = 1; strstr(sql, table) && k < ship_tables[i].column_cnt; k++)
			buf_printf(&out, "%s\n", ship_tables[i].columns[k].name);
	}
	fake_http_answer(fd, "200 OK", "", buf_cstr(&out));
	buf_free(&out);
}

static uint64_t count_batch(struct fake_clickhouse *f, const char *sql)
{
	const char *batch = strstr(sql, "batch = ");
	uint64_t id = strtoull(batch + strlen("batch = "), NULL, 10), rows = 0;

	for (size_t i = 0; i < f->batch_cnt; i++)
		if (f->batches[i].id == id)
			rows += f->batches[i].rows;
	return rows;
}

static uint64_t count_fact_tables(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < SHIP_TABLE_CNT; i++)
		n += !ship_tables[i].replaces;
	return n;
}

static void run(struct fake_clickhouse *f, int fd, const char *sql)
{
	if (strstr(sql, "version()"))
		fake_http_answer(fd, "200 OK", "", "26.7.1\n");
	else if (strstr(sql, "system.settings"))
		answer_number(fd, f->opts.tokens);
	else if (strstr(sql, "system.tables"))
		answer_number(fd, f->opts.tokens ? count_fact_tables() : 0);
	else if (strstr(sql, "system.processes"))
		answer_number(fd, 0);
	else if (strstr(sql, "system.columns"))
		answer_columns(fd, sql);
	else if (strstr(sql, "batch = "))
		answer_number(fd, count_batch(f, sql));
	else if (f->opts.old && strstr(sql, "SETTINGS"))
		fake_http_answer(fd, "500 Error", "",
				 "Code: 36, e.displayText() = Unknown setting");
	else
		fake_http_answer(fd, "200 OK", "", "");
}

/* ---- life ------------------------------------------------------------------------------------- */

static bool serve(void *ctx, int fd, struct fake_request *r)
{
	struct fake_clickhouse *f = ctx;
	bool more;

	pthread_mutex_lock(&f->lock);
	buf_add(&f->seen, r->head.data, r->head.len);
	pthread_mutex_unlock(&f->lock);
	if (strstr(r->head.data, "query=INSERT"))
		return take_insert(f, fd, r);
	more = fake_http_read(fd, &r->body, r->length);
	pthread_mutex_lock(&f->lock);
	buf_add(&f->seen, r->body.data, r->body.len);
	pthread_mutex_unlock(&f->lock);
	if (more)
		run(f, fd, buf_cstr(&r->body));
	return more;
}

struct fake_clickhouse *fake_start(const struct fake_opts *opts)
{
	struct fake_clickhouse *f = calloc(1, sizeof(*f));

	f->opts = *opts;
	pthread_mutex_init(&f->lock, NULL);
	fake_http_start(&f->http, serve, f);
	return f;
}

void fake_stop(struct fake_clickhouse *f)
{
	fake_http_stop(&f->http);
}

void fake_free(struct fake_clickhouse *f)
{
	fake_stop(f);
	for (size_t i = 0; i < f->batch_cnt; i++)
		buf_free(&f->blocks[i]);
	buf_free(&f->seen);
	buf_free(&f->bodies);
	free(f);
}

unsigned int fake_port(const struct fake_clickhouse *f)
{
	return f->http.port;
}

void fake_put_rows(struct fake_clickhouse *f, const char *table, const char *columns,
		   struct buf *csv)
{
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->batch_cnt; i++)
		if (!strcmp(f->batches[i].table, table))
			native_rows_put(csv, &f->blocks[i], columns);
	pthread_mutex_unlock(&f->lock);
}

size_t fake_first(struct fake_clickhouse *f, const char *table)
{
	size_t i = 0;

	pthread_mutex_lock(&f->lock);
	while (i < f->batch_cnt && strcmp(f->batches[i].table, table) != 0)
		i++;
	pthread_mutex_unlock(&f->lock);
	return i;
}

uint64_t fake_rows(struct fake_clickhouse *f, const char *table)
{
	uint64_t rows = 0;

	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->batch_cnt; i++)
		if (!strcmp(f->batches[i].table, table))
			rows += f->batches[i].rows;
	pthread_mutex_unlock(&f->lock);
	return rows;
}

unsigned int fake_inserts(struct fake_clickhouse *f)
{
	return f->inserts;
}

static bool has_text(struct fake_clickhouse *f, const struct buf *b, const char *text)
{
	bool found;

	pthread_mutex_lock(&f->lock);
	found = b->len && memmem(b->data, b->len, text, strlen(text));
	pthread_mutex_unlock(&f->lock);
	return found;
}

bool fake_saw(struct fake_clickhouse *f, const char *text)
{
	return has_text(f, &f->seen, text);
}

bool fake_got(struct fake_clickhouse *f, const char *text)
{
	return fake_saw(f, text) || has_text(f, &f->bodies, text);
}
