/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_TP_SYMBOLS_H
#define D9_TRACE_READ_TP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* One row of a TracepointSymbol event; `name` is borrowed from the string table of the trace. */
struct tp_symbols_row {
	uint8_t kind; /* enum prof_tp_symbol_kind; kinds from the future are skipped */
	uint64_t value;
	const char *name;
	size_t name_len;
	uint64_t telling; /* the same for all that somebody tells of at once */
};

/* What the kernel prints for the values of one field: its rows in file order. {0} is empty. */
struct tp_symbols {
	struct tp_symbols_row *rows;
	size_t cnt, cap;
	size_t cursor; /* rows seen in this segment */
	uint64_t segment; /* the segment that cursor counts in */
	uint64_t telling; /* of its first row there */
};

/*
 * Adds a row that was read in segment number @segment. Segments repeat the rows: a repetition
 * changes nothing, a different row replaces the tail. In one segment the first who tells is believed, for a merged
 * stream holds what each of its parts told: of others only values without a name get one. Rows past a sane number are ignored. True when
 * something has changed.
 */
bool tp_symbols_add(struct tp_symbols *ts, uint64_t segment, const struct tp_symbols_row *row);
/*
 * The rows of an enum's lines (user/libdial9/FORMAT.md), for an empty *ts. Lines that are none are left out.
 * Borrows @text.
 */
void tp_symbols_parse(struct tp_symbols *ts, const char *text, size_t len);
void tp_symbols_fini(struct tp_symbols *ts);

/*
 * Appends the text of value @x to @out. False, and nothing is added, when the rows have no text
 * for any value, so that the caller prints the number.
 */
bool tp_symbols_render(const struct tp_symbols *ts, uint64_t x, struct buf *out);
/* The same of a field that is bytes: "[0x3,0x7ffd10]" when the rows say that they are integers. */
bool tp_symbols_render_array(const struct tp_symbols *ts, const uint8_t *le, size_t sz,
			     struct buf *out);

#endif /* D9_TRACE_READ_TP_SYMBOLS_H */
