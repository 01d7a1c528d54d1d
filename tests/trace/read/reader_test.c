// SPDX-License-Identifier: BSD-2-Clause
/* Names that come after the events, on files and on pipes; and every way an input can end. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <stdio.h>
#include <pthread.h>
#include <sys/wait.h>
#include <zlib.h>

#include "base/log.h"
#include "tests/support/make_trace.h"
#include "trace/read/reader.h"

#define SEC 1000000000ULL

static void quiet(void)
{
	int fd = open("/dev/null", O_WRONLY);

	dup2(fd, STDERR_FILENO);
	close(fd);
}

TestSuite(reader, .init = quiet);

/* @late is how long after the sample its name is written. */
static void make_late_name(struct make *m, uint64_t late)
{
	uint64_t at = make_frame(1, 0x10);

	make_init(m, NULL);
	make_module(m, SEC, 1, "/bin/x", PROF_MODULE_ELF);
	make_sample(m, SEC, 1, 1, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_switch(m, SEC + late, 0, "a", 1, 0, "b", 2);
	make_symbol(m, SEC + late, at, 0, at, "late", "", 0);
	for (int i = 1; i <= 4; i++)
		make_switch(m, SEC + late + (uint64_t)i * SEC, 0, "a", 1, 0, "b", 2);
}

struct feed {
	int fd;
	const void *data;
	size_t sz;
};

static void *feed_run(void *arg)
{
	struct feed *f = arg;
	size_t pos = 0;
	ssize_t n;

	while (pos < f->sz) {
		n = write(f->fd, (const char *)f->data + pos, f->sz - pos < 7 ? f->sz - pos : 7);
		if (n <= 0)
			break;
		pos += (size_t)n;
	}
	close(f->fd);
	return NULL;
}

/* Whether the sample has a name when it is returned. */
static bool named(struct source *src, enum reader_mode mode)
{
	struct trace_event ev;
	struct reader *r;
	bool got = false;
	int ret, events = 0;

	cr_assert_eq(reader_new(src, mode, &r), 0);
	while ((ret = reader_next(r, &ev)) == 1) {
		events++;
		if (ev.kind == TRACE_SAMPLE)
			got = names_symbol(reader_names(r), ev.frames[0]);
	}
	cr_assert_eq(ret, 0);
	cr_assert_eq(events, 8);
	reader_free(r);
	return got;
}

static bool named_in_pipe(uint64_t late)
{
	struct source *src;
	struct feed feed;
	struct make m;
	pthread_t thread;
	bool got;
	int p[2];

	make_late_name(&m, late);
	cr_assert_eq(pipe(p), 0);
	feed.fd = p[1];
	feed.data = dial9_enc_data(m.enc, &feed.sz);
	pthread_create(&thread, NULL, feed_run, &feed);
	cr_assert_eq(source_open_fd(p[0], "pipe", &src), 0);
	got = named(src, READER_NAMES_AHEAD);
	pthread_join(thread, NULL);
	make_fini(&m);
	return got;
}

static bool named_in_file(uint64_t late, enum reader_mode mode)
{
	struct source *src;
	struct make m;
	bool got;

	make_late_name(&m, late);
	cr_assert_eq(source_open_fd(make_file(&m), "file", &src), 0);
	got = named(src, mode);
	make_fini(&m);
	return got;
}

Test(reader, files_are_read_twice_so_any_late_name_is_known)
{
	cr_assert(named_in_file(100 * SEC, READER_NAMES_AHEAD));
	cr_assert_not(named_in_file(100 * SEC, READER_ONE_PASS));
}

Test(reader, pipes_hold_events_back_for_two_seconds_of_trace_time)
{
	cr_assert(named_in_pipe(SEC));
	cr_assert(named_in_pipe(2 * SEC - 1));
	cr_assert_not(named_in_pipe(10 * SEC));
}

Test(reader, threads_named_late_are_known_from_the_start)
{
	uint64_t at = 0x10;
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	struct make m;

	make_init(&m, NULL);
	make_sample(&m, 1, 5, 5, PROF_SOURCE_SAMPLE, 0, &at, 1);
	make_task(&m, 2, 5, 5, "late");
	make_task(&m, 3, 5, 5, "later");
	cr_assert_eq(source_open_fd(make_file(&m), "file", &src), 0);
	cr_assert_eq(reader_new(src, READER_NAMES_AHEAD, &r), 0);
	cr_assert_eq(reader_next(r, &ev), 1);
	cr_assert_str_eq(names_str(reader_names(r), ev.comm, NULL), "late");
	reader_free(r);
	make_fini(&m);
}

/* Number of events of a source; the result in *ret. */
static int count_events(struct source *src, enum reader_mode mode, int *ret, bool *torn)
{
	struct trace_event ev;
	struct reader *r;
	int n = 0;

	cr_assert_eq(reader_new(src, mode, &r), 0);
	while ((*ret = reader_next(r, &ev)) == 1)
		n++;
	*torn = reader_is_truncated(r);
	reader_free(r);
	return n;
}

Test(reader, every_truncation_gives_a_prefix_or_an_error)
{
	int ret, n, last = 0;
	const char *data;
	struct source *src;
	struct make m;
	bool torn;
	size_t sz;

	make_late_name(&m, SEC);
	data = dial9_enc_data(m.enc, &sz);
	for (size_t cut = 0; cut <= sz; cut++) {
		for (int mode = READER_ONE_PASS; mode <= READER_NAMES_AHEAD; mode++) {
			cr_assert_eq(source_open_fd(make_fd(data, cut), "cut", &src), 0);
			n = count_events(src, (enum reader_mode)mode, &ret, &torn);
			if (cut < 5) {
				cr_assert_eq(ret, -EBADMSG);
				continue;
			}
			cr_assert_eq(ret, 0, "cut at %zu: %d", cut, ret);
			cr_assert_geq(n, last);
			last = n;
		}
	}
	cr_assert_eq(last, 8);
	cr_assert_not(torn);
	make_fini(&m);
}

Test(reader, garbage_is_refused_on_files_and_pipes)
{
	struct source *src;
	bool torn;
	int ret, p[2];

	cr_assert_eq(source_open_fd(make_fd("PERFILE2 something", 18), "x", &src), 0);
	cr_assert_eq(count_events(src, READER_NAMES_AHEAD, &ret, &torn), 0);
	cr_assert_eq(ret, -EBADMSG);
	cr_assert_eq(pipe(p), 0);
	cr_assert_eq(write(p[1], "PERFILE2 something", 18), 18);
	close(p[1]);
	cr_assert_eq(source_open_fd(p[0], "x", &src), 0);
	cr_assert_eq(count_events(src, READER_NAMES_AHEAD, &ret, &torn), 0);
	cr_assert_eq(ret, -EBADMSG);
}

static size_t gz(uint8_t *out, size_t cap, const void *data, size_t n)
{
	z_stream z = { 0 };

	cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (void *)data;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

Test(reader, truncated_and_damaged_gzip_give_the_events_before)
{
	static uint8_t packed[8192];
	struct source *src;
	struct make m;
	const void *data;
	size_t sz, n;
	bool torn;
	int ret, p[2];

	make_late_name(&m, SEC);
	data = dial9_enc_data(m.enc, &sz);
	n = gz(packed, sizeof(packed), data, sz);
	cr_assert_eq(source_open_fd(make_fd(packed, n - 8), "x", &src), 0);
	cr_assert_eq(count_events(src, READER_ONE_PASS, &ret, &torn), 8);
	cr_assert_eq(ret, 0);
	cr_assert(torn);
	packed[n - 6] ^= 0x40;
	cr_assert_eq(source_open_fd(make_fd(packed, n), "x", &src), 0);
	cr_assert_eq(count_events(src, READER_NAMES_AHEAD, &ret, &torn), 8);
	cr_assert_eq(ret, 0);
	cr_assert(torn);
	cr_assert_eq(pipe(p), 0);
	cr_assert_eq(write(p[1], packed, n), (ssize_t)n);
	close(p[1]);
	cr_assert_eq(source_open_fd(p[0], "x", &src), 0);
	cr_assert_eq(count_events(src, READER_NAMES_AHEAD, &ret, &torn), 8);
	cr_assert_eq(ret, 0, "behind a queue, too");
	cr_assert(torn);
	make_fini(&m);
}

/* Reads all of these bytes under the name "x", plain or compressed; returns the message. */
static int verdict(const void *bytes, size_t sz, bool packed, enum reader_mode mode, bool *newer)
{
	uint8_t *copy = malloc(sz + 1000);
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	int ret;

	memcpy(copy, bytes, sz);
	if (packed)
		sz = gz(copy, sz + 1000, bytes, sz);
	cr_assert_eq(source_open_fd(make_fd((const char *)copy, sz), "x", &src), 0);
	cr_assert_eq(reader_new(src, mode, &r), 0);
	do
		ret = reader_next(r, &ev);
	while (ret == 1);
	cr_expect_eq(reader_next(r, &ev), ret, "it is told once and stays so");
	*newer = reader_is_newer(r);
	cr_expect_str_eq(reader_input(r), "x");
	reader_free(r);
	free(copy);
	return ret;
}

/* Five bytes of a stream and two whole events, then an end of this kind at byte `good`. */
static const struct ending {
	const char *tail;
	size_t tail_sz;
	const char *message; /* %zu: where; %s: of what */
} endings[] = {
	{ "", 0, NULL },
	{ "\3", 1, "x: the end is cut off after byte %zu%s; everything before it is used" },
	{ "\0\1", 2,
	  "x: damaged: unknown frame tag at byte %zu%s; everything before it is used, the rest is "
	  "missing (copy the file again)" },
	{ "\x77", 1,
	  "x: stopped at byte %zu%s: frame tag 0x77: a newer writer (format later than 0.4); everything "
	  "before it is used (a later dial9-prof may read on)" },
	{ "\3\1\0\0\0\0\0\0\0\377\377\377\377", 13,
	  "x: damaged: frame over the limit at byte %zu%s; everything before it is used, the rest is "
	  "missing (copy the file again)" },
};

static void add_line(char *want, size_t cap, const char *message, size_t at, bool packed)
{
	const char *of = packed ? " of the uncompressed data" : "";
	size_t len = strlen(want);

	snprintf(want + len, cap - len, "dial9-prof: ");
	len = strlen(want);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(want + len, cap - len, message, at, of);
#pragma GCC diagnostic pop
	strcat(want, "\n");
}

Test(verdict, every_kind_of_end_is_reported_with_its_offset_and_remedy, .init = cr_redirect_stderr)
{
	static const enum reader_mode modes[] = { READER_ONE_PASS, READER_NAMES_AHEAD };
	static char want[8192];
	struct make m;
	const char *data;
	char bytes[4096];
	size_t good;
	bool newer;

	make_init(&m, NULL);
	make_switch(&m, SEC, 0, "a", 1, 0, "b", 2);
	data = dial9_enc_data(m.enc, &good);
	memcpy(bytes, data, good);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const struct ending *e = &endings[i];

		memcpy(bytes + good, e->tail, e->tail_sz);
		for (int n = 0; n < 4; n++) {
			cr_expect_eq(verdict(bytes, good + e->tail_sz, n & 1, modes[n / 2], &newer),
				     0, "ending %zu", i);
			cr_expect_eq(newer, e->tail[0] == 0x77);
			/* once, however often the end is read */
			if (e->message)
				add_line(want, sizeof(want), e->message, good, n & 1);
		}
	}
	make_fini(&m);
	fflush(stderr);
	cr_assert_stderr_eq_str(want);
}

/* One stack of a pool that two events have, and a stack inside an event. */
static int deep_stacks(uint32_t frames)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	uint64_t *v = calloc(frames, sizeof(*v));
	struct dial9_schema *pooled;
	struct make m;
	uint32_t id;

	for (uint32_t i = 0; i < frames; i++)
		v[i] = 0x1000 + i;
	make_init(&m, &opts);
	pooled = MAKE_SCHEMA("CpuSampleEvent", { "tid", DIAL9_U32 }, { "source", DIAL9_U8 },
			     { "callchain", DIAL9_POOLED_STACK });
	cr_assert_eq(dial9_enc_intern_stack(m.enc, v, frames, &id), 0);
	for (int i = 0; i < 2; i++) {
		dial9_enc_begin(m.enc, pooled, SEC);
		dial9_enc_put_u64(m.enc, 1);
		dial9_enc_put_u64(m.enc, PROF_SOURCE_SAMPLE);
		dial9_enc_put_stack_id(m.enc, id);
		make_end(&m);
	}
	make_sample(&m, SEC, 1, 1, PROF_SOURCE_SAMPLE, 0, v, frames);
	dial9_schema_free(pooled);
	free(v);
	return make_done(&m);
}

Test(verdict, too_deep_stacks_are_truncated_at_their_root_and_reported_once,
     .init = cr_redirect_stderr)
{
	for (uint32_t more = 0; more < 2; more++) {
		struct trace_event ev;
		struct source *src;
		struct reader *r;
		int samples = 0;

		cr_assert_eq(source_open_fd(deep_stacks(TRACE_STACK_MAX + more), "deep", &src), 0);
		cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
		for (int again = 0; again < 2; again++) {
			while (reader_next(r, &ev) == 1) {
				cr_assert_eq(ev.frame_cnt, TRACE_STACK_MAX);
				cr_expect_eq(ev.frames[0], 0x1000);
				cr_expect_eq(ev.frames[TRACE_STACK_MAX - 1],
					     0x1000 + TRACE_STACK_MAX - 1);
				samples++;
			}
			cr_assert_eq(reader_rewind(r), 0);
		}
		cr_expect_eq(samples, 6);
		reader_free(r);
	}
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"dial9-prof: deep: 2 stacks have more than 1024 frames: the outermost "
		"callers are dropped\n");
}

Test(verdict, input_that_is_not_a_trace_is_reported, .init = cr_redirect_stderr)
{
	static const struct {
		const char *bytes;
		size_t sz;
		bool packed;
		const char *message;
	} cases[] = {
		{ "PERFILE2", 8, false,
		  " is a perf.data file; use dial9-prof convert x -o FILE to convert it to dial9" },
		{ "MYTRACES", 8, false,
		  ": not a dial9 trace: not a dial9 stream at byte 0; dial9-prof convert reads some other formats" },
		{ "TRC", 3, false,
		  ": not a dial9 trace: it ends inside the 5-byte header (was it copied whole?)" },
		{ "TRC\0\1\0\1", 7, false,
		  ": damaged: unknown frame tag at byte 5; no events before it (copy the file again)" },
		{ "TRC\0\11", 5, true,
		  ": not a dial9 trace: unknown version at byte 4 of the uncompressed data; "
		  "dial9-prof convert reads some other formats" },
		{ "", 0, false, " is empty (was anything recorded?)" },
		{ "", 0, true, " is empty (was anything recorded?)" },
	};
	static char want[4096];
	size_t len = 0;
	bool newer;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(verdict(cases[i].bytes, cases[i].sz, cases[i].packed, READER_ONE_PASS,
				     &newer),
			     -EBADMSG);
		for (int output = 0; output < 2; output++)
			len += (size_t)snprintf(want + len, sizeof(want) - len, "dial9-prof: x%s\n",
						cases[i].message);
	}
	fflush(stderr);
	cr_assert_stderr_eq_str(want);
}

Test(reader, second_pass_returns_the_same_events_with_more_names)
{
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	struct make m;
	int n = 0;

	make_late_name(&m, 100 * SEC);
	cr_assert_eq(source_open_fd(make_file(&m), "file", &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	while (reader_next(r, &ev) == 1)
		;
	cr_assert_eq(reader_rewind(r), 0);
	for (; reader_next(r, &ev) == 1; n++)
		if (ev.kind == TRACE_SAMPLE)
			cr_assert_not_null(names_symbol(reader_names(r), ev.frames[0]));
	cr_assert_eq(n, 8);
	reader_free(r);
	make_fini(&m);
}

/* How many samples of a trace have frames. */
static int with_frames(struct reader *r, int *samples)
{
	struct trace_event ev;
	int n = 0;

	for (*samples = 0; reader_next(r, &ev) == 1; *samples += ev.kind == TRACE_SAMPLE)
		n += ev.frame_cnt == 1;
	return n;
}

Test(reader, unrequested_stacks_have_no_frames)
{
	static const enum prof_sample_source sources[] = { PROF_SOURCE_SAMPLE,
							   PROF_SOURCE_SWITCH_OUT,
							   PROF_SOURCE_WAKING };
	uint64_t at = make_frame(1, 0x10);
	struct source *src;
	struct reader *r;
	struct make m;
	int samples;

	make_init(&m, NULL);
	for (int i = 0; i < 3; i++)
		make_sample(&m, SEC, 1, 1, sources[i], 0, &at, 1);
	cr_assert_eq(source_open_fd(make_file(&m), "file", &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	cr_expect_eq(with_frames(r, &samples), 3);
	cr_assert_eq(reader_rewind(r), 0);
	reader_skip_stacks(r);
	for (int pass = 0; pass < 2; pass++) {
		cr_expect_eq(with_frames(r, &samples), 1);
		cr_expect_eq(samples, 3);
		cr_assert_eq(reader_rewind(r), 0);
	}
	reader_free(r);
	make_fini(&m);
}

Test(reader, reader_skip_tasks_leaves_the_tasks_of_events_unknown)
{
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	struct make m;

	make_late_name(&m, SEC);
	cr_assert_eq(source_open_fd(make_file(&m), "file", &src), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	reader_skip_tasks(r);
	while (reader_next(r, &ev) == 1)
		cr_expect(ev.tid == TRACE_NONE && ev.ts >= SEC);
	cr_assert_eq(reader_rewind(r), 0);
	while (reader_next(r, &ev) == 1 && ev.kind != TRACE_SAMPLE)
		;
	cr_expect_eq(ev.tid, 1);
	cr_expect_not_null(names_symbol(reader_names(r), ev.frames[0]), "names are learnt");
	reader_free(r);
	make_fini(&m);
}

/* Of a growing file: the name and 3 s of trace time arrive while the sample is held back. */
static void follow_from(size_t cut)
{
	struct trace_event ev;
	struct source *src;
	struct reader *r;
	const char *data;
	size_t sz;
	struct make m;
	int fd, status;
	pid_t pid;

	make_late_name(&m, SEC);
	data = dial9_enc_data(m.enc, &sz);
	fd = make_fd(data, cut);
	pid = fork();
	if (!pid) {
		/* a separate file description: the position is not shared with the writer */
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (source_open(path, &src) || reader_new(src, READER_FOLLOW, &r))
			_exit(1);
		do {
			if (reader_next(r, &ev) != 1)
				_exit(2);
		} while (ev.kind != TRACE_SAMPLE);
		_exit(names_symbol(reader_names(r), ev.frames[0]) ? 0 : 3);
	}
	usleep(300000);
	cr_assert_eq(waitpid(pid, &status, WNOHANG), 0, "it waits for more");
	cr_assert_eq(pwrite(fd, data + cut, sz - cut, (off_t)cut), (ssize_t)(sz - cut));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 0);
	close(fd);
	make_fini(&m);
}

/* Inside a frame, between two, and before any data. */
Test(reader, growing_file_is_followed, .timeout = 30)
{
	follow_from(100);
	follow_from(5);
	follow_from(0);
}
