// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbolic values of tracepoint fields, as in the kernel's print fmt, from rows in the trace. Owns
 * the rows of one field; readers never parse format text.
 *
 * The rows are a small program (see include/prof_events.h): a MASK row starts a piece, each piece
 * is a list of symbols or flags, and the texts of the pieces are joined. prev_state of a switch has
 * two: the state letters under mask 0xff, and "+" for bit 0x100.
 */
#include "trace/read/tp_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/errname.h"
#include "base/str.h"
#include "prof_events.h"

/* more than any kernel has (the longest list in 6.18 has about 500 names) */
#define TPSYM_ROWS_MAX 65536
/* longer lists are not searched for a value */
#define TPSYM_LOOK_MAX 4096

static bool row_equal(const struct tp_symbols_row *a, const struct tp_symbols_row *b)
{
	return a->kind == b->kind && a->value == b->value && a->name_len == b->name_len &&
	       !memcmp(a->name, b->name, a->name_len);
}

/*
 * If the row comes from another source than the first, whether it is redundant: the text is known
 * and no value lacks a name.
 */
static bool is_redundant(const struct tp_symbols *ts, const struct tp_symbols_row *row)
{
	if (row->kind != PROF_TP_SYMBOL)
		return true;
	for (size_t i = 0; i < ts->cursor && ts->cursor <= TPSYM_LOOK_MAX; i++)
		if (ts->rows[i].kind == PROF_TP_SYMBOL && ts->rows[i].value == row->value)
			return true;
	return false;
}

bool tp_symbols_add(struct tp_symbols *ts, uint64_t segment, const struct tp_symbols_row *row)
{
	bool fresh;

	if (ts->segment != segment) {
		ts->segment = segment;
		ts->cursor = 0;
	}
	if (ts->cursor >= TPSYM_ROWS_MAX)
		return false;
	if (!ts->cursor)
		ts->source = row->source;
	else if (row->source != ts->source && is_redundant(ts, row))
		return false;
	fresh = ts->cursor == ts->cnt || !row_equal(&ts->rows[ts->cursor], row);
	if (fresh) {
		ts->rows = array_reserve(ts->rows, &ts->cap, ts->cursor + 1, sizeof(*ts->rows));
		ts->rows[ts->cursor] = *row;
		ts->cnt = ts->cursor + 1;
	}
	ts->cursor++;
	return fresh;
}

/* ---- lines of an enum ------------------------------------------------------------------------- */

/* Decimal or 0x hexadecimal, with optional sign. */
static bool parse_number(const char *s, size_t len, uint64_t *out)
{
	const bool negative = len && *s == '-';
	char digits[32];
	uint64_t v;

	s += negative;
	len -= negative;
	if (len >= sizeof(digits))
		return false;
	memcpy(digits, s, len);
	digits[len] = '\0';
	if (str_parse_u64(digits, UINT64_MAX, &v))
		return false;
	*out = negative ? -v : v;
	return true;
}

/* The text before the "=" of a line. */
static bool parse_key(const char *s, size_t len, struct tp_symbols_row *row)
{
	static const struct {
		const char *word;
		enum prof_tp_symbol_kind kind;
		bool number; /* of the text after it */
	} keys[] = {
		{ "|", PROF_TP_FLAG, true },	       { "&", PROF_TP_MASK, true },
		{ ">>", PROF_TP_SHIFT, true },	       { "array", PROF_TP_ARRAY, true },
		{ "delim", PROF_TP_DELIM, false },     { "zero", PROF_TP_ZERO, false },
		{ "nonzero", PROF_TP_NONZERO, false }, { "hex", PROF_TP_HEX, false },
		{ "dec", PROF_TP_DECIMAL, false },     { "errno", PROF_TP_ERRNO, false },
	};
	size_t n;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		n = strlen(keys[i].word);
		if (len < n || memcmp(s, keys[i].word, n) || (len > n && !keys[i].number))
			continue;
		row->kind = (uint8_t)keys[i].kind;
		row->value = 0;
		return !keys[i].number || parse_number(s + n, len - n, &row->value);
	}
	row->kind = PROF_TP_SYMBOL;
	return parse_number(s, len, &row->value);
}

void tp_symbols_parse(struct tp_symbols *ts, const char *text, size_t len)
{
	const char *const end = text + len;
	const char *line, *next, *equals;
	struct tp_symbols_row row = { 0 }; /* all rows of one text */

	for (line = text; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end + 1;
		equals = memchr(line, '=', (size_t)(next - 1 - line));
		row.name = equals ? equals + 1 : next - 1;
		row.name_len = (size_t)(next - 1 - row.name);
		if (parse_key(line, (size_t)((equals ? equals : next - 1) - line), &row))
			tp_symbols_add(ts, 0, &row);
	}
}

void tp_symbols_fini(struct tp_symbols *ts)
{
	free(ts->rows);
	memset(ts, 0, sizeof(*ts));
}

static void add_hex(struct buf *out, uint64_t x)
{
	buf_addstr(out, "0x");
	buf_addx(out, x);
}

/* "-2 ENOENT"; false and no text if it is not an error number. */
static bool add_errno(struct buf *out, int64_t x)
{
	/* internal error numbers of the kernel, visible to tracers */
	static const char *const restarts[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND",
						"ENOIOCTLCMD", "ERESTART_RESTARTBLOCK" };
	const char *name = NULL;

	if (x >= 0 || x < -4095)
		return false;
	if (x <= -512 && x > -517)
		name = restarts[-x - 512];
	else
		name = errname((int)-x);
	buf_addi(out, x);
	if (name) {
		buf_addch(out, ' ');
		buf_addstr(out, name);
	}
	return true;
}

/* The current piece while walking the rows. */
struct piece {
	uint64_t x, start;
	const char *delim;
	size_t delim_len;
	bool flags, symbols, printed, done;
};

static void piece_flag(struct piece *p, const struct tp_symbols_row *row, struct buf *out)
{
	p->flags = true;
	if (!p->x || (p->x & row->value) != row->value)
		return;
	if (p->printed)
		buf_add(out, p->delim, p->delim_len);
	buf_add(out, row->name, row->name_len);
	p->x &= ~row->value;
	p->printed = true;
}

static void piece_row(struct piece *p, const struct tp_symbols_row *row, struct buf *out)
{
	bool hit = false;

	switch (row->kind) {
	case PROF_TP_DECIMAL:
		buf_addi(out, (int64_t)p->x);
		p->done = true;
		return;
	case PROF_TP_ERRNO:
		p->done = add_errno(out, (int64_t)p->x);
		return;
	case PROF_TP_DELIM:
		p->delim = row->name;
		p->delim_len = row->name_len;
		return;
	case PROF_TP_FLAG:
		piece_flag(p, row, out);
		return;
	case PROF_TP_SYMBOL:
		p->symbols = true;
		hit = p->x == row->value;
		break;
	case PROF_TP_ZERO:
		hit = !p->start;
		break;
	case PROF_TP_NONZERO:
		hit = p->start;
		break;
	}
	if (hit) {
		buf_add(out, row->name, row->name_len);
		p->done = true;
	}
}

static void piece_end(const struct piece *p, struct buf *out)
{
	if (p->done)
		return;
	if (p->flags && p->x) {
		if (p->printed)
			buf_add(out, p->delim, p->delim_len);
		add_hex(out, p->x);
	} else if (p->symbols && !p->flags) {
		add_hex(out, p->x);
	}
}

bool tp_symbols_render(const struct tp_symbols *ts, uint64_t x, struct buf *out)
{
	struct piece p = { .x = x, .start = x, .delim = "|", .delim_len = 1 };
	uint64_t mask, shift;

	if (!ts->cnt)
		return false;
	if (ts->rows[0].kind == PROF_TP_ARRAY)
		return false;
	if (ts->rows[0].kind == PROF_TP_HEX) {
		add_hex(out, x);
		return true;
	}
	for (size_t i = 0; i < ts->cnt; i++) {
		if (ts->rows[i].kind != PROF_TP_MASK) {
			if (!p.done)
				piece_row(&p, &ts->rows[i], out);
			continue;
		}
		mask = ts->rows[i].value;
		if (i) {
			piece_end(&p, out);
			buf_add(out, ts->rows[i].name, ts->rows[i].name_len);
		}
		shift = 0;
		if (i + 1 < ts->cnt && ts->rows[i + 1].kind == PROF_TP_SHIFT)
			shift = ts->rows[++i].value;
		p = (struct piece){ .delim = "|", .delim_len = 1 };
		p.x = p.start = (shift < 64 ? x >> shift : 0) & mask;
	}
	piece_end(&p, out);
	return true;
}

bool tp_symbols_render_array(const struct tp_symbols *ts, const uint8_t *le, size_t sz,
			     struct buf *out)
{
	size_t unit = ts->cnt && ts->rows[0].kind == PROF_TP_ARRAY ? ts->rows[0].value : 0;
	uint64_t x;

	if ((unit != 2 && unit != 4 && unit != 8) || sz % unit)
		return false;
	buf_addch(out, '[');
	for (size_t at = 0; at < sz; at += unit) {
		if (at)
			buf_addch(out, ',');
		x = 0;
		for (size_t i = unit; i-- > 0;)
			x = x << 8 | le[at + i];
		add_hex(out, x);
	}
	buf_addch(out, ']');
	return true;
}
