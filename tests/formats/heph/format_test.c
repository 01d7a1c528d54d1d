// SPDX-License-Identifier: BSD-2-Clause
/*
 * Heph traces of other writers: recordings of the runtime, examples of the specification, damage. The expected
 * events come from another reader. Traces of random events must survive a round trip.
 */
#include "tests/formats/heph/support.h"

#include "formats/heph/scan.h"

static const char *const vectors[] = {
	"bad_types", "counter_gap_wrap", "epoch_only",	 "garbage_between", "no_metadata",
	"rt_attrs",  "rt_example7",	 "size_too_big", "spec_examples",   "truncated",
};
#define VECTOR_CNT (sizeof(vectors) / sizeof(vectors[0]))

Test(heph, dump_of_every_vector_equals_another_reader)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf bin = load(vectors[i], "bin"), want = load(vectors[i], "dump.jsonl");
		struct buf got = dump(&bin);

		assert_same(&got, &want, vectors[i]);
		buf_free(&bin);
		buf_free(&want);
		buf_free(&got);
	}
}

Test(heph, dump_does_not_depend_on_the_size_of_reads)
{
	static const size_t steps[] = { 1, 3, 41, 4096 };

	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf bin = load(vectors[i], "bin"), want = dump(&bin);

		for (size_t k = bin.len > 10000 ? 2 : 0; k < 4; k++) {
			struct buf got = dump_in_steps(&bin, steps[k], false);

			assert_same(&got, &want, vectors[i]);
			buf_free(&got);
		}
		buf_free(&bin);
		buf_free(&want);
	}
}

Test(heph, restores_every_vector_byte_by_byte)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf bin = load(vectors[i], "bin");
		struct buf dial9 = import_ok(&bin, DIAL9_LEVEL_4);
		struct buf back = export_ok(&dial9);

		assert_same(&back, &bin, vectors[i]);
		buf_free(&bin);
		buf_free(&dial9);
		buf_free(&back);
	}
}

/* At level 3 only arrays change: they become text, which is reported. */
Test(heph, restores_everything_except_arrays_at_level_3)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf bin = load(vectors[i], "bin"), dial9 = { 0 };
		struct foreign_notes notes = { 0 };
		struct buf text = dump(&bin), back, text_back;
		size_t arrays = count(&text, "[]\", ");

		cr_assert_eq(import_to(&bin, DIAL9_LEVEL_3, &notes, &dial9), 0);
		cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), arrays);
		back = export_ok(&dial9);
		if (!arrays)
			assert_same(&back, &bin, vectors[i]);
		text_back = dump(&back);
		cr_assert_eq(count(&text_back, "[]\", "), 0);
		cr_assert_eq(count(&text_back, "\"type\": \"str\""),
			     count(&text, "\"type\": \"str\"") + arrays, "%s", vectors[i]);
		cr_assert_eq(count(&text_back, "\n"), count(&text, "\n"));
		foreign_notes_fini(&notes);
		buf_free(&bin);
		buf_free(&dial9);
		buf_free(&text);
		buf_free(&back);
		buf_free(&text_back);
	}
}

Test(heph, survives_every_truncation_and_loses_one_packet_at_most)
{
	struct buf bin = load("rt_example7", "bin");

	for (size_t n = 23; n < bin.len; n += 7) {
		struct buf cut = { .data = bin.data, .len = n };
		struct buf text = dump(&cut), dial9 = import_ok(&cut, DIAL9_LEVEL_3);
		struct buf back = export_ok(&dial9);

		cr_assert_leq(count(&text, "\"bad\""), 1);
		assert_same(&back, &cut, "cut");
		buf_free(&text);
		buf_free(&dial9);
		buf_free(&back);
	}
	buf_free(&bin);
}

Test(heph, reports_a_flipped_bit_as_one_damage)
{
	struct buf bin = load("rt_example7", "bin"), text = dump(&bin);
	size_t lines = count(&text, "\n");

	buf_free(&text);
	/* In the size and in the magic of the second packet, and of one in the middle. */
	for (size_t i = 0; i < 8; i++) {
		size_t at = i % 2 ? 23 + i / 2 * 2 : 1232 + i / 2 * 2;
		struct buf back, dial9;

		bin.data[at] ^= 0x10;
		text = dump(&bin);
		cr_assert_geq(count(&text, "\"bad\""), 1, "byte %zu", at);
		cr_assert_geq(count(&text, "\n"), lines - 1, "byte %zu", at);
		dial9 = import_ok(&bin, DIAL9_LEVEL_3);
		back = export_ok(&dial9);
		assert_same(&back, &bin, "flipped");
		bin.data[at] ^= 0x10;
		buf_free(&text);
		buf_free(&dial9);
		buf_free(&back);
	}
	buf_free(&bin);
}

/*
 * ---- detection ----------------------------------------------------------------------------------
 */

Test(heph, is_detected_by_its_first_bytes)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf bin = load(vectors[i], "bin");

		cr_assert_eq(heph_format.detect(bin.data, bin.len, true), 100, "%s", vectors[i]);
		buf_free(&bin);
	}
}

Test(heph, is_detected_with_less_certainty_after_a_damaged_start)
{
	struct buf bin = load("rt_example7", "bin");
	int sure;

	bin.data[0] = 'x';
	sure = heph_format.detect(bin.data, bin.len, true);
	cr_assert(sure > 0 && sure < 100);
	buf_free(&bin);
}

Test(heph, is_not_detected_in_other_bytes)
{
	static const char text[] = "TRC\0\1 and then any text, with \x75\xd1 in it";

	cr_assert_eq(heph_format.detect("", 0, true), 0);
	cr_assert_eq(heph_format.detect(text, sizeof(text), true), 0);
	cr_assert_eq(heph_format.detect("\x75\xd1\x1d", 3, true), 0);
}

Test(heph, refuses_files_without_a_packet)
{
	struct foreign_notes notes = { 0 };
	struct buf junk = { 0 }, out = { 0 };

	log_set_level(LOG_LEVEL_QUIET);
	buf_addstr(&junk, "nothing of the kind");
	cr_assert_eq(import_to(&junk, DIAL9_LEVEL_3, &notes, &out), -EBADMSG);
	buf_clear(&junk);
	cr_assert_eq(import_to(&junk, DIAL9_LEVEL_3, &notes, &out), -EBADMSG);
	foreign_notes_fini(&notes);
	buf_free(&junk);
	buf_free(&out);
}

/*
 * ---- random traces ------------------------------------------------------------------------------
 */

struct dice {
	uint64_t state;
};

static uint64_t roll(struct dice *d, uint64_t sides)
{
	d->state = d->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (d->state >> 24) % sides;
}

static uint64_t any_u64(struct dice *d)
{
	static const uint64_t edges[] = { 0, 1, 127, 128, UINT32_MAX, INT64_MAX, UINT64_MAX };
	uint64_t n = roll(d, 10);

	return n < 7 ? edges[n] : roll(d, 1ULL << 40) << roll(d, 24);
}

/* Few names, so that they repeat; some look like the names that the import gives repeated ones. */
static struct dial9_str any_name(struct dice *d)
{
	static const char *const names[] = { "a",      "a#2",	  "b",	      "a#3",  "stream",	 "",
					     "end_ns", "counter", "\xc3\xa4", "n#02", "\xff\xfe" };

	return str(names[roll(d, d->state % 5 ? 10 : 11)]);
}

static struct dial9_str any_text(struct dice *d, char *room, size_t max)
{
	static const char *const texts[] = { "", "local_actor", "0x12", "\xe2\x82\xac", "a\xff" };
	size_t n = roll(d, 8);

	if (n < 5)
		return str(texts[n]);
	n = roll(d, n == 7 ? max : 20);
	for (size_t i = 0; i < n; i++)
		room[i] = (char)roll(d, 128);
	return (struct dial9_str){ room, n };
}

static void add_attr(struct dice *d, struct buf *attrs, bool arrays)
{
	struct heph_attr a = { .name = any_name(d), .type = (uint8_t)(HEPH_U64 + roll(d, 4)) };
	struct buf elems = { 0 };
	char room[1000];

	if (arrays && !roll(d, 3)) {
		a.cnt = (uint16_t)roll(d, 5);
		for (unsigned int i = 0; i < a.cnt; i++) {
			if (a.type == HEPH_STR)
				heph_wire_put_text(&elems, any_text(d, room, sizeof(room)));
			else
				heph_wire_put_bits(&elems, any_u64(d));
		}
		a.type |= HEPH_ARRAY;
		a.elems = (struct dial9_str){ elems.data, elems.len };
	}
	a.bits = any_u64(d);
	a.text = any_text(d, room, sizeof(room));
	heph_wire_put_attr(attrs, &a);
	buf_free(&elems);
}

static void add_event(struct dice *d, struct buf *out, bool arrays)
{
	static const char *const descs[] = {
		"Running user function", "",	 "ClockSyncEvent", "heph.event",
		"SpanEnter:x",		 "\xfe", "one more"
	};
	struct heph_event ev = { .stream = (uint32_t)roll(d, 4),
				 .counter = (uint32_t)any_u64(d),
				 .substream = any_u64(d),
				 .start_ns = any_u64(d),
				 .end_ns = any_u64(d),
				 .desc = str(descs[roll(d, 7)]) };
	struct buf attrs = { 0 };
	char room[600];

	if (!roll(d, 20))
		ev.desc = any_text(d, room, sizeof(room));
	for (uint64_t n = roll(d, roll(d, 60) ? 6 : 300); n; n--)
		add_attr(d, &attrs, arrays);
	if (!roll(d, 20))
		buf_add(&attrs, "\0\1z\x80\0", 5);
	ev.attrs = (struct dial9_str){ attrs.data, attrs.len };
	heph_wire_put_event(out, &ev);
	buf_free(&attrs);
}

static void add_meta(struct dice *d, struct buf *out)
{
	struct heph_meta m = { .name = str(roll(d, 2) ? "epoch" : "option") };
	char room[300];

	m.value = any_text(d, room, sizeof(room));
	if (!roll(d, 10))
		m.name = any_name(d);
	if (roll(d, 3))
		put_epoch(out, any_u64(d));
	else
		heph_wire_put_meta(out, &m);
}

static struct buf random_trace(struct dice *d, bool arrays, bool damage)
{
	struct buf out = { 0 };

	put_epoch(&out, any_u64(d));
	for (uint64_t n = 1 + roll(d, 40); n; n--) {
		if (!roll(d, 10))
			add_meta(d, &out);
		else
			add_event(d, &out, arrays);
		if (damage && out.len > 60 && !roll(d, 8))
			out.len -= roll(d, 30);
		if (damage && !roll(d, 8))
			buf_add(&out, "between packets \xc1\xfc", 1 + roll(d, 18));
	}
	return out;
}

static void check_random(uint64_t seed, int level, bool damage)
{
	struct dice d = { seed };
	struct buf bin = random_trace(&d, level == DIAL9_LEVEL_4, damage);
	struct buf text = dump(&bin), small = dump_in_steps(&bin, 5, false);
	struct buf dial9 = import_ok(&bin, level), back = export_ok(&dial9);
	struct buf again = dump(&back);
	char what[64];

	snprintf(what, sizeof(what), "seed %llu", (unsigned long long)seed);
	assert_same(&small, &text, what);
	assert_same(&back, &bin, what);
	assert_same(&again, &text, what);
	buf_free(&bin);
	buf_free(&text);
	buf_free(&small);
	buf_free(&dial9);
	buf_free(&back);
	buf_free(&again);
}

Test(heph, restores_random_traces_byte_by_byte)
{
	log_set_level(LOG_LEVEL_QUIET);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		check_random(seed, DIAL9_LEVEL_4, false);
		check_random(seed, DIAL9_LEVEL_3, false);
	}
}

Test(heph, restores_random_damage_byte_by_byte)
{
	log_set_level(LOG_LEVEL_QUIET);
	for (uint64_t seed = 1; seed <= 400; seed++)
		check_random(seed, DIAL9_LEVEL_4, true);
}

/* Reading ahead helps to recover, but an undamaged trace does not need it. */
Test(heph, following_reads_undamaged_traces_unchanged)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct dice d = { seed };
		struct buf bin = random_trace(&d, true, false), want = dump(&bin);
		struct buf got = dump_in_steps(&bin, 13, true);

		assert_same(&got, &want, "followed");
		buf_free(&bin);
		buf_free(&want);
		buf_free(&got);
	}
}
