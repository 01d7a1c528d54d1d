// SPDX-License-Identifier: BSD-2-Clause
/*
 * --max-overhead on the running kernel: a thread that takes thousands of naps a second costs more than is allowed.
 * Skipped slices are reported, the trace has no events within them, and what was recorded, weighed by
 * the part of time that it is of, comes to what the thread counts itself. And what is not needed is not done.
 */
/* ALONE: CPU time */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/sched/intervals.h"
#include "tests/bpf/fault.h"

TestSuite(overhead, .fini = live_cleanup);

enum {
	SLICES_MAX = 4096,
	NAPS = 30000, /* of 100 us */
	UNDER_WAY_NS =
		10000000, /* a slice is reported from before its start: events that are under way then still come */
};

struct seen {
	int64_t tid;
	uint64_t from[SLICES_MAX], to[SLICES_MAX];
	size_t slice_cnt;
	uint64_t switches;
	uint64_t within; /* switches within skipped slices, except those under way */
	uint64_t levels, one_in_max, stacks_off;
	double truth; /* switches, by its own count */
	double part; /* of the time that was recorded */
	uint64_t over; /* intervals that are not of unknown state, over one of these slices */
};

static void add_slice(struct seen *s, const struct live_trace *lt, const struct trace_event *ev)
{
	const char *kind = live_text(lt, ev, PROF_F_KIND);

	if (!strcmp(kind, PROF_LOST_STACKS_OFF))
		s->stacks_off += (uint64_t)live_int(ev, PROF_F_COUNT);
	if (strcmp(kind, PROF_LOST_THINNED))
		return;
	cr_assert_lt(s->slice_cnt, SLICES_MAX);
	s->from[s->slice_cnt] = (uint64_t)live_int(ev, PROF_F_FIRST_NS);
	s->to[s->slice_cnt++] = (uint64_t)live_int(ev, PROF_F_LAST_NS);
}

/* The first @but_ns nanoseconds of a slice do not count. */
static bool overlaps_slice(const struct seen *s, uint64_t from, uint64_t to, uint64_t but_ns)
{
	for (size_t i = 0; i < s->slice_cnt; i++)
		if (from < s->to[i] && to > s->from[i] + but_ns)
			return true;
	return false;
}

/* What part of a time was recorded. */
static double part_of(const struct seen *s, uint64_t from, uint64_t to)
{
	uint64_t left_out = 0;

	for (size_t i = 0; i < s->slice_cnt; i++) {
		const uint64_t first = s->from[i] > from ? s->from[i] : from;
		const uint64_t last = s->to[i] < to ? s->to[i] : to;

		left_out += last > first ? last - first : 0;
	}
	return 1 - (double)left_out / (double)(to - from);
}

static void read_slices(const char *path, struct seen *s)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_LOST)
			add_slice(s, &lt, &ev);
		if (!live_is(&ev, PROF_EV_THINNING))
			continue;
		s->levels++;
		if ((uint64_t)live_int(&ev, PROF_F_ONE_IN) > s->one_in_max)
			s->one_in_max = (uint64_t)live_int(&ev, PROF_F_ONE_IN);
	}
	live_close(&lt);
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct seen *s = ctx;

	if (i->tid == (uint32_t)s->tid && i->state != INTERVAL_UNKNOWN)
		s->over += overlaps_slice(s, i->start, i->end, 0);
}

static void read_switches(const char *path, struct seen *s)
{
	struct live_trace first, lt;
	struct intervals *iv;
	struct trace_event ev;

	live_open(&first, path, false);
	live_open(&lt, path, false);
	iv = intervals_new(&(struct intervals_opts){ first.names, add_interval, s });
	/* losses first, as commands do it */
	while (live_event(&first, &ev))
		intervals_add_gaps(iv, first.trace, &ev);
	while (live_event(&lt, &ev)) {
		intervals_add(iv, lt.trace, &ev);
		if (ev.kind == TRACE_SCHED_SWITCH)
			s->within += overlaps_slice(s, ev.ts, ev.ts, UNDER_WAY_NS);
		if (ev.kind != TRACE_SCHED_SWITCH || live_int(&ev, PROF_F_PREV_PID) != s->tid)
			continue;
		s->switches++;
	}
	intervals_finish(iv);
	intervals_free(iv);
	live_close(&lt);
	live_close(&first);
}

/* Naps of @usecs microseconds, recorded with an option that skips time slices. */
static void record_naps(struct seen *s, struct live_rec *rec, int64_t naps, const char *usecs,
			const char *option, const char *value)
{
	struct live_switches before, after;
	struct live_proc sleeper;
	uint64_t from, to;

	live_stimulus(&sleeper, "sleeper", live_number(naps), usecs, NULL);
	s->tid = sleeper.pid;
	live_record(rec, "-p", live_number(sleeper.pid), option, value, "--no-samples", NULL);
	live_recording(rec);
	live_read_switches(sleeper.pid, &before);
	from = clock_mono_ns();
	live_go(&sleeper);
	to = clock_mono_ns();
	live_read_switches(sleeper.pid, &after);
	cr_assert_eq(live_stop(rec), 0);
	read_slices(rec->path, s);
	read_switches(rec->path, s);
	s->truth = (double)(after.voluntary + after.involuntary - before.voluntary -
			    before.involuntary);
	s->part = part_of(s, from, to);
	live_end(&sleeper);
}

static void expect_weighed(const struct seen *s)
{
	cr_expect_eq(s->within, 0, "%llu switches in slices that are left out",
		     (unsigned long long)s->within);
	cr_expect_eq(s->over, 0, "%llu intervals reach over what is left out",
		     (unsigned long long)s->over);
	cr_expect_float_eq((double)s->switches / s->part, s->truth, s->truth * 0.3,
			   "%llu switches in %.3f of the time, and %.0f in all",
			   (unsigned long long)s->switches, s->part, s->truth);
}

Test(overhead, dropped_stacks_are_reported_and_the_rest_is_weighted)
{
	struct seen s = { 0 };
	struct live_rec rec;
	struct buf out;

	record_naps(&s, &rec, NAPS, "100", "--max-overhead", "0.2");
	cr_assert_geq(s.levels, 2);
	cr_expect_gt(s.one_in_max, 1);
	cr_expect_gt(s.stacks_off, 0);
	cr_assert_gt(s.slice_cnt, 0);
	expect_weighed(&s);
	cr_expect_lt((double)s.switches, s.truth * 0.95);
	out = live_output((const char *const[]){ "sched", "latency", rec.path, NULL });
	cr_expect_not_null(strstr(buf_cstr(&out), "# skipped: "), "%s", buf_cstr(&out));
	cr_expect_not_null(strstr(buf_cstr(&out), "of the time"));
	buf_free(&out);
	out = live_output((const char *const[]){ "info", rec.path, NULL });
	cr_expect_not_null(strstr(buf_cstr(&out), "\nskipped "), "%s", buf_cstr(&out));
	buf_free(&out);
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Of the times between two gaps, half are at most this long. */
static uint64_t usual_slice_ns(const struct seen *s)
{
	uint64_t ns[SLICES_MAX];
	size_t i;

	cr_assert_gt(s->slice_cnt, 4u);
	for (i = 0; i + 1 < s->slice_cnt; i++)
		ns[i] = s->from[i + 1] - s->to[i];
	qsort(ns, i, sizeof(*ns), compare);
	return ns[i / 2];
}

Test(overhead, one_time_slice_in_four_is_recorded_on_request)
{
	struct seen s = { 0 };
	struct live_rec rec;

	record_naps(&s, &rec, 4000, "500", "--sched-sample", "1/4");
	cr_expect_eq(s.levels, 1);
	cr_expect_eq(s.one_in_max, 4);
	cr_expect_eq(s.stacks_off, 0);
	cr_expect_float_eq(s.part, 0.25, 0.1, "%.3f of the time", s.part);
	cr_expect_lt(usual_slice_ns(&s), 55000000u, "%llu ns, not 50 ms",
		     (unsigned long long)usual_slice_ns(&s));
	expect_weighed(&s);
}

Test(overhead, cheap_recording_is_whole)
{
	struct seen s = { 0 };
	struct live_proc sleeper;
	struct live_rec rec;

	live_stimulus(&sleeper, "sleeper", "100", "20000", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), "--max-overhead=90%", "--no-samples",
		    NULL);
	live_recording(&rec);
	live_go(&sleeper);
	cr_assert_eq(live_stop(&rec), 0);
	read_slices(rec.path, &s);
	cr_expect_eq(s.levels, 0);
	cr_expect_eq(s.slice_cnt, 0);
	cr_expect_eq(s.stacks_off, 0);
	live_end(&sleeper);
}

/* What the recorder cost up to some time, its helper processes included. */
struct cost {
	int64_t elapsed_ns, ns;
};

/* From the first statistics after two seconds to the last ones of the recording. */
static void read_cost(const char *path, struct cost *from, struct cost *to)
{
	struct live_trace lt;
	struct trace_event ev;

	*from = *to = (struct cost){ 0 };
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, PROF_EV_STATS) || live_int(&ev, PROF_F_CLOSED))
			continue;
		*to = (struct cost){ live_int(&ev, "elapsed_ns"),
				     live_int(&ev, "bpf_ns") + live_int(&ev, "cpu_ns") +
					     live_int(&ev, "helper_cpu_ns") };
		if (!from->elapsed_ns && to->elapsed_ns >= 2000000000)
			*from = *to;
	}
	live_close(&lt);
}

/* Records everything for six seconds. Returns the part of one CPU that this cost from second 2 on. */
static double record_cost(const char *max_overhead)
{
	struct live_rec rec;
	struct cost from, to;
	double part;

	live_record(&rec, "-q", "-a", "-d", "6", max_overhead, NULL);
	live_recording(&rec);
	cr_assert_eq(live_finish(&rec), 0);
	read_cost(rec.path, &from, &to);
	cr_assert_gt(to.elapsed_ns, from.elapsed_ns + 2000000000);
	part = (double)(to.ns - from.ns) / (double)(to.elapsed_ns - from.elapsed_ns);
	fprintf(stderr, "%.3f of one CPU from %.1f to %.1f s\n", part,
		(double)from.elapsed_ns / 1e9, (double)to.elapsed_ns / 1e9);
	return part;
}

static double cpus(void)
{
	return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

Test(overhead, overhead_limit_holds_after_two_seconds_including_helpers)
{
	struct live_proc programs[4];
	double part;

	for (int i = 0; i < 4; i++) {
		live_stimulus(&programs[i], "many_maps", "32000", "0", NULL);
		cr_assert_eq(write(programs[i].in, "\n", 1), 1);
	}
	part = record_cost("--max-overhead=5");
	for (int i = 0; i < 4; i++)
		fault_kill(&programs[i]);
	cr_expect_leq(part, 0.05 * cpus(), "%.3f", part);
}

/* They sleep: only reading their mappings costs time. */
Test(overhead, overhead_limit_covers_processes_with_many_mappings)
{
	struct live_proc programs[24];
	double part;

	for (int i = 0; i < 24; i++) {
		live_stimulus(&programs[i], "many_maps", "16000", "0", "100000", NULL);
		cr_assert_eq(write(programs[i].in, "\n", 1), 1);
	}
	part = record_cost("--max-overhead=2");
	for (int i = 0; i < 24; i++)
		fault_kill(&programs[i]);
	cr_expect_leq(part, 0.02 * cpus(), "%.3f", part);
}

/* The kernel's records about new processes come whether or not their events are recorded. */
Test(overhead, overhead_limit_covers_a_fork_storm)
{
	struct live_proc storm;
	double part;

	live_stimulus(&storm, "storm", "2000", "1", NULL);
	cr_assert_eq(write(storm.in, "\n", 1), 1);
	part = record_cost("--max-overhead=3");
	fault_kill(&storm);
	cr_expect_leq(part, 0.03 * cpus(), "%.3f", part);
}

/* Lists of mappings that programs were given to walk stacks by. */
static int64_t lists_of(const char *samples, const char *stacks)
{
	struct live_trace lt;
	struct live_proc player;
	struct live_rec rec;
	struct trace_event ev;
	int64_t lists = -1;

	live_stimulus(&player, "pingpong", "100", NULL);
	live_record(&rec, "-a", "--switch-stacks", stacks, samples, NULL);
	live_recording(&rec);
	live_go(&player);
	live_end(&player);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (live_is(&ev, PROF_EV_STATS))
			lists = live_int(&ev, "unwind_lists");
	live_close(&lt);
	return lists;
}

Test(overhead, mappings_are_tracked_only_if_user_stacks_are_recorded)
{
	cr_expect_eq(lists_of("--no-samples", "none"), 0);
	cr_expect_gt(lists_of("--no-samples", "user"), 0);
	cr_expect_gt(lists_of("--freq=99", "none"), 0);
}
