// SPDX-License-Identifier: BSD-2-Clause
/*
 * record --app-trace on a live kernel: a service (stimuli/poller.c) writes its own trace while it is recorded, and both
 * are one file in the end. Files next to that trace that have other times, or are no traces, are skipped.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(app_trace, .fini = live_cleanup);

enum { POLLS = 72 };

const char *live_missing(void)
{
	return NULL;
}

static char *make_dir(const char *name)
{
	char *dir = strdup(live_path(name));

	cr_assert_eq(mkdir(dir, 0700), 0);
	return dir;
}

static char *join(const char *dir, const char *name)
{
	char *path = NULL;

	cr_assert_geq(asprintf(&path, "%s/%s", dir, name), 0);
	return path;
}

static void write_text(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void copy(const char *from, const char *to)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC),
		  out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char bytes[65536];
	ssize_t n;

	cr_assert(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		cr_assert_eq(write(out, bytes, (size_t)n), n);
	cr_assert_eq(n, 0);
	close(in);
	close(out);
}

/* What must not be merged: a link to another trace, a pipe without a writer, and a file that is no trace. */
static void add_others(const char *dir)
{
	char *link = join(dir, "link.bin"), *pipe = join(dir, "pipe.bin"),
	     *notes = join(dir, "notes.bin"), *old = join(dir, "old.bin.gz"), *service;

	cr_assert_geq(asprintf(&service, "%s/tests/golden/dial9/tokio-service.bin.gz",
			       getenv("D9_TOP")),
		      0);
	cr_assert_eq(symlink(service, link), 0);
	cr_assert_eq(mkfifo(pipe, 0600), 0);
	write_text(notes, "no trace\n");
	/* of another boot, though it looks like a new one */
	copy(service, old);
	free(link);
	free(pipe);
	free(notes);
	free(old);
	free(service);
}

struct seen {
	int polls, switches, samples, of_workers, wrong;
	uint32_t parts, clocks, wrong_tid; /* the last wrong one */
	bool sorted;
};

/* A thread that parks and unparks as a worker, and when it first and last did. */
struct worker {
	uint32_t tid;
	uint64_t from, to;
	int64_t id; /* at the last event so far */
	bool replaced; /* since then another thread is that worker */
};

static struct worker *find_worker(struct worker *v, size_t cnt, uint32_t tid)
{
	for (size_t i = 0; i < cnt; i++)
		if (v[i].tid == tid)
			return &v[i];
	return NULL;
}

static size_t read_workers(const char *path, struct worker *v, size_t max)
{
	struct live_trace lt;
	struct trace_event ev;
	struct worker *w;
	size_t n = 0;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, "WorkerParkEvent") && !live_is(&ev, "WorkerUnparkEvent"))
			continue;
		w = find_worker(v, n, (uint32_t)live_int(&ev, "tid"));
		if (!w && n < max) {
			w = &v[n++];
			*w = (struct worker){
				.tid = (uint32_t)live_int(&ev, "tid"),
				.from = ev.ts,
				.to = ev.ts,
				.id = -1,
			};
		}
		if (w && ev.ts > w->to)
			w->to = ev.ts;
	}
	live_close(&lt);
	return n;
}

static void follow_worker(struct worker *v, size_t cnt, const struct trace_event *ev)
{
	struct worker *w;

	if (!live_is(ev, "WorkerParkEvent") && !live_is(ev, "WorkerUnparkEvent"))
		return;
	w = find_worker(v, cnt, (uint32_t)live_int(ev, "tid"));
	if (!w)
		return;
	w->id = live_int(ev, "worker_id");
	w->replaced = false;
	for (size_t i = 0; i < cnt; i++)
		if (&v[i] != w && v[i].id == w->id)
			v[i].replaced = true;
}

/*
 * Samples of a worker have its number, and no others have one. Before its first and after its last event, and between
 * two rounds from when the other thread has its number until it has another one, a thread is not known to be a worker.
 */
static struct seen read_trace_counts(const char *path)
{
	struct worker workers[4] = { 0 }, *w;
	const size_t n = read_workers(path, workers, 4);
	struct seen seen = { .sorted = true };
	struct live_trace lt;
	struct trace_event ev;
	uint64_t last = 0;

	cr_assert_gt(n, 0);
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		seen.sorted &= ev.ts >= last;
		last = ev.ts;
		seen.polls += live_is(&ev, "PollStartEvent");
		seen.switches += ev.kind == TRACE_SCHED_SWITCH;
		follow_worker(workers, n, &ev);
		if (ev.kind != TRACE_SAMPLE)
			continue;
		w = find_worker(workers, n, ev.tid);
		seen.samples++;
		seen.of_workers += w != NULL;
		if (w && (ev.ts < w->from || ev.ts > w->to))
			continue;
		if (live_int(&ev, "worker_id") == (w && !w->replaced ? w->id : PROF_WORKER_NONE))
			continue;
		seen.wrong++;
		seen.wrong_tid = ev.tid;
	}
	seen.parts = (uint32_t)lt.names->parts.cnt;
	seen.clocks = (uint32_t)parts_clocks(&lt.names->parts);
	live_close(&lt);
	return seen;
}

static void expect_verified(const char *path)
{
	struct live_proc p;
	const char *args[] = { "info", "--verify", path, NULL };

	cr_expect_eq(live_run(&p, args, NULL), 0);
	live_proc_fini(&p);
}

Test(app_trace, events_of_a_service_during_the_recording_are_merged_at_the_end)
{
	char *dir = make_dir("traces"), *file = join(dir, "service.0.bin"),
	     *out = strdup(live_path("out.bin"));
	char *poller = strdup(live_built("stimuli/poller"));
	const char *args[] = { "--app-trace", dir,    "-o",    out,  "-F", "999",
			       "--",	      poller, "--now", file, NULL };
	struct live_proc p;
	struct buf errors;
	struct seen seen;

	add_others(dir);
	cr_assert_eq(live_run(&p, args, NULL), 0, "%s", live_errors(&p).data);
	errors = live_errors(&p);
	cr_expect(strstr(errors.data,
			 "1 trace merged, 1 skipped: not from the time of the recording"),
		  "%s", errors.data);
	buf_free(&errors);
	live_proc_fini(&p);
	seen = read_trace_counts(out);
	cr_expect_eq(seen.polls, POLLS);
	cr_expect_gt(seen.switches, POLLS);
	cr_expect(seen.sorted);
	cr_expect_eq(seen.parts, 2);
	cr_expect_eq(seen.clocks, 1);
	cr_expect_gt(seen.of_workers, 10);
	cr_expect_eq(seen.wrong, 0, "%d of %d samples, the last of %u", seen.wrong, seen.samples,
		     seen.wrong_tid);
	expect_verified(out);
	free(poller);
	free(file);
	free(out);
	free(dir);
}

Test(app_trace, recording_without_an_application_trace_stays_unmerged)
{
	char *dir = make_dir("empty"), *out = strdup(live_path("alone.bin"));
	const char *args[] = { "--app-trace", dir, "-o", out, "--", "true", NULL };
	struct live_proc p;
	struct buf errors;

	cr_expect_eq(live_run(&p, args, NULL), 0);
	errors = live_errors(&p);
	cr_expect(strstr(errors.data, "nothing merged: "), "%s", errors.data);
	buf_free(&errors);
	live_proc_fini(&p);
	expect_verified(out);
	free(out);
	free(dir);
}

/* The directory goes away while it is recorded. */
Test(app_trace, failed_merge_is_reported_and_keeps_the_whole_recording)
{
	char *dir = make_dir("gone"), *out = strdup(live_path("whole.bin"));
	const char *args[] = { "--app-trace", dir, "-o", out, "--", "rmdir", dir, NULL };
	struct live_proc p;
	struct buf errors;

	cr_expect_eq(live_run(&p, args, NULL), 5);
	errors = live_errors(&p);
	cr_expect(strstr(errors.data, "the recording is unchanged"), "%s", errors.data);
	buf_free(&errors);
	live_proc_fini(&p);
	expect_verified(out);
	free(out);
	free(dir);
}
