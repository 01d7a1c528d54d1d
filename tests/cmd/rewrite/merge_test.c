// SPDX-License-Identifier: BSD-2-Clause
/*
 * `merge`: every event once, in order of time, with the same values; hosts and recordings stay separate, so
 * that the other commands print the same for the whole as for each. Files are compared by their decoded events.
 */
#include "rewrite/merge/merge.h"

#include "tests/cmd/event_lines.h"
#include "tests/cmd/run_cmd.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "tests/support/random_events.h"
#include "tests/support/read_trace.h"

TestSuite(merge, .timeout = 60);

/* ---- support ----------------------------------------------------------------------------------- */

enum { INPUTS_MAX = 4 };

struct lines {
	char **v;
	size_t cnt, cap;
	bool sorted; /* times never step back */
};

static char *line_of(const struct dial9_dec *dec, const struct dial9_event *ev)
{
	struct buf out = { 0 };

	buf_printf(&out, "%s %d %llu", dial9_schema_name(ev->schema), ev->has_ts,
		   (unsigned long long)ev->ts);
	for (size_t i = 0; i < ev->value_cnt; i++) {
		const char *name = dial9_schema_field_name(ev->schema, i);

		if (!strcmp(name, PROF_F_PART))
			continue;
		buf_printf(&out, " %s/%u=", name, dial9_schema_field_type(ev->schema, i));
		value_print(&out, &event_line_style, dec, &ev->values[i]);
	}
	return buf_steal(&out);
}

/* The events of a trace after the events of others, without events that merge adds. */
static void add_lines(struct lines *l, int fd, int end)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = source_read };
	struct dial9_dec *dec;
	struct dial9_frame f;
	struct source *src;
	uint64_t last = 0;
	int ret;

	l->sorted = true;
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(source_open_fd(dup(fd), "test", &src), 0);
	opts.ctx = src;
	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT ||
		    !strcmp(dial9_schema_name(f.event.schema), PROF_EV_MERGED_PART))
			continue;
		l->v = array_reserve(l->v, &l->cap, l->cnt + 1, sizeof(char *));
		l->v[l->cnt++] = line_of(dec, &f.event);
		l->sorted &= !f.event.has_ts || f.event.ts >= last;
		last = f.event.has_ts ? f.event.ts : last;
	}
	cr_assert_eq(ret, end);
	dial9_dec_free(dec);
	source_close(src);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lines_free(struct lines *l)
{
	for (size_t i = 0; i < l->cnt; i++)
		free(l->v[i]);
	free(l->v);
}

/* The same events, each as often, in any order. Frees both. */
static void expect_same(struct lines *got, struct lines *want)
{
	cr_assert_eq(got->cnt, want->cnt, "%zu events, not %zu", got->cnt, want->cnt);
	qsort(got->v, got->cnt, sizeof(char *), by_text);
	qsort(want->v, want->cnt, sizeof(char *), by_text);
	for (size_t i = 0; i < got->cnt; i++)
		cr_assert_str_eq(got->v[i], want->v[i]);
	lines_free(got);
	lines_free(want);
}

/* A file with the merged traces. @fds stay open. */
static int merge_fds(const struct merge_opts *opts, const int *fds, size_t cnt, int code)
{
	char names[INPUTS_MAX][32];
	const char *paths[INPUTS_MAX];
	int out = make_fd("", 0), got;

	for (size_t i = 0; i < cnt; i++) {
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
		paths[i] = names[i];
	}
	got = merge_to_file(opts, paths, cnt, out, NULL);
	cr_assert_eq(got, code, "exit code %d", got);
	return out;
}

static void expect_merged(int merged, const int *fds, size_t cnt)
{
	struct lines got = { 0 }, want = { 0 };

	add_lines(&got, merged, 0);
	for (size_t i = 0; i < cnt; i++)
		add_lines(&want, fds[i], 0);
	cr_expect(got.sorted, "times step back");
	expect_same(&got, &want);
}

/* ---- every event once -------------------------------------------------------------------------- */

static int random_trace(uint64_t seed)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct random_events r;
	struct dial9_enc *enc;
	const void *data;
	size_t sz;
	int fd;

	cr_assert_eq(dial9_enc_new(&opts, &enc), 0);
	random_run(&r, seed, 120, enc);
	data = dial9_enc_data(enc, &sz);
	fd = make_fd(data, sz);
	random_fini(&r);
	dial9_enc_free(enc);
	return fd;
}

/* With little memory most of it is sorted in the temporary file, and runs are joined. */
Test(merge, every_event_of_each_trace_is_written_once_in_order_with_its_values)
{
	static const size_t sizes[] = { 0, 1, 2000, 20000 };

	for (uint64_t seed = 1; seed <= 24; seed++) {
		const struct merge_opts opts = { .align = MERGE_MONO,
						 .sort_bytes = sizes[seed % 4] };
		int fds[3], pair[2], all, nested;

		for (uint64_t i = 0; i < 3; i++)
			fds[i] = random_trace(seed * 10 + i);
		all = merge_fds(&opts, fds, 3, CMD_OK);
		expect_merged(all, fds, 3);
		/* and merged step by step they are the same */
		pair[0] = merge_fds(&opts, fds, 2, CMD_OK);
		pair[1] = fds[2];
		expect_merged(pair[0], fds, 2);
		nested = merge_fds(&opts, pair, 2, CMD_OK);
		expect_merged(nested, &all, 1);
		for (int i = 0; i < 3; i++)
			close(fds[i]);
		close(pair[0]);
		close(nested);
		close(all);
	}
}

/* 14 segments, most with events of one thread, with their own pools. */
static int open_service(void)
{
	const char *top = getenv("D9_TOP");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/tokio-service.bin.gz", top ? top : ".");
	fd = open(path, O_RDONLY);
	cr_assert_geq(fd, 0);
	return fd;
}

Test(merge, trace_of_a_tokio_service_is_written_in_order)
{
	const struct merge_opts opts = { 0 };
	int fd = open_service(), merged;

	merged = merge_fds(&opts, &fd, 1, CMD_OK);
	expect_merged(merged, &fd, 1);
	close(merged);
	close(fd);
}

/* ---- recordings -------------------------------------------------------------------------------- */

struct recording {
	const char *host, *boot, *comm, *symbol, *build_id, *period;
	uint64_t first_ns, real_ns;
	uint32_t module;
	int samples, naps;
};

/* Thread 7 is sampled, and naps for a millisecond each time. */
static int record(const struct recording *rec)
{
	const char *kv[] = {
		"host",	     rec->host,		  "boot_id",   rec->boot,	   "sample_event",
		"cpu-clock", "start_realtime_ns", rec->period, "sample_period_ns", rec->period,
		NULL
	};
	const uint64_t at = make_frame(rec->module, 0x10);
	uint64_t ts = rec->first_ns;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_clock(&m, ts, rec->real_ns);
	make_module_with(&m, ts, rec->module, "/bin/app", rec->build_id, PROF_MODULE_ELF);
	make_task(&m, ts, 7, 7, rec->comm);
	for (int i = 0; i < rec->samples; i++)
		make_sample(&m, ts += 10000, 7, 7, PROF_SOURCE_SAMPLE, 0, &at, 1);
	for (int i = 0; i < rec->naps; i++) {
		make_switch(&m, ts += 1000, 0, rec->comm, 7, 1, "swapper/0", 0);
		make_waking(&m, ts += 1000000, 0, 0, rec->comm, 7);
		make_switch(&m, ts += 500, 0, "swapper/0", 0, 0, rec->comm, 7);
	}
	make_symbol(&m, ts, at, 0, at, rec->symbol, "", 0);
	make_lost(&m, ts, "sample_ring_full", 1, ts - 100, ts - 50);
	return make_done(&m);
}

static const struct recording here = { "turtle", "b1",	    "alpha", "f",
				       "one",	 "1000000", 5000000, 1700000000 * RUN_SEC,
				       3,	 30,	    20 };
/* Booted 100 s later, recorded at the same time of day; its single thread has the same TID. */
static const struct recording there = {
	"hare", "b2",	   "beta",  "g",
	"two",	"5000000", 6000000, 1700000000 * RUN_SEC + 101000000000ULL,
	3,	7,	   11
};

/* From the merged file, by the name of the thread. */
struct sums {
	uint64_t samples, ns, first, modules, lost_first;
	uint32_t part, clock;
};

static struct reader *open_reader(int fd)
{
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	return read_trace_as(dup(fd), READER_NAMES_AHEAD);
}

static struct sums sum_of(int fd, const char *comm)
{
	struct reader *r = open_reader(fd);
	struct names *n = reader_names(r);
	struct sums sums = { 0 };
	struct trace_event ev;

	while (reader_next(r, &ev) == 1) {
		if (ev.kind == TRACE_LOST && ev.part == sums.part && sums.samples)
			sums.lost_first = trace_u64_or(&ev, ROLE_FIRST_NS, 0);
		if (ev.kind != TRACE_SAMPLE || strcmp(names_str(n, ev.comm, NULL), comm))
			continue;
		if (!sums.samples++)
			sums.first = ev.ts;
		sums.ns += names_period_ns(n, ev.part);
		sums.part = ev.part;
		sums.clock = names_part(n, ev.part)->clock;
		cr_assert_eq(ev.tid, 7);
		cr_assert(names_is_named(n, ev.frames[0]));
	}
	reader_free(r);
	return sums;
}

/* A copy of the output of a command for a file. */
static char *output_of(run_fn cmd, const char *word, int fd, const char *a, const char *b)
{
	struct run r;

	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	r = run_cmd(cmd, dup(fd), word, a, b, "-", NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	free(r.err);
	return r.out;
}

Test(merge, hosts_are_aligned_by_wall_clock_and_kept_separate)
{
	const struct merge_opts opts = { 0 };
	const int fds[] = { record(&here), record(&there) };
	int merged = merge_fds(&opts, fds, 2, CMD_OK);
	struct sums a = sum_of(merged, "alpha"), b = sum_of(merged, "beta");
	char *info;

	cr_expect_eq(a.samples, 30);
	cr_expect_eq(a.ns, 30 * 1000000);
	cr_expect_eq(a.first, 5010000);
	cr_expect_eq(b.samples, 7);
	cr_expect_eq(b.ns, 7 * 5000000);
	/* by the wall clock 101 s after the other's start, at 5 ms */
	cr_expect_eq(b.first, 101005010000);
	cr_expect_eq(b.lost_first - b.first, 6 * 10000 + 11 * 1001500 - 100);
	cr_expect_neq(a.part, b.part);
	cr_expect_neq(a.clock, b.clock, "their threads are not the same");
	info = output_of(cmd_info, "info", merged, "--modules", "--schemas");
	cr_expect_not_null(strstr(info, "on 2 clocks, aligned by wall clock"));
	free(info);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* The line that has @word, or NULL. Borrowed. */
static const char *line_with(const char *text, const char *word, char line[256])
{
	const char *at = strstr(text, word);

	if (!at)
		return NULL;
	while (at > text && at[-1] != '\n')
		at--;
	snprintf(line, 256, "%.*s", (int)strcspn(at, "\n"), at);
	return line;
}

Test(merge, each_thread_has_the_same_results_as_in_its_own_trace)
{
	const struct merge_opts opts = { 0 };
	const int fds[] = { record(&here), record(&there) };
	int merged = merge_fds(&opts, fds, 2, CMD_OK);
	static const char *const comms[] = { "alpha", "beta" };
	char one[256], both[256];

	for (int i = 0; i < 2; i++) {
		char *alone = output_of(cmd_offcpu, "offcpu", fds[i], "--by", "comm"),
		     *together = output_of(cmd_offcpu, "offcpu", merged, "--by", "comm");

		cr_assert(line_with(alone, comms[i], one));
		cr_assert(line_with(together, comms[i], both));
		/* time; after the share: number of intervals, average and maximum */
		cr_expect(!strncmp(one, both, strcspn(one, "%") - 7), "%s\n%s", one, both);
		cr_expect_str_eq(strchr(one, '%'), strchr(both, '%'));
		free(alone);
		free(together);
	}
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* Its symbols are at time 0, its samples are at switches out without switches, its clock differs. */
Test(merge, service_of_another_host_does_not_change_results_of_threads)
{
	const struct merge_opts opts = { 0 };
	const int fds[] = { record(&here), open_service() };
	int merged = merge_fds(&opts, fds, 2, CMD_OK);
	char *latency = output_of(cmd_sched, "sched", merged, "latency", "--json"),
	     *offcpu = output_of(cmd_offcpu, "offcpu", merged, "--by", "tid"), line[256];

	/* 30 samples 10 us apart until it is switched out for the first time, and 20 turns of 1 us */
	cr_expect(strstr(latency, "\"run_ns\":320000,\"switches\":20,\"runnable_ns\":10000,"),
		  "%.400s", latency);
	cr_expect(line_with(offcpu, " 7", line) && strstr(line, "20.000 ms"), "%s", offcpu);
	free(latency);
	free(offcpu);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* Two recordings of one boot on one clock: times are unchanged, and their thread is one. */
Test(merge, recordings_of_one_boot_share_a_clock)
{
	const struct recording later = { "turtle", "b1",      "alpha",	"f",
					 "one",	   "5000000", 90000000, 1800000000 * RUN_SEC,
					 9,	   7,	      0 };
	const int fds[] = { record(&here), record(&later) };
	const struct merge_opts opts = { 0 };
	int merged = merge_fds(&opts, fds, 2, CMD_OK);
	struct sums all = sum_of(merged, "alpha");

	cr_expect_eq(all.samples, 37);
	cr_expect_eq(all.ns, 30 * 1000000 + 7 * 5000000, "each counts as its recording says");
	cr_expect_eq(all.first, 5010000);
	cr_expect_eq(all.clock, 0);
	cr_expect_eq(all.part, 1);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* One module under two numbers becomes one, two under one number become two. */
Test(merge, modules_are_renumbered)
{
	const struct recording twin = { "turtle", "b1",	     "alpha",  "f",
					"one",	  "1000000", 90000000, 1800000000 * RUN_SEC,
					9,	  1,	     0 };
	const int fds[] = { record(&here), record(&there), record(&twin) };
	const struct merge_opts opts = { 0 };
	int merged = merge_fds(&opts, fds, 3, CMD_OK);
	struct reader *r = open_reader(merged);
	uint64_t ids[3] = { 0 };
	struct trace_event ev;
	size_t n = 0;

	while (reader_next(r, &ev) == 1)
		if (ev.kind == TRACE_MODULE && n < 3)
			ids[n++] = trace_u64_or(&ev, ROLE_MODULE_ID, 0);
	reader_free(r);
	cr_assert_eq(n, 3);
	cr_expect_eq(ids[0], 3);
	cr_expect_eq(ids[1], 3, "the same of the one that came later");
	cr_expect_neq(ids[2], 3);
	close(merged);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/* Modules move to the start of the result, as everything that refers to them may come in any order. */
Test(merge, recording_out_of_order_begins_with_its_metadata)
{
	const char *kv[] = { "host", "turtle", "start_realtime_ns", "1000000", NULL };
	struct trace_event ev;
	struct reader *r;
	struct make m;
	int fd, merged;

	make_init(&m, NULL);
	make_metadata(&m, 5000000, kv);
	make_module_with(&m, 5000000, 3, "/bin/app", "one", PROF_MODULE_ELF);
	make_task(&m, 5000000, 7, 7, "alpha");
	make_task(&m, 4000000, 8, 7, "early");
	fd = make_done(&m);
	merged = merge_fds(&(const struct merge_opts){ 0 }, &fd, 1, CMD_OK);
	r = open_reader(merged);
	cr_assert_eq(reader_next(r, &ev), 1);
	cr_expect_eq(ev.kind, TRACE_METADATA);
	cr_expect_eq(reader_names(r)->parts.cnt, 1);
	reader_free(r);
	close(merged);
	close(fd);
}

/* A mapping names its module before that is announced, and an address in no module looks like the module's ID. */
Test(merge, modules_named_before_they_are_announced_are_found)
{
	const uint64_t raw = make_frame(3, 0x77);
	const int first = record(&here);
	struct make m;
	int fds[2], merged;
	struct trace_event ev;
	struct reader *r;
	uint64_t mapped = 0, announced = 0;

	make_init(&m, NULL);
	make_clock(&m, 5000000, 1700000000 * RUN_SEC);
	MAKE_NUMBERS(&m, 5000000, PROF_EV_PROC_MAPS, { "pid", 9 }, { "start", 4096 },
		     { "end", 8192 }, { "offset", 0 }, { "module_id", 3 });
	make_sample(&m, 5000010, 9, 9, PROF_SOURCE_SAMPLE, 0, &raw, 1);
	make_module_with(&m, 5000020, 3, "/bin/other", "six", PROF_MODULE_ELF);
	fds[0] = first;
	fds[1] = make_done(&m);
	merged = merge_fds(&(const struct merge_opts){ 0 }, fds, 2, CMD_OK);
	r = open_reader(merged);
	while (reader_next(r, &ev) == 1) {
		if (ev.kind == TRACE_PROC_MAPS)
			mapped = trace_u64_or(&ev, ROLE_MODULE_ID, 0);
		if (ev.kind == TRACE_MODULE && ev.ts == 5000020)
			announced = trace_u64_or(&ev, ROLE_MODULE_ID, 0);
		if (ev.kind == TRACE_SAMPLE && ev.tid == 9)
			cr_expect_eq(names_frame_addr(reader_names(r), ev.frames[0]), raw);
		if (ev.kind == TRACE_SAMPLE && ev.tid == 7)
			cr_expect(names_is_named(reader_names(r), ev.frames[0]));
	}
	cr_expect_eq(mapped, announced);
	cr_expect_neq(announced, 0);
	reader_free(r);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* ---- workers ----------------------------------------------------------------------------------- */

/* An application of which thread 7 is worker 4. */
static int application(void)
{
	struct make m;

	make_init(&m, NULL);
	make_clock(&m, 4000000, 1699999999999000000ULL);
	MAKE_NUMBERS(&m, 8000000, "PollStartEvent", { "worker_id", 4 }, { "task_id", 1 });
	MAKE_NUMBERS(&m, 8000100, "WorkerParkEvent", { "worker_id", 4 }, { "tid", 7 });
	dial9_enc_reset(m.enc);
	MAKE_NUMBERS(&m, 5000000, "TaskSpawnEvent", { "task_id", 1 });
	return make_done(&m);
}

Test(merge, samples_of_a_worker_thread_name_the_worker)
{
	const int fds[] = { application(), record(&here) };
	int merged = merge_fds(&(const struct merge_opts){ 0 }, fds, 2, CMD_OK), samples = 0;
	struct reader *r = open_reader(merged);
	struct trace_event ev;

	while (reader_next(r, &ev) == 1) {
		samples += ev.kind == TRACE_SAMPLE;
		if (ev.kind == TRACE_SAMPLE)
			cr_assert_eq(trace_u64_or(&ev, ROLE_WORKER_ID, 0), 4);
	}
	cr_expect_eq(samples, 30);
	reader_free(r);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

Test(merge, samples_of_the_same_tid_on_another_host_name_no_worker)
{
	const int fds[] = { application(), record(&there) };
	int merged = merge_fds(&(const struct merge_opts){ 0 }, fds, 2, CMD_OK), samples = 0;
	struct reader *r = open_reader(merged);
	struct trace_event ev;

	while (reader_next(r, &ev) == 1) {
		samples += ev.kind == TRACE_SAMPLE;
		if (ev.kind == TRACE_SAMPLE)
			cr_assert_eq(trace_u64_or(&ev, ROLE_WORKER_ID, 0), PROF_WORKER_NONE);
	}
	cr_expect_eq(samples, 7);
	reader_free(r);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* ---- unknown clocks -------------------------------------------------------------------------------- */

static int without_clock(uint64_t ts)
{
	struct make m;

	make_init(&m, NULL);
	MAKE_NUMBERS(&m, ts, "Tick", { "n", 1 });
	return make_done(&m);
}

static uint64_t time_of_tick(int fd)
{
	struct reader *r = open_reader(fd);
	struct trace_event ev;
	uint64_t ts = 0;

	while (reader_next(r, &ev) == 1)
		if (!strcmp(names_str(reader_names(r), ev.schema->name, NULL), "Tick"))
			ts = ev.ts;
	reader_free(r);
	return ts;
}

Test(merge, traces_that_cannot_be_aligned_are_refused_without_an_option)
{
	const int fds[] = { record(&here), without_clock(500) };
	int merged = merge_fds(&(const struct merge_opts){ 0 }, fds, 2, CMD_USAGE);
	struct stat st;

	cr_assert_eq(fstat(merged, &st), 0);
	cr_expect_eq(st.st_size, 0, "nothing is written");
	close(merged);
	merged = merge_fds(&(const struct merge_opts){ .align = MERGE_MONO }, fds, 2, CMD_OK);
	cr_expect_eq(time_of_tick(merged), 500);
	close(merged);
	merged = merge_fds(&(const struct merge_opts){ .align = MERGE_OFFSET, .offset_ns = 40 },
			   fds, 2, CMD_OK);
	cr_expect_eq(time_of_tick(merged), 540);
	close(merged);
	/* moving the second back equals moving the first forward */
	merged = merge_fds(&(const struct merge_opts){ .align = MERGE_OFFSET, .offset_ns = -600 },
			   fds, 2, CMD_OK);
	cr_expect_eq(time_of_tick(merged), 500);
	cr_expect_eq(sum_of(merged, "alpha").first, 5010600);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/* ---- bad input --------------------------------------------------------------------------------- */

Test(merge, readable_events_of_a_truncated_or_damaged_trace_are_merged)
{
	static const char junk[] = { 0x54, 0x58, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77 };
	const int whole = record(&here), other = record(&there);
	struct lines want = { 0 };
	struct stat st;

	add_lines(&want, whole, 0);
	add_lines(&want, other, 0);
	fstat(other, &st);
	for (int damaged = 0; damaged < 2; damaged++) {
		int fds[2] = { whole }, merged;
		struct lines got = { 0 };
		struct run r;

		/* cut within the last event, or followed by bytes that are no frame */
		fds[1] = make_fd("", 0);
		for (off_t i = 0; i < st.st_size - !damaged; i++) {
			char c;

			cr_assert_eq(pread(other, &c, 1, i), 1);
			cr_assert_eq(pwrite(fds[1], &c, 1, i), 1);
		}
		if (damaged)
			cr_assert_eq(pwrite(fds[1], junk, sizeof(junk), st.st_size), 9);
		merged = merge_fds(&(const struct merge_opts){ .align = MERGE_MONO }, fds, 2,
				   damaged ? CMD_INPUT : CMD_OK);
		add_lines(&got, merged, 0);
		cr_expect_eq(got.cnt, want.cnt - !damaged);
		lines_free(&got);
		lseek(merged, 0, SEEK_SET);
		r = run_cmd(cmd_info, dup(merged), "info", "--verify", "-", NULL);
		cr_expect_eq(r.code, CMD_OK);
		run_free(&r);
		close(merged);
		close(fds[1]);
	}
	lines_free(&want);
	close(whole);
	close(other);
}

Test(merge, input_that_is_not_a_trace_leaves_no_output)
{
	const int fds[] = { make_fd("hello, world", 12) };
	int merged = merge_fds(&(const struct merge_opts){ 0 }, fds, 1, CMD_INPUT);
	struct stat st;

	cr_assert_eq(fstat(merged, &st), 0);
	cr_expect_eq(st.st_size, 0);
	close(merged);
	close(fds[0]);
}

/* A file whose second half is read when part of the first is written: by then it has changed. */
struct change {
	struct make before, after;
	int fd;
	bool done;
};

static int write_and_change(void *ctx, const void *data, size_t sz)
{
	struct change *c = ctx;
	const void *bytes;

	if (c->done)
		return 0;
	c->done = true;
	bytes = dial9_enc_data(c->after.enc, &sz);
	cr_assert_eq(ftruncate(c->fd, 0), 0);
	cr_assert_eq(pwrite(c->fd, bytes, sz, 0), (ssize_t)sz);
	return 0;
}

/* After the other's events, so that it is opened late. */
static void put_one(struct make *m, int64_t i)
{
	char id[16];

	snprintf(id, sizeof(id), "%d", (int)i);
	make_metadata(m, 9000 * RUN_SEC, (const char *const[]){ "start_realtime_ns", id, NULL });
	make_wakeup_new(m, 9000 * RUN_SEC, 1, 2);
}

Test(merge, file_that_changes_during_the_merge_ends_it)
{
	for (int shorter = 0; shorter < 2; shorter++) {
		struct change c = { 0 };
		const struct cut_out out = { .write = write_and_change, .ctx = &c };
		struct merge_sum sum;
		char paths[2][32];
		struct make m;
		int first, code;

		make_init(&m, NULL);
		for (uint32_t i = 0; i < 200000; i++)
			make_wakeup_new(&m, RUN_SEC + i, i, i + 1);
		first = make_file(&m);
		make_init(&c.before, NULL);
		make_init(&c.after, NULL);
		for (int i = 0; i < 300; i++)
			put_one(&c.before, 0);
		for (int i = 0; i < (shorter ? 10 : 300); i++) {
			cr_assert_eq(dial9_enc_reset(c.after.enc), 0);
			put_one(&c.after, shorter ? 0 : i);
		}
		c.fd = make_file(&c.before);
		snprintf(paths[0], sizeof(paths[0]), "/proc/self/fd/%d", first);
		snprintf(paths[1], sizeof(paths[1]), "/proc/self/fd/%d", c.fd);
		code = merge_to(&(const struct merge_opts){ .align = MERGE_MONO },
				(const char *const[]){ paths[0], paths[1] }, 2, &out, &sum);
		cr_expect_eq(code, CMD_INPUT, "exit code %d", code);
		cr_expect(c.done && sum.failed);
		close(first);
		close(c.fd);
		make_fini(&m);
		make_fini(&c.before);
		make_fini(&c.after);
	}
}

/* ---- cut --------------------------------------------------------------------------------------- */

static int cut(int fd, const char *window)
{
	char out[] = "/tmp/d9-merge-XXXXXX", option[64];
	struct run r;
	int got;

	close(mkstemp(out));
	unlink(out);
	snprintf(option, sizeof(option), "-qo%s", out);
	lseek(fd, 0, SEEK_SET);
	r = run_cmd(cmd_cut, dup(fd), "cut", "-", option, "--time", window, NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	run_free(&r);
	got = open(out, O_RDWR);
	cr_assert_geq(got, 0);
	unlink(out);
	return got;
}

static bool happened(const char *line)
{
	return !strncmp(line, "sched:", 6) || !strncmp(line, "CpuSample", 9);
}

/* The events in a window are the same in either order of cut and merge; the modules' IDs are not. */
Test(merge, cut_of_a_merge_equals_a_merge_of_cuts)
{
	const struct recording other = { "turtle", "b1",      "alpha", "f",
					 "one",	   "5000000", 5005000, 1700000000 * RUN_SEC + 5000,
					 3,	   40,	      9 };
	const char window[] = "0.0052,0.012";
	const int fds[] = { record(&here), record(&other) };
	const struct merge_opts opts = { 0 };
	int cuts[] = { cut(fds[0], window), cut(fds[1], window) };
	int whole = merge_fds(&opts, fds, 2, CMD_OK), a = cut(whole, window),
	    b = merge_fds(&opts, cuts, 2, CMD_OK);
	struct lines got = { 0 }, want = { 0 };
	size_t n = 0;

	add_lines(&got, a, 0);
	add_lines(&want, b, 0);
	for (size_t i = 0, k = 0; i < got.cnt || k < want.cnt; i++, k++) {
		while (i < got.cnt && !happened(got.v[i]))
			i++;
		while (k < want.cnt && !happened(want.v[k]))
			k++;
		cr_assert_eq(i < got.cnt, k < want.cnt);
		if (i < got.cnt)
			cr_assert_str_eq(got.v[i], want.v[k]);
		n += i < got.cnt;
	}
	cr_expect_gt(n, 20);
	cr_expect_eq(sum_of(a, "alpha").ns, sum_of(b, "alpha").ns);
	lines_free(&got);
	lines_free(&want);
	close(whole);
	close(a);
	close(b);
	for (int i = 0; i < 2; i++) {
		close(cuts[i]);
		close(fds[i]);
	}
}
