// SPDX-License-Identifier: BSD-2-Clause
/*
 * From what lies in a file to the bytes that the target sent.
 *
 * Recordings travel as they are, as hex or base64 with any white space, as either of these between
 * marker lines in the midst of a console log, or as hex strings in the web tool's JSON. None of it is
 * announced, so the first bytes decide: what has control characters is binary (a recording has a zero
 * every few bytes), and the first characters of each buffer decide between hex and base64, once there
 * are enough of them. Frames are handled in frames.c.
 *
 * Works in constant memory, a chunk at a time, so a character's meaning hangs on the state alone.
 * Characters that do not belong are skipped and counted; where they stand is for the frames to find.
 */
#include "formats/tonbandgeraet/encoding.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define RAW_SIZE (64 * 1024)
#define SNIFF_FOLLOW 256 /* while following do not wait for more than this */
#define PROBE_SIZE 256 /* characters of a buffer that decide between hex and base64 */
#define KEY_MAX 16

static const char start_mark[] = "==== START OF TONBANDGERAET BUFFER ====";

enum packing { PACK_UNKNOWN, PACK_BINARY, PACK_TEXT, PACK_MARKED, PACK_JSON };
enum digits { DIGITS_UNKNOWN, DIGITS_HEX, DIGITS_BASE64 };

/* Where in marked text, or in JSON, the next character stands. */
enum place {
	PLACE_OUTSIDE, /* of buffers; in JSON: between strings */
	PLACE_INSIDE, /* a buffer: digits */
	PLACE_MARK, /* in a marker line after its first four = */
	PLACE_STRING, /* in a JSON string that is no buffer */
};

struct tonband_encoding {
	const struct foreign_input *in;
	struct foreign_notes *notes;
	enum packing packing;
	enum digits digits;
	enum place place;
	bool at_end, fresh, seen_mark, seen_json;
	uint8_t raw[RAW_SIZE];
	size_t pos, len;
	/* Digits: of hex the upper half, of base64 up to 18 bits. */
	uint32_t acc;
	unsigned int acc_cnt;
	char probe[PROBE_SIZE];
	size_t probe_len;
	/* Marked text. */
	size_t matched; /* characters of start_mark */
	unsigned int equals; /* = in a row */
	bool mark_is_start;
	/* JSON. */
	char key[KEY_MAX], text[KEY_MAX];
	size_t text_len;
	bool escaped, is_key_done, has_core, in_number, hex_before_core;
	uint64_t number;
	uint32_t core;
	/* Decoded bytes of the current chunk: never more than characters in it, plus a probe. */
	uint8_t out[RAW_SIZE + PROBE_SIZE];
	size_t out_len;
};

void tonband_encoding_new(const struct foreign_input *in, struct foreign_notes *notes,
			  struct tonband_encoding **out)
{
	struct tonband_encoding *c = xcalloc(1, sizeof(*c));

	c->in = in;
	c->notes = notes;
	c->fresh = true;
	*out = c;
}

void tonband_encoding_free(struct tonband_encoding *c)
{
	free(c);
}

const char *tonband_encoding_name(const struct tonband_encoding *c)
{
	bool base64 = c->digits == DIGITS_BASE64;

	switch (c->packing) {
	case PACK_TEXT:
		return base64 ? "base64" : "hex";
	case PACK_MARKED:
		return base64 ? "marked base64" : "marked hex";
	case PACK_JSON:
		return "JSON";
	case PACK_UNKNOWN:
	case PACK_BINARY:
		break;
	}
	return "binary";
}

bool tonband_encoding_is_sure(const struct tonband_encoding *c)
{
	return c->seen_mark || c->seen_json;
}

/* ---- what the first bytes are ------------------------------------------------------------------ */

static bool is_space(uint8_t ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

static bool is_control(uint8_t ch)
{
	return (ch < ' ' && !is_space(ch) && ch != '\033') || ch == 0x7f;
}

static int hex_value(uint8_t ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch |= 0x20;
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static int base64_value(uint8_t ch)
{
	if (ch >= 'A' && ch <= 'Z')
		return ch - 'A';
	if (ch >= 'a' && ch <= 'z')
		return ch - 'a' + 26;
	if (ch >= '0' && ch <= '9')
		return ch - '0' + 52;
	return ch == '+' ? 62 : ch == '/' ? 63 : -1;
}

static bool has_control(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_control(p[i]))
			return true;
	return false;
}

static enum packing text_packing(const uint8_t *p, size_t n)
{
	size_t i = 0;

	if (memmem(p, n, start_mark, sizeof(start_mark) - 1))
		return PACK_MARKED;
	while (i < n && is_space(p[i]))
		i++;
	if (i < n && (p[i] == '{' || p[i] == '['))
		return PACK_JSON;
	for (; i < n; i++)
		if (!is_space(p[i]) && p[i] != '=' && base64_value(p[i]) < 0)
			return PACK_MARKED; /* a log whose first buffer is yet to come */
	return PACK_TEXT;
}

/* Reads until the packing is clear. */
static int sniff(struct tonband_encoding *c)
{
	size_t want = c->in->rewind ? RAW_SIZE : SNIFF_FOLLOW;

	while (c->len < want && !has_control(c->raw, c->len)) {
		ssize_t n = c->in->read(c->in->ctx, c->raw + c->len, RAW_SIZE - c->len);

		if (n < 0)
			return (int)n;
		if (!n) {
			c->at_end = true;
			break;
		}
		c->len += (size_t)n;
	}
	c->packing = has_control(c->raw, c->len) ? PACK_BINARY : text_packing(c->raw, c->len);
	c->place = c->packing == PACK_TEXT ? PLACE_INSIDE : PLACE_OUTSIDE;
	return 0;
}

/* ---- digits ------------------------------------------------------------------------------------ */

static void bad_text(struct tonband_encoding *c, const char *kind)
{
	if (c->notes)
		foreign_note(c->notes, FOREIGN_NOTE_DAMAGED, 1, kind, "%s", c->in->name);
}

static void put_hex(struct tonband_encoding *c, uint8_t ch)
{
	int v = hex_value(ch);

	/* The first of a marker line's look like padding until the fourth. */
	if (ch == '=' && c->packing == PACK_MARKED)
		return;
	if (v < 0) {
		bad_text(c, "characters that are no hex digits");
		return;
	}
	c->acc = c->acc << 4 | (uint32_t)v;
	if (++c->acc_cnt == 2) {
		c->out[c->out_len++] = (uint8_t)c->acc;
		c->acc_cnt = 0;
	}
}

/* Padding ends a group of four early; buffers that were packed in parts have it in the middle. */
static void put_base64(struct tonband_encoding *c, uint8_t ch)
{
	int v = base64_value(ch);

	if (ch == '=') {
		c->acc_cnt = 0;
		return;
	}
	if (v < 0) {
		bad_text(c, "characters that are no base64 digits");
		return;
	}
	c->acc = c->acc << 6 | (uint32_t)v;
	if (c->acc_cnt)
		c->out[c->out_len++] = (uint8_t)(c->acc >> (6 - 2 * c->acc_cnt));
	c->acc_cnt = (c->acc_cnt + 1) % 4;
}

/* The choice between hex and base64 falls once, for the first buffer. */
static void decide(struct tonband_encoding *c)
{
	c->digits = DIGITS_HEX;
	for (size_t i = 0; i < c->probe_len; i++)
		if (hex_value((uint8_t)c->probe[i]) < 0)
			c->digits = DIGITS_BASE64;
	for (size_t i = 0; i < c->probe_len; i++)
		c->digits == DIGITS_HEX ? put_hex(c, (uint8_t)c->probe[i]) :
					  put_base64(c, (uint8_t)c->probe[i]);
	c->probe_len = 0;
}

static void put_digit(struct tonband_encoding *c, uint8_t ch)
{
	if (is_space(ch))
		return;
	switch (c->digits) {
	case DIGITS_HEX:
		put_hex(c, ch);
		break;
	case DIGITS_BASE64:
		put_base64(c, ch);
		break;
	case DIGITS_UNKNOWN:
		c->probe[c->probe_len++] = (char)ch;
		if (c->probe_len == PROBE_SIZE)
			decide(c);
		break;
	}
}

static void end_digits(struct tonband_encoding *c)
{
	if (c->digits == DIGITS_UNKNOWN && c->probe_len)
		decide(c);
	if (c->digits == DIGITS_HEX && c->acc_cnt)
		bad_text(c, "hex digits without their second half");
	c->acc_cnt = 0;
}

/* ---- marked text ------------------------------------------------------------------------------- */

/* Each of these takes one character; true when a buffer ended, so that what is decoded must go. */
static bool marked_char(struct tonband_encoding *c, uint8_t ch)
{
	switch (c->place) {
	case PLACE_OUTSIDE:
		if (ch == (uint8_t)start_mark[c->matched])
			c->matched++;
		else if (ch == '=')
			c->matched = c->matched == 4 ? 4 : 1;
		else
			c->matched = 0;
		if (start_mark[c->matched])
			return false;
		c->place = PLACE_INSIDE;
		c->seen_mark = true;
		c->matched = c->equals = 0;
		return false;
	case PLACE_INSIDE:
		/* Padding is two at most: four are a marker line. */
		c->equals = ch == '=' ? c->equals + 1 : 0;
		if (c->equals < 4) {
			put_digit(c, ch);
			return false;
		}
		c->place = PLACE_MARK;
		c->mark_is_start = false;
		c->text_len = 0;
		return false;
	case PLACE_MARK:
		if (c->text_len < 2)
			c->text[c->text_len++] = (char)ch;
		if (ch != '\n')
			return false;
		/* " START" without an end before it: the log lost a line. */
		c->place = c->text_len == 2 && c->text[1] == 'S' ? PLACE_INSIDE : PLACE_OUTSIDE;
		c->equals = 0;
		return true;
	case PLACE_STRING:
		break;
	}
	return false;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static bool key_is(const struct tonband_encoding *c, const char *key)
{
	return !strcmp(c->key, key);
}

/* A quote outside of strings: the value of "hex" is a buffer, any other string may be a key. */
static void open_string(struct tonband_encoding *c)
{
	c->text_len = 0;
	if (!c->is_key_done || !key_is(c, "hex")) {
		c->place = PLACE_STRING;
		return;
	}
	c->place = PLACE_INSIDE;
	c->digits = DIGITS_HEX;
	c->seen_json = true;
	c->hex_before_core = !c->has_core;
}

static void string_char(struct tonband_encoding *c, uint8_t ch)
{
	if (c->escaped) {
		c->escaped = false;
	} else if (ch == '\\') {
		c->escaped = true;
	} else if (ch == '"') {
		c->text[c->text_len] = '\0';
		c->place = PLACE_OUTSIDE;
		return;
	}
	if (c->text_len < KEY_MAX - 1)
		c->text[c->text_len++] = (char)ch;
}

static void end_value(struct tonband_encoding *c)
{
	if (c->in_number && key_is(c, "core_id")) {
		if (c->number > UINT32_MAX) {
			bad_text(c, "core ids that are too large");
		} else {
			c->has_core = true;
			c->core = (uint32_t)c->number;
			if (c->hex_before_core)
				bad_text(c, "core ids after their buffer");
		}
	}
	c->in_number = c->is_key_done = false;
}

static bool json_char(struct tonband_encoding *c, uint8_t ch)
{
	switch (c->place) {
	case PLACE_INSIDE:
		if (ch != '"') {
			put_digit(c, ch);
			return false;
		}
		c->place = PLACE_OUTSIDE;
		return true;
	case PLACE_STRING:
		string_char(c, ch);
		return false;
	case PLACE_OUTSIDE:
	case PLACE_MARK:
		break;
	}
	if (ch == '"') {
		open_string(c);
	} else if (ch == ':') {
		memcpy(c->key, c->text, c->text_len + 1);
		c->is_key_done = true;
		c->number = 0;
	} else if (ch >= '0' && ch <= '9') {
		c->in_number = true;
		if (c->number <= UINT32_MAX)
			c->number = c->number * 10 + (uint64_t)(ch - '0');
	} else if (ch == ',' || ch == '}' || ch == ']') {
		end_value(c);
		if (ch == '}')
			c->has_core = c->hex_before_core = false;
	}
	return false;
}

/* ---- pieces ------------------------------------------------------------------------------------ */

static bool one_char(struct tonband_encoding *c, uint8_t ch)
{
	if (c->packing == PACK_MARKED)
		return marked_char(c, ch);
	if (c->packing == PACK_JSON)
		return json_char(c, ch);
	put_digit(c, ch);
	return false;
}

static int refill(struct tonband_encoding *c)
{
	ssize_t n = c->in->read(c->in->ctx, c->raw, RAW_SIZE);

	if (n < 0)
		return (int)n;
	c->pos = 0;
	c->len = (size_t)n;
	c->at_end = !n;
	return 0;
}

static void text_piece(struct tonband_encoding *c, struct tonband_piece *out)
{
	bool ended = false;

	c->out_len = 0;
	while (c->pos < c->len && !ended)
		ended = one_char(c, c->raw[c->pos++]);
	if (ended || (c->at_end && c->pos == c->len))
		end_digits(c);
	*out = (struct tonband_piece){ .p = c->out, .sz = c->out_len, .fresh = c->fresh };
	if (c->packing == PACK_JSON && c->fresh) {
		out->has_core = c->has_core;
		out->core = c->core;
	}
	/* Still fresh while nothing came: the core of a buffer may be in the next chunk. */
	c->fresh = ended || (c->fresh && !c->out_len);
}

int tonband_encoding_next(struct tonband_encoding *c, struct tonband_piece *out)
{
	bool was_end;
	int err;

	if (c->packing == PACK_UNKNOWN) {
		err = sniff(c);
		if (err)
			return err;
	}
	was_end = c->at_end;
	if (c->pos == c->len && !was_end) {
		err = refill(c);
		if (err)
			return err;
	}
	if (c->pos == c->len && was_end)
		return 0;
	if (c->packing != PACK_BINARY) {
		text_piece(c, out);
		return 1;
	}
	*out = (struct tonband_piece){ .p = c->raw + c->pos,
				       .sz = c->len - c->pos,
				       .fresh = c->fresh };
	c->fresh = false;
	c->pos = c->len;
	return 1;
}
