// SPDX-License-Identifier: BSD-2-Clause
/*
 * dial9 traces of any origin as apitrace ones, and imported ones that were tampered with: which calls they
 * become, what is reported as not kept, and a comparison with apitrace's own tool in both directions if it is
 * installed.
 */
#include "tests/formats/apitrace/json_tree.h"
#include "tests/formats/apitrace/support.h"

#include <sys/stat.h>
#include <sys/wait.h>

TestSuite(apitrace_export, .init = quiet, .timeout = 300);

struct app {
	struct dial9_enc *enc;
	struct buf bytes;
};

static void app_begin(struct app *a, int level)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts),
				       .write = add_to_buf,
				       .ctx = &a->bytes,
				       .level = level,
				       .first_type_id = 256 };

	a->bytes = (struct buf){ 0 };
	cr_assert_eq(dial9_enc_new(&opts, &a->enc), 0);
}

static struct buf app_export(struct app *a, struct foreign_notes *notes)
{
	struct buf out = { 0 };

	cr_assert_eq(dial9_enc_flush(a->enc), 0);
	dial9_enc_free(a->enc);
	cr_assert_eq(export(&a->bytes, &out, notes), 0);
	buf_free(&a->bytes);
	return out;
}

static struct dial9_schema *schema(const char *name, const struct dial9_field *fields, size_t cnt)
{
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new(name, true, fields, cnt, &s), 0);
	return s;
}

/* The lines of the dump after the first are these, as far as they go. */
static void assert_lines(const struct buf *trace, const char *const *want, size_t cnt)
{
	struct foreign_notes notes = { 0 };
	struct buf lines = { 0 };
	char *rest, *line;

	cr_assert_eq(dump(trace, &lines, &notes), 0);
	cr_expect_eq(notes.cnt, 0);
	rest = (char *)buf_cstr(&lines);
	strsep(&rest, "\n");
	for (size_t i = 0; i < cnt; i++) {
		line = strsep(&rest, "\n");
		cr_assert(line && *line, "line %zu is missing", i);
		cr_expect(tree_same_json(line, want[i]), "line %zu: %s, not %s", i, line, want[i]);
	}
	cr_expect(!rest || !*rest, "more: %s", rest);
	buf_free(&lines);
	foreign_notes_fini(&notes);
}

Test(apitrace_export, event_is_a_call_that_returns_at_once)
{
	static const struct dial9_field fields[] = {
		{ "b", DIAL9_BOOL },
		{ "u", DIAL9_U8 },
		{ "i", DIAL9_I64 },
		{ "d", DIAL9_F64 },
		{ "s", DIAL9_POOLED_STRING },
		{ "nul", DIAL9_STRING },
		{ "raw", DIAL9_BYTES },
		{ "m", DIAL9_STRING_MAP },
		{ "o", DIAL9_VARINT | DIAL9_OPTIONAL },
		{ "l", DIAL9_LIST },
	};
	static const char *const want[] = {
		"{\"ev\":\"enter\",\"off\":165,\"no\":0,\"thread\":0,\"fn\":\"Tick\",\"sig\":4,\"args\":["
		"[0,\"timestamp_ns\",{\"u\":5000}],[1,\"b\",true],[2,\"u\",{\"u\":200}],"
		"[3,\"i\",{\"i\":-9223372036854775808}],[4,\"d\",{\"d\":1.5,\"bits\":\"3ff8000000000000\"}],"
		"[5,\"s\",{\"s\":\"pool\"}],[6,\"nul\",{\"blob\":3,\"hex\":\"610062\"}],"
		"[7,\"raw\",{\"blob\":1,\"hex\":\"ff\"}],[8,\"m\",{\"a\":[{\"a\":[{\"s\":\"k\"},{\"s\":\"v\"}]}]}],"
		"[9,\"o\",null],[10,\"l\",{\"a\":[{\"u\":1},{\"a\":[false]}]}]]}",
		"{\"ev\":\"leave\",\"off\":293,\"no\":0,\"args\":[]}",
	};
	struct dial9_str pair[1][2] = { { { "k", 1 }, { "v", 1 } } };
	struct dial9_schema *s = schema("Tick", fields, sizeof(fields) / sizeof(fields[0]));
	struct foreign_notes notes = { 0 };
	struct app app;
	struct buf out;

	app_begin(&app, DIAL9_LEVEL_4);
	cr_assert_eq(dial9_enc_begin(app.enc, s, 5000), 0);
	dial9_enc_put_bool(app.enc, true);
	dial9_enc_put_u64(app.enc, 200);
	dial9_enc_put_i64(app.enc, INT64_MIN);
	dial9_enc_put_f64(app.enc, 1.5);
	dial9_enc_put_str(app.enc, "pool", 4);
	dial9_enc_put_str(app.enc, "a\0b", 3);
	dial9_enc_put_bytes(app.enc, "\xff", 1);
	dial9_enc_put_map(app.enc, (const struct dial9_str(*)[2])pair, 1);
	dial9_enc_put_none(app.enc);
	dial9_enc_open_list(app.enc);
	dial9_enc_put_u64(app.enc, 1);
	dial9_enc_open_list(app.enc);
	dial9_enc_put_bool(app.enc, false);
	dial9_enc_close(app.enc);
	dial9_enc_close(app.enc);
	cr_assert_eq(dial9_enc_end(app.enc), 0);
	out = app_export(&app, &notes);
	assert_lines(&out, want, 2);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 1);
	dial9_schema_free(s);
	buf_free(&out);
	foreign_notes_fini(&notes);
}

static void span(struct app *a, const struct dial9_schema *s, uint64_t ts, uint64_t worker,
		 uint64_t id)
{
	cr_assert_eq(dial9_enc_begin(a->enc, s, ts), 0);
	dial9_enc_put_u64(a->enc, worker);
	dial9_enc_put_u64(a->enc, id);
	cr_assert_eq(dial9_enc_end(a->enc), 0);
}

static struct buf function_lines(const struct buf *trace)
{
	struct foreign_notes notes = { 0 };
	struct buf lines = { 0 }, out = { 0 };
	char *rest, *line, ev[8];
	unsigned int no;
	char *at;

	cr_assert_eq(dump(trace, &lines, &notes), 0);
	rest = (char *)buf_cstr(&lines);
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && *line) {
		cr_assert_eq(sscanf(line, "{\"ev\":\"%5[a-z]\"", ev), 1);
		cr_assert_eq(sscanf(strstr(line, "\"no\":"), "\"no\":%u", &no), 1);
		at = strstr(line, "\"thread\":");
		buf_printf(&out, "%s %u%s%c ", ev, no, at ? " @" : "", at ? at[9] : ' ');
	}
	foreign_notes_fini(&notes);
	buf_free(&lines);
	return out;
}

Test(apitrace_export, span_is_a_call_from_its_begin_to_its_end)
{
	static const struct dial9_field fields[] = { { "worker_id", DIAL9_VARINT },
						     { "span_id", DIAL9_VARINT } };
	struct dial9_schema *enter = schema("SpanEnter:load", fields, 2);
	struct dial9_schema *exit = schema("SpanExit:load", fields, 2);
	struct dial9_schema *other = schema("SpanExit:store", fields, 2);
	struct foreign_notes notes = { 0 };
	struct buf out, got;
	struct app app;

	app_begin(&app, DIAL9_LEVEL_3);
	span(&app, enter, 10, 7, 1); /* 0, on the first worker there is */
	span(&app, enter, 20, 9, 1); /* 1: the same span elsewhere is another call */
	span(&app, enter, 30, 7, 2); /* 2 inside of 0 */
	span(&app, other, 40, 7, 2); /* 3: an end without a start is a separate call */
	span(&app, exit, 50, 7, 1); /* ends 0 before 2 */
	span(&app, exit, 60, 9, 1);
	out = app_export(&app, &notes);
	got = function_lines(&out);
	cr_expect_str_eq(buf_cstr(&got), "enter 0 @0 enter 1 @1 enter 2 @0 enter 3 @0 leave 3  "
					 "leave 0  leave 1  ");
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "spans without an end"), 1);
	dial9_schema_free(enter);
	dial9_schema_free(exit);
	dial9_schema_free(other);
	buf_free(&got);
	buf_free(&out);
	foreign_notes_fini(&notes);
}

Test(apitrace_export, stacks_have_addresses_and_known_symbols)
{
	static const struct dial9_field sample[] = { { "callchain", DIAL9_STACK } };
	static const struct dial9_field symbol[] = {
		{ "addr", DIAL9_VARINT },	 { "size", DIAL9_VARINT },
		{ "symbol_name", DIAL9_STRING }, { "inline_depth", DIAL9_VARINT },
		{ "source_file", DIAL9_STRING }, { "source_line", DIAL9_VARINT },
	};
	static const uint64_t frames[] = { 0x2000, 0x3000 };
	static const char *const want[] = {
		"{\"ev\":\"enter\",\"off\":220,\"no\":0,\"thread\":0,\"fn\":\"Sample\",\"sig\":4,\"args\":["
		"[0,\"timestamp_ns\",{\"u\":1}],[1,\"callchain\",{\"a\":[{\"p\":8192},{\"p\":12288}]}]],"
		"\"backtrace\":[{\"id\":0,\"offset\":8192},"
		"{\"id\":1,\"function\":\"main\",\"file\":\"main.c\",\"line\":12,\"offset\":12288}]}",
	};
	struct dial9_schema *a = schema("Sample", sample, 1);
	struct dial9_schema *b = schema("SymbolTableEntry", symbol, 6);
	struct foreign_notes notes = { 0 };
	struct buf out, lines = { 0 };
	struct app app;
	char *rest;

	app_begin(&app, DIAL9_LEVEL_3);
	cr_assert_eq(dial9_enc_begin(app.enc, a, 1), 0);
	dial9_enc_put_stack(app.enc, frames, 2);
	cr_assert_eq(dial9_enc_end(app.enc), 0);
	cr_assert_eq(dial9_enc_begin(app.enc, b, 2), 0);
	dial9_enc_put_u64(app.enc, 0x3000);
	dial9_enc_put_u64(app.enc, 1);
	dial9_enc_put_str(app.enc, "main", 4);
	dial9_enc_put_u64(app.enc, 0);
	dial9_enc_put_str(app.enc, "main.c", 6);
	dial9_enc_put_u64(app.enc, 12);
	cr_assert_eq(dial9_enc_end(app.enc), 0);
	out = app_export(&app, &notes);
	cr_assert_eq(dump(&out, &lines, &notes), 0);
	rest = (char *)buf_cstr(&lines);
	strsep(&rest, "\n");
	rest = strsep(&rest, "\n");
	cr_expect(tree_same_json(rest, want[0]), "%s", rest);
	dial9_schema_free(a);
	dial9_schema_free(b);
	buf_free(&lines);
	buf_free(&out);
	foreign_notes_fini(&notes);
}

/* ---- imported traces that are not as the import left them ------------------------------------------ */

static bool drop_call(const struct dial9_event *ev)
{
	int i = dial9_schema_find(ev->schema, "call");

	return i == 1 && ev->values[1].u64 == 3;
}

/* A copy without some events, and with pools kept. */
static struct buf without(const struct buf *trace, bool (*drop)(const struct dial9_event *))
{
	struct dial9_dec_opts dec_opts = { .sz = sizeof(dec_opts),
					   .data = trace->data,
					   .data_sz = trace->len };
	struct dial9_iter it;
	struct dial9_dec *dec;
	struct dial9_frame f;
	struct dial9_str s;
	struct app app;
	uint32_t id;

	app_begin(&app, DIAL9_LEVEL_3);
	cr_assert_eq(dial9_dec_new(&dec_opts, &dec), 0);
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind == DIAL9_FRAME_STRINGS) {
			it = f.pool.iter;
			while (dial9_strings_next(&it, &id, &s) == 1)
				dial9_enc_define_string(app.enc, id, s.ptr, s.len);
		} else if (f.kind == DIAL9_FRAME_EVENT && !drop(&f.event)) {
			cr_assert_eq(dial9_enc_write(app.enc, f.event.schema, f.event.ts,
						     f.event.values, f.event.value_cnt),
				     0);
		}
	}
	cr_assert_eq(dial9_enc_flush(app.enc), 0);
	dial9_enc_free(app.enc);
	dial9_dec_free(dec);
	return app.bytes;
}

Test(apitrace_export, trace_without_some_calls_is_renumbered)
{
	static const struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf trace = load("synthetic_v6.trace", true), between = { 0 }, back = { 0 };
	struct foreign_notes notes = { 0 };
	struct buf fewer, got;

	cr_assert_eq(import(&trace, &opts, &between, &notes), 0);
	fewer = without(&between, drop_call);
	cr_assert_eq(export(&fewer, &back, &notes), 0);
	got = function_lines(&back);
	/* Call 4 is call 3 from here on, and its leave refers to 3. */
	cr_expect_str_eq(
		buf_cstr(&got),
		"enter 0 @0 leave 0  enter 1 @0 leave 1  enter 2 @0 enter 3 @2 leave 3  "
		"leave 2  enter 4 @1 leave 4  enter 5 @0 leave 5  enter 6 @0 leave 6  "
		"enter 7 @0 leave 7  enter 8 @3 leave 8  enter 9 @5 enter 10 @0 leave 10  ");
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT,
					 "gaps in the order of events: calls are renumbered"),
		     2);
	buf_free(&trace);
	buf_free(&between);
	buf_free(&fewer);
	buf_free(&back);
	buf_free(&got);
	foreign_notes_fini(&notes);
}

static bool drop_tables(const struct dial9_event *ev)
{
	const char *name = dial9_schema_name(ev->schema);

	return !strcmp(name, "apitrace.struct") || !strcmp(name, "apitrace.enum");
}

/*
 * One call with a stack of four frames; the ids of the stream are 2^40, 0, 2^40 again and 1. A reader's array
 * would need 2^40 elements, so the first is renumbered, and the others are moved.
 */
Test(apitrace_export, frame_ids_that_are_too_large_are_renumbered)
{
	static const char in[] = "\6\6\0" /* version, semantic version, no properties */
				 "\0\0\0\1f\0" /* enter, thread, function 0: f, no arguments */
				 "\4\4" /* stack of four */
				 "\x80\x80\x80\x80\x80\x20\2\1a\0"
				 "\0\2\1b\0"
				 "\x80\x80\x80\x80\x80\x20"
				 "\1\2\1c\0"
				 "\0\1\0\0"; /* end of the enter; leave of call 0 */
	static const char want[] = "\6\6\0"
				   "\0\0\0\1f\0"
				   "\4\4"
				   "\0\2\1a\0"
				   "\1\2\1b\0"
				   "\0"
				   "\2\2\1c\0"
				   "\0\1\0\0";
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf trace = pack(in, sizeof(in) - 1), dial9 = { 0 }, out = { 0 }, stream;
	struct foreign_notes notes = { 0 };

	cr_assert_eq(import(&trace, &opts, &dial9, &notes), 0);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT,
					 "frame ids that no program made: backtraces may be wrong"),
		     1);
	cr_assert_eq(export(&dial9, &out, &notes), 0);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED,
					 "frame ids that no program made, renumbered"),
		     3);
	stream = unpack(&out, NULL, NULL);
	cr_assert_eq(stream.len, sizeof(want) - 1);
	cr_expect(!memcmp(stream.data, want, stream.len));
	buf_free(&trace);
	buf_free(&dial9);
	buf_free(&out);
	buf_free(&stream);
	foreign_notes_fini(&notes);
}

Test(apitrace_export, values_without_their_signature_are_counted_as_not_kept)
{
	static const struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf trace = load("synthetic_v6.trace", true), between = { 0 }, back = { 0 };
	struct foreign_notes notes = { 0 };
	struct buf fewer, lines = { 0 };

	cr_assert_eq(import(&trace, &opts, &between, &notes), 0);
	fewer = without(&between, drop_tables);
	cr_assert_eq(export(&fewer, &back, &notes), 0);
	cr_expect_gt(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 2);
	cr_expect_eq(dump(&back, &lines, &notes), 0);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 0);
	cr_expect(strstr(buf_cstr(&lines), "\"no\":11"));
	buf_free(&trace);
	buf_free(&between);
	buf_free(&fewer);
	buf_free(&back);
	buf_free(&lines);
	foreign_notes_fini(&notes);
}

/* ---- the judge --------------------------------------------------------------------------------- */

/* The output of `apitrace dump` for these bytes; false if there is no such program, or it failed. */
static bool judge(const struct buf *trace, struct buf *out)
{
	char path[] = "/tmp/d9-apitrace-XXXXXX", command[128], piece[4096];
	int fd = mkstemp(path), status;
	size_t n;
	FILE *f;

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, trace->data, trace->len), (ssize_t)trace->len);
	close(fd);
	snprintf(command, sizeof(command), "timeout 60 apitrace dump -v --color=never %s", path);
	f = popen(command, "r");
	cr_assert(f);
	while ((n = fread(piece, 1, sizeof(piece), f)))
		buf_add(out, piece, n);
	status = pclose(f);
	unlink(path);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool has_judge(void)
{
	if (!system("command -v apitrace >/dev/null"))
		return true;
	cr_log_warn("apitrace is not installed: its verdict was not asked");
	return false;
}

Test(apitrace_export, reference_tool_prints_the_same_before_and_after)
{
	static const struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	static const char *const names[] = {
		"es2tri",
		"glxgears_2chunks",
		"repack_brotli11",
		"repack_gzip",
		"repack_snappy",
		"synthetic_v0",
		"synthetic_v2",
		"synthetic_v4",
		"synthetic_v6",
		"edge_guid",
		"edge_deep_nesting_64",
		"edge_strings",
		"edge_v2_enum",
		"edge_leave_unknown_call",
		"edge_frame_duplicate_detail",
		"edge_empty_names",
	};

	if (!has_judge())
		cr_skip_test();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf between = { 0 }, back = { 0 }, before = { 0 }, after = { 0 }, trace;
		struct foreign_notes notes = { 0 };
		char file[96];

		snprintf(file, sizeof(file), "%s.trace", names[i]);
		trace = load(file, true);
		cr_assert_eq(import(&trace, &opts, &between, &notes), 0);
		cr_assert_eq(export(&between, &back, &notes), 0);
		cr_expect(judge(&trace, &before), "%s", names[i]);
		cr_expect(judge(&back, &after), "%s", names[i]);
		cr_expect_gt(before.len, 20, "%s", names[i]);
		cr_expect(before.len == after.len && !memcmp(before.data, after.data, after.len),
			  "%s: another dump", names[i]);
		foreign_notes_fini(&notes);
		buf_free(&trace);
		buf_free(&between);
		buf_free(&back);
		buf_free(&before);
		buf_free(&after);
	}
}

Test(apitrace_export, reference_tool_reads_the_trace_of_a_service)
{
	struct buf trace = load("../dial9/tokio-service.bin.gz", false), out = { 0 }, text = { 0 };
	struct foreign_notes notes = { 0 };
	char *rest, *line;
	size_t calls = 0;

	if (!has_judge())
		cr_skip_test();
	cr_assert_eq(export(&trace, &out, &notes), 0);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 0);
	cr_assert(judge(&out, &text));
	cr_expect(strstr(buf_cstr(&text), "ClockSyncEvent(timestamp_ns = 503226032430072, "
					  "realtime_ns = 1778867710078081994)"));
	rest = text.data;
	while ((line = strsep(&rest, "\n")))
		calls += strstr(line, "(timestamp_ns = ") != NULL;
	cr_expect_eq(calls, 145335, "%zu", calls);
	buf_free(&trace);
	buf_free(&out);
	buf_free(&text);
	foreign_notes_fini(&notes);
}
