/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_BUILD_H
#define D9_FORMATS_APITRACE_BUILD_H

#include "formats/apitrace/value.h"

/* What a value in plain words (print.h) comes in as, piece by piece. */
enum apitrace_token_kind {
	APITRACE_TOKEN_END,
	APITRACE_TOKEN_NULL,
	APITRACE_TOKEN_BOOL, /* number */
	APITRACE_TOKEN_UINT, /* number */
	APITRACE_TOKEN_NEG, /* number: the magnitude */
	APITRACE_TOKEN_REAL, /* real */
	APITRACE_TOKEN_TEXT, /* text, UTF-8 */
	APITRACE_TOKEN_BYTES, /* text, any */
	APITRACE_TOKEN_LIST,
	APITRACE_TOKEN_MAP,
	APITRACE_TOKEN_CLOSE, /* of the innermost list or map */
};

struct apitrace_token {
	enum apitrace_token_kind kind;
	uint64_t number;
	double real;
	struct dial9_str text; /* borrowed until the next token */
};

/* next() gives a token and 0, or -EBADMSG. The first member of whatever object provides them. */
struct apitrace_tokens {
	int (*next)(struct apitrace_tokens *t, struct apitrace_token *out);
};

/* Tokens of JSON text. apitrace_build_json() fills, _fini frees. The text is borrowed. */
struct apitrace_json_tokens {
	struct apitrace_tokens base;
	const char *pos, *end;
	struct buf text;
};

void apitrace_build_json(struct apitrace_json_tokens *t, const char *text, size_t len);
void apitrace_build_json_fini(struct apitrace_json_tokens *t);

/*
 * Appends one value, in the flat form of struct apitrace_event but with counts in five bytes, whatever
 * they are. 0, -EBADMSG when the words are no value, -E2BIG when it nests too deep or gets too large; out
 * is then as it was.
 */
int apitrace_build_value(struct apitrace_tokens *t, struct buf *out);

/* The value that a token begins; for callers that had to look at it. */
int apitrace_build_from(struct apitrace_tokens *t, const struct apitrace_token *first,
			struct buf *out);

#endif /* D9_FORMATS_APITRACE_BUILD_H */
