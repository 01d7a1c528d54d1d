// SPDX-License-Identifier: BSD-2-Clause
/*
 * The last segments in memory: which are kept, what a snapshot has, and that none is in two snapshots. Files
 * are texts here.
 */
#include "record/output/flight.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/clock.h"

TestSuite(flight, .timeout = 60);

#define SECOND 1000000000ULL

enum { MIB = 1 << 20 };

static struct buf files; /* "[bytes][bytes]" */
static bool room = true;
static int closed;
static struct segment_ops out;
static struct flight *flight;

static int files_begin(void *ctx, void **segment)
{
	*segment = &files;
	buf_addch(&files, '[');
	return 0;
}

static int files_write(void *segment, const void *data, size_t sz)
{
	buf_add(&files, data, sz);
	return 0;
}

static int files_end(void *segment)
{
	buf_addch(&files, ']');
	return 0;
}

static bool files_have_room(void *ctx)
{
	return room;
}

static int files_close(void *ctx)
{
	closed++;
	return 0;
}

static void open_flight(const struct flight_cfg *cfg)
{
	const struct segment_ops to_files = { .begin = files_begin,
					      .write = files_write,
					      .end = files_end,
					      .has_room = files_have_room,
					      .close = files_close };

	flight = flight_new(cfg, &to_files, &out);
}

static void *begin(void)
{
	void *segment = NULL;

	cr_assert_eq(out.begin(out.ctx, &segment), 0);
	return segment;
}

static void put(void *segment, const char *text)
{
	cr_assert_eq(out.write(segment, text, strlen(text)), 0);
}

static void put_many(void *segment, char c, size_t sz)
{
	char *data = malloc(sz);

	memset(data, c, sz);
	cr_assert_eq(out.write(segment, data, sz), 0);
	free(data);
}

/* A segment of one text, which has ended. */
static void whole(const char *text)
{
	void *segment = begin();

	put(segment, text);
	cr_assert_eq(out.end(segment), 0);
}

static void close_flight(void)
{
	cr_assert_eq(out.close(out.ctx), 0);
	cr_expect_eq(closed, 1);
}

static void snapshot(void)
{
	uint64_t from, to;

	cr_expect(!flight_snapshot(flight, &from, &to), "nothing was dropped");
}

static void nap(unsigned int ms)
{
	const struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

static const struct flight_cfg long_one = { .ns = 3600 * SECOND, .bytes = 4 * MIB };

Test(flight, nothing_is_written_before_a_snapshot_and_the_rest_at_the_end)
{
	open_flight(&long_one);
	whole("a");
	whole("b");
	cr_expect_eq(out.idle(out.ctx), 0);
	cr_expect_eq(files.len, 0);
	whole("c");
	close_flight();
	cr_expect_str_eq(files.data, "[abc]");
	buf_free(&files);
}

Test(flight, snapshot_has_earlier_data_and_the_next_snapshot_has_later_data)
{
	void *late, *now;

	open_flight(&long_one);
	whole("a");
	late = begin();
	put(late, "b");
	snapshot();
	cr_expect_eq(out.request(out.ctx, clock_mono_ns(), 0), SEGMENT_OPS_NEXT);
	now = begin();
	put(now, "c");
	cr_expect_eq(out.idle(out.ctx), 0);
	cr_expect_str_eq(files.data, "[a", "the other waits for its names");
	put(late, "B");
	cr_assert_eq(out.end(late), 0);
	cr_expect_str_eq(files.data, "[abB]");
	cr_expect_eq(out.request(out.ctx, clock_mono_ns(), 0), SEGMENT_OPS_GO_ON, "asked once");
	cr_assert_eq(out.end(now), 0);
	close_flight();
	cr_expect_str_eq(files.data, "[abB][c]");
	buf_free(&files);
}

Test(flight, two_consecutive_snapshots_are_two_files_in_order)
{
	void *a, *b, *c;

	open_flight(&long_one);
	a = begin();
	put(a, "a");
	snapshot();
	b = begin();
	put(b, "b");
	snapshot();
	c = begin();
	put(c, "c");
	cr_assert_eq(out.end(a), 0);
	cr_assert_eq(out.end(b), 0);
	cr_expect_str_eq(files.data, "[a][b]");
	cr_assert_eq(out.end(c), 0);
	close_flight();
	buf_free(&files);
}

Test(flight, data_older_than_the_time_is_dropped_except_the_segment_before_it)
{
	const struct flight_cfg cfg = { .ns = SECOND / 5, .bytes = 4 * MIB };

	open_flight(&cfg);
	whole("a");
	whole("b");
	nap(250);
	whole("c");
	whole("d");
	close_flight();
	cr_expect_str_eq(files.data, "[bcd]", "b is what came before the time began");
	buf_free(&files);
}

Test(flight, hole_between_two_snapshots_is_known)
{
	const struct flight_cfg cfg = { .ns = SECOND / 10, .bytes = 4 * MIB };
	uint64_t from = 0, to = 0, ended, begun;

	open_flight(&cfg);
	whole("a");
	nap(150);
	whole("b");
	nap(150);
	whole("c");
	cr_expect(!flight_snapshot(flight, &from, &to), "before the first there is nothing");
	ended = clock_mono_ns();
	whole("d");
	nap(150);
	begun = clock_mono_ns();
	whole("e");
	nap(150);
	whole("f");
	cr_expect(flight_snapshot(flight, &from, &to));
	cr_expect_geq(from, ended);
	cr_expect_lt(from, begun);
	cr_expect_geq(to, begun);
	close_flight();
	cr_expect_str_eq(files.data, "[bc][ef]");
	buf_free(&files);
}

Test(flight, segment_ends_after_its_share_of_time_or_memory)
{
	const struct flight_cfg cfg = { .ns = 80 * SECOND, .bytes = 8 * MIB };
	uint64_t now = clock_mono_ns();
	void *segment;

	open_flight(&cfg);
	segment = begin();
	cr_expect_eq(out.request(out.ctx, now + 9 * SECOND, 0), SEGMENT_OPS_GO_ON);
	cr_expect_eq(out.request(out.ctx, now + 11 * SECOND, 0), SEGMENT_OPS_NEXT);
	put_many(segment, 'x', MIB - 1);
	cr_expect_eq(out.request(out.ctx, now, 0), SEGMENT_OPS_GO_ON);
	put_many(segment, 'x', 1);
	cr_expect_eq(out.request(out.ctx, now, 0), SEGMENT_OPS_NEXT);
	cr_assert_eq(out.end(segment), 0);
	close_flight();
	buf_free(&files);
}

Test(flight, memory_is_limited_and_the_oldest_data_is_dropped)
{
	void *segment, *before = NULL;
	int i;

	open_flight(&long_one);
	for (i = 0; i < 100; i++) {
		segment = begin();
		put_many(segment, (char)('A' + i % 26), MIB / 2);
		if (before)
			cr_assert_eq(out.end(before), 0);
		before = segment;
	}
	cr_expect_eq(files.len, 0, "no file before a snapshot");
	cr_assert_eq(out.end(before), 0);
	close_flight();
	cr_expect_leq(files.len, 4 * MIB);
	cr_expect_geq(files.len, 2 * MIB);
	cr_expect_eq(files.data[files.len - 2], 'A' + 99 % 26, "the newest is there");
	buf_free(&files);
}

Test(flight, data_of_a_snapshot_stays_until_it_is_written)
{
	void *a, *b;

	open_flight(&long_one);
	a = begin();
	put_many(a, 'a', 3 * MIB);
	snapshot();
	b = begin();
	room = false;
	cr_assert_eq(out.end(a), 0);
	cr_assert_eq(out.idle(out.ctx), 0);
	put_many(b, 'b', MIB / 2);
	cr_expect_eq(files.len, 0, "nobody waits for the files");
	room = true;
	put_many(b, 'b', 2 * MIB);
	cr_expect_geq(files.len, 3 * MIB);
	cr_assert_eq(out.end(b), 0);
	close_flight();
	cr_expect_eq(files.len, 3 * MIB + MIB / 2 + 2 * MIB + 4);
	buf_free(&files);
}

/* Its symbols come later, and its end after all that is recorded during that time. */
Test(flight, snapshot_that_fills_the_memory_before_its_end_is_written)
{
	void *a, *b;

	open_flight(&long_one);
	a = begin();
	put_many(a, 'a', 3 * MIB);
	cr_expect(out.has_room(out.ctx));
	snapshot();
	b = begin();
	put_many(b, 'b', 3 * MIB);
	cr_expect(!out.has_room(out.ctx), "the drain is to wait");
	put(a, "names");
	cr_assert_eq(out.end(a), 0);
	cr_expect_eq(files.len, 3 * MIB + 7);
	cr_expect(out.has_room(out.ctx));
	cr_assert_eq(out.end(b), 0);
	close_flight();
	cr_expect_eq(files.len, 6 * MIB + 9);
	cr_expect(!strncmp(files.data + 3 * MIB, "anames][b", 9));
	buf_free(&files);
}

Test(flight, abandoned_output_has_whole_flushes_and_none_after_a_missing_flush)
{
	volatile sig_atomic_t stop = 2;
	struct flight_cfg cfg = long_one;
	void *a, *b;

	cfg.stop = &stop;
	open_flight(&cfg);
	a = begin();
	put_many(a, 'a', 3 * MIB);
	snapshot();
	b = begin();
	room = false;
	cr_assert_eq(out.end(a), 0);
	put_many(b, 'b', 2 * MIB);
	put_many(b, 'c', MIB);
	cr_assert_eq(out.end(b), 0);
	room = true;
	close_flight();
	cr_expect_eq(files.len, 5 * MIB + 4);
	cr_expect_null(memchr(files.data, 'c', files.len));
	buf_free(&files);
}

/* gzip members one after the other are a gzip file. */
Test(flight, compressed_data_is_readable_like_uncompressed_data)
{
	struct flight_cfg cfg = long_one;
	char text[64] = "";
	z_stream z = { 0 };

	cfg.pack = COMPRESS_GZIP;
	open_flight(&cfg);
	whole("first ");
	whole("second");
	close_flight();
	z.next_in = (unsigned char *)files.data + 1;
	z.avail_in = (unsigned int)files.len - 2;
	z.next_out = (unsigned char *)text;
	z.avail_out = sizeof(text);
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	cr_expect_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(inflateReset(&z), Z_OK);
	cr_expect_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	cr_expect_str_eq(text, "first second");
	cr_expect_eq(z.avail_in, 0);
	buf_free(&files);
}
