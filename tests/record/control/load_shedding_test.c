// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much is dropped and skipped, by costs that the test makes up. The kernel side and the trace are counters
 * here.
 */
/* ALONE: capture_set_stacks(), pause_skip_slice*(), status_*() */
#include "record/control/load_shedding.h"

#include <criterion/criterion.h>
#include <unistd.h>

#include "record/capture/capture.h"
#include "record/control/pause.h"
#include "record/encode/status.h"

TestSuite(load_shedding, .timeout = 60);

#define MS 1000000ULL
#define SECOND 1000000000ULL

struct capture {
	bool stacks;
};

struct status {
	int written, asked;
	uint64_t spent;
	uint64_t one_in, ppm;
	bool stacks;
};

void capture_set_stacks(struct capture *c, bool take)
{
	c->stacks = take;
}

int status_thinning(struct status *s, uint64_t one_in, bool stacks, uint64_t ppm)
{
	s->written++;
	s->one_in = one_in;
	s->stacks = stacks;
	s->ppm = ppm;
	return 0;
}

uint64_t status_cost_ns(struct status *s, uint64_t now_ns)
{
	s->asked++;
	return s->spent;
}

/* Like pause.c, without a kernel. */
void pause_skip_slice(struct pause *g)
{
	g->skips_slice = g->recording;
	g->recording = false;
}

int pause_end_slice(struct pause *g, struct status *status)
{
	g->skips_slice = false;
	g->recording = true;
	return 0;
}

struct bench {
	struct capture capture;
	struct status status;
	struct pause pause;
	struct load_shedding shedding;
	uint64_t now, open_ns;
};

static void bench_init(struct bench *b, uint32_t max_ppm, bool stacks)
{
	*b = (struct bench){ .capture.stacks = true, .pause.recording = true, .now = 77 * SECOND };
	load_shedding_begin(&b->shedding, &(struct load_shedding_cfg){ 1, max_ppm, stacks },
			    &b->capture, &b->status, b->now);
}

static uint64_t cpus(void)
{
	return (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* A recording with this cost relative to all CPUs while it is open, and this additional cost for stacks. */
static void run(struct bench *b, uint64_t ns, uint32_t ppm, uint32_t stacks_ppm)
{
	const uint64_t step = 10 * MS, end = b->now + ns;

	while (b->now < end) {
		b->now += step;
		if (b->pause.recording) {
			b->status.spent += step * cpus() *
					   (ppm + (b->capture.stacks ? stacks_ppm : 0)) / 1000000;
			b->open_ns += step;
		}
		cr_assert_eq(load_shedding_step(&b->shedding, &b->pause, &b->status, b->now), 0);
	}
}

Test(load_shedding, recording_below_the_limit_is_unchanged)
{
	struct bench b;

	bench_init(&b, 20000, true);
	run(&b, 20 * SECOND, 15000, 4000);
	cr_expect_geq(b.status.asked, 20);
	cr_expect_eq(b.status.written, 0);
	cr_expect_eq(b.open_ns, 20 * SECOND);
}

Test(load_shedding, cost_is_not_measured_without_a_limit)
{
	struct bench b;

	bench_init(&b, 0, true);
	run(&b, 5 * SECOND, 900000, 0);
	cr_expect_eq(b.status.asked, 1, "at the start");
	cr_expect_eq(b.open_ns, 5 * SECOND);
}

Test(load_shedding, stacks_are_dropped_first_and_alone_if_that_is_enough)
{
	struct bench b;

	bench_init(&b, 20000, true);
	run(&b, 10 * SECOND, 15000, 50000);
	cr_expect_eq(b.status.written, 1);
	cr_expect_eq(b.status.one_in, 1);
	cr_expect(!b.status.stacks);
	cr_expect(!b.capture.stacks);
	cr_expect_eq(b.status.ppm, 65000);
	cr_expect_eq(b.open_ns, 10 * SECOND);
}

Test(load_shedding, time_slices_are_skipped_as_needed_after_that)
{
	struct bench b;
	uint64_t open, now;

	bench_init(&b, 10000, true);
	run(&b, 10 * SECOND, 60000, 50000);
	/* 6% is 8 times as much as the highest power of two below 1% */
	cr_expect_eq(b.status.one_in, 8);
	open = b.open_ns;
	now = b.now;
	run(&b, 16 * SECOND, 60000, 50000);
	cr_expect_float_eq((double)(b.open_ns - open) / (double)(b.now - now), 1. / 8, 0.02);
	cr_expect_eq(b.status.written, 2, "once for stacks, once for slices");
}

Test(load_shedding, cost_is_limited_within_two_seconds)
{
	struct bench b;
	uint64_t open;

	bench_init(&b, 10000, true);
	run(&b, 30 * SECOND, 1000, 1000);
	run(&b, 2 * SECOND, 60000, 50000);
	cr_expect_eq(b.status.one_in, 8);
	open = b.open_ns;
	run(&b, 8 * SECOND, 60000, 50000);
	cr_expect_leq((double)(b.open_ns - open) * 0.06, 8 * SECOND * 0.01);
}

/* From the start of a recording that costs much from the first moment. */
Test(load_shedding, first_check_drops_as_much_as_its_cost_demands)
{
	struct bench b;

	bench_init(&b, 10000, true);
	run(&b, 1200 * MS, 100000, 50000);
	cr_expect_eq(b.status.one_in, 4, "one in %d", (int)b.status.one_in);
	run(&b, 1800 * MS, 100000, 50000);
	cr_expect_eq(b.status.one_in, 16, "one in %d", (int)b.status.one_in);
}

/* What is above the limit now and then is above it on average, unless there is a margin. */
Test(load_shedding, cost_stays_below_the_limit_once_something_is_dropped)
{
	struct bench b;
	uint64_t open;

	bench_init(&b, 10000, false);
	run(&b, 4 * SECOND, 19000, 0);
	open = b.open_ns;
	run(&b, 8 * SECOND, 19000, 0);
	cr_expect_leq((double)(b.open_ns - open) * 0.019, 8 * SECOND * 0.01 * 7 / 8);
}

Test(load_shedding, next_slice_or_gap_has_a_time)
{
	const struct load_shedding_cfg cfg = { .one_in = 4 };
	struct bench b;

	bench_init(&b, 0, false);
	cr_expect_eq(load_shedding_due_ns(&b.shedding, &b.pause), UINT64_MAX);
	load_shedding_begin(&b.shedding, &cfg, &b.capture, &b.status, b.now);
	cr_expect_eq(load_shedding_due_ns(&b.shedding, &b.pause), b.now + 50 * MS);
	run(&b, 50 * MS, 0, 0);
	cr_expect_eq(load_shedding_due_ns(&b.shedding, &b.pause), b.now + 150 * MS);
}

Test(load_shedding, number_of_skipped_time_slices_is_limited)
{
	struct bench b;

	bench_init(&b, 100, false);
	run(&b, 60 * SECOND, 900000, 0);
	cr_expect_eq(b.status.one_in, 1u << (LOAD_SHEDDING_LEVEL_MAX - 1));
	cr_expect(b.capture.stacks, "there were none");
}

Test(load_shedding, everything_is_recorded_again_when_the_load_ends)
{
	struct bench b;

	bench_init(&b, 10000, true);
	run(&b, 20 * SECOND, 60000, 50000);
	cr_expect_eq(b.status.one_in, 8);
	run(&b, 60 * SECOND, 100, 200);
	cr_expect_eq(b.shedding.level, 0);
	cr_expect_eq(b.status.one_in, 1);
	cr_expect(b.status.stacks);
	cr_expect(b.capture.stacks);
	cr_expect(b.pause.recording);
	b.open_ns = 0;
	run(&b, 10 * SECOND, 100, 200);
	cr_expect_eq(b.open_ns, 10 * SECOND);
}

/* If the load is low only because stacks are dropped, they are tried again, but less and less often. */
Test(load_shedding, state_does_not_oscillate)
{
	struct bench b;
	int written;

	bench_init(&b, 20000, true);
	run(&b, 100 * SECOND, 1000, 50000);
	written = b.status.written;
	cr_expect_leq(written, 12, "%d changes", written);
	run(&b, 300 * SECOND, 1000, 50000);
	cr_expect_leq(b.status.written - written, 12, "%d changes", b.status.written - written);
}

Test(load_shedding, segment_begins_with_the_current_state)
{
	struct bench b;
	int written;

	bench_init(&b, 20000, true);
	cr_expect_eq(load_shedding_write(&b.shedding, &b.status), 0);
	cr_expect_eq(b.status.written, 0);
	run(&b, 10 * SECOND, 15000, 50000);
	written = b.status.written;
	cr_expect_eq(load_shedding_write(&b.shedding, &b.status), 0);
	cr_expect_eq(b.status.written, written + 1);
	cr_expect_eq(b.status.one_in, 1);
}

Test(load_shedding, requested_time_slices_are_skipped_at_any_cost)
{
	const struct load_shedding_cfg cfg = { .one_in = 4, .has_stacks = true };
	struct bench b;

	bench_init(&b, 0, true);
	load_shedding_begin(&b.shedding, &cfg, &b.capture, &b.status, b.now);
	cr_expect_eq(load_shedding_one_in(&b.shedding), 4);
	run(&b, 8 * SECOND, 900000, 0);
	cr_expect_eq(load_shedding_one_in(&b.shedding), 4);
	cr_expect(b.capture.stacks);
	cr_expect_float_eq((double)b.open_ns / (8 * SECOND), 0.25, 0.02);
}
