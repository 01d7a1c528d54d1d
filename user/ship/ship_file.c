// SPDX-License-Identifier: BSD-2-Clause
/*
 * One trace to the server. Owns the order: stacks and frames before the rows that name them, the ledger last. Rows come
 * from the tables of `query`, so that sums at the server equal the sums of `query`; one pass yields all of them.
 */
#include "ship/ship_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "profile/sums/content_ids.h"
#include "query/event_tables.h"
#include "query/memory_tables.h"
#include "query/sample_rows.h"
#include "query/scan_pass.h"
#include "query/slice_rows.h"
#include "query/span_rows.h"
#include "ship/batch_writer.h"
#include "ship/rollup.h"
#include "ship/stack_rows.h"

/* A batch at the server, for the ledger. */
struct sent {
	const struct ship_table *table;
	uint64_t day, id, rows, seen;
};

/* Tables of `query` that are read from events. */
enum { LOST, SAMPLES, SLICES, SPANS, EVENTS, SCAN_CNT };

/* A table of the server that gets its rows from one of them. */
struct feed {
	struct source_plan plan;
	size_t scan;
	struct batch_writer *writer;
	struct rollup *rollup; /* NULL: a row for each row */
};

/* In the order in which they end. */
static const enum ship_table_id fed[] = { SHIP_LOST,  SHIP_SAMPLES, SHIP_SLICES, SHIP_SPANS,
					  SHIP_WAITS, SHIP_OFFCPU,  SHIP_CPU,	 SHIP_EVENTS };
#define FEED_CNT (sizeof(fed) / sizeof(fed[0]))

struct shipment {
	const struct ship_file_opts *opts;
	struct trace_file file;
	uint64_t id[2];
	uint64_t first_day, last_day;
	struct packer *packer;
	struct row_values *values;
	struct scan_table tables[SCAN_CNT];
	struct scan scans[SCAN_CNT];
	struct feed feeds[FEED_CNT];
	size_t feed_cnt, scan_cnt; /* without events: of all but the last one */
	struct batch_writer *stacks, *frames;
	uint32_t stack_cnt; /* of these were put */
	struct sent *sent;
	size_t sent_cnt, sent_cap;
};

static struct trace_input *trace_of(const struct shipment *s)
{
	return s->file.trace;
}

/* ---- batches ---------------------------------------------------------------------------------- */

static void save(int err, const char *path)
{
	if (err)
		log_warn("ship: cannot write the state in the directory of %s: %s; after a crash "
			 "batches are asked for at the server",
			 path, strerror(-err));
}

static int send_stacks(struct shipment *s);

/*
 * What a process sent before decides which stacks and frames a batch has: one of an earlier process has others. Sent twice
 * they replace each other.
 */
static bool depends_on_seen(const struct ship_table *t)
{
	return t == &ship_tables[SHIP_STACKS] || t == &ship_tables[SHIP_FRAMES];
}

static int send_batch(void *ctx, const struct batch_writer_batch *b)
{
	struct shipment *s = ctx;
	const struct ship_file_opts *o = s->opts;
	const struct sender_batch batch = {
		.table = b->table,
		.block = b->block,
		.day = b->day,
		.host = s->file.host,
		.file = { s->id[0], s->id[1] },
		.id = b->id,
		.may_be_there = o->may_be_there,
	};
	const bool acks = !depends_on_seen(b->table);
	int err = b->table->replaces ? 0 : send_stacks(s);

	if (!err && !(acks && ship_state_is_acked(o->state, s->id, b->id))) {
		err = sender_insert(o->sender, &batch);
		if (err)
			return err;
		if (acks)
			save(ship_state_ack(o->state, s->id, b->id), s->file.path);
	}
	if (err)
		return err;
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
	const bool own = !depends_on_seen(&ship_tables[table]);

	return batch_writer_new(&(struct batch_writer_opts){
		.table = &ship_tables[table],
		.packer = s->packer,
		.file = { s->id[0], s->id[1] },
		.number = own ? NULL : &s->opts->seen->number,
		.labels = s->opts->labels,
		.label_cnt = s->opts->label_cnt,
		.put = send_batch,
		.ctx = s,
	});
}

/* The stacks that rows name so far, and their frames. */
static int send_stacks(struct shipment *s)
{
	const struct stack_rows rows = {
		&s->file.traces, trace_of(s), row_values_stacks(s->values), &s->opts->seen->rows,
		s->stacks,	 s->frames,   s->opts->anonymizer
	};
	int err = stack_rows_put(&rows, s->stack_cnt, s->first_day, s->last_day);

	s->stack_cnt = (uint32_t)trace_of(s)->stacks.cnt;
	if (!err)
		err = batch_writer_end(s->frames);
	return err ?: batch_writer_end(s->stacks);
}

/* ---- rows of tables --------------------------------------------------------------------------- */

static int put_row(struct shipment *s, const struct source_plan *plan, struct batch_writer *w,
		   const struct source_row *row)
{
	const struct ship_table *t = plan->table;
	uint64_t day = s->first_day;
	struct native_block *b;
	struct query_value v;
	int err;

	if (t->wall) {
		row->value(row->of, plan->wall, &v);
		day = v.type == QUERY_INTEGER ? ship_tables_day(v.integer) : 0;
	}
	err = batch_writer_row(w, day, &b);
	if (err)
		return err;
	for (size_t i = 0; i < t->column_cnt; i++) {
		if (!t->columns[i].from)
			continue;
		row->value(row->of, plan->columns[i], &v);
		row_values_put(s->values, b, i, &t->columns[i], &v);
	}
	return batch_writer_end_row(w);
}

/* ---- tables in memory ------------------------------------------------------------------------- */

struct memory_row {
	const struct memory_table *table;
	struct trace_input *in;
	size_t row;
};

static void memory_value(void *of, size_t column, struct query_value *out)
{
	const struct memory_row *m = of;

	*out = (struct query_value){ .type = QUERY_NULL };
	m->table->column(m->in, m->row, column, out);
}

static int send_list(struct shipment *s, enum ship_table_id id, const struct memory_table *from)
{
	struct memory_row at = { from, trace_of(s), 0 };
	const struct source_row row = { memory_value, &at };
	struct batch_writer *w = new_writer(s, id);
	struct source_plan plan;
	int err = source_plan_init(&plan, &ship_tables[id], from->columns, from->column_cnt);

	for (; at.row < from->count(at.in) && !err; at.row++)
		err = put_row(s, &plan, w, &row);
	if (!err)
		err = batch_writer_end(w);
	source_plan_fini(&plan);
	batch_writer_free(w);
	return err;
}

static int send_lists(struct shipment *s)
{
	const struct memory_table tasks = memory_tables_tasks(&s->file.traces);
	const struct memory_table traces = memory_tables_traces(&s->file.traces);
	const int err = send_list(s, SHIP_TASKS, &tasks);

	return err ?: send_list(s, SHIP_TRACES, &traces);
}

/* ---- tables of events ------------------------------------------------------------------------- */

static void event_value(void *of, size_t column, struct query_value *out)
{
	scan_value(of, column, out);
}

static int add_row(void *ctx, struct scan *scan)
{
	struct shipment *s = ctx;
	const struct source_row row = { event_value, scan };
	int err = 0;

	for (size_t i = 0; i < s->feed_cnt && !err; i++) {
		struct feed *f = &s->feeds[i];

		if (&s->scans[f->scan] != scan || !source_plan_wants(&f->plan, &row))
			continue;
		err = f->rollup ? rollup_add(f->rollup, &row) :
				  put_row(s, &f->plan, f->writer, &row);
	}
	return err;
}

static int begin_feed(struct shipment *s, struct feed *f, enum ship_table_id id)
{
	const struct ship_table *t = &ship_tables[id];
	int err;

	while (strcmp(s->tables[f->scan].name, t->from) != 0)
		f->scan++;
	err = source_plan_init(&f->plan, t, s->tables[f->scan].columns,
			       s->tables[f->scan].column_cnt);
	s->scans[f->scan].filter.used |= f->plan.used;
	f->writer = new_writer(s, id);
	if (t->period_ns)
		f->rollup = rollup_new(&(struct rollup_opts){
			&f->plan, s->values, f->writer, trace_of(s)->names, ROLLUP_GROUPS_MAX });
	return err;
}

static int begin_feeds(struct shipment *s)
{
	int err = 0;

	s->tables[LOST] = sample_rows_lost_table(&s->file.traces);
	s->tables[SAMPLES] = sample_rows_table(&s->file.traces);
	s->tables[SLICES] = slice_rows_table(&s->file.traces);
	s->tables[SPANS] = span_rows_table(&s->file.traces);
	s->tables[EVENTS] = event_tables_other(&s->file.traces);
	s->feed_cnt = s->opts->events ? FEED_CNT : FEED_CNT - 1;
	s->scan_cnt = s->opts->events ? SCAN_CNT : SCAN_CNT - 1;
	for (size_t i = 0; i < s->scan_cnt; i++)
		scan_init(&s->scans[i], &s->tables[i]);
	for (size_t i = 0; i < s->feed_cnt; i++)
		err = begin_feed(s, &s->feeds[i], fed[i]) ?: err;
	s->stacks = new_writer(s, SHIP_STACKS);
	s->frames = new_writer(s, SHIP_FRAMES);
	return err;
}

static int end_feeds(struct shipment *s)
{
	int err = 0;

	for (size_t i = 0; i < s->feed_cnt && !err; i++) {
		struct feed *f = &s->feeds[i];

		if (f->rollup)
			err = rollup_end(f->rollup);
		if (!err)
			err = batch_writer_end(f->writer);
	}
	/* also if no row needs them */
	return err ?: send_stacks(s);
}

static void free_feeds(struct shipment *s)
{
	for (size_t i = 0; i < s->feed_cnt; i++) {
		rollup_free(s->feeds[i].rollup);
		batch_writer_free(s->feeds[i].writer);
		source_plan_fini(&s->feeds[i].plan);
	}
	for (size_t i = 0; i < s->scan_cnt; i++)
		scan_fini(&s->scans[i]);
	batch_writer_free(s->stacks);
	batch_writer_free(s->frames);
}

static int send_events(struct shipment *s)
{
	int err = begin_feeds(s);

	if (!err)
		err = scan_pass(trace_of(s), s->scans, s->scan_cnt, add_row, s);
	if (!err)
		err = end_feeds(s);
	free_feeds(s);
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
			.table = sent->table, .day = sent->day, .host = s->file.host, .id = sent->id
		};

		err = sender_count(s->opts->sender, &batch, &sent->seen);
		if (err || sent->seen == sent->rows)
			continue;
		log_warn("ship: %s: table %s has %" PRIu64 " rows of batch %" PRIu64 ", sent were "
			 "%" PRIu64,
			 s->file.path, sent->table->name, sent->seen, sent->id, sent->rows);
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
	const char *host = s->file.host ?: "";
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

static int send_all(struct shipment *s)
{
	int err;

	s->values = row_values_new(&s->file.traces, s->opts->anonymizer);
	s->packer = packer_new();
	if (!s->packer) {
		log_error("ship: out of memory");
		return -ENOMEM;
	}
	if (s->file.has_wall) {
		s->first_day = ship_tables_day(s->file.first_wall);
		s->last_day = ship_tables_day(s->file.last_wall);
	}
	err = send_lists(s);
	if (!err)
		err = send_events(s);
	if (!err)
		err = audit(s);
	return err ?: send_ledger(s);
}

static void free_shipment(struct shipment *s)
{
	row_values_free(s->values);
	packer_free(s->packer);
	trace_file_close(&s->file);
	free(s->sent);
}

void ship_file_finish(const struct ship_file_opts *opts, const struct trace_file *file,
		      const uint64_t id[2])
{
	save(ship_state_done(opts->state, id), file->path);
	opts->counts->files++;
	opts->counts->torn += file->trace->torn;
	if (file->trace->torn)
		log_warn("ship: the end of %s is missing: what is readable was shipped",
			 file->path);
}

int ship_file_send(const struct ship_file_opts *opts, int fd, const char *path,
		   const uint64_t id[2])
{
	struct shipment s = { .opts = opts, .id = { id[0], id[1] } };
	bool damaged = false;
	int err = trace_file_open(&s.file, fd, path, opts->anonymizer, opts->stop);

	if (!err) {
		damaged = trace_of(&s)->damaged;
		err = send_all(&s);
	}
	if (!err)
		ship_file_finish(opts, &s.file, id);
	free_shipment(&s);
	return err ?: damaged ? -EBADMSG : 0;
}
