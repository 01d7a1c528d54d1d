// SPDX-License-Identifier: BSD-2-Clause
/* The rows of `count --pair` and `count --syscalls` as text and JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/common/color.h"
#include "cmd/count/count.h"

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t timed(const struct pair_sums_row *row)
{
	return row->cnt - row->cut;
}

static uint64_t average(const struct pair_sums_row *row)
{
	return timed(row) ? row->ns / timed(row) : 0;
}

static uint64_t at_quantile(const struct pair_sums_row *row, double p)
{
	return (uint64_t)(quantile_at(&row->lengths, p) + 0.5);
}

/* ---- lines above the table --------------------------------------------------------------------- */

static void add_counted(struct buf *out, uint64_t v, const char *noun)
{
	if (!v)
		return;
	buf_addstr(out, out->len ? ", " : "");
	str_counted(out, v, noun);
}

static void put_notes(struct buf *out, const struct count *c)
{
	const struct pair_sums *p = &c->pairs;
	struct buf line = { 0 };

	add_counted(&line, p->spans.unended, c->opts->syscalls ? "start" : "start event");
	add_counted(&line, p->spans.unstarted, c->opts->syscalls ? "end" : "end event");
	if (line.len)
		count_put_line(out, c, false, "unmatched: %s", buf_cstr(&line));
	buf_clear(&line);
	add_counted(&line, p->spans.nested, "start event");
	if (line.len)
		count_put_line(
			out, c, false,
			"nested: %s within a pair of the same key; the outermost pair counts",
			buf_cstr(&line));
	buf_clear(&line);
	add_counted(&line, p->spans.untied, "event");
	if (line.len)
		count_put_line(out, c, true, "not paired: %s without key", buf_cstr(&line));
	buf_clear(&line);
	add_counted(&line, p->cut, c->opts->syscalls ? "call" : "pair");
	if (line.len)
		count_put_line(out, c, true, "* %s with lost events in between: not in the times",
			       buf_cstr(&line));
	buf_clear(&line);
	add_counted(&line, p->beyond + p->spans.dropped, "pair");
	if (line.len)
		count_put_line(out, c, true, "not counted: %s that did not fit in memory",
			       buf_cstr(&line));
	buf_clear(&line);
	add_counted(&line, p->twice, "call");
	if (line.len)
		count_put_line(out, c, false, "%s in both raw_syscalls and syscalls: counted once",
			       buf_cstr(&line));
	buf_free(&line);
}

/* ---- the table --------------------------------------------------------------------------------- */

enum { COMM_COLS = 16, COUNT_COLS = 9 };

static void put_titles(struct buf *out, const struct count *c)
{
	const unsigned int by = c->pair_opts.by;
	struct buf line = { 0 };

	buf_addstr(&line, "#     Total    Share     Calls ");
	if (!c->opts->syscalls) {
		buf_clear(&line);
		buf_addstr(&line, "#     Total    Share     Pairs ");
	} else {
		buf_addstr(&line, "   Errors ");
	}
	buf_addstr(&line, "    Average         p50         p99     Maximum");
	if (c->pairs.by_part)
		buf_addstr(&line, "  Recording");
	if (by & PAIR_BY_PID)
		buf_addstr(&line, "      Pid");
	if (by & PAIR_BY_TID)
		buf_addstr(&line, "      Tid");
	if (by & PAIR_BY_COMM)
		buf_printf(&line, "  %-*s", COMM_COLS, "Comm");
	buf_addstr(&line, c->opts->syscalls ? "  System call" : "  Start event");
	color_put(out, c->view.color, COLOR_TITLE, buf_cstr(&line), line.len);
	buf_addch(out, '\n');
	buf_free(&line);
}

static void put_id(struct buf *out, uint32_t id)
{
	if (id == TRACE_NONE)
		buf_addstr(out, "        -");
	else
		buf_printf(out, " %8u", id);
}

static void put_name(struct buf *out, const struct count *c, const struct pair_sums_row *row)
{
	if (row->name == NAMES_NONE)
		buf_printf(out, "syscall %" PRIu64, row->call);
	else
		value_text_name(out, c->names, row->name);
}

static void put_task(struct buf *out, const struct count *c, const struct pair_sums_row *row)
{
	const unsigned int by = c->pair_opts.by;
	struct buf comm = { 0 };

	if (c->pairs.by_part)
		buf_printf(out, "  %9u", row->part + 1);
	if (by & PAIR_BY_PID)
		put_id(out, row->pid);
	if (by & PAIR_BY_TID)
		put_id(out, row->tid);
	if (by & PAIR_BY_COMM) {
		value_text_name(&comm, c->names, row->comm);
		buf_addstr(out, "  ");
		report_text_column(out, buf_cstr(&comm), comm.len, COMM_COLS, true);
	}
	buf_free(&comm);
}

static void put_row(struct buf *out, const struct count *c, const struct pair_sums_row *row)
{
	const double share = percent(row->ns, c->pairs.ns);
	struct buf text = { 0 };

	value_text_duration(out, row->ns, 11);
	buf_printf(&text, "  %6.2f%%", share);
	color_put(out, c->view.color, color_percent(share), buf_cstr(&text), text.len);
	buf_printf(out, " %*" PRIu64 "%c", COUNT_COLS, row->cnt, row->cut ? '*' : ' ');
	if (c->opts->syscalls)
		buf_printf(out, "%*" PRIu64 " ", COUNT_COLS, row->errors);
	value_text_duration(out, average(row), 11);
	value_text_duration(out, at_quantile(row, 0.5), 12);
	value_text_duration(out, at_quantile(row, 0.99), 12);
	value_text_duration(out, row->lengths.max, 12);
	put_task(out, c, row);
	buf_addstr(out, "  ");
	put_name(out, c, row);
	buf_addch(out, '\n');
	buf_free(&text);
}

static void put_hist(struct buf *out, const struct count *c)
{
	uint64_t counts[REPORT_TEXT_POWERS];

	for (unsigned int k = 0; k < REPORT_TEXT_POWERS; k++)
		counts[k] = quantile_power(&c->pairs.lengths, k);
	buf_addstr(out, "#\n# Pairs by time, from the one given up to twice as much:\n");
	report_text_powers(out, counts, 11, COUNT_COLS);
}

/* Of the rows that are not shown. */
static const char *how_less(const struct count *c)
{
	static const char *const texts[] = {
		[PAIR_SUMS_TIME] = "with less time",	  [PAIR_SUMS_MAX] = "with a lower maximum",
		[PAIR_SUMS_AVG] = "with a lower average", [PAIR_SUMS_P99] = "with a lower p99",
		[PAIR_SUMS_COUNT] = "with a lower count",
	};

	return texts[c->pair_opts.order];
}

void count_put_pairs(struct buf *out, const struct count *c)
{
	const struct pair_sums *p = &c->pairs;
	const size_t shown = count_shown(c, p->row_cnt);
	struct buf what = { 0 };

	str_counted(&what, p->cnt, c->opts->syscalls ? "system call" : "pair");
	count_put_head(out, c, buf_cstr(&what));
	put_notes(out, c);
	buf_addstr(out, "#\n");
	put_titles(out, c);
	for (size_t i = 0; i < shown; i++)
		put_row(out, c, &p->rows[i]);
	count_put_more(out, p->row_cnt - shown, how_less(c));
	if (!c->opts->syscalls && p->lengths.cnt)
		put_hist(out, c);
	buf_free(&what);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_row(struct buf *out, const struct count *c, const struct pair_sums_row *row)
{
	const unsigned int by = c->pair_opts.by;
	uint64_t counts[REPORT_TEXT_POWERS];

	json_line_object(out);
	value_text_json_name(out, c->opts->syscalls ? "syscall" : "start", c->names, row->name);
	if (row->name == NAMES_NONE)
		json_u64(out, "number", row->call);
	if (c->pairs.by_part)
		json_u64(out, "part", row->part + 1);
	if (by & PAIR_BY_COMM)
		value_text_json_name(out, "comm", c->names, row->comm);
	if (by & PAIR_BY_PID)
		value_text_json_id(out, "pid", row->pid);
	if (by & PAIR_BY_TID)
		value_text_json_id(out, "tid", row->tid);
	json_u64s(out, { "count", row->cnt }, { "cut", row->cut }, { "total_ns", row->ns },
		  { "average_ns", average(row) }, { "p50_ns", at_quantile(row, 0.5) },
		  { "p99_ns", at_quantile(row, 0.99) }, { "min_ns", row->lengths.min },
		  { "max_ns", row->lengths.max });
	if (c->opts->syscalls)
		json_u64(out, "errors", row->errors);
	for (unsigned int k = 0; k < REPORT_TEXT_POWERS; k++)
		counts[k] = quantile_power(&row->lengths, k);
	report_text_json_powers(out, counts);
	json_end(out, "}");
}

void count_json_pairs(struct buf *out, const struct count *c)
{
	const struct pair_sums *p = &c->pairs;
	const size_t shown = count_shown(c, p->row_cnt);

	count_json_head(out, c);
	json_u64s(out, { "pairs", p->cnt }, { "pairs_cut", p->cut }, { "total_ns", p->ns },
		  { "unmatched_starts", p->spans.unended },
		  { "unmatched_ends", p->spans.unstarted }, { "nested_starts", p->spans.nested },
		  { "events_without_key", p->spans.untied },
		  { "pairs_beyond_rows", p->beyond + p->spans.dropped },
		  { "pairs_twice", p->twice });
	report_text_json_rows(out, p->row_cnt - shown);
	for (size_t i = 0; i < shown; i++)
		json_row(out, c, &p->rows[i]);
	json_end(out, "]}\n");
}
