// SPDX-License-Identifier: BSD-2-Clause
/* Annotations in the output: each event has the annotations that were valid for it in the trace. */
#include "rewrite/copy/notes_copy.h"

#include "tests/cmd/run_cmd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"

TestSuite(notes_copy, .timeout = 60);

static const struct dial9_field x_field = { "x", DIAL9_VARINT };

/* An event "E" with its number as time and value. */
static void put_x(struct dial9_enc *enc, const struct dial9_schema *s, uint64_t x)
{
	dial9_enc_begin(enc, s, x);
	dial9_enc_put_u64(enc, x);
	cr_assert_eq(dial9_enc_end(enc), 0);
}

static void put_note(struct dial9_enc *enc, const struct dial9_schema *s, const char *key,
		     const char *value)
{
	cr_assert_eq(dial9_enc_annotate(enc, s, 0, (struct dial9_str){ key, strlen(key) },
					(struct dial9_str){ value, strlen(value) }),
		     0);
}

/* For each event the annotations of its field at that time: "1 unit=ns mine=;". */
static char *notes_text(const void *data, size_t sz)
{
	static const char *const keys[] = { "unit", "kind", "enum", "mine" };
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = data, .data_sz = sz };
	struct buf out = { 0 };
	struct dial9_dec *dec;
	struct dial9_frame f;
	struct dial9_str v;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while (dial9_dec_next(dec, &f) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		buf_addu(&out, f.event.values[0].u64);
		for (size_t i = 0; i < 4; i++)
			if (!dial9_dec_annotation(dec, f.event.type_id, 0, keys[i], &v) && v.len)
				buf_printf(&out, " %s=%.*s", keys[i], (int)v.len, v.ptr);
		buf_addstr(&out, ";");
	}
	dial9_dec_free(dec);
	return buf_steal(&out);
}

/* The same for the output of `cut` with one more argument. */
static char *notes_in_cut(const void *data, size_t sz, const char *word)
{
	char path[] = "/tmp/d9-notes-XXXXXX", out[40], *text;
	int fd = mkstemp(path);
	struct stat st;
	struct run r;
	void *got;

	close(fd);
	unlink(path);
	snprintf(out, sizeof(out), "-qo%s", path);
	r = run_cmd(cmd_cut, make_fd(data, sz), "cut", "-", out, word, NULL);
	cr_assert_eq(r.code, CMD_OK, "%s", r.err);
	fd = open(path, O_RDONLY);
	cr_assert_eq(fstat(fd, &st), 0);
	got = malloc((size_t)st.st_size);
	cr_assert_eq(read(fd, got, (size_t)st.st_size), st.st_size);
	close(fd);
	unlink(path);
	text = notes_text(got, (size_t)st.st_size);
	free(got);
	run_free(&r);
	return text;
}

static void expect_notes(struct dial9_enc *enc, const char *word, const char *before,
			 const char *after)
{
	const void *data;
	char *text;
	size_t sz;

	data = dial9_enc_data(enc, &sz);
	text = notes_text(data, sz);
	cr_expect_str_eq(text, before);
	free(text);
	text = notes_in_cut(data, sz, word);
	cr_expect_str_eq(text, after);
	free(text);
}

Test(notes_copy, field_notes_of_a_cut_belong_to_the_same_events)
{
	static const char want[] = "1;2 unit=ns;3 unit=ms mine=own;4 unit=ms mine=own;5;6 unit=s;";
	const struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct dial9_schema *s;
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&opts, &enc), 0);
	cr_assert_eq(dial9_schema_new("E", true, &x_field, 1, &s), 0);
	put_x(enc, s, 1);
	put_note(enc, s, "unit", "ns");
	put_x(enc, s, 2);
	put_note(enc, s, "unit", "ms");
	put_note(enc, s, "mine", "own");
	put_x(enc, s, 3);
	put_x(enc, s, 4);
	cr_assert_eq(dial9_enc_reset(enc), 0);
	put_x(enc, s, 5);
	put_note(enc, s, "unit", "s");
	put_x(enc, s, 6);
	expect_notes(enc, NULL, want, want);
	expect_notes(enc, "--time=2ns,6ns", want,
		     "3 unit=ms mine=own;4 unit=ms mine=own;5;6 unit=s;");
	dial9_schema_free(s);
	dial9_enc_free(enc);
}

/*
 * Events of types 1 to 3, which have one layout and of which the last has no unit: the annotations of each in
 * the cut, which has one type with changing annotations.
 */
static char *notes_of_types(const uint8_t *order, size_t cnt)
{
	static const uint8_t head[] = { 'T', 'R', 'C', 0, 1 };
	static const uint8_t schema[] = { 1, 0, 0, 1, 0, 'E', 1, 1, 0, 1, 0, 'x', 9 };
	static const uint8_t unit[] = {
		6, 0, 1, 0, 0, 0, 4, 0, 'u', 'n', 'i', 't', 1, 0, 0, 0, 's'
	};
	static const uint8_t event[] = { 2, 0, 0, 1, 0, 0, 0 };
	struct buf b = { 0 };
	char *text;

	buf_add(&b, head, sizeof(head));
	for (uint8_t id = 1; id <= 3; id++) {
		buf_add(&b, schema, sizeof(schema));
		b.data[b.len - sizeof(schema) + 1] = (char)id;
		if (id == 3)
			break;
		buf_add(&b, unit, sizeof(unit));
		b.data[b.len - sizeof(unit) + 1] = (char)id;
		b.data[b.len - 1] = id == 1 ? 's' : 'm';
	}
	for (size_t i = 0; i < cnt; i++) {
		buf_add(&b, event, sizeof(event));
		b.data[b.len - sizeof(event) + 1] = (char)order[i];
		b.data[b.len - 1] = (char)order[i];
	}
	text = notes_in_cut(b.data, b.len, NULL);
	buf_free(&b);
	return text;
}

Test(notes_copy, types_with_one_layout_keep_their_own_notes)
{
	static const uint8_t order[] = { 1, 3, 2, 3, 1, 1, 3 };
	char *text = notes_of_types(order, sizeof(order));

	cr_expect_str_eq(text, "1 unit=s;3;2 unit=m;3;1 unit=s;1 unit=s;3;");
	free(text);
}

/* Alternating 1 and 2: sixteen are annotated, and later ones are not, neither rightly nor wrongly. */
Test(notes_copy, notes_that_alternate_without_end_are_removed)
{
	struct buf want = { 0 };
	uint8_t order[40];
	char *text;

	for (size_t i = 0; i < sizeof(order); i++) {
		order[i] = 1 + i % 2;
		buf_printf(&want, "%u%s;", order[i], i >= 16 ? "" : i % 2 ? " unit=m" : " unit=s");
	}
	text = notes_of_types(order, sizeof(order));
	cr_expect_str_eq(text, buf_cstr(&want));
	free(text);
	buf_free(&want);
}

Test(notes_copy, anonymized_annotations_keep_only_standard_values)
{
	const struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	struct dial9_schema *s;
	struct dial9_enc *enc;

	cr_assert_eq(dial9_enc_new(&opts, &enc), 0);
	cr_assert_eq(dial9_schema_new("E", true, &x_field, 1, &s), 0);
	put_note(enc, s, "unit", "ms");
	put_note(enc, s, "kind", "gauge");
	put_note(enc, s, "enum", "1=customer");
	put_note(enc, s, "mine", "secret");
	put_x(enc, s, 1);
	put_note(enc, s, "unit", "customers");
	put_x(enc, s, 2);
	expect_notes(enc, "--anonymize",
		     "1 unit=ms kind=gauge enum=1=customer mine=secret;"
		     "2 unit=customers kind=gauge enum=1=customer mine=secret;",
		     "1 unit=ms kind=gauge;2 kind=gauge;");
	dial9_schema_free(s);
	dial9_enc_free(enc);
}
