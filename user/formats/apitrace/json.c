// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sink that writes JSON.
 *
 * Whether a comma is due follows from what came last, so no stack of open brackets is kept, whatever the
 * depth. Text can be far longer than the value it shows (a name of a megabyte may stand for a byte), so it
 * leaves in pieces, or stops at a limit.
 */
#include "formats/apitrace/json.h"

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
static bool begin(struct apitrace_json *j)
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

	if (begin(j))
		buf_addstr(&j->out, "null");
}

static void json_boolean(void *s, bool v)
{
	struct apitrace_json *j = s;

	if (begin(j))
		buf_addstr(&j->out, v ? "true" : "false");
}

static void json_uint(void *s, uint64_t v)
{
	struct apitrace_json *j = s;

	if (begin(j))
		buf_printf(&j->out, "%" PRIu64, v);
}

static void json_neg(void *s, uint64_t magnitude)
{
	struct apitrace_json *j = s;

	if (begin(j))
		buf_printf(&j->out, "-%" PRIu64, magnitude);
}

/* The shortest form that reads back as the same number, and never looks like an integer. */
static void json_real(void *s, double v)
{
	struct apitrace_json *j = s;
	char text[40];

	if (!begin(j))
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

	if (begin(j))
		str_json(&j->out, p, len);
}

static void json_key(void *s, const char *key)
{
	struct apitrace_json *j = s;

	if (!begin(j))
		return;
	str_json(&j->out, key, strlen(key));
	buf_addch(&j->out, ':');
	j->comma = false;
}

static void json_bytes(void *s, const uint8_t *p, size_t sz)
{
	static const char digits[] = "0123456789abcdef";
	struct apitrace_json *j = s;

	if (!begin(j))
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

	if (begin(j)) {
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
