// SPDX-License-Identifier: BSD-2-Clause
/* Ids of batches: equal for equal rows of one file, and others if the tables or the division could be others. */
#include "ship/batch_writer.h"

#include <criterion/criterion.h>
#include <string.h>

#include "profile/sums/content_ids.h"

enum { BATCHES = 2 };

struct kept {
	uint64_t ids[BATCHES];
	size_t cnt;
};

static int keep_id(void *ctx, const struct batch_writer_batch *b)
{
	struct kept *k = ctx;

	cr_assert_lt(k->cnt, (size_t)BATCHES);
	k->ids[k->cnt++] = b->id;
	return 0;
}

/* A batch for each of two days. */
static void write_rows(const struct batch_writer_opts *opts)
{
	struct batch_writer *w = batch_writer_new(opts);
	struct native_block *b;

	for (uint64_t day = 1; day <= BATCHES; day++) {
		cr_assert_eq(batch_writer_row(w, day, &b), 0);
		native_block_put(b, SHIP_STACKS_STACK, 7);
		native_block_put_u64s(b, SHIP_STACKS_FRAMES, NULL, 0);
		cr_assert_eq(batch_writer_end_row(w), 0);
	}
	cr_assert_eq(batch_writer_end(w), 0);
	batch_writer_free(w);
}

/* Batches of an older version have other rows: this version must not take them for its own after the state was deleted. */
Test(batch_writer, ids_depend_on_the_version_of_the_tables)
{
	const uint64_t name = content_ids_hash(CONTENT_IDS_HASH, "stacks", 6);
	struct kept kept = { 0 };
	struct batch_writer_opts opts = {
		.table = &ship_tables[SHIP_STACKS],
		.packer = packer_new(),
		.file = { 3, 4 },
		.put = keep_id,
		.ctx = &kept,
	};

	write_rows(&opts);
	cr_assert_eq(kept.cnt, (size_t)BATCHES);
	for (uint64_t i = 0; i < BATCHES; i++) {
		const uint64_t words[] = { 3, 4, i, SHIP_TABLES_VERSION };

		cr_expect_eq(kept.ids[i], content_ids_hash(name, words, sizeof(words)));
	}
	packer_free(opts.packer);
}
