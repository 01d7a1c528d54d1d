// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same recording given to `merge` twice: it is merged once, with any symbols and in any position of an
 * earlier merge; a recording with any different event is another one.
 */
#include "rewrite/merge/merge.h"

#include "tests/cmd/run_cmd.h"

#include "tests/support/read_trace.h"

TestSuite(merge_same, .timeout = 60);

struct recording {
	const char *host, *boot, *comm, *symbol;
	uint64_t first_ns, real_ns;
	int samples;
};

static const struct recording here = { "turtle", "b1", "alpha", "f", 5000000, 1700000000 * RUN_SEC,
				       30 };
/* Booted 100 s later. */
static const struct recording there = { "hare", "b2",	 "beta",
					"g",	6000000, 1700000000 * RUN_SEC + 101000000000ULL,
					7 };

static int record(const struct recording *rec)
{
	const char *kv[] = { "host",	  rec->host, "boot_id", rec->boot, "start_realtime_ns",
			     "170000000", NULL };
	const uint64_t at = make_frame(3, 0x10);
	uint64_t ts = rec->first_ns;
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, ts, kv);
	make_clock(&m, ts, rec->real_ns);
	make_module_with(&m, ts, 3, "/bin/app", "one", PROF_MODULE_ELF);
	for (int i = 0; i < rec->samples; i++)
		make_sample(&m, ts += 10000, 7, 7, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_switch(&m, ts, 0, rec->comm, 7, 1, "swapper/0", 0);
	make_symbol(&m, ts, at, 0, at, rec->symbol, "", 0);
	make_lost(&m, ts, "sample_ring_full", 1, ts - 100, ts - 50);
	return make_done(&m);
}

/* How many samples each of the two hosts has, and all events except those that merging adds. */
struct seen {
	uint64_t here, there, events;
};

static struct seen count_events(int fd)
{
	struct seen seen = { 0 };
	struct trace_event ev;
	struct reader *r;
	int ret;

	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	r = read_trace_as(dup(fd), READER_NAMES_AHEAD);
	while ((ret = reader_next(r, &ev)) == 1) {
		const char *host = names_meta(reader_names(r), ev.part, "host");

		seen.events += ev.kind != TRACE_MERGED_PART;
		if (ev.kind != TRACE_SAMPLE)
			continue;
		cr_assert_not_null(host);
		seen.here += !strcmp(host, here.host);
		seen.there += !strcmp(host, there.host);
	}
	cr_assert_eq(ret, 0);
	reader_free(r);
	return seen;
}

/* A file with the merged traces, and the number of merged ones. @fds stay open. */
static int merge_fds(const int *fds, size_t cnt, uint64_t used, enum merge_align align)
{
	const struct merge_opts opts = { .align = align };
	const char *paths[3];
	struct merge_sum sum;
	char names[3][32];
	int out = make_fd("", 0);

	for (size_t i = 0; i < cnt; i++) {
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
		paths[i] = names[i];
	}
	cr_assert_eq(merge_to_file(&opts, paths, cnt, out, &sum), CMD_OK);
	cr_expect_eq(sum.inputs, used, "%llu inputs are used", (unsigned long long)sum.inputs);
	return out;
}

static void expect_seen(int fd, struct seen want)
{
	const struct seen got = count_events(fd);

	cr_expect_eq(got.here, want.here);
	cr_expect_eq(got.there, want.there);
	cr_expect_eq(got.events, want.events);
	close(fd);
}

Test(merge_same, recording_that_was_already_merged_is_merged_once)
{
	int fds[] = { record(&here), record(&there), -1 };
	const struct seen both = { 30, 7,
				   count_events(fds[0]).events + count_events(fds[1]).events };

	fds[2] = merge_fds(fds, 2, 2, MERGE_AUTO);
	expect_seen(merge_fds(fds, 3, 2, MERGE_AUTO), both);
	/* also if its times were moved, and the other one is inside a merged file */
	expect_seen(merge_fds(fds + 1, 2, 2, MERGE_AUTO), both);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

Test(merge_same, recording_with_other_symbols_is_the_same)
{
	struct recording named = here;
	int fds[] = { record(&here), -1 };

	named.symbol = "better";
	fds[1] = record(&named);
	expect_seen(merge_fds(fds, 2, 1, MERGE_AUTO), count_events(fds[0]));
	close(fds[0]);
	close(fds[1]);
}

/* Of another host, later by a nanosecond, with one sample less, or of a thread of another name. */
Test(merge_same, recordings_with_different_events_are_all_merged)
{
	struct recording other[] = { here, here, here, here };
	int fds[2] = { record(&here), -1 };

	other[0].host = there.host;
	other[1].first_ns++;
	other[2].samples--;
	other[3].comm = "gamma";
	for (int i = 0; i < 4; i++) {
		struct seen sum = count_events(fds[0]), more;

		fds[1] = record(&other[i]);
		more = count_events(fds[1]);
		sum.here += more.here;
		sum.there += more.there;
		sum.events += more.events;
		expect_seen(merge_fds(fds, 2, 2, MERGE_MONO), sum);
		close(fds[1]);
	}
	close(fds[0]);
}

/* A second of one thread. */
static int record_second(const char *boot, const char *target, uint64_t from_ns)
{
	const char *kv[] = { "host",   "turtle", "boot_id",	      boot,
			     "target", target,	 "start_realtime_ns", "170000000",
			     NULL };
	struct make m;

	make_init(&m, NULL);
	make_metadata(&m, from_ns, kv);
	make_clock(&m, from_ns, 1700000000 * RUN_SEC + from_ns);
	for (uint64_t i = 1; i <= 10; i++)
		make_switch(&m, from_ns + i * RUN_SEC / 10, 0, "alpha", 7, 1, "swapper/0", 0);
	return make_done(&m);
}

/* Whether merging two prints that events may count twice. */
static bool may_count_twice(int first, int second)
{
	char names[2][32];
	struct run r;
	bool reported;

	snprintf(names[0], sizeof(names[0]), "/proc/self/fd/%d", first);
	snprintf(names[1], sizeof(names[1]), "/proc/self/fd/%d", second);
	r = run_cmd(cmd_merge, make_fd("", 0), "merge", "-o", "/dev/null", names[0], names[1],
		    NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	reported = strstr(r.err, "overlap on the same host: what both recorded counts twice");
	run_free(&r);
	close(first);
	close(second);
	return reported;
}

Test(merge_same, recordings_of_one_thread_at_the_same_time_are_reported)
{
	const uint64_t at = 100 * RUN_SEC, later = at + RUN_SEC / 2 + 1;

	cr_expect(may_count_twice(record_second("b1", "system", at),
				  record_second("b1", "pid 5", later)));
	cr_expect(may_count_twice(record_second("b1", "pid 5", at),
				  record_second("b1", "pid 5", later)));
	cr_expect(!may_count_twice(record_second("b1", "pid 6", at),
				   record_second("b1", "pid 5", later)));
	cr_expect(!may_count_twice(record_second("b1", "system", at),
				   record_second("b1", "system", at + 2 * RUN_SEC)),
		  "one behind the other");
	cr_expect(!may_count_twice(record_second("b1", "system", at),
				   record_second("b2", "system", later)),
		  "of another boot");
}
