// SPDX-License-Identifier: BSD-2-Clause
/* Any dial9 trace as Heph: how its types, its spans and its clock are converted. */
#include "tests/formats/heph/support.h"

#include <inttypes.h>

#define SCHEMA(name, ts, ...)                                                                      \
	make_schema(name, ts, (const struct dial9_field[]){ __VA_ARGS__ },                         \
		    sizeof((const struct dial9_field[]){ __VA_ARGS__ }) /                          \
			    sizeof(struct dial9_field))

static struct dial9_schema *make_schema(const char *name, bool ts, const struct dial9_field *f,
					size_t cnt)
{
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new(name, ts, f, cnt, &s), 0);
	return s;
}

static struct dial9_enc *new_enc(void)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	return enc;
}

/* Ends the stream; the result, as lines of the dump. */
static struct buf finish(struct dial9_enc *enc, struct foreign_notes *notes)
{
	struct buf dial9, heph = { 0 }, text = { 0 };

	dial9.data = (char *)(uintptr_t)dial9_enc_data(enc, &dial9.len);
	cr_assert_eq(export_to(&dial9, notes, &heph), 0);
	if (heph.len)
		text = dump(&heph);
	buf_free(&heph);
	dial9_enc_free(enc);
	return text;
}

/* The epoch, which is the first line, and the lines after it. */
static void assert_text(struct dial9_enc *enc, uint64_t epoch, const char *want)
{
	struct foreign_notes notes = { 0 };
	struct buf got = finish(enc, &notes), first = { 0 };

	buf_printf(&first,
		   "{\"off\": 0, \"size\": 23, \"kind\": \"metadata\", \"option\": "
		   "\"epoch\", \"epoch\": %" PRIu64 "}\n",
		   epoch);
	cr_assert_gt(got.len, first.len);
	cr_assert_eq(strncmp(got.data, first.data, first.len), 0, "%s", got.data);
	cr_assert_str_eq(got.data + first.len, want);
	buf_free(&first);
	foreign_notes_fini(&notes);
	buf_free(&got);
}

/* An event with one number. */
static void put_number(struct dial9_enc *enc, struct dial9_schema *s, uint64_t ts, uint64_t v)
{
	cr_assert_eq(dial9_enc_begin(enc, s, ts), 0);
	dial9_enc_put_u64(enc, v);
	cr_assert_eq(dial9_enc_end(enc), 0);
}

static void put_clock(struct dial9_enc *enc, uint64_t ts, uint64_t real)
{
	struct dial9_schema *s = SCHEMA("ClockSyncEvent", true, { "realtime_ns", DIAL9_VARINT });

	put_number(enc, s, ts, real);
	dial9_schema_free(s);
}

static void put_all_types(struct dial9_enc *enc)
{
	struct dial9_schema *s =
		SCHEMA("Everything", true, { "i", DIAL9_I64 }, { "f", DIAL9_F64 },
		       { "b", DIAL9_BOOL }, { "s", DIAL9_STRING }, { "y", DIAL9_BYTES },
		       { "ps", DIAL9_POOLED_STACK }, { "p", DIAL9_POOLED_STRING },
		       { "k", DIAL9_STACK }, { "v", DIAL9_VARINT }, { "m", DIAL9_STRING_MAP },
		       { "u", DIAL9_U8 }, { "none", DIAL9_VARINT | DIAL9_OPTIONAL },
		       { "l", DIAL9_LIST }, { "mix", DIAL9_LIST }, { "map", DIAL9_MAP });
	struct dial9_str kv[1][2] = { { { "key", 3 }, { "value", 5 } } };
	uint64_t frames[] = { 10, 20 };

	cr_assert_eq(dial9_enc_begin(enc, s, 50), 0);
	dial9_enc_put_i64(enc, -5);
	dial9_enc_put_f64(enc, 0.5);
	dial9_enc_put_bool(enc, true);
	dial9_enc_put_str(enc, "text", 4);
	dial9_enc_put_bytes(enc, "\1\xfe", 2);
	dial9_enc_put_stack(enc, frames, 2);
	dial9_enc_put_str(enc, "pooled", 6);
	dial9_enc_put_stack(enc, frames, 1);
	dial9_enc_put_u64(enc, 300);
	dial9_enc_put_map(enc, (const struct dial9_str(*)[2])kv, 1);
	dial9_enc_put_u64(enc, 8);
	dial9_enc_put_none(enc);
	dial9_enc_open_list(enc);
	dial9_enc_put_i64(enc, -1);
	dial9_enc_put_i64(enc, 2);
	dial9_enc_close(enc);
	dial9_enc_open_list(enc);
	dial9_enc_put_u64(enc, 1);
	dial9_enc_put_str(enc, "x", 1);
	dial9_enc_close(enc);
	dial9_enc_open_map(enc);
	dial9_enc_put_u64(enc, 1);
	dial9_enc_put_bool(enc, false);
	dial9_enc_close(enc);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dial9_schema_free(s);
}

Test(heph_export, maps_each_type_to_the_nearest_attribute_type)
{
	struct dial9_enc *enc = new_enc();

	put_all_types(enc);
	assert_text(
		enc, 50,
		"{\"off\": 23, \"size\": 254, \"kind\": \"event\", \"stream\": 0, \"count\": 0, "
		"\"substream\": 0, \"start\": 0, \"end\": 0, \"desc\": \"Everything\", \"attrs\": ["
		"{\"name\": \"i\", \"type\": \"i64\", \"value\": -5}, "
		"{\"name\": \"f\", \"type\": \"f64\", \"value\": 0.5}, "
		"{\"name\": \"b\", \"type\": \"u64\", \"value\": 1}, "
		"{\"name\": \"s\", \"type\": \"str\", \"value\": \"text\"}, "
		"{\"name\": \"y\", \"type\": \"str\", \"value\": \"01fe\"}, "
		"{\"name\": \"ps\", \"type\": \"u64[]\", \"value\": [10, 20]}, "
		"{\"name\": \"p\", \"type\": \"str\", \"value\": \"pooled\"}, "
		"{\"name\": \"k\", \"type\": \"u64[]\", \"value\": [10]}, "
		"{\"name\": \"v\", \"type\": \"u64\", \"value\": 300}, "
		"{\"name\": \"m.key\", \"type\": \"str\", \"value\": \"value\"}, "
		"{\"name\": \"u\", \"type\": \"u64\", \"value\": 8}, "
		"{\"name\": \"l\", \"type\": \"i64[]\", \"value\": [-1, 2]}, "
		"{\"name\": \"mix\", \"type\": \"str\", \"value\": \"[1, \\\"x\\\"]\"}, "
		"{\"name\": \"map\", \"type\": \"str\", \"value\": \"{\\\"1\\\": false}\"}]}\n");
}

Test(heph_export, counts_changed_values)
{
	struct dial9_enc *enc = new_enc();
	struct foreign_notes notes = { 0 };
	struct buf text;

	put_all_types(enc);
	text = finish(enc, &notes);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, "boolean as number"), 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, "stack as array"), 2);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 8);
	foreign_notes_fini(&notes);
	buf_free(&text);
}

/*
 * ---- spans --------------------------------------------------------------------------------------
 */

struct span_schemas {
	struct dial9_schema *enter, *exit, *start, *end;
};

static struct span_schemas span_schemas(void)
{
	return (struct span_schemas){
		.enter = SCHEMA("SpanEnter:app::f:src/f.rs:3", true, { "worker_id", DIAL9_VARINT },
				{ "span_id", DIAL9_VARINT }, { "span_name", DIAL9_POOLED_STRING },
				{ "n", DIAL9_VARINT }),
		.exit = SCHEMA("SpanExit:app::f:src/f.rs:3", true, { "worker_id", DIAL9_VARINT },
			       { "span_id", DIAL9_VARINT }, { "span_name", DIAL9_POOLED_STRING },
			       { "n", DIAL9_VARINT }),
		.start = SCHEMA("PollStartEvent", true, { "worker_id", DIAL9_VARINT },
				{ "task_id", DIAL9_VARINT }),
		.end = SCHEMA("PollEndEvent", true, { "worker_id", DIAL9_VARINT }),
	};
}

static void free_schemas(struct span_schemas *s)
{
	dial9_schema_free(s->enter);
	dial9_schema_free(s->exit);
	dial9_schema_free(s->start);
	dial9_schema_free(s->end);
}

static void put_span(struct dial9_enc *enc, struct dial9_schema *s, uint64_t ts, uint64_t worker,
		     uint64_t id, uint64_t n)
{
	cr_assert_eq(dial9_enc_begin(enc, s, ts), 0);
	dial9_enc_put_u64(enc, worker);
	dial9_enc_put_u64(enc, id);
	dial9_enc_put_str(enc, "f", 1);
	dial9_enc_put_u64(enc, n);
	cr_assert_eq(dial9_enc_end(enc), 0);
}

static void put_poll(struct dial9_enc *enc, struct dial9_schema *s, uint64_t ts, uint64_t worker,
		     uint64_t task)
{
	cr_assert_eq(dial9_enc_begin(enc, s, ts), 0);
	dial9_enc_put_u64(enc, worker);
	if (dial9_schema_field_cnt(s) > 1)
		dial9_enc_put_u64(enc, task);
	cr_assert_eq(dial9_enc_end(enc), 0);
}

Test(heph_export, joins_enter_and_exit_events_with_their_attributes)
{
	struct span_schemas s = span_schemas();
	struct dial9_enc *enc = new_enc();

	put_span(enc, s.enter, 100, 2, 77, 5);
	put_span(enc, s.enter, 110, 3, 77, 1);
	put_span(enc, s.exit, 120, 3, 77, 1);
	put_span(enc, s.exit, 150, 2, 77, 6);
	assert_text(
		enc, 100,
		"{\"off\": 23, \"size\": 85, \"kind\": \"event\", \"stream\": 3, \"count\": 0, "
		"\"substream\": 77, \"start\": 10, \"end\": 20, \"desc\": \"f\", \"attrs\": ["
		"{\"name\": \"n\", \"type\": \"u64\", \"value\": 1}, "
		"{\"name\": \"callsite\", \"type\": \"str\", \"value\": \"app::f:src/f.rs:3\"}]}\n"
		"{\"off\": 108, \"size\": 102, \"kind\": \"event\", \"stream\": 2, \"count\": 0, "
		"\"substream\": 77, \"start\": 0, \"end\": 50, \"desc\": \"f\", \"attrs\": ["
		"{\"name\": \"n\", \"type\": \"u64\", \"value\": 5}, "
		"{\"name\": \"callsite\", \"type\": \"str\", \"value\": \"app::f:src/f.rs:3\"}, "
		"{\"name\": \"exit.n\", \"type\": \"u64\", \"value\": 6}]}\n");
	free_schemas(&s);
}

Test(heph_export, joins_polls_and_marks_unfinished_polls)
{
	struct span_schemas s = span_schemas();
	struct dial9_enc *enc = new_enc();

	put_poll(enc, s.end, 100, 1, 0);
	put_poll(enc, s.start, 110, 1, 8);
	put_poll(enc, s.end, 130, 1, 0);
	put_poll(enc, s.start, 140, 1, 9);
	put_poll(enc, s.start, 150, 1, 10);
	assert_text(
		enc, 100,
		"{\"off\": 23, \"size\": 54, \"kind\": \"event\", \"stream\": 1, \"count\": 0, "
		"\"substream\": 0, \"start\": 0, \"end\": 0, \"desc\": \"PollEndEvent\", \"attrs\": []}\n"
		"{\"off\": 77, \"size\": 46, \"kind\": \"event\", \"stream\": 1, \"count\": 1, "
		"\"substream\": 8, \"start\": 10, \"end\": 30, \"desc\": \"Poll\", \"attrs\": []}\n"
		"{\"off\": 123, \"size\": 67, \"kind\": \"event\", \"stream\": 1, \"count\": 2, "
		"\"substream\": 9, \"start\": 40, \"end\": 50, \"desc\": \"Poll\", \"attrs\": ["
		"{\"name\": \"unfinished\", \"type\": \"u64\", \"value\": 1}]}\n"
		"{\"off\": 190, \"size\": 67, \"kind\": \"event\", \"stream\": 1, \"count\": 3, "
		"\"substream\": 10, \"start\": 50, \"end\": 50, \"desc\": \"Poll\", \"attrs\": ["
		"{\"name\": \"unfinished\", \"type\": \"u64\", \"value\": 1}]}\n");
	free_schemas(&s);
}

Test(heph_export, limits_open_spans_and_writes_more_at_once)
{
	struct span_schemas s = span_schemas();
	struct dial9_enc *enc = new_enc();
	struct foreign_notes notes = { 0 };
	struct buf text;

	for (uint64_t i = 0; i < 65536 + 5; i++)
		put_span(enc, s.enter, 100, 2, i % 3, 5);
	text = finish(enc, &notes);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 5);
	cr_assert_eq(count(&text, "unfinished"), 65536);
	cr_assert_eq(count(&text, "\n"), 65536 + 5 + 1);
	foreign_notes_fini(&notes);
	buf_free(&text);
	free_schemas(&s);
}

/*
 * ---- time and streams ---------------------------------------------------------------------------
 */

Test(heph_export, reads_the_epoch_from_the_clock_event)
{
	struct dial9_schema *s =
		SCHEMA("Timed", true, { "tid", DIAL9_U32 }, { "duration_ns", DIAL9_VARINT });
	struct dial9_enc *enc = new_enc();

	put_clock(enc, 1000, 1700000000000001000);
	cr_assert_eq(dial9_enc_begin(enc, s, 1500), 0);
	dial9_enc_put_u64(enc, 42);
	dial9_enc_put_u64(enc, 20);
	cr_assert_eq(dial9_enc_end(enc), 0);
	assert_text(
		enc, 1700000000000000000,
		"{\"off\": 23, \"size\": 78, \"kind\": \"event\", \"stream\": 0, \"count\": 0, "
		"\"substream\": 0, \"start\": 1000, \"end\": 1000, \"desc\": \"ClockSyncEvent\", "
		"\"attrs\": [{\"name\": \"realtime_ns\", \"type\": \"u64\", \"value\": "
		"1700000000000001000}]}\n"
		"{\"off\": 101, \"size\": 47, \"kind\": \"event\", \"stream\": 42, \"count\": 0, "
		"\"substream\": 0, \"start\": 1500, \"end\": 1520, \"desc\": \"Timed\", \"attrs\": []}\n");
	dial9_schema_free(s);
}

/* The first clock event says 5000 at 1000; the second segment has its own, and an event at 10. */
static void assert_second_segment(uint64_t ts, uint64_t real, const char *want)
{
	struct dial9_schema *s = SCHEMA("E", true, { "x", DIAL9_VARINT });
	struct dial9_enc *enc = new_enc();
	struct foreign_notes notes = { 0 };
	struct buf text;

	put_clock(enc, 1000, 5000);
	cr_assert_eq(dial9_enc_reset(enc), 0);
	put_clock(enc, ts, real);
	put_number(enc, s, 10, 1);
	text = finish(enc, &notes);
	cr_assert(strstr(text.data, want), "%s", text.data);
	foreign_notes_fini(&notes);
	buf_free(&text);
	dial9_schema_free(s);
}

Test(heph_export, moves_segments_of_other_clocks_to_one_timeline)
{
	/* 3 ns past 9 s, seen from 4000 ns. */
	assert_second_segment(7, 9000000000,
			      "\"start\": 8999996003, \"end\": 8999996003, \"desc\": \"E\"");
}

/* The wall clock is 4000 ns ahead by the first clock event, 3965 by the second. */
Test(heph_export, keeps_times_of_one_clock_exact_after_a_second_clock_event)
{
	assert_second_segment(7, 3972, "\"start\": 10, \"end\": 10, \"desc\": \"E\"");
}

Test(heph_export, stamps_symbols_without_a_time_with_the_time_before)
{
	struct dial9_schema *s = SCHEMA("E", true, { "x", DIAL9_VARINT });
	struct dial9_schema *u = SCHEMA("SymbolTableEntry", true, { "addr", DIAL9_VARINT });
	struct dial9_enc *enc = new_enc();
	struct foreign_notes notes = { 0 };
	struct buf text;

	put_number(enc, s, 30, 1);
	put_number(enc, s, 50, 1);
	put_number(enc, u, 0, 1);
	text = finish(enc, &notes);
	/* The epoch is the earliest time, which is 30. */
	cr_assert(strstr(text.data, "\"start\": 20, \"end\": 20, \"desc\": \"SymbolTableEntry\""),
		  "%s", text.data);
	foreign_notes_fini(&notes);
	buf_free(&text);
	dial9_schema_free(s);
	dial9_schema_free(u);
}

Test(heph_export, stamps_events_without_a_time_with_the_time_before)
{
	struct dial9_schema *s = SCHEMA("T", true, { "x", DIAL9_VARINT });
	struct dial9_schema *u = SCHEMA("U", false, { "x", DIAL9_VARINT });
	struct dial9_enc *enc = new_enc();
	struct foreign_notes notes = { 0 };
	struct buf text;

	put_clock(enc, 10, 10);
	put_number(enc, s, 30, 1);
	put_number(enc, u, 0, 1);
	text = finish(enc, &notes);
	cr_assert(strstr(text.data, "\"start\": 30, \"end\": 30, \"desc\": \"U\""));
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 1);
	foreign_notes_fini(&notes);
	buf_free(&text);
	dial9_schema_free(s);
	dial9_schema_free(u);
}

Test(heph_export, cuts_text_at_the_limit_between_characters)
{
	struct dial9_schema *s = SCHEMA("E", true, { "t", DIAL9_STRING });
	struct dial9_enc *enc = new_enc();
	struct foreign_notes notes = { 0 };
	struct buf long_text = { 0 }, text;

	buf_addch(&long_text, 'x');
	for (int i = 0; i < 33000; i++)
		buf_addstr(&long_text, "\xc3\xa4");
	cr_assert_eq(dial9_enc_begin(enc, s, 1), 0);
	dial9_enc_put_str(enc, long_text.data, long_text.len);
	cr_assert_eq(dial9_enc_end(enc), 0);
	text = finish(enc, &notes);
	cr_assert_eq(count(&text, "\xc3\xa4"), (HEPH_TEXT_MAX - 1) / 2);
	cr_assert_eq(count(&text, "_hex"), 0);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 1);
	foreign_notes_fini(&notes);
	buf_free(&long_text);
	buf_free(&text);
	dial9_schema_free(s);
}

/* Up to the last byte that the reader accepts: in attributes, and in a tail that does not decode. */
Test(heph_export, restores_the_largest_packets)
{
	struct buf text = { 0 }, attrs = { 0 }, b = { 0 }, dial9, back;
	size_t room = HEPH_PACKET_MAX - HEPH_EVENT_MIN - 1;
	struct heph_attr a = { .name = { "a", 1 }, .type = HEPH_STR };

	memset(buf_reserve(&text, 65535), 'x', 65535);
	a.text = (struct dial9_str){ text.data, 60000 };
	while (room - attrs.len > 65535)
		heph_wire_put_attr(&attrs, &a);
	a.text.len = room - attrs.len - 6;
	heph_wire_put_attr(&attrs, &a);
	cr_assert_eq(attrs.len, room);
	put_event(&b, 0, 0, 1, 2, "e", &attrs);
	memset(attrs.data, 0xff, room);
	put_event(&b, 0, 1, 1, 2, "e", &attrs);
	dial9 = import_ok(&b, DIAL9_LEVEL_3);
	back = export_ok(&dial9);
	assert_same(&back, &b, "largest");
	buf_free(&text);
	buf_free(&attrs);
	buf_free(&b);
	buf_free(&dial9);
	buf_free(&back);
}

Test(heph_export, drops_events_that_no_packet_can_hold)
{
	enum { CNT = 100, LEN = 60000 };
	struct dial9_schema *s = SCHEMA("E", true, { "m", DIAL9_STRING_MAP });
	struct dial9_str(*kv)[2] = calloc(CNT, sizeof(*kv));
	struct foreign_notes notes = { 0 };
	struct dial9_enc *enc = new_enc();
	struct buf value = { 0 }, text;
	uint64_t lost;

	memset(buf_reserve(&value, LEN), 'x', LEN);
	for (size_t i = 0; i < CNT; i++) {
		kv[i][0] = str("k");
		kv[i][1] = (struct dial9_str){ value.data, LEN };
	}
	cr_assert_eq(dial9_enc_begin(enc, s, 1), 0);
	dial9_enc_put_map(enc, (const struct dial9_str(*)[2])kv, CNT);
	cr_assert_eq(dial9_enc_end(enc), 0);
	text = finish(enc, &notes);
	lost = foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL);
	cr_assert_gt(lost, 0);
	cr_assert_eq(count(&text, "\"m.k\"") + lost, CNT);
	foreign_notes_fini(&notes);
	buf_free(&value);
	buf_free(&text);
	free(kv);
	dial9_schema_free(s);
}

/* One event of another kind makes the trace mixed: counters start over, and damaged bytes are removed. */
Test(heph_export, writes_imported_events_mixed_with_others)
{
	struct dial9_enc_opts eo = { .sz = sizeof(eo), .level = DIAL9_LEVEL_3 };
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct dial9_schema *s = SCHEMA("Other", true, { "x", DIAL9_VARINT });
	struct foreign_notes notes = { 0 };
	struct foreign_input in;
	struct foreign_mem mem;
	struct dial9_enc *enc;
	struct buf b = { 0 }, text;

	put_epoch(&b, 5000);
	put_event(&b, 6, 99, 10, 40, "mine", NULL);
	buf_addstr(&b, "junk");
	cr_assert_eq(dial9_enc_new(&eo, &enc), 0);
	foreign_mem_input(&mem, b.data, b.len, &in);
	cr_assert_eq(heph_format.import(&in, 1, &opts, enc, &notes), 0);
	put_number(enc, s, 20, 1);
	text = finish(enc, &notes);
	cr_assert(strstr(text.data, "\"epoch\": 5000}"));
	cr_assert(strstr(text.data, "\"stream\": 6, \"count\": 0, \"substream\": 0, "
				    "\"start\": 10, \"end\": 40, \"desc\": \"mine\""));
	cr_assert(strstr(text.data, "\"start\": 20, \"end\": 20, \"desc\": \"Other\""));
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 4);
	foreign_notes_fini(&notes);
	buf_free(&b);
	buf_free(&text);
	dial9_schema_free(s);
}

/*
 * ---- damaged dial9 ------------------------------------------------------------------------------
 */

Test(heph_export, writes_all_events_before_a_truncation_or_damage)
{
	struct buf b = { 0 }, dial9, heph = { 0 }, text;
	struct foreign_notes notes = { 0 };

	for (uint32_t i = 0; i < 100; i++)
		put_event(&b, 0, i, i, i, "e", NULL);
	dial9 = import_ok(&b, DIAL9_LEVEL_3);
	dial9.len -= 3;
	cr_assert_eq(export_to(&dial9, &notes, &heph), 0);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 1);
	text = dump(&heph);
	cr_assert_eq(count(&text, "\n"), 99);
	buf_clear(&heph);
	buf_add(&dial9, "\0\0\0\x99", 4);
	log_set_level(LOG_LEVEL_QUIET);
	cr_assert_eq(export_to(&dial9, &notes, &heph), -EBADMSG);
	cr_assert_gt(heph.len, 99 * 43 - 1);
	foreign_notes_fini(&notes);
	buf_free(&b);
	buf_free(&dial9);
	buf_free(&heph);
	buf_free(&text);
}
