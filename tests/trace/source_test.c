// SPDX-License-Identifier: BSD-2-Clause
/* What source.c promises: plain and gzip by magic, members in a row, pipes, directories, damage. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "trace/source.h"

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

Test(source, reads_gzip_members_in_a_row)
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

Test(source, every_cut_of_a_gzip_gives_a_prefix_and_says_so)
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

	cr_assert_eq(source_open("/tmp", &src), -EISDIR);
	cr_assert_eq(source_open("/nonexistent/trace", &src), -ENOENT);
	cr_assert_null(src);
}

Test(source, sees_what_a_growing_file_gains)
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

Test(source, a_file_that_cannot_be_read_is_an_error_and_not_empty)
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

Test(source, inputs_of_many_buffers_come_through_whole)
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

Test(source, nothing_asked_for_is_nothing_read)
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

Test(source, descriptors_are_closed_with_it_and_when_they_are_refused)
{
	int before = next_fd();
	struct source *src;

	cr_assert_eq(source_open("/dev/null", &src), 0);
	cr_expect_neq(next_fd(), before);
	source_close(src);
	cr_expect_eq(next_fd(), before);
	cr_expect_eq(source_open("/tmp", &src), -EISDIR);
	cr_expect_eq(next_fd(), before);
}

Test(source, standard_input_is_read_from_where_it_stands)
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

Test(source, a_rewind_forgets_damage_and_a_pipe_has_none)
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

Test(refused_source, says_why, .init = cr_redirect_stderr)
{
	struct source *src = NULL;
	int tty = posix_openpt(O_RDWR | O_NOCTTY);

	cr_expect_eq(source_open("/nonexistent/trace", &src), -ENOENT);
	cr_expect_eq(source_open("/tmp", &src), -EISDIR);
	cr_expect_eq(source_open_fd(-1, "nothing", &src), -EBADF);
	cr_assert_geq(tty, 0);
	cr_expect_eq(source_open_fd(tty, "the terminal", &src), -ENOTTY);
	close(STDIN_FILENO);
	cr_expect_eq(source_open("-", &src), -EBADF);
	cr_expect_null(src);
	fflush(stderr);
	cr_assert_stderr_eq_str(
		"dial9-prof: cannot open /nonexistent/trace: No such file or directory (record one "
		"first: sudo dial9-prof -p PID)\n"
		"dial9-prof: cannot read /tmp: it is a directory (name a trace file in it)\n"
		"dial9-prof: cannot read nothing: Bad file descriptor\n"
		"dial9-prof: cannot read the terminal: it is a terminal (name a trace file, or pipe "
		"one in)\n"
		"dial9-prof: cannot open standard input: Bad file descriptor\n");
}

/* Two bytes tell what it is, and are handed out at once, whether or not there will be more. */
Test(source, a_pipe_is_not_waited_for_once_its_kind_is_known, .timeout = 10)
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

Test(source, reads_zstd_frames_in_a_row)
{
	uint8_t data[512];
	size_t n = zst(data, sizeof(data), "first,", 6);

	n += zst(data + n, sizeof(data) - n, "second", 6);
	expect(data, n, "first,second", 12);
	expect("\x28\xb5\x2f", 3, "\x28\xb5\x2f", 3);
}

Test(source, zstd_that_is_cut_or_damaged_is_told)
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
	static const char *const names[] = { "a.0.bin",	 "a.1.bin.gz", "a.2.bin.active", "a.9.bin",
					     "a.10.bin", "b.0.bin",    "a.bin" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	cr_expect_eq(rmdir(dir), 0);
}

/* What is read of it, twice, is the text. */
static void expect_set(const char *path, const char *text)
{
	struct source *src;
	char out[64] = "";

	cr_assert_eq(source_open(path, &src), 0);
	cr_expect(source_is_regular(src));
	for (int i = 0; i < 2; i++) {
		ssize_t n = slurp(src, out, sizeof(out), 3);

		cr_assert_eq(n, (ssize_t)strlen(text));
		cr_expect(!memcmp(out, text, strlen(text)), "%s", out);
		cr_assert_eq(source_rewind(src), 0);
	}
	cr_expect_str_eq(source_name(src), path);
	source_close(src);
}

Test(source, files_of_a_set_are_read_as_one, .init = make_dir, .fini = remove_dir)
{
	uint8_t data[512];

	put_file("a.0.bin", "zero ", 5);
	put_file("a.1.bin.gz", data, gz(data, sizeof(data), "one ", 4));
	put_file("a.9.bin", "nine ", 5);
	put_file("a.10.bin", "ten", 3);
	put_file("a.bin", "one file", 8);
	expect_set(".", "zero one nine ten");
	expect_set("a", "zero one nine ten");
	expect_set("a.bin", "one file");
	unlink("a.bin");
	expect_set("a.bin", "zero one nine ten");
	expect_set("./a.bin.gz", "zero one nine ten");
}

Test(source, an_active_file_counts_only_at_the_end, .init = make_dir, .fini = remove_dir)
{
	put_file("a.0.bin", "zero ", 5);
	put_file("a.2.bin.active", "two", 3);
	expect_set("a", "zero two");
	put_file("a.9.bin", "nine", 4);
	expect_set("a", "zero nine");
}

Test(source, a_directory_of_several_recordings_is_refused, .init = make_dir, .fini = remove_dir)
{
	struct source *src;

	put_file("a.0.bin", "a", 1);
	put_file("b.0.bin", "b", 1);
	cr_expect_eq(source_open(".", &src), -EINVAL);
	expect_set("b", "b");
}

Test(source, a_file_of_a_set_that_is_cut_is_told_at_the_end, .init = make_dir, .fini = remove_dir)
{
	struct source *src;
	uint8_t data[512];
	char out[64];

	put_file("a.0.bin", "zero ", 5);
	put_file("a.1.bin.gz", data, gz(data, sizeof(data), "one ", 4) - 1);
	put_file("a.9.bin", "nine", 4);
	cr_assert_eq(source_open("a", &src), 0);
	cr_expect_eq(slurp(src, out, sizeof(out), 64), 13);
	cr_expect(source_is_cut(src));
	source_close(src);
}
