// SPDX-License-Identifier: BSD-2-Clause
/*
 * One trace to the server. Owns the order: stacks and frames before the rows that name them, the ledger last. Rows come from
 * `query`, so that sums at the server equal the sums of `query`.
 */
#include "ship/ship_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "profile/sums/content_ids.h"
#include "query/query.h"
#include "ship/batch_writer.h"
#include "ship/known_stacks.h"
#include "ship/stack_rows.h"

/* Of the start and the end of a file, for its id. */
#define ID_BYTES (64u << 10)

/* For sorting in SQLite; the tables have no other rows there. */
#define QUERY_MEMORY (48ULL << 20)

/* A batch at the server, for the ledger. */
struct sent {
	const struct ship_table *table;
	uint64_t day, id, rows, seen;
};

struct shipment {
	const struct ship_file_opts *opts;
	const char *path;
	int fd;
	uint64_t id[2];
	struct query *query;
	char *host; /* of all rows; NULL: several */
	uint64_t first_day, last_day;
	struct known_stacks stacks;
	const struct ship_table *table; /* whose rows are read */
	struct batch_writer *writer;
	struct sent *sent;
	size_t sent_cnt, sent_cap;
};

/* ---- the file --------------------------------------------------------------------------------- */

static int hash_piece(int fd, off_t at, uint64_t id[2])
{
	char *bytes = xmalloc(ID_BYTES);
	const ssize_t n = pread(fd, bytes, ID_BYTES, at);
	const int err = n < 0 ? -errno : 0;

	if (n > 0) {
		id[0] = content_ids_hash(id[0], bytes, (size_t)n);
		/* a second one, over the first one's results */
		for (ssize_t i = 0; i < n; i += 64) {
			const size_t sz = n - i < 64 ? (size_t)(n - i) : 64;
			const uint64_t word =
				content_ids_hash(CONTENT_IDS_HASH ^ id[1], bytes + i, sz);

			id[1] = content_ids_hash(id[1], &word, sizeof(word));
		}
	}
	free(bytes);
	return err;
}

int ship_file_id(int fd, uint64_t id[2])
{
	struct stat st;
	uint64_t sz;
	int err;

	if (fstat(fd, &st))
		return -errno;
	sz = (uint64_t)st.st_size;
	id[0] = content_ids_hash(CONTENT_IDS_HASH, &sz, sizeof(sz));
	id[1] = ~id[0];
	err = hash_piece(fd, 0, id);
	return err || sz <= ID_BYTES ? err : hash_piece(fd, (off_t)(sz - ID_BYTES), id);
}

static int open_again(void *ctx, struct source **out)
{
	const struct shipment *s = ctx;
	const int fd = file_reopen(s->fd);

	if (fd < 0) {
		log_error("ship: cannot read %s again: %s", s->path, strerror(-fd));
		return fd;
	}
	return source_open_fd(fd, s->path, out);
}

static int open_query(struct shipment *s)
{
	const struct query_opts opts = { QUERY_MEMORY, s->opts->stop };
	struct source *src;
	struct reader *r;
	int err = query_new(&opts, &s->query);

	if (err)
		return err;
	err = open_again(s, &src);
	if (!err)
		err = reader_new(src, READER_ONE_PASS, &r);
	if (!err)
		err = query_add(s->query, r, &(struct trace_input_again){ open_again, s });
	return err ?: query_prepare(s->query);
}

/* The host of all recordings in the file, as rows have it; NULL: there are several. */
static char *host_of(const struct trace_inputs *all, const struct anonymizer *a)
{
	const struct trace_input_part *parts = all->v[0]->parts;
	struct buf host = { 0 };

	for (size_t i = 1; i < all->v[0]->part_cnt; i++)
		if (!parts[i].host != !parts[0].host ||
		    (parts[0].host && strcmp(parts[i].host, parts[0].host) != 0))
			return NULL;
	if (parts[0].host)
		anonymizer_put(a, ANONYMIZER_PRIVATE, parts[0].host, parts[0].host_len, &host);
	return buf_steal(&host);
}

/* ---- batches ---------------------------------------------------------------------------------- */

static void save(int err, const char *path)
{
	if (err)
		log_warn("ship: cannot write the state in the directory of %s: %s; after a crash "
			 "batches are asked for at the server",
			 path, strerror(-err));
}

static int send_batch(void *ctx, const struct batch_writer_batch *b)
{
	struct shipment *s = ctx;
	const struct ship_file_opts *o = s->opts;
	const struct sender_batch batch = {
		.table = b->table,
		.block = b->block,
		.day = b->day,
		.host = s->host,
		.file = { s->id[0], s->id[1] },
		.id = b->id,
		.may_be_there = o->may_be_there,
	};
	int err = 0;

	if (!ship_state_is_acked(o->state, s->id, b->id)) {
		err = sender_insert(o->sender, &batch);
		if (err)
			return err;
		save(ship_state_ack(o->state, s->id, b->id), s->path);
	}
	o->counts->batches++;
	o->counts->rows += b->block->rows;
	if (b->table->replaces)
		return 0;
	s->sent = array_reserve(s->sent, &s->sent_cap, s->sent_cnt + 1, sizeof(*s->sent));
	s->sent[s->sent_cnt++] =
		(struct sent){ b->table, b->day, b->id, b->block->rows, b->block->rows };
	return 0;
}

static struct batch_writer *new_writer(struct shipment *s, enum ship_table_id table)
{
	return batch_writer_new(&(struct batch_writer_opts){
		.table = &ship_tables[table],
		.file = { s->id[0], s->id[1] },
		.labels = s->opts->labels,
		.label_cnt = s->opts->label_cnt,
		.put = send_batch,
		.ctx = s,
	});
}

static uint64_t day_of(const struct query_value *wall)
{
	return wall->type == QUERY_INTEGER ? ship_tables_day(wall->integer) : 0;
}

/* ---- rows of tables --------------------------------------------------------------------------- */

static const struct known_stack *find_stack(struct shipment *s, const struct query_value *v)
{
	static const struct known_stack none;
	const struct known_stack *found = NULL;

	if (v->type == QUERY_INTEGER)
		found = known_stacks_get(&s->stacks, query_traces(s->query), v->integer);
	return found ?: &none;
}

static void put_build(struct shipment *s, struct native_block *b, size_t column, uint32_t module)
{
	const struct names_module *m = names_module(query_traces(s->query)->v[0]->names, module);
	struct buf text = { 0 };

	if (module)
		str_hex(&text, m->build_id, m->build_id_sz);
	native_block_put_text(b, column, buf_cstr(&text), text.len);
	buf_free(&text);
}

/* Text of a trace need not be UTF-8; a server takes any bytes, and its clients may not. */
static void put_text(const struct shipment *s, struct native_block *b, size_t column,
		     const struct query_value *v)
{
	const struct anonymizer *a = s->opts->anonymizer;
	const enum anonymizer_text kind = s->table->columns[column].text;
	struct buf text = { 0 };

	if (v->type != QUERY_TEXT) {
		native_block_put_text(b, column, "", 0);
		return;
	}
	if ((!a || kind == ANONYMIZER_PUBLIC) && str_is_plain(v->data, v->sz)) {
		native_block_put_text(b, column, v->data, v->sz);
		return;
	}
	anonymizer_put(a, kind, v->data, v->sz, &text);
	native_block_put_text(b, column, buf_cstr(&text), text.len);
	buf_free(&text);
}

static int add_row(void *ctx, const struct query_value *values, size_t cnt)
{
	struct shipment *s = ctx;
	struct native_block *b;
	int err = batch_writer_row(s->writer, day_of(values), &b);

	if (err)
		return err;
	for (size_t i = 0; i < s->table->column_cnt; i++) {
		const struct ship_column *c = &s->table->columns[i];

		if (!c->sql)
			continue;
		values++;
		if (c->value == SHIP_STACK)
			native_block_put(b, i,
					 anonymizer_id(s->opts->anonymizer,
						       find_stack(s, values)->id));
		else if (c->value == SHIP_BUILD)
			put_build(s, b, i, find_stack(s, values)->program);
		else if (c->type == NATIVE_TEXT)
			put_text(s, b, i, values);
		else
			native_block_put(b, i,
					 values->type == QUERY_INTEGER ? (uint64_t)values->integer :
									 (uint64_t)c->none);
	}
	return batch_writer_end_row(s->writer);
}

static int begin_rows(void *ctx, const char *const *columns, size_t cnt)
{
	return 0;
}

static int run(struct shipment *s, const char *sql,
	       int (*row)(void *ctx, const struct query_value *values, size_t cnt))
{
	const struct query_statement statement = {
		.sql = sql, .begin = begin_rows, .row = row, .ctx = s
	};
	int err = query_run(s->query, &statement);

	if (err == -EINVAL || err == -ENOMEM) {
		log_error("ship: %s: %s", s->path, query_error(s->query));
		return -EBADMSG;
	}
	return err;
}

static int send_table(struct shipment *s, enum ship_table_id id)
{
	struct buf sql = { 0 };
	int err;

	s->table = &ship_tables[id];
	s->writer = new_writer(s, id);
	ship_tables_put_select(&sql, s->table);
	err = run(s, buf_cstr(&sql), add_row);
	if (!err)
		err = batch_writer_end(s->writer);
	batch_writer_free(s->writer);
	s->writer = NULL;
	buf_free(&sql);
	return err;
}

/* ---- stacks ----------------------------------------------------------------------------------- */

static int ignore_row(void *ctx, const struct query_value *values, size_t cnt)
{
	return 0;
}

static int read_days(void *ctx, const struct query_value *values, size_t cnt)
{
	struct shipment *s = ctx;

	s->first_day = day_of(&values[0]);
	s->last_day = day_of(&values[1]);
	return 0;
}

/* Reading the columns makes `query` number the stacks, which are all known afterwards. */
static int find_stacks(struct shipment *s)
{
	int err = run(s, "SELECT max(stack), max(waker_stack) FROM slices", ignore_row);

	return err ?: run(s, "SELECT max(stack) FROM samples WHERE source <> 'switch'", ignore_row);
}

static int send_stacks(struct shipment *s)
{
	struct batch_writer *stacks, *frames;
	int err = find_stacks(s);

	err = err ?: run(s, "SELECT min(first_wall), max(last_wall) FROM traces", read_days);
	if (err)
		return err;
	stacks = new_writer(s, SHIP_STACKS);
	frames = new_writer(s, SHIP_FRAMES);
	err = stack_rows_put(&(struct stack_rows){ query_traces(s->query)->v[0], &s->stacks.ids,
						   &s->opts->seen->rows, stacks, frames,
						   s->opts->anonymizer },
			     s->first_day, s->last_day);
	if (!err)
		err = batch_writer_end(frames);
	if (!err)
		err = batch_writer_end(stacks);
	batch_writer_free(stacks);
	batch_writer_free(frames);
	return err;
}

/* ---- the ledger ------------------------------------------------------------------------------- */

/* Counts each batch at the server. */
static int audit(struct shipment *s)
{
	struct ship_counts *counts = s->opts->counts;
	int err = 0;

	for (size_t i = 0; i < s->sent_cnt && !err; i++) {
		struct sent *sent = &s->sent[i];
		const struct sender_batch batch = {
			.table = sent->table, .day = sent->day, .host = s->host, .id = sent->id
		};

		err = sender_count(s->opts->sender, &batch, &sent->seen);
		if (err || sent->seen == sent->rows)
			continue;
		log_warn("ship: %s: table %s has %" PRIu64 " rows of batch %" PRIu64 ", sent were "
			 "%" PRIu64,
			 s->path, sent->table->name, sent->seen, sent->id, sent->rows);
		if (sent->seen > sent->rows)
			counts->doubled += sent->seen - sent->rows;
		else
			counts->missing += sent->rows - sent->seen;
	}
	return err;
}

static int send_ledger(struct shipment *s)
{
	const size_t cnt = s->sent_cnt;
	struct batch_writer *w = new_writer(s, SHIP_LEDGER);
	const char *host = s->host ?: "";
	struct native_block *b;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct sent *sent = &s->sent[i];

		err = batch_writer_row(w, sent->day, &b);
		if (err)
			break;
		native_block_put_text(b, SHIP_LEDGER_HOST, host, strlen(host));
		native_block_put_text(b, SHIP_LEDGER_TABLE, sent->table->name,
				      strlen(sent->table->name));
		native_block_put(b, SHIP_LEDGER_BATCH, sent->id);
		native_block_put(b, SHIP_LEDGER_ROWS, sent->rows);
		native_block_put(b, SHIP_LEDGER_SEEN, sent->seen);
		err = batch_writer_end_row(w);
	}
	if (!err)
		err = batch_writer_end(w);
	batch_writer_free(w);
	return err;
}

/* What this machine lacks is not the file's fault. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOSPC;
}

int ship_file_send(const struct ship_file_opts *opts, int fd, const char *path,
		   const uint64_t id[2])
{
	static const enum ship_table_id rows[] = { SHIP_TASKS,	 SHIP_TRACES, SHIP_LOST,
						   SHIP_SAMPLES, SHIP_SLICES, SHIP_SPANS,
						   SHIP_WAITS,	 SHIP_OFFCPU, SHIP_CPU };
	struct shipment s = { .opts = opts, .path = path, .fd = fd, .id = { id[0], id[1] } };
	bool damaged = false, torn = false;
	int err = open_query(&s);

	if (err && err != -EINTR && !is_shortage(err))
		err = -EBADMSG;
	if (!err) {
		damaged = query_traces(s.query)->v[0]->damaged;
		torn = query_traces(s.query)->v[0]->torn;
		s.host = host_of(query_traces(s.query), opts->anonymizer);
		err = send_stacks(&s);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		err = send_table(&s, rows[i]);
	if (!err)
		err = audit(&s);
	if (!err)
		err = send_ledger(&s);
	if (!err) {
		save(ship_state_done(opts->state, id), path);
		opts->counts->files++;
		opts->counts->torn += torn;
		if (torn)
			log_warn("ship: the end of %s is missing: what is readable was shipped",
				 path);
	}
	query_free(s.query);
	known_stacks_fini(&s.stacks);
	free(s.host);
	free(s.sent);
	return err ?: damaged ? -EBADMSG : 0;
}
