// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recordings written by the reference implementation: their contents, compared with its own decoder's lines;
 * that dial9 gives each back to the byte, by two passes and by one; and which files are recognized as
 * recordings.
 */
#include "tests/formats/tonbandgeraet/support.h"

TestSuite(tonband, .init = quiet);

static const char *const vectors[] = {
	"all_events",
	"baremetal_simtarget",
	"drops_every7",
	"freertos_posix_bundled",
	"multicore_split_stream.core0",
	"multicore_split_stream.core1",
	"ts_overflow",
	"utf8_cut",
};
#define VECTOR_CNT (sizeof(vectors) / sizeof(vectors[0]))

static struct buf load_vector(size_t i, const char *suffix)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", vectors[i], suffix);
	return load(name);
}

static void assert_same(const char *what, const struct buf *got, const struct buf *want)
{
	for (size_t i = 0; i < got->len && i < want->len; i++)
		cr_assert_eq(got->data[i], want->data[i], "%s: byte %zu: %.80s, not %.80s", what, i,
			     got->data + i, want->data + i);
	cr_assert_eq(got->len, want->len, "%s: %zu bytes, not %zu", what, got->len, want->len);
}

Test(tonband, dump_equals_the_reference_decoder)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf rec = load_vector(i, "bin"), want = load_vector(i, "dump.jsonl");
		struct foreign_notes notes = { 0 };
		struct buf got = dump(&rec, &notes);

		assert_same(vectors[i], &got, &want);
		foreign_notes_fini(&notes);
		buf_free(&rec);
		buf_free(&want);
		buf_free(&got);
	}
}

/* Where the reference decoder finds the end of valid UTF-8, in its own words. */
Test(tonband, reports_bad_text_at_the_same_place_as_the_reference_decoder)
{
	static const struct {
		const char *text, *err;
	} cases[] = {
		{ "a\xff", "invalid utf-8 sequence of 1 bytes from index 1" },
		{ "\xc1\x80", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "\xc3x", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "\xe0\x9f\x80", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "\xed\xa0\x80", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "\xee\xa0x", "invalid utf-8 sequence of 2 bytes from index 0" },
		{ "\xf0\x8f\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "\xf0\x9f\x98x", "invalid utf-8 sequence of 3 bytes from index 0" },
		{ "\xf4\x90\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "\xf5\x80\x80\x80", "invalid utf-8 sequence of 1 bytes from index 0" },
		{ "ab\xe2\x82", "incomplete utf-8 byte sequence from index 2" },
		{ "\xf0\x9f\x98", "incomplete utf-8 byte sequence from index 0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct foreign_notes notes = { 0 };
		struct buf rec = { 0 }, got;

		event(&rec, TONBAND_EVTMARKER, 5, 1, 0, cases[i].text);
		got = dump(&rec, &notes);
		cr_assert(strstr(got.data, cases[i].err), "case %zu: %s", i, got.data);
		buf_free(&rec);
		buf_free(&got);
	}
}

Test(tonband, reads_hex_as_bytes)
{
	struct buf bin = load("freertos_posix_bundled.bin");
	struct buf hex = load("freertos_posix_bundled.hex");
	struct foreign_notes notes = { 0 };
	struct buf a = dump(&bin, &notes), b = dump(&hex, &notes);

	assert_same("hex", &b, &a);
	cr_assert_eq(notes.cnt, 0);
	buf_free(&bin);
	buf_free(&hex);
	buf_free(&a);
	buf_free(&b);
}

static void round_trip(const char *name, const struct buf *rec, bool follow)
{
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, back = { 0 };

	cr_assert_eq(import(rec, follow, &trace, &notes), 0, "%s", name);
	cr_assert_eq(export(&trace, &back, &notes), 0, "%s", name);
	assert_same(name, &back, rec);
	foreign_notes_fini(&notes);
	buf_free(&trace);
	buf_free(&back);
}

Test(tonband, restores_every_byte_through_dial9)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf rec = load_vector(i, "bin");

		round_trip(vectors[i], &rec, false);
		round_trip(vectors[i], &rec, true);
		buf_free(&rec);
	}
}

/* Truncated and damaged data is restored too. */
Test(tonband, restores_files_truncated_or_overwritten_anywhere)
{
	struct buf rec = load("all_events.bin");
	size_t whole = rec.len;
	char saved;

	for (size_t n = 5; n < whole; n += 3) {
		rec.len = n;
		round_trip("cut", &rec, n & 1);
	}
	rec.len = whole;
	for (size_t at = 0; at < whole; at += 5) {
		saved = rec.data[at];
		rec.data[at] = (char)(at * 31);
		/* Needless zero groups in a number are read, and written without. */
		if ((unsigned char)rec.data[at] != 0x80)
			round_trip("overwritten", &rec, at & 1);
		rec.data[at] = saved;
	}
	buf_free(&rec);
}

/* Events in random order, of new cores and resolutions, with texts of any bytes. */
Test(tonband, restores_random_events)
{
	uint64_t seed = 0x2545f4914f6cdd1d;
	char text[RANDOM_TEXT_MAX];
	struct tonband_event ev;

	for (int round = 0; round < 40; round++) {
		struct buf rec = { 0 };

		for (int i = 0; i < 1000; i++)
			if (random_event(&seed, text, &ev))
				tonband_event_write(&rec, &ev);
		round_trip("random", &rec, round & 1);
		buf_free(&rec);
	}
}

Test(tonband, counts_the_same_drops_as_the_reference_converter)
{
	struct buf rec = load("drops_every7.bin"), trace = { 0 }, lines;
	struct foreign_notes notes = { 0 };

	cr_assert_eq(import(&rec, false, &trace, &notes), 0);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DROPPED, NULL), 5);
	lines = events_of(&trace);
	/* 8 ns per tick; 106 frames report drops and two of them report new ones. */
	cr_assert(strstr(lines.data, "\"name\":\"tband.dropped\",\"ts\":1040,\"fields\":"
				     "[[\"core\",13,0],[\"lost\",9,4],[\"total\",9,4]]"));
	cr_assert(strstr(lines.data, "\"name\":\"tband.dropped\",\"ts\":1760,\"fields\":"
				     "[[\"core\",13,0],[\"lost\",9,1],[\"total\",9,5]]"));
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&trace);
	buf_free(&lines);
}

static int detect(const struct buf *b)
{
	return tonband_format.detect(buf_cstr((struct buf *)b), b->len, true);
}

Test(tonband, detects_recordings_and_no_other_files)
{
	static const char zeros[4096], ones[4096] = { 1 };
	static const char *const none[] = { "", "TRC", "hello, world\n", "0123456789abcdef",
					    "{\"data\":[{\"hex\":\"\"}]}" };
	struct buf b = { 0 };

	for (size_t i = 0; i < VECTOR_CNT; i++) {
		b = load_vector(i, "bin");
		cr_assert_gt(detect(&b), 50, "%s", vectors[i]);
		/* A capture that began in the middle of a frame. */
		b.len--;
		memmove(b.data, b.data + 1, b.len);
		cr_assert_gt(detect(&b), 50, "%s", vectors[i]);
		buf_free(&b);
	}
	/* The rest of a frame does not outweigh the one whole event after it. */
	b = (struct buf){ 0 };
	buf_add(&b, "xyz\0", 4);
	event(&b, TONBAND_ISR_ENTER, 5, 1, 0, NULL);
	cr_assert_gt(detect(&b), 50);
	buf_free(&b);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		b = (struct buf){ 0 };
		buf_addstr(&b, none[i]);
		cr_assert_eq(detect(&b), 0, "%s", none[i]);
		buf_free(&b);
	}
	cr_assert_eq(tonband_format.detect(zeros, sizeof(zeros), false), 0);
	cr_assert_eq(tonband_format.detect(ones, sizeof(ones), false), 0);
}

static const struct foreign_fact *fact(const struct foreign_facts *facts, const char *label)
{
	for (size_t i = 0; i < facts->cnt; i++)
		if (!strcmp(facts->v[i].label, label))
			return &facts->v[i];
	cr_assert(false, "no fact %s", label);
	return NULL;
}

Test(tonband, reports_the_contents_of_a_recording)
{
	struct buf rec = load("drops_every7.bin");
	struct foreign_facts facts = { 0 };
	struct foreign_notes notes = { 0 };
	struct foreign_opts opts = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;

	foreign_mem_input(&mem, rec.data, rec.len, &in);
	cr_assert_eq(tonband_format.info(&in, &opts, &facts, &notes), 0);
	cr_assert_str_eq(facts.v[0].label, "format");
	cr_assert(strstr(facts.v[0].text, "binary"));
	cr_assert_str_eq(fact(&facts, "mode")->text, "bare metal");
	cr_assert_str_eq(fact(&facts, "resolution")->text, "8 ns per tick");
	cr_assert_eq(fact(&facts, "events")->count + fact(&facts, "metadata")->count, 235);
	cr_assert_eq(fact(&facts, "dropped")->count, 5);
	cr_assert_eq(fact(&facts, "invalid frames")->count, 0);
	foreign_facts_fini(&facts);
	foreign_notes_fini(&notes);
	buf_free(&rec);
}
