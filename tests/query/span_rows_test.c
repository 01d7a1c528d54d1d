// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables spans and polls: pairs of a made trace, and on random traces the same sums as `count --pair`, which are
 * reached by another way through the program.
 */
#include "tests/cmd/random_trace.h"

#include <inttypes.h>

#include "cmd/count/count.h"

TestSuite(span_rows, .timeout = 60);

static void at(struct make *m, uint64_t ts, const char *name, uint32_t tid, uint64_t number)
{
	MAKE_NUMBERS(m, ts, name, { PROF_TP_COMMON_CPU, 0 }, { PROF_TP_COMMON_PID, tid },
		     { "request", number });
}

/* Two threads; requests of the first go over to the second. */
static int requests(void)
{
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 5, 5, "front");
	make_task(&m, 1, 5, 6, "back");
	at(&m, 10, "app:work_start", 5, 1);
	at(&m, 20, "app:work_start", 6, 2);
	at(&m, 30, "app:work_end", 6, 1);
	at(&m, 45, "app:work_end", 5, 2);
	at(&m, 50, "app:work_start", 5, 3);
	at(&m, 90, "app:work_end", 6, 3);
	return make_done(&m);
}

static struct run query(int fd, const char *sql)
{
	return run_cmd(cmd_query, fd, "query", sql, "-", "--format", "csv", NULL);
}

static void expect_rows(int fd, const char *sql, const char *want)
{
	struct run r = query(fd, sql);

	cr_expect_eq(r.code, CMD_OK, "%s", r.err);
	cr_expect_str_eq(r.out, want, "%s\n%s\nwanted:\n%s\n%s", sql, r.out, want, r.err);
	run_free(&r);
}

Test(span_rows, pairs_of_a_thread)
{
	expect_rows(requests(),
		    "SELECT ts, dur, tid, pid, comm, end_tid, event, call, cut"
		    " FROM spans('app:work_start', 'app:*_end')",
		    "ts,dur,tid,pid,comm,end_tid,event,call,cut\n"
		    "20,10,6,5,back,6,app:work_start,,0\n"
		    "10,35,5,5,front,5,app:work_start,,0\n");
}

Test(span_rows, pairs_of_a_field_cross_threads)
{
	expect_rows(
		requests(),
		"SELECT ts, dur, tid, end_tid, id FROM spans('app:work_start', 'app:work_end', 'request')",
		"ts,dur,tid,end_tid,id\n"
		"10,20,5,6,1\n20,25,6,5,2\n50,40,5,6,3\n");
	expect_rows(requests(),
		    "SELECT ts FROM spans('app:work_start', 'app:work_end', 'request')"
		    " WHERE tid = 5 AND ts > 10",
		    "ts\n50\n");
}

Test(span_rows, arguments_can_come_from_another_table)
{
	expect_rows(requests(),
		    "SELECT x.e, count(*) FROM (SELECT 'app:work_end' AS e UNION SELECT 'none') x,"
		    " spans('app:work_start', x.e) GROUP BY 1",
		    "e,count(*)\napp:work_end,2\n");
}

Test(span_rows, a_second_value_of_an_argument_is_compared)
{
	expect_rows(
		requests(),
		"SELECT count(*) FROM spans('app:work_start', 'app:work_end') WHERE start = 'app:other'",
		"count(*)\n0\n");
	expect_rows(requests(),
		    "SELECT count(*) FROM spans('app:work_start', 'app:work_end')"
		    " WHERE start IN ('app:other', 'app:work_start')",
		    "count(*)\n2\n");
}

Test(span_rows, a_loss_cuts_the_pair_around_it)
{
	struct make m;

	make_init(&m, NULL);
	at(&m, 10, "app:work_start", 5, 1);
	make_lost(&m, 25, "ring_full", 1, 15, 20);
	at(&m, 30, "app:work_end", 5, 1);
	at(&m, 40, "app:work_start", 5, 2);
	at(&m, 50, "app:work_end", 5, 2);
	expect_rows(make_done(&m),
		    "SELECT ts, dur, cut FROM spans('app:work_start', 'app:work_end')",
		    "ts,dur,cut\n10,20,1\n40,10,0\n");
}

Test(span_rows, polls_have_the_thread_of_their_worker)
{
	struct make m;

	make_init(&m, NULL);
	make_task(&m, 1, 5, 7, "tokio-worker");
	MAKE_NUMBERS(&m, 2, "WorkerUnparkEvent", { "worker_id", 3 }, { "tid", 7 });
	make_poll_start(&m, 10, 3, 99, "src/a.rs:1:1");
	MAKE_NUMBERS(&m, 25, "PollEndEvent", { "worker_id", 3 });
	make_poll_start(&m, 30, 4, 98, "src/b.rs:1:1");
	MAKE_NUMBERS(&m, 70, "PollEndEvent", { "worker_id", 4 });
	expect_rows(make_done(&m), "SELECT ts, dur, tid, pid, comm, event FROM polls",
		    "ts,dur,tid,pid,comm,event\n"
		    "10,15,7,5,tokio-worker,PollStartEvent\n30,40,,,,PollStartEvent\n");
}

Test(span_rows, system_calls_have_names_without_arguments)
{
	struct make m;

	make_init(&m, NULL);
	make_tpsym(&m, 1, "raw_syscalls:sys_enter", "id", PROF_TP_SYMBOL, 39, "getpid");
	MAKE_NUMBERS(&m, 10, "raw_syscalls:sys_enter", { PROF_TP_COMMON_CPU, 0 },
		     { PROF_TP_COMMON_PID, 5 }, { "id", 39 });
	MAKE_NUMBERS(&m, 14, "raw_syscalls:sys_exit", { PROF_TP_COMMON_CPU, 0 },
		     { PROF_TP_COMMON_PID, 5 }, { "id", 39 });
	at(&m, 20, "syscalls:sys_enter_read", 6, 0);
	at(&m, 30, "syscalls:sys_exit_read", 6, 0);
	expect_rows(make_done(&m), "SELECT tid, call, dur FROM spans",
		    "tid,call,dur\n5,getpid,4\n6,read,10\n");
}

Test(span_rows, half_a_pair_is_refused)
{
	static const char *const statements[] = { "SELECT * FROM spans('a')",
						  "SELECT * FROM spans(NULL, 'b')",
						  "SELECT * FROM spans WHERE key = 'x'" };

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		struct run r = query(requests(), statements[i]);

		cr_expect_eq(r.code, CMD_USAGE, "%s: %s", statements[i], r.out);
		cr_expect_not_null(strstr(r.err, "spans(START, END, KEY)"), "%s: %s", statements[i],
				   r.err);
		run_free(&r);
	}
}

/* ---- random traces ------------------------------------------------------------------------------ */

static uint64_t number_of(const char *json, const char *key)
{
	const char *found = strstr(json, key);

	cr_assert_not_null(found, "%s in %s", key, json);
	return strtoull(found + strlen(key), NULL, 10);
}

Test(span_rows, sums_equal_count)
{
	uint64_t all = 0;

	for (unsigned int seed = 0; seed < 20; seed++) {
		char want[128];
		struct run r = run_cmd(cmd_count, random_trace(seed, 400), "count", "-", "--pair",
				       "sched:sched_waking,sched:sched_switch", "--json", NULL);
		const uint64_t pairs = number_of(r.out, "\"pairs\":"),
			       cut = number_of(r.out, "\"pairs_cut\":"),
			       ns = number_of(r.out, "\"total_ns\":");

		run_free(&r);
		all += pairs;
		snprintf(want, sizeof(want), "n,cut,ns\n%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			 pairs, cut, ns);
		expect_rows(
			random_trace(seed, 400),
			"SELECT count(*) AS n, coalesce(sum(cut), 0) AS cut, coalesce(sum(dur) FILTER (WHERE cut = 0), 0) AS ns"
			" FROM spans('sched:sched_waking', 'sched:sched_switch')",
			want);
	}
	cr_expect_gt(all, 200);
}
