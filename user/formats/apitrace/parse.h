/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_PARSE_H
#define D9_FORMATS_APITRACE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/apitrace/signatures.h"

/* One event's details may take this much; beyond it the trace is refused there. */
#define APITRACE_EVENT_MAX ((size_t)120 << 20)
/* Values in values. */
#define APITRACE_DEPTH_MAX 1000
/* The newest version whose meaning is known; newer ones are read as if they were of it. */
#define APITRACE_VERSION 6

enum apitrace_event_tag { APITRACE_EVENT_ENTER = 0, APITRACE_EVENT_LEAVE = 1 };

enum apitrace_detail_tag {
	APITRACE_DETAIL_END = 0,
	APITRACE_DETAIL_ARG = 1, /* uint index, value */
	APITRACE_DETAIL_RET = 2, /* value */
	APITRACE_DETAIL_STACK = 4, /* uint count, frames */
	APITRACE_DETAIL_FLAGS = 5, /* uint */
};

enum apitrace_value_tag {
	APITRACE_NULL = 0,
	APITRACE_FALSE = 1,
	APITRACE_TRUE = 2,
	APITRACE_NEG = 3, /* uint: the magnitude */
	APITRACE_UINT = 4, /* uint */
	APITRACE_FLOAT = 5, /* 4 bytes */
	APITRACE_DOUBLE = 6, /* 8 bytes */
	APITRACE_STRING = 7, /* uint length, bytes */
	APITRACE_BLOB = 8, /* uint size, bytes */
	APITRACE_ENUM = 9, /* signature, tag 3 or 4, uint */
	APITRACE_MASK = 10, /* signature, uint */
	APITRACE_ARRAY = 11, /* uint count, values */
	APITRACE_STRUCT = 12, /* signature, a value for each member */
	APITRACE_POINTER = 13, /* uint */
	APITRACE_REPR = 14, /* value for people, value for machines */
	APITRACE_WSTRING = 15, /* uint count, uints */
};

/*
 * One enter or leave. `details` are in the form of the wire, but shortest in every number, without
 * definitions (each signature is just its id, and in the table) and without the final 0; each is whole.
 * Pointers are borrowed until the next apitrace_parse_next(), fn for as long as the parser lives.
 */
struct apitrace_event {
	bool leave;
	uint64_t off; /* in the decompressed stream */
	bool has_no; /* false only when the event is cut in front of it */
	uint64_t no; /* number of the call */
	bool has_thread;
	uint64_t thread; /* enter: 0 in versions that do not tell */
	const struct apitrace_sig *fn; /* enter; NULL when cut in front of it */
	const uint8_t *details;
	size_t details_sz;
	bool cut; /* the stream ends in it */
};

struct apitrace_property {
	struct dial9_str name, value;
};

struct apitrace_parser;

/* read() as dial9_read_fn, -EBADMSG from it ends the stream like damage. Free with _free (NULL is fine). */
void apitrace_parse_new(dial9_read_fn read, void *ctx, struct apitrace_parser **out);
void apitrace_parse_free(struct apitrace_parser *p);

/*
 * Reads version and properties; once, before the first event. 1, 0 when the stream ends within it (what
 * there is can be asked for), -EBADMSG (apitrace_parse_error() says what), or an error of read().
 */
int apitrace_parse_header(struct apitrace_parser *p);

/* -1 when the stream ended before it. */
int64_t apitrace_parse_version(const struct apitrace_parser *p);
/* The version itself before 6; -1 when the stream ended before it. */
int64_t apitrace_parse_semantic_version(const struct apitrace_parser *p);
const struct apitrace_property *apitrace_parse_properties(const struct apitrace_parser *p,
							  size_t *cnt);

/*
 * The next event: 1, 0 at the end of the stream (after an event with `cut`, if it ends in one), -EBADMSG
 * at damage, -E2BIG at a limit (both: apitrace_parse_error(); final), or an error of read().
 */
int apitrace_parse_next(struct apitrace_parser *p, struct apitrace_event *out);

/* "value tag 16 at 49"; "" when nothing is wrong. Borrowed. */
const char *apitrace_parse_error(const struct apitrace_parser *p);
uint64_t apitrace_parse_offset(const struct apitrace_parser *p);
const struct apitrace_sigs *apitrace_parse_sigs(const struct apitrace_parser *p);

#endif /* D9_FORMATS_APITRACE_PARSE_H */
