// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bodies of `dial9-prof report`: the flat table, the call tree and the JSON form. Owns columns
 * and widths; takes finished numbers.
 *
 * Columns are as wide as what stands in them. Only on a terminal are names cut so that a row is a
 * line: in a file or a pipe a cut name is a lost one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cmd/ends.h"
#include "cmd/report.h"
#include "cmd/shorten.h"
#include "cmd/text.h"
#include "profile/tree.h"

/* Names get at least so much of a narrow terminal. */
#define COLUMN_MIN 12
/* Where nothing is cut, one name of a thousand characters must not push all others away. */
#define COLUMN_PAD_MAX 60

static const char *const key_names[PROFILE_KEY_CNT] = {
	[PROFILE_SYM] = "sym", [PROFILE_DSO] = "dso", [PROFILE_COMM] = "comm",
	[PROFILE_PID] = "pid", [PROFILE_TID] = "tid", [PROFILE_PART] = "part",
};

const char *report_key_name(enum profile_key key)
{
	return key_names[key];
}

static double share(const struct report *r, uint64_t weight)
{
	return 100.0 * (double)weight / (double)profile_weight(r->profile);
}

/* A share in a column, by how hot it is. */
static void add_share(struct buf *line, const struct report *r, int width, uint64_t weight)
{
	double percent = share(r, weight);
	char text[32];
	int n = snprintf(text, sizeof(text), "%*.2f%%", width, percent);

	paint_put(line, r->view.color, paint_percent(percent), text, (size_t)n);
}

static const char *key_title(enum profile_key key)
{
	static const char *const titles[PROFILE_KEY_CNT] = {
		[PROFILE_SYM] = "Symbol", [PROFILE_DSO] = "Module", [PROFILE_COMM] = "Thread",
		[PROFILE_PID] = "Pid",	  [PROFILE_TID] = "Tid",    [PROFILE_PART] = "Part",
	};

	return titles[key];
}

/* In at most @cols columns if that can be done; 0: as it is. */
static void add_sym(struct buf *out, const struct names *n, uint32_t sym, size_t cols)
{
	struct buf name = { 0 };

	if (sym == NAMES_NONE) {
		buf_addstr(out, "[unknown]");
		return;
	}
	text_name(&name, n, sym);
	shorten_name(out, buf_cstr(&name), name.len, cols);
	buf_free(&name);
}

static void add_id(struct buf *out, uint32_t id)
{
	if (id == TRACE_NONE)
		buf_addstr(out, "-");
	else
		buf_printf(out, "%u", id);
}

static void add_cell(struct buf *out, const struct report *r, const struct profile_row *row,
		     enum profile_key key, size_t cols)
{
	switch (key) {
	case PROFILE_SYM:
		add_sym(out, r->names, row->sym, cols);
		break;
	case PROFILE_DSO:
		text_module_base(out, r->names, row->module);
		break;
	case PROFILE_COMM:
		add_sym(out, r->names, row->comm, 0);
		break;
	case PROFILE_PID:
		add_id(out, row->pid);
		break;
	case PROFILE_TID:
		add_id(out, row->tid);
		break;
	case PROFILE_PART:
		add_id(out, row->part + 1);
		break;
	case PROFILE_KEY_CNT:
		break;
	}
}

/* Rows that are to be shown: those over the limits, of a list ordered by self samples. */
static size_t rows_shown(const struct report *r, struct profile_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->cnt; i++)
		if (share(r, rows->v[i].total_weight) >= r->percent)
			rows->v[n++] = rows->v[i];
	return r->opts->limit && r->opts->limit < n ? r->opts->limit : n;
}

/* How wide each key's column is; on a terminal what is left after the others goes to the widest. */
static void column_widths(const struct report *r, const struct profile_rows *rows, size_t n,
			  size_t fixed, size_t *width)
{
	size_t term = r->view.width, sum = fixed, widest = 0;
	struct buf cell = { 0 };

	for (size_t k = 0; k < r->key_cnt; k++) {
		width[k] = strlen(key_title(r->key_order[k]));
		for (size_t i = 0; i < n; i++) {
			size_t w;

			buf_clear(&cell);
			add_cell(&cell, r, &rows->v[i], r->key_order[k], 0);
			w = text_width(buf_cstr(&cell), cell.len);
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

static void trim(struct buf *line)
{
	while (line->len && line->data[line->len - 1] == ' ')
		line->len--;
	buf_addch(line, '\n');
}

void report_print_flat(const struct report *r)
{
	size_t width[PROFILE_KEY_CNT], n;
	struct profile_rows rows = { 0 };
	struct buf line = { 0 }, cell = { 0 };
	bool cut = r->view.width;
	const char *title;

	profile_flat(r->profile, r->keys, &rows);
	n = rows_shown(r, &rows);
	column_widths(r, &rows, n, strlen("#     Self    Total  Samples"), width);
	buf_addstr(&line, "#     Self    Total  Samples");
	for (size_t k = 0; k < r->key_cnt; k++) {
		title = key_title(r->key_order[k]);
		buf_addstr(&line, "  ");
		text_column(&line, title, strlen(title), width[k], false);
	}
	trim(&line);
	for (size_t i = 0; i < n; i++) {
		add_share(&line, r, 9, rows.v[i].self_weight);
		add_share(&line, r, 8, rows.v[i].total_weight);
		buf_printf(&line, " %8" PRIu64, rows.v[i].self);
		for (size_t k = 0; k < r->key_cnt; k++) {
			buf_clear(&cell);
			add_cell(&cell, r, &rows.v[i], r->key_order[k], cut ? width[k] : 0);
			buf_addstr(&line, "  ");
			text_column(&line, buf_cstr(&cell), cell.len, width[k], cut);
		}
		trim(&line);
	}
	fwrite(buf_cstr(&line), 1, line.len, stdout);
	buf_free(&line);
	buf_free(&cell);
	free(rows.v);
}

/* ---- the tree ---------------------------------------------------------------------------------- */

/* What a subtree must weigh to be shown. */
static uint64_t tree_min(const struct report *r)
{
	double min = r->percent * (double)profile_weight(r->profile) / 100.0;
	uint64_t n = (uint64_t)min;

	return (double)n < min || !n ? n + 1 : n;
}

/* A function with its module, of which the function gives way. */
static void add_place(struct buf *out, const struct report *r, uint32_t sym, uint32_t module,
		      size_t cols)
{
	struct buf dso = { 0 };
	size_t w;

	text_module_base(&dso, r->names, module);
	w = text_width(buf_cstr(&dso), dso.len) + strlen(" ()");
	add_sym(out, r->names, sym, !r->view.width ? 0 : cols > w ? cols - w : 1);
	buf_printf(out, " (%s)", buf_cstr(&dso));
	buf_free(&dso);
}

/* Columns for a name at that depth. */
static size_t tree_room(const struct report *r, uint32_t depth)
{
	size_t used = strlen("   100.00%   100.00%        0  ") + 2 * ((size_t)depth - 1);

	return r->view.width > used + COLUMN_MIN ? r->view.width - used : COLUMN_MIN;
}

void report_print_tree(const struct report *r)
{
	uint64_t left = r->opts->limit ? r->opts->limit : UINT64_MAX;
	struct buf line = { 0 }, name = { 0 };
	uint32_t depth = 0, at = 0;
	struct tree *t;

	if (tree_new(r->profile, r->opts->graph == REPORT_CALLEE, &t))
		return;
	printf("#    Total      Self  Samples  %s\n",
	       r->opts->graph == REPORT_CALLEE ? "Symbol, callers below" : "Symbol, callees below");
	while (left-- && (at = tree_next(t, at, tree_min(r), &depth)) != TREE_NONE) {
		const struct tree_node *node = &t->nodes[at];

		buf_clear(&line);
		buf_clear(&name);
		add_share(&line, r, 9, node->total_weight);
		add_share(&line, r, 9, node->self_weight);
		buf_printf(&line, " %8" PRIu64 "  ", node->self);
		for (uint32_t d = 1; d < depth; d++)
			buf_addstr(&line, "  ");
		add_place(&name, r, node->sym, node->module, tree_room(r, depth));
		text_column(&line, buf_cstr(&name), name.len, tree_room(r, depth), r->view.width);
		trim(&line);
		fwrite(buf_cstr(&line), 1, line.len, stdout);
	}
	tree_free(t);
	buf_free(&line);
	buf_free(&name);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void json_text(struct buf *out, const char *key, const char *s)
{
	if (!s)
		return;
	str_json(out, key, strlen(key));
	buf_addch(out, ':');
	str_json(out, s, strlen(s));
	buf_addch(out, ',');
}

static void json_module(struct buf *out, const struct names *n, uint32_t index)
{
	const struct names_module *m = names_module(n, index);

	text_json_name(out, n, m->announced ? m->path : NAMES_NONE);
}

static void json_cell(struct buf *out, const struct report *r, const struct profile_row *row,
		      enum profile_key key)
{
	const char *name = report_key_name(key);

	buf_printf(out, ",\"%s\":", name);
	if (key == PROFILE_SYM)
		text_json_name(out, r->names, row->sym);
	else if (key == PROFILE_COMM)
		text_json_name(out, r->names, row->comm);
	else if (key == PROFILE_DSO)
		json_module(out, r->names, row->module);
	else if (key == PROFILE_PART)
		buf_printf(out, "%u", row->part + 1);
	else if ((key == PROFILE_PID ? row->pid : row->tid) == TRACE_NONE)
		buf_addstr(out, "null");
	else
		buf_printf(out, "%u", key == PROFILE_PID ? row->pid : row->tid);
}

/* Samples of several parts do not add up to a time; their weights do. */
static void json_weights(struct buf *out, const struct report *r, uint64_t self, uint64_t total)
{
	if (r->weighed)
		buf_printf(out, ",\"self_ns\":%" PRIu64 ",\"total_ns\":%" PRIu64, self, total);
}

static void json_rows(struct buf *out, const struct report *r)
{
	struct profile_rows rows = { 0 };
	size_t n;

	profile_flat(r->profile, r->keys, &rows);
	n = rows_shown(r, &rows);
	buf_addstr(out, ",\"rows\":[");
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, "%s{\"self\":%" PRIu64 ",\"total\":%" PRIu64, i ? "," : "",
			   rows.v[i].self, rows.v[i].total);
		json_weights(out, r, rows.v[i].self_weight, rows.v[i].total_weight);
		for (size_t k = 0; k < r->key_cnt; k++)
			json_cell(out, r, &rows.v[i], r->key_order[k]);
		buf_addch(out, '}');
	}
	buf_addch(out, ']');
	free(rows.v);
}

/* A list in the order of printing, each node with its depth: as deep as it is, it nests nothing. */
static void json_tree(struct buf *out, const struct report *r)
{
	uint64_t left = r->opts->limit ? r->opts->limit : UINT64_MAX;
	uint32_t depth = 0, at = 0;
	bool first = true;
	struct tree *t;

	if (tree_new(r->profile, r->opts->graph == REPORT_CALLEE, &t))
		return;
	buf_addstr(out, ",\"tree\":[");
	while (left-- && (at = tree_next(t, at, tree_min(r), &depth)) != TREE_NONE) {
		buf_printf(out, "%s{\"depth\":%u,\"self\":%" PRIu64 ",\"total\":%" PRIu64,
			   first ? "" : ",", depth, t->nodes[at].self, t->nodes[at].total);
		json_weights(out, r, t->nodes[at].self_weight, t->nodes[at].total_weight);
		buf_addstr(out, ",\"sym\":");
		text_json_name(out, r->names, t->nodes[at].sym);
		buf_addstr(out, ",\"dso\":");
		json_module(out, r->names, t->nodes[at].module);
		buf_addch(out, '}');
		first = false;
	}
	buf_addch(out, ']');
	tree_free(t);
}

static void json_clock(struct buf *out, const struct report *r, uint32_t part)
{
	json_text(out, "sample_event", names_meta(r->names, part, PROF_META_SAMPLE_EVENT));
	json_text(out, "sample_hz", names_meta(r->names, part, PROF_META_SAMPLE_HZ));
}

static void json_parts(struct buf *out, const struct report *r)
{
	buf_addstr(out, "\"parts\":[");
	for (uint32_t i = 0; i < r->part_cnt; i++) {
		buf_addstr(out, i ? ",{" : "{");
		json_clock(out, r, i);
		buf_printf(out, "\"part\":%u,\"clock\":%u,\"samples\":%" PRIu64 "}", i + 1,
			   names_part(r->names, i)->clock + 1, r->parts[i].samples);
	}
	buf_addstr(out, "],");
}

void report_print_json(const struct report *r)
{
	struct buf out = { 0 };

	text_json_begin(&out);
	buf_addch(&out, ',');
	json_text(&out, "file", reader_input(r->reader));
	if (r->names->parts.cnt == 1)
		json_clock(&out, r, 0);
	else
		json_parts(&out, r);
	buf_printf(&out, "\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",",
		   profile_samples(r->profile), account_lost(&r->counts.account));
	text_json_account(&out, &r->counts.account);
	if (r->ends.stacks) {
		buf_addstr(&out, ",\"user_stacks\":");
		ends_json(&out, &r->ends, r->names);
	}
	if (r->opts->graph == REPORT_FLAT)
		json_rows(&out, r);
	else
		json_tree(&out, r);
	buf_addstr(&out, "}\n");
	fwrite(buf_cstr(&out), 1, out.len, stdout);
	buf_free(&out);
}
