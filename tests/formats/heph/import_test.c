// SPDX-License-Identifier: BSD-2-Clause
/* Heph events in dial9: types, fields, and notes. */
#include "tests/formats/heph/support.h"

#include <inttypes.h>

#include "formats/heph/layout.h"

/* All events of a stream, one per line: time, name, name=value... */
static struct buf lines_of(const struct buf *dial9)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .data = dial9->data, .data_sz = dial9->len };
	struct dial9_frame f;
	struct dial9_dec *dec;
	struct buf out = { 0 };
	struct dial9_str s;
	int ret;

	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		buf_printf(&out, "%" PRIu64 " %s", f.event.ts, dial9_schema_name(f.event.schema));
		for (size_t i = 0; i < f.event.value_cnt; i++) {
			const struct dial9_value *v = &f.event.values[i];

			buf_printf(&out, " %s:%d=", dial9_schema_field_name(f.event.schema, i),
				   v->type);
			if (!dial9_value_str(dec, v, &s))
				buf_add(&out, s.ptr, s.len);
			else if (v->type == DIAL9_BYTES)
				buf_printf(&out, "%u bytes", v->str.len);
			else if (v->type == DIAL9_STRING_MAP || v->type == DIAL9_LIST)
				buf_printf(&out, "%u entries", v->map.cnt);
			else
				buf_printf(&out, "%" PRIu64, v->u64);
		}
		buf_addch(&out, '\n');
	}
	cr_assert_eq(ret, 0);
	dial9_dec_free(dec);
	buf_cstr(&out);
	return out;
}

static void assert_lines(const struct buf *heph, int level, const char *want)
{
	struct buf dial9 = import_ok(heph, level), got = lines_of(&dial9);

	cr_assert_str_eq(got.data, want);
	buf_free(&dial9);
	buf_free(&got);
}

Test(heph_import, makes_event_types_of_descriptions_and_fields_of_attributes)
{
	struct buf b = { 0 }, attrs = { 0 };

	put_epoch(&b, 1000);
	put_u64(&attrs, "id", 7);
	put_text(&attrs, "name", "actor");
	put_event(&b, 3, 9, 100, 250, "Running", &attrs);
	assert_lines(&b, DIAL9_LEVEL_3,
		     "0 ClockSyncEvent realtime_ns:9=1000\n"
		     "100 Running stream:13=3 counter:13=9 substream:9=0 duration_ns:9=150 id:9=7 "
		     "name:7=actor\n");
	buf_free(&b);
	buf_free(&attrs);
}

Test(heph_import, keeps_both_times_of_an_event_that_ends_before_it_starts)
{
	struct buf b = { 0 };

	put_event(&b, 0, 0, 100, 99, "odd", NULL);
	assert_lines(&b, DIAL9_LEVEL_3,
		     "100 odd stream:13=0 counter:13=0 substream:9=0 end_ns:9=99\n");
	buf_free(&b);
}

Test(heph_import, renames_repeated_fields)
{
	struct buf b = { 0 }, attrs = { 0 };

	put_u64(&attrs, "a", 1);
	put_u64(&attrs, "a", 2);
	put_u64(&attrs, "stream", 3);
	put_event(&b, 0, 0, 1, 1, "e", &attrs);
	assert_lines(&b, DIAL9_LEVEL_3,
		     "1 e stream:13=0 counter:13=0 substream:9=0 duration_ns:9=0 a:9=1 a#2:9=2 "
		     "stream#2:9=3\n");
	buf_free(&b);
	buf_free(&attrs);
}

Test(heph_import, does_not_use_reserved_event_names)
{
	struct buf b = { 0 };

	put_event(&b, 0, 0, 1, 1, "CpuSampleEvent", NULL);
	assert_lines(&b, DIAL9_LEVEL_3,
		     "1 heph.event stream:13=0 counter:13=0 substream:9=0 duration_ns:9=0 "
		     "description:7=CpuSampleEvent\n");
	buf_free(&b);
}

Test(heph_import, stores_the_whole_packet_if_attributes_cannot_be_fields)
{
	struct buf b = { 0 }, attrs = { 0 };

	put_u64(&attrs, "a", 1);
	put_u64(&attrs, "a#2", 2);
	put_event(&b, 0, 0, 1, 1, "e", &attrs);
	assert_lines(&b, DIAL9_LEVEL_3,
		     "1 heph.event stream:13=0 counter:13=0 substream:9=0 duration_ns:9=0 "
		     "description:4=e attributes:10=2 entries packet:5=69 bytes\n");
	buf_free(&b);
	buf_free(&attrs);
}

Test(heph_import, keeps_unknown_options_and_damage_as_data)
{
	struct heph_meta m = { .name = { "colour", 6 }, .value = { "\xff", 1 } };
	struct buf b = { 0 };

	put_event(&b, 0, 0, 5, 5, "e", NULL);
	heph_wire_put_meta(&b, &m);
	buf_addstr(&b, "junk");
	assert_lines(&b, DIAL9_LEVEL_3,
		     "5 e stream:13=0 counter:13=0 substream:9=0 duration_ns:9=0\n"
		     "5 SegmentMetadataEvent entries:10=1 entries\n"
		     "5 heph.invalid offset:9=60 bytes:5=4 bytes\n");
	buf_free(&b);
}

Test(heph_import, reports_a_gap_as_an_event_and_as_a_note)
{
	struct foreign_notes notes = { 0 };
	struct buf b = { 0 }, dial9 = { 0 }, got;

	put_event(&b, 4, 10, 1, 1, "e", NULL);
	put_event(&b, 4, 13, 2, 2, "e", NULL);
	cr_assert_eq(import_to(&b, DIAL9_LEVEL_3, &notes, &dial9), 0);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DROPPED, NULL), 2);
	got = lines_of(&dial9);
	cr_assert(strstr(got.data, "2 heph.lost stream:13=4 expected:13=11 got:13=13\n"));
	foreign_notes_fini(&notes);
	buf_free(&b);
	buf_free(&dial9);
	buf_free(&got);
}

Test(heph_import, warns_about_times_without_an_epoch)
{
	struct foreign_notes notes = { 0 };
	struct buf b = { 0 }, dial9 = { 0 };

	put_event(&b, 0, 0, 1, 1, "e", NULL);
	cr_assert_eq(import_to(&b, DIAL9_LEVEL_3, &notes, &dial9), 0);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, NULL), 1);
	foreign_notes_fini(&notes);
	buf_free(&b);
	buf_free(&dial9);
}

Test(heph_import, accepts_one_file_and_no_core)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct foreign_notes notes = { 0 };
	struct foreign_input in[2] = { { .has_core = true }, { 0 } };

	log_set_level(LOG_LEVEL_QUIET);
	cr_assert_eq(heph_format.import(in, 2, &opts, NULL, &notes), -EINVAL);
	cr_assert_eq(heph_format.import(in, 1, &opts, NULL, &notes), -EINVAL);
}

/* As many descriptions and texts as events: the tables fill up, and the import continues without them. */
Test(heph_import, limits_types_and_pooled_text)
{
	enum { CNT = 20000 };
	struct dial9_dec_opts o = { .sz = sizeof(o) };
	struct buf b = { 0 }, attrs = { 0 }, dial9, back;
	size_t types = 0, strings = 0, events = 0;
	struct dial9_frame f;
	struct dial9_dec *dec;
	char text[32];

	for (int i = 0; i < CNT; i++) {
		buf_clear(&attrs);
		snprintf(text, sizeof(text), "text %d", i);
		put_text(&attrs, "t", text);
		put_u64(&attrs, text, 1);
		put_event(&b, 0, (uint32_t)i, 1, 1, text, &attrs);
	}
	dial9 = import_ok(&b, DIAL9_LEVEL_3);
	o.data = dial9.data;
	o.data_sz = dial9.len;
	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	while (dial9_dec_next(dec, &f) == 1) {
		types += f.kind == DIAL9_FRAME_SCHEMA;
		events += f.kind == DIAL9_FRAME_EVENT;
		strings += f.kind == DIAL9_FRAME_STRINGS ? f.pool.cnt : 0;
	}
	cr_assert_eq(events, CNT);
	cr_assert_leq(types, HEPH_LAYOUT_SCHEMAS_MAX + 1);
	cr_assert_leq(strings, 2 * 4096);
	back = export_ok(&dial9);
	assert_same(&back, &b, "many names");
	dial9_dec_free(dec);
	buf_free(&b);
	buf_free(&attrs);
	buf_free(&dial9);
	buf_free(&back);
}
