// SPDX-License-Identifier: BSD-2-Clause
/*
 * The traces under tests/golden/dial9, written by another implementation: their events, which are refused and
 * where, and that writing them again loses nothing.
 */
#include "tests/libdial9/support.h"

#include <zlib.h>

static const char *const accepted[] = {
	"core/header_only", "core/all_types",	 "core/optional", "core/no_timestamp",
	"core/string_pool", "core/schema_edges", "core/map_keys", "core/small",
	"ext/stack_pool",   "ext/annotations",	 "ext/dynamic",	  "ext/mid_header",
	"ext/small",	    "mixed_1k",
};
#define ACCEPTED_CNT (sizeof(accepted) / sizeof(accepted[0]))

static struct bytes load_bin(const char *stem)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.bin", stem);
	return load("", name);
}

static struct bytes load_expected(const char *stem)
{
	char name[64], *slash;

	snprintf(name, sizeof(name), "%s.ndjson", stem);
	slash = strchr(name, '/');
	if (slash)
		*slash = '-';
	return load("expected/", name);
}

/* The vectors have an unescaped byte order mark; dump --json escapes it, so that it is visible. */
static const char *same_text(const char **got, const char *want)
{
	static const char mark[] = "\xef\xbb\xbf", escaped[] = "\\ufeff";

	if (strncmp(want, mark, strlen(mark)) != 0 || strncmp(*got, escaped, strlen(escaped)) != 0)
		return want;
	*got += strlen(escaped);
	return want + strlen(mark);
}

/* The lines are equal; in the last line, the members that the format defines. */
static void assert_lines(const char *stem, const char *got, const char *want)
{
	static const char *const keys[] = { "\"status\":", "\"frames\":", "\"events\":",
					    "\"consumed\":" };
	const char *end = strstr(want, "{\"f\":\"end\"");
	const char *a, *b;
	size_t i, len;

	cr_assert(end);
	for (; want < end; got++, want++) {
		want = same_text(&got, want);
		cr_assert_eq(*got, *want, "%s: %.60s, not %.60s", stem, got, want);
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		a = strstr(got, keys[i]);
		b = strstr(end, keys[i]);
		cr_assert(a && b, "%s: %s", stem, keys[i]);
		len = strcspn(b, ",}");
		cr_assert_eq(strcspn(a, ",}"), len);
		cr_assert_eq(strncmp(a, b, len), 0, "%s: %.30s, not %.30s", stem, a, b);
	}
	cr_assert_eq(strchr(got, '\n')[1], 0, "%s: more after the end", stem);
}

static void check_decode(const char *stem, size_t step)
{
	struct bytes bin = load_bin(stem), want = load_expected(stem);
	struct feed feed = { bin.p, bin.n, 0, step, 0 };
	struct dial9_dec *dec = step ? dec_feed(&feed) : dec_memory(bin.p, bin.n);
	struct dump_tally tally;
	char *got;
	int err;

	got = dump_lines(dec, &tally, &err);
	cr_assert_eq(err, 0, "%s: %d", stem, err);
	assert_lines(stem, got, (char *)want.p);
	dial9_dec_free(dec);
	free(got);
	free(bin.p);
	free(want.p);
}

Test(golden, decodes_every_accepted_vector_from_memory)
{
	size_t i;

	for (i = 0; i < ACCEPTED_CNT; i++)
		check_decode(accepted[i], 0);
}

Test(golden, decodes_every_accepted_vector_from_a_stream_in_odd_chunks)
{
	size_t i;

	for (i = 0; i < ACCEPTED_CNT; i++) {
		check_decode(accepted[i], 1009);
		check_decode(accepted[i], 1 << 20);
	}
}

Test(golden, decodes_small_vectors_byte_by_byte)
{
	check_decode("core/small", 1);
	check_decode("ext/small", 1);
	check_decode("ext/dynamic", 1);
	check_decode("core/string_pool", 1);
}

/* Our result, if the text leaves it open or predates level 0.4: see FORMAT.md. */
static const struct verdict {
	const char *name;
	int err;
	unsigned int events;
} ours[] = {
	{ "varint_nonminimal_10", 0, 3 },
	{ "varint_overflow_02", -EBADMSG, 1 },
	{ "unknown_tag_10", -EPROTONOSUPPORT, 1 },
	{ "unknown_tag_80", -EPROTONOSUPPORT, 1 },
	{ "unknown_tag_ff", -EPROTONOSUPPORT, 1 },
	{ "utf8_string_surrogate", 0, 3 },
	{ "utf8_map_val", 0, 3 },
	{ "utf8_schema_name", 0, 2 },
	{ "utf8_field_name", 0, 2 },
	{ "opt_prefix_ff", -EBADMSG, 1 },
	{ "has_ts_02", -EBADMSG, 1 },
	{ "mid_header_version_9", -EBADMSG, 1 },
	{ "tag_04", 0, 2 },
	{ "unknown_field_type_0e", 0, 2 },
	{ "unknown_field_type_8e", 0, 2 },
	/* These end early; a reader cannot know that the rest will not come. */
	{ "empty", -ENODATA, 0 },
	{ "ext_annot_count_ffff", -ENODATA, 1 },
	{ "schema_fields_ffff", -ENODATA, 1 },
	{ "string_len_beyond_1", -ENODATA, 1 },
};

static const struct verdict *our_verdict(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(ours[i].name, name))
			return &ours[i];
	return NULL;
}

static void check_hostile(const char *name, const char *expect_lines, unsigned int events)
{
	const struct verdict *own = our_verdict(name);
	struct verdict v = { name, !strcmp(expect_lines, "accept") ? 0 : -EBADMSG, events };
	struct dump_tally tally;
	struct dial9_dec *dec;
	struct feed feed;
	struct bytes bin;
	char path[80];
	size_t step;
	int err;

	if (own)
		v = *own;
	cr_assert(own || strcmp(expect_lines, "impl"), "%s: no verdict", name);
	snprintf(path, sizeof(path), "%s.bin", name);
	bin = load("hostile/", path);
	for (step = 0; step < 3; step++) {
		feed = (struct feed){ bin.p, bin.n, 0, step, 0 };
		dec = step ? dec_feed(&feed) : dec_memory(bin.p, bin.n);
		free(dump_lines(dec, &tally, &err));
		cr_expect_eq(err == -E2BIG ? -EBADMSG : err, v.err, "%s: %d", name, err);
		cr_expect_eq(tally.events, v.events, "%s: %d events", name, (int)tally.events);
		dial9_dec_free(dec);
	}
	free(bin.p);
}

Test(golden, result_for_hostile_vectors_equals_the_manifest)
{
	struct bytes manifest = load("", "MANIFEST.tsv");
	char *line = strtok((char *)manifest.p, "\n"), name[64], verdict[16];
	unsigned int events, seen = 0;

	for (; line; line = strtok(NULL, "\n")) {
		if (sscanf(line, "hostile/%63[^.].bin\t%*s\t%15s\t%u", name, verdict, &events) !=
			    3 ||
		    !strcmp(name, "many_resets"))
			continue;
		check_hostile(name, verdict, events);
		seen++;
	}
	cr_assert_eq(seen, 41);
	free(manifest.p);
}

/* many_resets of the manifest, made here: 300,000 resets to 5 ns and an event. */
Test(golden, survives_many_resets_in_a_row)
{
	static const uint8_t head[] = { HEADER, 1, 0, 0, 4, 0, 'T', 'i', 'c',
					'k',	1, 1, 0, 1, 0, 'n', 9 };
	static const uint8_t reset[] = { 5, 5, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t event[] = { 2, 0, 0, 3, 0, 0, 1 };
	const size_t cnt = 300000;
	size_t i, n = sizeof(head) + cnt * sizeof(reset) + sizeof(event);
	uint8_t *p = malloc(n);
	struct dump_tally tally;
	struct dial9_dec *dec;
	char *text;
	int err;

	memcpy(p, head, sizeof(head));
	for (i = 0; i < cnt; i++)
		memcpy(p + sizeof(head) + i * sizeof(reset), reset, sizeof(reset));
	memcpy(p + n - sizeof(event), event, sizeof(event));
	dec = dec_memory(p, n);
	text = dump_lines(dec, &tally, &err);
	cr_assert_eq(err, 0);
	cr_assert_eq(tally.events, 1);
	cr_assert(strstr(text, "\"name\":\"Tick\",\"ts\":8,"));
	dial9_dec_free(dec);
	free(text);
	free(p);
}

static ssize_t gz_read(void *ctx, void *buf, size_t sz)
{
	return gzread(ctx, buf, sz > 1 << 30 ? 1 << 30 : (unsigned int)sz);
}

Test(golden, decodes_a_real_service_trace_whole)
{
	struct dial9_dec_opts o = { .sz = sizeof(o), .read = gz_read };
	const char *top = getenv("D9_TOP");
	unsigned int events = 0, heads = 0;
	struct dial9_dec *dec;
	struct dial9_frame f;
	char path[512];
	int err;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/tokio-service.bin.gz", top ? top : ".");
	o.ctx = gzopen(path, "rb");
	cr_assert(o.ctx);
	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	while ((err = dial9_dec_next(dec, &f)) == 1) {
		events += f.kind == DIAL9_FRAME_EVENT;
		heads += f.kind == DIAL9_FRAME_MIDHEADER;
	}
	cr_assert_eq(err, 0);
	cr_assert_eq(events, 210639);
	cr_assert_eq(heads, 13);
	cr_assert_eq(dial9_dec_consumed(dec), 4047237);
	dial9_dec_free(dec);
	gzclose(o.ctx);
}

/* Writes one frame again; the encoder writes resets itself. */
static int copy_frame(struct dial9_enc *enc, const struct dial9_dec *dec,
		      const struct dial9_frame *f)
{
	struct dial9_iter it = f->pool.iter;
	struct dial9_str s, key, value;
	uint64_t frames[64];
	const uint8_t *le;
	uint16_t field;
	uint32_t id, cnt, i;
	int err = 0;

	switch (f->kind) {
	case DIAL9_FRAME_HEADER:
	case DIAL9_FRAME_RESET:
		return 0;
	case DIAL9_FRAME_MIDHEADER:
		return dial9_enc_reset(enc);
	case DIAL9_FRAME_SCHEMA:
		return dial9_enc_register(enc, f->schema.schema, f->schema.type_id);
	case DIAL9_FRAME_STRINGS:
		while (!err && dial9_strings_next(&it, &id, &s) > 0)
			err = dial9_enc_define_string(enc, id, s.ptr, s.len);
		return err;
	case DIAL9_FRAME_STACKS:
		while (!err && dial9_stacks_next(&it, &id, &le, &cnt) > 0) {
			cr_assert_leq(cnt, 64);
			for (i = 0; i < cnt; i++)
				frames[i] = dial9_frame_at(le, i);
			err = dial9_enc_define_stack(enc, id, frames, cnt);
		}
		return err;
	case DIAL9_FRAME_ANNOTATIONS:
		while (!err && dial9_annotations_next(&it, &field, &key, &value) > 0)
			if (dial9_dec_schema(dec, f->pool.type_id))
				err = dial9_enc_annotate(enc,
							 dial9_dec_schema(dec, f->pool.type_id),
							 field, key, value);
		return err;
	case DIAL9_FRAME_EVENT:
		return dial9_enc_write(enc, f->event.schema, f->event.ts, f->event.values,
				       f->event.value_cnt);
	}
	return -EINVAL;
}

/* The schema and event lines of a dump, which must survive any other rearrangement. */
static char *content_lines(struct dial9_dec *dec)
{
	struct dump_tally tally;
	char *text, *line, *next, *to;
	int err;

	text = dump_lines(dec, &tally, &err);
	cr_assert_eq(err, 0, "%d: %s", err, strstr(text, "{\"f\":\"end\""));
	to = text;
	for (line = text; *line; line = next) {
		next = strchr(line, '\n') + 1;
		if (strncmp(line, "{\"f\":\"schema\"", 13) &&
		    strncmp(line, "{\"f\":\"event\"", 12) &&
		    strncmp(line, "{\"f\":\"midheader\"", 16))
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
	return text;
}

static void check_copy(const char *stem)
{
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct bytes bin = load_bin(stem);
	struct dial9_dec *dec = dec_memory(bin.p, bin.n), *again;
	char *before = content_lines(dec), *after;
	struct dial9_frame f;
	struct dial9_enc *enc;
	const uint8_t *p;
	size_t n;
	int err;

	dial9_dec_free(dec);
	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	dec = dec_memory(bin.p, bin.n);
	while ((err = dial9_dec_next(dec, &f)) == 1)
		cr_assert_eq(copy_frame(enc, dec, &f), 0, "%s: frame at %d", stem, (int)f.offset);
	cr_assert_eq(err, 0);
	p = enc_bytes(enc, &n);
	again = dec_memory(p, n);
	after = content_lines(again);
	cr_assert_str_eq(after, before, "%s", stem);
	dial9_dec_free(again);
	dial9_dec_free(dec);
	dial9_enc_free(enc);
	free(before);
	free(after);
	free(bin.p);
}

Test(golden, decodes_to_the_same_events_after_a_rewrite)
{
	size_t i;

	for (i = 0; i < ACCEPTED_CNT; i++)
		check_copy(accepted[i]);
}

/* Number of whole frames before `cut`, and whether it is between frames. */
static unsigned int frames_before(const struct bytes *bin, size_t cut, bool *between)
{
	struct dial9_dec *dec = dec_memory(bin->p, bin->n);
	struct dial9_frame f;
	unsigned int cnt = 0;

	*between = false;
	while (dial9_dec_next(dec, &f) == 1 && dial9_dec_consumed(dec) <= cut) {
		*between = dial9_dec_consumed(dec) == cut;
		cnt++;
	}
	dial9_dec_free(dec);
	return cnt;
}

static void check_cuts(const char *stem)
{
	struct bytes bin = load_bin(stem);
	struct dial9_dec *dec;
	struct dial9_frame f;
	struct dial9_error e;
	unsigned int cnt, want;
	struct feed feed;
	size_t cut, i;
	bool between;
	int err;

	for (cut = 0; cut < bin.n; cut++) {
		want = frames_before(&bin, cut, &between);
		for (i = 0; i < 2; i++) {
			feed = (struct feed){ bin.p, cut, 0, 13, 0 };
			dec = i ? dec_feed(&feed) : dec_memory(bin.p, cut);
			for (cnt = 0; (err = dial9_dec_next(dec, &f)) == 1; cnt++)
				;
			cr_assert_eq(cnt, want, "%s cut at %zu", stem, cut);
			cr_assert_eq(err, between ? 0 : -ENODATA, "%s cut at %zu: %d", stem, cut,
				     err);
			dial9_dec_error(dec, &e);
			cr_assert_eq(e.offset, dial9_dec_consumed(dec));
			dial9_dec_free(dec);
		}
	}
	free(bin.p);
}

Test(golden, returns_all_whole_frames_of_every_truncation)
{
	check_cuts("core/small");
	check_cuts("ext/small");
}

/* A file that grows by one byte at a time is followed to its end, through the same decoder. */
Test(golden, follows_a_growing_file)
{
	struct bytes bin = load_bin("ext/small");
	struct feed feed = { bin.p, 0, 0, bin.n, 0 };
	struct dial9_dec *dec = dec_feed(&feed);
	struct dial9_frame f;
	unsigned int cnt = 0, want;
	bool between;
	int err;

	for (; feed.n <= bin.n; feed.n++) {
		while ((err = dial9_dec_next(dec, &f)) == 1)
			cnt++;
		want = frames_before(&bin, feed.n, &between);
		cr_assert_eq(cnt, want);
		cr_assert_eq(err, between ? 0 : -ENODATA);
	}
	dial9_dec_free(dec);
	free(bin.p);
}
