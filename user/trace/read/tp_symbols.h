/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_TP_SYMBOLS_H
#define D9_TRACE_READ_TP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* One row of a TracepointSymbol event; `name` is borrowed from the string table of the trace. */
struct tp_symbols_row {
	uint8_t kind; /* enum prof_tp_symbol_kind; unknown kinds are skipped */
	uint64_t value;
	const char *name;
	size_t name_len;
	uint64_t source; /* equal for rows from one source */
};

/* The kernel's texts for the values of one field: rows in file order. {0} is empty. */
struct tp_symbols {
	struct tp_symbols_row *rows;
	size_t cnt, cap;
	size_t cursor; /* rows read in this segment */
	uint64_t segment; /* segment number of cursor */
	uint64_t source; /* of the first row in it */
};

/*
 * Adds a row that was read in segment number @segment. Segments repeat the rows: a repetition
 * changes nothing, a different row replaces the tail. Within a segment the first source wins,
 * because a merged stream has the rows of each part; other sources only add values without a name.
 * Rows beyond a sane number are ignored. Returns whether anything changed.
 */
bool tp_symbols_add(struct tp_symbols *ts, uint64_t segment, const struct tp_symbols_row *row);
/*
 * The rows of an enum text (user/libdial9/FORMAT.md), for an empty *ts. Skips malformed lines.
 * Borrows @text.
 */
void tp_symbols_parse(struct tp_symbols *ts, const char *text, size_t len);
void tp_symbols_fini(struct tp_symbols *ts);

/*
 * Appends the text of value @x to @out. False, and nothing appended, if the rows have no text for
 * any value; the caller then prints the number.
 */
bool tp_symbols_render(const struct tp_symbols *ts, uint64_t x, struct buf *out);
/* The same for a field of bytes: "[0x3,0x7ffd10]" if the rows declare an array of integers. */
bool tp_symbols_render_array(const struct tp_symbols *ts, const uint8_t *le, size_t sz,
			     struct buf *out);

#endif /* D9_TRACE_READ_TP_SYMBOLS_H */
