// SPDX-License-Identifier: BSD-2-Clause
/* A trace is read twice: what the first pass found readable must not end early in the second one. */
#include "query/scan_pass.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "query/query.h"
#include "query/slice_rows.h"
#include "tests/support/make_trace.h"

/* A row of the table of slices, and if @bad a record that is none. */
static int open_trace(bool bad, struct source **out)
{
	struct make m;
	int fd;

	make_init(&m, NULL);
	make_switch(&m, 10, 0, "a", 1, 0, "b", 2);
	make_switch(&m, 20, 0, "b", 2, 0, "a", 1);
	fd = make_done(&m);
	if (bad) {
		cr_assert_geq(lseek(fd, 0, SEEK_END), 0);
		cr_assert_eq(write(fd, "\0\1", 2), 2);
		cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	}
	return source_open_fd(fd, "trace", out);
}

static int open_bad(void *ctx, struct source **out)
{
	return open_trace(true, out);
}

static int count_row(void *ctx, struct scan *s)
{
	unsigned int *rows = ctx;

	++*rows;
	return 0;
}

/* The second pass always reads the bad bytes. */
static int pass(bool first_is_bad, unsigned int *rows)
{
	struct trace_inputs traces = { 0 };
	struct scan_table table;
	struct source *src;
	struct reader *r;
	struct scan scan;
	int err;

	*rows = 0;
	cr_assert_eq(open_trace(first_is_bad, &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	cr_assert_eq(trace_inputs_add(&traces, r, &(struct trace_input_again){ open_bad, NULL }),
		     0);
	cr_assert_eq(traces.v[0]->damaged, first_is_bad);
	table = slice_rows_table(&traces);
	scan_init(&scan, &table);
	err = scan_pass(traces.v[0], &scan, 1, count_row, rows);
	scan_fini(&scan);
	trace_inputs_fini(&traces);
	return err;
}

Test(scan_pass, bad_bytes_of_the_first_pass_are_the_end)
{
	unsigned int rows;

	cr_expect_eq(pass(true, &rows), 0);
	cr_expect_gt(rows, 0u);
}

Test(scan_pass, an_error_of_the_second_pass_alone_is_an_error)
{
	unsigned int rows;

	cr_expect_eq(pass(false, &rows), -EBADMSG);
}
