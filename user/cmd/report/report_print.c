// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of `dial9-prof report`, and what tables and trees of it have in common. Owns columns and
 * widths; takes finished numbers.
 *
 * Columns are as wide as what stands in them. Only on a terminal are names shortened and cut so that a
 * row is a line: in a file or a pipe a cut name is a lost one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/common/symbol_fit.h"
#include "cmd/report/report.h"

/* Minimum width of names on a narrow terminal. */
#define COLUMN_MIN 12
/* Where nothing is cut, one name of a thousand characters must not push all others away. */
#define COLUMN_PAD_MAX 60

const char *const report_key_names[PROFILE_KEY_CNT] = {
	[PROFILE_SYM] = "sym",	   [PROFILE_DSO] = "dso",	[PROFILE_COMM] = "comm",
	[PROFILE_PID] = "pid",	   [PROFILE_TID] = "tid",	[PROFILE_PART] = "part",
	[PROFILE_CPU] = "cpu",	   [PROFILE_CGROUP] = "cgroup", [PROFILE_SRCLINE] = "srcline",
	[PROFILE_STATE] = "state",
};

static const char *const titles[PROFILE_KEY_CNT] = {
	[PROFILE_SYM] = "Symbol",  [PROFILE_DSO] = "Module",	[PROFILE_COMM] = "Thread",
	[PROFILE_PID] = "Pid",	   [PROFILE_TID] = "Tid",	[PROFILE_PART] = "Part",
	[PROFILE_CPU] = "Cpu",	   [PROFILE_CGROUP] = "Cgroup", [PROFILE_SRCLINE] = "Source",
	[PROFILE_STATE] = "State",
};

double report_share(const struct report *r, uint64_t weight)
{
	return r->whole ? 100.0 * (double)weight / (double)r->whole : 0;
}

double report_run_share(const struct report *r, uint64_t run_ns)
{
	return r->cpu_time.run_ns ? 100.0 * (double)run_ns / (double)r->cpu_time.run_ns : 0;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

void report_put_heads(struct buf *line, const struct report *r, enum report_columns columns)
{
	static const char *const heads[] = {
		[REPORT_SELF_TOTAL] = "#     Self    Total  Samples",
		[REPORT_SELF] = "#     Self  Samples",
		[REPORT_EXACT] = "#      CPU  Samples",
		[REPORT_TOTAL_SELF] = "#    Total     Self  Samples",
	};

	buf_addstr(line, heads[columns]);
	if (r->wall) {
		/* of samples and intervals */
		line->len -= strlen("Samples");
		buf_addstr(line, "  Times");
	}
	if (r->timed || columns == REPORT_EXACT)
		buf_addstr(line, "   Seconds");
}

/* A share in a column, by how hot it is. */
static void put_percent(struct buf *line, const struct report *r, int width, bool known,
			double percent)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%*.2f%%", width, percent);

	if (known)
		color_put(line, r->view.color, color_percent(percent), text, (size_t)n);
	else
		buf_printf(line, "%*s", width + 1, "-");
}

static void put_share(struct buf *line, const struct report *r, int width, bool known,
		      uint64_t weight)
{
	put_percent(line, r, width, known, report_share(r, weight));
}

struct report_numbers report_row_numbers(const struct report *r, const struct profile_row *row)
{
	return (struct report_numbers){ .self = row->self,
					.total = row->total,
					.self_weight = row->self_weight,
					.total_weight = row->total_weight,
					.run_ns = row->run_ns,
					.sampled = r->wall && row->state == INTERVAL_RUNNING };
}

static void put_seconds(struct buf *line, bool known, uint64_t ns)
{
	if (known)
		buf_printf(line, " %9.3f", (double)ns / 1e9);
	else
		buf_addstr(line, "         -");
}

bool report_has_time(const struct report *r, const struct report_numbers *n, uint64_t cnt,
		     uint64_t weight)
{
	return weight || !cnt || !n->sampled || !r->untimed;
}

bool report_has_run_time(const struct report_numbers *n)
{
	return n->run_ns || !n->total;
}

static void put_exact(struct buf *line, const struct report *r, const struct report_numbers *n)
{
	const bool known = report_has_run_time(n);

	put_percent(line, r, 9, known, report_run_share(r, n->run_ns));
	buf_printf(line, " %8" PRIu64, n->self);
	put_seconds(line, known, n->run_ns);
}

void report_put_numbers(struct buf *line, const struct report *r, enum report_columns columns,
			const struct report_numbers *n)
{
	const bool total = columns == REPORT_TOTAL_SELF;
	const uint64_t cnt = total ? n->total : n->self;
	const uint64_t weight = total ? n->total_weight : n->self_weight;
	const bool self_known = report_has_time(r, n, n->self, n->self_weight);
	const bool total_known = report_has_time(r, n, n->total, n->total_weight);

	if (columns == REPORT_EXACT) {
		put_exact(line, r, n);
		return;
	}
	put_share(line, r, 9, total ? total_known : self_known, weight);
	if (columns != REPORT_SELF)
		put_share(line, r, 8, total ? self_known : total_known,
			  total ? n->self_weight : n->total_weight);
	buf_printf(line, " %8" PRIu64, cnt);
	if (r->timed)
		put_seconds(line, total ? total_known : self_known, weight);
}

/* ---- cells ------------------------------------------------------------------------------------- */

void report_put_sym(struct buf *out, const struct report *r, uint32_t sym, bool inlined,
		    size_t cols)
{
	static const char mark[] = " (inlined)";
	size_t len = inlined ? sizeof(mark) - 1 : 0;
	struct buf name = { 0 };

	value_text_name(&name, r->names, sym);
	symbol_fit_name(out, buf_cstr(&name), name.len, !cols ? 0 : cols > len ? cols - len : 1);
	buf_add(out, mark, len);
	buf_free(&name);
}

static void put_id(struct buf *out, uint32_t id)
{
	if (id == TRACE_NONE)
		buf_addstr(out, "-");
	else
		buf_printf(out, "%u", id);
}

/* The last component of the file, as of modules. */
static void put_srcline(struct buf *out, const struct report *r, const struct profile_row *row)
{
	const char *s, *slash;
	size_t len;

	if (row->file == NAMES_NONE) {
		buf_addstr(out, "[unknown]");
		return;
	}
	s = names_str(r->names, row->file, &len);
	slash = memrchr(s, '/', len);
	if (slash && slash[1])
		value_text_clean(out, slash + 1, len - (size_t)(slash + 1 - s));
	else
		value_text_clean(out, s, len);
	buf_printf(out, ":%u", row->line);
}

void report_put_cell(struct buf *out, const struct report *r, const struct profile_row *row,
		     enum profile_key key, size_t cols)
{
	switch (key) {
	case PROFILE_SYM:
		report_put_sym(out, r, row->sym, row->inlined, cols);
		break;
	case PROFILE_DSO:
		value_text_module_base(out, r->names, row->module);
		break;
	case PROFILE_COMM:
		value_text_name(out, r->names, row->comm);
		break;
	case PROFILE_PID:
		put_id(out, row->pid);
		break;
	case PROFILE_TID:
		put_id(out, row->tid);
		break;
	case PROFILE_PART:
		put_id(out, row->part + 1);
		break;
	case PROFILE_CPU:
		put_id(out, row->cpu);
		break;
	case PROFILE_CGROUP:
		value_text_name(out, r->names, row->cgroup);
		break;
	case PROFILE_SRCLINE:
		put_srcline(out, r, row);
		break;
	case PROFILE_STATE:
		buf_addstr(out, value_text_state(row->state));
		break;
	case PROFILE_KEY_CNT:
		break;
	}
}

void report_end_line(struct buf *line)
{
	while (line->len && line->data[line->len - 1] == ' ')
		line->len--;
	buf_addch(line, '\n');
}

/* ---- the table --------------------------------------------------------------------------------- */

static enum report_columns columns_of(const struct report *r)
{
	return r->exact		    ? REPORT_EXACT :
	       r->opts->no_children ? REPORT_SELF :
	       r->opts->children    ? REPORT_TOTAL_SELF :
				      REPORT_SELF_TOTAL;
}

/* Its share in what the rows are ordered by. */
static double row_share(const struct report *r, const struct profile_row *row)
{
	if (r->exact)
		return report_run_share(r, row->run_ns);
	return report_share(r, columns_of(r) == REPORT_SELF ? row->self_weight : row->total_weight);
}

size_t report_rows(const struct report *r, struct profile_rows *rows, size_t *all)
{
	size_t n = 0;

	profile_flat(r->profile, r->keys, rows);
	if (r->exact)
		cpu_time_add_to_rows(&r->cpu_time, r->names, r->keys, rows);
	else if (columns_of(r) == REPORT_TOTAL_SELF)
		profile_sort_total(r->profile, rows);
	*all = 0;
	for (size_t i = 0; i < rows->cnt; i++) {
		if ((columns_of(r) == REPORT_SELF && !rows->v[i].self) ||
		    (!rows->v[i].total && !rows->v[i].run_ns))
			continue;
		(*all)++;
		if (row_share(r, &rows->v[i]) < r->percent)
			continue;
		rows->v[n++] = rows->v[i];
	}
	return report_text_rows(r->opts->limit, 0, n);
}

/* How wide each key's column is; on a terminal what is left after the others goes to the widest. */
static void column_widths(const struct report *r, const struct profile_rows *rows, size_t n,
			  size_t fixed, size_t *width)
{
	size_t term = r->view.width, sum = fixed, widest = 0;
	struct buf cell = { 0 };

	for (size_t k = 0; k < r->key_cnt; k++) {
		width[k] = strlen(titles[r->key_order[k]]);
		for (size_t i = 0; i < n; i++) {
			size_t w;

			buf_clear(&cell);
			report_put_cell(&cell, r, &rows->v[i], r->key_order[k], 0);
			w = value_text_width(buf_cstr(&cell), cell.len);
			if (w > width[k])
				width[k] = w;
		}
		sum += width[k] + 2;
		if (width[k] > width[widest])
			widest = k;
	}
	buf_free(&cell);
	for (size_t k = 0; !term && k < r->key_cnt; k++)
		if (width[k] > COLUMN_PAD_MAX)
			width[k] = COLUMN_PAD_MAX;
	if (term && sum > term)
		width[widest] = width[widest] > sum - term + COLUMN_MIN ?
					width[widest] - (sum - term) :
					COLUMN_MIN;
}

static void print_row(const struct report *r, const struct profile_row *row, const size_t *width)
{
	const struct report_numbers numbers = report_row_numbers(r, row);
	struct buf line = { 0 }, cell = { 0 };
	bool cut = r->view.width;

	report_put_numbers(&line, r, columns_of(r), &numbers);
	for (size_t k = 0; k < r->key_cnt; k++) {
		buf_clear(&cell);
		report_put_cell(&cell, r, row, r->key_order[k], cut ? width[k] : 0);
		buf_addstr(&line, "  ");
		report_text_column(&line, buf_cstr(&cell), cell.len, width[k], cut);
	}
	report_end_line(&line);
	buf_print(&line, stdout);
	buf_free(&cell);
}

void report_print_flat(const struct report *r)
{
	size_t width[PROFILE_KEY_CNT], n, all;
	struct profile_rows rows = { 0 };
	struct buf line = { 0 };
	const char *title;

	n = report_rows(r, &rows, &all);
	report_put_heads(&line, r, columns_of(r));
	column_widths(r, &rows, n, line.len, width);
	for (size_t k = 0; k < r->key_cnt; k++) {
		title = titles[r->key_order[k]];
		buf_addstr(&line, "  ");
		report_text_column(&line, title, strlen(title), width[k], false);
	}
	report_end_line(&line);
	fwrite(buf_cstr(&line), 1, line.len, stdout);
	for (size_t i = 0; i < n; i++)
		print_row(r, &rows.v[i], width);
	buf_free(&line);
	free(rows.v);
}
