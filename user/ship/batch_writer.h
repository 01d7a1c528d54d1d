/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_BATCH_WRITER_H
#define D9_SHIP_BATCH_WRITER_H

#include "ship/native_block.h"
#include "ship/ship_tables.h"

/* Most rows and bytes of a batch. Rows of one file are always divided in the same way, so that batches keep their ids. */
#define BATCH_WRITER_ROWS 1000000
#define BATCH_WRITER_BYTES                                                                         \
	(64u << 20) /* before compression: the division does not depend on the compressor */

/* Days whose rows are not put yet; more would only be in a damaged trace. */
#define BATCH_WRITER_DAYS 64

/* Rows of a table, divided into batches: each has the rows of one day. */
struct batch_writer;

/* A batch that is complete. */
struct batch_writer_batch {
	const struct ship_table *table;
	struct native_block *block;
	uint64_t day;
	uint64_t id; /* of file, table, its version and number */
};

struct batch_writer_opts {
	const struct ship_table *table;
	struct packer *packer; /* borrowed */
	uint64_t file[2]; /* id */
	uint64_t *number; /* of the next batch, which other writers may count too; NULL: from 0 */
	const char *const *labels;
	size_t label_cnt;
	/* 0, or an error that ends the writing. */
	int (*put)(void *ctx, const struct batch_writer_batch *batch);
	void *ctx;
};

/* Never NULL. */
struct batch_writer *batch_writer_new(const struct batch_writer_opts *opts);
void batch_writer_free(struct batch_writer *w);

/* The block for a row of that day; may put batches: 0, or the error of put(). */
int batch_writer_row(struct batch_writer *w, uint64_t day, struct native_block **out);
/* Ends the row; may put a batch: 0, or the error of put(). */
int batch_writer_end_row(struct batch_writer *w);
/* Puts what is left. */
int batch_writer_end(struct batch_writer *w);

#endif /* D9_SHIP_BATCH_WRITER_H */
