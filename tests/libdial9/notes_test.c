// SPDX-License-Identifier: BSD-2-Clause
/*
 * Annotations of fields, written all at once and asked for by field and key: the frame of another
 * implementation, and streams by hand.
 */
#include "tests/libdial9/support.h"

/* Type 0: "T" with a timestamp and one field "n", a varint. */
#define T_SCHEMA 1, 0, 0, 1, 0, 'T', 1, 1, 0, 1, 0, 'n', 9
#define NOTE(field, key, value) field, 0, 1, 0, key, 1, 0, 0, 0, value
#define HEADER_SZ 5
#define T_SCHEMA_SZ 13
#define NOTE_SZ 10

static struct dial9_str str(const char *s)
{
	return (struct dial9_str){ s, strlen(s) };
}

/* Decodes up to the last frame; returns the last result. */
static int run(struct dial9_dec *dec)
{
	struct dial9_frame f;
	int err;

	do {
		err = dial9_dec_next(dec, &f);
	} while (err == 1);
	return err;
}

#define assert_note(dec, id, field, key, want)                                                     \
	do {                                                                                       \
		struct dial9_str got_ = { 0 };                                                     \
		cr_assert_eq(dial9_dec_annotation(dec, id, field, key, &got_), 0);                 \
		cr_assert_eq(got_.len, strlen(want));                                              \
		cr_assert_eq(memcmp(got_.ptr, want, got_.len), 0);                                 \
	} while (0)

/* The notes of ext/annotations.bin: its first frame of notes begins at 0x22. */
static const struct dial9_annotation of_vector[] = {
	{ 0, { "unit", 4 }, { "\xc2\xb5s", 3 } },
	{ 1, { "", 0 }, { "", 0 } },
	{ 0, { "display", 7 }, { "hist", 4 } },
	{ 65535, { "field out of range", 18 }, { "x", 1 } },
};

Test(notes, all_notes_at_once_equal_the_frame_of_another_writer)
{
	const struct dial9_field fields[] = { { "d", DIAL9_VARINT }, { "e", DIAL9_U8 } };
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4, .first_type_id = 1 };
	struct bytes bin = load("", "ext/annotations.bin");
	struct dial9_schema *s = schema("Annotated", true, fields, 2);
	struct dial9_enc *enc;
	const uint8_t *p;
	size_t n;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	cr_assert_eq(dial9_enc_register(enc, s, 0), 0);
	cr_assert_eq(dial9_enc_annotate_all(enc, s, of_vector, 4), 0);
	p = enc_bytes(enc, &n);
	cr_assert_eq(n, 0x67);
	cr_assert_eq(memcmp(p, bin.p, n), 0);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	free(bin.p);
}

Test(notes, notes_of_the_vector_are_found_by_field_and_key)
{
	struct bytes bin = load("", "ext/annotations.bin");
	struct dial9_dec *dec = dec_memory(bin.p, bin.n);
	struct dial9_str got, key;
	struct dial9_iter it;
	uint16_t field;

	cr_assert_eq(run(dec), 0);
	assert_note(dec, 0, 0, "unit", "\xc2\xb5s");
	assert_note(dec, 0, 0, "display", "hist");
	assert_note(dec, 0, 1, "", "");
	assert_note(dec, 0, 65535, "field out of range", "x");
	assert_note(dec, 300, 0, "k", "v");
	cr_expect_eq(dial9_dec_annotation(dec, 0, 1, "unit", &got), -ENOENT);
	cr_expect_eq(dial9_dec_annotation(dec, 0, 0, "uni", &got), -ENOENT);
	cr_expect_eq(dial9_dec_annotation(dec, 65535, 0, "k", &got), -ENOENT, "no schema");
	cr_expect_eq(dial9_dec_annotation(dec, 7, 0, "k", &got), -ENOENT);
	dial9_dec_annotations(dec, 0, &it);
	for (size_t i = 0; i < 4; i++) {
		cr_assert_eq(dial9_annotations_next(&it, &field, &key, &got), 1);
		cr_assert_eq(field, of_vector[i].field);
		cr_assert_eq(key.len, of_vector[i].key.len);
		cr_assert_eq(got.len, of_vector[i].value.len);
	}
	cr_assert_eq(dial9_annotations_next(&it, &field, &key, &got), 0);
	dial9_dec_annotations(dec, 65535, &it);
	cr_assert_eq(dial9_annotations_next(&it, &field, &key, &got), 0);
	dial9_dec_free(dec);
	free(bin.p);
}

Test(notes, last_value_counts_and_a_header_clears_all_notes)
{
	static const uint8_t p[] = { HEADER,
				     T_SCHEMA,
				     6,
				     0,
				     1,
				     0,
				     NOTE(0, 'k', 'a'),
				     6,
				     0,
				     2,
				     0,
				     NOTE(0, 'k', 'b'),
				     NOTE(1, 'k', 'c'),
				     T_SCHEMA };
	static const uint8_t next[] = { HEADER, T_SCHEMA };
	struct feed feed = { p, sizeof(p), 0, 1, 0 };
	struct dial9_dec *dec = dec_feed(&feed);
	struct dial9_str got;

	cr_assert_eq(run(dec), 0);
	assert_note(dec, 0, 0, "k", "b");
	assert_note(dec, 0, 1, "k", "c");
	feed = (struct feed){ next, sizeof(next), 0, sizeof(next), 0 };
	cr_assert_eq(run(dec), 0);
	cr_expect_eq(dial9_dec_annotation(dec, 0, 0, "k", &got), -ENOENT);
	dial9_dec_free(dec);
}

Test(notes, notes_before_the_schema_do_not_count)
{
	static const uint8_t p[] = { HEADER, 6, 0, 1, 0, NOTE(0, 'k', 'a'), T_SCHEMA };
	struct dial9_dec *dec = dec_memory(p, sizeof(p));
	struct dial9_str got;

	cr_assert_eq(run(dec), 0);
	cr_expect_eq(dial9_dec_annotation(dec, 0, 0, "k", &got), -ENOENT);
	dial9_dec_free(dec);
}

Test(notes, truncated_notes_are_ignored_until_the_rest_has_arrived)
{
	static const uint8_t p[] = { HEADER,	       T_SCHEMA, 6, 0, 2, 0, NOTE(0, 'k', 'a'),
				     NOTE(0, 'l', 'b') };
	struct feed feed = { p, sizeof(p) - 1, 0, sizeof(p), 0 };
	struct dial9_dec *dec = dec_feed(&feed);
	struct dial9_str got;

	cr_assert_eq(run(dec), -ENODATA);
	cr_expect_eq(dial9_dec_annotation(dec, 0, 0, "k", &got), -ENOENT);
	feed.n++;
	cr_assert_eq(run(dec), 0);
	assert_note(dec, 0, 0, "k", "a");
	assert_note(dec, 0, 0, "l", "b");
	dial9_dec_free(dec);
}

/* Frames of one entry each, without end: kept notes have the limit of schemas. */
Test(notes, endless_notes_reach_the_limit_of_schemas)
{
	static const uint8_t head[] = { HEADER, T_SCHEMA },
			     one[] = { 6, 0, 1, 0, NOTE(0, 'k', 'a') };
	const size_t cnt = 10000;
	uint8_t *p = malloc(sizeof(head) + cnt * sizeof(one));
	struct dial9_dec_opts o = { .sz = sizeof(o), .data = p };
	struct dial9_error e;
	struct dial9_dec *dec;
	size_t kept;

	memcpy(p, head, sizeof(head));
	for (size_t i = 0; i < cnt; i++)
		memcpy(p + sizeof(head) + i * sizeof(one), one, sizeof(one));
	o.data_sz = sizeof(head) + cnt * sizeof(one);
	o.limits.schema_bytes = 4096;
	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	cr_assert_eq(run(dec), -E2BIG);
	dial9_dec_error(dec, &e);
	cr_assert_str_eq(e.reason, "annotations over the limit");
	kept = (e.offset - 4 - sizeof(head)) / sizeof(one);
	cr_expect(kept * NOTE_SZ < 4096);
	cr_expect(kept * NOTE_SZ > 2048, "%zu of them", kept);
	assert_note(dec, 0, 0, "k", "a");
	dial9_dec_free(dec);
	o.limits.schema_bytes = 1u << 20;
	cr_assert_eq(dial9_dec_new(&o, &dec), 0);
	cr_expect_eq(run(dec), 0);
	dial9_dec_free(dec);
	free(p);
}

Test(notes, writer_refuses_notes_that_no_reader_accepts)
{
	static const char long_key[65536];
	const struct dial9_field n = { "n", DIAL9_VARINT };
	struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };
	struct dial9_annotation *many = calloc(65536, sizeof(*many));
	struct dial9_annotation a[2] = { { 0, str("k"), str("v") }, { 0, str("k"), str("\xff") } };
	struct dial9_schema *s = schema("T", true, &n, 1);
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&o, &enc), 0);
	cr_expect_eq(dial9_enc_annotate_all(enc, s, NULL, 0), 0);
	cr_expect_eq(dial9_enc_annotate_all(enc, s, a, 2), -EILSEQ);
	a[1] = (struct dial9_annotation){ 0, { long_key, sizeof(long_key) }, str("") };
	cr_expect_eq(dial9_enc_annotate_all(enc, s, a, 2), -E2BIG);
	cr_expect_eq(dial9_enc_annotate_all(enc, s, many, 65536), -E2BIG);
	assert_stream(enc, HEADER);
	cr_expect_eq(dial9_enc_annotate_all(enc, s, many, 65535), 0);
	cr_expect_eq(dial9_enc_bytes(enc), HEADER_SZ + T_SCHEMA_SZ + 4 + 65535 * 8);
	cr_expect_eq(dial9_enc_begin(enc, s, 1), 0);
	cr_expect_eq(dial9_enc_annotate_all(enc, s, a, 1), -EBUSY);
	dial9_enc_cancel(enc);
	dial9_schema_free(s);
	dial9_enc_free(enc);
	free(many);
}
