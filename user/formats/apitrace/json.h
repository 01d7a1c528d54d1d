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

#endif /* D9_FORMATS_APITRACE_JSON_H */
