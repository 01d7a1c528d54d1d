// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traces read through the engine of intervals: windows, losses that are reported late, and selection of
 * threads. The engine itself has tests/profile/sched/intervals_test.c.
 */
#include "tests/cmd/run_cmd.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/common/interval_reader.h"

/* Times of thread 5, and how often everything was reset. */
struct seen {
	uint64_t ns[INTERVAL_STATE_CNT], switches;
	unsigned int flags;
	int resets;
};

static void on_interval(void *ctx, const struct interval *i)
{
	struct seen *s = ctx;

	if (i->tid != 5)
		return;
	s->ns[i->state] += i->end - i->start;
	s->flags |= i->flags;
}

static void on_event(void *ctx, const struct trace *t, const struct trace_event *ev)
{
	struct seen *s = ctx;

	(void)t;
	s->switches += ev->kind == TRACE_SCHED_SWITCH;
}

static void drop(void *ctx)
{
	struct seen *s = ctx;
	int resets = s->resets + 1;

	*s = (struct seen){ .resets = resets };
}

/* Thread 5 runs 1 s, sleeps 2 s, is runnable 1 s, runs 2 s; another thread runs during that time. */
static void make_life(struct make *m)
{
	make_init(m, NULL);
	make_task_in(m, 10 * RUN_SEC, 5, 5, "a", "/web");
	make_task_in(m, 10 * RUN_SEC, 6, 6, "b", "/db");
	make_switch(m, 10 * RUN_SEC, 0, "b", 6, 0, "a", 5);
	make_switch(m, 11 * RUN_SEC, 0, "a", 5, 1, "b", 6);
	make_waking(m, 13 * RUN_SEC, 1, 6, "a", 5);
	make_switch(m, 14 * RUN_SEC, 0, "b", 6, 0, "a", 5);
	make_switch(m, 16 * RUN_SEC, 0, "a", 5, 1, "b", 6);
}

static int run_on(int fd, const struct select_opts *sel, struct seen *seen, bool streams,
		  struct interval_reader *r)
{
	const struct interval_reader_opts opts = { .sel = sel,
						   .fn = on_interval,
						   .event = on_event,
						   .reset = streams ? NULL : drop,
						   .ctx = seen };
	int keep = dup(0), code;

	*seen = (struct seen){ 0 };
	dup2(fd, 0);
	close(fd);
	code = interval_reader_run(r, &opts, "-");
	dup2(keep, 0);
	close(keep);
	return code;
}

static void run_life(const char *time, struct seen *seen)
{
	struct select_opts sel = { .time = time };
	struct interval_reader r;
	struct make m;

	make_life(&m);
	cr_assert_eq(run_on(make_file(&m), &sel, seen, false, &r), CMD_OK);
	make_fini(&m);
	cr_assert_eq(r.switches, 4);
	interval_reader_fini(&r);
}

Test(interval_reader, whole_trace_is_read)
{
	struct seen seen;

	run_life(NULL, &seen);
	cr_expect_eq(seen.ns[INTERVAL_RUNNING], 3 * RUN_SEC);
	cr_expect_eq(seen.ns[INTERVAL_BLOCKED], 2 * RUN_SEC);
	cr_expect_eq(seen.ns[INTERVAL_RUNNABLE], 1 * RUN_SEC);
	cr_expect_eq(seen.switches, 4);
	cr_expect_eq(seen.resets, 0);
}

/* A clock may begin at 0. */
Test(interval_reader, trace_begins_with_its_first_event)
{
	struct select_opts sel = { 0 };
	struct interval_reader r;
	struct seen seen;
	struct make m;

	make_init(&m, NULL);
	make_switch(&m, 0, 0, "b", 6, 0, "a", 5);
	make_switch(&m, 3 * RUN_SEC, 0, "a", 5, 1, "b", 6);
	make_switch(&m, 4 * RUN_SEC, 0, "b", 6, 1, "a", 5);
	cr_assert_eq(run_on(make_file(&m), &sel, &seen, false, &r), CMD_OK);
	make_fini(&m);
	cr_expect_eq(interval_reader_start_ns(&r), 0);
	cr_expect_eq(interval_reader_span_ns(&r), 4 * RUN_SEC);
	interval_reader_fini(&r);
}

Test(interval_reader, intervals_are_cut_to_the_window)
{
	struct seen seen;

	run_life("10.5,13.25", &seen);
	cr_expect_eq(seen.ns[INTERVAL_RUNNING], RUN_SEC / 2);
	cr_expect_eq(seen.ns[INTERVAL_BLOCKED], 2 * RUN_SEC);
	cr_expect_eq(seen.ns[INTERVAL_RUNNABLE], RUN_SEC / 4);
	cr_expect(seen.flags & INTERVAL_CLIP_START);
	cr_expect(seen.flags & INTERVAL_CLIP_END);
	run_life("50%,100%", &seen);
	cr_expect_eq(seen.ns[INTERVAL_RUNNING], 2 * RUN_SEC, "from 13 s on");
	cr_expect_eq(seen.ns[INTERVAL_BLOCKED], 0);
	run_life("4s,", &seen);
	cr_expect_eq(seen.ns[INTERVAL_RUNNING], 2 * RUN_SEC, "from 14 s on");
}

/* A loss during the sleep, reported at its true end. */
static void make_lossy(struct make *m)
{
	make_life(m);
	make_lost(m, 17 * RUN_SEC, "ring_full", 3, 12 * RUN_SEC, 12 * RUN_SEC + 5);
	make_waking(m, 18 * RUN_SEC, 0, 6, "a", 5);
	make_switch(m, 18 * RUN_SEC, 0, "b", 6, 0, "a", 5);
}

Test(interval_reader, loss_that_is_reported_late_affects_earlier_intervals)
{
	struct select_opts sel = { 0 };
	struct seen seen;
	struct interval_reader r;
	struct make m;

	make_lossy(&m);
	cr_assert_eq(run_on(make_file(&m), &sel, &seen, false, &r), CMD_OK);
	cr_expect_eq(seen.resets, 1);
	cr_expect_eq(seen.switches, 5, "none twice, none left out");
	cr_expect_eq(seen.ns[INTERVAL_BLOCKED], 2 * RUN_SEC, "the second sleep");
	cr_expect_eq(seen.ns[INTERVAL_UNKNOWN], 2 * RUN_SEC, "the first one");
	cr_expect(seen.flags & INTERVAL_LOSS);
	cr_expect_eq(r.losses.account.lost[LOSS_ACCOUNTING_EVENTS], 3);
	interval_reader_fini(&r);
	cr_assert_eq(run_on(make_file(&m), &sel, &seen, true, &r), CMD_OK);
	cr_expect_eq(seen.switches, 5);
	make_fini(&m);
	interval_reader_fini(&r);
}

/* Standard input that cannot be read twice. */
static int make_pipe(struct make *m)
{
	int fds[2];
	size_t sz;
	const void *data = dial9_enc_data(m->enc, &sz);

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], data, sz), (ssize_t)sz);
	close(fds[1]);
	return fds[0];
}

Test(interval_reader, pipe_is_read_once)
{
	struct select_opts sel = { 0 };
	struct seen seen;
	struct interval_reader r;
	struct make m;

	make_lossy(&m);
	for (int streams = 0; streams < 2; streams++) {
		cr_assert_eq(run_on(make_pipe(&m), &sel, &seen, streams, &r), CMD_OK);
		cr_expect_eq(seen.resets, 0);
		cr_expect_eq(seen.switches, 5);
		cr_expect_eq(seen.ns[INTERVAL_BLOCKED], 4 * RUN_SEC, "the loss came too late");
		interval_reader_fini(&r);
	}
	make_fini(&m);
}

Test(interval_reader, threads_are_selected_by_known_properties)
{
	const char *glob = "web";
	uint32_t cpu = 3, pid = 6;
	struct select_opts sel[] = { { .cgroups = { &glob, 1 } },
				     { .pids = { &pid, 1 } },
				     { .cpus = { &cpu, 1 } } };
	const struct interval a = { .tid = 5, .pid = TRACE_NONE, .comm = NAMES_NONE },
			      b = { .tid = 6, .pid = TRACE_NONE, .comm = NAMES_NONE };
	const bool five[] = { true, false, true }, six[] = { false, true, true };
	struct seen seen;
	struct interval_reader r;
	struct make m;

	make_life(&m);
	for (size_t i = 0; i < sizeof(sel) / sizeof(sel[0]); i++) {
		cr_assert_eq(run_on(make_file(&m), &sel[i], &seen, false, &r), CMD_OK);
		cr_expect_eq(interval_reader_wants(&r, &a, TRACE_NONE), five[i], "5 in %zu", i);
		cr_expect_eq(interval_reader_wants(&r, &b, 3), six[i], "6 in %zu", i);
		cr_expect_eq(interval_reader_wants(&r, &a, 1), five[i] && i != 2,
			     "5 on CPU 1 in %zu", i);
		interval_reader_fini(&r);
	}
	make_fini(&m);
}

static void add_host(struct buf *out, const char *host, const char *cgroup)
{
	const char *kv[] = { "host", host, "boot_id", host, "start_realtime_ns", "1", NULL };
	const void *data;
	struct make m;
	size_t sz;

	make_init(&m, NULL);
	make_metadata(&m, 10 * RUN_SEC, kv);
	make_task_in(&m, 10 * RUN_SEC, 5, 5, "a", cgroup);
	make_switch(&m, 10 * RUN_SEC, 0, "b", 6, 0, "a", 5);
	data = dial9_enc_data(m.enc, &sz);
	buf_add(out, data, sz);
	make_fini(&m);
}

/* The last intervals of a recording are returned when the next recording has begun, in which 5 is another thread. */
Test(interval_reader, thread_belongs_to_its_own_recording)
{
	const char *glob = "web";
	const struct select_opts sel = { .cgroups = { &glob, 1 } };
	struct interval i = { .tid = 5, .pid = TRACE_NONE, .comm = NAMES_NONE };
	struct buf file = { 0 };
	struct seen seen;
	struct interval_reader r;

	add_host(&file, "one", "/web");
	add_host(&file, "two", "/db");
	cr_assert_eq(run_on(make_fd(file.data, file.len), &sel, &seen, false, &r), CMD_OK);
	buf_free(&file);
	cr_assert_eq(r.part, 1);
	cr_expect(interval_reader_wants(&r, &i, TRACE_NONE));
	i.part = 1;
	cr_expect_not(interval_reader_wants(&r, &i, TRACE_NONE));
	interval_reader_fini(&r);
}

Test(interval_reader, unreadable_input_and_bad_times_are_reported)
{
	struct select_opts sel = { .time = "5,4" }, none = { 0 };
	struct seen seen;
	struct interval_reader r;

	cr_expect_eq(run_on(make_fd("junk junk", 9), &none, &seen, false, &r), CMD_INPUT);
	interval_reader_fini(&r);
	cr_expect_eq(run_on(make_fd("", 0), &sel, &seen, false, &r), CMD_USAGE);
	interval_reader_fini(&r);
}
