// SPDX-License-Identifier: BSD-2-Clause
/* Groups of a rollup: with little memory there are more rows, and equal sums. */
#include "ship/rollup.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "query/slice_rows.h"
#include "tests/ship/native_rows.h"
#include "trace/read/names.h"

#define SECOND 1000000000LL

/* A slice, as far as waits_rollup reads it. */
struct slice {
	int64_t wall, dur;
};

static void slice_value(void *of, size_t column, struct query_value *out)
{
	const struct slice *s = of;

	*out = (struct query_value){ .type = QUERY_NULL };
	if (column == SCAN_WALL)
		query_value_integer(out, s->wall);
	else if (column == SCAN_OWN) /* dur */
		query_value_integer(out, s->dur);
}

static int keep_rows(void *ctx, const struct batch_writer_batch *b)
{
	static unsigned char plain[65536];
	struct buf packed = { 0 }, block = { 0 };
	z_stream z = { .next_out = plain, .avail_out = sizeof(plain) };

	native_block_write(b->block, &packed);
	z.next_in = (Bytef *)packed.data;
	z.avail_in = (uInt)packed.len;
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	buf_add(&block, (char *)plain, z.total_out);
	native_rows_put(ctx, &block, "wall,log2_ns,waits,ns,max_ns");
	buf_free(&packed);
	buf_free(&block);
	return 0;
}

static void expect_rows(size_t groups_max, const char *want)
{
	static const struct slice slices[] = {
		{ 5 * SECOND + 1, 1024 }, { 3 * SECOND, 7 },	{ 5 * SECOND, 2047 },
		{ 3 * SECOND + 9, 4 },	  { 3 * SECOND, 1025 }, { 5 * SECOND + 2, 1500 },
	};
	const struct ship_table *t = &ship_tables[SHIP_WAITS];
	const struct scan_table from = slice_rows_table(NULL);
	struct packer *packer = packer_new();
	struct buf rows = { 0 };
	struct batch_writer *w = batch_writer_new(&(struct batch_writer_opts){
		.table = t, .packer = packer, .put = keep_rows, .ctx = &rows });
	struct row_values *values = row_values_new(NULL, NULL);
	struct names names = { 0 };
	struct source_plan plan;
	struct rollup *r;

	cr_assert_eq(source_plan_init(&plan, t, from.columns, from.column_cnt), 0);
	r = rollup_new(&(struct rollup_opts){ &plan, values, w, &names, groups_max });
	for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		cr_assert_eq(rollup_add(r, &(struct source_row){ slice_value, (void *)&slices[i] }),
			     0);
	cr_assert_eq(rollup_end(r), 0);
	cr_assert_eq(batch_writer_end(w), 0);
	cr_expect_str_eq(buf_cstr(&rows), want, "groups %zu:\n%s", groups_max, buf_cstr(&rows));
	rollup_free(r);
	source_plan_fini(&plan);
	row_values_free(values);
	batch_writer_free(w);
	packer_free(packer);
	buf_free(&rows);
}

Test(rollup, groups_are_sorted_sums)
{
	expect_rows(100, "3000000000,2,2,11,7\n"
			 "3000000000,10,1,1025,1025\n"
			 "5000000000,10,3,4571,2047\n");
}

Test(rollup, with_little_memory_a_group_has_several_rows)
{
	expect_rows(2, "3000000000,2,1,7,7\n"
		       "5000000000,10,1,1024,1024\n"
		       "3000000000,2,1,4,4\n"
		       "5000000000,10,1,2047,2047\n"
		       "3000000000,10,1,1025,1025\n"
		       "5000000000,10,1,1500,1500\n");
}

Test(rollup, a_column_that_query_lacks_is_an_error)
{
	const struct scan_table from = slice_rows_table(NULL);
	struct source_plan plan;

	cr_expect_eq(source_plan_init(&plan, &ship_tables[SHIP_WAITS], from.columns, 3), -ENOENT);
	source_plan_fini(&plan);
}
