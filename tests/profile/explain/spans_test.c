// SPDX-License-Identifier: BSD-2-Clause
/* Pairs of events in traces that a test makes: the expected pairs follow from the written events. Times in ns. */
#include "profile/explain/spans.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/buf.h"
#include "tests/support/read_trace.h"

TestSuite(spans, .timeout = 60);

static const struct spans_pattern work[] = { { "app:work_start", "app:work_end", NULL } };
static const struct spans_pattern calls[] = { { "syscalls:sys_enter_*", "syscalls:sys_exit_*",
						NULL } };
static const struct spans_pattern raw[] = { { "raw_syscalls:sys_enter", "raw_syscalls:sys_exit",
					      NULL } };
static const struct spans_pattern polls[] = { { "PollStartEvent", "PollEndEvent", NULL } };
static const struct spans_pattern steps[] = { { "SpanEnter:*", "SpanExit:*", NULL } };

/* A tracepoint without a field of its own, or with one of a number. */
static void tracepoint(struct make *m, const char *name, uint64_t ts, uint32_t tid,
		       const char *field, uint64_t value)
{
	const struct make_number v[] = { { PROF_TP_COMMON_CPU, 0 },
					 { PROF_TP_COMMON_PID, tid },
					 { field, value } };

	make_numbers(m, ts, name, v, field ? 3 : 2);
}

static void start(struct make *m, uint64_t ts, uint32_t tid)
{
	tracepoint(m, "app:work_start", ts, tid, NULL, 0);
}

static void stop(struct make *m, uint64_t ts, uint32_t tid)
{
	tracepoint(m, "app:work_end", ts, tid, NULL, 0);
}

/* An event that names a worker, and maybe a thread. */
static void worker_event(struct make *m, const char *name, uint64_t ts, uint32_t worker,
			 uint32_t tid)
{
	const struct make_number v[] = { { "worker_id", worker }, { "tid", tid } };

	make_numbers(m, ts, name, v, tid ? 2 : 1);
}

static void text_event(struct make *m, const char *name, uint64_t ts, uint32_t tid,
		       const char *request)
{
	struct dial9_schema *s =
		MAKE_SCHEMA(name, { "common_cpu", DIAL9_VARINT }, { "common_pid", DIAL9_VARINT },
			    { "request", DIAL9_POOLED_STRING });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, 0);
	dial9_enc_put_u64(m->enc, tid);
	make_str(m, request);
	make_end(m);
	dial9_schema_free(s);
}

static void find(struct spans *s, struct make *m)
{
	struct reader *r = read_trace(make_done(m));
	struct trace_event ev;

	while (reader_next(r, &ev) == 1)
		spans_add(s, reader_trace(r), &ev);
	spans_finish(s);
	reader_free(r);
}

/* "10-60 of 7", with the thread in which it ended if that is another, its matching value, and its call. */
static void print_span(struct buf *out, const struct span *v)
{
	buf_printf(out, "%" PRIu64 "-%" PRIu64 " of %d", v->start, v->end, (int)v->tid);
	if (v->end_tid != v->tid)
		buf_printf(out, " to %d", (int)v->end_tid);
	if (v->has_id)
		buf_printf(out, " id %" PRIu64, v->id);
	if (v->call_field != NAMES_NONE)
		buf_printf(out, " call %" PRIu64, v->call);
	buf_addstr(out, "\n");
}

/* A line for each pair that is kept, and one of all counters that are not 0. Frees the pairs. */
static void expect_found(struct spans *s, const char *want)
{
	const struct {
		uint64_t cnt;
		const char *what;
	} counts[] = { { s->pairs, "pairs" },	      { s->enters, "enters" },
		       { s->exits, "exits" },	      { s->nested, "nested" },
		       { s->inside, "inside" },	      { s->unended, "unended" },
		       { s->unstarted, "unstarted" }, { s->untied, "untied" },
		       { s->dropped, "crowded" } };
	const char *sep = "";
	struct buf got = { 0 };

	for (size_t k = 0; k < s->cnt; k++)
		print_span(&got, &s->v[k]);
	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		if (!counts[k].cnt)
			continue;
		buf_printf(&got, "%s%" PRIu64 " %s", sep, counts[k].cnt, counts[k].what);
		sep = ", ";
	}
	cr_expect_str_eq(buf_cstr(&got), want, "%s", buf_cstr(&got));
	buf_free(&got);
	spans_fini(s);
}

/* Of one pattern. */
static void expect(struct make *m, const struct spans_pattern *pattern, size_t max,
		   const char *want)
{
	struct spans s = { .opts = { .patterns = pattern, .pattern_cnt = 1, .max = max } };

	find(&s, m);
	expect_found(&s, want);
}

Test(spans, longest_of_many_spans_are_kept_in_order)
{
	const uint64_t lengths[] = { 5, 90, 20, 70, 20, 1, 60, 0, 80 };
	struct spans s = { .opts = { .patterns = work, .pattern_cnt = 1, .max = 4 } };
	struct make m;
	uint64_t at = 1000;

	make_init(&m, NULL);
	for (size_t k = 0; k < 9; k++, at += 1000) {
		start(&m, at, 7);
		stop(&m, at + lengths[k], 7);
	}
	find(&s, &m);
	cr_expect_eq(s.ns, 5 + 90 + 20 + 70 + 20 + 1 + 60 + 80);
	cr_expect_eq(quantile_at(&s.lengths, 0.5), 20);
	expect_found(&s, "2000-2090 of 7\n"
			 "9000-9080 of 7\n"
			 "4000-4070 of 7\n"
			 "7000-7060 of 7\n"
			 "9 pairs, 9 enters, 9 exits");
}

/* From long to short, and then a pair that replaces the shortest of the kept ones. */
Test(spans, shortest_span_is_replaced)
{
	static const uint64_t lengths[] = { 90, 80, 70, 60, 50, 40, 30, 35 };
	struct make m;

	make_init(&m, NULL);
	for (uint64_t k = 0; k < 8; k++) {
		start(&m, 1000 * k, 7);
		stop(&m, 1000 * k + lengths[k], 7);
	}
	expect(&m, work, 7,
	       "0-90 of 7\n"
	       "1000-1080 of 7\n"
	       "2000-2070 of 7\n"
	       "3000-3060 of 7\n"
	       "4000-4050 of 7\n"
	       "5000-5040 of 7\n"
	       "7000-7035 of 7\n"
	       "8 pairs, 8 enters, 8 exits");
}

/* Short ones are counted, and not kept. */
Test(spans, spans_shorter_than_the_minimum_are_not_kept)
{
	static const uint64_t lengths[] = { 9, 10, 30, 20, 1 };
	struct spans s = { .opts = { .patterns = work, .pattern_cnt = 1, .max = 2, .min_ns = 10 } };
	struct make m;

	make_init(&m, NULL);
	for (uint64_t k = 0; k < 5; k++) {
		start(&m, 1000 * k, 7);
		stop(&m, 1000 * k + lengths[k], 7);
	}
	find(&s, &m);
	cr_assert_eq(s.cnt, 2);
	cr_expect_eq(s.v[0].start, 2000);
	cr_expect_eq(s.v[1].start, 3000);
	cr_expect_eq(s.pairs, 5);
	cr_expect_eq(s.ns, 70);
	cr_expect_eq(s.slow, 3);
	cr_expect_eq(s.slow_ns, 60);
	spans_fini(&s);
}

static int longest_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* The same result as sorting all of them. */
Test(spans, longest_of_random_spans_are_kept)
{
	enum { ALL = 700, KEPT = 37 };
	struct spans s = { .opts = { .patterns = work, .pattern_cnt = 1, .max = KEPT } };
	uint64_t lengths[ALL], x = 88172645463325252, at = 1000;
	struct make m;

	make_init(&m, NULL);
	for (size_t k = 0; k < ALL; k++, at += 2000) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		lengths[k] = x % 1000;
		start(&m, at, 7);
		stop(&m, at + lengths[k], 7);
	}
	qsort(lengths, ALL, sizeof(lengths[0]), longest_first);
	find(&s, &m);
	cr_assert_eq(s.cnt, KEPT);
	for (size_t k = 0; k < KEPT; k++)
		cr_expect_eq(s.v[k].end - s.v[k].start, lengths[k], "%zu", k);
	for (size_t k = 1; k < KEPT; k++)
		cr_expect(lengths[k - 1] != lengths[k] || s.v[k - 1].start < s.v[k].start,
			  "of equal ones the earlier is first");
	spans_fini(&s);
}

Test(spans, threads_are_separate_and_the_earlier_of_equal_spans_is_first)
{
	struct make m;

	make_init(&m, NULL);
	start(&m, 10, 7);
	start(&m, 20, 8);
	stop(&m, 60, 7);
	stop(&m, 70, 8);
	expect(&m, work, 10,
	       "10-60 of 7\n"
	       "20-70 of 8\n"
	       "2 pairs, 2 enters, 2 exits");
}

Test(spans, nested_spans_are_part_of_the_outermost)
{
	struct make m;

	make_init(&m, NULL);
	stop(&m, 5, 7);
	start(&m, 10, 7);
	start(&m, 20, 7);
	start(&m, 30, 7);
	stop(&m, 40, 7);
	stop(&m, 50, 7);
	stop(&m, 60, 7);
	start(&m, 70, 7);
	expect(&m, work, 10,
	       "10-60 of 7\n"
	       "1 pairs, 4 enters, 4 exits, 2 nested, 1 unended, 1 unstarted");
}

/* The end of the first may be lost: otherwise all later pairs would be nested in it. */
Test(spans, start_after_a_loss_begins_a_new_span)
{
	struct make m;

	make_init(&m, NULL);
	start(&m, 10, 7);
	make_lost(&m, 15, "ring_full", 1, 11, 12);
	start(&m, 20, 7);
	stop(&m, 30, 7);
	start(&m, 40, 7);
	stop(&m, 50, 7);
	expect(&m, work, 10,
	       "20-30 of 7\n"
	       "40-50 of 7\n"
	       "2 pairs, 3 enters, 2 exits, 1 unended");
}

Test(spans, system_call_without_an_end_is_replaced_by_the_next)
{
	struct make m;

	make_init(&m, NULL);
	tracepoint(&m, "syscalls:sys_enter_read", 10, 7, "__syscall_nr", 0);
	tracepoint(&m, "syscalls:sys_enter_fsync", 20, 7, "__syscall_nr", 74);
	tracepoint(&m, "syscalls:sys_exit_fsync", 25, 7, "__syscall_nr", 74);
	tracepoint(&m, "syscalls:sys_enter_read", 30, 7, "__syscall_nr", 0);
	tracepoint(&m, "syscalls:sys_exit_fsync", 90, 7, "__syscall_nr", 74);
	expect(&m, calls, 10,
	       "20-25 of 7 call 74\n"
	       "1 pairs, 3 enters, 2 exits, 2 unended, 1 unstarted");
}

/* From the end of one call to the start of another: what a server does between request and answer. */
Test(spans, span_may_be_the_time_between_two_system_calls)
{
	static const struct spans_pattern served[] = { { "syscalls:sys_exit_read",
							 "syscalls:sys_enter_write", NULL } };
	struct make m;

	make_init(&m, NULL);
	tracepoint(&m, "syscalls:sys_exit_read", 10, 7, "__syscall_nr", 0);
	tracepoint(&m, "syscalls:sys_exit_read", 20, 7, "__syscall_nr", 0);
	tracepoint(&m, "syscalls:sys_enter_write", 50, 7, "__syscall_nr", 1);
	expect(&m, served, 10,
	       "20-50 of 7\n"
	       "1 pairs, 2 enters, 1 exits, 1 unended");
}

Test(spans, raw_system_calls_match_by_thread)
{
	struct make m;

	make_init(&m, NULL);
	tracepoint(&m, "raw_syscalls:sys_enter", 10, 7, "id", 1);
	tracepoint(&m, "raw_syscalls:sys_exit", 20, 7, "id", 1);
	tracepoint(&m, "raw_syscalls:sys_enter", 30, 7, "id", 1);
	tracepoint(&m, "raw_syscalls:sys_exit", 90, 7, "id", 2);
	/* the thread matches them, not the field named id */
	expect(&m, raw, 10,
	       "10-20 of 7 call 1\n"
	       "1 pairs, 2 enters, 2 exits, 1 unended, 1 unstarted");
}

/* The name comes from the trace's symbols for its number; a number without a symbol matches no name. */
Test(spans, raw_system_calls_are_selected_by_name)
{
	static const struct spans_pattern by_name[] = {
		{ "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "f*sync" },
		{ "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "write" },
	};
	static const char *const ends[] = { "raw_syscalls:sys_enter", "raw_syscalls:sys_exit" };
	static const char *const names[] = { "read", "write", "fsync" };
	static const uint64_t numbers[] = { 0, 1, 74, 99 };
	struct spans s = { .opts = { .patterns = by_name, .pattern_cnt = 2, .max = 10 } };
	struct make m;

	make_init(&m, NULL);
	for (int k = 0; k < 2; k++)
		for (int n = 0; n < 3; n++)
			make_tpsym(&m, 5, ends[k], "id", PROF_TP_SYMBOL, numbers[n], names[n]);
	for (uint64_t n = 0; n < 4; n++) {
		tracepoint(&m, ends[0], 100 * n + 10, 7, "id", numbers[n]);
		tracepoint(&m, ends[1], 100 * n + 20 + n, 7, "id", numbers[n]);
	}
	find(&s, &m);
	expect_found(&s, "210-222 of 7 call 74\n"
			 "110-121 of 7 call 1\n"
			 "2 pairs, 2 enters, 2 exits");
}

static const struct spans_pattern fsyncs[] = {
	{ "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "fsync" },
	{ "syscalls:sys_enter_fsync", "syscalls:sys_exit_fsync", NULL },
};

/* Three calls with both kinds of events; their own ends may be missing. */
static void find_both(struct spans *s, bool own_exits)
{
	struct make m;

	make_init(&m, NULL);
	make_tpsym(&m, 5, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, 74, "fsync");
	make_tpsym(&m, 5, "raw_syscalls:sys_exit", "id", PROF_TP_SYMBOL, 74, "fsync");
	for (uint64_t at = 10; at < 40; at += 10) {
		tracepoint(&m, "raw_syscalls:sys_enter", at, 7, "id", 74);
		tracepoint(&m, "syscalls:sys_enter_fsync", at + 1, 7, "__syscall_nr", 74);
		tracepoint(&m, "raw_syscalls:sys_exit", at + 5, 7, "id", 74);
		if (own_exits)
			tracepoint(&m, "syscalls:sys_exit_fsync", at + 7, 7, "__syscall_nr", 74);
	}
	find(s, &m);
}

Test(spans, call_with_two_kinds_of_events_counts_once)
{
	struct spans s = { .opts = { .patterns = fsyncs, .pattern_cnt = 2, .max = 10 } };

	find_both(&s, true);
	cr_assert(spans_needs_rerun(&s));
	spans_restart(&s);
	find_both(&s, true);
	cr_expect_not(spans_needs_rerun(&s));
	expect_found(&s, "11-17 of 7 call 74\n"
			 "21-27 of 7 call 74\n"
			 "31-37 of 7 call 74\n"
			 "3 pairs, 3 enters, 3 exits");
	/* without an end they are ignored, and not unmatched either */
	find_both(&s, false);
	cr_expect_not(spans_needs_rerun(&s));
	expect_found(&s, "10-15 of 7 call 74\n"
			 "20-25 of 7 call 74\n"
			 "30-35 of 7 call 74\n"
			 "3 pairs, 6 enters, 3 exits");
}

/* A reused TID belongs to another thread. */
Test(spans, exit_of_a_thread_closes_its_spans)
{
	struct make m;

	make_init(&m, NULL);
	start(&m, 10, 7);
	tracepoint(&m, PROF_EV_SCHED_PROCESS_EXIT, 20, 7, NULL, 0);
	start(&m, 30, 7);
	stop(&m, 40, 7);
	expect(&m, work, 10,
	       "30-40 of 7\n"
	       "1 pairs, 2 enters, 1 exits, 1 unended");
}

Test(spans, worker_belongs_to_the_thread_in_its_events)
{
	struct make m;

	make_init(&m, NULL);
	worker_event(&m, "PollStartEvent", 10, 1, 0);
	worker_event(&m, "PollEndEvent", 30, 1, 0);
	worker_event(&m, "PollStartEvent", 10, 0, 0);
	worker_event(&m, "WorkerParkEvent", 15, 1, 71);
	worker_event(&m, "WorkerParkEvent", 15, 0, 70);
	worker_event(&m, "PollEndEvent", 20, 0, 0);
	worker_event(&m, "PollStartEvent", 40, 3, 0);
	worker_event(&m, "PollEndEvent", 45, 3, 0);
	worker_event(&m, "PollStartEvent", 50, PROF_WORKER_NONE, 0);
	worker_event(&m, "PollEndEvent", 60, PROF_WORKER_NONE, 0);
	/* the last two name no worker either */
	expect(&m, polls, 10,
	       "10-30 of 71\n"
	       "10-20 of 70\n"
	       "40-45 of -1\n"
	       "3 pairs, 4 enters, 4 exits, 2 untied");
}

/* At the time of its event, even if it comes late: batches of threads come one after the other. */
Test(spans, worker_may_move_between_threads)
{
	struct make m;

	make_init(&m, NULL);
	worker_event(&m, "PollStartEvent", 10, 0, 0);
	worker_event(&m, "PollEndEvent", 30, 0, 0);
	worker_event(&m, "PollStartEvent", 110, 0, 0);
	worker_event(&m, "PollEndEvent", 120, 0, 0);
	worker_event(&m, "WorkerUnparkEvent", 100, 0, 71);
	worker_event(&m, "WorkerParkEvent", 40, 0, 70);
	expect(&m, polls, 10,
	       "10-30 of 70\n"
	       "110-120 of 71\n"
	       "2 pairs, 2 enters, 2 exits");
}

static bool wants_71(void *ctx, uint32_t tid, uint32_t cpu)
{
	(void)ctx;
	(void)cpu;
	return tid == 71;
}

/* Which thread a worker is, and so whether it is selected, is recorded after its polls. */
Test(spans, spans_of_one_worker_are_found_in_the_second_pass)
{
	struct spans s = { .opts = { .patterns = polls,
				     .pattern_cnt = 1,
				     .max = 9,
				     .is_wanted = wants_71,
				     .by_thread = true } };
	struct trace_event ev;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	for (uint32_t worker = 0; worker < 2; worker++) {
		worker_event(&m, "PollStartEvent", 10 + worker, worker, 0);
		worker_event(&m, "PollEndEvent", 20, worker, 0);
		worker_event(&m, "WorkerParkEvent", 30, worker, 70 + worker);
	}
	r = read_trace(make_done(&m));
	while (reader_next(r, &ev) == 1)
		spans_add(&s, reader_trace(r), &ev);
	cr_expect_eq(s.pairs, 0);
	cr_assert(spans_needs_rerun(&s));
	spans_restart(&s);
	cr_assert_eq(reader_rewind(r), 0);
	while (reader_next(r, &ev) == 1)
		spans_add(&s, reader_trace(r), &ev);
	spans_finish(&s);
	expect_found(&s, "11-20 of 71\n1 pairs, 2 enters, 2 exits");
	reader_free(r);
}

Test(spans, spans_match_by_id_before_thread)
{
	struct make m;

	make_init(&m, NULL);
	tracepoint(&m, "SpanEnter:a", 10, 7, "span_id", 100);
	tracepoint(&m, "SpanEnter:b", 20, 7, "span_id", 101);
	tracepoint(&m, "SpanExit:a", 30, 7, "span_id", 100);
	tracepoint(&m, "SpanExit:b", 90, 8, "span_id", 101);
	expect(&m, steps, 10,
	       "20-90 of 7 to 8 id 101\n"
	       "10-30 of 7 id 100\n"
	       "2 pairs, 2 enters, 2 exits");
}

/* If it is in another thread, or over at the end of the pair, the outer pair does not contain it. */
Test(spans, nested_spans_of_a_thread_are_marked)
{
	struct spans s = { .opts = { .patterns = steps, .pattern_cnt = 1, .max = 10 } };
	struct make m;

	make_init(&m, NULL);
	tracepoint(&m, "SpanEnter:a", 10, 7, "span_id", 100);
	tracepoint(&m, "SpanEnter:b", 20, 7, "span_id", 101);
	tracepoint(&m, "SpanEnter:b", 25, 8, "span_id", 102);
	tracepoint(&m, "SpanExit:b", 30, 7, "span_id", 101);
	tracepoint(&m, "SpanEnter:b", 40, 7, "span_id", 103);
	tracepoint(&m, "SpanExit:a", 50, 7, "span_id", 100);
	tracepoint(&m, "SpanExit:b", 60, 7, "span_id", 103);
	tracepoint(&m, "SpanExit:b", 65, 8, "span_id", 102);
	find(&s, &m);
	cr_assert_eq(s.kind_cnt, 2);
	cr_expect_eq(s.kinds[0].pairs, 3);
	cr_expect_eq(s.kinds[0].ns, 70);
	cr_expect_eq(s.kinds[1].pairs, 1);
	cr_expect_eq(s.kinds[1].ns, 40);
	expect_found(&s, "10-50 of 7 id 100\n"
			 "25-65 of 8 id 102\n"
			 "40-60 of 7 id 103\n"
			 "20-30 of 7 id 101\n"
			 "4 pairs, 4 enters, 4 exits, 1 inside");
}

/* What was lost may be the end of the outer one. */
Test(spans, span_after_a_loss_is_not_nested)
{
	struct make m;

	make_init(&m, NULL);
	tracepoint(&m, "SpanEnter:a", 10, 7, "span_id", 100);
	make_lost(&m, 15, "sched", 1, 11, 14);
	tracepoint(&m, "SpanEnter:b", 20, 7, "span_id", 101);
	tracepoint(&m, "SpanExit:b", 30, 7, "span_id", 101);
	expect(&m, steps, 10,
	       "20-30 of 7 id 101\n"
	       "1 pairs, 2 enters, 1 exits, 1 unended");
}

/* A pair without a thread belongs to the thread that ended it. */
Test(spans, thread_may_come_from_the_end_event)
{
	struct make m;

	make_init(&m, NULL);
	MAKE_NUMBERS(&m, 10, "SpanEnter:a", { "span_id", 5 });
	tracepoint(&m, "SpanExit:a", 30, 8, "span_id", 5);
	expect(&m, steps, 10,
	       "10-30 of 8 id 5\n"
	       "1 pairs, 1 enters, 1 exits");
}

Test(spans, spans_match_across_threads_by_a_text_field)
{
	struct spans s = {
		.opts = { .patterns = work, .pattern_cnt = 1, .field = "request", .max = 10 }
	};
	struct make m;

	make_init(&m, NULL);
	text_event(&m, "app:work_start", 10, 7, "a");
	text_event(&m, "app:work_start", 20, 8, "b");
	text_event(&m, "app:work_end", 50, 9, "b");
	text_event(&m, "app:work_end", 60, 9, "a");
	start(&m, 70, 7); /* of another layout, without the field */
	find(&s, &m);
	expect_found(&s, "10-60 of 7 to 9\n"
			 "20-50 of 8 to 9\n"
			 "2 pairs, 3 enters, 2 exits, 1 untied");
}

Test(spans, end_before_its_start_is_ignored)
{
	struct make m;

	make_init(&m, NULL);
	start(&m, 50, 7);
	stop(&m, 40, 7);
	expect(&m, work, 10, "1 enters, 1 exits, 1 unended, 1 unstarted");
}

Test(spans, number_of_open_spans_is_limited)
{
	struct spans s = { .opts = { .patterns = steps, .pattern_cnt = 1, .max = 1 } };
	struct make m;

	make_init(&m, NULL);
	for (uint64_t id = 0; id < SPANS_OPEN_MAX + 3; id++)
		tracepoint(&m, "SpanEnter:a", 10 + id, 7, "span_id", id);
	tracepoint(&m, "SpanExit:a", 10 + SPANS_OPEN_MAX + 3, 7, "span_id", 0);
	find(&s, &m);
	cr_expect_eq(s.dropped, 3);
	cr_expect_eq(s.pairs, 1);
	cr_expect_eq(s.unended, SPANS_OPEN_MAX - 1);
	spans_fini(&s);
}

static bool only_8(void *ctx, uint32_t tid, uint32_t cpu)
{
	(void)ctx;
	(void)cpu;
	return tid == 8;
}

/* Other threads may have the same field value: each end matches its own start. */
Test(spans, spans_of_other_threads_with_the_same_field_value_end_no_span)
{
	struct spans s = { .opts = { .patterns = work,
				     .pattern_cnt = 1,
				     .field = "request",
				     .max = 10,
				     .is_wanted = only_8 } };
	struct make m;

	make_init(&m, NULL);
	text_event(&m, "app:work_start", 10, 8, "a");
	text_event(&m, "app:work_start", 20, 7, "a");
	text_event(&m, "app:work_end", 30, 7, "a");
	text_event(&m, "app:work_end", 60, 9, "a");
	text_event(&m, "app:work_start", 70, 7, "b");
	text_event(&m, "app:work_start", 80, 8, "b");
	text_event(&m, "app:work_end", 90, 7, "b");
	text_event(&m, "app:work_end", 95, 8, "b");
	text_event(&m, "app:work_start", 100, 7, "c");
	find(&s, &m);
	expect_found(&s, "10-60 of 8 to 9\n"
			 "1 pairs, 5 enters, 4 exits, 2 nested");
}

/* By the thread that began it; open or ended pairs of other threads are not counted. */
Test(spans, only_spans_of_selected_threads_are_kept)
{
	struct spans s = {
		.opts = { .patterns = work, .pattern_cnt = 1, .max = 10, .is_wanted = only_8 }
	};
	struct make m;

	make_init(&m, NULL);
	stop(&m, 5, 7);
	start(&m, 10, 7);
	start(&m, 20, 8);
	stop(&m, 25, 8);
	start(&m, 30, 7);
	find(&s, &m);
	expect_found(&s, "20-25 of 8\n"
			 "1 pairs, 3 enters, 2 exits");
}
