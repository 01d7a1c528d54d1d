// SPDX-License-Identifier: BSD-2-Clause
/* The file as a stream: true times, readable while it grows, and complete up to a kill -9. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "tests/bpf/support.h"
#include "trace/source/source.h"

TestSuite(stream, .fini = live_cleanup);

#define MS_NS 1000000LL
#define SECOND_NS 1000000000LL

static bool is_record(const struct trace_event *ev)
{
	return ev->kind == TRACE_SAMPLE || strchr(dial9_schema_name(ev->schema->schema), ':');
}

/* ---- time -------------------------------------------------------------------------------------- */

static void check_clock_sync(const struct trace_event *ev)
{
	int64_t apart = clock_real_ns() - clock_mono_ns();
	int64_t offset = live_int(ev, PROF_F_REALTIME_NS) - (int64_t)ev->ts;

	cr_assert_lt(llabs(offset - apart), MS_NS, "%lld ns apart", (long long)(offset - apart));
}

Test(stream, times_are_monotonic_and_tied_to_the_wall_clock)
{
	uint64_t begin = clock_mono_ns(), go, done, records = 0, back = 0, syncs = 0, last = 0;
	uint64_t first_out = 0, last_out = 0;
	struct live_proc sleeper;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;

	live_stimulus(&sleeper, "sleeper", "1000", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), NULL);
	live_recording(&rec);
	go = clock_mono_ns();
	live_go(&sleeper);
	done = clock_mono_ns();
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		cr_assert(ev.has_ts && ev.ts >= begin && ev.ts <= clock_mono_ns());
		if (ev.kind == TRACE_CLOCK_SYNC) {
			check_clock_sync(&ev);
			syncs++;
		}
		if (!is_record(&ev))
			continue;
		back += ev.ts < last;
		last = ev.ts;
		records++;
		if (ev.kind != TRACE_SCHED_SWITCH || live_int(&ev, "prev_pid") != sleeper.pid)
			continue;
		first_out = first_out ? first_out : ev.ts;
		last_out = ev.ts;
	}
	live_close(&lt);
	cr_assert_geq(syncs, 2);
	cr_assert_geq(first_out, go);
	cr_assert_lt(first_out, done);
	cr_assert_geq(last_out, first_out + 100 * MS_NS, "1000 naps of 100 us in %llu ns",
		      (unsigned long long)(last_out - first_out));
	cr_assert_leq(back, records / 100, "%llu of %llu records step back in time",
		      (unsigned long long)back, (unsigned long long)records);
	live_end(&sleeper);
}

/* ---- kill -9 ----------------------------------------------------------------------------------- */

static void wait_until(uint64_t ns)
{
	const struct timespec until = { .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void kill_now(struct live_proc *p)
{
	kill(p->pid, SIGKILL);
	cr_assert_eq(live_wait(p), 128 + SIGKILL);
	live_proc_fini(p);
}

static bool is_named(const struct live_trace *lt, const struct trace_event *ev)
{
	return ev->frame_cnt && names_symbol(lt->names, ev->frames[0]);
}

/* At the default rate, so that the file grows by the second and not by full buffers. */
Test(stream, kill_9_leaves_all_but_the_last_second_with_symbols)
{
	uint64_t killed, last = 0, old = 0, named = 0;
	struct live_proc spinner;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;

	live_stimulus(&spinner, "spinner", "70", "60000", NULL);
	live_record(&rec, "-p", live_number(spinner.pid), NULL);
	live_recording(&rec);
	cr_assert_eq(write(spinner.in, "\n", 1), 1);
	wait_until(clock_mono_ns() + 4 * SECOND_NS);
	killed = clock_mono_ns();
	kill_now(&rec.proc);
	kill_now(&spinner);
	live_open(&lt, rec.path, true);
	while (live_event(&lt, &ev)) {
		if (!is_record(&ev))
			continue;
		last = ev.ts > last ? ev.ts : last;
		if (ev.kind != TRACE_SAMPLE || ev.ts + 2 * SECOND_NS > killed)
			continue;
		old++;
		named += is_named(&lt, &ev);
	}
	live_close(&lt);
	cr_assert_gt(last + SECOND_NS, killed, "the file ends %llu ms before the kill",
		     (unsigned long long)((killed - last) / MS_NS));
	cr_assert_gt(old, 20);
	cr_assert_eq(named, old, "%llu of %llu", (unsigned long long)named,
		     (unsigned long long)old);
}

/* ---- while it grows ---------------------------------------------------------------------------- */

struct follower {
	struct names *names;
	struct source *src;
	struct trace *trace;
	uint64_t events, waits;
};

static void follower_open(struct follower *f, const char *path)
{
	struct trace_opts opts = { .read = source_read, .learn = true };

	*f = (struct follower){ 0 };
	cr_assert_eq(names_new(&f->names), 0);
	cr_assert_eq(source_open(path, &f->src), 0);
	opts.ctx = f->src;
	opts.names = f->names;
	cr_assert_eq(trace_new(&opts, &f->trace), 0);
}

/* All that is there now: nothing but events, then an end or a frame that is not whole yet. */
static void follower_read(struct follower *f)
{
	struct trace_event ev;
	int rc;

	while ((rc = trace_next(f->trace, &ev)) == 1)
		f->events++;
	cr_assert(rc == 0 || rc == -ENODATA, "a reader of the growing file got %s", strerror(-rc));
	f->waits++;
}

static void follower_close(struct follower *f)
{
	trace_free(f->trace);
	source_close(f->src);
	names_free(f->names);
}

static uint64_t count_events(const char *path)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t n = 0;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		n++;
	live_close(&lt);
	return n;
}

Test(stream, reader_of_the_growing_file_gets_every_event_and_no_error)
{
	struct live_proc player;
	struct follower f;
	struct live_rec rec;

	live_stimulus(&player, "pingpong", "20000", NULL);
	live_record(&rec, "-F", "999", "-d", "2", "-p", live_number(player.pid), NULL);
	live_recording(&rec);
	cr_assert_eq(write(player.in, "\n", 1), 1);
	follower_open(&f, rec.path);
	while (!waitpid(rec.proc.pid, NULL, WNOHANG)) {
		follower_read(&f);
		wait_until(clock_mono_ns() + MS_NS);
	}
	rec.proc.pid = 0;
	live_proc_fini(&rec.proc);
	follower_read(&f);
	cr_assert_gt(f.waits, 10);
	cr_assert_gt(f.events, 1000);
	cr_assert_eq(f.events, count_events(rec.path));
	follower_close(&f);
	kill_now(&player);
}

/* ---- level of the format ------------------------------------------------------------------------- */

static void expect_features(const char *option, const char *value, const char *want)
{
	const char *record[] = { "record", "-q",  "-o", live_path("out"),
				 "-d",	   "0.2", "-a", "--no-names",
				 option,   value, NULL };
	const char *info[] = { "info", "--json", live_path("out"), NULL };
	struct live_proc p;

	cr_assert_eq(live_run(&p, record, NULL), 0, "%s", buf_cstr(&p.output));
	live_proc_fini(&p);
	cr_assert_eq(live_run(&p, info, NULL), 0);
	cr_expect(strstr(buf_cstr(&p.output), want), "%s: %s", option, buf_cstr(&p.output));
	live_proc_fini(&p);
}

Test(stream, annotations_are_written_on_request_only)
{
	expect_features(NULL, NULL, "\"level\":\"0.4\",\"level_features\":[\"pooled_stacks\"]");
	expect_features("--annotate", NULL,
			"\"level\":\"0.4\",\"level_features\":[\"pooled_stacks\",\"annotations\"]");
	expect_features("--spec", "0.3", "\"level\":\"0.3\",\"level_features\":[]");
}
