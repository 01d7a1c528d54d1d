// SPDX-License-Identifier: BSD-2-Clause
/*
 * When records are captured, and what is written for the times when they are not. The kernel side is three
 * counters here.
 */
/* ALONE: capture_*(), status_paused() */
#include "record/control/pause.h"

#include <criterion/criterion.h>

#include "base/clock.h"
#include "record/capture/capture.h"
#include "record/encode/status.h"

#define MS 1000000ULL

struct capture {
	int starts, pauses, resumes;
};

struct status {
	int written, skips_slice;
	uint64_t from, to;
};

void capture_start(struct capture *c)
{
	c->starts++;
}

void capture_pause(struct capture *c)
{
	c->pauses++;
}

void capture_resume(struct capture *c)
{
	c->resumes++;
}

int status_paused(struct status *s, bool skips_slice, uint64_t from_ns, uint64_t to_ns)
{
	s->written++;
	s->skips_slice += skips_slice;
	s->from = from_ns;
	s->to = to_ns;
	return 0;
}

Test(pause, recording_starts_at_once_by_default_and_writes_no_pause)
{
	struct capture c = { 0 };
	struct status s = { 0 };
	struct pause g;

	pause_begin(&g, &(struct pause_cfg){ .capture = &c }, 1000);
	cr_expect(g.recording);
	cr_expect_eq(g.started_ns, 1000);
	cr_expect_eq(c.starts, 1);
	cr_expect_eq(pause_step(&g, &s), 0);
	cr_expect_eq(pause_end(&g, &s), 0);
	cr_expect_eq(s.written, 0);
}

Test(pause, delay_ends_by_itself_and_is_written_with_both_ends)
{
	struct capture c = { 0 };
	struct status s = { 0 };
	uint64_t began = clock_mono_ns();
	struct pause g;

	pause_begin(&g, &(struct pause_cfg){ .capture = &c, .delay_ns = 5 * MS }, began);
	cr_expect_eq(c.starts, 0);
	while (!g.recording)
		cr_assert_eq(pause_step(&g, &s), 0);
	cr_expect_eq(s.written, 1);
	cr_expect_eq(s.from, began);
	cr_expect_geq(s.to, began + 5 * MS);
	cr_expect_eq(g.started_ns, s.to);
	cr_expect_eq(c.resumes, 1);
}

Test(pause, held_or_paused_recording_starts_on_request_only)
{
	struct capture c = { 0 };
	struct status s = { 0 };
	struct pause g;

	pause_begin(&g, &(struct pause_cfg){ .capture = &c, .hold = true }, clock_mono_ns());
	cr_expect_eq(pause_step(&g, &s), 0);
	cr_expect(!g.recording);
	cr_expect_eq(pause_resume(&g, &s), 0);
	cr_expect_eq(pause_resume(&g, &s), 0);
	cr_expect_eq(c.resumes, 1);
	cr_expect_eq(s.written, 1);
	pause_start(&g);
	pause_start(&g);
	cr_expect_eq(c.pauses, 1);
	cr_expect_eq(pause_step(&g, &s), 0);
	cr_expect(!g.recording);
	cr_expect_eq(s.written, 1, "told when it is over");
	cr_expect_eq(pause_resume(&g, &s), 0);
	cr_expect_eq(s.written, 2);
	cr_expect_geq(s.to, s.from);
}

Test(pause, pause_ends_a_delay)
{
	struct capture c = { 0 };
	struct status s = { 0 };
	struct pause g;

	pause_begin(&g, &(struct pause_cfg){ .capture = &c, .delay_ns = 1 }, clock_mono_ns() - 10);
	pause_start(&g);
	cr_expect_eq(pause_step(&g, &s), 0);
	cr_expect(!g.recording, "asked not to");
	cr_expect_eq(pause_end(&g, &s), 0);
	cr_expect_eq(s.written, 1, "the end is told of, too");
}

Test(pause, skipped_time_slice_is_written_and_ends_on_request)
{
	struct capture c = { 0 };
	struct status s = { 0 };
	struct pause g;

	pause_begin(&g, &(struct pause_cfg){ .capture = &c }, 1000);
	pause_skip_slice(&g);
	cr_expect(!g.recording);
	cr_expect_eq(pause_end_slice(&g, &s), 0);
	cr_expect(g.recording);
	cr_expect_eq(s.written, 1);
	cr_expect_eq(s.skips_slice, 1);
	/* closed on request in the middle of a skipped slice: it stays so, and is a pause */
	pause_skip_slice(&g);
	pause_start(&g);
	cr_expect_eq(pause_end_slice(&g, &s), 0);
	cr_expect(!g.recording);
	pause_skip_slice(&g);
	cr_expect_eq(pause_resume(&g, &s), 0);
	cr_expect_eq(s.written, 2);
	cr_expect_eq(s.skips_slice, 1);
	cr_expect_eq(c.pauses, 2);
}
