// SPDX-License-Identifier: BSD-2-Clause
/*
 * --summary on the running kernel: counts and times against programs that count their own sleeps and switches,
 * against the kernel's own figures of waits, and against a whole recording of the same.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/sums/offcpu_sums.h"
#include "tests/bpf/support.h"

TestSuite(summary, .fini = live_cleanup);

enum { NAPS = 150, NAP_US = 5000, NAP_BUCKET = 22 /* from 4.19 ms on */, CHAIN = 300 };

/* All sums of the processes of @pid, or of everybody: 0. Every event is checked by itself. */
static void read_sums(const char *path, int64_t pid, struct offcpu_sums *s)
{
	struct live_trace lt;
	struct trace_event ev;

	*s = (struct offcpu_sums){ 0 };
	live_open(&lt, path, false);
	cr_expect_eq(lt.produced, 0, "a recording of sums has no events");
	while (live_event(&lt, &ev)) {
		cr_expect_neq(ev.kind, TRACE_SCHED_SWITCH);
		if (ev.kind != TRACE_SUMMARY)
			continue;
		cr_expect_geq(live_int(&ev, PROF_F_SUM_NS), live_int(&ev, PROF_F_MAX_NS));
		if (!pid || live_int(&ev, PROF_F_PID) == pid)
			offcpu_sums_add(s, lt.names, lt.trace, &ev);
	}
	live_close(&lt);
}

static uint64_t powers_from(const struct offcpu_sums_hist *h, unsigned int k)
{
	uint64_t cnt = 0;

	for (; k < OFFCPU_SUMS_POWERS; k++)
		cnt += h->powers[k];
	return cnt;
}

/* Where init is hidden from tracing, so is a switch to or from it. */
static void expect_nearly_all(uint64_t cnt, uint64_t all)
{
	cr_expect(cnt <= all && cnt >= all - all / 20, "%llu of %llu", (unsigned long long)cnt,
		  (unsigned long long)all);
}

static void pin_to_first(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&all);
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		_exit(1);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	if (sched_setaffinity(0, sizeof(one), &one))
		_exit(1);
}

static void start_pinned(struct live_proc *p, const char *name, const char *arg, const char *second,
			 const char *third)
{
	const char *const argv[] = { live_built(name), arg, second, third, NULL };

	live_spawn(p, argv, pin_to_first);
	live_read_until(p, "ready");
}

Test(summary, every_sleep_and_every_switch_is_counted_in_its_bucket)
{
	struct live_switches before, after;
	const struct offcpu_sums_hist *run, *blocked, *wait;
	struct live_proc sleeper;
	struct live_rec rec;
	struct offcpu_sums s;

	live_stimulus(&sleeper, "sleeper", live_number(NAPS), live_number(NAP_US), NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), "--summary=300ms", NULL);
	live_recording(&rec);
	live_read_switches(sleeper.pid, &before);
	live_go(&sleeper);
	live_read_switches(sleeper.pid, &after);
	cr_assert_eq(live_stop(&rec), 0);
	read_sums(rec.path, sleeper.pid, &s);
	run = &s.all.hists[PROF_SUMMARY_RUN];
	blocked = &s.all.hists[PROF_SUMMARY_BLOCKED];
	wait = &s.all.hists[PROF_SUMMARY_WAIT];
	expect_nearly_all(run->cnt - s.all.involuntary, after.voluntary - before.voluntary);
	cr_expect_leq(s.all.involuntary, after.involuntary - before.involuntary);
	/* its wait for the line that let it go had begun before; how it ended is known */
	expect_nearly_all(blocked->cnt, NAPS);
	cr_expect_eq(powers_from(blocked, NAP_BUCKET), blocked->cnt);
	cr_expect_geq(blocked->sum_ns, blocked->cnt * NAP_US * 1000ULL);
	cr_expect_leq(wait->cnt, run->cnt + 1);
	cr_expect_geq(wait->cnt, blocked->cnt);
	cr_expect_leq(s.all.unknown, NAPS / 20);
	cr_expect_eq(powers_from(run, 0), run->cnt);
	offcpu_sums_fini(&s);
	live_end(&sleeper);
}

static void pin_to_last(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(99);
}

Test(summary, sums_of_cpus_that_share_a_ring_are_separate)
{
	const char *const argv[] = { live_built("stimuli/sleeper"), "100", "2000", NULL };
	struct live_proc sleeper;
	struct live_rec rec;
	struct offcpu_sums s;

	live_spawn(&sleeper, argv, pin_to_last);
	live_read_until(&sleeper, "ready");
	live_record(&rec, "-p", live_number(sleeper.pid), "--summary", "--debug=one-ring", NULL);
	live_recording(&rec);
	live_go(&sleeper);
	cr_assert_eq(live_stop(&rec), 0);
	read_sums(rec.path, sleeper.pid, &s);
	expect_nearly_all(s.all.hists[PROF_SUMMARY_BLOCKED].cnt, 100);
	offcpu_sums_fini(&s);
	live_end(&sleeper);
}

/* It is the recorder's child at first, and is called so. */
Test(summary, command_is_named_after_the_program_it_executes)
{
	const char *path = live_path("named.bin");
	struct live_trace lt;
	struct trace_event ev;
	struct live_proc rec;
	size_t cnt = 0;

	cr_assert_eq(live_run(&rec,
			      (const char *const[]){ "-q", "-o", path, "--summary", "--",
						     live_built("stimuli/sleeper"), "--now", "50",
						     "1000", NULL },
			      NULL),
		     0);
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SUMMARY || live_int(&ev, "kind") != PROF_SUMMARY_BLOCKED)
			continue;
		cr_expect_str_eq(live_text(&lt, &ev, PROF_F_COMM), "sleeper");
		cnt++;
	}
	cr_expect_gt(cnt, 0);
	live_close(&lt);
	live_proc_fini(&rec);
}

Test(summary, run_queue_latency_equals_the_kernels_counter)
{
	struct live_proc hog, victim;
	struct live_rec rec;
	struct offcpu_sums s;
	double waited;

	start_pinned(&hog, "stimuli/spinner", "70", "1000000", NULL);
	cr_assert_eq(write(hog.in, "\n", 1), 1);
	start_pinned(&victim, "stimuli/waiter", "200", "500", NULL);
	live_record(&rec, "-p", live_number(victim.pid), "--summary", NULL);
	live_recording(&rec);
	live_go(&victim);
	waited = live_truth(&victim, "waited_ns");
	cr_assert_eq(live_stop(&rec), 0);
	read_sums(rec.path, victim.pid, &s);
	cr_expect_float_eq((double)s.all.hists[PROF_SUMMARY_WAIT].sum_ns, waited, waited / 10,
			   "%llu of %.0f ns",
			   (unsigned long long)s.all.hists[PROF_SUMMARY_WAIT].sum_ns, waited);
	cr_expect_gt(waited, 1e6);
	offcpu_sums_fini(&s);
	live_end(&victim);
	live_kill(&hog);
}

/* The number after a key of the JSON row of a process. */
static double reported_value(const char *command, const char *sub, const char *by, const char *path,
			     int64_t pid, const char *key)
{
	const char *const latency[] = { command, sub, "--by", by, "--json", path, NULL };
	const char *const other[] = { command, "--by", by, "--json", path, NULL };
	struct buf out = live_output(sub ? latency : other), want = { 0 };
	const char *row;
	double v;

	buf_printf(&want, "\"pid\":%lld", (long long)pid);
	row = strstr(buf_cstr(&out), buf_cstr(&want));
	cr_assert_not_null(row, "no %s in %s", buf_cstr(&want), buf_cstr(&out));
	while (row > buf_cstr(&out) && row[-1] != '\n')
		row--;
	v = (double)live_output_number(row, key);
	buf_free(&want);
	buf_free(&out);
	return v;
}

struct pair_of_recordings {
	struct live_rec whole, sums;
	int64_t pid;
	char differs[128]; /* the first value that differs; empty: none */
};

/* @slack: as part of the value by events, plus @more */
static void compare_value(struct pair_of_recordings *r, const char *command, const char *sub,
			  const char *key, double slack, double more)
{
	const double v = reported_value(command, sub, "pid", r->whole.path, r->pid, key);
	const double w = reported_value(command, sub, "pid", r->sums.path, r->pid, key);

	if (!*r->differs && fabs(w - v) > v * slack + more)
		snprintf(r->differs, sizeof(r->differs), "%s %s %.0f, and %.0f by events", command,
			 key, w, v);
}

static void record_both_ways(struct pair_of_recordings *r)
{
	struct live_proc player;

	*r = (struct pair_of_recordings){ .pid = 0 };
	live_stimulus(&player, "pingpong", "3000", NULL);
	r->pid = player.pid;
	live_record(&r->whole, "-p", live_number(player.pid), NULL);
	live_record(&r->sums, "-p", live_number(player.pid), "--summary", NULL);
	live_recording(&r->whole);
	live_recording(&r->sums);
	live_go(&player);
	cr_assert_eq(live_stop(&r->whole), 0);
	cr_assert_eq(live_stop(&r->sums), 0);
	live_end(&player);
}

/* A switch that is hidden from one of the two makes a wait of any length: equal once is proof enough. */
Test(summary, sums_agree_with_a_full_recording)
{
	struct pair_of_recordings r;
	int tries = 0;

	do {
		record_both_ways(&r);
		compare_value(&r, "sched", "latency", "\"switches\":", 0.002, 3);
		compare_value(&r, "sched", "latency", "\"intervals\":", 0.002, 3);
		compare_value(&r, "sched", "latency", "\"run_ns\":", 0.25, 3);
		compare_value(&r, "sched", "latency", "\"runnable_ns\":", 0.25, 3);
		compare_value(&r, "offcpu", NULL, "\"intervals\":", 0.002, 6);
	} while (*r.differs && ++tries < 6);
	cr_expect_str_empty(r.differs, "%s", r.differs);
}

Test(summary, processes_beyond_the_table_are_summed_up_together)
{
	uint64_t others = 0, rows = 0, ends = 0;
	struct live_proc chain;
	struct live_rec rec;
	struct offcpu_sums s;

	start_pinned(&chain, "stimuli/forkchain", live_number(CHAIN), NULL, NULL);
	live_record(&rec, "-p", live_number(chain.pid), "--summary=10m", NULL);
	live_recording(&rec);
	live_go(&chain);
	cr_assert_eq(live_stop(&rec), 0);
	read_sums(rec.path, 0, &s);
	for (size_t i = 0; i < s.cnt; i++) {
		const struct offcpu_sums_hist *run = &s.rows[i].hists[PROF_SUMMARY_RUN];

		others += s.rows[i].other ? run->cnt : 0;
		rows += !s.rows[i].other;
		ends += run->cnt;
	}
	/* each of them came to the CPU at least once, in a row of its own or of others */
	cr_expect_leq(rows, 256);
	cr_expect_gt(rows, 128);
	cr_expect_geq(others, CHAIN - rows);
	cr_expect_geq(ends, CHAIN);
	offcpu_sums_fini(&s);
	live_end(&chain);
}

/* Sums of a thread that sleeps 20 times for a millisecond, and is blocked then. */
static void sum_sleeper(struct live_proc *sleeper, struct live_rec *rec)
{
	live_stimulus(sleeper, "sleeper", "20", "1000", NULL);
	live_record(rec, "-p", live_number(sleeper->pid), "--summary", NULL);
	live_recording(rec);
	live_go(sleeper);
	cr_assert_eq(live_stop(rec), 0);
}

/* What has no events says so, where it would show some. */
Test(summary, commands_that_need_events_print_one_line_about_the_sums)
{
	static const char *const commands[][2] = {
		{ "report", NULL }, { "sched", "timehist" }, { "sched", "map" }, { "wakeup", NULL }
	};
	struct live_proc sleeper;
	struct live_rec rec;

	sum_sleeper(&sleeper, &rec);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *const two[] = { commands[i][0], commands[i][1], rec.path, NULL };
		const char *const one[] = { commands[i][0], rec.path, NULL };
		struct buf out = live_output(commands[i][1] ? two : one);

		cr_expect_not_null(strstr(buf_cstr(&out), "it has only sums (--summary); "), "%s",
				   buf_cstr(&out));
		buf_free(&out);
	}
	live_end(&sleeper);
}

/* Who still sleeps at the end is in no sum. */
Test(summary, offcpu_prints_that_its_times_are_sums_per_process)
{
	const char *args[] = { "offcpu", NULL, NULL };
	struct live_proc sleeper;
	struct live_rec rec;
	struct buf out;

	sum_sleeper(&sleeper, &rec);
	args[1] = rec.path;
	out = live_output(args);
	cr_expect_not_null(strstr(buf_cstr(&out), "\n# sums per process, recorded every "), "%s",
			   buf_cstr(&out));
	buf_free(&out);
	live_end(&sleeper);
}
