// SPDX-License-Identifier: BSD-2-Clause
/*
 * SQL over traces. Rows of a made trace are compared with what was put into it, sums over random traces with the
 * commands that have the same numbers, and conditions that skip rows early with the same ones evaluated by SQLite.
 */
#include "tests/cmd/random_trace.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>

#include "base/buf.h"
#include "cmd/sched/sched.h"
#include "tests/support/chance.h"
#include "tests/support/temp_dir.h"

static struct run query(int fd, const char *format, const char *sql)
{
	return run_cmd(cmd_query, fd, "query", sql, "-", "--format", format, NULL);
}

static void expect_rows(const char *sql, const char *want)
{
	struct run r = query(run_app_file(), "csv", sql);

	cr_expect_eq(r.code, CMD_OK, "%s", r.err);
	cr_expect_str_eq(r.out, want, "%s\n%s\nwanted:\n%s\n%s", sql, r.out, want, r.err);
	run_free(&r);
}

/* ---- a made trace ------------------------------------------------------------------------------- */

Test(query_command, samples)
{
	/* 8 samples of 10.10101 ms, and the stack of a switch */
	expect_rows("SELECT source, count(*), sum(weight) FROM samples GROUP BY 1",
		    "source,count(*),sum(weight)\ncpu,8,80808080\nswitch,1,\n");
	expect_rows("SELECT count(*) FROM samples WHERE source = 'cpu' AND tid = 11",
		    "count(*)\n2\n");
	expect_rows(
		"SELECT comm, cpu, pid, host, count(*) FROM samples WHERE source = 'cpu' GROUP BY tid, cpu",
		"comm,cpu,pid,host,count(*)\napp,0,10,box,2\napp,1,10,box,4\n"
		"pool,1,10,box,2\n");
}

Test(query_command, functions_of_stacks)
{
	expect_rows(
		"SELECT leaf(stack), folded(stack), count(*) FROM samples GROUP BY stack ORDER BY 3 DESC",
		"leaf(stack),folded(stack),count(*)\n"
		"leaf (inlined),main;work;hot;leaf (inlined),6\n"
		"[unknown],main;[unknown],2\n"
		"schedule,main;work;schedule,1\n");
	expect_rows("SELECT sum(has_frame(stack, 'work')), sum(has_frame(stack, 'sche*')),"
		    " sum(has_frame(stack, 'wor')) FROM samples",
		    "\"sum(has_frame(stack, 'work'))\",\"sum(has_frame(stack, 'sche*'))\","
		    "\"sum(has_frame(stack, 'wor'))\"\n7,1,0\n");
	expect_rows(
		"SELECT leaf(NULL) IS NULL, folded(-1) IS NULL, leaf(1 << 40) IS NULL, has_frame(7, NULL) IS NULL",
		"leaf(NULL) IS NULL,folded(-1) IS NULL,leaf(1 << 40) IS NULL,\"has_frame(7, NULL) IS NULL\"\n"
		"1,1,1,1\n");
}

Test(query_command, frames_of_a_stack)
{
	expect_rows(
		"SELECT f.depth, f.function, f.module, f.offset, f.file, f.line, f.inlined, f.kernel"
		" FROM (SELECT min(stack) AS s FROM samples) m, frames(m.s) f",
		"depth,function,module,offset,file,line,inlined,kernel\n"
		"0,leaf,/opt/app/bin/app,784,leaf.h,7,1,0\n"
		"1,hot,/opt/app/bin/app,784,app.c,21,0,0\n"
		"2,work,/opt/app/bin/app,528,app.c,15,0,0\n"
		"3,main,/opt/app/bin/app,272,app.c,5,0,0\n");
	expect_rows("SELECT count(*) FROM frames(123456)", "count(*)\n0\n");
	expect_rows("SELECT count(*) FROM frames", "count(*)\n0\n");
}

Test(query_command, buckets)
{
	expect_rows(
		"SELECT ilog2(0) IS NULL, ilog2(-1) IS NULL, ilog2(NULL) IS NULL, ilog2(1), ilog2(2), ilog2(3),"
		" ilog2((1 << 53) - 1), ilog2(1 << 53), ilog2(9223372036854775807)",
		"ilog2(0) IS NULL,ilog2(-1) IS NULL,ilog2(NULL) IS NULL,ilog2(1),ilog2(2),"
		"ilog2(3),ilog2((1 << 53) - 1),ilog2(1 << 53),ilog2(9223372036854775807)\n"
		"1,1,1,0,1,1,52,53,62\n");
}

Test(query_command, slices_and_their_wakers)
{
	/* from the switch at 12.001234567 s to the wakeup at 13 s */
	expect_rows(
		"SELECT ts, dur, tid, comm, task_state, end, waker, waker_comm, leaf(stack), cut, host"
		" FROM slices WHERE state = 'blocked'",
		"ts,dur,tid,comm,task_state,end,waker,waker_comm,leaf(stack),cut,host\n"
		"12001234567,998765433,11,pool,S,wakeup,unknown,app,schedule,0,box\n");
}

Test(query_command, times_of_day_follow_from_the_clock_event)
{
	/* 10 s on the clock of the trace were 1700000000 s since 1970 */
	expect_rows("SELECT wall - ts FROM samples GROUP BY 1", "wall - ts\n1699999990000000000\n");
}

Test(query_command, losses_and_traces)
{
	expect_rows("SELECT ts, last_ts, kind, class, count FROM lost",
		    "ts,last_ts,kind,class,count\n13000005000,13000007000,ring_full,events,3\n");
	expect_rows(
		"SELECT trace, path, host, first_ts, last_ts, lost, incomplete, period, schema_version FROM traces",
		"trace,path,host,first_ts,last_ts,lost,incomplete,period,schema_version\n"
		"1,standard input,box,10000000000,14000000000,3,1,10101010,1\n");
}

Test(query_command, tasks_of_a_thread)
{
	expect_rows("SELECT tid, pid, comm, host FROM tasks ORDER BY tid",
		    "tid,pid,comm,host\n10,10,app,box\n11,10,pool,box\n");
	expect_rows("SELECT comm FROM tasks WHERE tid = 11", "comm\npool\n");
	expect_rows("SELECT comm FROM tasks WHERE tid = 12", "comm\n");
	expect_rows("SELECT comm FROM tasks WHERE tid = -1", "comm\n");
}

Test(query_command, a_table_for_each_event)
{
	expect_rows(
		"SELECT ts, task_tid, task_cpu, prev_comm, prev_pid, prev_state, next_comm, next_pid,"
		" typeof(prev_comm), typeof(next_pid) FROM \"sched:sched_switch\"",
		"ts,task_tid,task_cpu,prev_comm,prev_pid,prev_state,next_comm,next_pid,"
		"typeof(prev_comm),typeof(next_pid)\n"
		"12001234567,11,1,pool,11,1,swapper/1,0,text,integer\n");
	expect_rows(
		"SELECT event, json_extract(fields, '$.next_comm') FROM events WHERE event = 'sched:sched_switch'",
		"event,\"json_extract(fields, '$.next_comm')\"\nsched:sched_switch,swapper/1\n");
}

/* Two threads of a process; the system call of thread 8 is the longest. */
static int calls_of_two_threads(void)
{
	static const char enter[] = "raw_syscalls:sys_enter", end[] = "raw_syscalls:sys_exit";
	struct make m;

	make_init(&m, NULL);
	make_tpsym(&m, 5, enter, "id", PROF_TP_SYMBOL, 35, "nanosleep");
	make_tpsym(&m, 5, end, "id", PROF_TP_SYMBOL, 35, "nanosleep");
	make_task(&m, 5, 7, 7, "other");
	make_task(&m, 5, 7, 8, "slow");
	make_switch(&m, 10, 0, "swapper/0", 0, 0, "other", 7);
	make_switch(&m, 10, 1, "swapper/1", 0, 0, "slow", 8);
	MAKE_NUMBERS(&m, 20, enter, { PROF_TP_COMMON_CPU, 1 }, { PROF_TP_COMMON_PID, 8 },
		     { "id", 35 });
	make_switch(&m, 30, 0, "other", 7, 1, "swapper/0", 0);
	make_switch(&m, 40, 1, "slow", 8, 1, "swapper/1", 0);
	make_waking(&m, 90, 1, 0, "slow", 8);
	make_switch(&m, 95, 1, "swapper/1", 0, 0, "slow", 8);
	MAKE_NUMBERS(&m, 100, end, { PROF_TP_COMMON_CPU, 1 }, { PROF_TP_COMMON_PID, 8 },
		     { "id", 35 });
	make_switch(&m, 110, 1, "slow", 8, 1, "swapper/1", 0);
	return make_done(&m);
}

Test(query_command, slowest_request_names_its_call_and_thread_first)
{
	struct run r = query(calls_of_two_threads(), "csv", "slowest-request");

	run_expect(
		r, CMD_OK,
		"request,request_tid,request_ns,at_ns,ns,state,tid,comm,cpu,other,host,ts,stack\n"
		"nanosleep,8,80,0,20,running,8,slow,1,,,10,\n"
		"nanosleep,8,80,20,50,blocked,8,slow,1,swapper,,40,\n"
		"nanosleep,8,80,70,5,runnable,8,slow,1,swapper,,90,\n"
		"nanosleep,8,80,75,5,running,8,slow,1,,,95,\n"
		"nanosleep,8,80,0,10,running,7,other,0,,,10,\n"
		"nanosleep,8,80,10,70,blocked,7,other,0,,,30,\n",
		"");
}

Test(query_command, losses_are_reported_on_stderr)
{
	struct run r = query(run_app_file(), "csv", "SELECT 1");

	run_expect(r, CMD_OK, "1\n1\n",
		   "dial9-prof: standard input: lost: 3 events (see dial9-prof info)\n");
}

Test(query_command, formats)
{
	const char *sql =
		"SELECT 1 AS a, 'x|y' AS b, NULL AS c, 0.1 AS d, x'00ff' AS e, '=1+1' AS f";
	struct run r = query(run_app_file(), "table", sql);

	cr_expect_str_eq(r.out,
			 "  a  b      c    d  e     f\n"
			 "---  ---  ---  ---  ----  ----\n"
			 "  1  x|y       0.1  00ff  =1+1\n",
			 "%s", r.out);
	run_free(&r);
	r = query(run_app_file(), "markdown", sql);
	run_expect_in(r.out, "x\\|y");
	run_free(&r);
	r = query(run_app_file(), "json", sql);
	cr_expect_str_eq(
		r.out,
		"[\n{\"a\":1,\"b\":\"x|y\",\"c\":null,\"d\":0.1,\"e\":\"00ff\",\"f\":\"=1+1\"}\n]\n");
	run_free(&r);
	r = query(run_app_file(), "csv", sql);
	cr_expect_str_eq(r.out, "a,b,c,d,e,f\n1,x|y,,0.1,00ff,\"'=1+1\"\n");
	run_free(&r);
}

Test(query_command, bars_in_names_do_not_end_cells_of_markdown)
{
	struct run r = query(run_app_file(), "markdown", "SELECT 1 AS 'a|b', 'x' AS c");

	cr_expect_str_eq(r.out, "| a\\|b | c   |\n| ---: | --- |\n|    1 | x   |\n", "%s", r.out);
	run_free(&r);
}

Test(query_command, columns_of_equal_names_have_keys_of_their_own)
{
	struct run r = query(run_app_file(), "json",
			     "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a, 5 AS A, 6 AS '', 7 AS ''");

	cr_expect_str_eq(r.out,
			 "[\n{\"a\":1,\"a_3\":2,\"a_2\":3,\"a_4\":4,\"A\":5,\"\":6,\"_2\":7}\n]\n",
			 "%s", r.out);
	run_free(&r);
}

/* ---- hostile names ------------------------------------------------------------------------------ */

Test(query_command, text_of_a_trace_is_never_sql)
{
	const char *name = "x'); DROP TABLE t; --\"";
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, 1, 5, 5, name);
	MAKE_NUMBERS(&m, 2, "ev\"il'; --", { "a\"b", 7 }, { "A\"B", 8 }, { "ts", 9 });
	MAKE_NUMBERS(&m, 3, "SLICES", { "x", 1 });
	make_symbol(&m, 3, make_frame(1, 0x10), 0, make_frame(1, 0x10), name, "", 0);
	r = query(make_done(&m), "csv", "SELECT * FROM \"ev\"\"il'; --\"");
	cr_expect_str_eq(
		r.out,
		"trace,host,ts,wall,task_tid,task_pid,task_comm,task_cgroup,task_cpu,\"a\"\"b\","
		"\"field_A\"\"B\",field_ts\n1,,2,,,,,,,7,8,9\n",
		"%s%s", r.out, r.err);
	run_free(&r);
	make_init(&m, NULL);
	MAKE_NUMBERS(&m, 3, "SLICES", { "x", 1 });
	make_task(&m, 1, 5, 5, name);
	r = query(make_done(&m), "csv",
		  "SELECT x, (SELECT comm FROM tasks) AS comm FROM \"event:SLICES\"");
	cr_expect_str_eq(r.out, "x,comm\n1,\"x'); DROP TABLE t; --\"\"\"\n", "%s%s", r.out, r.err);
	run_free(&r);
}

Test(query_command, only_reading_is_allowed)
{
	static const char *const statements[] = {
		"ATTACH ':memory:' AS x",
		"PRAGMA table_info(slices)",
		"CREATE TABLE t(x)",
		"CREATE TEMP TABLE t(x)",
		"DROP TABLE slices",
		"DELETE FROM slices",
		"INSERT INTO traces VALUES (1)",
		"UPDATE slices SET ts = 1",
		"BEGIN IMMEDIATE",
		"VACUUM INTO '/tmp/x'",
		"SELECT load_extension('x')",
		"SELECT * FROM pragma_database_list",
		"CREATE VIRTUAL TABLE t USING slices",
		"DETACH main -- (",
		"ANALYZE; --",
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		struct run r = query(run_app_file(), "csv", statements[i]);

		cr_expect_eq(r.code, CMD_USAGE, "%s", statements[i]);
		cr_expect_str_eq(r.out, "", "%s", statements[i]);
		run_free(&r);
	}
}

/* ---- random traces ------------------------------------------------------------------------------ */

enum { SEEDS = 40, STEPS = 400 };

struct sum {
	uint64_t tid, ns;
};

static int by_tid(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* "ID,NS\n" for each thread or process (@id) with time, from the rows of a command's JSON. */
static char *sums_of_json(const char *json, const char *id, const char *key)
{
	const char *rows = strstr(json, "\"rows\":");
	static struct sum v[4096];
	struct buf out = { 0 };
	char wanted[32], member[8];
	size_t n = 0;

	snprintf(wanted, sizeof(wanted), "\"%s\":", key);
	snprintf(member, sizeof(member), "\"%s\":", id);
	for (const char *at = rows; at && (at = strstr(at, member)); at++) {
		/* members of a row come in any order, it ends with the line or where the next row starts */
		const char *begin = at, *ns;

		while (begin > rows && *begin != '\n' && !(*begin == '{' && begin[-1] != ':'))
			begin--;
		ns = strstr(begin, wanted);
		cr_assert_not_null(ns);
		cr_assert_lt(n, 4096);
		v[n++] = (struct sum){ strtoull(at + 6, NULL, 10),
				       strtoull(ns + strlen(wanted), NULL, 10) };
	}
	qsort(v, n, sizeof(v[0]), by_tid);
	for (size_t i = 0; i < n;) {
		struct sum s = { v[i].tid, 0 };

		for (; i < n && v[i].tid == s.tid; i++)
			s.ns += v[i].ns;
		if (s.ns)
			buf_printf(&out, "%" PRIu64 ",%" PRIu64 "\n", s.tid, s.ns);
	}
	return buf_steal(&out);
}

/* The rows of a query, without their head. */
static char *sums_of_sql(uint64_t seed, const char *sql)
{
	struct run r = query(random_trace(seed, STEPS), "csv", sql);
	char *head = strchr(r.out, '\n');
	char *rows;

	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	cr_assert_not_null(head);
	rows = strdup(head + 1);
	run_free(&r);
	return rows;
}

static size_t expect_same(uint64_t seed, struct run r, const char *id, const char *key,
			  const char *state)
{
	char sql[256], *want = sums_of_json(r.out, id, key), *got;
	size_t len = strlen(want);

	snprintf(
		sql, sizeof(sql),
		"SELECT coalesce(%s, 0), sum(dur) FROM slices WHERE state = '%s' GROUP BY 1 HAVING sum(dur) ORDER BY 1",
		id, state);
	got = sums_of_sql(seed, sql);
	cr_expect_str_eq(got, want, "seed %" PRIu64 ", %s:\n%s\ncommand:\n%s", seed, state, got,
			 want);
	free(got);
	free(want);
	run_free(&r);
	return len;
}

/* Report has no CPU time where more of it is doubtful than known. */
static size_t expect_same_cpu_time(uint64_t seed)
{
	struct run r = run_cmd(cmd_report, random_trace(seed, STEPS), "report", "-", "-stid",
			       "--json", NULL);

	if (strstr(r.out, "\"run_ns\":") && !strstr(r.out, "\"run_ns\":null"))
		return expect_same(seed, r, "tid", "run_ns", "running");
	run_free(&r);
	return 0;
}

Test(query_command, sums_equal_offcpu_latency_and_report, .timeout = 120)
{
	size_t compared = 0;

	for (uint64_t k = 0; k < SEEDS; k++) {
		/* also traces of one process, and of off-CPU intervals */
		const uint64_t seed = k + (k >= SEEDS / 2 ? 100 - SEEDS / 2 : 0);

		compared += expect_same(seed,
					run_cmd(cmd_offcpu, random_trace(seed, STEPS), "offcpu",
						"-", "--include-self", "--by=tid", "--json", NULL),
					"tid", "ns", "blocked");
		compared +=
			expect_same(seed,
				    run_cmd(cmd_offcpu, random_trace(seed, STEPS), "offcpu", "-",
					    "--include-self", "--by=pid,state", "--json", NULL),
				    "pid", "ns", "blocked");
		compared += expect_same(seed,
					run_cmd(sched_latency, random_trace(seed, STEPS), "latency",
						"-", "--include-self", "--json", NULL),
					"tid", "runnable_ns", "runnable");
		compared += expect_same(seed,
					run_cmd(sched_latency, random_trace(seed, STEPS), "latency",
						"-", "--include-self", "--by=pid", "--json", NULL),
					"pid", "runnable_ns", "runnable");
		compared += expect_same_cpu_time(seed);
	}
	cr_expect_gt(compared, SEEDS * 100, "%zu", compared);
}

/* With a plus sign SQLite evaluates a condition itself. */
static void expect_same_rows(uint64_t seed, const char *table, const char *condition,
			     const char *plain)
{
	char a[512], b[512], *x, *y;

	snprintf(a, sizeof(a), "SELECT count(*), sum(ts), min(ts) FROM %s WHERE %s", table,
		 condition);
	snprintf(b, sizeof(b), "SELECT count(*), sum(ts), min(ts) FROM %s WHERE %s", table, plain);
	x = sums_of_sql(seed, a);
	y = sums_of_sql(seed, b);
	cr_expect_str_eq(x, y, "seed %" PRIu64 ": %s", seed, a);
	free(x);
	free(y);
}

/* The form with both times in place of the words A and B. */
static void fill_times(char *out, size_t sz, const char *form, const char *a, const char *b)
{
	struct buf text = { 0 };

	for (const char *s = form; *s; s++) {
		const bool word = (s == form || !isalpha((unsigned char)s[-1])) &&
				  !isalpha((unsigned char)s[1]);

		if (word && (*s == 'A' || *s == 'B'))
			buf_addstr(&text, *s == 'A' ? a : b);
		else
			buf_addch(&text, *s);
	}
	snprintf(out, sz, "%s", buf_cstr(&text));
	buf_free(&text);
}

Test(query_command, conditions_that_skip_rows_change_nothing, .timeout = 120)
{
	static const char *const tables[] = { "slices", "samples", "events",
					      "\"sched:sched_switch\"" };
	/* A and B are times */
	static const char *const forms[][2] = {
		{ "ts >= A AND ts < B", "+ts >= A AND +ts < B" },
		{ "ts BETWEEN A + 0.5 AND B", "+ts BETWEEN A + 0.5 AND B" },
		{ "ts = (SELECT ts FROM events LIMIT 1 OFFSET 50)",
		  "+ts = (SELECT ts FROM events LIMIT 1 OFFSET 50)" },
		{ "trace = 1 AND ts > A AND ts > 'B'", "+trace = 1 AND +ts > A AND ts > 'B'" },
		{ "(host = 'h1' OR trace IN (1, 2, 3)) AND ts <> A",
		  "(+host = 'h1' OR +trace IN (1, 2, 3)) AND +ts <> A" },
	};
	char *first = sums_of_sql(2, "SELECT min(first_ts) FROM traces"),
	     *last = sums_of_sql(2, "SELECT (min(first_ts) + max(last_ts)) / 2 FROM traces");

	first[strcspn(first, "\n")] = last[strcspn(last, "\n")] = '\0';
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
			char a[256], b[256];

			fill_times(a, sizeof(a), forms[i][0], first, last);
			fill_times(b, sizeof(b), forms[i][1], first, last);
			expect_same_rows(2, tables[t], a, b);
		}
	expect_same_rows(4, "slices", "tid = 103 AND pid = 103", "+tid = 103 AND +pid = 103");
	expect_same_rows(4, "slices", "tid IN (103, 104)", "+tid IN (103, 104)");
	expect_same_rows(4, "slices", "tid = '103'", "+tid = 103");
	expect_same_rows(4, "slices", "state = 'running'", "+state = 'running'");
	expect_same_rows(4, "slices", "state = 'RUNNING' COLLATE NOCASE", "+state = 'running'");
	expect_same_rows(4, "samples", "source = 'switch'", "+source = 'switch'");
	expect_same_rows(4, "events", "event = 'sched:sched_switch'",
			 "+event = 'sched:sched_switch'");
	free(first);
	free(last);
}

/* The rows of a query of traces with these seeds; 0: none. Without their head. */
static char *rows_of_traces(const char *sql, const char *dir, uint64_t a, uint64_t b)
{
	const uint64_t seeds[] = { a, b };
	char paths[2][80];
	struct run r;
	char *rows;

	for (int i = 0; i < 2; i++) {
		char data[4096];
		ssize_t n;
		int from, to;

		snprintf(paths[i], sizeof(paths[i]), "%s/%d.bin", dir, i);
		from = random_trace(seeds[i] ?: a, STEPS);
		to = open(paths[i], O_WRONLY | O_CREAT | O_TRUNC, 0600);
		while ((n = read(from, data, sizeof(data))) > 0)
			cr_assert_eq(write(to, data, (size_t)n), n);
		close(from);
		close(to);
	}
	r = run_cmd(cmd_query, -1, "query", sql, "--format", "csv", paths[0], b ? paths[1] : NULL,
		    NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	rows = strdup(strchr(r.out, '\n') + 1);
	run_free(&r);
	return rows;
}

/* Threads of different hosts have equal numbers. */
Test(query_command, traces_do_not_mix)
{
	static const char sql[] =
		"SELECT ts, dur, tid, state, folded(stack), folded(waker_stack) FROM slices";
	char dir[64];

	temp_dir_make(dir, sizeof(dir));
	for (uint64_t seed = 1; seed <= 6; seed++) {
		char *a = rows_of_traces(sql, dir, seed, 0),
		     *b = rows_of_traces(sql, dir, seed + 1, 0),
		     *both = rows_of_traces(sql, dir, seed, seed + 1);

		cr_expect_gt(strlen(a), 100);
		cr_expect(!strncmp(both, a, strlen(a)) && !strcmp(both + strlen(a), b), "seed %lu",
			  seed);
		free(a);
		free(b);
		free(both);
	}
	temp_dir_remove(dir);
}

/* Two files: of one recording if @start is 5, otherwise of two. */
static void put_two(const char *dir, const char *first, const char *second, const char *start)
{
	struct make m;

	run_make_segment(&m, 100, 3, (const uint64_t[]){ 3, 3, 0, PROF_CLOSED_SEGMENT });
	temp_dir_put(dir, first, make_done(&m));
	make_init(&m, NULL);
	make_metadata(&m, 900, (const char *const[]){ "start_realtime_ns", start, NULL });
	make_switch(&m, 1000, 0, "a", 11, 1, "b", 12);
	temp_dir_put(dir, second, make_done(&m));
}

static void expect_traces(const char *a, const char *b, const char *want, const char *err)
{
	struct run r = run_cmd(cmd_query, -1, "query", "SELECT group_concat(path, ' ') FROM traces",
			       "--format", "json", a, b, NULL);
	char out[256];

	snprintf(out, sizeof(out), "[\n{\"group_concat(path, ' ')\":\"%s\"}\n]\n", want);
	cr_expect_eq(r.code, CMD_OK);
	cr_expect_str_eq(r.out, out);
	cr_expect_str_eq(r.err, err);
	run_free(&r);
}

/* What begins in one file and ends in the next would be missing from sums. */
Test(query_command, files_of_a_set_are_one_trace_in_any_order)
{
	static const char sql[] = "SELECT ts, dur, tid, state, cut FROM slices ORDER BY 1, 3";
	char dir[64], set[80], a[80], b[80];
	struct run one, two;

	temp_dir_make(dir, sizeof(dir));
	put_two(dir, "w.0.bin", "w.1.bin", "5");
	snprintf(set, sizeof(set), "%s/w", dir);
	snprintf(a, sizeof(a), "%s/w.0.bin", dir);
	snprintf(b, sizeof(b), "%s/w.1.bin", dir);
	expect_traces(b, a, set, "");
	one = run_cmd(cmd_query, -1, "query", sql, set, NULL);
	two = run_cmd(cmd_query, -1, "query", sql, b, a, NULL);
	cr_expect_eq(one.code, CMD_OK);
	cr_expect_str_eq(two.out, one.out);
	run_free(&one);
	run_free(&two);
	temp_dir_remove(dir);
}

Test(query_command, recordings_with_numbered_names_remain_two)
{
	char dir[64], a[80], b[80], both[170];

	temp_dir_make(dir, sizeof(dir));
	put_two(dir, "w.1.bin", "w.3.bin", "6");
	snprintf(a, sizeof(a), "%s/w.1.bin", dir);
	snprintf(b, sizeof(b), "%s/w.3.bin", dir);
	snprintf(both, sizeof(both), "%s %s", a, b);
	expect_traces(a, b, both, "");
	temp_dir_remove(dir);
}

Test(query_command, renamed_parts_of_a_recording_are_reported)
{
	char dir[64], a[80], b[80], both[170], err[400];

	temp_dir_make(dir, sizeof(dir));
	put_two(dir, "x.bin", "y.bin", "5");
	snprintf(a, sizeof(a), "%s/x.bin", dir);
	snprintf(b, sizeof(b), "%s/y.bin", dir);
	snprintf(both, sizeof(both), "%s %s", a, b);
	snprintf(err, sizeof(err),
		 "dial9-prof: %s and %s are parts of one recording, but are read as two: "
		 "sums may differ (dial9-prof merge joins them)\n",
		 a, b);
	expect_traces(a, b, both, err);
	temp_dir_remove(dir);
}

static size_t count_text(const char *s, const char *text)
{
	size_t cnt = 0;

	for (; (s = strstr(s, text)); s++)
		cnt++;
	return cnt;
}

/* SQL may read a trace many times. */
Test(query_command, faults_of_a_set_are_printed_once)
{
	static const char sql[] =
		"SELECT count(*) FROM (SELECT 1 AS x FROM slices LIMIT 3) a, slices b "
		"WHERE b.rowid > a.x";
	char dir[64], set[80], a[80], b[80];
	struct run runs[2];

	temp_dir_make(dir, sizeof(dir));
	put_two(dir, "w.0.bin", "w.2.bin", "5");
	snprintf(set, sizeof(set), "%s/w", dir);
	snprintf(a, sizeof(a), "%s/w.0.bin", dir);
	snprintf(b, sizeof(b), "%s/w.2.bin", dir);
	runs[0] = run_cmd(cmd_query, -1, "query", sql, set, NULL);
	runs[1] = run_cmd(cmd_query, -1, "query", sql, a, b, NULL);
	for (int i = 0; i < 2; i++) {
		cr_expect_eq(runs[i].code, CMD_OK);
		cr_expect_eq(count_text(runs[i].err, "file 1 is missing before"), 1, "%s",
			     runs[i].err);
		run_free(&runs[i]);
	}
	temp_dir_remove(dir);
}

Test(query_command, nested_scans_do_not_disturb_each_other)
{
	char *got = sums_of_sql(
		2, "SELECT (SELECT count(*) FROM slices a, (SELECT 1 FROM slices LIMIT 3) b) ="
		   " 3 * (SELECT count(*) FROM slices)");

	cr_expect_str_eq(got, "1\n");
	free(got);
}
