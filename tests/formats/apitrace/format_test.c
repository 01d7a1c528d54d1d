// SPDX-License-Identifier: BSD-2-Clause
/*
 * apitrace streams by the tracers of all versions: their contents, compared with an independent decoder's
 * lines; that dial9 gives the same call stream back, at both levels, by two passes and by one; and that damage
 * affects only the damaged part.
 */
#include "tests/formats/apitrace/json_tree.h"
#include "tests/formats/apitrace/support.h"

TestSuite(apitrace, .init = quiet, .timeout = 300);

/* .same: made by the writer of version 6, so that our writer must restore every byte. */
static const struct vector {
	const char *name;
	bool same, refused, damaged;
} vectors[] = {
	{ .name = "es2tri", .same = true },
	{ .name = "glxgears_2chunks", .same = true },
	{ .name = "glxgears_sigkill_header_only" },
	{ .name = "repack_brotli11" },
	{ .name = "repack_gzip" },
	{ .name = "repack_snappy", .same = true },
	{ .name = "repack_zstd_plain" },
	{ .name = "synthetic_v0" },
	{ .name = "synthetic_v2" },
	{ .name = "synthetic_v4" },
	{ .name = "synthetic_v6", .same = true },
	{ .name = "edge_arg_index_beyond_sig", .same = true },
	{ .name = "edge_backtrace_zero_frames", .same = true },
	{ .name = "edge_deep_nesting_64" },
	{ .name = "edge_empty_names" },
	{ .name = "edge_flags_unknown_bits", .same = true },
	{ .name = "edge_frame_duplicate_detail" },
	{ .name = "edge_guid" },
	{ .name = "edge_leave_unknown_call", .same = true },
	{ .name = "edge_minimal_v6", .same = true },
	{ .name = "edge_one_byte_chunks" },
	{ .name = "edge_sig_id_huge", .same = true },
	{ .name = "edge_strings" },
	{ .name = "edge_v2_enum" },
	{ .name = "edge_version_7" },
	{ .name = "bad_array_count" },
	{ .name = "bad_sig_arg_count" },
	{ .name = "bad_deep_nesting_100000", .damaged = true },
	{ .name = "bad_detail_tag", .damaged = true },
	{ .name = "bad_enum_value_tag", .damaged = true },
	{ .name = "bad_frame_tag", .damaged = true },
	{ .name = "bad_value_tag", .damaged = true },
	{ .name = "bad_snappy_offset", .refused = true },
};
#define VECTOR_CNT (sizeof(vectors) / sizeof(vectors[0]))

static struct buf load_trace(const char *name)
{
	char file[96];

	snprintf(file, sizeof(file), "%s.trace", name);
	return load(file, true);
}

static struct buf load_lines(const char *name)
{
	char file[96];

	snprintf(file, sizeof(file), "%s.dump.jsonl%s", name,
		 strcmp(name, "glxgears_2chunks") ? "" : ".gz");
	return load(file, false);
}

static char *next_line(char **rest)
{
	char *line = strsep(rest, "\n");

	return line && *line ? line : NULL;
}

static void assert_same_lines(const char *what, struct buf *got, struct buf *want)
{
	char *a = (char *)buf_cstr(got), *b = (char *)buf_cstr(want), *x, *y;
	size_t n = 0;

	do {
		x = next_line(&a);
		y = next_line(&b);
		n++;
		cr_assert_eq(!x, !y, "%s: line %zu: %.300s, not %.300s", what, n, x ? x : "none",
			     y ? y : "none");
		if (x && strcmp(x, y) != 0)
			cr_assert(tree_same_json(x, y), "%s: line %zu: %.300s, not %.300s", what, n,
				  x, y);
	} while (x);
	cr_assert_gt(n, 1, "%s: no line at all", what);
}

Test(apitrace, dump_equals_an_independent_decoder)
{
	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf trace = load_trace(vectors[i].name);
		struct buf want = load_lines(vectors[i].name), got = { 0 };
		struct foreign_notes notes = { 0 };

		cr_expect_eq(dump(&trace, &got, &notes), vectors[i].refused ? -EBADMSG : 0);
		assert_same_lines(vectors[i].name, &got, &want);
		cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL),
			     vectors[i].damaged, "%s", vectors[i].name);
		foreign_notes_fini(&notes);
		buf_free(&trace);
		buf_free(&want);
		buf_free(&got);
	}
}

Test(apitrace, detects_its_own_files_and_no_others)
{
	static const char *const others[] = {
		"../tonbandgeraet/all_events.bin", "../dial9/core/small.bin",
		"../dial9/tokio-service.bin.gz",   "es2tri.dump.jsonl",
		"glxgears_2chunks.dump.jsonl.gz",
	};

	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf trace = load_trace(vectors[i].name);

		cr_expect_eq(foreign_detect(trace.data, trace.len, true), &apitrace_format, "%s",
			     vectors[i].name);
		buf_free(&trace);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct buf file = load(others[i], true);

		cr_expect_neq(foreign_detect(file.data, file.len, true), &apitrace_format, "%s",
			      others[i]);
		buf_free(&file);
	}
}

/* ---- there and back ---------------------------------------------------------------------------- */

/* Without differences that are allowed: the file's own line, offsets, and lines about damaged or truncated data. */
static struct buf calls_of(const struct buf *trace)
{
	struct foreign_notes notes = { 0 };
	struct buf lines = { 0 }, out = { 0 };
	char *rest, *line, *off, *comma;

	cr_assert_eq(dump(trace, &lines, &notes), 0);
	rest = (char *)buf_cstr(&lines);
	while ((line = next_line(&rest))) {
		if (strstr(line, "{\"file\":") || strstr(line, "\"truncated\":true}") ||
		    strstr(line, "{\"error\":"))
			continue;
		off = strstr(line, "\"off\":");
		comma = strchr(off, ',');
		buf_add(&out, line, (size_t)(off - line));
		buf_addstr(&out, comma);
		buf_addch(&out, '\n');
	}
	foreign_notes_fini(&notes);
	buf_free(&lines);
	return out;
}

static bool valid_dial9(const struct buf *b)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = b->data, .data_sz = b->len };
	struct dial9_dec *dec;
	struct dial9_frame f;
	int ret;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1)
		;
	dial9_dec_free(dec);
	return ret == 0;
}

/* @trace is the vector, and @calls its text. */
static void there_and_back(const struct vector *v, const struct buf *trace, const char *calls,
			   const struct foreign_opts *opts)
{
	struct buf between = { 0 }, back = { 0 }, text;
	struct foreign_notes notes = { 0 };

	cr_assert_eq(import(trace, opts, &between, &notes), 0, "%s", v->name);
	cr_assert(valid_dial9(&between), "%s", v->name);
	cr_assert_eq(export(&between, &back, &notes), 0, "%s", v->name);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 0, "%s", v->name);
	text = calls_of(&back);
	cr_expect_str_eq(buf_cstr(&text), calls, "%s: another call stream", v->name);
	if (v->same)
		cr_expect(back.len == trace->len && !memcmp(back.data, trace->data, trace->len),
			  "%s: other bytes", v->name);
	foreign_notes_fini(&notes);
	buf_free(&text);
	buf_free(&between);
	buf_free(&back);
}

Test(apitrace, every_call_survives_a_round_trip_through_dial9)
{
	static const struct foreign_opts opts[] = {
		{ .level = DIAL9_LEVEL_3 },
		{ .level = DIAL9_LEVEL_4 },
		{ .level = DIAL9_LEVEL_3, .follow = true },
		{ .level = DIAL9_LEVEL_4, .follow = true },
		{ .level = DIAL9_LEVEL_3, .tick_ns = 1000 },
	};

	for (size_t i = 0; i < VECTOR_CNT; i++) {
		struct buf trace, calls;

		if (vectors[i].refused)
			continue;
		trace = load_trace(vectors[i].name);
		calls = calls_of(&trace);
		for (size_t k = 0; k < sizeof(opts) / sizeof(opts[0]); k++)
			there_and_back(&vectors[i], &trace, buf_cstr(&calls), &opts[k]);
		buf_free(&calls);
		buf_free(&trace);
	}
}

Test(apitrace, refuses_input_that_is_not_an_apitrace)
{
	static const struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf trace = load_trace("bad_snappy_offset"), out = { 0 };
	struct foreign_notes notes = { 0 };

	cr_expect_eq(import(&trace, &opts, &out, &notes), -EBADMSG);
	buf_free(&trace);
	buf_free(&out);
	foreign_notes_fini(&notes);
}

/* ---- cut and damaged --------------------------------------------------------------------------- */

static size_t line_cnt(const struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

Test(apitrace, reads_all_whole_events_of_a_truncated_file)
{
	struct buf trace = load_trace("synthetic_v6"), full = calls_of(&trace);
	size_t most = 0;

	for (size_t len = 2; len <= trace.len; len++) {
		struct buf cut = { .data = trace.data, .len = len }, calls = calls_of(&cut);

		cr_assert(!memcmp(buf_cstr(&calls), buf_cstr(&full), calls.len),
			  "cut to %zu bytes: other calls", len);
		cr_assert_geq(line_cnt(&calls), most, "fewer calls in more bytes: %zu", len);
		most = line_cnt(&calls);
		buf_free(&calls);
	}
	cr_expect_eq(most, line_cnt(&full));
	cr_expect_eq(most, 23);
	buf_free(&trace);
	buf_free(&full);
}

Test(apitrace, counts_truncated_data_and_calls_that_never_returned)
{
	static const struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf trace = load_trace("synthetic_v6"), out = { 0 };
	struct foreign_notes notes = { 0 };
	struct buf stream = unpack(&trace, NULL, NULL), cut = pack(stream.data, 1042);

	cr_expect_eq(import(&cut, &opts, &out, &notes), 0);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "the last event is cut off"),
		     1);
	cr_expect_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "calls that never returned"),
		     1);
	buf_free(&trace);
	buf_free(&stream);
	buf_free(&cut);
	buf_free(&out);
	foreign_notes_fini(&notes);
}

Test(apitrace, survives_every_damaged_byte)
{
	static const struct foreign_opts opts = { .level = DIAL9_LEVEL_4 };
	struct buf trace = load_trace("synthetic_v6"), stream = unpack(&trace, NULL, NULL);

	for (size_t i = 0; i < stream.len; i++) {
		struct buf bad, out = { 0 }, back = { 0 };
		struct foreign_notes notes = { 0 };
		char was = stream.data[i];

		stream.data[i] = (char)(was ^ (1 << i % 8));
		bad = pack(stream.data, stream.len);
		if (!import(&bad, &opts, &out, &notes)) {
			cr_assert(valid_dial9(&out), "byte %zu", i);
			cr_assert_eq(export(&out, &back, &notes), 0, "byte %zu", i);
		}
		stream.data[i] = was;
		foreign_notes_fini(&notes);
		buf_free(&bad);
		buf_free(&out);
		buf_free(&back);
	}
	buf_free(&trace);
	buf_free(&stream);
}
