// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traces of other origin as recordings: which markers and values they become, in what order, and that any trace
 * makes a recording that reads without errors, with all differences reported.
 */
#include "tests/formats/tonbandgeraet/support.h"

TestSuite(tonband_export, .init = quiet);

static struct dial9_enc *new_trace(struct buf *trace)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts),
				       .write = add_to_buf,
				       .ctx = trace,
				       .level = DIAL9_LEVEL_4,
				       .first_type_id = 256 };
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&opts, &enc), 0);
	return enc;
}

static struct dial9_schema *schema(const char *name, bool has_ts, const struct dial9_field *f,
				   size_t cnt)
{
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new(name, has_ts, f, cnt, &s), 0);
	return s;
}

static void one(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t ts, uint64_t v)
{
	cr_assert_eq(dial9_enc_begin(enc, s, ts), 0);
	dial9_enc_put_u64(enc, v);
	cr_assert_eq(dial9_enc_end(enc), 0);
}

/* Ends the trace; the recording's lines. */
static struct buf finish(struct dial9_enc *enc, struct buf *trace, struct foreign_notes *notes)
{
	struct foreign_notes unused = { 0 };
	struct buf rec = { 0 }, lines;

	cr_assert_eq(dial9_enc_flush(enc), 0);
	dial9_enc_free(enc);
	cr_assert_eq(export(trace, &rec, notes), 0);
	lines = dump(&rec, &unused);
	cr_assert_eq(unused.cnt, 0);
	buf_free(&rec);
	buf_free(trace);
	return lines;
}

static void expect(const struct buf *lines, const char *want)
{
	cr_assert_str_eq(buf_cstr((struct buf *)lines), want, "%s\nnot\n%s", lines->data, want);
}

Test(tonband_export, exports_a_marker_per_type_and_a_value_per_number)
{
	static const struct dial9_field fields[] = {
		{ "depth", DIAL9_U16 },	  { "task_id", DIAL9_VARINT },
		{ "what", DIAL9_STRING }, { "why", DIAL9_STRING | DIAL9_OPTIONAL },
		{ "x", DIAL9_F64 },	  { "big", DIAL9_VARINT }
	};
	struct dial9_schema *s = schema("Queue", true, fields, 6);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);

	cr_assert_eq(dial9_enc_begin(enc, s, 5000), 0);
	dial9_enc_put_u64(enc, 3);
	dial9_enc_put_u64(enc, 9);
	dial9_enc_put_str(enc, "a b", 3);
	dial9_enc_put_none(enc);
	dial9_enc_put_f64(enc, 0.1);
	dial9_enc_put_u64(enc, UINT64_MAX);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	expect(&lines,
	       "{\"BaseMetadata\":{\"TsResolutionNs\":{\"ns_per_ts\":1}}}\n"
	       "{\"BaseMetadata\":{\"ValmarkerName\":{\"valmarker_id\":1,"
	       "\"name\":\"dial9 time of tick 0 (ns)\"}}}\n"
	       "{\"BaseMetadata\":{\"EvtmarkerName\":{\"evtmarker_id\":1,\"name\":\"Queue\"}}}\n"
	       "{\"BaseMetadata\":{\"ValmarkerName\":{\"valmarker_id\":2,\"name\":\"Queue.depth\"}}}\n"
	       "{\"BaseMetadata\":{\"ValmarkerName\":{\"valmarker_id\":3,\"name\":\"Queue.big\"}}}\n"
	       "{\"Base\":{\"ts\":0,\"kind\":{\"Valmarker\":{\"valmarker_id\":1,\"val\":5000}}}}\n"
	       "{\"Base\":{\"ts\":0,\"kind\":{\"Evtmarker\":{\"evtmarker_id\":1,\"msg\":"
	       "\"depth=3 task_id=9 what=\\\"a b\\\" x=0.10000000000000001 "
	       "big=18446744073709551615\"}}}}\n"
	       "{\"Base\":{\"ts\":0,\"kind\":{\"Valmarker\":{\"valmarker_id\":2,\"val\":3}}}}\n");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 3);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED,
					 "numbers above 2^63 - 1, as text only"),
		     1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 1);
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

Test(tonband_export, pairs_spans_by_worker_and_never_ends_a_span_that_did_not_begin)
{
	static const struct dial9_field fields[] = { { "worker_id", DIAL9_VARINT } };
	struct dial9_schema *begin = schema("SpanEnter:f", true, fields, 1);
	struct dial9_schema *end = schema("SpanExit:f", true, fields, 1);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);

	one(enc, end, 10, 0);
	one(enc, begin, 11, 0);
	one(enc, begin, 12, 3);
	one(enc, end, 13, 0);
	dial9_schema_free(begin);
	dial9_schema_free(end);
	lines = finish(enc, &trace, &notes);
	expect(&lines,
	       "{\"BaseMetadata\":{\"TsResolutionNs\":{\"ns_per_ts\":1}}}\n"
	       "{\"BaseMetadata\":{\"ValmarkerName\":{\"valmarker_id\":1,"
	       "\"name\":\"dial9 time of tick 0 (ns)\"}}}\n"
	       "{\"BaseMetadata\":{\"EvtmarkerName\":{\"evtmarker_id\":1,"
	       "\"name\":\"f (worker 0)\"}}}\n"
	       "{\"BaseMetadata\":{\"EvtmarkerName\":{\"evtmarker_id\":2,"
	       "\"name\":\"f (worker 3)\"}}}\n"
	       "{\"Base\":{\"ts\":0,\"kind\":{\"Valmarker\":{\"valmarker_id\":1,\"val\":10}}}}\n"
	       "{\"Base\":{\"ts\":0,\"kind\":{\"Evtmarker\":{\"evtmarker_id\":1,"
	       "\"msg\":\"worker_id=0\"}}}}\n"
	       "{\"Base\":{\"ts\":1,\"kind\":{\"EvtmarkerBegin\":{\"evtmarker_id\":1,"
	       "\"msg\":\"worker_id=0\"}}}}\n"
	       "{\"Base\":{\"ts\":2,\"kind\":{\"CoreId\":{\"core_id\":3}}}}\n"
	       "{\"Base\":{\"ts\":2,\"kind\":{\"EvtmarkerBegin\":{\"evtmarker_id\":2,"
	       "\"msg\":\"worker_id=3\"}}}}\n"
	       "{\"Base\":{\"ts\":3,\"kind\":{\"CoreId\":{\"core_id\":0}}}}\n"
	       "{\"Base\":{\"ts\":3,\"kind\":{\"EvtmarkerEnd\":{\"evtmarker_id\":1}}}}\n");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED,
					 "ends of spans without a begin, as instants"),
		     1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "spans that never ended"), 1);
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

/* Times of the lines in order; returns their number. */
static size_t times_of(const struct buf *lines, uint64_t *ts, size_t max)
{
	size_t n = 0;

	for (const char *p = lines->data; n < max && (p = strstr(p, "{\"ts\":")); p++)
		ts[n++] = strtoull(p + 6, NULL, 10);
	return n;
}

Test(tonband_export, sorts_events_by_time)
{
	static const struct dial9_field fields[] = { { "id", DIAL9_U32 } };
	struct dial9_schema *s = schema("E", true, fields, 1);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);
	uint64_t ts[2000];
	size_t n;

	for (uint64_t i = 0; i < 1000; i++)
		one(enc, s, 1000 + i * 7919 % 1000, i);
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	n = times_of(&lines, ts, 2000);
	cr_assert_eq(n, 1001);
	for (size_t i = 1; i < n; i++)
		cr_assert_eq(ts[i], i - 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 0);
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

/* Symbols have time 0 if the writer has no time for them. */
Test(tonband_export, ignores_a_time_of_0_for_the_origin)
{
	static const struct dial9_field fields[] = { { "id", DIAL9_U32 } };
	struct dial9_schema *s = schema("E", true, fields, 1);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);
	uint64_t ts[8];

	one(enc, s, 7000, 1);
	one(enc, s, 0, 2);
	one(enc, s, 7100, 3);
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	cr_assert_eq(times_of(&lines, ts, 8), 4);
	cr_assert(ts[1] == 0 && ts[2] == 0 && ts[3] == 100);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED,
					 "events without a time, placed at the one before"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

Test(tonband_export, uses_the_cpu_if_there_is_no_worker)
{
	static const struct dial9_field fields[] = { { "worker_id", DIAL9_U8 },
						     { "cpu", DIAL9_VARINT | DIAL9_OPTIONAL } };
	struct dial9_schema *s = schema("E", true, fields, 2);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);

	for (int cpu = 0; cpu < 3; cpu++) {
		cr_assert_eq(dial9_enc_begin(enc, s, 100), 0);
		dial9_enc_put_u64(enc, 255);
		if (cpu)
			dial9_enc_put_u64(enc, (uint64_t)cpu + 4);
		else
			dial9_enc_put_none(enc);
		cr_assert_eq(dial9_enc_end(enc), 0);
	}
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	cr_assert_null(strstr(lines.data, "\"core_id\":255"));
	cr_assert(strstr(lines.data, "\"core_id\":5"));
	cr_assert(strstr(lines.data, "\"core_id\":6"));
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

/* Next to a recording its ticks are used, its marker ids stay its own, and its frames are unchanged. */
Test(tonband_export, adds_other_events_to_a_recording)
{
	static const struct dial9_field fields[] = { { "n", DIAL9_I64 } };
	struct dial9_schema *s = schema("E", true, fields, 1);
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, trace = { 0 }, lines;
	struct dial9_enc *enc;

	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 10, 0, NULL);
	event(&rec, TONBAND_EVTMARKER, 5, 7, 0, "theirs");
	event(&rec, TONBAND_EVTMARKER, 9, 7, 0, "theirs");
	cr_assert_eq(import(&rec, false, &trace, &notes), 0);
	enc = new_trace(&trace);
	one(enc, s, 69, 1);
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	expect(&lines,
	       "{\"BaseMetadata\":{\"EvtmarkerName\":{\"evtmarker_id\":8,\"name\":\"E\"}}}\n"
	       "{\"BaseMetadata\":{\"ValmarkerName\":{\"valmarker_id\":1,\"name\":\"E.n\"}}}\n"
	       "{\"BaseMetadata\":{\"TsResolutionNs\":{\"ns_per_ts\":10}}}\n"
	       "{\"Base\":{\"ts\":5,\"kind\":{\"Evtmarker\":{\"evtmarker_id\":7,"
	       "\"msg\":\"theirs\"}}}}\n"
	       "{\"Base\":{\"ts\":6,\"kind\":{\"Evtmarker\":{\"evtmarker_id\":8,"
	       "\"msg\":\"n=1\"}}}}\n"
	       "{\"Base\":{\"ts\":6,\"kind\":{\"Valmarker\":{\"valmarker_id\":1,\"val\":1}}}}\n"
	       "{\"Base\":{\"ts\":9,\"kind\":{\"Evtmarker\":{\"evtmarker_id\":7,"
	       "\"msg\":\"theirs\"}}}}\n");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED,
					 "times between two ticks, rounded down"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

Test(tonband_export, treats_a_schema_with_only_the_same_name_as_another_event)
{
	static const struct dial9_field fields[] = { { "core", DIAL9_U32 },
						     { "task_id", DIAL9_STRING } };
	struct dial9_schema *s = schema("tband.task_created", true, fields, 2);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);

	cr_assert_eq(dial9_enc_begin(enc, s, 4), 0);
	dial9_enc_put_u64(enc, 1);
	dial9_enc_put_str(enc, "x", 1);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	cr_assert(strstr(lines.data, "\"msg\":\"core=1 task_id=x\""));
	foreign_notes_fini(&notes);
	buf_free(&lines);
}

Test(tonband_export, reports_truncation_or_damage_and_keeps_the_events_before)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, trace = { 0 }, back = { 0 };

	event(&rec, TONBAND_ISR_ENTER, 5, 7, 0, NULL);
	event(&rec, TONBAND_ISR_EXIT, 6, 7, 0, NULL);
	cr_assert_eq(import(&rec, false, &trace, &notes), 0);
	trace.len--;
	cr_assert_eq(export(&trace, &back, &notes), 0);
	cr_assert_eq(back.len, 5);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 1);
	buf_clear(&back);
	trace.len++;
	buf_addch(&trace, '\x7f');
	cr_assert_eq(export(&trace, &back, &notes), -EBADMSG);
	cr_assert_eq(back.len, rec.len);
	cr_assert_eq(memcmp(back.data, rec.data, rec.len), 0);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&trace);
	buf_free(&back);
}

Test(tonband_export, cuts_too_long_messages)
{
	static const struct dial9_field fields[] = { { "s", DIAL9_STRING } };
	struct dial9_schema *s = schema("E", true, fields, 1);
	struct foreign_notes notes = { 0 };
	struct buf trace = { 0 }, text = { 0 }, lines;
	struct dial9_enc *enc = new_trace(&trace);

	for (int i = 0; i < 50000; i++)
		buf_addstr(&text, "\xc3\xa4");
	cr_assert_eq(dial9_enc_begin(enc, s, 4), 0);
	dial9_enc_put_str(enc, text.data, text.len);
	cr_assert_eq(dial9_enc_end(enc), 0);
	dial9_schema_free(s);
	lines = finish(enc, &trace, &notes);
	cr_assert_lt(lines.len, 65536 + 1000);
	cr_assert_gt(lines.len, 65536);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT,
					 "ends of messages beyond 64 KiB"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(&lines);
}
