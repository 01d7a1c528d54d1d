// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=perf_ring_peek,--wrap=perf_ring_fd */
/* Side-band records of two simulated rings: the order in which they are returned. */
#include "record/unwind_maps/sideband_reader.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/perf_ring.h"
#include "kernel/perf_side.h"

enum { RINGS = 2, RECORDS = 4 };

struct perf_ring {
	uint64_t times[RECORDS];
	size_t cnt, at;
	int pipe[2];
};

static struct perf_ring rings[RINGS];
static struct sideband_reader *lookout;
static uint64_t times_read[RINGS * RECORDS];
static size_t read_cnt;

int __wrap_perf_ring_fd(const struct perf_ring *r);
int __wrap_perf_ring_peek(struct perf_ring *r, struct perf_side *out);

int __wrap_perf_ring_fd(const struct perf_ring *r)
{
	return r->pipe[0];
}

int __wrap_perf_ring_peek(struct perf_ring *r, struct perf_side *out)
{
	if (r->at == r->cnt)
		return 0;
	*out = (struct perf_side){ .time = r->times[r->at++], .name = "x", .name_len = 1 };
	return 1;
}

static void setup(void)
{
	struct perf_ring *both[RINGS] = { &rings[0], &rings[1] };
	size_t i;

	for (i = 0; i < RINGS; i++)
		cr_assert_eq(pipe2(rings[i].pipe, O_CLOEXEC), 0);
	cr_assert_eq(sideband_reader_new(both, RINGS, &lookout), 0);
}

static void teardown(void)
{
	size_t i;

	sideband_reader_free(lookout);
	for (i = 0; i < RINGS; i++) {
		close(rings[i].pipe[0]);
		close(rings[i].pipe[1]);
	}
}

TestSuite(sideband_reader, .init = setup, .fini = teardown);

static void on_record(void *ctx, const struct perf_side *side)
{
	times_read[read_cnt++] = side->time;
}

static void put(size_t ring, uint64_t time)
{
	rings[ring].times[rings[ring].cnt++] = time;
}

Test(sideband_reader, records_of_all_rings_are_sorted_by_time)
{
	bool more;

	put(0, 10);
	put(0, 30);
	put(1, 20);
	cr_expect_eq(sideband_reader_pass(lookout, 8, on_record, NULL, &more), 3);
	cr_expect_not(more);
	cr_expect_eq(times_read[0], 10);
	cr_expect_eq(times_read[1], 20);
	cr_expect_eq(times_read[2], 30);
}

Test(sideband_reader, most_recent_records_are_held_back)
{
	uint64_t later = clock_mono_ns() + 3600000000000;
	bool more;

	put(0, 10);
	put(0, later);
	cr_expect_eq(sideband_reader_pass(lookout, 8, on_record, NULL, &more), 1);
	cr_expect(more);
	sideband_reader_pass_held(lookout, later - 1, on_record, NULL);
	cr_expect_eq(read_cnt, 1);
	sideband_reader_pass_held(lookout, later, on_record, NULL);
	cr_expect_eq(read_cnt, 2);
	cr_expect_eq(times_read[1], later);
}

Test(sideband_reader, held_records_are_returned_once_and_sorted_by_time)
{
	bool more;

	put(0, 10);
	put(0, 40);
	put(1, 30);
	cr_expect_eq(sideband_reader_pass(lookout, 1, on_record, NULL, &more), 1);
	cr_expect(more);
	/* the pass holds 30; the drain has reached 50 */
	sideband_reader_pass_held(lookout, 50, on_record, NULL);
	cr_expect_eq(read_cnt, 2);
	cr_expect_eq(times_read[1], 30);
	cr_expect_eq(sideband_reader_pass(lookout, 8, on_record, NULL, &more), 1);
	cr_expect_eq(times_read[2], 40);
}
