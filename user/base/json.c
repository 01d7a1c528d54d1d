// SPDX-License-Identifier: BSD-2-Clause
/*
 * JSON text. Owns commas and quotes, and keeps no state: the last byte that was written shows whether a
 * comma is due.
 */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

void json_key_text(struct buf *out, const char *s, size_t len)
{
	json_text(out, NULL, s, len);
	buf_addch(out, ':');
}

void json_key_printf(struct buf *out, const char *fmt, ...)
{
	va_list ap;

	json_key(out, NULL);
	buf_addch(out, '"');
	va_start(ap, fmt);
	buf_vprintf(out, fmt, ap);
	va_end(ap);
	buf_addstr(out, "\":");
}

void json_object(struct buf *out, const char *key)
{
	json_key(out, key);
	buf_addch(out, '{');
}

void json_array(struct buf *out, const char *key)
{
	json_key(out, key);
	buf_addch(out, '[');
}

void json_end(struct buf *out, const char *closing)
{
	buf_addstr(out, closing);
}

void json_line(struct buf *out)
{
	json_key(out, NULL);
	buf_addch(out, '\n');
}

void json_line_object(struct buf *out)
{
	json_line(out);
	buf_addch(out, '{');
}

void json_flush(struct buf *out, FILE *f)
{
	if (out->len < 2)
		return;
	fwrite(out->data, 1, out->len - 1, f);
	out->data[0] = out->data[out->len - 1];
	out->data[1] = '\0';
	out->len = 1;
}

void json_i64(struct buf *out, const char *key, int64_t v)
{
	json_key(out, key);
	buf_addi(out, v);
}

void json_double(struct buf *out, const char *key, double v)
{
	json_key(out, key);
	if (isfinite(v))
		buf_printf(out, "%.9g", v);
	else
		buf_addstr(out, "null");
}

void json_bool(struct buf *out, const char *key, bool v)
{
	json_key(out, key);
	buf_addstr(out, v ? "true" : "false");
}

void json_null(struct buf *out, const char *key)
{
	json_key(out, key);
	buf_addstr(out, "null");
}

void json_text(struct buf *out, const char *key, const char *s, size_t len)
{
	json_key(out, key);
	str_json(out, s, len);
}

void json_str(struct buf *out, const char *key, const char *s)
{
	if (s)
		json_text(out, key, s, strlen(s));
	else
		json_null(out, key);
}

void json_char(struct buf *out, const char *key, char c)
{
	json_text(out, key, &c, 1);
}

void json_hex(struct buf *out, const char *key, const void *p, size_t sz)
{
	json_key(out, key);
	buf_addch(out, '"');
	str_hex(out, p, sz);
	buf_addch(out, '"');
}

void json_u64_list(struct buf *out, const struct json_u64 *v, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		json_u64(out, v[i].key, v[i].v);
}
