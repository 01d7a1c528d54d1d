// SPDX-License-Identifier: BSD-2-Clause
/* What counts as lost, and when figures that differ are wrong. */
#include "profile/sched/loss_accounting.h"

#include <criterion/criterion.h>
#include <string.h>

#include "prof_events.h"

TestSuite(loss_accounting, .timeout = 60);

static void add(struct loss_accounting *a, const char *kind, uint64_t count)
{
	loss_accounting_add(a, kind, strlen(kind), count);
}

Test(loss_accounting, only_events_and_samples_are_lost)
{
	struct loss_accounting a = { 0 };

	cr_expect_eq(loss_accounting_lost(&a), 0);
	add(&a, PROF_LOST_SIDEBAND, 1687);
	add(&a, PROF_LOST_SIDEBAND_DAMAGED, 10);
	add(&a, PROF_LOST_SIDEBAND_MAPS, 3);
	add(&a, PROF_LOST_SIDEBAND_STALLED, 2);
	add(&a, PROF_LOST_SIDEBAND_DOUBT, 5);
	add(&a, PROF_LOST_SAMPLE_ESTIMATE, 1000);
	add(&a, PROF_LOST_PAUSED, 6);
	add(&a, PROF_LOST_STACKS_THINNED, 7);
	cr_expect_eq(loss_accounting_lost(&a), 0);
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_PAUSES], 6);
	cr_expect(loss_accounting_hides_switches(PROF_LOST_PAUSED, strlen(PROF_LOST_PAUSED)));
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_STACKS], 7);
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_SIDEBAND], 1700);
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_STALLS], 2);
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_DOUBTS], 5);
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_ESTIMATE], 1000);
	add(&a, PROF_LOST_RING_FULL, 10);
	add(&a, PROF_LOST_NESTED, 200);
	add(&a, PROF_LOST_MALFORMED, 2800);
	add(&a, PROF_LOST_NESTED_SCHED, 100);
	add(&a, PROF_LOST_READ_FAILED, 100);
	add(&a, PROF_LOST_SAMPLE_RING_FULL, 40000);
	cr_expect_eq(a.lost[LOSS_ACCOUNTING_EVENTS], 3210);
	cr_expect_eq(loss_accounting_lost(&a), 43210);
	cr_expect_eq(a.at_most, 0);
	add(&a, PROF_LOST_NESTED_AT_MOST, 7);
	cr_expect_eq(loss_accounting_lost(&a), 43217);
	cr_expect_eq(a.at_most, 7);
}

Test(loss_accounting, unknown_kind_counts_as_events_and_may_hide_switches)
{
	static const char *const kinds[] = { "read_failure", "sidebands", "side", "", "ring_ful" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		cr_expect_eq(loss_accounting_class(kinds[i], strlen(kinds[i])),
			     LOSS_ACCOUNTING_EVENTS);
		cr_expect(loss_accounting_hides_switches(kinds[i], strlen(kinds[i])));
	}
	cr_expect_eq(loss_accounting_class("ring_fullest", 9), LOSS_ACCOUNTING_EVENTS);
	cr_expect_eq(loss_accounting_class("sideband_tomorrow", 17), LOSS_ACCOUNTING_SIDEBAND);
}

Test(loss_accounting, samples_and_the_side_band_hide_no_switch)
{
	static const char *const kinds[] = { PROF_LOST_NESTED,		 PROF_LOST_NESTED_AT_MOST,
					     PROF_LOST_SAMPLE_RING_FULL, PROF_LOST_SAMPLE_ESTIMATE,
					     PROF_LOST_SIDEBAND,	 PROF_LOST_SIDEBAND_STALLED,
					     PROF_LOST_SIDEBAND_DOUBT,	 PROF_LOST_STACKS_THINNED };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cr_expect_not(loss_accounting_hides_switches(kinds[i], strlen(kinds[i])), "%s",
			      kinds[i]);
	cr_expect(loss_accounting_hides_switches(PROF_LOST_NESTED_SCHED,
						 strlen(PROF_LOST_NESTED_SCHED)));
	cr_expect(loss_accounting_hides_switches(PROF_LOST_RING_FULL, strlen(PROF_LOST_RING_FULL)));
}

Test(loss_accounting, hole_is_no_lost_event_but_makes_the_recording_incomplete)
{
	struct loss_accounting a = { .at_most = 0 };

	cr_expect_not(loss_accounting_is_incomplete(&a));
	loss_accounting_add(&a, PROF_LOST_HOLE, strlen(PROF_LOST_HOLE), 1);
	cr_expect_eq(loss_accounting_lost(&a), 0);
	cr_expect(loss_accounting_is_incomplete(&a));
	cr_expect(loss_accounting_hides_switches(PROF_LOST_HOLE, strlen(PROF_LOST_HOLE)));
}

Test(loss_accounting, only_final_figures_must_add_up)
{
	struct loss_accounting_figures f = { .known = false, .produced = 314 };

	cr_expect_eq(loss_accounting_verdict(&f), LOSS_ACCOUNTING_UNKNOWN);
	f.known = true;
	cr_expect_eq(loss_accounting_verdict(&f), LOSS_ACCOUNTING_OPEN);
	f.closed = true;
	cr_expect_eq(loss_accounting_verdict(&f), LOSS_ACCOUNTING_WRONG);
	f.written = 300;
	f.lost = 14;
	cr_expect_eq(loss_accounting_verdict(&f), LOSS_ACCOUNTING_BALANCED);
	f.continues = true;
	cr_expect_eq(loss_accounting_verdict(&f), LOSS_ACCOUNTING_CONTINUES);
	cr_expect_eq(loss_accounting_in_flight(&f), 0);
	f.produced = 320;
	cr_expect_eq(loss_accounting_in_flight(&f), 6);
	f.written = UINT64_MAX;
	cr_expect_eq(loss_accounting_in_flight(&f), 0, "it makes no sense");
	f.closed = false;
	cr_expect_eq(loss_accounting_verdict(&f), LOSS_ACCOUNTING_OPEN,
		     "the rest of the file is missing");
}
