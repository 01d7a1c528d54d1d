// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of `query` as a table, CSV, JSON or Markdown. Owns the formats and the widths of columns. Text of a trace is
 * untrusted: all formats get it printable, or escaped.
 */
#include "cmd/query/query_output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "export/csv_cell.h"
#include "trace/read/value.h"

const char *const query_output_formats[] = { "table", "csv", "json", "markdown", NULL };

/* Output is written in pieces of this size. */
#define FLUSH_AT 65536

/* The fewest digits that restore the number. */
static void put_real(struct buf *out, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) == v)
		buf_addstr(out, text);
	else
		value_print_f64(out, v);
}

/* Printable; NULL is empty. */
static void put_value(struct buf *out, const struct query_value *v)
{
	switch (v->type) {
	case QUERY_INTEGER:
		buf_addi(out, v->integer);
		break;
	case QUERY_REAL:
		put_real(out, v->real);
		break;
	case QUERY_TEXT:
	case QUERY_NUMBER:
		value_text_clean(out, v->data, v->sz);
		break;
	case QUERY_BLOB:
		str_hex(out, v->data, v->sz);
		break;
	case QUERY_NULL:
		break;
	}
}

static int flush(struct query_output *o, size_t at)
{
	if (o->out.len < at)
		return 0;
	fwrite(o->out.data, 1, o->out.len, stdout);
	buf_clear(&o->out);
	return ferror(stdout) ? -EPIPE : 0;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void put_cell(struct query_output *o, size_t column, const struct query_output_cell *cell,
		     bool number)
{
	const size_t width = o->widths[column],
		     own = value_text_width(cell->text.data, cell->text.len);
	const size_t pad = width > own ? width - own : 0;
	const bool last = column + 1 == o->cnt;

	if (o->format == QUERY_MARKDOWN)
		buf_addstr(&o->out, column ? " | " : "| ");
	else if (column)
		buf_addstr(&o->out, "  ");
	if (number)
		buf_fill(&o->out, ' ', pad);
	buf_add(&o->out, cell->text.data, cell->text.len);
	if (!number && (!last || o->format == QUERY_MARKDOWN))
		buf_fill(&o->out, ' ', pad);
	if (last && o->format == QUERY_MARKDOWN)
		buf_addstr(&o->out, " |");
}

/* The line from @from on is complete: a terminal shows as much as fits. */
static void end_line(struct query_output *o, size_t from)
{
	struct buf line = { 0 };

	if (o->format == QUERY_TABLE && o->view.width) {
		report_text_fit(&line, o->out.data + from, o->out.len - from, o->view.width);
		o->out.len = from;
		buf_add(&o->out, line.data, line.len);
		buf_free(&line);
	}
	buf_addch(&o->out, '\n');
}

/* In Markdown a bar ends a cell. */
static void escape_bars(struct buf *text)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '|')
			buf_addch(&out, '\\');
		buf_addch(&out, text->data[i]);
	}
	buf_free(text);
	*text = out;
}

static struct query_output_cell name_cell(const struct query_output *o, size_t column)
{
	struct query_output_cell cell = { 0 };

	value_text_clean(&cell.text, o->names[column], strlen(o->names[column]));
	if (o->format == QUERY_MARKDOWN)
		escape_bars(&cell.text);
	buf_cstr(&cell.text);
	return cell;
}

static void put_head(struct query_output *o)
{
	size_t from = o->out.len;

	for (size_t i = 0; i < o->cnt; i++) {
		struct query_output_cell cell = name_cell(o, i);

		put_cell(o, i, &cell, !o->left[i]);
		buf_free(&cell.text);
	}
	end_line(o, from);
	from = o->out.len;
	for (size_t i = 0; i < o->cnt; i++) {
		const bool markdown = o->format == QUERY_MARKDOWN;

		buf_addstr(&o->out, markdown ? (i ? " | " : "| ") : i ? "  " : "");
		buf_fill(&o->out, '-', o->widths[i] - (markdown && !o->left[i]));
		if (markdown && !o->left[i])
			buf_addch(&o->out, ':');
		if (markdown && i + 1 == o->cnt)
			buf_addstr(&o->out, " |");
	}
	end_line(o, from);
}

static void measure(struct query_output *o, size_t column, const struct query_output_cell *cell)
{
	const size_t width = value_text_width(cell->text.data, cell->text.len);

	if (width > o->widths[column])
		o->widths[column] = width < QUERY_OUTPUT_WIDTH ? width : QUERY_OUTPUT_WIDTH;
	o->left[column] |= cell->text.len && !cell->number;
}

static void put_kept_rows(struct query_output *o)
{
	for (size_t at = 0; at < o->cell_cnt; at += o->cnt) {
		const size_t from = o->out.len;

		for (size_t i = 0; i < o->cnt; i++) {
			put_cell(o, i, &o->cells[at + i], o->cells[at + i].number);
			buf_free(&o->cells[at + i].text);
		}
		end_line(o, from);
	}
	o->cell_cnt = 0;
}

/* Prints the head and the rows kept so far, once. */
static void size_columns(struct query_output *o)
{
	if (o->sized)
		return;
	o->sized = true;
	for (size_t i = 0; i < o->cnt; i++) {
		struct query_output_cell cell = name_cell(o, i);
		const size_t width = value_text_width(cell.text.data, cell.text.len);

		o->widths[i] = width < 3 ? 3 : width;
		buf_free(&cell.text);
	}
	for (size_t k = 0; k < o->cell_cnt; k++)
		measure(o, k % o->cnt, &o->cells[k]);
	put_head(o);
	put_kept_rows(o);
}

static void keep_row(struct query_output *o, const struct query_value *values)
{
	o->cells = array_reserve(o->cells, &o->cell_cap, o->cell_cnt + o->cnt, sizeof(*o->cells));
	for (size_t i = 0; i < o->cnt; i++) {
		struct query_output_cell *cell = &o->cells[o->cell_cnt++];

		*cell = (struct query_output_cell){ .number = values[i].type == QUERY_INTEGER ||
							      values[i].type == QUERY_REAL ||
							      values[i].type == QUERY_NUMBER };
		put_value(&cell->text, &values[i]);
		if (o->format == QUERY_MARKDOWN)
			escape_bars(&cell->text);
		buf_cstr(&cell->text);
		o->kept_bytes += cell->text.cap;
	}
}

static void put_table_row(struct query_output *o, const struct query_value *values)
{
	keep_row(o, values);
	if (o->sized)
		put_kept_rows(o);
	else if (o->rows >= QUERY_OUTPUT_ROWS || o->kept_bytes > QUERY_OUTPUT_BYTES)
		size_columns(o);
}

/* ---- CSV and JSON ------------------------------------------------------------------------------- */

static void put_csv_text(struct query_output *o, const char *s, size_t n)
{
	struct buf text = { 0 };

	value_text_clean(&text, s, n);
	csv_cell_put(&o->out, buf_cstr(&text), text.len);
	buf_free(&text);
}

static void put_csv_row(struct query_output *o, const struct query_value *values)
{
	for (size_t i = 0; i < o->cnt; i++) {
		if (i)
			buf_addch(&o->out, ',');
		if (values[i].type == QUERY_TEXT)
			put_csv_text(o, values[i].data, values[i].sz);
		else
			put_value(&o->out, &values[i]);
	}
	buf_addch(&o->out, '\n');
}

static void put_json_row(struct query_output *o, const struct query_value *values)
{
	buf_addstr(&o->out, o->rows ? ",\n{" : "\n{");
	for (size_t i = 0; i < o->cnt; i++) {
		const struct query_value *v = &values[i];

		json_key_text(&o->out, o->names[i], strlen(o->names[i]));
		if (v->type == QUERY_NULL || (v->type == QUERY_REAL && !isfinite(v->real)))
			json_null(&o->out, NULL);
		else if (v->type == QUERY_TEXT)
			json_text(&o->out, NULL, v->data, v->sz);
		else if (v->type == QUERY_BLOB)
			json_hex(&o->out, NULL, v->data, v->sz);
		else
			put_value(&o->out, v);
	}
	buf_addch(&o->out, '}');
}

static bool is_taken(char *const *names, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* A later column of the same name is name_2: of equal keys in an object, readers keep one. */
static void make_names_unique(struct query_output *o)
{
	struct buf name = { 0 };

	for (size_t i = 1; i < o->cnt; i++) {
		if (!is_taken(o->names, i, o->names[i]))
			continue;
		for (size_t k = 2; !name.len || is_taken(o->names, o->cnt, buf_cstr(&name)); k++) {
			buf_clear(&name);
			buf_printf(&name, "%s_%zu", o->names[i], k);
		}
		free(o->names[i]);
		o->names[i] = xstrdup(buf_cstr(&name));
		buf_clear(&name);
	}
	buf_free(&name);
}

/* ---- all formats -------------------------------------------------------------------------------- */

int query_output_begin(void *ctx, const char *const *columns, size_t cnt)
{
	struct query_output *o = ctx;

	o->begun = true;
	o->cnt = cnt;
	o->names = xcalloc(cnt + 1, sizeof(char *));
	o->widths = xcalloc(cnt + 1, sizeof(*o->widths));
	o->left = xcalloc(cnt + 1, sizeof(*o->left));
	for (size_t i = 0; i < cnt; i++)
		o->names[i] = xstrdup(columns[i]);
	if (o->format == QUERY_JSON)
		make_names_unique(o);
	view_begin(&o->view, o->view_opts, o->format != QUERY_TABLE);
	if (o->format == QUERY_JSON)
		buf_addch(&o->out, '[');
	for (size_t i = 0; o->format == QUERY_CSV && i < cnt; i++) {
		if (i)
			buf_addch(&o->out, ',');
		put_csv_text(o, columns[i], strlen(columns[i]));
	}
	if (o->format == QUERY_CSV)
		buf_addch(&o->out, '\n');
	return 0;
}

int query_output_row(void *ctx, const struct query_value *values, size_t cnt)
{
	struct query_output *o = ctx;

	if (o->format == QUERY_CSV)
		put_csv_row(o, values);
	else if (o->format == QUERY_JSON)
		put_json_row(o, values);
	else
		put_table_row(o, values);
	o->rows++;
	return flush(o, FLUSH_AT);
}

int query_output_end(struct query_output *o)
{
	int code = CMD_OK;

	if (o->begun) {
		if (o->format == QUERY_JSON)
			buf_addstr(&o->out, "\n]\n");
		else if (o->format != QUERY_CSV)
			size_columns(o);
		flush(o, 0);
		code = view_end(&o->view);
	}
	for (size_t i = 0; i < o->cnt; i++)
		free(o->names[i]);
	free(o->names);
	free(o->cells);
	free(o->widths);
	free(o->left);
	buf_free(&o->out);
	*o = (struct query_output){ .format = o->format, .view_opts = o->view_opts };
	return code;
}
