// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many rings, one order. The rings are in plain memory; the side-band's rings, which the kernel would fill, are
 * lists here, and the two functions that read them are replaced.
 */
/* ALONE: perf_ring_*() */
#include "record/ring/ring_merge.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "kernel/perf_ring.h"
#include "prof_abi.h"
#include "tests/record/membuf.h"

#define FULL (UINT64_MAX - 1)

/* ---- side-band rings ------------------------------------------------------------------------------ */

struct perf_ring {
	const uint64_t *times; /* 0: a malformed record; FULL: the ring was full */
	size_t cnt, pos;
};

int perf_ring_next(struct perf_ring *r, struct perf_side *out)
{
	if (r->pos == r->cnt)
		return 0;
	if (!r->times[r->pos]) {
		r->pos++;
		return -EBADMSG;
	}
	if (r->times[r->pos] == FULL) {
		r->pos++;
		*out = (struct perf_side){ .type = PERF_SIDE_FULL, .name = "" };
		return 1;
	}
	*out = (struct perf_side){ .type = PERF_SIDE_COMM, .time = r->times[r->pos++], .name = "" };
	return 1;
}

/* Records at odd times. */
bool perf_ring_is_looked(const struct perf_ring *r)
{
	return r->times[r->pos - 1] & 1;
}

uint32_t perf_ring_cpu(const struct perf_ring *r)
{
	return 3;
}

/* ---- output ---------------------------------------------------------------------------------------- */

enum { SEEN_MAX = 100000 };

struct seen {
	uint64_t ts[SEEN_MAX];
	size_t cnt, sides, damaged, stalled, full;
	uint64_t since; /* of the last notice */
	size_t fail_at; /* 0: never */
	int fail_with;
};

static int accept(struct seen *seen, uint64_t ts)
{
	cr_assert_lt(seen->cnt, SEEN_MAX);
	seen->ts[seen->cnt++] = ts;
	return seen->cnt == seen->fail_at ? seen->fail_with : 0;
}

static int on_record(void *ctx, const struct prof_rec *rec)
{
	return accept(ctx, rec->ts);
}

static int on_side(void *ctx, const struct perf_side *side)
{
	struct seen *seen = ctx;

	if (side->type == PERF_SIDE_DAMAGED || side->type == PERF_SIDE_STALLED) {
		cr_assert_eq(side->cpu, 3);
		cr_assert_leq(side->since, side->time);
		seen->since = side->since;
		cr_assert_not(side->looked);
		if (side->type == PERF_SIDE_DAMAGED)
			seen->damaged += side->lost;
		else
			seen->stalled++;
		return 0;
	}
	seen->sides++;
	seen->full += side->type == PERF_SIDE_FULL;
	cr_assert_eq(side->looked, side->type == PERF_SIDE_COMM && side->time & 1);
	return accept(seen, side->time);
}

static struct ring_merge_sink sink_of(struct seen *seen)
{
	return (struct ring_merge_sink){ .record = on_record, .side = on_side, .ctx = seen };
}

static void put(struct membuf *m, uint64_t ts)
{
	const struct prof_rec rec = { .size = sizeof(rec), .kind = PROF_REC_SAMPLE, .ts = ts };

	membuf_put(m, &rec, sizeof(rec), 0);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- tests ----------------------------------------------------------------------------------------- */

enum { RINGS = 37, SIDES = 3 };

/* A random number of records in each ring, passes at a random mark: all of them, in sorted order. */
Test(ring_merge, records_of_many_rings_and_side_bands_are_sorted_by_time)
{
	static struct membuf bufs[RINGS];
	static struct ring rings[RINGS];
	static uint64_t side_times[SIDES][500], all[SEEN_MAX];
	static struct seen seen;
	struct perf_ring sides[SIDES] = { 0 }, *side_ptrs[SIDES];
	struct ring_merge_sink sink = sink_of(&seen);
	unsigned int seed = 7;
	size_t all_cnt = 0, i, k;
	struct ring_merge *m;
	uint64_t mark;

	for (i = 0; i < RINGS; i++) {
		uint64_t ts = 1000;

		membuf_init(&bufs[i], 1 << 16);
		for (k = rand_r(&seed) % 900; k > 0; k--) {
			ts += rand_r(&seed) % 50;
			put(&bufs[i], ts);
			all[all_cnt++] = ts;
		}
		rings[i] = bufs[i].ring;
	}
	for (i = 0; i < SIDES; i++) {
		for (k = 0; k < 500; k++) {
			side_times[i][k] = (k ? side_times[i][k - 1] : 900) + rand_r(&seed) % 90;
			all[all_cnt++] = side_times[i][k];
		}
		sides[i] = (struct perf_ring){ .times = side_times[i], .cnt = 500 };
		side_ptrs[i] = &sides[i];
	}
	qsort(all, all_cnt, sizeof(*all), by_value);
	m = ring_merge_new(rings, RINGS, side_ptrs, SIDES);
	for (mark = 0; seen.cnt < all_cnt; mark += 777) {
		size_t due = 0;

		while (ring_merge_pass(m, mark, 1 + rand_r(&seed) % 300, &sink) > 0)
			;
		while (due < all_cnt && all[due] <= mark)
			due++;
		cr_assert_eq(seen.cnt, due, "mark %d", (int)mark);
	}
	cr_expect_arr_eq(seen.ts, all, all_cnt * sizeof(*all));
	cr_expect_eq(seen.sides, SIDES * 500);
	for (i = 0; i < RINGS; i++) {
		cr_expect_eq(bufs[i].consumer, bufs[i].producer, "all space is given back");
		membuf_fini(&bufs[i]);
	}
	ring_merge_free(m);
}

Test(ring_merge, records_after_the_mark_stay)
{
	static struct seen seen;
	struct ring_merge_sink sink = sink_of(&seen);
	struct membuf buf;
	struct ring_merge *m;

	membuf_init(&buf, 4096);
	put(&buf, 10);
	put(&buf, 20);
	put(&buf, 21);
	m = ring_merge_new(&buf.ring, 1, NULL, 0);
	cr_expect_eq(ring_merge_pass(m, 9, 100, &sink), 0);
	cr_expect_eq(ring_merge_pass(m, 20, 100, &sink), 2);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 100, &sink), 1);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 100, &sink), 0);
	ring_merge_free(m);
	membuf_fini(&buf);
}

Test(ring_merge, pass_ends_after_the_requested_number)
{
	static struct seen seen;
	struct ring_merge_sink sink = sink_of(&seen);
	struct membuf buf;
	struct ring_merge *m;
	int i;

	membuf_init(&buf, 4096);
	for (i = 0; i < 10; i++)
		put(&buf, i);
	m = ring_merge_new(&buf.ring, 1, NULL, 0);
	cr_expect_eq(ring_merge_reached(m), 0);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 4, &sink), 4);
	cr_expect_eq(ring_merge_reached(m), 3);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 0, &sink), 0);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 100, &sink), 6);
	cr_expect_eq(seen.cnt, 10);
	ring_merge_free(m);
	membuf_fini(&buf);
}

Test(ring_merge, space_is_returned_during_a_long_pass)
{
	static struct seen seen = { .fail_at = 150, .fail_with = -EIO };
	struct ring_merge_sink sink = sink_of(&seen);
	struct membuf buf;
	struct ring_merge *m;
	int i;

	membuf_init(&buf, 1 << 16);
	for (i = 0; i < 1000; i++)
		put(&buf, i);
	m = ring_merge_new(&buf.ring, 1, NULL, 0);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 1000, &sink), -EIO);
	cr_expect_eq(buf.consumer, 150 * 40, "those that were taken, and no others");
	ring_merge_free(m);
	membuf_fini(&buf);
}

Test(ring_merge, error_of_the_sink_ends_the_pass_and_is_returned)
{
	static struct seen seen = { .fail_at = 3, .fail_with = -ENOSPC };
	struct ring_merge_sink sink = sink_of(&seen);
	struct membuf buf;
	struct ring_merge *m;
	int i;

	membuf_init(&buf, 4096);
	for (i = 0; i < 10; i++)
		put(&buf, i);
	m = ring_merge_new(&buf.ring, 1, NULL, 0);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 1000, &sink), -ENOSPC);
	cr_expect_eq(seen.cnt, 3);
	ring_merge_free(m);
	membuf_fini(&buf);
}

Test(ring_merge, refused_record_is_returned_again_before_later_records)
{
	static struct seen seen = { .fail_at = 3, .fail_with = RING_MERGE_LATER };
	struct ring_merge_sink sink = sink_of(&seen);
	struct membuf buf[2];
	struct ring rings[2];
	struct ring_merge *m;
	int i;

	for (i = 0; i < 2; i++)
		membuf_init(&buf[i], 4096);
	for (i = 0; i < 10; i++)
		put(&buf[i % 2], 100 + i);
	for (i = 0; i < 2; i++)
		rings[i] = buf[i].ring;
	m = ring_merge_new(rings, 2, NULL, 0);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 1000, &sink), 2);
	cr_expect(ring_merge_waits(m));
	cr_expect_eq(ring_merge_reached(m), 101);
	cr_expect_eq(seen.cnt, 3);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 1000, &sink), 8);
	cr_expect_not(ring_merge_waits(m));
	cr_expect_eq(ring_merge_reached(m), 109);
	for (i = 3; i < 11; i++)
		cr_expect_eq(seen.ts[i], 100U + i - 1);
	ring_merge_free(m);
	for (i = 0; i < 2; i++)
		membuf_fini(&buf[i]);
}

Test(ring_merge, malformed_side_band_record_is_counted_and_blocks_nothing)
{
	static const uint64_t times[] = { 0, 5, 0, 0, 15, 0 };
	static struct seen seen;
	struct perf_ring side = { .times = times, .cnt = sizeof(times) / sizeof(times[0]) };
	struct perf_ring *sides[] = { &side };
	struct ring_merge_sink sink = sink_of(&seen);
	static const uint64_t want[] = { 5, 10, 15 };
	struct membuf buf;
	struct ring_merge *m;

	membuf_init(&buf, 4096);
	put(&buf, 10);
	m = ring_merge_new(&buf.ring, 1, sides, 1);
	while (ring_merge_pass(m, UINT64_MAX, 1, &sink) > 0)
		;
	cr_assert_eq(seen.cnt, 3);
	cr_expect_arr_eq(seen.ts, want, sizeof(want));
	cr_expect_eq(seen.damaged, 4);
	ring_merge_free(m);
	membuf_fini(&buf);
}

/* Times of a stale trailer: one 7,091,314 s ahead, and other impossible ones. */
Test(ring_merge, impossible_side_band_time_is_damage_and_blocks_nothing)
{
	uint64_t now = clock_mono_ns(), ahead = now + 7091314 * 1000000000ULL;
	const uint64_t times[] = {
		now - 3, ahead, now - 2, UINT64_MAX, now - 6000000000ULL, now - 1
	};
	const uint64_t want[] = { now - 3, now - 2, now - 1 };
	struct perf_ring side = { .times = times, .cnt = sizeof(times) / sizeof(times[0]) };
	struct perf_ring *sides[] = { &side };
	static struct seen seen;
	struct ring_merge_sink sink = sink_of(&seen);
	struct ring_merge *m = ring_merge_new(NULL, 0, sides, 1);

	cr_assert_gt(now, 7000000000ULL, "the clock of a machine that has just started");
	cr_expect_eq(ring_merge_pass(m, now, 100, &sink), 6);
	cr_assert_eq(seen.cnt, 3);
	cr_expect_arr_eq(seen.ts, want, sizeof(want));
	cr_expect_eq(seen.damaged, 3);
	cr_expect_eq(seen.since, now - 2);
	ring_merge_free(m);
}

Test(ring_merge, side_band_record_that_waits_for_a_second_is_reported_once_per_second)
{
	const struct timespec step = { .tv_nsec = 20000000 };
	static const uint64_t times[] = { 20, 30 };
	struct perf_ring side = { .times = times, .cnt = 2 }, *sides[] = { &side };
	static struct seen seen;
	struct ring_merge_sink sink = sink_of(&seen);
	struct ring_merge *m = ring_merge_new(NULL, 0, sides, 1);
	uint64_t start = clock_mono_ns(), took;

	cr_expect_eq(ring_merge_pass(m, 20, 100, &sink), 1);
	while (!seen.stalled) {
		nanosleep(&step, NULL);
		ring_merge_pass(m, 20, 100, &sink);
	}
	took = clock_mono_ns() - start;
	cr_expect_geq(took, 1000000000ULL);
	cr_expect_eq(seen.since, 30);
	ring_merge_pass(m, 20, 100, &sink);
	cr_expect(seen.stalled == 1 || clock_mono_ns() - start > 2000000000ULL);
	cr_expect_eq(ring_merge_pass(m, 30, 100, &sink), 1);
	ring_merge_free(m);
}

Test(ring_merge, unfinished_record_holds_back_its_own_ring_only)
{
	static struct seen seen;
	const struct prof_rec busy = { .size = sizeof(busy), .ts = 1 };
	struct ring_merge_sink sink = sink_of(&seen);
	struct membuf bufs[2];
	struct ring rings[2];
	struct ring_merge *m;

	membuf_init(&bufs[0], 4096);
	membuf_init(&bufs[1], 4096);
	membuf_put(&bufs[0], &busy, sizeof(busy), BPF_RINGBUF_BUSY_BIT);
	put(&bufs[0], 2);
	put(&bufs[1], 3);
	rings[0] = bufs[0].ring;
	rings[1] = bufs[1].ring;
	m = ring_merge_new(rings, 2, NULL, 0);
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 100, &sink), 1);
	cr_expect_eq(seen.ts[0], 3);
	membuf_set_header(&bufs[0], 0, sizeof(busy));
	cr_expect_eq(ring_merge_pass(m, UINT64_MAX, 100, &sink), 2);
	ring_merge_free(m);
	membuf_fini(&bufs[0]);
	membuf_fini(&bufs[1]);
}

/* A record from the future is damage, and a gap after it is at the time of the last good record. */
Test(ring_merge, gap_is_after_the_last_valid_record)
{
	uint64_t now = clock_mono_ns(), times[] = { now - 2000, now + 3600000000000, FULL };
	struct perf_ring side = { .times = times, .cnt = 3 }, *sides = &side;
	static struct seen seen;
	struct ring_merge_sink sink = sink_of(&seen);
	struct ring_merge *m = ring_merge_new(NULL, 0, &sides, 1);

	cr_expect_eq(ring_merge_pass(m, now, 100, &sink), 3);
	cr_expect_eq(seen.damaged, 1);
	cr_expect_eq(seen.full, 1);
	cr_expect_eq(seen.ts[seen.cnt - 1], now - 2000);
	ring_merge_free(m);
}
