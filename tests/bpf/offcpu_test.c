// SPDX-License-Identifier: BSD-2-Clause
/*
 * --min-block and --max-block on the running kernel: off-CPU intervals of a thread that sleeps for known times,
 * compared with a recording of all its switches at the same time, and what offcpu prints for both.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "prof_abi.h"
#include "tests/bpf/control.h"
#include "tests/bpf/support.h"

TestSuite(offcpu, .fini = live_cleanup);

/* A nap may be over before the thread has left its CPU, and the timer may end it where no mark says so. */
enum { MS = 1000000, ASLEEP = 1, MOST_OF_50 = 45, NAPPERS = 8 };

/* Of one thread, or of all. */
struct offcpu_intervals {
	uint64_t cnt, asleep, with_stack, by_timer, unfinished, switches, across;
	uint64_t shortest, longest; /* of those that ended */
	uint64_t woken_here; /* by the thread of the test */
	uint64_t produced, written, lost;
	struct hmap tids;
};

static void add_offcpu_interval(struct offcpu_intervals *s, const struct live_trace *lt,
				const struct trace_event *ev, uint64_t pause_first,
				uint64_t pause_last)
{
	uint64_t ns = (uint64_t)live_int(ev, PROF_F_OFF_NS), from = ev->ts - ns;

	cr_assert_leq((uint64_t)live_int(ev, PROF_F_BLOCKED_NS), ns);
	s->cnt++;
	hmap_set(&s->tids, (uint64_t)live_int(ev, PROF_TP_COMMON_PID), s);
	s->across += from < pause_first && ev->ts > pause_last;
	if (live_int(ev, PROF_F_PREV_STATE) == ASLEEP) {
		s->asleep++;
		s->by_timer += live_int(ev, PROF_F_CONTEXT) == PROF_CONTEXT_TIMER &&
			       live_int(ev, PROF_F_WOKEN) == 1 &&
			       live_int(ev, PROF_F_BLOCKED_NS) > 0;
		s->woken_here += live_int(ev, PROF_F_WAKER_PID) == getpid() &&
				 live_int(ev, PROF_F_CONTEXT) == PROF_CONTEXT_TASK &&
				 *live_text(lt, ev, PROF_F_WAKER_COMM);
	}
	if (live_int(ev, PROF_F_UNFINISHED)) {
		s->unfinished++;
		return;
	}
	s->shortest = ns < s->shortest ? ns : s->shortest;
	s->longest = ns > s->longest ? ns : s->longest;
}

/* Of a trace in which nothing was recorded from @first to @last. */
static void read_offcpu_range(const char *path, uint64_t first, uint64_t last,
			      struct offcpu_intervals *s)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t last_ts = 0;

	*s = (struct offcpu_intervals){ .shortest = UINT64_MAX };
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		s->switches += ev.kind == TRACE_SCHED_SWITCH || ev.kind == TRACE_SCHED_WAKING;
		if (ev.kind == TRACE_SAMPLE && ev.source == PROF_SOURCE_EVENT && ev.ts == last_ts)
			s->with_stack += live_stack_has(&lt, &ev, "main");
		if (!live_is(&ev, PROF_EV_OFF_CPU))
			continue;
		last_ts = ev.ts;
		add_offcpu_interval(s, &lt, &ev, first, last);
	}
	s->produced = lt.produced;
	s->written = lt.written;
	s->lost = lt.lost;
	live_close(&lt);
	hmap_fini(&s->tids);
	cr_assert_eq(s->produced, s->written + s->lost);
}

static void read_offcpu(const char *path, struct offcpu_intervals *s)
{
	read_offcpu_range(path, UINT64_MAX, UINT64_MAX, s);
}

/* Off-CPU intervals in the state S and of at least a given length, from offcpu. */
static void sum_offcpu(const char *path, const char *min, uint64_t *waits, uint64_t *ns)
{
	const char *args[] = { "offcpu", "--json", "--state", "S", "--min", min, path, NULL };
	struct buf out = live_output(args);

	*waits = live_output_number(out.data, "\"intervals\":");
	*ns = live_output_number(out.data, ",\"ns\":");
	buf_free(&out);
}

/* 100 naps of 1 ms and 50 of 20 ms: whatever delays a thread makes none of these shorter. */
Test(offcpu, recording_of_long_intervals_has_the_long_ones_of_a_full_recording)
{
	uint64_t waits, ns, all, all_ns, most, least, hidden, unused;
	struct live_rec some, whole;
	struct live_proc p;
	struct offcpu_intervals s;

	live_stimulus(&p, "sleeper", "100", "1000", "50", "20000", NULL);
	live_record(&some, "-p", live_number(p.pid), "--no-samples", "--min-block", "10ms", NULL);
	live_recording(&some);
	live_record(&whole, "-p", live_number(p.pid), "--no-samples", NULL);
	live_recording(&whole);
	live_go(&p);
	live_end(&p);
	cr_assert_eq(live_stop(&some), 0);
	cr_assert_eq(live_stop(&whole), 0);

	read_offcpu(some.path, &s);
	cr_expect_eq(s.switches, 0);
	cr_expect_eq(s.lost, 0);
	cr_expect_geq(s.asleep, MOST_OF_50, "%d", (int)s.asleep);
	cr_expect_geq(s.with_stack, MOST_OF_50, "%d", (int)s.with_stack);
	cr_expect_geq(s.by_timer, MOST_OF_50, "%d", (int)s.by_timer);
	cr_expect_geq(s.shortest, 10 * MS);

	/* those near the limit may be on either side of it by two clocks */
	sum_offcpu(some.path, "10ms", &waits, &ns);
	sum_offcpu(whole.path, "10ms", &all, &all_ns);
	sum_offcpu(whole.path, "9ms", &most, &unused);
	sum_offcpu(whole.path, "11ms", &least, &unused);
	/* the kernel may hide a switch in: a reader then ends the interval with the wakeup, the recorder does not */
	hidden = live_hidden(whole.path, p.pid);
	cr_expect_geq(waits, MOST_OF_50, "%d", (int)waits);
	cr_expect_geq(waits + hidden, least, "%d of %d, %d hidden", (int)waits, (int)least,
		      (int)hidden);
	cr_expect_leq(waits, most, "%d of %d", (int)waits, (int)most);
	if (waits == all) {
		cr_expect_geq(ns, all_ns - all_ns / 50, "%d of %d us", (int)(ns / 1000),
			      (int)(all_ns / 1000));
		cr_expect_leq(ns, all_ns + all_ns / 50, "%d of %d us", (int)(ns / 1000),
			      (int)(all_ns / 1000));
	}
}

static void record_naps(struct live_rec *rec, const char *option, const char *value)
{
	struct live_proc p;

	live_stimulus(&p, "sleeper", "100", "1000", "20", "20000", NULL);
	live_record(rec, "-p", live_number(p.pid), "--no-samples", "--debug=no-orc", option, value,
		    NULL);
	live_recording(rec);
	live_go(&p);
	live_end(&p);
	cr_assert_eq(live_stop(rec), 0);
}

/* With a run-queue latency of 9 ms an interval would be too long; most have less. */
Test(offcpu, recording_of_short_intervals_has_no_long_interval)
{
	struct live_rec rec;
	struct offcpu_intervals s;

	record_naps(&rec, "--max-block", "10ms");
	read_offcpu(rec.path, &s);
	cr_expect_leq(s.longest, 10 * MS);
	cr_expect_geq(s.asleep, 50, "%d", (int)s.asleep);
	cr_expect_leq(s.asleep, 102, "%d", (int)s.asleep);
	cr_expect_geq(s.with_stack, s.asleep - 2, "%d", (int)s.with_stack);
}

/* It waits for a line until the end, and is then recorded up to the end. */
Test(offcpu, unfinished_interval_is_reported_as_such)
{
	const char *args[] = { "offcpu", "--json", NULL, NULL };
	struct live_switches counters;
	struct live_rec rec;
	struct live_proc p;
	struct offcpu_intervals s;
	struct buf out;

	live_stimulus(&p, "sleeper", "20", "2000", NULL);
	live_record(&rec, "-p", live_number(p.pid), "--no-samples", "--min-block", "0", NULL);
	live_recording(&rec);
	live_go(&p);
	/* it is asleep then */
	live_read_switches(p.pid, &counters);
	cr_assert_gt(dprintf(p.in, "\n"), 0);
	live_read_until(&p, "voluntary");
	live_read_switches(p.pid, &counters);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&p);
	read_offcpu(rec.path, &s);
	cr_expect_eq(s.unfinished, 1);
	cr_expect_eq(s.woken_here, 1, "%d", (int)s.woken_here);
	cr_expect_eq(s.lost, 0);
	cr_expect_geq(s.asleep, 15, "%d", (int)s.asleep);
	args[2] = rec.path;
	out = live_output(args);
	cr_expect_eq(live_output_number(out.data, "\"cut\":"), 1, "%.300s", out.data);
	buf_free(&out);
}

/* Says by a byte that it is there, waits for one, naps for no time, and waits on. */
static pid_t start_napper(int *in)
{
	const struct timespec none = { 0 };
	int to[2], from[2], i;
	pid_t pid;
	char c = 0;

	cr_assert(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		close(to[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_TIMERSLACK, 1);
		prctl(PR_SET_NAME, "napper");
		if (write(from[1], &c, 1) != 1 || read(to[0], &c, 1) != 1)
			_exit(1);
		for (i = 0; i < 100; i++)
			nanosleep(&none, NULL);
		_exit(read(to[0], &c, 1) != 1);
	}
	close(to[0]);
	close(from[1]);
	cr_assert_eq(read(from[0], &c, 1), 1);
	close(from[0]);
	*in = to[1];
	return pid;
}

/*
 * A nap of no time is mostly over before the thread has left its CPU: it is woken then, and goes on. That is
 * no wakeup of the wait after it.
 */
Test(offcpu, earlier_wakeup_is_not_reported_for_an_unfinished_interval)
{
	uint64_t unfinished = 0, woken = 0;
	pid_t pids[NAPPERS];
	int in[NAPPERS], status;
	struct live_trace lt;
	struct trace_event ev;
	struct live_rec rec;
	size_t i;

	for (i = 0; i < NAPPERS; i++)
		pids[i] = start_napper(&in[i]);
	live_record(&rec, "-a", "--comm", "napper", "--no-samples", "--min-block", "0", NULL);
	live_recording(&rec);
	for (i = 0; i < NAPPERS; i++)
		cr_assert_eq(write(in[i], "", 1), 1);
	for (i = 0; i < NAPPERS; i++)
		live_read_switches(pids[i], &(struct live_switches){ 0 });
	cr_assert_eq(live_stop(&rec), 0);
	for (i = 0; i < NAPPERS; i++) {
		cr_expect_eq(write(in[i], "", 1), 1);
		close(in[i]);
		cr_expect_eq(waitpid(pids[i], &status, 0), pids[i]);
		cr_expect_eq(status, 0);
	}
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (live_is(&ev, PROF_EV_OFF_CPU) && live_int(&ev, PROF_F_UNFINISHED)) {
			unfinished++;
			woken += live_int(&ev, PROF_F_WOKEN) == 1;
		}
	live_close(&lt);
	cr_expect_eq(unfinished, NAPPERS, "%d", (int)unfinished);
	cr_expect_eq(woken, 0, "%d", (int)woken);
}

/* ---- a thread with an old wakeup and a hidden one ---------------------------------------------- */

struct dozer {
	int in; /* lets it start, then ends its wait */
	_Atomic pid_t tid;
	atomic_bool waits;
};

static long voluntary_switches(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) ? 0 : u.ru_nvcsw;
}

/*
 * Sleeps once: from then on the recorder stores its wakeups. Naps until a nap ends before the thread has left its CPU.
 * Computes, and waits for a byte.
 */
static void *doze(void *arg)
{
	const struct timespec none = { 0 }, some = { .tv_nsec = MS };
	struct dozer *d = arg;
	long before;
	char c;

	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_NAME, "dozer");
	d->tid = gettid();
	if (read(d->in, &c, 1) != 1)
		_exit(1);
	nanosleep(&some, NULL);
	do {
		before = voluntary_switches();
		nanosleep(&none, NULL);
	} while (voluntary_switches() != before);
	for (volatile int i = 0; i < 1000000; i++)
		;
	d->waits = true;
	return read(d->in, &c, 1) == 1 ? NULL : d;
}

static void rename_thread(pid_t tid, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	f = fopen(path, "w");
	if (!f || fputs(name, f) < 0 || fclose(f))
		_exit(1);
}

static void wait_until_asleep(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (state != 'S') {
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d %*s %c", &state) != 1)
			_exit(1);
		fclose(f);
	}
}

/* Wakes the dozer while its name is another one. The real-time priority keeps it off the CPU of both until then. */
static int run_dozer(int from_test, int to_test)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct dozer d = { 0 };
	cpu_set_t one;
	pthread_t thread;
	void *failed;
	int to[2];
	char c = 0;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (pipe(to) || sched_setaffinity(0, sizeof(one), &one))
		return 1;
	d.in = to[0];
	if (pthread_create(&thread, NULL, doze, &d))
		return 1;
	while (!d.tid)
		sched_yield();
	if (write(to_test, &c, 1) != 1 || read(from_test, &c, 1) != 1 || write(to[1], &c, 1) != 1)
		return 1;
	while (!d.waits)
		sched_yield();
	wait_until_asleep(d.tid);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		return 1;
	rename_thread(d.tid, "other");
	if (write(to[1], &c, 1) != 1)
		return 1;
	rename_thread(d.tid, "dozer");
	if (pthread_join(thread, &failed) || failed)
		return 1;
	return write(to_test, &c, 1) != 1 || read(from_test, &c, 1) != 0;
}

/*
 * A wakeup counts for the interval after it only if it came while the thread left its CPU. If the wakeup that ended the
 * interval is not recorded, an older one must not replace it.
 */
Test(offcpu, wakeup_from_long_before_an_interval_does_not_end_it)
{
	uint64_t asleep = 0, woken = 0;
	int to[2], from[2], status;
	struct live_trace lt;
	struct trace_event ev;
	struct live_rec rec;
	pid_t pid;
	char c;

	cr_assert(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		_exit(run_dozer(to[0], from[1]));
	}
	close(to[0]);
	cr_assert_eq(read(from[0], &c, 1), 1);
	live_record(&rec, "-a", "--thread", "dozer", "--no-samples", "--min-block", "0", NULL);
	live_recording(&rec);
	cr_assert_eq(write(to[1], &c, 1), 1);
	cr_assert_eq(read(from[0], &c, 1), 1);
	cr_assert_eq(live_stop(&rec), 0);
	close(to[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (live_is(&ev, PROF_EV_OFF_CPU) && live_int(&ev, PROF_F_PREV_STATE) == ASLEEP) {
			asleep++;
			woken = (uint64_t)live_int(&ev, PROF_F_WOKEN);
		}
	live_close(&lt);
	cr_expect_geq(asleep, 1);
	cr_expect_eq(woken, 0, "the last of %d intervals has a wakeup", (int)asleep);
}

/* How many sleeps ended by the timer are intervals, and how many of those have a stack down to main. */
struct timed_sleeps {
	int cnt, with_stack;
};

static struct timed_sleeps record_new_sleepers(void)
{
	static const char script[] =
		"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do %s --now 1 20000; done";
	char text[1024];
	const char *args[] = { "-q",   "-o", live_path("c.bin"), "--no-samples", "--min-block",
			       "10ms", "--", "/bin/sh",		 "-c",		 text,
			       NULL };
	struct timed_sleeps n = { 0 };
	struct live_trace lt;
	struct trace_event ev;
	struct live_proc p;
	uint64_t last_ts = 0;

	snprintf(text, sizeof(text), script, live_built("stimuli/sleeper"));
	cr_assert_eq(live_run(&p, args, NULL), 0);
	live_proc_fini(&p);
	live_open(&lt, live_path("c.bin"), false);
	cr_expect_eq(lt.produced, lt.written);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_SAMPLE && ev.source == PROF_SOURCE_EVENT && ev.ts == last_ts)
			n.with_stack += live_stack_has(&lt, &ev, "main");
		if (!live_is(&ev, PROF_EV_OFF_CPU) || live_int(&ev, PROF_F_PREV_STATE) != ASLEEP ||
		    live_int(&ev, PROF_F_CONTEXT) != PROF_CONTEXT_TIMER)
			continue;
		last_ts = ev.ts;
		n.cnt++;
	}
	live_close(&lt);
	return n;
}

/*
 * A process that sleeps as soon as it is there has copied stacks, which the loader walks. Where init is hidden from
 * tracing, so is a switch to or from it, and with it an interval: all twelve once is proof enough.
 */
Test(offcpu, intervals_of_new_processes_have_whole_stacks)
{
	struct timed_sleeps n;
	int tries = 0;

	do {
		n = record_new_sleepers();
		cr_assert_eq(n.with_stack, n.cnt, "%d of %d", n.with_stack, n.cnt);
	} while (n.cnt != 12 && ++tries < 6);
	cr_expect_eq(n.cnt, 12, "%d", n.cnt);
}

/* The wait for a line spans the pause: it is recorded up to the pause only. */
Test(offcpu, no_interval_spans_a_pause)
{
	struct live_control control;
	struct live_trace lt;
	struct trace_event ev;
	struct live_rec rec;
	struct live_proc p;
	struct offcpu_intervals s;
	uint64_t first = 0, last = 0;

	live_stimulus(&p, "sleeper", "10", "2000", NULL);
	live_control(&control);
	live_record(&rec, "-p", live_number(p.pid), "--no-samples", "--min-block", "1ms",
		    "--control", control.spec, NULL);
	live_recording(&rec);
	live_go(&p);
	live_request(&control, "disable");
	live_request(&control, "enable");
	live_end(&p);
	cr_assert_eq(live_stop(&rec), 0);
	live_control_fini(&control);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_LOST && !strcmp(live_text(&lt, &ev, PROF_F_KIND), "paused")) {
			first = (uint64_t)live_int(&ev, PROF_F_FIRST_NS);
			last = (uint64_t)live_int(&ev, PROF_F_LAST_NS);
		}
	live_close(&lt);
	cr_assert_lt(first, last);
	read_offcpu_range(rec.path, first, last, &s);
	cr_expect_eq(s.across, 0);
	cr_expect_geq(s.by_timer, 5, "%d", (int)s.by_timer);
	cr_expect_leq(s.unfinished, 1);
}

/* More threads wait than there are places: those that find none are lost, and counted. */
Test(offcpu, threads_beyond_the_capacity_are_counted_as_lost)
{
	unsigned int threads = 0, places, cnt;
	FILE *f = fopen("/proc/loadavg", "r");
	struct live_rec rec;
	struct live_proc p;
	struct offcpu_intervals s;

	cr_assert(f && fscanf(f, "%*s %*s %*s %*u/%u", &threads) == 1);
	fclose(f);
	if (threads > 4096)
		cr_skip_test("so many threads are there that the crowd would be too large");
	places = 2 * threads + 512 > PROF_OFF_HELD_MIN ? 2 * threads + 512 : PROF_OFF_HELD_MIN;
	cnt = places + 512;
	live_stimulus(&p, "crowd", live_number(cnt), NULL);
	live_record(&rec, "-p", live_number(p.pid), "--no-samples", "--min-block", "0",
		    "--switch-stacks", "none", NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	live_kill(&p);
	read_offcpu(rec.path, &s);
	cr_expect_geq(s.unfinished, PROF_OFF_HELD_MIN - 1, "%d", (int)s.unfinished);
	cr_expect_leq(s.unfinished, places, "%d", (int)s.unfinished);
	cr_expect_geq(s.lost, cnt + 1 - places, "%d", (int)s.lost);
}

static bool output_has(const char *const *args, const char *words)
{
	struct buf out = live_output(args);
	bool has = strstr(out.data, words);

	if (!has)
		fprintf(stderr, "%s: %s\n", args[0], out.data);
	buf_free(&out);
	return has;
}

/* Commands that use off-CPU intervals report them and the limits; commands that need each switch fail. */
Test(offcpu, commands_print_available_data_and_report_missing_data)
{
	static const char limits[] = "only off-CPU intervals of at least 1.000 ms",
			  instead[] = "it has only off-CPU intervals";
	struct live_rec rec;
	char *tid = NULL;
	struct live_proc p;
	struct buf b = { 0 };

	live_stimulus(&p, "sleeper", "20", "2000", NULL);
	buf_printf(&b, "%d", p.pid);
	tid = buf_steal(&b);
	live_record(&rec, "-p", tid, "--min-block", "1ms", NULL);
	live_recording(&rec);
	live_go(&p);
	live_end(&p);
	cr_assert_eq(live_stop(&rec), 0);
	const char *const with_limits[][6] = {
		{ "info", rec.path },
		{ "offcpu", rec.path },
		{ "sched", "latency", rec.path },
		{ "wakeup", rec.path },
		{ "diff", "--kind", "offcpu", rec.path, rec.path },
	};
	const char *const without_limits[][6] = {
		{ "sched", "timehist", rec.path }, { "sched", "map", rec.path },
		{ "sched", "summary", rec.path },  { "wakeup", "--chain", tid, rec.path },
		{ "explain", tid, rec.path },	   { "report", "--wall", rec.path },
	};
	for (size_t i = 0; i < sizeof(with_limits) / sizeof(with_limits[0]); i++)
		cr_expect(output_has(with_limits[i], limits), "%s", with_limits[i][0]);
	for (size_t i = 0; i < sizeof(without_limits) / sizeof(without_limits[0]); i++)
		cr_expect(output_has(without_limits[i], instead), "%s", without_limits[i][0]);
	cr_expect(output_has((const char *const[]){ "script", rec.path, NULL }, " context=timer "));
	cr_expect(output_has((const char *const[]){ "sched", "latency", rec.path, NULL },
			     "          -         -"));
	cr_expect(output_has((const char *const[]){ "sched", "latency", "--json", rec.path, NULL },
			     "\"run_ns\":null,\"switches\":null"));
	free(tid);
}

/* It waits for a line. Its recording has no switch, or none were wanted. */
Test(offcpu, process_that_slept_all_the_time_was_blocked)
{
	const char *option[] = { "-F49", "--no-sched" };
	struct live_rec rec[2];
	struct live_proc p;
	char pid[16];

	live_stimulus(&p, "sleeper", "1", "2000", NULL);
	snprintf(pid, sizeof(pid), "%d", p.pid);
	for (int i = 0; i < 2; i++) {
		live_record(&rec[i], "-p", pid, option[i], NULL);
		live_recording(&rec[i]);
		cr_assert_eq(live_stop(&rec[i]), 0);
	}
	live_go(&p);
	live_end(&p);
	const char *const blocked[][6] = {
		{ "offcpu", "--by", "comm", rec[0].path },
		{ "explain", "--time", "0%,100%", pid, rec[0].path },
		{ "report", "--wall", rec[0].path },
		{ "query", "SELECT state || cut || \"end\" FROM slices", rec[0].path },
	};
	static const char *const texts[] = { "# 1 off-CPU interval, ",
					     ", not ended in the recording", "runnable 0.000 s",
					     "blocked1open" };
	for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		cr_expect(output_has(blocked[i], texts[i]), "%s", blocked[i][0]);
	cr_expect(output_has((const char *const[]){ "offcpu", rec[1].path, NULL },
			     "recorded without context switches (--no-sched or -e)."));
}

/* Of the whole system the threads of one name. */
Test(offcpu, intervals_belong_to_the_selected_threads)
{
	struct live_rec rec;
	struct live_proc p;
	struct live_trace lt;
	struct trace_event ev;
	uint64_t asleep = 0;
	uint32_t tid;

	live_stimulus(&p, "sleeper", "20", "2000", NULL);
	tid = (uint32_t)p.pid;
	live_record(&rec, "-a", "--thread", "sleeper", "--no-samples", "--min-block", "2000", NULL);
	live_recording(&rec);
	live_go(&p);
	live_end(&p);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, PROF_EV_OFF_CPU))
			continue;
		cr_expect_str_eq(live_text(&lt, &ev, PROF_F_COMM), "sleeper");
		asleep += ev.tid == tid && live_int(&ev, PROF_F_PREV_STATE) == ASLEEP;
	}
	live_assert_no_loss(&lt);
	live_close(&lt);
	cr_expect_geq(asleep, 15, "%d", (int)asleep);
}
