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

#endif /* D9_FORMATS_APITRACE_PRINT_H */
