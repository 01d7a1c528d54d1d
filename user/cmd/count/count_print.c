// SPDX-License-Identifier: BSD-2-Clause
/* The rows of `count` as a table, histograms and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "cmd/common/color.h"
#include "cmd/count/count.h"
#include "trace/read/value.h"

/* ---- numbers and values ------------------------------------------------------------------------ */

static void put_i128(struct buf *out, __int128 v)
{
	unsigned __int128 left = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	char digits[48], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + (int)(left % 10));
		left /= 10;
	} while (left);
	if (v < 0)
		*--at = '-';
	buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_padded(struct buf *out, __int128 v, size_t width)
{
	struct buf text = { 0 };

	put_i128(&text, v);
	buf_fill(out, ' ', text.len < width ? width - text.len : 0);
	buf_add(out, buf_cstr(&text), text.len);
	buf_free(&text);
}

static double double_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_value(struct buf *out, const struct count *c, const struct count_value *v)
{
	const char *s;
	size_t len;

	if (v->text != NAMES_NONE) {
		value_text_name(out, c->names, v->text);
		return;
	}
	switch ((enum count_type)v->type) {
	case COUNT_NUMBER:
	case COUNT_BOOL:
		buf_addu(out, v->v);
		break;
	case COUNT_NEGATIVE:
		buf_addi(out, (int64_t)v->v);
		break;
	case COUNT_DOUBLE:
		value_print_f64(out, double_of(v->v));
		break;
	case COUNT_TEXT:
		value_text_name(out, c->names, (uint32_t)v->v);
		break;
	case COUNT_BYTES:
		s = names_str(c->names, (uint32_t)v->v, &len);
		str_hex(out, s, len);
		break;
	case COUNT_OTHER:
		buf_addstr(out, "[other]");
		break;
	case COUNT_NONE:
	case COUNT_DROPPED:
		buf_addch(out, '-');
	}
}

/* As script --json prints it. */
static void json_value(struct buf *out, const struct count *c, const struct count_value *v)
{
	const char *s = NULL;
	size_t len = 0;

	if (v->type == COUNT_TEXT || v->type == COUNT_BYTES)
		s = names_str(c->names, (uint32_t)v->v, &len);
	switch ((enum count_type)v->type) {
	case COUNT_NUMBER:
		json_u64(out, NULL, v->v);
		break;
	case COUNT_BOOL:
		json_bool(out, NULL, v->v);
		break;
	case COUNT_NEGATIVE:
		json_i64(out, NULL, (int64_t)v->v);
		break;
	case COUNT_DOUBLE:
		json_double(out, NULL, double_of(v->v));
		break;
	case COUNT_TEXT:
		json_text(out, NULL, s, len);
		break;
	case COUNT_BYTES:
		json_hex(out, NULL, s, len);
		break;
	case COUNT_OTHER:
	case COUNT_NONE:
	case COUNT_DROPPED:
		json_null(out, NULL);
	}
}

/* ---- which rows -------------------------------------------------------------------------------- */

static bool is_same_interval(const struct counts *n, size_t a, size_t b)
{
	const struct counts_row *x = &n->rows[a], *y = &n->rows[b];

	return !n->opts.interval_ns || (x->slot == y->slot && x->part == y->part);
}

/* Rows of one interval: from @at to the returned one (exclusive), with the sum of their events. */
static size_t interval_end(const struct counts *n, size_t at, uint64_t *events)
{
	size_t i;

	*events = 0;
	for (i = at; i < n->row_cnt && is_same_interval(n, at, i); i++)
		*events += n->rows[i].cnt;
	return i;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- histograms -------------------------------------------------------------------------------- */

/* 2^@power as bpftrace writes it: 512, 1K, 64M. */
static void put_power(struct buf *out, unsigned int power)
{
	buf_addu(out, 1ULL << (power % 10));
	if (power >= 10)
		buf_addch(out, "?KMGTPE"[power / 10]);
}

static void put_bucket_name(struct buf *out, size_t bucket)
{
	const unsigned int power = (unsigned int)(bucket - COUNTS_POWERS);

	if (bucket == COUNTS_NEGATIVE) {
		buf_addstr(out, "(..., 0)");
	} else if (bucket == COUNTS_ZERO) {
		buf_addstr(out, "[0]");
	} else if (!power) {
		buf_addstr(out, "[1]");
	} else {
		buf_addch(out, '[');
		put_power(out, power);
		buf_addstr(out, ", ");
		put_power(out, power + 1);
		buf_addch(out, ')');
	}
}

enum { BAR_COLS = 52, BUCKET_COLS = 16 };

static void put_hist(struct buf *out, const uint64_t *hist)
{
	size_t first = COUNTS_BUCKETS, last = 0, bar;
	uint64_t most = 1;
	struct buf name = { 0 };

	for (size_t i = 0; i < COUNTS_BUCKETS; i++) {
		if (!hist[i])
			continue;
		most = hist[i] > most ? hist[i] : most;
		first = i < first ? i : first;
		last = i;
	}
	for (size_t i = first; i <= last; i++) {
		buf_clear(&name);
		put_bucket_name(&name, i);
		report_text_column(out, buf_cstr(&name), name.len, BUCKET_COLS, false);
		bar = (size_t)((unsigned __int128)hist[i] * BAR_COLS / most);
		buf_printf(out, "%8" PRIu64 " |", hist[i]);
		buf_fill(out, '@', bar);
		buf_fill(out, ' ', BAR_COLS - bar);
		buf_addstr(out, "|\n");
	}
	buf_free(&name);
}

/* Pairs of the lowest number of a bucket and its count. */
static void json_hist(struct buf *out, const uint64_t *hist)
{
	json_array(out, "hist");
	for (size_t i = 0; i < COUNTS_BUCKETS; i++) {
		if (!hist[i])
			continue;
		json_object(out, NULL);
		if (i == COUNTS_NEGATIVE)
			json_null(out, "from");
		else
			json_u64(out, "from", counts_bucket_from(i));
		json_u64(out, "count", hist[i]);
		json_end(out, "}");
	}
	json_end(out, "]");
}

/* ---- the table --------------------------------------------------------------------------------- */

/* Text of the columns of the rows that are printed, and widths that fit it. */
struct table {
	const struct count *c;
	size_t width[COUNT_COLUMNS_MAX];
};

enum { VALUE_COLS_MAX = 48, NUMBER_COLS = 12, TIME_COLS = 16 };

static void widen(struct table *t, const struct counts_row *row)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < t->c->by_cnt; i++) {
		size_t w;

		buf_clear(&text);
		put_value(&text, t->c, &row->v[i]);
		w = value_text_width(buf_cstr(&text), text.len);
		w = w < VALUE_COLS_MAX ? w : VALUE_COLS_MAX;
		t->width[i] = w > t->width[i] ? w : t->width[i];
	}
	buf_free(&text);
}

static void put_column(struct buf *out, const struct table *t, size_t i, const char *s, size_t len)
{
	const bool last = i + 1 == t->c->by_cnt;

	buf_addstr(out, "  ");
	report_text_column(out, s, len, last ? 0 : t->width[i], false);
}

static void put_titles(struct buf *out, const struct table *t)
{
	const struct count *c = t->c;
	struct buf line = { 0 };

	buf_addch(&line, '#');
	if (c->opts->interval_ns)
		buf_printf(&line, "%*s", TIME_COLS - 1, "Time");
	buf_printf(&line, "%*s   Share", NUMBER_COLS - (c->opts->interval_ns ? 0 : 1), "Count");
	if (c->opts->sum)
		buf_printf(&line, " %*s %*s %*s %*s", NUMBER_COLS, "Sum", NUMBER_COLS, "Average",
			   NUMBER_COLS, "Minimum", NUMBER_COLS, "Maximum");
	if (c->counts.by_part)
		buf_addstr(&line, "  Recording");
	for (size_t i = 0; i < c->by_cnt; i++)
		put_column(&line, t, i, c->titles[i], strlen(c->titles[i]));
	color_put(out, c->view.color, COLOR_TITLE, buf_cstr(&line), line.len);
	buf_addch(out, '\n');
	buf_free(&line);
}

static void put_sum(struct buf *out, const struct counts_row *row)
{
	buf_addch(out, ' ');
	put_padded(out, row->sum.sum, NUMBER_COLS);
	buf_printf(out, " %*.1f ", NUMBER_COLS, (double)row->sum.sum / (double)row->cnt);
	put_padded(out, row->sum.min, NUMBER_COLS);
	buf_addch(out, ' ');
	put_padded(out, row->sum.max, NUMBER_COLS);
}

static void put_row(struct buf *out, const struct table *t, const struct counts_row *row,
		    uint64_t events)
{
	const struct count *c = t->c;
	const double share = percent(row->cnt, events);
	struct buf text = { 0 };

	if (c->opts->interval_ns)
		report_text_time(out, row->slot * c->opts->interval_ns, TIME_COLS);
	buf_printf(out, "%*" PRIu64, NUMBER_COLS, row->cnt);
	buf_printf(&text, " %6.2f%%", share);
	color_put(out, c->view.color, color_percent(share), buf_cstr(&text), text.len);
	if (c->opts->sum)
		put_sum(out, row);
	if (c->counts.by_part)
		buf_printf(out, "  %9u", row->part + 1);
	for (size_t i = 0; i < c->by_cnt; i++) {
		buf_clear(&text);
		put_value(&text, c, &row->v[i]);
		put_column(out, t, i, buf_cstr(&text), text.len);
	}
	buf_addch(out, '\n');
	if (row->hist) {
		put_hist(out, row->hist);
		buf_addch(out, '\n');
	}
	buf_free(&text);
}

static void put_notes(struct buf *out, const struct count *c)
{
	const struct counts *n = &c->counts;
	struct buf events = { 0 };

	if (n->lacking) {
		str_counted(&events, n->lacking, "event");
		count_put_line(out, c, false, "not counted: %s without these fields",
			       buf_cstr(&events));
	}
	buf_clear(&events);
	if (n->untimed) {
		str_counted(&events, n->untimed, "event");
		count_put_line(out, c, true, "not counted: %s without time", buf_cstr(&events));
	}
	buf_clear(&events);
	if (n->beyond) {
		str_counted(&events, n->beyond, "event");
		count_put_line(out, c, true,
			       "not counted: %s of other rows: there are more than %zu rows",
			       buf_cstr(&events), n->keys.cnt);
	}
	buf_free(&events);
}

/* Rows of @top at most for each interval; the number of further ones. */
static size_t put_rows(struct buf *out, const struct table *t)
{
	const struct counts *n = &t->c->counts;
	size_t more = 0, end, shown;
	uint64_t events;

	for (size_t at = 0; at < n->row_cnt; at = end) {
		end = interval_end(n, at, &events);
		shown = count_shown(t->c, end - at);
		for (size_t i = at; i < at + shown; i++)
			put_row(out, t, &n->rows[i], events);
		more += end - at - shown;
	}
	return more;
}

void count_put_table(struct buf *out, const struct count *c)
{
	const struct counts *n = &c->counts;
	struct table t = { .c = c };
	size_t end, shown;
	uint64_t events;

	for (size_t i = 0; i < c->by_cnt; i++)
		t.width[i] = value_text_width(c->titles[i], strlen(c->titles[i]));
	for (size_t at = 0; at < n->row_cnt; at = end) {
		end = interval_end(n, at, &events);
		shown = count_shown(c, end - at);
		for (size_t i = at; i < at + shown; i++)
			widen(&t, &n->rows[i]);
	}
	put_titles(out, &t);
	count_put_more(out, put_rows(out, &t), "with fewer events");
}

void count_put_rows(struct buf *out, const struct count *c)
{
	struct buf what = { 0 };

	str_counted(&what, c->counts.counted, "event");
	count_put_head(out, c, buf_cstr(&what));
	put_notes(out, c);
	buf_addstr(out, "#\n");
	count_put_table(out, c);
	buf_free(&what);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

/* An integer of any size. */
static void json_i128(struct buf *out, const char *key, __int128 v)
{
	json_key(out, key);
	put_i128(out, v);
}

static void json_columns(struct buf *out, const struct count *c, const struct counts_row *row)
{
	bool named = false;

	json_object(out, "by");
	for (size_t i = 0; i < c->by_cnt; i++) {
		json_key_text(out, c->titles[i], strlen(c->titles[i]));
		json_value(out, c, &row->v[i]);
		named |= row->v[i].text != NAMES_NONE;
	}
	json_end(out, "}");
	if (!named)
		return;
	json_object(out, "text");
	for (size_t i = 0; i < c->by_cnt; i++) {
		if (row->v[i].text == NAMES_NONE)
			continue;
		json_key_text(out, c->titles[i], strlen(c->titles[i]));
		value_text_json_name(out, NULL, c->names, row->v[i].text);
	}
	json_end(out, "}");
}

static void json_row(struct buf *out, const struct count *c, const struct counts_row *row,
		     uint64_t events)
{
	json_line_object(out);
	if (c->opts->interval_ns)
		json_u64(out, "start_ns", row->slot * c->opts->interval_ns);
	if (c->counts.by_part)
		json_u64(out, "part", row->part + 1);
	json_columns(out, c, row);
	json_u64(out, "count", row->cnt);
	json_double(out, "percent", percent(row->cnt, events));
	if (c->opts->sum) {
		json_i128(out, "sum", row->sum.sum);
		json_double(out, "average", (double)row->sum.sum / (double)row->cnt);
		json_i128(out, "min", row->sum.min);
		json_i128(out, "max", row->sum.max);
	}
	if (row->hist)
		json_hist(out, row->hist);
	json_end(out, "}");
}

void count_json_rows(struct buf *out, const struct count *c)
{
	const struct counts *n = &c->counts;
	size_t end, shown, more = 0;
	uint64_t events;

	count_json_head(out, c);
	json_u64s(out, { "events", n->counted }, { "events_without_fields", n->lacking },
		  { "events_without_time", n->untimed }, { "events_beyond_rows", n->beyond });
	for (size_t at = 0; at < n->row_cnt; at = end) {
		end = interval_end(n, at, &events);
		more += end - at - count_shown(c, end - at);
	}
	report_text_json_rows(out, more);
	for (size_t at = 0; at < n->row_cnt; at = end) {
		end = interval_end(n, at, &events);
		shown = count_shown(c, end - at);
		for (size_t i = at; i < at + shown; i++)
			json_row(out, c, &n->rows[i], events);
	}
	json_end(out, "]}\n");
}
