/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_BASE_JSON_H
#define D9_BASE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

/* Whether a complete value stands at the end of @out: none ends with a byte that opens or separates. */
static inline bool json_wants_comma(const struct buf *out)
{
	switch (out->len ? out->data[out->len - 1] : '\n') {
	case '{':
	case '[':
	case ':':
	case ',':
	case '\n':
		return false;
	default:
		return true;
	}
}

/*
 * JSON text. Functions with a key write a member of the current object; with NULL they write the next
 * value of the array or document. They write a comma first if the last byte of @out requires one, so
 * text added by other means is allowed. A caller that empties @out inside an object or array must
 * write the next comma itself; after json_flush() this is not needed.
 *
 * Keys are written unchanged: names from a trace are not keys, except by json_key_text().
 */
static inline void json_key(struct buf *out, const char *key)
{
	const size_t len = key ? strlen(key) : 0;
	char *to = buf_reserve(out, len + 4), *at = to;

	if (json_wants_comma(out))
		*at++ = ',';
	if (key) {
		*at++ = '"';
		memcpy(at, key, len);
		at += len;
		*at++ = '"';
		*at++ = ':';
	}
	*at = '\0';
	out->len += (size_t)(at - to);
}

void json_key_text(struct buf *out, const char *s, size_t len);
void json_key_printf(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void json_object(struct buf *out, const char *key);
void json_array(struct buf *out, const char *key);
/* Closes what was opened last, and what it lies in: "}", "]}", or "}\n" to end a document. */
void json_end(struct buf *out, const char *closing);
/* The next value begins on a line of its own; json_line_object() opens an object there. */
void json_line(struct buf *out);
void json_line_object(struct buf *out);
/* Writes what is there, but for the last byte, which the next value needs. */
void json_flush(struct buf *out, FILE *f);

static inline void json_u64(struct buf *out, const char *key, uint64_t v)
{
	json_key(out, key);
	buf_addu(out, v);
}

void json_i64(struct buf *out, const char *key, int64_t v);
/* Nine digits; null if it is not finite. */
void json_double(struct buf *out, const char *key, double v);
void json_bool(struct buf *out, const char *key, bool v);
void json_null(struct buf *out, const char *key);
/* NULL: null. */
void json_str(struct buf *out, const char *key, const char *s);
void json_text(struct buf *out, const char *key, const char *s, size_t len);
void json_char(struct buf *out, const char *key, char c);
void json_hex(struct buf *out, const char *key, const void *p, size_t sz);

struct json_u64 {
	const char *key;
	uint64_t v;
};

/* Several numbers: json_u64s(out, { "cpu", cpu }, { "ns", ns }). */
#define json_u64s(out, ...)                                                                        \
	json_u64_list(out, (const struct json_u64[]){ __VA_ARGS__ },                               \
		      sizeof((const struct json_u64[]){ __VA_ARGS__ }) / sizeof(struct json_u64))
void json_u64_list(struct buf *out, const struct json_u64 *v, size_t cnt);

#endif /* D9_BASE_JSON_H */
