// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `polls` prints, to the byte. In ms from 20 s: app (11), worker 0, runs on CPU 0 until it waits for a
 * disk at 2, goes on at 12 and leaves at 14. Its thread 12, worker 1, loses CPU 1 to hog (20) from 3 to 8.
 * Thread 30 sleeps from 1 on. Polls: 12 ms of worker 0, 7 of worker 1, and 3 each of worker 5, whose thread is
 * unknown, of worker 7, which records that it is thread 30, and of worker 8, thread 99; and one of 0.1 ms.
 */
#include "base/buf.h"
#include "tests/cmd/run_cmd.h"

static const uint64_t ms = 1000000;

static void poll(struct make *m, uint32_t worker, uint64_t task, const char *at, uint64_t from,
		 uint64_t to)
{
	make_poll_start(m, from, worker, task, at);
	MAKE_NUMBERS(m, to, "PollEndEvent", { "worker_id", worker });
}

static void span_of(struct make *m, uint64_t id, const char *event, uint64_t ts)
{
	struct dial9_schema *s =
		MAKE_SCHEMA(event, { "worker_id", DIAL9_VARINT }, { "span_id", DIAL9_VARINT },
			    { "span_name", DIAL9_POOLED_STRING });

	cr_assert_eq(dial9_enc_begin(m->enc, s, ts), 0);
	dial9_enc_put_u64(m->enc, 0);
	dial9_enc_put_u64(m->enc, id);
	make_str(m, "write_log");
	make_end(m);
	dial9_schema_free(s);
}

static void unpark(struct make *m, uint64_t ts, uint32_t worker, uint32_t tid)
{
	MAKE_NUMBERS(m, ts, "WorkerUnparkEvent", { "worker_id", worker }, { "tid", tid });
}

static void make_app(struct make *m, uint64_t t)
{
	const uint64_t work = make_frame(1, 0x510);

	unpark(m, t + 1, 0, 11);
	unpark(m, t + 1, 7, 30);
	make_sample(m, t + 3 * ms, 11, 11, PROF_SOURCE_SAMPLE, 0, &work, 1);
	make_sample(m, t + 4 * ms, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, &work, 1);
	unpark(m, t + 1, 8, 99);
	poll(m, 0, 17, "src/main.rs:7", t + 1 * ms, t + 13 * ms);
	span_of(m, 4, "SpanEnter:app::log:src/log.rs:3", t + 15 * ms / 10);
	span_of(m, 4, "SpanExit:app::log:src/log.rs:3", t + 125 * ms / 10);
	poll(m, 1, 18, "src/net.rs:9", t + 2 * ms, t + 9 * ms);
	unpark(m, t + 1, 1, 12);
	poll(m, 5, 19, "src/net.rs:9", t + 3 * ms, t + 6 * ms);
	poll(m, 7, 20, "src/net.rs:9", t + 4 * ms, t + 7 * ms);
	poll(m, 8, 21, "src/net.rs:9", t + 5 * ms, t + 8 * ms);
	poll(m, 0, 17, "src/main.rs:7", t + 132 * ms / 10, t + 133 * ms / 10);
}

static void make_kernel(struct make *m, uint64_t t)
{
	const uint64_t sync[] = { make_frame(2, 0x110), make_frame(1, 0x110) };

	make_module(m, t, 1, "/opt/app", PROF_MODULE_ELF);
	make_module(m, t, 2, "/lib/libc.so.6", PROF_MODULE_ELF);
	make_symbol(m, t, sync[0], 0, 0, "fsync", "", 0);
	make_symbol(m, t, sync[1], 0, 0, "app::write_log", "", 0);
	make_task(m, t, 11, 11, "app");
	make_task(m, t, 11, 12, "app");
	make_task(m, t, 20, 20, "hog");
	make_switch(m, t, 0, "swapper/0", 0, 0, "app", 11);
	make_switch(m, t, 1, "swapper/1", 0, 0, "app", 12);
	make_switch(m, t, 2, "swapper/2", 0, 0, "other", 30);
	make_switch(m, t + 1 * ms, 2, "other", 30, 1, "swapper/2", 0);
	make_switch(m, t + 2 * ms, 0, "app", 11, 2, "swapper/0", 0);
	make_sample(m, t + 2 * ms, 11, 11, PROF_SOURCE_SWITCH_OUT, 0, sync, 2);
	make_waking(m, t + 25 * ms / 10, 1, 0, "hog", 20);
	make_switch(m, t + 3 * ms, 1, "app", 12, 0x100, "hog", 20);
	make_switch(m, t + 8 * ms, 1, "hog", 20, 1, "app", 12);
	make_waking(m, t + 12 * ms, 0, 0, "app", 11);
	make_switch(m, t + 12 * ms, 0, "swapper/0", 0, 0, "app", 11);
	make_switch(m, t + 14 * ms, 0, "app", 11, 1, "swapper/0", 0);
	make_switch(m, t + 14 * ms, 1, "app", 12, 1, "swapper/1", 0);
	make_waking(m, t + 15 * ms, 0, 0, "other", 30);
	make_switch(m, t + 15 * ms, 2, "swapper/2", 0, 0, "other", 30);
	make_switch(m, t + 16 * ms, 2, "other", 30, 1, "swapper/2", 0);
}

static const char
	*const recorder[] = { "host", "box", "boot_id", "1", "start", "1", NULL },
	       *const service[] = { "host", "box", "boot_id", "1", "service", "app", NULL },
	       *const elsewhere[] = { "host", "box", "boot_id", "2", "service", "app", NULL };

enum { KERNEL = 1, APP = 2 };

/* One after the other, each with its own metadata. */
static int input_of(int which, const char *const *app)
{
	const uint64_t t = 20 * RUN_SEC;
	struct buf file = { 0 };
	struct make m;
	size_t sz;
	int fd;

	for (int k = KERNEL; k <= APP; k++) {
		const void *data;

		if (!(which & k))
			continue;
		make_init(&m, NULL);
		make_metadata(&m, t, k == APP ? app : recorder);
		make_clock(&m, t, 1700000000 * RUN_SEC);
		if (k == APP)
			make_app(&m, t);
		else
			make_kernel(&m, t);
		data = dial9_enc_data(m.enc, &sz);
		buf_add(&file, data, sz);
		make_fini(&m);
	}
	fd = make_fd(file.data, file.len);
	buf_free(&file);
	return fd;
}

static int input(void)
{
	return input_of(KERNEL | APP, service);
}

/* clang-format off */
#define HEAD \
	"# lost: nothing\n" \
	"# all: 28.100 ms, median 2.998 ms, p99 12.000 ms; the slow ones: 28.000 ms\n"

#define TIMES "#    Running ms    Runnable ms     Blocked ms     Unknown ms      Absent ms  poll\n"

#define PLACES \
	"#    Share      Total ms  Polls  where the task was spawned\n" \
	"    57.14%      16.000000      4  src/net.rs:9\n" \
	"    42.86%      12.000000      1  src/main.rs:7\n" \
	"#\n"

#define OF_WORKER_0 \
	"1. task 17 by worker 0, app 11, spawned at src/main.rs:7, in write_log"
#define OF_WORKER_1 "2. task 18 by worker 1, app 12, spawned at src/net.rs:9"

static const char whole[] =
	"# standard input: 5 of 6 polls took 1.000 ms or longer, over 0.016 s\n"
	HEAD
	"# 1 slow poll not explained: the thread of the worker is not in the trace\n"
	"# 1 slow poll not explained: the thread with this TID did not run then\n#   (is the service in its own PID namespace?)\n"
	"# 1 slow poll not explained: no recording of this host and boot has the thread\n"
	"#\n"
	"# 50% of the slow polls: mostly blocked in fsync under app::write_log\n"
	"#\n"
	"#    Share      Total ms   In  Mostly  cause of slow polls\n"
	"    52.63%      10.000000    1       1  blocked in fsync under app::write_log\n"
	"    26.32%       5.000000    1       1  runnable, ran instead: hog 20\n"
	"# 1 more row with less time: --limit 0 shows all\n"
	"#\n"
	PLACES
	TIMES
	"       2.000000       0.000000      10.000000       0.000000       0.000000  " OF_WORKER_0 "\n"
	"       2.000000       5.000000       0.000000       0.000000       0.000000  " OF_WORKER_1 "\n"
	"\n"
	"# " OF_WORKER_0 ", from 20.001000000 to 20.013000000:      12.000000 ms\n"
	"\n"
	"+       0 ns  ran 1.000 ms on CPU 0\n"
	"\n"
	"+   1.000 ms  blocked 10.000 ms (D), woken by swapper? on CPU 0\n"
	"                fsync (libc.so.6)\n"
	"                app::write_log (app)\n"
	"\n"
	"+  11.000 ms  ran 1.000 ms on CPU 0\n"
	"\n"
	"# " OF_WORKER_1 ", from 20.002000000 to 20.009000000:       7.000000 ms\n"
	"\n"
	"+       0 ns  ran 1.000 ms on CPU 1\n"
	"\n"
	"+   1.000 ms  runnable 5.000 ms on CPU 1, preempted in the kernel\n"
	"                ran instead: hog 20 5.000 ms\n"
	"\n"
	"+   6.000 ms  ran 1.000 ms on CPU 1\n"
	"\n"
	"# 3 more rows with less time: --limit 0 shows all\n";

static const char alone[] =
	"# standard input: 1 of 6 polls took 10.000 ms or longer, over 0.013 s\n"
	"# lost: nothing\n"
	"# all: 28.100 ms, median 2.998 ms, p99 12.000 ms; the slow ones: 12.000 ms\n"
	"# only the trace of the application: thread states are unknown\n#   (record with dial9-prof -p PID, and give both files)\n"
	"#\n"
	"#    Share      Total ms  Polls  where the task was spawned\n"
	"   100.00%      12.000000      1  src/main.rs:7\n"
	"#\n"
	"#        Took ms  poll\n"
	"      12.000000  1. task 17 by worker 0, [unknown] 11, spawned at src/main.rs:7, in write_log\n"
	"\n"
	"# 1. task 17 by worker 0, [unknown] 11, spawned at src/main.rs:7, in write_log,"
	" from 20.001000000 to 20.013000000:      12.000000 ms\n"
	"\n"
	"+   2.000 ms  was sampled; next seen 1.000 ms later\n"
	"                [unknown] ([unknown])\n"
	"\n"
	"+   3.000 ms  left its CPU; ended 9.000 ms later\n"
	"                [unknown] ([unknown])\n";

static const char json[] =
	"{\"version\":2,\"file\":\"standard input\",\"span_ns\":16000000,\"lost_events\":0,"
	"\"lost_samples\":0,\"lost_sideband\":0,\"sideband_stalls\":0,\"doubtful_stacks\":0,"
	"\"lost_samples_estimate\":0,\"pauses\":0,\"stacks_skipped\":0,\"pairs\":6,\"pairs_ns\":28100000,\"p50_ns\":2998272,"
	"\"p99_ns\":12000000,\"nested\":0,\"unmatched_starts\":0,\"unmatched_ends\":0,\"unassigned\":0,\"dropped\":0,"
	"\"inside\":0,\"kinds\":[\n{\"event\":\"PollStartEvent\",\"pairs\":6,\"ns\":28100000}],"
	"\"min_ns\":1000000,\"slow\":5,\"slow_ns\":28000000,\"explained\":2,\"no_thread\":1,"
	"\"not_its_thread\":1,\"not_recorded\":1,\"not_kept\":0,\"switches\":true,\"complete\":true,"
	"\"causes\":[\n"
	"{\"kind\":\"blocked\",\"ns\":10000000,\"pairs\":1,\"dominant\":1,\"function\":\"fsync\","
	"\"under\":\"app::write_log\",\"page_fault\":false},\n"
	"{\"kind\":\"runnable\",\"ns\":5000000,\"pairs\":1,\"dominant\":1,"
	"\"ran_instead\":{\"tid\":20,\"pid\":null,\"comm\":\"hog\"}},\n"
	"{\"kind\":\"running\",\"ns\":4000000,\"pairs\":2,\"dominant\":0}],\"places\":[\n"
	"{\"spawned\":\"src/net.rs:9\",\"polls\":4,\"ns\":16000000},\n"
	"{\"spawned\":\"src/main.rs:7\",\"polls\":1,\"ns\":12000000}],\"rows_not_shown\":4,\"slowest\":[\n"
	"{\"event\":\"PollStartEvent\",\"tid\":11,\"pid\":11,\"comm\":\"app\",\"worker\":0,\"task\":17,"
	"\"spawned\":\"src/main.rs:7\",\"spans\":[\"write_log\"],"
	"\"from_ns\":20001000000,\"to_ns\":20013000000,\"unknown_ns\":0,\"running_ns\":2000000,"
	"\"runnable_ns\":0,\"blocked_ns\":10000000,\"absent_ns\":0,\"steps\":[\n"
	"{\"start_ns\":20001000000,\"ns\":1000000,\"running_ns\":1000000,\"running\":1},\n"
	"{\"start_ns\":20002000000,\"ns\":10000000,\"blocked_ns\":10000000,\"blocked\":1,"
	"\"longest_blocked\":{\"start_ns\":20002000000,\"ns\":10000000,\"state\":\"D\","
	"\"stack\":[{\"sym\":\"fsync\",\"dso\":\"/lib/libc.so.6\"},"
	"{\"sym\":\"app::write_log\",\"dso\":\"/opt/app\"}],"
	"\"waker\":{\"context\":\"unknown\",\"name\":\"swapper?\"},\"waker_stack\":[]}},\n"
	"{\"start_ns\":20012000000,\"ns\":1000000,\"running_ns\":1000000,\"running\":1}]}]}\n";
/* clang-format on */

Test(polls, slow_polls_have_causes_and_timelines)
{
	run_expect(run_cmd(cmd_polls, input(), "polls", "-", "--limit", "2", NULL), CMD_OK, whole,
		   "");
}

Test(polls, output_is_one_json_object)
{
	run_expect(run_cmd(cmd_polls, input(), "polls", "-", "--json", "--limit=1", NULL), CMD_OK,
		   json, "");
}

Test(polls, polls_of_the_application_alone_are_listed)
{
	run_expect(run_cmd(cmd_polls, input_of(APP, service), "polls", "-", "--min=10ms", NULL),
		   CMD_OK, alone, "");
}

/* Of a boot without a recording: threads that have its TIDs now must not be used. */
Test(polls, thread_of_another_boot_is_not_used)
{
	struct run r =
		run_cmd(cmd_polls, input_of(KERNEL | APP, elsewhere), "polls", "-", "--json", NULL);

	run_expect_in(r.out,
		      "\"explained\":0,\"no_thread\":1,\"not_its_thread\":0,\"not_recorded\":4,");
	run_expect_in(r.out, "\"causes\":[],");
	run_expect_in(r.out, "\"tid\":11,\"pid\":null,\"comm\":null,\"worker\":0,");
	cr_expect_null(strstr(r.out, "\"running_ns\":2000000"));
	run_expect_in(r.out, "\"steps\":[],\"stacks\":[\n"
			     "{\"at_ns\":20003000000,\"off_cpu\":false,");
	run_free(&r);
}

static void expect_slow(const char *opt, const char *more, const char *want)
{
	struct run r = run_cmd(cmd_polls, input(), "polls", "-", "--json", opt, more, NULL);

	cr_assert_eq(r.code, strstr(want, "\"pairs\":0") ? CMD_USAGE : CMD_OK);
	run_expect_in(r.out, want);
	run_free(&r);
}

Test(polls, polls_are_selected_by_options)
{
	expect_slow("-t12", NULL, "\"pairs\":1,\"pairs_ns\":7000000,");
	expect_slow("-t11", NULL, "\"pairs\":2,\"pairs_ns\":12100000,");
	expect_slow("-p11", NULL, "\"pairs\":3,");
	expect_slow("--time=20.001500,20.0135", NULL, "\"pairs\":5,");
	expect_slow("-t77", NULL, "\"pairs\":0,");
	expect_slow("--min=20ms", NULL, "\"pairs\":6,");
	expect_slow("--min=20ms", NULL, "\"slow\":0,\"slow_ns\":0,\"explained\":0,");
}

Test(polls, spans_are_explained_instead_of_polls)
{
	struct run r = run_cmd(cmd_polls, input(), "polls", "-", "--span", "log", NULL);

	run_expect_in(r.out, "# standard input: 1 of 1 span of log took 1.000 ms or longer,");
	run_expect_in(r.out,
		      "# 100% of the slow spans: mostly blocked in fsync under app::write_log\n");
	run_expect_in(r.out,
		      "       1.000000       0.000000      10.000000       0.000000       0.000000"
		      "  1. app::log by worker 0, app 11, in write_log\n");
	run_expect_in(r.out,
		      "# spans: each time range from an enter to its exit counts on its own\n");
	cr_expect_null(strstr(r.out, " kinds: "));
	run_free(&r);
}

/* app::log from 1.5 to 12.5 ms has one of app::net::log in it from 3 to 5. */
static int two_spans(void)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, t, service);
	unpark(&m, t + 1, 0, 11);
	span_of(&m, 4, "SpanEnter:app::log:src/log.rs:3", t + 15 * ms / 10);
	span_of(&m, 5, "SpanEnter:app::net::log:src/net.rs:9", t + 3 * ms);
	span_of(&m, 5, "SpanExit:app::net::log:src/net.rs:9", t + 5 * ms);
	span_of(&m, 4, "SpanExit:app::log:src/log.rs:3", t + 125 * ms / 10);
	return make_done(&m);
}

Test(polls, spans_of_two_functions_are_distinguished)
{
	struct run r = run_cmd(cmd_polls, two_spans(), "polls", "-", "--span", "log", NULL);

	run_expect_in(r.out, "# standard input: 2 of 2 spans of log took 1.000 ms or longer,");
	run_expect_in(r.out, "# 2 kinds: 1 of app::log, 1 of app::net::log\n");
	run_expect_in(r.out, "# 1 pair inside another of the same thread: both times count\n");
	run_expect_in(r.out, "      11.000000  1. app::log by worker 0,");
	run_expect_in(r.out, "       2.000000  2. app::net::log by worker 0,");
	run_free(&r);
	r = run_cmd(cmd_polls, two_spans(), "polls", "-", "--json", "--span", "log", NULL);
	run_expect_in(
		r.out,
		"\"nested\":0,\"unmatched_starts\":0,\"unmatched_ends\":0,\"unassigned\":0,\"dropped\":0,"
		"\"inside\":1,\"kinds\":[\n"
		"{\"event\":\"SpanEnter:app::log:src/log.rs:3\",\"pairs\":1,\"ns\":11000000},\n"
		"{\"event\":\"SpanEnter:app::net::log:src/net.rs:9\",\"pairs\":1,\"ns\":2000000}],");
	run_free(&r);
}

static void expect_path(const char *path, const char *want)
{
	struct run r = run_cmd(cmd_polls, two_spans(), "polls", "-", "--span", path, NULL);

	run_expect_in(r.out, want);
	run_free(&r);
}

Test(polls, path_or_its_suffix_selects_a_function)
{
	expect_path("net::log", "# standard input: 1 of 1 span of net::log took 1.000 ms");
	expect_path("app::net::log", "# standard input: 1 of 1 span of app::net::log took");
	expect_path("app::log", "  1. app::log by worker 0,");
}

/* An application's trace alone explains nothing, since no recording has its threads. */
Test(polls, no_poll_is_explained_without_a_recording)
{
	struct run r = run_cmd(cmd_polls, input_of(APP, service), "polls", "-", "--json", NULL);

	run_expect_in(r.out, "\"slow\":5,\"slow_ns\":28000000,\"explained\":0,\"no_thread\":0,"
			     "\"not_its_thread\":0,\"not_recorded\":5,\"not_kept\":0,"
			     "\"switches\":false,");
	run_expect_in(r.out, "\"spans\":[\"write_log\"],\"unexplained\":\"not_recorded\",");
	run_free(&r);
}

Test(polls, min_of_0_selects_all_polls)
{
	struct run r = run_cmd(cmd_polls, input(), "polls", "-", "--min", "0", NULL);

	run_expect_in(r.out, "# standard input: 6 polls, over 0.016 s\n");
	run_free(&r);
}

Test(polls, input_and_selections_without_polls_are_refused)
{
	run_expect(run_cmd(cmd_polls, input(), "polls", "-", "-C0", NULL), CMD_USAGE, "",
		   "dial9-prof: polls: -C: polls do not say on which CPU they began\n");
	run_expect(run_cmd(cmd_polls, input(), "polls", "-", "-C0", "--span=log", NULL), CMD_USAGE,
		   "", "dial9-prof: polls: no pair of log in standard input in the selection\n");

	run_expect(
		run_cmd(cmd_polls, input_of(KERNEL, service), "polls", "-", NULL), CMD_USAGE, "",
		"dial9-prof: polls: no poll in standard input; also give the trace that the service wrote\n");
	run_expect(run_cmd(cmd_polls, input(), "polls", "-", "-t77", NULL), CMD_USAGE, "",
		   "dial9-prof: polls: no poll in standard input matches the selection\n");
	run_expect(
		run_cmd(cmd_polls, input(), "polls", "-", "--span=a,", NULL), CMD_USAGE, "",
		"dial9-prof: polls: bad value for --span: expected ENTER,EXIT or ENTER,EXIT,FIELD\n");
	run_expect(run_cmd(cmd_polls, input(), "polls", "-", "--span=read", NULL), CMD_USAGE, "",
		   "dial9-prof: polls: no event of read in standard input; record it with "
		   "-e syscalls:sys_enter_read -e syscalls:sys_exit_read\n");
}
