/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_EXPORT_PROTO_READ_H
#define D9_TESTS_EXPORT_PROTO_READ_H

/*
 * Messages of Protocol Buffers read back as text, by a reader that shares nothing with the writer: one line for
 * each field of the outermost message, "2 { 1 [1,2] 3 { 1: 5 } }". The type of a field that is ambiguous on the
 * wire is looked up by its path.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

struct proto_read {
	const char *const *messages; /* paths such as "2" and "2.3", NULL ends */
	const char *const *packed; /* likewise */
};

static inline uint64_t proto_read_varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		cr_assert(*p < end && shift < 64, "a number that does not end");
		v |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return v;
	}
}

static inline bool proto_read_has(const char *const *list, const char *path)
{
	for (; *list; list++)
		if (!strcmp(*list, path))
			return true;
	return false;
}

static inline void proto_read_text(struct buf *out, const uint8_t *p, size_t n)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++)
		if (p[i] >= 0x20 && p[i] < 0x7f)
			buf_addch(out, (char)p[i]);
		else
			buf_printf(out, "\\x%02x", p[i]);
	buf_addch(out, '"');
}

static inline void proto_read_fields(struct buf *out, const struct proto_read *r,
				     const char *within, const uint8_t *p, const uint8_t *end);

static inline void proto_read_bytes(struct buf *out, const struct proto_read *r, const char *path,
				    const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	if (proto_read_has(r->messages, path)) {
		buf_addstr(out, " {");
		proto_read_fields(out, r, path, p, end);
		buf_addstr(out, " }");
	} else if (proto_read_has(r->packed, path)) {
		buf_addstr(out, " [");
		for (const char *sep = ""; p < end; sep = ",")
			buf_printf(out, "%s%" PRIu64, sep, proto_read_varint(&p, end));
		buf_addch(out, ']');
	} else {
		buf_addstr(out, ": ");
		proto_read_text(out, p, n);
	}
}

static inline void proto_read_fields(struct buf *out, const struct proto_read *r,
				     const char *within, const uint8_t *p, const uint8_t *end)
{
	char path[64];
	uint64_t tag, v;

	while (p < end) {
		tag = proto_read_varint(&p, end);
		snprintf(path, sizeof(path), "%s%s%" PRIu64, within, *within ? "." : "", tag >> 3);
		buf_printf(out, "%s%" PRIu64, *within ? " " : "", tag >> 3);
		switch (tag & 7) {
		case 0:
			buf_printf(out, ": %" PRIu64, proto_read_varint(&p, end));
			break;
		case 1:
			cr_assert_geq(end - p, 8);
			memcpy(&v, p, 8);
			buf_printf(out, ": 0x%" PRIx64, v);
			p += 8;
			break;
		case 2:
			v = proto_read_varint(&p, end);
			cr_assert_leq(v, (uint64_t)(end - p), "a field that leaves its message");
			proto_read_bytes(out, r, path, p, (size_t)v);
			p += v;
			break;
		default:
			cr_assert(0, "wire type %u", (unsigned int)(tag & 7));
		}
		if (!*within)
			buf_addch(out, '\n');
	}
}

static inline void proto_read(struct buf *out, const struct proto_read *r, const void *p, size_t sz)
{
	proto_read_fields(out, r, "", p, (const uint8_t *)p + sz);
}

#endif /* D9_TESTS_EXPORT_PROTO_READ_H */
