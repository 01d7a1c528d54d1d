/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_TRACING_H
#define D9_FORMATS_PERFDATA_TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "formats/foreign.h"
#include "formats/perfdata/bytes.h"

enum perfdata_field_kind {
	PERFDATA_FIELD_UINT, /* of 1, 2, 4 or 8 bytes */
	PERFDATA_FIELD_SINT,
	PERFDATA_FIELD_BOOL,
	PERFDATA_FIELD_CHARS, /* text up to the first NUL */
	PERFDATA_FIELD_STRING, /* a word with offset and length of text */
	PERFDATA_FIELD_REL_STRING, /* the same; the offset counts from the end of the word */
	PERFDATA_FIELD_BYTES,
	PERFDATA_FIELD_DYN_BYTES,
	PERFDATA_FIELD_REL_BYTES,
};

struct perfdata_field {
	char *name;
	uint32_t off, size;
	enum perfdata_field_kind kind;
};

/* The layout of a tracepoint's records. */
struct perfdata_format {
	char *name; /* <system>:<event> */
	uint64_t id;
	struct perfdata_field *fields; /* without the common ones */
	size_t cnt, cap;
};

/* The tracepoints of a file. {0} is empty. */
struct perfdata_tracing {
	struct perfdata_format *formats;
	size_t cnt, cap;
	struct hmap by_id; /* number of a tracepoint -> 1 + index in formats */
};

void perfdata_tracing_fini(struct perfdata_tracing *t);

/* Adds the formats of a TRACING_DATA section. What is damaged is noted; formats before it count. */
void perfdata_tracing_read(struct perfdata_tracing *t, struct perfdata_bytes b,
			   struct foreign_notes *notes);

/*
 * Adds the format that this text describes, of an event of that system. False: it is no description of a record, or
 * its number is taken.
 */
bool perfdata_tracing_add(struct perfdata_tracing *t, const char *system,
			  struct perfdata_bytes text);

/* The format of a tracepoint's number, or NULL. */
const struct perfdata_format *perfdata_tracing_find(const struct perfdata_tracing *t, uint64_t id);

/*
 * A field's bytes in a record, borrowed: false if they reach outside. Text ends before its first NUL.
 */
bool perfdata_field_bytes(const struct perfdata_field *f, struct perfdata_bytes raw,
			  struct perfdata_bytes *out);

/* The number in an integer field, sign-extended: false if it is outside of the record. */
bool perfdata_field_int(const struct perfdata_field *f, struct perfdata_bytes raw, int64_t *out);

#endif /* D9_FORMATS_PERFDATA_TRACING_H */
