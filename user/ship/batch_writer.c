// SPDX-License-Identifier: BSD-2-Clause
/* Divides rows into batches. Owns the blocks of all days, and the ids of batches. Does not send anything. */
#include "ship/batch_writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "profile/sums/content_ids.h"

struct day {
	uint64_t day;
	struct native_block block;
};

struct batch_writer {
	struct batch_writer_opts opts;
	struct native_def *defs;
	struct day *days;
	size_t day_cnt, day_cap;
	size_t now; /* day of the current row */
	uint64_t number; /* unless opts.number */
};

struct batch_writer *batch_writer_new(const struct batch_writer_opts *opts)
{
	struct batch_writer *w = xcalloc(1, sizeof(*w));
	const struct ship_table *t = opts->table;

	w->opts = *opts;
	w->defs = xcalloc(t->column_cnt, sizeof(*w->defs));
	for (size_t i = 0; i < t->column_cnt; i++)
		w->defs[i] = (struct native_def){ t->columns[i].name, t->columns[i].type };
	return w;
}

static void clear_days(struct batch_writer *w)
{
	for (size_t i = 0; i < w->day_cnt; i++)
		native_block_fini(&w->days[i].block);
	w->day_cnt = 0;
}

void batch_writer_free(struct batch_writer *w)
{
	if (!w)
		return;
	clear_days(w);
	free(w->days);
	free(w->defs);
	free(w);
}

static void set_constants(struct batch_writer *w, struct day *d)
{
	const struct ship_table *t = w->opts.table;
	char file[40];

	snprintf(file, sizeof(file), "%016" PRIx64 "%016" PRIx64, w->opts.file[0], w->opts.file[1]);
	for (size_t i = 0; i < t->column_cnt; i++) {
		if (t->columns[i].value == SHIP_DAY)
			native_block_set(&d->block, i, d->day);
		else if (t->columns[i].value == SHIP_FILE)
			native_block_set_text(&d->block, i, file, strlen(file));
		else if (t->columns[i].value == SHIP_LABELS)
			native_block_set_texts(&d->block, i, w->opts.labels, w->opts.label_cnt);
	}
}

static uint64_t next_id(struct batch_writer *w)
{
	const uint64_t number = w->opts.number ? (*w->opts.number)++ : w->number++;
	const uint64_t words[] = { w->opts.file[0], w->opts.file[1], number, SHIP_TABLES_VERSION };
	const uint64_t hash = content_ids_hash(CONTENT_IDS_HASH, w->opts.table->name,
					       strlen(w->opts.table->name));

	return content_ids_hash(hash, words, sizeof(words));
}

static int put(struct batch_writer *w, struct day *d)
{
	struct batch_writer_batch batch = {
		.table = w->opts.table,
		.block = &d->block,
		.day = d->day,
		.id = next_id(w),
	};
	int err;

	for (size_t i = 0; i < w->opts.table->column_cnt; i++)
		if (w->opts.table->columns[i].value == SHIP_BATCH)
			native_block_set(&d->block, i, batch.id);
	err = w->opts.put(w->opts.ctx, &batch);
	native_block_clear(&d->block);
	return err;
}

/* A file may have rows of many days, whose memory counts together. */
static int put_largest(struct batch_writer *w)
{
	struct day *largest = &w->days[0];
	uint64_t sum = 0;

	for (size_t i = 0; i < w->day_cnt; i++) {
		const uint64_t bytes = native_block_bytes(&w->days[i].block);

		sum += bytes;
		if (bytes > native_block_bytes(&largest->block))
			largest = &w->days[i];
	}
	return sum >= BATCH_WRITER_BYTES ? put(w, largest) : 0;
}

int batch_writer_end_row(struct batch_writer *w)
{
	struct day *d = &w->days[w->now];

	native_block_end_row(&d->block);
	if (d->block.rows == BATCH_WRITER_ROWS)
		return put(w, d);
	/* counted now and then: it takes a while */
	return d->block.rows % 256 ? 0 : put_largest(w);
}

int batch_writer_row(struct batch_writer *w, uint64_t day, struct native_block **out)
{
	struct day *d;
	int err;

	for (w->now = 0; w->now < w->day_cnt; w->now++) {
		*out = &w->days[w->now].block;
		if (w->days[w->now].day == day)
			return 0;
	}
	if (w->day_cnt == BATCH_WRITER_DAYS) {
		err = batch_writer_end(w);
		if (err)
			return err;
		clear_days(w);
		w->now = 0;
	}
	w->days = array_reserve(w->days, &w->day_cap, w->day_cnt + 1, sizeof(*w->days));
	d = &w->days[w->day_cnt++];
	d->day = day;
	native_block_init(&d->block, w->opts.packer, w->defs, w->opts.table->column_cnt);
	set_constants(w, d);
	*out = &d->block;
	return 0;
}

int batch_writer_end(struct batch_writer *w)
{
	int err = 0;

	for (size_t i = 0; i < w->day_cnt && !err; i++)
		if (w->days[i].block.rows)
			err = put(w, &w->days[i]);
	return err;
}
