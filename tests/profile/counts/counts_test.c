// SPDX-License-Identifier: BSD-2-Clause
/* Rows of counts: each number follows from the events that the test writes. */
#include "profile/counts/counts.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/buf.h"
#include "tests/support/read_trace.h"

TestSuite(counts, .timeout = 60);

static uint32_t every_name(void *ctx, const struct trace_event *ev)
{
	(void)ctx;
	return trace_is_naming(ev->kind) ? NAMES_NONE : ev->schema->name;
}

static void put_value(struct buf *out, const struct names *n, const struct count_value *v)
{
	if (v->text != NAMES_NONE)
		buf_printf(out, "%s=", names_str(n, v->text, NULL));
	switch ((enum count_type)v->type) {
	case COUNT_TEXT:
	case COUNT_BYTES:
		buf_addstr(out, names_str(n, (uint32_t)v->v, NULL));
		break;
	case COUNT_NEGATIVE:
		buf_addi(out, (int64_t)v->v);
		break;
	case COUNT_NONE:
		buf_addch(out, '-');
		break;
	case COUNT_OTHER:
		buf_addstr(out, "other");
		break;
	case COUNT_NUMBER:
	case COUNT_BOOL:
	case COUNT_DOUBLE:
	case COUNT_DROPPED:
		buf_addu(out, v->v);
	}
}

/* "3 [slot 5] a,b", a line for each row; with sums "3 a,b: SUM MIN MAX". */
static void put_rows(struct buf *out, const struct counts *c, const struct names *n)
{
	for (size_t i = 0; i < c->row_cnt; i++) {
		const struct counts_row *row = &c->rows[i];

		buf_addu(out, row->cnt);
		if (c->opts.interval_ns)
			buf_printf(out, " in %" PRIu64, row->slot);
		for (size_t k = 0; k < c->opts.by_cnt; k++) {
			buf_addch(out, k ? ',' : ' ');
			put_value(out, n, &row->v[k]);
		}
		if (c->opts.sum) {
			buf_addch(out, ':');
			buf_printf(out, " %" PRId64 " %" PRId64 " %" PRId64, (int64_t)row->sum.sum,
				   (int64_t)row->sum.min, (int64_t)row->sum.max);
		}
		buf_addch(out, '\n');
	}
	if (c->lacking)
		buf_printf(out, "%" PRIu64 " lacking\n", c->lacking);
	if (c->beyond)
		buf_printf(out, "%" PRIu64 " beyond\n", c->beyond);
}

static struct reader *count(struct counts *c, struct make *m, struct counts_opts *opts)
{
	struct reader *r = read_trace(make_done(m));
	const struct counts_kind *kind;
	struct trace_event ev;

	opts->name_of = every_name;
	counts_init(c, opts);
	while (reader_next(r, &ev) == 1) {
		kind = counts_kind(c, &ev);
		if (kind)
			counts_add(c, reader_trace(r), &ev, kind);
	}
	counts_finish(c, reader_trace(r));
	return r;
}

static void expect(struct make *m, struct counts_opts opts, const char *want)
{
	struct counts c;
	struct reader *r = count(&c, m, &opts);
	struct buf got = { 0 };

	put_rows(&got, &c, reader_names(r));
	cr_expect_str_eq(buf_cstr(&got), want, "%s", buf_cstr(&got));
	buf_free(&got);
	counts_fini(&c);
	reader_free(r);
}

#define BY(...)                                                                                    \
	.by = (const struct count_column[]){ __VA_ARGS__ },                                        \
	.by_cnt =                                                                                  \
		sizeof((const struct count_column[]){ __VA_ARGS__ }) / sizeof(struct count_column)

static void number_event(struct make *m, const char *name, uint64_t ts, uint32_t tid,
			 const char *field, uint64_t v)
{
	MAKE_NUMBERS(m, ts, name, { "common_cpu", 3 }, { "common_pid", tid }, { field, v });
}

/* A field as the recorder writes it when another field is negative, or itself. */
static void wide_event(struct make *m, const char *name, uint64_t ts, uint32_t tid,
		       const char *field, int64_t v)
{
	struct dial9_schema *s = MAKE_SCHEMA(name, { "common_cpu", DIAL9_VARINT },
					     { "common_pid", DIAL9_VARINT }, { field, DIAL9_I64 });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, 3);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_i64(m->enc, v);
	make_end(m);
	dial9_schema_free(s);
}

Test(counts, events_by_name_most_first)
{
	struct make m;

	make_init(&m, NULL);
	for (uint64_t i = 0; i < 5; i++)
		number_event(&m, i % 3 ? "app:b" : "app:a", i, 1, "x", i);
	number_event(&m, "app:c", 9, 1, "x", 1);
	expect(&m, (struct counts_opts){ BY({ COUNT_EVENT, NULL }) },
	       "3 app:b\n"
	       "2 app:a\n"
	       "1 app:c\n");
}

Test(counts, equal_numbers_of_different_types_are_one_row)
{
	struct make m;

	make_init(&m, NULL);
	number_event(&m, "app:a", 1, 1, "ret", 5);
	wide_event(&m, "app:a", 2, 1, "ret", 5);
	wide_event(&m, "app:a", 3, 1, "ret", -5);
	wide_event(&m, "app:a", 4, 1, "ret", -5);
	wide_event(&m, "app:a", 5, 1, "ret", -5);
	number_event(&m, "app:a", 6, 1, "ret", (uint64_t)-5);
	expect(&m, (struct counts_opts){ BY({ COUNT_FIELD, "ret" }) },
	       "3 -5\n"
	       "2 5\n"
	       "1 18446744073709551611\n");
}

Test(counts, words_describe_the_thread_and_fields_the_event)
{
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 10, 11, "eleven");
	make_task(&m, 1, 10, 12, "twelve");
	number_event(&m, "app:a", 2, 11, "pid", 77);
	number_event(&m, "app:a", 3, 11, "pid", 78);
	number_event(&m, "app:a", 4, 12, "pid", 77);
	number_event(&m, "app:a", 5, 13, "pid", 77);
	expect(&m,
	       (struct counts_opts){ BY({ COUNT_COMM, NULL }, { COUNT_PID, NULL },
					{ COUNT_TID, NULL }, { COUNT_CPU, NULL },
					{ COUNT_FIELD, "pid" }) },
	       "1 eleven,10,11,3,77\n"
	       "1 eleven,10,11,3,78\n"
	       "1 twelve,10,12,3,77\n"
	       "1 -,-,13,3,77\n");
}

Test(counts, text_is_one_row_in_all_segments)
{
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1, 0, "a", 1, 0, "b", 2);
	make_switch(&m, 2, 0, "b", 2, 0, "a", 1);
	dial9_enc_reset(m.enc);
	make_switch(&m, 3, 0, "b", 2, 0, "a", 1);
	expect(&m, (struct counts_opts){ BY({ COUNT_FIELD, "prev_comm" }) },
	       "2 b\n"
	       "1 a\n");
}

/* The names may come after the events. */
Test(counts, values_have_the_kernels_names)
{
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1, 0, "a", 1, 1, "b", 2);
	make_switch(&m, 2, 0, "b", 2, 0, "a", 1);
	make_switch(&m, 3, 0, "a", 1, 1, "a", 1);
	make_prev_state(&m, 4);
	expect(&m, (struct counts_opts){ BY({ COUNT_FIELD, "prev_state" }) },
	       "2 S=1\n"
	       "1 R=0\n");
}

Test(counts, events_without_a_field_are_counted_apart)
{
	struct make m;

	make_init(&m, NULL);
	number_event(&m, "app:a", 1, 1, "x", 1);
	number_event(&m, "app:b", 2, 1, "y", 1);
	number_event(&m, "app:b", 3, 1, "y", 1);
	expect(&m, (struct counts_opts){ BY({ COUNT_FIELD, "x" }) },
	       "1 1\n"
	       "2 lacking\n");
}

Test(counts, sums_of_all_signs_and_sizes)
{
	struct make m;

	make_init(&m, NULL);
	wide_event(&m, "app:a", 1, 1, "x", -7);
	number_event(&m, "app:a", 2, 1, "x", 1ULL << 40);
	wide_event(&m, "app:a", 3, 1, "x", 3);
	wide_event(&m, "app:b", 3, 1, "x", -3);
	wide_event(&m, "app:b", 3, 1, "x", -4);
	make_switch(&m, 4, 0, "a", 1, 1, "b", 2);
	expect(&m, (struct counts_opts){ BY({ COUNT_EVENT, NULL }), .sum = "x" },
	       "3 app:a: 1099511627772 -7 1099511627776\n"
	       "2 app:b: -7 -4 -3\n"
	       "1 lacking\n");
}

Test(counts, a_sum_beyond_64_bits_is_exact)
{
	struct counts_opts opts = { .sum = "x" };
	struct counts c;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	for (uint64_t i = 0; i < 4; i++)
		number_event(&m, "app:a", i, 1, "x", UINT64_MAX);
	r = count(&c, &m, &opts);
	cr_assert_eq(c.row_cnt, 1);
	cr_expect(c.rows[0].sum.sum == (__int128)UINT64_MAX * 4);
	cr_expect(c.rows[0].sum.max == (__int128)UINT64_MAX);
	counts_fini(&c);
	reader_free(r);
}

Test(counts, histograms_by_power_of_two)
{
	static const uint64_t v[] = { 0, 1, 2, 3, 4, 1023, 1024, UINT64_MAX };
	struct counts_opts opts = { .hist = "x" };
	uint64_t want[COUNTS_BUCKETS] = { 0 };
	struct counts c;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		number_event(&m, "app:a", i, 1, "x", v[i]);
	wide_event(&m, "app:b", 9, 1, "x", -1);
	wide_event(&m, "app:b", 9, 1, "x", INT64_MIN);
	r = count(&c, &m, &opts);
	want[COUNTS_NEGATIVE] = 2;
	want[COUNTS_ZERO] = want[COUNTS_POWERS] = 1;
	want[COUNTS_POWERS + 1] = 2; /* 2, 3 */
	want[COUNTS_POWERS + 2] = want[COUNTS_POWERS + 9] = want[COUNTS_POWERS + 10] = 1;
	want[COUNTS_POWERS + 63] = 1;
	cr_assert_eq(c.row_cnt, 1, "rows of two events join");
	cr_expect_arr_eq(c.rows[0].hist, want, sizeof(want));
	cr_expect_eq(counts_bucket_from(COUNTS_POWERS + 10), 1024);
	cr_expect_eq(counts_bucket_from(COUNTS_ZERO), 0);
	counts_fini(&c);
	reader_free(r);
}

Test(counts, intervals_of_the_traces_clock)
{
	struct make m;

	make_init(&m, NULL);
	number_event(&m, "app:a", 2999, 1, "x", 1);
	number_event(&m, "app:a", 3000, 1, "x", 1);
	number_event(&m, "app:b", 3500, 1, "x", 1);
	number_event(&m, "app:a", 3999, 1, "x", 1);
	number_event(&m, "app:a", 9000, 1, "x", 1);
	expect(&m, (struct counts_opts){ BY({ COUNT_EVENT, NULL }), .interval_ns = 1000 },
	       "1 in 2 app:a\n"
	       "2 in 3 app:a\n"
	       "1 in 3 app:b\n"
	       "1 in 9 app:a\n");
}

/* Rows that are there grow on. Text that is in no row is not kept. */
Test(counts, rows_beyond_the_limit_are_counted)
{
	struct counts_opts opts = { BY({ COUNT_FIELD, "prev_comm" }), .rows_max = 2 };
	struct counts c;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 1, 0, "a", 1, 0, "x", 3);
	make_switch(&m, 2, 0, "b", 2, 0, "x", 3);
	make_switch(&m, 3, 0, "never kept", 0, 0, "x", 3);
	make_switch(&m, 4, 0, "b", 2, 0, "x", 3);
	make_switch(&m, 5, 0, "x", 3, 0, "x", 3);
	r = count(&c, &m, &opts);
	cr_expect_eq(c.row_cnt, 2);
	cr_expect_eq(c.rows[0].cnt, 2);
	cr_expect_eq(c.counted, 3);
	cr_expect_eq(c.beyond, 2, "x is known from elsewhere, but no row either");
	cr_expect_eq(strtab_find(&reader_names(r)->strs, "never kept", 10), UINT32_MAX);
	counts_fini(&c);
	reader_free(r);
}

Test(counts, clear_keeps_nothing_of_the_events)
{
	struct counts_opts opts = { BY({ COUNT_EVENT, NULL }), .sum = "x", .hist = "x" };
	struct counts c;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	number_event(&m, "app:a", 1, 1, "x", 1);
	number_event(&m, "app:b", 2, 1, "y", 1);
	r = count(&c, &m, &opts);
	cr_expect_eq(c.row_cnt, 1);
	cr_expect(counts_has_fields(&c));
	counts_clear(&c);
	counts_finish(&c, reader_trace(r));
	cr_expect_eq(c.row_cnt + c.counted + c.lacking, 0);
	counts_fini(&c);
	reader_free(r);
}

static void host_of_boot(struct make *m, uint64_t ts, const char *name, const char *boot)
{
	const char *const kv[] = { "host", name, "boot_id", boot, NULL };

	make_metadata(m, ts, kv);
	make_clock(m, ts, ts);
}

static void host(struct make *m, uint64_t ts, const char *name)
{
	host_of_boot(m, ts, name, name);
}

/* Thread 5 of two hosts: two threads, but one name of an event. */
Test(counts, ids_of_two_hosts_are_two_rows)
{
	const struct count_column tid[] = { { COUNT_TID, NULL } };
	struct counts_opts by_tid = { .by = tid, .by_cnt = 1 };
	struct counts c;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	host(&m, 1, "one");
	number_event(&m, "app:a", 2, 5, "x", 1);
	number_event(&m, "app:a", 3, 5, "x", 1);
	dial9_enc_reset(m.enc);
	host(&m, 1000000000000, "two");
	number_event(&m, "app:a", 1000000000001, 5, "x", 1);
	r = count(&c, &m, &by_tid);
	cr_expect(c.by_part);
	cr_assert_eq(c.row_cnt, 4, "and two rows of clocks without thread");
	counts_fini(&c);
	reader_free(r);
}

/* Clones of a machine may have the same boot id. */
Test(counts, ids_of_two_hosts_with_one_boot_id_are_two_rows)
{
	const struct count_column by[] = { { COUNT_EVENT, NULL }, { COUNT_TID, NULL } };
	struct counts_opts by_tid = { .by = by, .by_cnt = 2 }, by_event = { .by = by, .by_cnt = 1 };

	for (int i = 0; i < 2; i++) {
		struct counts c;
		struct reader *r;
		struct make m;

		make_init(&m, NULL);
		host_of_boot(&m, 1, "one", "boot");
		number_event(&m, "app:a", 2, 5, "x", 1);
		dial9_enc_reset(m.enc);
		host_of_boot(&m, 1000, "two", "boot");
		number_event(&m, "app:a", 1001, 5, "x", 1);
		r = count(&c, &m, i ? &by_event : &by_tid);
		cr_expect_eq(parts_clocks(&reader_names(r)->parts), 1);
		cr_expect_eq(c.by_part, !i);
		cr_expect_eq(c.row_cnt, i ? 2 : 4, "events and clocks");
		counts_fini(&c);
		reader_free(r);
	}
}

/* Two boots, whose clocks both begin at 0. */
Test(counts, intervals_of_two_clocks_are_apart)
{
	const struct count_column by[] = { { COUNT_FIELD, "x" } };
	struct counts_opts opts = { .by = by, .by_cnt = 1, .interval_ns = 1000 };
	struct counts c;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	host(&m, 1, "one");
	number_event(&m, "app:a", 2, 5, "x", 1);
	number_event(&m, "app:a", 5002, 5, "x", 1);
	dial9_enc_reset(m.enc);
	host(&m, 3, "two");
	number_event(&m, "app:a", 4, 5, "x", 1);
	number_event(&m, "app:a", 5, 5, "x", 1);
	r = count(&c, &m, &opts);
	cr_expect(c.by_part);
	cr_assert_eq(c.row_cnt, 3);
	cr_expect(c.rows[0].part == 0 && c.rows[0].slot == 0 && c.rows[0].cnt == 1);
	cr_expect(c.rows[1].part == 0 && c.rows[1].slot == 5 && c.rows[1].cnt == 1);
	cr_expect(c.rows[2].part == 1 && c.rows[2].slot == 0 && c.rows[2].cnt == 2);
	counts_fini(&c);
	reader_free(r);
}
