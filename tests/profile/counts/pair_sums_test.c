// SPDX-License-Identifier: BSD-2-Clause
/* Times between pairs, and of system calls: each number follows from the events that the test writes. Times in ns. */
#include "profile/counts/pair_sums.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/buf.h"
#include "tests/support/read_trace.h"

TestSuite(pair_sums, .timeout = 60);

static void work(struct make *m, const char *half, uint64_t ts, uint32_t tid)
{
	struct buf name = { 0 };

	buf_printf(&name, "app:work_%s", half);
	MAKE_NUMBERS(m, ts, buf_cstr(&name), { "common_cpu", 0 }, { "common_pid", tid });
	buf_free(&name);
}

static void keyed(struct make *m, const char *half, uint64_t ts, uint32_t tid, uint64_t sector)
{
	struct buf name = { 0 };

	buf_printf(&name, "app:work_%s", half);
	MAKE_NUMBERS(m, ts, buf_cstr(&name), { "common_cpu", 0 }, { "common_pid", tid },
		     { "sector", sector });
	buf_free(&name);
}

static void enter(struct make *m, uint64_t ts, uint32_t tid, uint64_t id)
{
	MAKE_NUMBERS(m, ts, "raw_syscalls:sys_enter", { "common_cpu", 0 }, { "common_pid", tid },
		     { "id", id });
}

static void leave(struct make *m, const char *event, const char *number, uint64_t ts, uint32_t tid,
		  uint64_t id, int64_t ret)
{
	struct dial9_schema *s =
		MAKE_SCHEMA(event, { "common_cpu", DIAL9_VARINT }, { "common_pid", DIAL9_VARINT },
			    { number, DIAL9_I64 }, { "ret", DIAL9_I64 });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, 0);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_i64(m->enc, (int64_t)id);
	dial9_enc_put_i64(m->enc, ret);
	make_end(m);
	dial9_schema_free(s);
}

static void raw_leave(struct make *m, uint64_t ts, uint32_t tid, uint64_t id, int64_t ret)
{
	leave(m, "raw_syscalls:sys_exit", "id", ts, tid, id, ret);
}

static void own_call(struct make *m, uint64_t ts, uint64_t ns, uint32_t tid, int64_t ret)
{
	MAKE_NUMBERS(m, ts, "syscalls:sys_enter_read", { "common_cpu", 0 }, { "common_pid", tid },
		     { "__syscall_nr", 0 });
	leave(m, "syscalls:sys_exit_read", "__syscall_nr", ts + ns, tid, 0, ret);
}

/* "read 7: 3 pairs, 1 cut, 2 errors, 60 ns, max 30", a line for each row; then unmatched ends, if any. */
static void put_rows(struct buf *out, const struct pair_sums *p, const struct names *n)
{
	for (size_t i = 0; i < p->row_cnt; i++) {
		const struct pair_sums_row *row = &p->rows[i];

		if (row->name == NAMES_NONE)
			buf_printf(out, "number %" PRIu64, row->call);
		else
			buf_addstr(out, names_str(n, row->name, NULL));
		if (row->tid != NAMES_NONE)
			buf_printf(out, " %u", row->tid);
		buf_printf(out, ": %" PRIu64 " pairs, ", row->cnt);
		if (row->cut)
			buf_printf(out, "%" PRIu64 " cut, ", row->cut);
		if (row->errors)
			buf_printf(out, "%" PRIu64 " errors, ", row->errors);
		buf_printf(out, "%" PRIu64 " ns, max %" PRIu64 "\n", row->ns, row->lengths.max);
	}
	if (p->spans.unended || p->spans.unstarted)
		buf_printf(out, "%" PRIu64 " starts, %" PRIu64 " ends\n", p->spans.unended,
			   p->spans.unstarted);
	if (p->twice)
		buf_printf(out, "%" PRIu64 " twice\n", p->twice);
}

static const struct pair_sums_opts by_work = { .pattern = { "app:work_start", "app:work_end",
							    NULL } };

/* @gaps_first: as from a file. */
static void expect(struct make *m, const struct pair_sums_opts *opts, bool gaps_first,
		   const char *want)
{
	struct reader *r = read_trace(make_done(m));
	struct buf got = { 0 };
	struct trace_event ev;
	struct pair_sums p;

	pair_sums_init(&p, opts);
	while (gaps_first && reader_next(r, &ev) == 1)
		pair_sums_add_gap(&p, reader_trace(r), &ev);
	if (gaps_first)
		cr_assert_eq(reader_rewind(r), 0);
	while (reader_next(r, &ev) == 1)
		pair_sums_add(&p, reader_trace(r), &ev);
	pair_sums_finish(&p, reader_names(r));
	put_rows(&got, &p, reader_names(r));
	cr_expect_str_eq(buf_cstr(&got), want, "%s", buf_cstr(&got));
	buf_free(&got);
	pair_sums_fini(&p);
	reader_free(r);
}

Test(pair_sums, of_threads)
{
	struct pair_sums_opts opts = by_work;
	struct make m;

	opts.by = PAIR_BY_TID;
	make_init(&m, NULL);
	work(&m, "end", 5, 8);
	work(&m, "start", 10, 7);
	work(&m, "start", 11, 8);
	work(&m, "end", 30, 7);
	work(&m, "end", 111, 8);
	work(&m, "start", 200, 7);
	work(&m, "end", 240, 7);
	work(&m, "start", 300, 7);
	expect(&m, &opts, false,
	       "app:work_start 8: 1 pairs, 100 ns, max 100\n"
	       "app:work_start 7: 2 pairs, 60 ns, max 40\n"
	       "1 starts, 1 ends\n");
}

Test(pair_sums, of_a_key_in_any_thread)
{
	struct pair_sums_opts opts = by_work;
	struct make m;

	opts.field = "sector";
	make_init(&m, NULL);
	keyed(&m, "start", 10, 7, 100);
	keyed(&m, "start", 20, 7, 200);
	keyed(&m, "end", 25, 8, 200);
	keyed(&m, "end", 110, 9, 100);
	expect(&m, &opts, false, "app:work_start: 2 pairs, 105 ns, max 100\n");
}

/* The loss is written after its time, and hides 7's end and its next start. */
Test(pair_sums, a_gap_cuts_pairs)
{
	struct make m;

	make_init(&m, NULL);
	work(&m, "start", 10, 7);
	work(&m, "end", 15, 7);
	work(&m, "start", 20, 7);
	work(&m, "end", 90, 7);
	work(&m, "start", 95, 7);
	work(&m, "end", 96, 7);
	make_lost(&m, 100, PROF_LOST_RING_FULL, 2, 40, 60);
	expect(&m, &by_work, true, "app:work_start: 3 pairs, 1 cut, 6 ns, max 5\n");
}

Test(pair_sums, a_start_after_a_gap_is_not_nested)
{
	struct make m;

	make_init(&m, NULL);
	work(&m, "start", 20, 7);
	work(&m, "start", 70, 7);
	work(&m, "end", 80, 7);
	make_lost(&m, 100, PROF_LOST_RING_FULL, 1, 40, 60);
	expect(&m, &by_work, true,
	       "app:work_start: 1 pairs, 10 ns, max 10\n"
	       "1 starts, 0 ends\n");
}

/* From a pipe the loss is not known before: the pair is complete. */
Test(pair_sums, a_gap_that_is_reported_later_cuts_nothing)
{
	struct make m;

	make_init(&m, NULL);
	work(&m, "start", 20, 7);
	work(&m, "end", 90, 7);
	work(&m, "start", 95, 7);
	make_lost(&m, 100, PROF_LOST_RING_FULL, 1, 40, 97);
	work(&m, "end", 101, 7);
	expect(&m, &by_work, false, "app:work_start: 2 pairs, 1 cut, 70 ns, max 70\n");
}

Test(pair_sums, system_calls_with_their_errors)
{
	const struct pair_sums_opts opts = { .syscalls = true };
	struct make m;

	make_init(&m, NULL);
	enter(&m, 10, 7, 0);
	enter(&m, 12, 8, 257);
	raw_leave(&m, 14, 7, 0, 100);
	raw_leave(&m, 112, 8, 257, -2);
	enter(&m, 200, 7, 0);
	raw_leave(&m, 230, 7, 0, -4095);
	enter(&m, 300, 7, 9);
	raw_leave(&m, 310, 7, 9, -4096); /* an address */
	enter(&m, 400, 7, 231); /* exit_group */
	make_tpsym(&m, 500, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, 0, "read");
	make_tpsym(&m, 500, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, 257, "openat");
	expect(&m, &opts, false,
	       "openat: 1 pairs, 1 errors, 100 ns, max 100\n"
	       "read: 2 pairs, 1 errors, 34 ns, max 30\n"
	       "0x9: 1 pairs, 10 ns, max 10\n"
	       "1 starts, 0 ends\n");
}

/* 7: two calls of 60; 8: one of 100. 7 has more time, and more calls. */
Test(pair_sums, rows_are_sorted_by_the_order)
{
	struct pair_sums_opts opts = { .syscalls = true, .by = PAIR_BY_TID };
	const char *const seven =
		"number 0 7: 2 pairs, 120 ns, max 60\nnumber 0 8: 1 pairs, 100 ns, max 100\n";
	const char *const eight =
		"number 0 8: 1 pairs, 100 ns, max 100\nnumber 0 7: 2 pairs, 120 ns, max 60\n";
	const char *const want[] = {
		[PAIR_SUMS_TIME] = seven, [PAIR_SUMS_MAX] = eight,   [PAIR_SUMS_AVG] = eight,
		[PAIR_SUMS_P99] = eight,  [PAIR_SUMS_COUNT] = seven,
	};
	struct make m;

	for (int order = PAIR_SUMS_TIME; order <= PAIR_SUMS_COUNT; order++) {
		make_init(&m, NULL);
		enter(&m, 10, 7, 0);
		raw_leave(&m, 70, 7, 0, 0);
		enter(&m, 100, 7, 0);
		raw_leave(&m, 160, 7, 0, 0);
		enter(&m, 200, 8, 0);
		raw_leave(&m, 300, 8, 0, 0);
		opts.order = (enum pair_sums_order)order;
		expect(&m, &opts, false, want[order]);
	}
}

Test(pair_sums, calls_that_both_systems_have_count_once)
{
	const struct pair_sums_opts opts = { .syscalls = true, .by = PAIR_BY_TID };
	struct make m;

	make_init(&m, NULL);
	make_tpsym(&m, 1, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, 0, "read");
	for (uint64_t at = 100; at < 400; at += 100) {
		enter(&m, at, 7, 0);
		own_call(&m, at + 1, 8, 7, -1);
		raw_leave(&m, at + 10, 7, 0, -1);
	}
	own_call(&m, 500, 3, 8, 0);
	expect(&m, &opts, false,
	       "read 7: 3 pairs, 3 errors, 30 ns, max 10\n"
	       "read 8: 1 pairs, 3 ns, max 3\n"
	       "3 twice\n");
}

/* record -e raw_syscalls:* -e syscalls:sys_enter_read: the second has the file, not an end of its own. */
Test(pair_sums, own_starts_without_own_ends_are_not_unmatched_if_the_call_is_in_raw_syscalls)
{
	const struct pair_sums_opts opts = { .syscalls = true };
	struct make m;

	make_init(&m, NULL);
	make_tpsym(&m, 1, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, 0, "read");
	for (uint64_t at = 100; at < 400; at += 100) {
		enter(&m, at, 7, 0);
		MAKE_NUMBERS(&m, at + 1, "syscalls:sys_enter_read", { "common_cpu", 0 },
			     { "common_pid", 7 }, { "__syscall_nr", 0 });
		MAKE_NUMBERS(&m, at + 2, "syscalls:sys_enter_write", { "common_cpu", 0 },
			     { "common_pid", 7 }, { "__syscall_nr", 1 });
		raw_leave(&m, at + 10, 7, 0, -1);
	}
	expect(&m, &opts, false,
	       "read: 3 pairs, 3 errors, 30 ns, max 10\n"
	       "3 starts, 0 ends\n");
}

Test(pair_sums, restart_forgets_pairs_and_keeps_gaps)
{
	struct pair_sums p;
	struct trace_event ev;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	work(&m, "start", 20, 7);
	work(&m, "end", 90, 7);
	make_lost(&m, 100, PROF_LOST_RING_FULL, 1, 40, 60);
	r = read_trace(make_done(&m));
	pair_sums_init(&p, &by_work);
	for (int pass = 0; pass < 2; pass++) {
		pair_sums_restart(&p);
		while (reader_next(r, &ev) == 1)
			pair_sums_add(&p, reader_trace(r), &ev);
		if (!pass)
			cr_assert_eq(reader_rewind(r), 0);
	}
	pair_sums_finish(&p, reader_names(r));
	cr_assert_eq(p.row_cnt, 1);
	cr_expect_eq(p.rows[0].cnt, 1);
	cr_expect_eq(p.rows[0].cut, 1);
	cr_expect_eq(p.cut, 1);
	pair_sums_fini(&p);
	reader_free(r);
}

/* Clones of a machine may have the same boot id: thread 7 of two hosts is two threads. */
Test(pair_sums, threads_of_two_hosts_with_one_boot_id_are_two_rows)
{
	struct pair_sums_opts opts = by_work;
	struct pair_sums p;
	struct trace_event ev;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	for (uint64_t i = 0; i < 2; i++) {
		const char *const kv[] = { "host", i ? "two" : "one", "boot_id", "boot", NULL };

		if (i)
			dial9_enc_reset(m.enc);
		make_metadata(&m, 1000 * i + 1, kv);
		make_clock(&m, 1000 * i + 1, 1000 * i + 1);
		work(&m, "start", 1000 * i + 20, 7);
		work(&m, "end", 1000 * i + 90, 7);
	}
	opts.by = PAIR_BY_TID;
	r = read_trace(make_done(&m));
	pair_sums_init(&p, &opts);
	while (reader_next(r, &ev) == 1)
		pair_sums_add(&p, reader_trace(r), &ev);
	pair_sums_finish(&p, reader_names(r));
	cr_expect(p.by_part);
	cr_expect_eq(p.row_cnt, 2);
	pair_sums_fini(&p);
	reader_free(r);
}
