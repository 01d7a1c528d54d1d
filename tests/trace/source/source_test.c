// SPDX-License-Identifier: BSD-2-Clause
/* The promises of source.c: plain and gzip by magic, consecutive members, pipes, directories, damage. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "tests/support/make_trace.h"
#include "trace/source/source.h"
#include "trace/source/source_set.h"

static void quiet(void)
{
	/* refusals print their line by design */
	int fd = open("/dev/null", O_WRONLY);

	dup2(fd, STDERR_FILENO);
	close(fd);
}

TestSuite(source, .init = quiet);

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

static int temp_with(const void *data, size_t n)
{
	char path[] = "/tmp/d9-source-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(write(fd, data, n), (ssize_t)n);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Reads all of @src by calls of @step bytes; the count, or the error. */
static ssize_t slurp(struct source *src, char *out, size_t cap, size_t step)
{
	size_t n = 0;
	ssize_t r;

	for (;;) {
		r = source_read(src, out + n, step < cap - n ? step : cap - n);
		if (r <= 0)
			return r < 0 ? r : (ssize_t)n;
		n += (size_t)r;
	}
}

static void expect(const void *data, size_t n, const char *want, size_t want_n)
{
	static const size_t steps[] = { 1, 2, 7, 4096 };
	struct source *src;
	char *out = malloc(want_n + 16);

	cr_assert_eq(source_open_fd(temp_with(data, n), "t", &src), 0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		cr_assert_eq(slurp(src, out, want_n + 16, steps[i]), (ssize_t)want_n);
		cr_assert(!memcmp(out, want, want_n));
		cr_assert_eq(source_rewind(src), 0);
	}
	source_close(src);
	free(out);
}

Test(source, reads_plain_bytes)
{
	expect("", 0, "", 0);
	expect("\x1f", 1, "\x1f", 1);
	expect("TRC\0\1 hello", 11, "TRC\0\1 hello", 11);
}

Test(source, reads_consecutive_gzip_members)
{
	uint8_t data[512];
	size_t n = gz(data, sizeof(data), "first,", 6);

	n += gz(data + n, sizeof(data) - n, "", 0);
	n += gz(data + n, sizeof(data) - n, "second", 6);
	expect(data, n, "first,second", 12);
}

static void *feed_bytes(void *arg)
{
	static uint8_t data[512];
	int fd = *(int *)arg;
	size_t n = gz(data, sizeof(data), "byte by byte", 12);

	for (size_t i = 0; i < n; i++)
		if (write(fd, data + i, 1) != 1)
			break;
	close(fd);
	return NULL;
}

Test(source, finds_gzip_in_a_pipe_of_single_bytes)
{
	struct source *src;
	char out[64];
	pthread_t t;
	int p[2];

	cr_assert_eq(pipe(p), 0);
	pthread_create(&t, NULL, feed_bytes, &p[1]);
	cr_assert_eq(source_open_fd(p[0], "pipe", &src), 0);
	cr_assert_not(source_is_regular(src));
	cr_assert_eq(slurp(src, out, sizeof(out), sizeof(out)), 12);
	cr_assert(!memcmp(out, "byte by byte", 12));
	cr_assert(source_is_packed(src));
	cr_assert_not(source_is_cut(src));
	pthread_join(t, NULL);
	source_close(src);
}

Test(source, every_truncation_of_a_gzip_gives_a_prefix_and_is_reported)
{
	char text[4000], out[4100];
	uint8_t data[8192];
	struct source *src;
	ssize_t got;
	size_t n;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7919 >> 3);
	n = gz(data, sizeof(data), text, sizeof(text));
	for (size_t cut = 3; cut < n; cut++) {
		cr_assert_eq(source_open_fd(temp_with(data, cut), "t", &src), 0);
		got = slurp(src, out, sizeof(out), sizeof(out));
		cr_assert_geq(got, 0, "cut at %zu: %zd", cut, got);
		cr_assert(!memcmp(out, text, (size_t)got));
		cr_assert(source_is_cut(src), "cut at %zu of %zu", cut, n);
		source_close(src);
	}
}

Test(source, damaged_gzip_is_an_error)
{
	char text[1000], out[1100];
	uint8_t data[2048];
	struct source *src;
	size_t n;

	memset(text, 'x', sizeof(text));
	n = gz(data, sizeof(data), text, sizeof(text));
	data[n - 8] ^= 1; /* the checksum */
	cr_assert_eq(source_open_fd(temp_with(data, n), "t", &src), 0);
	cr_assert_eq(source_read(src, out, sizeof(out)), sizeof(text), "what is good comes first");
	cr_assert_eq(source_read(src, out, sizeof(out)), -EBADMSG);
	cr_assert_eq(source_read(src, out, sizeof(out)), -EBADMSG, "and it stays so");
	source_close(src);
}

Test(source, refuses_directories_and_missing_files)
{
	struct source *src = NULL;

	cr_assert_eq(source_open("/sys", &src), -EISDIR);
	cr_assert_eq(source_open("/nonexistent/trace", &src), -ENOENT);
	cr_assert_null(src);
}

Test(source, reads_data_appended_to_a_growing_file)
{
	int fd = temp_with("", 0), w = dup(fd);
	struct source *src;
	char out[16];

	cr_assert_eq(source_open_fd(fd, "t", &src), 0);
	cr_assert_eq(source_read(src, out, sizeof(out)), 0);
	cr_assert_eq(pwrite(w, "abc", 3, 0), 3);
	cr_assert_eq(source_read(src, out, sizeof(out)), 3);
	cr_assert_eq(source_read(src, out, sizeof(out)), 0);
	cr_assert_eq(pwrite(w, "de", 2, 3), 2);
	cr_assert_eq(source_read(src, out, sizeof(out)), 2);
	cr_assert(!memcmp(out, "de", 2));
	source_close(src);
	close(w);
}

Test(source, file_that_cannot_be_read_is_an_error_and_not_empty)
{
	struct source *src;
	char bytes[16];

	cr_assert_eq(source_open_fd(open("/dev/null", O_WRONLY), "write-only", &src), 0);
	cr_assert_eq(source_read(src, bytes, sizeof(bytes)), -EBADF);
	source_close(src);
}

enum { LARGE = 300 * 1000 };

/* Bytes that do not compress: the numbers of a shift register. */
static char *large_bytes(void)
{
	char *bytes = malloc(LARGE);
	uint32_t v = 1;

	cr_assert_not_null(bytes);
	for (size_t i = 0; i < LARGE; i++) {
		v ^= v << 13;
		v ^= v >> 17;
		v ^= v << 5;
		bytes[i] = (char)v;
	}
	return bytes;
}

Test(source, inputs_of_many_buffers_are_read_whole)
{
	char *bytes = large_bytes();
	uint8_t *packed = malloc(2 * LARGE);
	size_t n = gz(packed, 2 * LARGE, bytes, LARGE / 3);

	cr_assert_gt(n, 65536);
	n += gz(packed + n, 2 * LARGE - n, bytes + LARGE / 3, LARGE - LARGE / 3);
	expect(bytes, LARGE, bytes, LARGE);
	expect(packed, n, bytes, LARGE);
	free(packed);
	free(bytes);
}

Test(source, read_of_0_bytes_consumes_nothing)
{
	struct source *src;
	char c = 'x';

	cr_assert_eq(source_open_fd(temp_with("ab", 2), "t", &src), 0);
	cr_expect_eq(source_read(src, &c, 0), 0);
	cr_expect_eq(c, 'x');
	cr_expect_eq(source_read(src, &c, 1), 1);
	cr_expect_eq(c, 'a');
	cr_expect(source_is_regular(src));
	cr_expect_not(source_is_packed(src));
	cr_expect_not(source_is_cut(src));
	cr_expect_str_eq(source_name(src), "t");
	source_close(src);
	source_close(NULL);
}

/* The number that the next descriptor gets: the same again when none was left open. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

Test(source, descriptors_are_closed_with_the_source_and_after_a_refusal)
{
	int before = next_fd();
	struct source *src;

	cr_assert_eq(source_open("/dev/null", &src), 0);
	cr_expect_neq(next_fd(), before);
	source_close(src);
	cr_expect_eq(next_fd(), before);
	cr_expect_eq(source_open("/sys", &src), -EISDIR);
	cr_expect_eq(next_fd(), before);
}

Test(source, standard_input_is_read_from_its_current_offset)
{
	int fd = temp_with("head,tail", 9);
	struct source *src;
	char out[16];

	lseek(fd, 5, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
	cr_assert_eq(source_open("-", &src), 0);
	cr_expect_str_eq(source_name(src), "standard input");
	for (int pass = 0; pass < 2; pass++) {
		cr_expect_eq(slurp(src, out, sizeof(out), 2), 4);
		cr_expect_eq(memcmp(out, "tail", 4), 0);
		cr_assert_eq(source_rewind(src), 0);
	}
	source_close(src);
	cr_expect_geq(fcntl(STDIN_FILENO, F_GETFD), 0, "it stays open");
}

Test(source, rewind_clears_damage_and_a_pipe_cannot_rewind)
{
	char text[100], out[128];
	uint8_t data[256];
	struct source *src;
	size_t n;
	int p[2];

	memset(text, 'x', sizeof(text));
	n = gz(data, sizeof(data), text, sizeof(text));
	data[n - 8] ^= 1;
	cr_assert_eq(source_open_fd(temp_with(data, n), "t", &src), 0);
	for (int pass = 0; pass < 2; pass++) {
		cr_expect_eq(source_read(src, out, sizeof(out)), 100);
		cr_expect_eq(source_read(src, out, sizeof(out)), -EBADMSG);
		cr_assert_eq(source_rewind(src), 0);
		cr_expect_not(source_is_cut(src));
	}
	source_close(src);
	cr_assert_eq(pipe(p), 0);
	cr_assert_eq(source_open_fd(p[0], "pipe", &src), 0);
	cr_expect_eq(source_rewind(src), -ESPIPE);
	source_close(src);
}

Test(refused_source, error_has_a_reason, .init = cr_redirect_stderr)
{
	struct source *src = NULL;
	int tty = posix_openpt(O_RDWR | O_NOCTTY);

	cr_expect_eq(source_open("/nonexistent/trace", &src), -ENOENT);
	cr_expect_eq(source_open("/sys", &src), -EISDIR);
	cr_expect_eq(source_open_fd(-1, "nothing", &src), -EBADF);
	cr_assert_geq(tty, 0);
	cr_expect_eq(source_open_fd(tty, "the terminal", &src), -ENOTTY);
	close(STDIN_FILENO);
	cr_expect_eq(source_open("-", &src), -EBADF);
	cr_expect_null(src);
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"dial9-prof: cannot open /nonexistent/trace: No such file or directory\n"
		"dial9-prof: cannot read /sys: it is a directory (name a trace file in it)\n"
		"dial9-prof: cannot read nothing: Bad file descriptor\n"
		"dial9-prof: cannot read the terminal: it is a terminal (name a trace file, or pipe "
		"one in)\n"
		"dial9-prof: cannot open standard input: Bad file descriptor\n");
}

/* Two bytes identify the kind, and are returned at once, even if no more will come. */
Test(source, pipe_is_read_without_waiting_once_its_kind_is_known, .timeout = 10)
{
	struct source *src;
	char out[16];
	int p[2];

	cr_assert_eq(pipe(p), 0);
	cr_assert_eq(source_open_fd(p[0], "pipe", &src), 0);
	cr_assert_eq(write(p[1], "ab", 2), 2);
	cr_expect_eq(source_read(src, out, sizeof(out)), 2);
	cr_assert_eq(write(p[1], "c", 1), 1);
	cr_expect_eq(source_read(src, out, sizeof(out)), 1);
	close(p[1]);
	cr_expect_eq(source_read(src, out, sizeof(out)), 0);
	source_close(src);
}

static size_t zst(uint8_t *out, size_t cap, const void *data, size_t n)
{
	size_t sz = ZSTD_compress(out, cap, data, n, 3);

	cr_assert_not(ZSTD_isError(sz));
	return sz;
}

Test(source, reads_consecutive_zstd_frames)
{
	uint8_t data[512];
	size_t n = zst(data, sizeof(data), "first,", 6);

	n += zst(data + n, sizeof(data) - n, "second", 6);
	expect(data, n, "first,second", 12);
	expect("\x28\xb5\x2f", 3, "\x28\xb5\x2f", 3);
}

Test(source, truncated_or_damaged_zstd_is_reported)
{
	uint8_t data[512];
	size_t n = zst(data, sizeof(data), "something", 9);
	struct source *src;
	char out[64];

	cr_assert_eq(source_open_fd(temp_with(data, n - 1), "t", &src), 0);
	cr_assert_geq(slurp(src, out, sizeof(out), 64), 0);
	cr_expect(source_is_cut(src));
	cr_expect_str_eq(source_packing(src), "zstd");
	source_close(src);
	data[4] ^= 0x18;
	cr_assert_eq(source_open_fd(temp_with(data, n), "t", &src), 0);
	cr_expect_eq(slurp(src, out, sizeof(out), 64), -EBADMSG);
	source_close(src);
}

static size_t append_block(ZSTD_CCtx *c, uint8_t *out, size_t cap, const char *text)
{
	ZSTD_outBuffer o = { out, cap, 0 };
	ZSTD_inBuffer i = { text, strlen(text), 0 };

	cr_assert_eq(ZSTD_compressStream2(c, &o, &i, ZSTD_e_flush), 0);
	return o.pos;
}

Test(source, blocks_before_damage_in_a_zstd_frame_are_read)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	uint8_t data[512];
	size_t good = append_block(c, data, sizeof(data), "first,");
	struct source *src;
	char out[64];
	size_t n;
	ssize_t r;

	good += append_block(c, data + good, sizeof(data) - good, "second");
	n = good + append_block(c, data + good, sizeof(data) - good, "third");
	/* the header of the third block: a reserved type, and a size above all limits */
	memset(data + good, 0xff, 3);
	cr_assert_eq(source_open_fd(temp_with(data, n), "t", &src), 0);
	for (n = 0; (r = source_read(src, out + n, sizeof(out) - n)) > 0;)
		n += (size_t)r;
	cr_expect_eq(r, -EBADMSG);
	cr_expect_eq(n, 12);
	cr_expect(!memcmp(out, "first,second", 12));
	source_close(src);
	ZSTD_freeCCtx(c);
}

/* ---- several files -------------------------------------------------------------------------------- */

static char dir[] = "/tmp/d9-set-XXXXXX";

static void put_file(const char *name, const void *data, size_t n)
{
	FILE *f = fopen(name, "w");

	cr_assert(f && fwrite(data, 1, n, f) == n);
	fclose(f);
}

static void make_dir(void)
{
	quiet();
	cr_assert(mkdtemp(dir) && !chdir(dir));
}

static void remove_dir(void)
{
	static const char *const names[] = { "a.0.bin",	       "a.1.bin", "a.1.bin.gz",
					     "a.2.bin",	       "a.3.bin", "a.2.bin.active",
					     "a.3.bin.active", "a.9.bin", "a.10.bin",
					     "b.0.bin",	       "a.bin" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	rmdir("a.2.bin");
	cr_expect_eq(rmdir(dir), 0);
}

static const char *const meta[] = { "start_realtime_ns", "5", NULL };

/* A file of a recording: metadata at n seconds, and 20 switches from one nanosecond after them. */
static size_t trace_of(unsigned int n, uint8_t *out, size_t cap)
{
	struct make m;
	const void *data;
	size_t sz;

	make_init(&m, NULL);
	make_metadata(&m, n * 1000000000ULL, meta);
	for (unsigned int i = 1; i <= 20; i++)
		make_switch(&m, n * 1000000000ULL + i, 0, "a", 1, 0, "b", 2);
	data = dial9_enc_data(m.enc, &sz);
	cr_assert_leq(sz, cap);
	memcpy(out, data, sz);
	make_fini(&m);
	return sz;
}

/* The first @part percent of it. */
static void put_trace(const char *name, unsigned int n, size_t part)
{
	uint8_t data[4096], packed[4096];
	size_t sz = trace_of(n, data, sizeof(data));
	const bool pack = strstr(name, ".gz");

	if (pack)
		sz = gz(packed, sizeof(packed), data, sz);
	put_file(name, pack ? packed : data, sz * part / 100);
}

/* The result of a decoder: how many switches of which second, and losses from and to which second. */
static char *summarize_events(struct source *src)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = source_read, .ctx = src };
	static char out[512];
	struct dial9_frame f;
	struct dial9_dec *dec;
	uint64_t second = UINT64_MAX;
	unsigned int cnt = 0;
	size_t n = 0;
	int ret;

	out[0] = '\0';
	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		const char *name;

		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		name = dial9_schema_name(f.event.schema);
		if (cnt &&
		    (strcmp(name, "sched:sched_switch") || second != f.event.ts / 1000000000)) {
			n += (size_t)snprintf(out + n, sizeof(out) - n, "%ux%u ", cnt,
					      (unsigned int)second);
			cnt = 0;
		}
		second = f.event.ts / 1000000000;
		cnt += !strcmp(name, "sched:sched_switch");
		if (!strcmp(name, PROF_EV_LOST))
			n += (size_t)snprintf(out + n, sizeof(out) - n, "[%u-%u] ",
					      (unsigned int)(f.event.values[3].u64 / 1000000000),
					      (unsigned int)(f.event.values[4].u64 / 1000000000));
	}
	if (cnt)
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%ux%u ", cnt,
				      (unsigned int)second);
	snprintf(out + n, sizeof(out) - n, "%s", !ret ? "end" : ret == -ENODATA ? "torn" : "bad");
	dial9_dec_free(dec);
	return out;
}

/* The result of reading it, twice. */
static void expect_set(const char *path, const char *want, bool holes)
{
	struct source *src;

	cr_assert_eq(source_open(path, &src), 0);
	cr_expect(source_is_regular(src));
	cr_expect_eq(source_fd(src), -1);
	for (int i = 0; i < 2; i++) {
		cr_expect_str_eq(summarize_events(src), want);
		cr_expect_eq(source_has_holes(src), holes);
		cr_assert_eq(source_rewind(src), 0);
	}
	cr_expect_str_eq(source_name(src), path);
	source_close(src);
}

#define IN_SET .init = make_dir, .fini = remove_dir, .timeout = 20

Test(source, files_of_a_set_are_read_as_one, IN_SET)
{
	static const char all[] = "20x0 20x1 20x2 20x3 end";
	struct source *src;
	char out[16];

	put_trace("a.0.bin", 0, 100);
	put_trace("a.1.bin.gz", 1, 100);
	put_trace("a.2.bin", 2, 100);
	put_trace("a.3.bin", 3, 100);
	put_file("a.bin", "one file", 8);
	expect_set(".", all, false);
	expect_set("a", all, false);
	cr_assert_eq(source_open("a.bin", &src), 0);
	cr_expect_eq(slurp(src, out, sizeof(out), 3), 8);
	source_close(src);
	unlink("a.bin");
	expect_set("a.bin", all, false);
	expect_set("./a.bin.gz", all, false);
}

Test(source, tenth_file_comes_after_the_ninth, IN_SET)
{
	put_trace("a.10.bin", 10, 100);
	put_trace("a.9.bin", 9, 100);
	expect_set("a", "20x9 20x10 end", false);
}

Test(source, named_files_of_a_set_are_read_in_order, IN_SET)
{
	const char *const paths[] = { "./a.10.bin", "./a.9.bin.gz", "./a.9.bin" };
	struct source *src;

	put_trace("a.9.bin", 9, 100);
	put_trace("a.9.bin.gz", 9, 100);
	put_trace("a.10.bin", 10, 100);
	put_trace("a.3.bin", 3, 100);
	source_open_files("a", paths, 3, false, &src);
	cr_expect_str_eq(summarize_events(src), "20x9 20x10 end");
	cr_expect_str_eq(source_name(src), "a");
	source_close(src);
	unlink("a.9.bin.gz");
	cr_expect(source_set_is_same(paths[0], paths[1]));
	cr_expect_not(source_set_is_same("./a.10.bin", "a.9.bin"));
	cr_expect_not(source_set_is_same("a.10.bin", "b.10.bin"));
	cr_expect_not(source_set_is_same("a.bin", "a.bin"));
}

Test(source, active_file_counts_only_at_the_end, IN_SET)
{
	put_trace("a.1.bin", 1, 100);
	put_trace("a.2.bin.active", 2, 100);
	expect_set("a", "20x1 20x2 end", false);
	put_trace("a.3.bin", 3, 100);
	expect_set("a", "20x1 20x3 end", false);
	put_file("a.3.bin.active", "", 0);
	unlink("a.3.bin");
	unlink("a.2.bin.active");
	put_trace("a.2.bin", 2, 100);
	expect_set("a", "20x1 20x2 end", false);
}

Test(source, directory_of_several_recordings_is_refused, IN_SET)
{
	struct source *src;

	put_trace("a.0.bin", 0, 100);
	put_trace("b.0.bin", 0, 100);
	cr_expect_eq(source_open(".", &src), -EINVAL);
	expect_set("b", "20x0 end", false);
}

Test(source, missing_file_is_a_loss, IN_SET)
{
	put_trace("a.1.bin", 1, 100);
	put_trace("a.3.bin", 3, 100);
	expect_set("a", "20x1 [1-3] 20x3 end", true);
	put_file("a.2.bin", "", 0);
	expect_set("a", "20x1 [1-3] 20x3 end", true);
	put_file("a.2.bin", "root:x:0:0:root:/root:/bin/sh\n", 30);
	expect_set("a", "20x1 [1-3] 20x3 end", true);
	put_trace("a.2.bin", 2, 100);
	put_file("a.1.bin", "", 0);
	expect_set("a", "[2-2] 20x2 20x3 end", true);
	put_trace("a.1.bin", 1, 100);
	put_file("a.3.bin", "", 0);
	expect_set("a", "20x1 20x2 [2-2] end", true);
}

Test(source, fifo_in_a_set_does_not_block, IN_SET)
{
	put_trace("a.1.bin", 1, 100);
	cr_assert_eq(mkfifo("a.2.bin", 0600), 0);
	put_trace("a.3.bin", 3, 100);
	expect_set("a", "20x1 [1-3] 20x3 end", true);
}

Test(source, readable_part_of_a_bad_file_and_the_next_file_are_read, IN_SET)
{
	uint8_t data[4096];
	size_t sz = trace_of(2, data, sizeof(data));

	put_trace("a.1.bin", 1, 100);
	put_trace("a.3.bin", 3, 100);
	put_file("a.2.bin", data, sz - 1);
	expect_set("a", "20x1 19x2 [2-3] 20x3 end", true);
	data[sz - 40] = 0x43;
	memset(data + sz - 40, 0x43, 40);
	put_file("a.2.bin", data, sz);
	cr_assert_eq(chdir(dir), 0);
	{
		struct source *src;
		const char *got;

		cr_assert_eq(source_open("a", &src), 0);
		got = summarize_events(src);
		cr_expect(strstr(got, "x2 [2-3] 20x3 end") && !strstr(got, "20x2"), "%s", got);
		source_close(src);
	}
}

Test(source, truncated_compressed_file_is_skipped_for_the_next_file, IN_SET)
{
	put_trace("a.0.bin", 0, 100);
	put_trace("a.1.bin.gz", 1, 50);
	put_trace("a.2.bin", 2, 100);
	{
		struct source *src;
		const char *got;

		cr_assert_eq(source_open("a", &src), 0);
		got = summarize_events(src);
		cr_expect(strstr(got, "-2] 20x2 end"), "%s", got);
		cr_expect_not(source_is_cut(src));
		source_close(src);
	}
}

Test(source, last_file_may_be_truncated, IN_SET)
{
	uint64_t before;
	struct source *src;

	put_trace("a.0.bin", 0, 100);
	put_trace("a.1.bin", 1, 95);
	cr_assert_eq(source_open("a", &src), 0);
	cr_expect(strstr(summarize_events(src), " torn"), "so it can grow");
	cr_expect_not(source_has_holes(src));
	cr_expect_str_eq(source_place(src, &before), "./a.1.bin");
	cr_expect_gt(before, 0);
	source_close(src);
}

Test(source, second_file_of_a_number_and_directories_are_ignored, IN_SET)
{
	put_trace("a.0.bin", 0, 100);
	put_trace("a.1.bin", 1, 100);
	put_trace("a.1.bin.gz", 1, 100);
	cr_assert_eq(mkdir("a.2.bin", 0700), 0);
	put_trace("a.3.bin", 3, 100);
	expect_set("a", "20x0 20x1 20x3 end", false);
}

static void make_dir_loud(void)
{
	cr_redirect_stderr();
	cr_assert(mkdtemp(dir) && !chdir(dir));
}

Test(source_words, bad_files_of_a_set_are_named, .init = make_dir_loud, .fini = remove_dir)
{
	struct source *src;

	put_trace("a.0.bin", 0, 100);
	put_file("a.1.bin", "", 0);
	put_file("a.3.bin", "hello", 5);
	put_trace("a.9.bin", 9, 100);
	put_trace("a.10.bin", 10, 100);
	cr_assert_eq(mkfifo("a.2.bin", 0600), 0);
	cr_assert_eq(source_open("a", &src), 0);
	cr_expect_str_eq(summarize_events(src), "20x0 [0-9] 20x9 20x10 end");
	source_rewind(src);
	summarize_events(src);
	source_close(src);
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"dial9-prof: ./a.1.bin is empty; what should be in it is missing\n"
		"dial9-prof: ./a.2.bin is no regular file; what should be in it is missing\n"
		"dial9-prof: ./a.3.bin: not a dial9 trace: not a dial9 stream at byte 0; it is missing\n"
		"dial9-prof: files 4 to 8 are missing before ./a.9.bin\n");
}
