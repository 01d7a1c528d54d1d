// SPDX-License-Identifier: BSD-2-Clause
/* Where recordings begin in a stream, and which of them share a clock. */
#include "trace/read/parts.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "trace/read/names.h"

TestSuite(parts, .timeout = 60);

/* Ids of strings: any numbers, if equal texts have equal ids. */
enum { HOST = 1, BOOT, START, RATE, FLAVOUR, BOX, CUBE, BOOT_1, BOOT_2, T1, T2, FAST, MINT, LEMON };

#define SEC 1000000000ULL
#define META(p, at, ...)                                                                           \
	parts_metadata(p, at, (const struct parts_meta[]){ __VA_ARGS__ },                          \
		       sizeof((const struct parts_meta[]){ __VA_ARGS__ }) /                        \
			       sizeof(struct parts_meta))

static struct parts start(void)
{
	struct parts p;

	parts_init(&p, HOST, BOOT, START);
	parts_segment(&p, 0);
	return p;
}

Test(parts, stream_is_one_recording_until_its_metadata_changes)
{
	struct parts p = start();

	cr_expect_eq(p.cnt, 1);
	parts_event(&p, 5);
	parts_segment(&p, 100);
	parts_event(&p, 105);
	parts_segment(&p, 200);
	META(&p, 205, { FLAVOUR, MINT });
	cr_expect_eq(p.cnt, 1, "an application tells of itself when it likes");
	cr_expect_eq(parts_get(&p, 0, FLAVOUR), MINT);
	parts_segment(&p, 300);
	parts_event(&p, 305);
	META(&p, 310, { FLAVOUR, MINT }, { RATE, FAST });
	cr_expect_eq(p.cnt, 1);
	cr_expect_eq(parts_get(&p, 0, RATE), FAST);
	cr_expect_eq(parts_get(&p, 0, HOST), NAMES_NONE);
	parts_fini(&p);
}

Test(parts, segments_of_the_recorder_begin_with_the_same_metadata)
{
	struct parts p = start();

	META(&p, 5, { HOST, BOX }, { START, T1 }, { RATE, FAST });
	parts_event(&p, 10);
	parts_segment(&p, 100);
	META(&p, 105, { HOST, BOX }, { START, T1 }, { RATE, FAST });
	cr_expect_eq(p.cnt, 1, "the next segment of the same recording");
	parts_segment(&p, 200);
	parts_event(&p, 205);
	cr_expect_eq(p.cnt, 2, "another program's");
	cr_expect_eq(p.v[1].begin, 200, "from its header on");
	cr_expect_eq(parts_get(&p, 1, RATE), NAMES_NONE, "which is not sampled at our rate");
	parts_segment(&p, 300);
	META(&p, 305, { HOST, BOX }, { START, T2 }, { RATE, FAST });
	cr_expect_eq(p.cnt, 3, "another recording");
	parts_segment(&p, 400);
	META(&p, 405, { HOST, BOX }, { START, T2 });
	cr_expect_eq(p.cnt, 4, "less is not the same");
	cr_expect_eq(parts_at(&p, 0, 199), 0);
	cr_expect_eq(parts_at(&p, 0, 200), 1);
	cr_expect_eq(parts_at(&p, 1, 399), 2);
	cr_expect_eq(parts_at(&p, 2, 1000), 3);
	parts_fini(&p);
}

Test(parts, contradicting_metadata_begin_a_recording_at_their_event)
{
	struct parts p = start();

	META(&p, 5, { FLAVOUR, MINT });
	parts_segment(&p, 100);
	parts_event(&p, 105);
	META(&p, 110, { FLAVOUR, LEMON });
	cr_expect_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].begin, 110, "what came before in that segment is not its own");
	cr_expect_eq(parts_get(&p, 0, FLAVOUR), MINT);
	cr_expect_eq(parts_get(&p, 1, FLAVOUR), LEMON);
	parts_segment(&p, 200);
	META(&p, 205, { RATE, FAST });
	cr_expect_eq(p.cnt, 3, "nothing in common");
	parts_fini(&p);
}

Test(parts, wall_clock_jump_begins_a_recording_only_at_an_application_segment)
{
	struct parts p = start();

	parts_clock(&p, 5, 100 * SEC, 1000 * SEC);
	parts_clock(&p, 10, 110 * SEC, 2000 * SEC);
	cr_expect_eq(p.cnt, 1, "set while it was recorded");
	parts_segment(&p, 100);
	parts_event(&p, 102);
	parts_clock(&p, 105, 120 * SEC, 1020 * SEC + SEC);
	cr_expect_eq(p.cnt, 1, "a second is no jump");
	parts_segment(&p, 200);
	parts_clock(&p, 205, 120 * SEC, 1018 * SEC);
	cr_expect_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].begin, 200);
	cr_expect_eq(p.v[1].clock, 1);
	cr_expect_eq(parts_clocks(&p), 2);
	parts_fini(&p);
}

/* A recording with this host, boot and wall clock (seconds); 0: not known. */
static void recording(struct parts *p, uint64_t at, uint32_t host, uint32_t boot, uint64_t real)
{
	struct parts_meta meta[3] = { { START, 1000 + (uint32_t)at } };
	size_t cnt = 1;

	if (host)
		meta[cnt++] = (struct parts_meta){ HOST, host };
	if (boot)
		meta[cnt++] = (struct parts_meta){ BOOT, boot };
	parts_segment(p, at);
	parts_metadata(p, at + 5, meta, cnt);
	if (real)
		parts_clock(p, at + 10, 100 * SEC, real * SEC);
}

Test(parts, clock_is_shared_only_within_a_boot)
{
	static const struct {
		uint32_t host, boot;
		uint64_t real;
		uint32_t clock;
		const char *why;
	} rows[] = {
		{ BOX, BOOT_1, 1000, 0, "the first" },
		{ BOX, BOOT_1, 9000, 0, "one boot, whatever its wall clock was set to" },
		{ BOX, 0, 1000, 0, "an older recorder: the wall clock tells" },
		{ 0, 0, 1000, 0, "no host known" },
		{ BOX, 0, 1002, 4, "the wall clocks differ" },
		{ 0, 0, 0, 5, "nothing known" },
		{ 0, 0, 0, 6, "nothing known, which is not the same" },
		{ CUBE, 0, 1000, 7, "the one without a host was taken for the box" },
		{ BOX, BOOT_2, 9000, 8, "another boot when the clock was the same" },
		{ BOX, 0, 9000, 9, "in doubt between the two boots" },
	};
	struct parts p = start();

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		recording(&p, 100 * i, rows[i].host, rows[i].boot, rows[i].real);
		cr_assert_eq(p.cnt, i + 1);
		cr_expect_eq(p.v[i].clock, rows[i].clock, "%s: clock %u", rows[i].why,
			     p.v[i].clock);
	}
	parts_fini(&p);
}

Test(parts, entries_are_limited_and_the_last_value_counts)
{
	struct parts_meta m = { FLAVOUR, MINT };
	struct parts p = start();

	META(&p, 5, { RATE, T1 }, { RATE, FAST });
	cr_expect_eq(parts_get(&p, 0, RATE), FAST);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct parts_meta both[] = { { RATE, FAST }, { 2000 + i, T1 } };

		parts_metadata(&p, 10 + i, both, 2);
	}
	parts_metadata(&p, 2000, &m, 1);
	cr_expect_eq(p.v[0].meta_cnt, PARTS_META_MAX);
	parts_fini(&p);
}

Test(parts, recordings_above_the_limit_are_not_merged_with_others)
{
	struct parts p = start();

	for (uint32_t i = 0; i < PARTS_MAX + 10; i++)
		recording(&p, 100 * i, BOX, 0, 1000);
	cr_expect_eq(p.cnt, PARTS_MAX);
	cr_expect(p.overflow);
	cr_expect_eq(p.v[PARTS_MAX - 2].clock, 0);
	cr_expect_eq(p.v[PARTS_MAX - 1].clock, PARTS_MAX - 1);
	cr_expect_eq(parts_get(&p, PARTS_MAX - 1, HOST), NAMES_NONE);
	cr_expect_eq(parts_at(&p, 0, UINT64_MAX), PARTS_MAX - 1);
	cr_expect_eq(parts_clocks(&p), 2);
	cr_expect_not(p.v[PARTS_MAX - 1].synced);
	cr_expect_eq(p.v[PARTS_MAX - 1].host, NAMES_NONE);
	cr_expect_eq(p.v[PARTS_MAX - 2].host, BOX);
	cr_expect_not(p.v[PARTS_MAX - 1].by_recorder);
	cr_expect(p.v[PARTS_MAX - 2].synced && p.v[PARTS_MAX - 2].by_recorder);
	parts_fini(&p);
}

Test(parts, single_contradicting_entry_outweighs_all_that_agree)
{
	struct parts p = start();

	META(&p, 5, { FLAVOUR, MINT }, { RATE, FAST }, { HOST, BOX });
	META(&p, 10, { FLAVOUR, MINT }, { HOST, BOX });
	cr_expect_eq(p.cnt, 1);
	META(&p, 15, { FLAVOUR, MINT }, { RATE, T1 }, { HOST, BOX });
	cr_expect_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].begin, 15);
	cr_expect_eq(parts_get(&p, 0, RATE), FAST);
	cr_expect_eq(parts_get(&p, 1, RATE), T1);
	META(&p, 20, { RATE, T1 }, { T2, T2 });
	cr_expect_eq(p.cnt, 2, "one in common, and none against it");
	parts_fini(&p);
}

/* The first events of a segment belong to the recording before, unless they identify another. */
Test(parts, recording_begins_at_its_header_only_if_its_first_event_identifies_it)
{
	struct parts p = start();

	META(&p, 5, { FLAVOUR, MINT });
	parts_segment(&p, 100);
	parts_clock(&p, 105, 100 * SEC, 1000 * SEC);
	META(&p, 110, { FLAVOUR, LEMON });
	cr_assert_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].begin, 110, "the clock was the part's before");
	parts_segment(&p, 200);
	META(&p, 205, { FLAVOUR, LEMON });
	META(&p, 210, { FLAVOUR, MINT });
	cr_assert_eq(p.cnt, 3);
	cr_expect_eq(p.v[2].begin, 210);
	parts_segment(&p, 300);
	META(&p, 305, { FLAVOUR, LEMON });
	cr_assert_eq(p.cnt, 4);
	cr_expect_eq(p.v[3].begin, 300);
	parts_fini(&p);
}

/* A segment of ours begins with metadata: the clock of another program does not belong to it. */
Test(parts, clock_at_the_start_of_a_segment_does_not_belong_to_the_recorder)
{
	struct parts p = start();

	recording(&p, 100, BOX, BOOT_1, 1000);
	parts_segment(&p, 200);
	parts_clock(&p, 205, 100 * SEC, 1000 * SEC);
	cr_assert_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].begin, 200);
	cr_expect(p.v[1].synced && !p.v[1].by_recorder);
	parts_fini(&p);
}

/* Later metadata about the boot or the host identify the clock then. */
Test(parts, clock_is_found_when_later_metadata_identify_it)
{
	struct parts p = start();

	recording(&p, 100, BOX, BOOT_1, 1000);
	parts_segment(&p, 200);
	META(&p, 205, { HOST, BOX }, { FLAVOUR, MINT });
	cr_assert_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].clock, 1);
	META(&p, 210, { HOST, BOX }, { BOOT, BOOT_1 });
	cr_assert_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].clock, 0);
	cr_expect_eq(parts_clocks(&p), 1);
	parts_fini(&p);
	p = start();
	recording(&p, 100, BOX, 0, 1000);
	parts_segment(&p, 200);
	parts_clock(&p, 205, 100 * SEC, 1000 * SEC);
	cr_assert_eq(p.cnt, 2);
	cr_expect_eq(p.v[1].clock, 0);
	META(&p, 210, { HOST, CUBE });
	cr_expect_eq(p.v[1].clock, 1, "another host, as it turns out");
	parts_fini(&p);
}

/* A second apart is as close as two wall clocks of one boot may be, either way. */
Test(parts, wall_clocks_agree_to_a_second)
{
	static const struct {
		uint64_t real;
		uint32_t clock;
	} rows[] = {
		{ 1000 * SEC + SEC, 0 },
		{ 1000 * SEC + SEC + 1, 1 },
		{ 1000 * SEC - SEC, 0 },
		{ 1000 * SEC - SEC - 1, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parts p = start();

		recording(&p, 100, 0, 0, 1000);
		recording(&p, 200, 0, 0, 0);
		parts_clock(&p, 210, 100 * SEC, rows[i].real);
		cr_expect_eq(p.v[1].clock, rows[i].clock, "row %zu", i);
		parts_fini(&p);
	}
}

Test(parts, events_are_counted_in_their_recording_with_offsets_of_earlier_recordings)
{
	struct parts p = start();

	META(&p, 5, { START, T1 });
	parts_event(&p, 10);
	parts_clock(&p, 15, SEC, SEC);
	parts_segment(&p, 100);
	META(&p, 105, { START, T2 });
	parts_event(&p, 110);
	cr_assert_eq(p.cnt, 2);
	cr_expect_eq(p.v[0].events, 3);
	cr_expect_eq(p.v[1].events, 2);
	cr_expect_eq(parts_at(&p, 0, 99), 0);
	cr_expect_eq(parts_at(&p, 0, 100), 1);
	cr_expect_eq(parts_at(&p, 1, 0), 1, "never back");
	cr_expect_eq(parts_get(&p, 7, START), T1, "a part that is not there is the first");
	parts_fini(&p);
}

/* Only recordings on the same clock are compared. */
Test(parts, host_on_another_clock_does_not_prevent_sharing_a_clock)
{
	struct parts p = start();

	recording(&p, 100, BOX, 0, 1000);
	recording(&p, 200, 0, 0, 5000);
	recording(&p, 300, CUBE, 0, 5000);
	cr_assert_eq(p.cnt, 3);
	cr_expect_eq(p.v[1].clock, 1);
	cr_expect_eq(p.v[2].clock, 1, "the box has nothing to do with it");
	parts_fini(&p);
	p = start();
	recording(&p, 100, BOX, 0, 1000);
	recording(&p, 200, 0, 0, 1000);
	recording(&p, 300, CUBE, 0, 1000);
	cr_assert_eq(p.cnt, 3);
	cr_expect_eq(p.v[1].clock, 0);
	cr_expect_eq(p.v[2].clock, 2, "the one between them is taken for the box");
	parts_fini(&p);
}

/* ---- merged streams ---- */

Test(parts, merged_stream_identifies_its_recordings)
{
	struct parts p = start();
	uint32_t second, third;

	parts_merged(&p, 5, 0, 0, 0);
	parts_merged(&p, 10, 1, 1, 7000);
	parts_merged(&p, 15, 2, 0, 0);
	cr_assert_eq(p.cnt, 3);
	second = parts_of(&p, 0, 1);
	third = parts_of(&p, 0, 2);
	cr_expect_eq(second, 1);
	cr_expect_eq(third, 2);
	cr_expect_eq(parts_of(&p, 0, 3), 0, "one that nobody told of is the first");
	cr_expect_eq(p.v[second].clock, 1);
	cr_expect_eq(p.v[second].shift_ns, 7000);
	cr_expect_eq(p.v[third].clock, 0);
	cr_expect_eq(p.v[third].base, 0);
	/* metadata of one recording in the middle of another begin no recording */
	META(&p, 20, { HOST, BOX }, { START, T1 });
	parts_merged_metadata(&p, second,
			      (const struct parts_meta[]){ { HOST, CUBE }, { START, T2 } }, 2);
	META(&p, 30, { HOST, BOX }, { START, T1 }, { RATE, FAST });
	parts_clock(&p, 35, 1, SEC);
	parts_merged_clock(&p, second, 1, SEC);
	cr_expect_eq(p.cnt, 3);
	cr_expect_eq(parts_get(&p, second, HOST), CUBE);
	cr_expect_eq(parts_get(&p, 0, HOST), BOX);
	cr_expect_eq(p.v[second].clock, 1, "their wall clocks agree, since one was moved");
	cr_expect_eq(parts_at(&p, 0, 1000), 0);
	parts_fini(&p);
}

Test(parts, segment_after_a_merged_stream_is_another_recording)
{
	struct parts p = start();

	parts_merged(&p, 5, 0, 0, 0);
	parts_merged(&p, 10, 1, 0, 0);
	parts_segment(&p, 100);
	parts_event(&p, 105);
	cr_expect_eq(p.cnt, 3);
	cr_expect_eq(p.v[2].begin, 100);
	cr_expect_eq(parts_at(&p, 0, 99), 0);
	cr_expect_eq(parts_at(&p, 0, 105), 2);
	parts_segment(&p, 200);
	parts_merged(&p, 205, 0, 0, 0);
	parts_merged(&p, 210, 1, 1, 5);
	cr_expect_eq(p.cnt, 5);
	cr_expect_eq(parts_at(&p, 2, 205), 3);
	cr_expect_eq(parts_of(&p, 3, 1), 4);
	cr_expect_eq(parts_of(&p, 0, 1), 1);
	cr_expect_eq(p.v[4].clock, 4, "its times were moved");
	parts_fini(&p);
}

/* The boot of a host whose times were moved is not on the clock of the host's own times. */
Test(parts, moved_times_are_no_longer_on_the_clock_of_their_boot)
{
	struct parts p = start();

	parts_merged(&p, 5, 0, 0, 0);
	parts_merged(&p, 10, 1, 1, 7000);
	META(&p, 15, { BOOT, BOOT_1 });
	parts_merged_metadata(&p, 1, (const struct parts_meta[]){ { BOOT, BOOT_2 } }, 1);
	parts_segment(&p, 100);
	META(&p, 105, { BOOT, BOOT_2 }, { START, T1 });
	parts_segment(&p, 200);
	META(&p, 205, { BOOT, BOOT_1 }, { START, T2 });
	cr_assert_eq(p.cnt, 4);
	cr_expect_eq(p.v[2].clock, 2);
	cr_expect_eq(p.v[3].clock, 0);
	parts_fini(&p);
}

Test(parts, number_of_merged_recordings_is_limited)
{
	struct parts p = start();

	for (uint64_t i = 0; i < 3 * PARTS_MAX; i++)
		parts_merged(&p, 5 + i, i, i, 0);
	cr_expect_eq(p.cnt, PARTS_MAX);
	parts_merged(&p, 1 << 20, UINT64_MAX, 0, 0);
	cr_expect_eq(parts_of(&p, 0, UINT64_MAX), 0);
	parts_fini(&p);
}

static uint64_t wall(const struct parts *p, uint32_t part, uint64_t mono)
{
	uint64_t v = 1;

	cr_assert(parts_wall(p, part, mono, &v));
	return v;
}

/* From 10 s to 20 s the wall clock gains 40 ns, from there to 30 s it loses 100 s. */
Test(parts, the_wall_clock_is_interpolated)
{
	const uint64_t real = 1700000000 * SEC;
	struct parts p = start();

	META(&p, 5, { BOOT, BOOT_1 }, { START, T1 });
	for (int again = 0; again < 2; again++) {
		parts_clock(&p, 10, 10 * SEC, real);
		parts_clock(&p, 20, 20 * SEC, real + 10 * SEC + 40);
		parts_clock(&p, 30, 30 * SEC, real - 80 * SEC + 40);
	}
	cr_assert_eq(p.v[0].sync_cnt, 3, "a second reading adds nothing");
	cr_expect_eq(wall(&p, 0, 9 * SEC), real - SEC);
	cr_expect_eq(wall(&p, 0, 10 * SEC), real);
	cr_expect_eq(wall(&p, 0, 15 * SEC), real + 5 * SEC + 20);
	cr_expect_eq(wall(&p, 0, 20 * SEC), real + 10 * SEC + 40);
	cr_expect_eq(wall(&p, 0, 21 * SEC), real + SEC + 40, "11 s - a tenth of 100 s");
	cr_expect_eq(wall(&p, 0, 31 * SEC), real - 79 * SEC + 40);
	parts_fini(&p);
}

Test(parts, part_without_wall_clock_uses_the_wall_clock_of_its_boot)
{
	struct parts p = start();
	uint64_t v;

	META(&p, 5, { BOOT, BOOT_1 }, { START, T1 });
	cr_expect(!parts_wall(&p, 0, 5, &v));
	parts_clock(&p, 10, 10 * SEC, 50 * SEC);
	parts_segment(&p, 100);
	META(&p, 105, { BOOT, BOOT_1 }, { START, T2 });
	parts_segment(&p, 200);
	META(&p, 205, { BOOT, BOOT_2 }, { START, T2 });
	cr_assert_eq(p.cnt, 3);
	cr_expect_eq(wall(&p, 1, 12 * SEC), 52 * SEC);
	cr_expect(!parts_wall(&p, 2, 5, &v));
	parts_fini(&p);
}

/* As many as seconds, and no more than the maximum. */
Test(parts, syncs_are_bounded)
{
	struct parts p = start();

	for (uint64_t i = 0; i < 1000; i++)
		parts_clock(&p, i, i * SEC / 100, i * SEC / 100);
	cr_expect_eq(p.sync_cnt, 10);
	for (uint64_t i = 1; i < PARTS_SYNCS_MAX + 100; i++)
		parts_clock(&p, i, (i + 10) * SEC, (i + 10) * SEC);
	cr_expect_eq(p.sync_cnt, PARTS_SYNCS_MAX);
	parts_fini(&p);
}

Test(parts, ids_are_shared_on_one_host_and_one_clock)
{
	struct parts p = start();

	cr_expect(parts_share_ids(&p));
	recording(&p, 100, BOX, BOOT_1, 1000);
	recording(&p, 200, 0, BOOT_1, 1000);
	cr_expect(parts_share_ids(&p), "the host of one part is unknown");
	recording(&p, 300, CUBE, BOOT_1, 1000);
	cr_expect_eq(parts_clocks(&p), 1);
	cr_expect_not(parts_share_ids(&p));
	parts_fini(&p);
	p = start();
	recording(&p, 100, BOX, BOOT_1, 1000);
	recording(&p, 200, BOX, BOOT_2, 1000);
	cr_expect_not(parts_share_ids(&p), "ids are given again after a boot");
	parts_fini(&p);
}
