// SPDX-License-Identifier: BSD-2-Clause
/* Each encoding of one recording gives its bytes, from memory and in chunks, and damage to it is counted. */
#include "formats/tonbandgeraet/encoding.h"
#include "tests/formats/tonbandgeraet/support.h"

TestSuite(tonband_encoding, .init = quiet);

#define START "==== START OF TONBANDGERAET BUFFER ====\n"
#define END "==== END OF TONBANDGERAET BUFFER ====\n"

static struct buf recording(void)
{
	struct buf rec = { 0 };

	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 8, 0, NULL);
	for (uint64_t i = 0; i < 40; i++)
		event(&rec, TONBAND_EVTMARKER, 1000 * i, 5, 0, "a message");
	return rec;
}

static void add_hex(struct buf *b, const struct buf *rec)
{
	for (size_t i = 0; i < rec->len; i++)
		buf_printf(b, i % 8 == 7 ? "%02X\n" : "%02x ", (uint8_t)rec->data[i]);
}

static void add_base64(struct buf *b, const struct buf *rec)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < rec->len; i += 3) {
		uint32_t v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (i + k < rec->len ? (uint8_t)rec->data[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addch(b, i + k > rec->len ? '=' : digits[v >> (18 - 6 * k) & 63]);
		if (i % 57 == 54)
			buf_addch(b, '\n');
	}
}

/* All chunks together; cores[] of the buffers in order, UINT32_MAX if none is named. */
static struct buf unpack(const struct buf *b, bool pipe, const char *name, uint32_t *cores,
			 struct foreign_notes *notes)
{
	struct tonband_encoding *c;
	struct tonband_piece piece;
	struct buf out = { 0 };
	struct foreign_mem mem;
	struct foreign_input in;
	int ret;

	foreign_mem_input(&mem, b->data, b->len, &in);
	if (pipe) {
		in.read = pipe_read;
		in.rewind = NULL;
	}
	tonband_encoding_new(&in, notes, &c);
	while ((ret = tonband_encoding_next(c, &piece)) == 1) {
		if (piece.fresh && piece.sz && cores)
			*cores++ = piece.has_core ? piece.core : UINT32_MAX;
		buf_add(&out, piece.p, piece.sz);
	}
	cr_assert_eq(ret, 0);
	cr_assert_str_eq(tonband_encoding_name(c), name);
	tonband_encoding_free(c);
	return out;
}

static void expect(const struct buf *packed, const char *name, const struct buf *want)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct foreign_notes notes = { 0 };
		struct buf got = unpack(packed, pipe, name, NULL, &notes);

		cr_assert_eq(got.len, want->len, "%s: %zu bytes, not %zu", name, got.len,
			     want->len);
		cr_assert_eq(memcmp(got.data, want->data, got.len), 0, "%s", name);
		cr_assert_eq(notes.cnt, 0, "%s: %s", name, notes.cnt ? notes.v[0].kind : "");
		buf_free(&got);
		foreign_notes_fini(&notes);
	}
}

Test(tonband_encoding, reads_binary_data_unchanged)
{
	struct buf rec = recording();

	expect(&rec, "binary", &rec);
	buf_free(&rec);
}

Test(tonband_encoding, reads_hex_and_base64_with_any_white_space)
{
	struct buf rec = recording(), hex = { 0 }, base64 = { 0 };

	for (int short_by = 0; short_by < 3; short_by++, rec.len--) {
		buf_clear(&hex);
		buf_clear(&base64);
		buf_addstr(&hex, " \r\n\t");
		add_hex(&hex, &rec);
		add_base64(&base64, &rec);
		expect(&hex, "hex", &rec);
		expect(&base64, "base64", &rec);
	}
	buf_free(&rec);
	buf_free(&hex);
	buf_free(&base64);
}

Test(tonband_encoding, finds_marked_buffers_in_a_log)
{
	struct buf rec = recording(), twice = { 0 }, log = { 0 };

	buf_add(&twice, rec.data, rec.len);
	buf_add(&twice, rec.data, rec.len);
	buf_addstr(&log, "boot: v2 ====== ok\n\033[0m====" START);
	add_hex(&log, &rec);
	buf_addstr(&log, END "deadbeef\n" START);
	add_hex(&log, &rec);
	buf_addstr(&log, "\n" END "bye\n");
	expect(&log, "marked hex", &twice);

	buf_clear(&log);
	buf_addstr(&log, START);
	add_base64(&log, &rec);
	/* The end mark was lost, and the next buffer begins. */
	buf_addstr(&log, "\n" START);
	add_base64(&log, &rec);
	expect(&log, "marked base64", &twice);
	buf_free(&rec);
	buf_free(&twice);
	buf_free(&log);
}

Test(tonband_encoding, reads_cores_from_the_web_tools_json)
{
	struct buf rec = recording(), twice = { 0 }, json = { 0 };
	uint32_t cores[2];

	buf_add(&twice, rec.data, rec.len);
	buf_add(&twice, rec.data, rec.len);
	buf_addstr(&json, "{\"title\":\"\\\"hex\\\": \\\\\",\"trace_mode\":\"freertos\",\"data\":["
			  "{\"core_id\": 7,\"hex\":\"");
	add_hex(&json, &rec);
	buf_addstr(&json, "\"},{\"core_id\":4294967295 , \"hex\" : \"");
	add_hex(&json, &rec);
	buf_addstr(&json, "\"}]}");
	expect(&json, "JSON", &twice);
	for (int pipe = 0; pipe < 2; pipe++) {
		struct buf got;

		cores[0] = cores[1] = 0;
		got = unpack(&json, pipe, "JSON", cores, NULL);
		cr_assert_eq(cores[0], 7);
		cr_assert_eq(cores[1], UINT32_MAX);
		buf_free(&got);
	}
	buf_free(&rec);
	buf_free(&twice);
	buf_free(&json);
}

Test(tonband_encoding, counts_invalid_characters)
{
	struct foreign_notes notes = { 0 };
	struct buf hex = { 0 }, got;

	buf_addstr(&hex, START "0301 01zz01 0" END);
	got = unpack(&hex, true, "marked base64", NULL, &notes);
	cr_assert_eq(notes.cnt, 0, "z is a digit of base64");
	buf_free(&got);
	buf_clear(&hex);
	for (int i = 0; i < 200; i++)
		buf_addstr(&hex, "0301");
	buf_addstr(&hex, "?!1");
	buf_clear(&got);
	/* After the characters that distinguish the two. */
	buf_addstr(&got, START);
	buf_add(&got, hex.data, hex.len);
	buf_addstr(&got, "\n" END);
	buf_free(&hex);
	hex = unpack(&got, false, "marked hex", NULL, &notes);
	cr_assert_eq(hex.len, 400);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED,
					 "characters that are no hex digits"),
		     2);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED,
					 "hex digits without their second half"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&hex);
	buf_free(&got);
}
