// SPDX-License-Identifier: BSD-2-Clause
/*
 * `cut`: it keeps the events that the other commands select, in order and with the same values; it keeps no
 * names of other events. Files are compared by their decoded events, and with script's output for the whole
 * file with the same selection.
 */
#include "tests/cmd/event_lines.h"
#include "tests/cmd/run_cmd.h"

#include "base/buf.h"
#include "tests/support/random_events.h"

TestSuite(cut, .timeout = 60);

/* ---- support ----------------------------------------------------------------------------------- */

struct file {
	char path[32];
	void *data;
	size_t sz;
};

static void file_read(struct file *f, int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	f->sz = (size_t)st.st_size;
	f->data = malloc(f->sz + 1);
	cr_assert_eq(pread(fd, f->data, f->sz, 0), st.st_size);
	close(fd);
}

/* The expected code of cut() if nothing may pass: CMD_OK, or CMD_USAGE with a trace. */
#define MAYBE_NOTHING (-1)

/* Cuts the trace in @fd, which is closed, with up to three more arguments. */
static struct file cut(int fd, int code, const char *a, const char *b, const char *c)
{
	struct file f = { "/tmp/d9-cut-XXXXXX", NULL, 0 };
	char out[40];
	struct run r;

	close(mkstemp(f.path));
	unlink(f.path);
	snprintf(out, sizeof(out), "-qo%s", f.path);
	r = run_cmd(cmd_cut, fd, "cut", "-", out, a, a ? b : NULL, b ? c : NULL, NULL);
	if (code == MAYBE_NOTHING && r.code == CMD_USAGE)
		run_expect_in(r.err, "dial9-prof: no events in standard input: ");
	else
		cr_assert_eq(r.code, code < 0 ? CMD_OK : code, "exit code %d: %s", r.code, r.err);
	if (code <= CMD_OK) {
		if (r.code == CMD_OK)
			cr_assert_str_eq(r.err, "");
		file_read(&f, open(f.path, O_RDONLY));
		unlink(f.path);
	}
	run_free(&r);
	return f;
}

static int file_fd(const struct file *f)
{
	return make_fd(f->data, f->sz);
}

static void expect_events(const struct file *f, const void *data, size_t sz, wanted_fn wanted,
			  int seed)
{
	char *got = event_lines(f->data, f->sz, NULL), *want = event_lines(data, sz, wanted);

	cr_assert_str_eq(got, want, "seed %d", seed);
	free(got);
	free(want);
}

/* Lines of script's output that have events. */
static char *script(int fd, const char *a, const char *b)
{
	struct run r = run_cmd(cmd_script, fd, "script", "-", "-F+srcline", a, a ? b : NULL, NULL);

	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	free(r.err);
	return r.out;
}

static int count(const struct file *f, const char *name)
{
	char *all = event_lines(f->data, f->sz, NULL), *at = all;
	size_t len = strlen(name);
	int n = 0;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		n += !strncmp(at, name, len) && at[len] == ' ';
	}
	free(all);
	return n;
}

/* ---- values ------------------------------------------------------------------------------------ */

static uint64_t window_from, window_to;

static bool in_window(const struct dial9_event *ev)
{
	return ev->has_ts && ev->ts >= window_from && ev->ts <= window_to;
}

Test(cut, every_value_of_every_type_is_kept_in_order)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random_events r;
		struct dial9_enc *enc;
		const void *data;
		char window[64];
		struct file f;
		size_t sz;

		cr_assert_eq(dial9_enc_new(&opts, &enc), 0);
		random_run(&r, seed, 150, enc);
		data = dial9_enc_data(enc, &sz);
		f = cut(make_fd(data, sz), CMD_OK, NULL, NULL, NULL);
		expect_events(&f, data, sz, NULL, (int)seed);
		free(f.data);
		cr_assert_gt(r.cnt, 2);
		window_from = r.events[r.cnt / 3].ts;
		window_to = r.events[r.cnt / 2].ts;
		if (window_from > window_to)
			window_to = window_from;
		if (window_to < 1ULL << 60) {
			snprintf(window, sizeof(window), "--time=%llu.%09llu,%llu.%09llu",
				 (unsigned long long)(window_from / RUN_SEC),
				 (unsigned long long)(window_from % RUN_SEC),
				 (unsigned long long)(window_to / RUN_SEC),
				 (unsigned long long)(window_to % RUN_SEC));
			f = cut(make_fd(data, sz), MAYBE_NOTHING, window, NULL, NULL);
			expect_events(&f, data, sz, in_window, (int)seed);
			free(f.data);
		}
		random_fini(&r);
		dial9_enc_free(enc);
	}
}

Test(cut, invalid_utf8_is_escaped_and_undefined_ids_stay_undefined)
{
	static const struct dial9_field fields[] = { { "a", DIAL9_POOLED_STRING },
						     { "b", DIAL9_STRING } };
	struct dial9_schema *s;
	struct dial9_enc *enc;
	struct file f;
	char *data, *text;
	size_t sz;

	cr_assert_eq(dial9_schema_new("E", true, fields, 2, &s), 0);
	cr_assert_eq(dial9_enc_new(NULL, &enc), 0);
	cr_assert_eq(dial9_enc_begin(enc, s, 5), 0);
	dial9_enc_put_str_id(enc, 77);
	dial9_enc_put_str(enc, "uvwxy", 5);
	cr_assert_eq(dial9_enc_end(enc), 0);
	data = (char *)dial9_enc_data(enc, &sz);
	*(char *)memmem(data, sz, "vwx", 3) = '\xff';
	f = cut(make_fd(data, sz), CMD_OK, NULL, NULL, NULL);
	text = event_lines(f.data, f.sz, NULL);
	cr_assert_str_eq(text, "E 1 5: undefined 755c786666777879\n"); /* u\xffwxy */
	free(text);
	free(f.data);
	dial9_enc_free(enc);
	dial9_schema_free(s);
}

/* ---- selection --------------------------------------------------------------------------------- */

Test(cut, script_of_a_cut_equals_script_with_its_selection)
{
	static const char *const by[][2] = {
		{ "-p10", NULL },
		{ "-t11", NULL },
		{ "--comm=pool", NULL },
		{ "-C1", NULL },
		{ "--time=+1,+2.000001", NULL },
		{ "--time=10%,60%", "-t11" },
		{ "-ecpu-clock", NULL },
		{ "-esched:sched_switch", NULL },
		{ "-eCpuSampleEvent", "--time=11.002,12" },
	};
	struct make m;

	run_make_app(&m);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		char *want = script(make_file(&m), by[i][0], by[i][1]), *got, *lost;
		struct file f = cut(make_file(&m), CMD_OK, by[i][0], by[i][1], NULL);

		/* -e also selects how script shows an event */
		got = script(file_fd(&f), by[i][0][1] == 'e' ? by[i][0] : NULL, NULL);
		/* cut keeps losses that touch the window, with any other selection */
		lost = strstr(got, "LostEvents");
		if (lost && !strstr(want, "LostEvents")) {
			while (lost > got && lost[-1] != '\n')
				lost--;
			*lost = '\0';
		}
		cr_assert_str_eq(got, want, "cut by %s", by[i][0]);
		cr_assert(*want);
		free(want);
		free(got);
		free(f.data);
	}
	make_fini(&m);
}

Test(cut, symbols_are_kept_with_the_events_that_need_them)
{
	struct file all, f;
	struct make m;

	run_make_app(&m);
	all = cut(make_file(&m), CMD_OK, NULL, NULL, NULL);
	cr_assert_eq(count(&all, "SymbolTableEntry"), 6);
	cr_assert_eq(count(&all, "ModuleEvent"), 3);
	/* the two samples at an address of libc without a symbol, called by main */
	f = cut(make_file(&m), CMD_OK, "--time=12,12.0000001", NULL, NULL);
	cr_assert_eq(count(&f, "CpuSampleEvent"), 2);
	cr_assert_eq(count(&f, "SymbolTableEntry"), 1);
	cr_assert_eq(count(&f, "ModuleEvent"), 2);
	cr_assert_eq(count(&f, "TaskEvent"), 1);
	cr_assert_eq(count(&f, "TracepointSymbol"), 0);
	cr_assert_eq(count(&f, "LostEvents"), 0);
	cr_assert_null(memmem(f.data, f.sz, "sched:sched_switch", 18));
	free(f.data);
	/* the wakeup alone: no stacks, hence no symbols; both threads; no values with symbols */
	f = cut(make_file(&m), CMD_OK, "-esched:sched_waking", NULL, NULL);
	cr_assert_eq(count(&f, "SymbolTableEntry"), 0);
	cr_assert_eq(count(&f, "ModuleEvent"), 0);
	cr_assert_eq(count(&f, "TaskEvent"), 2);
	cr_assert_eq(count(&f, "TracepointSymbol"), 0);
	cr_assert_eq(count(&f, "LostEvents"), 1);
	free(f.data);
	free(all.data);
	make_fini(&m);
}

Test(cut, last_name_of_a_thread_before_the_window_counts)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct file f;
	char *text;

	make_init(&m, NULL);
	make_task(&m, 1 * RUN_SEC, 7, 7, "first");
	make_task(&m, 2 * RUN_SEC, 7, 7, "second");
	make_task(&m, 2 * RUN_SEC, 8, 8, "other");
	make_sample(&m, 3 * RUN_SEC, 7, 7, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_sample(&m, 3 * RUN_SEC, 9, 9, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_task(&m, 5 * RUN_SEC, 7, 7, "third");
	make_task(&m, 5 * RUN_SEC, 9, 9, "late");
	make_task(&m, 6 * RUN_SEC, 9, 9, "later");
	f = cut(make_file(&m), CMD_OK, "--time=2.5,4", NULL, NULL);
	cr_assert_eq(count(&f, "TaskEvent"), 2);
	text = script(file_fd(&f), NULL, NULL);
	cr_assert_not_null(strstr(text, "second"));
	cr_assert_not_null(strstr(text, "late"));
	free(text);
	free(f.data);
	make_fini(&m);
}

Test(cut, stack_of_a_waker_is_kept_with_its_wakeup)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;
	struct file f;

	make_init(&m, NULL);
	make_task(&m, 1 * RUN_SEC, 7, 7, "waker");
	make_task(&m, 1 * RUN_SEC, 8, 8, "woken");
	make_waking(&m, 2 * RUN_SEC, 0, 7, "woken", 8);
	make_sample(&m, 2 * RUN_SEC, 7, 7, PROF_SOURCE_WAKING, 0, &at, 1);
	make_waking(&m, 3 * RUN_SEC, 0, 7, "other", 9);
	make_sample(&m, 3 * RUN_SEC, 7, 7, PROF_SOURCE_WAKING, 0, &at, 1);
	make_sample(&m, 4 * RUN_SEC, 7, 7, PROF_SOURCE_WAKING, 0, &at, 1);
	f = cut(make_file(&m), CMD_OK, "-p8", NULL, NULL);
	cr_assert_eq(count(&f, "sched:sched_waking"), 1);
	cr_assert_eq(count(&f, "CpuSampleEvent"), 1);
	free(f.data);
	f = cut(make_file(&m), CMD_OK, "-esched:sched_waking", NULL, NULL);
	cr_assert_eq(count(&f, "CpuSampleEvent"), 2);
	free(f.data);
	f = cut(make_file(&m), CMD_OK, "-ewaker", NULL, NULL);
	cr_assert_eq(count(&f, "CpuSampleEvent"), 3);
	cr_assert_eq(count(&f, "sched:sched_waking"), 0);
	free(f.data);
	make_fini(&m);
}

/* ---- the account ------------------------------------------------------------------------------- */

/* Like the recorder's own, whose start is in its metadata. */
static void make_ours(struct make *m)
{
	static const char *const kv[] = { "host", "box", "start_realtime_ns", "1", NULL };
	const uint64_t at = make_frame(1, 0x10);

	make_init(m, NULL);
	make_metadata(m, 10 * RUN_SEC, kv);
	make_clock(m, 10 * RUN_SEC, 1700000000 * RUN_SEC);
	make_task(m, 10 * RUN_SEC, 7, 7, "app");
	for (uint64_t i = 0; i < 100; i++)
		make_sample(m, 11 * RUN_SEC + i * RUN_SEC / 10, 7, 7, PROF_SOURCE_SAMPLE, 0, &at,
			    1);
	make_lost(m, 20 * RUN_SEC, "ring_full", 3, 12 * RUN_SEC, 13 * RUN_SEC);
	make_lost(m, 20 * RUN_SEC, "ring_full", 4, 15 * RUN_SEC, 16 * RUN_SEC);
	make_clock(m, 20 * RUN_SEC, 1700000010 * RUN_SEC);
	make_stats(m, 21 * RUN_SEC, 107, 7);
}

Test(cut, info_prints_accounting_of_the_recording_and_losses_of_the_window)
{
	struct file f, again;
	struct make m;
	struct run r;

	make_ours(&m);
	f = cut(make_file(&m), CMD_OK, "--time=12.5,14.45", NULL, NULL);
	r = run_cmd(cmd_info, file_fd(&f), "info", "-", NULL);
	cr_assert_eq(r.code, CMD_OK);
	run_expect_in(
		r.out,
		"cut by          cut --time 12.5,14.45: 80 events of the recording skipped\n");
	run_expect_in(r.out, "start           ");
	run_expect_in(r.out, "span            1.900000 s (12.500000 to 14.400000)\n");
	run_expect_in(r.out, "stacks          20 samples, 0 off-CPU stacks\n");
	run_expect_in(r.out,
		      "accounting      before the cut: produced 107 = written 100 + lost 7\n");
	run_expect_in(
		r.out,
		"lost            3 events dropped: ring buffer full (ring_full), between 12.000000 "
		"and 13.000000\n");
	run_free(&r);
	/* and once more: skipped events add up, and a window counts from the start of the cut file */
	again = cut(file_fd(&f), CMD_OK, "--time=+0,+0.9", NULL, NULL);
	r = run_cmd(cmd_info, file_fd(&again), "info", "-", NULL);
	run_expect_in(
		r.out,
		"cut by          cut --time 12.5,14.45, then cut --time +0,+0.9: 90 events of the recording skipped\n");
	run_expect_in(r.out, "span            0.900000 s (12.500000 to 13.400000)\n");
	run_expect_in(r.out,
		      "accounting      before the cut: produced 107 = written 100 + lost 7\n");
	run_free(&r);
	free(f.data);
	free(again.data);
	make_fini(&m);
}

/* A recording of a command: 7 and its child 8 alternate with 9, which is no target. */
static void make_turns(struct make *m)
{
	static const char *const kv[] = { "host",
					  "box",
					  "start_realtime_ns",
					  "1",
					  "target",
					  "command ls",
					  "target_pids",
					  "7",
					  "command_line",
					  "dial9-prof -- ls",
					  NULL };

	make_init(m, NULL);
	make_metadata(m, 10 * RUN_SEC, kv);
	make_clock(m, 10 * RUN_SEC, 1700000000 * RUN_SEC);
	make_task(m, 10 * RUN_SEC, 7, 7, "app");
	make_task(m, 10 * RUN_SEC, 7, 8, "pool");
	make_task(m, 10 * RUN_SEC, 9, 9, "other");
	for (uint64_t at = 20 * RUN_SEC; at < 30 * RUN_SEC; at += RUN_SEC) {
		make_switch(m, at, 0, "other", 9, 0, "app", 7);
		make_switch(m, at + RUN_SEC / 10, 0, "app", 7, 1, "pool", 8);
		make_switch(m, at + RUN_SEC / 2, 0, "pool", 8, 1, "other", 9);
		make_waking(m, at + RUN_SEC / 2, 0, 9, "app", 7);
		make_waking(m, at + RUN_SEC / 2, 0, 9, "pool", 8);
	}
	make_stats(m, 31 * RUN_SEC, 50, 0);
}

/* The output of offcpu, from its sum on. */
static char *waits(int fd, const char *a, const char *b)
{
	struct run r =
		run_cmd(cmd_offcpu, fd, "offcpu", "-", "--json", "--by=tid", a, a ? b : NULL, NULL);
	const char *from = strstr(r.out, "\"intervals\"");
	char *got;

	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	cr_assert_not_null(from, "%s", r.out);
	got = strdup(from);
	run_free(&r);
	return got;
}

Test(cut, run_queue_latency_of_a_cut_covers_its_window_and_threads)
{
	static const char *const by[][2] = { { "--time=23.1,26.5", NULL },
					     { "--comm=pool", NULL },
					     { "-t8", NULL },
					     { "-p7", NULL },
					     { "--anonymize", NULL } };
	struct make m;

	make_turns(&m);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		const char *select = by[i][0][2] == 'a' ? NULL : by[i][0];
		struct file f = cut(make_file(&m), CMD_OK, by[i][0], NULL, NULL);
		char *want = waits(make_file(&m), select, NULL),
		     *got = waits(file_fd(&f), NULL, NULL);

		cr_expect_str_eq(got, want, "%s:\n%s\nwanted:\n%s", by[i][0], got, want);
		cr_expect_null(memmem(f.data, f.sz, "command ls", 10) && !select ? f.data : NULL,
			       "the command is told");
		free(want);
		free(got);
		free(f.data);
	}
	make_fini(&m);
}

/* With it, readers assume that no switch of a watched CPU is missing. */
Test(cut, cut_without_all_switches_does_not_claim_to_have_all)
{
	static const char *const by[][2] = { { "--time=1,2", "neighbours      yes" },
					     { "-p7", "neighbours      no" },
					     { "-esched:sched_switch", "neighbours      no" } };
	static const char *const kv[] = { "host",	"box",	  "start_realtime_ns",
					  "1",		"target", "pid 7",
					  "neighbours", "yes",	  NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, 10 * RUN_SEC, kv);
	make_task(&m, 10 * RUN_SEC, 7, 7, "app");
	make_switch(&m, 11 * RUN_SEC, 0, "other", 9, 0, "app", 7);
	make_switch(&m, 12 * RUN_SEC, 0, "app", 7, 0, "other", 9);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct file f = cut(make_file(&m), MAYBE_NOTHING, by[i][0], NULL, NULL);
		struct run r = run_cmd(cmd_info, file_fd(&f), "info", "-", NULL);

		run_expect_in(r.out, by[i][1]);
		run_free(&r);
		free(f.data);
	}
	make_fini(&m);
}

Test(cut, wall_clock_of_a_cut_equals_the_clock_of_the_recording)
{
	char *got;
	struct make m;
	struct file f;

	make_ours(&m);
	f = cut(make_file(&m), CMD_OK, "--time=12.5,12.5", NULL, NULL);
	got = event_lines(f.data, f.sz, NULL);
	run_expect_in(got, "ClockSyncEvent 1 12500000000: 1700000002500000000\n");
	cr_assert_eq(count(&f, "ClockSyncEvent"), 1);
	free(got);
	free(f.data);
	make_fini(&m);
}

Test(cut, empty_cut_still_names_its_origin)
{
	struct make m;
	struct file f;

	make_ours(&m);
	f = cut(make_file(&m), MAYBE_NOTHING, "-p4", "-C77", NULL);
	cr_assert_eq(count(&f, "SegmentMetadataEvent"), 1);
	cr_assert_not_null(memmem(f.data, f.sz, "box", 3));
	cr_assert_eq(count(&f, "RecorderStats"), 0);
	cr_assert_eq(count(&f, "TaskEvent"), 0);
	free(f.data);
	make_fini(&m);
}

/* ---- segments and parts ------------------------------------------------------------------------ */

static void add_boot(struct buf *out, const char *host, uint64_t wall, uint32_t tid)
{
	const char *kv[] = { "host", host, "start_realtime_ns", "1", NULL };
	const uint64_t at = make_frame(1, 0x10);
	const void *data;
	struct make m;
	size_t sz;

	make_init(&m, NULL);
	make_metadata(&m, 5 * RUN_SEC, kv);
	make_clock(&m, 5 * RUN_SEC, wall);
	make_module(&m, 5 * RUN_SEC, 1, host, PROF_MODULE_ELF);
	make_task(&m, 5 * RUN_SEC, tid, tid, host);
	make_sample(&m, 6 * RUN_SEC, tid, tid, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_symbol(&m, 6 * RUN_SEC, at, 0, make_frame(1, 1), host, "", 0);
	data = dial9_enc_data(m.enc, &sz);
	buf_add(out, data, sz);
	make_fini(&m);
}

Test(cut, empty_parts_are_removed_and_the_others_keep_their_own_metadata)
{
	struct buf both = { 0 };
	struct file f;
	struct run r;

	add_boot(&both, "turtle", 1000 * RUN_SEC, 7);
	add_boot(&both, "hare", 9000 * RUN_SEC, 8);
	f = cut(make_fd(both.data, both.len), CMD_OK, "-t8", NULL, NULL);
	cr_assert_null(memmem(f.data, f.sz, "turtle", 6));
	cr_assert_eq(count(&f, "SymbolTableEntry"), 1);
	free(f.data);
	f = cut(make_fd(both.data, both.len), CMD_OK, "--time=+0,+2", NULL, NULL);
	r = run_cmd(cmd_info, file_fd(&f), "info", "-", NULL);
	run_expect_in(r.out, "recordings      2 in one file, on 2 clocks");
	run_expect_in(r.out, "host            turtle\n");
	run_expect_in(r.out, "host            hare\n");
	run_free(&r);
	free(f.data);
	buf_free(&both);
}

/* ---- anonymized -------------------------------------------------------------------------------- */

Test(cut, anonymized_cut_has_no_name_of_the_user)
{
	static const char *const gone[] = { "bin/app", "pool", "box",	"dial9-prof",
					    "leaf",    "main", "app.c", "thing",
					    "mint",    "/opt", "hot" };
	static const char *const kept[] = { "/lib/libc.so.6",	  "schedule",
					    "[kernel.kallsyms]",  "Linux 6.18.0",
					    "sched:sched_switch", "swapper/1" };
	struct make m;
	struct file f;

	run_make_app(&m);
	f = cut(make_file(&m), CMD_OK, "--anonymize", "--comm=[ap]*", "-p10");
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		cr_assert_null(memmem(f.data, f.sz, gone[i], strlen(gone[i])), "%s", gone[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		cr_assert_not_null(memmem(f.data, f.sz, kept[i], strlen(kept[i])), "%s", kept[i]);
	free(f.data);
	make_fini(&m);
}

/* The column after this many blanks. */
static void word(const char *line, int skip, char out[64])
{
	for (; skip--; line += strspn(line, " "))
		line += strcspn(line, " ");
	snprintf(out, 64, "%.*s", (int)strcspn(line, " \n"), line);
}

Test(cut, anonymized_names_have_the_same_replacement_everywhere)
{
	char first[64], other[64], *plain, *text, *line;
	struct make m;
	struct file f;

	run_make_app(&m);
	f = cut(make_file(&m), CMD_OK, "--anonymize", NULL, NULL);
	plain = script(make_file(&m), "-Fcomm,tid", NULL);
	text = script(file_fd(&f), "-Fcomm,tid", NULL);
	/* the structure is the same: equal numbers of lines, different names */
	line = strstr(text, " 11");
	cr_assert_not_null(line);
	cr_assert_not_null(strstr(plain, "pool"));
	word(text + strspn(text, " "), 0, first);
	cr_assert_eq(strncmp(first, "name", 4), 0, "%s", first);
	free(text);
	text = script(file_fd(&f), "-esched:*", NULL);
	/* sched_switch names the thread as its TaskEvent does */
	line = strstr(text, "prev_comm=");
	cr_assert_not_null(line, "%s", text);
	snprintf(other, sizeof(other), "%.*s", (int)strcspn(line + 10, " "), line + 10);
	word(text + strspn(text, " "), 0, first);
	cr_assert_str_eq(first, other);
	free(plain);
	free(text);
	free(f.data);
	make_fini(&m);
}

/* ---- input and output -------------------------------------------------------------------------- */

Test(cut, pipe_gives_the_same_bytes_as_the_file)
{
	struct file a, b;
	const void *data;
	struct make m;
	int p[2];
	size_t sz;

	run_make_app(&m);
	data = dial9_enc_data(m.enc, &sz);
	a = cut(make_fd(data, sz), CMD_OK, "--time=10%,60%", NULL, NULL);
	cr_assert_eq(pipe(p), 0);
	cr_assert_eq(write(p[1], data, sz), (ssize_t)sz);
	close(p[1]);
	b = cut(p[0], CMD_OK, "--time=10%,60%", NULL, NULL);
	cr_assert_eq(a.sz, b.sz);
	cr_assert_arr_eq(a.data, b.data, a.sz);
	free(a.data);
	free(b.data);
	make_fini(&m);
}

Test(cut, invalid_arguments_write_nothing)
{
	struct make m;
	struct file f;

	run_make_app(&m);
	f = cut(make_file(&m), CMD_USAGE, "--time=10%,+0", NULL, NULL);
	cr_assert_neq(access(f.path, F_OK), 0);
	f = cut(make_fd("no trace at all", 15), CMD_INPUT, NULL, NULL, NULL);
	cr_assert_neq(access(f.path, F_OK), 0);
	make_fini(&m);
}

/* On CPU 0, thread 11 waits for 3 s. Before its next switch there, it may have run on CPU 1. */
Test(cut, of_some_cpus_knows_only_running_time)
{
	static const char known[] = "running 2.000 s, runnable 0.000 s, blocked 0.000 s\n";
	static const char why[] = " (all threads): threads on CPUs that are not in the trace\n";
	const uint64_t t = 20 * RUN_SEC;
	struct make m;
	struct file f, again;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, t, (const char *const[]){ "start_realtime_ns", "1", NULL });
	make_switch(&m, t, 0, "a", 12, 1, "a", 11);
	make_switch(&m, t + RUN_SEC, 0, "a", 11, 0, "a", 12);
	make_switch(&m, t + 2 * RUN_SEC, 1, "b", 13, 1, "a", 11);
	make_switch(&m, t + 3 * RUN_SEC, 1, "a", 11, 0, "b", 13);
	make_switch(&m, t + 4 * RUN_SEC, 0, "a", 12, 1, "a", 11);
	make_switch(&m, t + 5 * RUN_SEC, 0, "a", 11, 0x10, "a", 12);
	f = cut(make_file(&m), CMD_OK, "-C0", NULL, NULL);
	make_fini(&m);
	r = run_cmd(cmd_report, file_fd(&f), "report", "--wall", "-t11", "-", NULL);
	run_expect_in(r.out, known);
	run_expect_in(r.out, why);
	run_free(&r);
	again = cut(file_fd(&f), CMD_OK, "--anonymize", NULL, NULL);
	r = run_cmd(cmd_report, file_fd(&again), "report", "--wall", "-t11", "-", NULL);
	run_expect_in(r.out, known);
	run_free(&r);
	free(again.data);
	free(f.data);
}

Test(cut, without_switches_has_no_blocked_time)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;
	struct file f;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, t, (const char *const[]){ "start_realtime_ns", "1", NULL });
	make_waking(&m, t, 0, 13, "a", 12);
	make_switch(&m, t + RUN_SEC, 0, "a", 12, 1, "b", 13);
	make_waking(&m, t + 2 * RUN_SEC, 0, 13, "a", 11);
	f = cut(make_file(&m), CMD_OK, "-esched:sched_waking", NULL, NULL);
	make_fini(&m);
	r = run_cmd(cmd_offcpu, file_fd(&f), "offcpu", "-t11", "-", NULL);
	run_expect_in(r.out, "# unknown: 2.000 s (all threads): context switches not selected\n");
	run_expect_in(r.out, "No blocked time in standard input: ");
	run_free(&r);
	free(f.data);
}
