/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_PARSE_H
#define D9_FORMATS_APITRACE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/apitrace/value.h"

/*
 * One enter or leave. `details` are in the form of the wire, but shortest in every number, without
 * definitions (each signature is just its id, and in the table) and without the final 0; each is whole.
 * Pointers are borrowed until the next apitrace_parse_next(), fn until the parser is freed.
 */
struct apitrace_event {
	bool leave;
	uint64_t off; /* in the decompressed stream */
	bool has_no; /* false only when the event is cut in front of it */
	uint64_t no; /* number of the call */
	bool has_thread;
	uint64_t thread; /* enter: 0 in versions without threads */
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
