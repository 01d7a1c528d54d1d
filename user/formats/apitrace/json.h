/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_JSON_H
#define D9_FORMATS_APITRACE_JSON_H

#include "formats/apitrace/print.h"

/*
 * JSON text in the making: {.write = NULL} keeps all in `out` up to `max` bytes (`over` is set and the
 * rest dropped beyond it), otherwise pieces are handed to write() and the first error kept in `err`.
 */
struct apitrace_json {
	struct buf out;
	size_t max;
	bool over;
	dial9_write_fn write;
	void *ctx;
	int err;
	bool comma; /* the next value or key needs one in front */
};

/* The sink's operations; its s is a struct apitrace_json. */
extern const struct apitrace_sink_ops apitrace_json_ops;

/* Hands what waits to write(). */
void apitrace_json_flush(struct apitrace_json *j);
/* Ends a line: the next value starts afresh. */
void apitrace_json_line(struct apitrace_json *j);

/* Tokens of JSON text. apitrace_json_tokens() fills, apitrace_json_tokens_fini() frees. The text is borrowed. */
struct apitrace_json_tokens {
	struct apitrace_tokens base;
	const char *pos, *end;
	struct buf text;
};

void apitrace_json_tokens(struct apitrace_json_tokens *t, const char *text, size_t len);
void apitrace_json_tokens_fini(struct apitrace_json_tokens *t);

/* 0 to 15, or -1. */
int apitrace_json_hex_digit(char c);

#endif /* D9_FORMATS_APITRACE_JSON_H */
