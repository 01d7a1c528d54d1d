// SPDX-License-Identifier: BSD-2-Clause
/*
 * JSON text: written by a sink, read back as tokens.
 *
 * Whether a comma is due follows from what came last, so no stack of open brackets is kept, whatever the
 * depth. Text can be far longer than the value it shows (a name of a megabyte may stand for a byte), so it
 * leaves in pieces, or stops at a limit. The tokens take any text for JSON that breaks no token: who reads
 * them says what may follow what.
 */
#include "formats/apitrace/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define FLUSH_AT ((size_t)1 << 16)

void apitrace_json_flush(struct apitrace_json *j)
{
	if (j->write && !j->err && j->out.len)
		j->err = j->write(j->ctx, j->out.data, j->out.len);
	if (j->write)
		buf_clear(&j->out);
}

/* True when there is room for a piece, with the comma before it. */
static bool begin_value(struct apitrace_json *j)
{
	if (j->write && j->out.len >= FLUSH_AT)
		apitrace_json_flush(j);
	else if (!j->write && j->out.len >= j->max)
		j->over = true;
	if (j->over || j->err)
		return false;
	if (j->comma)
		buf_addch(&j->out, ',');
	j->comma = true;
	return true;
}

void apitrace_json_line(struct apitrace_json *j)
{
	buf_addch(&j->out, '\n');
	j->comma = false;
}

static void json_null(void *s)
{
	struct apitrace_json *j = s;

	if (begin_value(j))
		buf_addstr(&j->out, "null");
}

static void json_boolean(void *s, bool v)
{
	struct apitrace_json *j = s;

	if (begin_value(j))
		buf_addstr(&j->out, v ? "true" : "false");
}

static void json_uint(void *s, uint64_t v)
{
	struct apitrace_json *j = s;

	if (begin_value(j))
		buf_printf(&j->out, "%" PRIu64, v);
}

static void json_neg(void *s, uint64_t magnitude)
{
	struct apitrace_json *j = s;

	if (begin_value(j))
		buf_printf(&j->out, "-%" PRIu64, magnitude);
}

/* The shortest form that reads back as the same number, and never looks like an integer. */
static void json_real(void *s, double v)
{
	struct apitrace_json *j = s;
	char text[40];

	if (!begin_value(j))
		return;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_addstr(&j->out, text);
	if (!strpbrk(text, ".en"))
		buf_addstr(&j->out, ".0");
}

static void json_text(void *s, const char *p, size_t len)
{
	struct apitrace_json *j = s;

	if (begin_value(j))
		str_json(&j->out, p, len);
}

static void json_key(void *s, const char *key)
{
	struct apitrace_json *j = s;

	if (!begin_value(j))
		return;
	str_json(&j->out, key, strlen(key));
	buf_addch(&j->out, ':');
	j->comma = false;
}

static void json_bytes(void *s, const uint8_t *p, size_t sz)
{
	static const char digits[] = "0123456789abcdef";
	struct apitrace_json *j = s;

	if (!begin_value(j))
		return;
	if (!j->write && sz * 2 > j->max - j->out.len) {
		j->over = true;
		return;
	}
	buf_addch(&j->out, '"');
	for (size_t i = 0; i < sz; i++) {
		char *to = buf_reserve(&j->out, 2);

		to[0] = digits[p[i] >> 4];
		to[1] = digits[p[i] & 15];
		j->out.len += 2;
		if (j->write && j->out.len >= FLUSH_AT)
			apitrace_json_flush(j);
	}
	buf_addch(&j->out, '"');
}

static void json_open(void *s, bool map)
{
	struct apitrace_json *j = s;

	if (begin_value(j)) {
		buf_addch(&j->out, map ? '{' : '[');
		j->comma = false;
	}
}

static void json_close(void *s, bool map)
{
	struct apitrace_json *j = s;

	if (!j->over && !j->err)
		buf_addch(&j->out, map ? '}' : ']');
	j->comma = true;
}

const struct apitrace_sink_ops apitrace_json_ops = {
	.null = json_null,
	.boolean = json_boolean,
	.uint = json_uint,
	.neg = json_neg,
	.real = json_real,
	.text = json_text,
	.key = json_key,
	.bytes = json_bytes,
	.open = json_open,
	.close = json_close,
};

/* ---- tokens -------------------------------------------------------------------------------------- */

int apitrace_json_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int get_hex4(struct apitrace_json_tokens *t, uint32_t *out)
{
	uint32_t v = 0;

	if (t->end - t->pos < 4)
		return -EBADMSG;
	for (unsigned int i = 0; i < 4; i++) {
		int d = apitrace_json_hex_digit(*t->pos++);

		if (d < 0)
			return -EBADMSG;
		v = v << 4 | (uint32_t)d;
	}
	*out = v;
	return 0;
}

static void add_utf8(struct buf *b, uint32_t u)
{
	if (u < 0x80) {
		buf_addch(b, (char)u);
		return;
	}
	if (u < 0x800) {
		buf_addch(b, (char)(0xc0 | u >> 6));
	} else {
		if (u < 0x10000) {
			buf_addch(b, (char)(0xe0 | u >> 12));
		} else {
			buf_addch(b, (char)(0xf0 | u >> 18));
			buf_addch(b, (char)(0x80 | (u >> 12 & 0x3f)));
		}
		buf_addch(b, (char)(0x80 | (u >> 6 & 0x3f)));
	}
	buf_addch(b, (char)(0x80 | (u & 0x3f)));
}

static int get_escape(struct apitrace_json_tokens *t)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	uint32_t u, low;
	const char *at;
	char c;

	if (t->pos == t->end)
		return -EBADMSG;
	c = *t->pos++;
	at = c ? strchr(from, c) : NULL;
	if (at) {
		buf_addch(&t->text, to[at - from]);
		return 0;
	}
	if (c != 'u' || get_hex4(t, &u))
		return -EBADMSG;
	if (u >= 0xd800 && u < 0xdc00) {
		if (t->end - t->pos < 6 || t->pos[0] != '\\' || t->pos[1] != 'u')
			return -EBADMSG;
		t->pos += 2;
		if (get_hex4(t, &low) || low < 0xdc00 || low > 0xdfff)
			return -EBADMSG;
		u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
	} else if (u >= 0xdc00 && u < 0xe000) {
		return -EBADMSG;
	}
	add_utf8(&t->text, u);
	return 0;
}

static int get_string(struct apitrace_json_tokens *t, struct apitrace_token *out)
{
	const char *from;
	int err = 0;

	buf_clear(&t->text);
	while (!err) {
		from = t->pos;
		while (t->pos < t->end && *t->pos != '"' && *t->pos != '\\')
			t->pos++;
		buf_add(&t->text, from, (size_t)(t->pos - from));
		if (t->pos == t->end)
			return -EBADMSG;
		if (*t->pos++ == '"')
			break;
		err = get_escape(t);
	}
	out->kind = APITRACE_TOKEN_TEXT;
	out->text = (struct dial9_str){ buf_cstr(&t->text), t->text.len };
	return err;
}

static int get_number(struct apitrace_json_tokens *t, struct apitrace_token *out)
{
	const char *from = t->pos;
	char text[48], *end;
	size_t len;
	bool real;

	while (t->pos < t->end && strchr("+-.0123456789eE", *t->pos) && *t->pos)
		t->pos++;
	len = (size_t)(t->pos - from);
	if (!len || len >= sizeof(text))
		return -EBADMSG;
	memcpy(text, from, len);
	text[len] = 0;
	real = strpbrk(text, ".eE");
	errno = 0;
	if (real) {
		out->kind = APITRACE_TOKEN_REAL;
		out->real = strtod(text, &end);
		return *end ? -EBADMSG : 0;
	}
	out->kind = *text == '-' ? APITRACE_TOKEN_NEG : APITRACE_TOKEN_UINT;
	out->number = strtoull(text + (*text == '-'), &end, 10);
	return *end || errno || end == text + (*text == '-') ? -EBADMSG : 0;
}

static int get_word(struct apitrace_json_tokens *t, struct apitrace_token *out)
{
	static const struct {
		const char *word;
		enum apitrace_token_kind kind;
		uint64_t number;
	} words[] = {
		{ "null", APITRACE_TOKEN_NULL, 0 },
		{ "false", APITRACE_TOKEN_BOOL, 0 },
		{ "true", APITRACE_TOKEN_BOOL, 1 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i].word);

		if ((size_t)(t->end - t->pos) < len || memcmp(t->pos, words[i].word, len) != 0)
			continue;
		t->pos += len;
		out->kind = words[i].kind;
		out->number = words[i].number;
		return 0;
	}
	return get_number(t, out);
}

static int json_next(struct apitrace_tokens *base, struct apitrace_token *out)
{
	struct apitrace_json_tokens *t = (struct apitrace_json_tokens *)base;

	*out = (struct apitrace_token){ .kind = APITRACE_TOKEN_END };
	while (t->pos < t->end && strchr(" \t\r\n,:", *t->pos) && *t->pos)
		t->pos++;
	if (t->pos == t->end)
		return 0;
	switch (*t->pos) {
	case '"':
		t->pos++;
		return get_string(t, out);
	case '[':
	case '{':
		out->kind = *t->pos++ == '[' ? APITRACE_TOKEN_LIST : APITRACE_TOKEN_MAP;
		return 0;
	case ']':
	case '}':
		t->pos++;
		out->kind = APITRACE_TOKEN_CLOSE;
		return 0;
	default:
		return get_word(t, out);
	}
}

void apitrace_json_tokens(struct apitrace_json_tokens *t, const char *text, size_t len)
{
	*t = (struct apitrace_json_tokens){ .base = { json_next }, .pos = text, .end = text + len };
}

void apitrace_json_tokens_fini(struct apitrace_json_tokens *t)
{
	buf_free(&t->text);
}
