/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_PRINT_H
#define D9_FORMATS_APITRACE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/apitrace/value.h"

/*
 * A value as scalars, lists and maps, which JSON text (json.c) and the lists and maps of dial9
 * (dial9_value.c) are made of. In a map keys (text) and values alternate.
 */
struct apitrace_sink_ops {
	void (*null)(void *s);
	void (*boolean)(void *s, bool v);
	void (*uint)(void *s, uint64_t v);
	void (*neg)(void *s, uint64_t magnitude); /* 1 to 2^63 */
	void (*real)(void *s, double v); /* any bits, NaN too */
	void (*text)(void *s, const char *p, size_t len); /* UTF-8 */
	void (*key)(void *s, const char *key);
	void (*bytes)(void *s, const uint8_t *p, size_t sz); /* by its own means: hex, say */
	void (*open)(void *s, bool map);
	void (*close)(void *s, bool map);
	bool all_reals; /* real() can say NaN and infinities */
};

struct apitrace_sink {
	const struct apitrace_sink_ops *ops;
	void *s;
	/*
	 * Two ways to say the same. Exact: every value names its type, as {"u": 5}, for `dump`. Plain:
	 * what speaks for itself stands bare, for fields of dial9 that people read; build.c
	 * reads it back to the same bytes.
	 */
	bool plain;
};

/* Prints one value and moves past it. */
void apitrace_print_value(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
			  struct apitrace_cur *c);

/* Text where it is valid UTF-8, otherwise {"hex": ...}. */
void apitrace_print_text(const struct apitrace_sink *k, const void *p, size_t len);

/* How deep a value nests; 1 is a scalar. */
unsigned int apitrace_print_depth(const struct apitrace_sigs *sigs, struct apitrace_cur c);

/* What a value in plain words comes in as, piece by piece. */
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

#endif /* D9_FORMATS_APITRACE_PRINT_H */
