// SPDX-License-Identifier: BSD-2-Clause
/* Files of a recording: their names, when the next one begins, and which are kept. */
#include "record/output/output.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define HOUR_NS 3600000000000ULL

enum { NOBODY = (uid_t)-1, MIB = 1 << 20 };

static char dir[] = "/tmp/d9-output-XXXXXX";
static struct output_cfg cfg;
static struct segment_ops out;
static char *name;
static volatile sig_atomic_t asked, stop;

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	cfg = (struct output_cfg){ .path = "a.bin", .switch_asked = &asked, .stop = &stop };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The existing names, in order, with a blank after each. */
static const char *names(void)
{
	static struct buf text;
	struct dirent *ent;
	char *v[64];
	size_t cnt = 0, i;
	DIR *d = opendir(".");

	while ((ent = readdir(d)))
		if (*ent->d_name != '.')
			v[cnt++] = strdup(ent->d_name);
	closedir(d);
	qsort(v, cnt, sizeof(*v), by_name);
	buf_clear(&text);
	for (i = 0; i < cnt; i++) {
		buf_printf(&text, "%s ", v[i]);
		free(v[i]);
	}
	return buf_cstr(&text);
}

static void teardown(void)
{
	struct dirent *ent;
	DIR *d = opendir(".");

	while ((ent = readdir(d)))
		if (*ent->d_name != '.')
			unlink(ent->d_name);
	closedir(d);
	rmdir(dir);
	free(name);
	name = NULL;
}

TestSuite(output, .init = setup, .fini = teardown, .timeout = 60);

static void open_output(void)
{
	cr_assert_eq(output_open(&cfg, NOBODY, NOBODY, &out, &name), 0);
}

static void *begin(void)
{
	void *segment = NULL;

	cr_assert_eq(out.begin(out.ctx, &segment), 0);
	return segment;
}

static void put(void *segment, size_t sz)
{
	char *data = calloc(1, sz);

	cr_assert_eq(out.write(segment, data, sz), 0);
	free(data);
}

static enum segment_request request(uint64_t now_ns)
{
	return out.request(out.ctx, now_ns, 0);
}

/* Only data that the thread has written counts, so the test waits for it. */
static void wait_for_wish(enum segment_request expected)
{
	while (request(0) != expected)
		usleep(1000);
}

static void end_all(void *segment)
{
	cr_assert_eq(out.end(segment), 0);
	cr_assert_eq(out.close(out.ctx), 0);
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

Test(output, single_file_has_its_own_name)
{
	void *a;

	open_output();
	a = begin();
	put(a, 10);
	end_all(a);
	cr_expect_str_eq(name, "a.bin");
	cr_expect_str_eq(names(), "a.bin ");
	cr_expect_eq(size_of("a.bin"), 10);
}

Test(output, output_without_data_leaves_no_file)
{
	cfg.set = true;
	open_output();
	cr_assert_eq(out.close(out.ctx), 0);
	cr_expect_str_eq(names(), "");
}

Test(output, files_of_a_set_are_numbered_and_active_until_they_end)
{
	void *a, *b;

	cfg.set = true;
	open_output();
	cr_expect_str_eq(name, "a");
	a = begin();
	put(a, 1);
	b = begin();
	put(b, 2);
	put(a, 3);
	cr_assert_eq(out.end(a), 0);
	while (size_of("a.0.bin") < 0 || size_of("a.1.bin.active") < 0)
		usleep(1000);
	cr_expect_str_eq(names(), "a.0.bin a.1.bin.active ");
	end_all(b);
	cr_expect_str_eq(names(), "a.0.bin a.1.bin ");
	cr_expect_eq(size_of("a.0.bin"), 4);
	cr_expect_eq(size_of("a.1.bin"), 2);
}

Test(output, numbers_continue_after_existing_files)
{
	static const char *const there[] = { "a.3.bin", "a.7.bin.active", "a.5.bin.gz",
					     "a.9.txt", "b.8.bin",	  "a.x.bin" };
	void *a;

	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		close(open(there[i], O_CREAT | O_WRONLY, 0600));
	cfg.set = true;
	open_output();
	a = begin();
	put(a, 1);
	end_all(a);
	cr_expect_eq(size_of("a.8.bin"), 1);
}

Test(output, compressed_files_have_a_suffix_and_a_single_file_keeps_its_name)
{
	void *a;

	cfg.set = true;
	cfg.pack = COMPRESS_GZIP;
	open_output();
	a = begin();
	put(a, 1);
	end_all(a);
	cr_expect_str_eq(names(), "a.0.bin.gz ");
	free(name);
	cfg.set = false;
	cfg.pack = COMPRESS_ZSTD;
	open_output();
	a = begin();
	put(a, MIB);
	end_all(a);
	cr_expect_str_eq(names(), "a.0.bin.gz a.bin ");
	cr_expect_lt(size_of("a.bin"), 1000);
}

/* The waiting data is one buffer, so it waits until all of it is written. */
Test(output, compression_is_weaker_and_faster_with_much_waiting_data)
{
	off_t sizes[3];
	void *a;
	int i;

	cfg.pack = COMPRESS_GZIP;
	for (i = 0; i < 3; i++) {
		open_output();
		a = begin();
		put(a, (size_t[]){ 8, 24, 56 }[i] * MIB);
		end_all(a);
		sizes[i] = size_of("a.bin");
		free(name);
		name = NULL;
	}
	cr_expect_lt(sizes[0], 10000, "as asked: %lld bytes", (long long)sizes[0]);
	cr_expect_gt(sizes[1], 100000, "quickly: %lld bytes", (long long)sizes[1]);
	cr_expect_lt(sizes[1], MIB);
	cr_expect_gt(sizes[2], 56 * MIB, "stored: %lld bytes", (long long)sizes[2]);
}

Test(output, new_file_is_requested_by_size_time_and_signal)
{
	void *a, *b;

	cfg.set = true;
	cfg.switch_bytes = 1000;
	open_output();
	a = begin();
	put(a, 999);
	cr_expect_eq(request(0), SEGMENT_OPS_GO_ON);
	asked++;
	cr_expect_eq(request(0), SEGMENT_OPS_NEXT);
	cr_expect_eq(request(0), SEGMENT_OPS_GO_ON, "asked once");
	put(a, 1);
	wait_for_wish(SEGMENT_OPS_NEXT);
	b = begin();
	cr_expect_eq(request(0), SEGMENT_OPS_GO_ON, "what was written to another does not count");
	out.end(a);
	end_all(b);
	free(name);

	asked = 0;
	cfg.switch_bytes = 0;
	cfg.switch_ns = HOUR_NS;
	open_output();
	a = begin();
	cr_expect_eq(request(clock_mono_ns()), SEGMENT_OPS_GO_ON);
	cr_expect_eq(request(clock_mono_ns() + HOUR_NS), SEGMENT_OPS_NEXT);
	end_all(a);
}

Test(output, stop_is_requested_at_the_maximum_size)
{
	void *a;

	cfg.max_bytes = 1000;
	open_output();
	a = begin();
	put(a, 999);
	cr_expect_eq(request(0), SEGMENT_OPS_GO_ON);
	put(a, 1);
	wait_for_wish(SEGMENT_OPS_STOP);
	end_all(a);
}

Test(output, oldest_files_are_removed)
{
	void *a, *b;
	int i;

	cfg.set = true;
	cfg.max_files = 3;
	open_output();
	a = begin();
	put(a, 1);
	for (i = 0; i < 5; i++) {
		b = begin();
		put(b, 1);
		cr_assert_eq(out.end(a), 0);
		a = b;
	}
	end_all(a);
	cr_expect_str_eq(names(), "a.3.bin a.4.bin a.5.bin ");
}

/* Files that wait for symbols are not finished yet, and cannot be deleted before they are. */
Test(output, number_of_files_stays_within_its_limit)
{
	void *segments[4];

	cfg.set = true;
	cfg.max_files = 1;
	open_output();
	for (int i = 0; i < 4; i++) {
		segments[i] = begin();
		put(segments[i], 1);
	}
	for (int i = 0; i < 3; i++)
		cr_assert_eq(out.end(segments[i]), 0);
	end_all(segments[3]);
	cr_expect_str_eq(names(), "a.3.bin ");
}

static void write_trace(const char *path, size_t sz)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	cr_assert_eq(write(fd, "TRC\0\1", 5), 5);
	cr_assert_eq(ftruncate(fd, (off_t)sz), 0);
	close(fd);
}

Test(output, files_of_earlier_runs_count_as_the_oldest)
{
	void *a;

	write_trace("a.3.bin", 10);
	write_trace("a.4.bin", 10);
	write_trace("b.1.bin", 10);
	cfg.set = true;
	cfg.max_files = 2;
	open_output();
	cr_expect_str_eq(names(), "a.3.bin a.4.bin a.5.bin.active b.1.bin ",
			 "a recording that may not start costs no older one");
	a = begin();
	put(a, 1);
	end_all(a);
	cr_expect_str_eq(names(), "a.4.bin a.5.bin b.1.bin ");
}

/* Of all files, including those that are being written. */
static off_t sum(void)
{
	struct dirent *ent;
	DIR *d = opendir(".");
	off_t bytes = 0;

	while ((ent = readdir(d)))
		if (*ent->d_name != '.' && size_of(ent->d_name) > 0)
			bytes += size_of(ent->d_name);
	closedir(d);
	return bytes;
}

Test(output, disk_budget_is_kept_by_deleting_the_oldest_files)
{
	void *a, *b;

	write_trace("a.0.bin", 3000);
	write_trace("a.1.bin", 3000);
	cfg.set = true;
	cfg.disk_budget = 10000;
	cfg.on_full = OUTPUT_DROP_OLDEST;
	open_output();
	a = begin();
	put(a, 2000);
	for (int i = 0; i < 20; i++) {
		put(a, 500);
		cr_expect_leq(sum(), 10000);
		b = begin();
		put(b, 2000);
		cr_assert_eq(out.end(a), 0);
		a = b;
		cr_expect_leq(sum(), 10000);
	}
	end_all(a);
	cr_expect_leq(sum(), 10000);
	cr_expect_str_eq(names(), "a.19.bin a.20.bin a.21.bin a.22.bin ");
}

Test(output, share_of_the_budget_begins_another_file)
{
	void *a;

	cfg.set = true;
	cfg.disk_budget = 4000;
	cfg.switch_bytes = 5000;
	cfg.on_full = OUTPUT_DROP_OLDEST;
	open_output();
	a = begin();
	put(a, 999);
	cr_expect_eq(request(0), SEGMENT_OPS_GO_ON);
	put(a, 1);
	wait_for_wish(SEGMENT_OPS_NEXT);
	end_all(a);
}

/* A budget of 10,000 bytes, and two open files of 4,000 each. */
static void begin_two(void **a, void **b)
{
	cfg.set = true;
	cfg.disk_budget = 10000;
	cfg.on_full = OUTPUT_DROP_OLDEST;
	open_output();
	*a = begin();
	put(*a, 4000);
	*b = begin();
	put(*b, 4000);
}

/* Symbols may still arrive for a file when the next one is already full. */
Test(output, file_that_waits_for_symbols_is_deleted_if_no_other_is_left)
{
	void *a, *b;

	begin_two(&a, &b);
	put(b, 4000);
	put(a, 4000);
	cr_assert_eq(out.end(a), 0);
	end_all(b);
	cr_expect_str_eq(names(), "a.1.bin ");
	cr_expect_eq(size_of("a.1.bin"), 8000);
}

Test(output, symbols_without_room_are_dropped)
{
	void *a, *b;

	begin_two(&a, &b);
	put(a, 4000);
	put(a, 10);
	cr_assert_eq(out.end(a), 0);
	end_all(b);
	cr_expect_str_eq(names(), "a.0.bin a.1.bin ");
	cr_expect_eq(size_of("a.0.bin"), 4000, "what was flushed");
	cr_expect_eq(size_of("a.1.bin"), 4000);
}

Test(output, recording_may_end_when_the_budget_is_used_up)
{
	void *a;

	cfg.set = true;
	cfg.disk_budget = 10000;
	cfg.on_full = OUTPUT_STOP;
	write_trace("a.0.bin", 6000);
	open_output();
	a = begin();
	put(a, 4000);
	put(a, 1);
	cr_expect_eq(out.end(a), 0);
	cr_expect_eq(out.close(out.ctx), -EDQUOT);
	cr_expect_str_eq(names(), "a.0.bin a.1.bin ");
	cr_expect_eq(size_of("a.1.bin"), 4000);
}

Test(output, recording_may_wait_when_the_budget_is_used_up)
{
	void *a, *b;

	cfg.set = true;
	cfg.disk_budget = 10000;
	cfg.on_full = OUTPUT_PAUSE;
	write_trace("a.0.bin", 6000);
	open_output();
	a = begin();
	put(a, 3000);
	b = begin();
	put(b, 2000);
	while (size_of("a.2.bin.active") < 0)
		usleep(1000);
	asked++;
	while (request(0) != SEGMENT_OPS_GO_ON)
		usleep(1000);
	cr_expect_leq(sum(), 10000);
	cr_assert_eq(unlink("a.0.bin"), 0);
	cr_assert_eq(out.end(a), 0);
	while (size_of("a.2.bin.active") != 2000)
		usleep(1000);
	end_all(b);
	cr_expect_str_eq(names(), "a.1.bin a.2.bin ");
	cr_expect_eq(size_of("a.2.bin"), 2000);
}

/* The bytes of a SegmentEnd event: four fields of 8 bytes, the last one is the mark. */
static const char segment_end[] = "event aaaaaaaabbbbbbbbccccccccD9SEGEND";

enum { SEGMENT_END_LEN = sizeof(segment_end) - 1, FLUSH_BYTES = 128 << 10 };

static void put_segment_end(void *segment)
{
	cr_assert_eq(out.write(segment, segment_end, SEGMENT_END_LEN), 0);
}

/* Found from the end of a file without decompressing it. */
static void expect_segment_end(const char *path, off_t after)
{
	char got[sizeof(segment_end)] = "";
	int fd = open(path, O_RDONLY);

	cr_assert_geq(fd, 0, "%s", path);
	cr_expect_eq(pread(fd, got, SEGMENT_END_LEN, size_of(path) - after - SEGMENT_END_LEN),
		     SEGMENT_END_LEN);
	cr_expect_str_eq(got, segment_end, "%s", path);
	close(fd);
}

static const struct {
	enum compress_kind pack;
	const char *suffix;
	off_t after;
} packings[] = { { COMPRESS_NONE, "", 0 },
		 { COMPRESS_GZIP, ".gz", 8 },
		 { COMPRESS_ZSTD, ".zst", 0 } };

static void expect_end_of_file(size_t packing, int number)
{
	char path[32];

	snprintf(path, sizeof(path), "a.%d.bin%s", number, packings[packing].suffix);
	expect_segment_end(path, packings[packing].after);
}

Test(output, segment_end_is_stored_at_the_end_of_the_file)
{
	void *a;

	cfg.set = true;
	for (int i = 0; i < 3; i++) {
		cfg.pack = packings[i].pack;
		open_output();
		a = begin();
		put(a, 1000);
		put_segment_end(a);
		end_all(a);
		expect_end_of_file(i, i);
		free(name);
		name = NULL;
	}
}

/* The start of a file flushes those before it, and so does every 128K. */
Test(output, flushes_do_not_compress_segment_end)
{
	void *a, *b;

	cfg.set = true;
	for (int i = 0; i < 3; i++) {
		cfg.pack = packings[i].pack;
		open_output();
		a = begin();
		put(a, 1000);
		put_segment_end(a);
		b = begin();
		put(b, FLUSH_BYTES - 1);
		put_segment_end(b);
		cr_assert_eq(out.end(a), 0);
		end_all(b);
		expect_end_of_file(i, 2 * i);
		expect_end_of_file(i, 2 * i + 1);
		free(name);
		name = NULL;
	}
}

Test(output, earlier_request_for_a_switch_is_handled)
{
	void *a;

	asked = 1;
	cfg.set = true;
	open_output();
	a = begin();
	cr_expect_eq(request(0), SEGMENT_OPS_NEXT);
	cr_expect_eq(request(0), SEGMENT_OPS_GO_ON);
	end_all(a);
}

Test(output, file_name_may_have_the_start_time)
{
	void *a;

	cfg.stamp = true;
	open_output();
	a = begin();
	put(a, 1);
	end_all(a);
	cr_expect_eq(fnmatch("a.20????????????.bin ", names(), 0), 0, "%s", names());
	cr_expect_eq(size_of(name), 1);
}

Test(output, set_with_the_name_of_a_directory_is_refused)
{
	static const char *const paths[] = { "sub", "sub/", "none/" };

	cr_assert_eq(mkdir("sub", 0700), 0);
	cfg.set = true;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		cfg.path = paths[i];
		cr_expect_eq(output_open(&cfg, NOBODY, NOBODY, &out, &name), -EISDIR, "%s",
			     paths[i]);
	}
	cr_assert_eq(rmdir("sub"), 0, "nothing is in it");
	cr_expect_str_eq(names(), "");
}

Test(output, missing_directory_is_reported_at_once)
{
	cfg.path = "none/a.bin";
	cfg.set = true;
	cr_expect_eq(output_open(&cfg, NOBODY, NOBODY, &out, &name), -ENOENT);
}
